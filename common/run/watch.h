/* What the control thread keeps an eye on at every interval, and says once on stderr when it is not
 * as one would expect: the run goes on. */
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include "crew.h"

struct watch {
	const struct config *config;
	struct port *ports;
	struct watched *port;
	uint64_t *link_down; /* as struct result has it */
	bool gateways_looked_at;
};

/* Take the links as they are; -1: out of memory. */
int watch_open(struct watch *, const struct config *, struct port *ports);
void watch_close(struct watch *);

/* Look, `elapsed` ns after the load began. */
void watch_look(struct watch *, const struct crew *, uint64_t elapsed);

/* Only at the links. */
void watch_links(struct watch *, uint64_t elapsed);

/* "gateway 10.0.0.1", "server 2001:db8::1": what a port's next hop (as in nexthop.h) is to it. */
#define WATCH_HOP_MAX 64
const char *watch_hop(const struct config_port *, u128 ip, char text[WATCH_HOP_MAX]);

/* Have all next hops that the load of a port needs been resolved? */
bool watch_resolved(const struct crew *, unsigned port);

#endif
