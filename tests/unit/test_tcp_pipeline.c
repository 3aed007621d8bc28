/* Several requests of our client under way on one connection. */
#include "client_drill.h"

#include <stdio.h>

#include "../support/world.h"

static struct world w;
static uint32_t one; /* bytes of a request that is not the last */

#define EMPTY "HTTP/1.1 204 No Content\r\n\r\n"
#define LAST  "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

/* Up to the first `depth` requests, each in a segment. */
static void connect_pipeline(unsigned depth, const char *const *set)
{
	open_client(set);
	EXPECT(&d, "S 0:0 win 65535");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	request = 1;
	for (unsigned i = 0; i < depth; i++) {
		EXPECT(&d, "P. %u ack 1", request);
		one = i ? one : d.got.payload_len;
		request += d.got.payload_len;
	}
	EXPECT_NOTHING(&d);
}

static void expect_requests(unsigned offered, unsigned succeeded, enum failed kind, unsigned lost)
{
	const struct tally *t = &drill_level(&d)->request;

	assert_int_equal(t->offered, offered);
	assert_int_equal(t->succeeded, succeeded);
	assert_int_equal(t->failed[kind], lost);
}

/* Responses may come in any pieces: two and a half in a segment, the rest behind. */
static void test_responses_in_order(void **state)
{
	uint32_t end = 1 + 2 * (sizeof(RESPONSE_5) - 1) + 10;

	(void)state;
	connect_pipeline(3, SET("client.pipeline=3", "client.requests_per_connection=5"));
	SEND_TEXT(&d, RESPONSE_5 RESPONSE_5 "HTTP/1.1 2", "P. 1 ack %u", request);
	EXPECT(&d, "P. %u", request);
	EXPECT(&d, "P. %u", request + one);
	assert_non_null(strstr(d.payload, "Connection: close\r\n"));
	request += one + d.got.payload_len;
	drill_skip_acks(&d);
	expect_requests(5, 2, 0, 0);
	SEND_TEXT(&d, "04 No Content\r\n\r\n" EMPTY LAST, "FP. %u ack %u", end, request);
	end += sizeof("04 No Content\r\n\r\n" EMPTY LAST);
	finish(end);
	expect_requests(5, 5, 0, 0);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	assert_int_equal(d.lab.stats.first_byte.count, 5);
	assert_int_equal(d.lab.stats.response.count, 5);
	drill_close(&d);
}

/* The server closes after the second of four: two are not answered. */
static void test_server_closes_early(void **state)
{
	(void)state;
	connect_pipeline(4, SET("client.pipeline=4", "client.requests_per_connection=4"));
	SEND_TEXT(&d, RESPONSE_5 LAST, "FP. 1 ack %u", request);
	finish(1 + sizeof(RESPONSE_5 LAST));
	expect_requests(4, 2, FAILED_PROTOCOL, 2);
	expect_ended(FAILED_PROTOCOL);
}

static void test_reset(void **state)
{
	(void)state;
	connect_pipeline(4, SET("client.pipeline=4", "client.requests_per_connection=9"));
	SEND(&d, "R. 1 ack %u", request);
	expect_requests(4, 0, FAILED_RESET, 4);
	expect_ended(FAILED_RESET);
}

/* The time-out is of silence: a response of the four does not leave the others more time in all
 * than that. */
static void test_timeout(void **state)
{
	uint32_t end = sizeof(RESPONSE_5);

	(void)state;
	connect_pipeline(4, SET("client.pipeline=4", "client.requests_per_connection=4"));
	SEND(&d, ". 1 ack %u", request);
	drill_wait(&d, SEC(4));
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	drill_skip_acks(&d);
	drill_wait(&d, SEC(4));
	EXPECT_NOTHING(&d);
	drill_wait(&d, SEC(2));
	EXPECT(&d, "R. %u ack %u", request, end);
	expect_requests(4, 1, FAILED_TIMEOUT, 3);
	expect_ended(FAILED_TIMEOUT);
}

/* What nobody asked for is an error behind the last response, and not before. */
static void test_too_many_responses(void **state)
{
	(void)state;
	connect_pipeline(2, SET("client.pipeline=2", "client.requests_per_connection=2"));
	SEND_TEXT(&d, EMPTY EMPTY EMPTY, "P. 1 ack %u", request);
	EXPECT(&d, "R. %u", request);
	expect_requests(2, 1, FAILED_PROTOCOL, 1);
	expect_ended(FAILED_PROTOCOL);
}

/* A lost request is sent again with all behind it, the same bytes. */
static void test_lost_request(void **state)
{
	(void)state;
	connect_pipeline(3, SET("client.pipeline=3", "client.requests_per_connection=3",
				"client.request.path=/`````````"));
	SEND(&d, ". 1 ack %u", 1 + one);
	EXPECT_NOTHING(&d);
	drill_wait(&d, MS(300));
	EXPECT(&d, "P. %u:%u ack 1", 1 + one, 1 + 2 * one);
	EXPECT(&d, "P. %u:%u ack 1", 1 + 2 * one, request);
	SEND_TEXT(&d, EMPTY EMPTY LAST, "FP. 1 ack %u", request);
	finish(sizeof(EMPTY EMPTY LAST) + 1);
	expect_requests(3, 3, 0, 0);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	drill_close(&d);
}

static void run_world(const char *const *set)
{
	world_open(&w, NULL, set);
	world_record(&w, 20000);
	world_run(&w);
}

/* The most requests under way at once, as the wire shows it. */
static unsigned depth_seen(void)
{
	int under_way = 0, most = 0;

	for (unsigned i = 0; i < w.packets; i++) {
		const struct world_packet *p = &w.packet[i];

		under_way += !strncmp(p->text, "GET ", 4) ? 1 : 0;
		for (const char *at = p->text; (at = strstr(at, "HTTP/1.1 200")); at++)
			under_way--;
		most = under_way > most ? under_way : most;
	}
	return (unsigned)most;
}

/* Of every depth, more than a sender lines up too; with think time they leave together. */
static void test_depths(void **state)
{
	static const unsigned depth[] = {1, 2, 16, 17, 128};

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(depth) / sizeof(*depth); i++) {
		unsigned deep = depth[i / 2];
		char pipeline[32];

		snprintf(pipeline, sizeof(pipeline), "client.pipeline=%u", deep);
		run_world(SET(pipeline, "client.load.concurrency=1", "duration=500ms",
			      "client.requests_per_connection=300",
			      i & 1 ? "client.think_time=10ms" : "client.think_time=0s",
			      "client.request.path=/{list:w}/{phone}",
			      "client.lists=[{\"name\": \"w\", \"words\": [\"w\"]}]",
			      "client.request.variants=120", "server.response.delay=5ms"));
		assert_int_equal(depth_seen(), deep);
		assert_int_equal(world_client(&w)->request.succeeded,
				 world_client(&w)->request.offered);
		assert_true(world_client(&w)->request.succeeded > 25 * deep);
		world_close(&w);
	}
}

/* Loads of requests and bits fill pipelines, too, and are kept exactly. */
static void test_paced(void **state)
{
	(void)state;
	run_world(SET("client.pipeline=8", "client.load.rps=1000", "client.load.concurrency=5",
		      "duration=2s", "client.requests_per_connection=50",
		      "server.response.delay=20ms"));
	assert_int_equal(world_client(&w)->request.succeeded, 2000);
	assert_in_range(depth_seen(), 18, 40);
	world_close(&w);
	run_world(SET("client.pipeline=8", "client.load.bps=1m", "duration=1s",
		      "client.requests_per_connection=50"));
	assert_true(world_client(&w)->request.succeeded > 50);
	world_close(&w);
}

/* Connections are exchanged for others as they are without a pipeline. */
static void test_churn_and_raw(void **state)
{
	(void)state;
	run_world(SET("client.pipeline=4", "client.load.cps=100", "client.load.concurrency=10",
		      "duration=1s", "client.requests_per_connection=1000",
		      "client.think_time=1ms"));
	assert_int_equal(w.lab[0].stats.level.connection.succeeded, 100);
	world_close(&w);
	run_world(SET("client.kind=tcp-client", "server.kind=tcp-server", "client.pipeline=5",
		      "client.request.size=10", "server.request.size=10",
		      "client.response.size=3000", "server.response.size=3000",
		      "client.requests_per_connection=20", "client.load.cps=10", "duration=1s"));
	assert_int_equal(world_client(&w)->request.succeeded, 200);
	assert_int_equal(w.lab[0].stats.level.connection.succeeded, 10);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_responses_in_order),
		cmocka_unit_test(test_server_closes_early),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_too_many_responses),
		cmocka_unit_test(test_lost_request),
		cmocka_unit_test(test_depths),
		cmocka_unit_test(test_paced),
		cmocka_unit_test(test_churn_and_raw),
	};

	return cmocka_run_group_tests_name("tcp pipeline", tests, NULL, NULL);
}
