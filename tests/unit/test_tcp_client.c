/* Our client, segment by segment: the test plays the server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/drill.h"

#define HEAD_5     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
#define RESPONSE_5 HEAD_5 "hello"

static struct drill d;
static uint32_t request; /* where the request ends: what acknowledges it */

/* One connection in all of this virtual minute. */
static void open_client(const char *const *set)
{
	const char *all[16] = {"client.load.cps=0.01", "duration=60s"};
	unsigned n = 2;

	for (; set && *set; set++)
		all[n++] = *set;
	drill_open(&d, DRILL_CLIENT, all);
}

/* Up to the request, which is acknowledged when the response is. */
static void connect_to(const char *const *set)
{
	open_client(set);
	EXPECT(&d, "S 0:0 win 65535");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1");
	request = 1 + d.got.payload_len;
	EXPECT_NOTHING(&d);
}

static uint64_t failed(enum failed kind)
{
	return drill_level(&d)->connection.failed[kind];
}

static void expect_ended(enum failed kind)
{
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(failed(kind), 1);
	assert_int_equal(drill_level(&d)->connection.offered, 1);
	drill_close(&d);
}

static void expect_success(void)
{
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	assert_int_equal(drill_level(&d)->request.succeeded, 1);
	drill_close(&d);
}

/* The client has had its response, the last part of which came with FIN: it closes. */
static void finish(uint32_t server_end)
{
	EXPECT(&d, "F. %u:%u ack %u", request, request, server_end);
	SEND(&d, ". %u ack %u", server_end, request + 1);
	EXPECT_NOTHING(&d);
}

/* --- handshake --- */

static void test_short_connection(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	finish(2 + sizeof(RESPONSE_5) - 1);
	expect_success();
}

static void test_handshake_ack(void **state)
{
	(void)state;
	open_client(SET("client.tcp.handshake_ack=true"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, ". 1:1 ack 1 <>");
	EXPECT(&d, "P. 1 ack 1");
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

static void test_syn_is_retransmitted_with_back_off(void **state)
{
	(void)state;
	open_client(SET("client.tcp.initial_rto=1s", "client.tcp.retries=3", "client.timeout=60s"));
	EXPECT(&d, "S 0:0");
	EXPECT_IN(&d, SEC(1), "S 0:0 win 65535");
	EXPECT_IN(&d, SEC(2), "S 0:0 win 65535");
	EXPECT_IN(&d, SEC(4), "S 0:0 win 65535");
	assert_int_equal(drill_counter(&d, COUNTER_SYN_RT), 3);
	drill_wait(&d, SEC(9));
	expect_ended(FAILED_TIMEOUT);
}

static void test_connect_time_out(void **state)
{
	(void)state;
	open_client(SET("client.timeout=5s"));
	drill_wait(&d, MS(4900));
	assert_int_equal(drill_level(&d)->open, 1);
	assert_int_equal(drill_counter(&d, COUNTER_SYN_TX), 3); /* 0, 1, 3 s */
	drill_wait(&d, MS(200));
	expect_ended(FAILED_TIMEOUT);
}

static void test_connection_refused(void **state)
{
	(void)state;
	open_client(NULL);
	EXPECT(&d, "S 0:0");
	SEND(&d, "R. 0 ack 1");
	EXPECT_NOTHING(&d);
	expect_ended(FAILED_REFUSED);
}

/* RFC 9293 section 3.10.7.3: a RST counts in SYN-SENT only if it acknowledges the SYN. */
static void test_false_refusals(void **state)
{
	(void)state;
	open_client(NULL);
	EXPECT(&d, "S 0:0");
	SEND(&d, "R 0");
	SEND(&d, "R. 0 ack 2");
	SEND(&d, "R. 0 ack 0");
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->open, 1);
	EXPECT_DROPS(&d, TCP_BAD_RST, 1);
	EXPECT_DROPS(&d, TCP_BAD_ACK, 2);
	drill_close(&d);
}

static void test_syn_ack_that_acknowledges_something_else(void **state)
{
	(void)state;
	open_client(NULL);
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 9 win 65535 <mss 1460>");
	EXPECT(&d, "R 9:9");
	EXPECT(&d, "S 0:0"); /* at once, not after a time-out */
	EXPECT_DROPS(&d, TCP_BAD_ACK, 1);
	SEND(&d, ". 0 ack 77"); /* what a half-open far end says */
	EXPECT(&d, "R 77:77");
	EXPECT_NOTHING(&d); /* but only once */
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1");
	drill_close(&d);
}

static void test_repeated_syn_ack_is_acknowledged(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, ". %u:%u ack 1", request, request);
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	finish(1 + sizeof(RESPONSE_5));
	expect_success();
}

static void test_window_scale_only_when_agreed(void **state)
{
	int scale;

	(void)state;
	open_client(SET("client.tcp.window=1Mi"));
	EXPECT(&d, "S 0:0 win 65535");
	scale = segment_option(&d.got, 3);
	assert_in_range(scale, 1, 14);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1 win 65535");
	drill_close(&d);
	open_client(SET("client.tcp.window=1Mi"));
	EXPECT(&d, "S 0:0 win 65535");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460,nop,wscale 0>");
	EXPECT(&d, "P. 1 ack 1 win %u", 1048576 >> scale);
	drill_close(&d);
}

/* The window of a SYN,ACK is not scaled, even when scaling is agreed on. */
static void test_window_of_syn_ack_is_not_scaled(void **state)
{
	(void)state;
	open_client(SET("client.request.method=POST", "client.request.body.size=4000"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 1000 <mss 1460,nop,wscale 7>");
	EXPECT(&d, ". 1:1001 ack 1");
	EXPECT_NOTHING(&d);
	SEND(&d, ". 1 ack 1001 win 8"); /* 1024 */
	EXPECT(&d, ". 1001:2025 ack 1");
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

static void test_mss_of_the_peer(void **state)
{
	(void)state;
	open_client(SET("client.request.method=POST", "client.request.body.size=1000"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 300>");
	EXPECT(&d, ". 1:301 ack 1");
	EXPECT(&d, ". 301:601 ack 1");
	EXPECT(&d, ". 601:901 ack 1");
	EXPECT(&d, "P. 901 ack 1");
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

static void test_syn_ack_without_options(void **state)
{
	(void)state;
	open_client(SET("client.request.method=POST", "client.request.body.size=1000"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535");
	EXPECT(&d, ". 1:537 ack 1");
	drill_close(&d);
}

static void test_data_on_syn_ack(void **state)
{
	(void)state;
	open_client(NULL);
	EXPECT(&d, "S 0:0");
	SEND_TEXT(&d, "HTTP", "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1");
	drill_close(&d);
}

/* --- the response --- */

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

/* --- responses that fail --- */

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

/* --- retransmission and windows --- */

static void test_request_is_retransmitted_with_back_off(void **state)
{
	(void)state;
	connect_to(SET("client.tcp.initial_rto=1s", "client.tcp.retries=2", "client.timeout=60s"));
	EXPECT_IN(&d, SEC(1), "P. 1:%u ack 1", request);
	EXPECT_IN(&d, SEC(2), "P. 1:%u ack 1", request);
	assert_int_equal(drill_counter(&d, COUNTER_PUSH_RT), 2);
	EXPECT_IN(&d, SEC(4), "R. %u:%u ack 1", request, request);
	expect_ended(FAILED_TIMEOUT);
}

static void test_fin_is_retransmitted(void **state)
{
	uint32_t end = 1 + sizeof(RESPONSE_5);

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	EXPECT_IN(&d, SEC(1), "F. %u:%u ack %u", request, request, end);
	assert_int_equal(drill_counter(&d, COUNTER_FIN_RT), 1);
	SEND(&d, ". %u ack %u", end, request + 1);
	expect_success();
}

/* Our FIN,ACK was lost: the server repeats its response and FIN. */
static void test_server_repeats_its_response(void **state)
{
	uint32_t end = 1 + sizeof(RESPONSE_5);

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, end);
	SEND(&d, ". %u ack %u", end, request + 1);
	expect_success();
}

/* ... and after our record is gone. */
static void test_server_repeats_its_fin_after_the_end(void **state)
{
	uint32_t end = sizeof(RESPONSE_5);

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	SEND(&d, "F. %u ack %u", end, request + 1);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, end + 1);
	SEND(&d, "F. %u ack %u", end, request + 1);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, end + 1);
	expect_success();
}

static void test_small_window_for_the_request(void **state)
{
	(void)state;
	open_client(NULL);
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 10 <mss 1460>");
	EXPECT(&d, ". 1:11 ack 1");
	EXPECT_NOTHING(&d);
	SEND(&d, ". 1 ack 11 win 0");
	EXPECT_NOTHING(&d);
	EXPECT_IN(&d, MS(200), ". 11:12 ack 1"); /* the RTO: a sample of 0 has been taken */
	SEND(&d, ". 1 ack 12 win 1000");
	EXPECT(&d, "P. 12 ack 1");
	request = 12 + d.got.payload_len;
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	finish(1 + sizeof(RESPONSE_5));
	expect_success();
}

static void test_response_out_of_order(void **state)
{
	uint32_t middle = sizeof(HEAD_5);

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, "hello", "FP. %u ack %u", middle, request);
	EXPECT(&d, ". %u:%u ack 1", request, request);
	SEND_TEXT(&d, HEAD_5, ". 1 ack %u", request);
	drill_skip_acks(&d);
	SEND_TEXT(&d, "hello", "FP. %u ack %u", middle, request); /* in case it was not kept */
	drill_skip_acks(&d);
	EXPECT(&d, "F. %u:%u ack %u", request, request, middle + 6);
	drill_close(&d);
}

/* Every second full segment at the latest is acknowledged (RFC 9293 section 3.8.6.3). */
static void test_bulk_is_acknowledged(void **state)
{
	uint32_t at, acks = 0;

	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, "HTTP/1.1 200 OK\r\nContent-Length: 14600\r\n\r\n", "P. 1 ack %u", request);
	at = d.flow[0].far_nxt;
	acks = drill_skip_acks(&d);
	for (unsigned i = 0; i < 9; i++, at += 1460)
		SEND(&d, ". %u:%u ack %u", at, at + 1460, request);
	acks += drill_skip_acks(&d);
	assert_in_range(acks, 5, 10);
	SEND(&d, "FP. %u:%u ack %u", at, at + 1460, request);
	finish(at + 1461);
	expect_success();
}

/* ... and a single one within half a second. */
static void test_a_single_segment_is_acknowledged_in_time(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND_TEXT(&d, HEAD_5, "P. 1 ack %u", request);
	drill_wait(&d, MS(500));
	assert_int_equal(drill_skip_acks(&d), 1);
	assert_int_equal(d.got.ack - d.flow[0].far_isn, sizeof(HEAD_5));
	drill_close(&d);
}

/* --- resets and blind attacks (RFC 5961) --- */

static void test_reset_elsewhere_in_the_window_is_challenged(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND(&d, "R 100");
	EXPECT(&d, ". %u:%u ack 1", request, request);
	SEND(&d, "R 0");
	SEND(&d, "R 100000");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_BAD_RST, 3);
	assert_int_equal(drill_level(&d)->open, 1);
	drill_close(&d);
}

static void test_syn_on_a_connection_is_challenged(void **state)
{
	(void)state;
	connect_to(NULL);
	SEND(&d, "S 1");
	EXPECT(&d, ". %u:%u ack 1", request, request);
	SEND(&d, "S. 5000 ack 1");
	EXPECT(&d, ". %u:%u ack 1", request, request);
	EXPECT_DROPS(&d, TCP_BAD_SYN, 2);
	drill_close(&d);
}

static void test_segments_to_a_client_port_without_connection(void **state)
{
	(void)state;
	connect_to(NULL);
	drill_flow(&d, 1);
	d.flow[1].near_port = 60000;
	SEND(&d, ". 1 ack 1");
	EXPECT(&d, "R 1:1");
	SEND(&d, "S 1");
	EXPECT(&d, "R. 0:0 ack 2");
	SEND(&d, "R 1");
	EXPECT_NOTHING(&d);
	drill_flow(&d, 0);
	drill_close(&d);
}

/* The FIN of the response's end is repeated for a client that is waiting for its own close. */
static void test_drain_resets_what_waits(void **state)
{
	(void)state;
	connect_to(SET("client.tcp.initial_rto=10s"));
	drill_drain(&d, SEC(1));
	drill_wait(&d, MS(10));
	drill_skip_acks(&d);
	drill_wait(&d, SEC(2));
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_counter(&d, COUNTER_RST_TX), 1);
	drill_close(&d);
}

static void test_drain_closes_idle_connections(void **state)
{
	uint32_t end = sizeof(RESPONSE_5);

	(void)state;
	connect_to(SET("client.requests_per_connection=max", "client.think_time=10s"));
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, ". %u:%u ack %u", request, request, end);
	drill_drain(&d, SEC(1));
	drill_wait(&d, MS(10));
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	SEND(&d, "F. %u ack %u", end, request + 1);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, end + 1);
	expect_success();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_connection),
		cmocka_unit_test(test_handshake_ack),
		cmocka_unit_test(test_syn_is_retransmitted_with_back_off),
		cmocka_unit_test(test_connect_time_out),
		cmocka_unit_test(test_connection_refused),
		cmocka_unit_test(test_false_refusals),
		cmocka_unit_test(test_syn_ack_that_acknowledges_something_else),
		cmocka_unit_test(test_repeated_syn_ack_is_acknowledged),
		cmocka_unit_test(test_window_scale_only_when_agreed),
		cmocka_unit_test(test_window_of_syn_ack_is_not_scaled),
		cmocka_unit_test(test_mss_of_the_peer),
		cmocka_unit_test(test_syn_ack_without_options),
		cmocka_unit_test(test_data_on_syn_ack),
		cmocka_unit_test(test_response_split_at_every_byte),
		cmocka_unit_test(test_response_byte_by_byte),
		cmocka_unit_test(test_chunked_response),
		cmocka_unit_test(test_response_until_close),
		cmocka_unit_test(test_continue_before_the_response),
		cmocka_unit_test(test_client_closes_when_it_has_all),
		cmocka_unit_test(test_both_close_at_once),
		cmocka_unit_test(test_reset_after_both_fins_is_an_end),
		cmocka_unit_test(test_next_request_goes_with_the_ack),
		cmocka_unit_test(test_server_closes_early_in_order),
		cmocka_unit_test(test_wrong_status),
		cmocka_unit_test(test_expected_status),
		cmocka_unit_test(test_short_body),
		cmocka_unit_test(test_responses_that_are_not_http),
		cmocka_unit_test(test_body_too_long),
		cmocka_unit_test(test_reset_while_waiting),
		cmocka_unit_test(test_reset_in_the_middle_of_a_response),
		cmocka_unit_test(test_response_time_out),
		cmocka_unit_test(test_response_time_out_of_a_large_request),
		cmocka_unit_test(test_response_time_out_with_retransmissions),
		cmocka_unit_test(test_response_time_out_in_the_middle),
		cmocka_unit_test(test_request_is_retransmitted_with_back_off),
		cmocka_unit_test(test_fin_is_retransmitted),
		cmocka_unit_test(test_server_repeats_its_response),
		cmocka_unit_test(test_server_repeats_its_fin_after_the_end),
		cmocka_unit_test(test_small_window_for_the_request),
		cmocka_unit_test(test_response_out_of_order),
		cmocka_unit_test(test_bulk_is_acknowledged),
		cmocka_unit_test(test_a_single_segment_is_acknowledged_in_time),
		cmocka_unit_test(test_reset_elsewhere_in_the_window_is_challenged),
		cmocka_unit_test(test_syn_on_a_connection_is_challenged),
		cmocka_unit_test(test_segments_to_a_client_port_without_connection),
		cmocka_unit_test(test_drain_resets_what_waits),
		cmocka_unit_test(test_drain_closes_idle_connections),
	};

	return cmocka_run_group_tests_name("tcp client", tests, NULL, NULL);
}
