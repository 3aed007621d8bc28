/* What neighbor.c and neighbor6.c share. */
#ifndef BASE_NEIGHBOR_PRIVATE_H
#define BASE_NEIGHBOR_PRIVATE_H

#include "neighbor.h"

#include <string.h>

#include "checksum.h"

struct icmp_header {
	uint8_t type, code;
	uint16_t checksum;
} __attribute__((packed));

static inline uint8_t *frame_at(const struct rte_mbuf *m, unsigned offset)
{
	return (uint8_t *)m->buf_addr + m->data_off + offset;
}

/* The checksum after one of its words went from `from` to `to` (RFC 1624). */
static inline uint16_t checksum_change(uint16_t checksum, uint16_t from, uint16_t to)
{
	return (uint16_t)~checksum_fold((uint64_t)(uint16_t)~checksum + (uint16_t)~from + to);
}

/* The 16-bit word, as it lies in memory, that begins at an even offset. */
static inline uint16_t word_at(const void *at)
{
	uint16_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

/* Turn a received frame round: to where it came from, with our own tags, as a kernel may have put
 * others of their sort in their place. */
void frame_return(const struct neighbor *, struct rte_mbuf *);

/* Begin a frame of our own: Ethernet header and tags, and zeros up to the smallest frame. Returns
 * where the next header goes. */
uint8_t *frame_begin(const struct neighbor *, struct rte_mbuf *, const uint8_t *to, uint16_t type);

bool neighbor_owns(const struct neighbor *, u128 ip);

/* The own address to ask from; 0: there is none of this family. */
u128 neighbor_source(const struct neighbor *, u128 target);

void neighbor_resolve(struct neighbor *, struct nexthop_entry *, const uint8_t *mac, uint64_t now);

/* neighbor6.c */
void neighbor6_input(struct neighbor *, struct rx_burst *, unsigned i, struct tx *, uint64_t now);
bool neighbor6_is_news(const struct rte_mbuf *, const struct view *);
bool neighbor6_learn(struct neighbor *, const struct rte_mbuf *, const struct view *, uint64_t now);
void neighbor6_ask(const struct neighbor *, struct rte_mbuf *, u128 target);
void neighbor6_announce(const struct neighbor *, struct rte_mbuf *, u128 own);
void neighbor6_solicit(struct neighbor *, struct tx *, uint64_t now);

#endif
