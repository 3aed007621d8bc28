/* Our server, segment by segment: which segments a connection accepts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests_name("tcp server segment", tests, NULL, NULL);
}
