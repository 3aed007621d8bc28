/* Packets without a pool and without DPDK's libraries: for the simulated network, offline work and
 * the tests.
 *
 * Every packet is an allocation of its own, so a sanitizer sees an access past its end or after it
 * was given back, and the box knows how many are out: none may be missing at the end. */
#ifndef BASE_PACKET_BOX_H
#define BASE_PACKET_BOX_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf_core.h>

#include "engine.h"

struct packet_box {
	uint16_t room;  /* bytes for the frame, behind the headroom */
	uint64_t limit; /* packets that may be out at once; 0: any number */
	uint64_t out;   /* packets that are out */
	uint64_t made;  /* packets ever handed out */
};

/* A blank single-segment packet, or NULL at the limit or without memory. Its bytes are a fixed
 * pattern, not zeros. */
struct rte_mbuf *packet_box_new(struct packet_box *);

/* A copy of a packet (all its segments in one), or NULL. */
struct rte_mbuf *packet_box_copy(struct packet_box *, const struct rte_mbuf *);

/* Give a packet back, all its segments. */
void packet_box_free(struct packet_box *, struct rte_mbuf *);

/* A `struct tx` over a box. It has pieces for who lowers tx.piece_min. Blanks in stock are in the
 * box: a leak is a packet neither sent nor given back. */
struct packet_tx {
	struct tx tx; /* first */
	struct packet_box *box;
	struct rte_mbuf *stock, *piece;
	struct rte_mbuf **queue;
};

/* Room for `capacity` finished packets, at least 1. Returns 0, or -1 without memory. */
int packet_tx_open(struct packet_tx *, struct packet_box *, uint32_t capacity);

/* Give everything back that is still queued or in stock. */
void packet_tx_close(struct packet_tx *);

#endif
