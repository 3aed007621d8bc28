/* Feeding messages to the HTTP parser in pieces, and what came out of it. Included after <cmocka.h>
 * by tests; the fuzzer uses it too. */
#ifndef UNIT_HTTP_FEED_H
#define UNIT_HTTP_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../stateful/http.h"

/* What anyone but the parser may look at. */
struct outcome {
	uint64_t event, used; /* one type, no gaps: outcomes are compared as bytes */
	uint64_t method, status, minor, informational;
	uint64_t head_done, keep_alive, chunked, has_length, until_close, expect_continue;
	uint64_t header_bytes, remaining, body_bytes;
};

struct feed {
	struct http_parser parser;
	struct http_memo *memo; /* NULL: without */
	bool response;
	enum http_event event;
	size_t used;
};

static inline struct feed feed_begin(bool response, enum http_method method)
{
	struct feed feed = {.response = response, .event = HTTP_MORE};

	http_begin(&feed.parser, method);
	return feed;
}

/* Feed a piece if the message is not over. */
static inline void feed_piece(struct feed *feed, const char *data, size_t length)
{
	size_t used = length + 1;

	if (feed->event != HTTP_MORE)
		return;
	if (feed->memo)
		feed->event = (feed->response ? http_response_recall : http_request_recall)(
			feed->memo, &feed->parser, data, length, &used);
	else
		feed->event = (feed->response ? http_response_parse : http_request_parse)(
			&feed->parser, data, length, &used);
	feed->used += used;
}

static inline struct outcome feed_outcome(const struct feed *feed)
{
	const struct http_parser *p = &feed->parser;

	return (struct outcome){
		.event = feed->event,
		.used = feed->used,
		.method = p->method,
		.status = p->status,
		.minor = p->minor,
		.informational = p->informational,
		.head_done = p->head_done,
		.keep_alive = p->keep_alive,
		.chunked = p->chunked,
		.has_length = p->has_length,
		.until_close = p->until_close,
		.expect_continue = p->expect_continue,
		.header_bytes = p->header_bytes,
		.remaining = p->head_done ? p->remaining : 0, /* private until then */
		.body_bytes = p->head_done ? p->body_bytes : 0,
	};
}

#endif
