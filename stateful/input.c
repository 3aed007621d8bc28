/* Segments in: to the connection they belong to, or RFC 9293 sections 3.10.7.1 to 3.10.7.3 where
 * there is none yet.
 *
 * A burst is worked on in stages, so that a table of 10^8 connections costs one wait for memory and
 * not one per packet: first all index lines are fetched, then all likely records, then the segments
 * are processed one by one.
 *
 * There is no TIME-WAIT record: a closed connection's slot is free at once. What the state is for
 * is done without it: a repeated FIN is acknowledged (output_stateless), and a new SYN is accepted
 * at once, its sequence numbers being beyond the old connection's (conn_isn). */
#include "options.h"

#include <string.h>

#define always_inline static inline __attribute__((always_inline))

/* Of a packet in a burst that has IPv6. */
struct flow {
	struct tuple tuple;
	struct ip6_pair ip6;
};

/* flow: what was read of it already, in a burst with IPv6; else NULL. */
always_inline void segment_read(struct segment *seg, struct rx_burst *rx, unsigned i,
				const struct flow *flow)
{
	const struct view *view = &rx->view[i];
	const uint8_t *data = rte_pktmbuf_mtod(rx->pkt[i], const uint8_t *);
	const struct rte_tcp_hdr *tcp = (const void *)(data + view->l4);

	seg->rx = rx;
	seg->index = i;
	seg->tuple = flow ? flow->tuple : tuple_received(rx, i);
	seg->ip6 = flow && view->family == 6 ? &flow->ip6 : NULL;
	seg->seq = ntohl(tcp->sent_seq);
	seg->ack = ntohl(tcp->recv_ack);
	seg->wnd = ntohs(tcp->rx_win);
	seg->len = view->payload_len;
	seg->data = rx->pkt[i];
	seg->offset = view->payload;
	seg->flags = tcp->tcp_flags;
	seg->ack_now = ACK_NONE;
}

static bool address_is_local(const struct entry *e, const struct tuple *tuple,
			     const struct ip6_pair *ip6)
{
	const struct ip_pool *pool = traffic_own(e->config, e->family);
	uint32_t address = ntohl(tuple->local_be);

	if (ip6)
		return e->family == 6 && ip_pool_contains(pool, ip6_swap(ip6->local));
	return e->family == 4 && (address - e->local_first < e->local_count ||
				  (pool->ranges > 1 && ip_pool_contains(pool, address)));
}

static bool port_is_local(const struct entry *e, uint16_t port)
{
	const struct port_pool *pool =
		e->client ? &e->config->client_ports : &e->config->server_ports;

	return (port >= e->port_first && port <= e->port_last) ||
	       (pool->ranges > 1 && port_pool_contains(pool, port));
}

static bool address_is_own(const struct stateful *s, const struct segment *seg)
{
	u128 address = seg->ip6 ? ip6_swap(seg->ip6->local) : ntohl(seg->tuple.local_be);

	for (unsigned i = 0; i < s->port->addresses; i++)
		if (s->port->address[i].family == (seg->ip6 ? 6 : 4) &&
		    s->port->address[i].address == address)
			return true;
	for (unsigned i = 0; i < s->entries; i++)
		if (address_is_local(&s->entry[i], &seg->tuple, seg->ip6))
			return true;
	return false;
}

struct entry *entry_of(struct stateful *s, const struct tuple *tuple, const struct ip6_pair *ip6,
		       bool client, bool udp)
{
	uint16_t port = ntohs(tuple->local_port_be);

	for (unsigned i = 0; i < s->entries; i++) {
		struct entry *e = &s->entry[i];

		if (e->client == client && e->udp == udp && address_is_local(e, tuple, ip6) &&
		    port_is_local(e, port))
			return e;
	}
	return NULL;
}

/* Multicast is nobody's address (RFC 1122 section 4.2.3.10, RFC 4291 section 2.7), and IPv4's would
 * look like a digest. */
bool entry_serves(const struct entry *e, const struct tuple *tuple, const struct ip6_pair *ip6)
{
	u128 peer = ip6 ? ip6_swap(ip6->peer) : ntohl(tuple->peer_be);

	if (ip6 ? peer >> 120 == 0xff : peer >> 29 == 7)
		return false;
	return !(e->config->clients.ranges || e->config->clients6.ranges) ||
	       ip_pool_contains(traffic_far(e->config, e->family), peer);
}

/* A segment for no connection: RST, unless it is one itself (RFC 9293 section 3.10.7.1). */
static void input_stray(struct stateful *s, struct segment *seg)
{
	struct entry *e = entry_of(s, &seg->tuple, seg->ip6, true, false);

	if (!e)
		e = entry_of(s, &seg->tuple, seg->ip6, false, false);
	if (e)
		segment_refuse(seg, DROP_TCP_NO_CONN);
	else if (address_is_own(s, seg))
		segment_refuse(seg, DROP_TCP_NO_PORT);
	else
		segment_refuse(seg, DROP_IP_NOT_MINE);
	if (!e)
		e = seg->ip6 ? s->tcp6 : s->tcp;
	if (e && !(seg->flags & TCP_RST) && seg->rx->reason[seg->index] != DROP_IP_NOT_MINE)
		output_stateless(s, e, seg);
}

/* A server takes no new connections while it drains; but when clients of the same port drain too,
 * what they have begun may come round to it. */
static bool listen_is_over(const struct stateful *s)
{
	if (!s->draining || s->aborting)
		return s->aborting;
	for (unsigned i = 0; i < s->entries; i++)
		if (s->entry[i].client && s->entry[i].stats->level.open)
			return false;
	return true;
}

static void peer_learn(struct stateful *s, const struct segment *seg)
{
	const uint8_t *mac = rte_pktmbuf_mtod(segment_mbuf(seg), const struct rte_ether_hdr *)
				     ->src_addr.addr_bytes;

	if (seg->ip6 && !s->nexthop->has_gateway6)
		nexthop_learn6(s->nexthop, ip6_swap(seg->ip6->peer), mac);
	else if (!seg->ip6 && !s->nexthop->has_gateway)
		nexthop_learn(s->nexthop, seg->tuple.peer_be, mac);
}

/* LISTEN */
static void input_listen(struct stateful *s, struct segment *seg, uint32_t hash)
{
	struct entry *e = entry_of(s, &seg->tuple, seg->ip6, false, false);
	struct options options;
	struct conn *c;

	if (!e || (seg->flags & (TCP_SYN | TCP_ACK | TCP_RST)) != TCP_SYN || listen_is_over(s)) {
		input_stray(s, seg);
		return;
	}
	if (!entry_serves(e, &seg->tuple, seg->ip6)) {
		segment_refuse(seg, DROP_TCP_CLIENT);
		return;
	}
	if (!options_read(segment_tcp(seg), seg->ip6 ? 6 : 4, &options)) {
		segment_refuse(seg, DROP_TCP_BAD);
		return;
	}
	if (unlikely(parked_awaits(s, e))) {
		if (!parked_add(s, PARKED_SYN, seg))
			segment_refuse(seg, DROP_TCP_NO_SIDE);
		return;
	}
	if (e->scripts && s->table.side_live == s->table.side_capacity) {
		segment_refuse(seg, DROP_TCP_NO_SIDE);
		return;
	}
	c = conn_open(s, e, hash, &seg->tuple, seg->ip6);
	if (!c) {
		segment_refuse(seg, DROP_TCP_TABLE_FULL);
		return;
	}
	conn_take_options(s, e, c, seg->seq, &options);
	peer_learn(s, seg);
	c->state = SYN_RECEIVED;
	c->requests = e->requests;
	e->stats->level.bits_rx += (uint64_t)segment_mbuf(seg)->pkt_len * 8;
	c->snd_nxt++;
	c->flight = 1;
	if (unlikely(e->extended))
		extension_begin(s, c, seg, options.has_stamp, options.stamp);
	output_syn(s, c, seg, c->snd_nxt - 1);
	conn_arm_rtx(s, c);
}

/* The peer still has a connection of this tuple, from a run before this one: RST ends it (RFC 9293
 * section 3.10.7.3, figure 9), and the SYN is sent again at once, but only once; then it waits for
 * its timer. */
static void input_half_open(struct stateful *s, struct entry *e, struct conn *c,
			    struct segment *seg)
{
	output_stateless(s, e, seg);
	if (c->closing)
		return;
	c->closing = 1;
	s->counters->value[COUNTER_SYN_RT]++;
	output_syn(s, c, NULL, c->snd_nxt - 1);
}

/* The peer's SYN has crossed ours: both ends open at once. */
static void input_crossed(struct stateful *s, struct conn *c, struct segment *seg,
			  const struct options *options)
{
	c->state = SYN_RECEIVED;
	c->closing = 0;
	if (c->has_side)
		extension_agreed(s, c, seg, options->has_stamp, options->stamp);
	output_syn(s, c, seg, c->snd_nxt - 1);
}

/* SYN-SENT (RFC 9293 section 3.10.7.3) */
static void input_syn_sent(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	struct options options;

	if (seg->flags & TCP_ACK && seg->ack != c->snd_nxt) {
		segment_refuse(seg, DROP_TCP_BAD_ACK);
		if (!(seg->flags & TCP_RST))
			input_half_open(s, e, c, seg);
		return;
	}
	if (seg->flags & TCP_RST) {
		if (seg->flags & TCP_ACK)
			conn_end(s, c, FAILED_REFUSED);
		else
			segment_refuse(seg, DROP_TCP_BAD_RST);
		return;
	}
	if (!(seg->flags & TCP_SYN)) {
		segment_refuse(seg, DROP_TCP_STATE);
		return;
	}
	if (!options_read(segment_tcp(seg), seg->ip6 ? 6 : 4, &options)) {
		segment_refuse(seg, DROP_TCP_BAD);
		return;
	}
	conn_take_options(s, e, c, seg->seq, &options);
	if (unlikely(!(seg->flags & TCP_ACK))) {
		input_crossed(s, c, seg, &options);
		return;
	}
	hist_add(&e->stats->connect, conn_elapsed(s, c));
	c->closing = 0;
	if (unlikely(c->has_side)) {
		sender_opened(s, c, seg);
		extension_agreed(s, c, seg, options.has_stamp, options.stamp);
	} else {
		c->flight = 0;
	}
	c->retries = 0;
	conn_established(s, c);
	client_ready(s, c, seg);
}

/* The end of a message, which nothing answers at once. */
static bool ack_waits(struct stateful *s, struct conn *c, struct segment *seg)
{
	if (seg->ack_now != ACK_SOON || (!c->has_side && !sender_borrow(s, c, seg)))
		return false;
	conn_delay_ack(s, c, seg);
	return seg->ack_now == ACK_NONE;
}

/* The record that is likely packet i's, if it is. */
always_inline struct conn *conn_guessed(struct stateful *s, const struct rx_burst *rx, unsigned i,
					uint32_t guess, const struct flow *flow)
{
	struct conn *c = &s->table.conn[guess];
	bool is6 = flow && rx->view[i].family == 6;
	struct tuple tuple;

	if (unlikely(guess == TABLE_NONE || c->state == CLOSED))
		return NULL;
	tuple = is6 ? flow->tuple : tuple_received(rx, i);
	return likely(tuple_equal(&c->tuple, &tuple) &&
		      (!is6 || s->table.peer6[guess] == flow->ip6.peer))
		       ? c
		       : NULL;
}

/* c: the segment's record, or NULL: it is to be searched for, where it may have overflowed to. */
always_inline void input_segment(struct stateful *s, struct segment *seg, uint32_t hash,
				 struct conn *c)
{
	struct entry *e;

	if (!c) {
		uint32_t number =
			seg->ip6 ? table_find6(&s->table, hash, &seg->tuple, seg->ip6->peer)
				 : table_find(&s->table, hash, &seg->tuple);

		if (number == TABLE_NONE) {
			input_listen(s, seg, hash);
			return;
		}
		c = &s->table.conn[number];
	}
	e = conn_entry(s, c);
	e->stats->level.bits_rx += (uint64_t)segment_mbuf(seg)->pkt_len * 8;
	if (c->state == SYN_SENT)
		input_syn_sent(s, e, c, seg);
	else if (likely(c->state != UDP_OPEN))
		input_synchronized(s, e, c, seg);
	else
		input_stray(s, seg);
	if (unlikely(e->scripts) && conn_is_synchronized(c))
		conversation_go(s, c, seg);
	if (c->state == CLOSED)
		return;
	if (seg->ack_now && !(unlikely(e->ack_delay) && ack_waits(s, c, seg)))
		output_ack(s, c, seg);
	if (c->has_side)
		sender_release(s, c);
}

/* FIN, SYN and RST (the lowest bits) in a byte each, where a burst of them can be counted. */
static inline uint32_t flags_spread(uint8_t flags)
{
	_Static_assert(TCP_FIN == 1 && TCP_SYN == 2 && TCP_RST == 4, "the lowest bits, in order");
	return (flags & 7) * 0x4081u & 0x010101;
}

/* Stage 1: the hash of each segment's tuple, and its index line on the way into the cache. */
always_inline void burst_hash(struct stateful *s, const struct rx_burst *rx, uint32_t *hash,
			      uint32_t *bucket, struct flow *flow)
{
	uint64_t flags = 0;

	for (unsigned i = 0; i < rx->count; i++) {
		const uint8_t *data = rte_pktmbuf_mtod(rx->pkt[i], const uint8_t *);
		struct tuple tuple = flow && rx->view[i].family == 6
					     ? tuple_received6(s, rx, i, &flow[i].ip6)
					     : tuple_received(rx, i);

		if (flow)
			flow[i].tuple = tuple;
		hash[i] = table_hash(&tuple);
		bucket[i] = table_prefetch_index(&s->table, hash[i]);
		flags += flags_spread(
			data[rx->view[i].l4 + offsetof(struct rte_tcp_hdr, tcp_flags)]);
	}
	s->counters->value[COUNTER_FIN_RX] += flags & 0xff;
	s->counters->value[COUNTER_SYN_RX] += flags >> 8 & 0xff;
	s->counters->value[COUNTER_RST_RX] += flags >> 16 & 0xff;
}

/* flow: room for what is read of each packet; NULL: all of the burst is IPv4. */
always_inline void input(struct stateful *s, struct rx_burst *rx, struct flow *flow)
{
	uint32_t hash[RX_BURST_MAX], bucket[RX_BURST_MAX], guess[RX_BURST_MAX];
	struct segment seg;

	burst_hash(s, rx, hash, bucket, flow);
	for (unsigned i = 0; i < rx->count; i++) {
		guess[i] = table_guess(&s->table, hash[i], bucket[i]);
		if (flow && guess[i] != TABLE_NONE)
			__builtin_prefetch(&s->table.peer6[guess[i]]);
	}
	for (unsigned i = 0; i < rx->count; i++) {
		const struct flow *own = flow ? &flow[i] : NULL;
		struct conn *c = conn_guessed(s, rx, i, guess[i], own);
		struct entry *e = c ? conn_entry(s, c) : NULL;

		if (likely(c) && likely(c->has_side ? e->flows && quick_body(s, e, c, rx, i)
						    : e->quick && quick_segment(s, e, c, rx, i)))
			continue;
		segment_read(&seg, rx, i, own);
		input_segment(s, &seg, hash[i], c);
	}
}

static __attribute__((noinline)) void input_with6(struct stateful *s, struct rx_burst *rx)
{
	struct flow flow[RX_BURST_MAX];

	input(s, rx, flow);
}

void input_burst(struct stateful *s, struct rx_burst *rx)
{
	unsigned other = 0;

	for (unsigned i = 0; s->ip6 && i < rx->count; i++)
		other |= rx->view[i].family ^ 4u;
	if (likely(!other))
		input(s, rx, NULL);
	else
		input_with6(s, rx);
}
