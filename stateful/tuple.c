/* Walking the product of four pools like an odometer: nothing is expanded, a step is a few adds. */
#include "tuple.h"

static uint32_t ip_walk_at(const struct ip_walk *w)
{
	return __builtin_bswap32((uint32_t)(w->pool->range[w->range].first + w->offset));
}

/* One step; true when the walk has come round to its beginning. */
static bool ip_walk_step(struct ip_walk *w)
{
	if (++w->offset < w->pool->range[w->range].count)
		return false;
	w->offset = 0;
	if (++w->range < w->pool->ranges)
		return false;
	w->range = 0;
	return true;
}

static uint16_t port_walk_at(const struct port_walk *w)
{
	return __builtin_bswap16((uint16_t)(w->pool->range[w->range].first + w->offset));
}

static bool port_walk_step(struct port_walk *w)
{
	const struct port_range *range = &w->pool->range[w->range];

	if (++w->offset <= (uint32_t)(range->last - range->first))
		return false;
	w->offset = 0;
	if (++w->range < w->pool->ranges)
		return false;
	w->range = 0;
	return true;
}

void tuple_walk_init(struct tuple_walk *w, const struct config_traffic *traffic)
{
	*w = (struct tuple_walk){.client = {.pool = &traffic->clients},
				 .server = {.pool = &traffic->servers},
				 .client_port = {.pool = &traffic->client_ports},
				 .server_port = {.pool = &traffic->server_ports}};
}

void tuple_walk_next(struct tuple_walk *w, struct tuple *tuple)
{
	tuple->local_be = ip_walk_at(&w->client);
	tuple->peer_be = ip_walk_at(&w->server);
	tuple->local_port_be = port_walk_at(&w->client_port);
	tuple->peer_port_be = port_walk_at(&w->server_port);
	if (ip_walk_step(&w->client) && ip_walk_step(&w->server) && port_walk_step(&w->server_port))
		port_walk_step(&w->client_port);
}

u128 tuple_count(const struct config_traffic *traffic)
{
	u128 ports = (u128)traffic->client_ports.count * traffic->server_ports.count;
	u128 count;

	if (__builtin_mul_overflow(traffic->clients.count, traffic->servers.count, &count) ||
	    __builtin_mul_overflow(count, ports, &count))
		return ~(u128)0;
	return count;
}
