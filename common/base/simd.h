/* What vector instructions are worth their while for, with the plain C beside them: compares over
 * one cache line of 15 entries and a count, and over a frame's first bytes; sums of short headers.
 */
#ifndef BASE_SIMD_H
#define BASE_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIMD_BYTES 32u

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

/* Bit i: entry i equals value in the bits of mask. */
static inline uint32_t simd_match15(const uint32_t *line, uint32_t mask, uint32_t value)
{
	__m256i low = _mm256_load_si256((const __m256i *)line);
	__m256i high = _mm256_load_si256((const __m256i *)(line + 8));
	__m256i masks = _mm256_set1_epi32((int)mask), values = _mm256_set1_epi32((int)value);

	return simd_lanes(_mm256_cmpeq_epi32(_mm256_and_si256(low, masks), values),
			  _mm256_cmpeq_epi32(_mm256_and_si256(high, masks), values));
}

/* Do the SIMD_BYTES bytes at data differ from `want` in a bit of `mask`? */
static inline bool simd_differs(const uint8_t *data, const uint8_t *want, const uint8_t *mask)
{
	__m256i bytes = _mm256_loadu_si256((const __m256i *)data);
	__m256i wants = _mm256_loadu_si256((const __m256i *)want);

	return !_mm256_testz_si256(_mm256_xor_si256(bytes, wants),
				   _mm256_loadu_si256((const __m256i *)mask));
}

/* Are n bytes the same? */
static inline bool simd_same(const char *a, const char *b, uint32_t n)
{
	__m256i differ = _mm256_setzero_si256();

	if (n < SIMD_BYTES)
		return !memcmp(a, b, n);
	for (uint32_t i = 0;; i = n - i < 2 * SIMD_BYTES ? n - SIMD_BYTES : i + SIMD_BYTES) {
		__m256i left = _mm256_loadu_si256((const __m256i *)(a + i));

		differ = _mm256_or_si256(
			differ,
			_mm256_xor_si256(left, _mm256_loadu_si256((const __m256i *)(b + i))));
		if (i == n - SIMD_BYTES)
			return _mm256_testz_si256(differ, differ);
	}
}

/* The first n lanes' bytes, n up to 32; the words of them that are whole count 32768 too little. */
static inline __m256i simd_pairs(const uint8_t *data, uint32_t n)
{
	static const uint8_t window[2 * SIMD_BYTES] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};
	__m256i bytes = _mm256_loadu_si256((const __m256i *)data);
	__m256i mask = _mm256_loadu_si256((const __m256i *)(window + SIMD_BYTES - n));

	bytes = _mm256_xor_si256(bytes, _mm256_set1_epi16(INT16_MIN));
	return _mm256_madd_epi16(_mm256_and_si256(bytes, mask), _mm256_set1_epi16(1));
}

/* Internet checksum sums (checksum.h) of two short ranges at once: a, of at most SIMD_BYTES, and b.
 * Up to SIMD_BYTES behind the end of each are read. */
static inline void simd_sums(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes,
			     uint32_t *a_sum, uint32_t *b_sum)
{
	__m256i a_lanes = simd_pairs(a, a_bytes), b_lanes = _mm256_setzero_si256(), both;
	uint32_t n = b_bytes;
	uint64_t sums;
	__m128i half;

	for (; n > SIMD_BYTES; n -= SIMD_BYTES, b += SIMD_BYTES)
		b_lanes = _mm256_add_epi32(b_lanes, simd_pairs(b, SIMD_BYTES));
	b_lanes = _mm256_add_epi32(b_lanes, simd_pairs(b, n));
	both = _mm256_hadd_epi32(a_lanes, b_lanes);
	half = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
	sums = (uint64_t)_mm_cvtsi128_si64(_mm_hadd_epi32(half, half));
	*a_sum = (uint32_t)sums + a_bytes / 2 * 32768;
	*b_sum = (uint32_t)(sums >> 32) + b_bytes / 2 * 32768;
}

/* 96 bits mixed into 32, all of them good. */
static inline uint32_t simd_hash(uint64_t a, uint32_t b)
{
	uint64_t crc = _mm_crc32_u64(_mm_crc32_u64(0, a), b);

	return (uint32_t)(crc * 0x9e3779b97f4a7c15u >> 32);
}

/* The same of 128 bits: addresses that follow each other are never mixed into one. */
static inline uint32_t simd_hash128(uint64_t a, uint64_t b)
{
	return (uint32_t)_mm_crc32_u64(_mm_crc32_u64(0, a), b);
}

#else

static inline bool simd_same(const char *a, const char *b, uint32_t n)
{
	return !memcmp(a, b, n);
}

static inline uint32_t simd_hash128(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 32);
}

static inline uint32_t simd_hash(uint64_t a, uint32_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;

	return (uint32_t)((h ^ h >> 32) * 0xd6e8feb86659fd93u >> 32);
}

static inline bool simd_differs(const uint8_t *data, const uint8_t *want, const uint8_t *mask)
{
	uint64_t bytes, wants, bits, difference = 0;

	for (unsigned i = 0; i < SIMD_BYTES; i += sizeof(bytes)) {
		memcpy(&bytes, data + i, sizeof(bytes));
		memcpy(&wants, want + i, sizeof(wants));
		memcpy(&bits, mask + i, sizeof(bits));
		difference |= (bytes ^ wants) & bits;
	}
	return difference;
}

static inline uint32_t simd_sum(const uint8_t *data, uint32_t length)
{
	uint32_t sum = 0;
	uint16_t word;

	for (; length >= sizeof(word); length -= sizeof(word), data += sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		sum += word;
	}
	return length ? sum + *data : sum;
}

static inline void simd_sums(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes,
			     uint32_t *a_sum, uint32_t *b_sum)
{
	*a_sum = simd_sum(a, a_bytes);
	*b_sum = simd_sum(b, b_bytes);
}

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
		match |= (uint32_t)((line[i] & mask) == value) << i;
	return match;
}

#endif
#endif
