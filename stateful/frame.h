/* Segments written: what output.c and quick.c share, inlined into both.
 *
 * A segment is the entry's header template, copied as one cache line, with the fields that differ
 * written over it, and the payload behind. Checksums are sums of the constant part, known
 * beforehand, and of what was written over it; a message that fits one segment brings its own sum.
 * Where a received packet is turned round, its buffer is used: its header line is in the cache
 * already, and no pool is asked. */
#ifndef STATEFUL_FRAME_H
#define STATEFUL_FRAME_H

#include <string.h>

#include "core.h"

#define always_inline static inline __attribute__((always_inline))

#define IP4_BYTES sizeof(struct rte_ipv4_hdr)
#define IP6_BYTES sizeof(struct rte_ipv6_hdr)
#define TCP_BYTES sizeof(struct rte_tcp_hdr)

#define COPY_BYTES 32u

struct mac { /* in registers: between reading a packet's source address and overwriting it */
	uint32_t low;
	uint16_t high;
};

struct frame {
	struct rte_mbuf *m;
	struct mac mac; /* next hop */
};

always_inline struct mac mac_load(const uint8_t *from)
{
	struct mac mac;

	memcpy(&mac.low, from, sizeof(mac.low));
	memcpy(&mac.high, from + sizeof(mac.low), sizeof(mac.high));
	return mac;
}

/* A segment's addresses: all of them stand in the tuple, or IPv6 ones beside it. */
struct ends {
	const struct tuple *tuple;
	struct ip6_pair ip6;
};

always_inline uint32_t ip_bytes(unsigned family)
{
	return family == 6 ? IP6_BYTES : IP4_BYTES;
}

always_inline struct ends conn_ends(const struct stateful *s, const struct conn *c, unsigned family)
{
	struct ends ends = {.tuple = &c->tuple};

	if (family == 6) {
		ends.ip6.local = ip6_address(s, c->tuple.local_be);
		ends.ip6.peer = s->table.peer6[table_number(&s->table, c)];
	}
	return ends;
}

/* The next hop: the gateway if there is one, else where the segment came from, else the neighbor by
 * address. False: it is not known yet. */
always_inline bool frame_route(struct stateful *s, const struct conn *c, const struct rte_mbuf *in,
			       const struct ends *ends, unsigned family, struct mac *to)
{
	const uint8_t *mac;

	if (likely(family == 6 ? s->nexthop->has_gateway6 : s->nexthop->has_gateway))
		mac = family == 6 ? s->nexthop->gateway6 : s->nexthop->gateway;
	else if (in)
		mac = rte_pktmbuf_mtod(in, const struct rte_ether_hdr *)->src_addr.addr_bytes;
	else if (c && c->has_side && table_side(&s->table, c)->has_mac)
		mac = table_side(&s->table, c)->mac;
	else
		mac = family == 6 ? nexthop_mac6(s->nexthop, ip6_swap(ends->ip6.peer))
				  : nexthop_mac(s->nexthop, ends->tuple->peer_be);
	if (!mac)
		return false;
	*to = mac_load(mac);
	return true;
}

/* output.c: a packet whose payload lies in a segment behind it, and has been read, can be written
 * over too: that segment goes. False: it can't. */
bool frame_cut(struct stateful *, struct rte_mbuf *, uint32_t length);
/* output.c: leave both checksums to the port. */
void frame_offload(const struct stateful *, struct rte_mbuf *, unsigned family,
		   struct rte_tcp_hdr *, uint64_t pseudo);

/* A packet with room for `length` bytes, and where it goes: the received one unless it is
 * refused (then it stays for the drop sample), or a blank one. */
always_inline bool frame_take(struct stateful *s, const struct conn *c, const struct segment *seg,
			      const struct ends *ends, unsigned family, uint32_t length,
			      struct frame *frame)
{
	struct rte_mbuf *in = seg ? segment_mbuf(seg) : NULL;

	if (!frame_route(s, c, in, ends, family, &frame->mac))
		return false;
	if (in && seg->rx->reason[seg->index] == DROP_NONE &&
	    (likely(mbuf_reusable(in, length)) || frame_cut(s, in, length)))
		frame->m = rx_take(seg->rx, seg->index);
	else
		frame->m = tx_new(s->tx);
	if (unlikely(!frame->m))
		return false;
	frame->m->ol_flags = 0;
	return true;
}

always_inline void frame_length(const struct frame *frame, uint32_t length)
{
	frame->m->data_len = (uint16_t)length;
	frame->m->pkt_len = length;
}

struct fields { /* what differs from segment to segment, in host order */
	uint32_t seq, ack;
	uint16_t window;
	uint8_t flags, options; /* bytes of options */
	uint8_t ecn;            /* bits added to the TOS byte */
};

/* The checksum sum of eight bytes, before folding. */
always_inline uint64_t halves_sum(uint64_t word)
{
	return (uint32_t)word + (word >> 32);
}

/* Write what differs into the IP header, with its checksum; returns the sum of the pseudo header.
 */
always_inline uint64_t ip_write(const struct entry *e, uint8_t *at, const struct ends *ends,
				unsigned family, uint16_t l4_len, uint8_t ecn)
{
	struct rte_ipv4_hdr *ip4 = (void *)at;
	struct rte_ipv6_hdr *ip6 = (void *)at;
	uint64_t received, addresses;
	uint16_t total;

	if (family == 6) {
		at[1] |= (uint8_t)(ecn << 4);
		ip6->payload_len = htons(l4_len);
		memcpy(ip6->src_addr, &ends->ip6.local, sizeof(ip6->src_addr));
		memcpy(ip6->dst_addr, &ends->ip6.peer, sizeof(ip6->dst_addr));
		return checksum_pseudo6(&ends->ip6, IPPROTO_TCP, l4_len);
	}
	received = tuple_addresses(ends->tuple);
	addresses = received << 32 | received >> 32;
	total = htons((uint16_t)(l4_len + IP4_BYTES));
	ip4->total_length = total;
	memcpy(&ip4->src_addr, &addresses, sizeof(addresses));
	ip4->type_of_service |= ecn;
	ip4->hdr_checksum =
		(uint16_t)~checksum_fold(halves_sum(addresses) + e->ip_sum + total + htons(ecn));
	return halves_sum(addresses) + htons(IPPROTO_TCP) + htons(l4_len);
}

/* Write the headers before options and payload, whose sum is given, and queue the packet of
 * `length` bytes. Neighbouring fields are written as one word, which the checksum then takes. */
always_inline void frame_send(struct stateful *s, struct entry *e, const struct frame *frame,
			      const struct ends *ends, unsigned family, const struct fields *f,
			      uint32_t length, uint64_t payload_sum)
{
	uint8_t *start = rte_pktmbuf_mtod(frame->m, uint8_t *);
	uint8_t *ip = start + s->l2_len;
	struct rte_tcp_hdr *tcp = (void *)(ip + ip_bytes(family));
	uint16_t l4_len = (uint16_t)(length - s->l2_len - ip_bytes(family));
	uint32_t ports = tuple_ports(ends->tuple) << 16 | tuple_ports(ends->tuple) >> 16;
	uint64_t seq_ack = __builtin_bswap64((uint64_t)f->seq << 32 | f->ack);
	uint32_t rest = (uint32_t)htons(f->window) << 16 | (uint32_t)f->flags << 8 |
			(uint32_t)(TCP_BYTES + f->options) << 2;
	uint64_t *count = s->counters->value, pseudo;

	memcpy(start, &frame->mac.low, sizeof(frame->mac.low));
	memcpy(start + sizeof(frame->mac.low), &frame->mac.high, sizeof(frame->mac.high));
	pseudo = ip_write(e, ip, ends, family, l4_len, f->ecn);
	memcpy(&tcp->src_port, &ports, sizeof(ports));
	memcpy(&tcp->sent_seq, &seq_ack, sizeof(seq_ack));
	memcpy(&tcp->data_off, &rest, sizeof(rest));
	if (family == 6)
		tcp->tcp_urp = 0; /* behind the template */
	if (unlikely(s->offload))
		frame_offload(s, frame->m, family, tcp, pseudo);
	else
		tcp->cksum = (uint16_t)~checksum_fold(pseudo + ports + halves_sum(seq_ack) + rest +
						      payload_sum);
	count[COUNTER_TCP_TX]++;
	count[COUNTER_FIN_TX] += f->flags & TCP_FIN;
	if (f->flags & (TCP_SYN | TCP_RST))
		count[f->flags & TCP_SYN ? COUNTER_SYN_TX : COUNTER_RST_TX]++;
	e->stats->level.bits_tx += (uint64_t)length * 8;
	tx_push(s->tx, frame->m);
}

always_inline struct fields conn_fields(const struct entry *e, const struct conn *c, uint8_t flags,
					uint32_t seq)
{
	return (struct fields){.seq = seq,
			       .ack = flags & TCP_ACK ? c->rcv_nxt : 0,
			       .window = c->scale == CONN_NO_SCALE ? e->window_plain : e->window,
			       .flags = flags};
}

/* A copy without a call: messages of one segment are short. */
always_inline void bytes_copy(char *to, const char *from, uint32_t length)
{
	if (unlikely(length < COPY_BYTES)) {
		memcpy(to, from, length);
		return;
	}
	for (uint32_t i = 0; i < length - COPY_BYTES; i += COPY_BYTES)
		memcpy(to + i, from + i, COPY_BYTES);
	memcpy(to + length - COPY_BYTES, from + length - COPY_BYTES, COPY_BYTES);
}

#endif
