/* Segments of synchronized connections: RFC 9293 section 3.10.7.4, in the order of its checks, with
 * RFC 5961's challenge ACKs. */
#include "core.h"

#define CHALLENGE_PERIOD 1000000u
#define CHALLENGES_MAX   32u

/* Two ends that are out of step would answer each other's bare ACKs for ever: of the answers to
 * those only so many are sent per ms and worker (RFC 5961 section 7). */
static bool challenge_allowed(struct stateful *s, const struct segment *seg)
{
	uint64_t period = s->now / CHALLENGE_PERIOD;

	if (seg->len || seg->flags & (TCP_SYN | TCP_FIN | TCP_RST))
		return true;
	if (s->challenge_period != period) {
		s->challenge_period = period;
		s->challenges = 0;
	}
	return s->challenges++ < CHALLENGES_MAX;
}

void conn_challenge(struct stateful *s, struct conn *c, struct segment *seg, enum drop reason)
{
	segment_refuse(seg, reason);
	if (!challenge_allowed(s, seg))
		return;
	s->counters->value[COUNTER_ACK_RT]++;
	output_ack(s, c, seg);
}

/* Both ends have opened at once, and this SYN,ACK, whose SYN is known already, acknowledges ours
 * (RFC 9293 section 3.5, figure 7). Its window is not scaled. */
static bool is_simultaneous(const struct conn *c, const struct segment *seg)
{
	return c->state == SYN_RECEIVED &&
	       (seg->flags & (TCP_SYN | TCP_ACK | TCP_RST)) == (TCP_SYN | TCP_ACK) &&
	       seg->seq + 1 == c->rcv_nxt && seg->ack == c->snd_nxt;
}

static void input_old(struct stateful *s, struct conn *c, struct segment *seg)
{
	if (seg->flags & TCP_RST) {
		segment_refuse(seg, DROP_TCP_BAD_RST);
		return;
	}
	if (c->state == SYN_RECEIVED && seg->flags & TCP_SYN && seg->seq + 1 == c->rcv_nxt) {
		/* our SYN,ACK was lost, or is late: send it again rather than wait for the timer */
		segment_refuse(seg, DROP_TCP_OLD_DATA);
		s->counters->value[COUNTER_SYN_RT]++;
		output_syn(s, c, seg, c->snd_nxt - 1);
		return;
	}
	conn_challenge(s, c, seg,
		       seq_lt(seg->seq, c->rcv_nxt) ? DROP_TCP_OLD_DATA : DROP_TCP_BAD_SEQ);
}

/* First check: is anything of the segment inside the receive window? Cuts off what was received
 * before. */
static bool input_in_window(struct stateful *s, struct entry *e, struct conn *c,
			    struct segment *seg)
{
	uint32_t length = seg->len + !!(seg->flags & TCP_SYN) + !!(seg->flags & TCP_FIN);
	uint32_t window = e->config->tcp.window;
	uint32_t old = c->rcv_nxt - seg->seq;

	if (seg->seq - c->rcv_nxt < window)
		return true;
	if (unlikely(is_simultaneous(c, seg))) {
		seg->seq++;
		seg->flags &= (uint8_t)~TCP_SYN;
		seg->wnd >>= c->scale == CONN_NO_SCALE ? 0 : c->scale;
		return true;
	}
	if ((int32_t)old <= 0 || old >= length || seg->flags & (TCP_SYN | TCP_RST)) {
		input_old(s, c, seg);
		return false;
	}
	seg->offset += old;
	seg->len -= old;
	seg->seq += old;
	seg->ack_now = ACK_NOW;
	return true;
}

/* Second to fourth check: RST, SYN, no ACK. False: the segment is done with. */
static bool input_flags(struct stateful *s, struct conn *c, struct segment *seg)
{
	if (seg->flags & TCP_RST) {
		/* with both FINs exchanged all has been said: the far end has only forgotten us */
		bool said = c->state == LAST_ACK || c->state == CLOSING;

		if (seg->seq == c->rcv_nxt)
			conn_end(s, c,
				 said                        ? -1
				 : conn_entry(s, c)->scripts ? conversation_reset(s, c)
							     : FAILED_RESET);
		else
			conn_challenge(s, c, seg, DROP_TCP_BAD_RST);
		return false;
	}
	if (seg->flags & TCP_SYN) {
		conn_challenge(s, c, seg, DROP_TCP_BAD_SYN);
		return false;
	}
	if (!(seg->flags & TCP_ACK)) {
		segment_refuse(seg, DROP_TCP_NO_ACK);
		return false;
	}
	return true;
}

/* Everything we sent has been acknowledged; false when that was the end of the connection. */
static bool input_all_acked(struct stateful *s, struct entry *e, struct conn *c,
			    struct segment *seg)
{
	switch (c->state) {
	case SYN_RECEIVED:
		if (unlikely(e->client))
			hist_add(&e->stats->connect, conn_elapsed(s, c));
		conn_established(s, c);
		c->retries = 0;
		if (unlikely(e->client) && !seg->len) /* data would come before any request */
			client_ready(s, c, seg);
		return true;
	case FIN_WAIT_1:
		c->state = FIN_WAIT_2;
		c->time = s->time;
		conn_arm_rtx(s, c);
		return true;
	case CLOSING:
	case LAST_ACK:
		conn_end(s, c, -1);
		return false;
	default:
		if (!c->wait)
			c->retries = 0;
		return true;
	}
}

/* Fifth check: the acknowledgment. */
static bool input_ack(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	struct side *side = c->has_side ? table_side(&s->table, c) : NULL;
	uint32_t flight = conn_flight(s, c);
	uint32_t una = side ? side->snd_una : c->snd_nxt - flight;
	uint32_t acked = seg->ack - una;

	if (acked > flight) {
		if ((int32_t)acked < 0) { /* behind what was acknowledged already */
			if (seg->len)
				return true;
			segment_refuse(seg, DROP_TCP_OLD_ACK);
			return false;
		}
		if (c->state == SYN_RECEIVED) {
			segment_refuse(seg, DROP_TCP_BAD_ACK);
			output_stateless(s, e, seg);
		} else {
			conn_challenge(s, c, seg, DROP_TCP_BAD_ACK);
		}
		return false;
	}
	if (side) {
		sender_acked(s, c, seg, acked);
		if (conn_flight(s, c)) /* the acknowledgment let more be sent */
			return true;
	} else {
		c->flight = (uint16_t)(flight - acked);
		if (seg->wnd < e->simple_max && !(c->state == SYN_RECEIVED && c->flight))
			sender_borrow(s, c, seg);
	}
	return acked < flight || !flight || input_all_acked(s, e, c, seg);
}

/* In-order payload to the client or server. */
static bool input_taken(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	if (unlikely(e->scripts))
		return conversation_data(s, c, seg);
	return e->client ? client_data(s, c, seg) : server_data(s, c, seg);
}

/* It waits here for a side record; or for another reason, then the peer repeats it. */
static void input_untaken(struct stateful *s, struct conn *c, struct segment *seg)
{
	bool begun = seg->seq != c->rcv_nxt; /* some of it was taken */

	if (c->has_side || !sides_are_short(s) || !parked_add(s, PARKED_DATA, seg))
		segment_refuse(seg, DROP_TCP_NO_SIDE);
	else if (!begun)
		seg->ack_now = ACK_NONE;
}

/* Seventh check: the payload. False: it was not taken, the peer must repeat it. */
static bool input_payload(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	bool taken;

	if (c->state != ESTABLISHED && c->state != FIN_WAIT_1 && c->state != FIN_WAIT_2) {
		segment_refuse(seg, DROP_TCP_STATE);
		return false;
	}
	if (seg->seq != c->rcv_nxt) {
		if (reassembly_keep(s, c, seg))
			output_ack(s, c, seg); /* at once: the sender counts these (RFC 5681 4.2) */
		else
			conn_challenge(s, c, seg, DROP_TCP_OUT_OF_ORDER);
		return false;
	}
	if (!seg->ack_now)
		seg->ack_now = ACK_SOON;
	taken = input_taken(s, e, c, seg);
	if (!taken)
		input_untaken(s, c, seg);
	return taken && c->state != CLOSED;
}

/* Eighth check: FIN. */
static void input_fin(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	if (seg->seq + seg->len != c->rcv_nxt) {
		if (!seg->len)
			conn_challenge(s, c, seg, DROP_TCP_OUT_OF_ORDER);
		return;
	}
	if (unlikely(e->scripts) && !conversation_fin(s, c))
		return;
	c->rcv_nxt++;
	seg->ack_now = ACK_NOW;
	switch (c->state) {
	case ESTABLISHED:
		c->state = CLOSE_WAIT;
		conn_retire(s, c);
		if (e->scripts) /* conversation_go() follows */
			return;
		if (e->client)
			client_fin(s, c, seg);
		else
			server_fin(s, c, seg);
		return;
	case FIN_WAIT_1:
		c->state = CLOSING;
		return;
	case FIN_WAIT_2:
		output_ack(s, c, seg);
		conn_end(s, c, -1);
		return;
	default:
		return;
	}
}

/* What was kept and is in turn now. The ACK that fills a gap leaves at once (RFC 5681 section 4.2).
 */
static void input_kept(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	struct segment kept;
	struct rte_mbuf *m;

	while ((m = reassembly_next(s, c, seg, &kept))) {
		bool taken;

		kept.ack_now = ACK_NOW;
		taken = !kept.len || input_taken(s, e, c, &kept);
		if (taken && c->state != CLOSED && kept.flags & TCP_FIN)
			input_fin(s, e, c, &kept);
		s->tx->release(s->tx, m);
		if (c->state == CLOSED)
			return;
		seg->ack_now |= kept.ack_now;
		if (!taken || !c->has_side)
			break;
	}
	if (c->has_side && table_side(&s->table, c)->unacked) {
		table_side(&s->table, c)->unacked = 0;
		seg->ack_now = ACK_NOW;
	}
}

void input_synchronized(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	bool held = c->has_side && side_is_held(table_side(&s->table, c));

	if (unlikely(held) && !extension_check(s, c, seg))
		return;
	if (!input_in_window(s, e, c, seg) || !input_flags(s, c, seg))
		return;
	if (unlikely(held))
		extension_take(s, c, seg);
	seg->wnd = conn_window(c, seg->wnd);
	if (!input_ack(s, e, c, seg))
		return;
	if (seg->len && !input_payload(s, e, c, seg))
		return;
	if (seg->flags & TCP_FIN)
		input_fin(s, e, c, seg);
	if (c->state != CLOSED && c->has_side && table_side(&s->table, c)->kept)
		input_kept(s, e, c, seg);
}
