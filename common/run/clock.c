/* The clock: two readings of the time stamp counter beside CLOCK_MONOTONIC give its frequency.
 *
 * Workers read the counter once a step; a multiply and a shift make ns of it, so that engines never
 * see cycles. A reading is the pair with the narrowest bracket of several, good to some 50 ns; the
 * set-up of ports lies between the two readings and makes the base long.
 *
 * Rejected: DPDK's rte_get_tsc_hz(), which on many machines is a measurement rounded to 10 MHz, up
 * to 0.2 % wrong: 60 ms in a run of 30 s. */
#include "clock.h"

#include <time.h>

#define BASE_NS  50000000u
#define READINGS 16

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One moment on both clocks; the TSC is returned. */
static uint64_t moment(uint64_t *ns)
{
	uint64_t best = UINT64_MAX, tsc = 0;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t before = rte_rdtsc_precise();
		uint64_t now = monotonic_ns();
		uint64_t after = rte_rdtsc_precise();

		if (after - before < best) {
			best = after - before;
			tsc = before + best / 2;
			*ns = now;
		}
	}
	return tsc;
}

void clock_begin(struct clock *clock)
{
	*clock = (struct clock){0};
	clock->origin = moment(&clock->began_ns);
}

void clock_calibrate(struct clock *clock)
{
	uint64_t passed = monotonic_ns() - clock->began_ns, tsc, ns = 0;

	if (passed < BASE_NS) {
		struct timespec rest = {.tv_nsec = (long)(BASE_NS - passed)};

		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest))
			continue;
	}
	tsc = moment(&ns);
	clock->multiplier = (uint64_t)(((unsigned __int128)(ns - clock->began_ns) << CLOCK_SHIFT) /
				       (tsc - clock->origin));
}
