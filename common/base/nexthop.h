/* Where a packet to an IP address goes on the local network: the MAC address to put on it.
 *
 * Filled in by the worker's neighbor code (ARP, Neighbour Discovery), read by the engines of the
 * same worker: no locks. With a gateway of its family all traffic of engines goes to the gateway.
 * Without, every destination is on-link, resolved one by one; or where there are routes, the next
 * hop that they name is.
 *
 * Addresses of both families stand in one table, as 128-bit numbers in host order; an IPv4 address
 * is mapped (RFC 4291 section 2.5.5.2), which no IPv6 packet carries. */
#ifndef BASE_NEXTHOP_H
#define BASE_NEXTHOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "route.h"

struct nexthop_entry {
	u128 ip; /* 0: free */
	uint8_t mac[6];
	uint8_t resolved;
	uint8_t asked; /* how often asked since last resolved; of the neighbor code */
	uint64_t asked_at;
};

struct nexthop {
	bool has_gateway; /* and then `gateway` is resolved before any engine starts */
	uint8_t gateway[6];
	bool has_gateway6; /* the same for IPv6 */
	uint8_t gateway6[6];
	struct route *route; /* then no gateway is set: it is one of them */
	unsigned routes;
	bool has_router; /* of IPv6 and by its advertisement: ROUTE_ROUTER is gateway6 */
	uint32_t mask;   /* table size - 1, a power of two */
	uint32_t used;
	struct nexthop_entry
		*table; /* open addressing by nexthop_slot(); never more than half full */
	bool wanted;    /* an entry is waiting to be asked for */
};

static inline u128 nexthop_ip4(uint32_t ip_be)
{
	return (u128)0xffff << 32 | __builtin_bswap32(ip_be);
}

static inline bool nexthop_is_ip4(u128 ip)
{
	return ip >> 32 == 0xffff;
}

static inline uint32_t nexthop_slot(const struct nexthop *n, u128 ip)
{
	uint64_t h =
		((uint64_t)ip ^ (uint64_t)(ip >> 64) * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 40) & n->mask;
}

/* The entry of an address, or NULL. */
static inline struct nexthop_entry *nexthop_find(const struct nexthop *n, u128 ip)
{
	for (uint32_t i = nexthop_slot(n, ip);; i = (i + 1) & n->mask) {
		if (n->table[i].ip == ip)
			return &n->table[i];
		if (!n->table[i].ip)
			return NULL;
	}
}

/* A free entry made the address's, or NULL when the table is full. */
static inline struct nexthop_entry *nexthop_add(struct nexthop *n, u128 ip)
{
	uint32_t i = nexthop_slot(n, ip);

	if (n->used > n->mask / 2)
		return NULL;
	while (n->table[i].ip)
		i = (i + 1) & n->mask;
	n->table[i] = (struct nexthop_entry){.ip = ip};
	n->used++;
	return &n->table[i];
}

/* The MAC address of a neighbour, or of the next hop to it, or NULL when it is not known yet: then
 * it has been noted and will be asked for; try again at the next step. */
static inline const uint8_t *nexthop_neighbor(struct nexthop *n, u128 ip)
{
	struct nexthop_entry *entry;
	u128 via = n->routes ? route_via(n->route, n->routes, ip) : ROUTE_ON_LINK;

	if (via == ROUTE_ROUTER)
		return n->has_router ? n->gateway6 : NULL;
	if (via != ROUTE_ON_LINK)
		ip = via;
	entry = nexthop_find(n, ip);
	if (entry && entry->resolved)
		return entry->mac;
	if (!entry && nexthop_add(n, ip))
		n->wanted = true;
	return NULL;
}

/* The MAC address for a destination: the gateway's, or the neighbour's. */
static inline const uint8_t *nexthop_mac(struct nexthop *n, uint32_t ip_be)
{
	return n->has_gateway ? n->gateway : nexthop_neighbor(n, nexthop_ip4(ip_be));
}

static inline const uint8_t *nexthop_mac6(struct nexthop *n, u128 ip)
{
	return n->has_gateway6 ? n->gateway6 : nexthop_neighbor(n, ip);
}

/* A packet from an on-link address came with this MAC address: remember it. */
static inline void nexthop_learn6(struct nexthop *n, u128 ip, const uint8_t *mac)
{
	struct nexthop_entry *entry = nexthop_find(n, ip);

	if (n->routes && route_via(n->route, n->routes, ip) != ROUTE_ON_LINK)
		return;
	if (!entry)
		entry = nexthop_add(n, ip);
	if (!entry)
		return;
	memcpy(entry->mac, mac, sizeof(entry->mac));
	entry->resolved = 1;
}

static inline void nexthop_learn(struct nexthop *n, uint32_t ip_be, const uint8_t *mac)
{
	nexthop_learn6(n, nexthop_ip4(ip_be), mac);
}

#endif
