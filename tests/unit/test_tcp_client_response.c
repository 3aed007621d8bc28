/* Our client, segment by segment: responses in any segmentation, and what follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client_drill.h"

static void test_response_split_at_every_byte(void **state)
{
	static const char response[] = RESPONSE_5;

	(void)state;
	for (unsigned at = 1; at < sizeof(response) - 1; at++) {
		char first[128];

		connect_to(NULL);
		snprintf(first, sizeof(first), "%.*s", (int)at, response);
		SEND_TEXT(&d, first, "P. 1 ack %u", request);
		drill_skip_acks(&d);
		EXPECT_NOTHING(&d);
		SEND_TEXT(&d, response + at, "FP. %u ack %u", 1 + at, request);
		drill_skip_acks(&d);
		finish(1 + sizeof(response));
		expect_success();
	}
}

static void test_response_byte_by_byte(void **state)
{
	static const char response[] = RESPONSE_5;
	unsigned last = sizeof(response) - 2;

	(void)state;
	connect_to(NULL);
	for (unsigned i = 0; i <= last; i++) {
		char byte[2] = {response[i], 0};

		SEND_TEXT(&d, byte, "%sP. %u ack %u", i == last ? "F" : "", 1 + i, request);
		drill_skip_acks(&d);
		if (i < last)
			EXPECT_NOTHING(&d);
	}
	finish(1 + sizeof(response));
	expect_success();
}

/* As a port may give it that does not copy: the reply takes the headers' packet alone. */
static void test_response_behind_its_headers(void **state)
{
	static const char response[] = RESPONSE_5;

	(void)state;
	for (unsigned at = 10; at < sizeof(response) - 10; at++) {
		char first[128];

		connect_to(NULL);
		d.split = true;
		snprintf(first, sizeof(first), "%.*s", (int)at, response);
		SEND_TEXT(&d, first, "P. 1 ack %u", request);
		drill_skip_acks(&d);
		SEND_TEXT(&d, response + at, "FP. %u ack %u", 1 + at, request);
		finish(1 + sizeof(response));
		expect_success();
	}
}

static void test_chunked_response(void **state)
{
	static const char response[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				       "A\r\n0123456789\r\n1b\r\nabcdefghijklmnopqrstuvwxyz.\r\n"
				       "0\r\n\r\n";

	(void)state;
	for (unsigned at = 1; at < sizeof(response) - 1; at++) {
		char first[160];

		connect_to(NULL);
		snprintf(first, sizeof(first), "%.*s", (int)at, response);
		SEND_TEXT(&d, first, "P. 1 ack %u", request);
		drill_skip_acks(&d);
		SEND_TEXT(&d, response + at, "FP. %u ack %u", 1 + at, request);
		drill_skip_acks(&d);
		finish(1 + sizeof(response));
		expect_success();
	}
}

static void test_response_until_close(void **state)
{
	static const char response[] = "HTTP/1.1 200 OK\r\n\r\nall of this is the body";

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, response, "P. 1 ack %u", request);
	drill_skip_acks(&d);
	EXPECT_NOTHING(&d);
	SEND(&d, "F. %zu ack %u", sizeof(response), request);
	finish(1 + sizeof(response));
	expect_success();
}

static void test_continue_before_the_response(void **state)
{
	static const char response[] = "HTTP/1.1 100 Continue\r\n\r\n" RESPONSE_5;

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, response, "FP. 1 ack %u", request);
	finish(1 + sizeof(response));
	expect_success();
}

/* The server leaves the close to us. */
static void test_client_closes_when_it_has_all(void **state)
{
	uint32_t end = sizeof(RESPONSE_5);

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	SEND(&d, ". %u ack %u", end, request + 1);
	EXPECT_NOTHING(&d);
	SEND(&d, "F. %u ack %u", end, request + 1);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, end + 1);
	expect_success();
}

static void test_both_close_at_once(void **state)
{
	uint32_t end = sizeof(RESPONSE_5);

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	SEND(&d, "F. %u ack %u", end, request);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, end + 1);
	SEND(&d, ". %u ack %u", end + 1, request + 1);
	EXPECT_NOTHING(&d);
	expect_success();
}

/* RFC 9293 section 3.10.7.4: in CLOSING and LAST-ACK a RST just ends it. */
static void test_reset_after_both_fins_is_an_end(void **state)
{
	uint32_t end = sizeof(RESPONSE_5);

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	SEND(&d, "F. %u ack %u", end, request); /* CLOSING */
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, end + 1);
	SEND(&d, "R %u", end + 1);
	expect_success();
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end + 1); /* LAST-ACK */
	SEND(&d, "R %u", end + 1);
	expect_success();
}

static void test_next_request_goes_with_the_ack(void **state)
{
	uint32_t at = 1, end = 0;

	(void)state;
	connect_to(SET("client.requests_per_connection=3"));
	for (unsigned i = 0; i < 2; i++) {
		SEND_TEXT(&d, RESPONSE_5, "P. %u ack %u", at, request);
		at += sizeof(RESPONSE_5) - 1;
		EXPECT(&d, "P. %u ack %u", request, at);
		end = request + d.got.payload_len;
		request = end;
	}
	SEND_TEXT(&d, RESPONSE_5, "FP. %u ack %u", at, request);
	finish(at + sizeof(RESPONSE_5));
	assert_int_equal(drill_level(&d)->request.succeeded, 3);
	drill_close(&d);
}

/* Connection: close in a response ends a connection that was to carry more; that is no failure. */
static void test_server_closes_early_in_order(void **state)
{
	static const char response[] =
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx";

	(void)state;
	connect_to(SET("client.requests_per_connection=10"));
	SEND_TEXT(&d, response, "FP. 1 ack %u", request);
	finish(1 + sizeof(response));
	expect_success();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_response_split_at_every_byte),
		cmocka_unit_test(test_response_byte_by_byte),
		cmocka_unit_test(test_response_behind_its_headers),
		cmocka_unit_test(test_chunked_response),
		cmocka_unit_test(test_response_until_close),
		cmocka_unit_test(test_continue_before_the_response),
		cmocka_unit_test(test_client_closes_when_it_has_all),
		cmocka_unit_test(test_both_close_at_once),
		cmocka_unit_test(test_reset_after_both_fins_is_an_end),
		cmocka_unit_test(test_next_request_goes_with_the_ack),
		cmocka_unit_test(test_server_closes_early_in_order),
	};

	return cmocka_run_group_tests_name("tcp client response", tests, NULL, NULL);
}
