/* Our client, segment by segment: handshakes, resets and blind attacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client_drill.h"

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
	open_client(SET("client.request.method=POST", "client.request.body.size=2000"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535");
	EXPECT(&d, ". 1:%u ack 1", 1 + lab_mss());
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

/* A port that takes no packet lets no RST out, and no connection stay unaccounted for. */
static void test_settle_ends_what_a_stuck_port_leaves(void **state)
{
	struct engine *engine;

	(void)state;
	drill_open(&d, DRILL_CLIENT, SET("client.load.concurrency=2000"));
	engine = d.lab.sim.engine;
	d.stuck = true;
	drill_wait(&d, MS(10));
	drill_drain(&d, SEC(1));
	drill_wait(&d, SEC(2));
	assert_true(drill_level(&d)->open > 1000);
	engine->ops->settle(engine);
	assert_true(engine->ops->idle(engine));
	assert_int_equal(drill_level(&d)->open, 0);
	assert_true(failed(FAILED_CUT) > 900); /* for some, the SYN was repeated */
	assert_int_equal(failed(FAILED_CUT) + failed(FAILED_TIMEOUT),
			 drill_level(&d)->connection.offered);
	d.stuck = false;
	drill_close(&d);
}

/* What the end of the run cuts off has not failed to answer in time, and is not said to have. */
static void test_drain_cuts_what_has_time_left(void **state)
{
	(void)state;
	connect_to(SET("client.timeout=60s"));
	SEND(&d, ". 1 ack %u", request); /* it has the request, and thinks */
	drill_drain(&d, SEC(1));
	drill_wait(&d, SEC(2));
	assert_int_equal(drill_level(&d)->request.failed[FAILED_CUT], 1);
	expect_ended(FAILED_CUT);
}

/* A far end that acknowledges nothing was silent, however long the time-out. */
static void test_drain_of_a_silent_peer_is_a_time_out(void **state)
{
	(void)state;
	connect_to(SET("client.timeout=60s"));
	drill_drain(&d, SEC(5));
	drill_wait(&d, SEC(6));
	assert_int_equal(drill_level(&d)->request.failed[FAILED_TIMEOUT], 1);
	expect_ended(FAILED_TIMEOUT);
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

/* Both ends open at once (RFC 9293 section 3.5, figure 7): SYNs cross, then SYN,ACKs. */
static void test_simultaneous_open(void **state)
{
	(void)state;
	open_client(SET("client.tcp.window=1000000"));
	EXPECT(&d, "S 0:0 win 65535 <mss 1460,nop,wscale 4,nop,nop,sackOK>");
	SEND(&d, "S 0 win 65535 <mss 1000,nop,wscale 2>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460,nop,wscale 4>");
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->established, 0);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1000,nop,wscale 2>");
	EXPECT(&d, "P. 1 ack 1 win 62500");
	request = 1 + d.got.payload_len;
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	finish(sizeof(RESPONSE_5) + 1);
	expect_success();
}

/* The peer that has had our SYN,ACK may as well say so by a bare ACK; ours is repeated until then.
 */
static void test_simultaneous_open_by_an_ack(void **state)
{
	(void)state;
	open_client(NULL);
	EXPECT(&d, "S 0:0");
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	EXPECT_DROPS(&d, TCP_OLD_DATA, 1);
	drill_wait(&d, MS(1050));
	EXPECT(&d, "S. 0:0 ack 1");
	SEND(&d, ". 1 ack 2");
	EXPECT(&d, "R 2:2");
	EXPECT_DROPS(&d, TCP_BAD_ACK, 1);
	SEND(&d, ". 1 ack 1");
	EXPECT(&d, "P. 1 ack 1");
	request = 1 + d.got.payload_len;
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u", request);
	finish(sizeof(RESPONSE_5) + 1);
	expect_success();
}

static void test_simultaneous_open_with_time_stamps(void **state)
{
	unsigned now = LAB_EPOCH / MS(1);

	(void)state;
	open_client(SET("client.tcp.timestamps=true"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S 0 win 65535 <mss 1460,TS 100:0>");
	EXPECT(&d, "S. 0:0 ack 1 <mss 1460,nop,nop,TS %u:100>", now);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460,TS 101:%u>", now);
	EXPECT(&d, "P. 1 ack 1 <nop,nop,TS %u:101>", now);
	request = 1 + d.got.payload_len;
	SEND_TEXT(&d, RESPONSE_5, "FP. 1 ack %u <nop,nop,TS 102:%u>", request, now);
	EXPECT(&d, "F. %u:%u", request, request);
	SEND(&d, ". %zu ack %u <nop,nop,TS 103:%u>", sizeof(RESPONSE_5) + 1, request + 1, now);
	expect_success();
}

/* It ends as any connection does. */
static void test_simultaneous_open_fails(void **state)
{
	(void)state;
	open_client(NULL);
	EXPECT(&d, "S 0:0");
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND(&d, "R 1");
	expect_ended(FAILED_RESET);

	open_client(SET("client.timeout=3s"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	drill_wait(&d, SEC(4));
	expect_ended(FAILED_TIMEOUT);

	open_client(NULL); /* what answers to no request is no HTTP */
	EXPECT(&d, "S 0:0");
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, "220 hello", ". 1 ack 1");
	EXPECT(&d, "R. 1:1");
	expect_ended(FAILED_PROTOCOL);
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
		cmocka_unit_test(test_simultaneous_open),
		cmocka_unit_test(test_simultaneous_open_by_an_ack),
		cmocka_unit_test(test_simultaneous_open_with_time_stamps),
		cmocka_unit_test(test_simultaneous_open_fails),
		cmocka_unit_test(test_reset_elsewhere_in_the_window_is_challenged),
		cmocka_unit_test(test_syn_on_a_connection_is_challenged),
		cmocka_unit_test(test_segments_to_a_client_port_without_connection),
		cmocka_unit_test(test_drain_resets_what_waits),
		cmocka_unit_test(test_settle_ends_what_a_stuck_port_leaves),
		cmocka_unit_test(test_drain_cuts_what_has_time_left),
		cmocka_unit_test(test_drain_of_a_silent_peer_is_a_time_out),
		cmocka_unit_test(test_drain_closes_idle_connections),
	};

	return cmocka_run_group_tests_name("tcp client open", tests, NULL, NULL);
}
