/* A burst of packets in, most of them of a common shape.
 *
 * Nearly every packet of a run has one shape: to this port, with this port's tags, IPv4 without
 * options, no fragment, TCP or else UDP. A burst is first prefetched, then each packet is held
 * against that shape by a masked compare of 32 bytes; the checksums of a short one are then
 * verified in one go. What differs goes through the layers one by one (view.c).
 *
 * The number of tags is a constant in each of three copies of that loop: with it in a variable a
 * packet took half as long again.
 *
 * Rejected: loops over the burst per layer (the view of a packet would go to memory and back
 * between them). */
#include <rte_prefetch.h>

#include "simd.h"
#include "view_packet.h"

#define MAC_MASK       0x0000ffffffffffffu
#define CKSUM_VERDICTS (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)

#define SHORT_BYTES 184 /* TCP header and payload that are summed by short_sums_right() ... */
#define ROOM_BYTES  (SHORT_BYTES + SIMD_BYTES) /* ... which reads up to here in the buffer */

_Static_assert(sizeof((struct view_shape){0}.want) == SIMD_BYTES, "compared in one go");

#define SHAPE_L3 ETH_BYTES /* offset of the IP header in it */

static void shape_set(struct view_shape *shape, unsigned at, uint8_t want, uint8_t mask)
{
	shape->want[at] = want;
	shape->mask[at] = mask;
}

/* A tag whose last byte is at `end`, its priority bits free. */
static void shape_tag(struct view_shape *shape, unsigned end, uint16_t ether_type, uint16_t vlan_id)
{
	shape_set(shape, end - 3, (uint8_t)(ether_type >> 8), 0xff);
	shape_set(shape, end - 2, (uint8_t)ether_type, 0xff);
	shape_set(shape, end - 1, (uint8_t)(vlan_id >> 8), 0x0f);
	shape_set(shape, end, (uint8_t)vlan_id, 0xff);
}

/* Up to the first byte of the IP header, whose bits in `mask` are the version and more. */
static void shape_begin(struct view_shape *shape, const struct view_rule *rule, uint16_t ether_type,
			uint8_t first, uint8_t mask)
{
	*shape = (struct view_shape){0};
	for (unsigned i = 0; !rule->vlans && i < sizeof rule->mac; i++)
		shape_set(shape, i, rule->mac[i], 0xff);
	if (rule->vlans)
		shape_tag(shape, SHAPE_L3 - 3, ETHER_VLAN, rule->vlan_id[rule->vlans - 1]);
	if (rule->vlans == 2)
		shape_tag(shape, SHAPE_L3 - 7, ETHER_QINQ, rule->vlan_id[0]);
	shape_set(shape, SHAPE_L3 - 2, (uint8_t)(ether_type >> 8), 0xff);
	shape_set(shape, SHAPE_L3 - 1, (uint8_t)ether_type, 0xff);
	shape_set(shape, SHAPE_L3, first, mask);
}

/* IPv4 without options, no fragment. */
static void shape_make4(struct view_shape *shape, const struct view_rule *rule, uint8_t protocol)
{
	shape_begin(shape, rule, ETHER_IP4, 0x45, 0xff);
	shape_set(shape, SHAPE_L3 + 6, 0, 0x3f);
	shape_set(shape, SHAPE_L3 + 7, 0, 0xff);
	shape_set(shape, SHAPE_L3 + 9, protocol, 0xff);
}

static void shape_make6(struct view_shape *shape, const struct view_rule *rule, uint8_t protocol)
{
	shape_begin(shape, rule, ETHER_IP6, 0x60, 0xf0);
	shape_set(shape, SHAPE_L3 + 6, protocol, 0xff);
}

void view_matcher_make(struct view_matcher *matcher, const struct view_rule *rule)
{
	*matcher = (struct view_matcher){.rule = *rule};
	shape_make4(&matcher->shape[VIEW_SHAPE_TCP4], rule, PROTOCOL_TCP);
	shape_make4(&matcher->shape[VIEW_SHAPE_UDP4], rule, PROTOCOL_UDP);
	if (!rule->ip6)
		return;
	shape_make6(&matcher->shape[VIEW_SHAPE_TCP6], rule, PROTOCOL_TCP);
	shape_make6(&matcher->shape[VIEW_SHAPE_UDP6], rule, PROTOCOL_UDP);
}

/* Has the frame this shape, with room for an IP header of `ip` bytes and one of TCP in its first
 * segment? */
always_inline bool shape_is(const struct packet *p, const struct view_shape *shape, unsigned vlans,
			    uint32_t ip)
{
	if (unlikely(p->room < p->l3 + ip + TCP_BYTES))
		return false;
	if (unlikely(simd_differs(p->data + p->l3 - SHAPE_L3, shape->want, shape->mask)))
		return false;
	return !vlans || likely(!((load64(p->data) ^ load64(p->rule->mac)) & MAC_MASK));
}

/* The same, and is it as long as IPv4 says? Its payload may lie behind the first segment. */
always_inline bool shape_fits(struct packet *p, const struct view_shape *shape, unsigned vlans)
{
	uint32_t total;

	if (!shape_is(p, shape, vlans, IP_BYTES))
		return false;
	total = host16(p->data + p->l3 + 2);
	p->l4 = p->l3 + IP_BYTES;
	p->l4_len = total - IP_BYTES;
	return likely(total >= IP_BYTES + TCP_BYTES && p->l3 + total <= p->m->pkt_len);
}

/* The same of IPv6. */
always_inline bool shape_fits6(struct packet *p, const struct view_shape *shape, unsigned vlans)
{
	if (!shape_is(p, shape, vlans, IP6_BYTES))
		return false;
	p->family = 6;
	p->l4 = p->l3 + IP6_BYTES;
	p->l4_len = host16(p->data + p->l3 + 4);
	return likely(p->l4_len >= TCP_BYTES && p->l4 + p->l4_len <= p->m->pkt_len);
}

/* Are the checksums of a short packet right, by our own sums? The addresses of the pseudo header
 * lie right before the transport header and are summed with it. False where that does not serve. */
always_inline bool short_sums_right(const struct packet *p, uint8_t protocol)
{
	const struct rte_mbuf *m = p->m;
	const uint8_t *ip = p->data + p->l3;
	uint32_t ip_sum, l4_sum;

	if (unlikely(p->l4_len > SHORT_BYTES || p->l4 + p->l4_len > p->room ||
		     m->data_off + p->l4 + ROOM_BYTES > m->buf_len))
		return false;
	if (p->family == 6)
		simd_sums(ip, 0, ip + 8, p->l4_len + 32, &ip_sum, &l4_sum);
	else
		simd_sums(ip, IP_BYTES, ip + 12, p->l4_len + 8, &ip_sum, &l4_sum);
	l4_sum += __builtin_bswap16(protocol) + __builtin_bswap16((uint16_t)p->l4_len);
	return (p->family == 6 || (ip_sum & 0xffff) + (ip_sum >> 16) == 0xffff) &&
	       (l4_sum & 0xffff) + (l4_sum >> 16) == 0xffff;
}

/* The rest of a TCP packet of a common shape. A long one, and one that is not as it nearly always
 * is, is looked at as the layers do. */
always_inline enum drop shaped_tcp(const struct packet *p, struct view *view)
{
	uint32_t header = (uint32_t)(p->data[p->l4 + 12] >> 4) * 4;

	if (unlikely(p->m->ol_flags & CKSUM_VERDICTS || !p->rule->verify || header < TCP_BYTES ||
		     header > p->l4_len || !short_sums_right(p, PROTOCOL_TCP)))
		return p->family == 4 && ip_sum_wrong(p) ? DROP_IP_CSUM : tcp_parse(p, view);
	view_fill(view, p, VIEW_TCP, header, p->l4_len - header);
	return DROP_NONE;
}

/* The same of UDP, with a checksum, and as long as IP says. */
always_inline enum drop shaped_udp(const struct packet *p, struct view *view)
{
	const uint8_t *udp = p->data + p->l4;

	if (unlikely(p->m->ol_flags & CKSUM_VERDICTS || !p->rule->verify ||
		     host16(udp + 4) != p->l4_len || !load16(udp + 6) ||
		     !short_sums_right(p, PROTOCOL_UDP)))
		return view_parse(p->m, p->rule, view);
	view_fill(view, p, VIEW_UDP, UDP_BYTES, p->l4_len - UDP_BYTES);
	return DROP_NONE;
}

always_inline enum drop shaped_parse(const struct rte_mbuf *m, const struct view_matcher *matcher,
				     unsigned vlans, struct view *view)
{
	const struct view_rule *rule = &matcher->rule;
	struct packet p = packet_make(m, rule, vlans);

	if (likely(shape_fits(&p, &matcher->shape[VIEW_SHAPE_TCP4], vlans)))
		return shaped_tcp(&p, view);
	if (shape_fits(&p, &matcher->shape[VIEW_SHAPE_UDP4], vlans))
		return shaped_udp(&p, view);
	if (!rule->ip6)
		return view_parse(m, rule, view);
	if (shape_fits6(&p, &matcher->shape[VIEW_SHAPE_TCP6], vlans))
		return shaped_tcp(&p, view);
	if (shape_fits6(&p, &matcher->shape[VIEW_SHAPE_UDP6], vlans))
		return shaped_udp(&p, view);
	return view_parse(m, rule, view);
}

/* The cache lines that hold the headers and a short payload. */
always_inline void packet_prefetch(const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned length = RTE_MIN(m->data_len, SHORT_BYTES + SIMD_BYTES);

	rte_prefetch0(data);
	for (unsigned at = RTE_CACHE_LINE_SIZE; at < length; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(data + at);
}

/* The reasons are bytes, which may alias anything: `restrict` says that they do not. */
always_inline unsigned burst_parse(struct rte_mbuf *const *restrict pkt, unsigned count,
				   const struct view_matcher *restrict matcher, unsigned vlans,
				   struct view *restrict view, uint8_t *restrict reason)
{
	unsigned among = 0;

	for (unsigned i = 0; i < count; i++) {
		enum drop drop = shaped_parse(pkt[i], matcher, vlans, &view[i]);

		reason[i] = (uint8_t)drop;
		among |= likely(!drop) ? 1u << view[i].kind : VIEW_REFUSED;
	}
	return among;
}

void view_prefetch_burst(struct rte_mbuf *const *pkt, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		packet_prefetch(pkt[i]);
}

unsigned view_parse_burst(struct rte_mbuf *const *pkt, unsigned count,
			  const struct view_matcher *matcher, struct view *view, uint8_t *reason)
{
	switch (matcher->rule.vlans) {
	case 0:
		return burst_parse(pkt, count, matcher, 0, view, reason);
	case 1:
		return burst_parse(pkt, count, matcher, 1, view, reason);
	default:
		return burst_parse(pkt, count, matcher, 2, view, reason);
	}
}
