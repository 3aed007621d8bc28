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

static void flush(struct sim *s, unsigned from)
{
	struct sim_end *end = s->end[from];
	struct tx *tx = &end->tx.tx;

	for (uint32_t i = 0; i < tx->count; i++) {
		count_sent(end->counters, tx->queue[i]);
		if (s->tap)
			s->tap(s->tap_arg, from, tx->queue[i], s->now);
		wire_put(&end->wire, tx->queue[i], s->now);
	}
	tx->count = 0;
	end->counters->value[COUNTER_DROP_TX] += tx->refused;
	tx->refused = 0;
}

static void count_received(struct counters *c, const struct rx_burst *rx, unsigned i)
{
	static const uint8_t of_kind[VIEW_KINDS] = {COUNTER_ARP_RX, COUNTER_ICMP_RX, COUNTER_TCP_RX,
						    COUNTER_UDP_RX};

	c->value[COUNTER_PKT_RX]++;
	c->value[COUNTER_BITS_RX] += rx->pkt[i]->pkt_len * 8u;
	if (rx->reason[i] == DROP_NONE)
		c->value[of_kind[rx->view[i].kind]]++;
}

static void count_reason(struct counters *c, uint8_t reason)
{
	c->drop[reason]++;
	if (reason != DROP_NONE && drop_info[reason].counter >= 0)
		c->value[drop_info[reason].counter]++;
}

/* Move packet i from one burst to the end of another. */
static void move(struct rx_burst *from, unsigned i, struct rx_burst *to)
{
	to->pkt[to->count] = from->pkt[i];
	to->view[to->count] = from->view[i];
	to->reason[to->count] = DROP_NONE;
	to->count++;
	from->pkt[i] = NULL;
}

void sim_input(struct sim_end *end, struct packet_box *box, struct rx_burst *rx, uint64_t now)
{
	struct rx_burst tcp = {.count = 0};

	view_parse_burst(rx->pkt, rx->count, &end->rule, rx->view, rx->reason);
	for (unsigned i = 0; i < rx->count; i++) {
		count_received(end->counters, rx, i);
		if (rx->reason[i] == DROP_NONE && rx->view[i].kind == VIEW_TCP) {
			move(rx, i, &tcp);
			continue;
		}
		if (rx->reason[i] == DROP_NONE)
			rx->reason[i] = DROP_IP_PROTO;
		count_reason(end->counters, rx->reason[i]);
		packet_box_free(box, rx->pkt[i]);
	}
	if (tcp.count)
		end->engine->ops->input(end->engine, &tcp, &end->tx.tx, now);
	for (unsigned i = 0; i < tcp.count; i++) {
		count_reason(end->counters, tcp.reason[i]);
		packet_box_free(box, tcp.pkt[i]);
	}
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

static void step(struct sim *s)
{
	for (unsigned i = 0; i < 2; i++) {
		struct sim_end *end = s->end[i];

		if (!receive(s, i) && end->wake > s->now)
			continue;
		end->wake = end->engine->ops->poll(end->engine, &end->tx.tx, s->now);
		if (end->wake <= s->now)
			end->wake = s->now + SIM_STEP;
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
		s->end[i]->engine->ops->start(s->end[i]->engine, now);
		s->end[i]->wake = now;
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
