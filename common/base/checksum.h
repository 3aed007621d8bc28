/* The Internet checksum (RFC 1071), and its incremental update (RFC 1624).
 *
 * A "sum" is an unfolded one's-complement sum of 16-bit words as they lie in memory (network order
 * words read natively): sums add, in any order. checksum_fold() makes a 16-bit value of it. The
 * field to store is ~fold(sum). An odd last byte counts as if followed by a zero byte. */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The sum over length bytes at data, any alignment. */
uint64_t checksum_sum(const void *data, size_t length);

static inline uint16_t checksum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* The pseudo-header sum for IPv4: addresses in network order, length of the transport header and
 * payload in host order. */
static inline uint64_t checksum_pseudo4(uint32_t src_be, uint32_t dst_be, uint8_t protocol,
					uint16_t length)
{
	return (uint64_t)src_be + dst_be + __builtin_bswap16(protocol) + __builtin_bswap16(length);
}

#endif
