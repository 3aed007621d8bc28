/* libFuzzer target: an HTTP message parsed in one piece, byte by byte, and by way of a memo, with
 * the same outcome.
 *
 *     clang -std=gnu17 -g -O1 -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_http.c \
 *         stateful/http.c stateful/http_head.c stateful/http_quick.c -o fuzz_http
 *     ./fuzz_http -max_len=600 -dict=tests/fuzz/http.dict -max_total_time=600
 *
 * The first byte chooses between request and response, and the method that the response answers. */
#include <stdlib.h>
#include <string.h>

#include "../unit/http_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sanitizer sees each read outside of a piece only if the piece is an allocation of its own. */
static void feed_alone(struct feed *feed, const uint8_t *data, size_t length)
{
	char *piece = malloc(length ? length : 1);

	if (!piece)
		abort();
	memcpy(piece, data, length);
	feed_piece(feed, piece, length);
	free(piece);
}

static void outcome_expect(const struct outcome *expected, const struct feed *feed)
{
	struct outcome got = feed_outcome(feed);

	if (memcmp(expected, &got, sizeof got) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char other[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
	struct http_memo memo = {.length = 0};
	struct feed begin, whole, bytes, recalled;
	struct outcome expected;

	if (!size)
		return 0;
	begin = feed_begin(data[0] & 1, (enum http_method)(data[0] >> 1 & 3));
	whole = bytes = begin;
	feed_alone(&whole, data + 1, size - 1);
	expected = feed_outcome(&whole);
	for (size_t i = 1; i < size; i++)
		feed_alone(&bytes, data + i, 1);
	outcome_expect(&expected, &bytes);
	begin.memo = &memo;
	recalled = begin;
	feed_piece(&recalled, other, sizeof other - 1);
	for (unsigned i = 0; i < 2; i++) {
		recalled = begin;
		feed_alone(&recalled, data + 1, size - 1);
		outcome_expect(&expected, &recalled);
	}
	return 0;
}
