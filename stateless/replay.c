/* The replay: packets of a tape, copied out when they are due.
 *
 * All that a packet is was settled when its tape was filled (pcap/player.c), so that a step takes
 * blank packets, copies and counts. Due times are absolute - the loop's beginning plus the packet's
 * place in it, loops as long as they are to fractions of a ns - so nothing drifts, and every loop
 * is as exact as the first.
 *
 * A replay that falls behind leaves nothing out: a recording with holes is another recording. It
 * sends late, which the lateness histogram tells; what its end leaves unsent is not offered. For
 * the same reason there is no window of catching up as a blast has it.
 *
 * Rejected: sending packets that point into the tape (drivers may write into them, and a far end on
 * a cable turns them round in place), and a schedule beside the tape (the due time lies in the line
 * that is read anyway). */
#include "replay.h"

#include <string.h>

/* As a blast: with more waiting in the transmit queue the port is the limit. */
#define QUEUE_MOST 256u
#define BATCH      64u
#define END_GRACE  5000000u /* ns; a load ends exactly to 10 ms */

#define COPY_MOST 512u /* bytes that are copied in whole pieces of: */
#define COPY_STEP 64u
_Static_assert(COPY_STEP <= TAPE_SLACK, "a copy may read on behind a packet");

void replay_make(struct replay *r, const struct config_traffic *t,
		 const struct stateless_setup *setup)
{
	unsigned traffic = (unsigned)(t - setup->config->traffic);

	*r = (struct replay){.options = &t->replay,
			     .setup = setup,
			     .level = &setup->stats[traffic]->level,
			     .stats = setup->streams[traffic],
			     .tape = setup->tapes[traffic],
			     .paced = !t->replay.topspeed,
			     .end = UINT64_MAX};
}

void replay_start(struct replay *r, uint64_t now)
{
	uint64_t length = r->setup->config->duration;

	if (r->options->duration && r->options->duration < length)
		length = r->options->duration;
	r->started = true;
	r->base = r->start = now;
	r->end = length < UINT64_MAX - now ? now + length : UINT64_MAX;
	r->done = !r->tape->loops || (!r->tape->streamed && !r->tape->first);
}

/* The loop at hand is over. */
static void loop_end(struct replay *r)
{
	const struct tape *tape = r->tape;

	r->loop++;
	r->first += tape->packets;
	r->base += tape->length;
	r->part += tape->part;
	if (r->part >= tape->parts) {
		r->part -= tape->parts;
		r->base++;
	}
	r->step = r->loop * r->options->rewrite.loop_step;
	r->done = r->loop == tape->loops;
}

/* The next block; false when there is none now. */
static bool block_next(struct replay *r)
{
	struct tape *tape = r->tape;

	if (tape->streamed) {
		r->block = tape_take(&tape->full);
		if (!r->block && __atomic_load_n(&tape->ended, __ATOMIC_ACQUIRE) &&
		    !(r->block = tape_take(&tape->full)))
			r->done = true;
	} else {
		r->block = r->block ? r->block->next : tape->first;
	}
	r->offset = 0;
	return r->block;
}

/* The packet at hand; NULL when there is none now, or ever (`done`). */
static inline const struct tape_packet *packet_peek(struct replay *r)
{
	while (!r->done) {
		struct tape_block *block = r->block;
		bool last;

		if (__builtin_expect(block && r->offset < block->used, 1))
			return (const struct tape_packet *)(block->data + r->offset);
		last = block && block->last;
		if (last)
			loop_end(r);
		if (block && r->tape->streamed)
			tape_put(&r->tape->empty, block);
		if (last || r->tape->streamed)
			r->block = NULL;
		if (!r->done && !block_next(r))
			return NULL;
	}
	return NULL;
}

static inline bool beyond_limit(const struct replay *r, const struct tape_packet *packet)
{
	return r->options->packets && r->first + packet->number >= r->options->packets;
}

/* Into a packet's buffer, which is longer than any frame of the tape, in pieces of a fixed size:
 * what they bring beyond its length is not sent. */
static inline void bytes_copy(uint8_t *to, const uint8_t *from, uint32_t length)
{
	if (length > COPY_MOST) {
		memcpy(to, from, length);
		return;
	}
	for (uint32_t i = 0; i < length; i += COPY_STEP)
		memcpy(to + i, from + i, COPY_STEP);
}

/* In strict order packets leave in runs of consecutive numbers, and the next run's turn, here or on
 * another worker, comes when the port has them. */
static bool has_turn(const struct replay *r, const struct tape_packet *packet, unsigned count)
{
	return r->first + packet->number ==
	       __atomic_load_n(r->tape->turn, __ATOMIC_ACQUIRE) + count;
}

/* What was queued has left: whose turn is it? False: it has not left yet. */
static bool turn_pass(struct replay *r, const struct tx *tx)
{
	if (!r->turn_next)
		return true;
	if (tx->count)
		return false;
	__atomic_store_n(r->tape->turn, r->turn_next, __ATOMIC_RELEASE);
	r->turn_next = 0;
	return true;
}

static inline void packet_write(const struct replay *r, struct rte_mbuf *m,
				const struct tape_packet *packet)
{
	uint8_t *data = (uint8_t *)m->buf_addr + m->data_off;

	m->pkt_len = packet->length;
	m->data_len = packet->length;
	bytes_copy(data, tape_bytes(packet), packet->length);
	if (__builtin_expect(r->step != 0, 0))
		rewrite_step(data, packet->length, r->step);
}

static unsigned room(const struct tx *tx)
{
	unsigned most = tx->capacity / 2 < QUEUE_MOST ? tx->capacity / 2 : QUEUE_MOST;

	most = tx->count < most ? most - tx->count : 0;
	return most > BATCH ? BATCH : most;
}

/* One batch, at the end of the transmit queue; false when there is no more to do now. */
static bool batch(struct replay *r, struct tx *tx, uint64_t now)
{
	struct rte_mbuf **pkt = tx->queue + tx->count;
	unsigned most = room(tx), count = 0;
	const struct tape_packet *packet = NULL;
	uint64_t bytes = 0, due = r->start;

	while (count < most && (packet = packet_peek(r))) {
		if (r->base + packet->at > now)
			break;
		if (__builtin_expect(!packet->length, 0)) {
			r->stats->skipped[packet->skipped]++;
			r->offset += packet->size;
			continue;
		}
		if (beyond_limit(r, packet)) {
			r->done = true;
			break;
		}
		if (r->tape->turn && !has_turn(r, packet, count))
			break;
		pkt[count] = tx_new(tx);
		if (!pkt[count])
			break;
		packet_write(r, pkt[count++], packet);
		if (r->tape->sent)
			r->tape->sent[packet->content]++;
		bytes += packet->length;
		due = r->base + packet->at;
		if (r->paced)
			hist_add(&r->stats->lateness, now - due);
		r->offset += packet->size;
	}
	tx->count += count;
	if (count && r->tape->turn)
		r->turn_next = *r->tape->turn + count;
	r->level->connection.offered += count;
	r->level->bits_tx += bytes * 8;
	r->stats->sent += count;
	r->stats->bytes += bytes;
	if (count) {
		r->stats->elapsed = now - r->start;
		r->stats->planned = due - r->start;
	}
	return count == BATCH;
}

/* The end has come: what was due and is not sent will not be. At top speed nothing was due. */
static void give_up(struct replay *r)
{
	const struct tape_packet *packet = NULL;

	while (r->paced && (packet = packet_peek(r)) && r->base + packet->at < r->end &&
	       !beyond_limit(r, packet)) {
		if (packet->length)
			r->level->connection.not_offered[NOT_OFFERED_LATE]++;
		else
			r->stats->skipped[packet->skipped]++;
		r->offset += packet->size;
	}
	/* Streamed, more may be on its way: then the next step goes on. */
	if (!r->paced || packet)
		r->done = true;
}

/* The load may end when nothing is left: the control thread looks at this. */
static uint64_t all_sent(struct replay *r)
{
	__atomic_store_n(&r->stats->all_sent, true, __ATOMIC_RELAXED);
	return ENGINE_NEVER;
}

uint64_t replay_poll(struct replay *r, struct tx *tx, uint64_t now)
{
	const struct tape_packet *packet;

	if (!turn_pass(r, tx))
		return now;
	if (r->done)
		return all_sent(r);
	/* What was due before the end goes out, if a step comes a little after it. */
	if (now >= r->end && now - r->end < END_GRACE)
		now = r->end - 1;
	if (now >= r->end)
		give_up(r);
	else
		while (batch(r, tx, now) && !r->turn_next)
			;
	packet = packet_peek(r);
	if (r->turn_next)
		return now;
	if (r->done)
		return all_sent(r);
	if (!packet)
		return now;
	if (r->base + packet->at >= r->end)
		return r->end;
	return r->base + packet->at;
}

void replay_listen(struct replay *r, struct rte_mbuf *const *pkt, unsigned count, uint64_t now)
{
	struct tape *tape = r->tape;

	r->heard_at = now;
	for (unsigned i = 0; tape->expected && i < count; i++) {
		const uint8_t *data = (const uint8_t *)pkt[i]->buf_addr + pkt[i]->data_off;
		uint32_t place = content_find(tape->expected, content_hash(data, pkt[i]->data_len));

		if (place == CONTENT_NONE)
			tape->foreign++;
		else
			tape->received[place]++;
	}
}

void replay_end(struct replay *r, uint64_t now)
{
	if (r->end > now)
		r->end = now;
}
