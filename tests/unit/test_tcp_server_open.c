/* Our server, segment by segment: handshakes, and segments of no connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

/* --- handshake --- */

static void test_short_connection(void **state)
{
	uint32_t request = sizeof(GET_CLOSE) - 1, end;

	(void)state;
	open_server(NULL);
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, 1 + request);
	SEND(&d, "F. %u ack %u", 1 + request, end + 1);
	EXPECT(&d, ". %u:%u ack %u <>", end + 1, end + 1, 2 + request);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	assert_int_equal(drill_level(&d)->request.succeeded, 1);
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

/* Nothing is scaled unless both offer it (RFC 7323 section 2.2). */
static void test_window_scale_only_when_offered(void **state)
{
	(void)state;
	open_server(SET("server.tcp.window=1Mi"));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
	drill_flow(&d, 1);
	SEND(&d, "S 0 win 65535 <mss 1460,nop,wscale 7>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535");
	assert_int_equal(segment_option(&d.got, 3), 4 + 1);
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %zu win %u", sizeof(GET_KEEP), 1048576 >> 5);
	drill_close(&d);
}

static void test_peer_without_options_gets_the_default(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=5000"));
	SEND(&d, "S 0 win 65535");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	EXPECT(&d, ". 1:%u", 1 + lab_mss());
	EXPECT(&d, ". %u:%u", 1 + lab_mss(), 1 + 2 * lab_mss());
	drill_close(&d);
}

static void test_options_in_any_dress(void **state)
{
	static const char *const good[] = {"<mss 1000,sackOK,TS 1:0,nop,wscale 7>",
					   "<nop,nop,mss 1000,eol>", "<hex fe04abcd,mss 1000>",
					   "<sackOK,eol,hex 0204ffff>"};
	const unsigned mss[] = {1000, 1000, 1000, lab_mss()};

	(void)state;
	open_server(SET("server.response.body.size=2000"));
	for (unsigned i = 0; i < 4; i++) {
		drill_flow(&d, i);
		SEND(&d, "S 0 win 65535 %s", good[i]);
		EXPECT(&d, "S. 0:0 ack 1");
		SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
		EXPECT(&d, ". 1:%u", 1 + mss[i]);
		drill_stream(&d, 1 + mss[i]);
	}
	drill_close(&d);
}

static void test_malformed_options_are_refused(void **state)
{
	static const char *const bad[] = {"<hex 02010000>", "<hex 02000000>", "<hex 01010109>",
					  "<hex 03ff0707>"};

	(void)state;
	open_server(NULL);
	for (unsigned i = 0; i < 4; i++) {
		drill_flow(&d, i);
		SEND(&d, "S 0 win 65535 %s", bad[i]);
		EXPECT_NOTHING(&d);
		EXPECT_DROPS(&d, TCP_BAD, i + 1);
	}
	drill_close(&d);
}

static void test_syn_ack_is_retransmitted_with_back_off(void **state)
{
	(void)state;
	open_server(SET("server.tcp.initial_rto=1s", "server.tcp.retries=3", "server.timeout=60s"));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	EXPECT_IN(&d, SEC(1), "S. 0:0 ack 1 win 65535 <mss 1460>");
	EXPECT_IN(&d, SEC(2), "S. 0:0 ack 1");
	EXPECT_IN(&d, SEC(4), "S. 0:0 ack 1");
	assert_int_equal(drill_counter(&d, COUNTER_SYN_RT), 3);
	drill_wait(&d, SEC(9));
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.failed[FAILED_TIMEOUT], 1);
	drill_close(&d);
}

static void test_repeated_syn_is_answered_again(void **state)
{
	(void)state;
	open_server(NULL);
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	drill_wait(&d, MS(300));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	expect_last_response(1, sizeof(GET_CLOSE));
	assert_int_equal(drill_level(&d)->connection.offered, 1);
	drill_close(&d);
}

static void test_wrong_ack_of_syn_ack_is_reset(void **state)
{
	(void)state;
	open_server(NULL);
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND(&d, ". 1 ack 500");
	EXPECT(&d, "R 500:500");
	SEND(&d, ". 1 ack 0");
	drill_skip_acks(&d);
	assert_int_equal(drill_level(&d)->established, 0);
	SEND(&d, ". 1 ack 1"); /* the half-open connection lives on (RFC 9293 section 3.10.7.4) */
	assert_int_equal(drill_level(&d)->established, 1);
	drill_close(&d);
}

static void test_reset_of_a_half_open_connection(void **state)
{
	(void)state;
	open_server(NULL);
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND(&d, "R 1");
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

/* Data on a SYN may be left to the peer to repeat. */
static void test_data_on_syn(void **state)
{
	(void)state;
	open_server(NULL);
	SEND_TEXT(&d, GET_CLOSE, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0");
	assert_in_range(d.got.ack - d.flow[0].far_isn, 1, sizeof(GET_CLOSE));
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	EXPECT(&d, "FP. 1 ack %zu", sizeof(GET_CLOSE));
	drill_close(&d);
}

static void test_table_full(void **state)
{
	struct segment syn = {.flags = 2, .window = 1000, .seq = 77};

	(void)state;
	open_server(SET("server.max_connections=100"));
	syn.src = d.flow[0].far_ip;
	syn.dst = d.flow[0].near_ip;
	syn.dst_port = 80;
	for (unsigned i = 0; i < 3000; i++) {
		syn.src_port = (uint16_t)(30000 + i);
		drill_send_segment(&d, &syn);
	}
	assert_in_range(drill_level(&d)->open, 100, 2000);
	EXPECT_DROPS(&d, TCP_TABLE_FULL, 3000 - drill_level(&d)->open);
	assert_int_equal(drill_counter(&d, COUNTER_SYN_TX), drill_level(&d)->open);
	drill_close(&d);
}

/* The entry's, and where it says nothing the port's. */
static void test_tos_and_ttl(void **state)
{
	const uint8_t *ip;

	(void)state;
	open_server(SET("server.tos=184", "server.ttl=3", "ports.1.tos=16"));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	ip = (const uint8_t *)d.out[0].m->buf_addr + d.out[0].m->data_off + 14;
	assert_int_equal(ip[lab_ip6() ? 7 : 8], 3);
	EXPECT(&d, "S. 0:0 ack 1 tos 184");
	drill_close(&d);
	open_server(SET("ports.1.tos=16"));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	ip = (const uint8_t *)d.out[0].m->buf_addr + d.out[0].m->data_off + 14;
	assert_int_equal(ip[lab_ip6() ? 7 : 8], 64);
	EXPECT(&d, "S. 0:0 ack 1 tos 16");
	drill_close(&d);
}

static void test_clients_filter(void **state)
{
	(void)state;
	open_server(SET("server.clients=10.0.0.2-10.0.0.9"));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_CLIENT, 1);
	d.flow[1].far_ip = d.flow[0].far_ip + 1;
	drill_flow(&d, 1);
	handshake();
	drill_close(&d);
}

/* --- segments of no connection (RFC 9293 section 3.10.7.1) --- */

static void test_strays(void **state)
{
	(void)state;
	open_server(NULL);
	SEND(&d, ". 5 ack 7");
	EXPECT(&d, "R 7:7");
	SEND(&d, "S. 5 ack 7");
	EXPECT(&d, "R 7:7");
	SEND(&d, "P 5:15");
	EXPECT(&d, "R. 0:0 ack 15");
	SEND(&d, "P. 5:15 ack 9");
	EXPECT(&d, "R 9:9");
	SEND(&d, "R 5");
	SEND(&d, "R. 5 ack 9");
	SEND(&d, "SR 5");
	EXPECT_NOTHING(&d); /* never an answer to a reset */
	EXPECT_DROPS(&d, TCP_NO_CONN, 7);
	assert_int_equal(drill_level(&d)->connection.offered, 0);
	drill_close(&d);
}

static void test_syn_to_a_closed_port(void **state)
{
	(void)state;
	open_server(NULL);
	d.flow[0].near_port = 81;
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "R. 0:0 ack 1");
	EXPECT_DROPS(&d, TCP_NO_PORT, 1);
	drill_close(&d);
}

static void test_foreign_address_is_ignored(void **state)
{
	(void)state;
	open_server(NULL);
	d.flow[0].near_ip -= 1;
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, IP_NOT_MINE, 1);
	drill_close(&d);
}

/* A FIN of no connection is one whose last ACK was lost: TIME-WAIT would acknowledge it. */
static void test_fin_of_no_connection(void **state)
{
	(void)state;
	open_server(NULL);
	SEND(&d, "F. 5 ack 7");
	EXPECT(&d, ". 7:7 ack 6");
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_connection),
		cmocka_unit_test(test_window_scale_only_when_offered),
		cmocka_unit_test(test_peer_without_options_gets_the_default),
		cmocka_unit_test(test_options_in_any_dress),
		cmocka_unit_test(test_malformed_options_are_refused),
		cmocka_unit_test(test_syn_ack_is_retransmitted_with_back_off),
		cmocka_unit_test(test_repeated_syn_is_answered_again),
		cmocka_unit_test(test_wrong_ack_of_syn_ack_is_reset),
		cmocka_unit_test(test_reset_of_a_half_open_connection),
		cmocka_unit_test(test_data_on_syn),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_tos_and_ttl),
		cmocka_unit_test(test_clients_filter),
		cmocka_unit_test(test_strays),
		cmocka_unit_test(test_syn_to_a_closed_port),
		cmocka_unit_test(test_foreign_address_is_ignored),
		cmocka_unit_test(test_fin_of_no_connection),
	};

	return cmocka_run_group_tests_name("tcp server open", tests, NULL, NULL);
}
