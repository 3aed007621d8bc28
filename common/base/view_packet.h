/* What the two ways through a packet share (view.c, view_burst.c): the packet on its way, its sums,
 * its transport header. Inside of view only. */
#ifndef BASE_VIEW_PACKET_H
#define BASE_VIEW_PACKET_H

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "checksum.h"
#include "view.h"

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

#define INLINE_BYTES 96 /* measured */

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

always_inline void store16_be(uint8_t *at, uint16_t value)
{
	uint16_t be = __builtin_bswap16(value);

	memcpy(at, &be, sizeof be);
}

always_inline void store32_be(uint8_t *at, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(at, &value, sizeof value);
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

/* The sum over bytes that may lie in several segments (view.c). */
uint64_t view_segments_sum(const struct rte_mbuf *, uint32_t offset, uint32_t length);

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
	return view_segments_sum(p->m, p->l4, p->l4_len);
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

#endif
