/* Client tuples: every combination of the pools once, then all over again, in a stated order:
 * client address fastest, then server address, server port, and client port slowest. */
#ifndef STATEFUL_TUPLE_H
#define STATEFUL_TUPLE_H

#include <stdint.h>

#include "../common/base/pool.h"
#include "../common/config/config.h"

struct tuple { /* from our side, network order */
	uint32_t local_be, peer_be;
	uint16_t local_port_be, peer_port_be;
};

static inline bool tuple_equal(const struct tuple *a, const struct tuple *b)
{
	return a->local_be == b->local_be && a->peer_be == b->peer_be &&
	       a->local_port_be == b->local_port_be && a->peer_port_be == b->peer_port_be;
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
