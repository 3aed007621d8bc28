/* Routes stand with the longest prefix first, and are looked through from there: tests have a
 * handful, and whoever asks for every packet has a gateway and no routes.
 *
 * Rejected: a trie. It is worth its while from some hundreds of routes on. */
#include "route.h"

#include <string.h>

void route_add(struct route *route, unsigned *routes, struct route one)
{
	unsigned i = 0;

	while (i < *routes && route[i].mask >= one.mask)
		i++;
	memmove(&route[i + 1], &route[i], (*routes - i) * sizeof(*route));
	route[i] = one;
	++*routes;
}

u128 route_via(const struct route *route, unsigned routes, u128 destination)
{
	for (unsigned i = 0; i < routes; i++)
		if (!((route[i].address ^ destination) & route[i].mask))
			return route[i].via;
	return ROUTE_ON_LINK;
}
