/* The Toeplitz hash, as network cards compute it to choose a receive queue.
 *
 * For each input bit that is set, the 32 bits of the key that begin at that bit's position are
 * exclusive-ored into the hash. All bits of a word are independent of each other, so this is
 * written as a loop without branches that the compiler turns into vectors; it needs no tables.
 *
 * Rejected: a look-up table per key byte (12 KiB of first-level cache per port) and carry-less
 * multiplication (not in the portable instruction sets we compile for). */
#include "steer.h"

#include <string.h>

static uint32_t word_hash(const uint8_t *key, uint32_t word)
{
	uint64_t window, hash = 0;

	memcpy(&window, key, sizeof window);
	window = __builtin_bswap64(window);
	for (unsigned bit = 0; bit < 32; bit++)
		hash ^= (window << bit) & -(uint64_t)(word >> (31 - bit) & 1);
	return (uint32_t)(hash >> 32);
}

uint32_t steer_toeplitz4(const uint8_t *key, uint32_t src_be, uint32_t dst_be, uint16_t src_port_be,
			 uint16_t dst_port_be)
{
	uint32_t ports =
		(uint32_t)__builtin_bswap16(src_port_be) << 16 | __builtin_bswap16(dst_port_be);

	return word_hash(key, __builtin_bswap32(src_be)) ^
	       word_hash(key + 4, __builtin_bswap32(dst_be)) ^ word_hash(key + 8, ports);
}
