/* Client tuples: every combination of the pools once, then all over again, in a stated order:
 * client address fastest, then server address, server port, and client port slowest. */
#ifndef STATEFUL_TUPLE_H
#define STATEFUL_TUPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../common/base/pool.h"
#include "../common/config/config.h"

/* From our side, network order, as it lies in a received packet: two loads read it, two compare. */
struct tuple {
	uint32_t peer_be, local_be;
	uint16_t peer_port_be, local_port_be;
};

static inline uint64_t tuple_addresses(const struct tuple *t)
{
	uint64_t addresses;

	memcpy(&addresses, &t->peer_be, sizeof(addresses));
	return addresses;
}

static inline uint32_t tuple_ports(const struct tuple *t)
{
	uint32_t ports;

	memcpy(&ports, &t->peer_port_be, sizeof(ports));
	return ports;
}

static inline bool tuple_equal(const struct tuple *a, const struct tuple *b)
{
	return tuple_addresses(a) == tuple_addresses(b) && tuple_ports(a) == tuple_ports(b);
}

struct ip_walk {
	const struct ip_pool *pool;
	unsigned range;
	u128 offset;
};

struct port_walk {
	const struct port_pool *pool;
	unsigned range;
	uint32_t offset;
};

struct tuple_walk {
	struct ip_walk client, server;
	struct port_walk client_port, server_port;
};

void tuple_walk_init(struct tuple_walk *, const struct config_traffic *);

/* The tuple the walk stands at, and one step on. */
void tuple_walk_next(struct tuple_walk *, struct tuple *);

/* All tuples of a client; saturates at the largest value. */
u128 tuple_count(const struct config_traffic *);

#endif
