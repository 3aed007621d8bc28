/* The simulated network: see sim.h.
 *
 * One step: take what is due at one end in bursts, let the engine have it, poll, put what it sends
 * on the wire; then the other end. Ends take turns in a fixed order, so that a run can be repeated.
 * An end is polled when packets came or when the engine asked for it, not at every step of the
 * clock: an engine that asks for the wrong time shows here, while a worker that polls all the time
 * would hide it. There are no neighbours to resolve: the caller gives each engine the other's MAC
 * address as its gateway. */
#include "sim.h"

static void count_sent(struct counters *c, const struct rte_mbuf *m)
{
	c->value[COUNTER_PKT_TX]++;
	c->value[COUNTER_BITS_TX] += m->pkt_len * 8u;
}

/* A packet whose payload lies elsewhere, made whole; NULL: no memory, it is lost. */
static struct rte_mbuf *made_whole(struct sim *s, struct rte_mbuf *m)
{
	struct rte_mbuf *whole = packet_box_copy(s->box, m);

	packet_box_free(s->box, m);
	return whole;
}

/* The wire changes or frees what it is given: whoever looks on gets a copy. */
static void put(struct sim *s, unsigned from, struct rte_mbuf *m)
{
	struct rte_mbuf *seen;
	unsigned fate;

	if (m->next)
		m = made_whole(s, m);
	if (!m)
		return;
	seen = s->tap ? packet_box_copy(s->box, m) : NULL;
	fate = wire_put(&s->end[from]->wire, m, s->now);
	if (seen) {
		s->tap(s->tap_arg, from, seen, s->now, fate);
		packet_box_free(s->box, seen);
	}
}

static void flush(struct sim *s, unsigned from)
{
	struct sim_end *end = s->end[from];
	struct tx *tx = &end->tx.tx;

	if (end->tunnel) {
		uint32_t sealed = tunnel_seal(end->tunnel, tx, tx->queue, tx->count);

		end->counters->value[COUNTER_DROP_TX] += tx->count - sealed;
		tx->count = sealed;
	}
	for (uint32_t i = 0; i < tx->count; i++) {
		count_sent(end->counters, tx->queue[i]);
		put(s, from, tx->queue[i]);
	}
	tx->count = 0;
	end->counters->value[COUNTER_DROP_TX] += tx->refused;
	tx->refused = 0;
}

static void count_reason(struct counters *c, uint8_t reason)
{
	c->drop[reason]++;
	if (reason != DROP_NONE && drop_info[reason].counter >= 0)
		c->value[drop_info[reason].counter]++;
}

/* The end's engine for packet i, or NULL. A sink also counts UDP whose checksum is wrong. */
static struct engine *engine_for(const struct sim_end *end, const struct rx_burst *rx, unsigned i)
{
	if (rx->reason[i] == DROP_UDP_CSUM)
		return end->stateless;
	if (rx->reason[i] != DROP_NONE)
		return NULL;
	if (rx->view[i].kind == VIEW_UDP)
		return end->sockets ? end->engine : end->stateless;
	return rx->view[i].kind == VIEW_TCP ? end->engine : NULL;
}

static void reasons_count(struct sim_end *end, struct packet_box *box, struct rx_burst *rx)
{
	for (unsigned i = 0; i < rx->count; i++) {
		count_reason(end->counters, rx->reason[i]);
		packet_box_free(box, rx->pkt[i]);
	}
}

/* Give an engine its part of a burst, then count and give back what it left. */
static void feed(struct sim_end *end, struct packet_box *box, struct engine *engine,
		 struct rx_burst *rx, enum counter counter, uint64_t now)
{
	if (!rx->count)
		return;
	end->counters->value[counter] += rx->count;
	engine->ops->input(engine, rx, &end->tx.tx, now);
	reasons_count(end, box, rx);
}

/* UDP sockets are asked first, then streams. */
static void udp_feed(struct sim_end *end, struct packet_box *box, struct rx_burst *rx, uint64_t now)
{
	struct rx_burst passed = {.count = 0};

	if (!end->sockets || !rx->count) {
		feed(end, box, end->stateless, rx, COUNTER_UDP_RX, now);
		return;
	}
	end->engine->ops->input(end->engine, rx, &end->tx.tx, now);
	if (end->stateless)
		rx_pass_on(rx, &passed);
	end->counters->value[COUNTER_UDP_RX] += rx->count;
	reasons_count(end, box, rx);
	feed(end, box, end->stateless, &passed, COUNTER_UDP_RX, now);
}

static bool is_heeded(struct sim_end *end, const struct rx_burst *rx, unsigned i, uint64_t now)
{
	const struct engine_ops *ops = end->engine->ops;

	return rx->view[i].kind == VIEW_ICMP && ops->unreachable &&
	       ops->unreachable(end->engine, rx->pkt[i], &rx->view[i], &end->tx.tx, now);
}

/* Nobody here speaks ARP, nor of ICMP more than what a router says of a packet: addresses are
 * known, and nothing is asked. */
static void refuse(struct sim_end *end, struct packet_box *box, struct rx_burst *rx, unsigned i,
		   uint64_t now)
{
	if (rx->reason[i] == DROP_NONE && !is_heeded(end, rx, i, now))
		rx->reason[i] = rx->view[i].kind == VIEW_UDP    ? DROP_UDP_NO_PORT
				: rx->view[i].kind == VIEW_ICMP ? DROP_ICMP_IGNORED
								: DROP_IP_PROTO;
	count_reason(end->counters, rx->reason[i]);
	packet_box_free(box, rx->pkt[i]);
}

/* What a replay is told is accepted, whatever it is. */
static void listen(struct sim_end *end, struct packet_box *box, struct rx_burst *rx, uint64_t now)
{
	end->stateless->ops->listen(end->stateless, rx->pkt, rx->count, now);
	for (unsigned i = 0; i < rx->count; i++) {
		end->counters->value[COUNTER_PKT_RX]++;
		end->counters->value[COUNTER_BITS_RX] += rx->pkt[i]->pkt_len * 8u;
		count_reason(end->counters, DROP_NONE);
		packet_box_free(box, rx->pkt[i]);
	}
}

/* Take a burst out of the tunnel; nobody here answers what is outside of it. */
static void untunnel(struct sim_end *end, struct packet_box *box, struct rx_burst *rx)
{
	uint64_t *value = end->counters->value;
	unsigned left = 0;

	for (unsigned i = 0; i < rx->count; i++) {
		struct rte_mbuf *m = rx->pkt[i];
		uint32_t length = m->pkt_len;
		struct view view;
		int opened = tunnel_open(end->tunnel, m, &view);

		if (!opened) {
			value[COUNTER_BITS_RX] += (length - m->pkt_len) * 8u;
			rx->pkt[left++] = m;
			continue;
		}
		value[COUNTER_PKT_RX]++;
		value[COUNTER_BITS_RX] += length * 8u;
		count_reason(end->counters,
			     opened == TUNNEL_OUTSIDE ? DROP_TUNNEL_NONE : (uint8_t)opened);
		packet_box_free(box, m);
	}
	rx->count = left;
}

void sim_input(struct sim_end *end, struct packet_box *box, struct rx_burst *rx, uint64_t now)
{
	struct rx_burst tcp = {.count = 0}, udp = {.count = 0};
	struct view_matcher matcher;

	if (end->tunnel)
		untunnel(end, box, rx);
	if (end->listens) {
		listen(end, box, rx, now);
		return;
	}
	view_matcher_make(&matcher, &end->rule);
	view_parse_burst(rx->pkt, rx->count, &matcher, rx->view, rx->reason);
	if (end->tunnel)
		tunnel_learn(end->tunnel, rx, false);
	for (unsigned i = 0; i < rx->count; i++) {
		struct engine *engine = engine_for(end, rx, i);
		struct rx_burst *to = rx->view[i].kind == VIEW_TCP ? &tcp : &udp;

		end->counters->value[COUNTER_PKT_RX]++;
		end->counters->value[COUNTER_BITS_RX] += rx->pkt[i]->pkt_len * 8u;
		if (!engine) {
			refuse(end, box, rx, i, now);
			continue;
		}
		to->pkt[to->count] = rx->pkt[i];
		to->view[to->count] = rx->view[i];
		to->reason[to->count++] = rx->reason[i];
	}
	feed(end, box, end->engine, &tcp, COUNTER_TCP_RX, now);
	udp_feed(end, box, &udp, now);
}

static bool receive(struct sim *s, unsigned to)
{
	struct wire *wire = &s->end[!to]->wire;
	struct rx_burst rx = {.count = 0};

	while (rx.count < RX_BURST_MAX && (rx.pkt[rx.count] = wire_get(wire, s->now)))
		rx.count++;
	if (rx.count)
		sim_input(s->end[to], s->box, &rx, s->now);
	return rx.count;
}

uint64_t sim_poll(struct sim_end *end, uint64_t now)
{
	uint64_t wake = end->engine->ops->poll(end->engine, &end->tx.tx, now), other;

	if (end->stateless) {
		other = end->stateless->ops->poll(end->stateless, &end->tx.tx, now);
		wake = other < wake ? other : wake;
	}
	return wake > now ? wake : now + SIM_STEP;
}

static void step(struct sim *s)
{
	for (unsigned i = 0; i < 2; i++) {
		struct sim_end *end = s->end[i];

		if (!receive(s, i) && end->wake > s->now)
			continue;
		end->wake = sim_poll(end, s->now);
		flush(s, i);
	}
}

uint64_t sim_next(const struct sim *s)
{
	uint64_t next = ENGINE_NEVER;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t due = wire_next(&s->end[i]->wire);

		next = due < next ? due : next;
		next = s->end[i]->wake < next ? s->end[i]->wake : next;
	}
	return next;
}

void sim_start(struct sim *s, uint64_t now)
{
	s->now = now;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_end *end = s->end[i];

		end->engine->ops->start(end->engine, now);
		if (end->stateless)
			end->stateless->ops->start(end->stateless, now);
		end->wake = now;
	}
}

void sim_run(struct sim *s, uint64_t until)
{
	uint64_t next;

	while ((next = sim_next(s)) <= until) {
		if (next > s->now)
			s->now = next;
		step(s);
	}
	s->now = until > s->now ? until : s->now;
}

void sim_drain(struct sim_end *end, uint64_t now, uint64_t deadline)
{
	end->engine->ops->drain(end->engine, now, deadline);
	if (end->stateless)
		end->stateless->ops->drain(end->stateless, now, deadline);
	end->wake = now;
}

bool sim_idle(const struct sim_end *end)
{
	return end->engine->ops->idle(end->engine) &&
	       (!end->stateless || end->stateless->ops->idle(end->stateless));
}
