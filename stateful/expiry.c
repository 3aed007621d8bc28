/* Timers of connections without a side record, and the end of all connections.
 *
 * The wheel only reminds: what is due follows from the record's state and `time`. */
#include "core.h"

#define TIMERS_PER_POLL 256
#define DRAIN_PER_POLL  64
#define RTO_MAX         60000000000u

static uint64_t conn_rto(const struct entry *e, const struct conn *c)
{
	uint64_t rto = e->rto << c->retries;

	return rto < RTO_MAX ? rto : RTO_MAX;
}

/* A time-out for the far end to do what is awaited runs in these states. */
static bool conn_awaits(const struct conn *c)
{
	return c->state == SYN_SENT || c->state == SYN_RECEIVED || c->state == FIN_WAIT_2 ||
	       c->wait;
}

/* The same segment again: SYN, SYN,ACK, or the message's tail with the FIN if that was sent. */
static bool retransmit(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);
	uint32_t data = c->flight - c->fin;
	enum variant variant = (enum variant)c->note;
	const struct message *m;
	uint32_t seq = c->snd_nxt - c->flight;

	if (c->state == SYN_SENT || c->state == SYN_RECEIVED) {
		s->counters->value[COUNTER_SYN_RT]++;
		return output_syn(s, c, NULL, seq);
	}
	if (!data) {
		s->counters->value[COUNTER_FIN_RT]++;
		return output_bare(s, c, NULL, TCP_FIN | TCP_ACK, seq);
	}
	if (data > conn_mss(s, c)) { /* the path has become narrower */
		sender_again(s, c);
		return c->has_side;
	}
	if (e->client)
		variant = c->closing ? VARIANT_CLOSE : VARIANT_KEEP;
	m = entry_message(e, requests_content(e, c->requests), variant);
	s->counters->value[COUNTER_PUSH_RT]++;
	return output_segment(s, c, NULL, TCP_ACK | TCP_PSH | (c->fin ? TCP_FIN : 0), seq, m,
			      m->length - data, data);
}

void expiry_remind(struct stateful *s, struct conn *c, uint64_t delay)
{
	c->rtx = 1;
	timer_add(&s->timer, table_number(&s->table, c) << TIMER_KIND_BITS | TIMER_RTX,
		  s->now + RTE_MIN(delay, s->rto_min));
}

/* since: how long ago the server last sent something. */
static void server_idle(struct stateful *s, struct conn *c, uint64_t since)
{
	struct entry *e = conn_entry(s, c);

	if (e->client || !e->idle_timeout || !conn_is_idle(s, c))
		return;
	c->time = (uint32_t)((s->now - since) >> e->idle_shift);
	conn_arm_app(s, c, e->idle_timeout > since ? e->idle_timeout - since : 0);
}

static void rtx_expired(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);
	uint64_t since = (uint64_t)(uint32_t)(s->time - c->time) << CONN_TIME_SHIFT;
	uint64_t left = UINT64_MAX;

	c->rtx = 0;
	if (conn_awaits(c)) {
		const struct pipeline *p = c->wait ? conn_pipeline(s, c) : NULL;
		uint64_t elapsed = likely(!p) ? conn_elapsed(s, c)
					      : (uint64_t)(uint32_t)(s->time - p->heard)
							<< CONN_TIME_SHIFT;

		if (elapsed >= e->timeout) {
			conn_give_up(s, c);
			return;
		}
		left = e->timeout - elapsed;
	}
	if (!c->has_side && c->flight) {
		uint64_t rto = conn_rto(e, c);

		if (since >= rto) {
			if (c->retries >= e->config->tcp.retries) {
				conn_give_up(s, c);
				return;
			}
			if (retransmit(s, c)) {
				c->retries++;
				c->time = s->time;
			}
			left = s->rto_min;
		} else {
			left = RTE_MIN(left, rto - since);
		}
	}
	if (left != UINT64_MAX)
		expiry_remind(s, c, left);
	else
		server_idle(s, c, since);
}

/* Think time or idle time-out. While an rtx entry is in the wheel, a server's `time` is that of its
 * last response: then rtx_expired() starts the idle time-out. */
static void app_expired(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);
	uint64_t since = (uint64_t)((uint32_t)(s->now >> e->idle_shift) - c->time) << e->idle_shift;
	bool left = e->client && c->note == CONN_LEFT;
	uint64_t limit = left ? e->config->close.timeout : e->client ? e->think : e->idle_timeout;

	c->app = 0;
	if (unlikely(e->scripts)) {
		if (conn_is_synchronized(c))
			conversation_go(s, c, NULL);
		return;
	}
	if (c->wait && conn_pipeline(s, c))
		pipeline_fill(s, c, NULL);
	if (!conn_is_idle(s, c) || (!e->client && c->rtx))
		return;
	if (since + (1ull << e->idle_shift) < limit)
		conn_arm_app(s, c, limit - since);
	else if (left)
		client_left_over(s, c);
	else if (e->client)
		client_think_over(s, c);
	else
		conn_close(s, c, NULL);
}

void expiry_poll(struct stateful *s)
{
	uint32_t entry;

	for (unsigned n = 0; n < TIMERS_PER_POLL && tx_open(s); n++) {
		struct conn *c;

		if (!timer_take(&s->timer, s->now, &entry))
			return;
		if ((entry & ((1u << TIMER_KIND_BITS) - 1)) == TIMER_SIDE) {
			sender_timer(s, entry >> TIMER_KIND_BITS);
			continue;
		}
		c = &s->table.conn[entry >> TIMER_KIND_BITS];
		if (c->state == CLOSED) {
			table_reminded(&s->table, c, (entry & 1) == TIMER_APP);
		} else if (c->state == UDP_OPEN) {
			udp_reminded(s, c, (entry & 1) == TIMER_APP);
		} else if ((entry & 1) == TIMER_APP) {
			app_expired(s, c);
		} else {
			rtx_expired(s, c);
		}
	}
}

static void drain_conn(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);

	if (c->state == UDP_OPEN)
		udp_close(s, c, s->aborting);
	else if (s->aborting)
		conn_abort(s, c, conn_unfinished(s, c));
	else if (c->state == ESTABLISHED && !e->scripts &&
		 (e->client ? conn_is_idle(s, c) : !c->closing))
		conn_close(s, c, NULL);
}

/* Two sweeps over the records: FIN for what is idle (what is not closes when it is done), and from
 * the deadline on RST for all that is left. */
bool drain_poll(struct stateful *s)
{
	if (!s->aborting && s->now >= s->deadline) {
		s->aborting = true;
		s->sweep = 0;
	}
	for (unsigned n = 0; n < DRAIN_PER_POLL && s->sweep < s->table.used; n++) {
		struct conn *c = &s->table.conn[s->sweep];

		if (!tx_open(s))
			return false;
		s->sweep++;
		if (c->state != CLOSED)
			drain_conn(s, c);
	}
	return s->sweep == s->table.used;
}

/* A port that takes no packet, its link being down, keeps the drain from its end; and so may the
 * clock. */
void drain_settle(struct stateful *s)
{
	for (uint32_t i = 0; i < s->table.used; i++) {
		struct conn *c = &s->table.conn[i];

		if (c->state == UDP_OPEN)
			udp_close(s, c, true);
		else if (c->state != CLOSED)
			conn_end(s, c, conn_unfinished(s, c));
	}
}
