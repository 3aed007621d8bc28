/* The summary's parts about packets. */
#ifndef RUN_SCREEN_STREAM_H
#define RUN_SCREEN_STREAM_H

#include <stdio.h>

#include "report.h"

void screen_stateless(FILE *, const struct result *, unsigned traffic);
void screen_streams(FILE *, const struct result *);

/* Of screen_summary.c: "NAME ACHIEVED of TARGET", and a table of latencies. */
void screen_rate(FILE *, const char *gap, const char *name, double achieved, struct rate target);
void screen_latency_head(FILE *);
void screen_latency(FILE *, const char *label, const struct hist *);

#endif
