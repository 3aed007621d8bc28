/* UDP sockets: every request is answered or lost, over clean and over bad wires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/world.h"

#define CLIENT                                                                         \
	"traffic.0={\"name\": \"client\", \"port\": \"c\", \"kind\": \"udp-client\", " \
	"\"clients\": \"10.0.0.1-10.0.0.9\", \"servers\": \"10.255.255.254\", \"load\": {}}"
#define SERVER                                                                         \
	"traffic.1={\"name\": \"server\", \"port\": \"s\", \"kind\": \"udp-server\", " \
	"\"servers\": \"10.255.255.254\"}"
#define UDP(...) SET(CLIENT, SERVER, __VA_ARGS__)

static struct world w;

static uint64_t counter(unsigned end, enum counter c)
{
	return w.lab[end].counters.value[c];
}

static const struct tally *requests(void)
{
	return &world_client(&w)->request;
}

static void expect_requests(uint64_t offered, uint64_t lost)
{
	const struct tally *t = requests();

	if (t->offered != offered || t->failed[FAILED_TIMEOUT] != lost ||
	    t->succeeded != offered - lost) {
		world_describe(&w);
		fail_msg("%lu requests expected, %lu of them lost", (unsigned long)offered,
			 (unsigned long)lost);
	}
	assert_int_equal(counter(0, COUNTER_UDP_REQ), offered);
	assert_int_equal(counter(0, COUNTER_UDP_TX), offered);
	assert_int_equal(counter(0, COUNTER_UDP_LOST), lost);
	assert_int_equal(counter(0, COUNTER_UDP_RSP), offered - lost);
	assert_int_equal(tally_not_offered(t), 0);
	assert_int_equal(counter(1, COUNTER_UDP_RSP), counter(1, COUNTER_UDP_REQ));
}

/* Half a request a second to a million: as many as are due, evenly spaced. */
static void test_rates(void **state)
{
	(void)state;
	world_open(&w, NULL, UDP("client.load.rps=0.5", "duration=5s"));
	world_run(&w);
	expect_requests(3, 0);
	world_close(&w);
	world_open(&w, NULL, UDP("client.load.rps=100k", "client.requests_per_connection=max"));
	world_run(&w);
	expect_requests(100000, 0);
	assert_int_equal(world_client(&w)->connection.failed[FAILED_TIMEOUT], 0);
	assert_in_range(w.lab[0].stats.response.max, US(20), US(25));
	assert_in_range(world_client(&w)->connection.offered, 1, 50);
	world_close(&w);
}

/* Sockets opened at a rate, each with some requests, and a pause between them. */
static void test_sockets(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   UDP("client.load.cps=100", "client.requests_per_connection=3",
		       "client.think_time=10ms"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.offered, 100);
	assert_int_equal(world_client(&w)->connection.succeeded, 100);
	expect_requests(requests()->offered, 0);
	assert_in_range(requests()->offered, 296, 300); /* those of the end think no more */
	world_close(&w);
	world_open(&w, NULL, UDP("client.load.cps=11", "duration=20s"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 220);
	expect_requests(220, 0);
	world_close(&w);
}

/* Concurrency with a rate: the sockets opened first are closed for it. */
static void test_churn(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   UDP("client.load.concurrency=50", "client.load.cps=100", "duration=2s",
		       "client.think_time=5ms"));
	world_run(&w);
	assert_int_equal(world_client(&w)->open_max, 50);
	assert_int_equal(world_client(&w)->connection.offered, 200);
	assert_int_equal(world_client(&w)->connection.succeeded, 200);
	world_close(&w);
}

/* One flow: as many requests a round trip as may wait. */
static void test_pipeline(void **state)
{
	static const unsigned depth[] = {1, 2, 7, 64, 128};

	(void)state;
	for (unsigned i = 0; i < sizeof(depth) / sizeof(*depth); i++) {
		char pipeline[64];
		uint64_t most;

		snprintf(pipeline, sizeof(pipeline), "client.pipeline=%u", depth[i]);
		world_open(&w, NULL,
			   UDP("client.load.concurrency=1", pipeline, "duration=20ms",
			       "client.requests_per_connection=max"));
		world_run(&w);
		most = MS(20) / US(20) * depth[i];
		expect_requests(requests()->offered, 0);
		assert_in_range(requests()->offered, most * 9 / 10, most * 11 / 10 + depth[i]);
		assert_int_equal(world_client(&w)->connection.offered, 1);
		world_close(&w);
	}
	/* Together after each pause, as long as it lasts. */
	world_open(&w, NULL,
		   UDP("client.load.concurrency=1", "client.pipeline=10", "duration=95ms",
		       "client.requests_per_connection=max", "client.think_time=10ms"));
	world_run(&w);
	expect_requests(100, 0);
	world_close(&w);
}

/* Each packet that a wire loses is one request lost, on the way there or back. */
static void test_loss(void **state)
{
	static const struct world_rule rule = {.to_server = {.delay = US(50), .loss_every = 10},
					       .to_client = {.delay = US(50), .loss = 0.02},
					       .seed = 3};
	static const char *const set[] = {"client.pipeline=1", "client.pipeline=3",
					  "client.pipeline=32"};

	(void)state;
	for (unsigned i = 0; i < sizeof(set) / sizeof(*set); i++) {
		world_open(&w, &rule,
			   UDP("client.load.concurrency=5", set[i], "duration=200ms",
			       "client.timeout=5ms", "client.requests_per_connection=20"));
		world_run(&w);
		expect_requests(requests()->offered,
				w.lab[0].sim.wire.stats.lost + w.lab[1].sim.wire.stats.lost);
		assert_true(requests()->failed[FAILED_TIMEOUT] > 10);
		assert_true(world_client(&w)->connection.failed[FAILED_TIMEOUT] > 0);
		assert_int_equal(w.lab[0].counters.drop[DROP_UDP_LATE], 0);
		world_close(&w);
	}
	/* A paced load goes on with the others meanwhile. */
	world_open(&w, &rule,
		   UDP("client.load.rps=10k", "client.pipeline=4", "client.load.concurrency=10",
		       "client.timeout=2ms", "client.requests_per_connection=max"));
	world_run(&w);
	expect_requests(10000, w.lab[0].sim.wire.stats.lost + w.lab[1].sim.wire.stats.lost);
	world_close(&w);
}

/* Doubled and overtaken answers are told apart; a flipped bit never passes as an answer. */
static void test_bad_wires(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct world_rule rule = {.to_server = {.delay = US(50), .duplicate = 0.1},
					  .to_client = {.delay = US(50),
							.duplicate = 0.1,
							.reorder = 0.2,
							.reorder_delay = MS(1),
							.corrupt = 0.05},
					  .seed = seed};
		uint64_t surplus;

		world_open(&w, &rule,
			   UDP("client.load.concurrency=5", "client.pipeline=16", "duration=100ms",
			       "client.timeout=50ms", "client.requests_per_connection=1000"));
		world_run(&w);
		expect_requests(requests()->offered, requests()->failed[FAILED_TIMEOUT]);
		surplus = w.lab[1].sim.wire.stats.out - counter(0, COUNTER_UDP_RSP);
		assert_int_equal(w.lab[0].counters.drop[DROP_UDP_LATE] +
					 w.lab[0].counters.drop[DROP_UDP_NO_PORT] +
					 w.lab[0].counters.drop[DROP_UDP_CSUM] +
					 w.lab[0].counters.drop[DROP_UDP_BAD] +
					 w.lab[0].counters.drop[DROP_IP_CSUM] +
					 w.lab[0].counters.drop[DROP_IP_BAD] +
					 w.lab[0].counters.drop[DROP_IP_CUT] +
					 w.lab[0].counters.drop[DROP_IP_FRAGMENT] +
					 w.lab[0].counters.drop[DROP_IP_PROTO],
				 surplus);
		assert_true(w.lab[0].counters.drop[DROP_UDP_LATE] > 0);
		world_close(&w);
	}
}

/* An answer after its time is refused, and not taken for that of the next request. */
static void test_late(void **state)
{
	static const struct world_rule rule = {.to_server = {.delay = MS(5)},
					       .to_client = {.delay = MS(5)}};

	(void)state;
	world_open(&w, &rule,
		   UDP("client.load.concurrency=1", "client.timeout=4ms", "duration=100ms",
		       "client.requests_per_connection=max"));
	world_run(&w);
	expect_requests(requests()->offered, requests()->offered);
	assert_true(requests()->offered >= 25);
	assert_int_equal(w.lab[0].counters.drop[DROP_UDP_LATE] +
				 w.lab[0].counters.drop[DROP_UDP_NO_PORT],
			 requests()->offered);
	world_close(&w);
}

/* Bits per request each way, Ethernet header on. */
static void bits_are(unsigned request, unsigned response)
{
	uint64_t count = requests()->offered, headers = lab_ip6() ? 62 : 42;

	assert_int_equal(world_client(&w)->bits_tx, count * (headers + request) * 8);
	assert_int_equal(world_client(&w)->bits_rx, count * (headers + response) * 8);
	assert_int_equal(world_server(&w)->bits_rx, count * (headers + request) * 8);
	assert_int_equal(world_server(&w)->bits_tx, count * (headers + response) * 8);
}

static void test_sizes(void **state)
{
	static const unsigned size[] = {1, 3, 4, 5, 18, 22, 23, 100, 1471, 1472};

	(void)state;
	for (unsigned i = 0; i < sizeof(size) / sizeof(*size); i++) {
		unsigned other = size[sizeof(size) / sizeof(*size) - 1 - i];
		char request[64], response[64];

		snprintf(request, sizeof(request), "client.request.size=%u", size[i]);
		world_open(&w, NULL, UDP("client.load.rps=100", request));
		world_run(&w);
		expect_requests(100, 0);
		bits_are(size[i], size[i]);
		world_close(&w);
		snprintf(response, sizeof(response), "server.response.size=%u", other);
		world_open(&w, NULL,
			   UDP("client.load.rps=100", request, response,
			       other < 4 ? "client.tag=false" : "client.tag=true"));
		world_run(&w);
		expect_requests(100, 0);
		bits_are(size[i], other);
		world_close(&w);
	}
}

/* Answers of another length than expected, and clients that are not served. */
static void test_refusals(void **state)
{
	(void)state;
	world_open(&w, NULL, UDP("client.load.rps=100", "client.response.size=20"));
	world_run(&w);
	assert_int_equal(requests()->failed[FAILED_LENGTH], 100);
	assert_true(world_client(&w)->connection.failed[FAILED_LENGTH] > 0);
	world_close(&w);
	world_open(&w, NULL,
		   UDP("client.load.rps=90", "server.clients=10.0.0.1-10.0.0.3",
		       "client.timeout=10ms", "client.requests_per_connection=1"));
	world_run(&w);
	expect_requests(90, 60);
	assert_int_equal(w.lab[1].counters.drop[DROP_UDP_CLIENT], 60);
	world_close(&w);
	world_open(&w, NULL,
		   UDP("client.load.rps=10", "client.server_ports=81", "client.timeout=10ms"));
	world_run(&w);
	expect_requests(10, 10);
	assert_int_equal(w.lab[1].counters.drop[DROP_UDP_NO_PORT], 10);
	world_close(&w);
}

/* Without a next hop, or packets to write, sockets wait and go on. */
static void test_obstacles(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   UDP("client.load.concurrency=10", "client.requests_per_connection=max"));
	w.lab[0].nexthop.has_gateway = w.lab[0].nexthop.has_gateway6 = false;
	w.lab[0].nexthop.mask = 7;
	w.lab[0].nexthop.table = calloc(8, sizeof(*w.lab[0].nexthop.table));
	world_start(&w);
	world_pass(&w, MS(10));
	assert_int_equal(requests()->offered, 0);
	assert_true(w.lab[0].nexthop.wanted);
	if (lab_ip6())
		nexthop_learn6(&w.lab[0].nexthop, (u128)0x20010db8 << 96 | 0x0afffffe, lab_mac[1]);
	else
		nexthop_learn(&w.lab[0].nexthop, __builtin_bswap32(0x0afffffe), lab_mac[1]);
	world_pass(&w, MS(10));
	assert_true(requests()->offered >= 10 * 400);
	world_drain(&w);
	expect_requests(requests()->offered, 0);
	free(w.lab[0].nexthop.table);
	world_close(&w);
}

/* An ACK from port 80 of the server to port 1024 of the client, in the test's family; its length.
 */
static uint16_t tcp_frame(uint8_t *frame)
{
	static const uint8_t prefix[12] = {0x20, 0x01, 0x0d, 0xb8};
	static const uint8_t server[4] = {10, 255, 255, 254}, client[4] = {10, 0, 0, 1};
	unsigned l4 = lab_ip6() ? 54 : 34;

	memcpy(frame, (uint8_t[]){2, 0, 0, 0, 0, 0xc, 2, 0, 0, 0, 0, 5}, 12);
	if (lab_ip6()) {
		memcpy(frame + 12, (uint8_t[]){0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 6, 64}, 10);
		memcpy(frame + 22, prefix, 12);
		memcpy(frame + 34, server, 4);
		memcpy(frame + 38, prefix, 12);
		memcpy(frame + 50, client, 4);
	} else {
		memcpy(frame + 12, (uint8_t[]){8, 0, 0x45, 0, 0, 40}, 6);
		memcpy(frame + 22, (uint8_t[]){64, 6}, 2);
		memcpy(frame + 26, server, 4);
		memcpy(frame + 30, client, 4);
	}
	memcpy(frame + l4, (uint8_t[]){0, 80, 4, 0}, 4);
	memcpy(frame + l4 + 12, (uint8_t[]){0x50, 0x10}, 2);
	return (uint16_t)(l4 + 20);
}

/* A segment of TCP for a socket's tuple belongs to no connection. */
static void test_not_tcp(void **state)
{
	struct rx_burst rx = {.count = 1};
	uint8_t frame[74] = {0};
	uint16_t length = tcp_frame(frame);
	struct packet_box *box = &w.box;

	(void)state;
	world_open(&w, NULL, UDP("client.load.concurrency=1", "client.timeout=100s", "drain=10ms"));
	world_start(&w);
	world_pass(&w, 1); /* sent, and not answered yet */
	w.lab[0].sim.rule.verify = false;
	rx.pkt[0] = packet_box_new(box);
	memcpy((char *)rx.pkt[0]->buf_addr + rx.pkt[0]->data_off, frame, length);
	rx.pkt[0]->data_len = length;
	rx.pkt[0]->pkt_len = length;
	sim_input(&w.lab[0].sim, box, &rx, w.sim.now);
	assert_int_equal(w.lab[0].counters.drop[DROP_TCP_NO_CONN] +
				 w.lab[0].counters.drop[DROP_TCP_NO_PORT],
			 1);
	assert_int_equal(counter(0, COUNTER_RST_TX), 0); /* nothing here speaks TCP */
	w.lab[0].sim.rule.verify = true;
	world_pass(&w, MS(1));
	world_drain(&w);
	expect_requests(requests()->offered, 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),    cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_churn),    cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_loss),     cmocka_unit_test(test_bad_wires),
		cmocka_unit_test(test_late),     cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_obstacles),
		cmocka_unit_test(test_not_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
