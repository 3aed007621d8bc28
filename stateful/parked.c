/* Segments that found no side record free: they are parked in the order of their coming until some
 * are, and are then looked at as if they came only now, which any network may do to a segment. So
 * an empty pool makes exchanges slower and breaks none. A peer left to its time-outs, each twice as
 * long as the one before, would wait for minutes, and in no order. What is parked goes before what
 * comes later.
 *
 * A server whose every response takes a record lets SYNs wait, too, as a client of such responses
 * opens no further connection: behind all other segments, since those belong to what has begun.
 *
 * Rejected: no more than refusing; a record of its own for a response not begun, which helps
 * neither requests nor responses that come in several segments. */
#include "core.h"

#define PARKED_MAX      128u /* of each kind */
#define PARKED_PER_POLL 32u

struct parked {
	struct rte_mbuf *m;
	struct view view;
	struct tuple tuple;
	uint32_t seq;
};

size_t parked_reserve(void)
{
	return PARKED_KINDS * (PARKED_MAX * sizeof(struct parked) + 64);
}

int parked_init(struct stateful *s, struct arena *arena)
{
	for (unsigned i = 0; i < PARKED_KINDS; i++) {
		s->parked[i].segment = arena_take(arena, PARKED_MAX * sizeof(struct parked));
		if (!s->parked[i].segment)
			return -1;
	}
	return 0;
}

static struct parked *parked_at(const struct parked_line *line, uint32_t i)
{
	return &line->segment[(line->head + i) % PARKED_MAX];
}

/* The peer repeats what waits. */
static bool is_parked(const struct parked_line *line, const struct segment *seg)
{
	for (uint32_t i = 0; i < line->count; i++) {
		const struct parked *p = parked_at(line, i);

		if (p->seq == seg->seq && tuple_equal(&p->tuple, &seg->tuple))
			return true;
	}
	return false;
}

bool parked_add(struct stateful *s, enum parked_kind kind, struct segment *seg)
{
	struct parked_line *line = &s->parked[kind];

	if (seg->data != segment_mbuf(seg) || line->count == PARKED_MAX || is_parked(line, seg))
		return false;
	*parked_at(line, line->count++) = (struct parked){.m = rx_take(seg->rx, seg->index),
							  .view = seg->rx->view[seg->index],
							  .tuple = seg->tuple,
							  .seq = seg->seq};
	s->counters->value[COUNTER_SIDE_WAIT]++;
	return true;
}

/* Handshakes under way will take a record each. */
static bool syn_may_go(const struct stateful *s)
{
	uint64_t taken = s->table.side_live;

	for (unsigned i = 0; i < s->entries; i++)
		if (s->entry[i].needs_side && !s->entry[i].client)
			taken += s->entry[i].connecting;
	return taken < s->table.side_high;
}

bool parked_awaits(const struct stateful *s, const struct entry *e)
{
	return e->needs_side && !s->unparking && (s->parked[PARKED_SYN].count || !syn_may_go(s));
}

static bool data_is_due(const struct stateful *s)
{
	return s->parked[PARKED_DATA].count && s->table.side_live < s->table.side_capacity;
}

static bool syn_is_due(const struct stateful *s)
{
	return !s->parked[PARKED_DATA].count && s->parked[PARKED_SYN].count && syn_may_go(s);
}

bool parked_is_due(const struct stateful *s)
{
	return data_is_due(s) || syn_is_due(s);
}

static void line_go(struct stateful *s, enum parked_kind kind)
{
	struct parked_line *line = &s->parked[kind];
	struct parked *first = parked_at(line, 0);
	struct rx_burst rx = {.count = 1, .pkt = {first->m}, .view = {first->view}};

	line->head = (line->head + 1) % PARKED_MAX;
	line->count--;
	input_burst(s, &rx);
	if (rx.pkt[0])
		s->tx->release(s->tx, rx.pkt[0]);
}

void parked_poll(struct stateful *s)
{
	s->unparking = true;
	for (unsigned n = 0; n < PARKED_PER_POLL && tx_open(s) && parked_is_due(s); n++)
		line_go(s, data_is_due(s) ? PARKED_DATA : PARKED_SYN);
	s->unparking = false;
}

void parked_settle(struct stateful *s)
{
	for (unsigned kind = 0; kind < PARKED_KINDS; kind++) {
		struct parked_line *line = &s->parked[kind];

		while (line->count)
			s->tx->release(s->tx, parked_at(line, --line->count)->m);
	}
}
