/* Segments that came before their turn: kept in the packets they came in, by sequence number, until
 * the gap before them is filled (RFC 9293 section 3.10.7.4). The number is bounded per connection
 * and per engine; what is not kept, the peer repeats.
 *
 * A packet is kept as it came, chains too. What is to be known of it takes the place of what a NIC
 * says of received packets and nobody reads any more: hash.fdir has the sequence number of its
 * payload and where that begins, pkt_len how long it is, packet_type a FIN, and tx_offload links to
 * the following one, as `next` may be a chain's. */
#include "core.h"

#include <string.h>

#define KEPT_PER_CONN 256

static uint32_t kept_begin(const struct rte_mbuf *m)
{
	return m->hash.fdir.lo;
}

static uint32_t kept_end(const struct rte_mbuf *m)
{
	return m->hash.fdir.lo + m->pkt_len;
}

static struct rte_mbuf *kept_next(const struct rte_mbuf *m)
{
	return (struct rte_mbuf *)(uintptr_t)m->tx_offload;
}

static void kept_link(struct rte_mbuf *m, struct rte_mbuf *next)
{
	m->tx_offload = (uintptr_t)next;
}

static void kept_make(struct rte_mbuf *m, const struct segment *seg)
{
	m->hash.fdir.lo = seg->seq;
	m->hash.fdir.hi = seg->offset;
	m->pkt_len = seg->len;
	m->packet_type = seg->flags & TCP_FIN;
}

bool reassembly_keep(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct rte_mbuf *m = segment_mbuf(seg), *before = NULL, *next;
	struct side *side;

	if (s->kept >= s->kept_max || (!c->has_side && !sender_borrow(s, c, seg)))
		return false;
	side = table_side(&s->table, c);
	if (side->kept_count >= KEPT_PER_CONN)
		return false;
	for (next = side->kept; next && !seq_lt(seg->seq, kept_begin(next));
	     next = kept_next(next)) {
		if (!seq_lt(kept_end(next), seg->seq + seg->len))
			return false; /* all of it is here already */
		before = next;
	}
	rx_take(seg->rx, seg->index);
	kept_make(m, seg);
	kept_link(m, next);
	if (before)
		kept_link(before, m);
	else
		side->kept = m;
	side->kept_latest = seg->seq;
	side->kept_count++;
	s->kept++;
	return true;
}

static struct rte_mbuf *kept_unlink(struct stateful *s, struct side *side)
{
	struct rte_mbuf *m = side->kept;

	side->kept = kept_next(m);
	m->tx_offload = 0;
	side->kept_count--;
	s->kept--;
	return m;
}

struct rte_mbuf *reassembly_next(struct stateful *s, struct conn *c, const struct segment *seg,
				 struct segment *kept)
{
	struct side *side = table_side(&s->table, c);
	struct rte_mbuf *m;
	uint32_t old;

	if (!side->kept || seq_lt(c->rcv_nxt, kept_begin(side->kept)))
		return NULL;
	m = kept_unlink(s, side);
	old = RTE_MIN(c->rcv_nxt - kept_begin(m), m->pkt_len);
	*kept = *seg;
	kept->data = m;
	kept->offset = m->hash.fdir.hi + old;
	kept->seq = kept_begin(m) + old;
	kept->len = m->pkt_len - old;
	kept->flags = (uint8_t)(TCP_ACK | m->packet_type);
	if (kept->seq != c->rcv_nxt) /* received otherwise meanwhile, FIN and all */
		kept->flags = TCP_ACK;
	return m;
}

void reassembly_free(struct stateful *s, struct side *side)
{
	while (side->kept)
		s->tx->release(s->tx, kept_unlink(s, side));
}

unsigned reassembly_blocks(const struct side *side, struct sack_range *block, unsigned most)
{
	unsigned count = 0;

	for (const struct rte_mbuf *m = side->kept; m;) {
		struct sack_range range = {kept_begin(m), kept_end(m)};

		for (m = kept_next(m); m && !seq_lt(range.end, kept_begin(m)); m = kept_next(m))
			if (seq_lt(range.end, kept_end(m)))
				range.end = kept_end(m);
		if (!seq_lt(side->kept_latest, range.begin) &&
		    seq_lt(side->kept_latest, range.end)) {
			count -= count == most;
			memmove(block + 1, block, count++ * sizeof(*block));
			block[0] = range;
		} else if (count < most) {
			block[count++] = range;
		}
	}
	return count;
}
