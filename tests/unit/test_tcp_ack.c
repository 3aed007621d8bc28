/* When acknowledgments leave (RFC 9293 section 3.8.6.3), and window scaling by key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

#define UPLOAD "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n"

static uint32_t upload_begin(const char *const *set)
{
	open_server(set);
	handshake();
	SEND_TEXT(&d, UPLOAD, ". 1 ack 1");
	return sizeof(UPLOAD);
}

static void test_every_second_segment(void **state)
{
	uint32_t at = upload_begin(NULL);

	(void)state;
	EXPECT(&d, ". 1:1 ack %u", at); /* the end of the burst */
	SEND(&d, ". %u:%u ack 1", at, at + 1000);
	EXPECT(&d, ". 1:1 ack %u", at + 1000);
	drill_close(&d);
}

static void test_delayed(void **state)
{
	uint32_t at = upload_begin(SET("server.tcp.delayed_ack=40ms"));

	(void)state;
	EXPECT_IN(&d, MS(40), ". 1:1 ack %u", at);
	SEND(&d, ". %u:%u ack 1", at, at + 1000);
	drill_wait(&d, MS(39));
	EXPECT_NOTHING(&d);
	SEND(&d, ". %u:%u ack 1", at + 1000, at + 2000);
	EXPECT(&d, ". 1:1 ack %u", at + 2000);
	drill_wait(&d, SEC(1));
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

static void test_stretched(void **state)
{
	uint32_t at = upload_begin(SET("server.tcp.delayed_ack=40ms", "server.tcp.ack_every=5"));

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		EXPECT_NOTHING(&d);
		SEND(&d, ". %u:%u ack 1", at, at + 100);
		at += 100;
	}
	EXPECT(&d, ". 1:1 ack %u", at);
	SEND(&d, ". %u:%u ack 1", at, at + 100);
	drill_wait(&d, MS(30));
	SEND(&d, ". %u:%u ack 1", at + 100, at + 200);
	EXPECT_IN(&d, MS(10), ". 1:1 ack %u", at + 200); /* 40 ms from the first */
	drill_close(&d);
}

static void test_every_one(void **state)
{
	uint32_t at = upload_begin(SET("server.tcp.delayed_ack=40ms", "server.tcp.ack_every=1"));

	(void)state;
	EXPECT(&d, ". 1:1 ack %u", at);
	drill_close(&d);
}

/* What is out of order, repeated, or fills a gap is acknowledged at once (RFC 5681 section 4.2). */
static void test_never_delayed(void **state)
{
	uint32_t at = upload_begin(SET("server.tcp.delayed_ack=40ms"));

	(void)state;
	EXPECT_IN(&d, MS(40), ". 1:1 ack %u", at);
	SEND(&d, ". %u:%u ack 1", at + 100, at + 200);
	EXPECT(&d, ". 1:1 ack %u", at);
	SEND(&d, ". %u:%u ack 1", at, at + 100);
	EXPECT(&d, ". 1:1 ack %u", at + 200);
	SEND(&d, ". %u:%u ack 1", at, at + 100);
	EXPECT(&d, ". 1:1 ack %u", at + 200);
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

/* A response goes with the acknowledgment; the client's of the last response has nothing to go
 * with. */
static void test_end_of_a_message(void **state)
{
	uint32_t request;

	(void)state;
	drill_open(&d, DRILL_CLIENT,
		   SET("client.load.cps=0.01", "duration=60s", "client.tcp.delayed_ack=100ms",
		       "client.think_time=10s"));
	EXPECT(&d, "S 0:0");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1");
	request = 1 + d.got.payload_len;
	SEND_TEXT(&d, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "P. 1 ack %u", request);
	EXPECT_NOTHING(&d);
	EXPECT_IN(&d, MS(100), ". %u:%u ack 40", request, request);
	EXPECT_IN(&d, SEC(10) - MS(100), "P. %u ack 40", request);
	drill_close(&d);
}

static void scale_is(const char *set, const char *window, const char *options)
{
	open_server(SET(set, window));
	SEND(&d, "S 0 win 65535 <mss 1460,nop,wscale 3>");
	EXPECT(&d, "S. 0:0 ack 1 <mss 1460%s>", options);
	drill_close(&d);
}

static void test_scale(void **state)
{
	(void)state;
	scale_is("server.tcp.scale=auto", "server.tcp.window=65535", "");
	scale_is("server.tcp.scale=auto", "server.tcp.window=65536", ",nop,wscale 1");
	scale_is("server.tcp.scale=false", "server.tcp.window=65536", "");
	scale_is("server.tcp.scale=0", "server.tcp.window=65535", ",nop,wscale 0");
	scale_is("server.tcp.scale=14", "server.tcp.window=65535", ",nop,wscale 14");
	scale_is("server.tcp.scale=7", "server.tcp.window=1Mi", ",nop,wscale 7");
	scale_is("server.tcp.scale=auto", "server.tcp.window=1Gi", ",nop,wscale 14");
}

static void test_scaled_by_key(void **state)
{
	(void)state;
	open_server(SET("server.tcp.scale=7"));
	SEND(&d, "S 0 win 65535 <mss 1460,nop,wscale 0>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460,nop,wscale 7>");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1 win 3000");
	EXPECT(&d, "FP. 1 ack %zu win %u", sizeof(GET_CLOSE), 65536 >> 7);
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_second_segment),
		cmocka_unit_test(test_delayed),
		cmocka_unit_test(test_stretched),
		cmocka_unit_test(test_every_one),
		cmocka_unit_test(test_never_delayed),
		cmocka_unit_test(test_end_of_a_message),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_scaled_by_key),
	};

	return cmocka_run_group_tests_name("tcp ack", tests, NULL, NULL);
}
