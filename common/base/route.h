/* Routes: which next hop a destination is behind, by the longest prefix that it begins with.
 *
 * Addresses of both families stand in one list, as nexthop.h has them. */
#ifndef BASE_ROUTE_H
#define BASE_ROUTE_H

#include <stdbool.h>

#include "pool.h"

#define ROUTE_ON_LINK ((u128)0) /* no next hop: the destination itself */
#define ROUTE_ROUTER  ((u128)1) /* the IPv6 router that advertised itself; ::1 is no next hop */

struct route {
	u128 address, mask;
	u128 via;
};

/* Add one behind those that are as long or longer; the caller has made room. The first of two for
 * one prefix counts. */
void route_add(struct route *, unsigned *routes, struct route);

/* What a destination is behind; ROUTE_ON_LINK if no route is its. */
u128 route_via(const struct route *, unsigned routes, u128 destination);

#endif
