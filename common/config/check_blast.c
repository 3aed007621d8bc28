/* Checks of a blast: where its frames come from, and whether they fit the port. What is to change
 * in them is looked at in check_modify.c. */
#include "reader.h"

#include <string.h>

#define ETHER_HEADER 14u
#define VLAN_TAG     4u
#define LANES        256u /* blasts of a file, and workers of a blast: what a tag can name */

static const struct where *blast_spot(struct reader *r, struct spot *s, unsigned i, const char *key)
{
	return spot_find(r, s, "traffic", i, key, NULL);
}

static bool has_key(struct reader *r, unsigned i, const char *key)
{
	struct spot s;

	return blast_spot(r, &s, i, key)->node;
}

static void source_check(struct reader *r, unsigned i)
{
	static const char *const pools[] = {
		"clients",  "servers",   "client_ports", "server_ports", "size", "sizes",
		"imix",     "payload",   "ttl",          "tos",          "tag",  "walk",
		"protocol", "tcp_flags", "ip_protocol",  "vlan_priority"};
	const struct config_blast *blast = &r->config->traffic[i].blast;
	struct spot s;

	for (unsigned n = 0; n < sizeof(pools) / sizeof(*pools); n++) {
		const struct where *w = blast_spot(r, &s, i, pools[n]);

		if (n < 2 && !w->node && !has_key(r, i, "template"))
			problem_add(r->document, w, PLACE_VALUE,
				    "missing, expected addresses, or a template");
		else if (w->node && blast->template.count &&
			 !(strcmp(pools[n], "tag") == 0 && !blast->tag))
			problem_add(r->document, w, PLACE_KEY,
				    "a template is the whole frame: it has no %s", pools[n]);
	}
}

/* Keys that are for one protocol only; nothing but UDP is tagged. */
static void protocol_check(struct reader *r, unsigned i)
{
	static const struct {
		const char *key, *protocol;
		enum blast_protocol of;
	} only[] = {{"tcp_flags", "tcp", BLAST_TCP}, {"ip_protocol", "ip", BLAST_IP}};
	struct config_blast *blast = &r->config->traffic[i].blast;
	struct spot s;

	for (unsigned n = 0; n < sizeof(only) / sizeof(*only); n++)
		if (has_key(r, i, only[n].key) && blast->protocol != only[n].of)
			problem_add(r->document, blast_spot(r, &s, i, only[n].key), PLACE_KEY,
				    "only with protocol \"%s\"", only[n].protocol);
	if (blast->protocol == BLAST_UDP)
		return;
	if (has_key(r, i, "tag") && blast->tag)
		problem_add(r->document, blast_spot(r, &s, i, "tag"), PLACE_VALUE,
			    "only UDP is tagged");
	blast->tag = false;
}

static void priority_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	const struct config_port *port = &r->config->port[t->port];
	struct spot s;

	if (!has_key(r, i, "vlan_priority"))
		t->blast.vlan_priority = port->vlan_priority;
	else if (!port->vlans)
		problem_add(r->document, blast_spot(r, &s, i, "vlan_priority"), PLACE_KEY,
			    "there is no VLAN tag to have a priority");
}

unsigned blast_headers(const struct config *c, const struct config_traffic *t)
{
	static const unsigned l4[] = {
		[BLAST_UDP] = 8, [BLAST_TCP] = 20, [BLAST_ICMP] = 8, [BLAST_IP] = 0};

	return ETHER_HEADER + VLAN_TAG * c->port[t->port].vlans + (blast_family(t) == 6 ? 40 : 20) +
	       l4[t->blast.protocol];
}

static void sizes_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	struct config_blast *blast = &t->blast;
	const struct config_port *port = &r->config->port[t->port];
	static const char *const key[] = {"size", "sizes", "imix"};
	unsigned least = blast_headers(r->config, t) + (blast->tag ? BLAST_TAG_BYTES : 0),
		 given = 0;
	unsigned most = ETHER_HEADER + VLAN_TAG * port->vlans + port->mtu;
	struct spot s, last;

	if (!has_key(r, i, "tos"))
		blast->tos = port->tos;
	blast_spot(r, &last, i, "size");
	for (unsigned n = 0; n < 3; n++) {
		if (!blast_spot(r, &s, i, key[n])->node)
			continue;
		blast_spot(r, &last, i, key[n]);
		given++;
	}
	if (given > 1)
		problem_add(r->document, &last.key, PLACE_KEY,
			    "expected one of size, sizes and imix, got %u", given);
	if (!blast->sizes) {
		blast->size = storage_take(r->config, sizeof(*blast->size));
		blast->size[blast->sizes++] = (uint16_t)(least > 60 ? least : 60);
	}
	for (unsigned n = 0; n < blast->sizes && has_key(r, i, "imix"); n++)
		if (blast->size[n] < least)
			blast->size[n] = (uint16_t)least;
	for (unsigned n = 0; n < blast->sizes; n++) {
		if (blast->size[n] >= least && blast->size[n] <= most)
			continue;
		problem_add(
			r->document, &last.key, PLACE_VALUE,
			"a frame of %u bytes is too %s: expected from %u (headers%s) to %u (the "
			"port's MTU)",
			blast->size[n], blast->size[n] < least ? "small" : "large", least,
			blast->tag ? " and tag" : "", most);
		return;
	}
}

static void template_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	unsigned most = ETHER_HEADER + 2 * VLAN_TAG + r->config->port[t->port].mtu;
	struct spot s;

	/* A tag is only for packets that Onager itself made. */
	t->blast.tag = false;
	if (t->blast.template.count < ETHER_HEADER || t->blast.template.count > most)
		problem_add(r->document, blast_spot(r, &s, i, "template"), PLACE_VALUE,
			    "expected a frame of %u to %u bytes, got %u", ETHER_HEADER, most,
			    t->blast.template.count);
}

static void rates_check(struct reader *r, unsigned i)
{
	static const char *const key[] = {"pps", "bps", "bps_l1", "percent"};
	const struct config_load *load = &r->config->traffic[i].load;
	unsigned given = 0;
	struct spot s;

	for (unsigned n = 0; n < 4; n++)
		given += spot_find(r, &s, "traffic", i, "load", key[n])->node != NULL;
	if (!given && cJSON_IsObject(s.key.node))
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "expected at least one of pps, bps, bps_l1 and percent, got none");
	if (load->percent.den && !rate_is_max(load->percent) &&
	    (u128)load->percent.num > (u128)load->percent.den * 100)
		problem_add(r->document, &s.inner, PLACE_VALUE, "expected at most 100");
	if (load->burst > 1 && load->poisson)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "load", "burst"), PLACE_KEY,
			    "not together with poisson");
}

static void stream_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	struct spot s;

	if (!blast_spot(r, &s, i, "stream")->node)
		t->blast.stream = (uint8_t)i;
	for (unsigned j = 0; j < i; j++) {
		const struct config_traffic *other = &r->config->traffic[j];

		if (other->kind == UDP_BLAST && other->blast.stream == t->blast.stream)
			problem_add(r->document, &s.key, PLACE_VALUE,
				    "stream %u is traffic[%u] already", t->blast.stream, j);
	}
}

void blast_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	struct spot s;

	source_check(r, i);
	stream_check(r, i);
	if (t->port < r->config->ports) {
		protocol_check(r, i);
		priority_check(r, i);
		if (t->blast.template.count)
			template_check(r, i);
		else
			sizes_check(r, i);
		if (i >= LANES || r->config->port[t->port].cores > LANES)
			problem_add(r->document, blast_spot(r, &s, i, "kind"), PLACE_VALUE,
				    "a blast must be one of the first %u traffic entries, on at "
				    "most %u cores",
				    LANES, LANES);
		for (unsigned n = 0; n < t->blast.modifies; n++)
			modify_check(r, i, n);
	}
	rates_check(r, i);
}
