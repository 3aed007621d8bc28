/* The load of client entries: when a connection or a request is started, and why one that was due
 * was not.
 *
 * cps and rps are absolute schedules (pace.h); concurrency tops up what is open; bps lets requests
 * go while fewer bits have moved than are due. Whatever keys are given together are all held. What
 * is due and can't be started stays due for `catch_up`; then it is given up and counted under what
 * stood in its way. */
#include "core.h"

#define LAUNCH_BURST   32   /* connections or requests of an entry per step */
#define TUPLE_TRIES    256  /* tuples looked at per launch */
#define CHURN_TRIES    64   /* records looked at for one to close */
#define CONNECTING_MAX 1024 /* handshakes in flight when nothing else limits them */
#define CATCH_UP_KEEP  64

static bool load_is_set(struct rate rate)
{
	return rate.den != 0;
}

static bool load_is_max(struct rate rate)
{
	return rate.den && rate.num == UINT64_MAX;
}

/* Connections are opened up to a number, not by a schedule. */
static bool load_fills(const struct config_load *load)
{
	return load->concurrency || load_is_max(load->cps) || load_is_max(load->rps) ||
	       load_is_max(load->bps);
}

static void pace_begin(const struct stateful *s, struct pace *pace, const struct entry *e,
		       struct rate rate)
{
	if (!load_is_set(rate) || load_is_max(rate))
		return;
	pace_init(pace, rate, s->start, s->ramp, s->end, (uint32_t)s->worker * e->parts + e->part,
		  (uint32_t)s->workers * e->parts);
	pace->window = e->config->catch_up;
	pace->keep = CATCH_UP_KEEP;
}

void launch_start(struct stateful *s)
{
	s->started = true;
	s->start = s->now;
	s->end = s->now + s->ramp + s->duration;
	for (unsigned i = 0; i < s->entries; i++) {
		struct entry *e = &s->entry[i];

		if (!e->client)
			continue;
		pace_begin(s, &e->cps, e, e->config->load.cps);
		pace_begin(s, &e->rps, e, e->config->load.rps);
	}
}

/* The next tuple whose replies come to this worker and that is not in use. */
static bool tuple_next4(struct stateful *s, struct entry *e, struct tuple *t, uint32_t *hash)
{
	for (unsigned i = 0; i < TUPLE_TRIES; i++) {
		tuple_walk_next(&e->tuples, t);
		if (steer_owner4(s->steer, t->peer_be, t->local_be, t->peer_port_be,
				 t->local_port_be) != s->worker)
			continue;
		*hash = table_hash(t);
		if (table_find(&s->table, *hash, t) == TABLE_NONE)
			return true;
	}
	return false;
}

static bool tuple_next6(struct stateful *s, struct entry *e, struct tuple *t, struct ip6_pair *pair,
			uint32_t *hash)
{
	for (unsigned i = 0; i < TUPLE_TRIES; i++) {
		tuple_walk_next6(&e->tuples, t, pair);
		if (steer_owner6(s->steer, (const uint8_t *)pair, t->peer_port_be,
				 t->local_port_be) != s->worker)
			continue;
		t->local_be = ip6_number(s, pair->local);
		t->peer_be = ip6_digest(pair->peer);
		*hash = table_hash(t);
		if (table_find6(&s->table, *hash, t, pair->peer) == TABLE_NONE)
			return true;
	}
	return false;
}

static bool blocked(struct entry *e, enum not_offered why)
{
	e->blocked = why;
	return false;
}

static bool launch_one(struct stateful *s, struct entry *e)
{
	struct tuple tuple;
	struct ip6_pair pair;
	uint32_t hash = 0;
	struct conn *c;

	if (!tx_open(s) || !tx_stocked(s->tx))
		return blocked(e, NOT_OFFERED_TX_FULL);
	if (s->table.live == s->table.capacity)
		return blocked(e, NOT_OFFERED_NO_CONN);
	if (s->table.side_live >= s->table.side_high ||
	    (e->needs_side && e->connecting + e->waiting >= s->table.side_high))
		return blocked(e, NOT_OFFERED_NO_SIDE);
	if (e->family == 6 ? !tuple_next6(s, e, &tuple, &pair, &hash)
			   : !tuple_next4(s, e, &tuple, &hash))
		return blocked(e, NOT_OFFERED_NO_TUPLE);
	c = conn_open(s, e, hash, &tuple, e->family == 6 ? &pair : NULL);
	if (!c)
		return blocked(e, NOT_OFFERED_NO_CONN);
	e->blocked = NOT_OFFERED_LATE;
	c->requests = e->requests;
	pipeline_open(s, c);
	if (e->udp) {
		udp_open(s, e, c);
		return true;
	}
	c->state = SYN_SENT;
	if (unlikely(e->scripts))
		conversation_number(e, c);
	c->snd_nxt++;
	c->flight = 1;
	if (unlikely(e->extended))
		extension_begin(s, c, NULL, false, 0);
	/* without a next hop yet, the SYN is sent by the timer */
	output_syn(s, c, NULL, c->snd_nxt - 1);
	conn_arm_rtx(s, c);
	return true;
}

/* Close the connection that was opened longest ago, at once if it is idle, else after the response
 * that it awaits: records are reused last-freed-first, so going round them in order meets them in
 * the order of their opening. */
static bool churn_one(struct stateful *s, struct entry *e)
{
	for (unsigned i = 0; i < CHURN_TRIES && s->table.used; i++) {
		struct conn *c;

		if (e->churn_at >= s->table.used)
			e->churn_at = 0;
		c = &s->table.conn[e->churn_at++];
		if ((c->state != ESTABLISHED && c->state != UDP_OPEN) || c->entry != e->number ||
		    c->note == CONN_LEFT)
			continue;
		if (e->udp && !c->wait) {
			udp_close(s, c, true);
			return true;
		}
		if (!e->udp && conn_is_idle(s, c)) {
			conn_close(s, c, NULL);
			return true;
		}
		if (c->wait && !c->note) {
			c->note = CONN_CHURNED;
			return true;
		}
	}
	return false;
}

/* How many connections may be open now. */
static uint64_t concurrency_now(const struct stateful *s, const struct entry *e)
{
	uint64_t passed = s->now - s->start;

	if (passed >= s->ramp || load_is_set(e->config->load.cps))
		return e->concurrency;
	return (uint64_t)((u128)e->concurrency * passed / s->ramp);
}

static void launch_paced(struct stateful *s, struct entry *e)
{
	e->stats->level.connection.not_offered[e->blocked] += pace_skip(&e->cps, s->now);
	for (unsigned n = 0; n < LAUNCH_BURST && pace_is_due(&e->cps, s->now); n++) {
		if (e->active >= e->concurrency && !(e->churn && churn_one(s, e))) {
			blocked(e, NOT_OFFERED_NO_CONN);
			return;
		}
		if (!launch_one(s, e))
			return;
		pace_done(&e->cps);
	}
}

static void launch_filling(struct stateful *s, struct entry *e, uint64_t target)
{
	for (unsigned n = 0; n < LAUNCH_BURST; n++)
		if (e->active >= target || e->connecting >= CONNECTING_MAX || !launch_one(s, e))
			return;
}

void launch_idle(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);
	struct pipeline *p = conn_pipeline(s, c);

	if (p && p->listed)
		return;
	if (p)
		p->listed = true;
	if (e->idle_tail - e->idle_head <= e->idle_mask)
		e->idle[e->idle_tail++ & e->idle_mask] = table_number(&s->table, c);
}

/* A connection of the ring is taken from it: has it room for a request? */
static bool idle_is_ready(struct stateful *s, struct entry *e, struct conn *c)
{
	struct pipeline *p;

	if (c->entry != e->number)
		return false;
	p = conn_pipeline(s, c);
	if (p)
		p->listed = false;
	return (p ? pipeline_has_room(s, c) : conn_is_idle(s, c)) &&
	       requests_left(e, *conn_requests(s, c));
}

/* The next connection that is ready for a request; stale places of the ring are passed over. */
static struct conn *idle_take(struct stateful *s, struct entry *e)
{
	while (e->idle_head != e->idle_tail) {
		struct conn *c = &s->table.conn[e->idle[e->idle_head++ & e->idle_mask]];

		if (idle_is_ready(s, e, c))
			return c;
	}
	return NULL;
}

static bool request_one(struct stateful *s, struct entry *e)
{
	struct conn *c;

	if (!tx_open(s))
		return blocked(e, NOT_OFFERED_TX_FULL);
	c = idle_take(s, e);
	if (!c)
		return blocked(e, NOT_OFFERED_NO_CONN);
	if (!(e->udp ? udp_request(s, c) : client_request(s, c, NULL))) {
		launch_idle(s, c);
		return blocked(e, NOT_OFFERED_TX_FULL);
	}
	if (conn_pipeline(s, c) && pipeline_has_room(s, c))
		launch_idle(s, c);
	e->blocked = NOT_OFFERED_LATE;
	return true;
}

static void request_rps(struct stateful *s, struct entry *e)
{
	unsigned n;

	e->stats->level.request.not_offered[e->blocked] += pace_skip(&e->rps, s->now);
	for (n = 0; n < LAUNCH_BURST && pace_is_due(&e->rps, s->now); n++) {
		if (!request_one(s, e))
			break;
		pace_done(&e->rps);
	}
	/* no connection is ready for what is due: open one more, unless others are on their way */
	if (n < LAUNCH_BURST && pace_is_due(&e->rps, s->now) && !load_is_set(e->config->load.cps) &&
	    e->connecting < LAUNCH_BURST && e->active < e->concurrency)
		launch_one(s, e);
}

/* Bits due by now: the integral of the rate, ramp in. */
static uint64_t bits_due(const struct stateful *s, const struct entry *e)
{
	struct rate rate = e->config->load.bps;
	uint64_t passed = s->now - s->start, ramp = s->ramp;
	u128 scaled = (u128)rate.num *
		      (passed < ramp ? (u128)passed * passed / ramp / 2 : passed - ramp / 2);

	return (uint64_t)(scaled / rate.den / 1000000000u / s->workers);
}

/* What has moved in the busier direction, and what the requests under way will move: of all parts
 * of the traffic entry, as they have one load and one tally. */
static uint64_t bits_moved(const struct entry *e)
{
	const struct traffic_level *level = &e->stats->level;
	const struct entry *first = e - e->part;
	uint64_t moved = RTE_MAX(level->bits_rx, level->bits_tx);
	uint64_t done = level->request.succeeded, waiting = first->waiting;

	if (first->parts == 2)
		waiting += first[1].waiting;
	return moved + first->bits_lost + waiting * (done ? moved / done : 10000);
}

/* Parts take turns. */
static bool bits_turn(const struct entry *e)
{
	const struct entry *other = e->part ? e - 1 : e + 1;

	return e->parts == 1 || e->turns <= other->turns;
}

static void request_bps(struct stateful *s, struct entry *e)
{
	uint64_t due = bits_due(s, e);
	uint64_t window = bits_due(s, e) / (s->now - s->start + 1) * e->config->catch_up;

	if (!e->part && due > bits_moved(e) + window + 1000000) {
		uint64_t lost = due - bits_moved(e) - window;
		uint64_t done = e->stats->level.request.succeeded;
		uint64_t each = done ? (bits_moved(e) - e->bits_lost) / done : 10000;

		e->bits_lost += lost;
		e->stats->level.request.not_offered[e->blocked] += lost / (each ? each : 1);
	}
	for (unsigned n = 0; n < LAUNCH_BURST && bits_moved(e) < due && bits_turn(e); n++) {
		if (!request_one(s, e))
			break;
		e->turns++;
	}
	if (bits_moved(e) < due && !load_is_set(e->config->load.cps) &&
	    e->connecting < LAUNCH_BURST && e->active < e->concurrency)
		launch_one(s, e);
}

static void launch_entry(struct stateful *s, struct entry *e)
{
	const struct config_load *load = &e->config->load;
	uint64_t target = concurrency_now(s, e);

	if (load_is_set(load->cps) && !load_is_max(load->cps))
		launch_paced(s, e);
	else if (load_fills(load))
		launch_filling(s, e, target);
	if (load_is_set(load->rps) && !load_is_max(load->rps))
		request_rps(s, e);
	else if (load_is_set(load->bps) && !load_is_max(load->bps))
		request_bps(s, e);
}

/* Of a schedule, what was due before `end` and not started. */
static uint64_t pace_left(const struct pace *pace, uint64_t end)
{
	uint64_t due = load_is_set(pace->rate) ? pace_count_own(pace, end) : 0;

	return due > pace->next ? due - pace->next : 0;
}

static void launch_over(struct stateful *s, struct entry *e)
{
	struct traffic_level *level = &e->stats->level;
	uint64_t end = RTE_MIN(s->now, s->end);

	level->connection.not_offered[e->blocked] += pace_left(&e->cps, end);
	level->request.not_offered[e->blocked] += pace_left(&e->rps, end);
}

void launch_poll(struct stateful *s)
{
	if (s->launched_all || !s->started)
		return;
	for (unsigned i = 0; i < s->entries; i++) {
		struct entry *e = &s->entry[i];

		if (!e->client)
			continue;
		if (s->now >= s->end || s->draining)
			launch_over(s, e);
		else
			launch_entry(s, e);
	}
	if (s->now >= s->end || s->draining)
		s->launched_all = true;
}

static uint64_t entry_next(const struct stateful *s, const struct entry *e)
{
	const struct config_load *load = &e->config->load;
	uint64_t next = s->end, tick = s->now + 10000;

	if (load_is_set(e->cps.rate))
		next = RTE_MIN(next, e->cps.next_at > s->now          ? e->cps.next_at
				     : e->blocked == NOT_OFFERED_LATE ? s->now + 1000
								      : tick);
	else if (load_fills(load) && e->active < e->concurrency)
		next = RTE_MIN(next, tick);
	if (load_is_set(e->rps.rate))
		next = RTE_MIN(next, e->rps.next_at > s->now ? e->rps.next_at : tick);
	if (load_is_set(load->bps))
		next = RTE_MIN(next, tick);
	return next;
}

uint64_t launch_next(const struct stateful *s)
{
	uint64_t next = ENGINE_NEVER;

	if (s->launched_all || !s->started)
		return next;
	for (unsigned i = 0; i < s->entries; i++)
		if (s->entry[i].client)
			next = RTE_MIN(next, entry_next(s, &s->entry[i]));
	return next;
}
