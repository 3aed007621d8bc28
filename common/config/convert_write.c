/* A converted configuration written: JSON in the style of conf/, the remarks as comments in front
 * of the keys that they are about.
 *
 * A key is written without its comma, which comes with the next one: so whoever writes keys need
 * not know which is the last. */
#include "convert_private.h"

#include <stdarg.h>
#include <string.h>

#include "value.h"

/* Lines begin where they are written, with the break in front. */
static void line_begin(struct convert *c)
{
	fprintf(c->out, "\n%*s", 2 * (int)c->depth, "");
}

static void remarks_write(struct convert *c, enum slot from, enum slot to, unsigned index)
{
	for (unsigned i = 0; i < c->remarks; i++) {
		struct remark *r = &c->remark[i];

		if (r->is_written || r->slot < from || r->slot > to || r->index != index)
			continue;
		line_begin(c);
		if (r->kind == REMARK_DROPPED)
			fprintf(c->out, "// Not as dperf has it: %s", r->text);
		else
			fprintf(c->out, *r->text ? "// %s" : "//", r->text);
		r->is_written = true;
	}
}

/* An entry of the object or list at hand, with the remarks of its place. */
__attribute__((format(printf, 4, 5))) static void entry(struct convert *c, enum slot slot,
							unsigned index, const char *format, ...)
{
	va_list args;

	fputs(c->is_first ? "" : ",", c->out);
	c->is_first = false;
	remarks_write(c, slot, slot, index);
	line_begin(c);
	va_start(args, format);
	vfprintf(c->out, format, args);
	va_end(args);
}

static void enter(struct convert *c)
{
	c->depth++;
	c->is_first = true;
}

/* The end of an object or list, with the remarks about keys that it does not have. */
static void leave(struct convert *c, const char *bracket, enum slot from, enum slot to,
		  unsigned index)
{
	remarks_write(c, from, to, index);
	c->depth--;
	line_begin(c);
	fputs(bracket, c->out);
	c->is_first = false;
}

/* A remark of ours about the next entry. */
static void explain(struct convert *c, enum slot slot, unsigned index, const char *text)
{
	remark_add(c, REMARK_COMMENT, slot, index, 0, "%s", text);
}

/* 2550000 as "2.55m", what is not so round or large as a number. */
static const char *count_text(char *text, uint64_t n)
{
	if (n == UINT64_MAX)
		return strcpy(text, "\"max\"");
	if (n < 1000000 || n % 10000) {
		sprintf(text, "%llu", (unsigned long long)n);
		return text;
	}
	sprintf(text, "\"%llu.%02llu", (unsigned long long)n / 1000000,
		(unsigned long long)n / 10000 % 100);
	while (text[strlen(text) - 1] == '0')
		text[strlen(text) - 1] = '\0';
	if (text[strlen(text) - 1] == '.')
		text[strlen(text) - 1] = '\0';
	return strcat(text, "m\"");
}

/* The part of one port, all parts together exactly the whole. */
static uint64_t share(const struct convert *c, uint64_t whole, unsigned port)
{
	return whole == UINT64_MAX ? whole : (whole + port) / c->dperf.ports;
}

static void string_write(struct convert *c, const char *text)
{
	fputc('"', c->out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', c->out);
		fputc(*text, c->out);
	}
	fputc('"', c->out);
}

/* The longest subnet that has both, of 256 addresses at least, of IPv6 a /64. */
static unsigned prefix_of(uint8_t family, u128 a, u128 b)
{
	unsigned bits = family == 6 ? 128 : 32, prefix = family == 6 ? 64 : 24;

	while (prefix && (a ^ b) >> (bits - prefix))
		prefix--;
	return prefix;
}

static void ends_write(struct convert *c, const char *key, const struct config_address *first,
		       uint64_t count)
{
	char text[46];

	fprintf(c->out, ", \"%s\": \"%s", key, ip_format(text, first->family, first->address));
	if (count > 1)
		fprintf(c->out, "-%s", ip_format(text, first->family, first->address + count - 1));
	fputc('"', c->out);
}

static void vxlan_write(struct convert *c, const struct dperf_vxlan *vxlan)
{
	entry(c, SLOT_HEAD, 0, "\"tunnel\": {\"kind\": \"vxlan\", \"vni\": %u",
	      (unsigned)vxlan->vni);
	ends_write(c, "local", &vxlan->local, vxlan->locals);
	ends_write(c, "remote", &vxlan->remote, vxlan->remotes);
	fprintf(c->out, ", \"mac\": \"%s\", \"gateway_mac\": \"%s\"}", vxlan->mac,
		vxlan->gateway_mac);
}

static void bond_write(struct convert *c, const struct dperf_port *port, unsigned i)
{
	static const char *const mode[] = {"round-robin", "active-backup", "balance", "broadcast",
					   "lacp",        "tlb",           "alb"};
	static const char *const policy[] = {"l2", "l23", "l34"};

	entry(c, SLOT_HEAD, 0, "\"device\": \"bond:p%u\"", i);
	entry(c, SLOT_HEAD, 0, "\"bond\": {\"mode\": \"%s\", \"policy\": \"%s\", \"members\": [",
	      mode[port->mode], policy[port->policy]);
	for (unsigned m = 0; m < port->members; m++)
		fprintf(c->out, "%s\"%s\"", m ? ", " : "", port->member[m]);
	fputs("]}", c->out);
}

static void port_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	const struct dperf_port *port = &d->port[i];
	unsigned cores = d->cores / d->ports;
	char text[46];

	entry(c, SLOT_PORT, i, "{");
	enter(c);
	entry(c, SLOT_HEAD, 0, "\"name\": \"p%u\"", i);
	if (port->members)
		bond_write(c, port, i);
	else
		entry(c, SLOT_HEAD, 0, "\"device\": \"%s\"", port->device);
	entry(c, SLOT_CORES, i, "\"cores\": [");
	for (unsigned j = 0; j < cores; j++)
		fprintf(c->out, "%s%u", j ? ", " : "", d->core[i * cores + j]);
	fputc(']', c->out);
	entry(c, SLOT_HEAD, 0, "\"address\": \"%s/%u\"", ip_format(text, d->family, port->address),
	      prefix_of(d->family, port->address, port->gateway));
	entry(c, SLOT_HEAD, 0, "\"gateway\": \"%s\"", ip_format(text, d->family, port->gateway));
	if (port->gateway_mac)
		entry(c, SLOT_HEAD, 0, "\"gateway_mac\": \"%s\"", port->gateway_mac);
	if (d->neigh_ignore)
		entry(c, SLOT_HEAD, 0, "\"neighbor\": \"ignore\"");
	if (d->mtu != 1500)
		entry(c, SLOT_MTU, i, "\"mtu\": %u", (unsigned)d->mtu);
	if (d->vlan)
		entry(c, SLOT_VLAN, i, "\"vlan\": %u", (unsigned)d->vlan);
	if (d->tos)
		entry(c, SLOT_TOS, i, "\"tos\": %u", (unsigned)d->tos);
	if (d->vxlans)
		vxlan_write(c, &d->vxlan[i]);
	leave(c, "}", SLOT_PORT, SLOT_TOS, i);
}

static void range_write(struct convert *c, u128 first, u128 count)
{
	char text[46];

	fprintf(c->out, "\"%s", ip_format(text, c->dperf.family, first));
	if (count > 1)
		fprintf(c->out, "-%s", ip_format(text, c->dperf.family, first + count - 1));
	fputc('"', c->out);
}

static void pools_write(struct convert *c, const struct dperf_pool *pool, unsigned pools)
{
	bool is_list = pools > 1 || pool->ranges > 1;
	const char *join = "";

	fputs(is_list ? "[" : "", c->out);
	for (unsigned i = 0; i < pools; i++) {
		for (unsigned j = 0; j < pool[i].ranges; j++) {
			fputs(join, c->out);
			range_write(c, pool[i].range[j].first, pool[i].range[j].count);
			join = ", ";
		}
	}
	fputs(is_list ? "]" : "", c->out);
}

static void steps_write(struct convert *c)
{
	const struct dperf *d = &c->dperf;
	const char *join = "";

	fputc('[', c->out);
	for (unsigned i = 0; i < d->change_dips; i++) {
		const struct dperf_steps *s = &d->steps[i];
		uint32_t count = s->step == 1 ? s->count : 1;

		for (uint32_t n = 0; n < s->count; n += count) {
			fputs(join, c->out);
			range_write(c, s->first + (u128)s->step * n, count);
			join = ", ";
		}
	}
	fputc(']', c->out);
}

static bool is_blast(const struct dperf *d)
{
	return d->protocol == DPERF_UDP && !d->is_server && d->flood;
}

static void addresses_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	bool all = d->clients != d->ports; /* of a server: each port serves all of them */

	entry(c, SLOT_CLIENTS, i, "\"clients\": ");
	pools_write(c, all ? d->client : &d->client[i], all ? d->clients : 1);
	if (d->client_port_first)
		entry(c, SLOT_CLIENT_PORTS, i, "\"client_ports\": \"%u-%u\"",
		      (unsigned)d->client_port_first, (unsigned)d->client_port_last);
	entry(c, SLOT_SERVERS, i, "\"servers\": ");
	if (d->change_dips && d->flood && is_blast(d))
		steps_write(c);
	else
		pools_write(c, &d->server[i], 1);
	if (d->listens > 1)
		entry(c, SLOT_SERVER_PORTS, i, "\"server_ports\": \"%u-%u\"", (unsigned)d->listen,
		      (unsigned)(d->listen + d->listens - 1));
	else
		entry(c, SLOT_SERVER_PORTS, i, "\"server_ports\": %u", (unsigned)d->listen);
}

static void blast_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	char text[32];

	entry(c, SLOT_LOAD, i, "\"load\": {\"pps\": %s",
	      count_text(text, share(c, c->meaning.pps, i)));
	if (d->launch_num)
		fprintf(c->out, ", \"burst\": %u", (unsigned)d->launch_num);
	fputc('}', c->out);
	entry(c, SLOT_MESSAGE, i, "\"size\": %u", (unsigned)c->meaning.size);
	if (d->payload_random)
		entry(c, SLOT_MESSAGE, i, "\"payload\": \"random\"");
	if (d->change_dips && d->flood)
		entry(c, SLOT_SERVERS, i, "\"walk\": \"servers\"");
}

static void load_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	char text[32];

	if (d->cc && !i)
		explain(c, SLOT_LOAD, i, "Opened in the ramp, no faster than cps said.");
	entry(c, SLOT_LOAD, i, "\"load\": {\"%s\": %s}", d->cc ? "concurrency" : "cps",
	      count_text(text, share(c, d->cc ? d->cc : d->cps, i)));
	if (d->keepalive && d->requests)
		entry(c, SLOT_KEEPALIVE, i, "\"requests_per_connection\": %u",
		      (unsigned)d->requests);
	else if (d->keepalive && !d->interval_us)
		entry(c, SLOT_KEEPALIVE, i, "\"requests_per_connection\": \"max\"");
	if (d->keepalive && d->interval_us)
		entry(c, SLOT_KEEPALIVE, i, "\"think_time\": \"%s\"",
		      value_time_print(text, d->interval_us * 1000));
}

/* dperf's server waits for the retransmissions of its client, and then so long as keepalive says.
 */
static void keepalive_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	uint64_t retransmit_s = 4 * (d->retransmit_s ? d->retransmit_s : 2);
	char text[32];

	if (!d->keepalive)
		entry(c, SLOT_KEEPALIVE, i, "\"requests_per_connection\": 1");
	else if (d->has_interval)
		entry(c, SLOT_KEEPALIVE, i, "\"idle_timeout\": \"%s\"",
		      value_time_print(text, d->interval_us * 1000 + retransmit_s * 1000000000));
}

static void request_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	const struct meaning *m = &c->meaning;

	if (!m->is_post && !d->http_host && !d->http_path)
		return;
	entry(c, SLOT_MESSAGE, i, "\"request\": {\"method\": \"%s\"", m->is_post ? "POST" : "GET");
	if (d->http_path) {
		fputs(", \"path\": ", c->out);
		string_write(c, d->http_path);
	}
	if (d->http_host) {
		fputs(", \"host\": ", c->out);
		string_write(c, d->http_host);
	}
	if (m->size)
		fprintf(c->out, ", \"body\": {\"size\": %u}", (unsigned)m->size);
	fputc('}', c->out);
}

static void message_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	const struct meaning *m = &c->meaning;

	if (!i && m->size > 1 && !m->is_raw && (d->payload_size || d->packet_size))
		explain(c, SLOT_MESSAGE, i,
			d->payload_size ? "With its head as long as payload_size said."
					: "With its head as long as packet_size said.");
	if (m->is_raw) {
		entry(c, SLOT_MESSAGE, i, "\"request\": {\"size\": %u}", (unsigned)m->size);
		entry(c, SLOT_MESSAGE, i, "\"response\": {\"size\": %u}", (unsigned)m->size);
	} else if (d->is_server) {
		entry(c, SLOT_MESSAGE, i,
		      "\"response\": {\"content\": \"bare\", \"body\": {\"size\": %u}}",
		      (unsigned)m->size);
	} else {
		request_write(c, i);
	}
}

/* dperf sends four times again, always after the same time. */
static void tcp_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;
	unsigned rto = (unsigned)d->retransmit_s;

	if (rto)
		entry(c, SLOT_TCP, i, "\"timeout\": \"%us\"", 5 * rto);
	if (!rto && !d->mss)
		return;
	entry(c, SLOT_TCP, i, "\"tcp\": {");
	if (d->mss)
		fprintf(c->out, "\"mss\": %u%s", (unsigned)d->mss, rto ? ", " : "");
	if (rto)
		fprintf(c->out, "\"initial_rto\": \"%us\", \"min_rto\": \"%us\", \"retries\": 4",
			rto, rto);
	fputc('}', c->out);
}

static void sockets_write(struct convert *c, unsigned i)
{
	const struct dperf *d = &c->dperf;

	if (!d->is_server)
		load_write(c, i);
	if (d->pipeline > 1)
		entry(c, SLOT_LOAD, i, "\"pipeline\": %u", (unsigned)d->pipeline);
	if (d->payload_size || d->packet_size)
		entry(c, SLOT_MESSAGE, i, "\"%s\": {\"size\": %u}",
		      d->is_server ? "response" : "request", (unsigned)c->meaning.payload);
}

static const char *kind_of(const struct convert *c)
{
	if (c->dperf.protocol == DPERF_UDP)
		return c->dperf.is_server    ? "udp-server"
		       : is_blast(&c->dperf) ? "udp-blast"
					     : "udp-client";
	if (c->meaning.is_raw)
		return c->dperf.is_server ? "tcp-server" : "tcp-client";
	return c->dperf.is_server ? "http-server" : "http-client";
}

static void traffic_write(struct convert *c, unsigned i)
{
	const char *name = c->dperf.protocol == DPERF_UDP ? "udp"
			   : c->meaning.is_raw            ? "tcp"
							  : "web";

	entry(c, SLOT_KIND, i, "{");
	enter(c);
	if (c->dperf.ports > 1)
		entry(c, SLOT_HEAD, 0, "\"name\": \"%s%u\"", name, i);
	else
		entry(c, SLOT_HEAD, 0, "\"name\": \"%s\"", name);
	entry(c, SLOT_HEAD, 0, "\"port\": \"p%u\"", i);
	entry(c, SLOT_HEAD, 0, "\"kind\": \"%s\"", kind_of(c));
	addresses_write(c, i);
	if (is_blast(&c->dperf)) {
		blast_write(c, i);
	} else if (c->dperf.protocol == DPERF_UDP) {
		sockets_write(c, i);
	} else {
		if (c->dperf.is_server)
			keepalive_write(c, i);
		else
			load_write(c, i);
		message_write(c, i);
		tcp_write(c, i);
	}
	leave(c, "}", SLOT_KIND, SLOT_TCP, i);
}

static void eal_write(struct convert *c)
{
	entry(c, SLOT_EAL, 0, "\"eal\": [");
	for (unsigned i = 0; i < c->dperf.eal_args; i++)
		fprintf(c->out, "%s\"%s\"", i ? ", " : "", c->dperf.eal[i]);
	fputc(']', c->out);
}

static void list_write(struct convert *c, const char *name,
		       void (*write)(struct convert *, unsigned))
{
	entry(c, SLOT_HEAD, 0, "\"%s\": [", name);
	enter(c);
	for (unsigned i = 0; i < c->dperf.ports; i++)
		write(c, i);
	leave(c, "]", SLOT_HEAD, SLOT_HEAD, 0);
}

void convert_write(struct convert *c)
{
	char text[32];

	fprintf(c->out, "// Made of dperf's %s by onager convert.",
		strcmp(c->file, "-") ? c->file : "standard input");
	remarks_write(c, SLOT_HEAD, SLOT_HEAD, 0);
	line_begin(c);
	fputc('{', c->out);
	enter(c);
	entry(c, SLOT_DURATION, 0, "\"duration\": \"%s\"",
	      value_time_print(text, c->meaning.steady));
	if (c->meaning.ramp)
		entry(c, SLOT_RAMP, 0, "\"ramp\": \"%s\"", value_time_print(text, c->meaning.ramp));
	if (c->dperf.eal_args)
		eal_write(c);
	list_write(c, "ports", port_write);
	list_write(c, "traffic", traffic_write);
	for (unsigned i = 0; i < DPERF_POOLS; i++)
		remarks_write(c, SLOT_HEAD, SLOT_END, i);
	leave(c, "}\n", SLOT_END, SLOT_END, 0);
}
