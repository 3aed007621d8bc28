/* The server side above TCP: requests parsed, responses queued.
 *
 * Requests may come in any segmentation and several at a time. What cannot be answered now (no side
 * record for it, or pipelined requests of too many kinds) is not acknowledged, and the client
 * repeats it. */
#include "core.h"

#include <string.h>

#include "route.h"

static enum variant response_variant(const struct http_parser *parser, const struct ring *ring,
				     bool keep)
{
	if (parser->method == HTTP_HEAD)
		return keep ? VARIANT_HEAD_KEEP : VARIANT_HEAD_CLOSE;
	if (ring->chunked && parser->minor == 0)
		return VARIANT_OLD;
	return keep ? VARIANT_KEEP : VARIANT_CLOSE;
}

static bool is_head(enum variant variant)
{
	return variant == VARIANT_HEAD_KEEP || variant == VARIANT_HEAD_CLOSE;
}

static uint64_t ring_delay(struct stateful *s, const struct ring *ring)
{
	return ring->delay.first + rng_below(&s->rng, ring->delay.last - ring->delay.first + 1);
}

static bool respond(struct stateful *s, struct conn *c, struct segment *seg, struct ring *ring,
		    enum variant variant, bool keep)
{
	struct entry *e = conn_entry(s, c);
	uint32_t content = ring->first + ring->next;

	c->closing = !keep;
	if (!(ring->delay.last ? conn_send_later(s, c, seg, content, variant, ring_delay(s, ring))
			       : conn_send(s, c, seg, content, variant))) {
		c->closing = 0;
		return false;
	}
	ring_next(ring);
	if (e->split)
		e->split->sent[content][is_head(variant)]++;
	conn_requests_down(s, c);
	e->stats->level.request.offered++;
	if (e->http)
		conn_count_status(s, entry_message(e, content, variant)->status);
	return true;
}

static bool is_last(struct stateful *s, struct conn *c)
{
	return s->draining || requests_left(conn_entry(s, c), *conn_requests(s, c)) == 1;
}

/* Keep how the request begins, for its route. */
static void begin_keep(struct side *side, const char *begin, uint32_t length)
{
	uint32_t n = RTE_MIN(length, BEGIN_MAX - side->begun);

	memcpy(side->begin + side->begun, begin, n);
	side->begun += n;
}

/* The responses for a request that these bytes are, or (it has begun in a side record) end. */
static struct ring *request_ring(struct stateful *s, struct conn *c, const char *begin,
				 uint32_t length)
{
	struct entry *e = conn_entry(s, c);
	struct side *side = c->has_side ? table_side(&s->table, c) : NULL;

	if (e->messages.rings == 1)
		return e->messages.ring;
	if (side && side->receiving) {
		begin_keep(side, begin, length);
		return &e->messages.ring[route_find(e->config, side->begin, side->begun)];
	}
	return &e->messages.ring[route_find(e->config, begin, length)];
}

/* A request has been read (or is malformed): answer it. seg: its packet, when nothing more is in
 * it. */
static bool request_done(struct stateful *s, struct conn *c, struct segment *seg, struct ring *ring,
			 const struct http_parser *parser, bool malformed)
{
	struct entry *e = conn_entry(s, c);
	struct tally *tally = &e->stats->level.request;
	bool keep = !malformed && (!e->http || parser->keep_alive) && !is_last(s, c) &&
		    !(ring->chunked && parser->minor == 0);

	if (!respond(s, c, seg, ring,
		     malformed ? VARIANT_BAD : response_variant(parser, ring, keep), keep))
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

/* The request, of which these bytes are in this segment, goes on in another. */
static bool request_more(struct stateful *s, struct conn *c, struct segment *seg,
			 struct http_parser *parser, uint64_t expected, const char *bytes,
			 uint32_t length)
{
	struct side *side;

	if (!c->has_side && !sender_borrow(s, c, seg))
		return false;
	if (parser->head_done && parser->expect_continue) {
		parser->expect_continue = false;
		conn_send(s, c, NULL, 0, VARIANT_CONTINUE);
	}
	side = table_side(&s->table, c);
	if (!side->receiving)
		side->begun = 0;
	if (conn_entry(s, c)->messages.rings > 1)
		begin_keep(side, bytes, length);
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
	const char *data = NULL;
	uint64_t expected;
	uint32_t n = 0;

	request_begin(e, &parser, &expected);
	if (begun) {
		parser = side->parser;
		expected = side->expected;
	}
	while (at < seg->len && c->state == ESTABLISHED && !c->closing) {
		enum http_event event;
		struct ring *ring;
		size_t used;

		n = segment_piece(seg, at, &data);
		event = request_feed(e, &parser, &expected, data, n, &used);
		at += event == HTTP_ERROR ? seg->len - at : (uint32_t)used;
		begun = event == HTTP_MORE;
		if (begun)
			continue;
		c->rcv_nxt = begin + at;
		ring = request_ring(s, c, data, n);
		/* several responses will be under way: as many as this segment's window lets */
		if (at < seg->len && !c->has_side)
			sender_borrow(s, c, seg);
		if (!request_done(s, c, at == seg->len ? seg : NULL, ring, &parser,
				  event == HTTP_ERROR)) {
			c->rcv_nxt = begin + taken;
			return false;
		}
		taken = at;
		receiving_over(s, c);
		request_begin(e, &parser, &expected);
	}
	if (begun && !request_more(s, c, seg, &parser, expected, data, n))
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
