/* Fields that change from packet to packet, with the checksums over them kept right. */
#ifndef STATELESS_MODIFY_H
#define STATELESS_MODIFY_H

#include <stdint.h>

#include "../common/config/config.h"
#include "frame.h"
#include "walk.h"

/* What a checksum covers of a 16-bit word of the frame. */
enum { COVER_IP = 1, COVER_L4 = 2 };

struct modify {
	const struct config_modify *config;
	uint16_t offset;
	uint8_t bytes;
	uint8_t words;         /* 16-bit words of the frame that it touches, from offset & ~1 */
	uint8_t cover[5];      /* of each */
	uint64_t mask, values; /* values before it begins again; 0: 2^64 */
	struct digit digit;    /* per packet: how far the count is */
	uint64_t number;       /* per packet: the packet's number in the stream */
	uint64_t seed;
	struct deal deal;
};

/* Sums to add to a packet's: what was changed. */
struct modify_sums {
	uint64_t ip, l4;
};

/* ip_kept, l4_kept are cleared when the modifier covers that checksum itself: it is the user's. */
void modify_make(struct modify *, const struct config_modify *, const struct frame *, uint64_t seed,
		 const struct deal *, bool *ip_kept, bool *l4_kept);

/* A burst is over. */
static inline void modify_jump(struct modify *m)
{
	digit_add(&m->digit, m->digit.jump, false);
	m->number += m->deal.jump;
}

/* Write the packet's next value; flow is the number of its flow. */
void modify_apply(struct modify *, uint8_t *packet, uint64_t flow, struct modify_sums *);

#endif
