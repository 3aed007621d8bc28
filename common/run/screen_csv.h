/* A sink that writes one line of CSV (RFC 4180): the values, or the paths that name them. */
#ifndef RUN_SCREEN_CSV_H
#define RUN_SCREEN_CSV_H

#include "report.h"

#define CSV_DEPTH_MAX 8

struct csv_sink {
	struct sink sink; /* first */
	FILE *out;
	bool names; /* write the header line */
	bool first;
	unsigned depth;
	struct {
		const char *name; /* NULL: an element of an array */
		bool array;
		unsigned count, index;
	} level[CSV_DEPTH_MAX];
};

void csv_sink_init(struct csv_sink *, FILE *out, bool names);

#endif
