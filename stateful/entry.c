/* A traffic entry as a worker has it: made of its configuration while the engine is made - header
 * template, window, messages, load - and what memory that takes. An entry with both families is two
 * here, one of each. */
#include "core.h"

#include <string.h>

#define CONNECTIONS_DEFAULT (4u << 20) /* of a server, or of a client that only has a rate */
#define OPEN_DEFAULT        1024u      /* a rate of "max" without concurrency */
#define WINDOW_PLAIN_MAX    65535u
#define PIPELINED_MAX       32768u
#define UDP_RING_MIN        16u
#define DELAY_LEAST         1000000u     /* a shorter delay may take so long */
#define IDLE_FINE_MAX       30000000000u /* think times up to here are kept in fine units */

bool entry_is_extended(const struct config_traffic *t)
{
	return traffic_is_conversation(t->kind) || t->tcp.ecn ||
	       t->tcp.timestamps == TIMESTAMPS_ON ||
	       (t->tcp.timestamps == TIMESTAMPS_PEER && !traffic_is_client(t->kind));
}

bool entry_is_mine(const struct config_traffic *t, unsigned port)
{
	return t->port == port && !traffic_is_stateless(t->kind);
}

static uint64_t rate_times(struct rate rate, uint64_t ns)
{
	if (!rate.den || rate.num == UINT64_MAX)
		return 0;
	return (uint64_t)RTE_MIN((u128)rate.num * ns / rate.den / 1000000000u, (u128)UINT64_MAX);
}

uint64_t entry_connections(const struct config_traffic *t)
{
	const struct config_load *load = &t->load;
	u128 tuples = traffic_is_client(t->kind) ? tuple_count(t) : ~(u128)0;
	uint64_t open = CONNECTIONS_DEFAULT;

	if (t->kind == UDP_SERVER)
		return 0; /* it keeps none */
	if (t->max_connections)
		open = t->max_connections;
	else if (load->concurrency == UINT64_MAX)
		open = (uint64_t)RTE_MIN(tuples, (u128)1 << 30);
	else if (load->concurrency)
		open = load->concurrency + load->concurrency / 8;
	else if (traffic_is_client(t->kind))
		open = RTE_MIN(open, RTE_MAX(rate_times(load->cps, t->timeout),
					     rate_times(load->rps, t->timeout)) +
					     OPEN_DEFAULT);
	if (!t->max_connections && t->close.weight[CLOSE_KEEP])
		open += load->cps.den && load->cps.num != UINT64_MAX
				? rate_times(load->cps, t->close.timeout)
				: CONNECTIONS_DEFAULT;
	return (uint64_t)RTE_MIN((u128)open, tuples);
}

static bool entry_is_paced(const struct config_traffic *t)
{
	return (t->load.rps.den && t->load.rps.num != UINT64_MAX) ||
	       (t->load.bps.den && t->load.bps.num != UINT64_MAX);
}

static uint64_t ring_size(uint64_t connections)
{
	uint64_t size = 1;

	while (size < 2 * connections)
		size *= 2;
	return size;
}

/* The largest payload of a packet. */
static uint16_t entry_mss(const struct config *config, const struct config_traffic *t,
			  uint8_t family)
{
	size_t ip = family == 6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	size_t header =
		traffic_is_udp(t->kind) ? sizeof(struct rte_udp_hdr) : sizeof(struct rte_tcp_hdr);
	uint16_t mss = (uint16_t)(config->port[t->port].mtu - ip - header);

	return t->tcp.mss && t->tcp.mss < mss ? t->tcp.mss : mss;
}

/* Times that a record of a pipeline has in its ring: as many numbers again as can wait, so that one
 * is given up as lost only when that many later ones were answered. */
static uint32_t udp_ring(const struct config_traffic *t)
{
	uint32_t ring = UDP_RING_MIN;

	if (t->kind != UDP_CLIENT || t->pipeline == 1)
		return 0;
	while (ring < 2u * t->pipeline)
		ring *= 2;
	return ring;
}

/* Where there is more than one thing to tell apart. */
static bool split_is_kept(const struct config_traffic *t)
{
	return t->requests || t->payloads.count || t->routes || t->request.variants > 1 ||
	       (t->kind == HTTP_SERVER && (t->response.variants > 1 || t->response.sensitive));
}

static size_t split_bytes(uint32_t contents, uint32_t rings)
{
	return sizeof(struct split) + rings * sizeof(struct part) +
	       contents * (sizeof(uint64_t[2]) + sizeof(uint64_t[PAYLOAD_FATES])) + 64;
}

static size_t split_reserve(const struct config_traffic *t)
{
	uint32_t rings, contents = message_contents(t, &rings);

	return split_bytes(contents, rings) + 64;
}

uint64_t entry_bytes(const struct config *config, const struct config_traffic *t, uint8_t family,
		     uint64_t connections)
{
	uint64_t bytes =
		sizeof(struct entry) +
		(traffic_is_conversation(t->kind)
			 ? conversation_reserve(t)
			 : message_reserve(t, config->seed, entry_mss(config, t, family))) +
		(split_is_kept(t) ? split_reserve(t) : 0);

	bytes += connections * udp_ring(t) * sizeof(uint32_t) + connections * pipeline_size(t) + 64;
	if (entry_is_paced(t))
		bytes += ring_size(connections) * sizeof(uint32_t);
	return bytes + 3 * 64;
}

static uint8_t entry_tos(const struct entry *e)
{
	return e->config->tcp.ecn ? e->config->tos & 0xfc : e->config->tos;
}

static void header_ip4(const struct stateful *s, struct entry *e)
{
	struct rte_ipv4_hdr *ip = (void *)(e->header + s->l2_len);

	*ip = (struct rte_ipv4_hdr){.version_ihl = RTE_IPV4_VHL_DEF,
				    .type_of_service = entry_tos(e),
				    .fragment_offset = htons(RTE_IPV4_HDR_DF_FLAG),
				    .time_to_live = e->config->ttl,
				    .next_proto_id = e->udp ? IPPROTO_UDP : IPPROTO_TCP};
	e->ip_sum = (uint32_t)checksum_sum(ip, sizeof(*ip));
}

static void header_ip6(const struct stateful *s, struct entry *e)
{
	struct rte_ipv6_hdr *ip = (void *)(e->header + s->l2_len);

	*ip = (struct rte_ipv6_hdr){.vtc_flow = htonl(6u << 28 | (uint32_t)entry_tos(e) << 20),
				    .proto = e->udp ? IPPROTO_UDP : IPPROTO_TCP,
				    .hop_limits = e->config->ttl};
}

/* Ethernet with the port's tags, IP with everything but lengths and addresses, TCP or UDP with
 * nothing. */
static void entry_header(struct stateful *s, struct entry *e, const struct stateful_setup *setup)
{
	struct rte_ether_hdr *ether = (void *)e->header;
	uint8_t *at = e->header + 2 * RTE_ETHER_ADDR_LEN;

	memcpy(ether->src_addr.addr_bytes, setup->mac, sizeof(setup->mac));
	for (unsigned i = 0; i < s->port->vlans; i++) {
		uint16_t type = htons(s->port->vlans == 2 && !i ? RTE_ETHER_TYPE_QINQ
								: RTE_ETHER_TYPE_VLAN);
		uint16_t tag = htons(config_port_tag(s->port, i));

		memcpy(at, &type, sizeof(type));
		memcpy(at + 2, &tag, sizeof(tag));
		at += 4;
	}
	*(uint16_t *)at = htons(e->family == 6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	if (e->family == 6)
		header_ip6(s, e);
	else
		header_ip4(s, e);
}

static void entry_window(struct entry *e, uint32_t window, uint8_t scale)
{
	if (scale >= SCALE_0)
		e->scale = (uint8_t)(scale - SCALE_0);
	while (e->scale < SCALE_MAX && window >> e->scale > WINDOW_PLAIN_MAX)
		e->scale++;
	e->scale_offered = scale != SCALE_OFF && (scale != SCALE_AUTO || e->scale);
	e->window = (uint16_t)RTE_MIN(window >> e->scale, WINDOW_PLAIN_MAX);
	e->window_plain = (uint16_t)RTE_MIN(window, WINDOW_PLAIN_MAX);
}

static uint64_t share(const struct stateful *s, const struct entry *e, uint64_t total)
{
	uint64_t shares = (uint64_t)s->workers * e->parts;
	uint64_t mine = (uint64_t)s->worker * e->parts + e->part;

	return total / shares + (mine < total % shares);
}

static void entry_load(struct stateful *s, struct entry *e)
{
	const struct config_load *load = &e->config->load;

	tuple_walk_init(&e->tuples, e->config, e->family);
	e->blocked = NOT_OFFERED_LATE;
	e->concurrency = UINT64_MAX;
	if (load->concurrency && load->concurrency != UINT64_MAX)
		e->concurrency = share(s, e, load->concurrency);
	else if (!load->concurrency && (load->cps.num == UINT64_MAX ||
					load->rps.num == UINT64_MAX || load->bps.num == UINT64_MAX))
		e->concurrency = share(s, e, OPEN_DEFAULT);
	e->churn = load->cps.den && load->concurrency && !e->scripts;
	e->paced = entry_is_paced(e->config);
}

static void entry_local(struct stateful *s, struct entry *e)
{
	const struct ip_range *range = traffic_own(e->config, e->family)->range;
	const struct port_range *port =
		(e->client ? e->config->client_ports : e->config->server_ports).range;

	e->port_first = port->first;
	e->port_last = port->last;
	if (e->family == 4) {
		e->local_first = (uint32_t)range->first;
		e->local_count = (uint32_t)RTE_MIN(range->count, (u128)UINT32_MAX);
		return;
	}
	for (const struct entry *before = s->entry; before < e; before++)
		if (before->family == 6)
			e->local6_number += (uint32_t)traffic_own(before->config, 6)->count;
	if (!s->local6_count) {
		s->local6_upper = ip6_upper(ip6_swap(range->first));
		s->local6_lower = (uint64_t)range->first;
		s->local6_count =
			(uint32_t)RTE_MIN(range->count, -(u128)s->local6_lower & UINT64_MAX);
	}
}

/* Can a client's exchanges be more than a segment each way? Else there is nothing to acknowledge
 * selectively, and the SYN is the shorter for it: all of its frame in one cache line. */
static bool entry_is_bulky(const struct entry *e)
{
	const struct config_message *response = &e->config->response;

	return e->pipeline || e->simple_max == e->mss || response->body_size == CONFIG_ANY_SIZE ||
	       response->body_size > e->mss / 2;
}

/* Does an exchange always take a side record, while there are fewer of them than connections? */
static bool entry_needs_side(const struct stateful *s, const struct entry *e)
{
	const struct config_message *response = &e->config->response;

	if (e->udp || s->table.side_capacity >= s->table.capacity)
		return false;
	return e->scripts || e->messages.longest > e->mss ||
	       (e->client && response->body_size != CONFIG_ANY_SIZE &&
		response->body_size > e->mss);
}

static uint64_t entry_app_time(const struct entry *e)
{
	if (e->close.weight[CLOSE_KEEP])
		return RTE_MAX(e->think, e->config->close.timeout);
	return e->client ? e->think : e->idle_timeout;
}

/* Two entries of a traffic, one of each IP version, share it: their contents are the same. */
static int split_init(struct entry *e, struct arena *arena)
{
	const struct message_set *set = &e->messages;
	struct split *split = e->stats->split;
	char *bytes;

	if (!split) {
		bytes = arena_take(arena, split_bytes(set->contents, set->rings));
		if (!bytes)
			return -1;
		split = (struct split *)bytes;
		split->contents = set->contents;
		split->sources = set->rings;
		split->content = set->content;
		split->source = (struct part *)(split + 1);
		split->sent = (void *)(split->source + set->rings);
		split->fate = (void *)(split->sent + set->contents);
		for (uint32_t i = 0; i < set->contents; i++)
			split->lines = RTE_MAX(split->lines, set->content[i].line);
		e->stats->split = split;
	}
	e->split = split;
	return 0;
}

static int entry_init(struct stateful *s, struct entry *e, const struct config_traffic *t,
		      const struct stateful_setup *setup, struct arena *arena)
{
	e->config = t;
	e->number = (uint8_t)(e - s->entry);
	e->stats = setup->stats[t - setup->config->traffic];
	e->client = traffic_is_client(t->kind);
	e->http = t->kind == HTTP_CLIENT || t->kind == HTTP_SERVER;
	e->udp = traffic_is_udp(t->kind);
	e->mss = entry_mss(setup->config, t, e->family);
	e->rto = t->tcp.initial_rto;
	e->timeout = t->timeout;
	e->think = t->think_time;
	e->idle_timeout = t->idle_timeout;
	e->close.is_set = t->close.is_set;
	e->asks.is_set = e->http && t->close.first == CLOSER_SERVER;
	for (unsigned i = 0; i < CLOSE_WAYS; i++)
		e->asks.weight[i] = e->close.weight[i] = t->close.weight[i];
	if (e->asks.is_set)
		e->close.weight[CLOSE_FIN] = 0;
	e->idle_shift = RTE_MAX(entry_app_time(e), e->idle_timeout) <= IDLE_FINE_MAX
				? CONN_TIME_SHIFT
				: CONN_IDLE_SHIFT;
	e->extended = entry_is_extended(t);
	e->ack_delay = t->tcp.delayed_ack;
	entry_window(e, t->tcp.window, t->tcp.scale);
	entry_header(s, e, setup);
	if (traffic_is_conversation(t->kind)
		    ? conversation_make(e, setup->scripts[t - setup->config->traffic], arena)
		    : message_make(&e->messages, t, setup->config->seed, e->mss, arena))
		return -1;
	e->requests = (uint16_t)(RTE_MIN(t->requests_per_connection, requests_unlimited(e))
				 << e->messages.content_bits);
	if (!e->udp && pipeline_init(s, e, arena))
		return -1;
	e->simple_max = RTE_MIN(e->messages.longest, e->mss);
	if (e->pipeline) /* all that may be under way without a side record's knowledge */
		e->simple_max = RTE_MIN(e->simple_max * e->depth, PIPELINED_MAX);
	e->needs_side = entry_needs_side(s, e);
	if (split_is_kept(t) && split_init(e, arena))
		return -1;
	e->sack = t->tcp.sack && (!e->client || e->scripts || entry_is_bulky(e));
	entry_local(s, e);
	e->ring = udp_ring(t);
	if (e->udp && udp_init(s, e, arena))
		return -1;
	if (!e->client)
		return 0;
	entry_load(s, e);
	if (e->paced) {
		uint64_t size = ring_size(s->table.capacity);

		e->idle = arena_take(arena, size * sizeof(*e->idle));
		e->idle_mask = (uint32_t)(size - 1);
		return e->idle ? 0 : -1;
	}
	return 0;
}

/* An entry is whole: what the engine has to know of it. */
static void entry_note(struct stateful *s, struct entry *e)
{
	struct entry **tcp = e->family == 6 ? &s->tcp6 : &s->tcp;

	if (!e->udp)
		s->rto_min = RTE_MIN(s->rto_min, RTE_MIN(e->rto, e->config->tcp.min_rto));
	else if (e->client)
		s->rto_min = RTE_MIN(s->rto_min, e->timeout);
	if (!e->udp && !*tcp)
		*tcp = e;
	if (e->ack_delay)
		s->rto_min = RTE_MIN(s->rto_min, e->ack_delay);
	for (uint32_t i = 0; i < e->messages.rings; i++)
		if (e->messages.ring[i].delay.last)
			s->rto_min = RTE_MIN(s->rto_min, RTE_MAX(e->messages.ring[i].delay.first,
								 (uint64_t)DELAY_LEAST));
	if (e->scripts || entry_app_time(e) != entry_app_time(&s->entry[0]) ||
	    e->close.weight[CLOSE_KEEP] || (e->pipeline && e->think))
		s->table.hold_app = true;
	s->entries++;
}

/* Of each family that the traffic has, an entry. */
static int entry_parts(struct stateful *s, const struct config_traffic *t,
		       const struct stateful_setup *setup, struct arena *arena)
{
	uint8_t parts = (uint8_t)(traffic_has(t, 4) + traffic_has(t, 6)), part = 0;

	for (uint8_t family = 4; family <= 6; family += 2) {
		struct entry *e = &s->entry[s->entries];

		if (!traffic_has(t, family))
			continue;
		e->family = family;
		e->part = part++;
		e->parts = parts;
		if (entry_init(s, e, t, setup, arena))
			return -1;
		e->quick = !setup->long_way && quick_suits(s, e);
		e->flows = !setup->long_way && quick_flows(e);
		entry_note(s, e);
	}
	return 0;
}

int entries_init(struct stateful *s, const struct stateful_setup *setup, struct arena *arena)
{
	const struct config *config = setup->config;

	s->rto_min = UINT64_MAX;
	for (unsigned i = 0; i < config->traffics; i++)
		if (entry_is_mine(&config->traffic[i], setup->port) &&
		    entry_parts(s, &config->traffic[i], setup, arena))
			return -1;
	return 0;
}
