/* The ways of a tunnel: its template, and which ends and number a packet gets.
 *
 * The template is right-aligned, so that one copy of a fixed size, which ends where the inner
 * packet begins, lays it before a packet whatever its length. With one local end, one remote end
 * and one number it is complete but for lengths and checksums. Otherwise ends and number follow
 * from the inner client address, by arithmetic where it is one of a configured pool, else from a
 * table of clients that were heard: a server has to answer to whichever end a request came from.
 *
 * Rejected: to turn the outer headers round with the packet (what is repeated, or sent later, has
 * no packet to turn round), and a table for clients, too (they are counted in millions, and
 * arithmetic needs none). */
#include "tunnel.h"

#include <string.h>

#include "checksum.h"
#include "view_packet.h"

#define HEARD_MIN  (1u << 17) /* where nothing is known of how many there will be */
#define HEARD_MAX  (1u << 21)
#define PORT_VXLAN 4789
#define PORT_GTPU  2152

static const uint8_t protocols[TUNNEL_KINDS][2] = {
	[TUNNEL_GRE] = {47, 47}, [TUNNEL_GRETAP] = {47, 47}, [TUNNEL_IPIP] = {4, 41}};

uint32_t number_pool_at(const struct number_pool *pool, uint64_t n)
{
	uint64_t count = number_pool_count(pool);
	const struct number_range *range = pool->range;

	if (count < 2)
		return count ? range->first : 0;
	for (n %= count; n > range->last - range->first; range++)
		n -= (uint64_t)range->last - range->first + 1;
	return range->first + (uint32_t)n;
}

static u128 pool_at(const struct ip_pool *pool, uint64_t n)
{
	uint64_t count = pool->count < UINT64_MAX ? (uint64_t)pool->count : UINT64_MAX;
	u128 address;

	if (!count)
		return 0;
	n = count == 1 ? 0 : n % count;
	address = pool->ranges == 1 ? pool->range[0].first + n : ip_pool_at(pool, n);
	return pool->family == 4 ? (u128)0xffff << 32 | address : address;
}

static const struct ip_pool *local_of(const struct tunnel *t)
{
	return t->family == 6 ? &t->rule->local6 : &t->rule->local;
}

static const struct ip_pool *remote_of(const struct tunnel *t)
{
	return t->family == 6 ? &t->rule->remote6 : &t->rule->remote;
}

static struct tunnel_path path_at(const struct tunnel *t, uint64_t n)
{
	return (struct tunnel_path){.local = pool_at(local_of(t), n),
				    .remote = pool_at(remote_of(t), n),
				    .number = number_pool_at(&t->rule->number, n)};
}

/* The place of an inner address among the first `pools` pools of clients. */
static bool client_number(const struct tunnel *t, unsigned from, unsigned to, u128 address,
			  u128 *number)
{
	uint8_t family = nexthop_is_ip4(address) ? 4 : 6;
	u128 value = family == 4 ? (uint32_t)address : address;

	for (unsigned i = from; i < to; i++) {
		const struct ip_pool *pool = t->client[i].pool;
		u128 before = t->client[i].before;

		for (unsigned j = 0; pool->family == family && j < pool->ranges; j++) {
			*number = before + (value - pool->range[j].first);
			if (value - pool->range[j].first < pool->range[j].count)
				return true;
			before += pool->range[j].count;
		}
	}
	return false;
}

static uint32_t heard_slot(const struct tunnel *t, u128 peer)
{
	uint64_t h = ((uint64_t)peer ^ (uint64_t)(peer >> 64) * 0xd6e8feb86659fd93u) *
		     0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 40) & t->mask;
}

/* The entry of a client, or the free one where it would stand. */
static struct tunnel_heard *heard_find(const struct tunnel *t, u128 peer)
{
	uint32_t i = heard_slot(t, peer);

	while (t->heard[i].peer && t->heard[i].peer != peer)
		i = (i + 1) & t->mask;
	return &t->heard[i];
}

struct tunnel_path tunnel_path(const struct tunnel *t, u128 own, u128 peer)
{
	u128 number;

	if (client_number(t, 0, t->own_clients, own, &number))
		return path_at(t, (uint64_t)number);
	if (t->learns) {
		const struct tunnel_heard *heard = heard_find(t, peer);

		if (heard->peer)
			return heard->path;
	}
	if (!client_number(t, t->own_clients, t->clients, peer, &number))
		number = 0;
	return path_at(t, (uint64_t)number);
}

static u128 address_of(const uint8_t *ip, uint8_t family, bool source)
{
	unsigned size = family == 4 ? 4 : 16;
	const uint8_t *at = ip + (family == 4 ? 12 : 8) + (source ? 0 : size);
	u128 address = family == 4 ? 0xffff : 0;

	for (unsigned i = 0; i < size; i++)
		address = address << 8 | at[i];
	return address;
}

/* Returns false when there is no room for one more. */
static bool heard_note(struct tunnel *t, u128 peer, const struct tunnel_mark *mark)
{
	struct tunnel_heard *heard = heard_find(t, peer);

	if (!heard->peer && t->used > t->mask / 2)
		return false;
	if (heard->peer && heard->path.remote == mark->path.remote &&
	    heard->path.number == mark->path.number && heard->path.local == mark->path.local)
		return true;
	t->used += !heard->peer;
	*heard = (struct tunnel_heard){.peer = peer, .path = mark->path};
	if (!(t->family == 6 ? t->hop->has_gateway6 : t->hop->has_gateway))
		nexthop_learn6(t->hop, mark->path.remote, mark->mac);
	return true;
}

unsigned tunnel_learn(struct tunnel *t, struct rx_burst *rx, bool flows)
{
	unsigned refused = 0;

	for (unsigned i = 0; t->learns && i < rx->count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(rx->pkt[i], const uint8_t *);
		struct tunnel_mark mark;
		u128 own, peer, number;

		if (rx->reason[i] ||
		    (flows && rx->view[i].kind != VIEW_TCP && rx->view[i].kind != VIEW_UDP))
			continue;
		memcpy(&mark, frame - sizeof mark, sizeof mark);
		if (rx->view[i].kind == VIEW_ARP) {
			own = (u128)0xffff << 32 |
			      __builtin_bswap32(load32(frame + rx->view[i].l3 + 24));
			peer = (u128)0xffff << 32 |
			       __builtin_bswap32(load32(frame + rx->view[i].l3 + 14));
		} else {
			own = address_of(frame + rx->view[i].l3, rx->view[i].family, false);
			peer = address_of(frame + rx->view[i].l3, rx->view[i].family, true);
		}
		if (!peer || client_number(t, 0, t->own_clients, own, &number) ||
		    heard_note(t, peer, &mark))
			continue;
		rx->reason[i] = DROP_TUNNEL_FULL;
		refused++;
	}
	return refused;
}

/* The headers behind the outer IP header, up to what is carried; lengths and checksums are zero. */
static void inner_headers_make(const struct tunnel *t, uint8_t *at)
{
	const struct tunnel_rule *r = t->rule;
	bool keyed = r->number.ranges;

	if (tunnel_is_udp(r->kind)) {
		store16_be(at + 2, t->udp_port);
		at += UDP_BYTES;
	}
	switch (r->kind) {
	case TUNNEL_VXLAN:
		at[0] = 0x08; /* the VNI is valid */
		store32_be(at + 4, t->one.number << 8);
		break;
	case TUNNEL_GTPU:
		at[0] = r->has_qfi ? 0x34 : 0x30; /* version 1, GTP; extension header */
		at[1] = 255;                      /* G-PDU */
		store32_be(at + 4, t->one.number);
		if (!r->has_qfi)
			break;
		at[11] = 0x85; /* PDU session container: one word of four bytes */
		at[12] = 1;
		at[13] = r->uplink ? 0x10 : 0;
		at[14] = r->qfi;
		break;
	case TUNNEL_GRE:
	case TUNNEL_GRETAP:
		at[0] = keyed ? 0x20 : 0;
		store16_be(at + 2, 0x6558);
		if (keyed)
			store32_be(at + 4, t->one.number);
		break;
	default:
		break;
	}
}

static void labels_make(const struct tunnel *t, uint8_t *at)
{
	const struct tunnel_rule *r = t->rule;
	uint64_t above = number_pool_count(&r->stack);

	for (uint64_t i = 0; i < above; i++, at += 4)
		store32_be(at, number_pool_at(&r->stack, i) << 12 | r->ttl);
	store32_be(at, t->one.number << 12 | 0x100 | r->ttl); /* bottom of stack */
}

static void ip_make(const struct tunnel *t, uint8_t *ip)
{
	const struct tunnel_rule *r = t->rule;
	uint8_t protocol = tunnel_is_udp(r->kind) ? PROTOCOL_UDP : protocols[r->kind][0];

	if (t->family == 6) {
		store32_be(ip, 6u << 28 | (uint32_t)r->tos << 20);
		ip[6] = protocol;
		ip[7] = r->ttl;
		for (unsigned i = 0; i < 16; i++) {
			ip[8 + i] = (uint8_t)(t->one.local >> 8 * (15 - i));
			ip[24 + i] = (uint8_t)(t->one.remote >> 8 * (15 - i));
		}
		return;
	}
	ip[0] = 0x45;
	ip[1] = r->tos;
	ip[6] = 0x40; /* do not fragment */
	ip[8] = r->ttl;
	ip[9] = protocol;
	store32_be(ip + 12, (uint32_t)t->one.local);
	store32_be(ip + 16, (uint32_t)t->one.remote);
}

static void front_make(struct tunnel *t, const struct tunnel_setup *setup)
{
	uint8_t *at = t->front + TUNNEL_FRONT_MAX - t->l3 - t->headers + 6;

	memcpy(at, setup->mac, 6);
	at += 6;
	for (unsigned i = 0; i < setup->vlans; i++, at += TAG_BYTES) {
		store16_be(at, i + 1 < setup->vlans ? ETHER_QINQ : ETHER_VLAN);
		store16_be(at + 2, setup->vlan[i]);
	}
	store16_be(at, t->rule->kind == TUNNEL_MPLS ? 0x8847
		       : t->family == 6             ? ETHER_IP6
						    : ETHER_IP4);
	at += 2;
	if (t->rule->kind == TUNNEL_MPLS) {
		labels_make(t, at);
		return;
	}
	ip_make(t, at);
	inner_headers_make(t, at + (t->family == 6 ? IP6_BYTES : IP_BYTES));
}

static void shape_set(struct view_shape *shape, unsigned at, unsigned want, unsigned mask)
{
	shape->want[at] = (uint8_t)want;
	shape->mask[at] = (uint8_t)mask;
}

/* Up to the first bytes of the IP header: as view_burst.c has it, with the tags of this port. */
static void shape_begin(struct tunnel *t, struct view_shape *shape)
{
	const uint8_t *front = t->front + TUNNEL_FRONT_MAX - t->headers - ETH_BYTES;
	unsigned tags = t->outside.vlans * TAG_BYTES;

	for (unsigned i = 0; i < 6 && !tags; i++)
		shape_set(shape, i, t->outside.mac[i], 0xff);
	for (unsigned i = tags < 12 ? 12 - tags : 0; i < ETH_BYTES; i++)
		shape_set(shape, i, front[i], 0xff);
	for (unsigned i = 0; i < t->outside.vlans; i++) { /* priority bits are free */
		shape_set(shape, 10 - TAG_BYTES * i, front[10 - TAG_BYTES * i], 0x0f);
	}
	shape_set(shape, ETH_BYTES, 0x45, 0xff);
	shape_set(shape, ETH_BYTES + 6, 0, 0x3f);
	shape_set(shape, ETH_BYTES + 7, 0, 0xff);
	shape_set(shape, ETH_BYTES + 9, PROTOCOL_UDP, 0xff);
}

/* From the destination address on: no UDP checksum, no more than the least tunnel header, and its
 * number. */
static void shape_end(struct tunnel *t, struct view_shape *shape)
{
	const struct tunnel_rule *r = t->rule;
	uint32_t number = number_pool_at(r->own_number.ranges ? &r->own_number : &r->number, 0);
	uint8_t want[20] = {0};

	store32_be(want, (uint32_t)t->one.local);
	store16_be(want + 6, t->udp_port);
	store32_be(want + 16, r->kind == TUNNEL_VXLAN ? number << 8 : number);
	for (unsigned i = 0; i < sizeof want; i++)
		if (i < 4 || i == 6 || i == 7 || i == 10 || i == 11 || i >= 16)
			shape_set(shape, i, want[i], 0xff);
	if (r->kind == TUNNEL_VXLAN) {
		shape_set(shape, 12, 0x08, 0x08);
		shape_set(shape, 19, 0, 0);
	} else {
		shape_set(shape, 12, 0x30, 0xff);
		shape_set(shape, 13, 255, 0xff);
	}
}

static void shapes_make(struct tunnel *t)
{
	t->ip_sum = checksum_sum(t->front + TUNNEL_FRONT_MAX - t->headers, IP_BYTES);
	t->has_shape = t->single && t->family == 4 && tunnel_is_udp(t->rule->kind);
	shape_begin(t, &t->shape[0]);
	shape_end(t, &t->shape[1]);
}

/* Slots for clients to be heard: twice as many as may be, within reason; 0: none is to be. */
static uint32_t heard_slots(const struct tunnel_setup *setup)
{
	u128 expected = 0;
	uint32_t slots = HEARD_MIN;

	if (!setup->serves)
		return 0;
	for (unsigned i = setup->own_clients; i < setup->clients; i++)
		expected += setup->client[i]->count;
	while (slots < HEARD_MAX && slots < 2 * expected)
		slots *= 2;
	return slots;
}

static bool is_single(const struct tunnel_rule *r)
{
	bool to_one = r->remote.count + r->remote6.count == 1 ||
		      (r->kind == TUNNEL_MPLS && !r->remote.count && !r->remote6.count);

	return to_one && r->local.count + r->local6.count <= 1 &&
	       number_pool_count(&r->number) <= 1 && number_pool_count(&r->own_number) <= 1;
}

size_t tunnel_bytes(const struct tunnel_setup *setup)
{
	return setup->clients * sizeof(struct tunnel_clients) +
	       (is_single(setup->rule) ? 0 : heard_slots(setup) * sizeof(struct tunnel_heard)) +
	       2 * 64;
}

static void outside_make(struct tunnel *t, const struct tunnel_setup *setup)
{
	t->outside = *setup->inside;
	memcpy(t->outside.mac, setup->mac, 6);
	t->outside.vlans = setup->vlans;
	for (unsigned i = 0; i < setup->vlans; i++)
		t->outside.vlan_id[i] = setup->vlan[i] & 0xfff;
	t->outside.ip6 = true;
	t->outside.is_tunnel = true;
	memcpy(t->outside.carries, protocols[t->rule->kind], sizeof t->outside.carries);
}

int tunnel_init(struct tunnel *t, const struct tunnel_setup *setup, struct arena *arena)
{
	const struct tunnel_rule *r = setup->rule;

	*t = (struct tunnel){.rule = r,
			     .hop = setup->hop,
			     .family = tunnel_family(r),
			     .l3 = (uint8_t)(ETH_BYTES + TAG_BYTES * setup->vlans),
			     .headers = (uint16_t)tunnel_headers(r),
			     .skip = tunnel_has_frames(r->kind) ? 0 : ETH_BYTES,
			     .udp_port = r->udp_port,
			     .single = is_single(r),
			     .clients = setup->clients,
			     .own_clients = setup->own_clients};
	if (!t->udp_port)
		t->udp_port = r->kind == TUNNEL_VXLAN ? PORT_VXLAN : PORT_GTPU;
	memcpy(t->mac, setup->inside->mac, 6);
	outside_make(t, setup);
	t->one = path_at(t, 0);
	front_make(t, setup);
	shapes_make(t);
	t->client = arena_take(arena, setup->clients * sizeof(*t->client));
	if (!t->client)
		return -1;
	for (unsigned i = 0; i < setup->clients; i++) {
		u128 before = i && i != setup->own_clients
				      ? t->client[i - 1].before + setup->client[i - 1]->count
				      : 0;

		t->client[i] = (struct tunnel_clients){setup->client[i], before};
	}
	if (t->single || !setup->serves)
		return 0;
	t->learns = true;
	t->mask = heard_slots(setup) - 1;
	t->heard = arena_take(arena, (t->mask + (size_t)1) * sizeof(*t->heard));
	return t->heard ? 0 : -1;
}
