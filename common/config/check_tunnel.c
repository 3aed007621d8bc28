/* Checks of a port's tunnel: its ends and numbers, and what fits through it. Then the port becomes
 * what it is inside: all that follows sees addresses, MTU and tags as if there were no tunnel. */
#include "reader.h"

#include <string.h>

#define MTU_LEAST 576u

/* Where each kind has its number. */
static const struct number_key {
	enum tunnel_kind kind, other;
	const char *name, *own;
	bool required;
} number_key[] = {
	{TUNNEL_VXLAN, TUNNEL_VXLAN, "vni", NULL, true},
	{TUNNEL_GRE, TUNNEL_GRETAP, "key", "local_key", false},
	{TUNNEL_GTPU, TUNNEL_GTPU, "teid", "local_teid", true},
	{TUNNEL_MPLS, TUNNEL_MPLS, "label", "local_label", true},
};

static const struct where *tunnel_spot(struct reader *r, struct spot *s, unsigned port,
				       const char *key)
{
	const struct where *tunnel = port_spot(r, s, port, "tunnel");

	s->below = (struct where){.up = tunnel, .key = key};
	s->below.node = cJSON_GetObjectItemCaseSensitive(tunnel->node, key);
	return &s->below;
}

static bool has_key(struct reader *r, unsigned port, const char *key)
{
	struct spot s;

	return key && tunnel_spot(r, &s, port, key)->node;
}

/* A key that this kind does not have. */
static void key_refuse(struct reader *r, unsigned port, const char *key)
{
	struct spot s;
	const struct where *w;

	if (!has_key(r, port, key))
		return;
	w = tunnel_spot(r, &s, port, key);
	problem_add(r->document, w, PLACE_KEY, "not a key of this kind of tunnel");
}

static void numbers_check(struct reader *r, unsigned i, enum tunnel_kind kind)
{
	struct spot s;

	for (size_t n = 0; n < sizeof(number_key) / sizeof(*number_key); n++) {
		const struct number_key *k = &number_key[n];

		if (k->kind != kind && k->other != kind) {
			key_refuse(r, i, k->name);
			key_refuse(r, i, k->own);
			continue;
		}
		if (k->required && !has_key(r, i, k->name))
			problem_add(r->document, tunnel_spot(r, &s, i, k->name), PLACE_VALUE,
				    "missing, expected the number of the tunnel, or several");
		if (has_key(r, i, k->own) && !has_key(r, i, k->name))
			problem_add(r->document, tunnel_spot(r, &s, i, k->own), PLACE_KEY,
				    "expected together with %s", k->name);
	}
}

static void kind_check(struct reader *r, unsigned i, enum tunnel_kind kind)
{
	static const char *const framed[] = {"gateway", "gateway_mac", "mac"};

	numbers_check(r, i, kind);
	if (kind != TUNNEL_GTPU)
		key_refuse(r, i, "qfi");
	if (kind != TUNNEL_MPLS)
		key_refuse(r, i, "label_stack");
	else
		key_refuse(r, i, "local");
	if (!tunnel_is_udp(kind)) {
		key_refuse(r, i, "udp_port");
		key_refuse(r, i, "udp_checksum");
	}
	for (size_t n = 0; !tunnel_has_frames(kind) && n < 3; n++)
		key_refuse(r, i, framed[n]);
}

static bool has_clients(const struct config *c, unsigned port)
{
	for (unsigned i = 0; i < c->traffics; i++)
		if (c->traffic[i].port == port && traffic_is_client(c->traffic[i].kind))
			return true;
	return false;
}

/* Without `local` it is the port's own address of that family. */
static void local_default(struct reader *r, unsigned i)
{
	const struct config_port *port = &r->config->port[i];
	struct tunnel_rule *rule = &r->config->port[i].tunnel.rule;
	uint8_t family = tunnel_family(rule);
	struct ip_pool *local = family == 6 ? &rule->local6 : &rule->local;
	struct spot s;

	if (local->ranges || rule->kind == TUNNEL_MPLS)
		return;
	for (unsigned j = 0; j < port->addresses; j++) {
		if (port->address[j].family != family)
			continue;
		local->range = storage_take(r->config, sizeof(*local->range));
		*local->range = (struct ip_range){port->address[j].address, 1};
		*local = (struct ip_pool){local->range, 1, family, 1};
		return;
	}
	problem_add(r->document, port_spot(r, &s, i, "address"), PLACE_VALUE,
		    "missing, expected an IPv%u address, from which the tunnel begins", family);
}

static void ends_check(struct reader *r, unsigned i)
{
	const struct config_port *port = &r->config->port[i];
	struct tunnel_rule *rule = &r->config->port[i].tunnel.rule;
	bool far = rule->remote.ranges || rule->remote6.ranges;
	struct spot s;

	if ((rule->remote.ranges && rule->remote6.ranges) ||
	    (rule->remote.ranges && rule->local6.ranges) ||
	    (rule->remote6.ranges && rule->local.ranges) ||
	    (rule->local.ranges && rule->local6.ranges)) {
		problem_add(r->document, tunnel_spot(r, &s, i, far ? "remote" : "local"),
			    PLACE_VALUE, "expected both ends of one address family");
		return;
	}
	if (rule->kind == TUNNEL_MPLS) {
		if (!far && (port->has_routes || (!port->has_gateway && !port->has_gateway6 &&
						  !port->has_gateway_mac && !port->solicit_router)))
			problem_add(r->document, tunnel_spot(r, &s, i, "remote"), PLACE_VALUE,
				    "missing, expected the next hop's address, or a gateway or "
				    "gateway_mac of the port");
	} else if (!far && has_clients(r->config, i)) {
		problem_add(r->document, tunnel_spot(r, &s, i, "remote"), PLACE_VALUE,
			    "missing, expected the far end's address: only a server can do "
			    "without");
	}
	local_default(r, i);
}

static void fit_check(struct reader *r, unsigned i)
{
	const struct config_port *port = &r->config->port[i];
	unsigned overhead = tunnel_overhead(&port->tunnel.rule);
	struct spot s;

	if (number_pool_count(&port->tunnel.rule.stack) > TUNNEL_STACK_MAX)
		problem_add(r->document, tunnel_spot(r, &s, i, "label_stack"), PLACE_VALUE,
			    "expected at most %d labels", TUNNEL_STACK_MAX);
	else if (port->mtu && port->mtu < MTU_LEAST + overhead)
		problem_add(r->document, port_spot(r, &s, i, "mtu"), PLACE_VALUE,
			    "expected at least %u, of which the tunnel takes %u, got %u",
			    MTU_LEAST + overhead, overhead, port->mtu);
	if (port->checksum_offload)
		problem_add(r->document, port_spot(r, &s, i, "checksum_offload"), PLACE_VALUE,
			    "expected false: devices do not look into tunnels");
	if (port->tunnel.gateway.count > 1 || port->tunnel.gateway6.count > 1)
		problem_add(r->document, tunnel_spot(r, &s, i, "gateway"), PLACE_VALUE,
			    "expected one address, or one of each family");
	if ((port->tunnel.gateway.count || port->tunnel.gateway6.count) &&
	    !port->tunnel.has_gateway_mac && !port->tunnel.rule.remote.count &&
	    !port->tunnel.rule.remote6.count)
		problem_add(r->document, tunnel_spot(r, &s, i, "gateway"), PLACE_KEY,
			    "expected together with remote or gateway_mac: it can be asked only "
			    "where it is known to be");
	for (unsigned t = 0; t < r->config->traffics; t++)
		if (r->config->traffic[t].kind == REPLAY &&
		    traffic_uses_port(&r->config->traffic[t], i) &&
		    !tunnel_has_frames(port->tunnel.rule.kind))
			problem_add(r->document, spot_find(r, &s, "traffic", t, "port", NULL),
				    PLACE_VALUE,
				    "a replay sends frames: expected a port without tunnel, or "
				    "with one of kind \"vxlan\" or \"gretap\"");
}

/* The port as it is inside. */
static void inside_make(struct reader *r, unsigned i)
{
	struct config_port *port = &r->config->port[i];
	struct config_port *outside = storage_take(r->config, sizeof(*outside));
	const struct config_tunnel *tunnel = &port->tunnel;

	*outside = *port;
	port->outside = outside;
	port->mtu = (uint16_t)(port->mtu - tunnel_overhead(&tunnel->rule));
	port->vlans = 0;
	port->address = tunnel->address;
	port->addresses = tunnel->addresses;
	port->has_gateway = tunnel->gateway.count;
	port->has_gateway6 = tunnel->gateway6.count;
	port->gateway = port->has_gateway ? tunnel->gateway.range->first : 0;
	port->gateway6 = port->has_gateway6 ? tunnel->gateway6.range->first : 0;
	port->solicit_router = false;
	port->has_routes = false;
	port->routes = 0;
	port->has_gateway_mac = tunnel->has_gateway_mac;
	memcpy(port->gateway_mac, tunnel->gateway_mac, sizeof(port->gateway_mac));
	if (tunnel_has_frames(tunnel->rule.kind))
		return;
	port->announce = false;
	port->has_gateway_mac = true; /* any: it is not sent */
	memcpy(port->gateway_mac, (uint8_t[6]){2}, sizeof(port->gateway_mac));
}

void tunnel_check(struct reader *r, unsigned i)
{
	struct config_port *port = &r->config->port[i];
	struct tunnel_rule *rule = &port->tunnel.rule;

	if (rule->kind == TUNNEL_NONE)
		return;
	kind_check(r, i, rule->kind);
	ends_check(r, i);
	rule->has_qfi = has_key(r, i, "qfi");
	rule->uplink = has_clients(r->config, i);
	if (!has_key(r, i, "tos"))
		rule->tos = port->tos;
	if (!has_key(r, i, "udp_checksum")) /* a kernel wants one over IPv6 */
		rule->udp_checksum = tunnel_is_udp(rule->kind) && tunnel_family(rule) == 6;
	fit_check(r, i);
	inside_make(r, i);
}
