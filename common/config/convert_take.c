/* How the arguments of dperf's keywords are taken: each by a function, named in its row of the
 * table.
 *
 * They only note what the file says; what it means for us, convert_check() says in the end. */
#include "convert_take.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "value.h"

#define ARGUMENTS struct convert *c, const struct keyword *k, unsigned words, char **word
#define UNUSED    (void)c, (void)k, (void)words, (void)word

static void drop(struct convert *c, const struct keyword *k, const char *why)
{
	remark_add(c, REMARK_DROPPED, k->slot, 0, c->line, "%s: %s", k->name, why);
}

static int whole_take(const char *word, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t first, last;

	if (!value_span(word, most, &first, &last) || strchr(word, '-') || first < least)
		return -1;
	*number = first;
	return 0;
}

/* "5.1m", "2k", "100": what is behind the point after that is cut off. */
static int number_take(const char *word, uint64_t most, uint64_t *number)
{
	size_t length = strspn(word, "0123456789.");
	struct rate rate;

	if (word[length] && (!strchr("kKmM", word[length]) || word[length + 1]))
		return -1;
	if (!value_rate(word, false, &rate) || rate.num / rate.den > most)
		return -1;
	*number = rate.num / rate.den;
	return 0;
}

int mode_take(ARGUMENTS)
{
	UNUSED;
	return strcmp(word[0], "client") && strcmp(word[0], "server") ? -1 : 0;
}

int protocol_take(ARGUMENTS)
{
	static const char *const name[] = {"tcp", "http", "udp"};

	UNUSED;
	for (unsigned i = 0; i < 3; i++) {
		if (!strcmp(word[0], name[i])) {
			c->dperf.protocol = i;
			return 0;
		}
	}
	return -1;
}

int cpu_take(ARGUMENTS)
{
	struct dperf *d = &c->dperf;

	UNUSED;
	for (unsigned i = 0; i < words; i++) {
		uint64_t first, last;

		if (!value_span(word[i], UINT16_MAX, &first, &last))
			return -1;
		for (; first <= last; first++) {
			if (d->cores == DPERF_CORES)
				return -1;
			d->core[d->cores++] = (uint16_t)first;
		}
	}
	return 0;
}

static int eal_add(struct convert *c, const char *option, const char *value)
{
	char *text = c->dperf.eal[c->dperf.eal_args];
	int size = sizeof(c->dperf.eal[0]);

	if (snprintf(text, (size_t)size, "%s=%s", option, value) >= size)
		return -1;
	c->dperf.eal_args++;
	return 0;
}

int socket_mem_take(ARGUMENTS)
{
	UNUSED;
	return word[0][strspn(word[0], "0123456789,")] ? -1 : eal_add(c, "--socket-mem", word[0]);
}

int simd512_take(ARGUMENTS)
{
	UNUSED;
	return eal_add(c, "--force-max-simd-bitwidth", "512");
}

int log_level_take(ARGUMENTS)
{
	static const char *const name[][2] = {
		{"error", "error"}, {"warn", "warning"}, {"info", "info"}, {"debug", "debug"}};

	UNUSED;
	for (unsigned i = 0; i < 4; i++)
		if (!strcmp(word[0], name[i][0]))
			return eal_add(c, "--log-level", name[i][1]);
	return -1;
}

static int address_take(struct convert *c, const char *word, u128 *address)
{
	struct config_address own;

	if (strchr(word, ':')) {
		remark_add(c, REMARK_WRONG, SLOT_END, 0, c->line, "IPv6: not yet, got %s", word);
		*address = 0;
		return 0;
	}
	if (strchr(word, '/') || !value_address(word, &own))
		return -1;
	*address = own.address;
	return 0;
}

static bool text_is_pci(const char *text, size_t length)
{
	static const char shape[] = "xxxx:xx:xx.x";

	for (size_t i = 0; i < length; i++)
		if (i >= sizeof(shape) - 1 ||
		    (shape[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != shape[i]))
			return false;
	return length == sizeof(shape) - 1;
}

/* "0000:07:00.0", or of "bond4:2(0000:07:00.0,0000:07:00.1)" the first. */
static int device_take(struct convert *c, const struct keyword *k, char *word, const char **device)
{
	char *member = strchr(word, '(');

	*device = word;
	if (!strncmp(word, "bond", 4) && member) {
		*device = member + 1;
		member += 1 + strcspn(member + 1, ",)");
		if (!*member)
			return -1;
		*member = '\0';
		remark_add(c, REMARK_DROPPED, k->slot, c->dperf.ports, c->line,
			   "%s: bond: not yet; its first member is used alone", k->name);
	}
	return text_is_pci(*device, strlen(*device)) ? 0 : -1;
}

int port_take(ARGUMENTS)
{
	struct dperf_port *port = &c->dperf.port[c->dperf.ports];
	uint8_t mac[6];

	if (c->dperf.ports == DPERF_PORTS || device_take(c, k, word[0], &port->device) ||
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
		if (address_take(c, word[i], &r->first) || r->first + r->count > 0xe0000000 ||
		    !range_is_apart(pool, r))
			return -1;
		pool->ranges++;
	}
	(*pools)++;
	return 0;
}

int client_take(ARGUMENTS)
{
	UNUSED;
	return pool_take(c, c->dperf.client, &c->dperf.clients, words, word);
}

int server_take(ARGUMENTS)
{
	UNUSED;
	return pool_take(c, c->dperf.server, &c->dperf.servers, words, word);
}

int change_dip_take(ARGUMENTS)
{
	struct dperf_steps *steps = &c->dperf.steps[c->dperf.change_dips];
	uint64_t step, count;

	UNUSED;
	if (c->dperf.change_dips == DPERF_POOLS || address_take(c, word[0], &steps->first) ||
	    whole_take(word[1], 1, 1 << 24, &step) || whole_take(word[2], 1, 65536, &count) ||
	    steps->first + step * (count - 1) >= 0xe0000000)
		return -1;
	steps->step = (uint32_t)step;
	steps->count = (uint32_t)count;
	c->dperf.change_dips++;
	return 0;
}

int listen_take(ARGUMENTS)
{
	struct dperf *d = &c->dperf;

	UNUSED;
	return whole_take(word[0], 1, 65535, &d->listen) ||
			       whole_take(word[1], 1, 65536 - d->listen, &d->listens)
		       ? -1
		       : 0;
}

int client_ports_take(ARGUMENTS)
{
	struct dperf *d = &c->dperf;

	UNUSED;
	d->client_port_last = 65535;
	return whole_take(word[0], 1, 65535, &d->client_port_first) ||
			       (words == 2 && whole_take(word[1], d->client_port_first, 65535,
							 &d->client_port_last))
		       ? -1
		       : 0;
}

/* "1.5d", "2h", "3.5m", "100s", "100": whole seconds. */
int duration_take(ARGUMENTS)
{
	static const struct {
		char unit;
		unsigned s;
	} unit[] = {{0, 1}, {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	size_t length = strspn(word[0], "0123456789."), i = 0;
	char last = word[0][length];
	struct rate rate;

	UNUSED;
	while (i < 5 && unit[i].unit != last)
		i++;
	if (i == 5 || (last && word[0][length + 1]))
		return -1;
	word[0][length] = '\0';
	if (!value_rate(word[0], false, &rate) || rate.num > UINT32_MAX)
		return -1;
	c->dperf.duration_s = rate.num * unit[i].s / rate.den;
	return c->dperf.duration_s && c->dperf.duration_s < 3650 * 86400ul ? 0 : -1;
}

int cps_take(ARGUMENTS)
{
	UNUSED;
	return number_take(word[0], INT32_MAX, &c->dperf.cps) || !c->dperf.cps ? -1 : 0;
}

int cc_take(ARGUMENTS)
{
	UNUSED;
	return number_take(word[0], UINT32_MAX, &c->dperf.cc) || !c->dperf.cc ? -1 : 0;
}

static int interval_take(struct convert *c, const char *word)
{
	uint64_t ns;
	size_t digits = strspn(word, "0123456789");

	if ((strcmp(word + digits, "us") && strcmp(word + digits, "ms") &&
	     strcmp(word + digits, "s")) ||
	    !value_time(word, &ns) || ns > 86400000000000)
		return -1;
	c->dperf.interval_us = ns / 1000;
	c->dperf.has_interval = true;
	return 0;
}

int requests_take(ARGUMENTS)
{
	UNUSED;
	return number_take(word[0], 32767, &c->dperf.requests);
}

/* An interval and perhaps a number of requests; of old a switch, 0 or 1. */
int keepalive_take(ARGUMENTS)
{
	bool is_switch = !strcmp(word[0], "0") || !strcmp(word[0], "1");

	c->dperf.keepalive = strcmp(word[0], "0") != 0;
	if (is_switch)
		return words == 1 ? 0 : -1;
	return interval_take(c, word[0]) || (words == 2 && requests_take(c, k, 1, word + 1)) ? -1
											     : 0;
}

int old_interval_take(ARGUMENTS)
{
	UNUSED;
	return interval_take(c, word[0]);
}

int flood_take(ARGUMENTS)
{
	UNUSED;
	c->dperf.flood = true;
	return 0;
}

int pipeline_take(ARGUMENTS)
{
	UNUSED;
	return whole_take(word[0], 0, 100, &c->dperf.pipeline);
}

int payload_size_take(ARGUMENTS)
{
	uint64_t other;

	if (number_take(word[0], 1 << 30, &c->dperf.payload_size))
		return -1;
	for (unsigned i = 1; i < words; i++)
		if (number_take(word[i], 1 << 30, &other))
			return -1;
	if (words > 1)
		drop(c, k, "one size for each worker: not yet; all have the first");
	return 0;
}

int packet_size_take(ARGUMENTS)
{
	UNUSED;
	return whole_take(word[0], 0, 9724, &c->dperf.packet_size);
}

int payload_random_take(ARGUMENTS)
{
	UNUSED;
	c->dperf.payload_random = true;
	return 0;
}

int slow_start_take(ARGUMENTS)
{
	UNUSED;
	return whole_take(word[0], 1, 86400, &c->dperf.slow_start_s);
}

int launch_num_take(ARGUMENTS)
{
	UNUSED;
	return whole_take(word[0], 1, 65536, &c->dperf.launch_num);
}

int tx_burst_take(ARGUMENTS)
{
	uint64_t burst;

	UNUSED;
	if (whole_take(word[0], 1, 1024, &burst))
		return -1;
	drop(c, k, k->why);
	return 0;
}

int vlan_take(ARGUMENTS)
{
	UNUSED;
	return whole_take(word[0], 1, 4094, &c->dperf.vlan);
}

int tos_take(ARGUMENTS)
{
	char *end;

	UNUSED;
	c->dperf.tos = strtoul(word[0], &end, strncasecmp(word[0], "0x", 2) ? 10 : 16);
	return !isdigit((unsigned char)*word[0]) || *end || c->dperf.tos > 255 ? -1 : 0;
}

int jumbo_take(ARGUMENTS)
{
	UNUSED;
	c->dperf.mtu = 9710;
	return words ? whole_take(word[0], 9000, 9710, &c->dperf.mtu) : 0;
}

int mss_take(ARGUMENTS)
{
	UNUSED;
	return whole_take(word[0], 64, 9670, &c->dperf.mss);
}

/* rss: we always choose source ports whose replies come to their worker. */
int as_ours_take(ARGUMENTS)
{
	UNUSED;
	return 0;
}

int tcp_rst_take(ARGUMENTS)
{
	uint64_t is_sent;

	UNUSED;
	if (whole_take(word[0], 0, 1, &is_sent))
		return -1;
	if (!is_sent)
		drop(c, k, k->why);
	return 0;
}

static bool text_is_visible(const char *text)
{
	for (; *text; text++)
		if (!isascii(*text) || !isgraph((unsigned char)*text))
			return false;
	return true;
}

int http_host_take(ARGUMENTS)
{
	UNUSED;
	c->dperf.http_host = word[0];
	return text_is_visible(word[0]) && strlen(word[0]) < 128 ? 0 : -1;
}

int http_path_take(ARGUMENTS)
{
	UNUSED;
	c->dperf.http_path = word[0];
	return *word[0] == '/' && text_is_visible(word[0]) && strlen(word[0]) < 256 ? 0 : -1;
}

int http_method_take(ARGUMENTS)
{
	UNUSED;
	c->dperf.is_post = !strcmp(word[0], "POST");
	return c->dperf.is_post || !strcmp(word[0], "GET") ? 0 : -1;
}

int retransmit_take(ARGUMENTS)
{
	UNUSED;
	return whole_take(word[0], 2, 300, &c->dperf.retransmit_s);
}
