/* The transmit side of a queue: the engine's `struct tx` over an ethdev queue and its mempool. */
#ifndef RUN_TXQ_H
#define RUN_TXQ_H

#include <stdint.h>

#include <rte_mempool.h>

#include "../base/arena.h"
#include "../base/counter.h"
#include "../base/engine.h"
#include "../base/tunnel.h"

#define TXQ_CAPACITY  2048 /* finished packets */
#define TXQ_STOCK     512  /* blank packets */
#define TXQ_PIECES    256
#define TXQ_PIECE_MIN 256 /* bytes of payload; an estimate */

struct txq {
	struct tx tx;                      /* first */
	struct rte_mempool *pool, *pieces; /* pieces: NULL where the port takes none */
	struct counters *counters;         /* PKT_TX, BITS_TX and DROP_TX are written here */
	uint16_t port, queue;
	struct tap **tap; /* what captures packets here, received ones too */
	unsigned taps;
	struct tunnel *tunnel; /* what packets are put into before they are sent; NULL: none */
	uint32_t sealed; /* the first so many of the queue are in it, or are to stay outside */
	bool prepare;    /* checksums are left to the port, which wants to see packets first */
};

/* Bytes that txq_open() takes from its arena. */
#define TXQ_BYTES ((TXQ_CAPACITY + TXQ_STOCK + TXQ_PIECES) * sizeof(struct rte_mbuf *) + 192)

/* The caller has filled in pool, pieces, counters, port, queue and prepare. Returns 0, or -1 when
 * the arena is exhausted. */
int txq_open(struct txq *, struct arena *);

/* Free what is queued, counted as dropped, and what is in stock. */
void txq_close(struct txq *);

/* Give what is queued to the port; what it refuses stays first in line. Returns how many it took.
 */
unsigned txq_flush(struct txq *, uint64_t now);

/* Put what is queued and not yet sealed into the tunnel. */
void txq_seal(struct txq *);

/* Free the packets of a burst that are not NULL. Those of this queue's own pool become stock. */
void txq_recycle(struct txq *, struct rte_mbuf **pkt, unsigned count);

/* Bytes of so many packets. */
static inline uint64_t txq_bytes(struct rte_mbuf *const *pkt, unsigned count)
{
	uint64_t bytes = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < count; i++)
		bytes += pkt[i]->pkt_len;
	return bytes;
}

#endif
