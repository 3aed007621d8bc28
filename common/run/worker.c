/* The worker's loop: receive, parse, sort, feed the engine, let it launch, send.
 *
 * Everything happens per burst. Nearly every burst is all TCP for this worker and goes to the
 * engine as it stands; only another one is sorted packet by packet: ARP and ICMP are answered in
 * place, a flow of another worker goes over the hand-off ring to its owner, the rest is refused.
 * The stateful engine always sees a dense burst of valid TCP packets, the stateless one, where the
 * port has one, of UDP. What they leave is counted by reason and recycled.
 *
 * One compare per step, against the next millisecond or the next order if that is sooner, keeps all
 * that is rare out of the way: orders of the control thread, ARP, publishing. The counter that ends
 * a step is the one that begins the next, so a step reads the TSC once and no cycle is unaccounted.
 *
 * A packet that comes over a hand-off ring is parsed again by its owner rather than carried with
 * its view; its checksums are marked as verified. ARP reaches one queue only, but every worker has
 * its own next hops: the one that gets it gives copies to the others, over the same rings.
 *
 * A worker that has been idle for a while yields the core in each step: alone there, that costs it
 * half a microsecond; where a kernel peer or another worker shares the core, it is what lets them
 * work.
 *
 * Rejected: skipping the engine's poll until the time it returned (a launcher that waits for room
 * in the transmit queue would have to say so; the call costs less than the bookkeeping), and
 * sleeping when idle (it would be the latency that the user reads). */
#include "worker.h"

#include <sched.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "../../pcap/tap.h"

#define TICK_NS  1000000u
#define STALL_NS 10000000u
#define IDLE_NS  50000u /* idle for so long, a worker lets others have the core */

static inline void counter_add(struct worker *w, enum counter counter, uint64_t n)
{
	w->counters.value[counter] += n;
}

/* Sample a refused packet. The engine that saw it, or NULL, is asked about its connection. */
static __attribute__((noinline, cold)) void drop_sample(struct worker *w, const struct rte_mbuf *m,
							const struct view *view,
							const struct engine *seen, enum drop reason,
							uint64_t now)
{
	char state[DESCRIBE_MAX] = "";

	if (!m) { /* its acknowledgement was good: an answer to that stands in its place */
		w->sampler->counts.shown++;
		w->sampler->counts.beyond++;
		return;
	}
	if (!sampler_wants(w->sampler, reason, now))
		return;
	if (seen && w->started && seen->ops->describe)
		seen->ops->describe(seen, m, view, state, sizeof(state));
	sampler_take(w->sampler, m, reason, *state ? state : NULL, now);
}

static void drop_count(struct worker *w, enum drop reason)
{
	w->counters.drop[reason]++;
	if (drop_info[reason].counter >= 0)
		w->counters.value[drop_info[reason].counter]++;
}

/* Count packet i of a burst under its reason, which may be none. */
static void reason_count(struct worker *w, const struct rx_burst *rx, unsigned i,
			 const struct engine *seen, uint64_t now)
{
	drop_count(w, rx->reason[i]);
	if (w->sampler && rx->reason[i])
		drop_sample(w, rx->pkt[i], &rx->view[i], seen, rx->reason[i], now);
}

/* The worker of this port that a TCP or UDP packet belongs to: the ports lie at the same place. */
static inline uint16_t packet_owner(const struct worker *w, const struct rte_mbuf *m,
				    const struct view *view)
{
	const struct steer *steer = &w->port->steer;
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, view->l3);
	const uint8_t *tcp = rte_pktmbuf_mtod_offset(m, const uint8_t *, view->l4);
	uint32_t address[2];
	uint16_t port[2];

	if (steer->mode == STEER_TOEPLITZ && m->ol_flags & RTE_MBUF_F_RX_RSS_HASH)
		return steer->reta[m->hash.rss & (steer->reta_size - 1u)];
	memcpy(address, ip + 12, sizeof address);
	memcpy(port, tcp, sizeof port);
	return steer_owner4(steer, address[0], address[1], port[0], port[1]);
}

static bool burst_is_mine(const struct worker *w)
{
	unsigned strangers = 0;

	for (unsigned i = 0; i < w->rx.count; i++)
		strangers |= packet_owner(w, w->rx.pkt[i], &w->rx.view[i]) ^ w->queue;
	return !strangers;
}

/* Packets that are other workers', all TCP or all UDP. */
struct handover {
	enum counter counter; /* of those that do not get there */
	unsigned count;
	struct rte_mbuf *pkt[RX_BURST_MAX];
	uint16_t owner[RX_BURST_MAX];
};

static void handover_add(struct handover *h, struct rte_mbuf *m, uint16_t owner)
{
	/* Verified here: not again by the owner. */
	m->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
	m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	h->pkt[h->count] = m;
	h->owner[h->count++] = owner;
}

/* Hand everything over, in one go per owner. */
static void handover_send(struct worker *w, struct handover *h, uint64_t now)
{
	while (h->count) {
		struct rte_mbuf *pkt[RX_BURST_MAX];
		uint16_t owner = h->owner[0];
		unsigned count = 0, left = 0, taken;

		for (unsigned i = 0; i < h->count; i++) {
			if (h->owner[i] == owner) {
				pkt[count++] = h->pkt[i];
			} else {
				h->pkt[left] = h->pkt[i];
				h->owner[left++] = h->owner[i];
			}
		}
		h->count = left;
		taken = rte_ring_enqueue_burst(w->port->handoff[owner], (void **)pkt, count, NULL);
		counter_add(w, h->counter, count - taken);
		w->counters.drop[DROP_HANDOFF_FULL] += count - taken;
		for (unsigned i = taken; w->sampler && i < count; i++)
			drop_sample(w, pkt[i], NULL, NULL, DROP_HANDOFF_FULL, now);
		rte_pktmbuf_free_bulk(pkt + taken, count - taken);
	}
}

/* Give every other worker of the port a copy of an ARP packet to learn from. */
static void arp_share(struct worker *w, const struct rte_mbuf *m, const struct view *view)
{
	for (uint16_t other = 0; other < w->port->queues; other++) {
		struct rte_mbuf *copy = other == w->queue ? NULL : tx_new(&w->txq.tx);

		if (!copy)
			continue;
		memcpy(rte_pktmbuf_mtod(copy, void *), rte_pktmbuf_mtod(m, void *), view->payload);
		copy->data_len = view->payload;
		copy->pkt_len = view->payload;
		if (rte_ring_enqueue(w->port->handoff[other], copy))
			rte_pktmbuf_free(copy);
	}
}

/* Deal with packet i, which is not TCP or was refused by the parser. A copy of an ARP packet that
 * another worker handed over is not counted: the packet itself was, where it came in. */
static void other_input(struct worker *w, unsigned i, bool handed, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	const struct view *view = &rx->view[i];

	if (!rx->reason[i]) {
		switch (view->kind) {
		case VIEW_ARP:
			if (handed) {
				neighbor_learn(&w->neighbor, rx->pkt[i], view, now);
				return;
			}
			counter_add(w, COUNTER_ARP_RX, 1);
			if (w->handoff)
				arp_share(w, rx->pkt[i], view);
			neighbor_input(&w->neighbor, rx, i, &w->txq.tx, now);
			break;
		case VIEW_ICMP:
			counter_add(w, COUNTER_ICMP_RX, 1);
			neighbor_input(&w->neighbor, rx, i, &w->txq.tx, now);
			break;
		default:
			counter_add(w, COUNTER_UDP_RX, 1);
			rx->reason[i] = DROP_UDP_NO_PORT;
		}
	}
	reason_count(w, rx, i, NULL, now);
}

/* Which burst a packet goes into: that of TCP, that of UDP, or none. A sink also counts UDP whose
 * checksum is wrong, so it goes there with its reason. */
static struct rx_burst *burst_for(struct worker *w, unsigned i)
{
	uint8_t reason = w->rx.reason[i], kind = w->rx.view[i].kind;

	if (!reason && kind == VIEW_TCP)
		return &w->rx;
	if (w->stateless && (reason ? reason == DROP_UDP_CSUM : kind == VIEW_UDP))
		return &w->udp;
	return NULL;
}

/* Sort the burst: TCP packets of this worker stay, moved together; UDP goes into a burst of its own
 * if there is an engine for it; the rest is dealt with. `handed`: it comes from other workers. */
static void burst_sort(struct worker *w, bool handed, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	struct handover tcp = {COUNTER_TCP_RX, .count = 0}, udp = {COUNTER_UDP_RX, .count = 0};
	struct rte_mbuf *rest[RX_BURST_MAX];
	unsigned count = rx->count, rests = 0;

	rx->count = w->udp.count = 0;
	for (unsigned i = 0; i < count; i++) {
		struct rx_burst *to = burst_for(w, i);
		uint16_t owner = w->queue;

		if (!to) {
			other_input(w, i, handed, now);
			rest[rests++] = rx->pkt[i];
			continue;
		}
		if (w->handoff && !handed && !rx->reason[i])
			owner = packet_owner(w, rx->pkt[i], &rx->view[i]);
		if (owner != w->queue) {
			handover_add(to == rx ? &tcp : &udp, rx->pkt[i], owner);
			continue;
		}
		to->pkt[to->count] = rx->pkt[i];
		to->reason[to->count] = rx->reason[i];
		to->view[to->count++] = rx->view[i];
	}
	handover_send(w, &tcp, now);
	handover_send(w, &udp, now);
	txq_recycle(&w->txq, rest, rests);
}

static void engine_start(struct worker *w, uint64_t at)
{
	w->started = true;
	w->start_at = at;
	w->engine->ops->start(w->engine, at);
	if (w->stateless)
		w->stateless->ops->start(w->stateless, at);
}

/* Time as the engine may see it: a step in which it was started early began before its start. */
static inline uint64_t engine_now(const struct worker *w, uint64_t now)
{
	return RTE_MAX(now, w->start_at);
}

/* Packets come in before this worker has seen its time to start: the far end, perhaps a worker of
 * this very run, was quicker. Its SYN must not be lost. */
static void start_early(struct worker *w)
{
	uint64_t start = order_at(w->orders, ORDER_START);

	if (start != UINT64_MAX && order_at(w->orders, ORDER_END) > start)
		engine_start(w, start);
}

/* Give a burst of one protocol to its engine, and count and recycle what it leaves. */
static inline void burst_feed(struct worker *w, struct rx_burst *rx, struct engine *engine,
			      enum counter counter, enum drop too_early, uint64_t now)
{
	unsigned accepted = rx->count;

	counter_add(w, counter, rx->count);
	if (unlikely(!w->started))
		start_early(w);
	if (likely(w->started))
		engine->ops->input(engine, rx, &w->txq.tx, engine_now(w, now));
	else
		memset(rx->reason, too_early, rx->count);
	for (unsigned i = 0; i < rx->count; i++) {
		if (unlikely(rx->reason[i])) {
			reason_count(w, rx, i, engine, now);
			accepted--;
		}
	}
	w->counters.drop[DROP_NONE] += accepted;
	txq_recycle(&w->txq, rx->pkt, rx->count);
}

static inline void tcp_feed(struct worker *w, uint64_t now)
{
	burst_feed(w, &w->rx, w->engine, COUNTER_TCP_RX, DROP_TCP_NO_CONN, now);
}

static inline void udp_feed(struct worker *w, struct rx_burst *rx, uint64_t now)
{
	burst_feed(w, rx, w->stateless, COUNTER_UDP_RX, DROP_UDP_NO_PORT, now);
}

static void sorted_feed(struct worker *w, bool handed, uint64_t now)
{
	burst_sort(w, handed, now);
	tcp_feed(w, now);
	if (w->udp.count)
		udp_feed(w, &w->udp, now);
}

static unsigned receive(struct worker *w, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	unsigned count = rte_eth_rx_burst(w->port_id, w->queue, rx->pkt, RX_BURST_MAX);
	unsigned refused, not_tcp = 0, not_udp = 0;
	uint64_t bytes = 0;

	if (!count)
		return 0;
	rx->count = count;
	for (unsigned i = 0; i < w->txq.taps; i++)
		tap_received(w->txq.tap[i], rx->pkt, count, now);
	refused = view_parse_burst(rx->pkt, count, w->rule, rx->view, rx->reason);
	for (unsigned i = 0; i < count; i++) {
		bytes += rx->pkt[i]->pkt_len;
		not_tcp |= rx->view[i].kind ^ VIEW_TCP;
		not_udp |= rx->view[i].kind ^ VIEW_UDP;
	}
	counter_add(w, COUNTER_PKT_RX, count);
	counter_add(w, COUNTER_BITS_RX, bytes * 8);
	if (unlikely(refused || (w->handoff && !burst_is_mine(w))))
		sorted_feed(w, false, now);
	else if (likely(!not_tcp))
		tcp_feed(w, now);
	else if (!not_udp && w->stateless)
		udp_feed(w, rx, now);
	else
		sorted_feed(w, false, now);
	return count;
}

static unsigned receive_handed(struct worker *w, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	unsigned count =
		rte_ring_sc_dequeue_burst(w->handoff, (void **)rx->pkt, RX_BURST_MAX, NULL);

	if (!count)
		return 0;
	rx->count = count;
	view_parse_burst(rx->pkt, count, w->rule, rx->view, rx->reason);
	sorted_feed(w, true, now);
	return count;
}

static void mark_make(const struct worker *w, struct worker_mark *mark)
{
	mark->counters = w->counters;
	for (unsigned i = 0; i < w->config->traffics; i++)
		if (w->stats[i])
			mark->traffic[i] = w->stats[i]->level;
	mark->cycles = w->status.cycles;
	mark->busy_cycles = w->status.busy_cycles;
}

static void stage_enter(struct worker *w, enum worker_stage stage)
{
	__atomic_store_n(&w->status.stage, stage, __ATOMIC_RELEASE);
}

/* Drain the engine, or tell it that the deadline has come nearer. */
static void drain_order(struct worker *w, uint64_t now)
{
	uint64_t deadline = order_at(w->orders, ORDER_DEADLINE);

	if (w->draining && deadline >= w->deadline)
		return;
	w->draining = true;
	w->deadline = deadline;
	if (!w->started)
		return;
	w->engine->ops->drain(w->engine, now, deadline);
	if (w->stateless)
		w->stateless->ops->drain(w->stateless, now, deadline);
}

static bool engines_idle(const struct worker *w)
{
	return w->engine->ops->idle(w->engine) &&
	       (!w->stateless || w->stateless->ops->idle(w->stateless));
}

/* Carry out the orders whose time has come. The marks are made before anything else happens in that
 * step. */
static void orders_follow(struct worker *w, uint64_t now)
{
	const struct orders *orders = w->orders;
	bool ended = now >= order_at(orders, ORDER_END);

	if (!w->started && !w->has_client)
		engine_start(w, now); /* a server serves whoever is there already */
	if (w->status.stage == STAGE_WAITING && !ended && now >= order_at(orders, ORDER_START)) {
		if (!w->started)
			engine_start(w, order_at(orders, ORDER_START));
		stage_enter(w, STAGE_LOADED);
	}
	if (w->status.stage == STAGE_LOADED && now >= order_at(orders, ORDER_STEADY)) {
		mark_make(w, &w->begin);
		w->begun = true;
		stage_enter(w, STAGE_STEADY);
	}
	if (w->status.stage != STAGE_ENDED && ended) {
		mark_make(w, &w->end);
		stage_enter(w, STAGE_ENDED);
	}
	if ((ended && w->has_client) || now >= order_at(orders, ORDER_SERVER_DRAIN))
		drain_order(w, now);
}

static void status_publish(struct worker *w)
{
	struct worker_status *status = &w->status;
	uint64_t bytes, connections;
	bool idle = !w->started || (engines_idle(w) && !w->txq.tx.count);

	w->engine->ops->usage(w->engine, &bytes, &connections);
	if (connections >= status->connections) {
		__atomic_store_n(&status->connections, connections, __ATOMIC_RELAXED);
		__atomic_store_n(&status->memory_bytes, bytes, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&status->resolved, !w->neighbor.pending, __ATOMIC_RELAXED);
	__atomic_store_n(&status->idle, w->draining && idle, __ATOMIC_RELEASE);
}

/* Let the threads that write captures know how far this worker is. */
static void capture_publish(struct worker *w, uint64_t now)
{
	for (unsigned i = 0; i < w->txq.taps; i++)
		channel_complete(w->txq.tap[i]->channel, w->txq.tap[i]->origin_ns + now);
	if (w->sampler)
		channel_complete(w->sampler->channel, w->sampler->origin_ns + now);
}

static void worker_tick(struct worker *w, uint64_t now)
{
	orders_follow(w, now);
	neighbor_poll(&w->neighbor, &w->txq.tx, now);
	status_publish(w);
	capture_publish(w, now);
	w->tick_at = now + TICK_NS;
	for (unsigned i = 0; i < ORDERS; i++) {
		uint64_t at = order_at(w->orders, i);

		if (at > now && at < w->tick_at)
			w->tick_at = at;
	}
}

/* One step; true if it did something. */
static inline bool worker_step(struct worker *w, uint64_t now)
{
	unsigned moved;

	if (unlikely(now >= w->tick_at))
		worker_tick(w, now);
	moved = receive(w, now);
	if (w->handoff)
		moved += receive_handed(w, now);
	if (likely(w->started)) {
		w->engine->ops->poll(w->engine, &w->txq.tx, engine_now(w, now));
		if (w->stateless)
			w->stateless->ops->poll(w->stateless, &w->txq.tx, engine_now(w, now));
	}
	return moved + txq_flush(&w->txq, now);
}

/* One step of each worker of the core; true if one did something. *tsc becomes the time of the end.
 */
static inline bool group_step(const struct worker_group *group, uint64_t stall, uint64_t *tsc)
{
	bool any = false;

	for (unsigned i = 0; i < group->workers; i++) {
		struct worker_status *status = &group->worker[i]->status;
		bool busy = worker_step(group->worker[i], clock_ns(group->clock, *tsc));
		uint64_t end = rte_rdtsc(), cycles = end - *tsc;

		status->cycles += cycles;
		if (busy)
			status->busy_cycles += cycles;
		if (unlikely(cycles > stall)) {
			status->stalls++;
			status->stall_cycles = RTE_MAX(status->stall_cycles, cycles);
		}
		any |= busy;
		*tsc = end;
	}
	return any;
}

int worker_loop(void *arg)
{
	const struct worker_group *group = arg;
	uint64_t stall = clock_cycles(group->clock, STALL_NS);
	uint64_t idle = clock_cycles(group->clock, IDLE_NS);
	uint64_t tsc = rte_rdtsc(), worked = tsc, now;

	port_enter();
	do {
		now = clock_ns(group->clock, tsc);
		if (group_step(group, stall, &tsc))
			worked = tsc;
		else if (tsc - worked > idle)
			sched_yield();
		port_pass();
	} while (now < order_at(group->orders, ORDER_STOP));
	port_leave();
	return 0;
}
