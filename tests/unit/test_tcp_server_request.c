/* Our server, segment by segment: requests in any segmentation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

static void test_request_split_at_every_byte(void **state)
{
	const char *request = GET_CLOSE;

	(void)state;
	for (unsigned at = 1; at < strlen(request); at++) {
		char first[128];

		open_server(NULL);
		handshake();
		snprintf(first, sizeof(first), "%.*s", (int)at, request);
		SEND_TEXT(&d, first, "P. 1 ack 1");
		drill_skip_acks(&d);
		SEND_TEXT(&d, request + at, "P. %u ack 1", 1 + at);
		expect_last_response(1, sizeof(GET_CLOSE));
		assert_int_equal(drill_level(&d)->request.succeeded, 1);
		drill_close(&d);
	}
}

static void test_request_byte_by_byte(void **state)
{
	const char *request = GET_CLOSE;

	(void)state;
	open_server(NULL);
	handshake();
	for (unsigned i = 0; request[i]; i++) {
		char byte[2] = {request[i], 0};

		drill_skip_acks(&d);
		EXPECT_NOTHING(&d);
		SEND_TEXT(&d, byte, "P. %u ack 1", 1 + i);
	}
	expect_last_response(1, sizeof(GET_CLOSE));
	drill_close(&d);
}

static void test_pipelined_requests(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_KEEP GET_KEEP GET_KEEP GET_CLOSE, "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 4);
	assert_int_equal(count(d.stream, "Connection: close"), 1);
	assert_true(d.got.flags & 1);
	assert_int_equal(drill_level(&d)->request.succeeded, 4);
	drill_close(&d);
}

static void test_many_pipelined_large_responses(void **state)
{
	static const char four[] = GET_KEEP GET_KEEP GET_KEEP GET_KEEP;
	uint32_t at = 1;

	(void)state;
	open_server(SET("server.response.body.size=3000"));
	handshake();
	for (uint32_t i = 0; i < 4; i++) {
		SEND_TEXT(&d, four, "P. %zu ack %u", 1 + i * (sizeof(four) - 1), at);
		at = drill_stream(&d, at);
	}
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 16);
	assert_true(d.stream_len > 16 * 3000);
	drill_close(&d);
}

static void test_pipelined_requests_split_anywhere(void **state)
{
	static const char two[] = GET_KEEP GET_CLOSE;

	(void)state;
	for (unsigned at = 1; at < sizeof(two) - 1; at++) {
		char first[128];
		uint32_t ack;

		open_server(NULL);
		handshake();
		snprintf(first, sizeof(first), "%.*s", (int)at, two);
		SEND_TEXT(&d, first, "P. 1 ack 1");
		ack = drill_stream(&d, 1);
		SEND_TEXT(&d, two + at, "P. %u ack %u", 1 + at, ack);
		drill_stream(&d, ack);
		assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 2);
		assert_true(d.got.flags & 1);
		drill_close(&d);
	}
}

static void test_post_body_over_several_segments(void **state)
{
	static const char head[] = "POST /x HTTP/1.1\r\nHost: t\r\nContent-Length: 3000\r\n\r\n";
	uint32_t at = sizeof(head);

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, head, "P. 1 ack 1");
	SEND(&d, ". %u:%u ack 1", at, at + 1460);
	SEND(&d, ". %u:%u ack 1", at + 1460, at + 2920);
	drill_skip_acks(&d);
	EXPECT_NOTHING(&d);
	SEND(&d, "P. %u:%u ack 1", at + 2920, at + 3000);
	drill_skip_acks(&d);
	EXPECT(&d, "P. 1 ack %u", at + 3000);
	assert_int_equal(drill_counter(&d, COUNTER_HTTP_POST), 1);
	drill_close(&d);
}

static void test_expect_100_continue(void **state)
{
	static const char head[] = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n"
				   "Expect: 100-continue\r\nConnection: close\r\n\r\n";
	uint32_t at;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, head, "P. 1 ack 1");
	at = drill_stream(&d, 1);
	assert_int_equal(strncmp(d.stream, "HTTP/1.1 100 ", 13), 0);
	SEND_TEXT(&d, "hello", "P. %zu ack %u", sizeof(head), at);
	drill_stream(&d, at);
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 1);
	drill_close(&d);
}

/* As curl does it: the body is chunked, and comes only when it was asked for, in pieces. */
static void test_expect_100_continue_chunked(void **state)
{
	static const char head[] = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n"
				   "Expect: 100-continue\r\n\r\n";
	static const char body[] = "5\r\nhello\r\n", end[] = "0\r\n\r\n";
	uint32_t at, next = sizeof(head);

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, head, "P. 1 ack 1");
	at = drill_stream(&d, 1);
	assert_int_equal(strncmp(d.stream, "HTTP/1.1 100 ", 13), 0);
	SEND_TEXT(&d, body, "P. %u ack %u", next, at);
	next += sizeof(body) - 1;
	drill_skip_acks(&d);
	SEND_TEXT(&d, end, "P. %u ack %u", next, at);
	drill_stream(&d, at);
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 1);
	drill_close(&d);
}

static void test_bad_request(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, "NONSENSE\r\n\r\n", "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_int_equal(strncmp(d.stream, "HTTP/1.1 400 ", 13), 0);
	assert_true(d.got.flags & 1);
	drill_close(&d);
}

static void test_head_and_http_1_0(void **state)
{
	static const char head[] = "HEAD / HTTP/1.1\r\nHost: t\r\n\r\n";
	uint32_t at;

	(void)state;
	open_server(SET("server.response.body.size=100"));
	handshake();
	SEND_TEXT(&d, head, "P. 1 ack 1");
	at = drill_stream(&d, 1);
	assert_non_null(strstr(d.stream, "Content-Length: 100\r\n"));
	assert_string_equal(d.stream + d.stream_len - 4, "\r\n\r\n");
	SEND_TEXT(&d, "GET / HTTP/1.0\r\n\r\n", "P. %zu ack %u", sizeof(head), at);
	drill_stream(&d, at);
	assert_true(d.got.flags & 1); /* HTTP/1.0 closes unless asked otherwise */
	drill_close(&d);
}

static void test_http_1_0_keep_alive(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_false(d.got.flags & 1);
	assert_non_null(strstr(d.stream, "Connection: keep-alive"));
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_split_at_every_byte),
		cmocka_unit_test(test_request_byte_by_byte),
		cmocka_unit_test(test_pipelined_requests),
		cmocka_unit_test(test_many_pipelined_large_responses),
		cmocka_unit_test(test_pipelined_requests_split_anywhere),
		cmocka_unit_test(test_post_body_over_several_segments),
		cmocka_unit_test(test_expect_100_continue),
		cmocka_unit_test(test_expect_100_continue_chunked),
		cmocka_unit_test(test_bad_request),
		cmocka_unit_test(test_head_and_http_1_0),
		cmocka_unit_test(test_http_1_0_keep_alive),
	};

	return cmocka_run_group_tests_name("tcp server request", tests, NULL, NULL);
}
