/* Conversations: both sides of a script, over TCP as everything else.
 *
 * What is sent is one message per side and connection, of which a turn lets the sender go further;
 * what comes is compared with the far end's stream as it comes. So a connection keeps but its
 * script, how many turns are done, how much was heard, and when the next turn is due: a side record
 * for life. Think times use the wheel's entry for those (conn.app), which is exact; a turn that
 * waits for nothing goes out in the packet that let it.
 *
 * Which script does the server play? The client's initial sequence number ends in its number, which
 * bridges, routers and NAT leave alone. Behind a proxy it is another number: so at the first byte
 * that differs, the server turns to a script in which both sides have said the same until now and
 * whose client goes on like that. They are found among the clients' streams, sorted.
 *
 * Rejected: telling scripts by the client's address or port (NAT), a server port for each (one
 * listener is what a device has), the order of their beginning (packets overtake). */
#include "core.h"

#include <string.h>

static const struct script *script_of(const struct stateful *s, const struct conn *c)
{
	return &conn_entry(s, c)->scripts->script[table_side(&s->table, c)->script];
}

static const struct script_side *own_of(const struct entry *e, const struct script *script)
{
	return &script->side[e->client ? SCRIPT_CLIENT : SCRIPT_SERVER];
}

static const struct script_side *far_of(const struct entry *e, const struct script *script)
{
	return &script->side[e->client ? SCRIPT_SERVER : SCRIPT_CLIENT];
}

const struct message *conversation_message(struct entry *e, const struct side *side)
{
	const struct script_side *own = own_of(e, &e->scripts->script[side->script]);

	e->messages.message[0] =
		(struct message){.whole = own->bytes, .whole_sum = own->sum, .length = own->length};
	return e->messages.message;
}

size_t conversation_reserve(const struct config_traffic *t)
{
	return VARIANT_COUNT * sizeof(struct message) +
	       t->conversation.files * sizeof(struct ring) + 2 * 64;
}

int conversation_make(struct entry *e, const struct script_set *set, struct arena *arena)
{
	struct message_set *messages = &e->messages;

	e->scripts = set;
	*messages = (struct message_set){
		.contents = set->scripts, .rings = set->files, .longest = set->longest};
	messages->message = arena_take(arena, VARIANT_COUNT * sizeof(*messages->message));
	messages->ring = arena_take(arena, set->files * sizeof(*messages->ring));
	if (!messages->message || !messages->ring)
		return -1;
	for (unsigned i = 0; i < set->files; i++)
		messages->ring[i] = (struct ring){
			.first = set->file[i].first, .count = set->file[i].count, .weight = 1};
	while (e->script_mask < set->scripts - 1)
		e->script_mask = 2 * e->script_mask + 1;
	/* the far end may think as long before it is late */
	e->timeout += RTE_MIN(set->longest_wait, UINT64_MAX - e->timeout);
	return 0;
}

void conversation_number(struct entry *e, struct conn *c)
{
	c->snd_nxt = (c->snd_nxt & ~e->script_mask) | client_pick(e);
}

void conversation_begin(struct stateful *s, struct conn *c, const struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	struct side *side = table_side(&s->table, c);
	uint32_t isn = seg ? seg->seq : c->snd_nxt - 1;

	side->scripted = 1;
	side->script = (isn & e->script_mask) % e->scripts->scripts;
	side->started = s->time;
}

/* A script's client stream beside `length` bytes, the first `same` of which are those of the stream
 * `as`. */
static int stream_compare(const struct script_side *stream, const char *as, uint32_t same,
			  const char *bytes, uint32_t length)
{
	uint32_t first = RTE_MIN(same, stream->length);
	uint32_t rest = RTE_MIN(length, stream->length - first);
	int order = first ? memcmp(stream->bytes, as, first) : 0;

	if (!order && rest)
		order = memcmp(stream->bytes + first, bytes, rest);
	if (order)
		return order;
	return stream->length < same + length ? -1 : 0;
}

/* How many turns were done to get so far with the own stream. */
static uint32_t turns_done(const struct script_side *own, uint32_t given)
{
	uint32_t turn = 0;

	while (turn < own->turns && own->turn[turn].what == SCRIPT_DATA &&
	       own->turn[turn].until <= given)
		turn++;
	return turn;
}

/* The same of a turn of `script`: the server has said what it says there. */
static bool said_the_same(const struct script_side *a, const struct script_side *b, uint32_t given)
{
	return a->length >= given && (!given || !memcmp(a->bytes, b->bytes, given));
}

/* The client goes on otherwise than the script has it: turn to one in which it goes on so. */
static bool script_change(struct stateful *s, struct conn *c, const char *bytes, uint32_t length)
{
	struct entry *e = conn_entry(s, c);
	const struct script_set *set = e->scripts;
	struct side *side = table_side(&s->table, c);
	const struct script *now = script_of(s, c);
	uint32_t low = 0, high = set->scripts;

	if (side->fin_wanted) /* it has said its last */
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct script *script = &set->script[set->order[middle]];

		if (stream_compare(far_of(e, script), far_of(e, now)->bytes, side->heard, bytes,
				   length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < set->scripts; low++) {
		const struct script *script = &set->script[set->order[low]];

		if (stream_compare(far_of(e, script), far_of(e, now)->bytes, side->heard, bytes,
				   length))
			return false;
		if (!said_the_same(own_of(e, script), own_of(e, now), side->length))
			continue;
		side->script = set->order[low];
		side->turn = turns_done(own_of(e, script), side->length);
		side->turn_at = 0;
		return true;
	}
	return false;
}

static bool piece_is_right(struct stateful *s, struct conn *c, const char *bytes, uint32_t length)
{
	struct entry *e = conn_entry(s, c);
	const struct side *side = table_side(&s->table, c);
	const struct script_side *far = far_of(e, script_of(s, c));

	if (length <= far->length - side->heard && !memcmp(far->bytes + side->heard, bytes, length))
		return true;
	return !e->client && script_change(s, c, bytes, length);
}

bool conversation_data(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	struct side *side = table_side(&s->table, c);
	const char *bytes;
	uint32_t n;

	for (uint32_t at = 0; at < seg->len; at += n) {
		n = segment_piece(seg, at, &bytes);
		if (!piece_is_right(s, c, bytes, n)) {
			conn_abort(s, c, FAILED_MISMATCH);
			return true;
		}
		if (e->client && !side->heard)
			hist_add(&e->stats->first_byte,
				 (uint64_t)(uint32_t)(s->time - side->started) << CONN_TIME_SHIFT);
		side->heard += n;
		e->stats->level.compared += n;
	}
	c->rcv_nxt += seg->len;
	c->time = s->time; /* the time-out is one of silence */
	conn_delay_ack(s, c, seg);
	return true;
}

bool conversation_fin(struct stateful *s, struct conn *c)
{
	struct side *side = table_side(&s->table, c);
	const struct script_side *far = far_of(conn_entry(s, c), script_of(s, c));

	if (side->heard == far->length && !far->resets) {
		side->heard++;
		return true;
	}
	conn_abort(s, c, FAILED_PROTOCOL);
	return false;
}

/* The far end's RST is what its script ends with, if all was heard that it says before. */
static bool reset_is_due(const struct stateful *s, const struct conn *c)
{
	const struct script_side *far = far_of(conn_entry(s, c), script_of(s, c));

	return far->resets && table_side(&s->table, c)->heard >= far->length;
}

int conversation_reset(const struct stateful *s, const struct conn *c)
{
	return reset_is_due(s, c) ? -1 : FAILED_RESET;
}

/* Nobody repeats an RST that was lost. */
int conversation_silent(const struct stateful *s, const struct conn *c)
{
	const struct side *side = table_side(&s->table, c);

	return reset_is_due(s, c) && side->snd_una == side->snd_max ? -1 : FAILED_TIMEOUT;
}

static bool all_acked(const struct side *side)
{
	return side->snd_una == side->snd_max &&
	       side->snd_max == side->start_seq + side->length + side->fin_wanted;
}

/* Is the next turn's time come? Else the wheel reminds of it. */
static bool turn_is_due(struct stateful *s, struct conn *c, const struct script_turn *turn)
{
	struct side *side = table_side(&s->table, c);

	if (!turn->wait)
		return true;
	if (!side->turn_at)
		side->turn_at = s->now + turn->wait;
	if (s->now >= side->turn_at)
		return true;
	conn_arm_app(s, c, side->turn_at - s->now);
	return false;
}

static void wait_for_far_end(struct stateful *s, struct conn *c, bool waits)
{
	if (waits && !c->wait)
		c->time = s->time;
	c->wait = waits;
	if (waits)
		conn_arm_rtx(s, c); /* which watches over the time-out */
}

/* The client has heard and said all. */
static void response_note(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);

	if (e->client)
		hist_add(&e->stats->response,
			 (uint64_t)(uint32_t)(s->time - table_side(&s->table, c)->started)
				 << CONN_TIME_SHIFT);
}

/* A turn; false: the connection is gone with it, or it must wait until all is acknowledged. */
static bool turn_take(struct stateful *s, struct conn *c, const struct script_turn *turn)
{
	struct side *side = table_side(&s->table, c);

	switch (turn->what) {
	case SCRIPT_DATA:
		side->length = turn->until;
		break;
	case SCRIPT_FIN:
		side->fin_wanted = 1;
		break;
	case SCRIPT_RST:
		if (!all_acked(side))
			return false;
		response_note(s, c);
		conn_abort(s, c, -1);
		return false;
	}
	side->turn++;
	side->turn_at = 0;
	return true;
}

void conversation_go(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct side *side = table_side(&s->table, c);
	const struct script *script = script_of(s, c);
	const struct script_side *own = own_of(conn_entry(s, c), script);
	const struct script_side *far = far_of(conn_entry(s, c), script);
	uint32_t before = side->turn;

	while (side->turn < own->turns) {
		const struct script_turn *turn = &own->turn[side->turn];

		if (turn->need > side->heard || !turn_is_due(s, c, turn) || !turn_take(s, c, turn))
			break;
	}
	if (c->state == CLOSED)
		return;
	wait_for_far_end(s, c,
			 side->turn < own->turns ? own->turn[side->turn].need > side->heard
						 : side->heard <= far->length);
	if (side->turn == before)
		return;
	if (side->turn == own->turns)
		response_note(s, c);
	c->time = s->time;
	sender_go(s, c, seg);
}
