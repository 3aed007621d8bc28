/* How a document gets its length: its frame (what opens and closes it) is fixed, sensitive items
 * are put in as long as there is room, and what is left is filled with words. Documents too short
 * for their frame are of the simplest kind there is: a JSON number, an empty XML element, HTML of a
 * title or of bare text.
 *
 * Rejected: a document whose filler depends on the offset by arithmetic (a division for each byte,
 * and no memcpy()). */
#include "body.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "../common/base/require.h"

#define LINE        64u    /* of a bare body: a wrong offset shows in the bytes */
#define UNIT_TEXT   4096u  /* words that are repeated */
#define UNIT_RANDOM 65536u /* bytes that are */

const char *const content_name[CONTENTS] = {"html",   "json", "xml", "text",
					    "random", "file", "bare"};

const char *content_type(enum config_content content)
{
	static const char *const type[CONTENTS] = {
		"text/html; charset=utf-8",
		"application/json",
		"application/xml",
		"text/plain; charset=utf-8",
		"application/octet-stream",
		"application/octet-stream",
		NULL,
	};

	return type[content];
}

char *store_add(struct store *store, const void *data, size_t length)
{
	char *at = store->text ? store->text + store->length : NULL;

	if (at)
		memcpy(at, data, length);
	store->length += length;
	return at;
}

char *store_format(struct store *store, const char *format, ...)
{
	char *at = store->text ? store->text + store->length : NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(at, at ? SIZE_MAX / 2 : 0, format, args);
	va_end(args);
	require(n >= 0);
	store->length += (size_t)n;
	return at;
}

static const struct form {
	const char *open;
	const char *items_open, *join, *items_close;
	const char *item[3]; /* before the name, between name and value, behind the value */
	bool named_twice;    /* the name again at the end: <name>value</name> */
	const char *fill_open, *close;
} form[] = {
	[CONTENT_HTML] = {"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
			  "<title>Page</title></head><body>",
			  "<table>",
			  "",
			  "</table>",
			  {"<tr><th>", "</th><td>", "</td></tr>"},
			  false,
			  "<p>",
			  "</p></body></html>"},
	[CONTENT_JSON] = {"{",
			  "\"records\":[",
			  ",",
			  "],",
			  {"{\"", "\":\"", "\"}"},
			  false,
			  "\"text\":\"",
			  "\"}"},
	[CONTENT_XML] = {"<?xml version=\"1.0\" encoding=\"UTF-8\"?><document>",
			 "<records>",
			 "",
			 "</records>",
			 {"<", ">", "</"},
			 true,
			 "<text>",
			 "</text></document>"},
	[CONTENT_TEXT] = {"", "", "", "", {"", ": ", "\n"}, false, "", ""},
};

static void item_add(struct store *store, const struct form *f, const char *name, const char *value)
{
	store_format(store, "%s%s%s%s%s", f->item[0], name, f->item[1], value, f->item[2]);
	if (f->named_twice)
		store_format(store, "%s>", name);
}

/* Items of the kinds wanted, as many as the room allows; returns the room they took. */
static uint64_t items_add(struct body *body, const struct body_rule *rule, uint64_t room,
			  struct rng *rng, struct store *store)
{
	const struct form *f = &form[rule->content];
	uint64_t around = strlen(f->items_open) + strlen(f->items_close), took = 0;

	for (unsigned i = 0; i < rule->per_response * SENSITIVE_KINDS; i++) {
		enum sensitive kind = (enum sensitive)(i % SENSITIVE_KINDS);
		const char *before = took ? f->join : f->items_open;
		struct store item = {.text = NULL};
		char value[SENSITIVE_MAX];

		if (!(rule->sensitive >> kind & 1))
			continue;
		sensitive_make(kind, rng, value);
		item_add(&item, f, sensitive_info[kind].field, value);
		item.length += took ? strlen(f->join) : around;
		if (item.length > room - took)
			continue;
		store_format(store, "%s", before);
		item_add(store, f, sensitive_info[kind].field, value);
		took += item.length;
		body->items[kind]++;
	}
	if (took)
		store_format(store, "%s", f->items_close);
	return took;
}

/* Words that need no escape anywhere; the first letter is the body's number. */
static void words_fill(char *to, uint32_t length, unsigned number, struct rng *rng)
{
	uint32_t word = 0;

	for (uint32_t i = 0; i < length; i++) {
		bool ends = word > 1 && i + 1 < length && rng_below(rng, 6) == 0;

		to[i] = ends ? ' ' : (char)('a' + rng_below(rng, 26));
		word = ends ? 0 : word + 1;
	}
	if (length)
		to[0] = (char)('a' + number % 26);
}

static void middle_words(struct body *body, uint64_t length, unsigned number, struct rng *rng,
			 struct store *store)
{
	char words[UNIT_TEXT];
	uint32_t unit = length < UNIT_TEXT ? (uint32_t)length : UNIT_TEXT;

	words_fill(words, unit, number, rng);
	body->unit = (struct text_piece){store_add(store, words, unit), unit};
	body->middle = length;
}

/* A document with a frame, if there is room for it and a letter. */
static bool document_make(struct body *body, const struct body_rule *rule, uint64_t size,
			  struct rng *rng, struct store *store)
{
	const struct form *f = &form[rule->content];
	uint64_t frame = strlen(f->open) + strlen(f->fill_open) + strlen(f->close);
	size_t begin = store->length;
	uint64_t items;

	if (size <= frame)
		return false;
	body->head.text = store_format(store, "%s", f->open);
	items = items_add(body, rule, size - frame - 1, rng, store);
	store_format(store, "%s", f->fill_open);
	body->head.length = (uint32_t)(store->length - begin);
	body->tail = (struct text_piece){store_format(store, "%s", f->close),
					 (uint32_t)strlen(f->close)};
	middle_words(body, size - frame - items, rule->number, rng, store);
	return true;
}

static void head_set(struct body *body, struct store *store, const char *text)
{
	body->head = (struct text_piece){store_format(store, "%s", text), (uint32_t)strlen(text)};
}

static void tail_set(struct body *body, struct store *store, const char *text)
{
	body->tail = (struct text_piece){store_format(store, "%s", text), (uint32_t)strlen(text)};
}

/* A document too short for its frame. */
static void fragment_make(struct body *body, const struct body_rule *rule, uint64_t size,
			  struct rng *rng, struct store *store)
{
	static const char title[] = "<!DOCTYPE html><title>", title_end[] = "</title>";
	char number[32];

	if (rule->content == CONTENT_JSON) { /* digits, not 0 first, the number last */
		for (uint64_t i = 0; i < size; i++)
			number[i] = (char)('1' + rng_below(rng, 9));
		if (size)
			number[size - 1] = (char)('1' + rule->number % 9);
		body->head = (struct text_piece){store_add(store, number, size), (uint32_t)size};
		return;
	}
	if (rule->content == CONTENT_XML && size) {
		require(size > 3);
		head_set(body, store, "<");
		tail_set(body, store, "/>");
		size -= 3;
	} else if (rule->content == CONTENT_HTML && size > sizeof(title) + sizeof(title_end) - 2) {
		head_set(body, store, title);
		tail_set(body, store, title_end);
		size -= sizeof(title) + sizeof(title_end) - 2;
	}
	middle_words(body, size, rule->number, rng, store);
	if (rule->content == CONTENT_XML && body->unit.text) /* a name: no blanks */
		for (uint32_t i = 0; i < body->unit.length; i++)
			if (body->unit.text[i] == ' ')
				((char *)body->unit.text)[i] = '_';
}

static void random_make(struct body *body, const struct body_rule *rule, uint64_t size,
			struct rng *rng, struct store *store)
{
	uint32_t unit = size < UNIT_RANDOM ? (uint32_t)size : UNIT_RANDOM;

	body->middle = size;
	body->unit.text = store->text ? store->text + store->length : NULL;
	body->unit.length = unit;
	for (uint32_t i = 0; i < unit; i++) {
		uint8_t byte = i ? (uint8_t)rng_next(rng) : (uint8_t)rule->number;

		store_add(store, &byte, 1);
	}
}

static void bare_make(struct body *body, uint64_t size, struct store *store)
{
	static const char line[LINE + 1] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n";

	body->middle = size;
	body->unit =
		(struct text_piece){store->text ? store->text + store->length : NULL, UNIT_TEXT};
	for (unsigned i = 0; i < UNIT_TEXT / LINE; i++)
		store_add(store, line, LINE);
}

void body_make(struct body *body, const struct body_rule *rule, uint64_t size, struct rng *rng,
	       struct store *store)
{
	*body = (struct body){.middle = 0};
	if (rule->content == CONTENT_FILE) {
		body->unit = (struct text_piece){(const char *)rule->file->data, rule->file->count};
		body->middle = size;
	} else if (rule->content == CONTENT_BARE) {
		bare_make(body, size, store);
	} else if (rule->content == CONTENT_RANDOM) {
		random_make(body, rule, size, rng, store);
	} else if (!document_make(body, rule, size, rng, store)) {
		fragment_make(body, rule, size, rng, store);
	}
}

void body_write(const struct body *body, uint64_t offset, char *to, uint64_t length)
{
	const struct text_piece *part[] = {&body->head, &body->unit, &body->tail};
	uint64_t begin[] = {0, body->head.length, body->head.length + body->middle},
		 end[] = {begin[1], begin[2], body_length(body)};

	for (unsigned i = 0; i < 3; i++) {
		while (length && offset < end[i]) {
			uint64_t at = (offset - begin[i]) % part[i]->length;
			uint64_t n = part[i]->length - at;

			n = n < end[i] - offset ? n : end[i] - offset;
			n = n < length ? n : length;
			memcpy(to, part[i]->text + at, n);
			to += n;
			offset += n;
			length -= n;
		}
	}
}

void body_wrap(struct body *body, uint32_t max, struct store *store)
{
	uint32_t unit = body->unit.length;
	char *at;

	if (body_length(body) <= max || body->middle <= unit)
		return;
	at = store_add(store, body->unit.text, unit);
	store->length += max;
	body->unit.text = at;
	body->wrap = max;
	for (uint32_t i = 0; at && i < max; i++)
		at[unit + i] = at[i];
}

const char *body_bytes(const struct body *body, uint32_t offset, uint32_t length)
{
	const struct text_piece *head = &body->head, *unit = &body->unit, *tail = &body->tail;
	uint32_t at;

	if (offset < head->length)
		return offset + length <= head->length ? head->text + offset : NULL;
	offset -= head->length;
	if (offset >= body->middle) {
		at = offset - (uint32_t)body->middle;
		return at + length <= tail->length ? tail->text + at : NULL;
	}
	at = offset % unit->length;
	if (offset + length > body->middle || at + length > unit->length + body->wrap)
		return NULL;
	return unit->text + at;
}

static void chunk_add(struct store *store, const char *data, uint32_t length)
{
	if (!length)
		return;
	store_format(store, "%x\r\n", length);
	store_add(store, data, length);
	store_format(store, "\r\n");
}

/* One chunk for the text in front, one for each whole unit, one each for the rest and for what is
 * behind, and the last one. */
void body_chunk(struct body *body, struct store *store)
{
	struct body plain = *body;
	uint64_t units = plain.middle ? plain.middle / plain.unit.length : 0;
	size_t begin = store->length;

	body->head.text = store->text ? store->text + begin : NULL;
	chunk_add(store, plain.head.text, plain.head.length);
	body->head.length = (uint32_t)(store->length - begin);
	begin = store->length;
	body->unit.text = store->text ? store->text + begin : NULL;
	if (units)
		chunk_add(store, plain.unit.text, plain.unit.length);
	body->unit.length = (uint32_t)(store->length - begin);
	body->middle = units * body->unit.length;
	begin = store->length;
	body->tail.text = store->text ? store->text + begin : NULL;
	if (plain.middle)
		chunk_add(store, plain.unit.text, (uint32_t)(plain.middle % plain.unit.length));
	chunk_add(store, plain.tail.text, plain.tail.length);
	store_format(store, "0\r\n\r\n");
	body->tail.length = (uint32_t)(store->length - begin);
}

/* While measuring there is no text to compress: what it can take at most is taken. */
void body_gzip(struct body *body, struct store *store)
{
	uint64_t size = body_length(body);
	z_stream z = {.zalloc = NULL};
	size_t most;
	char *plain;

	require(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			     Z_DEFAULT_STRATEGY) == Z_OK);
	most = deflateBound(&z, size);
	if (store->text) {
		plain = malloc(size + 1);
		require(plain);
		body_write(body, 0, plain, size);
		z.next_in = (uint8_t *)plain;
		z.avail_in = (uint32_t)size;
		z.next_out = (uint8_t *)store->text + store->length;
		z.avail_out = (uint32_t)most;
		require(deflate(&z, Z_FINISH) == Z_STREAM_END);
		free(plain);
		body->unit.text = store->text + store->length;
	}
	body->unit.length = (uint32_t)(store->text ? z.total_out : most);
	body->middle = body->unit.length;
	body->head.length = body->tail.length = 0;
	store->length += most;
	deflateEnd(&z);
}
