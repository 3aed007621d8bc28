/* A worker's tunnel: what it carries is the engines', what is outside of it is dealt with here. */
#ifndef RUN_WORKER_TUNNEL_H
#define RUN_WORKER_TUNNEL_H

#include "../base/tunnel.h"
#include "worker.h"

struct worker_tunnel {
	struct tunnel tunnel;
	struct neighbor neighbor; /* of the underlay */
	struct nexthop hop;
	const struct ip_pool *local[2]; /* own ends */
};

/* Bytes that worker_tunnel_open() takes from its arena; 0: the port has no tunnel. */
size_t worker_tunnel_bytes(const struct config *, unsigned port);

/* Make the worker's tunnel, if its port has one. */
int worker_tunnel_open(struct worker *, struct arena *, uint64_t first_ask);

/* Take the received burst out of its tunnel, and deal with what is none of it; w->rx is what is
 * left. */
void worker_tunnel_receive(struct worker *, uint64_t now);

/* The same for a burst from the hand-off ring: news of the underlay are for here. */
void worker_tunnel_handed(struct worker *, uint64_t now);

/* Ask for next hops of the underlay. */
void worker_tunnel_tick(struct worker *, uint64_t now);

/* What is for the neighbor code of the underlay, among what workers hand to each other. */
bool worker_tunnel_is_news(const struct rte_mbuf *);

#endif
