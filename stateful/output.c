/* Segments out.
 *
 * A segment is the entry's header template, copied whole, with the fields that differ written over
 * it, and the payload behind. Checksums are sums of the constant part, known beforehand, and of
 * what was written over it; a message that fits one segment brings its own sum. Where a received
 * packet is turned round, its buffer is used: the packet's header line is in the cache already, and
 * no pool is asked. */
#include "core.h"

#include <string.h>

struct frame {
	struct rte_mbuf *m;
	uint8_t mac[6]; /* next hop */
};

/* A received packet can be written over when it is ours alone, in one piece, and has room. */
static inline bool mbuf_reusable(const struct rte_mbuf *m, uint32_t length)
{
	return m->nb_segs == 1 && rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m) &&
	       (uint32_t)(m->buf_len - m->data_off) >= RTE_MAX(length, (uint32_t)TEMPLATE_MAX);
}

/* The next hop: the gateway if there is one, else where seg came from, else the neighbor by
 * address. */
static inline const uint8_t *frame_mac(struct stateful *s, const struct conn *c,
				       const struct segment *seg, uint32_t peer_be)
{
	if (s->nexthop->has_gateway)
		return s->nexthop->gateway;
	if (seg && segment_mbuf(seg))
		return rte_pktmbuf_mtod(segment_mbuf(seg), const struct rte_ether_hdr *)
			->src_addr.addr_bytes;
	if (c && c->has_side && table_side(&s->table, c)->has_mac)
		return table_side(&s->table, c)->mac;
	return nexthop_mac(s->nexthop, peer_be);
}

/* A packet to write a frame of `length` into: the received one unless it is refused (then it stays
 * for the drop sample), or a blank one. */
static inline bool frame_take(struct stateful *s, const struct conn *c, const struct segment *seg,
			      uint32_t peer_be, uint32_t length, struct frame *frame)
{
	struct rte_mbuf *in = seg ? segment_mbuf(seg) : NULL;
	const uint8_t *mac = frame_mac(s, c, seg, peer_be);

	if (!mac)
		return false;
	memcpy(frame->mac, mac, sizeof(frame->mac));
	if (in && seg->rx->reason[seg->index] == DROP_NONE && mbuf_reusable(in, length))
		frame->m = rx_take(seg->rx, seg->index);
	else
		frame->m = tx_new(s->tx);
	if (!frame->m)
		return false;
	frame->m->data_len = (uint16_t)length;
	frame->m->pkt_len = length;
	frame->m->ol_flags = 0;
	return true;
}

struct fields { /* what differs from segment to segment, network order */
	uint32_t local_be, peer_be;
	uint16_t local_port_be, peer_port_be;
	uint32_t seq_be, ack_be;
	uint16_t window_be;
	uint8_t flags, header_len; /* of TCP, with options */
};

static inline void frame_offload(const struct stateful *s, struct rte_mbuf *m,
				 struct rte_ipv4_hdr *ip, struct rte_tcp_hdr *tcp, uint32_t pseudo)
{
	ip->hdr_checksum = 0;
	tcp->cksum = checksum_fold(pseudo);
	m->l2_len = s->l2_len;
	m->l3_len = sizeof(*ip);
	m->l4_len = tcp->data_off >> 2;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
}

/* Options and payload are in place; payload_sum covers both. */
static inline void frame_header(const struct stateful *s, const struct entry *e,
				const struct frame *frame, const struct fields *f,
				uint64_t payload_sum)
{
	char *start = rte_pktmbuf_mtod(frame->m, char *);
	struct rte_ipv4_hdr *ip = (void *)(start + s->l2_len);
	struct rte_tcp_hdr *tcp = (void *)(ip + 1);
	uint16_t l4_len = (uint16_t)(frame->m->data_len - s->l2_len - sizeof(*ip));
	uint64_t addresses = (uint64_t)f->local_be + f->peer_be;
	uint64_t pseudo = addresses + rte_cpu_to_be_16(IPPROTO_TCP) + rte_cpu_to_be_16(l4_len);
	uint32_t ports = (uint32_t)f->peer_port_be << 16 | f->local_port_be;
	uint16_t offset_flags = (uint16_t)(f->flags << 8 | f->header_len << 2);

	memcpy(start, frame->mac, sizeof(frame->mac));
	ip->total_length = rte_cpu_to_be_16((uint16_t)(l4_len + sizeof(*ip)));
	ip->src_addr = f->local_be;
	ip->dst_addr = f->peer_be;
	memcpy(&tcp->src_port, &ports, sizeof(ports));
	tcp->sent_seq = f->seq_be;
	tcp->recv_ack = f->ack_be;
	memcpy(&tcp->data_off, &offset_flags, sizeof(offset_flags));
	tcp->rx_win = f->window_be;
	if (s->offload) {
		frame_offload(s, frame->m, ip, tcp, checksum_fold(pseudo));
		return;
	}
	ip->hdr_checksum = (uint16_t)~checksum_fold(e->ip_sum + addresses + ip->total_length);
	tcp->cksum = (uint16_t)~checksum_fold(pseudo + ports + f->seq_be + f->ack_be +
					      offset_flags + f->window_be + payload_sum);
}

static inline void frame_count(struct stateful *s, struct entry *e, const struct frame *frame,
			       uint8_t flags)
{
	s->counters->value[COUNTER_TCP_TX]++;
	if (flags & TCP_SYN)
		s->counters->value[COUNTER_SYN_TX]++;
	if (flags & TCP_FIN)
		s->counters->value[COUNTER_FIN_TX]++;
	if (flags & TCP_RST)
		s->counters->value[COUNTER_RST_TX]++;
	e->stats->level.bits_tx += (uint64_t)frame->m->data_len * 8;
}

static inline struct fields conn_fields(const struct entry *e, const struct conn *c, uint8_t flags,
					uint32_t seq)
{
	return (struct fields){
		.local_be = c->local_be,
		.peer_be = c->peer_be,
		.local_port_be = c->local_port_be,
		.peer_port_be = c->peer_port_be,
		.seq_be = rte_cpu_to_be_32(seq),
		.ack_be = flags & TCP_ACK ? rte_cpu_to_be_32(c->rcv_nxt) : 0,
		.window_be = rte_cpu_to_be_16(
			flags & TCP_SYN || c->scale == CONN_NO_SCALE ? e->window_plain : e->window),
		.flags = flags,
		.header_len = sizeof(struct rte_tcp_hdr),
	};
}

/* MSS, and window scale when we open or the peer offered it (RFC 9293 3.7.1, RFC 7323 2.2). */
static uint8_t write_syn_options(const struct entry *e, const struct conn *c, uint8_t flags,
				 char *to)
{
	const uint8_t options[8] = {2, 4,       (uint8_t)(e->mss >> 8), (uint8_t)e->mss, 1, 3,
				    3, e->scale};
	bool scale = flags & TCP_ACK ? c->scale != CONN_NO_SCALE : e->scale != 0;

	memcpy(to, options, sizeof(options));
	return scale ? 8 : 4;
}

bool output_segment(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
		    uint32_t seq, const struct message *message, uint32_t offset, uint32_t len)
{
	struct entry *e = conn_entry(s, c);
	struct fields fields = conn_fields(e, c, flags, seq);
	uint32_t headers = s->l2_len + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr);
	uint64_t sum = 0;
	struct frame frame;
	char *payload;

	if (!frame_take(s, c, seg, c->peer_be, headers + 8 + len, &frame))
		return false;
	frame.m->data_len = (uint16_t)(headers + len);
	payload = rte_pktmbuf_mtod(frame.m, char *);
	memcpy(payload, e->header, TEMPLATE_MAX);
	payload += headers;
	if (flags & TCP_SYN) {
		uint8_t options = write_syn_options(e, c, flags, payload);

		fields.header_len += options;
		frame.m->data_len = (uint16_t)(headers + options);
		sum = checksum_sum(payload, options);
	} else if (len) {
		message_write(message, offset, payload, len);
		if (!s->offload)
			sum = message->whole && len == message->length ? message->whole_sum
								       : checksum_sum(payload, len);
	}
	frame.m->pkt_len = frame.m->data_len;
	frame_header(s, e, &frame, &fields, sum);
	frame_count(s, e, &frame, flags);
	tx_push(s->tx, frame.m);
	if (seg && flags & TCP_ACK)
		seg->ack_now = false;
	return true;
}

bool output_ack(struct stateful *s, struct conn *c, struct segment *seg)
{
	uint32_t seq = c->has_side ? table_side(&s->table, c)->snd_max : c->snd_nxt;

	return output_segment(s, c, seg, TCP_ACK, seq, NULL, 0, 0);
}

void output_rst(struct stateful *s, struct conn *c)
{
	output_segment(s, c, NULL, TCP_RST | TCP_ACK, c->snd_nxt, NULL, 0, 0);
}

/* RFC 9293 section 3.10.7.1 (segment for a closed connection). A FIN is acknowledged instead: our
 * record is freed as soon as the connection is closed, so a repeated FIN means that our last ACK
 * was lost. */
void output_stateless(struct stateful *s, struct entry *e, const struct segment *seg)
{
	bool fin = (seg->flags & (TCP_FIN | TCP_ACK)) == (TCP_FIN | TCP_ACK);
	uint32_t length = s->l2_len + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr);
	uint32_t end = seg->seq + seg->len + !!(seg->flags & TCP_SYN) + !!(seg->flags & TCP_FIN);
	struct frame frame;
	struct fields f = {.local_be = seg->local_be,
			   .peer_be = seg->peer_be,
			   .local_port_be = seg->local_port_be,
			   .peer_port_be = seg->peer_port_be,
			   .window_be = rte_cpu_to_be_16(e->window_plain),
			   .header_len = sizeof(struct rte_tcp_hdr)};

	if (!frame_take(s, NULL, seg, seg->peer_be, length, &frame))
		return;
	memcpy(rte_pktmbuf_mtod(frame.m, char *), e->header, length);
	f.flags = fin ? TCP_ACK : seg->flags & TCP_ACK ? TCP_RST : TCP_RST | TCP_ACK;
	f.seq_be = seg->flags & TCP_ACK ? rte_cpu_to_be_32(seg->ack) : 0;
	f.ack_be = f.flags & TCP_ACK ? rte_cpu_to_be_32(end) : 0;
	frame_header(s, e, &frame, &f, 0);
	frame_count(s, e, &frame, f.flags);
	if (fin)
		s->counters->value[COUNTER_ACK_RT]++;
	tx_push(s->tx, frame.m);
}
