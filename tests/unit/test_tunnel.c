/* Tunnels: what is sealed is opened as it was, for each kind, over both families, with and without
 * tags; each refusal; and which end and number a packet gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../common/base/packet_box.h"
#include "../../common/base/tunnel.h"
#include "frame.h"

#define LOCAL  0x0a000001u /* 10.0.0.1 */
#define REMOTE 0x0a000002u
#define LOCAL6 ((u128)0xfd00 << 112 | 1)
#define HOPS   64

/* One end of a tunnel, in plain memory. */
struct end {
	struct tunnel tunnel;
	struct tunnel_rule rule;
	struct ip_range local, remote, client;
	struct number_range number, own, stack;
	struct ip_pool clients;
	const struct ip_pool *pool[1];
	struct nexthop hop;
	struct nexthop_entry entry[HOPS];
	struct packet_tx tx;
	struct arena arena;
	void *taken[8];
	unsigned takes;
};

static struct packet_box box = {.room = 2000};

static void *take(struct arena *arena, size_t size)
{
	struct end *e = (struct end *)((char *)arena - offsetof(struct end, arena));

	assert_true(e->takes < 8);
	return e->taken[e->takes++] = calloc(1, size ? size : 1);
}

static void pool_set(struct ip_pool *four, struct ip_range *range, uint8_t family, u128 first,
		     u128 count)
{
	*range = (struct ip_range){first, count};
	four[family == 6] = (struct ip_pool){range, 1, family, count};
}

static void number_set(struct number_pool *pool, struct number_range *range, uint32_t first,
		       uint32_t last)
{
	*range = (struct number_range){first, last};
	*pool = (struct number_pool){range, 1};
}

/* The client's end has the clients as its own, the server's expects them. */
static void end_open(struct end *e, const struct view_rule *outside, bool client)
{
	struct view_rule inside = plain;
	struct tunnel_setup setup = {.rule = &e->rule,
				     .inside = &inside,
				     .vlans = outside->vlans,
				     .hop = &e->hop,
				     .client = e->pool,
				     .clients = 1,
				     .own_clients = client,
				     .serves = !client};

	inside.ip6 = true;
	e->pool[0] = &e->clients;
	memcpy(setup.mac, plain.mac, 6);
	memcpy(setup.vlan, outside->vlan_id, sizeof setup.vlan);
	e->rule.ttl = 64;
	e->hop.mask = HOPS - 1;
	e->hop.table = e->entry;
	e->hop.has_gateway = e->hop.has_gateway6 = true;
	memcpy(e->hop.gateway, plain.mac, 6); /* both ends have one address: it comes back */
	memcpy(e->hop.gateway6, plain.mac, 6);
	e->arena.take = take;
	assert_int_equal(packet_tx_open(&e->tx, &box, 16), 0);
	assert_int_equal(tunnel_init(&e->tunnel, &setup, &e->arena), 0);
}

static void end_close(struct end *e)
{
	packet_tx_close(&e->tx);
	for (unsigned i = 0; i < e->takes; i++)
		free(e->taken[i]);
	assert_int_equal(box.out, 0);
	memset(e, 0, sizeof *e);
}

static struct rte_mbuf *packet_of(const struct frame *f)
{
	struct rte_mbuf *m = packet_box_new(&box);

	memcpy((uint8_t *)m->buf_addr + m->data_off, f->byte, f->length);
	m->data_len = f->length;
	m->pkt_len = f->length;
	return m;
}

static uint8_t *bytes_of(const struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + m->data_off;
}

/* An inner frame of either family. */
static void inner_make(struct frame *f, uint8_t family)
{
	tcp(f, &plain, 0, 100);
	if (family == 4)
		return;
	f->length = 14 + 40 + 20;
	put16(f->byte + 12, 0x86dd);
	memset(f->byte + 14, 0, 60);
	f->byte[14] = 0x60;
	put16(f->byte + 18, 20);
	f->byte[20] = 6;
	f->byte[21] = 64;
	f->byte[22] = f->byte[38] = 0xfd;
	f->byte[37] = 1;
	f->byte[53] = 2;
	f->byte[66] = 0x50;
	put_sum(f->byte + 70,
		checksum_pseudo6(f->byte + 22, 6, 20) + checksum_sum(f->byte + 54, 20));
}

static void tunnel_rule_make(struct end *e, enum tunnel_kind kind, uint8_t family)
{
	u128 from = family == 6 ? LOCAL6 : LOCAL;

	memset(e, 0, sizeof *e);
	e->rule.kind = kind;
	pool_set(&e->rule.local, &e->local, family, from, 1);
	pool_set(&e->rule.remote, &e->remote, family, from, 1); /* back to ourselves */
	if (kind != TUNNEL_IPIP)
		number_set(&e->rule.number, &e->number, 100, 100);
	pool_set(&e->clients, &e->client, 4, 0x0a000001, 200);
}

static struct rte_mbuf *sealed(struct end *e, const struct frame *f)
{
	struct rte_mbuf *m = packet_of(f);

	assert_int_equal(tunnel_seal(&e->tunnel, &e->tx.tx, &m, 1), 1);
	return m;
}

static int opened(struct end *e, struct rte_mbuf *m)
{
	struct view view;

	return tunnel_open(&e->tunnel, m, &view);
}

/* Sealed and opened, a frame is as it was, but for its Ethernet header where that is not carried.
 */
static void assert_through(struct end *e, uint8_t inner)
{
	struct frame f;
	struct rte_mbuf *m;
	struct view view;
	unsigned skip = tunnel_has_frames(e->rule.kind) ? 0 : 14;
	struct view_rule inside = plain;

	inside.ip6 = true;
	inner_make(&f, inner);
	m = sealed(e, &f);
	assert_int_equal(m->pkt_len, f.length - skip + e->tunnel.l3 + tunnel_headers(&e->rule));
	assert_int_equal(opened(e, m), DROP_NONE);
	assert_int_equal(m->pkt_len, f.length);
	assert_memory_equal(bytes_of(m) + skip, f.byte + skip, f.length - skip);
	assert_int_equal(view_parse(m, &inside, &view), DROP_NONE);
	assert_int_equal(view.kind, VIEW_TCP);
	packet_box_free(&box, m);
}

/* Each outer header is right, by the code that all received packets go through. */
static void assert_outside(struct end *e, const struct view_rule *outside)
{
	struct view_rule rule = *outside;
	struct frame f;
	struct view view;
	struct rte_mbuf *m;

	if (e->rule.kind == TUNNEL_MPLS)
		return;
	rule.ip6 = true;
	rule.is_tunnel = true;
	memcpy(rule.carries, e->tunnel.outside.carries, 2);
	inner_make(&f, 4);
	m = sealed(e, &f);
	assert_int_equal(view_parse(m, &rule, &view), DROP_NONE);
	assert_int_equal(view.kind, tunnel_is_udp(e->rule.kind) ? VIEW_UDP : VIEW_CARRIED);
	if (view.kind == VIEW_UDP)
		assert_int_equal(bytes_of(m)[view.l4] >= 0xc0, true);
	packet_box_free(&box, m);
}

static void test_every_kind_comes_through(void **state)
{
	struct end e;

	(void)state;
	for (enum tunnel_kind kind = TUNNEL_NONE + 1; kind < TUNNEL_KINDS; kind++) {
		for (unsigned variant = 0; variant < 24; variant++) {
			const struct view_rule *outside = rules[variant / 8];

			tunnel_rule_make(&e, kind, variant & 1 ? 6 : 4);
			e.rule.udp_checksum = variant & 2;
			e.rule.has_qfi = kind == TUNNEL_GTPU && variant & 4;
			if (kind == TUNNEL_MPLS && variant & 4)
				number_set(&e.rule.stack, &e.stack, 16, 18);
			if ((kind == TUNNEL_GRE || kind == TUNNEL_GRETAP) && variant & 4)
				e.rule.number.ranges = 0;
			end_open(&e, outside, true);
			assert_through(&e, 4);
			assert_through(&e, 6);
			assert_outside(&e, outside);
			end_close(&e);
		}
	}
}

/* Cut anywhere, a packet is refused and nothing behind it is read. */
static void test_cut(void **state)
{
	struct end e;
	struct frame f;

	(void)state;
	for (enum tunnel_kind kind = TUNNEL_NONE + 1; kind < TUNNEL_KINDS; kind++) {
		for (unsigned family = 4; family <= 6; family += 2) {
			struct rte_mbuf *m, cut = {.nb_segs = 1};

			tunnel_rule_make(&e, kind, (uint8_t)family);
			e.rule.has_qfi = true;
			end_open(&e, &plain, true);
			inner_make(&f, 4);
			m = sealed(&e, &f);
			for (uint16_t n = 0; n < e.tunnel.l3 + e.tunnel.headers; n++) {
				cut.buf_addr = memcpy(guard.end - n, bytes_of(m), n);
				cut.data_off = 0;
				cut.data_len = n;
				cut.pkt_len = n;
				assert_true(opened(&e, &cut) > 0);
			}
			packet_box_free(&box, m);
			end_close(&e);
		}
	}
}

/* Change bytes of a sealed packet behind its outer IPv4 and UDP headers, and see why it is refused.
 * Returns the offset of the tunnel's own header. */
static void assert_refused(struct end *e, unsigned at, unsigned byte, enum drop reason)
{
	unsigned begin = e->tunnel.l3 + (e->rule.kind == TUNNEL_MPLS ? 0 : 20) +
			 (tunnel_is_udp(e->rule.kind) ? 8 : 0);
	struct frame f;
	struct rte_mbuf *m;

	inner_make(&f, 4);
	m = sealed(e, &f);
	bytes_of(m)[begin + at] = (uint8_t)byte;
	assert_int_equal(opened(e, m), reason);
	packet_box_free(&box, m);
}

static void test_wrong_headers(void **state)
{
	struct end e;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_VXLAN, 4);
	end_open(&e, &plain, true);
	assert_refused(&e, 0, 0, DROP_TUNNEL_BAD);
	assert_refused(&e, 6, 101, DROP_TUNNEL_NUMBER);
	assert_refused(&e, -5u, 1, DROP_TUNNEL_NONE); /* another UDP port */
	end_close(&e);

	tunnel_rule_make(&e, TUNNEL_GTPU, 4);
	e.rule.has_qfi = true;
	end_open(&e, &plain, true);
	assert_refused(&e, 0, 0x54, DROP_TUNNEL_BAD);   /* version 2 */
	assert_refused(&e, 1, 26, DROP_TUNNEL_TYPE);    /* error indication */
	assert_refused(&e, 7, 101, DROP_TUNNEL_NUMBER); /* TEID */
	assert_refused(&e, 12, 0, DROP_TUNNEL_BAD);     /* extension header without length */
	assert_refused(&e, 12, 255, DROP_TUNNEL_SHORT); /* one that leaves the packet */
	assert_refused(&e, 2, 255, DROP_TUNNEL_SHORT);  /* message longer than its datagram */
	assert_refused(&e, 16, 0x55, DROP_TUNNEL_TYPE); /* no IP inside */
	end_close(&e);

	tunnel_rule_make(&e, TUNNEL_GRE, 4);
	end_open(&e, &plain, true);
	assert_refused(&e, 0, 0x60, DROP_TUNNEL_BAD);   /* source routing */
	assert_refused(&e, 1, 1, DROP_TUNNEL_BAD);      /* version 1 */
	assert_refused(&e, 0, 0, DROP_TUNNEL_NUMBER);   /* no key */
	assert_refused(&e, 7, 101, DROP_TUNNEL_NUMBER); /* another key */
	assert_refused(&e, 2, 0x65, DROP_TUNNEL_TYPE);  /* no IP inside */
	assert_refused(&e, 0, 0xa0, DROP_TUNNEL_CSUM);  /* a checksum that is none */
	end_close(&e);

	tunnel_rule_make(&e, TUNNEL_MPLS, 4);
	end_open(&e, &plain, true);
	assert_refused(&e, 1, 7, DROP_TUNNEL_NUMBER);
	assert_refused(&e, 4, 0x05, DROP_TUNNEL_TYPE);
	end_close(&e);
}

/* GTP-U asks whether an end is there: a datagram, answered with its sequence number. */
static void assert_echoed(uint8_t family)
{
	static const uint8_t request[] = {0x32, 1, 0, 4, 0, 0, 0, 0, 0x12, 0x34, 0, 0};
	static const uint8_t response[] = {0x32, 2, 0, 6, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 14, 0};
	struct view_rule rule = plain;
	struct view view;
	struct rte_mbuf *m;
	struct frame f;
	struct end e;
	uint8_t *at;

	tunnel_rule_make(&e, TUNNEL_GTPU, family);
	e.rule.udp_checksum = true;
	end_open(&e, &plain, true);
	inner_make(&f, 4);
	m = sealed(&e, &f); /* its outside serves */
	at = bytes_of(m) + 14 + (family == 6 ? 40 : 20);
	put16(at, 50000);
	put16(at + 4, 8 + sizeof request);
	put16(at + 6, 0);
	memcpy(at + 8, request, sizeof request);
	if (family == 6)
		put16(bytes_of(m) + 18, 8 + sizeof request);
	assert_int_equal(opened(&e, m), DROP_TUNNEL_TYPE);
	assert_true(tunnel_echo(&e.tunnel, m));
	rule.ip6 = true;
	assert_int_equal(view_parse(m, &rule, &view), DROP_NONE); /* sums and lengths are right */
	assert_int_equal(view.payload_len, sizeof response);
	assert_memory_equal(bytes_of(m) + view.payload, response, sizeof response);
	assert_memory_equal(bytes_of(m) + view.l4, "\x08\x68\xc3\x50", 4); /* 2152 to 50000 */
	assert_false(tunnel_echo(&e.tunnel, m));
	packet_box_free(&box, m);
	end_close(&e);
}

static void test_gtpu_echo(void **state)
{
	(void)state;
	assert_echoed(4);
	assert_echoed(6);
}

/* GRE with everything that may be in its header. */
static void test_gre_options(void **state)
{
	struct end e;
	struct frame f;
	struct rte_mbuf *m;
	uint8_t *gre;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_GRE, 4);
	end_open(&e, &plain, true);
	inner_make(&f, 4);
	m = sealed(&e, &f);
	/* Eight bytes more: a checksum in front of the key, a sequence number behind it. */
	m->data_off = (uint16_t)(m->data_off - 8);
	m->data_len = (uint16_t)(m->data_len + 8);
	m->pkt_len += 8;
	memmove(bytes_of(m), bytes_of(m) + 8, 14 + 20 + 4);
	put16(bytes_of(m) + 16, m->pkt_len - 14);
	put16(bytes_of(m) + 24, 0);
	put_sum(bytes_of(m) + 24, checksum_sum(bytes_of(m) + 14, 20));
	gre = bytes_of(m) + 34;
	memset(gre + 4, 0, 4);
	gre[0] = 0xb0;
	memcpy(gre + 8, "\0\0\0\x64\0\0\0\x09", 8);
	put_sum(gre + 4, checksum_sum(gre, m->pkt_len - 34));
	assert_int_equal(opened(&e, m), DROP_NONE);
	assert_memory_equal(bytes_of(m) + 14, f.byte + 14, f.length - 14u);
	packet_box_free(&box, m);
	end_close(&e);
}

/* Wrong sums and fragments outside bear the names they have without a tunnel. */
static void test_wrong_outside(void **state)
{
	struct end e;
	struct frame f;
	struct rte_mbuf *m;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_VXLAN, 4);
	e.rule.udp_checksum = true;
	end_open(&e, &plain, true);
	inner_make(&f, 4);
	m = sealed(&e, &f);
	bytes_of(m)[14 + 10] ^= 1;
	assert_int_equal(opened(&e, m), DROP_IP_CSUM);
	packet_box_free(&box, m);
	m = sealed(&e, &f);
	bytes_of(m)[100] ^= 1;
	assert_int_equal(opened(&e, m), DROP_UDP_CSUM);
	packet_box_free(&box, m);
	m = sealed(&e, &f);
	bytes_of(m)[0] ^= 2;
	assert_int_equal(opened(&e, m), DROP_ETH_NOT_MINE);
	packet_box_free(&box, m);
	e.local.first++; /* to another's address */
	e.tunnel.one.local++;
	m = sealed(&e, &f);
	assert_int_equal(opened(&e, m), DROP_TUNNEL_NONE);
	packet_box_free(&box, m);
	end_close(&e);
}

static void test_underlay_is_outside(void **state)
{
	struct end e;
	struct frame f;
	struct rte_mbuf *m;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_VXLAN, 4);
	end_open(&e, &plain, true);
	arp(&f, &plain);
	m = packet_of(&f);
	assert_int_equal(opened(&e, m), TUNNEL_OUTSIDE);
	packet_box_free(&box, m);
	end_close(&e);
}

/* Without Ethernet only IP can be carried; without a next hop nothing. */
static void test_not_sealed(void **state)
{
	struct end e;
	struct frame f;
	struct rte_mbuf *m;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_GRE, 4);
	end_open(&e, &plain, true);
	arp(&f, &plain);
	m = packet_of(&f);
	assert_int_equal(tunnel_seal(&e.tunnel, &e.tx.tx, &m, 1), 0);
	inner_make(&f, 4);
	e.hop.has_gateway = false;
	m = packet_of(&f);
	assert_int_equal(tunnel_seal(&e.tunnel, &e.tx.tx, &m, 1), 0);
	assert_true(e.hop.wanted); /* asked for now */
	end_close(&e);
}

/* A payload by reference has no room in front of it. */
static void test_no_room_in_front(void **state)
{
	struct end e;
	struct frame f;
	struct rte_mbuf *m;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_VXLAN, 6);
	e.rule.udp_checksum = true;
	end_open(&e, &plain, true);
	inner_make(&f, 4);
	m = packet_of(&f);
	memmove(m->buf_addr, bytes_of(m), f.length);
	m->data_off = 0;
	assert_int_equal(tunnel_seal(&e.tunnel, &e.tx.tx, &m, 1), 1);
	assert_int_equal(m->nb_segs, 2);
	assert_int_equal(m->pkt_len, f.length + 14u + 56);
	packet_box_free(&box, m);
	end_close(&e);
}

/* The numbers that a client's packets bear: of the n-th client the n-th of each. */
static void client_path(struct end *e, unsigned client, uint32_t *number, uint32_t *from,
			uint32_t *to)
{
	struct frame f;
	struct rte_mbuf *m;
	uint8_t *at;

	inner_make(&f, 4);
	f.byte[29] = (uint8_t)(1 + client); /* 10.0.0.1 is client 0 */
	seal(&f);
	m = sealed(e, &f);
	at = bytes_of(m) + 14;
	*from = at[15];
	*to = at[19];
	*number = (uint32_t)at[20 + 8 + 4] << 24 | (uint32_t)at[20 + 8 + 5] << 16 |
		  (uint32_t)at[20 + 8 + 6] << 8 | at[20 + 8 + 7];
	packet_box_free(&box, m);
}

static void test_client_n_uses_the_nth(void **state)
{
	uint32_t number, from, to;
	struct end e;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_GTPU, 4);
	number_set(&e.rule.number, &e.number, 1000, 1006);
	pool_set(&e.rule.local, &e.local, 4, LOCAL, 3);
	pool_set(&e.rule.remote, &e.remote, 4, 0x0a000064, 2);
	end_open(&e, &plain, true);
	for (unsigned n = 0; n < 20; n++) {
		client_path(&e, n, &number, &from, &to);
		assert_int_equal(number, 1000 + n % 7);
		assert_int_equal(from, 1 + n % 3);
		assert_int_equal(to, 100 + n % 2);
	}
	end_close(&e);
}

/* Turn an opened packet round as an engine does. */
static void turn(struct rte_mbuf *m)
{
	uint8_t *ip = bytes_of(m) + 14, address[4];

	memcpy(address, ip + 12, 4);
	memcpy(ip + 12, ip + 16, 4);
	memcpy(ip + 16, address, 4);
}

/* A server answers to the end that a client used, with the number that belongs to the one received.
 */
static void test_answer_goes_back(void **state)
{
	struct rx_burst rx = {.count = 1};
	struct end client, server;
	struct frame f;
	struct rte_mbuf *m;
	uint8_t *at;

	(void)state;
	tunnel_rule_make(&client, TUNNEL_GTPU, 4);
	pool_set(&client.rule.local, &client.local, 4, 0x0a000005, 1);
	pool_set(&client.rule.remote, &client.remote, 4, 0x0a000009, 1);
	number_set(&client.rule.number, &client.number, 5003, 5003);
	end_open(&client, &plain, true);
	tunnel_rule_make(&server, TUNNEL_GTPU, 4);
	server.rule.remote.ranges = 0; /* any */
	server.rule.remote.count = 0;
	pool_set(&server.rule.local, &server.local, 4, 0x0a000008, 2);
	number_set(&server.rule.number, &server.number, 100, 199);
	number_set(&server.rule.own_number, &server.own, 5000, 5099);
	end_open(&server, &plain, false);
	server.hop.has_gateway = false; /* the MAC address is learned, too */
	inner_make(&f, 4);
	m = sealed(&client, &f);
	assert_int_equal(opened(&server, m), DROP_NONE);
	rx.pkt[0] = m;
	assert_int_equal(view_parse(m, &plain, &rx.view[0]), DROP_NONE);
	assert_int_equal(tunnel_learn(&server.tunnel, &rx, false), 0);
	turn(m);
	assert_int_equal(tunnel_seal(&server.tunnel, &server.tx.tx, &m, 1), 1);
	at = bytes_of(m);
	assert_memory_equal(at + 26, "\x0a\0\0\x09\x0a\0\0\x05", 8);
	assert_memory_equal(at + 46, "\0\0\0\x67", 4); /* 103 */
	packet_box_free(&box, m);
	/* Who was not heard, and has no place among known clients, cannot be answered. */
	f.byte[33] = 77;
	seal(&f);
	m = packet_of(&f);
	assert_int_equal(tunnel_seal(&server.tunnel, &server.tx.tx, &m, 1), 0);
	packet_tx_close(&server.tx);
	packet_tx_close(&client.tx);
	assert_int_equal(box.out, 0);
	for (unsigned i = 0; i < server.takes; i++)
		free(server.taken[i]);
	for (unsigned i = 0; i < client.takes; i++)
		free(client.taken[i]);
}

/* More clients than are remembered are refused, those that were heard before are not. */
static void test_more_clients_than_remembered(void **state)
{
	struct tunnel_mark mark = {.path = {.remote = nexthop_ip4(0x0500000a), .number = 1}};
	struct rx_burst rx = {.count = 1};
	unsigned refused = 0;
	struct end e;
	struct frame f;
	struct rte_mbuf *m;

	(void)state;
	tunnel_rule_make(&e, TUNNEL_VXLAN, 4);
	number_set(&e.rule.number, &e.number, 1, 9);
	end_open(&e, &plain, false);
	tcp(&f, &plain, 0, 0);
	m = packet_of(&f);
	memcpy(bytes_of(m) - sizeof mark, &mark, sizeof mark);
	rx.pkt[0] = m;
	rx.view[0] = (struct view){.l3 = 14, .l4 = 34, .kind = VIEW_TCP, .family = 4};
	for (uint32_t n = 1; n <= 70000; n++) {
		put16(bytes_of(m) + 26, n >> 16);
		put16(bytes_of(m) + 28, n & 0xffff);
		rx.reason[0] = 0;
		refused += tunnel_learn(&e.tunnel, &rx, false);
		assert_int_equal(rx.reason[0], n > 65536 ? DROP_TUNNEL_FULL : 0);
	}
	assert_int_equal(refused, 70000 - 65536);
	packet_box_free(&box, m);
	end_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_comes_through),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_wrong_headers),
		cmocka_unit_test(test_gre_options),
		cmocka_unit_test(test_gtpu_echo),
		cmocka_unit_test(test_wrong_outside),
		cmocka_unit_test(test_underlay_is_outside),
		cmocka_unit_test(test_not_sealed),
		cmocka_unit_test(test_no_room_in_front),
		cmocka_unit_test(test_client_n_uses_the_nth),
		cmocka_unit_test(test_answer_goes_back),
		cmocka_unit_test(test_more_clients_than_remembered),
	};

	return cmocka_run_group_tests(tests, open_memory, close_memory);
}
