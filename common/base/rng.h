/* A small seeded generator of random numbers, for tests, simulated networks and payloads: the same
 * seed gives the same numbers on every machine. Not for secrets.
 *
 * The state is a counter with the golden ratio as step; each output is the counter, mixed (the
 * splitmix64 construction). Any seed will do, and seeds that differ give unrelated sequences. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state; /* the seed */
};

/* 64 random bits. */
static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 to n-1, n at least 1. */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return (uint64_t)((unsigned __int128)rng_next(rng) * n >> 64);
}

/* At least 0 and less than 1. */
static inline double rng_unit(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#endif
