/* What both ends agree on in the handshake and then keep to all of a connection's life: time stamps
 * (RFC 7323) and explicit congestion notification (RFC 3168). The record has no room for either, so
 * such a connection holds a side record until its end. So that these do not starve transfers and
 * recovery, they may take half of the pool: beyond it a SYN asks for, and agrees to, nothing of
 * this, which either RFC lets an end do.
 *
 * The clock of time stamps is milliseconds of the engine's time, which grows from one run to the
 * next, so a peer in TIME-WAIT takes a new SYN of the same tuple (RFC 6191). */
#include "options.h"

#include <string.h>

#define ECN_CAPABLE   2 /* ECT(0) */
#define NS_PER_STAMP  1000000u
#define STAMP_INVALID (24ull * 86400 * 1000000000) /* RFC 7323 section 5.5 */

static uint32_t stamp_now(const struct stateful *s)
{
	return (uint32_t)(s->now / NS_PER_STAMP);
}

uint64_t stamp_elapsed(const struct stateful *s, uint32_t echo)
{
	return (uint64_t)(stamp_now(s) - echo) * NS_PER_STAMP;
}

static void stamp_record(struct stateful *s, struct side *side, uint32_t stamp)
{
	side->stamp_recent = stamp;
	side->stamp_time = s->now;
}

uint32_t stamp_write(const struct stateful *s, const struct side *side, uint32_t *option)
{
	if (!side->stamped)
		return 0;
	option[0] = htonl(0x01010000u | TCP_OPTION_STAMP << 8 | 10);
	option[1] = htonl(stamp_now(s));
	option[2] = htonl(side->stamp_recent);
	return STAMP_BYTES / sizeof(*option);
}

/* ECE and CWR together ask for ECN, ECE alone agrees (RFC 3168 section 6.1.1). */
static bool ecn_asked(const struct segment *seg)
{
	return (seg->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR);
}

static bool ecn_agreed(const struct segment *seg)
{
	return (seg->flags & (TCP_ECE | TCP_CWR)) == TCP_ECE;
}

/* Segments have room for so much less. */
static void mss_reduce(struct stateful *s, struct conn *c, struct side *side)
{
	if (side->stamped)
		c->mss = conn_mss_index(s, conn_mss(s, c) - STAMP_BYTES);
	congestion_start(side, conn_mss(s, c));
}

void extension_begin(struct stateful *s, struct conn *c, const struct segment *seg, bool has_stamp,
		     uint32_t stamp)
{
	const struct config_tcp *tcp = &conn_entry(s, c)->config->tcp;
	bool scripted = conn_entry(s, c)->scripts;
	bool stamped = seg ? has_stamp : tcp->timestamps == TIMESTAMPS_ON;
	bool ecn = tcp->ecn && (!seg || ecn_asked(seg));
	struct side *side;

	stamped &= tcp->timestamps != TIMESTAMPS_OFF;
	if (!(stamped || ecn || scripted) ||
	    (!scripted && s->table.side_live >= s->table.side_capacity / 2) ||
	    !sender_borrow(s, c, seg))
		return;
	side = table_side(&s->table, c);
	side->stamped = stamped;
	side->ecn = ecn;
	side->rtt_time = s->now;
	side->rtt_seq = c->snd_nxt;
	side->ecn_recover = c->snd_nxt;
	if (scripted)
		conversation_begin(s, c, seg);
	if (!seg)
		return;
	stamp_record(s, side, stamp);
	side->ack_sent = c->rcv_nxt;
	mss_reduce(s, c, side);
}

void extension_agreed(struct stateful *s, struct conn *c, const struct segment *seg, bool has_stamp,
		      uint32_t stamp)
{
	struct side *side = table_side(&s->table, c);

	side->stamped &= has_stamp;
	side->ecn &= ecn_agreed(seg);
	stamp_record(s, side, stamp);
	side->ack_sent = c->rcv_nxt;
	mss_reduce(s, c, side);
}

static const uint8_t *stamp_find(const struct segment *seg)
{
	struct option_walk walk = options_of(segment_tcp(seg));
	const uint8_t *option;

	while ((option = option_next(&walk)))
		if (option[0] == TCP_OPTION_STAMP && option[1] == 10)
			return option;
	return NULL;
}

/* RFC 7323 section 5.3, R1; and section 3.2: a segment without a time stamp is dropped. */
static bool stamp_check(struct stateful *s, struct conn *c, const struct side *side,
			struct segment *seg)
{
	const uint8_t *option = stamp_find(seg);
	uint32_t value[2];

	if (!option) {
		seg->stamp = side->stamp_recent;
		seg->echo = 0;
		/* a SYN is that of a client which has begun anew: it gets its challenge */
		if (seg->flags & (TCP_RST | TCP_SYN))
			return true;
		segment_refuse(seg, DROP_TCP_NO_STAMP);
		return false;
	}
	memcpy(value, option + 2, sizeof(value));
	seg->stamp = ntohl(value[0]);
	seg->echo = ntohl(value[1]);
	if (!seq_lt(seg->stamp, side->stamp_recent) || seg->flags & TCP_RST ||
	    s->now - side->stamp_time > STAMP_INVALID)
		return true;
	conn_challenge(s, c, seg, DROP_TCP_PAWS);
	return false;
}

bool extension_check(struct stateful *s, struct conn *c, struct segment *seg)
{
	const struct side *side = table_side(&s->table, c);

	return !side->stamped || stamp_check(s, c, side, seg);
}

/* The ECN field of the packet says that a router is congested: 3 in the low bits of the IPv4 TOS
 * byte, or of the IPv6 traffic class. */
static bool is_marked(const struct segment *seg)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(segment_mbuf(seg), const uint8_t *,
						    seg->rx->view[seg->index].l3);

	return (ip[0] >> 4 == 4 ? ip[1] & 3 : ip[1] >> 4 & 3) == 3;
}

/* RFC 3168 sections 6.1.2 and 6.1.3: the sender slows down as for a loss, once a round trip. */
static void ecn_take(struct stateful *s, struct conn *c, struct side *side,
		     const struct segment *seg)
{
	if (seg->flags & TCP_CWR)
		side->ecn_echo = 0;
	if (is_marked(seg))
		side->ecn_echo = 1;
	if (!(seg->flags & TCP_ECE) || side->recovering || seq_lt(seg->ack, side->ecn_recover) ||
	    side->snd_una == side->snd_max)
		return;
	congestion_lost(conn_entry(s, c), side, conn_mss(s, c));
	side->cwnd = side->ssthresh;
	side->ecn_recover = side->snd_max;
	side->ecn_cwr = 1;
}

/* R3 of RFC 7323 section 4.3: the stamp of the segment that the next ACK is for, so that the
 * peer's measure holds our delay. */
void extension_take(struct stateful *s, struct conn *c, const struct segment *seg)
{
	struct side *side = table_side(&s->table, c);

	if (side->stamped && !seq_lt(seg->stamp, side->stamp_recent) &&
	    !seq_lt(side->ack_sent, seg->seq))
		stamp_record(s, side, seg->stamp);
	if (side->ecn)
		ecn_take(s, c, side, seg);
}

/* New data alone is marked as capable (RFC 3168 sections 6.1.4 and 6.1.5). */
uint8_t ecn_flags(struct side *side, uint8_t flags, uint32_t seq, uint32_t len, uint8_t *mark)
{
	if (side->ecn_echo)
		flags |= TCP_ECE;
	if (!len || seq_lt(seq, side->snd_max))
		return flags;
	if (side->ecn_cwr)
		flags |= TCP_CWR;
	side->ecn_cwr = 0;
	*mark = ECN_CAPABLE;
	return flags;
}
