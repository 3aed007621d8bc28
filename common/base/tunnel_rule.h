/* What a tunnel is: its kind, its ends and the numbers that tell tunnels apart, as the
 * configuration has them. The pools and ranges belong to whoever filled them in. */
#ifndef BASE_TUNNEL_RULE_H
#define BASE_TUNNEL_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

enum tunnel_kind {
	TUNNEL_NONE,
	TUNNEL_VXLAN,  /* RFC 7348 */
	TUNNEL_GRE,    /* RFC 2784, key: RFC 2890 */
	TUNNEL_GRETAP, /* the same with Ethernet frames */
	TUNNEL_GTPU,   /* 3GPP TS 29.281, PDU session container: TS 38.415 */
	TUNNEL_IPIP,   /* RFC 2003, 4213, 2473 */
	TUNNEL_MPLS,   /* RFC 3032 */
	TUNNEL_KINDS
};

#define TUNNEL_STACK_MAX 4 /* labels above the one that tells tunnels apart */

struct number_range {
	uint32_t first, last;
};

/* VNIs, keys, TEIDs or labels: ranges in the order in which the user wrote them. */
struct number_pool {
	struct number_range *range;
	unsigned ranges; /* 0: absent */
};

struct tunnel_rule {
	enum tunnel_kind kind;
	struct ip_pool local, local6;   /* own ends; of the family of `remote` */
	struct ip_pool remote, remote6; /* far ends; none: where packets come from */
	struct number_pool number;      /* of packets sent */
	struct number_pool own_number;  /* of packets received; absent: the same */
	struct number_pool stack;       /* MPLS: labels above, outermost first */
	uint16_t udp_port;              /* 0: the kind's own */
	bool udp_checksum;
	bool has_qfi; /* GTP-U: with a PDU session container */
	uint8_t qfi;
	bool uplink; /* its direction */
	uint8_t ttl, tos;
};

static inline uint64_t number_pool_count(const struct number_pool *pool)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < pool->ranges; i++)
		count += (uint64_t)pool->range[i].last - pool->range[i].first + 1;
	return count;
}

/* Does it carry Ethernet frames, or bare IP packets? */
static inline bool tunnel_has_frames(enum tunnel_kind kind)
{
	return kind == TUNNEL_VXLAN || kind == TUNNEL_GRETAP;
}

static inline bool tunnel_is_udp(enum tunnel_kind kind)
{
	return kind == TUNNEL_VXLAN || kind == TUNNEL_GTPU;
}

/* The underlay's address family; MPLS has none, of its next hop one. */
static inline uint8_t tunnel_family(const struct tunnel_rule *r)
{
	return r->remote6.ranges || (!r->remote.ranges && r->local6.ranges) ? 6 : 4;
}

/* Bytes between the frame's EtherType and what is carried. */
static inline unsigned tunnel_headers(const struct tunnel_rule *r)
{
	unsigned ip = tunnel_family(r) == 6 ? 40 : 20;

	switch (r->kind) {
	case TUNNEL_VXLAN:
		return ip + 8 + 8;
	case TUNNEL_GTPU:
		return ip + 8 + (r->has_qfi ? 16 : 8);
	case TUNNEL_GRE:
	case TUNNEL_GRETAP:
		return ip + (r->number.ranges ? 8 : 4);
	case TUNNEL_IPIP:
		return ip;
	case TUNNEL_MPLS:
		return 4 * (1 + (unsigned)number_pool_count(&r->stack));
	default:
		return 0;
	}
}

/* By how much the largest IP packet inside is smaller than outside. */
static inline unsigned tunnel_overhead(const struct tunnel_rule *r)
{
	return tunnel_headers(r) + (tunnel_has_frames(r->kind) ? 14 : 0);
}

#endif
