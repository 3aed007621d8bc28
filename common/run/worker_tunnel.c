/* The two sides of a tunnel in a worker.
 *
 * The underlay has neighbours of its own, asked and answered by the same code as those inside, with
 * a table of its own. What that code sends must not go into the tunnel: whatever engines have
 * queued before is sealed first, and what it adds is counted as sealed (txq.h).
 *
 * A packet handed to another worker has left its tunnel already; news of the underlay, shared with
 * all, bear a mark instead. */
#include "worker_tunnel.h"

#include <string.h>

#include <rte_mbuf.h>

#include "tunnel_make.h"
#include "worker_input.h"

#define TARGETS_MAX 4096u
#define HOPS_MIN    16384u
#define HOPS_MAX    (1u << 18)
#define NEWS_MARK   0x6f6e6167u /* in a copy's packet_type, which no device says */

static uint32_t hops_wanted(const struct config_port *port)
{
	const struct tunnel_rule *rule = &port->tunnel.rule;
	u128 far = rule->remote.count + rule->remote6.count;
	uint32_t slots = HOPS_MIN;

	while (slots < HOPS_MAX && slots < 2 * far)
		slots *= 2;
	return slots;
}

size_t worker_tunnel_bytes(const struct config *config, unsigned port)
{
	const struct config_port *p = &config->port[port];

	if (!p->outside)
		return 0;
	return sizeof(struct worker_tunnel) + tunnel_make_bytes(config, port) +
	       hops_wanted(p) * sizeof(struct nexthop_entry) +
	       p->outside->addresses * sizeof(struct neighbor_address) +
	       worker_routes_most(p->outside) * sizeof(struct route) + 4 * 64;
}

static u128 hop_of(uint8_t family, u128 address)
{
	return family == 4 ? nexthop_ip4(__builtin_bswap32((uint32_t)address)) : address;
}

static int remotes_add(struct worker_tunnel *t, const struct ip_pool *pool, uint64_t first_ask)
{
	for (u128 n = 0; n < pool->count && n < TARGETS_MAX; n++)
		if (neighbor_add(&t->neighbor, hop_of(pool->family, ip_pool_at(pool, n)),
				 first_ask))
			return -1;
	return 0;
}

/* Every next hop that the underlay's routes name, and the far ends that are on-link. */
static int routed_add(struct worker_tunnel *t, const struct config_port *outside,
		      uint64_t first_ask)
{
	const struct ip_pool *far[] = {&t->tunnel.rule->remote, &t->tunnel.rule->remote6};
	const struct nexthop *hop = &t->hop;
	int ret = 0;

	for (unsigned i = 0; i < hop->routes; i++)
		if (hop->route[i].via != ROUTE_ON_LINK && hop->route[i].via != ROUTE_ROUTER)
			ret |= neighbor_add(&t->neighbor, hop->route[i].via, first_ask);
	for (unsigned i = 0; i < 2; i++) {
		for (u128 n = 0; n < far[i]->count && n < TARGETS_MAX; n++) {
			u128 end = hop_of(far[i]->family, ip_pool_at(far[i], n));

			if (route_via(hop->route, hop->routes, end) == ROUTE_ON_LINK)
				ret |= neighbor_add(&t->neighbor, end, first_ask);
		}
	}
	if (outside->solicit_router)
		neighbor_solicit(&t->neighbor, first_ask);
	return ret;
}

/* Gateways of the underlay, or the far ends themselves. */
static int targets_add(struct worker_tunnel *t, const struct config_port *outside,
		       uint64_t first_ask)
{
	const struct tunnel_rule *rule = t->tunnel.rule;
	struct neighbor *n = &t->neighbor;
	int ret = 0;

	if (outside->has_gateway_mac)
		return 0;
	if (outside->has_routes)
		return routed_add(t, outside, first_ask);
	if (outside->has_gateway) {
		n->gateway = hop_of(4, outside->gateway);
		ret |= neighbor_add(n, n->gateway, first_ask);
	} else {
		ret |= remotes_add(t, &rule->remote, first_ask);
	}
	if (outside->solicit_router) {
		neighbor_solicit(n, first_ask);
	} else if (outside->has_gateway6) {
		n->gateway6 = outside->gateway6;
		ret |= neighbor_add(n, n->gateway6, first_ask);
	} else {
		ret |= remotes_add(t, &rule->remote6, first_ask);
	}
	return ret;
}

static void addresses_make(struct neighbor_address *address, const struct config_port *outside)
{
	for (unsigned i = 0; i < outside->addresses; i++) {
		const struct config_address *own = &outside->address[i];
		unsigned host = (own->family == 4 ? 32u : 128u) - own->prefix;

		address[i] = (struct neighbor_address){
			.address = hop_of(own->family, own->address),
			.mask = host < 128 ? ~(u128)0 << host : 0,
		};
	}
}

static int underlay_open(struct worker *w, struct worker_tunnel *t, struct arena *arena,
			 uint64_t first_ask)
{
	const struct config_port *outside = w->port->config->outside;
	const struct tunnel_rule *rule = &outside->tunnel.rule;
	struct neighbor_address *address = arena_take(arena, outside->addresses * sizeof(*address));
	struct neighbor *n = &t->neighbor;

	t->hop.mask = hops_wanted(outside) - 1;
	t->hop.table = arena_take(arena, (t->hop.mask + 1) * sizeof(*t->hop.table));
	t->hop.route = arena_take(arena, worker_routes_most(outside) * sizeof(struct route));
	if (!address || !t->hop.table || !t->hop.route)
		return -1;
	if (outside->has_routes)
		worker_routes_fill(&t->hop, outside);
	t->hop.has_gateway = t->hop.has_gateway6 = outside->has_gateway_mac;
	memcpy(t->hop.gateway, outside->gateway_mac, sizeof t->hop.gateway);
	memcpy(t->hop.gateway6, outside->gateway_mac, sizeof t->hop.gateway6);
	addresses_make(address, outside);
	t->local[0] = &rule->local;
	t->local[1] = &rule->local6;
	*n = (struct neighbor){.vlans = outside->vlans,
			       .address = address,
			       .addresses = outside->addresses,
			       .pool = t->local,
			       .pools = 2,
			       .announce = outside->announce && !w->queue,
			       .nexthop = &t->hop,
			       .counters = &w->counters};
	memcpy(n->mac, w->port->wire_mac, sizeof n->mac);
	for (unsigned i = 0; i < n->vlans; i++)
		n->vlan[i] = config_port_tag(outside, i);
	return targets_add(t, outside, first_ask);
}

int worker_tunnel_open(struct worker *w, struct arena *arena, uint64_t first_ask)
{
	struct worker_tunnel *t;

	if (!w->port->config->outside)
		return 0;
	t = arena_take(arena, sizeof(*t));
	if (!t || tunnel_make(&t->tunnel, w->config, w->port_index, &w->port->rule,
			      w->port->wire_mac, &t->hop, arena))
		return -1;
	w->tunnel = t;
	w->txq.tunnel = &t->tunnel;
	return underlay_open(w, t, arena, first_ask);
}

/* Answer, or learn from, packet i of what came outside. */
static void outside_input(struct worker *w, struct rx_burst *rx, unsigned i, uint64_t now)
{
	const struct view *view = &rx->view[i];
	uint64_t *value = w->counters.value;

	if (rx->reason[i] == DROP_TUNNEL_TYPE && tunnel_echo(&w->tunnel->tunnel, rx->pkt[i])) {
		rx->reason[i] = DROP_NONE;
		tx_push(&w->txq.tx, rx_take(rx, i));
	} else if (!rx->reason[i]) {
		if (w->handoff && neighbor_is_news(rx->pkt[i], view))
			worker_news_share(w, rx->pkt[i], view, NEWS_MARK);
		value[view->kind == VIEW_ARP ? COUNTER_ARP_RX : COUNTER_ICMP_RX]++;
		neighbor_input(&w->tunnel->neighbor, rx, i, &w->txq.tx, now);
	}
	worker_reason_count(w, rx, i, NULL, now);
}

static __attribute__((noinline)) void outside_feed(struct worker *w, struct rx_burst *rx,
						   uint64_t now)
{
	txq_seal(&w->txq);
	for (unsigned i = 0; i < rx->count; i++)
		outside_input(w, rx, i, now);
	w->txq.sealed = w->txq.tx.count;
	txq_recycle(&w->txq, rx->pkt, rx->count);
}

void worker_tunnel_receive(struct worker *w, uint64_t now)
{
	const struct tunnel *t = &w->tunnel->tunnel;
	struct rx_burst *rx = &w->rx, *outside = &w->passed;
	unsigned left = 0;
	uint64_t bytes = 0;

	outside->count = 0;
	for (unsigned i = 0; i < rx->count; i++) {
		struct rte_mbuf *m = rx->pkt[i];
		struct view *view = &outside->view[outside->count];
		int opened;

		bytes += m->pkt_len;
		opened = tunnel_open(t, m, view);
		if (likely(!opened)) {
			bytes -= m->pkt_len; /* counted with those inside */
			rx->pkt[left++] = m;
			continue;
		}
		outside->pkt[outside->count] = m;
		outside->reason[outside->count++] =
			opened == TUNNEL_OUTSIDE ? DROP_NONE : (uint8_t)opened;
	}
	rx->count = left;
	w->counters.value[COUNTER_PKT_RX] += outside->count;
	w->counters.value[COUNTER_BITS_RX] += bytes * 8;
	if (unlikely(outside->count))
		outside_feed(w, outside, now);
}

bool worker_tunnel_is_news(const struct rte_mbuf *m)
{
	return m->packet_type == NEWS_MARK;
}

void worker_tunnel_handed(struct worker *w, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	unsigned left = 0;

	for (unsigned i = 0; i < rx->count; i++) {
		struct rte_mbuf *m = rx->pkt[i];
		struct view view;

		if (!worker_tunnel_is_news(m)) {
			rx->pkt[left++] = m;
			continue;
		}
		if (!view_parse(m, &w->tunnel->tunnel.outside, &view))
			neighbor_learn(&w->tunnel->neighbor, m, &view, now);
		txq_recycle(&w->txq, &m, 1);
	}
	rx->count = left;
}

void worker_tunnel_tick(struct worker *w, uint64_t now)
{
	txq_seal(&w->txq);
	neighbor_poll(&w->tunnel->neighbor, &w->txq.tx, now);
	w->txq.sealed = w->txq.tx.count;
}
