/* Networks behind a port: each becomes a port of its own in config.port[], with the device and the
 * cores of the one behind which it lies, so that whoever asks an entry for its port finds tags,
 * addresses, gateway and MTU there.
 *
 * Networks of a port are told apart by their tags alone; two with the same tags would each be given
 * the other's packets. A traffic entry with tags of its own is on a network that is like its port
 * in all else; entries with the same tags share one. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

const struct where *port_spot(struct reader *r, struct spot *s, unsigned i, const char *key)
{
	const struct config_port *port = &r->config->port[i];

	if (!port->is_network)
		return spot_find(r, s, "ports", i, key, NULL);
	spot_find(r, s, "ports", port->host, "networks", NULL);
	s->inner = (struct where){.up = &s->key, .index = port->place};
	s->inner.node = cJSON_GetArrayItem(s->key.node, (int)port->place);
	s->leaf = (struct where){.up = &s->inner, .key = key};
	s->leaf.node = cJSON_GetObjectItemCaseSensitive(s->inner.node, key);
	return &s->leaf;
}

static bool is_in_subnet(const struct config_address *subnet, uint8_t family, u128 address)
{
	unsigned host = (family == 4 ? 32u : 128u) - subnet->prefix;

	return subnet->family == family &&
	       (host == 128 || subnet->address >> host == address >> host);
}

void routes_check(struct reader *r, unsigned i)
{
	const struct config_port *port = &r->config->port[i];
	struct spot s;

	if (port->has_routes && port->has_gateway_mac)
		problem_add(r->document, port_spot(r, &s, i, "gateway_mac"), PLACE_VALUE,
			    "with routes there is more than one next hop: their addresses are "
			    "resolved");
	for (unsigned n = 0; n < port->routes; n++) {
		const struct config_route *route = &port->route[n];
		bool known = route->on_link || (route->family == 6 && route->via >> 118 == 0x3fa);
		unsigned own = 0;
		char text[46];

		for (unsigned a = 0; a < port->addresses; a++) {
			own += port->address[a].family == route->family;
			known |= is_in_subnet(&port->address[a], route->family, route->via);
		}
		if (known || !own)
			continue;
		problem_add(r->document, port_spot(r, &s, i, "routes"), PLACE_VALUE,
			    "next hop %s is in no subnet of the port's own addresses",
			    ip_format(text, route->family, route->via));
	}
}

/* A new place in config.port[]; all that a network cannot say is the host's. */
static struct config_port *port_add(struct config *c, unsigned host, const char *name)
{
	struct config_port *port = storage_take(c, (c->ports + 1) * sizeof(*port));
	char *full = text_format("%s/%s", c->port[host].name, name);

	c->port[host].behind++;
	memcpy(port, c->port, c->ports * sizeof(*port));
	c->port = port;
	port += c->ports++;
	*port = c->port[host];
	port->name = storage_text(c, full);
	port->network = NULL;
	port->networks = port->behind = 0;
	port->is_network = true;
	port->host = host;
	port->place = CONFIG_UNLIMITED;
	free(full);
	return port;
}

/* The network of a host with these tags, or the host itself; -1: there is none. */
static int tags_find(const struct config *c, unsigned host, const uint16_t *vlan, unsigned vlans)
{
	for (unsigned i = 0; i < c->ports; i++)
		if (config_port_host(c, i) == host &&
		    config_port_has_tags(&c->port[i], vlan, vlans))
			return (int)i;
	return -1;
}

static void network_place(struct reader *r, unsigned host, unsigned place)
{
	struct config *c = r->config;
	const struct config_port *said = &c->port[host].network[place];
	int same = tags_find(c, host, said->vlan, said->vlans);
	struct config_port *port;
	unsigned i = c->ports;
	struct spot s;

	if (!c->port[host].name || !said->name)
		return;
	port = port_add(c, host, said->name);
	port->place = place;
	port->address = said->address;
	port->addresses = said->addresses;
	port->has_gateway = said->has_gateway;
	port->gateway = said->gateway;
	port->has_gateway6 = said->has_gateway6;
	port->gateway6 = said->gateway6;
	port->solicit_router = said->solicit_router;
	port->has_routes = said->has_routes;
	port->route = said->route;
	port->routes = said->routes;
	port->has_gateway_mac = said->has_gateway_mac;
	memcpy(port->gateway_mac, said->gateway_mac, sizeof(port->gateway_mac));
	port->vlans = said->vlans;
	memcpy(port->vlan, said->vlan, sizeof(port->vlan));
	port->vlan_priority = said->vlan_priority;
	port->tunnel = said->tunnel;
	if (said->has_mac) {
		port->has_mac = true;
		memcpy(port->mac, said->mac, sizeof(port->mac));
	}
	if (port_spot(r, &s, i, "neighbor")->node)
		port->neighbor_ignore = said->neighbor_ignore;
	if (port_spot(r, &s, i, "announce")->node)
		port->announce = said->announce;
	if (port_spot(r, &s, i, "tos")->node)
		port->tos = said->tos;
	if (said->mtu > port->mtu)
		problem_add(r->document, port_spot(r, &s, i, "mtu"), PLACE_VALUE,
			    "expected at most %u, the port's, got %u", port->mtu, said->mtu);
	else if (said->mtu)
		port->mtu = said->mtu;
	port_spot(r, &s, i, "vlan");
	if (same >= 0 && (said->vlans || !s.leaf.node || cJSON_IsArray(s.leaf.node)))
		problem_add(r->document, &s.leaf, PLACE_VALUE,
			    "expected other tags than %s has: networks are told apart by them",
			    c->port[same].name);
	port_spot(r, &s, i, "name");
	for (unsigned j = c->devices; j < i; j++)
		if (!strcmp(c->port[j].name, port->name))
			problem_add(r->document, &s.leaf, PLACE_VALUE,
				    "the name \"%s\" is taken already", said->name);
}

/* "a", "b" */
static char *networks_text(const struct config_port *port)
{
	char *text = text_format("%s", "");

	for (unsigned i = 0; i < port->networks; i++) {
		const char *name = port->network[i].name;
		char *longer = text_format("%s%s\"%s\"", text, i ? ", " : "", name ? name : "");

		free(text);
		text = longer;
	}
	return text;
}

static void traffic_network(struct reader *r, unsigned i)
{
	struct config_traffic *traffic = &r->config->traffic[i];
	const struct config_port *host = &r->config->port[traffic->port];
	char *names;
	struct spot s;

	for (unsigned j = 0; j < r->config->ports; j++) {
		const struct config_port *port = &r->config->port[j];

		if (!port->is_network || port->host != traffic->port ||
		    strcmp(port->name + strlen(host->name) + 1, traffic->network) != 0)
			continue;
		traffic->port = j;
		return;
	}
	names = networks_text(host);
	spot_find(r, &s, "traffic", i, "network", NULL);
	if (host->networks)
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "expected a network of port %s (%s), got \"%s\"", host->name, names,
			    traffic->network);
	else
		problem_add(r->document, &s.key, PLACE_VALUE, "port %s has no `networks`",
			    host->name);
	free(names);
}

static void traffic_tags(struct reader *r, unsigned i)
{
	struct config_traffic *traffic = &r->config->traffic[i];
	int known = tags_find(r->config, traffic->port, traffic->vlan, traffic->vlans);
	struct config_port *port;
	char *name;
	struct spot s;

	if (known < 0) {
		if (traffic->vlans == 2)
			name = text_format("vlan%u-%u", traffic->vlan[0], traffic->vlan[1]);
		else
			name = traffic->vlans ? text_format("vlan%u", traffic->vlan[0])
					      : text_format("untagged");
		known = (int)r->config->ports;
		port = port_add(r->config, traffic->port, name);
		port->vlans = traffic->vlans;
		memcpy(port->vlan, traffic->vlan, sizeof(port->vlan));
		free(name);
	}
	if (traffic->network)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "vlan", NULL), PLACE_VALUE,
			    "the tags are those of the network: give one of the two keys");
	traffic->port = (unsigned)known;
}

void networks_place(struct reader *r)
{
	struct config *c = r->config;
	struct spot s;

	c->devices = c->ports;
	for (unsigned i = 0; i < c->devices; i++)
		for (unsigned j = 0; j < c->port[i].networks; j++)
			network_place(r, i, j);
	for (unsigned i = 0; i < c->traffics; i++) {
		bool tagged = spot_find(r, &s, "traffic", i, "vlan", NULL)->node != NULL;

		if (c->traffic[i].port >= c->devices || !c->port[c->traffic[i].port].name)
			continue;
		if (tagged)
			traffic_tags(r, i);
		else if (c->traffic[i].network)
			traffic_network(r, i);
	}
}
