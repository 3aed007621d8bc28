/* The local network's housekeeping for one worker: ARP and Neighbour Discovery answered and asked,
 * ICMP echo answered, a default router of IPv6 found.
 *
 * Addresses of both families are 128-bit numbers as in nexthop.h. Pure packets in, packets out,
 * like an engine; `now` in ns. It answers for every own address - the port's and those of the pools
 * that traffic uses as its own - and keeps the worker's next hops resolved: the gateway, or each
 * destination on the link, asked again while the run lasts so that a peer that moved to another MAC
 * address is followed. */
#ifndef BASE_NEIGHBOR_H
#define BASE_NEIGHBOR_H

#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "engine.h"
#include "nexthop.h"
#include "pool.h"

struct neighbor_address {
	u128 address, mask;
};

struct neighbor {
	uint8_t mac[6];                         /* own */
	uint8_t vlans;                          /* tags of every frame, outermost first */
	uint16_t vlan[2];                       /* with priority bits */
	const struct neighbor_address *address; /* of the port */
	unsigned addresses;
	const struct ip_pool *const *pool; /* further own addresses */
	unsigned pools;
	/* Routers that all traffic of their family goes to; 0: none, or the MAC address is
	 * configured */
	u128 gateway, gateway6;
	bool announce; /* the addresses of the port, with the first poll */
	bool solicit;  /* IPv6: a router is found by what it advertises (RFC 4861) */
	struct nexthop *nexthop;
	struct counters *counters;
	uint64_t pending;      /* added by neighbor_add() and never resolved yet */
	uint64_t round_at;     /* private: when the table is looked through next */
	uint32_t cursor;       /* private: how far this round has come */
	u128 router;           /* private: which advertised itself; 0: none yet */
	uint64_t solicited_at; /* private */
	uint32_t solicited;    /* how often, until one did */
};

/* Keep an address resolved; it is first asked for at `first_ask`. Returns 0, or -1
 * when the table is half full. */
int neighbor_add(struct neighbor *, u128 address, uint64_t first_ask);

/* Handle packet i of the burst, of kind VIEW_ARP or VIEW_ICMP: turn it into its answer, or write
 * the reason for ignoring it. */
void neighbor_input(struct neighbor *, struct rx_burst *, unsigned i, struct tx *, uint64_t now);

/* The port has an IPv6 router to find: as if an address were to be resolved. */
void neighbor_solicit(struct neighbor *, uint64_t first_ask);

/* Would every worker of the port learn from this packet: ARP, or Neighbour Discovery? */
bool neighbor_is_news(const struct rte_mbuf *, const struct view *);

/* Only learn from such a packet, which another worker answers. True if it told something. */
bool neighbor_learn(struct neighbor *, const struct rte_mbuf *, const struct view *, uint64_t now);

/* Ask for what is due, a bounded number per call. Call it every millisecond or so. */
void neighbor_poll(struct neighbor *, struct tx *, uint64_t now);

#endif
