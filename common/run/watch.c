/* Links that change, gateways of servers that are silent, and packets that a kernel has not cut to
 * the size of the wire. */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "link.h"

struct watched {
	bool link_up;        /* when last looked at */
	uint32_t members_up; /* of a bond, a bit each */
	bool cut_said;
};

int watch_open(struct watch *watch, const struct config *config, struct port *ports)
{
	*watch = (struct watch){.config = config, .ports = ports};
	watch->port = calloc(config->ports, sizeof(*watch->port));
	watch->link_down = calloc(config->ports, sizeof(*watch->link_down));
	if (!watch->port || !watch->link_down)
		return -1;
	for (unsigned i = 0; i < config->ports; i++) {
		watch->port[i].link_up = link_is_up(&ports[i]);
		if (config->port[i].bond.members)
			watch->port[i].members_up = link_members_up(&ports[i]);
	}
	return 0;
}

void watch_close(struct watch *watch)
{
	free(watch->port);
	free(watch->link_down);
}

bool watch_resolved(const struct crew *crew, unsigned port)
{
	for (unsigned i = 0; i < crew->workers; i++)
		if (crew->worker[i]->port_index == port &&
		    !__atomic_load_n(&crew->worker[i]->status.resolved, __ATOMIC_RELAXED))
			return false;
	return true;
}

static void members_watch(struct watch *watch, unsigned port)
{
	const struct config_port *config = &watch->config->port[port];
	uint32_t up = link_members_up(&watch->ports[port]);
	uint32_t changed = up ^ watch->port[port].members_up;

	for (unsigned i = 0; i < config->bond.members; i++)
		if (changed >> i & 1)
			fprintf(stderr, "onager: port %s: member %s: link is %s\n", config->name,
				config->bond.member[i], up >> i & 1 ? "up" : "down");
	watch->ports[port].link_changes += (unsigned)__builtin_popcount(changed);
	if (changed)
		bond_prefer(config, watch->ports[port].id, up);
	watch->port[port].members_up = up;
}

static void link_watch(struct watch *watch, unsigned port, uint64_t elapsed)
{
	bool up = link_is_up(&watch->ports[port]);

	if (watch->config->port[port].bond.members)
		members_watch(watch, port);
	if (watch->port[port].link_up == up)
		return;
	watch->ports[port].link_changes++;
	fprintf(stderr, "onager: port %s: link is %s\n", watch->config->port[port].name,
		up ? "up" : "down");
	watch->port[port].link_up = up;
	watch->link_down[port] = up ? 0 : elapsed;
}

void watch_links(struct watch *watch, uint64_t elapsed)
{
	for (unsigned i = 0; i < watch->config->ports; i++)
		if (!watch->config->port[i].is_network)
			link_watch(watch, i, elapsed);
}

/* A kernel hands packets of up to 64 KiB to what it takes for a NIC that will segment them. No mbuf
 * holds one, so it cannot be received; the peer sends it again, whole, until it gives up. */
static void cut_watch(struct watch *watch, const struct crew *crew, unsigned port)
{
	uint64_t cut = 0;

	for (unsigned i = 0; i < crew->workers; i++)
		if (crew->worker[i]->port_index == port)
			cut += __atomic_load_n(&crew->worker[i]->counters.drop[DROP_IP_CUT],
					       __ATOMIC_RELAXED);
	if (!cut || watch->port[port].cut_said)
		return;
	watch->port[port].cut_said = true;
	fprintf(stderr,
		"onager: port %s: packets longer than the MTU come in and are lost (ip.cut): the "
		"kernel that sends them leaves segmentation to a NIC; at that end: ethtool -K "
		"INTERFACE tso off gso off\n",
		watch->config->port[port].name);
}

static const char *hop_name(const struct config_port *port, u128 ip)
{
	bool is_ip4 = nexthop_is_ip4(ip);

	if (is_ip4 ? port->has_gateway : port->has_gateway6)
		return !port->has_routes || (is_ip4 ? (uint32_t)ip == (uint32_t)port->gateway
						    : ip == port->gateway6)
			       ? "gateway"
			       : "next hop";
	if (port->has_routes)
		return "next hop";
	return port->tunnel.rule.kind && !port->outside ? "tunnel end" : "server";
}

const char *watch_hop(const struct config_port *port, u128 ip, char text[WATCH_HOP_MAX])
{
	bool is_ip4 = nexthop_is_ip4(ip);
	char address[46];

	ip_format(address, is_ip4 ? 4 : 6, is_ip4 ? (uint32_t)ip : ip);
	snprintf(text, WATCH_HOP_MAX, "%s %s", hop_name(port, ip), address);
	return text;
}

/* What a port's traffic goes through, in words; NULL: nothing. */
static const char *router_name(const struct config_port *port, char text[WATCH_HOP_MAX])
{
	if (port->has_gateway)
		return watch_hop(port, nexthop_ip4(__builtin_bswap32((uint32_t)port->gateway)),
				 text);
	if (port->has_gateway6)
		return watch_hop(port, port->gateway6, text);
	return port->solicit_router ? "IPv6 router" : NULL;
}

/* Say once when a server port's gateway has been silent for the time-out. */
static void gateways_watch(struct watch *watch, const struct crew *crew, uint64_t elapsed)
{
	for (unsigned i = 0; i < watch->config->ports && !watch->gateways_looked_at; i++) {
		const struct config_port *port = &watch->config->port[i];
		char text[WATCH_HOP_MAX];

		if (elapsed < port->resolve_timeout)
			return;
		if (!router_name(port, text) || watch_resolved(crew, i))
			continue;
		fprintf(stderr,
			"onager: port %s: %s has not been heard of yet; serving all the same\n",
			port->name, router_name(port, text));
	}
	watch->gateways_looked_at = true;
}

void watch_look(struct watch *watch, const struct crew *crew, uint64_t elapsed)
{
	watch_links(watch, elapsed);
	for (unsigned i = 0; i < watch->config->ports; i++)
		cut_watch(watch, crew, i);
	gateways_watch(watch, crew, elapsed);
}
