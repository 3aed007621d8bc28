/* The simulated wire: a rule decides the fate of each packet as it is put in, a heap holds those in
 * flight by the time they are due.
 *
 * Fates are drawn in a fixed order, and only for impairments that are switched on. The line (rate
 * and queue) is a single number, the time it falls silent, plus the departure times of the last
 * `queue` packets: a packet fits if the one `queue` places before it has left. Rejected: netem's
 * jitter, which reorders as a side effect - a test could then not have one without the other. */
#include "wire.h"

#include <stdlib.h>

#include "require.h"

#define REORDER_DELAY 1000000u

struct wire_packet {
	uint64_t due, entered;
	struct rte_mbuf *m;
};

static bool happens(struct wire *w, double probability)
{
	return probability > 0 && rng_unit(&w->rng) < probability;
}

static uint8_t *frame_of(const struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + m->data_off;
}

static unsigned l3_offset(const struct rte_mbuf *m)
{
	const uint8_t *frame = frame_of(m);
	unsigned at = 12;

	while (at + 6 <= m->data_len && ((frame[at] == 0x81 && frame[at + 1] == 0x00) ||
					 (frame[at] == 0x88 && frame[at + 1] == 0xa8)))
		at += 4;
	return at + 2;
}

/* The TCP header of a TCP segment, NULL of anything else and behind extension headers of IPv6;
 * *end: behind its payload. */
static uint8_t *tcp_header(const struct rte_mbuf *m, uint8_t **end)
{
	unsigned l3 = l3_offset(m), l4, length;
	uint8_t *ip = frame_of(m) + l3;

	if (m->data_len < l3 + 40)
		return NULL;
	if (ip[-2] == 0x08 && ip[-1] == 0x00 && ip[9] == 6) {
		l4 = (ip[0] & 15u) * 4;
		length = (unsigned)ip[2] << 8 | ip[3];
	} else if (ip[-2] == 0x86 && ip[-1] == 0xdd && ip[6] == 6) {
		l4 = 40;
		length = l4 + ((unsigned)ip[4] << 8 | ip[5]);
	} else {
		return NULL;
	}
	if (length < l4 + 20 || m->data_len < l3 + length)
		return NULL;
	*end = ip + length;
	return ip + l4;
}

static uint8_t tcp_flags(const struct rte_mbuf *m)
{
	uint8_t *end, *tcp = tcp_header(m, &end);

	return tcp ? tcp[13] : 0;
}

static bool lost_by_rule(struct wire *w, const struct rte_mbuf *m, uint64_t now)
{
	const struct wire_rule *r = &w->rule;

	for (unsigned i = 0; i < r->blackouts; i++)
		if (now >= r->blackout[i].from && now < r->blackout[i].until)
			return true;
	if (r->mtu && m->pkt_len > l3_offset(m) + r->mtu)
		return true;
	if (r->loss_every && w->stats.in % r->loss_every == 0)
		return true;
	if (r->lose && r->lose(r->lose_arg, m, w->stats.in))
		return true;
	if (r->lose_count && (tcp_flags(m) & r->lose_flags) == r->lose_flags) {
		w->matched++;
		return w->matched >= r->lose_first &&
		       w->matched < (uint64_t)r->lose_first + r->lose_count;
	}
	return false;
}

static bool lost_at_random(struct wire *w)
{
	if (w->burst_left) {
		w->burst_left--;
		return true;
	}
	if (!happens(w, w->rule.loss))
		return false;
	w->burst_left = w->rule.loss_burst ? w->rule.loss_burst - 1 : 0;
	return true;
}

/* Flip one of the bits from `from` up to `end`; returns its byte, and which bit of it in *mask. */
static uint8_t *flip_one(struct wire *w, uint8_t *from, const uint8_t *end, uint8_t *mask)
{
	uint64_t bit = rng_below(&w->rng, (uint64_t)(end - from) * 8);

	w->stats.corrupted++;
	*mask = (uint8_t)(1u << bit % 8);
	from[bit / 8] ^= *mask;
	return from + bit / 8;
}

/* Flip payload and change the checksum with it (RFC 1624). */
static void flip_payload(struct wire *w, struct rte_mbuf *m)
{
	uint8_t *end, *tcp = tcp_header(m, &end), *payload, *byte, mask;
	uint32_t sum, weight;

	payload = tcp ? tcp + (tcp[12] >> 4) * 4 : NULL;
	if (!tcp || payload >= end)
		return;
	byte = flip_one(w, payload, end, &mask);
	weight = (uint32_t)mask << ((byte - tcp) & 1 ? 0 : 8);
	sum = (uint16_t) ~((unsigned)tcp[16] << 8 | tcp[17]);
	sum += *byte & mask ? weight : 0xffff - weight;
	sum = ~((sum & 0xffff) + (sum >> 16));
	tcp[16] = (uint8_t)(sum >> 8);
	tcp[17] = (uint8_t)sum;
}

/* Flip one bit behind the Ethernet header, where a checksum covers nearly all. */
static void flip_bit(struct wire *w, struct rte_mbuf *m)
{
	unsigned l3 = l3_offset(m);
	uint8_t mask;

	if (w->rule.corrupt_payload)
		flip_payload(w, m);
	else if (m->data_len > l3)
		flip_one(w, frame_of(m) + l3, frame_of(m) + m->data_len, &mask);
}

/* Give the packet its place on the line. False if the queue is full; else *sent is when the last
 * bit has left. */
static bool line_take(struct wire *w, const struct rte_mbuf *m, uint64_t now, uint64_t *sent)
{
	const struct wire_rule *r = &w->rule;
	uint64_t *slot, begin;

	*sent = now;
	if (!r->rate_bps)
		return true;
	slot = r->queue ? &w->departure[w->departures % r->queue] : NULL;
	if (slot && *slot > now)
		return false;
	begin = w->line_free > now ? w->line_free : now;
	*sent = begin + (uint64_t)((unsigned __int128)m->pkt_len * 8 * 1000000000u / r->rate_bps);
	w->line_free = *sent;
	if (slot) {
		*slot = *sent;
		w->departures++;
	}
	return true;
}

static bool is_before(const struct wire_packet *a, const struct wire_packet *b)
{
	return a->due < b->due || (a->due == b->due && a->entered < b->entered);
}

static void heap_push(struct wire *w, struct rte_mbuf *m, uint64_t due)
{
	struct wire_packet packet = {.due = due, .entered = w->entered++, .m = m};
	uint32_t i = w->flying++;

	if (w->flying > w->room) {
		w->room = w->room ? w->room * 2 : 64;
		w->heap = realloc(w->heap, w->room * sizeof(*w->heap));
		require(w->heap);
	}
	for (; i && is_before(&packet, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = packet;
}

static struct rte_mbuf *heap_pop(struct wire *w)
{
	struct rte_mbuf *m = w->heap[0].m;
	struct wire_packet last = w->heap[--w->flying];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < w->flying) {
		if (child + 1 < w->flying && is_before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!is_before(&w->heap[child], &last))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
	return m;
}

/* When a packet that left the line at `sent` arrives. */
static uint64_t arrival(struct wire *w, uint64_t sent)
{
	const struct wire_rule *r = &w->rule;
	uint64_t due = sent + r->delay + (r->jitter ? rng_below(&w->rng, r->jitter + 1) : 0);

	if (due < w->last_due)
		due = w->last_due;
	if (happens(w, r->reorder)) {
		w->stats.reordered++;
		return due + 1 +
		       rng_below(&w->rng, r->reorder_delay ? r->reorder_delay : REORDER_DELAY);
	}
	w->last_due = due;
	return due;
}

unsigned wire_put(struct wire *w, struct rte_mbuf *m, uint64_t now)
{
	struct rte_mbuf *copy = NULL;
	struct wire_stats before = w->stats;
	uint64_t sent, due;
	bool by_rule, at_random;

	w->stats.in++;
	/* Both are asked: a burst of random losses goes on over packets that a rule takes. */
	by_rule = lost_by_rule(w, m, now);
	at_random = lost_at_random(w);
	if (by_rule || at_random) {
		w->stats.lost++;
		packet_box_free(w->box, m);
		return WIRE_LOST;
	}
	if (!line_take(w, m, now, &sent)) {
		w->stats.queue_full++;
		packet_box_free(w->box, m);
		return WIRE_QUEUE_FULL;
	}
	if (happens(w, w->rule.corrupt))
		flip_bit(w, m);
	due = arrival(w, sent);
	if (happens(w, w->rule.duplicate))
		copy = packet_box_copy(w->box, m);
	heap_push(w, m, due);
	if (copy) {
		w->stats.duplicated++;
		heap_push(w, copy, due);
	}
	return (w->stats.corrupted > before.corrupted ? WIRE_CORRUPTED : 0) |
	       (w->stats.reordered > before.reordered ? WIRE_REORDERED : 0) |
	       (copy ? WIRE_DUPLICATED : 0);
}

struct rte_mbuf *wire_get(struct wire *w, uint64_t now)
{
	if (!w->flying || w->heap[0].due > now)
		return NULL;
	w->stats.out++;
	return heap_pop(w);
}

uint64_t wire_next(const struct wire *w)
{
	return w->flying ? w->heap[0].due : WIRE_NEVER;
}

int wire_open(struct wire *w, const struct wire_rule *rule, struct packet_box *box, uint64_t seed)
{
	*w = (struct wire){.rule = *rule, .box = box, .rng = {seed}};
	if (!rule->queue)
		return 0;
	w->departure = calloc(rule->queue, sizeof(*w->departure));
	return w->departure ? 0 : -1;
}

void wire_close(struct wire *w)
{
	while (w->flying)
		packet_box_free(w->box, heap_pop(w));
	free(w->heap);
	free(w->departure);
	*w = (struct wire){0};
}
