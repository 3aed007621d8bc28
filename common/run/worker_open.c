/* Making and unmaking workers: everything of one worker lies in one arena, on its NUMA node.
 *
 * Own addresses are the port's and the pools that its traffic uses as its own: the clients of
 * client entries, the servers of server entries. What must be resolved before the load is the
 * gateway, or without one the servers of client entries, up to a bound; further ones are asked for
 * as the engine comes to them. */
#include <string.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "../../pcap/tap.h"
#include "worker_lane.h"
#include "worker_tunnel.h"

#define TARGETS_MAX  4096u  /* resolved before the load */
#define HOPS_MIN     16384u /* slots of the table when everything is on the link */
#define HOPS_MAX     (1u << 18)
#define HOPS_GATEWAY 16u
#define ASK_LATER_NS 250000000u /* workers but the first hear from the first */

/* Slots of the next-hop table: twice what the load may talk to, within reason. */
static uint32_t hops_wanted(const struct config *config, unsigned port)
{
	const struct config_port *p = &config->port[port];
	bool routed4 = p->has_gateway_mac || p->has_gateway;
	bool routed6 = p->has_gateway_mac || p->has_gateway6 || p->solicit_router;
	uint32_t slots = HOPS_MIN;
	u128 hops = 0;

	if (!p->has_routes && routed4 && (routed6 || !config_port_has6(config, port)))
		return HOPS_GATEWAY;
	for (unsigned i = 0; i < config->traffics; i++) {
		if (config->traffic[i].port != port)
			continue;
		for (uint8_t family = 4; family <= 6; family += 2) {
			u128 count = traffic_far(&config->traffic[i], family)->count;

			hops += count < HOPS_MAX ? count : HOPS_MAX;
		}
	}
	while (slots < HOPS_MAX && slots < 2 * hops + 2)
		slots *= 2;
	return slots;
}

/* Of its own, of subnets, and one for the rest of each family. */
unsigned worker_routes_most(const struct config_port *port)
{
	return port->has_routes ? port->routes + port->addresses + 2 : 0;
}

size_t worker_bytes(const struct config *config, unsigned port)
{
	size_t bytes = sizeof(struct worker) + TXQ_BYTES + lanes_bytes(config, port);

	bytes += worker_tunnel_bytes(config, port);
	bytes += hops_wanted(config, port) * sizeof(struct nexthop_entry);
	bytes += config->port[port].addresses * sizeof(struct neighbor_address);
	bytes += worker_routes_most(&config->port[port]) * sizeof(struct route);
	bytes += config->traffics * (sizeof(struct traffic_stats) + sizeof(struct stream_stats) +
				     2 * sizeof(struct ip_pool *) + sizeof(struct traffic_stats *) +
				     sizeof(struct stream_stats *) + sizeof(struct tape *) +
				     2 * sizeof(struct traffic_level));
	return bytes + (2 * config->traffics + 10) * 64; /* every piece begins a cache line */
}

/* A pool's address as the next-hop table has it. */
static u128 hop_of(uint8_t family, u128 address)
{
	return family == 4 ? nexthop_ip4(__builtin_bswap32((uint32_t)address)) : address;
}

/* A prefix as the next-hop table has addresses. */
static u128 prefix_mask(uint8_t family, unsigned prefix)
{
	unsigned host = (family == 4 ? 32u : 128u) - prefix;

	return host < 128 ? ~(u128)0 << host : 0;
}

/* What is asked for a server: itself, or the next hop to it. */
static int neighbor_server(struct worker *w, u128 server, uint64_t first_ask)
{
	u128 via = route_via(w->nexthop.route, w->nexthop.routes, server);

	if (via == ROUTE_ROUTER)
		return 0;
	return neighbor_add(&w->neighbor, via == ROUTE_ON_LINK ? server : via, first_ask);
}

/* The servers of client entries, up to a bound. */
static int neighbor_servers(struct worker *w, uint8_t family, uint64_t first_ask)
{
	unsigned targets = 0;

	for (unsigned i = 0; i < w->config->traffics; i++) {
		const struct config_traffic *traffic = &w->config->traffic[i];
		const struct ip_pool *servers = traffic_servers(traffic, family);

		if (traffic->port != w->port_index || !traffic_is_client(traffic->kind))
			continue;
		for (u128 n = 0; n < servers->count && targets < TARGETS_MAX; n++, targets++)
			if (neighbor_server(w, hop_of(family, ip_pool_at(servers, n)), first_ask))
				return -1;
	}
	return 0;
}

/* With routes: every next hop that they name, and the servers that are on-link. */
static int neighbor_routes(struct worker *w, uint64_t first_ask)
{
	int ret = neighbor_servers(w, 4, first_ask) | neighbor_servers(w, 6, first_ask);

	for (unsigned i = 0; i < w->nexthop.routes; i++) {
		u128 via = w->nexthop.route[i].via;

		if (via != ROUTE_ON_LINK && via != ROUTE_ROUTER)
			ret |= neighbor_add(&w->neighbor, via, first_ask);
	}
	if (w->port->config->solicit_router)
		neighbor_solicit(&w->neighbor, first_ask);
	return ret;
}

static int neighbor_targets(struct worker *w, uint64_t first_ask)
{
	const struct config_port *port = w->port->config;
	struct neighbor *n = &w->neighbor;
	int ret = 0;

	if (port->has_gateway_mac)
		return 0;
	if (port->has_routes)
		return neighbor_routes(w, first_ask);
	if (port->has_gateway) {
		n->gateway = hop_of(4, port->gateway);
		ret |= neighbor_add(n, n->gateway, first_ask);
	} else {
		ret |= neighbor_servers(w, 4, first_ask);
	}
	if (port->solicit_router) {
		neighbor_solicit(n, first_ask);
	} else if (port->has_gateway6) {
		n->gateway6 = port->gateway6;
		ret |= neighbor_add(n, n->gateway6, first_ask);
	} else {
		ret |= neighbor_servers(w, 6, first_ask);
	}
	return ret;
}

static void neighbor_pools(struct worker *w, const struct ip_pool **pool)
{
	w->neighbor.pool = pool;
	for (unsigned i = 0; i < w->config->traffics; i++) {
		if (w->config->traffic[i].port != w->port_index)
			continue;
		*pool++ = traffic_own(&w->config->traffic[i], 4);
		*pool++ = traffic_own(&w->config->traffic[i], 6);
		w->neighbor.pools += 2;
	}
}

static int neighbor_open(struct worker *w, struct arena *arena, uint64_t now)
{
	const struct config_port *port = w->port->config;
	struct neighbor *n = &w->neighbor;
	struct neighbor_address *address = arena_take(arena, port->addresses * sizeof(*address));
	const struct ip_pool **pool = arena_take(arena, 2 * w->config->traffics * sizeof(*pool));

	if (!address || !pool)
		return -1;
	memcpy(n->mac, w->port->mac, sizeof n->mac);
	n->vlans = port->vlans;
	for (unsigned i = 0; i < port->vlans; i++)
		n->vlan[i] = config_port_tag(port, i);
	n->address = address;
	n->nexthop = &w->nexthop;
	n->counters = &w->counters;
	for (unsigned i = 0; i < port->addresses; i++) {
		const struct config_address *own = &port->address[i];

		address[n->addresses++] = (struct neighbor_address){
			.address = hop_of(own->family, own->address),
			.mask = prefix_mask(own->family, own->prefix),
		};
	}
	if (!port->neighbor_ignore)
		neighbor_pools(w, pool);
	n->announce = port->announce && !w->queue;
	return neighbor_targets(w, w->queue ? now + ASK_LATER_NS : now);
}

static void route_put(struct nexthop *n, uint8_t family, u128 address, unsigned prefix, u128 via)
{
	route_add(n->route, &n->routes,
		  (struct route){hop_of(family, address), prefix_mask(family, prefix), via});
}

/* What is said comes first; a route for all of a family is there always, so that none of one family
 * is the other's. */
void worker_routes_fill(struct nexthop *n, const struct config_port *port)
{
	for (unsigned i = 0; i < port->routes; i++) {
		const struct config_route *r = &port->route[i];

		route_put(n, r->family, r->address, r->prefix,
			  r->on_link ? ROUTE_ON_LINK : hop_of(r->family, r->via));
	}
	for (unsigned i = 0; i < port->addresses; i++)
		route_put(n, port->address[i].family, port->address[i].address,
			  port->address[i].prefix, ROUTE_ON_LINK);
	route_put(n, 4, 0, 0, port->has_gateway ? hop_of(4, port->gateway) : ROUTE_ON_LINK);
	if (port->solicit_router)
		route_put(n, 6, 0, 0, ROUTE_ROUTER);
	else
		route_put(n, 6, 0, 0, port->has_gateway6 ? port->gateway6 : ROUTE_ON_LINK);
}

static int nexthop_open(struct worker *w, struct arena *arena)
{
	const struct config_port *port = w->port->config;
	uint32_t slots = hops_wanted(w->config, w->port_index);

	w->nexthop.mask = slots - 1;
	w->nexthop.table = arena_take(arena, slots * sizeof(*w->nexthop.table));
	w->nexthop.has_gateway = w->nexthop.has_gateway6 = port->has_gateway_mac;
	memcpy(w->nexthop.gateway, port->gateway_mac, sizeof w->nexthop.gateway);
	memcpy(w->nexthop.gateway6, port->gateway_mac, sizeof w->nexthop.gateway6);
	if (port->has_routes) {
		w->nexthop.route =
			arena_take(arena, worker_routes_most(port) * sizeof(struct route));
		if (!w->nexthop.route)
			return -1;
		worker_routes_fill(&w->nexthop, port);
	}
	return w->nexthop.table ? 0 : -1;
}

static int stats_open(struct worker *w, struct arena *arena)
{
	unsigned traffics = w->config->traffics;

	w->stats = arena_take(arena, traffics * sizeof(*w->stats));
	w->streams = arena_take(arena, traffics * sizeof(*w->streams));
	w->tapes = arena_take(arena, traffics * sizeof(*w->tapes));
	w->begin.traffic = arena_take(arena, traffics * sizeof(*w->begin.traffic));
	w->end.traffic = arena_take(arena, traffics * sizeof(*w->end.traffic));
	if (!w->stats || !w->streams || !w->tapes || !w->begin.traffic || !w->end.traffic)
		return -1;
	for (unsigned i = 0; i < traffics; i++) {
		const struct config_traffic *traffic = &w->config->traffic[i];

		if (!traffic_uses_port(traffic, w->port_index))
			continue;
		w->has_client |= traffic_is_client(traffic->kind);
		w->sockets |= traffic_is_udp(traffic->kind);
		w->stats[i] = arena_take(arena, sizeof(**w->stats));
		if (traffic_is_stateless(traffic->kind))
			w->streams[i] = arena_take(arena, sizeof(**w->streams));
		if (!w->stats[i] || (traffic_is_stateless(traffic->kind) && !w->streams[i]))
			return -1;
	}
	return 0;
}

struct worker *worker_open(const struct config *config, const struct port *port,
			   unsigned port_index, unsigned number, const struct orders *orders,
			   struct arena *arena, uint64_t now)
{
	struct worker *w = arena_take(arena, sizeof(*w));

	if (!w)
		return NULL;
	w->config = config;
	w->port = port;
	w->port_index = port_index;
	w->core = port->config->core[number];
	w->orders = orders;
	view_matcher_make(&w->matcher, &port->rule);
	w->aliased = port->aliases;
	w->listens = config_port_listens(config, port_index);
	w->port_id = port->id;
	w->queue = (uint16_t)number;
	w->handoff = port->steer.mode == STEER_SINGLE ? NULL : port->handoff[number];
	w->txq.pool = port->pool[number];
	w->txq.pieces = port->pieces ? port->pieces[number] : NULL;
	w->txq.counters = &w->counters;
	w->txq.port = port->id;
	w->txq.queue = w->queue;
	w->txq.prepare = port->tx_checksum;
	if (txq_open(&w->txq, arena) || nexthop_open(w, arena) || stats_open(w, arena) ||
	    neighbor_open(w, arena, now) || lanes_open(w, arena) ||
	    worker_tunnel_open(w, arena, w->queue ? now + ASK_LATER_NS : now))
		return NULL;
	return w;
}

/* What was handed over and never looked at is refused now, so that every packet has its reason; ARP
 * copies among it were never counted. */
static void handoff_close(struct worker *w)
{
	struct sampler *sampler = w->sampler;
	struct rte_mbuf *m;

	while (w->handoff && !rte_ring_sc_dequeue(w->handoff, (void **)&m)) {
		struct view view = {.kind = VIEW_TCP};

		if (!worker_tunnel_is_news(m) &&
		    (view_parse(m, &w->matcher.rule, &view) || !neighbor_is_news(m, &view))) {
			enum counter counter =
				view.kind == VIEW_UDP ? COUNTER_UDP_RX : COUNTER_TCP_RX;

			w->counters.value[counter]++;
			w->counters.drop[DROP_HANDOFF_FULL]++;
			if (sampler && sampler_wants(sampler, DROP_HANDOFF_FULL, w->tick_at))
				sampler_take(sampler, m, DROP_HANDOFF_FULL, NULL, w->tick_at);
		}
		rte_pktmbuf_free(m);
	}
}

void worker_close(struct worker *w)
{
	handoff_close(w);
	rte_pktmbuf_free_bulk(w->rx.pkt, w->ahead);
	txq_close(&w->txq);
}
