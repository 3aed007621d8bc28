/* The exchange of short messages on a clean path, a segment in one go.
 *
 * Nearly every segment of a run is the one its record awaits: in order, with everything sent
 * acknowledged, and either one whole message that begins as the last one did, or nothing but flags.
 * Three compares - sequence number, acknowledgment, flags by state - decide all of RFC 9293's
 * checks (input_synchronized.c) for these, and what is to be answered follows at once: the packet
 * is turned round. What is not just so is left as it was, and takes the long way; both ways send
 * the same bytes (tests/unit/test_tcp_random.c plays worlds both ways).
 *
 * Only entries take part whose exchanges are plain (quick_suits()). */
#include "frame.h"
#include "options.h"

/* No: what the long way has to look at, segment by segment or message by message. */
bool quick_suits(const struct stateful *s, const struct entry *e)
{
	const struct config_traffic *t = e->config;

	if (e->udp || e->extended || e->ack_delay || e->split || e->pipeline || s->offload)
		return false;
	if (e->messages.rings > 1 || t->tcp.handshake_ack || t->tcp.separate_fin)
		return false;
	if (e->client)
		return e->messages.contents == 1 && !e->paced && !e->think && !e->churn &&
		       !e->close.is_set;
	return !e->messages.ring->delay.last && !e->messages.ring->chunked;
}

/* A server with routes has to read how a request begins, which may be longer than a segment. */
bool quick_flows(const struct entry *e)
{
	return e->http && !e->ack_delay && (e->client || e->messages.rings == 1);
}

struct quick {
	struct stateful *s;
	struct entry *e;
	struct conn *c;
	struct rx_burst *rx;
	unsigned index;
	struct rte_mbuf *m;
	const uint8_t *tcp;
	const char *payload;
	uint32_t len;
	uint8_t flags;
};

/* The window that the segment offers. */
always_inline uint32_t quick_window(const struct quick *q, bool scaled)
{
	uint32_t window = ntohs(((const struct rte_tcp_hdr *)q->tcp)->rx_win);

	return scaled ? conn_window(q->c, window) : window;
}

always_inline uint32_t quick_headers(const struct quick *q, unsigned family)
{
	return (uint32_t)(q->s->l2_len + ip_bytes(family) + TCP_BYTES);
}

/* May the packet become a reply with so much payload? */
always_inline bool packet_suits(const struct quick *q, uint32_t payload, unsigned family)
{
	return likely(mbuf_reusable(q->m, quick_headers(q, family) + payload));
}

/* The same with this message; and does the peer have room for it? */
always_inline bool message_suits(const struct quick *q, const struct message *m, uint32_t window,
				 unsigned family)
{
	return m->whole && m->length <= conn_mss(q->s, q->c) && m->length <= window &&
	       window >= q->e->simple_max && m->length < q->s->tx->piece_min &&
	       packet_suits(q, m->length, family);
}

/* Turn the packet round: flags, at snd_nxt, and a message or NULL. */
always_inline void quick_reply(struct quick *q, uint8_t flags, const struct message *m,
			       unsigned family)
{
	struct fields fields = conn_fields(q->e, q->c, flags, q->c->snd_nxt);
	uint32_t headers = quick_headers(q, family), length = headers + (m ? m->length : 0);
	struct ends ends = conn_ends(q->s, q->c, family);
	struct frame frame = {.m = q->m};
	uint8_t *start = rte_pktmbuf_mtod(q->m, uint8_t *);

	frame_route(q->s, q->c, q->m, &ends, family, &frame.mac);
	q->rx->pkt[q->index] = NULL;
	q->m->ol_flags = 0;
	frame_length(&frame, length);
	memcpy(start, q->e->header, TEMPLATE_MAX);
	if (m)
		bytes_copy((char *)start + headers, m->whole, m->length);
	frame_send(q->s, q->e, &frame, &ends, family, &fields, length, m ? m->whole_sum : 0);
}

/* What has been sent awaits its acknowledgment. */
always_inline void quick_sent(struct quick *q, uint32_t bytes)
{
	struct conn *c = q->c;

	c->snd_nxt += bytes;
	c->flight = (uint16_t)bytes;
	c->time = q->s->time;
	c->retries = 0;
	conn_arm_rtx(q->s, c);
}

/* The next request, in the packet that brought the end of what was before: `seen` bytes of sequence
 * space. */
always_inline bool quick_request(struct quick *q, uint32_t seen, uint32_t window, unsigned family)
{
	struct stateful *s = q->s;
	struct entry *e = q->e;
	struct conn *c = q->c;
	bool last = requests_left(e, c->requests) == 1;
	const struct message *m = entry_message(e, 0, last ? VARIANT_CLOSE : VARIANT_KEEP);

	if (s->draining || !message_suits(q, m, window, family))
		return false;
	c->rcv_nxt += seen;
	quick_reply(q, TCP_ACK | TCP_PSH, m, family);
	c->closing = last;
	c->wait = 1;
	conn_requests_down(s, c);
	quick_sent(q, m->length);
	e->waiting++;
	e->stats->level.request.offered++;
	if (e->http)
		s->counters->value[e->messages.content->method == HTTP_POST ? COUNTER_HTTP_POST
									    : COUNTER_HTTP_GET]++;
	return true;
}

/* SYN,ACK in SYN-SENT: the first request. */
always_inline bool quick_opened(struct quick *q, unsigned family)
{
	struct stateful *s = q->s;
	struct conn *c = q->c;
	uint64_t elapsed = conn_elapsed(s, c);
	struct options options;

	if (!options_read(q->tcp, family, &options))
		return false;
	conn_take_options(s, q->e, c, ntohl(((const struct rte_tcp_hdr *)q->tcp)->sent_seq),
			  &options);
	if (!quick_request(q, 0, quick_window(q, false), family))
		return false;
	hist_add(&q->e->stats->connect, elapsed);
	conn_established(s, c);
	return true;
}

/* Is the payload one whole request? */
always_inline bool is_request(const struct quick *q, bool *keep, bool *post)
{
	const struct entry *e = q->e;
	const struct http_parser *parser;

	*keep = true;
	*post = false;
	if (!e->http)
		return q->len == e->config->request.body_size;
	parser = http_memo_whole(&e->memo, HTTP_GET, q->payload, q->len);
	if (!parser || parser->method == HTTP_HEAD || parser->method == HTTP_OTHER)
		return false;
	*keep = parser->keep_alive;
	*post = parser->method == HTTP_POST;
	return true;
}

/* A request: the response. */
always_inline bool quick_respond(struct quick *q, unsigned family)
{
	struct stateful *s = q->s;
	struct entry *e = q->e;
	struct conn *c = q->c;
	struct ring *ring = e->messages.ring;
	uint32_t content = ring->first + ring->next;
	const struct message *m;
	bool keep, post;

	if (s->draining || c->closing || !is_request(q, &keep, &post))
		return false;
	keep &= requests_left(e, c->requests) != 1;
	m = entry_message(e, content, keep ? VARIANT_KEEP : VARIANT_CLOSE);
	if (!message_suits(q, m, quick_window(q, true), family))
		return false;
	if (c->state == SYN_RECEIVED)
		conn_established(s, c);
	c->rcv_nxt += q->len;
	quick_reply(q, TCP_ACK | TCP_PSH | (keep ? 0 : TCP_FIN), m, family);
	ring_next(ring);
	c->closing = !keep;
	c->note = keep ? VARIANT_KEEP : VARIANT_CLOSE;
	c->requests = requests_with(e, c->requests, content);
	conn_requests_down(s, c);
	if (!keep)
		conn_fin_sent(s, c);
	quick_sent(q, m->length + !keep);
	e->stats->level.request.offered++;
	e->stats->level.request.succeeded++;
	if (!e->http)
		return true;
	s->counters->value[COUNTER_HTTP_1XX + m->status / 100 - 1]++;
	s->counters->value[post ? COUNTER_HTTP_POST : COUNTER_HTTP_GET]++;
	return true;
}

/* Is the payload the response that is awaited, whole and as expected? */
always_inline bool is_response(const struct quick *q, uint16_t *status, bool *keep)
{
	const struct entry *e = q->e;
	const struct content *request = e->messages.content;
	const struct http_parser *parser;

	*keep = true;
	if (!e->http)
		return q->len == e->config->response.body_size;
	parser = http_memo_whole(&e->memo, (enum http_method)request->method, q->payload, q->len);
	if (!parser)
		return false;
	*keep = parser->keep_alive;
	*status = parser->status;
	return response_status_is_right(e, request, parser->status) &&
	       response_length_is_right(e, request->method, e->memo.body);
}

/* FIN for the FIN that came with a response. */
always_inline bool quick_fin(struct quick *q, unsigned family)
{
	struct conn *c = q->c;

	if (quick_window(q, true) < q->e->simple_max || !packet_suits(q, 0, family))
		return false;
	c->rcv_nxt += q->len + 1;
	quick_reply(q, TCP_ACK | TCP_FIN, NULL, family);
	c->wait = 0;
	conn_fin_sent(q->s, c); /* in ESTABLISHED still: this retires it, too */
	c->state = LAST_ACK;
	quick_sent(q, 1);
	return true;
}

/* A response, with FIN or with the next request to follow. */
always_inline bool quick_response(struct quick *q, unsigned family)
{
	struct stateful *s = q->s;
	struct entry *e = q->e;
	struct conn *c = q->c;
	uint64_t elapsed = conn_elapsed(s, c);
	uint16_t status = 0;
	bool keep;

	if (!c->wait || c->note || !is_response(q, &status, &keep))
		return false;
	if (q->flags & TCP_FIN ? !quick_fin(q, family)
			       : !keep || !requests_left(e, c->requests) ||
					 !quick_request(q, q->len, quick_window(q, true), family))
		return false;
	e->waiting--;
	hist_add(&e->stats->first_byte, elapsed);
	hist_add(&e->stats->response, elapsed);
	e->stats->level.request.succeeded++;
	if (e->http)
		s->counters->value[COUNTER_HTTP_1XX + status / 100 - 1]++;
	return true;
}

/* The client's FIN for ours: acknowledge it, and that was the connection. */
always_inline bool quick_over(struct quick *q, unsigned family)
{
	if (!packet_suits(q, 0, family))
		return false;
	q->c->rcv_nxt++;
	quick_reply(q, TCP_ACK, NULL, family);
	conn_end(q->s, q->c, -1);
	return true;
}

always_inline bool quick_data(struct quick *q, unsigned family)
{
	enum tcp_state state = q->c->state;
	uint8_t flags = q->flags & (uint8_t)~TCP_PSH;

	if (q->payload + q->len > rte_pktmbuf_mtod(q->m, const char *) + q->m->data_len)
		return false;
	if (q->e->client)
		return (flags & ~TCP_FIN) == TCP_ACK && state == ESTABLISHED &&
		       quick_response(q, family);
	return flags == TCP_ACK && (state == ESTABLISHED || state == SYN_RECEIVED) &&
	       quick_respond(q, family);
}

always_inline bool quick_as(struct stateful *s, struct entry *e, struct conn *c,
			    struct rx_burst *rx, unsigned index, unsigned family)
{
	const struct view *view = &rx->view[index];
	struct rte_mbuf *m = rx->pkt[index];
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_tcp_hdr *tcp = (const void *)(data + view->l4);
	struct quick q = {s,
			  e,
			  c,
			  rx,
			  index,
			  m,
			  data + view->l4,
			  (const char *)data + view->payload,
			  view->payload_len,
			  tcp->tcp_flags};

	if (ntohl(tcp->recv_ack) != c->snd_nxt)
		return false;
	if (c->state == SYN_SENT)
		return q.flags == (TCP_SYN | TCP_ACK) && quick_opened(&q, family);
	if (ntohl(tcp->sent_seq) != c->rcv_nxt)
		return false;
	if (q.len)
		return quick_data(&q, family);
	if (c->state == FIN_WAIT_1 && q.flags == (TCP_FIN | TCP_ACK))
		return quick_over(&q, family);
	if (c->state != LAST_ACK || q.flags != TCP_ACK || c->wait)
		return false;
	conn_end(s, c, -1);
	return true;
}

bool quick_segment(struct stateful *s, struct entry *e, struct conn *c, struct rx_burst *rx,
		   unsigned index)
{
	uint64_t bits = (uint64_t)rx->pkt[index]->pkt_len * 8;

	if (!(likely(e->family == 4) ? quick_as(s, e, c, rx, index, 4)
				     : quick_as(s, e, c, rx, index, 6)))
		return false;
	e->stats->level.bits_rx += bits;
	return true;
}

/* Is nothing to be done but count: neither data of ours under way, nor any of theirs before its
 * turn, no option and no flag? */
static inline bool is_body(const struct entry *e, const struct conn *c, const struct side *side,
			   const struct rte_tcp_hdr *tcp)
{
	uint32_t ack = ntohl(tcp->recv_ack);

	return side->receiving && !side->kept && !side_is_held(side) && !side->fin_wanted &&
	       ack == c->snd_nxt && ack == side->snd_una && ack == side->snd_max &&
	       ntohl(tcp->sent_seq) == c->rcv_nxt && c->state == ESTABLISHED &&
	       (tcp->tcp_flags & ~TCP_PSH) == TCP_ACK && tcp->data_off == TCP_BYTES << 2 &&
	       (!e->client || c->wait);
}

bool quick_body(struct stateful *s, struct entry *e, struct conn *c, struct rx_burst *rx,
		unsigned index)
{
	struct side *side = table_side(&s->table, c);
	const struct view *view = &rx->view[index];
	const struct rte_tcp_hdr *tcp =
		rte_pktmbuf_mtod_offset(rx->pkt[index], const struct rte_tcp_hdr *, view->l4);
	struct segment seg = {.rx = rx, .index = index};

	if (!view->payload_len || !is_body(e, c, side, tcp) ||
	    !http_body_pass(&side->parser, view->payload_len))
		return false;
	e->stats->level.bits_rx += (uint64_t)rx->pkt[index]->pkt_len * 8;
	side->snd_wnd = conn_window(c, ntohs(tcp->rx_win));
	c->rcv_nxt += view->payload_len;
	if (e->client || !side->snd_wnd)
		c->retries = 0;
	if (e->client)
		c->time = s->time;
	conn_delay_ack(s, c, &seg);
	if (seg.ack_now)
		output_ack(s, c, &seg);
	return true;
}
