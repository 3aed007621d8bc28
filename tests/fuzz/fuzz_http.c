/* libFuzzer target: an HTTP message parsed in one piece and byte by byte, with the same outcome.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct feed whole, bytes;
	struct outcome a, b;

	if (!size)
		return 0;
	whole = feed_begin(data[0] & 1, (enum http_method)(data[0] >> 1 & 3));
	bytes = whole;
	feed_alone(&whole, data + 1, size - 1);
	for (size_t i = 1; i < size; i++)
		feed_alone(&bytes, data + i, 1);
	a = feed_outcome(&whole);
	b = feed_outcome(&bytes);
	if (memcmp(&a, &b, sizeof a) != 0)
		abort();
	return 0;
}
