/* More connections than side records: everything takes longer, and nothing breaks. */
#include "server_drill.h"

#include "../support/world.h"

#define HALF_1 "GET / HTTP/1.1\r\nHo"
#define HALF_2 "st: t\r\n\r\n"

/* Seven connections have a response to send to closed windows: the pool is as empty as a server of
 * long responses lets it become. */
static void test_a_syn_waits(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=5000", "memory.side_records=8"));
	for (unsigned i = 0; i < 7; i++) {
		drill_flow(&d, i);
		handshake();
		SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1 win 0");
		EXPECT(&d, ". 1:1 ack %zu", sizeof(GET_CLOSE));
	}
	drill_flow(&d, 7);
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT_NOTHING(&d);
	SEND(&d, "S 0 win 65535 <mss 1460>"); /* one of them waits already */
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_NO_SIDE, 1);
	assert_int_equal(drill_counter(&d, COUNTER_SIDE_WAIT), 1);
	assert_int_equal(drill_level(&d)->connection.offered, 7);
	drill_flow(&d, 0);
	SEND(&d, "R %zu", sizeof(GET_CLOSE));
	drill_flow(&d, 7);
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_non_null(strstr(d.stream, "Content-Length: 5000"));
	drill_close(&d);
}

/* While a handshake is under way the record that it will take counts as taken. */
static void test_handshakes_count(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=5000", "memory.side_records=8"));
	for (unsigned i = 0; i < 8; i++) {
		drill_flow(&d, i);
		SEND(&d, "S 0 win 65535 <mss 1460>");
		if (i < 7)
			EXPECT(&d, "S. 0:0 ack 1");
	}
	EXPECT_NOTHING(&d);
	drill_flow(&d, 0);
	SEND(&d, "R 1");
	drill_flow(&d, 7);
	EXPECT(&d, "S. 0:0 ack 1");
	drill_close(&d);
}

/* Eight requests have begun, so the ninth waits, and what comes behind it as well; then they are
 * taken in the order of their coming. */
static void test_a_request_waits(void **state)
{
	(void)state;
	open_server(SET("memory.side_records=8"));
	for (unsigned i = 0; i < 8; i++) {
		drill_flow(&d, i);
		handshake();
		SEND_TEXT(&d, HALF_1, ". 1 ack 1");
		EXPECT(&d, ". 1:1 ack %zu", sizeof(HALF_1));
	}
	for (unsigned i = 8; i < 10; i++) {
		drill_flow(&d, i);
		handshake();
		SEND_TEXT(&d, HALF_1, ". 1 ack 1");
		EXPECT_NOTHING(&d);
	}
	assert_int_equal(drill_counter(&d, COUNTER_SIDE_WAIT), 2);
	SEND_TEXT(&d, HALF_1, ". 1 ack 1");
	EXPECT_DROPS(&d, TCP_NO_SIDE, 1);
	EXPECT(&d, ". 1:1 ack 1");
	drill_flow(&d, 0);
	SEND_TEXT(&d, HALF_2, "P. %zu ack 1", sizeof(HALF_1));
	EXPECT(&d, "P. 1 ack %zu", sizeof(GET_KEEP));
	SEND(&d, ". %zu ack %u", sizeof(GET_KEEP), 1 + d.got.payload_len);
	drill_wait(&d, US(100));
	drill_flow(&d, 8);
	EXPECT(&d, ". 1:1 ack %zu", sizeof(HALF_1));
	EXPECT_NOTHING(&d);
	drill_flow(&d, 1);
	SEND(&d, "R %zu", sizeof(HALF_1));
	drill_wait(&d, US(100));
	drill_flow(&d, 9);
	EXPECT(&d, ". 1:1 ack %zu", sizeof(HALF_1));
	SEND_TEXT(&d, HALF_2, "P. %zu ack 1", sizeof(HALF_1));
	EXPECT(&d, "P. 1 ack %zu", sizeof(GET_KEEP));
	drill_close(&d);
}

/* A connection that ends meanwhile is answered for what waits of it as for any stray. */
static void test_what_waits_outlives_its_connection(void **state)
{
	(void)state;
	open_server(SET("memory.side_records=8"));
	for (unsigned i = 0; i < 9; i++) {
		drill_flow(&d, i);
		handshake();
		SEND_TEXT(&d, HALF_1, ". 1 ack 1");
		if (i < 8)
			EXPECT(&d, ". 1:1 ack %zu", sizeof(HALF_1));
	}
	SEND(&d, "R 1");
	assert_int_equal(drill_level(&d)->open, 8);
	drill_flow(&d, 0);
	SEND(&d, "R %zu", sizeof(HALF_1));
	drill_flow(&d, 8);
	EXPECT(&d, "R 1:1");
	drill_close(&d);
}

/* Both ends have eight records; every exchange takes one, and a thousand connections are wanted. */
static void flood(const char *sizes, const char *size_of, const char *requests, const char *load)
{
	static struct world w;
	const struct traffic_level *client, *server;

	world_open(&w, NULL,
		   SET(load, "duration=50ms", "drain=60s", "memory.side_records=8", sizes, size_of,
		       requests, "client.request.method=POST", "client.timeout=60s",
		       "client.catch_up=10s"));
	world_run(&w);
	client = world_client(&w);
	server = world_server(&w);
	if (tally_failed(&client->connection) || tally_failed(&server->connection) ||
	    tally_failed(&client->request) || client->connection.succeeded < 8) {
		world_describe(&w);
		fail_msg("%s %s %s %s: a connection failed", load, sizes, size_of, requests);
	}
	world_close(&w);
}

static void test_floods(void **state)
{
	static const char *const requests[] = {"client.requests_per_connection=1",
					       "client.requests_per_connection=20"};
	static const char *const loads[] = {"client.load.cps=2000", "client.load.concurrency=200"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const char *n = requests[i / 2], *load = loads[i % 2];

		flood("server.response.body.size=20000", "client.response.body.size=20000", n,
		      load);
		flood("server.response.body.size=20000", "client.request.body.size=1", n, load);
		flood("client.request.body.size=20000", "server.response.body.size=1", n, load);
		flood("client.request.body.size=20000", "server.response.body.size=20000", n, load);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_syn_waits),
		cmocka_unit_test(test_handshakes_count),
		cmocka_unit_test(test_a_request_waits),
		cmocka_unit_test(test_what_waits_outlives_its_connection),
		cmocka_unit_test(test_floods),
	};

	return cmocka_run_group_tests_name("tcp parked", tests, NULL, NULL);
}
