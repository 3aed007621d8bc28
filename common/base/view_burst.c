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

/* The common shapes; that of TCP over IPv6 where the rule has IPv6. */
enum { SHAPE_TCP4, SHAPE_UDP4, SHAPE_TCP6, SHAPES };

/* What a common shape looks like: the 32 bytes of a frame that end behind the protocol field of
 * its IP header and what follows it, of which only the bits in the mask count. Without a tag the
 * destination address is among them. */
struct shape {
	_Alignas(32) uint8_t want[SIMD_BYTES], mask[SIMD_BYTES];
};

#define SHAPE_L3 ETH_BYTES /* offset of the IP header in it */

static void shape_set(struct shape *shape, unsigned at, uint8_t want, uint8_t mask)
{
	shape->want[at] = want;
	shape->mask[at] = mask;
}

/* A tag whose last byte is at `end`, its priority bits free. */
static void shape_tag(struct shape *shape, unsigned end, uint16_t ether_type, uint16_t vlan_id)
{
	shape_set(shape, end - 3, (uint8_t)(ether_type >> 8), 0xff);
	shape_set(shape, end - 2, (uint8_t)ether_type, 0xff);
	shape_set(shape, end - 1, (uint8_t)(vlan_id >> 8), 0x0f);
	shape_set(shape, end, (uint8_t)vlan_id, 0xff);
}

/* What IPv4 and IPv6 have in common. */
static struct shape shape_begin(const struct view_rule *rule)
{
	struct shape shape = {0};

	for (unsigned i = 0; !rule->vlans && i < sizeof rule->mac; i++)
		shape_set(&shape, i, rule->mac[i], 0xff);
	if (rule->vlans)
		shape_tag(&shape, SHAPE_L3 - 3, ETHER_VLAN, rule->vlan_id[rule->vlans - 1]);
	if (rule->vlans == 2)
		shape_tag(&shape, SHAPE_L3 - 7, ETHER_QINQ, rule->vlan_id[0]);
	return shape;
}

static struct shape shape_make(const struct view_rule *rule, uint8_t protocol)
{
	struct shape shape = shape_begin(rule);

	shape_set(&shape, SHAPE_L3 - 2, ETHER_IP4 >> 8, 0xff);
	shape_set(&shape, SHAPE_L3 - 1, ETHER_IP4 & 0xff, 0xff);
	shape_set(&shape, SHAPE_L3, 0x45, 0xff);
	shape_set(&shape, SHAPE_L3 + 6, 0, 0x3f); /* no fragment */
	shape_set(&shape, SHAPE_L3 + 7, 0, 0xff);
	shape_set(&shape, SHAPE_L3 + 9, protocol, 0xff);
	return shape;
}

/* IPv6, TCP without extension headers. */
static struct shape shape_make6(const struct view_rule *rule)
{
	struct shape shape = shape_begin(rule);

	shape_set(&shape, SHAPE_L3 - 2, ETHER_IP6 >> 8, 0xff);
	shape_set(&shape, SHAPE_L3 - 1, ETHER_IP6 & 0xff, 0xff);
	shape_set(&shape, SHAPE_L3, 0x60, 0xf0);
	shape_set(&shape, SHAPE_L3 + 6, PROTOCOL_TCP, 0xff);
	return shape;
}

/* Has the frame the common shape? Its headers lie in the first segment, its payload there or
 * behind.
 */
always_inline bool shape_fits(struct packet *p, const struct shape *shape, unsigned vlans)
{
	uint32_t total;

	if (unlikely(p->room < p->l3 + IP_BYTES + TCP_BYTES))
		return false;
	if (unlikely(simd_differs(p->data + p->l3 - SHAPE_L3, shape->want, shape->mask)))
		return false;
	if (vlans && unlikely((load64(p->data) ^ load64(p->rule->mac)) & MAC_MASK))
		return false;
	total = host16(p->data + p->l3 + 2);
	p->l4 = p->l3 + IP_BYTES;
	p->l4_len = total - IP_BYTES;
	return likely(total >= IP_BYTES + TCP_BYTES && p->l3 + total <= p->m->pkt_len);
}

/* The same of IPv6. */
always_inline bool shape_fits6(struct packet *p, const struct shape *shape, unsigned vlans)
{
	if (unlikely(p->room < p->l3 + IP6_BYTES + TCP_BYTES))
		return false;
	if (unlikely(simd_differs(p->data + p->l3 - SHAPE_L3, shape->want, shape->mask)))
		return false;
	if (vlans && unlikely((load64(p->data) ^ load64(p->rule->mac)) & MAC_MASK))
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

always_inline enum drop shaped_parse(const struct rte_mbuf *m, const struct view_rule *rule,
				     const struct shape shape[SHAPES], unsigned vlans,
				     struct view *view)
{
	struct packet p = packet_make(m, rule, vlans);

	if (likely(shape_fits(&p, &shape[SHAPE_TCP4], vlans)))
		return shaped_tcp(&p, view);
	if (shape_fits(&p, &shape[SHAPE_UDP4], vlans))
		return shaped_udp(&p, view);
	if (rule->ip6 && shape_fits6(&p, &shape[SHAPE_TCP6], vlans))
		return shaped_tcp(&p, view);
	return view_parse(m, rule, view);
}

/* The two cache lines that hold the headers and a short payload; measured, the second is worth 20
 * cycles to a frame that has it. */
always_inline void packet_prefetch(const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

	rte_prefetch0(data);
	if (m->data_len > RTE_CACHE_LINE_SIZE)
		rte_prefetch0(data + RTE_CACHE_LINE_SIZE);
}

/* The reasons are bytes, which may alias anything: `restrict` says that they do not. */
always_inline unsigned burst_parse(struct rte_mbuf *const *restrict pkt, unsigned count,
				   const struct view_rule *restrict rule, unsigned vlans,
				   struct view *restrict view, uint8_t *restrict reason)
{
	struct shape shape[SHAPES];
	unsigned refused = 0;

	shape[SHAPE_TCP4] = shape_make(rule, PROTOCOL_TCP);
	shape[SHAPE_UDP4] = shape_make(rule, PROTOCOL_UDP);
	if (rule->ip6)
		shape[SHAPE_TCP6] = shape_make6(rule);
	for (unsigned i = 0; i < count; i++)
		packet_prefetch(pkt[i]);
	for (unsigned i = 0; i < count; i++) {
		enum drop drop = shaped_parse(pkt[i], rule, shape, vlans, &view[i]);

		reason[i] = (uint8_t)drop;
		refused += drop != DROP_NONE;
	}
	return refused;
}

unsigned view_parse_burst(struct rte_mbuf *const *pkt, unsigned count, const struct view_rule *rule,
			  struct view *view, uint8_t *reason)
{
	switch (rule->vlans) {
	case 0:
		return burst_parse(pkt, count, rule, 0, view, reason);
	case 1:
		return burst_parse(pkt, count, rule, 1, view, reason);
	default:
		return burst_parse(pkt, count, rule, 2, view, reason);
	}
}
