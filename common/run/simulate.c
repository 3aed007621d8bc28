/* The life cycle of a simulated run: that of run.c, with nothing to wait for.
 *
 *     open -> ramp -> steady -> drain clients -> drain servers -> judge -> report
 *
 * Virtual time begins at 0, which is 1970 in report and capture, so that both are the same in every
 * run. A phase is its first moment up to, not with, its last: what is due at the end of one happens
 * in the next. The wall clock is nowhere: an interruption is looked for between slices of virtual
 * time. */
#include "simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "report_stream.h"
#include "signal.h"
#include "simulate_net.h"

#define SLICE_NS 10000000u /* an interruption is noticed after so much virtual time */
#define SLACK_NS \
	200000000u /* after the deadline, to reset what is open; then for the last packets */

struct simulation {
	const struct config *config;
	const struct simulate_options *options;
	struct simulated_net net;
	struct result result;
	struct screen screen;
	struct snapshot zero;
	uint64_t end;  /* of the steady phase; nearer after an interruption */
	uint64_t next; /* when the current interval ends */
	bool limited;  /* it may end before its time */
	int output_lost;
};

static int snapshot_open(struct snapshot *s, const struct config *config)
{
	s->traffic = calloc(config->traffics + 1, sizeof(*s->traffic));
	return s->traffic ? 0 : -1;
}

static int result_open(struct result *r, const struct config *config)
{
	*r = (struct result){.config = config, .workers = config->ports};
	r->traffic = aligned_alloc(_Alignof(struct traffic_stats),
				   (config->traffics + 1) * sizeof(*r->traffic));
	r->port = calloc(config->ports, sizeof(*r->port));
	r->worker = calloc(config->ports, sizeof(*r->worker));
	r->blast = streams_open(r);
	if (!r->traffic || !r->port || !r->worker || !r->blast ||
	    snapshot_open(&r->begin, config) || snapshot_open(&r->end, config) ||
	    snapshot_open(&r->total, config))
		return -1;
	for (unsigned i = 0; i < config->traffics; i++)
		r->traffic[i] = (struct traffic_stats){.level.open = 0};
	for (unsigned i = 0; i < config->ports; i++)
		r->worker[i] = (struct worker_result){.core = config->port[i].core[0], .port = i};
	return 0;
}

static enum phase phase_before(const struct simulation *s, uint64_t at)
{
	if (at <= s->config->ramp)
		return PHASE_RAMP;
	return at <= s->end ? PHASE_STEADY : PHASE_DRAIN;
}

static int interval_add(struct simulation *s)
{
	struct result *r = &s->result;
	size_t room = (r->intervals + 1) * sizeof(*r->interval);
	struct snapshot *grown = aligned_alloc(_Alignof(struct snapshot), room);

	if (!grown)
		return -1;
	if (r->intervals)
		memcpy(grown, r->interval, r->intervals * sizeof(*grown));
	free(r->interval);
	r->interval = grown;
	grown[r->intervals] = (struct snapshot){.at = 0};
	return snapshot_open(&grown[r->intervals++], s->config);
}

static int interval_end(struct simulation *s, uint64_t at)
{
	struct result *r = &s->result;
	const struct snapshot *before;
	struct snapshot *now;

	if (interval_add(s))
		return -1;
	now = &r->interval[r->intervals - 1];
	before = r->intervals > 1 ? now - 1 : &s->zero;
	simulated_snapshot(&s->net, now);
	now->at = at;
	errno = 0;
	screen_interval(&s->screen, r, before, now, NULL, phase_before(s, at));
	if ((fflush(s->screen.out) || ferror(s->screen.out)) && !s->output_lost)
		s->output_lost = errno ? errno : EIO;
	return 0;
}

/* Every blast has sent all it is to. */
static bool all_sent(const struct simulation *s, uint64_t now)
{
	if (!s->limited || now <= s->config->ramp || now >= s->end)
		return false;
	for (unsigned i = 0; i < s->config->ports; i++)
		if (!streams_sent(s->config, s->net.port[i].streams))
			return false;
	return true;
}

/* Up to, not with, `until`, an interval at a time; an interruption ends it earlier. */
static int pass(struct simulation *s, uint64_t until, uint64_t *now)
{
	while (*now < until && !signal_came() && !s->output_lost && !all_sent(s, *now)) {
		uint64_t stop = *now + SLICE_NS < until ? *now + SLICE_NS : until;

		stop = s->next < stop ? s->next : stop;
		simulated_run(&s->net, stop - 1);
		*now = stop;
		if (stop != s->next)
			continue;
		if (interval_end(s, stop))
			return -1;
		s->next += s->config->report_interval;
	}
	return 0;
}

/* Until clients, or all, are idle, but not for long after the deadline. */
static int drain(struct simulation *s, bool clients_only, uint64_t deadline, uint64_t *now)
{
	uint64_t last = (deadline > *now ? deadline : *now) + SLACK_NS;

	simulated_drain(&s->net, clients_only, deadline);
	while (*now < last && !simulated_idle(&s->net, clients_only)) {
		uint64_t next = simulated_next(&s->net), until = last;

		if (next < last - 1)
			until = next < *now ? *now + 1 : next + 1;
		if (pass(s, until, now))
			return -1;
		if (signal_came()) { /* here it only hastens */
			simulated_drain(&s->net, clients_only, *now);
			simulated_run(&s->net, *now += SLACK_NS);
			return 0;
		}
	}
	return 0;
}

static void usage_add(struct simulation *s)
{
	struct result *r = &s->result;

	for (unsigned i = 0; i < s->config->ports; i++) {
		const struct engine *engine = s->net.port[i].end.engine;
		uint64_t bytes, connections;

		engine->ops->usage(engine, &bytes, &connections);
		r->connections_bytes += bytes;
		r->connections_peak += connections;
	}
	if (r->connections_peak)
		r->bytes_per_connection =
			(double)r->connections_bytes / (double)r->connections_peak;
	r->total_bytes = r->connections_bytes;
}

static int load(struct simulation *s, uint64_t *now)
{
	struct result *r = &s->result;
	const struct config *config = s->config;

	s->end = config->ramp + config->duration;
	s->limited = streams_limited(config);
	s->next = config->report_interval;
	r->replay = s->net.players.result;
	r->conversation = s->net.players.conversations.result;
	simulated_start(&s->net);
	if (pass(s, config->ramp, now))
		return -1;
	simulated_snapshot(&s->net, &r->begin);
	r->begin.at = r->ramp = *now;
	r->started_steady = !signal_came();
	if (pass(s, s->end, now))
		return -1;
	r->interrupted = *now < s->end && !all_sent(s, *now);
	s->end = *now;
	r->steady = *now - r->ramp;
	simulated_snapshot(&s->net, &r->end);
	r->end.at = *now;
	usage_add(s);
	return 0;
}

static int run_phases(struct simulation *s)
{
	struct result *r = &s->result;
	uint64_t now = 0, deadline;

	if (load(s, &now))
		return -1;
	deadline = r->interrupted ? now : s->end + s->config->drain;
	if (drain(s, true, deadline, &now) || drain(s, false, deadline, &now))
		return -1;
	r->drain = now - s->end;
	simulated_run(&s->net, now + SLACK_NS);
	simulated_settle(&s->net);
	simulated_snapshot(&s->net, &r->total);
	r->total.at = now;
	for (unsigned i = 0; i < s->config->ports; i++) {
		for (unsigned t = 0; t < s->config->traffics; t++)
			if (s->net.port[i].stats[t])
				stats_merge(&r->traffic[t], s->net.port[i].stats[t]);
		streams_add(r, s->net.port[i].streams);
	}
	streams_end(r);
	player_set_compare(&s->net.players);
	return 0;
}

static int tell(struct simulation *s, enum exit_code *exit, struct err *err)
{
	struct verdict verdict;
	int failed = 0;

	if (verdict_judge(&verdict, &s->result, err))
		return -1;
	*exit = verdict.exit;
	errno = 0;
	screen_summary(&s->screen, &s->result, &verdict);
	if ((fflush(s->screen.out) || ferror(s->screen.out)) && !s->output_lost)
		s->output_lost = errno ? errno : EIO;
	if (s->options->report)
		failed = report_write(&s->result, &verdict, s->options->report, err);
	verdict_free(&verdict);
	if (!failed && s->output_lost)
		failed = err_set(err, EXIT_ENVIRONMENT, "standard output: %s",
				 strerror(s->output_lost));
	return failed;
}

static int run_net(struct simulation *s, enum exit_code *exit, struct err *err)
{
	int failed;

	if (result_open(&s->result, s->config) || snapshot_open(&s->zero, s->config) ||
	    run_phases(s))
		failed = err_set(err, EXIT_ENVIRONMENT, "out of memory");
	else
		failed = tell(s, exit, err);
	measure_close(&s->result);
	free(s->zero.traffic);
	return failed;
}

int simulate(const struct config *config, const struct simulate_options *options,
	     enum exit_code *verdict, struct err *err)
{
	struct simulation s = {.config = config, .options = options};
	struct err closing;
	int failed;

	s.screen = (struct screen){
		.out = options->report && !strcmp(options->report, "-") ? stderr : stdout,
		.format = options->format,
		.quiet = options->quiet,
	};
	if (signal_open(err))
		return -1;
	failed = simulated_open(&s.net, config, options->engine, options->pcap, err);
	if (!failed) {
		failed = run_net(&s, verdict, err);
		if (simulated_close(&s.net, failed ? &closing : err))
			failed = -1;
	}
	signal_close();
	return failed;
}
