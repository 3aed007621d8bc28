/* UDP sockets of clients: requests out, answers taken, what is not answered in time is lost.
 *
 * A socket is a connection's record in the state UDP_OPEN: `snd_nxt` numbers the next request,
 * `rcv_nxt` the oldest that waits, `flight` says how many do. With one request at a time `time` is
 * when it was sent; with a pipeline the entry has a ring of times for each record. The number in a
 * request, with which its answer begins, tells a late or doubled answer from the one awaited; it
 * begins at a point that grows with time (conn_isn), so an answer to a socket before on the same
 * tuple is told too. Where answers bear no number, each is taken for the oldest request.
 *
 * A request is lost when its time is over, or when so many later ones were sent that its place in
 * the ring is needed; then the socket goes on with the next. It is never sent again: what the far
 * end did not answer is the figure.
 *
 * Rejected: a bit per request beside the ring (a time that is not zero says as much). */
#include "core.h"

#include <string.h>

static uint32_t *sent_at(const struct stateful *s, const struct entry *e, struct conn *c,
			 uint32_t number)
{
	if (!e->sent)
		return &c->time;
	return &e->sent[(size_t)table_number(&s->table, c) * e->ring + (number & (e->ring - 1))];
}

static uint64_t elapsed(const struct stateful *s, uint32_t sent)
{
	return (uint64_t)(uint32_t)(s->time - sent) << CONN_TIME_SHIFT;
}

/* One request less waits: move over those that were answered out of order. */
static void request_over(struct stateful *s, struct entry *e, struct conn *c)
{
	c->wait = --c->flight != 0;
	e->waiting--;
	if (!e->sent) {
		c->rcv_nxt++;
		return;
	}
	while (c->rcv_nxt != c->snd_nxt && !*sent_at(s, e, c, c->rcv_nxt))
		c->rcv_nxt++;
}

static void request_failed(struct entry *e, struct conn *c, enum failed failed)
{
	e->stats->level.request.failed[failed]++;
	c->closing |= c->note == CONN_CHURNED;
	conn_note(c, failed);
}

static void oldest_lose(struct stateful *s, struct entry *e, struct conn *c)
{
	*sent_at(s, e, c, c->rcv_nxt) = 0;
	request_failed(e, c, FAILED_TIMEOUT);
	s->counters->value[COUNTER_UDP_LOST]++;
	request_over(s, e, c);
}

/* Send the next request, in the packet of slot i of a burst unless rx is NULL. A transmit queue
 * that is half full takes none: what the port cannot carry is not asked for. */
static bool request_send(struct stateful *s, struct entry *e, struct conn *c, struct rx_burst *rx,
			 unsigned i)
{
	struct rte_mbuf *in = rx ? rx->pkt[i] : NULL, *m;
	const struct ip6_pair *ip6 = NULL;
	struct ip6_pair pair;
	const uint8_t *mac;

	if (unlikely(e->family == 6)) {
		pair.peer = s->table.peer6[table_number(&s->table, c)];
		pair.local = ip6_address(s, c->tuple.local_be);
		ip6 = &pair;
	}
	mac = udp_hop(s, in, c->tuple.peer_be, ip6);
	if (unlikely(!mac || !tx_open(s)))
		return false;
	if (in && mbuf_reusable(in, udp_headers(s, e->family) + e->payload))
		m = rx_take(rx, i);
	else
		m = tx_new(s->tx);
	if (unlikely(!m))
		return false;
	if (c->snd_nxt - c->rcv_nxt == e->ring && e->sent)
		oldest_lose(s, e, c);
	udp_send(s, e, m, mac, &c->tuple, ip6, htonl(c->snd_nxt));
	*sent_at(s, e, c, c->snd_nxt) = s->time | 1;
	c->snd_nxt++;
	c->flight++;
	c->wait = 1;
	if (c->requests != requests_unlimited(e))
		c->requests--;
	e->waiting++;
	e->stats->level.request.offered++;
	s->counters->value[COUNTER_UDP_REQ]++;
	conn_arm_rtx(s, c);
	return true;
}

/* Wait for think time, or for the next tick. */
static void rest(struct stateful *s, struct entry *e, struct conn *c, uint64_t delay)
{
	c->time = (uint32_t)(s->now >> e->idle_shift);
	conn_arm_app(s, c, delay);
}

/* As many requests as may wait. If none can be sent now, it goes on at the next tick. */
static void fill(struct stateful *s, struct entry *e, struct conn *c, struct rx_burst *rx,
		 unsigned i)
{
	while (c->flight < e->config->pipeline && c->requests) {
		if (!request_send(s, e, c, rx, i)) {
			if (!c->flight)
				rest(s, e, c, 0);
			return;
		}
		rx = NULL;
	}
}

/* No request is to follow. */
static bool is_over(const struct stateful *s, const struct entry *e, const struct conn *c)
{
	return s->draining || c->closing || c->note == CONN_CHURNED || (!c->requests && !e->churn);
}

/* What comes after an answer or a loss. was_full: there was no room for a request before. */
static void go_on(struct stateful *s, struct entry *e, struct conn *c, bool was_full,
		  struct rx_burst *rx, unsigned i)
{
	if (is_over(s, e, c)) {
		if (!c->flight)
			conn_end(s, c, -1);
	} else if (e->paced) {
		if (was_full)
			launch_idle(s, c);
	} else if (!e->think) {
		fill(s, e, c, rx, i);
	} else if (!c->flight) {
		rest(s, e, c, e->think);
	}
}

void udp_open(struct stateful *s, struct entry *e, struct conn *c)
{
	conn_established(s, c);
	c->state = UDP_OPEN;
	c->rcv_nxt = c->snd_nxt;
	if (e->paced)
		launch_idle(s, c);
	else
		fill(s, e, c, NULL, 0);
}

/* A request of a paced load: the socket was taken from the ring of those with room. */
bool udp_request(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);

	if (!request_send(s, e, c, NULL, 0))
		return false;
	if (c->flight < e->config->pipeline && c->requests)
		launch_idle(s, c);
	return true;
}

/* The number that an answer begins with; none at all is one that is not awaited. */
static uint32_t number_read(const struct conn *c, const struct rte_mbuf *m, const struct view *view)
{
	uint32_t number_be;

	if (view->payload_len < sizeof(number_be))
		return c->snd_nxt;
	memcpy(&number_be, rte_pktmbuf_mtod_offset(m, const char *, view->payload),
	       sizeof(number_be));
	return ntohl(number_be);
}

void udp_answer(struct stateful *s, struct conn *c, struct rx_burst *rx, unsigned i)
{
	struct entry *e = conn_entry(s, c);
	const struct view *view = &rx->view[i];
	uint32_t number = c->rcv_nxt, *sent;
	bool was_full = c->flight == e->config->pipeline;

	e->stats->level.bits_rx += (uint64_t)rx->pkt[i]->pkt_len * 8;
	if (e->numbered)
		number = number_read(c, rx->pkt[i], view);
	sent = sent_at(s, e, c, number);
	if (number - c->rcv_nxt >= c->snd_nxt - c->rcv_nxt || !*sent) {
		rx->reason[i] = DROP_UDP_LATE;
		return;
	}
	hist_add(&e->stats->response, elapsed(s, *sent));
	*sent = 0;
	request_over(s, e, c);
	s->counters->value[COUNTER_UDP_RSP]++;
	if (e->config->response.body_size != CONFIG_ANY_SIZE &&
	    e->config->response.body_size != view->payload_len)
		request_failed(e, c, FAILED_LENGTH);
	else
		e->stats->level.request.succeeded++;
	go_on(s, e, c, was_full, rx, i);
}

/* Lose what has waited too long, and be reminded of the next that may. */
static void overdue(struct stateful *s, struct entry *e, struct conn *c)
{
	bool was_full = c->flight == e->config->pipeline, lost = false;

	while (c->flight) {
		uint64_t since = elapsed(s, *sent_at(s, e, c, c->rcv_nxt));

		if (since < e->timeout) {
			expiry_remind(s, c, e->timeout - since);
			break;
		}
		oldest_lose(s, e, c);
		lost = true;
	}
	if (lost)
		go_on(s, e, c, was_full, NULL, 0);
}

void udp_reminded(struct stateful *s, struct conn *c, bool app)
{
	struct entry *e = conn_entry(s, c);
	uint64_t since = (uint64_t)((uint32_t)(s->now >> e->idle_shift) - c->time) << e->idle_shift;

	if (!app) {
		c->rtx = 0;
		overdue(s, e, c);
		return;
	}
	c->app = 0;
	if (c->flight || e->paced)
		return;
	if (since + (1ull << e->idle_shift) < e->think)
		conn_arm_app(s, c, e->think - since);
	else if (is_over(s, e, c))
		conn_end(s, c, -1);
	else
		fill(s, e, c, NULL, 0);
}

void udp_close(struct stateful *s, struct conn *c, bool now)
{
	struct entry *e = conn_entry(s, c);

	while (now && c->flight)
		oldest_lose(s, e, c);
	if (!c->flight)
		conn_end(s, c, -1);
}
