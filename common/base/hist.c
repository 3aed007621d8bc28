/* Reading and merging of the latency histogram; putting in is inline in the header.
 *
 * A quantile is the nearest rank: the smallest value such that at least that share of all values is
 * not above it. The rank's bucket is found by a walk over all buckets, which costs a microsecond
 * and happens once a report. Interpolation inside a bucket was rejected: it invents values, and
 * half a bucket is already below 0.8 %. */
#include "hist.h"

#include <math.h>

static uint64_t bucket_middle(unsigned bucket)
{
	unsigned shift;

	if (bucket < (2u << HIST_SUB_BITS))
		return bucket;
	shift = (bucket >> HIST_SUB_BITS) - 1;
	return ((uint64_t)(bucket - (shift << HIST_SUB_BITS)) << shift) + (1u << (shift - 1));
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

void hist_merge(struct hist *to, const struct hist *from)
{
	uint64_t count = load(&from->count);
	uint64_t min = load(&from->min);
	uint64_t max = load(&from->max);

	if (!count)
		return;
	if (!to->count || min < to->min)
		to->min = min;
	if (max > to->max)
		to->max = max;
	to->count += count;
	to->sum += load(&from->sum);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] += load(&from->bucket[i]);
}

uint64_t hist_quantile(const struct hist *h, double quantile)
{
	uint64_t rank = (uint64_t)ceil(quantile * (double)h->count);
	uint64_t seen = 0;
	uint64_t value;

	if (!h->count)
		return 0;
	if (rank <= 1)
		return h->min;
	if (rank >= h->count)
		return h->max;
	for (unsigned i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen < rank)
			continue;
		value = bucket_middle(i);
		return value < h->min ? h->min : value > h->max ? h->max : value;
	}
	return h->max;
}
