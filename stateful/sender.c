/* Messages of several segments.
 *
 * A sender holds no data: what it has to send is a short queue of messages, each repeated up to
 * where the next begins, over a range of sequence numbers, and segments are written from it.
 * Congestion control is RFC 5681 with NewReno recovery (RFC 6582), the retransmission timer RFC
 * 6298 with Karn's rule; after a time-out snd_nxt goes back to snd_una and everything is sent again
 * as the window allows. Without room in the transmit queue a sender joins the ready list and goes
 * on at the next step. */
#include "core.h"

#include <string.h>

#define RTO_MAX_US 60000000u
#define SYN_RETRY  1000000u /* without a packet to write it into */

static struct conn *side_conn(const struct stateful *s, const struct side *side)
{
	return &s->table.conn[side->conn];
}

static uint32_t side_number(const struct stateful *s, const struct side *side)
{
	return (uint32_t)(side - s->table.side);
}

static enum variant outstanding_variant(const struct entry *e, const struct conn *c)
{
	if (e->client)
		return c->closing ? VARIANT_CLOSE : VARIANT_KEEP;
	return (enum variant)c->note;
}

static void side_arm(struct stateful *s, struct side *side)
{
	/* no time-out is shorter: a nearer deadline is always seen in time */
	uint64_t at = s->now + s->rto_min;

	if (side->timed)
		return;
	if (side->deadline)
		at = RTE_MIN(at, side->deadline);
	if (side->ack_deadline)
		at = RTE_MIN(at, side->ack_deadline);
	if (side->hold_until)
		at = RTE_MIN(at, side->hold_until);
	side->timed = 1;
	timer_add(&s->timer, side_number(s, side) << TIMER_KIND_BITS | TIMER_SIDE, at);
}

static void timer_set(struct stateful *s, struct side *side)
{
	side->deadline = s->now + (uint64_t)side->rto_us * 1000;
	side_arm(s, side);
}

static uint32_t message_index(const struct entry *e, const struct message *m)
{
	return (uint32_t)(m - e->messages.message);
}

bool sender_borrow(struct stateful *s, struct conn *c, const struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	uint32_t mss = conn_mss(s, c), flight = c->flight;
	uint8_t fin = c->fin && flight;
	const struct message *m =
		entry_message(e, requests_content(e, c->requests), outstanding_variant(e, c));
	struct side *side;

	if (sides_are_short(s) || !table_borrow_side(&s->table, c))
		return false;
	side = table_side(&s->table, c);
	side->start_seq = c->snd_nxt;
	side->started = s->time - (uint32_t)(conn_elapsed(s, c) >> CONN_TIME_SHIFT);
	side->recover = side->snd_una;
	side->snd_wnd = seg ? seg->wnd : e->simple_max;
	congestion_start(side, mss);
	side->rto_us = (uint32_t)(e->rto / 1000);
	if (seg && segment_mbuf(seg)) {
		memcpy(side->mac,
		       rte_pktmbuf_mtod(segment_mbuf(seg), const struct rte_ether_hdr *)
			       ->src_addr.addr_bytes,
		       sizeof(side->mac));
		side->has_mac = 1;
	}
	if (flight > fin && c->state != SYN_RECEIVED && c->state != SYN_SENT) {
		side->queue[0] = (struct queued){.message = message_index(e, m)};
		side->queued = 1;
		side->length = m->length;
		side->start_seq = c->snd_nxt - fin - side->length;
	} else {
		side->start_seq -= fin;
	}
	side->fin_wanted = c->fin;
	if (flight)
		timer_set(s, side);
	return true;
}

/* The message an offset lies in; *offset becomes that in the message. */
static const struct message *message_at(struct entry *e, const struct side *side, uint32_t *offset)
{
	const struct queued *q = &side->queue[side->queued ? side->queued - 1 : 0];
	const struct message *m;

	if (side->scripted)
		return conversation_message(e, side);
	while (*offset < q->at)
		q--;
	m = &e->messages.message[q->message];
	*offset -= q->at;
	if (*offset >= m->length)
		*offset %= m->length;
	return m;
}

/* How many bytes of what is queued may leave by now. */
static uint32_t side_due(const struct side *side)
{
	return unlikely(side->hold_until) ? side->held_from : side->length;
}

/* Find the first response that is not due yet. */
static void hold_set(const struct stateful *s, struct side *side)
{
	side->hold_until = 0;
	for (uint32_t i = 0; i < side->queued && !side->hold_until; i++) {
		struct queued *q = &side->queue[i];
		int32_t left = (int32_t)(q->due - (uint32_t)(s->now >> DUE_SHIFT));

		if (q->due && left > 0) {
			side->hold_until = ((s->now >> DUE_SHIFT) + (uint32_t)left) << DUE_SHIFT;
			side->held_from = q->at;
		} else {
			q->due =
				0; /* before it lies too far back to be told from what is to come */
		}
	}
}

static void count_retransmission(struct stateful *s, uint32_t len, bool fin)
{
	if (len)
		s->counters->value[COUNTER_PUSH_RT]++;
	else if (fin)
		s->counters->value[COUNTER_FIN_RT]++;
}

/* Send one segment that starts at seq, of at most `max` bytes. Returns the sequence space it took,
 * 0 when there was no packet for it. */
static uint32_t send_at(struct stateful *s, struct conn *c, struct side *side, struct segment *seg,
			uint32_t seq, uint32_t max)
{
	struct entry *e = conn_entry(s, c);
	uint32_t offset = seq - side->start_seq;
	uint32_t due = side_due(side);
	uint32_t left = offset < due ? due - offset : 0;
	uint32_t within = offset, len = RTE_MIN(left, max);
	const struct message *m = message_at(e, side, &within);
	bool fin;
	uint8_t flags = TCP_ACK;

	if (len)
		len = RTE_MIN(len, m->length - within);
	fin = side->fin_wanted && due == side->length && len == left &&
	      (!left || !e->config->tcp.separate_fin);
	if (len && (len == left || within + len == m->length))
		flags |= TCP_PSH;
	if (fin)
		flags |= TCP_FIN;
	if (!output_segment(s, c, seg, flags, seq, m, within, len))
		return 0;
	side->unacked = 0;
	if (seq_lt(seq, side->snd_max)) {
		count_retransmission(s, len, fin);
		side->rtt_time = 0; /* Karn's rule */
	} else if (!side->rtt_time) {
		side->rtt_time = s->now;
		side->rtt_seq = seq + len + fin;
	}
	if (fin && !c->fin)
		conn_fin_sent(s, c);
	return len + fin;
}

/* How many bytes may be sent now in one segment; 0 for none. */
static uint32_t send_allowed(const struct side *side, uint32_t mss, uint32_t snd_nxt)
{
	uint32_t window = RTE_MIN(side->cwnd, side->snd_wnd);
	uint32_t flying = snd_nxt - side->snd_una;
	uint32_t left = side->start_seq + side_due(side) - snd_nxt;
	uint32_t allowed = window > flying ? window - flying : 0;

	if (allowed >= mss || allowed >= left)
		return RTE_MIN(mss, allowed);
	return flying ? 0 : allowed; /* no silly small segments while an ACK is to come */
}

/* What to send next: where it starts, and at most how many bytes, 0 for nothing now. In recovery
 * with SACK that is the first lost range not sent again yet, else new data (RFC 6675 section 5,
 * step C). */
static uint32_t send_next(const struct conn *c, const struct side *side, uint32_t mss,
			  uint32_t *seq)
{
	struct sack_range hole;
	uint32_t pipe, from, flying = c->snd_nxt - side->snd_una;

	*seq = c->snd_nxt;
	if (!side->recovering || !c->sack)
		return send_allowed(side, mss, c->snd_nxt);
	pipe = sack_pipe(side, c->snd_nxt, mss);
	if (pipe + mss > side->cwnd)
		return 0;
	from = seq_lt(side->high_rxt, side->snd_una) ? side->snd_una : side->high_rxt;
	if (sack_hole(side, from, &hole) && seq_lt(hole.begin, sack_lost_below(side, mss))) {
		*seq = hole.begin;
		return RTE_MIN(mss, hole.end - hole.begin);
	}
	return side->snd_wnd > flying ? RTE_MIN(mss, side->snd_wnd - flying) : 0;
}

static bool something_left(const struct conn *c, const struct side *side, uint32_t seq)
{
	uint32_t end = side->start_seq + side_due(side);

	return seq != c->snd_nxt || seq_lt(seq, end) ||
	       (seq == end && side->fin_wanted && !side->hold_until);
}

static void sender_push(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct side *side = table_side(&s->table, c);
	uint32_t mss = conn_mss(s, c);
	uint32_t end = side->start_seq + side_due(side);

	for (;;) {
		uint32_t seq, allowed = send_next(c, side, mss, &seq), sent;

		if (!something_left(c, side, seq) || (!allowed && seq != end))
			break;
		sent = tx_open(s) ? send_at(s, c, side, seg, seq, allowed) : 0;
		if (!sent) {
			sender_ready(s, c);
			return;
		}
		seg = NULL;
		if (seq == c->snd_nxt)
			c->snd_nxt += sent;
		else
			side->high_rxt = seq + sent;
		if (seq_lt(side->snd_max, c->snd_nxt))
			side->snd_max = c->snd_nxt;
		if (!side->deadline)
			timer_set(s, side);
	}
	/* a closed window: the timer will probe it */
	if (seq_lt(c->snd_nxt, end) && !side->deadline)
		timer_set(s, side);
}

/* Of the queue, drop what has been acknowledged whole. */
static void queue_forget(struct side *side)
{
	uint32_t acked = side->snd_una - side->start_seq, gone = 0;

	while (gone + 1 < side->queued && side->queue[gone + 1].at <= acked)
		gone++;
	memmove(side->queue, side->queue + gone, (side->queued - gone) * sizeof(*side->queue));
	side->queued -= gone;
}

/* What is still to be sent gets one more message; false when there is no room for it. */
static bool side_append(struct side *side, const struct message *m, uint32_t index,
			uint32_t snd_nxt, uint32_t due)
{
	const struct queued *last;

	if (!side->length || side->snd_una == side->start_seq + side->length) {
		side->queued = 0;
		side->length = 0;
		side->start_seq = snd_nxt;
	} else if (side->length > INT32_MAX) {
		return false;
	}
	last = &side->queue[side->queued ? side->queued - 1 : 0];
	if (!side->queued || last->message != index || (due && due != last->due)) {
		if (side->queued == QUEUE_MAX)
			queue_forget(side);
		if (side->queued == QUEUE_MAX)
			return false;
		side->queue[side->queued++] =
			(struct queued){.at = side->length, .message = index, .due = due};
	}
	side->length += m->length;
	return true;
}

bool sender_send(struct stateful *s, struct conn *c, struct segment *seg, const struct message *m,
		 uint64_t delay)
{
	uint32_t due = delay ? (uint32_t)((s->now + delay) >> DUE_SHIFT) + 1 : 0;
	struct entry *e = conn_entry(s, c);
	struct side *side;

	if (!c->has_side && !sender_borrow(s, c, seg))
		return false;
	side = table_side(&s->table, c);
	due += delay && !due; /* it has wrapped */
	if (side->fin_wanted || !side_append(side, m, message_index(e, m), c->snd_nxt, due))
		return false;
	side->fin_wanted = !e->client && c->closing;
	c->time = side->started = s->time;
	c->retries = 0;
	if (delay && !side->hold_until) { /* what comes behind it waits, at least so long */
		hold_set(s, side);
		side_arm(s, side);
	}
	sender_push(s, c, seg);
	return true;
}

void sender_close(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct side *side = table_side(&s->table, c);

	if (!side->length)
		side->start_seq = c->snd_nxt;
	side->fin_wanted = 1;
	sender_push(s, c, seg);
}

/* RFC 6298 section 2 */
static void rtt_sample(struct side *side, uint64_t rtt_ns, uint32_t min_us)
{
	uint32_t rtt = (uint32_t)RTE_MIN(rtt_ns / 1000, (uint64_t)RTO_MAX_US);
	uint32_t error = rtt > side->srtt_us ? rtt - side->srtt_us : side->srtt_us - rtt;

	if (!side->srtt_us) {
		side->srtt_us = rtt ? rtt : 1;
		side->rttvar_us = rtt / 2;
	} else {
		side->rttvar_us += (error >> 2) - (side->rttvar_us >> 2);
		side->srtt_us += (rtt >> 3) - (side->srtt_us >> 3);
	}
	side->rto_us = RTE_MIN(RTE_MAX(side->srtt_us + 4 * side->rttvar_us, min_us), RTO_MAX_US);
}

/* A round trip of a segment sent once (Karn's rule), or else the one that a time stamp tells,
 * whatever was sent twice (RFC 7323 section 4.1). */
static void rtt_take(const struct stateful *s, const struct conn *c, struct side *side,
		     const struct segment *seg)
{
	uint32_t min_us = (uint32_t)(conn_entry(s, c)->config->tcp.min_rto / 1000);

	if (side->rtt_time && !seq_lt(side->snd_una, side->rtt_seq)) {
		rtt_sample(side, s->now - side->rtt_time, min_us);
		side->rtt_time = 0;
	} else if (!side->rtt_time && side->stamped && c->state != SYN_SENT && seg->echo) {
		rtt_sample(side, stamp_elapsed(s, seg->echo), min_us);
	}
}

void sender_opened(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct side *side = table_side(&s->table, c);

	side->snd_una = side->snd_max;
	side->snd_wnd = seg->wnd;
	side->deadline = 0;
	rtt_take(s, c, side, seg);
}

static void retransmit_first(struct stateful *s, struct conn *c, struct side *side)
{
	/* no more than was sent: a window that let less than an MSS go may still do so */
	uint32_t max = RTE_MIN((uint32_t)conn_mss(s, c), side->snd_max - side->snd_una);
	uint32_t sent = send_at(s, c, side, NULL, side->snd_una, max);

	if (!sent)
		sender_ready(s, c);
	side->high_rxt = side->snd_una + sent;
	if (seq_lt(side->snd_max, side->high_rxt)) /* a FIN joined it */
		c->snd_nxt = side->snd_max = side->high_rxt;
	timer_set(s, side);
}

/* New data has been acknowledged. In recovery without SACK, a partial ACK tells of the next loss
 * (RFC 6582 section 3.2); with SACK the scoreboard does. */
static void window_advance(struct stateful *s, struct conn *c, struct side *side, uint32_t acked)
{
	uint32_t mss = conn_mss(s, c);

	side->dup_acks = 0;
	if (!side->recovering) {
		congestion_acked(s, conn_entry(s, c), side, mss, acked);
	} else if (!seq_lt(side->snd_una, side->recover)) {
		side->recovering = 0;
		side->cwnd = side->ssthresh;
	} else if (!c->sack) {
		side->cwnd = side->cwnd > acked ? side->cwnd - acked + mss : mss;
		retransmit_first(s, c, side);
	}
}

/* The first segment is lost: send it again at once (fast retransmit). */
static void recovery_begin(struct stateful *s, struct conn *c, struct side *side)
{
	uint32_t mss = conn_mss(s, c);

	congestion_lost(conn_entry(s, c), side, mss);
	side->recover = side->snd_max;
	side->recovering = 1;
	side->cwnd = side->ssthresh + (c->sack ? 0 : 3 * mss);
	retransmit_first(s, c, side);
}

static void duplicate_ack(struct stateful *s, struct conn *c, struct side *side)
{
	bool lost = ++side->dup_acks == 3 ||
		    (c->sack && sack_lost_below(side, conn_mss(s, c)) != side->snd_una);

	if (!side->recovering) {
		if (lost && !seq_lt(side->snd_una, side->recover))
			recovery_begin(s, c, side);
	} else if (!c->sack) {
		side->cwnd += conn_mss(s, c);
	}
}

void sender_acked(struct stateful *s, struct conn *c, struct segment *seg, uint32_t acked)
{
	struct side *side = table_side(&s->table, c);
	bool duplicate = !acked && !seg->len && seg->wnd && seg->wnd == side->snd_wnd &&
			 side->snd_max != side->snd_una && !(seg->flags & TCP_FIN);

	side->snd_wnd = seg->wnd;
	if (c->sack && segment_mbuf(seg))
		sack_read(side, seg);
	/* probes that are answered may go on for ever (RFC 9293 section 3.8.6.1) */
	if (!seg->wnd)
		c->retries = 0;
	if (acked) {
		side->snd_una += acked;
		sack_forget(side);
		if (!side->recovering && seq_lt(side->recover, side->snd_una))
			side->recover = side->snd_una; /* kept near, or it would wrap round */
		if (seq_lt(c->snd_nxt, side->snd_una))
			c->snd_nxt = side->snd_una;
		rtt_take(s, c, side, seg);
		c->retries = 0;
		side->deadline = 0;
		window_advance(s, c, side, acked);
		if (side->snd_una != side->snd_max)
			timer_set(s, side);
		else if (conn_entry(s, c)->idle_timeout)
			conn_arm_rtx(s, c); /* from which the idle time-out begins */
	} else if (duplicate) {
		duplicate_ack(s, c, side);
	}
	/* the packet can be written over if nothing in it is still to be read */
	sender_push(s, c, seg->len || seg->flags & TCP_FIN ? NULL : seg);
}

/* The SYN again, without ECN, which some routers drop SYNs for (RFC 3168 section 6.1.1.1). When
 * there is no packet for it, that is no retransmission. */
static void retransmit_syn(struct stateful *s, struct conn *c, struct side *side)
{
	side->ecn = 0;
	side->rtt_time = 0;
	if (!output_syn(s, c, NULL, side->snd_una)) {
		side->deadline = s->now + SYN_RETRY;
		side_arm(s, side);
		return;
	}
	c->retries++;
	side->rto_us = RTE_MIN(2 * side->rto_us, RTO_MAX_US);
	timer_set(s, side);
	s->counters->value[COUNTER_SYN_RT]++;
}

/* Everything that is not acknowledged is to be sent again. */
static void go_back(struct stateful *s, struct conn *c, struct side *side)
{
	side->recovering = 0;
	side->dup_acks = 0;
	side->recover = side->snd_max;
	side->sack_count = 0;
	c->snd_nxt = side->snd_una;
	timer_set(s, side);
}

/* The retransmission timer (RFC 6298 section 5), or the probe of a closed window (RFC
 * 9293 3.8.6.1). */
static void timer_fire(struct stateful *s, struct conn *c, struct side *side)
{
	struct entry *e = conn_entry(s, c);
	bool probe = side->snd_una == side->snd_max || !side->snd_wnd;

	if (c->retries >= e->config->tcp.retries) {
		conn_give_up(s, c);
		return;
	}
	if (c->state == SYN_SENT || c->state == SYN_RECEIVED) {
		retransmit_syn(s, c, side);
		return;
	}
	c->retries++;
	if (!probe) {
		if (c->retries == 1)
			congestion_lost(e, side, conn_mss(s, c));
		side->cwnd = conn_mss(s, c);
	}
	side->rto_us = RTE_MIN(2 * side->rto_us, RTO_MAX_US);
	go_back(s, c, side);
	if (probe) {
		uint32_t sent = send_at(s, c, side, NULL, c->snd_nxt, 1);

		c->snd_nxt += sent;
		if (seq_lt(side->snd_max, c->snd_nxt))
			side->snd_max = c->snd_nxt;
	} else {
		sender_push(s, c, NULL);
	}
}

/* Without a side record the timer's time comes for it. */
void sender_again(struct stateful *s, struct conn *c)
{
	struct side *side;

	if (!c->has_side && !sender_borrow(s, c, NULL))
		return;
	side = table_side(&s->table, c);
	go_back(s, c, side);
	sender_push(s, c, NULL);
}

void sender_timer(struct stateful *s, uint32_t number)
{
	struct side *side = &s->table.side[number];

	side->timed = 0;
	if (!side->live)
		return;
	if (side->ack_deadline && s->now >= side->ack_deadline) {
		side->ack_deadline = 0;
		if (side->unacked)
			sender_ready(s, side_conn(s, side));
	}
	if (side->hold_until && s->now >= side->hold_until) {
		hold_set(s, side);
		sender_ready(s, side_conn(s, side));
	}
	if (side->deadline && s->now >= side->deadline)
		timer_fire(s, side_conn(s, side), side);
	else if (side->deadline || side->ack_deadline || side->hold_until)
		side_arm(s, side);
}

void sender_delay_ack(struct stateful *s, struct conn *c)
{
	struct side *side = table_side(&s->table, c);
	uint64_t delay = conn_entry(s, c)->ack_delay;

	if (!delay) {
		sender_ready(s, c);
		return;
	}
	if (side->unacked > 1)
		return; /* the first of them is waited for */
	side->ack_deadline = s->now + delay;
	side_arm(s, side);
}

void sender_ready(struct stateful *s, struct conn *c)
{
	struct side *side = table_side(&s->table, c);

	if (side->ready)
		return;
	side->ready = 1;
	side->next_ready = s->ready;
	s->ready = side_number(s, side);
}

void sender_poll(struct stateful *s)
{
	uint32_t number = s->ready;

	s->ready = TABLE_NONE;
	while (number != TABLE_NONE) {
		struct side *side = &s->table.side[number];
		struct conn *c = side_conn(s, side);

		number = side->next_ready;
		side->ready = 0;
		if (!side->live)
			continue;
		sender_push(s, c, NULL);
		if (side->unacked && !side->ack_deadline)
			output_ack(s, c, NULL);
		sender_release(s, c);
	}
}

void sender_go(struct stateful *s, struct conn *c, struct segment *seg)
{
	sender_push(s, c, seg);
}

void sender_release(struct stateful *s, struct conn *c)
{
	const struct entry *e = conn_entry(s, c);
	const struct side *side = table_side(&s->table, c);

	/* a server sends when it has been asked, which tells the window again */
	if (side_is_held(side) || side->receiving || side->unacked || side->kept ||
	    side->snd_una != side->snd_max || c->snd_nxt != side->snd_max ||
	    (side->fin_wanted && !c->fin) ||
	    (side->length && seq_lt(c->snd_nxt, side->start_seq + side->length)) ||
	    (e->client && side->snd_wnd < e->simple_max))
		return;
	table_return_side(&s->table, c, 0);
}
