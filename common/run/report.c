/* What a report contains: the walk over a result.
 *
 * INTERFACE fixes the members and their order. Totals are of the whole run, ramp and drain
 * included: so the laws of accounting hold in them exactly. Rates are of the steady phase only,
 * from the two snapshots that the workers took at its very ends.
 *
 * Levels (connections open) are means over the snapshots that lie in the steady phase, its end
 * included and its beginning not: a level read at the end of an interval stands for that interval,
 * and the beginning belongs to what was before. */
#include "report.h"

#include <time.h>

#include "report_conversation.h"
#include "report_stream.h"

#define PORT_GROUP 9 /* of counter_info[]: what the ports count themselves */

const char *const phase_name[PHASE_DONE + 1] = {
	[PHASE_RESOLVE] = "resolve", [PHASE_RAMP] = "ramp", [PHASE_STEADY] = "steady",
	[PHASE_DRAIN] = "drain",     [PHASE_DONE] = "done",
};

void sink_begin(struct sink *sink, const char *name, enum sink_shape shape)
{
	sink->begin(sink, name, shape, false);
}

void sink_begin_flat(struct sink *sink, const char *name, enum sink_shape shape)
{
	sink->begin(sink, name, shape, true);
}

void sink_end(struct sink *sink)
{
	sink->end(sink);
}

void sink_count(struct sink *sink, const char *name, uint64_t count)
{
	sink->value(sink, name, (struct sink_value){.kind = SINK_COUNT, .count = count});
}

void sink_real(struct sink *sink, const char *name, double real)
{
	sink->value(sink, name, (struct sink_value){.kind = SINK_REAL, .real = real});
}

void sink_bool(struct sink *sink, const char *name, bool truth)
{
	sink->value(sink, name, (struct sink_value){.kind = SINK_BOOL, .truth = truth});
}

void sink_text(struct sink *sink, const char *name, const char *text)
{
	sink->value(sink, name, (struct sink_value){.kind = SINK_TEXT, .text = text});
}

void sink_json(struct sink *sink, const char *name, const char *json)
{
	sink->value(sink, name, (struct sink_value){.kind = SINK_JSON, .text = json});
}

static double in_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double in_us(double ns)
{
	return ns / 1e3;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

/* now - before, per second. Levels may fall, and then so does their difference. */
static double rate(uint64_t before, uint64_t now, double seconds)
{
	return ratio((double)now - (double)before, seconds);
}

static double steady_seconds(const struct result *r)
{
	return r->started_steady ? in_seconds(r->steady) : 0;
}

/* Connections open at a moment: of one traffic entry, or (traffic < 0) as skCon counts. */
static double level_open(const struct snapshot *at, int traffic)
{
	if (traffic < 0)
		return (double)at->counters.value[COUNTER_SK_CON];
	return at->traffic ? (double)at->traffic[traffic].open : 0;
}

static double mean_open(const struct result *r, int traffic)
{
	double sum = level_open(&r->end, traffic);
	double moments = 1;

	if (!r->started_steady)
		return 0;
	for (unsigned i = 0; i < r->intervals; i++) {
		if (r->interval[i].at <= r->begin.at || r->interval[i].at >= r->end.at)
			continue;
		sum += level_open(&r->interval[i], traffic);
		moments++;
	}
	return sum / moments;
}

void report_achieved(const struct result *r, unsigned traffic, struct report_achieved *achieved)
{
	double seconds = steady_seconds(r);
	const struct traffic_level *begin, *end;

	*achieved = (struct report_achieved){0};
	if (!r->started_steady || !r->begin.traffic || !r->end.traffic)
		return;
	begin = &r->begin.traffic[traffic];
	end = &r->end.traffic[traffic];
	achieved->pps = rate(begin->connection.offered, end->connection.offered, seconds);
	achieved->cps = rate(begin->established, end->established, seconds);
	achieved->rps = rate(begin->request.succeeded, end->request.succeeded, seconds);
	achieved->bps_rx = rate(begin->bits_rx, end->bits_rx, seconds);
	achieved->bps_tx = rate(begin->bits_tx, end->bits_tx, seconds);
	achieved->concurrency = mean_open(r, (int)traffic);
}

double report_cpu_percent(const struct worker_result *worker)
{
	return 100 * ratio((double)worker->busy_cycles, (double)worker->cycles);
}

/* skCon is a level, and the ports' own counters are shown as dperf's users know them: cumulative.
 */
uint64_t report_counter(const struct snapshot *before, const struct snapshot *now,
			enum counter counter)
{
	uint64_t value = now->counters.value[counter];

	if (counter == COUNTER_SK_CON || counter_info[counter].group == PORT_GROUP)
		return value;
	return value - before->counters.value[counter];
}

static void walk_time(struct sink *s, int64_t unix_s)
{
	char text[40] = "";
	time_t time = (time_t)unix_s;
	struct tm tm;

	if (gmtime_r(&time, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	sink_text(s, "started", text);
}

void report_walk_verdict(struct sink *s, const struct verdict *verdict)
{
	sink_text(s, "verdict", verdict->word);
	sink_begin(s, "reasons", SINK_ARRAY);
	for (unsigned i = 0; i < verdict->reasons; i++)
		sink_text(s, NULL, verdict->reason[i]);
	sink_end(s);
}

static void walk_phases(struct sink *s, const struct result *r)
{
	sink_begin_flat(s, "phases", SINK_OBJECT);
	sink_real(s, "ramp_s", in_seconds(r->ramp));
	sink_real(s, "steady_s", in_seconds(r->steady));
	sink_real(s, "drain_s", in_seconds(r->drain));
	sink_end(s);
}

static void walk_total(struct sink *s, const struct result *r)
{
	const struct counters *total = &r->total.counters;

	sink_begin(s, "total", SINK_OBJECT);
	sink_real(s, "seconds", in_seconds(r->ramp + r->steady + r->drain));
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		sink_count(s, counter_info[i].name, total->value[i]);
	sink_count(s, "accepted", total->drop[DROP_NONE]);
	sink_begin(s, "drops", SINK_OBJECT);
	for (unsigned i = DROP_NONE + 1; i < DROP_COUNT; i++)
		sink_count(s, drop_info[i].name, total->drop[i]);
	sink_end(s);
	sink_end(s);
}

static double mean_cpu_percent(const struct result *r)
{
	double sum = 0;

	for (unsigned i = 0; i < r->workers; i++)
		sum += report_cpu_percent(&r->worker[i]);
	return ratio(sum, r->workers);
}

static void walk_steady(struct sink *s, const struct result *r)
{
	double seconds = steady_seconds(r);

	sink_begin(s, "steady", SINK_OBJECT);
	sink_real(s, "seconds", seconds);
	sink_real(s, "cpuUsage", mean_cpu_percent(r));
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		sink_real(s, counter_info[i].name,
			  i == COUNTER_SK_CON ? mean_open(r, -1)
					      : rate(r->begin.counters.value[i],
						     r->end.counters.value[i], seconds));
	sink_end(s);
}

void report_walk_target(struct sink *s, const char *name, struct rate target)
{
	if (rate_is_max(target))
		sink_text(s, name, "max");
	else if (target.den && target.num % target.den == 0)
		sink_count(s, name, target.num / target.den);
	else if (target.den)
		sink_real(s, name, (double)target.num / (double)target.den);
}

static void walk_target(struct sink *s, const struct config_load *load)
{
	sink_begin_flat(s, "target", SINK_OBJECT);
	report_walk_target(s, "cps", load->cps);
	report_walk_target(s, "rps", load->rps);
	report_walk_target(s, "bps", load->bps);
	if (load->concurrency == UINT64_MAX)
		sink_text(s, "concurrency", "max");
	else if (load->concurrency)
		sink_count(s, "concurrency", load->concurrency);
	sink_end(s);
}

static void walk_achieved(struct sink *s, const struct result *r, unsigned traffic)
{
	struct report_achieved achieved;

	report_achieved(r, traffic, &achieved);
	sink_begin_flat(s, "achieved", SINK_OBJECT);
	sink_real(s, "cps", achieved.cps);
	sink_real(s, "rps", achieved.rps);
	sink_real(s, "bps_rx", achieved.bps_rx);
	sink_real(s, "bps_tx", achieved.bps_tx);
	sink_real(s, "concurrency", achieved.concurrency);
	sink_end(s);
}

static void walk_tally(struct sink *s, const struct tally *tally)
{
	sink_count(s, "wanted", tally->offered + tally_not_offered(tally));
	sink_count(s, "offered", tally->offered);
	sink_begin_flat(s, "not_offered", SINK_OBJECT);
	for (unsigned i = 0; i < NOT_OFFERED_COUNT; i++)
		sink_count(s, not_offered_name[i], tally->not_offered[i]);
	sink_end(s);
	sink_count(s, "succeeded", tally->succeeded);
	sink_begin_flat(s, "failed", SINK_OBJECT);
	for (unsigned i = 0; i < FAILED_COUNT; i++)
		sink_count(s, failed_name[i], tally->failed[i]);
	sink_end(s);
}

void report_walk_latency(struct sink *s, const char *name, const struct hist *h)
{
	static const struct {
		const char *name;
		double quantile;
	} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

	sink_begin_flat(s, name, SINK_OBJECT);
	sink_count(s, "count", h->count);
	sink_real(s, "min", in_us((double)h->min));
	sink_real(s, "mean", in_us(ratio((double)h->sum, (double)h->count)));
	for (unsigned i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		sink_real(s, quantiles[i].name,
			  in_us((double)hist_quantile(h, quantiles[i].quantile)));
	sink_real(s, "max", in_us((double)h->max));
	sink_end(s);
}

static void walk_closed(struct sink *s, const struct traffic_level *level)
{
	sink_begin_flat(s, "closed", SINK_OBJECT);
	for (unsigned i = 0; i < CLOSE_WAYS; i++)
		sink_count(s, close_name[i], level->closed[i]);
	sink_end(s);
}

static void walk_traffic(struct sink *s, const struct result *r, unsigned i)
{
	const struct config_traffic *traffic = &r->config->traffic[i];
	const struct traffic_stats *stats = &r->traffic[i];

	sink_begin(s, traffic->name, SINK_OBJECT);
	sink_text(s, "kind", traffic_kind_name(traffic->kind));
	sink_text(s, "port", r->config->port[traffic->port].name);
	if (traffic_is_stateless(traffic->kind)) {
		report_walk_stateless(s, r, i);
		sink_end(s);
		return;
	}
	walk_target(s, &traffic->load);
	walk_achieved(s, r, i);
	walk_tally(s, &stats->level.connection);
	sink_begin_flat(s, "requests", SINK_OBJECT);
	walk_tally(s, &stats->level.request);
	sink_end(s);
	sink_count(s, "established", stats->level.established);
	sink_count(s, "open", stats->level.open);
	sink_count(s, "open_max", stats->level.open_max);
	if (traffic->close.is_set)
		walk_closed(s, &stats->level);
	if (stats->split)
		report_walk_split(s, traffic, stats->split);
	if (traffic_is_conversation(traffic->kind))
		report_walk_conversation(s, r, i);
	if (traffic_is_client(traffic->kind)) {
		sink_begin(s, "latency_us", SINK_OBJECT);
		report_walk_latency(s, "connect", &stats->connect);
		report_walk_latency(s, "first_byte", &stats->first_byte);
		report_walk_latency(s, "response", &stats->response);
		sink_end(s);
	}
	sink_end(s);
}

static void walk_port(struct sink *s, const struct result *r, unsigned i)
{
	const struct port_stats none = {0};
	const struct port_stats *stats = r->port ? &r->port[i] : &none;
	char socket[16];

	snprintf(socket, sizeof(socket), "%d", r->ports ? r->ports[i].socket : -1);
	sink_begin_flat(s, r->config->port[i].name, SINK_OBJECT);
	sink_text(s, "device", r->config->port[i].device);
	sink_text(s, "driver", r->ports ? r->ports[i].driver : "simulated");
	sink_json(s, "socket", socket);
	sink_count(s, "rx_packets", stats->rx_packets);
	sink_count(s, "tx_packets", stats->tx_packets);
	sink_count(s, "imissed", stats->imissed);
	sink_count(s, "ierrors", stats->ierrors);
	sink_count(s, "oerrors", stats->oerrors);
	sink_count(s, "rx_nombuf", stats->rx_nombuf);
	sink_count(s, "link_changes", stats->link_changes);
	sink_end(s);
}

static void walk_worker(struct sink *s, const struct result *r, const struct worker_result *worker)
{
	sink_begin_flat(s, NULL, SINK_OBJECT);
	sink_count(s, "core", worker->core);
	sink_text(s, "port", r->config->port[worker->port].name);
	sink_real(s, "cpu_percent", report_cpu_percent(worker));
	sink_real(s, "cycles_per_packet",
		  ratio((double)worker->busy_cycles, (double)worker->packets));
	sink_count(s, "packets", worker->packets);
	sink_count(s, "connections", worker->connections);
	sink_end(s);
}

static void walk_memory(struct sink *s, const struct result *r)
{
	sink_begin_flat(s, "memory", SINK_OBJECT);
	sink_count(s, "connections_bytes", r->connections_bytes);
	sink_count(s, "connections_peak", r->connections_peak);
	sink_real(s, "bytes_per_connection", r->bytes_per_connection);
	sink_count(s, "mbufs_bytes", r->mbufs_bytes);
	sink_count(s, "total_bytes", r->total_bytes);
	sink_end(s);
}

static void walk_interval_traffic(struct sink *s, const struct traffic_level *before,
				  const struct traffic_level *now)
{
	const struct tally *was = &before->connection;
	const struct tally *is = &now->connection;

	sink_count(s, "offered", is->offered - was->offered);
	sink_count(s, "not_offered", tally_not_offered(is) - tally_not_offered(was));
	sink_count(s, "succeeded", is->succeeded - was->succeeded);
	sink_count(s, "failed", tally_failed(is) - tally_failed(was));
	sink_count(s, "established", now->established - before->established);
	sink_count(s, "requests_succeeded", now->request.succeeded - before->request.succeeded);
	sink_count(s, "open", now->open);
}

void report_walk_interval(struct sink *s, const struct result *r, const struct snapshot *before,
			  const struct snapshot *now, const double *cpu_percent, enum phase phase)
{
	static const struct traffic_level none;

	sink_begin_flat(s, NULL, SINK_OBJECT);
	sink_real(s, "t", in_seconds(now->at));
	sink_text(s, "phase", phase_name[phase]);
	if (cpu_percent) {
		sink_begin(s, "cpuUsage", SINK_ARRAY);
		for (unsigned i = 0; i < r->workers; i++)
			sink_real(s, NULL, cpu_percent[i]);
		sink_end(s);
	}
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		sink_count(s, counter_info[i].name, report_counter(before, now, i));
	sink_begin(s, "traffic", SINK_OBJECT);
	for (unsigned i = 0; now->traffic && i < r->config->traffics; i++) {
		sink_begin(s, r->config->traffic[i].name, SINK_OBJECT);
		walk_interval_traffic(s, before->traffic ? &before->traffic[i] : &none,
				      &now->traffic[i]);
		sink_end(s);
	}
	sink_end(s);
	sink_end(s);
}

static enum phase phase_at(const struct result *r, uint64_t at)
{
	if (at <= r->ramp)
		return PHASE_RAMP;
	return at <= r->ramp + r->steady ? PHASE_STEADY : PHASE_DRAIN;
}

static void walk_intervals(struct sink *s, const struct result *r)
{
	static const struct snapshot zero;
	const struct snapshot *before = &zero;

	sink_begin(s, "intervals", SINK_ARRAY);
	for (unsigned i = 0; i < r->intervals; i++) {
		const struct snapshot *now = &r->interval[i];

		report_walk_interval(s, r, before, now, now->cpu_percent, phase_at(r, now->at));
		before = now;
	}
	sink_end(s);
}

void report_walk(struct sink *s, const struct result *r, const struct verdict *verdict)
{
	sink_begin(s, NULL, SINK_OBJECT);
	sink_text(s, "onager", ONAGER_VERSION);
	sink_json(s, "config", r->config->json ? r->config->json : "{}");
	walk_time(s, r->started);
	if (verdict)
		report_walk_verdict(s, verdict);
	sink_bool(s, "interrupted", r->interrupted);
	walk_phases(s, r);
	walk_total(s, r);
	walk_steady(s, r);
	sink_begin(s, "traffic", SINK_OBJECT);
	for (unsigned i = 0; i < r->config->traffics; i++)
		walk_traffic(s, r, i);
	sink_end(s);
	report_walk_streams(s, r);
	sink_begin(s, "ports", SINK_OBJECT);
	for (unsigned i = 0; i < r->config->ports; i++)
		if (!r->config->port[i].is_network)
			walk_port(s, r, i);
	sink_end(s);
	sink_begin(s, "workers", SINK_ARRAY);
	for (unsigned i = 0; i < r->workers; i++)
		walk_worker(s, r, &r->worker[i]);
	sink_end(s);
	walk_memory(s, r);
	report_walk_capture(s, r);
	walk_intervals(s, r);
	sink_end(s);
}
