/* Checks that need more than one key: names, subnets, tuples, criteria.
 *
 * They run on the structs, also when single keys were refused before, so each must bear fields that
 * are still zero; positions come from the tree. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/counter.h"

#define THINK_FACTOR_MAX 1000000

const struct where *spot_find(struct reader *r, struct spot *s, const char *list, unsigned i,
			      const char *key, const char *inner)
{
	s->root = (struct where){.node = r->document->root};
	s->list = (struct where){.up = &s->root, .key = list};
	s->list.node = cJSON_GetObjectItemCaseSensitive(s->root.node, list);
	s->element = (struct where){.up = &s->list, .index = i};
	s->element.node = cJSON_GetArrayItem(s->list.node, (int)i);
	s->key = (struct where){.up = &s->element, .key = key};
	s->key.node = cJSON_GetObjectItemCaseSensitive(s->element.node, key);
	s->inner = (struct where){.up = &s->key, .key = inner};
	s->inner.node = inner ? cJSON_GetObjectItemCaseSensitive(s->key.node, inner) : NULL;
	return inner ? &s->inner : &s->key;
}

static const char *device_loop(const struct config_port *port)
{
	return port->device && !strncmp(port->device, "loop:", 5) ? port->device : NULL;
}

static void device_check(struct reader *r, unsigned i)
{
	const struct config *c = r->config;
	const char *device = c->port[i].device;
	unsigned same = 0, before = 0;
	bool complete = true; /* no device was refused: this may be the other end */
	struct spot s;

	for (unsigned j = 0; device && j < c->devices; j++) {
		bool is_same = c->port[j].device && strcmp(c->port[j].device, device) == 0;

		complete &= c->port[j].device != NULL;
		same += is_same;
		before += is_same && j < i;
	}
	if (device_loop(&c->port[i]) && same != 2 && complete)
		problem_add(r->document, spot_find(r, &s, "ports", i, "device", NULL), PLACE_VALUE,
			    "expected \"%s\" at two ports, the ends of the cable, got it at %u",
			    device, same);
	else if (device && !device_loop(&c->port[i]) && before)
		problem_add(r->document, spot_find(r, &s, "ports", i, "device", NULL), PLACE_VALUE,
			    "device \"%s\" is another port's already", device);
}

/* fe80::/10: on every link. */
static bool is_link_local(uint8_t family, u128 address)
{
	return family == 6 && address >> 118 == 0x3fa;
}

static void gateway_check(struct reader *r, unsigned i, uint8_t family, u128 gateway)
{
	const struct config_port *port = &r->config->port[i];
	unsigned bits = family == 4 ? 32 : 128, own = 0;
	char text[46];
	struct spot s;

	for (unsigned j = 0; j < port->addresses; j++) {
		const struct config_address *address = &port->address[j];
		u128 host = address->prefix ? ((u128)1 << (bits - address->prefix)) - 1 : ~(u128)0;

		if (address->family != family)
			continue;
		own++;
		if ((gateway | host) != (address->address | host))
			continue;
		if (gateway == address->address)
			problem_add(r->document, port_spot(r, &s, i, "gateway"), PLACE_VALUE,
				    "%s is the port's own address",
				    ip_format(text, family, gateway));
		return;
	}
	if (own && !is_link_local(family, gateway))
		problem_add(
			r->document, port_spot(r, &s, i, "gateway"), PLACE_VALUE,
			"expected an address inside a subnet of the port's own address, got \"%s\"",
			ip_format(text, family, gateway));
}

static bool has_address(const struct config_port *port, uint8_t family)
{
	for (unsigned i = 0; i < port->addresses; i++)
		if (port->address[i].family == family)
			return true;
	return false;
}

/* ARP asks in the name of an own address, so does Neighbour Discovery: without one, that of the
 * first traffic entry. */
static void address_default(struct config *c, unsigned i, uint8_t family)
{
	struct config_port *port = &c->port[i];

	for (unsigned t = 0; t < c->traffics && !has_address(port, family); t++) {
		const struct ip_pool *own = traffic_own(&c->traffic[t], family);

		if (c->traffic[t].port != i || !own->ranges)
			continue;
		*(struct config_address *)list_grow(c, (void **)&port->address, port->addresses,
						    sizeof(*port->address)) =
			(struct config_address){family, family == 4 ? 32 : 128,
						own->range[0].first};
		port->addresses++;
	}
}

static void name_check(struct reader *r, const char *list, unsigned i, const char *name,
		       const char *other)
{
	struct spot s;

	if (strcmp(name, other) == 0)
		problem_add(r->document, spot_find(r, &s, list, i, "name", NULL), PLACE_VALUE,
			    "the name \"%s\" is taken already", name);
}

static void ports_check(struct reader *r)
{
	struct config *c = r->config;

	for (unsigned i = 0; i < c->devices; i++) {
		for (unsigned j = 0; c->port[i].name && j < i; j++) {
			if (c->port[j].name)
				name_check(r, "ports", i, c->port[i].name, c->port[j].name);
		}
		device_check(r, i);
		bond_check(r, i);
	}
	for (unsigned i = 0; i < c->ports; i++) {
		bool was_checked = c->port[i].is_network && c->port[i].place == CONFIG_UNLIMITED;

		if (c->port[i].has_gateway && !was_checked)
			gateway_check(r, i, 4, c->port[i].gateway);
		if (c->port[i].has_gateway6 && !was_checked)
			gateway_check(r, i, 6, c->port[i].gateway6);
		tunnel_check(r, i);
		if (!was_checked)
			routes_check(r, i);
		address_default(c, i, 4);
		address_default(c, i, 6);
	}
}

/* A conversation's own keys, and whether its flow is of one file. */
static void conversation_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	struct script_options *o = &t->conversation;
	const struct where *w;
	struct spot s;

	w = spot_find(r, &s, "traffic", i, "flow", NULL);
	if (w->node && o->files > 1)
		problem_add(r->document, w, PLACE_VALUE, "expected one file with it, got %u",
			    o->files);
	if (w->node)
		o->flow++;
	w = spot_find(r, &s, "traffic", i, "think_time_factor", NULL);
	if (!(o->think_factor >= 0 && o->think_factor <= THINK_FACTOR_MAX))
		problem_add(r->document, w, PLACE_VALUE, "expected a number from 0 to %d",
			    THINK_FACTOR_MAX);
	w = spot_find(r, &s, "traffic", i, "files", NULL);
	if (cJSON_IsArray(w->node) && !o->files)
		problem_add(r->document, w, PLACE_VALUE, "expected at least one file");
	for (unsigned f = 0; f < o->files; f++)
		if (o->file[f] && !strcmp(o->file[f], "-"))
			problem_add(r->document, w, PLACE_VALUE,
				    "standard input can be read once only: expected a file");
}

static bool kind_is_known(struct reader *r, unsigned i)
{
	struct spot s;
	const char *kind = node_value(spot_find(r, &s, "traffic", i, "kind", NULL)->node);

	return kind && strcmp(kind, traffic_kind_name(r->config->traffic[i].kind)) == 0;
}

static void port_check(struct reader *r, unsigned i)
{
	const struct config_traffic *traffic = &r->config->traffic[i];
	unsigned headers = traffic_has(traffic, 4) || !traffic_has(traffic, 6) ? 40 : 60;
	struct spot s;

	if (r->config->devices > 1 && !spot_find(r, &s, "traffic", i, "port", NULL)->node)
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "missing, expected the name of one of the %u ports",
			    r->config->devices);
	if (traffic->port < r->config->ports && traffic->tcp.mss &&
	    traffic->tcp.mss + headers > r->config->port[traffic->port].mtu)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "tcp", "mss"), PLACE_VALUE,
			    "expected at most %u, the port's MTU less %u bytes of headers, got %u",
			    r->config->port[traffic->port].mtu - headers, headers,
			    traffic->tcp.mss);
	if (traffic->tcp.scale >= SCALE_0 && traffic->tcp.scale < SCALE_0 + SCALE_MAX &&
	    traffic->tcp.window >> (traffic->tcp.scale - SCALE_0) > UINT16_MAX)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "tcp", "scale"),
			    PLACE_VALUE,
			    "a window of %u bytes shifted by %d does not fit 16 bits: enlarge "
			    "\"scale\"",
			    traffic->tcp.window, traffic->tcp.scale - SCALE_0);
	if (traffic->tcp.scale >= SCALE_0 && traffic->tcp.window &&
	    !(traffic->tcp.window >> (traffic->tcp.scale - SCALE_0)))
		problem_add(r->document, spot_find(r, &s, "traffic", i, "tcp", "scale"),
			    PLACE_VALUE,
			    "a window of %u bytes shifted by %d is none: lower \"scale\"",
			    traffic->tcp.window, traffic->tcp.scale - SCALE_0);
}

/* A connection has one family: who has addresses of one needs a far end of it. */
static void family_check(struct reader *r, unsigned i)
{
	const struct config_traffic *traffic = &r->config->traffic[i];
	struct spot s;

	if (traffic->kind == UDP_SINK)
		return;
	if (traffic->kind == UDP_BLAST && traffic->clients.ranges && traffic->clients6.ranges)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "clients", NULL),
			    PLACE_VALUE, "a blast has addresses of one family: make it two");
	for (uint8_t family = 4; family <= 6; family += 2) {
		bool clients = traffic_clients(traffic, family)->ranges;
		bool servers = traffic_servers(traffic, family)->ranges;

		if (clients == servers || !traffic->clients.count + !traffic->clients6.count == 2 ||
		    !traffic->servers.count + !traffic->servers6.count == 2)
			continue;
		problem_add(r->document,
			    spot_find(r, &s, "traffic", i, clients ? "servers" : "clients", NULL),
			    PLACE_VALUE, "expected an IPv%u address, as %s has", family,
			    clients ? "clients" : "servers");
	}
}

/* A connection knows its own IPv6 address by its number among the port's. */
static void numbers_check(struct reader *r, unsigned i)
{
	struct config_traffic *traffic = &r->config->traffic[i];
	u128 before = 0;
	struct spot s;

	if (traffic_is_stateless(traffic->kind))
		return;
	for (unsigned j = 0; j <= i; j++)
		if (r->config->traffic[j].port == traffic->port &&
		    !traffic_is_stateless(r->config->traffic[j].kind))
			before += traffic_own(&r->config->traffic[j], 6)->count;
	if (!traffic_has(traffic, 6) || before < (u128)1 << 32)
		return;
	problem_add(r->document,
		    spot_find(r, &s, "traffic", i,
			      traffic_is_client(traffic->kind) ? "clients" : "servers", NULL),
		    PLACE_VALUE, "expected fewer than 2^32 own IPv6 addresses on a port, got more");
}

/* A datagram is one packet: it is not fragmented. */
void datagram_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	static const char *const side[] = {"request", "response"};
	const uint64_t size[] = {t->request.body_size, t->response.body_size};
	unsigned headers = t->clients6.ranges || t->servers6.ranges ? 48 : 28, most;
	struct spot s;

	if (!spot_find(r, &s, "traffic", i, "response", "size")->node)
		t->response.body_size = CONFIG_ANY_SIZE;
	if (t->port >= r->config->ports)
		return;
	most = r->config->port[t->port].mtu - headers;
	for (int j = 0; j < 2; j++)
		if (spot_find(r, &s, "traffic", i, side[j], "size")->node && size[j] > most)
			problem_add(r->document, &s.inner, PLACE_VALUE,
				    "expected at most %u, the port's MTU less %u bytes of headers, "
				    "got %llu",
				    most, headers, (unsigned long long)size[j]);
	if (t->kind == UDP_CLIENT && t->request.body_size < 4)
		t->numbered = false;
}

static char *count_text(u128 count)
{
	char digits[40];
	char *at = digits + sizeof(digits);

	*--at = '\0';
	do {
		*--at = (char)('0' + (int)(count % 10));
		count /= 10;
	} while (count);
	return text_format("%s", at);
}

/* There must be tuples for so many connections at once. */
static void tuples_need(struct reader *r, const struct config_traffic *traffic,
			const struct where *w, uint64_t needed, const char *what)
{
	uint8_t family = traffic_has(traffic, 4) ? 4 : 6;
	u128 clients = traffic_clients(traffic, family)->count;
	u128 servers = traffic_servers(traffic, family)->count;
	u128 ports = (u128)traffic->client_ports.count * traffic->server_ports.count;
	u128 available;
	char *text[3];

	if (traffic_has(traffic, 4) && traffic_has(traffic, 6))
		needed /= 2; /* connections alternate: that many of each */
	if (__builtin_mul_overflow(clients, servers, &available) ||
	    __builtin_mul_overflow(available, ports, &available))
		return;
	if (!available || needed <= available)
		return;
	text[0] = count_text(available);
	text[1] = count_text(clients);
	text[2] = count_text(servers);
	problem_add(
		r->document, w, PLACE_VALUE,
		"%llu %s needed, %s available (%s clients x %u client_ports x %s servers x %u "
		"server_ports): add addresses to clients or servers, or ports to client_ports or "
		"server_ports",
		(unsigned long long)needed, what, text[0], text[1], traffic->client_ports.count,
		text[2], traffic->server_ports.count);
	for (int i = 0; i < 3; i++)
		free(text[i]);
}

static void load_check(struct reader *r, unsigned i)
{
	struct config_traffic *traffic = &r->config->traffic[i];
	static const char *const key[] = {"cps", "concurrency", "rps", "bps"};
	uint64_t concurrency =
		traffic->load.concurrency == UINT64_MAX ? 0 : traffic->load.concurrency;
	unsigned workers =
		traffic->port < r->config->ports ? r->config->port[traffic->port].cores : 0;
	unsigned given = 0;
	struct spot s;

	for (int j = 0; j < 4; j++)
		given += spot_find(r, &s, "traffic", i, "load", key[j])->node != NULL;
	if (!given && cJSON_IsObject(s.key.node))
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "expected at least one of cps, concurrency, rps and bps, got none");
	if (!spot_find(r, &s, "traffic", i, "requests_per_connection", NULL)->node)
		traffic->requests_per_connection =
			traffic->think_time || (traffic->load.cps.den && traffic->load.concurrency)
				? CONFIG_UNLIMITED
				: 1;
	tuples_need(r, traffic, spot_find(r, &s, "traffic", i, "load", "concurrency"), concurrency,
		    "connections at once are");
	tuples_need(r, traffic, spot_find(r, &s, "traffic", i, "max_connections", NULL),
		    traffic->max_connections, "connections at once are");
	tuples_need(r, traffic, spot_find(r, &s, "traffic", i, "clients", NULL), workers,
		    "connections, one for each worker, are");
	if (traffic->max_connections && traffic->max_connections < concurrency)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "max_connections", NULL),
			    PLACE_VALUE, "expected at least load.concurrency, %llu, got %llu",
			    (unsigned long long)concurrency,
			    (unsigned long long)traffic->max_connections);
}

/* An address that both pools have. */
static bool addresses_meet(const struct ip_pool *a, const struct ip_pool *b, u128 *address)
{
	for (unsigned i = 0; i < a->ranges; i++) {
		for (unsigned j = 0; j < b->ranges; j++) {
			const struct ip_range *p = &a->range[i], *q = &b->range[j];

			*address = p->first > q->first ? p->first : q->first;
			if (*address < p->first + p->count && *address < q->first + q->count)
				return true;
		}
	}
	return false;
}

static bool ports_meet(const struct port_pool *a, const struct port_pool *b, unsigned *port)
{
	for (unsigned i = 0; i < a->ranges; i++) {
		for (unsigned j = 0; j < b->ranges; j++) {
			const struct port_range *p = &a->range[i], *q = &b->range[j];

			*port = p->first > q->first ? p->first : q->first;
			if (*port <= p->last && *port <= q->last)
				return true;
		}
	}
	return false;
}

/* Two servers must not listen at one place, two clients not be the same end of the same connection.
 */
static void overlap_check(struct reader *r, unsigned i, unsigned other, uint8_t family)
{
	const struct config_traffic *a = &r->config->traffic[i], *b = &r->config->traffic[other];
	unsigned server_port, client_port;
	u128 server, client;
	char text[46];
	struct spot s;

	if (traffic_is_stateless(b->kind) || a->port != b->port ||
	    traffic_is_udp(a->kind) != traffic_is_udp(b->kind) ||
	    traffic_is_client(a->kind) != traffic_is_client(b->kind) ||
	    !addresses_meet(traffic_servers(a, family), traffic_servers(b, family), &server) ||
	    !ports_meet(&a->server_ports, &b->server_ports, &server_port) ||
	    !kind_is_known(r, other))
		return;
	ip_format(text, family, server);
	spot_find(r, &s, "traffic", i, "servers", NULL);
	if (!traffic_is_client(a->kind))
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "%s port %u is served by traffic[%u] already", text, server_port,
			    other);
	else if (addresses_meet(traffic_clients(a, family), traffic_clients(b, family), &client) &&
		 ports_meet(&a->client_ports, &b->client_ports, &client_port))
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "traffic[%u] connects to %s port %u from the same addresses and ports "
			    "already",
			    other, text, server_port);
}

/* An entry of both families counts as two. */
static unsigned entry_families(const struct config_traffic *t)
{
	return traffic_is_stateless(t->kind) ? 0 : traffic_has(t, 4) + traffic_has(t, 6);
}

/* Says it once, of the first entry too many. */
static void entries_check(struct reader *r, unsigned i)
{
	const struct config_traffic *traffic = r->config->traffic;
	unsigned before = 0;
	struct spot s;

	for (unsigned j = 0; j < i; j++)
		if (traffic[j].port == traffic[i].port)
			before += entry_families(&traffic[j]);
	if (before > CONFIG_PORT_ENTRIES_MAX ||
	    before + entry_families(&traffic[i]) <= CONFIG_PORT_ENTRIES_MAX)
		return;
	spot_find(r, &s, "traffic", i, "name", NULL);
	problem_add(
		r->document, &s.element, PLACE_VALUE,
		"expected at most %d entries of connections on a port, got more: give it a list "
		"of servers or server_ports, or another port",
		CONFIG_PORT_ENTRIES_MAX);
}

/* What an entry does not say is as its port has it. */
static void tos_default(struct reader *r, unsigned i)
{
	struct config_traffic *traffic = &r->config->traffic[i];
	struct spot s;

	if (traffic->port < r->config->ports && !spot_find(r, &s, "traffic", i, "tos", NULL)->node)
		traffic->tos = r->config->port[traffic->port].tos;
}

static void traffic_check(struct reader *r)
{
	struct config *c = r->config;

	for (unsigned i = 0; i < c->traffics; i++) {
		for (unsigned j = 0; c->traffic[i].name && j < i; j++) {
			if (c->traffic[j].name)
				name_check(r, "traffic", i, c->traffic[i].name, c->traffic[j].name);
		}
		if (!kind_is_known(r, i))
			continue;
		port_check(r, i);
		http_check(r, i);
		if (c->traffic[i].kind >= CONVERSATION)
			conversation_check(r, i);
		if (c->traffic[i].kind == UDP_BLAST)
			blast_check(r, i);
		else if (c->traffic[i].kind == REPLAY)
			replay_check(r, i);
		else if (traffic_is_client(c->traffic[i].kind))
			load_check(r, i);
		http_contents_check(r, i);
		family_check(r, i);
		numbers_check(r, i);
		tos_default(r, i);
		for (unsigned j = 0; j < i && !traffic_is_stateless(c->traffic[i].kind); j++) {
			overlap_check(r, i, j, 4);
			overlap_check(r, i, j, 6);
		}
		entries_check(r, i);
	}
}

/* The server's part of an entry of both sides, whose checks have seen it as the client's. */
static void server_make(struct reader *r, unsigned i)
{
	struct config *c = r->config;
	struct config_traffic *client = &c->traffic[i], *server = &c->traffic[c->traffics];
	char *name = text_format("%s-server", client->name ? client->name : "");

	client->kind = CONVERSATION_CLIENT;
	*server = *client;
	server->kind = CONVERSATION_SERVER;
	server->port = client->server_port;
	server->name = storage_text(c, name);
	server->load = (struct config_load){.concurrency = 0};
	server->clients = server->clients6 = (struct ip_pool){.ranges = 0}; /* any: NAT */
	free(name);
	for (unsigned j = 0; j < c->traffics; j++) {
		if (c->traffic[j].name)
			name_check(r, "traffic", i, server->name, c->traffic[j].name);
		overlap_check(r, c->traffics, j, 4);
		overlap_check(r, c->traffics, j, 6);
	}
	c->traffics++;
	address_default(c, server->port, 4);
	address_default(c, server->port, 6);
}

static void conversations_part(struct reader *r)
{
	struct config *c = r->config;
	struct config_traffic *all;
	unsigned read = c->traffics, both = 0;

	for (unsigned i = 0; i < read; i++)
		both += c->traffic[i].kind == CONVERSATION;
	if (!both)
		return;
	all = storage_take(c, (read + both) * sizeof(*all));
	memcpy(all, c->traffic, read * sizeof(*all));
	c->traffic = all;
	for (unsigned i = 0; i < read; i++)
		if (c->traffic[i].kind == CONVERSATION && c->traffic[i].server_port < c->ports)
			server_make(r, i);
}

static const char *const report_part[] = {"traffic", "total",  "steady", "streams", "ports",
					  "workers", "memory", "phases", "capture"};

/* What the report has beside the counters in "total" and "steady". */
static const char *const report_more[] = {"seconds", "accepted", "drops", "cpuUsage"};

static bool counter_is_known(const char *name, size_t length, const char **hint)
{
	unsigned nearest = 4;

	*hint = NULL;
	for (unsigned i = 0; i < COUNTER_COUNT; i++) {
		char *word = text_format("%.*s", (int)length, name);
		unsigned distance = word_distance(word, counter_info[i].name, nearest);

		free(word);
		if (!distance)
			return true;
		if (distance < nearest) {
			nearest = distance;
			*hint = counter_info[i].name;
		}
	}
	for (size_t i = 0; i < sizeof(report_more) / sizeof(*report_more); i++) {
		if (strlen(report_more[i]) == length && !memcmp(name, report_more[i], length))
			return true;
	}
	return false;
}

static bool name_is_known(const struct config *c, bool is_port, const char *name, size_t length)
{
	unsigned count = is_port ? c->ports : c->traffics;

	for (unsigned i = 0; i < count; i++) {
		const char *known = is_port ? c->port[i].name : c->traffic[i].name;

		if (known && strlen(known) == length && !memcmp(known, name, length))
			return true;
	}
	return false;
}

static void metric_check(struct reader *r, const struct where *w, const char *metric)
{
	const char *name = strchr(metric, '.');
	size_t part = 0, length;
	const char *hint;

	while (part < sizeof(report_part) / sizeof(*report_part) &&
	       (!name || strncmp(metric, report_part[part], (size_t)(name - metric)) != 0 ||
		report_part[part][name - metric]))
		part++;
	if (part == sizeof(report_part) / sizeof(*report_part)) {
		refuse(r, w,
		       "a path into the report, such as \"traffic.NAME.achieved.cps\" or "
		       "\"total.skErr\"");
		return;
	}
	name++;
	length = strcspn(name, ".");
	if (part == 0 || part == 4) {
		if (!name_is_known(r->config, part == 4, name, length))
			problem_add(r->document, w, PLACE_VALUE, "there is no %s named \"%.*s\"",
				    part == 4 ? "port" : "traffic", (int)length, name);
	} else if ((part == 1 || part == 2) && !counter_is_known(name, length, &hint)) {
		problem_add(r->document, w, PLACE_VALUE,
			    hint ? "there is no counter \"%.*s\" (did you mean \"%s\"?)"
				 : "there is no counter \"%.*s\"",
			    (int)length, name, hint);
	}
}

static void expect_check(struct reader *r)
{
	for (unsigned i = 0; i < r->config->expects; i++) {
		struct config_expect *expect = &r->config->expect[i];
		const struct where *w;
		struct spot s;

		if (spot_find(r, &s, "expect", i, "min", NULL)->node)
			expect->kinds |= EXPECT_MIN;
		if (spot_find(r, &s, "expect", i, "max", NULL)->node)
			expect->kinds |= EXPECT_MAX;
		w = spot_find(r, &s, "expect", i, "metric", NULL);
		if (expect->metric)
			metric_check(r, w, expect->metric);
		if (!expect->kinds && cJSON_IsObject(s.element.node))
			problem_add(r->document, &s.element, PLACE_VALUE,
				    "expected min, max or both, got neither");
		if (expect->kinds == (EXPECT_MIN | EXPECT_MAX) && expect->min > expect->max)
			problem_add(r->document, spot_find(r, &s, "expect", i, "max", NULL),
				    PLACE_VALUE, "expected at least min, %g, got %g", expect->min,
				    expect->max);
	}
}

void config_check(struct reader *r)
{
	ports_check(r);
	traffic_check(r);
	conversations_part(r);
	duration_check(r);
	capture_check(r);
	expect_check(r);
}
