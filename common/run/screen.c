/* The screen while a run goes on: a block of text, a line of JSON or a line of CSV per interval.
 *
 * Blocks scroll; the terminal is never cleared, so that what scrolled by can be read again and a
 * log file is as good as a terminal. A block has one line per group of the counter table, which is
 * the grouping that dperf's users know, under a line that says where in the run we are. What will
 * count against the verdict is said when it happens, on lines that begin with "!". */
#include "screen_csv.h"

#include "report_json.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS         100
#define CELL            20 /* usual width of a cell; less in a group of more than fit a line */
#define CELLS           (COLUMNS / CELL)
#define NAME_MAX_LENGTH 24

static void put_rule(FILE *out, const char *text)
{
	int length = fprintf(out, "-- %s ", text);

	for (; length < COLUMNS - 20; length++)
		putc('-', out);
	putc('\n', out);
}

static double in_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void put_progress(FILE *out, const struct config *config, uint64_t at, enum phase phase)
{
	uint64_t end = config->ramp + config->duration;
	char text[120];
	int length = snprintf(text, sizeof(text), "%s, %.1f s", phase_name[phase], in_seconds(at));

	if (at < end)
		snprintf(text + length, sizeof(text) - (size_t)length, ", %.1f s left",
			 in_seconds(end - at));
	put_rule(out, text);
}

static void put_cpu(FILE *out, const struct result *r, uint64_t at, const double *cpu_percent)
{
	char seconds[CELL];

	snprintf(seconds, sizeof(seconds), "seconds %.1f", in_seconds(at));
	fprintf(out, "%-*scpuUsage", CELL, seconds);
	for (unsigned i = 0; cpu_percent && i < r->workers; i++)
		fprintf(out, " %.1f", cpu_percent[i]);
	putc('\n', out);
}

static unsigned group_size(unsigned group)
{
	unsigned size = 0;

	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		size += counter_info[i].group == group;
	return size;
}

/* One group: a line; more only if the numbers are too long for one. */
static void put_group(FILE *out, const struct snapshot *before, const struct snapshot *now,
		      unsigned group)
{
	int cells = (int)group_size(group);
	int width = cells > CELLS ? COLUMNS / cells : CELL;
	int column = 0, pad = 0;

	for (unsigned i = 0; i < COUNTER_COUNT; i++) {
		char number[REPORT_THOUSANDS_MAX], cell[NAME_MAX_LENGTH + REPORT_THOUSANDS_MAX];
		int length;

		if (counter_info[i].group != group)
			continue;
		length = snprintf(cell, sizeof(cell), "%s %s", counter_info[i].name,
				  report_thousands(number, report_counter(before, now, i)));
		if (column && column + pad + length > COLUMNS) {
			putc('\n', out);
			column = pad = 0;
		}
		column += fprintf(out, "%*s%s", pad, "", cell);
		pad = length + 1 > width ? 1 : width - length;
	}
	putc('\n', out);
}

static void subtract(uint64_t *difference, const uint64_t *now, const uint64_t *before, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		difference[i] = now[i] - before[i];
}

static void warn_tally(FILE *out, const char *name, const char *what, const struct tally *before,
		       const struct tally *now)
{
	char counts[REPORT_COUNTS_MAX];
	uint64_t failed[FAILED_COUNT], not [NOT_OFFERED_COUNT];

	subtract(failed, now->failed, before->failed, FAILED_COUNT);
	subtract(not, now->not_offered, before->not_offered, NOT_OFFERED_COUNT);
	if (*report_counts(counts, failed, failed_name, FAILED_COUNT, true))
		fprintf(out, "! %s: %s failed: %s\n", name, what, counts);
	if (*report_counts(counts, not, not_offered_name, NOT_OFFERED_COUNT, true))
		fprintf(out, "! %s: %s not offered: %s\n", name, what, counts);
}

static void put_warnings(FILE *out, const struct result *r, const struct snapshot *before,
			 const struct snapshot *now)
{
	static const enum counter lost[] = {COUNTER_DROP_TX, COUNTER_IMISSED, COUNTER_RX_NOMBUF};
	static const struct traffic_level none;

	for (unsigned i = 0; now->traffic && i < r->config->traffics; i++) {
		const struct traffic_level *was = before->traffic ? &before->traffic[i] : &none;
		const struct traffic_level *is = &now->traffic[i];
		const char *name = r->config->traffic[i].name;

		warn_tally(out, name, "connections", &was->connection, &is->connection);
		if (memcmp(is->request.failed, is->connection.failed, sizeof(is->request.failed)) ||
		    tally_not_offered(&is->request))
			warn_tally(out, name, "requests", &was->request, &is->request);
	}
	for (unsigned i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		uint64_t more = now->counters.value[lost[i]] - before->counters.value[lost[i]];

		if (more)
			fprintf(out, "! %s +%" PRIu64 ": %s\n", counter_info[lost[i]].name, more,
				counter_info[lost[i]].help);
	}
}

static void put_text(FILE *out, const struct result *r, const struct snapshot *before,
		     const struct snapshot *now, const double *cpu_percent, enum phase phase)
{
	unsigned groups = counter_info[COUNTER_COUNT - 1].group;

	put_progress(out, r->config, now->at, phase);
	put_cpu(out, r, now->at, cpu_percent);
	for (unsigned group = 1; group <= groups; group++)
		put_group(out, before, now, group);
	put_warnings(out, r, before, now);
}

static void put_csv(FILE *out, bool names, const struct result *r, const struct snapshot *before,
		    const struct snapshot *now, const double *cpu_percent, enum phase phase)
{
	struct csv_sink csv;

	csv_sink_init(&csv, out, names);
	report_walk_interval(&csv.sink, r, before, now, cpu_percent, phase);
}

void screen_interval(struct screen *screen, const struct result *r, const struct snapshot *before,
		     const struct snapshot *now, const double *cpu_percent, enum phase phase)
{
	struct json_sink json;

	if (screen->quiet)
		return;
	switch (screen->format) {
	case FORMAT_TEXT:
		put_text(screen->out, r, before, now, cpu_percent, phase);
		break;
	case FORMAT_JSON:
		json_sink_init(&json, screen->out, true);
		report_walk_interval(&json.sink, r, before, now, cpu_percent, phase);
		putc('\n', screen->out);
		break;
	case FORMAT_CSV:
		if (!screen->lines)
			put_csv(screen->out, true, r, before, now, cpu_percent, phase);
		put_csv(screen->out, false, r, before, now, cpu_percent, phase);
		break;
	}
	screen->lines++;
	fflush(screen->out);
}
