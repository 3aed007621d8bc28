/* The server side above TCP: requests parsed, responses queued.
 *
 * Requests may come in any segmentation and several at a time. What cannot be answered now (no side
 * record for it, or pipelined requests of too many kinds) is not acknowledged, and the client
 * repeats it. */
#include "core.h"

static enum variant response_variant(const struct http_parser *parser, bool keep)
{
	if (parser->method == HTTP_HEAD)
		return keep ? VARIANT_HEAD_KEEP : VARIANT_HEAD_CLOSE;
	return keep ? VARIANT_KEEP : VARIANT_CLOSE;
}

static bool respond(struct stateful *s, struct conn *c, struct segment *seg, enum variant variant,
		    bool keep)
{
	struct entry *e = conn_entry(s, c);

	c->closing = !keep;
	if (!conn_send(s, c, seg, variant)) {
		c->closing = 0;
		return false;
	}
	if (*conn_requests(s, c) != CONN_UNLIMITED)
		--*conn_requests(s, c);
	e->stats->level.request.offered++;
	if (e->http)
		conn_count_status(s, e->message[variant].status);
	return true;
}

static bool is_last(struct stateful *s, struct conn *c)
{
	return s->draining || *conn_requests(s, c) == 1;
}

/* A request has been read (or is malformed): answer it. seg: its packet, when nothing more is in
 * it. */
static bool request_done(struct stateful *s, struct conn *c, struct segment *seg,
			 const struct http_parser *parser, bool malformed)
{
	struct entry *e = conn_entry(s, c);
	struct tally *tally = &e->stats->level.request;
	bool keep = !malformed && (!e->http || parser->keep_alive) && !is_last(s, c);

	if (!respond(s, c, seg, malformed ? VARIANT_BAD : response_variant(parser, keep), keep))
		return false;
	if (malformed) {
		tally->failed[FAILED_PROTOCOL]++;
		s->counters->value[COUNTER_HTTP_ERR]++;
		return true;
	}
	tally->succeeded++;
	if (e->http && parser->method != HTTP_OTHER)
		s->counters->value[parser->method == HTTP_POST ? COUNTER_HTTP_POST
							       : COUNTER_HTTP_GET]++;
	return true;
}

/* The request goes on in another segment. */
static bool request_more(struct stateful *s, struct conn *c, struct segment *seg,
			 struct http_parser *parser, uint64_t expected)
{
	struct side *side;

	if (!c->has_side && !sender_borrow(s, c, seg))
		return false;
	if (parser->head_done && parser->expect_continue) {
		parser->expect_continue = false;
		conn_send(s, c, NULL, VARIANT_CONTINUE);
	}
	side = table_side(&s->table, c);
	side->receiving = 1;
	side->parser = *parser;
	side->expected = expected;
	conn_delay_ack(s, c, seg);
	return true;
}

static void request_begin(const struct entry *e, struct http_parser *parser, uint64_t *expected)
{
	http_begin(parser, HTTP_GET);
	*expected = e->config->request.body_size;
}

static enum http_event request_feed(struct entry *e, struct http_parser *parser, uint64_t *expected,
				    const char *data, uint32_t n, size_t *used)
{
	if (e->http)
		return http_request_recall(&e->memo, parser, data, n, used);
	*used = RTE_MIN(n, *expected);
	*expected -= *used;
	return *expected ? HTTP_MORE : HTTP_DONE;
}

static void receiving_over(struct stateful *s, struct conn *c)
{
	if (c->has_side) {
		table_side(&s->table, c)->receiving = 0;
		table_side(&s->table, c)->unacked = 0;
	}
}

/* c->rcv_nxt moves behind each request that is answered; what could not be answered stays before
 * it. */
bool server_data(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	struct side *side = c->has_side ? table_side(&s->table, c) : NULL;
	uint32_t begin = c->rcv_nxt, at = 0, taken = 0;
	bool begun = side && side->receiving;
	struct http_parser parser;
	uint64_t expected;

	request_begin(e, &parser, &expected);
	if (begun) {
		parser = side->parser;
		expected = side->expected;
	}
	while (at < seg->len && c->state == ESTABLISHED && !c->closing) {
		const char *data;
		uint32_t n = segment_piece(seg, at, &data);
		enum http_event event;
		size_t used;

		event = request_feed(e, &parser, &expected, data, n, &used);
		at += event == HTTP_ERROR ? seg->len - at : (uint32_t)used;
		begun = event == HTTP_MORE;
		if (begun)
			continue;
		c->rcv_nxt = begin + at;
		if (!request_done(s, c, at == seg->len ? seg : NULL, &parser,
				  event == HTTP_ERROR)) {
			c->rcv_nxt = begin + taken;
			return false;
		}
		taken = at;
		receiving_over(s, c);
		request_begin(e, &parser, &expected);
	}
	if (begun && !request_more(s, c, seg, &parser, expected))
		return false;
	/* while closing, what else they send is taken and not answered */
	c->rcv_nxt = begin + seg->len;
	return true;
}

void server_fin(struct stateful *s, struct conn *c, struct segment *seg)
{
	receiving_over(s, c);
	conn_close(s, c, seg);
}
