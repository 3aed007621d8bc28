/* Writing a blast's packets: in stretches in which only one thing changes from packet to packet,
 * the port or the address that the walk steps first.
 *
 * In a stretch a packet is two vector stores of the frame's first 64 bytes, the port, the checksum
 * - a constant plus the port, folded - and the tag, which by its making leaves the checksum alone.
 * Of ICMP echo the ports are identifier and sequence number; of IPv6 the last 32 bits of an address
 * step. Everything else (several sizes, modifiers, frames given as bytes) goes packet by packet
 * through one general function. */
#include "blast.h"

#include <stddef.h>
#include <string.h>

#include "tag.h"

#define always_inline static inline __attribute__((always_inline))

static inline u128 ip6_order(u128 ip)
{
	return (u128)__builtin_bswap64((uint64_t)ip) << 64 |
	       __builtin_bswap64((uint64_t)(ip >> 64));
}

/* All packets go to one next hop. */
static bool has_gateway(const struct blast *b)
{
	const struct nexthop *hop = b->setup->nexthop;

	return b->frame.family == 6 ? hop->has_gateway6 : hop->has_gateway;
}

bool blast_mac(struct blast *b, bool again)
{
	bool ip6 = b->frame.family == 6;
	u128 server = walk_address(&b->walk, WALK_SERVERS);
	const uint8_t *mac;

	if (!b->frame.walks)
		return true;
	if (b->has_mac && !again && (server == b->mac_for || has_gateway(b)))
		return true;
	mac = ip6 ? nexthop_mac6(b->setup->nexthop, server)
		  : nexthop_mac(b->setup->nexthop, __builtin_bswap32((uint32_t)server));
	b->has_mac = mac;
	b->mac_for = server;
	if (mac)
		memcpy(b->frame.data, mac, 6);
	return mac;
}

static inline uint16_t fold32(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

/* A sum of zero is sent as all ones: zero says that there is none (RFC 768). */
static inline uint16_t udp_check(uint32_t sum)
{
	uint16_t check = (uint16_t)~fold32(sum);

	return check ? check : 0xffff;
}

static inline void store16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof value);
}

static inline void store32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

static inline uint32_t halves(uint32_t word)
{
	return (word & 0xffff) + (word >> 16);
}

/* The length of a packet of one segment, which are two fields that a blank has beside each other
 * and a third that is zero in it: one store. */
static inline void packet_length(struct rte_mbuf *m, uint16_t length)
{
	uint64_t both = (uint64_t)length << 32 | length;

	_Static_assert(offsetof(struct rte_mbuf, data_len) ==
			       offsetof(struct rte_mbuf, pkt_len) + 4,
		       "lengths lie together");
	memcpy((char *)m + offsetof(struct rte_mbuf, pkt_len), &both, sizeof both);
}

static inline uint8_t *packet_data(const struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + m->data_off;
}

/* What a checksum has of addresses and ports of the flow at hand and of the lengths of a shape,
 * without the value that `but` steps. */
struct sums {
	uint32_t ip, l4;
};

/* An IPv6 address into the frame; returns its sum, without the last 32 bits if these step. */
static uint32_t address6_write(const struct walk *w, enum walk_first pool, uint8_t *at, bool steps)
{
	u128 address = ip6_order(walk_address(w, pool));
	uint32_t sum = halves((uint32_t)address) + halves((uint32_t)(address >> 32)) +
		       halves((uint32_t)(address >> 64));

	memcpy(at, &address, sizeof address);
	return steps ? sum : sum + halves((uint32_t)(address >> 96));
}

static uint32_t address4_write(const struct walk *w, enum walk_first pool, uint8_t *at, bool steps)
{
	uint32_t address = __builtin_bswap32(w->value[pool]);

	store32(at, address);
	return steps ? 0 : halves(address);
}

/* Write them into the frame's own bytes, and return their sums. */
static struct sums flow_write(struct blast *b, const struct shape *shape, int but)
{
	const struct walk *w = &b->walk;
	const struct frame *f = &b->frame;
	uint8_t *ip = f->data + f->l3, *ports = f->data + f->ports;
	struct sums sums = {.ip = shape->ip_sum, .l4 = shape->l4_sum};
	uint32_t addresses;
	uint16_t port;

	if (f->family == 6) {
		addresses = address6_write(w, WALK_CLIENTS, ip + 8, but == WALK_CLIENTS) +
			    address6_write(w, WALK_SERVERS, ip + 24, but == WALK_SERVERS);
		store16(ip + 4, shape->ip_length_be);
	} else {
		addresses = address4_write(w, WALK_CLIENTS, ip + 12, but == WALK_CLIENTS) +
			    address4_write(w, WALK_SERVERS, ip + 16, but == WALK_SERVERS);
		store16(ip + 2, shape->ip_length_be);
	}
	sums.ip += addresses;
	sums.l4 += f->pseudo ? addresses : 0;
	if (!f->ports)
		return sums;
	port = __builtin_bswap16((uint16_t)w->value[WALK_CLIENT_PORTS]);
	store16(ports, port);
	sums.l4 += but == WALK_CLIENT_PORTS ? 0u : port;
	port = __builtin_bswap16((uint16_t)w->value[WALK_SERVER_PORTS]);
	store16(ports + 2, port);
	sums.l4 += but == WALK_SERVER_PORTS ? 0u : port;
	if (b->config->blast.protocol == BLAST_UDP)
		store16(f->data + f->l4 + 4, shape->l4_length_be);
	return sums;
}

/* What differs from packet to packet in a stretch, for all of them at once: plain loops over
 * arrays, which compilers turn into vectors. */
struct changes {
	uint64_t udp[BLAST_BATCH]; /* the header of UDP, as it lies in memory; of others what is
				      there */
	uint32_t address[BLAST_BATCH];
	uint16_t ip_check[BLAST_BATCH];
	uint16_t sequence[BLAST_BATCH], tag_check[BLAST_BATCH]; /* of the tag */
};

/* sum: with all but what steps. shift: of the port that steps, in the header `udp`, which is zero
 * there and in its checksum. */
static void ports_change(struct changes *c, unsigned count, uint64_t udp, unsigned shift,
			 uint32_t sum, uint32_t value, uint32_t stride)
{
	for (unsigned i = 0; i < count; i++) {
		uint16_t be = __builtin_bswap16((uint16_t)(value + i * stride));

		c->udp[i] = udp | (uint64_t)be << shift | (uint64_t)udp_check(sum + be) << 48;
	}
}

/* pseudo: all ones where the transport's checksum has addresses in it. */
static void addresses_change(struct changes *c, unsigned count, uint64_t udp, struct sums sums,
			     uint32_t value, uint32_t stride, uint32_t pseudo)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t be = __builtin_bswap32(value + i * stride), half = halves(be);

		c->address[i] = be;
		c->ip_check[i] = (uint16_t)~fold32(sums.ip + half);
		c->udp[i] = udp | (uint64_t)udp_check(sums.l4 + (half & pseudo)) << 48;
	}
}

/* sum: of the tag without the number's last 16 bits. */
static void tags_change(struct changes *c, unsigned count, uint32_t sum, uint64_t sequence)
{
	for (unsigned i = 0; i < count; i++) {
		uint16_t be = __builtin_bswap16((uint16_t)(sequence + i));

		c->sequence[i] = be;
		c->tag_check[i] = (uint16_t)~fold32(sum + be);
	}
}

/* Write the packets of a stretch: the frame's first line, and what changes over it. */
always_inline void stretch_write(const struct frame *f, struct rte_mbuf **pkt, unsigned count,
				 const struct changes *c, const bool udp, const bool tag,
				 const bool address, unsigned address_at)
{
	const uint16_t length = f->shape[0].length, l4 = f->l4, payload = f->payload;
	const uint16_t ports = f->ports, check = f->l4_check;
	const unsigned ip_check_at = f->family == 4 ? f->l3 + 10u : 0;
	uint8_t head[FRAME_HEAD];

	memcpy(head, f->data, sizeof head);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *data = (uint8_t *)pkt[i]->buf_addr + RTE_PKTMBUF_HEADROOM;

		packet_length(pkt[i], length);
		memcpy(data, head, sizeof head);
		if (length > FRAME_HEAD)
			memcpy(data + FRAME_HEAD, f->data + FRAME_HEAD,
			       (size_t)(length - FRAME_HEAD));
		if (address) {
			store32(data + address_at, c->address[i]);
			if (ip_check_at)
				store16(data + ip_check_at, c->ip_check[i]);
		}
		if (udp) {
			memcpy(data + l4, &c->udp[i], sizeof c->udp[i]);
		} else {
			store32(data + ports, (uint32_t)c->udp[i]);
			store16(data + check, (uint16_t)(c->udp[i] >> 48));
		}
		if (tag) {
			store16(data + payload + 8, c->sequence[i]);
			store16(data + payload + 16, c->tag_check[i]);
		}
	}
}

/* The same of TCP and ICMP, which have no tag. */
static void others_write(const struct frame *f, struct rte_mbuf **pkt, unsigned count,
			 const struct changes *c, bool address, unsigned address_at)
{
	if (address)
		stretch_write(f, pkt, count, c, false, false, true, address_at);
	else
		stretch_write(f, pkt, count, c, false, false, false, 0);
}

/* The same for any packet, one. Returns its length. */
static uint16_t packet_write(struct blast *b, struct rte_mbuf *m, uint64_t time)
{
	const struct frame *f = &b->frame;
	const struct shape *shape = &f->shape[b->size.at];
	struct modify_sums sums = {.ip = shape->ip_sum, .l4 = shape->l4_sum};
	uint8_t *data = packet_data(m);
	uint64_t flow = 0;

	if (f->walks) {
		struct sums walked = flow_write(b, shape, -1);

		sums = (struct modify_sums){.ip = walked.ip, .l4 = walked.l4};
		if (b->per_flow)
			flow = walk_number(&b->walk);
	}
	packet_length(m, shape->length);
	memcpy(data, f->data, shape->length);
	if (b->config->blast.tag)
		tag_write(data + f->payload, b->tag, b->sequence, time);
	for (unsigned i = 0; i < b->config->blast.modifies; i++)
		modify_apply(&b->modify[i], data, flow, &sums);
	if (f->family == 4 && b->ip_kept)
		store16(data + f->l3 + 10, (uint16_t)~checksum_fold(sums.ip));
	if (f->l4_check && b->l4_kept) {
		uint16_t check = (uint16_t)~checksum_fold(sums.l4);

		store16(data + f->l4_check, check ? check : 0xffff);
	}
	b->sequence++;
	digit_add(&b->size, b->size.step, false);
	if (f->walks)
		walk_next(&b->walk);
	return shape->length;
}

/* The part of a stretch's tags that is the same in all of them goes into the frame. */
static void tag_prepare(struct blast *b, unsigned count, uint64_t time, struct changes *c)
{
	uint8_t *at = b->frame.data + b->frame.payload;
	uint64_t base = b->sequence & ~(uint64_t)UINT16_MAX;

	tag_write(at, b->tag, base, time);
	tags_change(c, count, tag_sum_of(at), b->sequence);
}

/* Write up to count packets in which only one value changes, and of the numbers the last 16 bits;
 * returns how many those were. */
static unsigned stretch(struct blast *b, struct rte_mbuf **pkt, unsigned count, uint64_t time)
{
	const struct frame *f = &b->frame;
	const uint32_t fast = b->walk.fast, value = b->walk.value[fast], stride = b->walk.stride;
	const bool address = fast == WALK_CLIENTS || fast == WALK_SERVERS;
	const bool tag = b->config->blast.tag;
	const unsigned shift = fast == WALK_SERVER_PORTS ? 16 : 0;
	const unsigned end = f->family == 6 ? 20 : 12; /* of IPv6 the last 32 bits of an address */
	const unsigned address_at = f->l3 + end +
				    (fast == WALK_CLIENTS ? 0
				     : f->family == 6     ? 16
							  : 4);
	unsigned left = (unsigned)(UINT16_MAX + 1u - (b->sequence & UINT16_MAX));
	struct sums sums = flow_write(b, &f->shape[0], (int)fast);
	struct changes c;
	uint64_t udp;

	if (b->walk.run < count - 1)
		count = (unsigned)b->walk.run + 1;
	if (fast == WALK_SERVERS && !has_gateway(b))
		count = 1;
	count = left < count ? left : count;
	if (f->family == 4)
		store16(f->data + f->l3 + 10, (uint16_t)~fold32(sums.ip));
	memcpy(&udp, f->data + f->ports, sizeof udp);
	udp &= UINT64_MAX >> 16;
	if (tag)
		tag_prepare(b, count, time, &c);
	if (address)
		addresses_change(&c, count, udp, sums, value, stride, f->pseudo ? UINT32_MAX : 0);
	else
		ports_change(&c, count, udp & ~((uint64_t)UINT16_MAX << shift), shift, sums.l4,
			     value, stride);
	if (b->config->blast.protocol != BLAST_UDP)
		others_write(f, pkt, count, &c, address, address_at);
	else if (tag && address)
		stretch_write(f, pkt, count, &c, true, true, true, address_at);
	else if (tag)
		stretch_write(f, pkt, count, &c, true, true, false, 0);
	else if (address)
		stretch_write(f, pkt, count, &c, true, false, true, address_at);
	else
		stretch_write(f, pkt, count, &c, true, false, false, 0);
	walk_skip(&b->walk, count - 1);
	walk_next(&b->walk);
	b->sequence += count;
	return count;
}

/* Packets of a burst were written: behind its end the other workers' bursts are left out. */
static void burst_count(struct blast *b, unsigned count)
{
	if (b->burst == 1 || (b->burst_left -= count))
		return;
	b->burst_left = b->burst;
	digit_add(&b->size, b->size.jump, false);
	for (unsigned i = 0; i < b->config->blast.modifies; i++)
		modify_jump(&b->modify[i]);
	if (b->frame.walks)
		walk_jump(&b->walk);
}

unsigned blast_write(struct blast *b, struct rte_mbuf **pkt, unsigned count, uint64_t now,
		     uint64_t *bytes)
{
	unsigned done = 0;

	while (done < count && blast_mac(b, !done)) {
		unsigned n = 1;

		if (b->plain) {
			n = count - done;
			if (b->burst > 1 && n > b->burst_left)
				n = b->burst_left;
			n = stretch(b, pkt + done, n, now);
			*bytes += (uint64_t)n * b->frame.shape[0].length;
		} else {
			*bytes += packet_write(b, pkt[done], now);
		}
		burst_count(b, n);
		done += n;
	}
	return done;
}
