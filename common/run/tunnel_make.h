/* The tunnel of a port, from its configuration. */
#ifndef RUN_TUNNEL_MAKE_H
#define RUN_TUNNEL_MAKE_H

#include "../base/tunnel.h"
#include "../config/config.h"

/* Bytes that tunnel_make() takes from its arena. */
size_t tunnel_make_bytes(const struct config *, unsigned port);

/* inside: what the engines' frames are like; mac: the port's; hop: of the underlay. -1: the arena
 * is exhausted. */
int tunnel_make(struct tunnel *, const struct config *, unsigned port,
		const struct view_rule *inside, const uint8_t mac[6], struct nexthop *hop,
		struct arena *);

#endif
