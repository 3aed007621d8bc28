/* Received packets out of a tunnel.
 *
 * Nearly all are UDP over plain IPv4 without a UDP checksum: where there is one tunnel, two masked
 * compares of 32 bytes see that such a packet is its. Any other goes through the layers of the view
 * first, which name what is wrong outside. Then the tunnel's own header is checked and stepped
 * over; what its length leaves out - padding - is cut off. A packet that comes without Ethernet
 * gets such a header in the place of the last bytes of those outside. */
#include <string.h>

#include "checksum.h"
#include "simd.h"
#include "tunnel.h"
#include "view_packet.h"

#define GRE_CHECKSUM 0x80
#define GRE_ROUTING  0x40
#define GRE_KEY      0x20
#define GRE_SEQUENCE 0x10
#define ETHER_FRAME  0x6558
#define ETHER_MPLS   0x8847
#define LABELS_MAX   16u
#define SHAPED_BYTES 36u /* IPv4, UDP, VXLAN or the least of GTP-U */
#define SHAPE_ROOM   48u /* from the IP header on, which the two compares look at */
#define VERDICTS     (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)

static uint32_t host32(const uint8_t *at)
{
	return __builtin_bswap32(load32(at));
}

/* A packet on its way out of the tunnel. */
struct inner {
	struct rte_mbuf *m;
	const uint8_t *data;
	uint32_t room;       /* of the first segment */
	uint32_t outer;      /* where the outer IP header is */
	uint32_t at, end;    /* what is not looked at yet */
	uint32_t number;     /* VNI, key, TEID, label */
	uint16_t ether_type; /* of what is carried, 0: by its first bits */
};

bool tunnel_ends_here(const struct tunnel *t, const uint8_t *at)
{
	const struct ip_pool *pool = t->family == 6 ? &t->rule->local6 : &t->rule->local;
	u128 address = 0;

	for (unsigned i = 0; i < (t->family == 6 ? 16u : 4u); i++)
		address = address << 8 | at[i];
	return ip_pool_contains(pool, address);
}

/* The place of a number among those that are received; false: it is none. */
static bool number_place(const struct tunnel_rule *r, uint32_t number, uint64_t *place)
{
	const struct number_pool *pool = r->own_number.ranges ? &r->own_number : &r->number;

	*place = 0;
	for (unsigned i = 0; i < pool->ranges; i++) {
		const struct number_range *range = &pool->range[i];

		if (number - range->first <= range->last - range->first) {
			*place += number - range->first;
			return true;
		}
		*place += (uint64_t)range->last - range->first + 1;
	}
	return false;
}

static enum drop vxlan_step(struct inner *p)
{
	const uint8_t *at = p->data + p->at;

	if (p->at + 8 > p->end || p->at + 8 > p->room)
		return DROP_TUNNEL_SHORT;
	if (!(at[0] & 0x08)) /* without a valid VNI (RFC 7348 section 5) */
		return DROP_TUNNEL_BAD;
	p->number = host32(at + 4) >> 8;
	p->at += 8;
	return DROP_NONE;
}

/* Extension headers: each is as long as its first byte says, in words of four (section 5.2.1). */
static enum drop gtpu_extensions(struct inner *p)
{
	uint8_t next = p->data[p->at + 3];

	p->at += 4;
	while (next) {
		uint32_t length;

		if (p->at + 4 > p->end || p->at + 4 > p->room)
			return DROP_TUNNEL_SHORT;
		length = p->data[p->at] * 4u;
		if (!length)
			return DROP_TUNNEL_BAD;
		if (p->at + length > p->end || p->at + length > p->room)
			return DROP_TUNNEL_SHORT;
		p->at += length;
		next = p->data[p->at - 1];
	}
	return DROP_NONE;
}

static enum drop gtpu_step(struct inner *p)
{
	const uint8_t *at = p->data + p->at;
	uint32_t length;

	if (p->at + 8 > p->end || p->at + 8 > p->room)
		return DROP_TUNNEL_SHORT;
	if (at[0] >> 4 != 3) /* version 1, and not GTP' */
		return DROP_TUNNEL_BAD;
	length = host16(at + 2);
	if (p->at + 8 + length > p->end)
		return DROP_TUNNEL_SHORT;
	p->number = host32(at + 4);
	p->end = p->at + 8 + length;
	p->at += 8;
	if (at[1] != 255)
		return DROP_TUNNEL_TYPE;
	if (!(at[0] & 7))
		return DROP_NONE;
	if (p->at + 4 > p->end || p->at + 4 > p->room)
		return DROP_TUNNEL_SHORT;
	if (at[0] & 4)
		return gtpu_extensions(p);
	p->at += 4;
	return DROP_NONE;
}

static enum drop gre_step(const struct tunnel *t, struct inner *p)
{
	const uint8_t *at = p->data + p->at, *field = at + 4;
	uint32_t length = 4;

	if (p->at + 4 > p->end || p->at + 4 > p->room)
		return DROP_TUNNEL_SHORT;
	length += at[0] & GRE_CHECKSUM ? 4 : 0;
	length += at[0] & GRE_KEY ? 4 : 0;
	length += at[0] & GRE_SEQUENCE ? 4 : 0;
	if (at[0] & GRE_ROUTING || at[1] & 7) /* RFC 2784 sections 2.2 and 2.3.1: version 0 */
		return DROP_TUNNEL_BAD;
	if (p->at + length > p->end || p->at + length > p->room)
		return DROP_TUNNEL_SHORT;
	if (at[0] & GRE_CHECKSUM) {
		if (t->outside.verify &&
		    checksum_fold(view_segments_sum(p->m, p->at, p->end - p->at)) != 0xffff)
			return DROP_TUNNEL_CSUM;
		field += 4;
	}
	if (!(at[0] & GRE_KEY) != !t->rule->number.ranges)
		return DROP_TUNNEL_NUMBER;
	if (at[0] & GRE_KEY)
		p->number = host32(field);
	p->ether_type = host16(at + 2);
	p->at += length;
	return DROP_NONE;
}

/* Labels above may have been taken off on the way, or others put on. */
static enum drop mpls_step(struct inner *p)
{
	for (unsigned i = 0; i < LABELS_MAX; i++, p->at += 4) {
		if (p->at + 4 > p->room)
			return DROP_TUNNEL_SHORT;
		p->number = host32(p->data + p->at) >> 12;
		if (p->data[p->at + 2] & 1) {
			p->at += 4;
			return DROP_NONE;
		}
	}
	return DROP_TUNNEL_BAD;
}

/* What is carried: an Ethernet frame, or IPv4 or IPv6, whose type is noted. */
static enum drop carried_check(const struct tunnel *t, struct inner *p)
{
	uint8_t version;

	if (tunnel_has_frames(t->rule->kind)) {
		if (p->at + ETH_BYTES > p->end || p->at + ETH_BYTES > p->room)
			return DROP_TUNNEL_SHORT;
		return p->ether_type && p->ether_type != ETHER_FRAME ? DROP_TUNNEL_TYPE : DROP_NONE;
	}
	if (p->at >= p->end || p->at >= p->room)
		return DROP_TUNNEL_SHORT;
	version = p->data[p->at] >> 4;
	if (p->ether_type == ETHER_FRAME || (version != 4 && version != 6))
		return DROP_TUNNEL_TYPE;
	if (p->ether_type && p->ether_type != (version == 4 ? ETHER_IP4 : ETHER_IP6))
		return DROP_TUNNEL_TYPE;
	p->ether_type = version == 4 ? ETHER_IP4 : ETHER_IP6;
	return DROP_NONE;
}

static void mark_write(const struct tunnel *t, const struct inner *p, uint64_t place,
		       uint8_t *before)
{
	const uint8_t *ip = p->data + p->outer;
	struct tunnel_mark mark = {.path.number = p->number};

	if (t->rule->own_number.ranges)
		mark.path.number = number_pool_at(&t->rule->number, place);
	memcpy(mark.mac, p->data + 6, sizeof mark.mac);
	if (t->rule->kind != TUNNEL_MPLS && t->family == 6) {
		for (unsigned i = 0; i < 16; i++) {
			mark.path.remote = mark.path.remote << 8 | ip[8 + i];
			mark.path.local = mark.path.local << 8 | ip[24 + i];
		}
	} else if (t->rule->kind != TUNNEL_MPLS) {
		mark.path.remote = nexthop_ip4(load32(ip + 12));
		mark.path.local = nexthop_ip4(load32(ip + 16));
	} else {
		mark.path.remote = t->one.remote;
	}
	memcpy(before - sizeof mark, &mark, sizeof mark);
}

/* Cut off what is outside: all before `at`, and padding behind `end`. */
always_inline void outside_cut(const struct tunnel *t, struct rte_mbuf *m, uint32_t at,
			       uint32_t end, uint16_t ether_type)
{
	uint16_t cut = (uint16_t)(at - t->skip);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *) + cut;

	if (likely(m->nb_segs == 1))
		m->pkt_len = m->data_len = (uint16_t)end;
	m->data_off = (uint16_t)(m->data_off + cut);
	m->data_len = (uint16_t)(m->data_len - cut);
	m->pkt_len -= cut;
	m->ol_flags &= ~VERDICTS;
	if (!t->skip)
		return;
	memcpy(frame, t->mac, 6);
	memcpy(frame + 6, "\x02\0\0\0\0\0", 6);
	frame[12] = (uint8_t)(ether_type >> 8);
	frame[13] = (uint8_t)ether_type;
}

/* From the tunnel's own header on. */
static inline enum drop header_open(const struct tunnel *t, struct inner *p)
{
	const struct tunnel_rule *r = t->rule;
	enum drop reason = DROP_NONE;
	uint64_t place = 0;

	switch (r->kind) {
	case TUNNEL_VXLAN:
		reason = vxlan_step(p);
		break;
	case TUNNEL_GTPU:
		reason = gtpu_step(p);
		break;
	case TUNNEL_GRE:
	case TUNNEL_GRETAP:
		reason = gre_step(t, p);
		break;
	case TUNNEL_MPLS:
		reason = mpls_step(p);
		break;
	default:
		break;
	}
	if (unlikely(reason))
		return reason;
	if (r->number.ranges && unlikely(!number_place(r, p->number, &place)))
		return DROP_TUNNEL_NUMBER;
	reason = carried_check(t, p);
	if (unlikely(reason))
		return reason;
	if (t->learns)
		mark_write(t, p, place, rte_pktmbuf_mtod_offset(p->m, uint8_t *, p->at - t->skip));
	outside_cut(t, p->m, p->at, p->end, p->ether_type);
	return DROP_NONE;
}

static bool is_labelled(const struct tunnel *t, const struct inner *p)
{
	return t->rule->kind == TUNNEL_MPLS && p->room >= t->l3 &&
	       host16(p->data + t->l3 - 2) == ETHER_MPLS && !memcmp(p->data, t->outside.mac, 6);
}

/* Any packet: through the layers of the view. */
static __attribute__((noinline)) int other_open(const struct tunnel *t, struct inner *p,
						struct view *view)
{
	enum drop reason;
	bool udp;

	if (is_labelled(t, p)) {
		reason = view_tags(p->m, &t->outside);
		p->at = t->l3;
		p->end = p->m->pkt_len;
		return reason ? (int)reason : (int)header_open(t, p);
	}
	reason = view_parse(p->m, &t->outside, view);
	if (reason)
		return reason;
	if (view->kind == VIEW_ARP || view->kind == VIEW_ICMP)
		return TUNNEL_OUTSIDE;
	udp = view->kind == VIEW_UDP && tunnel_is_udp(t->rule->kind);
	if (view->family != t->family || (!udp && view->kind != VIEW_CARRIED) ||
	    (udp && host16(p->data + view->l4 + 2) != t->udp_port) ||
	    !tunnel_ends_here(t, p->data + view->l3 + (t->family == 6 ? 24 : 16)))
		return DROP_TUNNEL_NONE;
	p->outer = view->l3;
	p->at = view->payload;
	p->end = (uint32_t)view->payload + view->payload_len;
	return header_open(t, p);
}

/* A packet of the usual shape; false: it is not, or is to be looked at more closely. */
always_inline bool shaped_open(const struct tunnel *t, struct rte_mbuf *m, const uint8_t *data)
{
	const uint8_t *ip = data + t->l3;
	uint32_t at = t->l3 + SHAPED_BYTES, end;
	uint16_t ether_type = 0;

	if (unlikely(!t->has_shape || m->data_len < t->l3 + SHAPE_ROOM || m->ol_flags & VERDICTS ||
		     simd_differs(ip - ETH_BYTES, t->shape[0].want, t->shape[0].mask) ||
		     simd_differs(ip + 16, t->shape[1].want, t->shape[1].mask)))
		return false;
	end = t->l3 + (uint32_t)host16(ip + 2);
	if (unlikely(end > m->pkt_len || end < at + IP_BYTES ||
		     t->l3 + IP_BYTES + (uint32_t)host16(ip + 24) != end ||
		     (t->outside.vlans && memcmp(data, t->outside.mac, 6) != 0) ||
		     (t->outside.verify && checksum_fold(header_sum(ip, IP_BYTES, 0)) != 0xffff)))
		return false;
	if (t->skip) { /* GTP-U: as long as it says, and IP inside */
		uint8_t version = data[at] >> 4;

		if (unlikely(at + host16(data + at - 6) != end || (version != 4 && version != 6)))
			return false;
		ether_type = version == 4 ? ETHER_IP4 : ETHER_IP6;
	}
	outside_cut(t, m, at, end, ether_type);
	return true;
}

int tunnel_open(const struct tunnel *t, struct rte_mbuf *m, struct view *view)
{
	struct inner p = {.m = m, .room = m->data_len};

	p.data = rte_pktmbuf_mtod(m, const uint8_t *);
	if (likely(shaped_open(t, m, p.data)))
		return DROP_NONE;
	return other_open(t, &p, view);
}
