/* Which of a server's routes a request is for. */
#ifndef STATEFUL_ROUTE_H
#define STATEFUL_ROUTE_H

#include <stddef.h>
#include <stdint.h>

#include "../common/config/config.h"

/* The index of the route for a request that begins with these bytes: of the first that fits, or
 * t->routes. A request line cut short is taken as it is. */
uint16_t route_find(const struct config_traffic *, const char *request, size_t length);

#endif
