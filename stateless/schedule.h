/* When the packets of a blast are due: evenly spaced, in bursts, or at random (Poisson).
 *
 * Over common/base/pace.h, with the same contract: skip what is too far back and count it, then do
 * what is due. Pure, absolute, without drift. */
#ifndef STATELESS_SCHEDULE_H
#define STATELESS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/base/pace.h"
#include "../common/base/rng.h"

struct schedule {
	struct pace pace; /* of bursts */
	uint32_t burst;   /* packets each, at least 1 */
	uint32_t left;    /* of the burst at hand, not done yet; 0: none was begun */
	bool poisson;
	/* Of a Poisson schedule. Times since start, in ns and 2^-32 ns. */
	struct rng rng;
	unsigned __int128 at, gap; /* of the next packet; mean between two of this worker */
};

/* rate: packets per second of all workers. */
void schedule_init(struct schedule *, struct rate rate, uint32_t burst, bool poisson, uint64_t seed,
		   uint64_t start, uint64_t ramp, uint64_t end, uint64_t window, uint32_t worker,
		   uint32_t workers);

/* Due time of the next packet, UINT64_MAX when there is none before the end. */
static inline uint64_t schedule_at(const struct schedule *s)
{
	return s->pace.next_at;
}

static inline bool schedule_is_due(const struct schedule *s, uint64_t now)
{
	return pace_is_due(&s->pace, now);
}

void schedule_step(struct schedule *);

/* The next packet, which was due, is done. */
static inline void schedule_done(struct schedule *s)
{
	if (__builtin_expect(s->burst == 1 && !s->poisson, 1))
		pace_done(&s->pace);
	else
		schedule_step(s);
}

/* Give up what lies too far back at `now`, from the end on all that is left; returns how many
 * packets that were. */
uint64_t schedule_skip(struct schedule *, uint64_t now);

/* No packet after this one. */
static inline void schedule_end(struct schedule *s)
{
	s->pace.next_at = UINT64_MAX;
	s->pace.end = 0;
	s->left = 0;
}

#endif
