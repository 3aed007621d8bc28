/* What lies around the engine: no gateway, ports and addresses in pieces, a port that computes
 * checksums, packets that run out, ICMP of any kind. */
#include "server_drill.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/world.h"

static struct world w;

static void expect_all(uint64_t connections)
{
	if (world_client(&w)->connection.succeeded != connections ||
	    world_server(&w)->connection.succeeded != connections) {
		world_describe(&w);
		fail_msg("not all of %lu connections succeeded", (unsigned long)connections);
	}
	world_close(&w);
}

/* On the link there is no gateway: a client has to know its neighbour, a server answers to where a
 * segment came from and remembers it. */
static void test_without_a_gateway(void **state)
{
	static struct nexthop_entry table[2][64];
	const struct world_rule rule = {.to_server = {.delay = MS(1), .loss = 0.03},
					.to_client = {.delay = MS(1), .loss = 0.03},
					.seed = 5};
	const u128 server6 = (u128)0x20010db800000000 << 64 | 0x0afffffe;

	(void)state;
	world_open(&w, &rule,
		   SET("client.load.cps=50", "duration=1s", "drain=60s", "client.timeout=60s",
		       "client.tcp.retries=15", "server.tcp.retries=15",
		       "server.response.body.size=20000"));
	for (unsigned i = 0; i < 2; i++) {
		struct nexthop *n = &w.lab[i].nexthop;

		memset(table[i], 0, sizeof(table[i]));
		n->has_gateway = n->has_gateway6 = false;
		n->table = table[i];
		n->mask = 63;
	}
	world_start(&w);
	world_pass(&w, MS(100));
	assert_true(w.lab[0].nexthop.wanted);
	assert_int_equal(w.lab[0].counters.value[COUNTER_PKT_TX], 0);
	nexthop_learn(&w.lab[0].nexthop, htonl((10u << 24) + 0xfffffeu), lab_mac[1]);
	nexthop_learn6(&w.lab[0].nexthop, server6, lab_mac[1]);
	world_pass(&w, SEC(1));
	world_drain(&w);
	expect_all(50);
}

static void test_pools_in_pieces(void **state)
{
	(void)state;
	if (lab_ip6())
		return;
	world_open(&w, NULL,
		   SET("client.load.cps=100", "duration=1s",
		       "client.clients=[\"10.0.0.1\", \"10.0.0.5-10.0.0.6\", \"10.0.1.0/30\"]",
		       "client.servers=[\"10.255.255.254\", \"10.255.0.1-10.255.0.2\"]",
		       "server.servers=[\"10.255.255.254\", \"10.255.0.1-10.255.0.2\"]",
		       "client.client_ports=[2000, \"3000-3001\"]",
		       "client.server_ports=[80, \"443-444\", 8080]",
		       "server.server_ports=[80, \"443-444\", 8080]"));
	world_run(&w);
	expect_all(100);
}

/* Between the pieces nobody listens. */
static void test_between_the_pieces(void **state)
{
	(void)state;
	open_server(SET("server.server_ports=[80, 90]"));
	for (unsigned i = 0; i < 4; i++) {
		drill_flow(&d, i);
		d.flow[i].near_port = (uint16_t)(i == 0 ? 79 : i == 1 ? 80 : i == 2 ? 81 : 90);
		SEND(&d, "S 0");
		if (i % 2)
			EXPECT(&d, "S. 0:0 ack 1");
		else
			EXPECT(&d, "R. 0:0 ack 1");
	}
	EXPECT_DROPS(&d, TCP_NO_PORT, 2);
	drill_close(&d);
}

/* The address of a port without traffic is its own all the same; multicast is nobody's. */
static void test_addresses(void **state)
{
	(void)state;
	open_server(SET("server.servers=10.255.0.1"));
	SEND(&d, "S 0");
	EXPECT(&d, "R. 0:0 ack 1");
	EXPECT_DROPS(&d, TCP_NO_PORT, 1);
	drill_close(&d);
	if (lab_ip6())
		return;
	open_server(NULL);
	d.flow[0].far_ip = 0xe0000001;
	SEND(&d, "S 0");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_CLIENT, 1);
	drill_close(&d);
}

/* The port computes what is left to it: what leaves is as ever. */
static void test_checksums_are_left_to_the_port(void **state)
{
	static const char *const bodies[] = {"server.response.body.size=10",
					     "server.response.body.size=4000"};

	(void)state;
	lab_offload = true;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t end;

		open_server(SET(bodies[i], "server.tcp.timestamps=true"));
		handshake();
		SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
		end = drill_stream(&d, 1);
		SEND(&d, "F. %zu ack %u", sizeof(GET_CLOSE), end);
		EXPECT(&d, ". %u", end);
		assert_true(d.offloaded > 2);
		assert_int_equal(drill_level(&d)->connection.succeeded, 1);
		drill_close(&d);
	}
	lab_offload = false;
}

/* ICMP that is none of what a router says of a segment of ours. */
static void test_icmp_of_any_kind(void **state)
{
	/* offsets from the ICMP header: type, code, the quoted IP header, its protocol */
	static const struct {
		unsigned at, at6;
		uint8_t value, value6;
	} odd[] = {{0, 0, 11, 1},    {1, 0, 1, 3},        {8, 8, 0x65, 0x45}, {8, 8, 0x46, 0x55},
		   {17, 14, 17, 17}, {20, 39, 99, 99},    {24, 4, 99, 1},     {28, 5, 99, 1},
		   {30, 50, 99, 99}, {31, 51, 0x51, 0x51}};

	(void)state;
	open_server(SET("server.response.body.size=1000"));
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1");
	for (unsigned i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		unsigned at = lab_ip6() ? odd[i].at6 : odd[i].at;

		drill_too_big_but(&d, 1, 600, at, lab_ip6() ? odd[i].value6 : odd[i].value);
		EXPECT_NOTHING(&d);
	}
	drill_too_big(&d, 1, 600);
	EXPECT(&d, ". 1:561");
	drill_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_gateway),
		cmocka_unit_test(test_pools_in_pieces),
		cmocka_unit_test(test_between_the_pieces),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_checksums_are_left_to_the_port),
		cmocka_unit_test(test_icmp_of_any_kind),
	};

	return cmocka_run_group_tests_name("tcp environment", tests, NULL, NULL);
}
