/* What a run measured, as the life cycle hands it to screen, report and verdict. */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../pcap/player.h"
#include "../base/counter.h"
#include "../base/stats.h"
#include "../base/stream.h"
#include "../config/config.h"
#include "conversation_set.h"
#include "port.h"

enum phase { PHASE_RESOLVE, PHASE_RAMP, PHASE_STEADY, PHASE_DRAIN, PHASE_DONE };

/* Levels at one moment, summed over workers. Index of traffic[]: config->traffic[]. */
struct snapshot {
	uint64_t at;              /* ns since the load began */
	struct counters counters; /* group 9 filled in from the ports */
	struct traffic_level *traffic;
	const double *cpu_percent; /* of an interval: how busy each worker was; NULL: not known */
};

/* phase_name[PHASE_STEADY] is "steady", and so on. */
extern const char *const phase_name[PHASE_DONE + 1];

struct worker_result {
	uint16_t core;
	unsigned port;
	uint64_t busy_cycles, cycles; /* of the steady phase; busy: steps that did something */
	uint64_t packets;             /* received and sent in the steady phase */
	uint64_t connections;         /* opened in the steady phase */
};

/* What became of the packets of a stream, at the sinks of this run. The law: sent = unique + lost.
 */
struct stream_result {
	char name[24];   /* of a stream that no blast of this run sends */
	unsigned number; /* as it stands in the tags */
	int traffic;     /* the blast, or -1: then `sent` is the highest number seen */
	bool judged;     /* there is a sink that should have seen it */
	uint64_t sent, unique, lost, late, duplicate, too_late, corrupt;
	struct hist latency, jitter;
};

/* What became of the packets that one capture file was for: shown = filtered + beyond + dropped +
 * lost + written. */
struct capture_result {
	const char *file;
	bool is_drops; /* samples of refused packets */
	uint64_t shown;
	uint64_t filtered; /* do not match the filter */
	uint64_t beyond;   /* the limit, or the number of samples in a second */
	uint64_t dropped;  /* no room in the ring to the thread that writes */
	uint64_t lost;     /* by the disk, or the reader of a pipe */
	uint64_t written, bytes;
	uint32_t files;
	const char *error; /* what went wrong first; NULL: nothing */
};

/* What a replay's recording is. */
struct replay_result {
	struct player_counts loop;            /* of one loop */
	const char *problem[READER_PROBLEMS]; /* names of those met */
	bool is_compared;                     /* what one port sent and the other received: */
	struct player_compared compared;
	const char *incomplete; /* why it cannot be sent as it is; NULL: it can, or may not */
};

struct result {
	const struct config *config;
	int64_t started;              /* Unix time, s */
	uint64_t ramp, steady, drain; /* lengths as they were, ns */
	bool interrupted;             /* by SIGINT or SIGTERM before the end of the steady phase */
	bool started_steady;          /* the steady phase was reached */
	struct snapshot begin, end; /* of the steady phase, taken by the workers at its very ends */
	struct snapshot total;      /* at the end of the run */
	struct traffic_stats *traffic; /* at the end, merged over workers */
	struct stream_stats *blast; /* the same, of stateless entries; without lanes. NULL: none */
	struct stream_result *stream; /* in order of their numbers */
	unsigned streams;
	struct snapshot *interval; /* levels at each interval's end, in order */
	unsigned intervals;
	struct port_stats *port;  /* per config->port[i] */
	const struct port *ports; /* NULL for `simulate` */
	/* per port: when its link was found down, ns since the load began, if it has not come up
	 * again; 0: it is up. NULL: there are no links */
	const uint64_t *link_down;
	struct worker_result *worker;
	unsigned workers;
	const struct capture_result *capture; /* per file */
	unsigned captures;
	const struct conversation_result *conversation; /* per config->traffic[]; NULL: none */
	const struct replay_result *replay;             /* per config->traffic[]; NULL: none */
	uint64_t connections_bytes, connections_peak, mbufs_bytes, total_bytes;
	double bytes_per_connection; /* connections_bytes at the peak / open then */
};

/* verdict.c: judge. verdict is "pass", "fail" or "invalid"; reasons are sentences, at least one
 * unless pass. */
struct verdict {
	enum exit_code exit;
	const char *word;
	char **reason;
	unsigned reasons;
};
int verdict_judge(struct verdict *, const struct result *, struct err *);
void verdict_free(struct verdict *);

/* report.c: the JSON report of INTERFACE, to a file ("-": stdout), written whole or not at all. */
int report_write(const struct result *, const struct verdict *, const char *path, struct err *);

/* Any text the same way. */
int report_store(const char *path, const char *text, size_t size, struct err *);

/* screen.c: one interval on the screen, in one of the formats (quiet: nothing); and the final
 * summary. Numbers are those of the report's `intervals`: differences between two snapshots, levels
 * for skCon and for the ports' own counters. Of the result only config and workers are read during
 * the run; cpu_percent has one value per worker, NULL when not known. With the report on standard
 * output, `out` had better be stderr. Write errors stay in `out` (ferror). */
enum screen_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
struct screen {
	FILE *out;
	enum screen_format format;
	bool quiet;
	uint64_t lines; /* intervals printed so far; private */
};
void screen_interval(struct screen *, const struct result *, const struct snapshot *before,
		     const struct snapshot *now, const double *cpu_percent, enum phase);
void screen_summary(struct screen *, const struct result *, const struct verdict *);

#endif
