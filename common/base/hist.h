/* A log-linear histogram of latencies: 64 buckets per power of two, so that a value read back is
 * within 0.8 % of the value put in (exact below 128 ns). Mergeable by addition. */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdint.h>

#define HIST_SUB_BITS 6
#define HIST_BUCKETS  ((40 - HIST_SUB_BITS) << HIST_SUB_BITS)

struct hist {
	uint64_t count;
	uint64_t sum; /* ns */
	uint64_t min, max;
	uint64_t bucket[HIST_BUCKETS]; /* values of 2^39 ns (9 minutes) and more are in the last */
};

static inline unsigned hist_bucket(uint64_t ns)
{
	unsigned shift;

	if (ns < (2u << HIST_SUB_BITS))
		return (unsigned)ns;
	shift = 63u - HIST_SUB_BITS - (unsigned)__builtin_clzll(ns);
	shift = (shift << HIST_SUB_BITS) + (unsigned)(ns >> shift);
	return shift < HIST_BUCKETS ? shift : HIST_BUCKETS - 1;
}

/* The same value `count` times, at least once. */
static inline void hist_add_many(struct hist *h, uint64_t ns, uint64_t count)
{
	h->bucket[hist_bucket(ns)] += count;
	h->sum += ns * count;
	if (ns < h->min || !h->count)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->count += count;
}

static inline void hist_add(struct hist *h, uint64_t ns)
{
	hist_add_many(h, ns, 1);
}

/* to += from; from may be written to by its worker meanwhile (words are read relaxed). */
void hist_merge(struct hist *to, const struct hist *from);

/* The value at a quantile 0-1 (nearest rank, middle of its bucket, never outside min-max), in ns;
 * 0 when empty. */
uint64_t hist_quantile(const struct hist *, double quantile);

#endif
