/* Packets in: bounds, lengths, checksums and kind, once per packet.
 *
 * Here a packet goes through the layers one by one, each of which names what is wrong with it. What
 * has the shape that nearly every packet of a run has is done with before, in view_burst.c. Both
 * ways end in the same code for the transport header (view_packet.h), so they cannot disagree
 * there. */
#include "view_packet.h"

/* The sum over bytes that may lie in several segments. A segment that begins at an odd place has
 * its bytes in the other half of each word (RFC 1071 section 2 (B)). */
uint64_t view_segments_sum(const struct rte_mbuf *m, uint32_t offset, uint32_t length)
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
		return p->family == 6 && !p->rule->is_tunnel ? DROP_UDP_CSUM : DROP_NONE;
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

static enum drop other_parse(const struct packet *p, uint8_t protocol, struct view *view)
{
	const uint8_t *carries = p->rule->carries;

	if (!p->rule->is_tunnel || (protocol != carries[0] && protocol != carries[1]))
		return DROP_IP_PROTO;
	view_fill(view, p, VIEW_CARRIED, 0, p->l4_len);
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
		return other_parse(p, ip[9], view);
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
		return other_parse(p, next, view);
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

enum drop view_parse(const struct rte_mbuf *m, const struct view_rule *rule, struct view *view)
{
	struct packet p = packet_make(m, rule, rule->vlans);

	return frame_parse(&p, view);
}

enum drop view_tags(const struct rte_mbuf *m, const struct view_rule *rule)
{
	struct packet p = packet_make(m, rule, rule->vlans);

	return p.room < ETH_BYTES ? DROP_ETH_SHORT : tags_parse(&p);
}
