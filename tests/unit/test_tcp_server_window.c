/* Our server, segment by segment: the peer's window and MSS, and retransmission. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

/* --- the peer's window and MSS --- */

static void test_small_window_is_honoured(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.response.body.size=100"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 win 10");
	drill_skip_acks(&d);
	EXPECT(&d, ". 1:11 ack %u", request);
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack 11 win 20", request);
	EXPECT(&d, ". 11:31 ack %u", request);
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack 31", request);
	EXPECT(&d, "P. 31 ack %u", request);
	EXPECT_NOTHING(&d);
	assert_true(d.got.payload_len > 100);
	drill_close(&d);
}

/* RFC 9293 section 3.8.6.1: the closed window is probed, at growing intervals, for as long as the
 * probes are answered. */
static void test_zero_window_is_probed(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.response.body.size=100", "server.tcp.retries=2"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 win 0");
	drill_skip_acks(&d);
	EXPECT_NOTHING(&d);
	EXPECT_IN(&d, SEC(1), ". 1:2 ack %u", request);
	SEND(&d, ". %u ack 1 win 0", request);
	EXPECT_IN(&d, SEC(2), ". 1:2 ack %u", request);
	SEND(&d, ". %u ack 1 win 0", request);
	EXPECT_IN(&d, SEC(4), ". 1:2 ack %u", request);
	SEND(&d, ". %u ack 1 win 0", request);
	EXPECT_IN(&d, SEC(8), ". 1:2 ack %u", request);
	SEND(&d, ". %u ack 2 win 0", request); /* the byte is taken */
	drill_wait(&d, MS(1));
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack 2 win 65535", request);
	EXPECT(&d, "P. 2 ack %u", request);
	SEND(&d, ". %u ack %u", request, 2 + d.got.payload_len);
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->request.succeeded, 1);
	drill_close(&d);
}

static void test_unanswered_probes_end_the_connection(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=100", "server.tcp.retries=2"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 win 0");
	drill_wait(&d, SEC(30));
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.failed[FAILED_TIMEOUT], 1);
	drill_close(&d);
}

static void test_window_of_the_request_counts(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=5000"));
	SEND(&d, "S 0 win 100 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1 win 3000");
	drill_skip_acks(&d);
	EXPECT(&d, ". 1:1461");
	EXPECT(&d, ". 1461:2921");
	EXPECT_NOTHING(&d);
	SEND(&d, ". %zu ack 2921", sizeof(GET_CLOSE));
	drill_stream(&d, 2921);
	assert_true(d.got.flags & 1);
	drill_close(&d);
}

static void test_scaled_window(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.response.body.size=1000"));
	SEND(&d, "S 0 win 65535 <mss 1460,nop,wscale 7>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 win 1");
	drill_skip_acks(&d);
	EXPECT(&d, ". 1:129 ack %u", request);
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack 129 win 2", request);
	EXPECT(&d, ". 129:385 ack %u", request);
	drill_close(&d);
}

static void test_mss_of_the_peer(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=450"));
	SEND(&d, "S 0 win 65535 <mss 100>");
	EXPECT(&d, "S. 0:0 ack 1 <mss 1460>");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	for (uint32_t at = 1; at < 401; at += 100)
		EXPECT(&d, ". %u:%u", at, at + 100);
	drill_stream(&d, 401);
	assert_true(d.got.flags & 1);
	assert_true(d.got.payload_len <= 100);
	drill_close(&d);
}

static void test_tiny_mss(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=1000"));
	SEND(&d, "S 0 win 65535 <mss 0>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_true(d.stream_len > 1000);
	assert_true(d.got.flags & 1);
	drill_close(&d);
}

/* --- retransmission (RFC 6298) --- */

static void test_response_is_retransmitted_with_back_off(void **state)
{
	uint32_t length;

	(void)state;
	open_server(SET("server.tcp.initial_rto=1s", "server.tcp.retries=3"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %zu", sizeof(GET_KEEP));
	length = d.got.payload_len;
	EXPECT_IN(&d, SEC(1), "P. 1:%u ack %zu", 1 + length, sizeof(GET_KEEP));
	EXPECT_IN(&d, SEC(2), "P. 1:%u ack %zu", 1 + length, sizeof(GET_KEEP));
	EXPECT_IN(&d, SEC(4), "P. 1:%u ack %zu", 1 + length, sizeof(GET_KEEP));
	assert_int_equal(drill_counter(&d, COUNTER_PUSH_RT), 3);
	EXPECT_IN(&d, SEC(8), "R. %u:%u", 1 + length, 1 + length);
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.failed[FAILED_TIMEOUT], 1);
	drill_close(&d);
}

static void test_response_with_fin_is_retransmitted(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, sizeof(GET_CLOSE));
	EXPECT_IN(&d, SEC(1), "FP. 1:%u ack %zu", end, sizeof(GET_CLOSE));
	SEND(&d, "F. %zu ack %u", sizeof(GET_CLOSE), end + 1);
	EXPECT(&d, ". %u:%u ack %zu", end + 1, end + 1, sizeof(GET_CLOSE) + 1);
	drill_wait(&d, SEC(20));
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	drill_close(&d);
}

static void test_only_the_fin_is_retransmitted(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, sizeof(GET_CLOSE));
	SEND(&d, ". %zu ack %u", sizeof(GET_CLOSE), end);
	EXPECT_IN(&d, SEC(1), "F. %u:%u ack %zu", end, end, sizeof(GET_CLOSE));
	assert_int_equal(drill_counter(&d, COUNTER_FIN_RT), 1);
	drill_close(&d);
}

static void test_part_of_a_response_is_acknowledged(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %zu", sizeof(GET_KEEP));
	end = 1 + d.got.payload_len;
	SEND(&d, ". %zu ack 21", sizeof(GET_KEEP));
	EXPECT_NOTHING(&d);
	EXPECT_IN(&d, SEC(1), "P. 21:%u ack %zu", end, sizeof(GET_KEEP));
	SEND(&d, ". %zu ack %u", sizeof(GET_KEEP), end);
	drill_wait(&d, SEC(10));
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->request.succeeded, 1);
	drill_close(&d);
}

/* RFC 5681 section 3.2 */
static void test_fast_retransmit(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.response.body.size=20000"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	drill_skip_acks(&d);
	for (uint32_t at = 1; at < 1 + 10 * 1460; at += 1460) /* RFC 6928 */
		EXPECT(&d, ". %u:%u", at, at + 1460);
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack 1461", request);
	EXPECT(&d, ". 14601:16061");
	EXPECT(&d, ". 16061:17521");
	for (unsigned i = 0; i < 2; i++) {
		SEND(&d, ". %u ack 1461", request);
		EXPECT_NOTHING(&d);
	}
	SEND(&d, ". %u ack 1461", request);
	EXPECT(&d, ". 1461:2921");
	SEND(&d, ". %u ack 17521", request);
	drill_stream(&d, 17521);
	assert_int_equal(drill_counter(&d, COUNTER_PUSH_RT), 1);
	drill_wait(&d, SEC(10));
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

/* What a small window let go is sent again as it was, not filled up to a segment. */
static void test_fast_retransmit_within_the_window(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.response.body.size=20000"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 win 500");
	drill_skip_acks(&d);
	EXPECT(&d, ". 1:501");
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_NOTHING(&d);
		SEND(&d, ". %u ack 1 win 500", request);
	}
	EXPECT(&d, ". 1:501");
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack 501 win 500", request);
	EXPECT(&d, ". 501:1001");
	drill_close(&d);
}

static void test_time_out_in_bulk_shrinks_to_one_segment(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.response.body.size=20000"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	drill_skip_acks(&d);
	for (unsigned i = 0; i < 10; i++)
		EXPECT(&d, ". %u:%u", 1 + i * 1460, 1461 + i * 1460);
	EXPECT_IN(&d, SEC(1), ". 1:1461");
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack 14601", request);
	drill_stream(&d, 14601);
	assert_true(d.stream_len + 14600 > 20000);
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_window_is_honoured),
		cmocka_unit_test(test_zero_window_is_probed),
		cmocka_unit_test(test_unanswered_probes_end_the_connection),
		cmocka_unit_test(test_window_of_the_request_counts),
		cmocka_unit_test(test_scaled_window),
		cmocka_unit_test(test_mss_of_the_peer),
		cmocka_unit_test(test_tiny_mss),
		cmocka_unit_test(test_response_is_retransmitted_with_back_off),
		cmocka_unit_test(test_response_with_fin_is_retransmitted),
		cmocka_unit_test(test_only_the_fin_is_retransmitted),
		cmocka_unit_test(test_part_of_a_response_is_acknowledged),
		cmocka_unit_test(test_fast_retransmit),
		cmocka_unit_test(test_fast_retransmit_within_the_window),
		cmocka_unit_test(test_time_out_in_bulk_shrinks_to_one_segment),
	};

	return cmocka_run_group_tests_name("tcp server window", tests, NULL, NULL);
}
