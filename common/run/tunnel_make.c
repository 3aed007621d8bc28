/* See tunnel_make.h. Clients are counted as both ends can: over the entries of the port in their
 * order, IPv4 before IPv6 of each. */
#include "tunnel_make.h"

#include <string.h>

static unsigned clients_gather(const struct config *config, unsigned port, bool own,
			       const struct ip_pool **pool)
{
	unsigned count = 0;

	for (unsigned i = 0; i < config->traffics; i++) {
		const struct config_traffic *t = &config->traffic[i];

		if (t->port != port || traffic_is_client(t->kind) != own)
			continue;
		pool[count++] = traffic_clients(t, 4);
		pool[count++] = traffic_clients(t, 6);
	}
	return count;
}

static void setup_make(struct tunnel_setup *setup, const struct config *config, unsigned port,
		       const struct ip_pool **pool)
{
	const struct config_port *p = &config->port[port];

	*setup = (struct tunnel_setup){.rule = &p->tunnel.rule, .client = pool};
	setup->own_clients = clients_gather(config, port, true, pool);
	setup->clients =
		setup->own_clients + clients_gather(config, port, false, pool + setup->own_clients);
	setup->serves = setup->clients > setup->own_clients;
	setup->vlans = p->outside->vlans;
	for (unsigned i = 0; i < setup->vlans; i++)
		setup->vlan[i] = config_port_tag(p->outside, i);
}

size_t tunnel_make_bytes(const struct config *config, unsigned port)
{
	const struct ip_pool *pool[2 * config->traffics];
	struct tunnel_setup setup;

	setup_make(&setup, config, port, pool);
	return tunnel_bytes(&setup) + sizeof pool + 64;
}

int tunnel_make(struct tunnel *t, const struct config *config, unsigned port,
		const struct view_rule *inside, const uint8_t mac[6], struct nexthop *hop,
		struct arena *arena)
{
	const struct ip_pool **pool = arena_take(arena, 2 * config->traffics * sizeof(*pool));
	struct tunnel_setup setup;

	if (!pool)
		return -1;
	setup_make(&setup, config, port, pool);
	setup.inside = inside;
	setup.hop = hop;
	memcpy(setup.mac, mac, sizeof setup.mac);
	return tunnel_init(t, &setup, arena);
}
