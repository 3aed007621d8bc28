/* The engine: a pure function of (its state, packets in, now), and the two bursts it works on.
 *
 * Four callers drive the same object: a worker on a port, the simulated network, offline replay and
 * the tests. An engine reads no clock, owns no port, prints nothing, and allocates only while it is
 * made. `now` is in ns, from any origin, and never goes back.
 *
 * Packets are plain `struct rte_mbuf`. Whoever drives the engine owns pool and port:
 *
 *     rx_burst  received packets with their views. The engine takes those it keeps or turns round
 *               (rx_take: the slot becomes NULL), and writes a drop reason for those it refuses.
 * The driver counts the reasons and frees what is left. tx        finished packets go to tx_push(),
 * blank ones come from tx_new().
 */
#ifndef BASE_ENGINE_H
#define BASE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf_core.h>

#include "view.h"

#define RX_BURST_MAX 64

struct rx_burst {
	unsigned count;
	struct rte_mbuf *pkt[RX_BURST_MAX]; /* NULL: taken */
	struct view view[RX_BURST_MAX];
	uint8_t reason[RX_BURST_MAX]; /* enum drop, DROP_NONE on entry */
};

/* Take packet i out of the burst: it is the caller's now. */
static inline struct rte_mbuf *rx_take(struct rx_burst *rx, unsigned i)
{
	struct rte_mbuf *m = rx->pkt[i];

	rx->pkt[i] = NULL;
	return m;
}

/* Move what an engine did not know - UDP of none of its sockets - and what it is not to look at
 * into another burst, for the next engine. */
static inline void rx_pass_on(struct rx_burst *from, struct rx_burst *to)
{
	unsigned left = 0;

	to->count = 0;
	for (unsigned i = 0; i < from->count; i++) {
		bool on = from->reason[i] == DROP_UDP_NO_PORT || from->reason[i] == DROP_UDP_CSUM;
		struct rx_burst *into = on ? to : from;
		unsigned at = on ? to->count++ : left++;

		into->pkt[at] = from->pkt[i];
		into->view[at] = from->view[i];
		into->reason[at] =
			from->reason[i] == DROP_UDP_NO_PORT ? DROP_NONE : from->reason[i];
	}
	from->count = left;
}

struct tx {
	struct rte_mbuf **queue; /* finished packets, in order */
	uint32_t count;
	uint32_t capacity;       /* of queue */
	struct rte_mbuf **blank; /* stock of blank packets, single-segment, reset */
	uint32_t blanks;
	/* Pieces: packets without memory of their own, for payload that lies somewhere else. Where
	 * a driver has none, piece_min is UINT32_MAX. */
	struct rte_mbuf **piece;
	uint32_t pieces;
	uint32_t piece_min; /* payloads of fewer bytes cost less to copy */
	uint32_t refused;   /* pushed with no room; the driver frees and counts them */
	/* Put blanks into stock; returns how many there are now, 0 when the pool is empty. */
	uint32_t (*refill)(struct tx *);
	uint32_t (*refill_pieces)(struct tx *);
	/* Give one packet back that was taken and will not be sent. */
	void (*release)(struct tx *, struct rte_mbuf *);
};

/* How many more packets fit. A launcher or a bulk sender stops at its reserve: replies come first.
 */
static inline uint32_t tx_room(const struct tx *tx)
{
	return tx->capacity - tx->count;
}

/* Is there a blank packet? */
static inline bool tx_stocked(struct tx *tx)
{
	return __builtin_expect(tx->blanks != 0, 1) || tx->refill(tx);
}

/* A blank packet (data_off at the usual headroom, lengths 0), or NULL: try again next step. */
static inline struct rte_mbuf *tx_new(struct tx *tx)
{
	if (__builtin_expect(!tx->blanks, 0) && !tx->refill(tx))
		return NULL;
	return tx->blank[--tx->blanks];
}

/* A piece, to be made the second segment of a packet: its data are `length` bytes at `data`, which
 * nobody writes to and which outlive the port. NULL: copy them. */
static inline struct rte_mbuf *tx_piece(struct tx *tx, const void *data, uint16_t length)
{
	struct rte_mbuf *m;

	if (__builtin_expect(!tx->pieces, 0) && !tx->refill_pieces(tx))
		return NULL;
	m = tx->piece[--tx->pieces];
	m->buf_addr = (void *)(uintptr_t)data;
	m->data_off = 0;
	m->buf_len = m->data_len = length;
	m->pkt_len = length;
	return m;
}

/* The one just taken is not needed after all. */
static inline void tx_piece_return(struct tx *tx)
{
	tx->pieces++;
}

/* Queue a finished packet. Without room it is given back and counted as refused. */
static inline void tx_push(struct tx *tx, struct rte_mbuf *m)
{
	if (__builtin_expect(tx->count == tx->capacity, 0)) {
		tx->refused++;
		tx->release(tx, m);
		return;
	}
	tx->queue[tx->count++] = m;
}

#define ENGINE_NEVER UINT64_MAX
#define DESCRIBE_MAX 256

struct engine;
struct engine_ops {
	/* Load begins: the schedule's time zero is `now`. Called once. */
	void (*start)(struct engine *, uint64_t now);
	/* Consume received packets, queue replies. */
	void (*input)(struct engine *, struct rx_burst *, struct tx *, uint64_t now);
	/* Look at received packets as they are, unparsed: where all of them are a replay's. NULL:
	 * such an engine has none. */
	void (*listen)(struct engine *, struct rte_mbuf *const *, unsigned count, uint64_t now);
	/* A router's word about a packet that it did not forward; false when it is not about one
	 * of this engine's. NULL: the engine does not care. */
	bool (*unreachable)(struct engine *, const struct rte_mbuf *, const struct view *,
			    struct tx *, uint64_t now);
	/* Timers and launches; returns when it wants to be called next at the latest. */
	uint64_t (*poll)(struct engine *, struct tx *, uint64_t now);
	/* Open nothing new, bring what is open to its end: by FIN, from `deadline` on by RST. */
	void (*drain)(struct engine *, uint64_t now, uint64_t deadline);
	/* The run is over, nothing is sent or received any more: end what is still open, each by
	 * its reason. NULL: such an engine keeps nothing open. */
	void (*settle)(struct engine *);
	/* Nothing is open and nothing is left to send. */
	bool (*idle)(const struct engine *);
	/* Memory in use by connections now (tables and indexes, touched pages), and connections
	 * open. */
	void (*usage)(const struct engine *, uint64_t *bytes, uint64_t *connections);
	/* The state, as it is now, of what a refused packet was about, in words for the comment of
	 * its sample, into DESCRIBE_MAX bytes. NULL: nothing to say. */
	void (*describe)(const struct engine *, const struct rte_mbuf *, const struct view *,
			 char *text, size_t size);
};

struct engine {
	const struct engine_ops *ops;
};

#endif
