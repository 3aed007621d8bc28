/* Recalled header sections: the same outcome as parsed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "http_cut.h"

/* By way of a memo each sample has the same outcome: the first time, when it is recalled, and when
 * the memo holds another or one that begins alike. */
static void recalled_samples(const struct sample *sample, size_t count, bool response)
{
	static struct http_memo memo;

	memset(&memo, 0, sizeof memo);
	for (size_t i = 0; i < 6 * count; i++) {
		const struct sample *s = &sample[(i / 2 + i % 3) % count];
		size_t length = strlen(s->text), at = i % 5 ? length : length / 2;
		struct outcome plain = cut(s, response, length, length), recalled;
		struct feed feed = feed_begin(response, response ? s->method : HTTP_GET);

		feed.memo = &memo;
		feed_guarded(&feed, s->text, at);
		feed_guarded(&feed, s->text + at, length - at);
		recalled = feed_outcome(&feed);
		if (memcmp(&plain, &recalled, sizeof plain) != 0)
			fail_msg("recalled differently: %s", s->text);
	}
}

static void recalling_changes_nothing(void **state)
{
	(void)state;
	recalled_samples(responses, sizeof responses / sizeof *responses, true);
	recalled_samples(requests, sizeof requests / sizeof *requests, false);
}

/* The same bytes mean something else to a HEAD request. */
static void memo_depends_on_the_method(void **state)
{
	static const char text[] = OK "Content-Length: 3\r\n\r\nabc";
	struct http_memo memo = {.length = 0};

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct feed feed = feed_begin(true, i % 2 ? HTTP_HEAD : HTTP_GET);

		feed.memo = &memo;
		feed_piece(&feed, text, sizeof text - 1);
		assert_int_equal(feed.event, HTTP_DONE);
		assert_int_equal(feed.parser.body_bytes, i % 2 ? 0 : 3);
		assert_int_equal(memo.length, sizeof text - 1 - 3);
	}
}

/* A message that does not begin here is not recalled: what came before it counts too. */
static void memo_is_for_beginnings(void **state)
{
	static const char final[] = OK "Content-Length: 1\r\n\r\nx";
	static const char interim[] = "HTTP/1.1 103 Early Hints\r\n\r\n";
	struct http_memo memo = {.length = 0};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct feed feed = feed_begin(true, HTTP_GET);

		feed.memo = &memo;
		if (i) { /* cut, so that the memo keeps the other */
			feed_piece(&feed, interim, 9);
			feed_piece(&feed, interim + 9, sizeof interim - 1 - 9);
		}
		feed_piece(&feed, final, sizeof final - 1);
		assert_int_equal(feed.event, HTTP_DONE);
		assert_int_equal(feed.parser.informational, i ? 1 : 0);
		assert_int_equal(feed.parser.status, 200);
	}
}

/* A header section longer than a memo is no concern of it. */
static void memo_has_an_end(void **state)
{
	struct http_memo memo = {.length = 0};
	char text[600];

	(void)state;
	for (int length = 200; length < 300; length++) {
		struct feed feed = feed_begin(false, HTTP_GET);
		int total = snprintf(text, sizeof text, "GET /%0*d HTTP/1.1\r\n\r\n", length, 0);

		feed.memo = &memo;
		feed_piece(&feed, text, (size_t)total);
		assert_int_equal(feed.event, HTTP_DONE);
		assert_int_equal(feed.used, total);
		assert_int_equal(memo.length, total < HTTP_MEMO_MAX ? total : HTTP_MEMO_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recalling_changes_nothing),
		cmocka_unit_test(memo_depends_on_the_method),
		cmocka_unit_test(memo_is_for_beginnings),
		cmocka_unit_test(memo_has_an_end),
	};

	return cmocka_run_group_tests(tests, open_memory, close_memory);
}
