/* The client side above TCP: requests out, responses verified, and what comes after each.
 *
 * A response that lies in one segment is parsed on the stack; one that goes on puts the parser into
 * a side record. Bytes are taken (rcv_nxt moves) only when the whole segment could be taken. */
#include "core.h"

#define REQUEST_RETRY 100000u

static const struct content *content_awaited(struct stateful *s, struct conn *c)
{
	const struct entry *e = conn_entry(s, c);
	struct pipeline *p = conn_pipeline(s, c);

	return &e->messages.content[p ? pipeline_oldest(p)->content
				      : requests_content(e, *conn_requests(s, c))];
}

/* ns since the request that is awaited was first sent. */
static uint64_t request_elapsed(struct stateful *s, struct conn *c)
{
	struct pipeline *p = conn_pipeline(s, c);

	if (likely(!p))
		return conn_elapsed(s, c);
	return (uint64_t)(uint32_t)(s->time - pipeline_oldest(p)->sent) << CONN_TIME_SHIFT;
}

/* It is awaited no more. */
static void request_over(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);
	struct pipeline *p = conn_pipeline(s, c);

	e->waiting--;
	c->wait = 0;
	if (likely(!p))
		return;
	pipeline_pop(p, e->depth);
	p->heard = s->time;
	c->wait = p->count != 0;
}

/* A request's outcome, where results are split. */
static void split_failed(struct stateful *s, struct conn *c, enum failed failed)
{
	struct split *split = conn_entry(s, c)->split;
	const struct content *content;

	if (!split)
		return;
	content = content_awaited(s, c);
	split->source[content->source].failed++;
	if (content->line)
		split->fate[content->line - 1]
			   [failed == FAILED_TIMEOUT ? PAYLOAD_UNANSWERED : PAYLOAD_ANSWERED]++;
}

static void request_succeeded(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);

	e->stats->level.request.succeeded++;
	if (e->split)
		e->split->source[content_awaited(s, c)->source].succeeded++;
	request_over(s, c);
}

bool client_blocked(struct stateful *s, struct conn *c)
{
	struct split *split = conn_entry(s, c)->split;
	const struct content *content;

	if (!split || !content_awaited(s, c)->line)
		return false;
	content = content_awaited(s, c);
	split->fate[content->line - 1][PAYLOAD_BLOCKED]++;
	request_succeeded(s, c);
	return true;
}

static bool status_blocks(const struct entry *e, uint16_t status)
{
	const struct config_mix *blocked = &e->config->blocked;

	for (unsigned i = 0; i < blocked->shares; i++)
		if (blocked->share[i].first <= status && status <= blocked->share[i].last)
			return true;
	return false;
}

/* A response to a payload has come: whatever it is, it is an answer, or says that it was blocked.
 */
static void payload_answered(struct stateful *s, struct conn *c, uint16_t status)
{
	struct entry *e = conn_entry(s, c);

	if (status_blocks(e, status)) {
		client_blocked(s, c);
		return;
	}
	e->split->fate[content_awaited(s, c)->line - 1][PAYLOAD_ANSWERED]++;
	request_succeeded(s, c);
}

static void split_response(struct stateful *s, struct conn *c, uint16_t status, uint64_t elapsed)
{
	struct split *split = conn_entry(s, c)->split;
	struct part *part = &split->status[split_status(split, status)];

	part->offered++;
	hist_add(&part->response, elapsed);
	hist_add(&split->source[content_awaited(s, c)->source].response, elapsed);
}

static void first_byte_add(struct stateful *s, struct conn *c, uint64_t elapsed)
{
	struct entry *e = conn_entry(s, c);

	hist_add(&e->stats->first_byte, elapsed);
	if (e->split)
		hist_add(&e->split->source[content_awaited(s, c)->source].first_byte, elapsed);
}

static void request_failed(struct stateful *s, struct conn *c, enum failed failed)
{
	struct entry *e = conn_entry(s, c);

	e->stats->level.request.failed[failed]++;
	split_failed(s, c, failed);
	request_over(s, c);
	conn_note(c, failed);
	if (e->http)
		s->counters->value[COUNTER_HTTP_ERR]++;
}

void client_lost(struct stateful *s, struct conn *c, enum failed failed)
{
	while (c->wait) {
		conn_entry(s, c)->stats->level.request.failed[failed]++;
		split_failed(s, c, failed);
		request_over(s, c);
	}
}

static void go_idle(struct stateful *s, struct conn *c)
{
	struct entry *e = conn_entry(s, c);

	c->time = (uint32_t)(s->now >> e->idle_shift);
	if (e->paced)
		launch_idle(s, c);
	else if (e->think && requests_left(e, *conn_requests(s, c)))
		conn_arm_app(s, c, e->think);
}

static enum close deal_next(struct deal *deal)
{
	unsigned best = 0;
	int64_t total = 0;

	for (unsigned i = 0; i < CLOSE_WAYS; i++) {
		total += deal->weight[i];
		deal->due[i] += deal->weight[i];
		if (deal->due[i] > deal->due[best])
			best = i;
	}
	deal->due[best] -= total;
	return (enum close)best;
}

/* Is the last request to ask the server to close? */
static bool asks_to_close(struct stateful *s, struct entry *e)
{
	if (!e->close.is_set || s->draining)
		return true;
	return e->asks.is_set && deal_next(&e->asks) == CLOSE_FIN;
}

/* The connection has had its last response. */
static void client_over(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	enum close way = CLOSE_FIN;

	if (e->close.is_set && !s->draining && !c->note && !c->closing)
		way = deal_next(&e->close);
	if (way == CLOSE_FIN) {
		conn_close(s, c, seg); /* which counts it */
		return;
	}
	e->stats->level.closed[way]++;
	if (way == CLOSE_RST) {
		conn_abort(s, c, -1);
	} else {
		conn_retire(s, c);
		c->note = CONN_LEFT;
		c->time = (uint32_t)(s->now >> e->idle_shift);
		conn_arm_app(s, c, e->config->close.timeout);
	}
}

void client_left_over(struct stateful *s, struct conn *c)
{
	conn_abort(s, c, -1);
}

uint32_t client_pick(struct entry *e)
{
	struct message_set *set = &e->messages;
	struct ring *best = set->ring;
	int64_t total = 0;

	if (set->contents == 1)
		return 0;
	for (uint32_t i = 0; i < set->rings; i++) {
		struct ring *ring = &set->ring[i];

		total += ring->weight;
		ring->due += ring->weight;
		if (ring->due > best->due)
			best = ring;
	}
	best->due -= total;
	return ring_next(best);
}

static void request_count(struct stateful *s, struct entry *e, uint32_t number)
{
	const struct content *content = &e->messages.content[number];

	if (content->method == HTTP_POST)
		s->counters->value[COUNTER_HTTP_POST]++;
	else if (content->method != HTTP_OTHER)
		s->counters->value[COUNTER_HTTP_GET]++;
	if (!e->split)
		return;
	e->split->source[content->source].offered++;
	e->split->sent[number][0]++;
}

static void request_await(struct stateful *s, struct conn *c, uint32_t content)
{
	struct pipeline *p = conn_pipeline(s, c);

	c->wait = 1;
	if (likely(!p))
		return;
	if (!p->count)
		p->heard = s->time;
	*pipeline_push(p, conn_entry(s, c)->depth) =
		(struct awaited){.content = content, .sent = s->time};
}

bool client_request(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	bool last = s->draining || (requests_left(e, *conn_requests(s, c)) == 1 && !e->churn);
	uint32_t content;

	if (unlikely(e->needs_side) && e->waiting >= s->table.side_high)
		return false;
	last = last && asks_to_close(s, e);
	if (!e->pick)
		e->pick = 1 + client_pick(e);
	content = e->pick - 1;
	if (!conn_send(s, c, seg, content, last ? VARIANT_CLOSE : VARIANT_KEEP))
		return false;
	c->closing = last; /* only now: until then it tells of the request before */
	e->pick = 0;
	conn_requests_down(s, c);
	request_await(s, c, content);
	conn_arm_rtx(s, c); /* which watches over the time-out too */
	e->waiting++;
	e->stats->level.request.offered++;
	if (e->http)
		request_count(s, e, content);
	return true;
}

void client_retry(struct stateful *s, struct conn *c)
{
	const struct entry *e = conn_entry(s, c);

	if (!c->wait) /* as if the think time were over */
		c->time = (uint32_t)((s->now - e->think) >> e->idle_shift);
	conn_arm_app(s, c, REQUEST_RETRY);
}

/* The next request at once, or, when no packet or side record can be had now, after a while. */
static void request_now(struct stateful *s, struct conn *c, struct segment *seg)
{
	if (conn_pipeline(s, c))
		pipeline_begin(s, c, seg);
	else if (!client_request(s, c, seg))
		client_retry(s, c);
}

void client_ready(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct entry *e = conn_entry(s, c);

	seg->ack_now = ACK_NOW;
	if (e->scripts) { /* conversation_go() follows */
		if (e->config->tcp.handshake_ack)
			output_ack(s, c, seg);
	} else if (e->paced && s->draining) {
		conn_close(s, c, seg);
	} else if (e->paced) {
		go_idle(s, c);
	} else if (e->config->tcp.handshake_ack) {
		output_ack(s, c, seg);
		request_now(s, c, NULL);
	} else {
		request_now(s, c, seg);
	}
}

void client_think_over(struct stateful *s, struct conn *c)
{
	if (s->draining)
		conn_close(s, c, NULL);
	else if (requests_left(conn_entry(s, c), *conn_requests(s, c)))
		request_now(s, c, NULL);
}

/* What comes after a response. seg: its packet, when nothing more is in it. */
static void client_next(struct stateful *s, struct conn *c, struct segment *seg, bool keep_alive)
{
	struct entry *e = conn_entry(s, c);
	bool more = requests_left(e, *conn_requests(s, c));
	bool stays = !s->draining && c->note != CONN_CHURNED && (more || e->churn);

	if (!keep_alive) {
		while (c->wait) /* nothing of it will be answered (RFC 9112 section 9.3.2) */
			request_failed(s, c, FAILED_PROTOCOL);
		conn_close(s, c, seg);
	} else if (!stays && !c->wait) {
		client_over(s, c, seg);
	} else if (stays && conn_pipeline(s, c)) {
		pipeline_next(s, c, seg);
	} else if (stays && (e->think || e->paced || !more)) {
		go_idle(s, c);
	} else if (stays) {
		request_now(s, c, seg);
	}
}

/* A response is complete. */
static void response_done(struct stateful *s, struct conn *c, const struct http_parser *parser)
{
	struct entry *e = conn_entry(s, c);
	uint64_t elapsed = request_elapsed(s, c);

	if (c->has_side) {
		struct side *side = table_side(&s->table, c);

		if (side->receiving && !conn_pipeline(s, c))
			elapsed = (uint64_t)(uint32_t)(s->time - side->started) << CONN_TIME_SHIFT;
		side->receiving = 0;
		side->unacked = 0;
	}
	hist_add(&e->stats->response, elapsed);
	c->retries = 0;
	if (e->http) {
		conn_count_status(s, parser->status);
		s->counters->value[COUNTER_HTTP_1XX] += parser->informational;
		if (e->split)
			split_response(s, c, parser->status, elapsed);
		if (content_awaited(s, c)->line) {
			payload_answered(s, c, parser->status);
			return;
		}
		if (!response_status_is_right(e, content_awaited(s, c), parser->status)) {
			request_failed(s, c, FAILED_STATUS);
			return;
		}
		if (!response_length_is_right(e, parser->method, parser->body_bytes)) {
			request_failed(s, c, FAILED_LENGTH);
			return;
		}
	}
	request_succeeded(s, c);
}

/* Feed the segment's payload from *at on to the parser, or count it down for raw payloads. *at
 * moves behind what belongs to the response. */
static enum http_event response_feed(struct entry *e, const struct segment *seg, uint32_t *at,
				     struct http_parser *parser, uint64_t *expected)
{
	enum http_event event = HTTP_MORE;
	const char *data;
	uint32_t n;

	if (!e->http) {
		n = (uint32_t)RTE_MIN(seg->len - *at, *expected);
		*at += n;
		*expected -= n;
		return *expected ? HTTP_MORE : HTTP_DONE;
	}
	while (event == HTTP_MORE && *at < seg->len) {
		size_t used;

		n = segment_piece(seg, *at, &data);
		event = http_response_recall(&e->memo, parser, data, n, &used);
		*at += (uint32_t)used;
	}
	return event;
}

static void response_begin(struct stateful *s, struct conn *c, struct http_parser *parser,
			   uint64_t *expected)
{
	const struct entry *e = conn_entry(s, c);

	http_begin(parser, (enum http_method)content_awaited(s, c)->method);
	*expected = e->config->response.body_size;
}

/* The response goes on: keep the parser. */
static bool response_more(struct stateful *s, struct conn *c, struct segment *seg,
			  const struct http_parser *parser, uint64_t expected)
{
	struct side *side;

	if (!c->has_side && !sender_borrow(s, c, seg))
		return false;
	side = table_side(&s->table, c);
	if (!side->receiving) {
		uint64_t elapsed = request_elapsed(s, c);

		first_byte_add(s, c, elapsed);
		side->started = s->time - (uint32_t)(elapsed >> CONN_TIME_SHIFT);
	}
	if (conn_pipeline(s, c))
		conn_pipeline(s, c)->heard = s->time;
	side->receiving = 1;
	side->parser = *parser;
	side->expected = expected;
	c->retries = 0;
	c->time = s->time; /* the time-out is one of silence, not of the whole response */
	conn_delay_ack(s, c, seg);
	return true;
}

/* Nothing is awaited behind this response. */
static bool response_is_last(const struct stateful *s, const struct conn *c)
{
	const struct pipeline *p = conn_pipeline(s, c);

	return !p || p->count == 1;
}

/* The response that lies in the segment from *at on, or goes on there. c->rcv_nxt moves behind what
 * is taken of it. False: it could not be. */
static bool response_take(struct stateful *s, struct conn *c, struct segment *seg, uint32_t *at)
{
	struct side *side = c->has_side ? table_side(&s->table, c) : NULL;
	bool receiving = side && side->receiving;
	uint32_t begin = c->rcv_nxt - *at;
	struct http_parser parser;
	enum http_event event;
	uint64_t expected;

	response_begin(s, c, &parser, &expected);
	if (receiving) {
		parser = side->parser;
		expected = side->expected;
	}
	event = response_feed(conn_entry(s, c), seg, at, &parser, &expected);
	if (event == HTTP_MORE) {
		if (!response_more(s, c, seg, &parser, expected))
			return false;
		c->rcv_nxt = begin + *at;
	} else if (event == HTTP_DONE && (*at == seg->len || !response_is_last(s, c))) {
		if (!receiving)
			first_byte_add(s, c, request_elapsed(s, c));
		c->rcv_nxt = begin + *at;
		response_done(s, c, &parser);
		if (!(seg->flags & TCP_FIN)) /* else client_fin() closes */
			client_next(s, c, *at == seg->len ? seg : NULL,
				    !conn_entry(s, c)->http || parser.keep_alive);
	} else {
		request_failed(s, c, FAILED_PROTOCOL);
		conn_abort(s, c, FAILED_PROTOCOL);
	}
	return true;
}

bool client_data(struct stateful *s, struct conn *c, struct segment *seg)
{
	uint32_t at = 0;

	do {
		if (!c->wait) { /* data that nobody asked for */
			conn_abort(s, c, FAILED_PROTOCOL);
			return true;
		}
		if (!response_take(s, c, seg, &at))
			return false;
	} while (at < seg->len && c->state != CLOSED);
	return true;
}

void client_fin(struct stateful *s, struct conn *c, struct segment *seg)
{
	if (c->wait) {
		struct side *side = c->has_side ? table_side(&s->table, c) : NULL;

		if (conn_entry(s, c)->http && side && side->receiving &&
		    http_response_end(&side->parser) == HTTP_DONE)
			response_done(s, c, &side->parser);
		else if (!client_blocked(s, c))
			request_failed(s, c, FAILED_PROTOCOL);
		while (c->wait)
			request_failed(s, c, FAILED_PROTOCOL);
		if (side) {
			side->receiving = 0;
			side->unacked = 0;
		}
	}
	conn_close(s, c, seg);
}
