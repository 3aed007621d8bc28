/* Finished frames into a tunnel.
 *
 * One copy of fixed size lays the template before what is carried, then lengths, checksums and, for
 * UDP, a source port by the inner flow are written over it (RFC 7348 section 5: so that the
 * underlay spreads flows). What kind it is, is decided once per burst: the body is inlined for the
 * common one. Where a packet has no room in front of it - a piece that lies somewhere else - the
 * headers get a packet of their own, with that one behind. */
#include <string.h>

#include "checksum.h"
#include "tunnel.h"
#include "view_packet.h"

#define PORT_FIRST 0xc000u /* the dynamic ports: RFC 6335 section 6 */
#define COPY_SMALL 64u

static void address_store(uint8_t *at, u128 address)
{
	for (int i = 15; i >= 0; i--, address >>= 8)
		at[i] = (uint8_t)address;
}

/* A hash of the inner flow: its addresses, and the four bytes behind the IP header. */
always_inline uint32_t flow_hash(const uint8_t *ip, uint32_t room)
{
	uint64_t h;

	if (likely(ip[0] >> 4 == 4 && room >= IP_BYTES + 4)) {
		h = load64(ip + 12) ^ (uint64_t)load32(ip + IP_BYTES) * 0xd6e8feb86659fd93u;
	} else if (ip[0] >> 4 == 6 && room >= IP6_BYTES + 4) {
		h = load64(ip + 8) ^ load64(ip + 16) * 3 ^ load64(ip + 24) * 5 ^
		    load64(ip + 32) * 7;
		h ^= (uint64_t)load32(ip + IP6_BYTES) * 0xd6e8feb86659fd93u;
	} else {
		return 0;
	}
	return (uint32_t)(h * 0x9e3779b97f4a7c15u >> 50);
}

static u128 address_load(const uint8_t *at)
{
	u128 address = 0;

	for (unsigned i = 0; i < 16; i++)
		address = address << 8 | at[i];
	return address;
}

/* Whom an IPv6 packet is for: a neighbour solicitation goes to a group, and names its target. */
static const uint8_t *peer6(const uint8_t *ip, uint32_t room)
{
	bool solicits = ip[24] == 0xff && ip[6] == PROTOCOL_ICMP6 &&
			room >= IP6_BYTES + ICMP_BYTES + 16 && ip[IP6_BYTES] == 135;

	return solicits ? ip + IP6_BYTES + ICMP_BYTES : ip + 24;
}

/* Which way a frame goes, by its inner addresses. */
static struct tunnel_path path_of(const struct tunnel *t, const uint8_t *frame, uint32_t room)
{
	const u128 mapped = (u128)0xffff << 32;
	const uint8_t *ip = frame + ETH_BYTES;

	switch (host16(frame + ETH_BYTES - 2)) {
	case ETHER_IP4:
		if (room < ETH_BYTES + IP_BYTES)
			break;
		return tunnel_path(t, mapped | __builtin_bswap32(load32(ip + 12)),
				   mapped | __builtin_bswap32(load32(ip + 16)));
	case ETHER_IP6:
		if (room < ETH_BYTES + IP6_BYTES)
			break;
		return tunnel_path(t, address_load(ip + 8),
				   address_load(peer6(ip, room - ETH_BYTES)));
	case ETHER_ARP:
		if (room < ETH_BYTES + ARP_BYTES)
			break;
		return tunnel_path(t, mapped | __builtin_bswap32(load32(ip + 14)),
				   mapped | __builtin_bswap32(load32(ip + 24)));
	default:
		break;
	}
	return tunnel_path(t, 0, 0);
}

/* Write ends and number over the template's. */
static void path_write(const struct tunnel *t, uint8_t *outer, const struct tunnel_path *path)
{
	enum tunnel_kind kind = t->rule->kind;
	uint8_t *carried = outer + t->headers;

	if (kind == TUNNEL_MPLS) {
		store32_be(carried - 4, path->number << 12 | 0x100 | t->rule->ttl);
		return;
	}
	if (t->family == 6) {
		address_store(outer + 8, path->local);
		address_store(outer + 24, path->remote);
		outer += IP6_BYTES;
	} else {
		store32_be(outer + 12, (uint32_t)path->local);
		store32_be(outer + 16, (uint32_t)path->remote);
		outer += IP_BYTES;
	}
	if (kind == TUNNEL_VXLAN)
		store32_be(outer + UDP_BYTES + 4, path->number << 8);
	else if (kind == TUNNEL_GTPU)
		store32_be(outer + UDP_BYTES + 4, path->number);
	else if (kind != TUNNEL_IPIP && t->rule->number.ranges)
		store32_be(outer + 4, path->number);
}

/* The MAC address of a way's next hop, or NULL. Labels may go to a gateway of either family, where
 * no far end is named. */
static inline const uint8_t *hop_mac(const struct tunnel *t, u128 remote)
{
	struct nexthop *hop = t->hop;

	if (unlikely(!remote)) {
		if (t->rule->kind != TUNNEL_MPLS)
			return NULL;
		return hop->has_gateway ? hop->gateway : hop->has_gateway6 ? hop->gateway6 : NULL;
	}
	if (t->family == 6)
		return hop->has_gateway6 ? hop->gateway6 : nexthop_neighbor(hop, remote);
	return hop->has_gateway ? hop->gateway : nexthop_neighbor(hop, remote);
}

static void udp_sum_write(const struct tunnel *t, const struct rte_mbuf *m, uint8_t *outer,
			  uint8_t *udp, uint16_t length)
{
	uint64_t sum;
	uint16_t check;

	sum = t->family == 6 ? checksum_pseudo6(outer + 8, PROTOCOL_UDP, length)
			     : checksum_pseudo4(load32(outer + 12), load32(outer + 16),
						PROTOCOL_UDP, length);
	sum += view_segments_sum(m, (uint32_t)(udp - rte_pktmbuf_mtod(m, uint8_t *)), length);
	check = (uint16_t)~checksum_fold(sum);
	if (!check) /* zero would mean: none (RFC 768) */
		check = 0xffff;
	memcpy(udp + 6, &check, sizeof check);
}

/* Lengths, protocol and checksums of the headers of `m`, whose first byte of carried things is the
 * IP version `inner` if they are packets; carried: how many bytes. */
always_inline void headers_finish(const struct tunnel *t, struct rte_mbuf *m, uint8_t *outer,
				  enum tunnel_kind kind, uint8_t family, uint32_t carried,
				  bool inner6, uint32_t hash)
{
	uint32_t ip = family == 6 ? IP6_BYTES : IP_BYTES;
	uint16_t length = (uint16_t)(carried + t->headers - ip);
	uint8_t *next = outer + ip;

	if (kind == TUNNEL_MPLS)
		return;
	if (kind == TUNNEL_IPIP)
		outer[family == 6 ? 6 : 9] = inner6 ? 41 : 4;
	if (family == 6) {
		store16_be(outer + 4, length);
	} else {
		uint16_t check;

		store16_be(outer + 2, (uint16_t)(length + IP_BYTES));
		if (likely(t->single && tunnel_is_udp(kind)))
			check = (uint16_t)~checksum_fold(
				t->ip_sum + __builtin_bswap16((uint16_t)(length + IP_BYTES)));
		else
			check = (uint16_t)~checksum_fold(header_sum(outer, IP_BYTES, 0));
		memcpy(outer + 10, &check, sizeof check);
	}
	if (kind == TUNNEL_GRE)
		store16_be(next + 2, inner6 ? ETHER_IP6 : ETHER_IP4);
	if (!tunnel_is_udp(kind))
		return;
	store16_be(next, (uint16_t)(PORT_FIRST | hash));
	store16_be(next + 4, length);
	if (kind == TUNNEL_GTPU) /* what follows the eight bytes that all messages have */
		store16_be(next + UDP_BYTES + 2, (uint16_t)(length - UDP_BYTES - 8));
	if (unlikely(t->rule->udp_checksum))
		udp_sum_write(t, m, outer, next, length);
}

/* The headers in a packet of their own. */
static __attribute__((noinline)) struct rte_mbuf *front_apart(struct tx *tx, struct rte_mbuf *m)
{
	struct rte_mbuf *front = tx_new(tx);

	if (!front)
		return NULL;
	front->next = m;
	front->nb_segs = (uint16_t)(m->nb_segs + 1);
	front->pkt_len = m->pkt_len;
	front->ol_flags = 0;
	return front;
}

/* One frame; NULL if it cannot be sent. `mac`: of the only next hop, or NULL. */
always_inline struct rte_mbuf *seal(struct tunnel *t, struct tx *tx, struct rte_mbuf *m,
				    enum tunnel_kind kind, uint8_t family, const uint8_t *mac)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *carried, *outer;
	const bool bare = !tunnel_has_frames(kind);
	uint32_t front = t->l3 + (uint32_t)t->headers;
	uint16_t type = host16(frame + ETH_BYTES - 2), skip = bare ? ETH_BYTES : 0;
	struct tunnel_path path;
	uint32_t hash = 0;

	if (unlikely(m->data_len < ETH_BYTES + IP_BYTES) ||
	    (bare && unlikely(type != ETHER_IP4 && type != ETHER_IP6)))
		return NULL;
	if (unlikely(!t->single)) {
		path = path_of(t, frame, m->data_len);
		mac = hop_mac(t, path.remote);
	}
	if (unlikely(!mac))
		return NULL;
	if (tunnel_is_udp(kind) && likely(type == ETHER_IP4 || type == ETHER_IP6))
		hash = flow_hash(frame + ETH_BYTES, m->data_len - ETH_BYTES);
	m->data_off = (uint16_t)(m->data_off + skip);
	m->data_len = (uint16_t)(m->data_len - skip);
	m->pkt_len -= skip;
	carried = frame + skip;
	if (unlikely(m->data_off < TUNNEL_FRONT_MAX || RTE_MBUF_HAS_EXTBUF(m))) {
		struct rte_mbuf *apart = front_apart(tx, m);

		if (!apart)
			return NULL;
		m = apart;
		carried = rte_pktmbuf_mtod(m, uint8_t *);
	}
	if (likely(front <= COPY_SMALL))
		memcpy(carried - COPY_SMALL, t->front + TUNNEL_FRONT_MAX - COPY_SMALL, COPY_SMALL);
	else
		memcpy(carried - TUNNEL_FRONT_MAX, t->front, TUNNEL_FRONT_MAX);
	memcpy(carried - front, mac, 6);
	outer = carried - t->headers;
	if (unlikely(!t->single))
		path_write(t, outer, &path);
	m->data_off = (uint16_t)(m->data_off - front);
	m->data_len = (uint16_t)(m->data_len + front);
	m->pkt_len += front;
	headers_finish(t, m, outer, kind, family, m->pkt_len - front, type == ETHER_IP6, hash);
	return m;
}

always_inline uint32_t seal_burst(struct tunnel *t, struct tx *tx, struct rte_mbuf **pkt,
				  uint32_t count, enum tunnel_kind kind, uint8_t family)
{
	const uint8_t *mac = t->single ? hop_mac(t, t->one.remote) : NULL;
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *m = seal(t, tx, pkt[i], kind, family, mac);

		if (likely(m != NULL))
			pkt[left++] = m;
		else
			tx->release(tx, pkt[i]);
	}
	return left;
}

uint32_t tunnel_seal(struct tunnel *t, struct tx *tx, struct rte_mbuf **pkt, uint32_t count)
{
	if (likely(t->rule->kind == TUNNEL_VXLAN && t->family == 4))
		return seal_burst(t, tx, pkt, count, TUNNEL_VXLAN, 4);
	return seal_burst(t, tx, pkt, count, t->rule->kind, t->family);
}
