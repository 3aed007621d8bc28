/* Our client, segment by segment: retransmission and windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client_drill.h"

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

/* What comes before its turn is kept, packets of one piece and of several: nothing is repeated, and
 * overlaps count once. */
static void out_of_order(bool split)
{
	uint32_t body = sizeof(HEAD_5);

	connect_to(NULL);
	d.split = split;
	SEND_TEXT(&d, "llo", "FP. %u ack %u", body + 2, request);
	EXPECT(&d, ". %u:%u ack 1", request, request);
	SEND_TEXT(&d, "ello", ". %u ack %u", body + 1, request);
	EXPECT(&d, ". %u:%u ack 1", request, request);
	SEND_TEXT(&d, HEAD_5 "hel", ". 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, body + 5);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, body + 6);
	EXPECT_DROPS(&d, TCP_OUT_OF_ORDER, 0);
	d.split = false;
	SEND(&d, ". %u ack %u", body + 6, request + 1);
	expect_success();
}

static void test_response_out_of_order(void **state)
{
	(void)state;
	out_of_order(false);
	out_of_order(true);
}

/* A body in long segments of which every second one is late. */
static void test_chains_out_of_order(void **state)
{
	uint32_t body;

	(void)state;
	connect_to(SET("client.response.body.size=14600"));
	d.split = true;
	SEND_TEXT(&d, "HTTP/1.1 200 OK\r\nContent-Length: 14600\r\n\r\n", "P. 1 ack %u", request);
	body = d.flow[0].far_nxt;
	for (unsigned i = 1; i < 10; i += 2)
		SEND(&d, ". %u:%u ack %u", body + i * 1460, body + (i + 1) * 1460, request);
	for (unsigned i = 0; i < 10; i += 2)
		SEND(&d, ". %u:%u ack %u", body + i * 1460, body + (i + 1) * 1460, request);
	drill_skip_acks(&d);
	EXPECT(&d, "F. %u:%u ack %u", request, request, body + 14600);
	EXPECT_DROPS(&d, TCP_OUT_OF_ORDER, 0);
	SEND(&d, "F. %u ack %u", body + 14600, request + 1);
	EXPECT(&d, ". %u:%u ack %u", request + 1, request + 1, body + 14601);
	expect_success();
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

/* Seven of eight side records are in use, each for a window that is closed: no further connection
 * is opened, and those that are stay. */
static void test_launches_wait_for_side_records(void **state)
{
	(void)state;
	drill_open(&d, DRILL_CLIENT,
		   SET("client.load.cps=100", "duration=900ms", "client.request.method=POST",
		       "client.request.body.size=5000", "memory.side_records=8"));
	for (unsigned i = 0; i < 7; i++) {
		drill_flow(&d, i);
		EXPECT(&d, "S 0:0");
		SEND(&d, "S. 0 ack 1 win 0 <mss 1460>");
		EXPECT(&d, ". 1:1 ack 1");
		drill_wait(&d, MS(10));
	}
	EXPECT_NOTHING(&d);
	drill_wait(&d, MS(830));
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->open, 7);
	assert_int_equal(drill_level(&d)->connection.not_offered[NOT_OFFERED_NO_SIDE], 83);
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_is_retransmitted_with_back_off),
		cmocka_unit_test(test_fin_is_retransmitted),
		cmocka_unit_test(test_server_repeats_its_response),
		cmocka_unit_test(test_server_repeats_its_fin_after_the_end),
		cmocka_unit_test(test_small_window_for_the_request),
		cmocka_unit_test(test_response_out_of_order),
		cmocka_unit_test(test_chains_out_of_order),
		cmocka_unit_test(test_bulk_is_acknowledged),
		cmocka_unit_test(test_a_single_segment_is_acknowledged_in_time),
		cmocka_unit_test(test_launches_wait_for_side_records),
	};

	return cmocka_run_group_tests_name("tcp client window", tests, NULL, NULL);
}
