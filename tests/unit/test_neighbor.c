/* ARP and ICMP echo, in virtual time: frames go in by hand, what comes out is parsed again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/neighbor.h"
#include "../../common/base/packet_box.h"

#define MS 1000000ull
#define S  1000000000ull

#define IP(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

static const uint8_t mac_own[6] = {2, 0, 0, 0, 0, 1}, mac_far[6] = {2, 0, 0, 0, 0, 2},
		     mac_new[6] = {2, 0, 0, 0, 0, 3},
		     broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* A neighbor of 10.0.0.1/24 and 20.0.0.1/8 with the pool 16.0.0.0/8 as own addresses. */
struct world {
	struct neighbor n;
	struct nexthop hop;
	struct counters counters;
	struct packet_box box;
	struct packet_tx tx;
	struct view_rule rule;
	struct ip_range range;
	struct ip_pool pool;
	const struct ip_pool *pools[1];
	struct rx_burst rx;
};

/* As the table has it. */
#define HOP(a, b, c, d) ((u128)0xffff << 32 | IP(a, b, c, d))

static const struct neighbor_address addresses[] = {
	{HOP(10, 0, 0, 1), ~(u128)0xff},
	{HOP(20, 0, 0, 1), ~(u128)0xffffff},
};

static int setup(void **state)
{
	struct world *w = aligned_alloc(64, sizeof(*w));

	memset(w, 0, sizeof(*w));
	w->box.room = 2048;
	packet_tx_open(&w->tx, &w->box, 4096);
	w->hop.mask = 255;
	w->hop.table = calloc(256, sizeof(*w->hop.table));
	w->range = (struct ip_range){IP(16, 0, 0, 0), 1 << 24};
	w->pool = (struct ip_pool){&w->range, 1, 4, 1 << 24};
	w->pools[0] = &w->pool;
	memcpy(w->rule.mac, mac_own, 6);
	w->rule.verify = true;
	memcpy(w->n.mac, mac_own, 6);
	w->n.address = addresses;
	w->n.addresses = 2;
	w->n.pool = w->pools;
	w->n.pools = 1;
	w->n.nexthop = &w->hop;
	w->n.counters = &w->counters;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	uint64_t out;

	packet_tx_close(&w->tx);
	out = w->box.out;
	free(w->hop.table);
	free(w);
	return out ? -1 : 0; /* a packet was lost */
}

static uint8_t *bytes(const struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + m->data_off;
}

static uint32_t be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static struct rte_mbuf *arp_make(struct world *w, int operation, const uint8_t *sender_mac,
				 uint32_t sender, uint32_t target)
{
	static const uint8_t head[] = {8, 6, 0, 1, 8, 0, 6, 4, 0};
	struct rte_mbuf *m = packet_box_new(&w->box);
	uint8_t *at = bytes(m);

	memset(at, 0, 60);
	memcpy(at, operation == 1 ? broadcast : mac_own, 6);
	memcpy(at + 6, sender_mac, 6);
	memcpy(at + 12, head, sizeof head);
	at[21] = (uint8_t)operation;
	memcpy(at + 22, sender_mac, 6);
	put32(at + 28, sender);
	put32(at + 38, target);
	m->data_len = 60;
	m->pkt_len = 60;
	return m;
}

static uint16_t sum16(const uint8_t *at, unsigned length)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < length; i++)
		sum += i & 1 ? at[i] : (uint32_t)at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static struct rte_mbuf *icmp_make(struct world *w, int type, uint32_t target, uint8_t ttl,
				  unsigned payload)
{
	static const uint8_t head[] = {8, 0, 0x45, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 1};
	struct rte_mbuf *m = packet_box_new(&w->box);
	uint8_t *at = bytes(m);
	uint16_t sum, length = (uint16_t)(28 + payload);

	memset(at, 0, 14 + length);
	memcpy(at, mac_own, 6);
	memcpy(at + 6, mac_far, 6);
	memcpy(at + 12, head, sizeof head);
	at[16] = (uint8_t)(length >> 8);
	at[17] = (uint8_t)length;
	at[22] = ttl;
	put32(at + 26, IP(10, 0, 0, 9));
	put32(at + 30, target);
	sum = sum16(at + 14, 20);
	at[24] = (uint8_t)(sum >> 8);
	at[25] = (uint8_t)sum;
	at[34] = (uint8_t)type;
	for (unsigned i = 0; i < payload; i++)
		at[42 + i] = (uint8_t)(i * 7);
	sum = sum16(at + 34, 8 + payload);
	at[36] = (uint8_t)(sum >> 8);
	at[37] = (uint8_t)sum;
	m->data_len = (uint16_t)(14 + length);
	m->pkt_len = m->data_len;
	return m;
}

/* Give one frame to the neighbor; returns the reason. A frame it did not take is freed. */
static enum drop give(struct world *w, struct rte_mbuf *m, uint64_t now)
{
	w->rx.count = 1;
	w->rx.pkt[0] = m;
	w->rx.reason[0] = view_parse(m, &w->rule, &w->rx.view[0]);
	assert_int_equal(w->rx.reason[0], DROP_NONE);
	neighbor_input(&w->n, &w->rx, 0, &w->tx.tx, now);
	if (w->rx.pkt[0])
		packet_box_free(&w->box, w->rx.pkt[0]);
	return w->rx.reason[0];
}

/* The only packet sent, which the caller frees. */
static struct rte_mbuf *sent(struct world *w)
{
	assert_int_equal(w->tx.tx.count, 1);
	w->tx.tx.count = 0;
	return w->tx.tx.queue[0];
}

/* Free what was sent; returns how many packets that were. */
static unsigned sent_count(struct world *w)
{
	unsigned count = w->tx.tx.count;

	for (unsigned i = 0; i < count; i++)
		packet_box_free(&w->box, w->tx.tx.queue[i]);
	w->tx.tx.count = 0;
	return count;
}

/* Poll every millisecond from `from` to `to`. */
static void poll(struct world *w, uint64_t from, uint64_t to)
{
	for (uint64_t now = from; now < to; now += MS)
		neighbor_poll(&w->n, &w->tx.tx, now);
}

static void expect_arp(const struct rte_mbuf *m, int operation, const uint8_t *dst, uint32_t sender,
		       const uint8_t *target_mac, uint32_t target)
{
	const uint8_t *at = bytes(m);

	assert_memory_equal(at, dst, 6);
	assert_memory_equal(at + 6, mac_own, 6);
	assert_int_equal(at[20] << 8 | at[21], operation);
	assert_memory_equal(at + 22, mac_own, 6);
	assert_int_equal(be32(at + 28), sender);
	assert_memory_equal(at + 32, target_mac, 6);
	assert_int_equal(be32(at + 38), target);
	assert_true(m->pkt_len >= 60);
}

static void answers_arp_for_own_addresses(void **state)
{
	static const uint32_t own[] = {IP(10, 0, 0, 1), IP(20, 0, 0, 1), IP(16, 0, 0, 0),
				       IP(16, 255, 255, 255), IP(16, 7, 8, 9)};
	struct world *w = *state;

	for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
		struct rte_mbuf *m;

		assert_int_equal(give(w, arp_make(w, 1, mac_far, IP(10, 0, 0, 9), own[i]), 0),
				 DROP_NONE);
		m = sent(w);
		expect_arp(m, 2, mac_far, own[i], mac_far, IP(10, 0, 0, 9));
		packet_box_free(&w->box, m);
	}
	assert_int_equal(w->counters.value[COUNTER_ARP_TX], 5);
}

static void ignores_arp_for_others(void **state)
{
	static const uint32_t other[] = {IP(10, 0, 0, 2), IP(15, 255, 255, 255), IP(17, 0, 0, 0)};
	struct world *w = *state;

	for (unsigned i = 0; i < sizeof other / sizeof *other; i++)
		assert_int_equal(give(w, arp_make(w, 1, mac_far, IP(10, 0, 0, 9), other[i]), 0),
				 DROP_ARP_NOT_MINE);
	/* A reply nobody asked for tells nothing. */
	assert_int_equal(give(w, arp_make(w, 2, mac_far, IP(10, 0, 0, 9), IP(10, 0, 0, 1)), 0),
			 DROP_ARP_NOT_MINE);
	assert_int_equal(w->tx.tx.count, 0);
	assert_int_equal(w->hop.used, 0);
}

static void answers_probes(void **state)
{
	struct world *w = *state;
	struct rte_mbuf *m;

	/* RFC 5227: a probe has no sender address. */
	assert_int_equal(give(w, arp_make(w, 1, mac_far, 0, IP(10, 0, 0, 1)), 0), DROP_NONE);
	m = sent(w);
	expect_arp(m, 2, mac_far, IP(10, 0, 0, 1), mac_far, 0);
	packet_box_free(&w->box, m);
}

static void asks_for_the_gateway_until_it_answers(void **state)
{
	static const uint8_t zero[6];
	struct world *w = *state;
	struct rte_mbuf *m;

	w->n.gateway = HOP(10, 0, 0, 254);
	assert_int_equal(neighbor_add(&w->n, w->n.gateway, 0), 0);
	neighbor_poll(&w->n, &w->tx.tx, 0);
	m = sent(w);
	expect_arp(m, 1, broadcast, IP(10, 0, 0, 1), zero, IP(10, 0, 0, 254));
	packet_box_free(&w->box, m);
	poll(w, MS, 1000 * MS);
	assert_int_equal(sent_count(w), 9); /* one every 100 ms */
	assert_int_equal(w->n.pending, 1);
	assert_false(w->hop.has_gateway);
	assert_int_equal(
		give(w, arp_make(w, 2, mac_far, IP(10, 0, 0, 254), IP(10, 0, 0, 1)), 1 * S),
		DROP_NONE);
	assert_int_equal(w->n.pending, 0);
	assert_true(w->hop.has_gateway);
	assert_memory_equal(w->hop.gateway, mac_far, 6);
	poll(w, 1 * S, 5 * S);
	assert_int_equal(sent_count(w), 0);
}

static void follows_a_gateway_that_moves(void **state)
{
	struct world *w = *state;

	w->n.gateway = HOP(10, 0, 0, 254);
	neighbor_add(&w->n, w->n.gateway, 0);
	give(w, arp_make(w, 2, mac_far, IP(10, 0, 0, 254), IP(10, 0, 0, 1)), 0);
	poll(w, 0, 11 * S);
	assert_true(sent_count(w) >= 1); /* asked again */
	give(w, arp_make(w, 2, mac_new, IP(10, 0, 0, 254), IP(10, 0, 0, 1)), 11 * S);
	assert_memory_equal(w->hop.gateway, mac_new, 6);
	/* A gratuitous announcement is for nobody, and followed. */
	assert_int_equal(
		give(w, arp_make(w, 1, mac_far, IP(10, 0, 0, 254), IP(10, 0, 0, 254)), 12 * S),
		DROP_NONE);
	assert_memory_equal(w->hop.gateway, mac_far, 6);
	/* No address of a station: not followed. */
	give(w, arp_make(w, 1, broadcast, IP(10, 0, 0, 254), IP(10, 0, 0, 254)), 13 * S);
	assert_memory_equal(w->hop.gateway, mac_far, 6);
}

static void learns_the_gateway_from_its_request(void **state)
{
	struct world *w = *state;

	w->n.gateway = HOP(10, 0, 0, 254);
	neighbor_add(&w->n, w->n.gateway, 0);
	give(w, arp_make(w, 1, mac_far, IP(10, 0, 0, 254), IP(10, 0, 0, 1)), 0);
	assert_int_equal(sent_count(w), 1);
	assert_true(w->hop.has_gateway);
}

/* RFC 5227 section 3: a request for oneself; once, for each address of the port. */
static void announces_its_addresses(void **state)
{
	static const uint8_t zero[6];
	struct world *w = *state;

	w->n.announce = true;
	poll(w, 0, 10 * MS);
	assert_int_equal(w->tx.tx.count, 2);
	expect_arp(w->tx.tx.queue[0], 1, broadcast, IP(10, 0, 0, 1), zero, IP(10, 0, 0, 1));
	expect_arp(w->tx.tx.queue[1], 1, broadcast, IP(20, 0, 0, 1), zero, IP(20, 0, 0, 1));
	assert_int_equal(sent_count(w), 2);
	assert_int_equal(w->counters.value[COUNTER_ARP_TX], 2);
}

static void asks_from_the_subnet_of_the_target(void **state)
{
	static const uint8_t zero[6];
	struct world *w = *state;
	struct rte_mbuf *m;

	neighbor_add(&w->n, HOP(20, 9, 9, 9), 0);
	neighbor_poll(&w->n, &w->tx.tx, 0);
	m = sent(w);
	expect_arp(m, 1, broadcast, IP(20, 0, 0, 1), zero, IP(20, 9, 9, 9));
	packet_box_free(&w->box, m);
}

static void resolves_what_an_engine_wants(void **state)
{
	uint32_t want_be = __builtin_bswap32(IP(10, 0, 0, 77));
	struct world *w = *state;

	poll(w, 0, 5 * S);
	assert_int_equal(w->tx.tx.count, 0);
	assert_null(nexthop_mac(&w->hop, want_be));
	neighbor_poll(&w->n, &w->tx.tx, 5 * S);
	assert_int_equal(sent_count(w), 1);
	give(w, arp_make(w, 2, mac_far, IP(10, 0, 0, 77), IP(10, 0, 0, 1)), 5 * S + MS);
	assert_memory_equal(nexthop_mac(&w->hop, want_be), mac_far, 6);
}

static void slows_down_for_the_silent(void **state)
{
	struct world *w = *state;

	neighbor_add(&w->n, HOP(10, 0, 0, 77), 0);
	poll(w, 0, 3 * S);
	assert_int_equal(sent_count(w), 30);
	poll(w, 3 * S, 103 * S);
	assert_in_range(sent_count(w), 90, 101);
}

static void bounds_asking_and_the_table(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 128; i++)
		assert_int_equal(neighbor_add(&w->n, HOP(10, 0, 1, i + 2), 0), 0);
	assert_int_equal(neighbor_add(&w->n, HOP(10, 0, 2, 1), 0), -1);
	assert_int_equal(neighbor_add(&w->n, HOP(10, 0, 1, 2), 0), 0); /* known */
	assert_int_equal(w->n.pending, 128);
	neighbor_poll(&w->n, &w->tx.tx, 0);
	assert_int_equal(sent_count(w), 64);
	poll(w, MS, 10 * MS);
	assert_int_equal(sent_count(w), 64);
}

static void waits_for_packets(void **state)
{
	struct world *w = *state;

	neighbor_add(&w->n, HOP(10, 0, 0, 77), 0);
	w->box.limit = 1;
	packet_box_free(&w->box, packet_box_new(&w->box));
	w->tx.tx.count = w->tx.tx.capacity;
	neighbor_poll(&w->n, &w->tx.tx, 0);
	w->tx.tx.count = 0;
	neighbor_poll(&w->n, &w->tx.tx, MS);
	assert_int_equal(sent_count(w), 1);
}

static void puts_tags_on_requests(void **state)
{
	struct world *w = *state;
	struct rte_mbuf *m;
	struct view view;

	w->n.vlans = w->rule.vlans = 2;
	w->n.vlan[0] = w->rule.vlan_id[0] = 100;
	w->n.vlan[1] = w->rule.vlan_id[1] = 7;
	neighbor_add(&w->n, HOP(10, 0, 0, 77), 0);
	neighbor_poll(&w->n, &w->tx.tx, 0);
	m = sent(w);
	assert_int_equal(view_parse(m, &w->rule, &view), DROP_NONE);
	assert_int_equal(view.kind, VIEW_ARP);
	assert_int_equal(view.l3, 22);
	packet_box_free(&w->box, m);
}

static void answers_echo_for_own_addresses(void **state)
{
	struct world *w = *state;

	for (unsigned payload = 0; payload < 1400; payload += 57) {
		struct rte_mbuf *m;
		struct view view;

		assert_int_equal(
			give(w, icmp_make(w, 8, IP(16, 1, 2, 3), (uint8_t)payload, payload), 0),
			DROP_NONE);
		m = sent(w);
		/* Parsed by a rule for the far end: verifies both checksums. */
		memcpy(w->rule.mac, mac_far, 6);
		assert_int_equal(view_parse(m, &w->rule, &view), DROP_NONE);
		memcpy(w->rule.mac, mac_own, 6);
		assert_memory_equal(bytes(m) + 6, mac_own, 6);
		assert_int_equal(view.kind, VIEW_ICMP);
		assert_int_equal(bytes(m)[34], 0);
		assert_int_equal(bytes(m)[22], 64);
		assert_int_equal(be32(bytes(m) + 26), IP(16, 1, 2, 3));
		assert_int_equal(be32(bytes(m) + 30), IP(10, 0, 0, 9));
		packet_box_free(&w->box, m);
	}
}

static void ignores_other_icmp(void **state)
{
	struct world *w = *state;

	assert_int_equal(give(w, icmp_make(w, 8, IP(10, 0, 0, 2), 64, 8), 0), DROP_IP_NOT_MINE);
	assert_int_equal(give(w, icmp_make(w, 0, IP(10, 0, 0, 1), 64, 8), 0), DROP_ICMP_IGNORED);
	assert_int_equal(give(w, icmp_make(w, 3, IP(10, 0, 0, 1), 64, 8), 0), DROP_ICMP_IGNORED);
	assert_int_equal(w->counters.value[COUNTER_ICMP_TX], 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(answers_arp_for_own_addresses),
		TEST(ignores_arp_for_others),
		TEST(answers_probes),
		TEST(announces_its_addresses),
		TEST(asks_for_the_gateway_until_it_answers),
		TEST(follows_a_gateway_that_moves),
		TEST(learns_the_gateway_from_its_request),
		TEST(asks_from_the_subnet_of_the_target),
		TEST(resolves_what_an_engine_wants),
		TEST(slows_down_for_the_silent),
		TEST(bounds_asking_and_the_table),
		TEST(waits_for_packets),
		TEST(puts_tags_on_requests),
		TEST(answers_echo_for_own_addresses),
		TEST(ignores_other_icmp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
