/* What the control thread reads from a crew, and how a result is made of it. */
#ifndef RUN_MEASURE_H
#define RUN_MEASURE_H

#include "crew.h"
#include "result.h"

/* A result for this crew, with nothing in it. */
int measure_open(struct result *, const struct crew *, struct err *);
void measure_close(struct result *);

/* Levels now, of a run whose load began at t0, into a snapshot whose `traffic` is there. */
void measure_snapshot(const struct crew *, uint64_t t0, struct snapshot *);

/* Append the levels now to the result's intervals, with how busy workers were since the last. */
int measure_interval(struct result *, const struct crew *, uint64_t t0, struct err *);

/* Fill begin and end of the steady phase from the workers' marks: those workers that have ended. */
void measure_steady(struct result *, const struct crew *);

/* Fill the totals, after crew_settle(). */
void measure_total(struct result *, const struct crew *, uint64_t t0);

#endif
