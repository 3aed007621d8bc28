/* The local network's housekeeping for one worker: ARP answered and asked, ICMP echo answered.
 *
 * Pure packets in, packets out, like an engine; `now` in ns. It answers for every own address - the
 * port's and those of the pools that traffic uses as its own - and keeps the worker's next hops
 * resolved: the gateway, or each destination on the link, asked again while the run lasts so that a
 * peer that moved to another MAC address is followed. */
#ifndef BASE_NEIGHBOR_H
#define BASE_NEIGHBOR_H

#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "engine.h"
#include "nexthop.h"
#include "pool.h"

struct neighbor_address {
	uint32_t address, mask; /* host order */
};

struct neighbor {
	uint8_t mac[6]; /* own */
	uint8_t vlans;  /* tags of every frame, outermost first */
	uint16_t vlan[2];
	const struct neighbor_address *address; /* of the port */
	unsigned addresses;
	const struct ip_pool *const *pool; /* further own addresses */
	unsigned pools;
	uint32_t gateway; /* host order; 0: none, or its MAC address is configured */
	struct nexthop *nexthop;
	struct counters *counters;
	uint64_t pending;  /* added by neighbor_add() and never resolved yet */
	uint64_t round_at; /* private: when the table is looked through next */
	uint32_t cursor;   /* private: how far this round has come */
};

/* Keep an address (host order) resolved; it is first asked for at `first_ask`. Returns 0, or -1
 * when the table is half full. */
int neighbor_add(struct neighbor *, uint32_t address, uint64_t first_ask);

/* Handle packet i of the burst, of kind VIEW_ARP or VIEW_ICMP: turn it into its answer, or write
 * the reason for ignoring it. */
void neighbor_input(struct neighbor *, struct rx_burst *, unsigned i, struct tx *, uint64_t now);

/* Only learn from an ARP packet, which another worker answers. True if it told something. */
bool neighbor_learn(struct neighbor *, const struct rte_mbuf *, const struct view *, uint64_t now);

/* Ask for what is due, a bounded number per call. Call it every millisecond or so. */
void neighbor_poll(struct neighbor *, struct tx *, uint64_t now);

#endif
