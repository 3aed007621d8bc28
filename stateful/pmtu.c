/* Path MTU discovery (RFC 1191, RFC 8201): a router that could not forward a segment says how long
 * one may be.
 *
 * Anybody can send such a message, so it counts only when the segment that it quotes is of a
 * connection of ours and under way (RFC 5927 section 4), and only when it makes segments shorter.
 * What is under way is sent again at once in shorter segments, and the congestion window is left
 * alone: nothing was lost to congestion (RFC 1191 section 6.4). New connections begin with full
 * segments again. */
#include "core.h"

#include <string.h>

#define ICMP_BYTES       8u
#define ICMP_UNREACHABLE 3
#define ICMP_TOO_BIG     4 /* code: fragmentation needed and DF set */
#define ICMP6_TOO_BIG    2
#define MTU_UNTOLD       1u
#define MTU_MIN          68u /* RFC 791 */
#define QUOTED_BYTES     8u  /* of the TCP header: ports and sequence number */

/* A quoted segment of ours. */
struct quoted {
	uint32_t conn; /* its record, or TABLE_NONE */
	uint32_t seq, header;
	uint16_t length; /* of its IP packet */
};

/* MTUs in use, for a router that tells none (RFC 1191 section 7.1). */
static uint32_t plateau_below(uint32_t length)
{
	static const uint16_t plateau[] = {8166, 4352, 2002, 1492, 1006, 508, 296};

	for (unsigned i = 0; i < sizeof(plateau) / sizeof(*plateau); i++)
		if (plateau[i] < length)
			return plateau[i];
	return MTU_MIN;
}

static uint32_t find4(const struct stateful *s, const uint8_t *ip, const uint8_t *tcp)
{
	struct tuple tuple;

	memcpy(&tuple.local_be, ip + 12, sizeof(tuple.local_be));
	memcpy(&tuple.peer_be, ip + 16, sizeof(tuple.peer_be));
	memcpy(&tuple.local_port_be, tcp, sizeof(tuple.local_port_be));
	memcpy(&tuple.peer_port_be, tcp + 2, sizeof(tuple.peer_port_be));
	return table_find(&s->table, table_hash(&tuple), &tuple);
}

static uint32_t find6(const struct stateful *s, const uint8_t *ip, const uint8_t *tcp)
{
	struct ip6_pair pair;
	struct tuple tuple;

	memcpy(&pair.local, ip + 8, sizeof(pair.local));
	memcpy(&pair.peer, ip + 24, sizeof(pair.peer));
	tuple.local_be = ip6_number(s, pair.local);
	tuple.peer_be = ip6_digest(pair.peer);
	memcpy(&tuple.local_port_be, tcp, sizeof(tuple.local_port_be));
	memcpy(&tuple.peer_port_be, tcp + 2, sizeof(tuple.peer_port_be));
	return table_find6(&s->table, table_hash(&tuple), &tuple, pair.peer);
}

/* False: it is no TCP segment that we sent. */
static bool quoted_read(const struct stateful *s, const uint8_t *ip, uint32_t room, bool ip6,
			struct quoted *q)
{
	uint32_t header = ip6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	const uint8_t *tcp = ip + header;

	if (room < header + QUOTED_BYTES || (ip6 && !s->ip6) || ip[0] >> 4 != (ip6 ? 6 : 4) ||
	    (!ip6 && (ip[0] & 15) != header / 4) || ip[ip6 ? 6 : 9] != IPPROTO_TCP)
		return false;
	q->header = header + (uint32_t)sizeof(struct rte_tcp_hdr);
	q->length = (uint16_t)(ip[2] << 8 | ip[3]);
	memcpy(&q->seq, tcp + 4, sizeof(q->seq));
	q->seq = ntohl(q->seq);
	q->conn = ip6 ? find6(s, ip, tcp) : find4(s, ip, tcp);
	return q->conn != TABLE_NONE;
}

bool conn_path_mtu(struct stateful *s, struct conn *c, uint32_t seq, uint32_t mss)
{
	uint32_t flight = conn_flight(s, c);
	uint32_t una = c->has_side ? table_side(&s->table, c)->snd_una : c->snd_nxt - flight;

	if (c->state == UDP_OPEN || c->state == SYN_SENT || c->state == SYN_RECEIVED ||
	    seq - una >= flight)
		return false;
	if (c->has_side && table_side(&s->table, c)->stamped)
		mss -= RTE_MIN(mss, STAMP_BYTES);
	if (mss < MSS_MIN)
		mss = MSS_MIN;
	if (mss >= conn_mss(s, c))
		return false;
	c->mss = conn_mss_index(s, (uint16_t)mss);
	sender_again(s, c);
	return true;
}

/* The MTU that the message tells: RFC 1191 section 4, RFC 4443 section 3.2; 0: it is another. */
static uint32_t told_mtu(const uint8_t *icmp, bool ip6)
{
	uint32_t mtu = (uint32_t)icmp[6] << 8 | icmp[7];

	if (ip6) /* no link has more than 65535 without jumbograms */
		return icmp[0] != ICMP6_TOO_BIG || icmp[4] || icmp[5] ? 0 : RTE_MAX(mtu, MTU_MIN);
	if (icmp[0] != ICMP_UNREACHABLE || icmp[1] != ICMP_TOO_BIG)
		return 0;
	return mtu < MTU_MIN ? MTU_UNTOLD : mtu;
}

bool stateful_unreachable(struct engine *engine, const struct rte_mbuf *m, const struct view *view,
			  struct tx *tx, uint64_t now)
{
	struct stateful *s = (struct stateful *)engine;
	const uint8_t *icmp = rte_pktmbuf_mtod_offset(m, const uint8_t *, view->l4);
	uint32_t room = m->data_len - view->l4, mtu;
	bool ip6 = view->family == 6;
	struct quoted q;

	mtu = told_mtu(icmp, ip6);
	if (!mtu || !quoted_read(s, icmp + ICMP_BYTES, room - ICMP_BYTES, ip6, &q))
		return false;
	if (mtu == MTU_UNTOLD)
		mtu = plateau_below(q.length);
	clock_set(s, tx, now);
	return conn_path_mtu(s, &s->table.conn[q.conn], q.seq, mtu > q.header ? mtu - q.header : 0);
}
