/* A made-up result: a client "web" and a server "srv" on two ports, two workers, 1 s of ramp, 3 s
 * steady, 4 intervals; everything is offered and succeeds. Tests change what they are about. */
#ifndef SUPPORT_MADE_RESULT_H
#define SUPPORT_MADE_RESULT_H

#include "../../common/run/result.h"

#define SECOND 1000000000ull

struct made {
	struct config_port port[2];
	struct config_traffic traffic[2];
	struct config_expect expect[4];
	uint16_t core[2];
	struct config config;
	struct traffic_level begin[2], end[2], total[2], at[4][2];
	struct traffic_stats stats[2];
	struct snapshot interval[4];
	double cpu[4][2];
	struct port_stats port_stats[2];
	struct port ports[2];
	struct worker_result worker[2];
	struct result result;
};

/* The levels after n connections, `open` of them still open. */
static inline void made_level(struct traffic_level level[2], uint64_t n, uint64_t open)
{
	for (unsigned i = 0; i < 2; i++) {
		level[i].connection.offered = level[i].request.offered = n;
		level[i].connection.succeeded = level[i].request.succeeded = n - open;
		level[i].established = n;
		level[i].open = open;
		level[i].open_max = 7;
		level[i].bits_rx = level[i].bits_tx = n * 1000;
	}
}

static inline void made_counters(struct counters *counters, uint64_t n, uint64_t open)
{
	counters->value[COUNTER_PKT_RX] = 6 * n;
	counters->value[COUNTER_PKT_TX] = 6 * n;
	counters->value[COUNTER_BITS_RX] = 2000 * n;
	counters->value[COUNTER_BITS_TX] = 2000 * n;
	counters->value[COUNTER_TCP_RX] = 6 * n;
	counters->value[COUNTER_TCP_TX] = 6 * n;
	counters->value[COUNTER_SK_OPEN] = n;
	counters->value[COUNTER_SK_CLOSE] = n - open;
	counters->value[COUNTER_SK_CON] = open;
	counters->value[COUNTER_HTTP_GET] = n;
	counters->value[COUNTER_HTTP_2XX] = n - open;
	counters->drop[DROP_NONE] = 6 * n;
}

static inline void made_snapshot(struct snapshot *snapshot, struct traffic_level level[2],
				 uint64_t at, uint64_t n, uint64_t open)
{
	*snapshot = (struct snapshot){.at = at, .traffic = level};
	made_level(level, n, open);
	made_counters(&snapshot->counters, n, open);
}

static inline void made_config(struct made *m)
{
	m->core[0] = 0;
	m->core[1] = 1;
	m->port[0] = (struct config_port){
		.name = "c", .device = "loop:x", .core = &m->core[0], .cores = 1, .mtu = 1500};
	m->port[1] = (struct config_port){
		.name = "s", .device = "loop:x", .core = &m->core[1], .cores = 1, .mtu = 1500};
	m->traffic[0] = (struct config_traffic){.name = "web",
						.kind = HTTP_CLIENT,
						.requests_per_connection = 1,
						.load.cps = {1000, 1}};
	m->traffic[1] = (struct config_traffic){.name = "srv", .kind = HTTP_SERVER, .port = 1};
	m->config = (struct config){
		.file = "made.json",
		.duration = 3 * SECOND,
		.ramp = SECOND,
		.drain = 2 * SECOND,
		.port = m->port,
		.ports = 2,
		.traffic = m->traffic,
		.traffics = 2,
		.expect = m->expect,
		.json = "{\"duration\":\"3s\"}",
	};
}

static inline void made_init(struct made *m)
{
	static const uint64_t n[4] = {500, 1500, 2500, 3500};

	*m = (struct made){0};
	made_config(m);
	for (unsigned i = 0; i < 4; i++) {
		made_snapshot(&m->interval[i], m->at[i], (i + 1) * SECOND, n[i], i < 3 ? 4 : 0);
		m->cpu[i][0] = 50;
		m->cpu[i][1] = 25.5;
		m->interval[i].cpu_percent = m->cpu[i];
	}
	for (unsigned i = 0; i < 2; i++) {
		m->port_stats[i] = (struct port_stats){.rx_packets = 10500, .tx_packets = 10500};
		m->ports[i] =
			(struct port){.config = &m->port[i], .driver = "net_ring", .socket = -1};
		m->worker[i] = (struct worker_result){.core = (uint16_t)i,
						      .port = i,
						      .busy_cycles = 60 - 30 * i,
						      .cycles = 100,
						      .packets = 12};
	}
	m->result = (struct result){
		.config = &m->config,
		.started = 1769853600,
		.ramp = SECOND,
		.steady = 3 * SECOND,
		.drain = SECOND / 10,
		.started_steady = true,
		.traffic = m->stats,
		.interval = m->interval,
		.intervals = 4,
		.port = m->port_stats,
		.ports = m->ports,
		.worker = m->worker,
		.workers = 2,
		.connections_bytes = 4096,
		.connections_peak = 7,
		.mbufs_bytes = 1 << 20,
		.total_bytes = 1 << 24,
		.bytes_per_connection = 40.5,
	};
	made_snapshot(&m->result.begin, m->begin, SECOND, 500, 4);
	made_snapshot(&m->result.end, m->end, 4 * SECOND, 3500, 6);
	made_snapshot(&m->result.total, m->total, 4 * SECOND + SECOND / 10, 3500, 0);
	for (unsigned i = 0; i < 2; i++)
		m->stats[i].level = m->total[i];
	for (uint64_t ns = 1000; ns <= 100000; ns += 1000) {
		hist_add(&m->stats[0].connect, ns);
		hist_add(&m->stats[0].response, 2 * ns);
	}
}

/* n connections of "web" (and their requests) failed instead of succeeding. */
static inline void made_fail(struct made *m, enum failed kind, uint64_t n)
{
	m->stats[0].level.connection.failed[kind] += n;
	m->stats[0].level.connection.succeeded -= n;
	m->stats[0].level.request.failed[kind] += n;
	m->stats[0].level.request.succeeded -= n;
}

static inline void made_expect(struct made *m, const char *metric, unsigned kinds, double min,
			       double max)
{
	m->expect[m->config.expects++] = (struct config_expect){metric, kinds, min, max};
}

#endif
