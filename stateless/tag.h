/* The measurement tag: the first 18 bytes of a UDP payload, so that it fits the smallest frame.
 *
 *     bytes   0-1   2-3    4-9        10-15         16-17
 *             run   lane   sequence   time, in ns   check
 *
 * All in network order; sequence and time are 48 bits (the time goes round in 78 hours). `check` is
 * the complement of the Internet checksum of the rest. So the sum of a whole tag is that of
 * nothing, whatever is in it: number and time do not change a packet's UDP checksum, which costs
 * nothing, and any flipped bit shows. */
#ifndef STATELESS_TAG_H
#define STATELESS_TAG_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../common/base/checksum.h"

#define TAG_BYTES 18u
#define TAG_48    0xffffffffffffu

struct tag {
	uint16_t run, lane;
	uint64_t sequence, time;
};

/* Two ends of the same seed are of the same run. */
static inline uint16_t tag_run(uint64_t seed)
{
	return (uint16_t)((seed + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u >> 48);
}

static inline uint16_t tag_sum(uint64_t first, uint64_t second)
{
	uint64_t sum = first + second;

	return checksum_fold(sum + (sum < first));
}

/* first: run and lane, shifted to the upper half. */
static inline void tag_write(uint8_t *at, uint64_t first, uint64_t sequence, uint64_t time)
{
	uint64_t high = __builtin_bswap64(first | sequence >> 16);
	uint64_t low = __builtin_bswap64(sequence << 48 | (time & TAG_48));
	uint16_t check = (uint16_t)~tag_sum(high, low);

	memcpy(at, &high, sizeof high);
	memcpy(at + 8, &low, sizeof low);
	memcpy(at + 16, &check, sizeof check);
}

/* The sum of a tag that was written, but for its check. */
static inline uint16_t tag_sum_of(const uint8_t *at)
{
	uint16_t check;

	memcpy(&check, at + 16, sizeof check);
	return (uint16_t)~check;
}

static inline uint64_t tag_first(uint16_t run, uint16_t lane)
{
	return (uint64_t)run << 48 | (uint64_t)lane << 32;
}

/* Returns whether the check is right. */
static inline bool tag_read(const uint8_t *at, struct tag *tag)
{
	uint64_t high, low;
	uint16_t check;

	memcpy(&high, at, sizeof high);
	memcpy(&low, at + 8, sizeof low);
	memcpy(&check, at + 16, sizeof check);
	tag->run = (uint16_t)(__builtin_bswap64(high) >> 48);
	tag->lane = (uint16_t)(__builtin_bswap64(high) >> 32);
	tag->sequence =
		(__builtin_bswap64(high) & 0xffffffffu) << 16 | __builtin_bswap64(low) >> 48;
	tag->time = __builtin_bswap64(low) & TAG_48;
	return (tag_sum(high, low) ^ check) == 0xffff;
}

#endif
