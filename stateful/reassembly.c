/* Segments that came before their turn: kept in the packets they came in, by sequence number, until
 * the gap before them is filled (RFC 9293 section 3.10.7.4). The number is bounded per connection
 * and per engine; what is not kept, the peer repeats.
 *
 * A kept packet is cut down to its payload; its sequence number lies in hash.rss, a FIN in
 * packet_type, and `next` links to the following one. Only packets of one segment are kept. */
#include "core.h"

#include <string.h>

#define KEPT_PER_CONN 256

static uint32_t kept_begin(const struct rte_mbuf *m)
{
	return m->hash.rss;
}

static uint32_t kept_end(const struct rte_mbuf *m)
{
	return m->hash.rss + m->data_len;
}

static void kept_make(struct rte_mbuf *m, const struct segment *seg)
{
	m->data_off = (uint16_t)(m->data_off + seg->offset);
	m->data_len = (uint16_t)seg->len;
	m->pkt_len = seg->len;
	m->hash.rss = seg->seq;
	m->packet_type = seg->flags & TCP_FIN;
}

bool reassembly_keep(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct rte_mbuf *m = segment_mbuf(seg), **place;
	struct side *side;

	if (m->nb_segs != 1 || s->kept >= s->kept_max ||
	    (!c->has_side && !sender_borrow(s, c, seg)))
		return false;
	side = table_side(&s->table, c);
	if (side->kept_count >= KEPT_PER_CONN)
		return false;
	for (place = &side->kept; *place && !seq_lt(seg->seq, kept_begin(*place));
	     place = &(*place)->next)
		if (!seq_lt(kept_end(*place), seg->seq + seg->len))
			return false; /* all of it is here already */
	rx_take(seg->rx, seg->index);
	kept_make(m, seg);
	m->next = *place;
	*place = m;
	side->kept_latest = seg->seq;
	side->kept_count++;
	s->kept++;
	return true;
}

static struct rte_mbuf *kept_unlink(struct stateful *s, struct side *side)
{
	struct rte_mbuf *m = side->kept;

	side->kept = m->next;
	m->next = NULL;
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
	old = RTE_MIN(c->rcv_nxt - kept_begin(m), (uint32_t)m->data_len);
	*kept = *seg;
	kept->data = m;
	kept->offset = old;
	kept->seq = kept_begin(m) + old;
	kept->len = m->data_len - old;
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

		for (m = m->next; m && !seq_lt(range.end, kept_begin(m)); m = m->next)
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
