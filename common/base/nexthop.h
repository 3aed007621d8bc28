/* Where a packet to an IP address goes on the local network: the MAC address to put on it.
 *
 * Filled in by the worker's neighbor code (ARP), read by the engines of the same worker: no locks.
 * With a gateway all traffic of engines goes to the gateway. Without, every destination is on-link,
 * resolved one by one. */
#ifndef BASE_NEXTHOP_H
#define BASE_NEXTHOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nexthop_entry {
	uint32_t ip_be; /* 0: free */
	uint8_t mac[6];
	uint8_t resolved;
	uint8_t asked; /* how often asked since last resolved; of the neighbor code */
	uint64_t asked_at;
};

struct nexthop {
	bool has_gateway; /* and then `gateway` is resolved before any engine starts */
	uint8_t gateway[6];
	uint32_t mask; /* table size - 1, a power of two */
	uint32_t used;
	struct nexthop_entry
		*table; /* open addressing by nexthop_slot(); never more than half full */
	bool wanted;    /* an entry is waiting to be asked for */
};

static inline uint32_t nexthop_slot(const struct nexthop *n, uint32_t ip_be)
{
	return (ip_be * 0x9e3779b1u >> 7) & n->mask;
}

/* The entry of an address, or NULL. */
static inline struct nexthop_entry *nexthop_find(const struct nexthop *n, uint32_t ip_be)
{
	for (uint32_t i = nexthop_slot(n, ip_be);; i = (i + 1) & n->mask) {
		if (n->table[i].ip_be == ip_be)
			return &n->table[i];
		if (!n->table[i].ip_be)
			return NULL;
	}
}

/* A free entry made the address's, or NULL when the table is full. */
static inline struct nexthop_entry *nexthop_add(struct nexthop *n, uint32_t ip_be)
{
	uint32_t i = nexthop_slot(n, ip_be);

	if (n->used > n->mask / 2)
		return NULL;
	while (n->table[i].ip_be)
		i = (i + 1) & n->mask;
	n->table[i] = (struct nexthop_entry){.ip_be = ip_be};
	n->used++;
	return &n->table[i];
}

/* The MAC address for a destination, or NULL when it is not known yet: then it has been noted and
 * will be asked for; try again at the next step. */
static inline const uint8_t *nexthop_mac(struct nexthop *n, uint32_t ip_be)
{
	struct nexthop_entry *entry;

	if (n->has_gateway)
		return n->gateway;
	entry = nexthop_find(n, ip_be);
	if (entry && entry->resolved)
		return entry->mac;
	if (!entry && nexthop_add(n, ip_be))
		n->wanted = true;
	return NULL;
}

/* A packet from an on-link address came with this MAC address: remember it. */
static inline void nexthop_learn(struct nexthop *n, uint32_t ip_be, const uint8_t *mac)
{
	struct nexthop_entry *entry = nexthop_find(n, ip_be);

	if (!entry)
		entry = nexthop_add(n, ip_be);
	if (!entry)
		return;
	for (unsigned i = 0; i < sizeof(entry->mac); i++)
		entry->mac[i] = mac[i];
	entry->resolved = 1;
}

#endif
