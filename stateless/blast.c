/* The blaster.
 *
 * A step takes the blank packets that are due, in one go, and then writes them in stretches in
 * which only one thing changes from packet to packet: the port or the address that the walk steps
 * first. In a stretch of the fast path a packet is two vector stores of the frame's first 64 bytes,
 * the port, the checksum - a constant plus the port, folded - and the tag, which by its making
 * leaves the checksum alone. Everything else (several sizes, modifiers, frames given as bytes) goes
 * packet by packet through one general function.
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

#include <stddef.h>
#include <string.h>

#include "tag.h"

/* Of the transmit queue: with more waiting in it, the port is the limit. */
#define QUEUE_MOST    256u
#define BATCH         64u      /* packets made at a time */
#define END_GRACE     5000000u /* ns; a load ends exactly to 10 ms */
#define always_inline static inline __attribute__((always_inline))

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
		walk_init(&b->walk, t, deal);
	b->plain = b->frame.walks && b->frame.shapes == 1 && !c->modifies;
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

/* Put the next hop's address into the frame; false while it is not known. */
static bool mac_refresh(struct blast *b, bool again)
{
	uint32_t server = __builtin_bswap32(b->walk.value[WALK_SERVERS]);
	const uint8_t *mac;

	if (!b->frame.walks)
		return true;
	if (b->has_mac && !again && (server == b->mac_for || b->setup->nexthop->has_gateway))
		return true;
	mac = nexthop_mac(b->setup->nexthop, server);
	b->has_mac = mac;
	b->mac_for = server;
	if (mac)
		memcpy(b->frame.data, mac, 6);
	return mac;
}

static inline uint16_t fold32(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

/* A sum of zero is sent as all ones: zero says that there is none (RFC 768). */
static inline uint16_t udp_check(uint32_t sum)
{
	uint16_t check = (uint16_t)~fold32(sum);

	return check ? check : 0xffff;
}

static inline void store16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof value);
}

static inline void store32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

static inline uint32_t halves(uint32_t word)
{
	return (word & 0xffff) + (word >> 16);
}

/* The length of a packet of one segment, which are two fields that a blank has beside each other
 * and a third that is zero in it: one store. */
static inline void packet_length(struct rte_mbuf *m, uint16_t length)
{
	uint64_t both = (uint64_t)length << 32 | length;

	_Static_assert(offsetof(struct rte_mbuf, data_len) ==
			       offsetof(struct rte_mbuf, pkt_len) + 4,
		       "lengths lie together");
	memcpy((char *)m + offsetof(struct rte_mbuf, pkt_len), &both, sizeof both);
}

static inline uint8_t *packet_data(const struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + m->data_off;
}

/* Addresses and ports of the flow at hand, and the lengths of a shape, in the frame's own bytes;
 * returns the sums with them, without the value that `but` steps. */
struct sums {
	uint32_t ip, l4;
};

static struct sums flow_write(struct blast *b, const struct shape *shape, int but)
{
	uint8_t *ip = b->frame.data + b->frame.l3, *udp = b->frame.data + b->frame.l4;
	uint32_t src = __builtin_bswap32(b->walk.value[WALK_CLIENTS]);
	uint32_t dst = __builtin_bswap32(b->walk.value[WALK_SERVERS]);
	uint16_t src_port = __builtin_bswap16((uint16_t)b->walk.value[WALK_CLIENT_PORTS]);
	uint16_t dst_port = __builtin_bswap16((uint16_t)b->walk.value[WALK_SERVER_PORTS]);
	uint32_t addresses =
		(but == WALK_CLIENTS ? 0 : halves(src)) + (but == WALK_SERVERS ? 0 : halves(dst));
	struct sums sums = {.ip = shape->ip_sum + addresses, .l4 = shape->l4_sum + addresses};

	sums.l4 += (but == WALK_CLIENT_PORTS ? 0u : src_port) +
		   (but == WALK_SERVER_PORTS ? 0u : dst_port);
	store16(ip + 2, shape->ip_length_be);
	store32(ip + 12, src);
	store32(ip + 16, dst);
	store16(udp, src_port);
	store16(udp + 2, dst_port);
	store16(udp + 4, shape->l4_length_be);
	return sums;
}

/* What differs from packet to packet in a stretch, for all of them at once: plain loops over
 * arrays, which compilers turn into vectors. */
struct changes {
	uint64_t udp[BATCH]; /* the whole header, as it lies in memory */
	uint32_t address[BATCH];
	uint16_t ip_check[BATCH];
	uint16_t sequence[BATCH], tag_check[BATCH]; /* of the tag */
};

/* sum: with all but what steps. shift: of the port that steps, in the header `udp`, which is zero
 * there and in its checksum. */
static void ports_change(struct changes *c, unsigned count, uint64_t udp, unsigned shift,
			 uint32_t sum, uint32_t value, uint32_t stride)
{
	for (unsigned i = 0; i < count; i++) {
		uint16_t be = __builtin_bswap16((uint16_t)(value + i * stride));

		c->udp[i] = udp | (uint64_t)be << shift | (uint64_t)udp_check(sum + be) << 48;
	}
}

static void addresses_change(struct changes *c, unsigned count, uint64_t udp, struct sums sums,
			     uint32_t value, uint32_t stride)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t be = __builtin_bswap32(value + i * stride), half = halves(be);

		c->address[i] = be;
		c->ip_check[i] = (uint16_t)~fold32(sums.ip + half);
		c->udp[i] = udp | (uint64_t)udp_check(sums.l4 + half) << 48;
	}
}

/* sum: of the tag without the number's last 16 bits. */
static void tags_change(struct changes *c, unsigned count, uint32_t sum, uint64_t sequence)
{
	for (unsigned i = 0; i < count; i++) {
		uint16_t be = __builtin_bswap16((uint16_t)(sequence + i));

		c->sequence[i] = be;
		c->tag_check[i] = (uint16_t)~fold32(sum + be);
	}
}

/* Write the packets of a stretch: the frame's first line, and what changes over it. */
always_inline void stretch_write(const struct frame *f, struct rte_mbuf **pkt, unsigned count,
				 const struct changes *c, const bool tag, const bool address,
				 unsigned address_at)
{
	const uint16_t length = f->shape[0].length, l3 = f->l3, l4 = f->l4, payload = f->payload;
	uint8_t head[FRAME_HEAD];

	memcpy(head, f->data, sizeof head);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *data = (uint8_t *)pkt[i]->buf_addr + RTE_PKTMBUF_HEADROOM;

		packet_length(pkt[i], length);
		memcpy(data, head, sizeof head);
		if (length > FRAME_HEAD)
			memcpy(data + FRAME_HEAD, f->data + FRAME_HEAD,
			       (size_t)(length - FRAME_HEAD));
		if (address) {
			store32(data + address_at, c->address[i]);
			store16(data + l3 + 10, c->ip_check[i]);
		}
		memcpy(data + l4, &c->udp[i], sizeof c->udp[i]);
		if (tag) {
			store16(data + payload + 8, c->sequence[i]);
			store16(data + payload + 16, c->tag_check[i]);
		}
	}
}

/* The same for any packet, one. Returns its length. */
static uint16_t packet_write(struct blast *b, struct rte_mbuf *m, uint64_t time)
{
	const struct frame *f = &b->frame;
	const struct shape *shape = &f->shape[b->size.at];
	struct modify_sums sums = {.ip = shape->ip_sum, .l4 = shape->l4_sum};
	uint8_t *data = packet_data(m);
	uint64_t flow = 0;

	if (f->walks) {
		struct sums walked = flow_write(b, shape, -1);

		sums = (struct modify_sums){.ip = walked.ip, .l4 = walked.l4};
		if (b->per_flow)
			flow = walk_number(&b->walk);
	}
	packet_length(m, shape->length);
	memcpy(data, f->data, shape->length);
	if (b->config->blast.tag)
		tag_write(data + f->payload, b->tag, b->sequence, time);
	for (unsigned i = 0; i < b->config->blast.modifies; i++)
		modify_apply(&b->modify[i], data, flow, &sums);
	if (f->family == 4 && b->ip_kept)
		store16(data + f->l3 + 10, (uint16_t)~checksum_fold(sums.ip));
	if (f->l4_check && b->l4_kept) {
		uint16_t check = (uint16_t)~checksum_fold(sums.l4);

		store16(data + f->l4_check, check ? check : 0xffff);
	}
	b->sequence++;
	digit_add(&b->size, b->size.step, false);
	if (f->walks)
		walk_next(&b->walk);
	return shape->length;
}

/* The part of a stretch's tags that is the same in all of them goes into the frame. */
static void tag_prepare(struct blast *b, unsigned count, uint64_t time, struct changes *c)
{
	uint8_t *at = b->frame.data + b->frame.payload;
	uint64_t base = b->sequence & ~(uint64_t)UINT16_MAX;

	tag_write(at, b->tag, base, time);
	tags_change(c, count, tag_sum_of(at), b->sequence);
}

/* Write up to count packets in which only one value changes, and of the numbers the last 16 bits;
 * returns how many those were. */
static unsigned stretch(struct blast *b, struct rte_mbuf **pkt, unsigned count, uint64_t time)
{
	const struct frame *f = &b->frame;
	const uint32_t fast = b->walk.fast, value = b->walk.value[fast], stride = b->walk.stride;
	const bool address = fast == WALK_CLIENTS || fast == WALK_SERVERS;
	const bool tag = b->config->blast.tag;
	const unsigned shift = fast == WALK_SERVER_PORTS ? 16 : 0;
	const unsigned address_at = f->l3 + (fast == WALK_CLIENTS ? 12u : 16u);
	unsigned left = (unsigned)(UINT16_MAX + 1u - (b->sequence & UINT16_MAX));
	struct sums sums = flow_write(b, &f->shape[0], (int)fast);
	struct changes c;
	uint64_t udp;

	if (b->walk.run < count - 1)
		count = (unsigned)b->walk.run + 1;
	if (fast == WALK_SERVERS && !b->setup->nexthop->has_gateway)
		count = 1;
	count = left < count ? left : count;
	store16(f->data + f->l3 + 10, (uint16_t)~fold32(sums.ip));
	memcpy(&udp, f->data + f->l4, sizeof udp);
	udp &= UINT64_MAX >> 16;
	if (tag)
		tag_prepare(b, count, time, &c);
	if (address)
		addresses_change(&c, count, udp, sums, value, stride);
	else
		ports_change(&c, count, udp & ~((uint64_t)UINT16_MAX << shift), shift, sums.l4,
			     value, stride);
	if (tag && address)
		stretch_write(f, pkt, count, &c, true, true, address_at);
	else if (tag)
		stretch_write(f, pkt, count, &c, true, false, 0);
	else if (address)
		stretch_write(f, pkt, count, &c, false, true, address_at);
	else
		stretch_write(f, pkt, count, &c, false, false, 0);
	walk_skip(&b->walk, count - 1);
	walk_next(&b->walk);
	b->sequence += count;
	return count;
}

/* Packets of a burst were written: behind its end the other workers' bursts are left out. */
static void burst_count(struct blast *b, unsigned count)
{
	if (b->burst == 1 || (b->burst_left -= count))
		return;
	b->burst_left = b->burst;
	digit_add(&b->size, b->size.jump, false);
	for (unsigned i = 0; i < b->config->blast.modifies; i++)
		modify_jump(&b->modify[i]);
	if (b->frame.walks)
		walk_jump(&b->walk);
}

/* Write the packets; returns how many could be. What cannot is one whose next hop is not known. */
static unsigned packets_write(struct blast *b, struct rte_mbuf **pkt, unsigned count, uint64_t now,
			      uint64_t *bytes)
{
	unsigned done = 0;

	while (done < count && mac_refresh(b, !done)) {
		unsigned n = 1;

		if (b->plain) {
			n = count - done;
			if (b->burst > 1 && n > b->burst_left)
				n = b->burst_left;
			n = stretch(b, pkt + done, n, now);
			*bytes += (uint64_t)n * b->frame.shape[0].length;
		} else {
			*bytes += packet_write(b, pkt[done], now);
		}
		burst_count(b, n);
		done += n;
	}
	return done;
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
	b->setup->counters->value[COUNTER_UDP_TX] += count;
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
	if (most > BATCH)
		most = BATCH;
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
	if (!mac_refresh(b, true)) {
		b->blocked = NOT_OFFERED_LATE;
		return false;
	}
	count = b->paced ? due_take(b, tx, pkt, most, now) : blanks_take(tx, pkt, most);
	b->blocked = count < BATCH && schedule_is_due(&b->schedule, now) ? NOT_OFFERED_TX_FULL
									 : NOT_OFFERED_LATE;
	done = packets_write(b, pkt, count, now, &bytes);
	if (b->paced)
		b->level->connection.not_offered[NOT_OFFERED_LATE] += count - done;
	tx->count += done;
	blanks_return(tx, pkt + done, count - done);
	sent_count(b, done, bytes);
	return b->paced && done == BATCH;
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
