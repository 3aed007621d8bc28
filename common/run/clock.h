/* The clock of a run: the processor's time stamp counter, as ns of CLOCK_MONOTONIC, which count
 * from boot: what is derived from time (initial sequence numbers) goes on growing over restarts. */
#ifndef RUN_CLOCK_H
#define RUN_CLOCK_H

#include <stdint.h>

#include <rte_cycles.h>

#define CLOCK_SHIFT 40

struct clock {
	uint64_t origin;     /* TSC at the beginning */
	uint64_t multiplier; /* ns per cycle << CLOCK_SHIFT; 0 until calibrated */
	uint64_t began_ns;   /* CLOCK_MONOTONIC at the beginning */
};

/* Begin to measure. */
void clock_begin(struct clock *);

/* Measure the counter against CLOCK_MONOTONIC from clock_begin() to now; sleeps until that is long
 * enough (50 ms) for an error below 10^-5. */
void clock_calibrate(struct clock *);

/* The time that a number of cycles takes. */
static inline uint64_t clock_span(const struct clock *clock, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * clock->multiplier >> CLOCK_SHIFT);
}

static inline uint64_t clock_ns(const struct clock *clock, uint64_t tsc)
{
	return clock->began_ns + clock_span(clock, tsc - clock->origin);
}

static inline uint64_t clock_now(const struct clock *clock)
{
	return clock_ns(clock, rte_rdtsc());
}

/* Cycles in a time. */
static inline uint64_t clock_cycles(const struct clock *clock, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns << CLOCK_SHIFT) / clock->multiplier);
}

#endif
