/* The Internet checksum (RFC 1071), and its incremental update (RFC 1624).
 *
 * A "sum" is an unfolded one's-complement sum of 16-bit words as they lie in memory (network order
 * words read natively): sums add, in any order. checksum_fold() makes a 16-bit value of it. The
 * field to store is ~fold(sum). An odd last byte counts as if followed by a zero byte. */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The sum over length bytes at data, any alignment. */
uint64_t checksum_sum(const void *data, size_t length);

/* Each half of a word added to the other, with the carry brought round, is the upper half of the
 * word plus itself with its halves exchanged. */
static inline uint16_t checksum_fold(uint64_t sum)
{
	uint32_t half;

	sum += sum << 32 | sum >> 32;
	half = (uint32_t)(sum >> 32);
	half += half << 16 | half >> 16;
	return (uint16_t)(half >> 16);
}

/* A checksum field over a word that was one thing and is another (RFC 1624, equation 3): what was
 * wrong stays wrong by as much. */
static inline uint16_t checksum_update(uint16_t check, uint16_t was, uint16_t is)
{
	return (uint16_t)~checksum_fold((uint64_t)(uint16_t)~check + (uint16_t)~was + is);
}

/* The pseudo-header sum for IPv4: addresses in network order, length of the transport header and
 * payload in host order. */
static inline uint64_t checksum_pseudo4(uint32_t src_be, uint32_t dst_be, uint8_t protocol,
					uint16_t length)
{
	return (uint64_t)src_be + dst_be + __builtin_bswap16(protocol) + __builtin_bswap16(length);
}

/* The same for IPv6 (RFC 8200 section 8.1): source and destination as they lie in the header, 32
 * bytes. Leaves room for 2^28 words more. */
static inline uint64_t checksum_pseudo6(const void *addresses, uint8_t protocol, uint16_t length)
{
	unsigned __int128 sum;
	uint64_t word[4];

	memcpy(word, addresses, sizeof(word));
	sum = (unsigned __int128)word[0] + word[1] + word[2] + word[3];
	return (uint32_t)sum + ((uint64_t)sum >> 32) + (uint64_t)(sum >> 64) +
	       __builtin_bswap16(protocol) + __builtin_bswap16(length);
}

#endif
