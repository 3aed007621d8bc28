/* Path MTU discovery (RFC 1191): what a router says of a segment, and what is believed of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

static uint32_t request = sizeof(GET_KEEP);

static void test_bulk_goes_on_in_shorter_segments(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=5000"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	for (unsigned i = 0; i < 3; i++)
		EXPECT(&d, ". %u:%u", 1 + i * 1460, 1461 + i * 1460);
	EXPECT(&d, "P. 4381");
	drill_too_big(&d, 1, 1000);
	for (unsigned i = 0; i < 5; i++) /* at once, and with the window it had */
		EXPECT(&d, ". %u:%u ack %u", 1 + i * 960, 961 + i * 960, request);
	drill_too_big(&d, 1461, 1000); /* the others' messages say nothing new */
	drill_too_big(&d, 2921, 1000);
	EXPECT(&d, "P. 4801");
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u ack %u", request, 4801 + d.got.payload_len);
	SEND_TEXT(&d, GET_KEEP, "P. %u ack %u", request, 4801 + d.got.payload_len);
	EXPECT(&d, ". %u", 4801 + d.got.payload_len);
	assert_int_equal(d.got.payload_len, 960);
	EXPECT_DROPS(&d, ICMP_IGNORED, 2);
	drill_close(&d);
}

/* A response of one segment has no side record yet. */
static void test_single_segment_is_cut(void **state)
{
	uint32_t end;

	(void)state;
	open_server(SET("server.response.body.size=1000"));
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, sizeof(GET_CLOSE));
	drill_too_big(&d, 1, 576);
	EXPECT(&d, ". 1:537 ack %zu", sizeof(GET_CLOSE));
	assert_int_equal(drill_stream(&d, 537), end + 1);
	SEND(&d, "F. %zu ack %u", sizeof(GET_CLOSE), end + 1);
	EXPECT(&d, ". %u ack %zu", end + 1, sizeof(GET_CLOSE) + 1);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	drill_close(&d);
}

static void test_client_cuts_its_request(void **state)
{
	(void)state;
	drill_open(&d, DRILL_CLIENT,
		   SET("client.load.cps=0.01", "duration=60s", "client.request.method=POST",
		       "client.request.body.size=1000"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1");
	request = 1 + d.got.payload_len;
	drill_too_big(&d, 1, 576);
	EXPECT(&d, ". 1:537 ack 1");
	EXPECT(&d, ". 537:1073 ack 1");
	EXPECT(&d, "P. 1073:%u ack 1", request);
	request = sizeof(GET_KEEP);
	drill_close(&d);
}

/* A router of before RFC 1191 names no MTU: the next smaller one in use is tried. */
static void test_router_without_an_mtu(void **state)
{
	(void)state;
	if (lab_ip6())
		return;
	open_server(SET("server.response.body.size=1000"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1");
	drill_too_big(&d, 1, 0);
	EXPECT(&d, "P. 1 ack %u", request); /* 1492 */
	drill_too_big(&d, 1, 0);
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, ICMP_IGNORED, 1);
	drill_close(&d);
}

/* RFC 5927: nothing is believed of what is not under way, or would make segments longer. */
static void test_not_believed(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=1000"));
	drill_too_big(&d, 0, 576); /* no connection */
	EXPECT_DROPS(&d, ICMP_IGNORED, 1);
	handshake();
	drill_too_big(&d, 1, 576); /* nothing is under way */
	EXPECT_DROPS(&d, ICMP_IGNORED, 2);
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %u", request);
	drill_too_big(&d, 0, 576);
	drill_too_big(&d, 1 + d.got.payload_len, 576);
	drill_too_big(&d, 1, 1500);
	drill_too_big(&d, 1, 9000);
	EXPECT_DROPS(&d, ICMP_IGNORED, 6);
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

static void test_never_tiny(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=1000", "server.tcp.timestamps=true"));
	SEND(&d, "S 0 win 65535 <mss 1460,TS 1:0>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 <TS 1:0,nop,nop>");
	EXPECT(&d, "P. 1");
	drill_too_big(&d, 1, 68);
	EXPECT(&d, ". 1:65");
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bulk_goes_on_in_shorter_segments),
		cmocka_unit_test(test_single_segment_is_cut),
		cmocka_unit_test(test_client_cuts_its_request),
		cmocka_unit_test(test_router_without_an_mtu),
		cmocka_unit_test(test_not_believed),
		cmocka_unit_test(test_never_tiny),
	};

	return cmocka_run_group_tests_name("tcp pmtu", tests, NULL, NULL);
}
