/* How dperf's keywords with addresses are taken: ports, pools, destinations. */
#include "convert_take.h"

#include <ctype.h>
#include <string.h>

#include "value.h"

/* A file is all IPv4 or all IPv6. */
static int address_take(struct convert *c, const char *word, u128 *address)
{
	struct config_address own;

	if (strchr(word, '/') || !value_address(word, &own))
		return -1;
	if (c->dperf.family && c->dperf.family != own.family) {
		remark_add(c, REMARK_WRONG, SLOT_END, 0, c->line,
			   "%s is an address of another family than those before", word);
		*address = 0;
		return 0;
	}
	c->dperf.family = own.family;
	*address = own.address;
	return 0;
}

/* Behind the last address of a host. */
static u128 hosts_end(const struct convert *c)
{
	return c->dperf.family == 6 ? (u128)0xff << 120 : 0xe0000000;
}

static bool text_is_pci(const char *text, size_t length)
{
	static const char shape[] = "xxxx:xx:xx.x";

	for (size_t i = 0; i < length; i++)
		if (i >= sizeof(shape) - 1 ||
		    (shape[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != shape[i]))
			return false;
	return length == sizeof(shape) - 1 && text[8] <= '1' &&
	       text[11] <= '7'; /* slot, function */
}

/* The PCI addresses of a bond, between brackets. */
static int members_take(struct dperf_port *port, char *text)
{
	char *end = strchr(text, ')');

	if (!end || end[1])
		return -1;
	*end = '\0';
	for (char *next; text; text = next) {
		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		if (port->members == DPERF_MEMBERS || !text_is_pci(text, strlen(text)))
			return -1;
		port->member[port->members++] = text;
	}
	return 0;
}

/* "0000:07:00.0", or "bond4:2(0000:07:00.0,0000:07:00.1)": mode, policy, members. */
static int device_take(struct dperf_port *port, char *word)
{
	char *open = strchr(word, '(');

	port->device = word;
	if (strncmp(word, "bond", 4) != 0)
		return text_is_pci(word, strlen(word)) ? 0 : -1;
	if (open != word + 7 || word[4] < '0' || word[4] > '6' || word[5] != ':' || word[6] < '0' ||
	    word[6] > '2')
		return -1;
	port->mode = (unsigned)(word[4] - '0');
	port->policy = (unsigned)(word[6] - '0');
	return members_take(port, open + 1);
}

int port_take(ARGUMENTS)
{
	struct dperf_port *port = &c->dperf.port[c->dperf.ports];
	uint8_t mac[6];

	UNUSED;
	if (c->dperf.ports == DPERF_PORTS || device_take(port, word[0]) ||
	    address_take(c, word[1], &port->address) || address_take(c, word[2], &port->gateway) ||
	    (port->address == port->gateway && port->address))
		return -1;
	if (words == 4) {
		if (!value_mac(word[3], mac))
			return -1;
		port->gateway_mac = word[3];
	}
	c->dperf.ports++;
	return 0;
}

static bool range_is_apart(const struct dperf_pool *pool, const struct ip_range *r)
{
	for (unsigned i = 0; i < pool->ranges; i++) {
		const struct ip_range *p = &pool->range[i];

		if (r->first < p->first + p->count && p->first < r->first + r->count)
			return false;
	}
	return true;
}

/* First address and count, then single addresses. */
static int pool_take(struct convert *c, struct dperf_pool *pool, unsigned *pools, unsigned words,
		     char **word)
{
	uint64_t count;

	if (*pools == DPERF_POOLS || whole_take(word[1], 1, UINT16_MAX, &count))
		return -1;
	pool += *pools;
	for (unsigned i = 0; i < words; i += i ? 1 : 2) {
		struct ip_range *r = &pool->range[pool->ranges];

		r->count = i ? 1 : count;
		if (address_take(c, word[i], &r->first) || r->first + r->count > hosts_end(c) ||
		    !range_is_apart(pool, r))
			return -1;
		pool->ranges++;
	}
	(*pools)++;
	return 0;
}

int client_take(ARGUMENTS)
{
	struct dperf *d = &c->dperf;
	const struct dperf_pool *pool = &d->client[d->clients];

	UNUSED;
	if (pool_take(c, d->client, &d->clients, words, word))
		return -1;
	for (unsigned i = 0; i + 1 < d->clients; i++)
		for (unsigned j = 0; j < pool->ranges; j++)
			if (!range_is_apart(&d->client[i], &pool->range[j]))
				return -1;
	return 0;
}

int server_take(ARGUMENTS)
{
	UNUSED;
	return pool_take(c, c->dperf.server, &c->dperf.servers, words, word);
}

static bool steps_have(const struct dperf_steps *s, u128 address)
{
	return address >= s->first && (address - s->first) % s->step == 0 &&
	       (address - s->first) / s->step < s->count;
}

static bool steps_are_apart(const struct dperf *d, const struct dperf_steps *s)
{
	for (unsigned i = 0; i < d->change_dips; i++)
		for (uint32_t n = 0; n < s->count; n++)
			if (steps_have(&d->steps[i], s->first + (u128)s->step * n))
				return false;
	return true;
}

int change_dip_take(ARGUMENTS)
{
	struct dperf_steps *steps = &c->dperf.steps[c->dperf.change_dips];
	uint64_t step, count;

	UNUSED;
	if (c->dperf.change_dips == DPERF_POOLS || address_take(c, word[0], &steps->first) ||
	    whole_take(word[1], 1, 1 << 24, &step) || whole_take(word[2], 1, 65536, &count) ||
	    steps->first + step * (count - 1) >= hosts_end(c))
		return -1;
	steps->step = (uint32_t)step;
	steps->count = (uint32_t)count;
	if (!steps_are_apart(&c->dperf, steps))
		return -1;
	c->dperf.change_dips++;
	return 0;
}

/* So many addresses from one on, of a tunnel's end. */
static int ends_take(char **word, struct config_address *first, uint64_t *count)
{
	u128 last = 0xe0000000;

	if (strchr(word[0], '/') || !value_address(word[0], first) ||
	    whole_take(word[1], 1, UINT16_MAX, count))
		return -1;
	if (first->family == 6)
		last = (u128)0xff << 120;
	return first->address + *count > last ? -1 : 0;
}

int vxlan_take(ARGUMENTS)
{
	struct dperf_vxlan *vxlan = &c->dperf.vxlan[c->dperf.vxlans];
	uint8_t mac[6];

	UNUSED;
	if (c->dperf.vxlans == DPERF_PORTS || whole_take(word[0], 0, (1 << 24) - 1, &vxlan->vni) ||
	    !value_mac(word[1], mac) || !value_mac(word[2], mac) ||
	    ends_take(word + 3, &vxlan->local, &vxlan->locals) ||
	    ends_take(word + 5, &vxlan->remote, &vxlan->remotes) ||
	    vxlan->local.family != vxlan->remote.family)
		return -1;
	vxlan->mac = word[1];
	vxlan->gateway_mac = word[2];
	c->dperf.vxlans++;
	return 0;
}
