/* Measuring: sums over workers of what each writes alone.
 *
 * During the run the words are read relaxed, each for itself: an interval's values may be a packet
 * apart from each other. The steady phase is not measured so: its two ends are copies that the
 * workers made themselves. */
#include "measure.h"

#include <stdlib.h>

#include <rte_lcore.h>

#include "report_stream.h"

static int snapshot_open(struct snapshot *s, unsigned traffics)
{
	s->traffic = calloc(traffics + 1, sizeof(*s->traffic));
	return s->traffic ? 0 : -1;
}

int measure_open(struct result *result, const struct crew *crew, struct err *err)
{
	const struct config *config = crew->config;

	*result = (struct result){.config = config, .ports = crew->ports, .workers = crew->workers};
	result->traffic = aligned_alloc(_Alignof(struct traffic_stats),
					(config->traffics + 1) * sizeof(*result->traffic));
	result->port = calloc(config->ports, sizeof(*result->port));
	result->blast = streams_open(result);
	result->worker = calloc(crew->workers, sizeof(*result->worker));
	if (!result->traffic || !result->port || !result->worker || !result->blast ||
	    snapshot_open(&result->begin, config->traffics) ||
	    snapshot_open(&result->end, config->traffics) ||
	    snapshot_open(&result->total, config->traffics)) {
		measure_close(result);
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	}
	for (unsigned i = 0; i < config->traffics; i++)
		result->traffic[i] = (struct traffic_stats){.level.open = 0};
	return 0;
}

void measure_close(struct result *result)
{
	for (unsigned i = 0; i < result->intervals; i++) {
		free(result->interval[i].traffic);
		free((void *)result->interval[i].cpu_percent);
	}
	free(result->interval);
	free(result->begin.traffic);
	free(result->end.traffic);
	free(result->total.traffic);
	for (unsigned i = 0; result->traffic && i < result->config->traffics; i++)
		split_free(result->traffic[i].split);
	free(result->traffic);
	free(result->port);
	free(result->worker);
	free(result->blast);
	free(result->stream);
	*result = (struct result){.config = NULL};
}

/* The ports' own counters stand in their group of the counters. */
static void ports_read(const struct crew *crew, struct counters *counters)
{
	for (unsigned i = 0; i < crew->config->ports; i++) {
		struct port_stats stats;

		if (crew->config->port[i].is_network)
			continue;
		port_stats(&crew->ports[i], &stats);
		counters->value[COUNTER_IERRORS] += stats.ierrors;
		counters->value[COUNTER_OERRORS] += stats.oerrors;
		counters->value[COUNTER_IMISSED] += stats.imissed;
		counters->value[COUNTER_RX_NOMBUF] += stats.rx_nombuf;
	}
}

void measure_snapshot(const struct crew *crew, uint64_t t0, struct snapshot *s)
{
	s->at = clock_now(crew->clock) - t0;
	s->counters = (struct counters){.value = {0}};
	for (unsigned i = 0; i < crew->workers; i++) {
		const struct worker *w = crew->worker[i];
		struct counters counters;

		counters_read(&counters, &w->counters);
		counters_add(&s->counters, &counters);
		for (unsigned t = 0; t < crew->config->traffics; t++)
			if (w->stats[t])
				traffic_level_add(&s->traffic[t], &w->stats[t]->level);
	}
	ports_read(crew, &s->counters);
}

static uint64_t relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* How busy each worker was since the last call; result->worker holds the levels of then until the
 * totals overwrite them. */
static double *cpu_measure(struct result *result, const struct crew *crew)
{
	double *percent = calloc(crew->workers, sizeof(*percent));

	for (unsigned i = 0; percent && i < crew->workers; i++) {
		const struct worker_status *status = &crew->worker[i]->status;
		struct worker_result *last = &result->worker[i];
		uint64_t busy = relaxed(&status->busy_cycles), cycles = relaxed(&status->cycles);

		if (cycles > last->cycles)
			percent[i] = 100.0 * (double)(busy - last->busy_cycles) /
				     (double)(cycles - last->cycles);
		last->busy_cycles = busy;
		last->cycles = cycles;
	}
	return percent;
}

int measure_interval(struct result *result, const struct crew *crew, uint64_t t0, struct err *err)
{
	struct snapshot *interval;

	/* Grows by doubling: it is full when the count is a power of two. */
	if (!(result->intervals & (result->intervals - 1))) {
		size_t room = result->intervals ? 2 * (size_t)result->intervals : 1;

		interval = aligned_alloc(_Alignof(struct snapshot), room * sizeof(*interval));
		if (!interval)
			return err_set(err, EXIT_ENVIRONMENT, "out of memory");
		for (unsigned i = 0; i < result->intervals; i++)
			interval[i] = result->interval[i];
		free(result->interval);
		result->interval = interval;
	}
	interval = &result->interval[result->intervals];
	*interval = (struct snapshot){.at = 0};
	if (snapshot_open(interval, crew->config->traffics))
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	measure_snapshot(crew, t0, interval);
	interval->cpu_percent = cpu_measure(result, crew);
	result->intervals++;
	return 0;
}

static void mark_add(const struct crew *crew, const struct worker_mark *mark, struct snapshot *s)
{
	counters_add(&s->counters, &mark->counters);
	for (unsigned t = 0; t < crew->config->traffics; t++)
		traffic_level_add(&s->traffic[t], &mark->traffic[t]);
}

void measure_steady(struct result *result, const struct crew *crew)
{
	for (unsigned i = 0; i < crew->workers; i++) {
		const struct worker *w = crew->worker[i];

		if (__atomic_load_n(&w->status.stage, __ATOMIC_ACQUIRE) != STAGE_ENDED)
			continue;
		mark_add(crew, w->begun ? &w->begin : &w->end, &result->begin);
		mark_add(crew, &w->end, &result->end);
	}
}

static uint64_t packets_of(const struct counters *counters)
{
	return counters->value[COUNTER_PKT_RX] + counters->value[COUNTER_PKT_TX];
}

static void worker_total(struct worker_result *to, const struct worker *w)
{
	*to = (struct worker_result){.core = w->core, .port = w->port_index};
	if (!w->begun || w->status.stage != STAGE_ENDED)
		return;
	to->busy_cycles = w->end.busy_cycles - w->begin.busy_cycles;
	to->cycles = w->end.cycles - w->begin.cycles;
	to->packets = packets_of(&w->end.counters) - packets_of(&w->begin.counters);
	to->connections =
		w->end.counters.value[COUNTER_SK_OPEN] - w->begin.counters.value[COUNTER_SK_OPEN];
}

void measure_total(struct result *result, const struct crew *crew, uint64_t t0)
{
	measure_snapshot(crew, t0, &result->total);
	for (unsigned i = 0; i < crew->workers; i++) {
		const struct worker *w = crew->worker[i];

		worker_total(&result->worker[i], w);
		for (unsigned t = 0; t < crew->config->traffics; t++)
			if (w->stats[t])
				stats_merge(&result->traffic[t], w->stats[t]);
		result->connections_bytes += w->status.memory_bytes;
		result->connections_peak += w->status.connections;
	}
	if (result->connections_peak)
		result->bytes_per_connection =
			(double)result->connections_bytes / (double)result->connections_peak;
	for (unsigned i = 0; i < crew->config->ports; i++) {
		if (crew->config->port[i].is_network)
			continue;
		port_stats(&crew->ports[i], &result->port[i]);
		result->mbufs_bytes += crew->ports[i].mbufs_bytes;
	}
	result->total_bytes = memory_resident();
	for (unsigned i = 0; i < crew->workers; i++)
		streams_add(result, crew->worker[i]->streams);
	streams_end(result);
}
