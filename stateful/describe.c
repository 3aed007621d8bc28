/* A connection in words, for the comment of a refused segment's sample.
 *
 * It is asked after the burst was worked on: what stands there is the state then, which a later
 * segment of the same burst may have moved on. Whoever reads a sample wants to know what was
 * expected, so sequence numbers are told with their distance to the segment's. */
#include <stdio.h>

#include "core.h"

static const char *const state_name[] = {
	[CLOSED] = "CLOSED",
	[SYN_SENT] = "SYN-SENT",
	[SYN_RECEIVED] = "SYN-RECEIVED",
	[ESTABLISHED] = "ESTABLISHED",
	[FIN_WAIT_1] = "FIN-WAIT-1",
	[FIN_WAIT_2] = "FIN-WAIT-2",
	[CLOSE_WAIT] = "CLOSE-WAIT",
	[CLOSING] = "CLOSING",
	[LAST_ACK] = "LAST-ACK",
	[UDP_OPEN] = "UDP",
};

void stateful_describe(const struct engine *engine, const struct rte_mbuf *m,
		       const struct view *view, char *text, size_t size)
{
	const struct stateful *s = (const struct stateful *)engine;
	const struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, view->l3);
	const struct rte_tcp_hdr *tcp =
		rte_pktmbuf_mtod_offset(m, const struct rte_tcp_hdr *, view->l4);
	struct tuple tuple = {.peer_be = ip->src_addr,
			      .local_be = ip->dst_addr,
			      .peer_port_be = tcp->src_port,
			      .local_port_be = tcp->dst_port};
	struct ip6_pair pair;
	const struct conn *c;
	uint32_t number;

	if (view->family == 6) {
		memcpy(&pair, (const uint8_t *)ip + 8, sizeof(pair));
		tuple.peer_be = ip6_digest(pair.peer);
		tuple.local_be = ip6_number(s, pair.local);
		number = table_find6(&s->table, table_hash(&tuple), &tuple, pair.peer);
	} else {
		number = table_find(&s->table, table_hash(&tuple), &tuple);
	}
	if (number == TABLE_NONE) {
		snprintf(text, size, "no connection");
		return;
	}
	c = &s->table.conn[number];
	if (c->state == UDP_OPEN || view->kind == VIEW_UDP) {
		snprintf(text, size, "UDP socket of \"%s\", request %u is next, %u wait",
			 conn_entry(s, c)->config->name, c->snd_nxt, c->flight);
		return;
	}
	snprintf(text, size,
		 "%s of \"%s\", rcv_nxt %u (segment %+d), snd_nxt %u (ack %+d), %u unacknowledged, "
		 "%u retransmissions",
		 state_name[c->state], conn_entry(s, c)->config->name, c->rcv_nxt,
		 (int32_t)(ntohl(tcp->sent_seq) - c->rcv_nxt), c->snd_nxt,
		 (int32_t)(ntohl(tcp->recv_ack) - c->snd_nxt), conn_flight(s, c), c->retries);
}
