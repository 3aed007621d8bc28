/* Segments out, by the means of frame.h.
 *
 * The body is inlined three times - bare, a whole message, anything else - since the first two are
 * nearly all segments of a run and need less than half of it; and each of them for IPv4 and IPv6,
 * whose template ends before TCP: a line has no room for more. */
#include "frame.h"
#include "options.h"

#define OPTIONS_MAX 40u
#define SACK_BLOCKS 4u

bool frame_cut(struct stateful *s, struct rte_mbuf *m, uint32_t length)
{
	struct rte_mbuf *rest = m->next;

	if (m->nb_segs != 2)
		return false;
	m->nb_segs = 1;
	if (!mbuf_reusable(m, length)) {
		m->nb_segs = 2;
		return false;
	}
	m->next = NULL;
	s->tx->release(s->tx, rest);
	return true;
}

void frame_offload(const struct stateful *s, struct rte_mbuf *m, unsigned family,
		   struct rte_tcp_hdr *tcp, uint64_t pseudo)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, void *, s->l2_len);

	if (family == 4)
		ip->hdr_checksum = 0;
	tcp->cksum = checksum_fold(pseudo);
	m->l2_len = s->l2_len;
	m->l3_len = ip_bytes(family) & 0x1ff;
	m->l4_len = tcp->data_off >> 2;
	m->ol_flags = RTE_MBUF_F_TX_TCP_CKSUM;
	m->ol_flags |=
		family == 6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
}

always_inline bool output_as(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
			     uint32_t seq, const struct message *message, uint32_t offset,
			     uint32_t len, unsigned family)
{
	struct entry *e = conn_entry(s, c);
	uint32_t headers = (uint32_t)(s->l2_len + ip_bytes(family) + TCP_BYTES);
	struct fields fields = conn_fields(e, c, flags, seq);
	struct ends ends = conn_ends(s, c, family);
	uint64_t sum = 0;
	struct frame frame;
	uint8_t *start;

	if (!frame_take(s, c, seg, &ends, family, headers + len, &frame))
		return false;
	frame_length(&frame, headers + len);
	start = rte_pktmbuf_mtod(frame.m, uint8_t *);
	memcpy(start, e->header, TEMPLATE_MAX);
	if (message && message->whole && len == message->length) {
		bytes_copy((char *)start + headers, message->whole, len);
		sum = message->whole_sum;
	} else if (message && len) {
		message_write(message, offset, (char *)start + headers, len);
		if (!s->offload)
			sum = checksum_sum(start + headers, len);
	}
	frame_send(s, e, &frame, &ends, family, &fields, headers + len, sum);
	if (seg && flags & TCP_ACK)
		seg->ack_now = ACK_NONE;
	return true;
}

always_inline bool output(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
			  uint32_t seq, const struct message *message, uint32_t offset,
			  uint32_t len)
{
	if (likely(conn_entry(s, c)->family == 4))
		return output_as(s, c, seg, flags, seq, message, offset, len, 4);
	return output_as(s, c, seg, flags, seq, message, offset, len, 6);
}

struct piece { /* of a message */
	const struct message *message;
	uint32_t offset, len;
};

/* The checksum sum of bytes that stay as they are. Long messages are cut at the same places again
 * and again, by all connections: most of these sums are known. */
static uint64_t bytes_sum(struct stateful *s, const char *bytes, uint32_t length)
{
	uint64_t hash = ((uintptr_t)bytes + length) * 0x9e3779b97f4a7c15u;
	struct summed *known = &s->summed[hash >> (64 - SUMMED_BITS)];

	if (known->bytes != bytes || known->length != length)
		*known = (struct summed){bytes, length, checksum_fold(checksum_sum(bytes, length))};
	return known->sum;
}

/* Hang a long payload behind the packet, left where it lies; its checksum sum. */
static uint64_t payload_hang(struct stateful *s, struct rte_mbuf *m, struct rte_mbuf *behind)
{
	m->pkt_len += behind->data_len;
	m->nb_segs = 2;
	m->next = behind;
	return bytes_sum(s, behind->buf_addr, behind->data_len);
}

/* A packet that refers to the payload, or NULL: it is to be copied. */
static struct rte_mbuf *payload_refer(struct stateful *s, struct piece piece)
{
	const char *bytes;

	if (piece.len < s->tx->piece_min)
		return NULL;
	bytes = message_bytes(piece.message, piece.offset, piece.len);
	return bytes ? tx_piece(s->tx, bytes, (uint16_t)piece.len) : NULL;
}

/* A segment with fields->options bytes of options, in words. */
always_inline bool with_as(struct stateful *s, struct conn *c, struct segment *seg,
			   const struct fields *fields, const uint32_t *option, struct piece piece,
			   unsigned family)
{
	struct entry *e = conn_entry(s, c);
	uint32_t headers = (uint32_t)(s->l2_len + ip_bytes(family) + TCP_BYTES);
	uint32_t payload = headers + fields->options;
	struct ends ends = conn_ends(s, c, family);
	struct rte_mbuf *behind = payload_refer(s, piece);
	uint32_t length = payload + (behind ? 0 : piece.len);
	struct frame frame;
	uint64_t sum = 0;
	uint8_t *start;

	if (!frame_take(s, c, seg, &ends, family, length, &frame)) {
		if (behind)
			tx_piece_return(s->tx);
		return false;
	}
	frame_length(&frame, length);
	start = rte_pktmbuf_mtod(frame.m, uint8_t *);
	memcpy(start, e->header, TEMPLATE_MAX);
	for (uint32_t i = 0; i < fields->options; i += sizeof(*option), option++) {
		memcpy(start + headers + i, option, sizeof(*option));
		sum += *option;
	}
	if (behind) {
		sum += payload_hang(s, frame.m, behind);
	} else if (piece.len) {
		message_write(piece.message, piece.offset, (char *)start + payload, piece.len);
		if (!s->offload)
			sum += checksum_sum(start + payload, piece.len);
	}
	frame_send(s, e, &frame, &ends, family, fields, payload + piece.len, sum);
	if (seg && fields->flags & TCP_ACK)
		seg->ack_now = ACK_NONE;
	return true;
}

static bool output_with(struct stateful *s, struct conn *c, struct segment *seg,
			const struct fields *fields, const uint32_t *option, struct piece piece)
{
	if (likely(conn_entry(s, c)->family == 4))
		return with_as(s, c, seg, fields, option, piece, 4);
	return with_as(s, c, seg, fields, option, piece, 6);
}

/* A segment with a long payload. */
static __attribute__((noinline)) bool output_long(struct stateful *s, struct conn *c,
						  struct segment *seg, uint8_t flags, uint32_t seq,
						  struct piece piece)
{
	struct fields fields = conn_fields(conn_entry(s, c), c, flags, seq);

	return output_with(s, c, seg, &fields, NULL, piece);
}

/* Which segments came before their turn (RFC 2018 section 3), behind the options there are, in
 * words.
 */
static uint32_t sack_write(const struct side *side, uint32_t *option, uint32_t options)
{
	struct sack_range block[SACK_BLOCKS];
	unsigned most = RTE_MIN((OPTIONS_MAX / 4 - options - 1) / 2, SACK_BLOCKS);
	unsigned count = reassembly_blocks(side, block, most);

	option[options++] = htonl(0x01010000u | TCP_OPTION_SACK << 8 | (2 + 8 * count));
	for (unsigned i = 0; i < count; i++) {
		option[options++] = htonl(block[i].begin);
		option[options++] = htonl(block[i].end);
	}
	return options;
}

/* A segment of a connection with time stamps or ECN, or one that says what came before its turn
 * (RFC 2018 section 3): then it has no payload. */
static bool output_extended(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
			    uint32_t seq, struct piece piece)
{
	struct side *side = table_side(&s->table, c);
	struct fields fields = conn_fields(conn_entry(s, c), c, flags, seq);
	uint32_t option[OPTIONS_MAX / sizeof(uint32_t)];
	uint32_t options = stamp_write(s, side, option);

	if (side->ecn)
		fields.flags = ecn_flags(side, flags, seq, piece.len, &fields.ecn);
	if (c->sack && side->kept && !piece.len && !(flags & (TCP_FIN | TCP_RST)))
		options = sack_write(side, option, options);
	fields.options = (uint8_t)(options * sizeof(*option));
	if (!output_with(s, c, seg, &fields, option, piece))
		return false;
	if (flags & TCP_ACK)
		side->ack_sent = c->rcv_nxt;
	return true;
}

static inline bool is_extended(const struct stateful *s, const struct conn *c)
{
	return unlikely(c->has_side) && side_is_held(table_side(&s->table, c));
}

/* MSS; window scale and SACK permitted when we open or the peer offered them (RFC 9293
 * section 3.7.1, RFC 7323 section 2.2, RFC 2018 section 2). Returns how many words of options. */
always_inline uint32_t syn_options(const struct entry *e, const struct conn *c, bool opens,
				   uint32_t *option)
{
	uint32_t options = 1;

	option[0] = htonl(0x02040000u | e->mss);
	if (opens ? e->scale_offered : c->scale != CONN_NO_SCALE)
		option[options++] = htonl(0x01030300u | e->scale);
	if (opens ? e->sack : c->sack)
		option[options++] = htonl(0x01010402);
	return options;
}

/* The same with time stamps and ECN as agreed. */
static __attribute__((noinline)) bool syn_extended(struct stateful *s, struct conn *c,
						   struct segment *seg, uint32_t seq)
{
	const struct entry *e = conn_entry(s, c);
	const struct side *side = table_side(&s->table, c);
	bool opens = c->state == SYN_SENT;
	struct fields fields = conn_fields(e, c, opens ? TCP_SYN : TCP_SYN | TCP_ACK, seq);
	uint32_t option[OPTIONS_MAX / sizeof(uint32_t)];
	uint32_t options = syn_options(e, c, opens, option);

	fields.window = e->window_plain;
	options += stamp_write(s, side, option + options);
	fields.flags |= side->ecn ? opens ? TCP_ECE | TCP_CWR : TCP_ECE : 0;
	fields.options = (uint8_t)(options * sizeof(*option));
	return output_with(s, c, seg, &fields, option, (struct piece){0});
}

/* Room for all of the three words is written to; only those that are there count. */
always_inline bool syn_as(struct stateful *s, struct conn *c, struct segment *seg, uint32_t seq,
			  unsigned family)
{
	struct entry *e = conn_entry(s, c);
	bool opens = c->state == SYN_SENT;
	uint32_t headers = (uint32_t)(s->l2_len + ip_bytes(family) + TCP_BYTES), option[3] = {0};
	uint32_t length = headers + syn_options(e, c, opens, option) * (uint32_t)sizeof(*option);
	struct fields fields = conn_fields(e, c, opens ? TCP_SYN : TCP_SYN | TCP_ACK, seq);
	struct ends ends = conn_ends(s, c, family);
	struct frame frame;
	uint8_t *start;

	fields.window = e->window_plain;
	fields.options = (uint8_t)(length - headers);
	if (!frame_take(s, c, seg, &ends, family, headers + (uint32_t)sizeof(option), &frame))
		return false;
	frame_length(&frame, length);
	start = rte_pktmbuf_mtod(frame.m, uint8_t *);
	memcpy(start, e->header, TEMPLATE_MAX);
	for (uint32_t i = 0; i < 3; i++) /* word by word, as they were made: see struct conn */
		memcpy(start + headers + i * sizeof(*option), &option[i], sizeof(*option));
	frame_send(s, e, &frame, &ends, family, &fields, length,
		   (uint64_t)option[0] + option[1] + option[2]);
	return true;
}

bool output_syn(struct stateful *s, struct conn *c, struct segment *seg, uint32_t seq)
{
	if (unlikely(c->has_side))
		return syn_extended(s, c, seg, seq);
	if (likely(conn_entry(s, c)->family == 4))
		return syn_as(s, c, seg, seq, 4);
	return syn_as(s, c, seg, seq, 6);
}

bool output_segment(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
		    uint32_t seq, const struct message *message, uint32_t offset, uint32_t len)
{
	if (is_extended(s, c))
		return output_extended(s, c, seg, flags, seq, (struct piece){message, offset, len});
	if (len >= s->tx->piece_min)
		return output_long(s, c, seg, flags, seq, (struct piece){message, offset, len});
	return output(s, c, seg, flags, seq, message, offset, len);
}

bool output_whole(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
		  const struct message *message)
{
	if (!message->length)
		return output(s, c, seg, flags & (uint8_t)~TCP_SYN, c->snd_nxt, NULL, 0, 0);
	require(message->whole);
	if (unlikely(message->length >= s->tx->piece_min))
		return output_long(s, c, seg, flags, c->snd_nxt,
				   (struct piece){message, 0, message->length});
	return output(s, c, seg, flags & (uint8_t)~TCP_SYN, c->snd_nxt, message, 0,
		      message->length);
}

static bool output_plain(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
			 uint32_t seq)
{
	return output(s, c, seg, flags, seq, NULL, 0, 0);
}

bool output_bare(struct stateful *s, struct conn *c, struct segment *seg, uint8_t flags,
		 uint32_t seq)
{
	if (is_extended(s, c))
		return output_extended(s, c, seg, flags, seq, (struct piece){0});
	return output_plain(s, c, seg, flags, seq);
}

bool output_ack(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct side *side;

	if (!c->has_side)
		return output_plain(s, c, seg, TCP_ACK, c->snd_nxt);
	side = table_side(&s->table, c);
	if (side->kept || side_is_held(side)) {
		if (!output_extended(s, c, seg, TCP_ACK, side->snd_max, (struct piece){0}))
			return false;
	} else if (!output_plain(s, c, seg, TCP_ACK, side->snd_max)) {
		return false;
	}
	side->unacked = 0;
	return true;
}

always_inline void stateless_as(struct stateful *s, struct entry *e, const struct segment *seg,
				unsigned family)
{
	bool fin = (seg->flags & (TCP_FIN | TCP_ACK)) == (TCP_FIN | TCP_ACK);
	uint32_t length = (uint32_t)(s->l2_len + ip_bytes(family) + TCP_BYTES);
	struct fields f = {.window = e->window_plain};
	struct ends ends = {.tuple = &seg->tuple};
	struct frame frame;

	if (family == 6)
		ends.ip6 = *seg->ip6;
	if (!frame_take(s, NULL, seg, &ends, family, length, &frame))
		return;
	frame_length(&frame, length);
	memcpy(rte_pktmbuf_mtod(frame.m, char *), e->header, TEMPLATE_MAX);
	f.flags = fin ? TCP_ACK : seg->flags & TCP_ACK ? TCP_RST : TCP_RST | TCP_ACK;
	if (seg->flags & TCP_ACK)
		f.seq = seg->ack;
	if (f.flags & TCP_ACK)
		f.ack = seg->seq + seg->len + !!(seg->flags & TCP_SYN) + !!(seg->flags & TCP_FIN);
	if (fin)
		s->counters->value[COUNTER_ACK_RT]++;
	frame_send(s, e, &frame, &ends, family, &f, length, 0);
}

/* RFC 9293 section 3.10.7.1 (segment for a closed connection). A FIN is acknowledged instead: our
 * record is freed as soon as the connection is closed, so a repeated FIN means that our last ACK
 * was lost. */
void output_stateless(struct stateful *s, struct entry *e, const struct segment *seg)
{
	if (seg->ip6)
		stateless_as(s, e, seg, 6);
	else
		stateless_as(s, e, seg, 4);
}
