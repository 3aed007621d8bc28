/* What is particular to IPv6 in the stateful engine: peers told apart by all 128 bits, own
 * addresses by number, both families in one load. What TCP does is tested over both families
 * (lab.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../stateful/tuple.h"
#include "../support/segment.h"
#include "../support/world.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct world w;

/* --- a server, spoken to by frames made by hand --- */

struct server {
	struct config config;
	struct packet_box box;
	struct lab_end lab;
};

static void server_open(struct server *s, const char *const *set)
{
	memset(s, 0, sizeof(*s));
	s->box.room = 2048;
	lab_config(&s->config, set);
	lab_open(&s->lab, &s->config, LAB_SERVER_PORT, &s->box, 256);
	s->lab.sim.engine->ops->start(s->lab.sim.engine, LAB_EPOCH);
}

static void server_close(struct server *s)
{
	s->lab.sim.engine->ops->drain(s->lab.sim.engine, LAB_EPOCH, LAB_EPOCH);
	for (unsigned i = 0; i < 10; i++)
		sim_poll(&s->lab.sim, LAB_EPOCH + MS(i));
	assert_null(lab_broken_law(&s->lab));
	while (s->lab.sim.tx.tx.count)
		packet_box_free(&s->box, s->lab.sim.tx.tx.queue[--s->lab.sim.tx.tx.count]);
	lab_close(&s->lab);
	config_free(&s->config);
	assert_int_equal(s->box.out, 0);
}

/* A peer: 2001:db8:K1:~K1:K2:~K2:a00:1. All of them have the same checksum. */
static void peer_set(uint8_t *address, uint32_t k)
{
	for (unsigned i = 0; i < 2; i++, k >>= 16, address += 4) {
		address[4] = (uint8_t)(k >> 8);
		address[5] = (uint8_t)k;
		address[6] = (uint8_t)(~k >> 8);
		address[7] = (uint8_t)~k;
	}
}

static u128 peer_of(uint32_t k)
{
	uint8_t address[16] = {0x20, 0x01, 0x0d, 0xb8, [12] = 10, [15] = 1};
	u128 peer;

	peer_set(address, k);
	memcpy(&peer, address, sizeof(peer));
	return peer;
}

/* Give the server a segment from a peer, and return the answer's destination address; 0: none. */
static u128 give(struct server *s, const char *text, uint32_t k, uint32_t to, uint16_t to_port)
{
	struct rx_burst rx = {.count = 1};
	struct tx *tx = &s->lab.sim.tx.tx;
	struct segment segment;
	u128 answer = 0;

	segment_parse(&segment, text);
	segment.ip6 = true;
	segment.src = 0x0a000001;
	segment.dst = to;
	segment.src_port = 1024;
	segment.dst_port = to_port;
	rx.pkt[0] = packet_box_new(&s->box);
	segment_write(&segment, rx.pkt[0], lab_mac[LAB_CLIENT_PORT], lab_mac[LAB_SERVER_PORT]);
	peer_set((uint8_t *)rx.pkt[0]->buf_addr + rx.pkt[0]->data_off + 14 + 8, k);
	sim_input(&s->lab.sim, &s->box, &rx, LAB_EPOCH);
	while (tx->count) {
		struct rte_mbuf *m = tx->queue[--tx->count];

		memcpy(&answer, (uint8_t *)m->buf_addr + m->data_off + 14 + 24, sizeof(answer));
		packet_box_free(&s->box, m);
	}
	return answer;
}

#define SERVER 0x0afffffe

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

#define PEERS 200000u /* among so many some digests of 29 bits are the same */

/* Two peers whose digests are the same: without their whole addresses they would be one. */
static void digests_meet(uint32_t *a, uint32_t *b)
{
	uint64_t *peer = calloc(PEERS, sizeof(*peer));
	uint32_t i, k = 1;

	for (i = 0; i < PEERS; i++, k = k * 1664525 + 1013904223)
		peer[i] = (uint64_t)ip6_digest(peer_of(k)) << 32 | k;
	qsort(peer, PEERS, sizeof(*peer), by_number);
	for (i = 1; i < PEERS && peer[i] >> 32 != peer[i - 1] >> 32; i++)
		;
	assert_true(i < PEERS);
	*a = (uint32_t)peer[i];
	*b = (uint32_t)peer[i - 1];
	free(peer);
}

static void peers_that_differ_in_upper_bits(void **state)
{
	struct server s;
	uint32_t a = 1, b = 2;

	(void)state;
	server_open(&s, NULL);
	assert_true(give(&s, "S 0 win 65535", a, SERVER, 80) == peer_of(a));
	assert_true(give(&s, "S 7 win 65535", b, SERVER, 80) == peer_of(b));
	assert_int_equal(s.lab.stats.level.connection.offered, 2);
	assert_int_equal(s.lab.counters.drop[DROP_TCP_BAD_SYN], 0);
	server_close(&s);
}

static void peers_of_one_digest(void **state)
{
	struct server s;
	uint32_t a, b;

	(void)state;
	digests_meet(&a, &b);
	server_open(&s, NULL);
	assert_true(give(&s, "S 0 win 65535", a, SERVER, 80) == peer_of(a));
	assert_true(give(&s, "S 7 win 65535", b, SERVER, 80) == peer_of(b));
	assert_int_equal(s.lab.stats.level.connection.offered, 2);
	/* each is found again, and ended by its own reset only */
	give(&s, "R 1", b, SERVER, 80);
	give(&s, "R 8", b, SERVER, 80);
	assert_int_equal(s.lab.stats.level.connection.failed[FAILED_RESET], 1);
	give(&s, "R 1", a, SERVER, 80);
	assert_int_equal(s.lab.stats.level.connection.failed[FAILED_RESET], 2);
	server_close(&s);
}

/* The number of an own address: in the first range, in a later one, in none. */
static void own_addresses(void **state)
{
	struct server s;

	(void)state;
	server_open(&s, SET("server.servers=[\"10.255.255.254\",\"10.1.0.0/24\",\"10.2.0.9\"]"));
	assert_true(give(&s, "S 0 win 65535", 1, SERVER, 80) == peer_of(1));
	assert_true(give(&s, "S 0 win 65535", 1, 0x0a010000, 80) == peer_of(1));
	assert_true(give(&s, "S 0 win 65535", 1, 0x0a0100ff, 80) == peer_of(1));
	assert_true(give(&s, "S 0 win 65535", 1, 0x0a020009, 80) == peer_of(1));
	assert_int_equal(s.lab.stats.level.connection.offered, 4);
	assert_true(give(&s, "S 0 win 65535", 1, 0x0a020008, 80) == 0);
	assert_int_equal(s.lab.counters.drop[DROP_IP_NOT_MINE], 1);
	assert_true(give(&s, "S 0 win 65535", 1, SERVER, 81) == peer_of(1)); /* RST */
	assert_int_equal(s.lab.counters.drop[DROP_TCP_NO_PORT], 1);
	assert_int_equal(s.lab.counters.value[COUNTER_RST_TX], 1);
	server_close(&s);
}

/* --- both families in one load --- */

static unsigned syns[2]; /* IPv4, IPv6 */

static void tap(void *arg, unsigned from, const struct rte_mbuf *m, uint64_t now, unsigned fate)
{
	const uint8_t *frame = (const uint8_t *)m->buf_addr + m->data_off;
	bool ip6 = frame[12] == 0x86;

	(void)arg;
	(void)now;
	(void)fate;
	if (from == LAB_CLIENT_PORT && frame[14 + (ip6 ? 40 : 20) + 13] == 2)
		syns[ip6]++;
}

#define MIXED                                                             \
	"traffic.0.clients=[\"10.0.0.1\",\"2001:db9::1\"]",               \
		"traffic.0.servers=[\"10.255.255.254\",\"2001:db9::2\"]", \
		"traffic.1.servers=[\"2001:db9::2\",\"10.255.255.254\"]"

static void run_mixed(const char *const *set)
{
	syns[0] = syns[1] = 0;
	world_open(&w, NULL, set);
	w.sim.tap = tap;
	world_run(&w);
}

static void families_alternate(void **state)
{
	(void)state;
	run_mixed(SET(MIXED, "client.load.cps=1001"));
	assert_int_equal(world_client(&w)->connection.succeeded, 1001);
	assert_int_equal(syns[0], 501);
	assert_int_equal(syns[1], 500);
	world_close(&w);
}

static void families_share_concurrency(void **state)
{
	(void)state;
	run_mixed(SET(MIXED, "client.load.concurrency=11", "client.think_time=10s"));
	assert_int_equal(world_client(&w)->open_max, 11);
	assert_int_equal(syns[0], 6);
	assert_int_equal(syns[1], 5);
	world_close(&w);
}

static void families_share_requests(void **state)
{
	(void)state;
	run_mixed(SET(MIXED, "client.load.rps=400", "client.load.concurrency=10"));
	assert_int_equal(world_client(&w)->request.succeeded, 400);
	assert_int_equal(syns[0], syns[1]);
	world_close(&w);
}

static void families_share_bits(void **state)
{
	uint64_t bits;

	(void)state;
	run_mixed(SET(MIXED, "client.load.bps=\"100Mbps\"", "client.load.concurrency=20",
		      "server.response.body.size=10000"));
	bits = world_client(&w)->bits_rx;
	assert_in_range(bits, 97000000, 103000000);
	assert_int_equal(syns[0], syns[1]);
	assert_int_equal(tally_not_offered(&world_client(&w)->request), 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest server[] = {
		cmocka_unit_test(peers_that_differ_in_upper_bits),
		cmocka_unit_test(peers_of_one_digest),
		cmocka_unit_test(own_addresses),
	};
	const struct CMUnitTest mixed[] = {
		cmocka_unit_test(families_alternate),
		cmocka_unit_test(families_share_concurrency),
		cmocka_unit_test(families_share_requests),
		cmocka_unit_test(families_share_bits),
	};
	int failed;

	setenv("LAB_FAMILY", "6", 1);
	failed = cmocka_run_group_tests_name("IPv6 server", server, NULL, NULL);
	unsetenv("LAB_FAMILY");
	return failed + cmocka_run_group_tests_name("both families", mixed, NULL, NULL);
}
