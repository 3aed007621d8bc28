/* A sink that writes JSON (RFC 8259) to a stream. Write errors stay in the stream (ferror). */
#ifndef RUN_REPORT_JSON_H
#define RUN_REPORT_JSON_H

#include "report.h"

struct json_sink {
	struct sink sink; /* first */
	FILE *out;
	unsigned depth;
	unsigned flat_from; /* depth from which everything is on one line; 0: everything is */
	bool first;         /* no member yet in the innermost object or array */
	uint64_t arrays;    /* bit d: the container at depth d is an array */
};

/* flat: the whole text on one line, without an end of line. */
void json_sink_init(struct json_sink *, FILE *out, bool flat);

#endif
