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

static void drop(struct convert *c, const struct keyword *k, const char *why)
{
	remark_add(c, REMARK_DROPPED, k->slot, 0, c->line, "%s: %s", k->name, why);
}

int whole_take(const char *word, uint64_t least, uint64_t most, uint64_t *number)
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

int neigh_ignore_take(ARGUMENTS)
{
	UNUSED;
	c->dperf.neigh_ignore = true;
	return 0;
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
