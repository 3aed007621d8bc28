/* Segments in: RFC 9293 section 3.10.7, in the order of its checks, with RFC 5961's challenge ACKs.
 *
 * A burst is worked on in stages, so that a table of 10^8 connections costs one wait for memory and
 * not one per packet: first all index lines are fetched, then all likely records, then the segments
 * are processed one by one.
 *
 * There is no TIME-WAIT record: a closed connection's slot is free at once. What the state is for
 * is done without it: a repeated FIN is acknowledged (output_stateless), and a new SYN is accepted
 * at once, its sequence numbers being beyond the old connection's (conn_isn). */
#include "core.h"

#include <string.h>

static inline void segment_read(struct segment *seg, struct rx_burst *rx, unsigned i)
{
	const struct view *view = &rx->view[i];
	const struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(rx->pkt[i], const struct rte_ipv4_hdr *, view->l3);
	const struct rte_tcp_hdr *tcp =
		rte_pktmbuf_mtod_offset(rx->pkt[i], const struct rte_tcp_hdr *, view->l4);

	seg->rx = rx;
	seg->index = i;
	seg->tuple = (struct tuple){ip->dst_addr, ip->src_addr, tcp->dst_port, tcp->src_port};
	seg->seq = ntohl(tcp->sent_seq);
	seg->ack = ntohl(tcp->recv_ack);
	seg->wnd = ntohs(tcp->rx_win);
	seg->len = view->payload_len;
	seg->data = rx->pkt[i];
	seg->offset = view->payload;
	seg->flags = tcp->tcp_flags;
	seg->ack_now = false;
}

#define SCALE_MAX (uint8_t)14 /* RFC 7323 section 2.3 */

struct options {
	uint16_t mss;
	uint8_t scale;
	bool sack;
};

/* Any order and any other options in between (RFC 9293 section 3.2). */
static bool options_walk(const struct segment *seg, struct options *options)
{
	const struct view *view = &seg->rx->view[seg->index];
	const uint8_t *at = rte_pktmbuf_mtod_offset(segment_mbuf(seg), const uint8_t *, view->l4);
	const uint8_t *end = at + (at[12] >> 4) * 4;

	*options = (struct options){.mss = 536, .scale = CONN_NO_SCALE};
	for (at += sizeof(struct rte_tcp_hdr); at < end && *at; at += *at == 1 ? 1 : at[1]) {
		if (*at == 1)
			continue;
		if (end - at < 2 || at[1] < 2 || at[1] > end - at)
			return false;
		if (at[0] == 2 && at[1] == 4)
			options->mss = (uint16_t)(at[2] << 8 | at[3]);
		if (at[0] == 3 && at[1] == 3)
			options->scale = RTE_MIN(at[2], SCALE_MAX);
		if (at[0] == 4 && at[1] == 2)
			options->sack = true;
	}
	return true;
}

/* The options of a SYN; false when they are malformed. Most, our own too, are MSS, then NOP and
 * window scale, then two NOPs and SACK permitted, the last or the last two left out: these are
 * recognised as they stand. */
static inline bool options_read(const struct segment *seg, struct options *options)
{
	const struct view *view = &seg->rx->view[seg->index];
	const uint8_t *at = rte_pktmbuf_mtod_offset(segment_mbuf(seg), const uint8_t *,
						    view->l4 + sizeof(struct rte_tcp_hdr));
	unsigned length = view->payload - view->l4 - (unsigned)sizeof(struct rte_tcp_hdr);
	uint32_t word[3] = {0, htonl(0x0103030f), htonl(0x01010402)};

	if (length < 4 || length > sizeof(word))
		return options_walk(seg, options);
	memcpy(word, at, length);
	if ((word[0] & htonl(0xffff0000)) != htonl(0x02040000) ||
	    (word[1] & htonl(0xffffff00)) != htonl(0x01030300) || word[2] != htonl(0x01010402))
		return options_walk(seg, options);
	options->mss = (uint16_t)ntohl(word[0]);
	options->scale = CONN_NO_SCALE;
	if (length > 4)
		options->scale = RTE_MIN((uint8_t)ntohl(word[1]), SCALE_MAX);
	options->sack = length > 8;
	return true;
}

/* What the peer's SYN said. An MSS below 64 would make a packet of nearly every byte: raised to
 * that. */
static void conn_take_options(struct stateful *s, struct entry *e, struct conn *c,
			      const struct segment *seg, const struct options *options)
{
	uint16_t own = e->mss;
	uint16_t mss = options->mss < own ? options->mss : own;

	c->mss = conn_mss_index(s, mss < 64 ? 64 : mss);
	c->scale = e->scale ? options->scale : CONN_NO_SCALE;
	c->sack = e->config->tcp.sack && options->sack;
	c->rcv_nxt = seg->seq + 1;
}

static bool address_is_local(const struct entry *e, uint32_t address)
{
	const struct ip_pool *pool = e->client ? &e->config->clients : &e->config->servers;

	return address - e->local_first < e->local_count ||
	       (pool->ranges > 1 && ip_pool_contains(pool, address));
}

static bool port_is_local(const struct entry *e, uint16_t port)
{
	const struct port_pool *pool =
		e->client ? &e->config->client_ports : &e->config->server_ports;

	return (port >= e->port_first && port <= e->port_last) ||
	       (pool->ranges > 1 && port_pool_contains(pool, port));
}

static bool address_is_own(const struct stateful *s, uint32_t address)
{
	for (unsigned i = 0; i < s->port->addresses; i++)
		if (s->port->address[i].address == address)
			return true;
	for (unsigned i = 0; i < s->entries; i++)
		if (address_is_local(&s->entry[i], address))
			return true;
	return false;
}

/* The entry that owns the segment's local address and port, or NULL. */
static struct entry *entry_of(struct stateful *s, const struct segment *seg, bool client)
{
	uint32_t address = ntohl(seg->tuple.local_be);
	uint16_t port = ntohs(seg->tuple.local_port_be);

	for (unsigned i = 0; i < s->entries; i++) {
		struct entry *e = &s->entry[i];

		if (e->client == client && address_is_local(e, address) && port_is_local(e, port))
			return e;
	}
	return NULL;
}

/* A segment for no connection: RST, unless it is one itself (RFC 9293 section 3.10.7.1). */
static void input_stray(struct stateful *s, struct segment *seg)
{
	struct entry *e = entry_of(s, seg, true);

	if (!e)
		e = entry_of(s, seg, false);
	if (e)
		segment_refuse(seg, DROP_TCP_NO_CONN);
	else if (address_is_own(s, ntohl(seg->tuple.local_be)))
		segment_refuse(seg, DROP_TCP_NO_PORT);
	else
		segment_refuse(seg, DROP_IP_NOT_MINE);
	if (!(seg->flags & TCP_RST) && seg->rx->reason[seg->index] != DROP_IP_NOT_MINE)
		output_stateless(s, e ? e : &s->entry[0], seg);
}

/* LISTEN */
static void input_listen(struct stateful *s, struct segment *seg, uint32_t hash)
{
	struct entry *e = entry_of(s, seg, false);
	struct options options;
	struct conn *c;

	if (!e || (seg->flags & (TCP_SYN | TCP_ACK | TCP_RST)) != TCP_SYN || s->draining) {
		input_stray(s, seg);
		return;
	}
	if (e->config->clients.ranges &&
	    !ip_pool_contains(&e->config->clients, ntohl(seg->tuple.peer_be))) {
		segment_refuse(seg, DROP_TCP_CLIENT);
		return;
	}
	if (!options_read(seg, &options)) {
		segment_refuse(seg, DROP_TCP_BAD);
		return;
	}
	c = conn_open(s, e, hash, &seg->tuple);
	if (!c) {
		segment_refuse(seg, DROP_TCP_TABLE_FULL);
		return;
	}
	conn_take_options(s, e, c, seg, &options);
	if (!s->nexthop->has_gateway)
		nexthop_learn(s->nexthop, seg->tuple.peer_be,
			      rte_pktmbuf_mtod(segment_mbuf(seg), const struct rte_ether_hdr *)
				      ->src_addr.addr_bytes);
	c->state = SYN_RECEIVED;
	c->requests = e->requests;
	e->stats->level.bits_rx += (uint64_t)segment_mbuf(seg)->pkt_len * 8;
	output_syn(s, c, seg, c->snd_nxt);
	c->snd_nxt++;
	c->flight = 1;
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
	if ((seg->flags & (TCP_SYN | TCP_ACK)) != (TCP_SYN | TCP_ACK)) {
		/* a simultaneous open needs a peer that connects to us: nobody does */
		segment_refuse(seg, DROP_TCP_STATE);
		return;
	}
	if (!options_read(seg, &options)) {
		segment_refuse(seg, DROP_TCP_BAD);
		return;
	}
	conn_take_options(s, e, c, seg, &options);
	hist_add(&e->stats->connect, conn_elapsed(s, c));
	c->closing = 0;
	c->flight = 0;
	c->retries = 0;
	conn_established(s, c);
	client_ready(s, c, seg);
}

/* The connection's answer to a segment it cannot use: an ACK that says where it stands. */
static void input_challenge(struct stateful *s, struct conn *c, struct segment *seg,
			    enum drop reason)
{
	segment_refuse(seg, reason);
	s->counters->value[COUNTER_ACK_RT]++;
	output_ack(s, c, seg);
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
	input_challenge(s, c, seg,
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
	if ((int32_t)old <= 0 || old >= length || seg->flags & (TCP_SYN | TCP_RST)) {
		input_old(s, c, seg);
		return false;
	}
	if (old > seg->len)
		old = seg->len;
	seg->offset += old;
	seg->len -= old;
	seg->seq += old;
	seg->ack_now = true;
	return true;
}

/* Second to fourth check: RST, SYN, no ACK. False: the segment is done with. */
static bool input_flags(struct stateful *s, struct conn *c, struct segment *seg)
{
	if (seg->flags & TCP_RST) {
		/* with both FINs exchanged all has been said: the far end has only forgotten us */
		bool said = (c->state == LAST_ACK || c->state == CLOSING) && !c->wait;

		if (seg->seq == c->rcv_nxt)
			conn_end(s, c, said ? -1 : FAILED_RESET);
		else
			input_challenge(s, c, seg, DROP_TCP_BAD_RST);
		return false;
	}
	if (seg->flags & TCP_SYN) {
		input_challenge(s, c, seg, DROP_TCP_BAD_SYN);
		return false;
	}
	if (!(seg->flags & TCP_ACK)) {
		segment_refuse(seg, DROP_TCP_NO_ACK);
		return false;
	}
	return true;
}

/* Everything we sent has been acknowledged; false when that was the end of the connection. */
static bool input_all_acked(struct stateful *s, struct conn *c)
{
	switch (c->state) {
	case SYN_RECEIVED:
		conn_established(s, c);
		c->retries = 0;
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
			input_challenge(s, c, seg, DROP_TCP_BAD_ACK);
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
	return acked < flight || !flight || input_all_acked(s, c);
}

/* In-order payload to the client or server. */
static bool input_taken(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	return e->client ? client_data(s, c, seg) : server_data(s, c, seg);
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
			input_challenge(s, c, seg, DROP_TCP_OUT_OF_ORDER);
		return false;
	}
	seg->ack_now = true;
	taken = input_taken(s, e, c, seg);
	if (!taken && c->state != CLOSED)
		segment_refuse(seg, DROP_TCP_NO_SIDE);
	return taken && c->state != CLOSED;
}

/* Eighth check: FIN. */
static void input_fin(struct stateful *s, struct entry *e, struct conn *c, struct segment *seg)
{
	if (seg->seq + seg->len != c->rcv_nxt) {
		if (!seg->len)
			input_challenge(s, c, seg, DROP_TCP_OUT_OF_ORDER);
		return;
	}
	c->rcv_nxt++;
	seg->ack_now = true;
	switch (c->state) {
	case ESTABLISHED:
		c->state = CLOSE_WAIT;
		e->active--;
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

		kept.ack_now = true;
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
		seg->ack_now = true;
	}
}

static void input_synchronized(struct stateful *s, struct entry *e, struct conn *c,
			       struct segment *seg)
{
	if (!input_in_window(s, e, c, seg) || !input_flags(s, c, seg))
		return;
	if (c->scale != CONN_NO_SCALE)
		seg->wnd <<= c->scale;
	if (!input_ack(s, e, c, seg))
		return;
	if (seg->len && !input_payload(s, e, c, seg))
		return;
	if (seg->flags & TCP_FIN)
		input_fin(s, e, c, seg);
	if (c->state != CLOSED && c->has_side && table_side(&s->table, c)->kept)
		input_kept(s, e, c, seg);
}

static inline void input_segment(struct stateful *s, struct segment *seg, uint32_t hash,
				 uint32_t guess)
{
	uint32_t number = guess;
	struct entry *e;
	struct conn *c;

	if (guess == TABLE_NONE || s->table.conn[guess].state == CLOSED ||
	    !tuple_equal(&s->table.conn[guess].tuple, &seg->tuple))
		number = table_find(&s->table, hash, &seg->tuple);
	if (number == TABLE_NONE) {
		input_listen(s, seg, hash);
		return;
	}
	c = &s->table.conn[number];
	e = conn_entry(s, c);
	e->stats->level.bits_rx += (uint64_t)segment_mbuf(seg)->pkt_len * 8;
	if (c->state == SYN_SENT)
		input_syn_sent(s, e, c, seg);
	else
		input_synchronized(s, e, c, seg);
	if (c->state == CLOSED)
		return;
	if (seg->ack_now)
		output_ack(s, c, seg);
	if (c->has_side)
		sender_release(s, c);
}

void input_burst(struct stateful *s, struct rx_burst *rx)
{
	struct segment seg[RX_BURST_MAX];
	uint32_t hash[RX_BURST_MAX], guess[RX_BURST_MAX];
	uint64_t syn = 0, fin = 0, rst = 0;

	for (unsigned i = 0; i < rx->count; i++) {
		segment_read(&seg[i], rx, i);
		hash[i] = table_hash(&seg[i].tuple);
		table_prefetch_index(&s->table, hash[i]);
		fin += seg[i].flags & TCP_FIN;
		syn += seg[i].flags & TCP_SYN;
		rst += seg[i].flags & TCP_RST;
	}
	s->counters->value[COUNTER_FIN_RX] += fin / TCP_FIN;
	s->counters->value[COUNTER_SYN_RX] += syn / TCP_SYN;
	s->counters->value[COUNTER_RST_RX] += rst / TCP_RST;
	for (unsigned i = 0; i < rx->count; i++)
		guess[i] = table_guess(&s->table, hash[i]);
	for (unsigned i = 0; i < rx->count; i++)
		input_segment(s, &seg[i], hash[i], guess[i]);
}
