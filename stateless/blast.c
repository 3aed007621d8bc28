/* The blaster: a step takes the blank packets that are due, in one go, and has them written
 * (blast_write.c).
 *
 * All of it is a function of the packet's number in the stream, which are dealt to the workers
 * (walk.h), so that those of a port together send exactly what one would: flows, sizes, stop rules.
 *
 * A port that takes no more is felt as a lack of room: the blast waits, its schedule goes on, and
 * what falls out of the catch-up window is counted as not offered. It leaves most of the transmit
 * queue to replies of other traffic, and never makes its own packets wait in it long.
 *
 * Rejected: packets prepared once and sent again and again (the port may still hold them, and they
 * carry a number and a time), and a queue of packets made ahead (late by design). */
#include "blast.h"

#include <string.h>

#include "tag.h"

/* Of the transmit queue: with more waiting in it, the port is the limit. */
#define QUEUE_MOST 256u
#define END_GRACE  5000000u /* ns; a load ends exactly to 10 ms */

uint64_t blast_reserve(const struct config_traffic *t)
{
	return frame_reserve(t) + t->blast.modifies * sizeof(struct modify) + 64;
}

/* How many of the first packets are this worker's. */
static uint64_t own_share(const struct blast *b, uint64_t packets)
{
	uint64_t first = (uint64_t)b->setup->worker * b->burst;
	uint64_t round = (uint64_t)b->setup->workers * b->burst, rest = packets % round;
	uint64_t own = packets / round * b->burst;

	if (rest > first)
		own += rest - first < b->burst ? rest - first : b->burst;
	return own;
}

/* The stop rules in packets of this worker. */
static uint64_t packets_limit(const struct blast *b)
{
	const struct config_blast *c = &b->config->blast;
	uint64_t packets = UINT64_MAX;

	if (c->packets)
		packets = c->packets;
	if (c->bytes) {
		uint64_t fit = frame_packets(&b->frame, c->bytes);

		packets = fit < packets ? fit : packets;
	}
	if (packets == UINT64_MAX)
		return packets;
	return own_share(b, packets);
}

int blast_make(struct blast *b, const struct config_traffic *t, const struct stateless_setup *setup,
	       struct arena *arena)
{
	const struct config_blast *c = &t->blast;
	unsigned traffic = (unsigned)(t - setup->config->traffic);
	struct deal deal = deal_make(setup->worker, setup->workers, t->load.burst);

	*b = (struct blast){.config = t,
			    .burst = t->load.burst,
			    .burst_left = t->load.burst,
			    .setup = setup,
			    .level = &setup->stats[traffic]->level,
			    .stats = setup->streams[traffic],
			    .ip_kept = true,
			    .l4_kept = true,
			    .modify = arena_take(arena, c->modifies * sizeof(*b->modify) + 1)};
	if (!b->modify || frame_make(&b->frame, setup->config, t, setup->mac, arena))
		return -1;
	b->tag = tag_first(tag_run(setup->config->seed), stream_lane(c->stream, setup->worker));
	b->size = digit_make(b->frame.shapes, &deal);
	for (unsigned i = 0; i < c->modifies; i++) {
		b->per_flow |= c->modify[i].per_flow;
		modify_make(&b->modify[i], &c->modify[i], &b->frame,
			    setup->config->seed * 0x9e3779b97f4a7c15u + i, &deal, &b->ip_kept,
			    &b->l4_kept);
	}
	if (b->frame.walks)
		walk_init(&b->walk, t, b->frame.family, deal);
	b->plain = b->frame.ports && b->frame.shapes == 1 && !c->modifies;
	b->left = packets_limit(b);
	return 0;
}

static void all_sent(struct blast *b)
{
	schedule_end(&b->schedule);
	__atomic_store_n(&b->stats->all_sent, true, __ATOMIC_RELAXED);
}

void blast_start(struct blast *b, uint64_t now)
{
	const struct config *config = b->setup->config;
	const struct config_traffic *t = b->config;
	struct rate rate = stateless_rate(t, b->setup->link_bps);
	uint64_t length = config->duration, ramp = rate_is_max(rate) ? 0 : config->ramp;

	if (t->blast.duration && t->blast.duration < length)
		length = t->blast.duration;
	b->paced = !rate_is_max(rate);
	b->blocked = NOT_OFFERED_LATE;
	schedule_init(&b->schedule, rate, t->load.burst, t->load.poisson, config->seed, now, ramp,
		      now + config->ramp + length, t->catch_up, b->setup->worker,
		      b->setup->workers);
	if (!b->left)
		all_sent(b);
}

/* Blank packets for what is due, at most `most`; each is noted as done and its lateness counted. */
static unsigned due_take(struct blast *b, struct tx *tx, struct rte_mbuf **pkt, unsigned most,
			 uint64_t now)
{
	unsigned count = 0;

	for (; count < most && schedule_is_due(&b->schedule, now); count++) {
		pkt[count] = tx_new(tx);
		if (!pkt[count])
			break;
		hist_add(&b->stats->lateness, now - schedule_at(&b->schedule));
		schedule_done(&b->schedule);
	}
	return count;
}

/* The same without a rate: as they lie in stock. */
static unsigned blanks_take(struct tx *tx, struct rte_mbuf **pkt, unsigned most)
{
	unsigned count = 0;

	while (count < most && (tx->blanks || tx->refill(tx))) {
		unsigned n = most - count < tx->blanks ? most - count : tx->blanks;

		tx->blanks -= n;
		memcpy(pkt + count, tx->blank + tx->blanks, n * sizeof(*pkt));
		count += n;
	}
	return count;
}

static void sent_count(struct blast *b, unsigned count, uint64_t bytes)
{
	b->level->connection.offered += count;
	b->level->bits_tx += bytes * 8;
	b->stats->sent += count;
	b->stats->bytes += bytes;
	if (b->frame.counter >= 0)
		b->setup->counters->value[b->frame.counter] += count;
	if (b->left != UINT64_MAX) {
		b->left -= count;
		if (!b->left)
			all_sent(b);
	}
}

static unsigned room(const struct blast *b, const struct tx *tx)
{
	unsigned most = tx->capacity / 2 < QUEUE_MOST ? tx->capacity / 2 : QUEUE_MOST;

	most = tx->count < most ? most - tx->count : 0;
	if (most > BLAST_BATCH)
		most = BLAST_BATCH;
	return b->left < most ? (unsigned)b->left : most;
}

/* Give back blanks that were not used. */
static void blanks_return(struct tx *tx, struct rte_mbuf **pkt, unsigned count)
{
	while (count)
		tx->release(tx, pkt[--count]);
}

/* One batch, at the end of the transmit queue; false when there is no more to do now. */
static bool batch(struct blast *b, struct tx *tx, uint64_t now)
{
	struct rte_mbuf **pkt = tx->queue + tx->count;
	unsigned most = room(b, tx), count, done;
	uint64_t bytes = 0;

	if (!schedule_is_due(&b->schedule, now))
		return false;
	if (!blast_mac(b, true)) {
		b->blocked = NOT_OFFERED_LATE;
		return false;
	}
	count = b->paced ? due_take(b, tx, pkt, most, now) : blanks_take(tx, pkt, most);
	b->blocked = count < BLAST_BATCH && schedule_is_due(&b->schedule, now) ? NOT_OFFERED_TX_FULL
									       : NOT_OFFERED_LATE;
	done = blast_write(b, pkt, count, now, &bytes);
	if (b->paced)
		b->level->connection.not_offered[NOT_OFFERED_LATE] += count - done;
	tx->count += done;
	blanks_return(tx, pkt + done, count - done);
	sent_count(b, done, bytes);
	return b->paced && done == BLAST_BATCH;
}

/* A limit that the time did not suffice for. */
static void limit_missed(struct blast *b, uint64_t now)
{
	if (b->paced || b->left == UINT64_MAX || now < b->schedule.pace.end)
		return;
	b->level->connection.not_offered[NOT_OFFERED_LATE] += b->left;
	b->left = 0;
}

uint64_t blast_poll(struct blast *b, struct tx *tx, uint64_t now)
{
	uint64_t end = b->schedule.pace.end;

	/* What was due before the end goes out, if a step comes a little after it. */
	if (now >= end && now - end < END_GRACE)
		now = end - 1;
	b->level->connection.not_offered[b->blocked] += schedule_skip(&b->schedule, now);
	limit_missed(b, now);
	while (batch(b, tx, now))
		;
	return schedule_at(&b->schedule);
}

void blast_end(struct blast *b, uint64_t now)
{
	if (b->schedule.pace.end > now)
		b->schedule.pace.end = now;
}
