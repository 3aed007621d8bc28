/* Types of a blast's keys: sizes, bytes, values of fields. */
#include "reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

#define FILE_MOST 9216u /* of a payload file: more is not sent */

static void words_refuse(struct reader *r, const struct where *w, const struct key *key)
{
	char *words = key_words(key);

	refuse(r, w, words);
	free(words);
}

static bool size_take(struct item *item, const char *piece)
{
	uint64_t first, last;

	if (!value_span(piece, item->key->max, &first, &last) || first < item->key->min)
		return false;
	for (; first <= last; first++)
		*(uint16_t *)list_grow(item->reader->config, item->list, item->count++,
				       sizeof(uint16_t)) = (uint16_t)first;
	return true;
}

void sizes_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = {.reader = r,
			    .where = *w,
			    .key = key,
			    .base = base,
			    .list = (void **)(base + key->offset)};

	items_read(&item, w->node, size_take);
	uint_store(base + key->count, key->count_size, item.count);
}

/* 7 : 4 : 1, as evenly spread as can be. IP packets of 40, 576 and 1500 bytes; the smallest frame
 * has room for 46. */
void imix_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	static const uint16_t mix[] = {60, 590, 60, 60, 590, 60, 60, 590, 60, 590, 60, 1514};
	uint16_t *size;

	if (!cJSON_IsBool(w->node)) {
		words_refuse(r, w, key);
		return;
	}
	if (!cJSON_IsTrue(w->node))
		return;
	size = storage_take(r->config, sizeof(mix));
	memcpy(size, mix, sizeof(mix));
	memcpy(base + key->offset, &size, sizeof(size));
	uint_store(base + key->count, key->count_size, sizeof(mix) / sizeof(*mix));
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Pairs of digits, blanks between them allowed. */
static bool hex_take(struct reader *r, const char *text, struct config_bytes *bytes)
{
	bytes->data = storage_take(r->config, strlen(text) / 2 + 1);
	bytes->count = 0;
	for (; *text; text += 2) {
		while (*text == ' ')
			text++;
		if (!*text)
			break;
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return false;
		bytes->data[bytes->count++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
	}
	return bytes->count;
}

/* "FILE" or "FILE#NUMBER". */
static void packet_take(struct reader *r, const struct where *w, const char *name,
			struct config_bytes *bytes)
{
	const char *hash = strrchr(name, '#');
	char *bare = text_format("%.*s", (int)(hash ? hash - name : (long)strlen(name)), name);
	char *file = document_path(r->document, w, bare);
	char why[512] = "capture files are not read here";
	uint64_t number = 1;

	bytes->data = storage_take(r->config, FILE_MOST);
	if (hash && (!value_count(hash + 1, &number) || !number))
		snprintf(why, sizeof(why), "expected a number from 1 behind the #");
	else if (r->machine->packet_read)
		bytes->count = r->machine->packet_read(file, number, bytes->data, FILE_MOST, why,
						       sizeof(why));
	if (!bytes->count)
		problem_add(r->document, w, PLACE_VALUE, "%s", why);
	free(file);
	free(bare);
}

void bytes_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct config_bytes *bytes = (struct config_bytes *)(base + key->offset);

	if (cJSON_IsString(w->node) && strncmp(w->node->valuestring, "pcap:", 5) == 0) {
		packet_take(r, w, w->node->valuestring + 5, bytes);
	} else if (!cJSON_IsString(w->node) || !hex_take(r, w->node->valuestring, bytes)) {
		bytes->count = 0;
		words_refuse(r, w, key);
	}
}

void payload_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct config_blast *blast = &((struct config_traffic *)base)->blast;
	const char *text = cJSON_IsString(w->node) ? w->node->valuestring : "";

	if (strcmp(text, "zeros") == 0) {
		blast->payload = PAYLOAD_ZEROS;
	} else if (strcmp(text, "random") == 0) {
		blast->payload = PAYLOAD_RANDOM;
	} else if (strncmp(text, "hex:", 4) == 0 && hex_take(r, text + 4, &blast->payload_bytes)) {
		blast->payload = PAYLOAD_BYTES;
	} else if (strncmp(text, "file:", 5) == 0 && text[5]) {
		blast->payload = PAYLOAD_BYTES;
		file_take(r, w, text + 5, FILE_MOST, &blast->payload_bytes);
	} else {
		words_refuse(r, w, key);
	}
}

static bool field_value(const char *text, uint64_t *value)
{
	u128 address;

	if (!text)
		return false;
	if (value_ip(text, &address) || value_ip6(text, &address)) {
		*value = (uint64_t)address;
		return true;
	}
	return value_count(text, value);
}

void field_value_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	uint64_t value;

	if (!field_value(node_value(w->node), &value)) {
		words_refuse(r, w, key);
		return;
	}
	uint_store(base + key->offset, key->size, value);
	uint_store(base + key->count, key->count_size, 1);
}

static bool value_take(struct item *item, const char *piece)
{
	uint64_t value;

	if (!field_value(piece, &value))
		return false;
	*(uint64_t *)list_grow(item->reader->config, item->list, item->count++, sizeof(uint64_t)) =
		value;
	return true;
}

void field_values_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = {.reader = r,
			    .where = *w,
			    .key = key,
			    .base = base,
			    .list = (void **)(base + key->offset)};

	if (!cJSON_IsArray(w->node))
		words_refuse(r, w, key);
	else
		items_read(&item, w->node, value_take);
	uint_store(base + key->count, key->count_size, item.count);
}
