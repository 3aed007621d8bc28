/* The life cycle of a run, as the control thread leads it.
 *
 *     check -> EAL -> ports -> crew -> resolve -> ramp -> steady -> drain -> stop -> judge ->
 * report
 *
 * The control thread gives orders as times, sleeps to the next interval, and reads. When the load
 * begins the end of each phase is known, so that it ends on time whatever this thread does; only an
 * interruption, or that nothing is left to send, moves an end, and only nearer. Clients drain at
 * the end of the steady phase; servers of the same process stay up until every client is idle, so
 * that what is open ends in order.
 *
 * A client port waits until its next hops are resolved, and the run fails when they are not in
 * time. A port of servers alone does not wait: it answers to where a request came from, and its
 * gateway may well be a client that is started later; it keeps asking. */
#include "run.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>

#include "capture.h"
#include "measure.h"
#include "player_set.h"
#include "report_stream.h"
#include "signal.h"
#include "watch.h"
#include "worker_tunnel.h"

#define POLL_NS        1000000u
#define START_NS       10000000u   /* from the order to its time: all workers must have seen it */
#define INTERRUPT_NS   1000000000u /* a drain that was interrupted takes no longer */
#define DRAIN_SHORT_NS 100000000u  /* not worth an interval of its own */
#define STALL_BAD_NS   100000000u
#define SLACK_NS       200000000u /* after the deadline, to reset what is open */

struct run {
	const struct config *config;
	const struct run_options *options;
	struct clock clock;
	struct port *ports;
	struct crew crew;
	struct capture *capture; /* NULL: nothing is captured */
	struct player_set players;
	struct result result;
	struct screen screen;
	struct snapshot zero; /* before the first interval */
	uint64_t t0;          /* when the load begins */
	bool has_client;
	bool limited; /* the run may end before its time */
	struct watch watch;
	uint64_t next;   /* when the current interval ends */
	int output_lost; /* errno when the screen could not be written any more */
};

static uint64_t run_now(const struct run *r)
{
	return clock_now(&r->clock);
}

static bool port_has_client(const struct config *config, unsigned port)
{
	for (unsigned i = 0; i < config->traffics; i++)
		if (traffic_uses_port(&config->traffic[i], port) &&
		    traffic_is_client(config->traffic[i].kind))
			return true;
	return false;
}

/* No IPv6 router has advertised itself to one of the port's workers. */
static bool router_missing(const struct run *r, unsigned port)
{
	for (unsigned i = 0; i < r->crew.workers; i++)
		if (r->crew.worker[i]->port_index == port && r->crew.worker[i]->neighbor.solicit &&
		    !r->crew.worker[i]->neighbor.router)
			return true;
	return false;
}

/* What has not answered, of a table of next hops. */
struct silence {
	const struct nexthop_entry *first;
	unsigned asked, entries; /* how often the first was asked for; how many there are */
};

static void silence_add(struct silence *s, const struct nexthop *hop)
{
	for (uint32_t n = 0; hop->table && n <= hop->mask; n++) {
		const struct nexthop_entry *entry = &hop->table[n];

		if (!entry->ip || entry->resolved)
			continue;
		s->entries++;
		if (!s->first)
			s->first = entry;
		if (entry->ip == s->first->ip)
			s->asked += entry->asked;
	}
}

/* Of a port's workers; with a tunnel, of its underlay, or else inside of it. */
static struct silence silence_find(const struct run *r, unsigned port, bool outside)
{
	struct silence s = {.first = NULL};

	for (unsigned i = 0; i < r->crew.workers; i++) {
		const struct worker *w = r->crew.worker[i];

		if (w->port_index != port)
			continue;
		if (!outside)
			silence_add(&s, &w->nexthop);
		else if (w->tunnel)
			silence_add(&s, &w->tunnel->hop);
	}
	return s;
}

/* Name what did not answer. The crew has stopped, so its tables can be read. */
static int resolve_failed(struct run *r, unsigned port, struct err *err)
{
	const struct config_port *config = config_wire(&r->config->port[port]);
	const struct nexthop_entry *silent;
	struct silence silence;
	char name[WATCH_HOP_MAX];
	bool routed;

	crew_join(&r->crew);
	silence = silence_find(r, port, true);
	if (!silence.first) {
		config = &r->config->port[port];
		silence = silence_find(r, port, false);
	}
	silent = silence.first;
	if (!silent && router_missing(r, port))
		return err_set(
			err, EXIT_ENVIRONMENT,
			"port %s: no IPv6 router has advertised itself in %g s (`gateway` is "
			"\"auto\"); is there one on this network%s?",
			config->name, (double)config->resolve_timeout / 1e9,
			config->vlans ? " and VLAN" : "");
	if (!silent)
		return err_set(err, EXIT_ENVIRONMENT, "port %s: resolved too late", config->name);
	routed = config->has_routes ||
		 (nexthop_is_ip4(silent->ip) ? config->has_gateway : config->has_gateway6);
	return err_set(err, EXIT_ENVIRONMENT,
		       "port %s: no answer to %s for %s: %u requests sent in %g s%s; is it up, on "
		       "this network%s?%s",
		       config->name, nexthop_is_ip4(silent->ip) ? "ARP" : "Neighbour Discovery",
		       watch_hop(config, silent->ip, name), silence.asked,
		       (double)config->resolve_timeout / 1e9,
		       silence.entries > 1 ? ", others silent too" : "",
		       config->vlans ? " and VLAN" : "",
		       routed ? "" : " If it is behind a router, set `gateway`.");
}

/* Wait for the next hops of every client port. */
static int resolve(struct run *r, struct err *err)
{
	uint64_t began = run_now(r);

	for (unsigned i = 0; i < r->config->ports; i++) {
		if (!port_has_client(r->config, i))
			continue;
		while (!watch_resolved(&r->crew, i)) {
			if (run_now(r) - began >= r->config->port[i].resolve_timeout)
				return resolve_failed(r, i, err);
			if (signal_sleep(POLL_NS))
				return 0;
		}
	}
	return 0;
}

/* The report goes to standard output alone: the screen makes way. */
static bool report_is_stdout(const struct run *r)
{
	return r->options->report && !strcmp(r->options->report, "-");
}

static void output_check(struct run *r)
{
	if ((fflush(r->screen.out) || ferror(r->screen.out)) && !r->output_lost)
		r->output_lost = errno ? errno : EIO;
}

static int interval_end(struct run *r, enum phase phase, struct err *err)
{
	struct result *result = &r->result;
	const struct snapshot *before, *now;

	if (measure_interval(result, &r->crew, r->t0, err))
		return -1;
	now = &result->interval[result->intervals - 1];
	before = result->intervals > 1 ? now - 1 : &r->zero;
	errno = 0;
	screen_interval(&r->screen, result, before, now, now->cpu_percent, phase);
	output_check(r);
	watch_look(&r->watch, &r->crew, run_now(r) - r->t0);
	return 0;
}

static enum phase phase_at(const struct run *r, uint64_t now)
{
	if (now < order_at(&r->crew.orders, ORDER_STEADY))
		return PHASE_RAMP;
	return now < order_at(&r->crew.orders, ORDER_END) ? PHASE_STEADY : PHASE_DRAIN;
}

/* End the interval if its time has come. */
static int interval_watch(struct run *r, uint64_t until, struct err *err)
{
	uint64_t now = run_now(r), step = r->config->report_interval;

	if (now < until)
		return 0;
	if (interval_end(r, phase_at(r, until - 1), err))
		return -1;
	if (now >= r->next)
		r->next += step * (1 + (now - r->next) / step);
	return 0;
}

/* An interruption: end now what has not ended yet, and drain within a second. */
static void interrupt(struct run *r)
{
	struct orders *orders = &r->crew.orders;
	uint64_t now = run_now(r), deadline = order_at(orders, ORDER_DEADLINE);
	uint64_t rest = RTE_MIN(r->config->drain, INTERRUPT_NS);

	if (now + rest < deadline)
		order_give(orders, ORDER_DEADLINE, now + rest);
	if (now < order_at(orders, ORDER_END)) {
		r->result.interrupted = true;
		if (order_at(orders, ORDER_SERVER_DRAIN) != UINT64_MAX)
			order_give(orders, ORDER_SERVER_DRAIN, now);
		order_give(orders, ORDER_END, now);
	}
}

/* Give the order to start, and with it the end of everything that ends by the clock. */
static void load_begin(struct run *r)
{
	const struct config *config = r->config;
	struct orders *orders = &r->crew.orders;
	uint64_t steady, end;

	r->t0 = run_now(r) + START_NS;
	steady = r->t0 + config->ramp;
	end = steady + config->duration;
	order_give(orders, ORDER_DEADLINE, end + config->drain);
	order_give(orders, ORDER_END, end);
	if (!r->has_client)
		order_give(orders, ORDER_SERVER_DRAIN, end);
	order_give(orders, ORDER_STEADY, steady);
	order_give(orders, ORDER_START, r->t0);
}

/* Every blast has sent all it is to: what would come is silence. */
static bool all_sent(const struct run *r)
{
	if (!r->limited || run_now(r) < order_at(&r->crew.orders, ORDER_STEADY) + POLL_NS)
		return false;
	for (unsigned i = 0; i < r->crew.workers; i++)
		if (!streams_sent(r->config, r->crew.worker[i]->streams))
			return false;
	return true;
}

static void end_early(struct run *r)
{
	struct orders *orders = &r->crew.orders;
	uint64_t now = run_now(r);

	order_give(orders, ORDER_DEADLINE, now + r->config->drain);
	order_give(orders, ORDER_END, now);
}

/* Through ramp and steady phase, an interval at a time. The last one may be shorter. */
static int load_watch(struct run *r, struct err *err)
{
	const uint64_t *end = &r->crew.orders.at[ORDER_END]; /* this thread alone writes it */

	r->next = r->t0 + r->config->report_interval;
	for (;;) {
		uint64_t now = run_now(r), until = RTE_MIN(r->next, *end);
		uint64_t rest = until - RTE_MIN(now, until);

		if (rest) { /* by this clock a sleep may well end early */
			if (signal_sleep(r->limited ? RTE_MIN(rest, POLL_NS) : rest) ||
			    r->output_lost)
				interrupt(r);
			else if (all_sent(r))
				end_early(r);
			continue;
		}
		if (interval_watch(r, until, err))
			return -1;
		if (now >= *end)
			return 0;
	}
}

/* Are all workers idle that have clients, or have none? */
static bool crew_idle(const struct run *r, bool clients)
{
	for (unsigned i = 0; i < r->crew.workers; i++) {
		const struct worker *w = r->crew.worker[i];

		if (w->has_client == clients && !__atomic_load_n(&w->status.idle, __ATOMIC_ACQUIRE))
			return false;
	}
	return true;
}

/* Wait until clients, or servers, are idle; not longer than to the deadline and a little more. */
static int drain_wait(struct run *r, bool clients, struct err *err)
{
	struct orders *orders = &r->crew.orders;
	uint64_t began = run_now(r);
	bool hastened = signal_came();

	while (!crew_idle(r, clients)) {
		uint64_t deadline = order_at(orders, ORDER_DEADLINE);

		if (run_now(r) > RTE_MAX(deadline, began) + SLACK_NS)
			return 0;
		if (signal_sleep(POLL_NS) && !hastened) {
			hastened = true;
			interrupt(r);
		}
		if (interval_watch(r, r->next, err))
			return -1;
	}
	return 0;
}

static int drain(struct run *r, struct err *err)
{
	struct orders *orders = &r->crew.orders;
	uint64_t end = order_at(orders, ORDER_END);

	if (r->has_client && drain_wait(r, true, err))
		return -1;
	if (order_at(orders, ORDER_SERVER_DRAIN) == UINT64_MAX)
		order_give(orders, ORDER_SERVER_DRAIN, run_now(r));
	if (drain_wait(r, false, err))
		return -1;
	r->result.drain = run_now(r) - end;
	return 0;
}

/* What came behind the last interval, when nothing comes any more: so all of them add up to the
 * total. Who looks at the screen is spared a short one. */
static int last_interval_end(struct run *r, struct err *err)
{
	if (order_at(&r->crew.orders, ORDER_START) == UINT64_MAX)
		return 0;
	if (r->options->format == FORMAT_TEXT && r->result.drain < DRAIN_SHORT_NS)
		return measure_interval(&r->result, &r->crew, r->t0, err);
	return interval_end(r, PHASE_DRAIN, err);
}

/* Say which workers were kept from working: when the verdict needs explaining, or badly. */
static void stalls_say(const struct run *r, bool passed)
{
	for (unsigned i = 0; i < r->crew.workers; i++) {
		const struct worker_status *status = &r->crew.worker[i]->status;
		uint64_t longest = clock_span(&r->clock, status->stall_cycles);

		if (!status->stalls || (passed && longest < STALL_BAD_NS))
			continue;
		fprintf(stderr,
			"onager: core %u was taken away from its worker %llu times, for up to %llu "
			"ms: something else runs there\n",
			r->crew.worker[i]->core, (unsigned long long)status->stalls,
			(unsigned long long)(longest / 1000000));
	}
}

static void result_fill(struct run *r)
{
	const struct orders *orders = &r->crew.orders;
	struct result *result = &r->result;
	uint64_t steady = order_at(orders, ORDER_STEADY), end = order_at(orders, ORDER_END);

	measure_total(result, &r->crew, r->t0);
	if (order_at(orders, ORDER_START) == UINT64_MAX) {
		result->interrupted = true; /* while next hops were being resolved */
		return;
	}
	result->started_steady = end > steady;
	result->ramp = RTE_MIN(steady, end) - RTE_MIN(r->t0, end);
	result->steady = result->started_steady ? end - steady : 0;
	measure_steady(result, &r->crew);
	result->begin.at = result->ramp;
	result->end.at = result->ramp + result->steady;
}

static int run_load(struct run *r, struct err *err)
{
	if (signal_came())
		return 0;
	if (crew_launch(&r->crew, err) || resolve(r, err))
		return -1;
	if (signal_came())
		return 0;
	load_begin(r);
	return load_watch(r, err) || drain(r, err) ? -1 : 0;
}

static int result_tell(struct run *r, enum exit_code *exit, struct err *err)
{
	struct verdict verdict;
	int failed = 0;

	if (verdict_judge(&verdict, &r->result, err))
		return -1;
	*exit = verdict.exit;
	errno = 0;
	screen_summary(&r->screen, &r->result, &verdict);
	output_check(r);
	stalls_say(r, verdict.exit == EXIT_PASS);
	if (r->options->report)
		failed = report_write(&r->result, &verdict, r->options->report, err);
	verdict_free(&verdict);
	if (!failed && r->output_lost)
		failed = err_set(err, EXIT_ENVIRONMENT, "standard output: %s",
				 strerror(r->output_lost));
	return failed;
}

static int run_crew(struct run *r, enum exit_code *exit, struct err *err)
{
	int failed;

	if (measure_open(&r->result, &r->crew, err))
		return -1;
	r->result.started = time(NULL);
	r->result.replay = r->players.result;
	r->result.conversation = r->players.conversations.result;
	r->result.link_down = r->watch.link_down;
	failed = run_load(r, err);
	if (order_at(&r->crew.orders, ORDER_START) != UINT64_MAX)
		watch_links(&r->watch, run_now(r) - r->t0);
	crew_join(&r->crew);
	crew_settle(&r->crew);
	if (!failed)
		failed = last_interval_end(r, err);
	result_fill(r);
	player_set_compare(&r->players);
	capture_finish(r->capture, &r->result);
	if (!failed)
		failed = result_tell(r, exit, err);
	measure_close(&r->result);
	return failed;
}

static int run_ports(struct run *r, enum exit_code *exit, struct err *err)
{
	int failed;

	r->zero.traffic = calloc(r->config->traffics + 1, sizeof(*r->zero.traffic));
	if (!r->zero.traffic || watch_open(&r->watch, r->config, r->ports))
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	for (unsigned i = 0; i < r->config->ports; i++)
		r->has_client |= port_has_client(r->config, i);
	r->limited = streams_limited(r->config);
	clock_calibrate(&r->clock);
	if (crew_open(&r->crew, r->config, r->ports, &r->clock, &r->players, r->options->engine,
		      err))
		return -1;
	failed = r->capture &&
		 capture_start(r->capture, r->crew.worker, r->crew.workers, &r->clock, err);
	if (!failed)
		failed = player_set_start(&r->players, err) || run_crew(r, exit, err) ? -1 : 0;
	crew_close(&r->crew);
	return failed;
}

/* Better before the run than after it. */
static int report_check(const char *path, struct err *err)
{
	char *copy = strdup(path);
	int denied;

	if (!copy)
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	denied = access(path, F_OK) ? access(dirname(copy), W_OK | X_OK) : access(path, W_OK);
	free(copy);
	return denied ? err_set(err, EXIT_ENVIRONMENT, "report %s: %s", path, strerror(errno)) : 0;
}

int run(const struct config *config, const struct run_options *options, enum exit_code *verdict,
	struct err *err)
{
	struct run r = {.config = config, .options = options};
	int failed = -1;

	clock_begin(&r.clock);
	r.screen = (struct screen){
		.out = report_is_stdout(&r) || capture_is_stdout(config) ? stderr : stdout,
		.format = options->format,
		.quiet = options->quiet,
	};
	if (options->report && !report_is_stdout(&r) && report_check(options->report, err))
		return -1;
	if (report_is_stdout(&r) && capture_is_stdout(config))
		return err_set(err, EXIT_USAGE,
			       "the report and a capture file cannot both be standard output");
	if (player_set_open(&r.players, config, false, err) ||
	    capture_open(&r.capture, config, err) || signal_open(err)) {
		player_set_close(&r.players);
		capture_close(r.capture);
		return -1;
	}
	if (!eal_start(config, options->program, err)) {
		if (!ports_open(config, &r.ports, err)) {
			failed = run_ports(&r, verdict, err);
			ports_close(r.ports, config->ports);
		}
		eal_stop();
	}
	player_set_close(&r.players);
	free(r.zero.traffic);
	watch_close(&r.watch);
	capture_close(r.capture);
	signal_close();
	return failed;
}
