/* Our server, segment by segment: the test plays the client. Numbers of RFCs say who is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/drill.h"

#define GET_KEEP  "GET / HTTP/1.1\r\nHost: t\r\n\r\n"
#define GET_CLOSE "GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"

static struct drill d;

static void open_server(const char *const *set)
{
	drill_open(&d, DRILL_SERVER, set);
}

static void handshake(void)
{
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
	SEND(&d, ". 1 ack 1");
	EXPECT_NOTHING(&d);
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, word)); at++)
		n++;
	return n;
}

/* The response that fits one segment, with FIN; returns where it ends, FIN not counted. */
static uint32_t expect_last_response(uint32_t at, uint32_t ack)
{
	EXPECT(&d, "FP. %u ack %u", at, ack);
	assert_int_equal(strncmp(d.payload, "HTTP/1.1 200 ", 13), 0);
	return at + d.got.payload_len;
}

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

static void test_peer_without_options_gets_536(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=2000"));
	SEND(&d, "S 0 win 65535");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	EXPECT(&d, ". 1:537");
	EXPECT(&d, ". 537:1073");
	drill_close(&d);
}

static void test_options_in_any_dress(void **state)
{
	static const char *const good[] = {"<mss 1000,sackOK,TS 1:0,nop,wscale 7>",
					   "<nop,nop,mss 1000,eol>", "<hex fe04abcd,mss 1000>",
					   "<sackOK,eol,hex 0204ffff>"};
	static const unsigned mss[] = {1000, 1000, 1000, 536};

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

/* --- resets and blind attacks (RFC 5961) --- */

static void test_reset_at_rcv_nxt_closes(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, "R 1");
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.failed[FAILED_RESET], 1);
	drill_close(&d);
}

static void test_reset_elsewhere_in_the_window_is_challenged(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, "R 2");
	EXPECT(&d, ". 1:1 ack 1");
	EXPECT_DROPS(&d, TCP_BAD_RST, 1);
	SEND(&d, "R. 60000 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	SEND(&d, "R 0");
	SEND(&d, "R 70000");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_BAD_RST, 4);
	assert_int_equal(drill_level(&d)->open, 1);
	drill_close(&d);
}

static void test_syn_on_a_connection_is_challenged(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, "S 5 win 1000 <mss 1460>");
	EXPECT(&d, ". 1:1 ack 1");
	EXPECT_DROPS(&d, TCP_BAD_SYN, 1);
	SEND(&d, "S 200000 win 1000 <mss 1460>");
	EXPECT(&d, ". 1:1 ack 1");
	SEND(&d, "S. 200000 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	assert_int_equal(drill_level(&d)->open, 1);
	drill_close(&d);
}

/* A client that crashed and comes back with the tuple it had: the challenge makes it reset the old
 * connection, and its next SYN is answered (RFC 9293 section 3.5.1). */
static void test_restarted_client(void **state)
{
	uint32_t old_ack;

	(void)state;
	open_server(NULL);
	handshake();
	old_ack = d.flow[0].far_isn + 1;
	d.flow[0].far_isn += 0x20000000;
	SEND(&d, "S 0 win 65535 <mss 1460>");
	d.flow[0].far_isn -= 0x20000000;
	EXPECT(&d, ". 1:1 ack 1");
	assert_int_equal(d.got.ack, old_ack);
	SEND(&d, "R 1"); /* from SYN-SENT: the ACK acknowledges nothing of ours */
	EXPECT_NOTHING(&d);
	drill_renumber(&d, d.flow[0].far_isn + 0x20000000);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	expect_last_response(1, sizeof(GET_CLOSE));
	drill_close(&d);
}

/* --- acceptability (RFC 9293 section 3.10.7.4) --- */

static void test_data_outside_the_window(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, "P. 70001:70011 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	EXPECT_DROPS(&d, TCP_BAD_SEQ, 1);
	drill_close(&d);
}

static void test_old_data_is_acknowledged_again(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %zu", sizeof(GET_KEEP));
	end = 1 + d.got.payload_len;
	SEND(&d, ". %zu ack %u", sizeof(GET_KEEP), end);
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack %u", end);
	EXPECT(&d, ". %u:%u ack %zu", end, end, sizeof(GET_KEEP));
	EXPECT_DROPS(&d, TCP_OLD_DATA, 1);
	assert_int_equal(drill_level(&d)->request.offered, 1);
	drill_close(&d);
}

static void test_keep_alive_probe_is_answered(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, ". 0:0 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	SEND(&d, ". 0:1 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	drill_close(&d);
}

static void test_overlapping_data_is_cut(void **state)
{
	const char *request = GET_CLOSE;
	char first[64];

	(void)state;
	open_server(NULL);
	handshake();
	snprintf(first, sizeof(first), "%.20s", request);
	SEND_TEXT(&d, first, "P. 1 ack 1");
	drill_skip_acks(&d);
	SEND_TEXT(&d, request + 10, "P. 11 ack 1");
	expect_last_response(1, sizeof(GET_CLOSE));
	drill_close(&d);
}

static void test_gap_is_answered_by_a_duplicate_ack(void **state)
{
	const char *request = GET_CLOSE;
	char first[64];

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, request + 20, "P. 21 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	snprintf(first, sizeof(first), "%.20s", request);
	SEND_TEXT(&d, first, "P. 1 ack 1");
	drill_skip_acks(&d);
	SEND_TEXT(&d, request + 20, "P. 21 ack 1"); /* in case it was not kept */
	drill_skip_acks(&d);
	expect_last_response(1, sizeof(GET_CLOSE));
	drill_close(&d);
}

/* RFC 5961 section 7: two ends out of step do not answer each other for ever. */
static void test_answers_to_bare_acks_are_limited(void **state)
{
	unsigned answers = 0;

	(void)state;
	open_server(NULL);
	handshake();
	for (unsigned i = 0; i < 100; i++)
		SEND(&d, ". 1 ack 1000");
	answers = drill_skip_acks(&d);
	assert_in_range(answers, 1, 64);
	drill_wait(&d, 2000000);
	SEND(&d, ". 1 ack 1000");
	EXPECT(&d, ". 1:1 ack 1");
	drill_close(&d);
}

static void test_ack_of_what_was_never_sent(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, ". 1 ack 1000");
	EXPECT(&d, ". 1:1 ack 1");
	EXPECT_DROPS(&d, TCP_BAD_ACK, 1);
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1000");
	EXPECT(&d, ". 1:1 ack 1");
	assert_int_equal(drill_level(&d)->request.offered, 0);
	drill_close(&d);
}

static void test_segment_without_ack(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, "P 1:5");
	SEND(&d, "- 1:5");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_NO_ACK, 2);
	drill_close(&d);
}

static void test_old_ack(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %zu", sizeof(GET_KEEP));
	end = 1 + d.got.payload_len;
	SEND(&d, ". %zu ack %u", sizeof(GET_KEEP), end);
	SEND(&d, ". %zu ack 1", sizeof(GET_KEEP));
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_OLD_ACK, 1);
	drill_close(&d);
}

/* --- requests --- */

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

/* --- closing --- */

static void test_client_closes_first(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, "F. 1 ack 1");
	EXPECT(&d, "F. 1:1 ack 2");
	SEND(&d, ". 2 ack 2");
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

static void test_fin_with_the_request(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_KEEP, "FP. 1 ack 1");
	drill_skip_acks(&d);
	end = drill_stream(&d, 1);
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 1);
	assert_true(d.got.flags & 1);
	assert_int_equal(d.got.ack - d.flow[0].far_isn, sizeof(GET_KEEP) + 1);
	(void)end;
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

static void test_fin_behind_a_large_request_pipeline(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=30000"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "FP. 1 ack 1");
	drill_stream(&d, 1);
	assert_true(d.stream_len > 30000);
	assert_true(d.got.flags & 1);
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

static void test_simultaneous_close(void **state)
{
	uint32_t request = sizeof(GET_CLOSE), end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, request);
	SEND(&d, "F. %u ack %u", request, 1); /* crossed the response: acknowledges none of it */
	EXPECT(&d, ". %u:%u ack %u", end + 1, end + 1, request + 1);
	assert_int_equal(drill_level(&d)->open, 1);
	SEND(&d, ". %u ack %u", request + 1, end + 1);
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	drill_close(&d);
}

/* The peer's FIN crossed ours, which was lost: ours is sent again in CLOSING. */
static void fin_is_repeated_in_closing(const char *size)
{
	uint32_t request = sizeof(GET_CLOSE), end;

	open_server(SET("server.tcp.separate_fin=true", size, "server.tcp.initial_rto=1s"));
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	drill_skip_acks(&d);
	while (!(d.got.flags & 0x09)) { /* up to the response's end */
		d.out_at++;
		drill_skip_acks(&d);
	}
	EXPECT(&d, "P. %u", d.got.seq - d.flow[0].near_isn);
	end = d.got.seq - d.flow[0].near_isn + d.got.payload_len;
	EXPECT(&d, "F. %u:%u ack %u", end, end, request);
	SEND(&d, "F. %u ack %u", request, end);
	EXPECT(&d, ". %u:%u ack %u", end + 1, end + 1, request + 1);
	assert_int_equal(drill_level(&d)->open, 1);
	drill_wait(&d, MS(1100));
	EXPECT(&d, "F. %u:%u ack %u", end, end, request + 1);
	SEND(&d, ". %u ack %u", request + 1, end + 1);
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	drill_close(&d);
}

static void test_fin_is_repeated_in_closing(void **state)
{
	(void)state;
	fin_is_repeated_in_closing("server.response.body.size=1");
	fin_is_repeated_in_closing("server.response.body.size=3000");
}

/* A FIN that an acknowledgment lets go is not acknowledged by it. */
static void test_fin_sent_on_an_ack_is_not_yet_acknowledged(void **state)
{
	uint32_t request = sizeof(GET_CLOSE), at = 1;

	(void)state;
	open_server(SET("server.tcp.separate_fin=true", "server.response.body.size=3000"));
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1 win 1000");
	drill_skip_acks(&d);
	do {
		EXPECT(&d, "%s %u", at < 3001 ? "." : "P.", at);
		at += d.got.payload_len;
		SEND(&d, ". %u ack %u win 1000", request, at);
	} while (d.got.payload_len == 1000);
	EXPECT(&d, "F. %u:%u", at, at);
	SEND(&d, "F. %u ack %u", request, at); /* CLOSING */
	EXPECT(&d, ". %u:%u ack %u", at + 1, at + 1, request + 1);
	assert_int_equal(drill_level(&d)->open, 1);
	SEND(&d, ". %u ack %u", request + 1, at + 1);
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

static void test_repeated_fin_after_the_end(void **state)
{
	uint32_t request = sizeof(GET_CLOSE), end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, request);
	SEND(&d, "F. %u ack %u", request, end + 1);
	EXPECT(&d, ". %u:%u ack %u", end + 1, end + 1, request + 1);
	SEND(&d, "F. %u ack %u", request, end + 1);
	EXPECT(&d, ". %u:%u ack %u", end + 1, end + 1, request + 1);
	drill_close(&d);
}

static void test_ack_then_fin(void **state)
{
	uint32_t request = sizeof(GET_CLOSE), end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, request);
	SEND(&d, ". %u ack %u", request, end + 1); /* FIN-WAIT-2 */
	EXPECT_NOTHING(&d);
	drill_wait(&d, SEC(2));
	EXPECT_NOTHING(&d);
	SEND(&d, "F. %u ack %u", request, end + 1);
	EXPECT(&d, ". %u:%u ack %u", end + 1, end + 1, request + 1);
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

/* A peer that never closes its half must not hold a record for ever. */
static void test_fin_wait_2_ends(void **state)
{
	uint32_t request = sizeof(GET_CLOSE), end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, request);
	SEND(&d, ". %u ack %u", request, end + 1);
	drill_wait(&d, SEC(120));
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

/* ... nor one that stopped in the middle of a request. */
static void test_fin_wait_2_with_half_a_request_ends(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, "GET / HT", "P. 1 ack 1");
	drill_skip_acks(&d);
	drill_wait(&d, SEC(2));
	drill_drain(&d, SEC(60));
	drill_wait(&d, MS(10));
	EXPECT(&d, "F. 1:1 ack 9");
	SEND(&d, ". 9 ack 2");
	drill_wait(&d, SEC(6));
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

static void test_drain_closes_idle_connections(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	drill_drain(&d, SEC(1));
	drill_wait(&d, MS(10));
	EXPECT(&d, "F. 1:1 ack 1");
	SEND(&d, "F. 1 ack 2");
	EXPECT(&d, ". 2:2 ack 2");
	assert_true(d.lab.sim.engine->ops->idle(d.lab.sim.engine));
	drill_flow(&d, 1);
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "R. 0:0 ack 1");
	drill_close(&d);
}

static void test_drain_resets_at_the_deadline(void **state)
{
	(void)state;
	open_server(SET("server.tcp.initial_rto=10s"));
	handshake();
	drill_drain(&d, SEC(1));
	drill_wait(&d, MS(10));
	EXPECT(&d, "F. 1:1 ack 1");
	EXPECT_IN(&d, SEC(1), "R. 2:2 ack 1");
	assert_true(d.lab.sim.engine->ops->idle(d.lab.sim.engine));
	drill_close(&d);
}

static void test_idle_timeout(void **state)
{
	(void)state;
	open_server(SET("server.idle_timeout=3s"));
	handshake();
	drill_wait(&d, MS(2900));
	EXPECT_NOTHING(&d);
	EXPECT_IN(&d, SEC(3), "F. 1:1 ack 1");
	drill_close(&d);
}

static void test_urgent_data_is_plain_data(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P.U 1 ack 1");
	expect_last_response(1, sizeof(GET_CLOSE));
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_connection),
		cmocka_unit_test(test_window_scale_only_when_offered),
		cmocka_unit_test(test_peer_without_options_gets_536),
		cmocka_unit_test(test_options_in_any_dress),
		cmocka_unit_test(test_malformed_options_are_refused),
		cmocka_unit_test(test_syn_ack_is_retransmitted_with_back_off),
		cmocka_unit_test(test_repeated_syn_is_answered_again),
		cmocka_unit_test(test_wrong_ack_of_syn_ack_is_reset),
		cmocka_unit_test(test_reset_of_a_half_open_connection),
		cmocka_unit_test(test_data_on_syn),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_clients_filter),
		cmocka_unit_test(test_strays),
		cmocka_unit_test(test_syn_to_a_closed_port),
		cmocka_unit_test(test_foreign_address_is_ignored),
		cmocka_unit_test(test_fin_of_no_connection),
		cmocka_unit_test(test_reset_at_rcv_nxt_closes),
		cmocka_unit_test(test_reset_elsewhere_in_the_window_is_challenged),
		cmocka_unit_test(test_syn_on_a_connection_is_challenged),
		cmocka_unit_test(test_restarted_client),
		cmocka_unit_test(test_data_outside_the_window),
		cmocka_unit_test(test_old_data_is_acknowledged_again),
		cmocka_unit_test(test_keep_alive_probe_is_answered),
		cmocka_unit_test(test_overlapping_data_is_cut),
		cmocka_unit_test(test_gap_is_answered_by_a_duplicate_ack),
		cmocka_unit_test(test_answers_to_bare_acks_are_limited),
		cmocka_unit_test(test_ack_of_what_was_never_sent),
		cmocka_unit_test(test_segment_without_ack),
		cmocka_unit_test(test_old_ack),
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
		cmocka_unit_test(test_client_closes_first),
		cmocka_unit_test(test_fin_with_the_request),
		cmocka_unit_test(test_fin_behind_a_large_request_pipeline),
		cmocka_unit_test(test_simultaneous_close),
		cmocka_unit_test(test_fin_is_repeated_in_closing),
		cmocka_unit_test(test_fin_sent_on_an_ack_is_not_yet_acknowledged),
		cmocka_unit_test(test_repeated_fin_after_the_end),
		cmocka_unit_test(test_ack_then_fin),
		cmocka_unit_test(test_fin_wait_2_ends),
		cmocka_unit_test(test_fin_wait_2_with_half_a_request_ends),
		cmocka_unit_test(test_drain_closes_idle_connections),
		cmocka_unit_test(test_drain_resets_at_the_deadline),
		cmocka_unit_test(test_idle_timeout),
		cmocka_unit_test(test_urgent_data_is_plain_data),
	};

	return cmocka_run_group_tests_name("tcp server", tests, NULL, NULL);
}
