/* An absolute schedule: when the n-th event of a load is due. Exact for any rate and any time.
 *
 * All workers of a traffic entry share one schedule: event k of it belongs to worker k mod workers,
 * so that the sum is exact and the queues are evenly out of phase. Rate rises linearly from 0 over
 * `ramp`, then is constant. Event k of the steady phase is due at start + ramp + k / rate, k = 0,
 * 1, ... (in the ramp: when the integral of the rate reaches k). Nothing is due at or after `end`.
 *
 * Catch-up is bounded: events that lie further back than `window` (but never the last `keep`) are
 * given up by pace_skip() and counted by the caller. Times in ns; arithmetic in 128 bits.
 *
 *     pace_init(&p, rate, ...); p.window = ...; p.keep = ...;
 *     each step: late += pace_skip(&p, now);
 *                while (pace_is_due(&p, now) && there is room) { launch; pace_done(&p); }
 *                wake up at p.next_at */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* An exact rate: events per second as a fraction, e.g. 0.5 = 1/2, 5.1 m = 5100000/1. */
struct rate {
	uint64_t num;
	uint64_t den; /* 0: no rate is set; num UINT64_MAX: "max", always due */
};

struct pace {
	struct rate rate;
	uint64_t start, ramp, end; /* absolute start and end, length of the ramp */
	uint64_t window;           /* how far back catching up may reach, ns; pace_init(): any */
	uint32_t keep;             /* ... but this many are always caught up; pace_init(): 0 */
	uint32_t worker, workers;
	uint64_t next;    /* the worker's next event: its ordinal among the worker's own */
	uint64_t next_at; /* its due time, UINT64_MAX when there is none before `end` */
	/* Private. Own events of the steady phase are step + step_part / rate.num ns apart;
	 * next_at + part / rate.num is the exact due time. */
	bool steady;
	uint64_t ramp_events, step, step_part, part;
};

/* A schedule without a rate (den or num 0) has no events; "max" is due from start to end, without
 * ramp, and wants no number of events: it is never late. */
void pace_init(struct pace *, struct rate, uint64_t start, uint64_t ramp, uint64_t end,
	       uint32_t worker, uint32_t workers);

static inline bool rate_is_max(struct rate rate)
{
	return rate.den && rate.num == UINT64_MAX;
}

/* Due time of event k of the whole schedule (k counts all workers, the ramp's events first), as if
 * it had no end; UINT64_MAX when that is beyond 64 bits. */
uint64_t pace_due_at(const struct pace *, uint64_t k);

/* How many events the whole schedule has before time t (all workers): the inverse of pace_due_at().
 */
uint64_t pace_count(const struct pace *, uint64_t t);

/* Of these, how many are this worker's. */
uint64_t pace_count_own(const struct pace *, uint64_t t);

/* True if the next event is due at `now`; the caller then does it and calls pace_done(). An event
 * not done before `end` is not due any more: pace_skip() gives it up. */
static inline bool pace_is_due(const struct pace *p, uint64_t now)
{
	return p->next_at <= now && now < p->end;
}

/* Recompute next_at from `next`; private to pace_done() and pace_skip(). */
void pace_seek(struct pace *);

/* The next event, which was due, is done (or its slot used up). */
static inline void pace_done(struct pace *p)
{
	p->next++;
	if (!p->steady) {
		pace_seek(p);
		return;
	}
	if (p->step >= p->end - p->next_at) {
		p->next_at = UINT64_MAX;
		return;
	}
	p->next_at += p->step;
	if (p->part >= p->rate.num - p->step_part) {
		p->part -= p->rate.num - p->step_part;
		p->next_at++;
	} else {
		p->part += p->step_part;
	}
	if (p->next_at >= p->end)
		p->next_at = UINT64_MAX;
}

/* Give up what lies too far back at `now`, from `end` on everything that is left; returns how many
 * events that were. */
uint64_t pace_skip(struct pace *, uint64_t now);

#endif
