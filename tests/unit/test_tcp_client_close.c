/* How our client ends its connections: by weights, in order by either side, by RST, or not at all.
 */
#include "client_drill.h"

#include <rte_tcp.h>

#include "../support/world.h"

static struct world w;

static void run(const char *const *set)
{
	world_open(&w, NULL, set);
	world_run(&w);
	assert_int_equal(world_client(&w)->request.offered, world_client(&w)->request.succeeded);
	assert_int_equal(tally_failed(&world_client(&w)->connection), 0);
}

static void test_weights_are_held(void **state)
{
	const uint64_t *closed = world_client(&w)->closed;

	(void)state;
	run(SET("client.load.cps=4000", "duration=1s", "drain=1s",
		"client.close={\"keep\": 2, \"fin\": 1, \"rst\": 1, \"timeout\": \"100ms\"}",
		"server.max_connections=10000"));
	assert_int_equal(world_client(&w)->connection.offered, 4000);
	assert_in_range(closed[CLOSE_KEEP], 1999, 2001);
	assert_in_range(closed[CLOSE_FIN], 999, 1001);
	assert_in_range(closed[CLOSE_RST], 999, 1001);
	assert_in_range(w.lab[0].counters.value[COUNTER_RST_TX], 2700, 3002);
	assert_int_equal(w.lab[0].counters.value[COUNTER_FIN_TX] +
				 w.lab[0].counters.value[COUNTER_RST_TX],
			 4000);
	world_close(&w);
}

/* What the wire shows of it: how each connection of a port was ended, and when. */
static uint64_t seen[CLOSE_WAYS], answered_at[65536];

static void watch(void *arg, unsigned from, const struct rte_mbuf *m, uint64_t now, unsigned fate)
{
	struct segment s;
	struct view view;

	(void)arg;
	(void)fate;
	assert_int_equal(view_parse(m, &w.lab[!from].sim.rule, &view), DROP_NONE);
	segment_read(&s, m, &view);
	if (from == LAB_SERVER_PORT && s.payload_len)
		answered_at[s.dst_port] = now;
	if (from == LAB_CLIENT_PORT && s.flags & RTE_TCP_RST_FLAG)
		seen[now - answered_at[s.src_port] < MS(50) ? CLOSE_RST : CLOSE_KEEP]++;
	if (from == LAB_CLIENT_PORT && s.flags & RTE_TCP_FIN_FLAG)
		seen[CLOSE_FIN]++;
}

static void test_weights_on_the_wire(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   SET("client.load.cps=20k", "duration=5s", "drain=1s",
		       "client.close={\"keep\": 5, \"fin\": 3, \"rst\": 2, \"timeout\": \"100ms\"}",
		       "server.max_connections=60000"));
	w.sim.tap = watch;
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 100000);
	/* those left open when the load ended were closed in order */
	assert_in_range(seen[CLOSE_KEEP], 49000 - 1000, 50000);
	assert_in_range(seen[CLOSE_FIN], 30000, 30000 + 1000 + 1000);
	assert_in_range(seen[CLOSE_RST], 19990, 20010);
	assert_int_equal(seen[CLOSE_KEEP] + seen[CLOSE_FIN] + seen[CLOSE_RST], 100000);
	world_close(&w);
}

/* Connections left open do not count as concurrent ones: others take their place. */
static void test_left_open_with_concurrency(void **state)
{
	(void)state;
	run(SET("client.load.concurrency=10", "duration=200ms", "drain=1s",
		"client.close={\"keep\": 1, \"timeout\": \"1s\"}", "server.max_connections=60000"));
	assert_true(world_client(&w)->closed[CLOSE_KEEP] > 1000);
	assert_int_equal(world_client(&w)->closed[CLOSE_RST], 0);
	assert_true(world_client(&w)->open_max > 1000);
	world_close(&w);
}

static void test_client_closes_first(void **state)
{
	uint32_t end;

	(void)state;
	connect_to(SET("client.close.first=client"));
	assert_non_null(strstr(d.payload, "Connection: keep-alive\r\n"));
	end = 1 + sizeof(RESPONSE_5) - 1;
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, "F. %u:%u ack %u", request, request, end);
	SEND(&d, "F. %u ack %u", end, request + 1);
	EXPECT(&d, ". %u ack %u", request + 1, end + 1);
	expect_success();
}

static void test_reset(void **state)
{
	uint32_t end;

	(void)state;
	connect_to(SET("client.close.rst=1"));
	end = 1 + sizeof(RESPONSE_5) - 1;
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, "R. %u:%u ack %u", request, request, end);
	EXPECT_NOTHING(&d);
	expect_success();
}

static void test_left_open_until_its_time(void **state)
{
	uint32_t end;

	(void)state;
	connect_to(SET("client.close={\"keep\": 1, \"timeout\": \"2s\"}"));
	end = 1 + sizeof(RESPONSE_5) - 1;
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, ". %u ack %u", request, end);
	EXPECT_IN(&d, SEC(2), "R. %u:%u ack %u", request, request, end);
	expect_success();
}

/* What the far end does with a connection left open is answered. */
static void test_left_open_and_closed_by_the_server(void **state)
{
	uint32_t end;

	(void)state;
	connect_to(SET("client.close={\"keep\": 1, \"timeout\": \"20s\"}"));
	end = 1 + sizeof(RESPONSE_5) - 1;
	SEND_TEXT(&d, RESPONSE_5, "P. 1 ack %u", request);
	EXPECT(&d, ". %u ack %u", request, end);
	drill_wait(&d, SEC(3));
	SEND(&d, "F. %u ack %u", end, request);
	EXPECT(&d, "F. %u ack %u", request, end + 1);
	SEND(&d, ". %u ack %u", end + 1, request + 1);
	expect_success();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights_are_held),
		cmocka_unit_test(test_weights_on_the_wire),
		cmocka_unit_test(test_left_open_with_concurrency),
		cmocka_unit_test(test_client_closes_first),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_left_open_until_its_time),
		cmocka_unit_test(test_left_open_and_closed_by_the_server),
	};

	return cmocka_run_group_tests_name("tcp client close", tests, NULL, NULL);
}
