/* Packets in: bounds, lengths, checksums and kind, once per packet.
 *
 * Nearly every packet of a run has one shape: to this port, with this port's tags, IPv4 without
 * options, no fragment, TCP or else UDP, in one segment. A burst is first prefetched, then each
 * packet is held against that shape by a masked compare of four words; what differs goes through
 * the layers one by one. Both ways end in the same code for the transport header, so they cannot
 * disagree there.
 *
 * The number of tags is a constant in each of three copies of that loop: with it in a variable a
 * packet took half as long again, as the expected words no longer fit into registers.
 *
 * Rejected: vector instructions for the compare (it is a small part of the time, and they are not
 * portable), and loops over the burst per layer (the view of a packet would go to memory and back
 * between them). */
#include "view.h"

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "checksum.h"
#include "simd.h"

#define ETHER_IP4  0x0800
#define ETHER_ARP  0x0806
#define ETHER_IP6  0x86dd
#define ETHER_VLAN 0x8100
#define ETHER_QINQ 0x88a8

#define ETH_BYTES  14
#define TAG_BYTES  4
#define ARP_BYTES  28
#define IP_BYTES   20
#define IP6_BYTES  40
#define UDP_BYTES  8
#define TCP_BYTES  20
#define ICMP_BYTES 8

#define PROTOCOL_ICMP  1
#define PROTOCOL_TCP   6
#define PROTOCOL_UDP   17
#define PROTOCOL_ICMP6 58

/* IPv6 extension headers (RFC 8200 section 4) */
#define EXTENSION_HOPS        0
#define EXTENSION_ROUTING     43
#define EXTENSION_FRAGMENT    44
#define EXTENSION_DESTINATION 60

#define MAC_MASK       0x0000ffffffffffffu
#define CKSUM_VERDICTS (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)

#define INLINE_BYTES 96  /* measured */
#define SHORT_BYTES  184 /* TCP header and payload that are summed by short_sums_right() ... */
#define ROOM_BYTES   (SHORT_BYTES + SIMD_BYTES) /* ... which reads up to here in the buffer */

#define always_inline static inline __attribute__((always_inline))

always_inline uint16_t load16(const uint8_t *data)
{
	uint16_t value;

	memcpy(&value, data, sizeof value);
	return value;
}

always_inline uint32_t load32(const uint8_t *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof value);
	return value;
}

always_inline uint64_t load64(const uint8_t *data)
{
	uint64_t value;

	memcpy(&value, data, sizeof value);
	return value;
}

always_inline uint16_t host16(const uint8_t *data)
{
	return __builtin_bswap16(load16(data));
}

/* A packet on its way through the layers. */
struct packet {
	const struct rte_mbuf *m;
	const struct view_rule *rule;
	const uint8_t *data;
	uint32_t room; /* bytes of the first segment: headers must lie in it */
	uint32_t l3, l4;
	uint32_t l4_len; /* transport header and payload, by the IP total length */
	uint8_t family;
};

/* The sum over bytes that may lie in several segments. A segment that begins at an odd place has
 * its bytes in the other half of each word (RFC 1071 section 2 (B)). */
static uint64_t segments_sum(const struct rte_mbuf *m, uint32_t offset, uint32_t length)
{
	uint64_t sum = 0;
	bool odd = false;

	for (; length && m; m = m->next, offset = 0) {
		uint32_t part = RTE_MIN(m->data_len - offset, length);
		const uint8_t *data = rte_pktmbuf_mtod_offset(m, const uint8_t *, offset);
		uint64_t part_sum = checksum_sum(data, part);

		sum += odd ? __builtin_bswap16(checksum_fold(part_sum)) : part_sum;
		odd ^= part & 1;
		length -= part;
	}
	return sum;
}

always_inline uint64_t carry_add(uint64_t sum, uint64_t word)
{
	sum += word;
	return sum + (sum < word);
}

/* The sum over `fixed` bytes of header, a constant and a multiple of 4 that is unrolled, and `more`
 * bytes: for few of them a loop here is over before checksum_sum() is set up. */
always_inline uint64_t header_sum(const uint8_t *data, uint32_t fixed, uint32_t more)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i + 8 <= fixed; i += 8)
		sum = carry_add(sum, load64(data + i));
	if (i < fixed)
		sum = carry_add(sum, load32(data + i));
	data += fixed;
	if (more > INLINE_BYTES)
		return carry_add(sum, checksum_sum(data, more));
	for (; more >= 8; more -= 8, data += 8)
		sum = carry_add(sum, load64(data));
	if (more) /* shift the bytes in front of them out */
		sum = carry_add(sum, load64(data + more - 8) >> (64 - 8 * more));
	return sum;
}

/* The sum over the transport header, of at least `fixed` bytes, and its payload. */
always_inline uint64_t l4_sum(const struct packet *p, uint32_t fixed)
{
	if (likely(p->l4 + p->l4_len <= p->room))
		return header_sum(p->data + p->l4, fixed, p->l4_len - fixed);
	return segments_sum(p->m, p->l4, p->l4_len);
}

/* Is the IP header's checksum wrong, by the NIC's verdict or else by our own sum? */
always_inline bool ip_sum_wrong(const struct packet *p)
{
	const uint8_t *ip = p->data + p->l3;

	switch (p->m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) {
	case RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN:
		return p->rule->verify &&
		       checksum_fold(header_sum(ip, IP_BYTES, p->l4 - p->l3 - IP_BYTES)) != 0xffff;
	case RTE_MBUF_F_RX_IP_CKSUM_BAD:
		return true;
	default:
		return false;
	}
}

always_inline void view_fill(struct view *view, const struct packet *p, enum view_kind kind,
			     uint32_t header, uint32_t payload_len)
{
	*view = (struct view){
		.l3 = (uint16_t)p->l3,
		.l4 = (uint16_t)p->l4,
		.payload = (uint16_t)(p->l4 + header),
		.payload_len = (uint16_t)payload_len,
		.kind = (uint8_t)kind,
		.family = p->family,
	};
}

/* The sum over the pseudo header. */
always_inline uint64_t pseudo_sum(const struct packet *p, uint8_t protocol)
{
	const uint8_t *ip = p->data + p->l3;

	if (p->family == 6)
		return checksum_pseudo6(ip + 8, protocol, (uint16_t)p->l4_len);
	return checksum_pseudo4(load32(ip + 12), load32(ip + 16), protocol, (uint16_t)p->l4_len);
}

/* The field at l4 + field holds the sum of the pseudo header and nothing else. */
always_inline bool l4_sum_partial(const struct packet *p, uint64_t pseudo, unsigned field)
{
	return p->rule->partial && load16(p->data + p->l4 + field) == checksum_fold(pseudo);
}

/* The same for the checksum of TCP or UDP, whose field is `field` bytes into the header. */
always_inline bool l4_sum_wrong(const struct packet *p, uint8_t protocol, uint32_t fixed,
				unsigned field)
{
	uint64_t pseudo;

	switch (p->m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) {
	case RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN:
		break;
	case RTE_MBUF_F_RX_L4_CKSUM_BAD:
		return true;
	default:
		return false;
	}
	if (!p->rule->verify)
		return false;
	pseudo = pseudo_sum(p, protocol);
	return checksum_fold(carry_add(pseudo, l4_sum(p, fixed))) != 0xffff &&
	       !l4_sum_partial(p, pseudo, field);
}

always_inline enum drop tcp_parse(const struct packet *p, struct view *view)
{
	uint32_t header;

	if (unlikely(p->l4_len < TCP_BYTES))
		return DROP_TCP_BAD;
	if (unlikely(p->l4 + TCP_BYTES > p->room))
		return DROP_ETH_SHORT;
	header = (uint32_t)(p->data[p->l4 + 12] >> 4) * 4;
	if (unlikely(header < TCP_BYTES || header > p->l4_len))
		return DROP_TCP_BAD;
	if (unlikely(p->l4 + header > p->room))
		return DROP_ETH_SHORT;
	if (unlikely(l4_sum_wrong(p, PROTOCOL_TCP, TCP_BYTES, 16)))
		return DROP_TCP_CSUM;
	view_fill(view, p, VIEW_TCP, header, p->l4_len - header);
	return DROP_NONE;
}

/* The datagram is as long as its own length says; IP may carry more (RFC 768 and 9868). A checksum
 * field of zero means none, which IPv6 does not allow (RFC 8200 section 8.1). */
static enum drop udp_parse(struct packet *p, struct view *view)
{
	uint32_t length;

	if (p->l4_len < UDP_BYTES)
		return DROP_UDP_BAD;
	if (p->l4 + UDP_BYTES > p->room)
		return DROP_ETH_SHORT;
	length = host16(p->data + p->l4 + 4);
	if (length < UDP_BYTES || length > p->l4_len)
		return DROP_UDP_BAD;
	p->l4_len = length;
	view_fill(view, p, VIEW_UDP, UDP_BYTES, length - UDP_BYTES);
	if (!load16(p->data + p->l4 + 6))
		return p->family == 6 ? DROP_UDP_CSUM : DROP_NONE;
	return l4_sum_wrong(p, PROTOCOL_UDP, UDP_BYTES, 6) ? DROP_UDP_CSUM : DROP_NONE;
}

/* ICMPv6 has a pseudo header (RFC 4443 section 2.3), ICMP has none. */
static enum drop icmp_parse(const struct packet *p, struct view *view)
{
	uint64_t pseudo = p->family == 6 ? pseudo_sum(p, PROTOCOL_ICMP6) : 0;

	if (p->l4_len < ICMP_BYTES)
		return DROP_ICMP_BAD;
	if (p->l4 + ICMP_BYTES > p->room)
		return DROP_ETH_SHORT;
	if (p->rule->verify && checksum_fold(carry_add(pseudo, l4_sum(p, ICMP_BYTES))) != 0xffff)
		return DROP_ICMP_BAD;
	view_fill(view, p, VIEW_ICMP, ICMP_BYTES, p->l4_len - ICMP_BYTES);
	return DROP_NONE;
}

static enum drop ip4_parse(struct packet *p, struct view *view)
{
	const uint8_t *ip = p->data + p->l3;
	uint32_t header, total;

	if (p->l3 + IP_BYTES > p->room)
		return DROP_ETH_SHORT;
	header = (ip[0] & 0xfu) * 4;
	total = host16(ip + 2);
	if (ip[0] >> 4 != 4 || header < IP_BYTES || header > total)
		return DROP_IP_BAD;
	if (p->l3 + total > p->m->pkt_len)
		return DROP_IP_CUT; /* AF_PACKET shows so what TSO is to cut for the wire */
	p->l4 = p->l3 + header;
	p->l4_len = total - header;
	if (p->l4 > p->room)
		return DROP_ETH_SHORT;
	if (ip_sum_wrong(p))
		return DROP_IP_CSUM;
	if (host16(ip + 6) & 0x3fff) /* offset, or more to come */
		return DROP_IP_FRAGMENT;
	switch (ip[9]) {
	case PROTOCOL_TCP:
		return tcp_parse(p, view);
	case PROTOCOL_UDP:
		return udp_parse(p, view);
	case PROTOCOL_ICMP:
		return icmp_parse(p, view);
	default:
		return DROP_IP_PROTO;
	}
}

/* Step over the extension headers from *next on. A routing header is passed over where it has been
 * worked off; a fragment only if it is all of the packet (RFC 6946). Options in them are not looked
 * at: none of them concerns an end. */
static enum drop extensions_parse(struct packet *p, uint8_t *next)
{
	uint32_t end = p->l4 + p->l4_len;

	for (unsigned i = 0;; i++) {
		const uint8_t *header = p->data + p->l4;
		uint32_t length;

		if (*next == EXTENSION_HOPS && i)
			return DROP_IP_BAD; /* only directly behind the IPv6 header */
		if (*next != EXTENSION_HOPS && *next != EXTENSION_ROUTING &&
		    *next != EXTENSION_FRAGMENT && *next != EXTENSION_DESTINATION)
			return DROP_NONE;
		if (p->l4 + 8 > end)
			return DROP_IP_BAD;
		if (p->l4 + 8 > p->room)
			return DROP_ETH_SHORT;
		length = *next == EXTENSION_FRAGMENT ? 8 : header[1] * 8u + 8;
		if (p->l4 + length > end)
			return DROP_IP_BAD;
		if (*next == EXTENSION_FRAGMENT && host16(header + 2) & 0xfff9)
			return DROP_IP_FRAGMENT;
		if (*next == EXTENSION_ROUTING && header[3])
			return DROP_IP_NOT_MINE; /* segments are left: another is the destination */
		*next = header[0];
		p->l4 += length;
		p->l4_len -= length;
	}
}

/* mine: to this port's address; else to a multicast one, which only Neighbour Discovery uses. */
static enum drop ip6_parse(struct packet *p, bool mine, struct view *view)
{
	const uint8_t *ip = p->data + p->l3;
	enum drop reason;
	uint8_t next;

	if (p->l3 + IP6_BYTES > p->room)
		return DROP_ETH_SHORT;
	if (ip[0] >> 4 != 6)
		return DROP_IP_BAD;
	p->family = 6;
	p->l4 = p->l3 + IP6_BYTES;
	p->l4_len = host16(ip + 4);
	if (p->l4 + p->l4_len > p->m->pkt_len)
		return DROP_IP_CUT;
	next = ip[6];
	reason = extensions_parse(p, &next);
	if (reason)
		return reason;
	if (p->l4 > p->room)
		return DROP_ETH_SHORT;
	if (!mine && next != PROTOCOL_ICMP6)
		return DROP_ETH_NOT_MINE;
	switch (next) {
	case PROTOCOL_TCP:
		return tcp_parse(p, view);
	case PROTOCOL_UDP:
		return udp_parse(p, view);
	case PROTOCOL_ICMP6:
		return icmp_parse(p, view);
	default:
		return DROP_IP_PROTO;
	}
}

/* ARP for IPv4 over Ethernet (RFC 826); whom it asks for is the neighbor code's concern. */
static enum drop arp_parse(struct packet *p, struct view *view)
{
	static const uint8_t shape[6] = {0, 1, 8, 0, 6, 4};

	if (p->l3 + ARP_BYTES > p->room)
		return DROP_ETH_SHORT;
	if (memcmp(p->data + p->l3, shape, sizeof shape) != 0)
		return DROP_ARP_BAD;
	p->l4 = p->l3;
	view_fill(view, p, VIEW_ARP, ARP_BYTES, 0);
	return DROP_NONE;
}

static bool is_tag(uint16_t ether_type)
{
	return ether_type == ETHER_VLAN || ether_type == ETHER_QINQ;
}

/* The frame carries exactly the port's tags. Priority bits are free. */
static enum drop tags_parse(const struct packet *p)
{
	const uint8_t *tag = p->data + ETH_BYTES - 2;

	for (unsigned i = 0; i < p->rule->vlans; i++, tag += TAG_BYTES) {
		if (!is_tag(host16(tag)))
			return DROP_ETH_VLAN;
		if (ETH_BYTES + (i + 1) * TAG_BYTES > p->room)
			return DROP_ETH_SHORT;
		if ((host16(tag + 2) & 0xfff) != p->rule->vlan_id[i])
			return DROP_ETH_VLAN;
	}
	return is_tag(host16(tag)) ? DROP_ETH_VLAN : DROP_NONE;
}

static enum drop frame_parse(struct packet *p, struct view *view)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	bool mine, group; /* RFC 2464 section 7: 33:33 and the end of the group's address */
	uint16_t ether_type;
	enum drop reason;

	if (p->room < ETH_BYTES)
		return DROP_ETH_SHORT;
	mine = memcmp(p->data, p->rule->mac, sizeof p->rule->mac) == 0;
	group = p->rule->ip6 && p->data[0] == 0x33 && p->data[1] == 0x33;
	if (!mine && !group && memcmp(p->data, broadcast, sizeof broadcast) != 0)
		return DROP_ETH_NOT_MINE;
	reason = tags_parse(p);
	if (reason)
		return reason;
	ether_type = host16(p->data + p->l3 - 2);
	if (ether_type == ETHER_ARP)
		return arp_parse(p, view);
	if (ether_type == ETHER_IP6 && p->rule->ip6 && (mine || group))
		return ip6_parse(p, mine, view);
	if (!mine)
		return DROP_ETH_NOT_MINE;
	return ether_type == ETHER_IP4 ? ip4_parse(p, view) : DROP_ETH_TYPE;
}

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

always_inline struct packet packet_make(const struct rte_mbuf *m, const struct view_rule *rule,
					unsigned vlans)
{
	return (struct packet){
		.m = m,
		.rule = rule,
		.data = rte_pktmbuf_mtod(m, const uint8_t *),
		.room = m->data_len,
		.l3 = ETH_BYTES + vlans * TAG_BYTES,
		.family = 4,
	};
}

enum drop view_parse(const struct rte_mbuf *m, const struct view_rule *rule, struct view *view)
{
	struct packet p = packet_make(m, rule, rule->vlans);

	return frame_parse(&p, view);
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
