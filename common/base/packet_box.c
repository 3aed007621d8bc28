/* Packets in plain memory: one block holds the mbuf, the usual headroom and the frame's room.
 *
 * The mbuf has no pool, so DPDK's own free must never see it: whoever drives an engine gives
 * packets back through `struct tx` or packet_box_free(). A free list would be faster than malloc,
 * and would hide a use after free from the sanitizers; that is what this is for. */
#include "packet_box.h"

#include <stdlib.h>
#include <string.h>

#include "require.h"

#define HEADROOM RTE_PKTMBUF_HEADROOM

/* What fresh memory holds, so that a frame with bytes nobody wrote is the same in every run. */
#define FILL 0xa5

static void *frame_of(const struct rte_mbuf *m)
{
	return (char *)m->buf_addr + m->data_off;
}

struct rte_mbuf *packet_box_new(struct packet_box *box)
{
	struct rte_mbuf *m;

	if (box->limit && box->out >= box->limit)
		return NULL;
	m = aligned_alloc(64, (sizeof(*m) + HEADROOM + box->room + 63u) & ~(size_t)63);
	if (!m)
		return NULL;
	memset(m, FILL, sizeof(*m) + HEADROOM + box->room);
	memset(m, 0, sizeof(*m));
	/* The room ends where the block ends: one byte too many is one too many for the sanitizer.
	 * Of an odd room one byte is left over: headers begin at even addresses. */
	m->buf_addr = (char *)(m + 1) + (-(HEADROOM + box->room) & 62);
	m->buf_len = (uint16_t)(HEADROOM + box->room);
	m->data_off = HEADROOM;
	m->nb_segs = 1;
	m->port = UINT16_MAX;
	m->refcnt = 1;
	box->out++;
	box->made++;
	return m;
}

struct rte_mbuf *packet_box_copy(struct packet_box *box, const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = packet_box_new(box);
	uint16_t length = 0;

	if (!copy)
		return NULL;
	require(m->pkt_len <= box->room);
	for (const struct rte_mbuf *s = m; s; s = s->next) {
		memcpy((char *)frame_of(copy) + length, frame_of(s), s->data_len);
		length = (uint16_t)(length + s->data_len);
	}
	copy->data_len = length;
	copy->pkt_len = length;
	return copy;
}

void packet_box_free(struct packet_box *box, struct rte_mbuf *m)
{
	while (m) {
		struct rte_mbuf *next = m->next;

		require(m->refcnt == 1 && box->out > 0);
		box->out--;
		free(m);
		m = next;
	}
}

/* One at a time: the stock is small, and no test depends on how many blanks a refill brings. */
static uint32_t tx_refill(struct tx *tx)
{
	struct packet_tx *t = (struct packet_tx *)tx;

	t->stock = packet_box_new(t->box);
	tx->blanks = t->stock ? 1 : 0;
	return tx->blanks;
}

static uint32_t tx_refill_pieces(struct tx *tx)
{
	struct packet_tx *t = (struct packet_tx *)tx;

	t->piece = packet_box_new(t->box);
	tx->pieces = t->piece ? 1 : 0;
	return tx->pieces;
}

static void tx_release(struct tx *tx, struct rte_mbuf *m)
{
	packet_box_free(((struct packet_tx *)tx)->box, m);
}

int packet_tx_open(struct packet_tx *t, struct packet_box *box, uint32_t capacity)
{
	*t = (struct packet_tx){.box = box, .queue = calloc(capacity, sizeof(*t->queue))};
	t->tx = (struct tx){.queue = t->queue,
			    .capacity = capacity,
			    .blank = &t->stock,
			    .refill = tx_refill,
			    .piece = &t->piece,
			    .piece_min = UINT32_MAX,
			    .refill_pieces = tx_refill_pieces,
			    .release = tx_release};
	return t->queue ? 0 : -1;
}

void packet_tx_close(struct packet_tx *t)
{
	while (t->tx.count)
		packet_box_free(t->box, t->queue[--t->tx.count]);
	while (t->tx.blanks)
		packet_box_free(t->box, t->tx.blank[--t->tx.blanks]);
	while (t->tx.pieces)
		packet_box_free(t->box, t->tx.piece[--t->tx.pieces]);
	free(t->queue);
	*t = (struct packet_tx){0};
}
