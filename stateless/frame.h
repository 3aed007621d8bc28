/* The frame a blast sends: its bytes, where its parts are, and its checksums without what changes.
 */
#ifndef STATELESS_FRAME_H
#define STATELESS_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/base/arena.h"
#include "../common/config/config.h"

#define FRAME_HEAD 64u /* bytes written as a block at the start of each packet */

/* What depends on a packet's size. Sums are as the checksum fields would have them, without
 * addresses and ports when these walk. */
struct shape {
	uint16_t length;       /* of the frame */
	uint16_t ip_length_be; /* of IPv6 without its header */
	uint16_t l4_length_be; /* of UDP */
	uint32_t ip_sum, l4_sum;
};

struct frame {
	uint8_t *data;            /* as long as the longest packet, and at least FRAME_HEAD */
	uint16_t l3, l4, payload; /* offsets; equal to the length where a part is missing */
	uint16_t ports;    /* offset of the two that walk, or of what ICMP has instead; 0: none */
	uint16_t l4_check; /* offset of the TCP, UDP or ICMP checksum; 0: none is kept up */
	bool pseudo;       /* which covers addresses, too */
	uint8_t family;    /* 4, 6, or 0: not IP */
	bool walks;        /* addresses and ports come from the pools */
	int counter;       /* enum counter of what it is, -1: none */
	struct shape *shape;
	uint32_t shapes;
};

/* Bytes that frame_make() takes from its arena. */
uint64_t frame_reserve(const struct config_traffic *);

/* Returns 0, or -1 when the arena is exhausted. */
int frame_make(struct frame *, const struct config *, const struct config_traffic *,
	       const uint8_t mac[6], struct arena *);

/* How many packets of a stream have at most `bytes` bytes in all. */
uint64_t frame_packets(const struct frame *, uint64_t bytes);

#endif
