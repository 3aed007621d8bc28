/* The stateless engine.
 *
 * One object per worker and port holds the blasts, replays and sinks of that port. Each step blasts
 * and replays send what is due, in turn; received packets go to the first sink that wants them.
 * Nothing here knows of connections: what a packet is, its number says. Nothing here reads a clock,
 * allocates after creation, or knows of a port.
 *
 * Blasts take turns in who is first, so that two of rate "max" share the port. */
#include "stateless.h"

#include <string.h>

#include "blast.h"
#include "replay.h"
#include "sink.h"

/* A sink waits so long for packets that are still on their way: since the last one, or since the
 * load ended. */
#define SINK_QUIET 100000000u

#define L1_EXTRA_BYTES 24u /* FCS, preamble, start delimiter, gap */

struct stateless {
	struct engine engine; /* first */
	struct stateless_setup setup;
	struct blast *blast;
	struct sink *sink;
	struct replay *replay;
	unsigned blasts, sinks, replays;
	unsigned turn;
	bool draining;
	uint64_t now, drained_at, deadline;
};

static unsigned entries(const struct config *config, unsigned port, enum traffic_kind kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i < config->traffics; i++)
		count += traffic_uses_port(&config->traffic[i], port) &&
			 config->traffic[i].kind == kind;
	return count;
}

uint64_t stateless_reserve(const struct config *config, unsigned port)
{
	unsigned blasts = entries(config, port, UDP_BLAST), sinks = entries(config, port, UDP_SINK);
	unsigned replays = entries(config, port, REPLAY);
	uint64_t bytes = sizeof(struct stateless) + (blasts + 1) * sizeof(struct blast) +
			 sizeof(struct sink) + sinks * (sizeof(struct sink) + sink_reserve()) +
			 (replays + 1) * sizeof(struct replay) + 5 * 64;

	if (!blasts && !sinks && !replays)
		return 0;
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].port == port && config->traffic[i].kind == UDP_BLAST)
			bytes += blast_reserve(&config->traffic[i]);
	return bytes;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* rate * by / per, with what divides both taken out; cut to 64 bits a part, at a relative error
 * below 2^-60, when that does not suffice. */
static struct rate rate_scale(struct rate rate, uint64_t by, uint64_t per)
{
	uint64_t divisor = common_divisor(by, per);
	u128 num, den;

	num = (u128)rate.num * (by / divisor);
	den = (u128)rate.den * (per / divisor);
	divisor = common_divisor(rate.num, per / divisor);
	num /= divisor;
	den /= divisor;
	while (num > UINT64_MAX - 1 || den > UINT64_MAX) {
		num >>= 1;
		den >>= 1;
	}
	return (struct rate){(uint64_t)num, (uint64_t)den};
}

static bool rate_is_less(struct rate a, struct rate b)
{
	return rate_is_max(b) ? !rate_is_max(a)
			      : !rate_is_max(a) && (u128)a.num * b.den < (u128)b.num * a.den;
}

/* Bytes of one round of all sizes, each with `extra` bytes, and how many packets that are. */
static uint64_t round_bytes(const struct config_blast *blast, unsigned extra, unsigned *packets)
{
	uint64_t bytes = 0;

	*packets = blast->template.count ? 1 : blast->sizes;
	if (blast->template.count)
		return blast->template.count + extra;
	for (unsigned i = 0; i < blast->sizes; i++)
		bytes += blast->size[i] + extra;
	return bytes;
}

struct rate stateless_rate(const struct config_traffic *t, uint64_t link_bps)
{
	const struct config_load *load = &t->load;
	struct rate candidate[4] = {load->pps, load->bps, load->bps_l1, load->percent};
	struct rate least = {0};
	unsigned packets;
	uint64_t l2 = round_bytes(&t->blast, 0, &packets);
	uint64_t l1 = round_bytes(&t->blast, L1_EXTRA_BYTES, &packets);

	if (load->percent.den && !rate_is_max(load->percent))
		candidate[3] = rate_scale(load->percent, link_bps, 100);
	for (unsigned i = 0; i < 4; i++) {
		if (!candidate[i].den)
			continue;
		if (i && !rate_is_max(candidate[i]))
			candidate[i] = rate_scale(candidate[i], packets, 8 * (i == 1 ? l2 : l1));
		if (!least.den || rate_is_less(candidate[i], least))
			least = candidate[i];
	}
	return least;
}

static void stateless_start(struct engine *engine, uint64_t now)
{
	struct stateless *s = (struct stateless *)engine;

	s->now = now;
	for (unsigned i = 0; i < s->blasts; i++)
		blast_start(&s->blast[i], now);
	for (unsigned i = 0; i < s->replays; i++)
		replay_start(&s->replay[i], now);
}

static struct sink *sink_for(struct stateless *s, const struct rx_burst *rx, unsigned i)
{
	const uint8_t *data = (const uint8_t *)rx->pkt[i]->buf_addr + rx->pkt[i]->data_off;
	const uint8_t *at = data + rx->view[i].l3 + (rx->view[i].family == 6 ? 24 : 16);
	u128 address = 0;
	uint16_t port;

	for (unsigned n = 0; n < (rx->view[i].family == 6 ? 16u : 4u); n++)
		address = address << 8 | at[n];
	memcpy(&port, data + rx->view[i].l4 + 2, sizeof port);
	for (unsigned n = 0; n < s->sinks; n++)
		if (sink_wants(&s->sink[n], rx->view[i].family, address, __builtin_bswap16(port)))
			return &s->sink[n];
	return NULL;
}

static void stateless_input(struct engine *engine, struct rx_burst *rx, struct tx *tx, uint64_t now)
{
	struct stateless *s = (struct stateless *)engine;

	(void)tx;
	if (s->sinks == 1 && s->sink->any) {
		sink_input(s->sink, rx, 0, rx->count, now);
		return;
	}
	for (unsigned i = 0; i < rx->count; i++) {
		struct sink *sink = sink_for(s, rx, i);

		if (sink)
			sink_input(sink, rx, i, i + 1, now);
		else if (!rx->reason[i])
			rx->reason[i] = DROP_UDP_NO_PORT;
	}
}

/* When nothing more is waited for, unless something comes. */
static uint64_t sink_over_at(const struct stateless *s, const struct sink *sink)
{
	uint64_t since = sink->heard_at > s->drained_at ? sink->heard_at : s->drained_at;

	return since + SINK_QUIET < s->deadline ? since + SINK_QUIET : s->deadline;
}

/* The same of a replay that listens. */
static uint64_t replay_over_at(const struct stateless *s, const struct replay *r)
{
	uint64_t since = r->heard_at > s->drained_at ? r->heard_at : s->drained_at;

	if (!r->tape->expected)
		return 0;
	return since + SINK_QUIET < s->deadline ? since + SINK_QUIET : s->deadline;
}

static void stateless_listen(struct engine *engine, struct rte_mbuf *const *pkt, unsigned count,
			     uint64_t now)
{
	struct stateless *s = (struct stateless *)engine;

	if (s->replays)
		replay_listen(s->replay, pkt, count, now);
}

static uint64_t stateless_poll(struct engine *engine, struct tx *tx, uint64_t now)
{
	struct stateless *s = (struct stateless *)engine;
	uint64_t wake = ENGINE_NEVER;

	s->now = now;
	for (unsigned i = 0; i < s->blasts; i++) {
		uint64_t at = blast_poll(&s->blast[(s->turn + i) % s->blasts], tx, now);

		wake = at < wake ? at : wake;
	}
	if (++s->turn >= s->blasts)
		s->turn = 0;
	for (unsigned i = 0; i < s->replays; i++) {
		uint64_t at = replay_poll(&s->replay[i], tx, now);

		wake = at < wake ? at : wake;
	}
	for (unsigned i = 0; s->draining && i < s->sinks; i++) {
		uint64_t at = sink_over_at(s, &s->sink[i]);

		wake = now < at && at < wake ? at : wake;
	}
	for (unsigned i = 0; s->draining && i < s->replays; i++) {
		uint64_t at = replay_over_at(s, &s->replay[i]);

		wake = now < at && at < wake ? at : wake;
	}
	return wake;
}

static void stateless_drain(struct engine *engine, uint64_t now, uint64_t deadline)
{
	struct stateless *s = (struct stateless *)engine;

	if (!s->draining)
		s->drained_at = now;
	s->draining = true;
	s->deadline = deadline;
	for (unsigned i = 0; i < s->blasts; i++)
		blast_end(&s->blast[i], now);
	for (unsigned i = 0; i < s->replays; i++)
		replay_end(&s->replay[i], now);
}

static bool stateless_idle(const struct engine *engine)
{
	const struct stateless *s = (const struct stateless *)engine;

	for (unsigned i = 0; i < s->blasts; i++)
		if (schedule_at(&s->blast[i].schedule) != UINT64_MAX)
			return false;
	for (unsigned i = 0; i < s->replays; i++)
		if (!s->replay[i].done ||
		    (s->draining && s->now < replay_over_at(s, &s->replay[i])))
			return false;
	for (unsigned i = 0; i < s->sinks; i++)
		if (s->draining && s->now < sink_over_at(s, &s->sink[i]))
			return false;
	return true;
}

static void stateless_usage(const struct engine *engine, uint64_t *bytes, uint64_t *connections)
{
	(void)engine;
	*bytes = *connections = 0;
}

static const struct engine_ops stateless_ops = {
	.start = stateless_start,
	.input = stateless_input,
	.listen = stateless_listen,
	.poll = stateless_poll,
	.drain = stateless_drain,
	.idle = stateless_idle,
	.usage = stateless_usage,
};

static int entries_make(struct stateless *s, struct arena *arena)
{
	const struct config *config = s->setup.config;

	for (unsigned i = 0; i < config->traffics; i++) {
		const struct config_traffic *t = &config->traffic[i];

		if (!traffic_uses_port(t, s->setup.port))
			continue;
		if (t->kind == UDP_BLAST && blast_make(&s->blast[s->blasts++], t, &s->setup, arena))
			return -1;
		if (t->kind == UDP_SINK && sink_make(&s->sink[s->sinks++], t, &s->setup, arena))
			return -1;
		if (t->kind == REPLAY)
			replay_make(&s->replay[s->replays++], t, &s->setup);
	}
	return 0;
}

/* A share of a link that does not say what it carries is nothing. */
static const struct config_traffic *percent_of_nothing(const struct stateless_setup *setup)
{
	for (unsigned i = 0; i < setup->config->traffics; i++) {
		const struct config_traffic *t = &setup->config->traffic[i];

		if (t->port == setup->port && t->kind == UDP_BLAST && t->load.percent.den &&
		    !setup->link_bps)
			return t;
	}
	return NULL;
}

struct engine *stateless_create(const struct stateless_setup *setup, struct arena *arena,
				struct err *err)
{
	const struct config *config = setup->config;
	struct stateless *s = arena_take(arena, sizeof(*s));

	if (percent_of_nothing(setup)) {
		err_set(err, EXIT_ENVIRONMENT,
			"the speed of the link is not known: give the load of %s in pps or bps",
			percent_of_nothing(setup)->name);
		return NULL;
	}
	if (s) {
		s->setup = *setup;
		s->blast = arena_take(arena, sizeof(*s->blast) *
						     (entries(config, setup->port, UDP_BLAST) + 1));
		s->sink = arena_take(arena, sizeof(*s->sink) *
						    (entries(config, setup->port, UDP_SINK) + 1));
		s->replay = arena_take(arena, sizeof(*s->replay) *
						      (entries(config, setup->port, REPLAY) + 1));
	}
	if (!s || !s->blast || !s->sink || !s->replay || entries_make(s, arena)) {
		err_set(err, EXIT_ENVIRONMENT, "no memory for the streams of port %s",
			config->port[setup->port].name);
		return NULL;
	}
	s->engine.ops = &stateless_ops;
	return &s->engine;
}
