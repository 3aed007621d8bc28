/* One TCP connection of a recording, put together from its segments.
 *
 * Bytes go to where their sequence number says; what is passed over is a hole until it comes. A
 * turn begins with new bytes at the end of the stream whose segment acknowledges more than the one
 * before, or that come after a pause. Bytes that fill a hole later are of the turn in whose range
 * they lie, and a hole in front of a turn is the turn's: nothing is said before its cause was
 * heard.
 *
 * Rejected: turns in the order of the recording (what both said at once would wait for each other),
 * and segments instead of streams (their sizes are the network's, not the application's). */
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/base/checksum.h"

#define PAUSE_NS    1000000u
#define THINK_LEAST 100000u
#define LEAP_MAX    (64u << 20) /* a sequence number further ahead is not of this connection */
#define ROOM_LEAST  64u
#define NO_REFUSAL  SCRIPT_REFUSALS

static void *grow(struct flow *f, void *old, uint32_t *room, uint32_t need, size_t each)
{
	uint64_t more = *room ? *room : (each == 1 ? ROOM_LEAST : 2);
	void *grown;

	while (more < need)
		more += more / 2;
	grown = realloc(old, more * each);
	if (!grown)
		return NULL;
	f->taken += (more - *room) * each;
	*room = (uint32_t)more;
	return grown;
}

/* What lies in no hole, in sequence space. */
static uint32_t side_end(const struct flow_side *side)
{
	return side->end + side->fin;
}

static int turn_add(struct flow *f, struct flow_side *side, struct script_turn turn)
{
	if (side->turns == side->turns_room) {
		struct script_turn *grown =
			grow(f, side->turn, &side->turns_room, side->turns + 1, sizeof(*grown));

		if (!grown)
			return -1;
		side->turn = grown;
	}
	side->turn[side->turns++] = turn;
	return 0;
}

/* From when need was met, or the side's own last words. What lay unacknowledged between says
 * nothing of when it was heard. */
static uint64_t think_time(const struct flow *f, unsigned from, uint32_t need, bool heard_more,
			   uint64_t now)
{
	const struct flow_side *side = &f->side[from], *other = &f->side[!from];
	uint64_t since = side->last_ns, wait;

	if (heard_more && need != side_end(other))
		return 0;
	if (heard_more && other->last_ns + side->round_ns > since)
		since = other->last_ns + side->round_ns;
	wait = now > since ? now - since : 0;
	return wait < THINK_LEAST ? 0 : wait;
}

/* New bytes, or a FIN or RST, at the end of the stream: does a turn begin? */
static int side_speaks(struct flow *f, unsigned from, const struct flow_segment *s,
		       enum script_what what)
{
	struct flow_side *side = &f->side[from], *other = &f->side[!from];
	const struct script_turn *last = side->turns ? &side->turn[side->turns - 1] : NULL;
	uint32_t need = last ? last->need : 0;
	bool more = !last, paused;

	if (s->flags & FLOW_ACK && other->based && (int32_t)(s->ack - other->base - need) > 0) {
		need = s->ack - other->base;
		more = true;
	}
	paused = s->time_ns > f->last_ns + side->round_ns + PAUSE_NS;
	if (!more && !paused && what == SCRIPT_DATA && last->what == SCRIPT_DATA)
		return 0;
	return turn_add(
		f, side,
		(struct script_turn){
			.wait = more || paused ? think_time(f, from, need, more, s->time_ns) : 0,
			.until = side->end,
			.need = need,
			.what = what});
}

static int hole_add(struct flow *f, struct flow_side *side, uint32_t begin, uint32_t end)
{
	struct flow_hole *grown;

	if (side->holes == FLOW_HOLES_MAX)
		return 0; /* the last one stays open */
	if (!side->hole) {
		grown = malloc(FLOW_HOLES_MAX * sizeof(*grown));
		if (!grown)
			return -1;
		f->taken += FLOW_HOLES_MAX * sizeof(*grown);
		side->hole = grown;
	}
	if (side->holes == FLOW_HOLES_MAX - 1) /* this one will: it has no end */
		end = UINT32_MAX;
	side->hole[side->holes++] = (struct flow_hole){begin, end};
	return 0;
}

static void hole_remove(struct flow_side *side, uint32_t i)
{
	side->holes--;
	memmove(&side->hole[i], &side->hole[i + 1], (side->holes - i) * sizeof(*side->hole));
}

/* Of bytes that lie before the end, take those that lie in holes. */
static int holes_fill(struct flow *f, struct flow_side *side, uint32_t at, const uint8_t *bytes,
		      uint32_t length)
{
	for (uint32_t i = side->holes; i-- > 0;) {
		struct flow_hole hole = side->hole[i];
		uint32_t begin = at > hole.begin ? at : hole.begin;
		uint32_t end = at + length < hole.end ? at + length : hole.end;

		if (begin >= end || hole.end == UINT32_MAX)
			continue;
		memcpy(side->bytes + begin, bytes + (begin - at), end - begin);
		hole_remove(side, i);
		if (hole.begin < begin && hole_add(f, side, hole.begin, begin))
			return -1;
		if (end < hole.end && hole_add(f, side, end, hole.end))
			return -1;
	}
	return 0;
}

/* Bytes behind the end, perhaps with a hole before them. */
static int side_append(struct flow *f, unsigned from, const struct flow_segment *s, uint32_t at,
		       const uint8_t *bytes, uint32_t length)
{
	struct flow_side *side = &f->side[from];

	if (at + (uint64_t)length > SCRIPT_STREAM_MAX) {
		side->too_long = true;
		return 0;
	}
	if (at + length > side->room) {
		uint8_t *grown = grow(f, side->bytes, &side->room, at + length, 1);

		if (!grown)
			return -1;
		side->bytes = grown;
	}
	if (side_speaks(f, from, s, SCRIPT_DATA))
		return -1;
	if (at > side->end) {
		memset(side->bytes + side->end, 0, at - side->end);
		if (hole_add(f, side, side->end, at))
			return -1;
	}
	memcpy(side->bytes + at, bytes, length);
	side->end = at + length;
	side->turn[side->turns - 1].until = side->end;
	side->last_ns = s->time_ns;
	return 0;
}

static int payload_take(struct flow *f, unsigned from, const struct flow_segment *s, uint32_t seq)
{
	struct flow_side *side = &f->side[from];
	const uint8_t *bytes = s->payload;
	uint32_t length = s->captured < s->length ? s->captured : s->length;
	int32_t at = (int32_t)(seq - side->base);
	uint32_t old;

	old = at < 0 ? 0 - (uint32_t)at : 0; /* before the beginning */
	if (old >= length)
		return 0;
	bytes += old;
	length -= old;
	at += (int32_t)old;
	if ((uint32_t)at > side->end + LEAP_MAX)
		return 0;
	old = (uint32_t)at < side->end ? side->end - (uint32_t)at : 0;
	if (old > length)
		old = length;
	if (old && holes_fill(f, side, (uint32_t)at, bytes, old))
		return -1;
	if (old == length || side->fin)
		return 0;
	return side_append(f, from, s, (uint32_t)at + old, bytes + old, length - old);
}

static int fin_take(struct flow *f, unsigned from, const struct flow_segment *s, uint32_t seq)
{
	struct flow_side *side = &f->side[from];
	uint32_t at = seq + s->length - side->base;

	if (side->fin || at < side->end || at > side->end + LEAP_MAX || at > SCRIPT_STREAM_MAX)
		return 0;
	if (at > side->room) { /* what is before it was not seen */
		uint8_t *grown = grow(f, side->bytes, &side->room, at, 1);

		if (!grown)
			return -1;
		side->bytes = grown;
	}
	if (at > side->end && hole_add(f, side, side->end, at))
		return -1;
	if (at > side->end && side->turns)
		side->turn[side->turns - 1].until = at;
	side->end = at;
	if (side_speaks(f, from, s, SCRIPT_FIN))
		return -1;
	side->fin = true;
	side->last_ns = s->time_ns;
	return 0;
}

/* The handshake: sequence numbers, and the round trips to both ends. */
static void syn_take(struct flow *f, unsigned from, const struct flow_segment *s)
{
	struct flow_side *side = &f->side[from];

	if (from == SCRIPT_CLIENT && !f->begun) {
		f->begun = true;
		f->syn = s->seq;
		f->syn_ns = s->time_ns;
	} else if (from == SCRIPT_SERVER && s->flags & FLOW_ACK && f->begun && !f->answered) {
		f->answered = true;
		f->answer_ns = s->time_ns;
		side->round_ns = s->time_ns - f->syn_ns;
	}
	if (!side->based) {
		side->based = true;
		side->base = s->seq + 1;
		side->last_ns = s->time_ns;
	}
}

bool flow_is_over(const struct flow *f)
{
	return f->reset || (f->side[0].fin && f->side[1].fin);
}

static int reset_take(struct flow *f, unsigned from, const struct flow_segment *s)
{
	if (flow_is_over(f) || !f->answered)
		return 0;
	f->reset = true;
	return side_speaks(f, from, s, SCRIPT_RST);
}

int flow_take(struct flow *f, unsigned from, const struct flow_segment *s)
{
	struct flow_side *side = &f->side[from], *other = &f->side[!from];
	uint32_t seq = s->seq + !!(s->flags & FLOW_SYN);
	int failed = 0;

	if (f->reset)
		return 0;
	if (s->flags & FLOW_SYN)
		syn_take(f, from, s);
	else if (from == SCRIPT_CLIENT && f->answered && !f->acknowledged) {
		f->acknowledged = true;
		side->round_ns = s->time_ns - f->answer_ns;
		side->last_ns = s->time_ns;
	}
	if (s->flags & FLOW_RST)
		failed = reset_take(f, from, s);
	else if (side->based)
		failed = payload_take(f, from, s, seq) ||
			 (s->flags & FLOW_FIN && fin_take(f, from, s, seq));
	side->truncated |= s->captured < s->length && side->based;
	if (s->flags & FLOW_ACK && other->based &&
	    (int32_t)(s->ack - other->base - other->acked) > 0)
		other->acked = s->ack - other->base;
	f->last_ns = s->time_ns;
	return failed ? -1 : 0;
}

/* Play it without a network: does it come to its end? */
static bool order_is_right(const struct script *script)
{
	uint32_t said[2] = {0, 0}, at[2] = {0, 0};
	bool moved = true;

	while (moved) {
		moved = false;
		for (unsigned i = 0; i < 2; i++) {
			const struct script_side *side = &script->side[i];

			while (at[i] < side->turns && side->turn[at[i]].need <= said[!i]) {
				const struct script_turn *turn = &side->turn[at[i]++];

				if (turn->what == SCRIPT_RST)
					return true;
				said[i] = turn->until + (turn->what == SCRIPT_FIN);
				moved = true;
			}
		}
	}
	return at[0] == script->side[0].turns && at[1] == script->side[1].turns;
}

/* Whoever has not closed does so at the end: the client first. */
static int ends_add(struct flow *f, bool *unended)
{
	*unended = !f->reset && !f->side[0].fin && !f->side[1].fin;
	for (unsigned i = 0; i < 2 && !f->reset; i++) {
		struct flow_side *side = &f->side[i];
		uint32_t need = side->turns ? side->turn[side->turns - 1].need : 0;

		if (side->fin)
			continue;
		if (side_end(&f->side[!i]) > need)
			need = side_end(&f->side[!i]);
		if (turn_add(f, side,
			     (struct script_turn){
				     .until = side->end, .need = need, .what = SCRIPT_FIN}))
			return -1;
		side->fin = true;
	}
	return 0;
}

static enum script_refused holes_check(const struct flow *f, char *why, size_t size)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct flow_side *side = &f->side[i];
		uint32_t end;

		if (!side->holes)
			continue;
		end = side->hole[0].end < side->end ? side->hole[0].end : side->end;
		snprintf(why, size, "%u bytes of the %s are missing behind its first %u",
			 end - side->hole[0].begin, i ? "server" : "client", side->hole[0].begin);
		return f->side[0].truncated || f->side[1].truncated ? SCRIPT_REFUSED_TRUNCATED
								    : SCRIPT_REFUSED_GAP;
	}
	return NO_REFUSAL;
}

/* A connection that acknowledges what the recording never shows has lost its end; where that is a
 * FIN, nothing was said that is missing. */
static enum script_refused acks_check(struct flow *f, char *why, size_t size)
{
	for (unsigned i = 0; i < 2; i++) {
		struct flow_side *side = &f->side[i], *other = &f->side[!i];
		uint32_t end = side_end(side);

		if (side->acked == end + 1 && !side->fin) {
			for (uint32_t t = 0; t < other->turns; t++)
				if (other->turn[t].need > end)
					other->turn[t].need = end;
			continue;
		}
		if (side->acked <= end)
			continue;
		snprintf(why, size, "%u bytes of the %s are missing behind its first %u",
			 side->acked - end, i ? "server" : "client", side->end);
		return side->truncated ? SCRIPT_REFUSED_TRUNCATED : SCRIPT_REFUSED_GAP;
	}
	return NO_REFUSAL;
}

static void side_script(const struct flow_side *side, struct script_side *to)
{
	*to = (struct script_side){.bytes = (const char *)side->bytes,
				   .sum = side->end ? checksum_sum(side->bytes, side->end) : 0,
				   .length = side->end,
				   .turn = side->turn,
				   .turns = side->turns};
	to->resets = side->turns && side->turn[side->turns - 1].what == SCRIPT_RST;
}

enum script_refused flow_end(struct flow *f, struct script *script, bool *unended, char *why,
			     size_t size)
{
	enum script_refused refused;

	*why = '\0';
	*unended = false;
	if (!f->begun)
		return SCRIPT_REFUSED_BEGIN;
	if (!f->answered)
		return SCRIPT_REFUSED_UNANSWERED;
	if (f->side[0].too_long || f->side[1].too_long)
		return SCRIPT_REFUSED_SIZE;
	refused = holes_check(f, why, size);
	if (refused == NO_REFUSAL)
		refused = acks_check(f, why, size);
	if (refused != NO_REFUSAL)
		return refused;
	if (ends_add(f, unended))
		return SCRIPT_REFUSED_SIZE;
	for (unsigned i = 0; i < 2; i++)
		side_script(&f->side[i], &script->side[i]);
	return order_is_right(script) ? NO_REFUSAL : SCRIPT_REFUSED_ORDER;
}

void flow_free(struct flow *f)
{
	for (unsigned i = 0; i < 2; i++) {
		free(f->side[i].bytes);
		free(f->side[i].hole);
		free(f->side[i].turn);
	}
}
