/* The Toeplitz hash, as network cards compute it to choose a receive queue.
 *
 * For each input bit that is set, the 32 bits of the key that begin at that bit's position are
 * exclusive-ored into the hash. No bit depends on another, so this is a loop without branches, in
 * words of 32 bits only: the compiler makes vectors of it, and a hash takes 40 cycles without
 * tables.
 *
 * Rejected: the same with a 64-bit window into the key (not made into vectors, 170 cycles), going
 * from one set bit to the next (60), a table per key byte (12 KiB of first-level cache), and
 * carry-less multiplication (not in the portable instruction sets we compile for). */
#include "steer.h"

#include <string.h>

static inline uint32_t word_hash(const uint8_t *key, uint32_t word)
{
	uint32_t now, next, hash = 0;

	memcpy(&now, key, sizeof now);
	memcpy(&next, key + sizeof now, sizeof next);
	now = __builtin_bswap32(now);
	next = __builtin_bswap32(next);
	for (unsigned bit = 0; bit < 32; bit++)
		hash ^= (now << bit | next >> 1 >> (31 - bit)) & -(word << bit >> 31);
	return hash;
}

uint32_t steer_toeplitz4(const uint8_t *key, uint32_t src_be, uint32_t dst_be, uint16_t src_port_be,
			 uint16_t dst_port_be)
{
	uint32_t ports =
		(uint32_t)__builtin_bswap16(src_port_be) << 16 | __builtin_bswap16(dst_port_be);

	return word_hash(key, __builtin_bswap32(src_be)) ^
	       word_hash(key + 4, __builtin_bswap32(dst_be)) ^ word_hash(key + 8, ports);
}

uint32_t steer_toeplitz6(const uint8_t *key, const uint8_t *addresses, uint16_t src_port_be,
			 uint16_t dst_port_be)
{
	uint32_t hash = 0, word;

	for (unsigned i = 0; i < 8; i++) {
		memcpy(&word, addresses + 4 * i, sizeof word);
		hash ^= word_hash(key + 4 * i, __builtin_bswap32(word));
	}
	word = (uint32_t)__builtin_bswap16(src_port_be) << 16 | __builtin_bswap16(dst_port_be);
	return hash ^ word_hash(key + 32, word);
}

uint32_t steer_soft6(const uint8_t *addresses, uint16_t src_port_be, uint16_t dst_port_be)
{
	uint64_t word[4], h;

	memcpy(word, addresses, sizeof word);
	h = (word[0] ^ word[2]) * 0xd6e8feb86659fd93u ^ word[1] ^ word[3];
	h = (h ^ h >> 32) * 0xc2b2ae3d27d4eb4fu ^ (uint16_t)(src_port_be ^ dst_port_be);
	h *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}
