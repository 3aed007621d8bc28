/* Our server, segment by segment: closing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

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

	return cmocka_run_group_tests_name("tcp server close", tests, NULL, NULL);
}
