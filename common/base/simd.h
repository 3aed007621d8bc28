/* Vector compares over one cache line of 15 entries and a count, with the plain C beside them. */
#ifndef BASE_SIMD_H
#define BASE_SIMD_H

#include <stdint.h>

#ifdef __AVX2__
#include <immintrin.h>

static inline uint32_t simd_lanes(__m256i low, __m256i high)
{
	return ((uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(low)) |
		(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(high)) << 8) &
	       0x7fff;
}

/* Bit i: entry i is zero. line is 64-byte aligned. */
static inline uint32_t simd_match15_zero(const uint32_t *line)
{
	__m256i low = _mm256_load_si256((const __m256i *)line);
	__m256i high = _mm256_load_si256((const __m256i *)(line + 8));
	__m256i zero = _mm256_setzero_si256();

	return simd_lanes(_mm256_cmpeq_epi32(low, zero), _mm256_cmpeq_epi32(high, zero));
}

/* Bit i: entry i is not zero and equals value in the bits of mask. */
static inline uint32_t simd_match15(const uint32_t *line, uint32_t mask, uint32_t value)
{
	__m256i low = _mm256_load_si256((const __m256i *)line);
	__m256i high = _mm256_load_si256((const __m256i *)(line + 8));
	__m256i masks = _mm256_set1_epi32((int)mask), values = _mm256_set1_epi32((int)value);

	return simd_lanes(_mm256_cmpeq_epi32(_mm256_and_si256(low, masks), values),
			  _mm256_cmpeq_epi32(_mm256_and_si256(high, masks), values)) &
	       ~simd_match15_zero(line);
}

#else

static inline uint32_t simd_match15_zero(const uint32_t *line)
{
	uint32_t match = 0;

	for (unsigned i = 0; i < 15; i++)
		match |= (uint32_t)(line[i] == 0) << i;
	return match;
}

static inline uint32_t simd_match15(const uint32_t *line, uint32_t mask, uint32_t value)
{
	uint32_t match = 0;

	for (unsigned i = 0; i < 15; i++)
		match |= (uint32_t)((line[i] & mask) == value && line[i]) << i;
	return match;
}

#endif
#endif
