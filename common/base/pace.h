/* An absolute schedule: when the n-th event of a load is due. Exact for any rate and any time.
 *
 * All workers of a traffic entry share one schedule: event k of it belongs to worker k mod workers,
 * so that the sum is exact and the queues are evenly out of phase. Rate rises linearly from 0 over
 * `ramp`, then is constant. Event k of the steady phase is due at start + ramp + k / rate, k = 0,
 * 1, ... (in the ramp: when the integral of the rate reaches k). Nothing is due at or after `end`.
 *
 * Catch-up is bounded: events that lie further back than `window` (but never the last `keep`) are
 * given up by pace_skip() and counted by the caller. Times in ns; arithmetic in 128 bits. */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdint.h>

/* An exact rate: events per second as a fraction, e.g. 0.5 = 1/2, 5.1 m = 5100000/1. */
struct rate {
	uint64_t num;
	uint64_t den; /* 0: no rate is set; num UINT64_MAX: "max", always due */
};

struct pace {
	struct rate rate;
	uint64_t start, ramp, end; /* absolute start and end, length of the ramp */
	uint64_t window;           /* how far back catching up may reach, ns */
	uint32_t keep;             /* ... but this many are always caught up */
	uint32_t worker, workers;
	uint64_t next;    /* the worker's next event: its ordinal among the worker's own */
	uint64_t next_at; /* its due time, UINT64_MAX when there is none before `end` */
};

void pace_init(struct pace *, struct rate, uint64_t start, uint64_t ramp, uint64_t end,
	       uint32_t worker, uint32_t workers);

/* Due time of event k of the whole schedule (k counts all workers, the ramp's events first). */
uint64_t pace_due_at(const struct pace *, uint64_t k);

/* How many events the whole schedule has before time t (all workers). */
uint64_t pace_count(const struct pace *, uint64_t t);

/* Of these, how many are this worker's. */
uint64_t pace_count_own(const struct pace *, uint64_t t);

/* True if the next event is due at `now`; the caller then does it and calls pace_done(). */
static inline int pace_is_due(const struct pace *p, uint64_t now)
{
	return p->next_at <= now;
}

/* The next event is done (or its due slot used up). */
void pace_done(struct pace *);

/* Give up what lies too far back at `now`; returns how many events that were. */
uint64_t pace_skip(struct pace *, uint64_t now);

#endif
