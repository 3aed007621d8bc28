/* The Internet checksum over bytes that lie anywhere.
 *
 * Words of eight bytes, their low and high halves added apart: no carry can get lost, and the
 * compiler makes a vector loop of it. The bytes that remain are read as the end of the last eight
 * bytes and shifted into place: nothing outside is touched. With AVX2 there is an instruction that
 * adds 16-bit words in pairs, which takes a third off the time of a full-sized frame.
 *
 * Measured and rejected: 128-bit accumulators (add with carry; half as fast from 200 bytes on, no
 * faster below), the loop above written in vectors by hand (no gain), aligning first (a loss below
 * 1000 bytes). */
#include "checksum.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the tail is shifted as little-endian");

static uint64_t sum_short(const uint8_t *data, size_t length)
{
	uint64_t sum = 0;
	uint32_t four;
	uint16_t two;

	if (length & 4) {
		memcpy(&four, data, sizeof four);
		sum += four;
		data += sizeof four;
	}
	if (length & 2) {
		memcpy(&two, data, sizeof two);
		sum += two;
		data += sizeof two;
	}
	return length & 1 ? sum + *data : sum;
}

#ifdef __AVX2__
#define VECTOR_FROM 448   /* bytes; measured */
#define VECTORS_MAX 16384 /* all lanes together take 32768 times a pair of signed words */

/* Pairs of the 16 words at data, added as signed ones: each word 32768 too small. */
static inline __m256i pairs_at(const uint8_t *data)
{
	__m256i words = _mm256_loadu_si256((const __m256i *)data);

	words = _mm256_xor_si256(words, _mm256_set1_epi16(INT16_MIN));
	return _mm256_madd_epi16(words, _mm256_set1_epi16(1));
}

/* What the words are too small is put back at the end. Four lanes of their own: the loop costs
 * little beside what it does, and no addition waits for the one before. */
static uint64_t sum_vectors(const uint8_t *data, size_t vectors)
{
	int64_t sum = (int64_t)vectors * 16 * 32768;
	__m256i lanes[4] = {{0}};
	int32_t lane[8];

	for (; vectors >= 4; vectors -= 4, data += 4 * sizeof *lanes)
		for (unsigned i = 0; i < 4; i++)
			lanes[i] = _mm256_add_epi32(lanes[i], pairs_at(data + i * sizeof *lanes));
	for (; vectors; vectors--, data += sizeof *lanes)
		lanes[0] = _mm256_add_epi32(lanes[0], pairs_at(data));
	lanes[0] = _mm256_add_epi32(_mm256_add_epi32(lanes[0], lanes[1]),
				    _mm256_add_epi32(lanes[2], lanes[3]));
	_mm256_storeu_si256((__m256i *)lane, lanes[0]);
	for (unsigned i = 0; i < 8; i++)
		sum += lane[i];
	return (uint64_t)sum;
}
#endif

uint64_t checksum_sum(const void *data, size_t length)
{
	const uint8_t *next = data, *end = next + length;
	uint64_t low = 0, high = 0, word;

#ifdef __AVX2__
	while (length >= VECTOR_FROM) {
		size_t vectors = length / 32 < VECTORS_MAX ? length / 32 : VECTORS_MAX;

		low += sum_vectors(next, vectors);
		next += vectors * 32;
		length -= vectors * 32;
	}
#endif
	if (length < sizeof word)
		return low + sum_short(next, length);
	for (; length >= sizeof word; length -= sizeof word, next += sizeof word) {
		memcpy(&word, next, sizeof word);
		low += (uint32_t)word;
		high += word >> 32;
	}
	if (length) {
		memcpy(&word, end - sizeof word, sizeof word);
		word >>= 8 * (sizeof word - length);
		low += (uint32_t)word;
		high += word >> 32;
	}
	return low + high;
}
