/* Neighbour Discovery and ICMPv6 echo, in virtual time: frames go in by hand, what comes out is
 * parsed again, checksums verified. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/checksum.h"
#include "../../common/base/neighbor.h"
#include "../../common/base/packet_box.h"

#define MS 1000000ull
#define S  1000000000ull

static const uint8_t mac_own[6] = {2, 0, 0, 0, 0, 1}, mac_far[6] = {2, 0, 0, 0, 0, 2},
		     mac_new[6] = {2, 0, 0, 0, 0, 3};

/* 2001:db8::1/64 on the port, the pool 2001:db8:1::/64, and IPv4 beside them. */
struct world {
	struct neighbor n;
	struct nexthop hop;
	struct counters counters;
	struct packet_box box;
	struct packet_tx tx;
	struct view_rule rule;
	struct neighbor_address address[2];
	struct ip_range range;
	struct ip_pool pool;
	const struct ip_pool *pools[1];
	struct rx_burst rx;
};

static u128 ip(const char *text)
{
	uint8_t byte[16];
	u128 address = 0;

	assert_int_equal(inet_pton(AF_INET6, text, byte), 1);
	for (unsigned i = 0; i < 16; i++)
		address = address << 8 | byte[i];
	return address;
}

static int setup(void **state)
{
	struct world *w = aligned_alloc(64, sizeof(*w));

	memset(w, 0, sizeof(*w));
	w->box.room = 2048;
	packet_tx_open(&w->tx, &w->box, 4096);
	w->hop.mask = 255;
	w->hop.table = calloc(256, sizeof(*w->hop.table));
	w->range = (struct ip_range){ip("2001:db8:1::"), (u128)1 << 64};
	w->pool = (struct ip_pool){&w->range, 1, 6, (u128)1 << 64};
	w->pools[0] = &w->pool;
	w->address[0] = (struct neighbor_address){ip("::ffff:10.0.0.1"), ~(u128)0xff};
	w->address[1] = (struct neighbor_address){ip("2001:db8::1"), ~(u128)0 << 64};
	memcpy(w->rule.mac, mac_own, 6);
	w->rule.verify = true;
	w->rule.ip6 = true;
	memcpy(w->n.mac, mac_own, 6);
	w->n.address = w->address;
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

static void put_ip(uint8_t *at, const char *text)
{
	assert_int_equal(inet_pton(AF_INET6, text, at), 1);
}

static void assert_ip(const uint8_t *at, const char *text)
{
	uint8_t want[16];

	put_ip(want, text);
	assert_memory_equal(at, want, 16);
}

struct icmp {
	const uint8_t *to; /* MAC address; NULL: ours */
	const char *src, *dst;
	uint8_t hops, type, code;
	unsigned extension; /* bytes of destination options in front */
	unsigned length;
	uint8_t body[128];
};

static struct rte_mbuf *make(struct world *w, const struct icmp *icmp)
{
	struct rte_mbuf *m = packet_box_new(&w->box);
	uint8_t *at = bytes(m), *message = at + 54 + icmp->extension;
	unsigned length = 4 + icmp->length;
	uint16_t sum;

	memset(at, 0, 54 + icmp->extension + length);
	memcpy(at, icmp->to ? icmp->to : mac_own, 6);
	memcpy(at + 6, mac_far, 6);
	memcpy(at + 12, "\x86\xdd\x60", 3);
	at[19] = (uint8_t)(icmp->extension + length);
	at[20] = icmp->extension ? 60 : 58;
	at[21] = icmp->hops;
	put_ip(at + 22, icmp->src);
	put_ip(at + 38, icmp->dst);
	if (icmp->extension) {
		at[54] = 58;
		at[55] = (uint8_t)(icmp->extension / 8 - 1);
	}
	message[0] = icmp->type;
	message[1] = icmp->code;
	memcpy(message + 4, icmp->body, icmp->length);
	sum = (uint16_t)~checksum_fold(checksum_pseudo6(at + 22, 58, (uint16_t)length) +
				       checksum_sum(message, length));
	memcpy(message + 2, &sum, 2);
	m->data_len = (uint16_t)(54 + icmp->extension + length);
	m->pkt_len = m->data_len;
	return m;
}

/* A solicitation or advertisement: reserved or flags, target, and one option. */
static struct icmp discovery(uint8_t type, const char *src, const char *dst, const char *target,
			     uint8_t flags, uint8_t option, const uint8_t *mac)
{
	struct icmp icmp = {.src = src, .dst = dst, .hops = 255, .type = type, .length = 20};

	icmp.body[0] = flags;
	put_ip(icmp.body + 4, target);
	if (mac) {
		icmp.body[20] = option;
		icmp.body[21] = 1;
		memcpy(icmp.body + 22, mac, 6);
		icmp.length += 8;
	}
	return icmp;
}

static enum drop give(struct world *w, const struct icmp *icmp, uint64_t now)
{
	w->rx.count = 1;
	w->rx.pkt[0] = make(w, icmp);
	w->rx.reason[0] = view_parse(w->rx.pkt[0], &w->rule, &w->rx.view[0]);
	assert_int_equal(w->rx.reason[0], DROP_NONE);
	neighbor_input(&w->n, &w->rx, 0, &w->tx.tx, now);
	if (w->rx.pkt[0])
		packet_box_free(&w->box, w->rx.pkt[0]);
	return w->rx.reason[0];
}

/* The only packet sent, well formed as its receiver would see it; the caller frees it. */
static struct rte_mbuf *sent(struct world *w)
{
	struct view_rule rule = w->rule;
	struct view view;
	struct rte_mbuf *m;

	assert_int_equal(w->tx.tx.count, 1);
	w->tx.tx.count = 0;
	m = w->tx.tx.queue[0];
	memcpy(rule.mac, bytes(m), 6);
	assert_int_equal(view_parse(m, &rule, &view), DROP_NONE);
	assert_int_equal(view.kind, VIEW_ICMP);
	assert_int_equal(view.payload + view.payload_len, m->pkt_len);
	assert_memory_equal(bytes(m) + 6, mac_own, 6);
	return m;
}

static unsigned sent_count(struct world *w)
{
	unsigned count = w->tx.tx.count;

	for (unsigned i = 0; i < count; i++)
		packet_box_free(&w->box, w->tx.tx.queue[i]);
	w->tx.tx.count = 0;
	return count;
}

static void poll(struct world *w, uint64_t from, uint64_t to)
{
	for (uint64_t now = from; now < to; now += MS)
		neighbor_poll(&w->n, &w->tx.tx, now);
}

static const uint8_t group_1[6] = {0x33, 0x33, 0xff, 0, 0, 1};

static void advertises_own_addresses(void **state)
{
	static const char *const own[] = {"2001:db8::1", "2001:db8:1::", "2001:db8:1::ffff:1"};
	struct world *w = *state;

	for (unsigned i = 0; i < 3; i++) {
		struct icmp s =
			discovery(135, "2001:db8::9", "ff02::1:ff00:1", own[i], 0, 1, mac_far);
		struct rte_mbuf *m;

		s.to = group_1;
		assert_int_equal(give(w, &s, 0), DROP_NONE);
		m = sent(w);
		assert_memory_equal(bytes(m), mac_far, 6);
		assert_int_equal(bytes(m)[21], 255);
		assert_ip(bytes(m) + 22, own[i]);
		assert_ip(bytes(m) + 38, "2001:db8::9");
		assert_int_equal(bytes(m)[54], 136);
		assert_int_equal(bytes(m)[58], 0x60); /* solicited, override */
		assert_ip(bytes(m) + 62, own[i]);
		assert_memory_equal(bytes(m) + 78, "\x02\x01\x02\0\0\0\0\x01", 8);
		packet_box_free(&w->box, m);
	}
	assert_int_equal(w->counters.value[COUNTER_ICMP_TX], 3);
}

static void defends_an_address(void **state)
{
	struct icmp probe = discovery(135, "::", "ff02::1:ff00:1", "2001:db8::1", 0, 0, NULL);
	struct world *w = *state;
	struct rte_mbuf *m;

	probe.to = group_1;
	assert_int_equal(give(w, &probe, 0), DROP_NONE);
	m = sent(w);
	assert_memory_equal(bytes(m), "\x33\x33\0\0\0\x01", 6);
	assert_ip(bytes(m) + 38, "ff02::1");
	assert_int_equal(bytes(m)[58], 0x20); /* nobody solicited it */
	packet_box_free(&w->box, m);
}

static void ignores_what_is_not_meant(void **state)
{
	struct icmp other =
		discovery(135, "2001:db8::9", "ff02::1:ff00:1", "2001:db8:2::1", 0, 1, mac_far);
	struct icmp forwarded =
		discovery(135, "2001:db8::9", "2001:db8::1", "2001:db8::1", 0, 1, mac_far);
	struct icmp coded = forwarded, cut = forwarded;
	struct world *w = *state;

	assert_int_equal(give(w, &other, 0), DROP_ICMP_NOT_MINE);
	forwarded.hops = 254;
	assert_int_equal(give(w, &forwarded, 0), DROP_ICMP_BAD);
	coded.code = 1;
	assert_int_equal(give(w, &coded, 0), DROP_ICMP_BAD);
	cut.length = 16;
	assert_int_equal(give(w, &cut, 0), DROP_ICMP_BAD);
	assert_int_equal(w->tx.tx.count, 0);
}

static void asks_for_the_gateway_until_it_answers(void **state)
{
	struct icmp answer =
		discovery(136, "2001:db8::fe", "2001:db8::1", "2001:db8::fe", 0xe0, 2, mac_far);
	struct world *w = *state;
	struct rte_mbuf *m;

	w->n.gateway6 = ip("2001:db8::fe");
	assert_int_equal(neighbor_add(&w->n, w->n.gateway6, 0), 0);
	neighbor_poll(&w->n, &w->tx.tx, 0);
	m = sent(w);
	assert_memory_equal(bytes(m), "\x33\x33\xff\0\0\xfe", 6);
	assert_ip(bytes(m) + 22, "2001:db8::1");
	assert_ip(bytes(m) + 38, "ff02::1:ff00:fe");
	assert_int_equal(bytes(m)[54], 135);
	assert_ip(bytes(m) + 62, "2001:db8::fe");
	assert_memory_equal(bytes(m) + 78, "\x01\x01\x02\0\0\0\0\x01", 8);
	packet_box_free(&w->box, m);
	poll(w, MS, 1000 * MS);
	assert_int_equal(sent_count(w), 9);
	assert_int_equal(w->n.pending, 1);
	assert_int_equal(give(w, &answer, S), DROP_NONE);
	assert_int_equal(w->n.pending, 0);
	assert_true(w->hop.has_gateway6 && !w->hop.has_gateway);
	assert_memory_equal(w->hop.gateway6, mac_far, 6);
}

static void follows_advertisements(void **state)
{
	struct icmp moved =
		discovery(136, "2001:db8::fe", "ff02::1", "2001:db8::fe", 0x20, 2, mac_new);
	struct icmp stranger =
		discovery(136, "2001:db8::77", "2001:db8::1", "2001:db8::77", 0x60, 2, mac_new);
	struct icmp odd = moved;
	struct world *w = *state;

	w->n.gateway6 = ip("2001:db8::fe");
	neighbor_add(&w->n, w->n.gateway6, 0);
	assert_int_equal(give(w, &moved, 0), DROP_NONE);
	assert_memory_equal(w->hop.gateway6, mac_new, 6);
	/* who was never asked for is not put into the table */
	assert_int_equal(give(w, &stranger, 0), DROP_ICMP_IGNORED);
	assert_int_equal(w->hop.used, 1);
	/* solicited, and yet to all (section 7.1.2); an option of no length */
	memcpy(odd.body + 22, mac_far, 6);
	odd.body[0] = 0x60;
	assert_int_equal(give(w, &odd, 0), DROP_ICMP_IGNORED);
	odd.body[0] = 0x20;
	odd.body[21] = 0;
	assert_int_equal(give(w, &odd, 0), DROP_ICMP_IGNORED);
	assert_memory_equal(w->hop.gateway6, mac_new, 6);
}

static void announces_its_addresses(void **state)
{
	struct world *w = *state;
	struct rte_mbuf *m;

	w->address[0] = w->address[1];
	w->n.addresses = 1;
	w->n.announce = true;
	poll(w, 0, 10 * MS);
	m = sent(w);
	assert_memory_equal(bytes(m), "\x33\x33\0\0\0\x01", 6);
	assert_ip(bytes(m) + 22, "2001:db8::1");
	assert_ip(bytes(m) + 38, "ff02::1");
	assert_int_equal(bytes(m)[54], 136);
	assert_int_equal(bytes(m)[58], 0x20);
	assert_ip(bytes(m) + 62, "2001:db8::1");
	assert_memory_equal(bytes(m) + 78, "\x02\x01\x02\0\0\0\0\x01", 8);
	packet_box_free(&w->box, m);
}

static struct icmp advertisement(const char *router, uint16_t lifetime, const uint8_t *mac)
{
	struct icmp icmp = {
		.src = router, .dst = "ff02::1", .hops = 255, .type = 134, .length = 12};

	icmp.to = (const uint8_t *)"\x33\x33\0\0\0\x01";
	icmp.body[2] = (uint8_t)(lifetime >> 8);
	icmp.body[3] = (uint8_t)lifetime;
	if (mac) {
		icmp.body[12] = icmp.body[13] = 1;
		memcpy(icmp.body + 14, mac, 6);
		icmp.length += 8;
	}
	return icmp;
}

static void finds_a_router(void **state)
{
	struct icmp none = advertisement("fe80::1", 0, mac_new);
	struct icmp global = advertisement("2001:db8::fe", 1800, mac_new);
	struct icmp far = advertisement("fe80::1", 1800, mac_new);
	struct icmp good = advertisement("fe80::1", 1800, mac_new);
	struct icmp other = advertisement("fe80::2", 1800, mac_far);
	struct icmp bare = advertisement("fe80::2", 1800, NULL);
	struct world *w = *state;
	struct rte_mbuf *m;

	neighbor_solicit(&w->n, 0);
	assert_int_equal(w->n.pending, 1);
	neighbor_poll(&w->n, &w->tx.tx, 0);
	m = sent(w);
	assert_memory_equal(bytes(m), "\x33\x33\0\0\0\x02", 6);
	assert_ip(bytes(m) + 22, "2001:db8::1");
	assert_ip(bytes(m) + 38, "ff02::2");
	assert_int_equal(bytes(m)[54], 133);
	assert_memory_equal(bytes(m) + 62, "\x01\x01\x02\0\0\0\0\x01", 8);
	packet_box_free(&w->box, m);
	poll(w, MS, 3500 * MS);
	assert_int_equal(sent_count(w), 3); /* every second */
	far.hops = 64;
	give(w, &none, 4 * S);
	give(w, &global, 4 * S);
	give(w, &far, 4 * S);
	assert_int_equal(w->n.pending, 1);
	assert_false(w->hop.has_gateway6);
	assert_int_equal(give(w, &good, 4 * S), DROP_NONE);
	assert_int_equal(w->n.pending, 0);
	assert_true(w->hop.has_gateway6);
	assert_memory_equal(w->hop.gateway6, mac_new, 6);
	/* another one is left alone until the first resigns */
	assert_int_equal(give(w, &other, 5 * S), DROP_ICMP_IGNORED);
	assert_memory_equal(w->hop.gateway6, mac_new, 6);
	poll(w, 5 * S, 10 * S);
	assert_int_equal(sent_count(w), 0);
	give(w, &none, 10 * S);
	assert_false(w->hop.has_gateway6);
	give(w, &bare, 11 * S); /* its frame's address */
	assert_memory_equal(w->hop.gateway6, mac_far, 6);
	assert_int_equal(w->n.pending, 0);
}

static void answers_echo(void **state)
{
	static const unsigned lengths[] = {4, 5, 60, 100};
	struct world *w = *state;

	for (unsigned i = 0; i < 8; i++) {
		struct icmp echo = {.src = "2001:db8::9",
				    .dst = "2001:db8:1::7",
				    .hops = 1,
				    .type = 128,
				    .extension = i & 1 ? 16 : 0};
		struct rte_mbuf *m;

		echo.length = lengths[i / 2];
		for (unsigned b = 0; b < echo.length; b++)
			echo.body[b] = (uint8_t)(b * 7 + i);
		assert_int_equal(give(w, &echo, 0), DROP_NONE);
		m = sent(w);
		assert_memory_equal(bytes(m), mac_far, 6);
		assert_int_equal(bytes(m)[20], 58);
		assert_int_equal(bytes(m)[21], 64);
		assert_ip(bytes(m) + 22, "2001:db8:1::7");
		assert_ip(bytes(m) + 38, "2001:db8::9");
		assert_int_equal(bytes(m)[54], 129);
		assert_memory_equal(bytes(m) + 58, echo.body, echo.length);
		packet_box_free(&w->box, m);
	}
}

static void echo_to_others(void **state)
{
	struct icmp echo = {
		.src = "2001:db8::9", .dst = "2001:db8:2::7", .hops = 64, .type = 128, .length = 4};
	struct icmp other = echo;
	struct world *w = *state;

	assert_int_equal(give(w, &echo, 0), DROP_IP_NOT_MINE);
	other.type = 1;
	other.dst = "2001:db8::1";
	assert_int_equal(give(w, &other, 0), DROP_ICMP_IGNORED);
	assert_int_equal(w->tx.tx.count, 0);
}

static void news_of_both_families(void **state)
{
	struct icmp answer =
		discovery(136, "2001:db8::5", "2001:db8::1", "2001:db8::5", 0x60, 2, mac_far);
	struct icmp echo = {
		.src = "2001:db8::9", .dst = "2001:db8::1", .hops = 64, .type = 128, .length = 4};
	struct world *w = *state;
	struct rte_mbuf *m = make(w, &answer), *ping = make(w, &echo);
	struct view view;

	neighbor_add(&w->n, ip("2001:db8::5"), 0);
	assert_int_equal(view_parse(m, &w->rule, &view), DROP_NONE);
	assert_true(neighbor_is_news(m, &view));
	assert_true(neighbor_learn(&w->n, m, &view, 0));
	assert_memory_equal(nexthop_mac6(&w->hop, ip("2001:db8::5")), mac_far, 6);
	assert_int_equal(view_parse(ping, &w->rule, &view), DROP_NONE);
	assert_false(neighbor_is_news(ping, &view));
	packet_box_free(&w->box, m);
	packet_box_free(&w->box, ping);
}

/* IPv4 with a gateway, IPv6 without: what an engine wants of one is asked for, not of the other. */
static void families_are_apart(void **state)
{
	struct world *w = *state;
	struct rte_mbuf *m;

	w->hop.has_gateway = true;
	memcpy(w->hop.gateway, mac_far, 6);
	w->n.gateway = ip("::ffff:10.0.0.254");
	assert_memory_equal(nexthop_mac(&w->hop, htonl(0x0a000009)), mac_far, 6);
	assert_null(nexthop_mac6(&w->hop, ip("2001:db8::9")));
	neighbor_poll(&w->n, &w->tx.tx, 0);
	m = sent(w);
	assert_ip(bytes(m) + 62, "2001:db8::9");
	packet_box_free(&w->box, m);
	nexthop_learn6(&w->hop, ip("2001:db8::9"), mac_new);
	assert_memory_equal(nexthop_mac6(&w->hop, ip("2001:db8::9")), mac_new, 6);
	/* 10.0.0.9 is no IPv6 address that ends alike */
	assert_null(nexthop_mac6(&w->hop, ip("2001:db8::a00:9")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(advertises_own_addresses),
		TEST(defends_an_address),
		TEST(ignores_what_is_not_meant),
		TEST(asks_for_the_gateway_until_it_answers),
		TEST(follows_advertisements),
		TEST(announces_its_addresses),
		TEST(finds_a_router),
		TEST(answers_echo),
		TEST(echo_to_others),
		TEST(news_of_both_families),
		TEST(families_are_apart),
	};

	return cmocka_run_group_tests_name("neighbor6", tests, NULL, NULL);
}
