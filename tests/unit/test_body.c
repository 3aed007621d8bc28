/* Bodies: every length, every kind. With BODY_DUMP set to a directory the bodies are written there
 * as well, for real parsers to read (tests/e2e/content.sh). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "../../stateful/body.h"

#define SIZES 5001
#define ALL   ((1u << SENSITIVE_KINDS) - 1)

static char text[4u << 20], whole[1u << 20], again[1u << 20];

static void body_of(struct body *body, const struct body_rule *rule, uint64_t size,
		    struct store *store, bool chunk, bool gzip)
{
	struct store measure = {.text = NULL};

	for (int pass = 0; pass < 2; pass++) {
		struct store *s = pass ? store : &measure;
		struct rng rng = {size + 1};

		body_make(body, rule, size, &rng, s);
		if (gzip)
			body_gzip(body, s);
		if (chunk)
			body_chunk(body, s);
	}
	assert_true(store->length <= measure.length);
}

static void dump(const char *name, uint64_t number, const void *data, size_t length)
{
	const char *directory = getenv("BODY_DUMP");
	char path[512];
	FILE *file;

	if (!directory)
		return;
	snprintf(path, sizeof(path), "%s/%04lu.%s", directory, (unsigned long)number, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
}

static void check_size(const struct body_rule *rule, uint64_t size)
{
	struct store store = {.text = text};
	struct body body;

	memset(whole, '#', size + 1);
	body_of(&body, rule, size, &store, false, false);
	assert_true(store.length < sizeof(text));
	assert_int_equal(body_length(&body), size);
	body_write(&body, 0, whole, size);
	assert_int_equal(whole[size], '#');
	for (uint64_t at = 0; at < size; at += size / 7 + 1) {
		uint64_t length = size - at < 1460 ? size - at : 1460;

		body_write(&body, at, again, length);
		assert_memory_equal(again, whole + at, length);
	}
	dump(content_name[rule->content], size, whole, size);
}

static void test_documents_of_every_size(void **state)
{
	(void)state;
	for (enum config_content content = CONTENT_HTML; content < CONTENTS; content++) {
		struct config_bytes file = {(uint8_t *)"from a file", 11};
		struct body_rule rule = {content, ALL, 2, &file, 0};

		for (uint64_t size = 0; size < SIZES; size++) {
			if (content == CONTENT_XML && size && size < 4)
				continue; /* there is none */
			rule.number = (unsigned)size;
			check_size(&rule, size);
		}
		if (!getenv("BODY_DUMP")) {
			check_size(&rule, 65535);
			check_size(&rule, 1000000);
		}
	}
}

static void test_neighbours_differ(void **state)
{
	(void)state;
	for (enum config_content content = CONTENT_HTML; content <= CONTENT_RANDOM; content++)
		for (uint64_t size = content == CONTENT_XML ? 4 : 1; size < 400; size++)
			for (unsigned number = 0; number < 60; number++) {
				struct body_rule rule = {content, ALL, 1, NULL, number};
				struct store store = {.text = text};
				struct body body;

				body_of(&body, &rule, size, &store, false, false);
				body_write(&body, 0, number % 2 ? whole : again, size);
				if (number && !memcmp(whole, again, size))
					fail_msg("%s of %lu bytes: %u is like the one before",
						 content_name[content], (unsigned long)size,
						 number);
			}
}

/* What chunks hold, into `again`; returns its length. */
static size_t unchunk(const char *from, size_t length)
{
	size_t out = 0, at = 0;

	for (;;) {
		char *end;
		size_t n = strtoul(from + at, &end, 16);

		at = (size_t)(end - from);
		assert_memory_equal(from + at, "\r\n", 2);
		at += 2;
		memcpy(again + out, from + at, n);
		out += n;
		at += n;
		assert_memory_equal(from + at, "\r\n", 2);
		at += 2;
		if (!n)
			break;
	}
	assert_int_equal(at, length);
	return out;
}

static size_t gunzip(const char *from, size_t length, char *to, size_t room)
{
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)from,
		      .avail_in = (unsigned)length,
		      .next_out = (uint8_t *)to,
		      .avail_out = (unsigned)room};

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	return z.total_out;
}

static const uint64_t some_size[] = {0,    1,    2,    11,   100,   1024,  1459,  1460,
				     4095, 4096, 4200, 8400, 65536, 70000, 200000};

static void test_chunks_hold_the_body(void **state)
{
	(void)state;
	for (enum config_content content = CONTENT_HTML; content <= CONTENT_RANDOM; content++)
		for (unsigned i = 0; i < sizeof(some_size) / sizeof(*some_size); i++) {
			struct body_rule rule = {content, ALL, 1, NULL, 3};
			struct store store = {.text = text};
			uint64_t size = some_size[i], length;
			struct body body;

			if (content == CONTENT_XML && size < 4)
				continue;
			body_of(&body, &rule, size, &store, true, false);
			length = body_length(&body);
			body_write(&body, 0, whole, length);
			whole[length] = '\0';
			assert_int_equal(unchunk(whole, length), size);
			store = (struct store){.text = text};
			body_of(&body, &rule, size, &store, false, false);
			body_write(&body, 0, whole, size);
			assert_memory_equal(whole, again, size);
		}
}

static void test_gzip_and_chunks_of_it(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(some_size) / sizeof(*some_size); i++) {
		struct body_rule rule = {CONTENT_JSON, ALL, 1, NULL, 3};
		struct store store = {.text = text};
		uint64_t size = some_size[i], length;
		struct body body;

		body_of(&body, &rule, size, &store, true, true);
		length = body_length(&body);
		body_write(&body, 0, whole, length);
		whole[length] = '\0';
		length = unchunk(whole, length);
		assert_int_equal(gunzip(again, length, whole, sizeof(whole)), size);
		store = (struct store){.text = text};
		body_of(&body, &rule, size, &store, false, false);
		body_write(&body, 0, again, size);
		assert_memory_equal(whole, again, size);
	}
}

static void test_items_are_counted(void **state)
{
	struct body_rule rule = {CONTENT_JSON, ALL, 3, NULL, 0};
	struct store store = {.text = text};
	struct body body;

	(void)state;
	body_of(&body, &rule, 4000, &store, false, false);
	body_write(&body, 0, whole, 4000);
	whole[4000] = '\0';
	for (unsigned kind = 0; kind < SENSITIVE_KINDS; kind++) {
		unsigned seen = 0;
		char field[64];

		snprintf(field, sizeof(field), "\"%s\":", sensitive_info[kind].field);
		for (const char *at = whole; (at = strstr(at, field)); at++)
			seen++;
		assert_int_equal(seen, 3);
		assert_int_equal(body.items[kind], 3);
	}
	rule.sensitive = 1u << SENSITIVE_PHONE;
	store = (struct store){.text = text};
	body_of(&body, &rule, 60, &store, false, false); /* room for one only */
	assert_int_equal(body.items[SENSITIVE_PHONE], 1);
	assert_int_equal(body.items[SENSITIVE_EMAIL], 0);
}

/* One item a line, with its kind: for the script that verifies check digits. */
static void test_sensitive_items_are_written_out(void **state)
{
	struct store store = {.text = text};
	struct rng rng = {7};

	(void)state;
	for (unsigned kind = 0; kind < SENSITIVE_KINDS; kind++) {
		for (unsigned i = 0; i < 5000; i++) {
			char item[SENSITIVE_MAX];
			unsigned length = sensitive_make(kind, &rng, item);

			assert_int_equal(length, strlen(item));
			store_format(&store, "%s %s\n", sensitive_info[kind].name, item);
		}
	}
	dump("items", 0, text, store.length);
}

/* What is sent by reference is what would be written, and all of the middle can be. */
static void check_places(const struct body *body, uint32_t from, uint32_t to, uint32_t most)
{
	uint64_t end = body->head.length + body->middle;

	for (uint32_t offset = from; offset < to; offset++) {
		for (uint32_t length = 1; length <= most && offset + length <= to; length += 7) {
			const char *place = body_bytes(body, offset, length);

			body_write(body, offset, whole, length);
			if (place)
				assert_memory_equal(place, whole, length);
			else
				assert_true(offset < body->head.length || offset + length > end);
		}
	}
}

static void test_places(void **state)
{
	static const enum config_content kind[] = {CONTENT_BARE, CONTENT_HTML, CONTENT_RANDOM};
	static const uint64_t size[] = {200, 4096, 9001};
	enum { MOST = 300 };

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		struct body_rule rule = {.content = kind[i % 3]};
		struct store store = {.text = text};
		struct body body;

		body_of(&body, &rule, size[i / 3], &store, i % 2, false);
		body_wrap(&body, MOST, &store);
		check_places(&body, 0, (uint32_t)body_length(&body), MOST);
	}
}

static void test_places_behind_the_first_gigabytes(void **state)
{
	struct body_rule rule = {.content = CONTENT_BARE};
	struct store store = {.text = text};
	uint32_t end = 3000000001;
	struct body body;

	(void)state;
	body_of(&body, &rule, end, &store, false, false);
	body_wrap(&body, 1460, &store);
	check_places(&body, end - 3000, end, 1460);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents_of_every_size),
		cmocka_unit_test(test_neighbours_differ),
		cmocka_unit_test(test_chunks_hold_the_body),
		cmocka_unit_test(test_gzip_and_chunks_of_it),
		cmocka_unit_test(test_items_are_counted),
		cmocka_unit_test(test_sensitive_items_are_written_out),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_places_behind_the_first_gigabytes),
	};

	return cmocka_run_group_tests_name("body", tests, NULL, NULL);
}
