/* HTTP messages: what the parser makes of each, whole and cut at every byte and every two bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/rng.h"
#include "http_cut.h"

#define SHORT 60 /* cut at every pair of bytes */

static struct outcome byte_by_byte(const struct sample *s, bool response)
{
	struct feed feed = feed_begin(response, response ? s->method : HTTP_GET);

	for (const char *c = s->text; *c; c++)
		feed_guarded(&feed, c, 1);
	return feed_outcome(&feed);
}

static void assert_outcome(const struct sample *s, bool response, const struct outcome *o)
{
	if (o->event != s->event)
		fail_msg("event %d instead of %d: %s", (int)o->event, s->event, s->text);
	if (s->event == HTTP_ERROR) {
		assert_true(o->used <= strlen(s->text));
		return;
	}
	assert_int_equal(o->used, strlen(s->text) - (size_t)s->behind);
	assert_int_equal(o->informational, s->informational);
	if (!o->head_done) {
		assert_int_equal(s->event, HTTP_MORE);
		return;
	}
	assert_int_equal(o->method, s->method);
	assert_int_equal(o->status, response ? s->status : 0);
	if (o->keep_alive == s->close)
		fail_msg("keep_alive is %d: %s", (int)o->keep_alive, s->text);
	if (o->body_bytes != s->body)
		fail_msg("body of %d bytes: %s", (int)o->body_bytes, s->text);
	assert_int_equal(o->chunked, s->chunked);
	assert_int_equal(o->until_close, s->until_close);
	assert_int_equal(o->expect_continue, s->expect_continue);
	if (s->event == HTTP_DONE)
		assert_true(o->remaining == 0);
}

static void samples_check(const struct sample *sample, size_t count, bool response)
{
	for (size_t i = 0; i < count; i++) {
		const struct sample *s = &sample[i];
		size_t length = strlen(s->text);
		struct outcome whole = cut(s, response, length, length), other;

		assert_outcome(s, response, &whole);
		other = byte_by_byte(s, response);
		if (memcmp(&whole, &other, sizeof whole) != 0)
			fail_msg("whole and byte by byte differ: %s", s->text);
		for (size_t a = 0; a <= length; a++)
			for (size_t b = a; b <= length; b++) {
				if (length > SHORT && b != a && b != a + 1)
					continue;
				other = cut(s, response, a, b);
				if (memcmp(&whole, &other, sizeof whole) != 0)
					fail_msg("differs when cut at %zu and %zu: %s", a, b,
						 s->text);
			}
	}
}

static void every_response_however_cut(void **state)
{
	(void)state;
	samples_check(responses, sizeof responses / sizeof *responses, true);
}

static void every_request_however_cut(void **state)
{
	(void)state;
	samples_check(requests, sizeof requests / sizeof *requests, false);
}

/* A message that ended or failed stays so. */
static void nothing_is_used_after_the_end(void **state)
{
	struct feed feed = feed_begin(true, HTTP_GET);
	size_t used = 9;

	(void)state;
	feed_piece(&feed, "HTTP/1.1 204 x\r\n\r\n", 18);
	assert_int_equal(http_response_parse(&feed.parser, "HTTP", 4, &used), HTTP_DONE);
	assert_int_equal(used, 0);
	assert_int_equal(http_response_end(&feed.parser), HTTP_DONE);
	feed = feed_begin(false, HTTP_GET);
	feed_piece(&feed, "\x01", 1);
	assert_int_equal(http_request_parse(&feed.parser, "GET", 3, &used), HTTP_ERROR);
	assert_int_equal(used, 0);
}

static void end_by_close(void **state)
{
	static const struct {
		const char *text;
		enum http_event event;
	} ends[] = {
		{OK "\r\n", HTTP_DONE},
		{OK "\r\nsome", HTTP_DONE},
		{OK "Transfer-Encoding: gzip\r\n\r\nsome", HTTP_DONE},
		{"", HTTP_ERROR},
		{OK, HTTP_ERROR},
		{OK "\r", HTTP_ERROR},
		{OK "Content-Length: 2\r\n\r\n", HTTP_ERROR},
		{OK "Content-Length: 2\r\n\r\n1", HTTP_ERROR},
		{OK "Transfer-Encoding: chunked\r\n\r\n", HTTP_ERROR},
		{OK "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", HTTP_ERROR},
		{OK "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", HTTP_ERROR},
		{"HTTP/1.1 100 Continue\r\n\r\n", HTTP_ERROR},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct feed feed = feed_begin(true, HTTP_GET);

		feed_piece(&feed, ends[i].text, strlen(ends[i].text));
		assert_int_equal(feed.event, HTTP_MORE);
		assert_int_equal(http_response_end(&feed.parser), ends[i].event);
	}
}

/* Several requests in one buffer, one after the other, as a server reads them. */
static void pipelined_requests(void **state)
{
	static const char text[] = GET "Host: a\r\n\r\n"
				       "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
				       "\r\nHEAD / HTTP/1.1\r\n\r\n";
	static const enum http_method method[] = {HTTP_GET, HTTP_POST, HTTP_HEAD};
	const char *next = text;
	struct http_parser p;
	size_t used;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		http_begin(&p, HTTP_GET);
		assert_int_equal(http_request_parse(&p, next, strlen(next), &used), HTTP_DONE);
		assert_int_equal(p.method, method[i]);
		next += used;
	}
	assert_string_equal(next, "");
}

/* Which header framed the body is said, and Transfer-Encoding wins. */
static void length_gives_way_to_transfer_encoding(void **state)
{
	static const char *const text[] = {
		OK "Content-Length: 3\r\n\r\n", OK "\r\n",
		OK "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
		OK "Content-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\n"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct feed feed = feed_begin(true, HTTP_GET);

		feed_piece(&feed, text[i], strlen(text[i]));
		assert_int_equal(feed.event, HTTP_MORE);
		assert_int_equal(feed.parser.has_length, i == 0);
		assert_int_equal(feed.parser.remaining, i == 0 ? 3 : 0);
		assert_int_equal(feed.parser.chunked, i == 2);
	}
}

/* A NUL is an error wherever a line has it, whole or cut, and not the end of a word. */
static void nul_bytes(void **state)
{
	static const struct {
		bool response;
		const char *before, *behind;
	} at[] = {
		{true, "HTTP/1.1 200 O", "K\r\n\r\n"},
		{true, OK "X: a", "b\r\nContent-Length: 1\r\n\r\nx"},
		{true, OK "X: a long value, more than one word of it ", "\r\n\r\n"},
		{true, OK "X:", "\r\n\r\n"},
		{true, OK "Connection: close", "\r\n\r\n"},
		{true, OK "Connection: ", ",close\r\n\r\n"},
		{true, OK "Content-Length: 1", "\r\n\r\nx"},
		{true, OK "Connection", ": close\r\n\r\n"},
		{true, OK "Transfer-Encoding: chunked\r\n\r\n1;a", "\r\nx\r\n0\r\n\r\n"},
		{true, OK "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a", "\r\n\r\n"},
		{false, "GET /a", "b HTTP/1.1\r\n\r\n"},
		{false, GET "Host: a", "b\r\n\r\n"},
	};
	struct http_memo memo[2] = {0};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		size_t before = strlen(at[i].before), length = before + 1 + strlen(at[i].behind);

		memcpy(text, at[i].before, before + 1);
		memcpy(text + before + 1, at[i].behind, length - before);
		for (size_t piece = 1; piece <= length; piece++) {
			struct feed feed = feed_begin(at[i].response, HTTP_GET);

			feed.memo = piece % 2 ? &memo[at[i].response] : NULL;
			for (size_t fed = 0; fed < length; fed += piece)
				feed_piece(&feed, text + fed,
					   piece < length - fed ? piece : length - fed);
			if (feed.event != HTTP_ERROR)
				fail_msg("a NUL is accepted behind \"%s\"", at[i].before);
		}
	}
}

/* Words far longer than any that is known. */
static void long_words(void **state)
{
	char text[2048];

	(void)state;
	for (int length = 250; length < 520; length++) {
		struct feed feed = feed_begin(false, HTTP_GET);

		snprintf(text, sizeof text, "%0*d / HTTP/1.1\r\n\r\n", length, 0);
		feed_piece(&feed, text, strlen(text));
		assert_int_equal(feed.event, HTTP_DONE);
		assert_int_equal(feed.parser.method, HTTP_OTHER);
		feed = feed_begin(true, HTTP_GET);
		snprintf(text, sizeof text,
			 OK "%0*d: y\r\nContent-Length: 0\r\nTransfer-Encoding: %0*d\r\n\r\n",
			 length, 0, length, 0);
		feed_piece(&feed, text, strlen(text));
		assert_int_equal(feed.event, HTTP_MORE);
		assert_true(feed.parser.until_close);
	}
}

/* A body of 2^40 bytes costs no more than its pieces. */
static void long_body(void **state)
{
	static char piece[65536];
	struct feed feed = feed_begin(true, HTTP_GET);
	char head[] = OK "Content-Length: 1099511627776\r\n\r\n";

	(void)state;
	feed_piece(&feed, head, sizeof head - 1);
	for (unsigned i = 0; i < 1000; i++)
		feed_piece(&feed, piece, sizeof piece);
	assert_int_equal(feed.event, HTTP_MORE);
	assert_true(feed.parser.body_bytes == 65536000);
	assert_true(feed.parser.remaining == (UINT64_C(1) << 40) - 65536000);
}

/* A header section, with its start line, of 64 KiB is allowed, and not a byte more; in one piece or
 * byte by byte, also when 1xx responses or trailers are what makes it long. */
static void long_header(void **state)
{
	static char text[70000];
	const size_t head = strlen(OK "X: \r\nContent-Length: 0\r\n\r\n");

	(void)state;
	for (size_t total = 65535; total <= 65537; total++)
		for (size_t piece = 1; piece <= total; piece += total - 1) {
			struct feed feed = feed_begin(true, HTTP_GET);
			int fill = (int)(total - head);

			assert_int_equal(snprintf(text, sizeof text,
						  OK "X: %0*d\r\nContent-Length: 0\r\n\r\n", fill,
						  0),
					 total);
			for (size_t at = 0; at < total; at += piece)
				feed_piece(&feed, text + at, piece);
			assert_int_equal(feed.event, total <= 65536 ? HTTP_DONE : HTTP_ERROR);
		}
}

static void endless_preludes_are_errors(void **state)
{
	static const char *const prelude[] = {"\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "X: y\r\n"};
	static const char *const begin[] = {"", "", OK "Transfer-Encoding: chunked\r\n\r\n0\r\n"};
	static const bool response[] = {false, true, true};
	unsigned turns;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct feed feed = feed_begin(response[i], HTTP_GET);

		feed_piece(&feed, begin[i], strlen(begin[i]));
		for (turns = 0; feed.event == HTTP_MORE && turns < 40000; turns++)
			feed_piece(&feed, prelude[i], strlen(prelude[i]));
		assert_int_equal(feed.event, HTTP_ERROR);
		assert_int_equal(feed.used,
				 i == 2 ? 65536 + 3 : 65536); /* less the last chunk's line */
		if (i == 1)
			assert_int_equal(feed.parser.informational, 255);
	}
}

/* Samples with bytes changed, removed, repeated: whole and in random pieces agree. */
static void random_damage(void **state)
{
	static const char bytes[] = "\r\n\t :,;0159afAFxHGcC\x01\x7f\x80\xff-";
	struct rng rng = {5};
	char text[512];

	(void)state;
	for (unsigned run = 0; run < 60000; run++) {
		bool response = rng_below(&rng, 3) != 0;
		size_t which = rng_below(&rng, response ? sizeof responses / sizeof *responses
							: sizeof requests / sizeof *requests);
		const struct sample *s = response ? &responses[which] : &requests[which];
		struct feed whole = feed_begin(response, s->method), parts = whole;
		struct outcome a, b;
		size_t length = strlen(s->text);

		memcpy(text, s->text, length);
		for (uint64_t n = rng_below(&rng, 4); length && n; n--) {
			size_t at = rng_below(&rng, length);

			if (rng_below(&rng, 4) == 0)
				memmove(text + at, text + at + 1, --length - at);
			else
				text[at] = bytes[rng_below(&rng, sizeof bytes)];
		}
		feed_guarded(&whole, text, length);
		for (size_t at = 0, piece; at < length; at += piece) {
			piece = rng_below(&rng, 2) ? 1 : rng_below(&rng, length - at + 1);
			feed_guarded(&parts, text + at, piece);
		}
		a = feed_outcome(&whole);
		b = feed_outcome(&parts);
		if (memcmp(&a, &b, sizeof a) != 0)
			fail_msg("differs in pieces: %.*s", (int)length, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_response_however_cut),
		cmocka_unit_test(every_request_however_cut),
		cmocka_unit_test(nothing_is_used_after_the_end),
		cmocka_unit_test(end_by_close),
		cmocka_unit_test(pipelined_requests),
		cmocka_unit_test(length_gives_way_to_transfer_encoding),
		cmocka_unit_test(nul_bytes),
		cmocka_unit_test(long_words),
		cmocka_unit_test(long_body),
		cmocka_unit_test(long_header),
		cmocka_unit_test(endless_preludes_are_errors),
		cmocka_unit_test(random_damage),
	};

	return cmocka_run_group_tests(tests, open_memory, close_memory);
}
