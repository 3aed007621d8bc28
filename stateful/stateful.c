/* The stateful engine.
 *
 * One object per worker and port holds all traffic entries of that port: connections (table.c),
 * reminders (timer.c), and per entry the header template, the messages and the load. Received
 * segments go through input.c to client.c or server.c, which answer with conn_send() and
 * conn_close(); what does not fit one segment goes on in sender.c. poll() looks at the wheel
 * (expiry.c), at senders that wait for room, and at the load (launch.c). Nothing here reads a
 * clock, allocates after creation, or knows of a port.
 *
 * Rejected: a table of all possible tuples (memory follows the address space), per-connection
 * timers in lists (each insertion and removal touches two other connections' cache lines), a send
 * buffer. */
#include "core.h"

#include <string.h>

#define CONNECTIONS_MIN 1024u

/* One for each connection is enough, but where connections hold one for life, which may take half
 * of them. */
static uint64_t sides_for(const struct config *config, unsigned port, uint64_t connections)
{
	uint64_t sides = connections;

	for (unsigned i = 0; i < config->traffics; i++)
		if (entry_is_mine(&config->traffic[i], port) &&
		    entry_is_extended(&config->traffic[i]))
			sides = 2 * connections;
	return RTE_MIN(sides, (uint64_t)config->side_records);
}

static uint64_t timers_for(uint64_t connections, uint64_t sides)
{
	return 2 * connections + sides;
}

void stateful_plan(const struct config *config, unsigned port, unsigned workers,
		   struct stateful_plan *plan)
{
	bool ip6 = config_port_has6(config, port);
	uint64_t total = 0, sides;

	*plan = (struct stateful_plan){.bytes = sizeof(struct stateful) + 4096};
	for (unsigned i = 0; i < config->traffics; i++)
		if (entry_is_mine(&config->traffic[i], port))
			total += entry_connections(&config->traffic[i]);
	if (workers > 1) /* flows are dealt by hash: never quite evenly */
		total = total / workers + total / workers / 4;
	plan->connections = RTE_MIN(total + CONNECTIONS_MIN, (uint64_t)1 << 30);
	for (unsigned i = 0; i < config->traffics; i++)
		for (uint8_t family = 4; family <= 6; family += 2)
			if (entry_is_mine(&config->traffic[i], port) &&
			    traffic_has(&config->traffic[i], family))
				plan->bytes += entry_bytes(config, &config->traffic[i], family,
							   plan->connections);
	sides = sides_for(config, port, plan->connections);
	plan->bytes += table_reserve(plan->connections, sides, ip6) +
		       timer_reserve(timers_for(plan->connections, sides)) + parked_reserve() +
		       (sizeof(struct summed) << SUMMED_BITS) + 64;
	plan->table_bytes =
		table_bytes(plan->connections, ip6) + plan->connections * sizeof(uint32_t);
}

/* What the index is made for at once; more grows it. */
static uint32_t connections_expected(const struct config *config, unsigned port, unsigned workers)
{
	uint64_t expected = 0;

	for (unsigned i = 0; i < config->traffics; i++)
		if (entry_is_mine(&config->traffic[i], port) &&
		    config->traffic[i].load.concurrency != UINT64_MAX)
			expected += config->traffic[i].load.concurrency;
	return (uint32_t)RTE_MIN(expected / workers, (uint64_t)1 << 30);
}

static unsigned port_entries(const struct config *config, unsigned port)
{
	unsigned count = 0;

	for (unsigned i = 0; i < config->traffics; i++)
		if (entry_is_mine(&config->traffic[i], port))
			count += traffic_has(&config->traffic[i], 4) +
				 traffic_has(&config->traffic[i], 6);
	return count;
}

static int stateful_init(struct stateful *s, const struct stateful_setup *setup,
			 struct arena *arena)
{
	const struct config *config = setup->config;
	struct stateful_plan plan;
	uint32_t connections, expected, sides;

	stateful_plan(config, setup->port, setup->workers, &plan);
	connections = (uint32_t)plan.connections;
	expected = RTE_MIN(connections_expected(config, setup->port, setup->workers), connections);
	sides = (uint32_t)sides_for(config, setup->port, connections);
	s->counters = setup->counters;
	s->nexthop = setup->nexthop;
	s->steer = setup->steer;
	s->port = &config->port[setup->port];
	s->worker = (uint16_t)setup->worker;
	s->workers = (uint16_t)setup->workers;
	s->offload = setup->tx_checksum_offload;
	s->partial = setup->partial_checksums;
	s->l2_len = (uint8_t)(sizeof(struct rte_ether_hdr) + 4 * s->port->vlans);
	s->mss_value[0] = 536;
	s->mss_count = 1;
	s->rng.state = config->seed + s->worker;
	s->secret = config->seed * 0x9e3779b97f4a7c15u;
	s->ramp = config->ramp;
	s->duration = config->duration;
	s->ready = TABLE_NONE;
	s->kept_max = config->kept_segments;
	s->ip6 = config_port_has6(config, setup->port);
	s->summed = arena_take(arena, sizeof(struct summed) << SUMMED_BITS);
	if (!s->summed || table_init(&s->table, arena, connections, expected, sides, s->ip6) ||
	    timer_init(&s->timer, arena, timers_for(connections, sides)) || parked_init(s, arena))
		return -1;
	return entries_init(s, setup, arena);
}

void clock_set(struct stateful *s, struct tx *tx, uint64_t now)
{
	s->tx = tx;
	s->now = now;
	s->time = (uint32_t)(now >> CONN_TIME_SHIFT);
	if (!s->clocked) {
		s->clocked = true;
		timer_start(&s->timer, now);
	}
}

static void stateful_start(struct engine *engine, uint64_t now)
{
	struct stateful *s = (struct stateful *)engine;

	clock_set(s, s->tx, now);
	launch_start(s);
}

static void stateful_input(struct engine *engine, struct rx_burst *rx, struct tx *tx, uint64_t now)
{
	struct stateful *s = (struct stateful *)engine;

	clock_set(s, tx, now);
	if (rx->count && rx->view[0].kind == VIEW_UDP)
		udp_input(s, rx);
	else
		input_burst(s, rx);
}

static uint64_t stateful_poll(struct engine *engine, struct tx *tx, uint64_t now)
{
	struct stateful *s = (struct stateful *)engine;
	uint64_t next;

	clock_set(s, tx, now);
	expiry_poll(s);
	sender_poll(s);
	parked_poll(s);
	launch_poll(s);
	next = RTE_MIN(timer_next(&s->timer), launch_next(s));
	if (s->draining && !drain_poll(s))
		return now;
	if (s->draining && !s->aborting)
		next = RTE_MIN(next, s->deadline);
	return s->ready == TABLE_NONE && !parked_is_due(s) ? next : now;
}

static void stateful_drain(struct engine *engine, uint64_t now, uint64_t deadline)
{
	struct stateful *s = (struct stateful *)engine;

	s->now = now;
	s->draining = true;
	s->deadline = deadline;
}

static void stateful_settle(struct engine *engine)
{
	struct stateful *s = (struct stateful *)engine;

	drain_settle(s);
	parked_settle(s);
}

static bool stateful_idle(const struct engine *engine)
{
	const struct stateful *s = (const struct stateful *)engine;

	return !s->table.live && !s->parked[PARKED_DATA].count && !s->parked[PARKED_SYN].count;
}

static void stateful_usage(const struct engine *engine, uint64_t *bytes, uint64_t *connections)
{
	const struct stateful *s = (const struct stateful *)engine;

	*bytes = table_touched(&s->table) + timer_touched(&s->timer);
	*connections = s->table.live;
}

static const struct engine_ops stateful_ops = {
	.start = stateful_start,
	.input = stateful_input,
	.unreachable = stateful_unreachable,
	.poll = stateful_poll,
	.drain = stateful_drain,
	.settle = stateful_settle,
	.idle = stateful_idle,
	.usage = stateful_usage,
	.describe = stateful_describe,
};

struct engine *stateful_create(const struct stateful_setup *setup, struct arena *arena,
			       struct err *err)
{
	unsigned count = port_entries(setup->config, setup->port);
	struct stateful *s = arena_take(arena, sizeof(*s));

	if (count > CONN_ENTRIES_MAX) {
		err_set(err, EXIT_USAGE, "port %s has %u traffic entries: at most %u are possible",
			setup->config->port[setup->port].name, count, CONN_ENTRIES_MAX);
		return NULL;
	}
	if (s)
		s->entry = arena_take(arena, count * sizeof(*s->entry));
	if (!s || !s->entry || stateful_init(s, setup, arena)) {
		err_set(err, EXIT_ENVIRONMENT, "no memory for the connections of port %s",
			setup->config->port[setup->port].name);
		return NULL;
	}
	s->engine.ops = &stateful_ops;
	return &s->engine;
}
