/* Walking the product of four pools like an odometer: nothing is expanded, a step is a few adds. */
#include "tuple.h"

static u128 ip_walk_at6(const struct ip_walk *w)
{
	return ip6_swap(w->pool->range[w->range].first + w->offset);
}

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

void tuple_walk_init(struct tuple_walk *w, const struct config_traffic *traffic, uint8_t family)
{
	*w = (struct tuple_walk){.client = {.pool = traffic_clients(traffic, family)},
				 .server = {.pool = traffic_servers(traffic, family)},
				 .client_port = {.pool = &traffic->client_ports},
				 .server_port = {.pool = &traffic->server_ports}};
}

static void tuple_walk_step(struct tuple_walk *w)
{
	if (ip_walk_step(&w->client) && ip_walk_step(&w->server) && port_walk_step(&w->server_port))
		port_walk_step(&w->client_port);
}

void tuple_walk_next(struct tuple_walk *w, struct tuple *tuple)
{
	tuple->local_be = ip_walk_at(&w->client);
	tuple->peer_be = ip_walk_at(&w->server);
	tuple->local_port_be = port_walk_at(&w->client_port);
	tuple->peer_port_be = port_walk_at(&w->server_port);
	tuple_walk_step(w);
}

void tuple_walk_next6(struct tuple_walk *w, struct tuple *tuple, struct ip6_pair *pair)
{
	pair->local = ip_walk_at6(&w->client);
	pair->peer = ip_walk_at6(&w->server);
	tuple->local_port_be = port_walk_at(&w->client_port);
	tuple->peer_port_be = port_walk_at(&w->server_port);
	tuple_walk_step(w);
}

static u128 product(u128 a, u128 b)
{
	u128 count;

	return __builtin_mul_overflow(a, b, &count) ? ~(u128)0 : count;
}

u128 tuple_count(const struct config_traffic *traffic)
{
	u128 ports = (u128)traffic->client_ports.count * traffic->server_ports.count;
	u128 of4 = product(product(traffic->clients.count, traffic->servers.count), ports);
	u128 of6 = product(product(traffic->clients6.count, traffic->servers6.count), ports);

	return of4 + of6 < of4 ? ~(u128)0 : of4 + of6;
}
