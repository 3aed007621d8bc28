/* Bursts are events of the absolute schedule, each of some packets. A Poisson schedule adds
 * exponential gaps in units of 2^-32 ns: each worker has its own, of its share of the rate, and the
 * sum of independent Poisson processes is one. Its ramp is made by thinning: gaps as of the full
 * rate, and a packet at a time t of the ramp taken with probability t / ramp.
 *
 * What a Poisson schedule gives up after a stall is counted by its mean: the true number would have
 * to be drawn packet by packet. */
#include "schedule.h"

#include <math.h>

#define NS_PER_S 1000000000u
#define FRACTION 32

typedef unsigned __int128 u128;

/* Draw the next packet after the one at hand. */
static void poisson_step(struct schedule *s)
{
	struct pace *p = &s->pace;
	uint64_t ns;

	do {
		double gap = -log(1 - rng_unit(&s->rng));

		s->at += (u128)(gap * (double)s->gap);
		ns = (uint64_t)(s->at >> FRACTION);
		if (s->at >> FRACTION >= p->end - p->start) {
			p->next_at = UINT64_MAX;
			return;
		}
	} while (ns < p->ramp && rng_unit(&s->rng) * (double)p->ramp >= (double)ns);
	p->next_at = p->start + ns;
}

static struct rate rate_divide(struct rate rate, uint32_t by)
{
	if (rate_is_max(rate) || !rate.den)
		return rate;
	if (rate.num % by == 0)
		rate.num /= by;
	else
		rate.den *= by;
	return rate;
}

void schedule_init(struct schedule *s, struct rate rate, uint32_t burst, bool poisson,
		   uint64_t seed, uint64_t start, uint64_t ramp, uint64_t end, uint64_t window,
		   uint32_t worker, uint32_t workers)
{
	*s = (struct schedule){.burst = burst, .poisson = poisson && !rate_is_max(rate)};
	pace_init(&s->pace, rate_divide(rate, burst), start, ramp, end, worker, workers);
	s->pace.window = window;
	s->pace.keep = 1;
	if (!s->poisson || s->pace.next_at == UINT64_MAX)
		return;
	s->burst = 1;
	s->rng.state = seed + worker;
	s->gap = ((u128)rate.den * workers * NS_PER_S << FRACTION) / rate.num;
	poisson_step(s);
}

void schedule_step(struct schedule *s)
{
	if (s->poisson) {
		poisson_step(s);
		return;
	}
	if (!s->left)
		s->left = s->burst;
	if (--s->left == 0)
		pace_done(&s->pace);
}

static uint64_t poisson_skip(struct schedule *s, uint64_t now)
{
	struct pace *p = &s->pace;
	uint64_t from = p->next_at, to, skipped;

	if (from >= now || (now < p->end && now - from <= p->window))
		return 0;
	to = now < p->end ? now - p->window : p->end;
	skipped = (uint64_t)(((u128)(to - from) << FRACTION) / s->gap) + 1;
	s->at = (u128)(to - p->start) << FRACTION;
	poisson_step(s);
	return skipped;
}

uint64_t schedule_skip(struct schedule *s, uint64_t now)
{
	uint64_t bursts, packets;

	if (s->poisson)
		return poisson_skip(s, now);
	bursts = pace_skip(&s->pace, now);
	if (!bursts)
		return 0;
	packets = bursts * s->burst;
	if (s->left)
		packets -= s->burst - s->left;
	s->left = 0;
	return packets;
}
