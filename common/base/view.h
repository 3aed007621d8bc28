/* What the worker found out about a received packet, once: its kind and where its parts are.
 *
 * view_parse() checks bounds, lengths and checksums and classifies; it changes nothing. A packet
 * whose returned drop reason is not DROP_NONE has no valid view, unless it is DROP_UDP_CSUM: a sink
 * counts such packets. */
#ifndef BASE_VIEW_H
#define BASE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf_core.h>

#include "drop.h"

enum view_kind { VIEW_ARP, VIEW_ICMP, VIEW_TCP, VIEW_UDP, VIEW_CARRIED, VIEW_KINDS };

struct view {
	uint16_t l3;      /* offset of the IP or ARP header from the start of the frame */
	uint16_t l4;      /* offset of the TCP, UDP or ICMP header */
	uint16_t payload; /* offset of the payload; headers up to here lie in the first segment */
	uint16_t payload_len; /* by the IP total length (UDP: its own): no Ethernet padding in it */
	uint8_t kind;         /* enum view_kind */
	uint8_t family;       /* 4 or 6 */
};

/* What a port accepts. */
struct view_rule {
	uint8_t mac[6];      /* own address */
	uint8_t vlans;       /* tags every frame must carry, 0-2 */
	uint16_t vlan_id[2]; /* outermost first, host order */
	bool ip6;            /* IPv6 is spoken: frames to Neighbour Discovery's groups pass, too */
	bool verify;         /* verify checksums in software */
	/* Also accept a TCP or UDP checksum field that holds the pseudo-header's sum alone: how a
	 * kernel on this machine leaves it to a device that then does not compute it (veth, tap).
	 * Such a field says nothing about the payload: do not derive a reply's checksum from it. */
	bool partial;
	/* The outside of a tunnel: packets of these protocols are let through as VIEW_CARRIED, with
	 * `l4` where they begin, and UDP over IPv6 needs no checksum (RFC 6935). */
	bool is_tunnel;
	uint8_t carries[2];
};

/* Parse one frame. With a checksum verdict of the NIC in ol_flags that verdict is used (ICMP is
 * always summed here). Returns DROP_NONE and fills view, or the reason for refusing; ETH_SHORT also
 * when headers are not all in the first segment. */
enum drop view_parse(const struct rte_mbuf *, const struct view_rule *, struct view *);

/* The tags alone: DROP_NONE if they are this port's. */
enum drop view_tags(const struct rte_mbuf *, const struct view_rule *);

/* What the common shapes look like to a rule: the 32 bytes of a frame that end behind the protocol
 * field of its IP header and what follows it, of which only the bits in the mask count. Without a
 * tag the destination address is among them. */
enum { VIEW_SHAPE_TCP4, VIEW_SHAPE_UDP4, VIEW_SHAPE_TCP6, VIEW_SHAPE_UDP6, VIEW_SHAPES };
struct view_shape {
	uint8_t want[32], mask[32];
};

/* A rule made ready for bursts. */
struct view_matcher {
	struct view_rule rule;
	struct view_shape shape[VIEW_SHAPES]; /* those of IPv6 where the rule has it */
};
void view_matcher_make(struct view_matcher *, const struct view_rule *);

/* Bring the headers of a burst into the cache, before it is parsed. */
void view_prefetch_burst(struct rte_mbuf *const *pkt, unsigned count);

/* The same over a burst; for the common header shape this is one masked compare a packet. reason[i]
 * and view[i] are written for every i. Returns what is among them: a bit 1 << kind for each kind,
 * and VIEW_REFUSED. */
#define VIEW_REFUSED (1u << VIEW_KINDS)
unsigned view_parse_burst(struct rte_mbuf *const *pkt, unsigned count, const struct view_matcher *,
			  struct view *view, uint8_t *reason);

#endif
