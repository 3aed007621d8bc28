/* Charts of a report, as SVG inside its page. Internal to page*.c. */
#ifndef RUN_PAGE_CHART_H
#define RUN_PAGE_CHART_H

#include <stdio.h>

#include "../config/json.h"

/* What happened over time, from the report's `intervals`. */
void chart_intervals(FILE *out, const struct json *intervals);

/* The percentiles of each member that is a latency ({"p50": ...}), from min to max. */
void chart_latency(FILE *out, const struct json *latencies);

#endif
