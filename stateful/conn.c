/* A connection's life: opened, established, closed, tallied. Both sides use it. */
#include "core.h"

/* RFC 6528: a clock (here 256 ns, 18 minutes round) plus a secret function of the tuple, so a
 * tuple's sequence numbers grow from one connection to the next. */
uint32_t conn_isn(const struct stateful *s, const struct tuple *t)
{
	uint64_t h = ((uint64_t)t->local_be << 32 | t->peer_be) ^ s->secret;

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
	h ^= (uint64_t)t->local_port_be << 16 | t->peer_port_be;
	h = (h ^ h >> 32) * 0x94d049bb133111ebu;
	return (uint32_t)(s->now >> 8) + (uint32_t)(h >> 32);
}

/* The place of a peer's MSS in the table of values seen. When the table is full, the largest value
 * that is not above it: segments are then a little smaller than they might be. */
uint8_t conn_mss_index(struct stateful *s, uint16_t mss)
{
	uint16_t best = 0;

	if (s->mss_value[s->mss_latest] == mss)
		return s->mss_latest;
	for (uint16_t i = 0; i < s->mss_count; i++) {
		if (s->mss_value[i] == mss)
			return s->mss_latest = (uint8_t)i;
		if (s->mss_value[i] < mss && s->mss_value[i] > s->mss_value[best])
			best = i;
	}
	/* the last place is kept for a value below all others */
	if (s->mss_count < CONN_MSS_MAX - 1 ||
	    (s->mss_count < CONN_MSS_MAX && s->mss_value[best] > mss)) {
		s->mss_value[s->mss_count] = mss;
		return (uint8_t)s->mss_count++;
	}
	return (uint8_t)best;
}

struct conn *conn_open(struct stateful *s, struct entry *e, uint32_t hash, const struct tuple *t,
		       const struct ip6_pair *pair)
{
	struct traffic_level *level = &e->stats->level;
	struct conn *c = table_add(&s->table, hash, t);

	if (!c)
		return NULL;
	if (pair)
		s->table.peer6[table_number(&s->table, c)] = pair->peer;
	c->entry = e->number;
	c->snd_nxt = conn_isn(s, t);
	c->time = s->time;
	e->active++;
	e->connecting++;
	level->connection.offered++;
	if (++level->open > level->open_max)
		level->open_max = level->open;
	s->counters->value[COUNTER_SK_OPEN]++;
	s->counters->value[COUNTER_SK_CON]++;
	return c;
}

void conn_established(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);

	c->state = ESTABLISHED;
	e->connecting--;
	e->stats->level.established++;
}

static bool state_is_active(enum tcp_state state)
{
	return state == SYN_SENT || state == SYN_RECEIVED || state == ESTABLISHED ||
	       state == UDP_OPEN;
}

/* A note has 3 bits: only what a connection can outlive is noted. */
static const uint8_t noted[] = {
	0, FAILED_TIMEOUT, FAILED_STATUS, FAILED_PROTOCOL, FAILED_LENGTH,
};
_Static_assert(sizeof(noted) <= CONN_LEFT, "values of their own");

void conn_note(struct conn *c, enum failed failed)
{
	if (c->note && c->note != CONN_CHURNED)
		return;
	for (unsigned i = 1; i < sizeof(noted); i++)
		if (noted[i] == failed)
			c->note = i & 7;
}

int conn_unfinished(const struct stateful *s, const struct conn *c)
{
	if (!c->wait && c->state != SYN_SENT && c->state != SYN_RECEIVED)
		return -1;
	return conn_flight(s, c) && c->retries ? FAILED_TIMEOUT : FAILED_CUT;
}

void conn_retire(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);

	e->active -= !(e->client && c->note == CONN_LEFT);
}

void conn_end(struct stateful *s, struct conn *c, int failed)
{
	struct entry *e = conn_entry(s, c);
	struct tally *tally = &e->stats->level.connection;
	bool requests = e->client && !e->scripts;

	if (requests && c->wait && failed == FAILED_RESET && client_blocked(s, c))
		failed = -1;
	if (requests && c->wait)
		client_lost(s, c, failed < 0 ? FAILED_PROTOCOL : (enum failed)failed);
	if (failed < 0 && e->client && c->note && c->note < CONN_LEFT)
		failed = noted[c->note];
	if (failed < 0) {
		tally->succeeded++;
	} else {
		tally->failed[failed]++;
		s->counters->value[COUNTER_SK_ERR]++;
	}
	if (state_is_active(c->state))
		conn_retire(s, c);
	if (c->state == SYN_SENT || c->state == SYN_RECEIVED)
		e->connecting--;
	if (c->has_side)
		reassembly_free(s, table_side(&s->table, c));
	e->stats->level.open--;
	s->counters->value[COUNTER_SK_CON]--;
	s->counters->value[COUNTER_SK_CLOSE]++;
	table_remove(&s->table, c);
}

uint16_t *conn_requests(struct stateful *s, struct conn *c)
{
	return c->has_side ? &table_side(&s->table, c)->requests : &c->requests;
}

void conn_abort(struct stateful *s, struct conn *c, int failed)
{
	output_bare(s, c, NULL, TCP_RST | TCP_ACK, c->snd_nxt);
	conn_end(s, c, failed);
}

/* Nothing came back in time: how the connection failed is a time-out; a SYN that nobody answered
 * needs no RST. */
void conn_give_up(struct stateful *s, struct conn *c)
{
	if (c->state == SYN_SENT)
		conn_end(s, c, FAILED_TIMEOUT);
	else if (conn_entry(s, c)->scripts && c->has_side)
		conn_abort(s, c, conversation_silent(s, c));
	else
		conn_abort(s, c, FAILED_TIMEOUT);
}

void conn_arm_rtx(struct stateful *s, struct conn *c)
{
	if (c->rtx)
		return;
	c->rtx = 1;
	timer_add(&s->timer, table_number(&s->table, c) << TIMER_KIND_BITS | TIMER_RTX,
		  s->now + s->rto_min);
}

void conn_arm_app(struct stateful *s, struct conn *c, uint64_t delay)
{
	if (c->app)
		return;
	c->app = 1;
	timer_add(&s->timer, table_number(&s->table, c) << TIMER_KIND_BITS | TIMER_APP,
		  s->now + delay);
}

/* The state after our FIN has left. */
static enum tcp_state fin_sent(enum tcp_state state)
{
	return state == CLOSE_WAIT ? LAST_ACK : FIN_WAIT_1;
}

void conn_fin_sent(struct stateful *s, struct conn *c)
{
	if (state_is_active(c->state))
		conn_retire(s, c);
	if (conn_entry(s, c)->client && c->note != CONN_LEFT)
		conn_entry(s, c)->stats->level.closed[CLOSE_FIN]++;
	c->state = fin_sent(c->state);
	c->fin = 1;
}

void conn_close(struct stateful *s, struct conn *c, struct segment *seg)
{
	if (c->has_side)
		sender_release(s, c);
	if (c->has_side) {
		sender_close(s, c, seg);
		return;
	}
	/* without a packet to write it into, the timer sends it as if it had been lost */
	output_bare(s, c, seg, TCP_FIN | TCP_ACK, c->snd_nxt);
	conn_fin_sent(s, c);
	c->snd_nxt++;
	c->flight++;
	c->time = s->time;
	c->retries = 0;
	conn_arm_rtx(s, c);
}

void conn_requests_down(struct stateful *s, struct conn *c)
{
	const struct entry *e = conn_entry(s, c);
	uint16_t *requests = conn_requests(s, c);

	if (requests_left(e, *requests) != requests_unlimited(e))
		*requests = (uint16_t)(*requests - (1u << e->messages.content_bits));
}

static void content_set(struct stateful *s, struct conn *c, uint32_t content)
{
	const struct entry *e = conn_entry(s, c);
	uint16_t *requests = conn_requests(s, c);

	*requests = requests_with(e, *requests, content);
}

static bool send_by_sender(struct stateful *s, struct conn *c, struct segment *seg,
			   uint32_t content, const struct message *m, uint64_t delay)
{
	if (!sender_send(s, c, seg, m, delay))
		return false;
	content_set(s, c, content);
	return true;
}

bool conn_send_later(struct stateful *s, struct conn *c, struct segment *seg, uint32_t content,
		     enum variant variant, uint64_t delay)
{
	return send_by_sender(s, c, seg, content, entry_message(conn_entry(s, c), content, variant),
			      delay);
}

bool conn_send(struct stateful *s, struct conn *c, struct segment *seg, uint32_t content,
	       enum variant variant)
{
	struct entry *e = conn_entry(s, c);
	const struct message *m = entry_message(e, content, variant);
	bool fin = c->closing && !e->client && !e->config->tcp.separate_fin;

	if (c->has_side || c->flight || !m->whole || m->length > conn_mss(s, c) ||
	    (seg && m->length > seg->wnd))
		return send_by_sender(s, c, seg, content, m, 0);
	if (!output_whole(s, c, seg, TCP_ACK | TCP_PSH | (fin ? TCP_FIN : 0), m))
		return false;
	if (!e->client)
		c->note = variant;
	if (e->messages.content_bits)
		content_set(s, c, content);
	c->snd_nxt += m->length;
	c->flight = (uint16_t)m->length;
	c->time = s->time;
	c->retries = 0;
	if (fin) {
		conn_fin_sent(s, c);
		c->snd_nxt++;
		c->flight++;
	}
	conn_arm_rtx(s, c);
	if (!e->client && c->closing && !fin)
		conn_close(s, c, NULL);
	return true;
}

void conn_count_status(struct stateful *s, uint16_t status)
{
	if (status >= 100 && status < 600)
		s->counters->value[COUNTER_HTTP_1XX + status / 100 - 1]++;
}

void conn_delay_ack(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct side *side = table_side(&s->table, c);

	if (++side->unacked >= conn_entry(s, c)->config->tcp.ack_every) {
		side->unacked = 0;
		seg->ack_now = ACK_NOW;
		return;
	}
	seg->ack_now = ACK_NONE;
	sender_delay_ack(s, c);
}
