/* The report as a stream of named values, for whoever wants them: file, screen, look-up.
 *
 * report_walk() visits everything a report contains, once, in order, and tells it to a sink. The
 * JSON writer is one sink, the CSV line another, the look-up of a metric for `expect` a third: so a
 * value has one name and one definition, wherever it is read. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "result.h"

enum sink_shape { SINK_OBJECT, SINK_ARRAY };

struct sink_value {
	enum { SINK_COUNT, SINK_REAL, SINK_BOOL, SINK_TEXT, SINK_JSON } kind;
	union {
		uint64_t count;
		double real;
		bool truth;
		const char *text; /* SINK_JSON: to be embedded as it is */
	};
};

/* A name is NULL inside an array, and for the outermost object. */
struct sink {
	/* flat: the writer had better put it on one line, with all that is in it. */
	void (*begin)(struct sink *, const char *name, enum sink_shape, bool flat);
	void (*end)(struct sink *);
	void (*value)(struct sink *, const char *name, struct sink_value);
};

void sink_begin(struct sink *, const char *name, enum sink_shape);
void sink_begin_flat(struct sink *, const char *name, enum sink_shape);
void sink_end(struct sink *);
void sink_count(struct sink *, const char *name, uint64_t);
void sink_real(struct sink *, const char *name, double);
void sink_bool(struct sink *, const char *name, bool);
void sink_text(struct sink *, const char *name, const char *);
void sink_json(struct sink *, const char *name, const char *);

/* Tell the whole report. Without a verdict (NULL: it is being judged) those members are left out.
 */
void report_walk(struct sink *, const struct result *, const struct verdict *);

/* Tell the members `verdict` and `reasons` of the object begun. */
void report_walk_verdict(struct sink *, const struct verdict *);

/* Tell the member `capture`, if files were captured. */
void report_walk_capture(struct sink *, const struct result *);

/* Tell one interval: t, phase, cpuUsage, every counter, and the traffic entries in short. */
void report_walk_interval(struct sink *, const struct result *, const struct snapshot *before,
			  const struct snapshot *now, const double *cpu_percent, enum phase);

/* What a counter shows for an interval: a difference, or a level. */
uint64_t report_counter(const struct snapshot *before, const struct snapshot *now, enum counter);

/* Achieved by traffic entry i in the steady phase; all 0 if there was none. */
struct report_achieved {
	double cps, rps, bps_rx, bps_tx;
	double pps;         /* of a blast or sink */
	double concurrency; /* mean */
};
void report_achieved(const struct result *, unsigned traffic, struct report_achieved *);

/* Tell the members of a histogram, in microseconds. */
/* By request or route, status, content and payload. */
void report_walk_split(struct sink *, const struct config_traffic *, const struct split *);
void report_walk_latency(struct sink *, const char *name, const struct hist *);

/* Tell a rate that was asked for, if it was: a number or "max". */
void report_walk_target(struct sink *, const char *name, struct rate);

/* How busy worker i was in the steady phase, in percent. */
double report_cpu_percent(const struct worker_result *);

/* Look a value up by its path of member names and array indexes, joined by dots ("total.httpErr",
 * "total.drops.tcp.bad_seq", "workers.0.cpu_percent"). */
enum report_found { REPORT_ABSENT, REPORT_NUMBER, REPORT_NOT_A_NUMBER };
enum report_found report_metric(const struct result *, const char *path, double *value);

/* A number as text that reads back as the same to six decimals: no trailing zeros, no exponent.
 * text holds at least REPORT_NUMBER_MAX bytes; returns text. */
#define REPORT_NUMBER_MAX 340
const char *report_number(char *text, double);

/* "1,234,567" into at least 27 bytes; returns text. */
#define REPORT_THOUSANDS_MAX 27
const char *report_thousands(char *text, uint64_t);

/* "10 timeout, 2 reset" (or "1,000 timeout"): those of n counts that are not zero, with their names
 * (of not_offered_name[] or failed_name[]), into at least REPORT_COUNTS_MAX bytes; returns text. */
#define REPORT_COUNTS_MAX 256
const char *report_counts(char *text, const uint64_t *count, const char *const *name, unsigned n,
			  bool thousands);

#endif
