/* What a dperf file means for us as a whole: what is missing or does not go together, what dperf
 * assumes where the file is silent, and what follows for our keys.
 *
 * dperf's duration begins with its slow start; ours is the steady phase behind the ramp. Its sizes
 * are those of whole messages or frames; ours are those of bodies. */
#include "convert_private.h"

#include <stdlib.h>
#include <string.h>

#define S               1000000000ull
#define MS              1000000ull
#define HTTP_LEAST      70u /* dperf's shortest HTTP message */
#define TCP_HEADERS     54u /* Ethernet, IPv4 and TCP */
#define UDP_HEADERS     42u
#define UDP_HEADERS6    62u
#define VLAN_TAG        4u
#define TAG_BYTES       18u /* of a udp-blast */
#define FRAME_LEAST     60u
#define FRAME_MOST      9216u /* of a udp-blast */
#define RETRANSMIT_MOST 24u   /* five of them are within our longest time-out */

#define WRONG(c, keyword, ...) \
	remark_add(c, REMARK_WRONG, SLOT_END, 0, keyword_line(c, keyword), __VA_ARGS__)

/* A keyword that is in the file and means nothing here; one of a client in a server's file was
 * dropped already. */
static void drop(struct convert *c, const char *name, const char *why)
{
	for (size_t i = 0; i < keyword_count; i++) {
		const struct keyword *k = &keyword_table[i];

		if (c->seen[i] && !strcmp(k->name, name) && !(k->is_clients && c->dperf.is_server))
			remark_add(c, REMARK_DROPPED, k->slot, 0, c->seen[i], "%s: %s", name, why);
	}
}

static void required_check(struct convert *c)
{
	const struct dperf *d = &c->dperf;
	static const char *const name[] = {"mode", "cpu", "port", "client", "server"};

	for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (!keyword_line(c, name[i]))
			remark_add(c, REMARK_WRONG, SLOT_END, 0, 0, "%s: missing", name[i]);
	if (!d->is_server && keyword_line(c, "mode") && !keyword_line(c, "cps") &&
	    !keyword_line(c, "cc"))
		remark_add(c, REMARK_WRONG, SLOT_END, 0, 0, "cps or cc: missing");
}

static void ports_check(struct convert *c)
{
	const struct dperf *d = &c->dperf;

	if (!d->ports)
		return;
	if (d->cores % d->ports)
		WRONG(c, "cpu", "cpu: expected as many for each of %u ports, got %u", d->ports,
		      d->cores);
	if (d->servers && d->servers != d->ports)
		WRONG(c, "server", "server: expected one for each port, got %u for %u ports",
		      d->servers, d->ports);
	if (!d->is_server && d->clients && d->clients != d->ports)
		WRONG(c, "client", "client: expected one for each port, got %u for %u ports",
		      d->clients, d->ports);
	if (d->vxlans && d->vxlans != d->ports)
		WRONG(c, "vxlan", "vxlan: expected one for each port, got %u for %u ports",
		      d->vxlans, d->ports);
	for (unsigned i = 0; i < d->ports; i++)
		for (unsigned j = 0; j < i; j++)
			if (!strcmp(d->port[i].device, d->port[j].device))
				WRONG(c, "port", "port: %s is there twice", d->port[i].device);
}

/* A server takes no notice of a client's keywords. */
static void defaults_set(struct dperf *d)
{
	if (d->is_server) {
		d->cps = d->cc = d->slow_start_s = d->launch_num = 0;
		d->flood = false;
		d->change_dips = 0;
		d->http_path = d->http_host = NULL;
		d->client_port_first = 0;
	} else if (!d->cps) {
		d->cps = 1000;
	}
	if (d->cc && !d->keepalive) {
		d->keepalive = true;
		if (!d->has_interval)
			d->interval_us = 1000000;
	}
	if (!d->duration_s)
		d->duration_s = 60;
	if (!d->listens)
		d->listen = 80, d->listens = 1;
	if (!d->mtu)
		d->mtu = 1500;
}

static uint64_t pool_count(const struct dperf_pool *pool)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < pool->ranges; i++)
		count += (uint64_t)pool->range[i].count;
	return count;
}

/* There are tuples for all connections. Of source ports dperf takes 1-65535, we 1024-65535: those
 * are kept, unless they are too few. */
static void load_check(struct convert *c)
{
	struct dperf *d = &c->dperf;

	if (d->cps < d->ports)
		WRONG(c, "cps", "cps: expected at least one for each of %u ports", d->ports);
	if (d->cc && d->cc < d->ports)
		WRONG(c, "cc", "cc: expected at least one for each of %u ports", d->ports);
	for (unsigned i = 0; d->cc && i < d->ports; i++) {
		uint64_t need = (d->cc + d->ports - 1) / d->ports;
		u128 ends =
			(u128)pool_count(&d->client[i]) * pool_count(&d->server[i]) * d->listens;
		uint64_t first = d->client_port_first ? d->client_port_first : 1024;
		uint64_t last = d->client_port_last ? d->client_port_last : 65535;

		if (ends * (last - first + 1) >= need)
			continue;
		if (!d->client_port_first && ends * 65535 >= need) {
			d->client_port_first = 1;
			d->client_port_last = 65535;
			continue;
		}
		WRONG(c, "cc",
		      "cc: %llu connections for a port, but its addresses and ports "
		      "allow %llu",
		      (unsigned long long)need, (unsigned long long)(ends * (last - first + 1)));
		return;
	}
}

/* Up to the target: cps for so long as slow_start says; cc for so long as cps takes to fill it. */
static void phases_set(struct convert *c)
{
	const struct dperf *d = &c->dperf;
	struct meaning *m = &c->meaning;
	uint64_t slow = (d->slow_start_s || d->cc ? d->slow_start_s : 30) * S;

	m->steady = d->duration_s * S;
	if (d->is_server)
		return;
	m->ramp = d->cc ? (uint64_t)((u128)d->cc * S / d->cps) : 0;
	if (m->ramp % MS && m->ramp > S)
		m->ramp += MS - m->ramp % MS;
	if (m->ramp < slow)
		m->ramp = slow;
	if (m->ramp >= m->steady) {
		m->ramp = m->steady / 2;
		remark_add(c, REMARK_DROPPED, SLOT_RAMP, 0, keyword_line(c, "duration"),
			   "duration: ends before the load is up; half of it is the ramp now");
	}
	m->steady -= m->ramp;
}

static unsigned digits(uint64_t n)
{
	return n < 10 ? 1 : 1 + digits(n / 10);
}

/* The body that makes a message with so long a head, Content-Length without its number, `size`
 * long; 0: none does. */
static uint64_t body_of(uint64_t size, uint64_t head)
{
	for (unsigned n = 1; n <= 10 && size > head + n; n++)
		if (digits(size - head - n) <= n)
			return size - head - n;
	return 0;
}

static uint64_t request_body(struct convert *c, uint64_t size)
{
	const struct dperf *d = &c->dperf;
	uint64_t head = strlen("GET  HTTP/1.1\r\nHost: \r\nConnection: \r\n\r\n") +
			strlen(d->http_path ? d->http_path : "/") +
			strlen(d->http_host ? d->http_host : "onager") +
			strlen(d->keepalive ? "keep-alive" : "close");
	uint64_t body = body_of(size, head + strlen("PContent-Length: \r\n"));

	c->meaning.is_post = d->is_post;
	if (!body || d->is_post)
		return body;
	if (d->protocol == DPERF_HTTP) {
		drop(c, "payload_size", "a GET request has no body; http_method POST would have");
		return 0;
	}
	c->meaning.is_post = true;
	return body;
}

static uint64_t response_body(const struct dperf *d, uint64_t size)
{
	uint64_t head = strlen("HTTP/1.1 200 OK\r\nConnection: \r\nContent-Length: \r\n\r\n") +
			strlen(d->keepalive ? "keep-alive" : "close");
	uint64_t body = body_of(size, head);

	return !size ? strlen("hello dperf!\r\n") : body ? body : 1;
}

/* packet_size counts from the Ethernet header on, payload_size from behind TCP's. */
static void message_set(struct convert *c)
{
	const struct dperf *d = &c->dperf;
	uint64_t size = d->payload_size;

	if (!size && d->packet_size) {
		size = d->packet_size > TCP_HEADERS ? d->packet_size - TCP_HEADERS : 1;
		c->meaning.is_raw = size < HTTP_LEAST && d->protocol == DPERF_TCP;
	}
	if (c->meaning.is_raw)
		c->meaning.size = size;
	else
		c->meaning.size = d->is_server ? response_body(d, size) : request_body(c, size);
	if (c->meaning.is_raw)
		drop(c, "packet_size",
		     "too short for HTTP: both ends send raw payloads, and need the same size");
}

/* What a packet may have inside of a tunnel, if there is one. */
static uint64_t mtu_inside(const struct dperf *d)
{
	uint64_t overhead = 0;

	for (unsigned i = 0; i < d->vxlans; i++)
		overhead = d->vxlan[i].local.family == 6 ? 70 : overhead ? overhead : 50;
	return d->mtu - overhead;
}

static void frame_set(struct convert *c)
{
	const struct dperf *d = &c->dperf;
	unsigned tags = d->vlan && !d->vxlans ? VLAN_TAG : 0;
	unsigned headers = d->family == 6 ? UDP_HEADERS6 : UDP_HEADERS;
	uint64_t least = headers + TAG_BYTES + tags, most = 14 + tags + mtu_inside(d);
	uint64_t size = d->payload_size ? headers + d->payload_size : d->packet_size;
	const char *name = d->payload_size ? "payload_size" : "packet_size";

	size += tags;
	if (size < least)
		size = least < FRAME_LEAST ? FRAME_LEAST : least;
	if (most > FRAME_MOST)
		most = FRAME_MOST;
	if (size > most)
		WRONG(c, name, "%s: a frame of %llu bytes, expected at most %llu", name,
		      (unsigned long long)size, (unsigned long long)most);
	c->meaning.size = size;
	c->meaning.payload = size - headers - tags;
	if (d->payload_size)
		c->meaning.payload = d->payload_size;
}

/* Of one-way packets: each connection sends one at first, and one in every interval. */
static void pps_set(struct convert *c)
{
	const struct dperf *d = &c->dperf;
	uint64_t pps = d->cps;

	if (d->cc && !d->interval_us)
		pps = UINT64_MAX;
	else if (d->cc)
		pps = d->cc * 1000000 / d->interval_us * (d->pipeline ? d->pipeline : 1);
	else if (d->keepalive && d->requests)
		pps = d->cps * d->requests;
	c->meaning.pps = pps < d->ports ? d->ports : pps;
}

static void udp_check(struct convert *c)
{
	const struct dperf *d = &c->dperf;
	static const char *const name[] = {"http_host", "http_path", "http_method", "mss",
					   "retransmit_timeout"};

	for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++)
		drop(c, name[i], "of no meaning with protocol udp");
	frame_set(c);
	if (d->is_server) {
		drop(c, "keepalive", "of no meaning with a udp-server");
		drop(c, "payload_random",
		     "not yet: answers are a fixed text, or what was received");
		return;
	}
	if (d->flood) {
		pps_set(c);
		return;
	}
	drop(c, "change_dip", "dperf has it with flood only");
	drop(c, "payload_random", "not yet: requests are a fixed text");
	drop(c, "launch_num", "not needed: sockets are opened one by one, in exact time");
}

static void tcp_check(struct convert *c)
{
	static const char *const flood[] = {"flood", "synflood"};

	for (unsigned i = 0; i < 2; i++)
		drop(c, flood[i], "of TCP: not yet; whole connections are opened");
	drop(c, "change_dip", "not yet with protocol tcp, where it means a flood of SYN");
	drop(c, "pipeline", "dperf has it with protocol udp only");
	drop(c, "payload_random", "not yet: bodies are a fixed text");
	drop(c, "launch_num", "not needed: connections are opened one by one, in exact time");
	message_set(c);
	if (c->dperf.mss + 40 > mtu_inside(&c->dperf))
		WRONG(c, "mss", "mss: expected at most %llu, the MTU less headers",
		      (unsigned long long)mtu_inside(&c->dperf) - 40);
	if (c->dperf.retransmit_s > RETRANSMIT_MOST) {
		c->dperf.retransmit_s = RETRANSMIT_MOST;
		drop(c, "retransmit_timeout",
		     "more than 24 s: connections would not be given up "
		     "within our longest time-out, 120 s");
	}
}

static void keepalive_check(struct convert *c)
{
	static const char *const name[] = {"keepalive_request_interval", "keepalive_request_num"};
	struct dperf *d = &c->dperf;

	if (d->keepalive)
		return;
	for (unsigned i = 0; i < 2; i++)
		drop(c, name[i], "of no meaning without keepalive or cc");
	d->requests = 0;
}

void convert_check(struct convert *c)
{
	struct dperf *d = &c->dperf;

	required_check(c);
	ports_check(c);
	defaults_set(d);
	if (c->wrong)
		return;
	keepalive_check(c);
	if (d->payload_size && keyword_line(c, "packet_size")) {
		drop(c, "packet_size", "payload_size is there too");
		d->packet_size = 0;
	}
	if (!d->is_server)
		load_check(c);
	phases_set(c);
	if (d->protocol == DPERF_UDP)
		udp_check(c);
	else
		tcp_check(c);
}
