/* The receiving half of a worker's step: parse, sort, feed the engines, count, recycle.
 *
 * Nearly every burst is all TCP, or all UDP, for this worker and goes to its engine as it stands;
 * only another one is sorted packet by packet: ARP and ICMP are answered in place, a flow of
 * another worker goes over the hand-off ring to its owner, the rest is refused. The stateful engine
 * always sees a dense burst of valid TCP packets, or, where the port has UDP sockets, of UDP; the
 * stateless one, where the port has one, the UDP that is no socket's. What they leave is counted by
 * reason and recycled.
 *
 * A packet that comes over a hand-off ring is parsed again by its owner rather than carried with
 * its view; its checksums are marked as verified. ARP and Neighbour Discovery reach one queue only,
 * but every worker has its own next hops: the one that gets it gives copies to the others, over the
 * same rings. */
#include "worker_input.h"

#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "../../pcap/tap.h"
#include "race.h"
#include "worker_lane.h"
#include "worker_tunnel.h"

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
void worker_reason_count(struct worker *w, const struct rx_burst *rx, unsigned i,
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

	if (steer->mode == STEER_TOEPLITZ && m->ol_flags & RTE_MBUF_F_RX_RSS_HASH &&
	    (view->family == 4 || steer->toeplitz6))
		return steer->reta[m->hash.rss & (steer->reta_size - 1u)];
	memcpy(port, tcp, sizeof port);
	if (view->family == 6)
		return steer_owner6(steer, ip + 8, port[0], port[1]);
	memcpy(address, ip + 12, sizeof address);
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
		race_give();
		taken = rte_ring_enqueue_burst(w->port->handoff[owner], (void **)pkt, count, NULL);
		counter_add(w, h->counter, count - taken);
		w->counters.drop[DROP_HANDOFF_FULL] += count - taken;
		for (unsigned i = taken; w->sampler && i < count; i++)
			drop_sample(w, pkt[i], NULL, NULL, DROP_HANDOFF_FULL, now);
		rte_pktmbuf_free_bulk(pkt + taken, count - taken);
	}
}

void worker_news_share(struct worker *w, const struct rte_mbuf *m, const struct view *view,
		       uint32_t mark)
{
	uint16_t length = (uint16_t)(view->payload + view->payload_len);

	for (uint16_t other = 0; length <= m->data_len && other < w->port->queues; other++) {
		struct rte_mbuf *copy = other == w->queue ? NULL : tx_new(&w->txq.tx);

		if (!copy)
			continue;
		memcpy(rte_pktmbuf_mtod(copy, void *), rte_pktmbuf_mtod(m, void *), length);
		copy->data_len = length;
		copy->pkt_len = length;
		copy->packet_type = mark;
		race_give();
		if (rte_ring_enqueue(w->port->handoff[other], copy))
			rte_pktmbuf_free(copy);
	}
}

/* Destination unreachable, or for IPv6 packet too big. */
static bool is_routers_word(const struct rte_mbuf *m, const struct view *view)
{
	return view->kind == VIEW_ICMP && *rte_pktmbuf_mtod_offset(m, const uint8_t *, view->l4) ==
						  (view->family == 6 ? 2 : 3);
}

/* What a router says of a packet is for the worker that sent it: all get it. */
static void routers_word(struct worker *w, unsigned i, bool handed, uint64_t now)
{
	const struct engine_ops *ops = w->engine->ops;
	const struct view *view = &w->rx.view[i];
	bool heeded = w->started && ops->unreachable &&
		      ops->unreachable(w->engine, w->rx.pkt[i], view, &w->txq.tx,
				       worker_engine_now(w, now));

	if (handed)
		return;
	if (!heeded && w->handoff)
		worker_news_share(w, w->rx.pkt[i], view, 0);
	if (!heeded)
		w->rx.reason[i] = DROP_ICMP_IGNORED;
	counter_add(w, COUNTER_ICMP_RX, 1);
	worker_reason_count(w, &w->rx, i, NULL, now);
}

/* Deal with packet i, which is not TCP or was refused by the parser. A copy that another worker
 * handed over, of news or of a router's word, is not counted: the packet itself was, where it came
 * in. */
static void other_input(struct worker *w, unsigned i, bool handed, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	const struct view *view = &rx->view[i];

	if (!rx->reason[i]) {
		bool news = neighbor_is_news(rx->pkt[i], view);

		if (handed && news) {
			neighbor_learn(&w->neighbor, rx->pkt[i], view, now);
			return;
		}
		if (is_routers_word(rx->pkt[i], view)) {
			routers_word(w, i, handed, now);
			return;
		}
		if (w->handoff && news)
			worker_news_share(w, rx->pkt[i], view, 0);
		switch (view->kind) {
		case VIEW_ARP:
		case VIEW_ICMP:
			counter_add(w, view->kind == VIEW_ARP ? COUNTER_ARP_RX : COUNTER_ICMP_RX,
				    1);
			neighbor_input(&w->neighbor, rx, i, &w->txq.tx, now);
			break;
		default:
			counter_add(w, COUNTER_UDP_RX, 1);
			rx->reason[i] = DROP_UDP_NO_PORT;
		}
	}
	worker_reason_count(w, rx, i, NULL, now);
}

/* Which burst a packet goes into: that of TCP, that of UDP, or none. A sink also counts UDP whose
 * checksum is wrong, so it goes there with its reason. */
static struct rx_burst *burst_for(struct worker *w, unsigned i)
{
	uint8_t reason = w->rx.reason[i], kind = w->rx.view[i].kind;

	if (!reason && kind == VIEW_TCP)
		return &w->rx;
	if (reason ? w->stateless && reason == DROP_UDP_CSUM
		   : kind == VIEW_UDP && (w->stateless || w->sockets))
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

void worker_start(struct worker *w, uint64_t at)
{
	w->started = true;
	w->start_at = at;
	w->engine->ops->start(w->engine, at);
	if (w->stateless)
		w->stateless->ops->start(w->stateless, at);
}

/* Packets come in before this worker has seen its time to start: the far end, perhaps a worker of
 * this very run, was quicker. Its SYN must not be lost. */
static void start_early(struct worker *w)
{
	uint64_t start = order_at(w->orders, ORDER_START);

	if (start != UINT64_MAX && order_at(w->orders, ORDER_END) > start)
		worker_start(w, start);
}

/* Eight reasons at a time; those behind the burst's last do no harm, but cost a second look. */
static inline bool some_refused(const struct rx_burst *rx)
{
	uint64_t any = 0, eight;

	for (unsigned i = 0; i < rx->count; i += sizeof(eight)) {
		memcpy(&eight, rx->reason + i, sizeof(eight));
		any |= eight;
	}
	return any;
}

/* Count the reasons of a burst that an engine has seen, and recycle what it left. */
static inline void burst_done(struct worker *w, struct rx_burst *rx, const struct engine *engine,
			      uint64_t now)
{
	unsigned accepted = rx->count;

	for (unsigned i = 0; unlikely(some_refused(rx)) && i < rx->count; i++) {
		if (rx->reason[i]) {
			worker_reason_count(w, rx, i, engine, now);
			accepted--;
		}
	}
	w->counters.drop[DROP_NONE] += accepted;
	txq_recycle(&w->txq, rx->pkt, rx->count);
}

/* Give a burst of one protocol to its engine. */
static inline void burst_feed(struct worker *w, struct rx_burst *rx, struct engine *engine,
			      enum counter counter, enum drop too_early, uint64_t now)
{
	counter_add(w, counter, rx->count);
	if (unlikely(!w->started))
		start_early(w);
	if (likely(w->started))
		engine->ops->input(engine, rx, &w->txq.tx, worker_engine_now(w, now));
	else
		memset(rx->reason, too_early, rx->count);
	burst_done(w, rx, engine, now);
}

static inline void tcp_feed(struct worker *w, uint64_t now)
{
	burst_feed(w, &w->rx, w->engine, COUNTER_TCP_RX, DROP_TCP_NO_CONN, now);
}

/* UDP sockets and streams on one port: the sockets are asked first. */
static __attribute__((noinline)) void udp_feed_both(struct worker *w, struct rx_burst *rx,
						    uint64_t now)
{
	if (unlikely(!w->started))
		start_early(w);
	if (likely(w->started))
		w->engine->ops->input(w->engine, rx, &w->txq.tx, worker_engine_now(w, now));
	else
		memset(rx->reason, DROP_UDP_NO_PORT, rx->count);
	rx_pass_on(rx, &w->passed);
	counter_add(w, COUNTER_UDP_RX, rx->count);
	burst_done(w, rx, w->engine, now);
	burst_feed(w, &w->passed, w->stateless, COUNTER_UDP_RX, DROP_UDP_NO_PORT, now);
}

static inline void udp_feed(struct worker *w, struct rx_burst *rx, uint64_t now)
{
	if (unlikely(w->sockets && w->stateless))
		udp_feed_both(w, rx, now);
	else
		burst_feed(w, rx, w->sockets ? w->engine : w->stateless, COUNTER_UDP_RX,
			   DROP_UDP_NO_PORT, now);
}

static void sorted_feed(struct worker *w, bool handed, uint64_t now)
{
	burst_sort(w, handed, now);
	tcp_feed(w, now);
	if (w->udp.count)
		udp_feed(w, &w->udp, now);
}

/* A port that a replay listens to: it sees everything, and nothing is refused. */
static __attribute__((noinline)) void worker_listen(struct worker *w, unsigned count, uint64_t now)
{
	struct rx_burst *rx = &w->rx;

	counter_add(w, COUNTER_PKT_RX, count);
	counter_add(w, COUNTER_BITS_RX, txq_bytes(rx->pkt, count) * 8);
	w->counters.drop[DROP_NONE] += count;
	w->stateless->ops->listen(w->stateless, rx->pkt, count, worker_engine_now(w, now));
	txq_recycle(&w->txq, rx->pkt, count);
}

static inline void burst_take(struct worker *w, unsigned count, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	unsigned among;
	uint64_t bytes;

	rx->count = count;
	if (unlikely(w->tunnel != NULL)) {
		worker_tunnel_receive(w, now);
		count = rx->count;
	}
	if (unlikely(w->listens)) {
		worker_listen(w, count, now);
		return;
	}
	among = view_parse_burst(rx->pkt, count, &w->matcher, rx->view, rx->reason);
	if (unlikely(w->tunnel != NULL && tunnel_learn(&w->tunnel->tunnel, rx, false)))
		among |= VIEW_REFUSED;
	bytes = txq_bytes(rx->pkt, count);
	counter_add(w, COUNTER_PKT_RX, count);
	counter_add(w, COUNTER_BITS_RX, bytes * 8);
	if (unlikely(among & VIEW_REFUSED || (w->handoff && !burst_is_mine(w))))
		sorted_feed(w, false, now);
	else if (likely(among == 1u << VIEW_TCP))
		tcp_feed(w, now);
	else if (among == 1u << VIEW_UDP && (w->stateless || w->sockets))
		udp_feed(w, rx, now);
	else
		sorted_feed(w, false, now);
}

/* Frames to the address of a bond's member become the port's own. */
static __attribute__((noinline)) void aliases_resolve(const struct worker *w, unsigned count)
{
	const struct port *port = w->port;

	for (unsigned i = 0; i < count; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(w->rx.pkt[i], uint8_t *);

		for (unsigned n = 0; n < port->aliases; n++)
			if (!memcmp(frame, port->alias[n], sizeof(port->mac)))
				memcpy(frame, port->mac, sizeof(port->mac));
	}
}

void worker_take(struct worker *w, unsigned count, uint64_t now)
{
	burst_take(w, count, now);
}

unsigned worker_receive(struct worker *w, uint64_t now)
{
	unsigned count = w->ahead, own;

	w->ahead = 0;
	if (!count) {
		count = rte_eth_rx_burst(w->port_id, w->queue, w->rx.pkt, RX_BURST_MAX);
		if (!count)
			return 0;
		view_prefetch_burst(w->rx.pkt, count);
	}
	own = count;
	race_get();
	for (unsigned i = 0; i < w->txq.taps; i++)
		tap_received(w->txq.tap[i], w->rx.pkt, count, now);
	if (unlikely(w->aliased))
		aliases_resolve(w, count);
	if (unlikely(w->lane))
		own = lanes_input(w, count, now);
	if (likely(own))
		burst_take(w, own, now);
	return count;
}

void worker_look_ahead(struct worker *w)
{
	w->ahead = rte_eth_rx_burst(w->port_id, w->queue, w->rx.pkt, RX_BURST_MAX);
	for (unsigned i = 0; i < w->ahead; i++)
		rte_prefetch0(w->rx.pkt[i]);
}

void worker_prefetch_ahead(const struct worker *w)
{
	if (w->ahead)
		view_prefetch_burst(w->rx.pkt, w->ahead);
}

unsigned worker_receive_handed(struct worker *w, uint64_t now)
{
	struct rx_burst *rx = &w->rx;
	unsigned count =
		rte_ring_sc_dequeue_burst(w->handoff, (void **)rx->pkt, RX_BURST_MAX, NULL);

	if (!count)
		return 0;
	race_get();
	rx->count = count;
	if (unlikely(w->tunnel != NULL))
		worker_tunnel_handed(w, now);
	view_parse_burst(rx->pkt, rx->count, &w->matcher, rx->view, rx->reason);
	if (unlikely(w->tunnel != NULL))
		tunnel_learn(&w->tunnel->tunnel, rx, true);
	sorted_feed(w, true, now);
	return count;
}
