/* Explicit congestion notification (RFC 3168), segment by segment, at both ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

#define CAPABLE 2 /* ECN field of the TOS byte: ECT(0) */
#define MARKED  3

static void test_agreed(void **state)
{
	(void)state;
	open_server(
		SET("server.tcp.ecn=true", "server.response.body.size=2000", "ports.1.tos=184"));
	SEND(&d, "SEW 0 win 65535 <mss 1460>");
	EXPECT(&d, "S.E 0:0 ack 1 tos 184 <mss 1460>");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, ". 1:1461 tos %u", 184 + CAPABLE);
	EXPECT(&d, "P. 1461 tos %u", 184 + CAPABLE);
	/* what is sent again is not marked (RFC 3168 section 6.1.5) */
	EXPECT_IN(&d, MS(200), ". 1:1461 tos 184");
	drill_close(&d);
}

static void test_not_agreed(void **state)
{
	static const char *const syn[] = {"S", "SE", "SW"};

	(void)state;
	open_server(SET("server.tcp.ecn=true"));
	for (unsigned i = 0; i < 3; i++) {
		drill_flow(&d, i);
		SEND(&d, "%s 0 win 65535 <mss 1460>", syn[i]);
		EXPECT(&d, "S. 0:0 ack 1");
		SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
		EXPECT(&d, "FP. 1 tos 0");
	}
	drill_close(&d);
}

static void test_not_without_the_key(void **state)
{
	(void)state;
	open_server(SET("server.tcp.timestamps=true"));
	SEND(&d, "SEW 0 win 65535 <mss 1460,TS 1:0>");
	EXPECT(&d, "S. 0:0 ack 1");
	drill_close(&d);
}

/* A mark is echoed with every ACK until the peer says that it has slowed down. */
static void test_marks_are_echoed(void **state)
{
	(void)state;
	open_server(SET("server.tcp.ecn=true"));
	SEND(&d, "SEW 0 win 65535 <mss 1460>");
	EXPECT(&d, "S.E 0:0 ack 1");
	SEND(&d, ". 1 ack 1");
	SEND(&d, ". 1:101 ack 1 tos %u", MARKED);
	EXPECT(&d, ".E 1:1 ack 101 tos 0");
	drill_wait(&d, MS(1));
	drill_close(&d);
}

static void test_echo_ends_with_cwr(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.tcp.ecn=true"));
	SEND(&d, "SEW 0 win 65535 <mss 1460>");
	EXPECT(&d, "S.E 0:0 ack 1");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 tos %u", MARKED);
	EXPECT(&d, "P.E 1 ack %u", request);
	SEND_TEXT(&d, GET_KEEP, "P.W %u ack %u tos %u", request, 1 + d.got.payload_len, CAPABLE);
	EXPECT(&d, "P. %u ack %u", 1 + d.got.payload_len, 2 * request - 1);
	drill_close(&d);
}

/* The sender answers a mark as it does a loss, without sending anything again: half of ten
 * segments, once a round trip. */
static void test_sender_slows_down(void **state)
{
	uint32_t request = sizeof(GET_KEEP);

	(void)state;
	open_server(SET("server.tcp.ecn=true", "server.response.body.size=60000"));
	SEND(&d, "SEW 0 win 65535 <mss 1460>");
	EXPECT(&d, "S.E 0:0 ack 1");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	for (unsigned i = 0; i < 10; i++)
		EXPECT(&d, ". %u:%u", 1 + i * 1460, 1461 + i * 1460);
	SEND(&d, ".E %u ack %u", request, 1 + 2 * 1460);
	EXPECT_NOTHING(&d); /* eight fly, five may */
	SEND(&d, ".E %u ack %u", request, 1 + 5 * 1460);
	EXPECT_NOTHING(&d);
	SEND(&d, ".E %u ack %u", request, 1 + 7 * 1460);
	EXPECT(&d, ".W 14601:16061 tos %u", CAPABLE);
	EXPECT(&d, ". 16061:17521 tos %u", CAPABLE);
	EXPECT_NOTHING(&d);
	assert_int_equal(drill_counter(&d, COUNTER_PUSH_RT), 0);
	drill_close(&d);
}

static void open_ecn_client(void)
{
	drill_open(&d, DRILL_CLIENT,
		   SET("client.load.cps=0.01", "duration=60s", "client.tcp.ecn=true"));
}

static void test_client_asks(void **state)
{
	(void)state;
	open_ecn_client();
	EXPECT(&d, "SEW 0:0 tos 0");
	SEND(&d, "S.E 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1 tos %u", CAPABLE);
	drill_close(&d);
}

static void test_client_is_not_answered(void **state)
{
	static const char *const syn_ack[] = {"S.", "S.EW"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		open_ecn_client();
		EXPECT(&d, "SEW 0:0");
		SEND(&d, "%s 0 ack 1 win 65535 <mss 1460>", syn_ack[i]);
		EXPECT(&d, "P. 1 ack 1 tos 0");
		drill_close(&d);
	}
}

/* Perhaps it is ECN that the network drops the SYN for. */
static void test_second_syn_does_not_ask(void **state)
{
	(void)state;
	open_ecn_client();
	EXPECT(&d, "SEW 0:0");
	EXPECT_IN(&d, SEC(1), "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1 tos 0");
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreed),
		cmocka_unit_test(test_not_agreed),
		cmocka_unit_test(test_not_without_the_key),
		cmocka_unit_test(test_marks_are_echoed),
		cmocka_unit_test(test_echo_ends_with_cwr),
		cmocka_unit_test(test_sender_slows_down),
		cmocka_unit_test(test_client_asks),
		cmocka_unit_test(test_client_is_not_answered),
		cmocka_unit_test(test_second_syn_does_not_ask),
	};

	return cmocka_run_group_tests_name("tcp ecn", tests, NULL, NULL);
}
