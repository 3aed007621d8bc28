/* Blank packets in, finished packets out.
 *
 * A packet's life is a circle: blank from stock, written by the engine, sent, received at the far
 * end, turned round, received here, freed. In a loop run every packet of ours comes home to this
 * very queue, so a freed one becomes a blank at once, its fields reset while its header is in the
 * cache, and the mempool is not asked at all. Stock is a stack: what was touched last is used next.
 *
 * Rejected: resetting blanks when they are handed out (their line may have left the cache by then),
 * and a ring for the queue of finished packets (the port takes all of it in nearly every step; the
 * rare rest is moved to the front). */
#include "txq.h"

#include <stddef.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "../../pcap/tap.h"
#include "race.h"

#define REFILL 64u

/* The fields between the buffer's address and its length: as a fresh packet has them. Written as
 * one block of 32 bytes. */
#define RESET_FROM offsetof(struct rte_mbuf, rearm_data)
#define RESET_SIZE (offsetof(struct rte_mbuf, hash) - RESET_FROM)

static struct rte_mbuf fresh;

static void fresh_fill(void)
{
	fresh.data_off = RTE_PKTMBUF_HEADROOM;
	fresh.nb_segs = 1;
	fresh.port = RTE_MBUF_PORT_INVALID;
	rte_mbuf_refcnt_set(&fresh, 1);
}

static inline void packet_reset(struct rte_mbuf *m)
{
	memcpy((char *)m + RESET_FROM, (const char *)&fresh + RESET_FROM, RESET_SIZE);
}

/* Packets from the pool, whose `next` is NULL. */
static void packets_reset(struct rte_mbuf **pkt, uint32_t count)
{
	const struct rte_mbuf as = fresh; /* in registers: no store below can change it */

#pragma GCC unroll 4
	for (uint32_t i = 0; i < count; i++)
		memcpy((char *)pkt[i] + RESET_FROM, (const char *)&as + RESET_FROM, RESET_SIZE);
}

static uint32_t txq_refill(struct tx *tx)
{
	struct txq *q = (struct txq *)tx;
	void **blank = (void **)(tx->blank + tx->blanks);
	uint32_t wanted = REFILL;

	if (tx->blanks + REFILL > TXQ_STOCK)
		return tx->blanks;
	while (rte_mempool_get_bulk(q->pool, blank, wanted))
		if (!(wanted /= 4))
			return tx->blanks;
	race_get();
	packets_reset(tx->blank + tx->blanks, wanted);
	return tx->blanks += wanted;
}

static uint32_t txq_refill_pieces(struct tx *tx)
{
	struct txq *q = (struct txq *)tx;

	if (rte_mempool_get_bulk(q->pieces, (void **)tx->piece + tx->pieces, REFILL))
		return tx->pieces;
	return tx->pieces += REFILL;
}

/* Is it one of ours that nobody else holds, in one piece? Its `next` is NULL then: mempools keep it
 * so, and drivers set it with nb_segs. */
static inline bool is_blank_to_be(const struct txq *q, const struct rte_mbuf *m)
{
	return m->pool == q->pool && rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1 &&
	       RTE_MBUF_DIRECT(m);
}

/* Packets on their way back into a pool. */
struct returns {
	struct rte_mempool *pool;
	unsigned count;
	void *pkt[RX_BURST_MAX];
};

static void returns_put(struct returns *r)
{
	if (r->count)
		rte_mempool_put_bulk(r->pool, r->pkt, r->count);
	r->count = 0;
}

static inline void returns_add(struct returns *r, struct rte_mbuf *m)
{
	if (r->pool != m->pool || r->count == RX_BURST_MAX) {
		returns_put(r);
		r->pool = m->pool;
	}
	r->pkt[r->count++] = m;
}

static inline void segment_free(struct txq *q, struct rte_mbuf *m, struct returns *returns)
{
	struct tx *tx = &q->tx;

	m = rte_pktmbuf_prefree_seg(m);
	if (m && m->pool == q->pieces && tx->pieces < TXQ_PIECES)
		tx->piece[tx->pieces++] = m;
	else if (m)
		returns_add(returns, m);
}

/* Free packets that do not become blanks: those of another pool, and chains. First segments are of
 * one pool, what hangs on them is of another, nearly always: each goes back in one go. */
static __attribute__((noinline)) void txq_free(struct txq *q, struct rte_mbuf **pkt, unsigned count)
{
	struct returns first, behind; /* not cleared: they are a kilobyte */

	first.count = behind.count = 0;
	first.pool = behind.pool = NULL;
	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *next = pkt[i]->next;

		segment_free(q, pkt[i], &first);
		for (struct rte_mbuf *m = next; m; m = next) {
			next = m->next;
			segment_free(q, m, &behind);
		}
	}
	returns_put(&first);
	returns_put(&behind);
}

void txq_recycle(struct txq *q, struct rte_mbuf **pkt, unsigned count)
{
	struct rte_mbuf *other[RX_BURST_MAX];
	struct tx *tx = &q->tx;
	unsigned others = 0;

	if (tx->blanks + count > TXQ_STOCK) {
		race_give();
		rte_mempool_put_bulk(q->pool, (void **)(tx->blank + TXQ_STOCK / 2),
				     tx->blanks - TXQ_STOCK / 2);
		tx->blanks = TXQ_STOCK / 2;
	}
	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *m = pkt[i];

		if (!m)
			continue;
		if (likely(is_blank_to_be(q, m))) {
			packet_reset(m);
			tx->blank[tx->blanks++] = m;
		} else {
			other[others++] = m;
		}
	}
	if (!others)
		return;
	race_give();
	txq_free(q, other, others);
}

static void txq_release(struct tx *tx, struct rte_mbuf *m)
{
	txq_recycle((struct txq *)tx, &m, 1);
}

int txq_open(struct txq *q, struct arena *arena)
{
	fresh_fill();
	q->tx = (struct tx){
		.queue = arena_take(arena, TXQ_CAPACITY * sizeof(*q->tx.queue)),
		.capacity = TXQ_CAPACITY,
		.blank = arena_take(arena, TXQ_STOCK * sizeof(*q->tx.blank)),
		.refill = txq_refill,
		.piece = arena_take(arena, TXQ_PIECES * sizeof(*q->tx.piece)),
		.piece_min = q->pieces ? TXQ_PIECE_MIN : UINT32_MAX,
		.refill_pieces = txq_refill_pieces,
		.release = txq_release,
	};
	return q->tx.queue && q->tx.blank && q->tx.piece ? 0 : -1;
}

void txq_close(struct txq *q)
{
	q->counters->value[COUNTER_DROP_TX] += q->tx.count + q->tx.refused;
	rte_pktmbuf_free_bulk(q->tx.queue, q->tx.count);
	if (q->tx.blanks)
		rte_mempool_put_bulk(q->pool, (void **)q->tx.blank, q->tx.blanks);
	if (q->tx.pieces)
		rte_mempool_put_bulk(q->pieces, (void **)q->tx.piece, q->tx.pieces);
	q->tx.count = q->tx.blanks = q->tx.pieces = q->tx.refused = 0;
}

/* Some drivers take 32 packets at a time although there is room for more. */
static unsigned port_send(const struct txq *q, struct rte_mbuf **pkt, unsigned count)
{
	unsigned sent = 0, taken;

	race_give();
	do {
		unsigned ready = count - sent;

		if (q->prepare)
			ready = rte_eth_tx_prepare(q->port, q->queue, pkt + sent, (uint16_t)ready);
		taken = rte_eth_tx_burst(q->port, q->queue, pkt + sent, (uint16_t)ready);
		sent += taken;
	} while (taken >= 32 && sent < count);
	return sent;
}

/* The same with taps, which see packets before the port has them. */
static unsigned port_send_tapped(const struct txq *q, struct rte_mbuf **pkt, unsigned count,
				 uint64_t now)
{
	unsigned sent = 0, ready, taken;

	do {
		ready = RTE_MIN(count - sent, (unsigned)TAP_SEND_MAX);
		for (unsigned i = 0; i < q->taps; i++)
			tap_sending(q->tap[i], pkt + sent, ready, now);
		taken = port_send(q, pkt + sent, ready);
		for (unsigned i = 0; i < q->taps; i++)
			tap_sent(q->tap[i], taken);
		sent += taken;
	} while (taken == ready && sent < count);
	return sent;
}

void txq_seal(struct txq *q)
{
	struct tx *tx = &q->tx;
	uint32_t fresh_count = tx->count - q->sealed;
	uint32_t left = tunnel_seal(q->tunnel, tx, tx->queue + q->sealed, fresh_count);

	q->counters->value[COUNTER_DROP_TX] += fresh_count - left;
	tx->count = q->sealed += left;
}

unsigned txq_flush(struct txq *q, uint64_t now)
{
	struct tx *tx = &q->tx;
	uint64_t *value = q->counters->value, bytes;
	unsigned sent;

	if (unlikely(q->tunnel != NULL))
		txq_seal(q);
	if (!tx->count)
		return 0;
	bytes = txq_bytes(tx->queue, tx->count);
	sent = likely(!q->taps) ? port_send(q, tx->queue, tx->count)
				: port_send_tapped(q, tx->queue, tx->count, now);
	tx->count -= sent;
	q->sealed = tx->count;
	if (unlikely(tx->count)) {
		memmove(tx->queue, tx->queue + sent, tx->count * sizeof(*tx->queue));
		bytes -= txq_bytes(tx->queue, tx->count);
	}
	if (unlikely(tx->refused)) {
		value[COUNTER_DROP_TX] += tx->refused;
		tx->refused = 0;
	}
	value[COUNTER_PKT_TX] += sent;
	value[COUNTER_BITS_TX] += bytes * 8;
	return sent;
}
