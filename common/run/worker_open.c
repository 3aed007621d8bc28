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
#include "worker.h"

#define TARGETS_MAX  4096u  /* resolved before the load */
#define HOPS_MIN     16384u /* slots of the table when everything is on the link */
#define HOPS_MAX     (1u << 18)
#define HOPS_GATEWAY 16u
#define ASK_LATER_NS 250000000u /* workers but the first hear from the first */

/* The pool of a traffic entry that is this side's, and the far end's. */
static const struct ip_pool *pool_own(const struct config_traffic *traffic)
{
	return traffic_is_client(traffic->kind) ? &traffic->clients : &traffic->servers;
}

static const struct ip_pool *pool_far(const struct config_traffic *traffic)
{
	return traffic_is_client(traffic->kind) ? &traffic->servers : &traffic->clients;
}

/* Slots of the next-hop table: twice what the load may talk to, within reason. */
static uint32_t hops_wanted(const struct config *config, unsigned port)
{
	uint32_t slots = HOPS_MIN;
	u128 hops = 0;

	if (config->port[port].has_gateway)
		return HOPS_GATEWAY;
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].port == port)
			hops += pool_far(&config->traffic[i])->count;
	while (slots < HOPS_MAX && slots < 2 * hops + 2)
		slots *= 2;
	return slots;
}

size_t worker_bytes(const struct config *config, unsigned port)
{
	size_t bytes = sizeof(struct worker) + TXQ_BYTES;

	bytes += hops_wanted(config, port) * sizeof(struct nexthop_entry);
	bytes += config->port[port].addresses * sizeof(struct neighbor_address);
	bytes += config->traffics *
		 (sizeof(struct traffic_stats) + sizeof(struct stream_stats) +
		  sizeof(struct ip_pool *) + sizeof(struct traffic_stats *) +
		  sizeof(struct stream_stats *) + sizeof(struct tape *) + 2 * sizeof(struct traffic_level));
	return bytes + (2 * config->traffics + 10) * 64; /* every piece begins a cache line */
}

static int neighbor_targets(struct worker *w, uint64_t first_ask)
{
	const struct config_port *port = w->port->config;
	unsigned targets = 0;

	if (port->has_gateway)
		return port->has_gateway_mac
			       ? 0
			       : neighbor_add(&w->neighbor, (uint32_t)port->gateway, first_ask);
	for (unsigned i = 0; i < w->config->traffics; i++) {
		const struct config_traffic *traffic = &w->config->traffic[i];

		if (traffic->port != w->port_index || !traffic_is_client(traffic->kind))
			continue;
		for (u128 n = 0; n < traffic->servers.count && targets < TARGETS_MAX; n++) {
			if (neighbor_add(&w->neighbor, (uint32_t)ip_pool_at(&traffic->servers, n),
					 first_ask))
				return -1;
			targets++;
		}
	}
	return 0;
}

static int neighbor_open(struct worker *w, struct arena *arena, uint64_t now)
{
	const struct config_port *port = w->port->config;
	struct neighbor *n = &w->neighbor;
	struct neighbor_address *address = arena_take(arena, port->addresses * sizeof(*address));
	const struct ip_pool **pool = arena_take(arena, w->config->traffics * sizeof(*pool));

	if (!address || !pool)
		return -1;
	memcpy(n->mac, w->port->mac, sizeof n->mac);
	n->vlans = port->vlans;
	memcpy(n->vlan, port->vlan, sizeof n->vlan);
	n->address = address;
	n->pool = pool;
	n->nexthop = &w->nexthop;
	n->counters = &w->counters;
	for (unsigned i = 0; i < port->addresses; i++) {
		unsigned prefix = port->address[i].prefix;

		if (port->address[i].family != 4)
			continue;
		address[n->addresses++] = (struct neighbor_address){
			.address = (uint32_t)port->address[i].address,
			.mask = prefix ? UINT32_MAX << (32 - prefix) : 0,
		};
	}
	for (unsigned i = 0; i < w->config->traffics; i++)
		if (w->config->traffic[i].port == w->port_index)
			pool[n->pools++] = pool_own(&w->config->traffic[i]);
	if (port->has_gateway && !port->has_gateway_mac)
		n->gateway = (uint32_t)port->gateway;
	return neighbor_targets(w, w->queue ? now + ASK_LATER_NS : now);
}

static int nexthop_open(struct worker *w, struct arena *arena)
{
	const struct config_port *port = w->port->config;
	uint32_t slots = hops_wanted(w->config, w->port_index);

	w->nexthop.mask = slots - 1;
	w->nexthop.table = arena_take(arena, slots * sizeof(*w->nexthop.table));
	w->nexthop.has_gateway = port->has_gateway && port->has_gateway_mac;
	memcpy(w->nexthop.gateway, port->gateway_mac, sizeof w->nexthop.gateway);
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

		if (traffic->port != w->port_index)
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
	w->rule = &port->rule;
	w->port_id = port->id;
	w->queue = (uint16_t)number;
	w->handoff = port->steer.mode == STEER_SINGLE ? NULL : port->handoff[number];
	w->txq.pool = port->pool[number];
	w->txq.counters = &w->counters;
	w->txq.port = port->id;
	w->txq.queue = w->queue;
	w->txq.prepare = port->tx_checksum;
	if (txq_open(&w->txq, arena) || nexthop_open(w, arena) || stats_open(w, arena) ||
	    neighbor_open(w, arena, now))
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

		if (view_parse(m, w->rule, &view) || view.kind != VIEW_ARP) {
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
	txq_close(&w->txq);
}
