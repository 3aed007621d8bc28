/* Time stamps and PAWS (RFC 7323), segment by segment, at both ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

#define NOW 1000000u /* LAB_EPOCH in ms */

static void handshake_stamped(void)
{
	open_server(SET("server.tcp.timestamps=peer", "server.response.body.size=5000"));
	SEND(&d, "S 0 win 65535 <mss 1460,sackOK,TS 100:0>");
	EXPECT(&d, "S. 0:0 ack 1 <mss 1460,nop,nop,sackOK,nop,nop,TS %u:100>", NOW);
	SEND(&d, ". 1 ack 1 <nop,nop,TS 100:%u>", NOW);
	EXPECT_NOTHING(&d);
}

static void test_agreed_and_kept(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	handshake_stamped();
	drill_wait(&d, MS(7));
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 <nop,nop,TS 107:%u>", NOW);
	EXPECT(&d, ". 1:1449 ack %u <nop,nop,TS %u:107>", request, NOW + 7);
	EXPECT(&d, ". 1449:2897 <nop,nop,TS %u:107>", NOW + 7);
	EXPECT(&d, ". 2897:4345");
	EXPECT(&d, "P. 4345 <nop,nop,TS %u:107>", NOW + 7);
	SEND(&d, ". %u ack %u <nop,nop,TS 108:%u>", request, 4345 + d.got.payload_len, NOW + 7);
	drill_wait(&d, SEC(2));
	EXPECT_NOTHING(&d);
	SEND(&d, "F. %u ack %u <nop,nop,TS 2108:%u>", request, 4345 + d.got.payload_len, NOW + 7);
	EXPECT(&d, "F. %u ack %u <nop,nop,TS %u:2108>", 4345 + d.got.payload_len, request + 1,
	       NOW + 2007);
	SEND(&d, ". %u ack %u <nop,nop,TS 2109:%u>", request + 1, 4346 + 1448, NOW);
	drill_close(&d);
}

static void test_nothing_without_the_key(void **state)
{
	(void)state;
	open_server(NULL);
	SEND(&d, "S 0 win 65535 <mss 1460,TS 100:0>");
	EXPECT(&d, "S. 0:0 ack 1 <mss 1460>");
	drill_close(&d);
}

static void test_nothing_without_the_offer(void **state)
{
	(void)state;
	open_server(SET("server.tcp.timestamps=true"));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1 <mss 1460>");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	expect_last_response(1, sizeof(GET_CLOSE));
	drill_close(&d);
}

/* RFC 7323 section 5: an old duplicate is answered by an ACK and dropped. */
static void test_paws(void **state)
{
	(void)state;
	handshake_stamped();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 <nop,nop,TS 99:%u>", NOW);
	EXPECT(&d, ". 1:1 ack 1 <nop,nop,TS %u:100>", NOW);
	EXPECT_DROPS(&d, TCP_PAWS, 1);
	SEND(&d, "R 1 <nop,nop,TS 99:0>"); /* but not a RST */
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

/* After 24 days without a segment nothing is old (RFC 7323 section 5.5). */
static void test_paws_is_over_after_24_days(void **state)
{
	(void)state;
	handshake_stamped();
	drill_wait(&d, SEC(25) * 86400);
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 <nop,nop,TS 99:%u>", NOW);
	EXPECT(&d, ". 1:1449 ack %zu", sizeof(GET_KEEP));
	EXPECT_DROPS(&d, TCP_PAWS, 0);
	drill_close(&d);
}

static void test_segment_without_a_stamp(void **state)
{
	(void)state;
	handshake_stamped();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_NO_STAMP, 1);
	SEND(&d, "S 500 win 65535 <mss 1460>"); /* of a client that has begun anew */
	EXPECT(&d, ". 1:1 ack 1 <nop,nop,TS %u:100>", NOW);
	EXPECT_DROPS(&d, TCP_BAD_SYN, 1);
	SEND(&d, "R 1");
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

/* What is echoed is the stamp of the segment that the next ACK is for, not of one out of order (RFC
 * 7323 section 4.3). */
static void test_out_of_order_is_not_echoed(void **state)
{
	(void)state;
	handshake_stamped();
	SEND_TEXT(&d, GET_KEEP + 10, "P. 11 ack 1 <nop,nop,TS 102:%u>", NOW);
	EXPECT(&d, ". 1:1 ack 1 <nop,nop,TS %u:100,nop,nop,hex 050a%08x%08x>", NOW,
	       0xfffffff0u + 11, 0xfffffff0u + (unsigned)sizeof(GET_KEEP));
	SEND(&d, "P. 1:11 ack 1 <nop,nop,TS 101:%u>", NOW);
	drill_skip_acks(&d);
	drill_close(&d);
}

/* Three blocks have room beside the stamp (RFC 2018 section 3). */
static void test_sack_beside_the_stamp(void **state)
{
	(void)state;
	handshake_stamped();
	for (unsigned i = 0; i < 5; i++) {
		SEND(&d, ". %u:%u ack 1 <nop,nop,TS 102:%u>", 11 + 20 * i, 21 + 20 * i, NOW);
		EXPECT(&d, ". 1:1 ack 1");
		assert_int_equal(d.got.options_len, i < 3 ? 24 + 8 * i : 40);
	}
	drill_close(&d);
}

/* A retransmission gives a sample by its echo, where Karn's rule alone gives none. */
static void test_round_trip_by_echo(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	handshake_stamped();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 <nop,nop,TS 107:%u>", NOW);
	for (unsigned i = 0; i < 3; i++)
		EXPECT(&d, ". %u", 1 + i * 1448);
	EXPECT(&d, "P. 4345");
	/* the first RTO comes of the handshake: 200 ms at least */
	EXPECT_IN(&d, MS(200), ". 1:1449 <nop,nop,TS %u:107>", NOW + 200);
	drill_wait(&d, MS(100));
	SEND(&d, ". %u ack 1449 <nop,nop,TS 400:%u>", request, NOW + 200);
	EXPECT(&d, ". 1449:2897");
	EXPECT(&d, ". 2897:4345");
	/* were it not measured, 400 ms would have been waited for */
	EXPECT_IN(&d, MS(200), ". 1449:2897");
	drill_close(&d);
}

static void test_syn_ack_is_retransmitted(void **state)
{
	(void)state;
	open_server(SET("server.tcp.timestamps=true", "server.tcp.retries=2"));
	SEND(&d, "S 0 win 65535 <mss 1460,TS 100:0>");
	EXPECT(&d, "S. 0:0 ack 1");
	EXPECT_IN(&d, SEC(1), "S. 0:0 ack 1 <mss 1460,nop,nop,TS %u:100>", NOW + 1000);
	EXPECT_IN(&d, SEC(2), "S. 0:0 ack 1 <mss 1460,nop,nop,TS %u:100>", NOW + 3000);
	assert_int_equal(drill_counter(&d, COUNTER_SYN_RT), 2);
	drill_wait(&d, SEC(9));
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.failed[FAILED_TIMEOUT], 1);
	drill_close(&d);
}

/* Half of the pool may be held for life: then a SYN is answered without the option. */
static void test_without_a_side_record(void **state)
{
	(void)state;
	open_server(SET("server.tcp.timestamps=true", "memory.side_records=8"));
	for (unsigned i = 0; i < 6; i++) {
		drill_flow(&d, i);
		SEND(&d, "S 0 win 65535 <mss 1460,TS 100:0>");
		if (i < 4)
			EXPECT(&d, "S. 0:0 ack 1 <mss 1460,nop,nop,TS %u:100>", NOW);
		else
			EXPECT(&d, "S. 0:0 ack 1 <mss 1460>");
	}
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	expect_last_response(1, sizeof(GET_CLOSE));
	drill_close(&d);
}

/* The idle time-out runs though the record is held. */
static void test_idle_time_out(void **state)
{
	uint32_t request = sizeof(GET_KEEP), end;

	(void)state;
	open_server(SET("server.tcp.timestamps=true", "server.idle_timeout=5s"));
	SEND(&d, "S 0 win 65535 <mss 1460,TS 100:0>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 <TS 101:%u,nop,nop>", NOW);
	EXPECT(&d, "P. 1 ack %u", request);
	end = 1 + d.got.payload_len;
	SEND(&d, ". %u ack %u <TS 102:%u,nop,nop>", request, end, NOW);
	drill_wait(&d, MS(4500));
	EXPECT_NOTHING(&d);
	drill_wait(&d, MS(1500));
	EXPECT(&d, "F. %u ack %u <nop,nop,TS %u:102>", end, request, NOW + 5000);
	drill_close(&d);
}

static void open_stamping_client(const char *timestamps)
{
	drill_open(&d, DRILL_CLIENT, SET("client.load.cps=0.01", "duration=60s", timestamps));
}

static void test_client_offers(void **state)
{
	uint32_t request;

	(void)state;
	open_stamping_client("client.tcp.timestamps=true");
	EXPECT(&d, "S 0:0 win 65535 <mss 1460,nop,wscale 1,nop,nop,sackOK,nop,nop,TS %u:0>", NOW);
	drill_wait(&d, MS(3));
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460,TS 50:%u>", NOW);
	EXPECT(&d, "P. 1 ack 1 <nop,nop,TS %u:50>", NOW + 3);
	request = 1 + d.got.payload_len;
	SEND_TEXT(&d, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx",
		  "FP. 1 ack %u <nop,nop,TS 53:%u>", request, NOW + 3);
	EXPECT(&d, "F. %u ack 60 <nop,nop,TS %u:53>", request, NOW + 3);
	SEND(&d, ". 60 ack %u <nop,nop,TS 53:%u>", request + 1, NOW + 3);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	drill_close(&d);
}

static void test_client_is_refused(void **state)
{
	(void)state;
	open_stamping_client("client.tcp.timestamps=true");
	EXPECT(&d, "S 0:0");
	EXPECT_IN(&d, SEC(1), "S 0:0 win 65535");
	EXPECT_IN(&d, SEC(2), "S 0:0 <mss 1460,nop,wscale 1,nop,nop,sackOK,nop,nop,TS %u:0>",
		  NOW + 3000);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1 <>");
	drill_close(&d);
}

static void test_client_waits_for_the_peer_to_offer(void **state)
{
	(void)state;
	open_stamping_client("client.tcp.timestamps=peer");
	EXPECT(&d, "S 0:0 <mss 1460,nop,wscale 1,nop,nop,sackOK>");
	drill_close(&d);
}

static void test_client_gives_up(void **state)
{
	(void)state;
	open_stamping_client("client.tcp.timestamps=true");
	drill_wait(&d, SEC(20));
	assert_int_equal(drill_level(&d)->connection.failed[FAILED_TIMEOUT], 1);
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreed_and_kept),
		cmocka_unit_test(test_nothing_without_the_key),
		cmocka_unit_test(test_nothing_without_the_offer),
		cmocka_unit_test(test_paws),
		cmocka_unit_test(test_paws_is_over_after_24_days),
		cmocka_unit_test(test_segment_without_a_stamp),
		cmocka_unit_test(test_out_of_order_is_not_echoed),
		cmocka_unit_test(test_sack_beside_the_stamp),
		cmocka_unit_test(test_round_trip_by_echo),
		cmocka_unit_test(test_syn_ack_is_retransmitted),
		cmocka_unit_test(test_without_a_side_record),
		cmocka_unit_test(test_idle_time_out),
		cmocka_unit_test(test_client_offers),
		cmocka_unit_test(test_client_is_refused),
		cmocka_unit_test(test_client_waits_for_the_peer_to_offer),
		cmocka_unit_test(test_client_gives_up),
	};

	return cmocka_run_group_tests_name("tcp stamp", tests, NULL, NULL);
}
