/* The look-up of one value of the report by its path: a sink that listens for one name.
 *
 * At every level the name of a member either begins the rest of the path, and is taken off it, or
 * all below it is not meant. Names may contain dots themselves ("tcp.bad_seq", "p99.9", a traffic
 * entry "a.b"); since every member is visited, the one whose names add up to the whole path is
 * found, which splitting the path at its dots could not do. */
#include "report.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 8

struct metric_sink {
	struct sink sink; /* first */
	unsigned depth;
	struct {
		const char *rest; /* of the path, below this container; NULL: not meant */
		bool array;
		unsigned count; /* members of an array so far */
	} level[DEPTH_MAX];
	enum report_found found;
	double value;
};

/* What is left of the path behind the next member of the innermost container; NULL if the path does
 * not go there. */
static const char *step(struct metric_sink *metric, const char *name)
{
	const char *rest = metric->level[metric->depth].rest;
	char index[16];
	size_t length;

	if (metric->level[metric->depth].array) {
		snprintf(index, sizeof(index), "%u", metric->level[metric->depth].count++);
		name = index;
	}
	if (!rest || !name)
		return rest;
	length = strlen(name);
	if (strncmp(rest, name, length) || (rest[length] && rest[length] != '.'))
		return NULL;
	return rest + length + (rest[length] == '.');
}

static void metric_begin(struct sink *sink, const char *name, enum sink_shape shape, bool flat)
{
	struct metric_sink *metric = (struct metric_sink *)sink;
	const char *rest = step(metric, name);

	(void)flat;
	metric->depth++;
	metric->level[metric->depth].rest = rest;
	metric->level[metric->depth].array = shape == SINK_ARRAY;
	metric->level[metric->depth].count = 0;
}

static void metric_end(struct sink *sink)
{
	((struct metric_sink *)sink)->depth--;
}

static void metric_value(struct sink *sink, const char *name, struct sink_value value)
{
	struct metric_sink *metric = (struct metric_sink *)sink;
	const char *rest = step(metric, name);

	if (!rest || *rest)
		return;
	metric->found = REPORT_NUMBER;
	if (value.kind == SINK_COUNT)
		metric->value = (double)value.count;
	else if (value.kind == SINK_REAL)
		metric->value = value.real;
	else if (value.kind == SINK_BOOL)
		metric->value = value.truth;
	else
		metric->found = REPORT_NOT_A_NUMBER;
}

enum report_found report_metric(const struct result *r, const char *path, double *value)
{
	struct metric_sink metric = {
		.sink = {metric_begin, metric_end, metric_value},
		.level[0].rest = path,
		.found = REPORT_ABSENT,
	};

	report_walk(&metric.sink, r, NULL);
	*value = metric.value;
	return metric.found;
}
