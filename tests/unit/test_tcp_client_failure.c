/* Our client, segment by segment: responses that fail, each in its own way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client_drill.h"

static void test_wrong_status(void **state)
{
	static const char response[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello";

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, response, "FP. 1 ack %u", request);
	finish(1 + sizeof(response));
	assert_int_equal(drill_level(&d)->request.failed[FAILED_STATUS], 1);
	assert_int_equal(drill_counter(&d, COUNTER_HTTP_4XX), 1);
	assert_int_equal(drill_counter(&d, COUNTER_HTTP_ERR), 1);
	expect_ended(FAILED_STATUS);
}

static void test_expected_status(void **state)
{
	static const char response[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello";

	(void)state;
	connect_to(SET("client.response.status=404"));
	SEND_TEXT(&d, response, "FP. 1 ack %u", request);
	finish(1 + sizeof(response));
	expect_success();
}

static void test_short_body(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, HEAD_5 "hell", "FP. 1 ack %u", request);
	EXPECT(&d, "F. %u ack %zu", request, sizeof(HEAD_5 "hell") + 1);
	SEND(&d, ". %zu ack %u", sizeof(HEAD_5 "hell") + 1, request + 1);
	assert_int_equal(drill_level(&d)->request.failed[FAILED_PROTOCOL], 1);
	assert_int_equal(drill_counter(&d, COUNTER_HTTP_ERR), 1);
	expect_ended(FAILED_PROTOCOL);
}

/* A body as long as it says, and not as long as it should be, is a failure of its own. */
static void test_body_of_another_length(void **state)
{
	(void)state;
	connect_to(SET("client.response.body.size=4"));
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	finish(1 + sizeof(RESPONSE_5));
	assert_int_equal(drill_level(&d)->request.failed[FAILED_LENGTH], 1);
	assert_int_equal(drill_counter(&d, COUNTER_HTTP_ERR), 1);
	expect_ended(FAILED_LENGTH);
}

/* Whatever the client does about it on the wire, it is a failure of this kind and an end. */
static void expect_protocol_error(const char *response, const char *flags)
{
	connect_to(NULL);
	SEND_TEXT(&d, response, "%s 1 ack %u", flags, request);
	assert_int_equal(drill_level(&d)->request.failed[FAILED_PROTOCOL], 1);
	assert_int_equal(drill_counter(&d, COUNTER_HTTP_ERR), 1);
	drill_stream(&d, request);
	drill_wait(&d, SEC(20));
	expect_ended(FAILED_PROTOCOL);
}

static void test_responses_that_are_not_http(void **state)
{
	(void)state;
	expect_protocol_error("SSH-2.0-OpenSSH_9.2\r\n", "P.");
	expect_protocol_error("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "P.");
	expect_protocol_error("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "P.");
	expect_protocol_error("", "F.");
	expect_protocol_error("HTTP/1.1 200 O", "FP.");
}

/* More than was announced, on a connection that goes on. */
static void test_body_too_long(void **state)
{
	(void)state;
	connect_to(SET("client.requests_per_connection=2"));
	SEND_TEXT(&d, RESPONSE_5 " world", "P. 1 ack %u", request);
	drill_wait(&d, SEC(30));
	assert_true(drill_counter(&d, COUNTER_HTTP_ERR) > 0);
	drill_close(&d);
}

static void test_reset_while_waiting(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND(&d, "R. 1 ack %u", request);
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->request.failed[FAILED_RESET], 1);
	expect_ended(FAILED_RESET);
}

static void test_reset_in_the_middle_of_a_response(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, HEAD_5, "P. 1 ack %u", request);
	drill_skip_acks(&d);
	SEND(&d, "R %zu", sizeof(HEAD_5));
	EXPECT_NOTHING(&d);
	expect_ended(FAILED_RESET);
}

static void test_response_time_out(void **state)
{
	(void)state;
	connect_to(SET("client.timeout=5s"));
	SEND(&d, ". 1 ack %u", request);
	drill_wait(&d, MS(4900));
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->open, 1);
	drill_wait(&d, MS(200));
	EXPECT(&d, "R. %u:%u ack 1", request, request);
	assert_int_equal(drill_level(&d)->request.failed[FAILED_TIMEOUT], 1);
	expect_ended(FAILED_TIMEOUT);
}

/* ... also of a request of several segments, long after the handshake. */
static void test_response_time_out_of_a_large_request(void **state)
{
	uint32_t end;

	(void)state;
	open_client(SET("client.request.method=POST", "client.request.body.size=3000",
			"client.requests_per_connection=2", "client.think_time=3s",
			"client.timeout=5s"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	request = drill_stream(&d, 1);
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	drill_skip_acks(&d);
	drill_wait(&d, MS(3100));
	end = drill_stream(&d, request);
	assert_true(end > request + 3000);
	drill_wait(&d, MS(4800));
	assert_int_equal(drill_level(&d)->open, 1);
	drill_wait(&d, MS(300));
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(failed(FAILED_TIMEOUT), 1);
	drill_close(&d);
}

/* A retransmission does not make the time-out come earlier. */
static void test_response_time_out_with_retransmissions(void **state)
{
	(void)state;
	open_client(SET("client.request.method=POST", "client.request.body.size=3000",
			"client.timeout=10s", "client.tcp.initial_rto=1s"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	drill_wait(&d, MS(9900)); /* retransmissions at 1, 3 and 7 s */
	assert_int_equal(drill_level(&d)->open, 1);
	drill_wait(&d, MS(200));
	expect_ended(FAILED_TIMEOUT);
}

/* The time-out is one of silence: a slow response is none, one that stops is. */
static void test_response_time_out_in_the_middle(void **state)
{
	uint32_t at;

	(void)state;
	connect_to(SET("client.timeout=5s"));
	SEND_TEXT(&d, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", "P. 1 ack %u", request);
	at = d.flow[0].far_nxt;
	for (unsigned i = 0; i < 7; i++, at++) {
		SEND(&d, "P. %u:%u ack %u", at, at + 1, request);
		drill_wait(&d, SEC(1));
	}
	assert_int_equal(drill_level(&d)->open, 1);
	drill_wait(&d, MS(3900));
	assert_int_equal(drill_level(&d)->open, 1);
	drill_wait(&d, MS(200));
	expect_ended(FAILED_TIMEOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_status),
		cmocka_unit_test(test_expected_status),
		cmocka_unit_test(test_short_body),
		cmocka_unit_test(test_body_of_another_length),
		cmocka_unit_test(test_responses_that_are_not_http),
		cmocka_unit_test(test_body_too_long),
		cmocka_unit_test(test_reset_while_waiting),
		cmocka_unit_test(test_reset_in_the_middle_of_a_response),
		cmocka_unit_test(test_response_time_out),
		cmocka_unit_test(test_response_time_out_of_a_large_request),
		cmocka_unit_test(test_response_time_out_with_retransmissions),
		cmocka_unit_test(test_response_time_out_in_the_middle),
	};

	return cmocka_run_group_tests_name("tcp client failure", tests, NULL, NULL);
}
