/* Messages: what a connection sends, as a function of the offset. There is no send buffer; a
 * retransmission writes the same bytes again.
 *
 * All messages of a traffic entry are prepared while the engine is made. They are numbered: a
 * `content` is what is said (one of the responses of a route, one of the requests), a `variant` how
 * (the connection goes on or ends, the answer to HEAD). A connection keeps the number of the
 * content that it sends, so a message is chosen once and written any number of times. */
#ifndef STATEFUL_MESSAGE_H
#define STATEFUL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/base/arena.h"
#include "../common/base/split.h"
#include "template.h"

/* A client sends VARIANT_KEEP, and VARIANT_CLOSE as its last request. */
enum variant {
	VARIANT_KEEP,
	VARIANT_CLOSE,
	VARIANT_HEAD_KEEP, /* response to HEAD */
	VARIANT_HEAD_CLOSE,
	VARIANT_BAD,      /* 400, and close */
	VARIANT_CONTINUE, /* 100 */
	VARIANT_OLD,      /* of a chunked response, for HTTP/1.0: with Content-Length, and close */
	VARIANT_COUNT
};

struct message {
	const char *whole;  /* all of it, when it fits one segment; else NULL */
	uint64_t whole_sum; /* its checksum sum */
	uint32_t length;    /* with the body */
	uint16_t status;    /* of a response */
	struct body text;   /* header section and body, when it does not fit one segment */
};

/* The contents of a route or request, taken in turn. */
struct ring {
	uint32_t first, count, next;
	uint32_t weight; /* of a client's, beside the others */
	int64_t due;     /* of its turn among them */
	bool chunked;
	struct config_span delay;
};

struct message_set {
	struct message *message; /* [content * VARIANT_COUNT + variant] */
	struct content *content;
	struct ring *ring; /* by route, the last for all other paths; of a client by request */
	uint32_t contents, rings;
	uint8_t content_bits; /* that a content's number takes */
	uint32_t longest;
};

/* Make the messages of a traffic entry. max: the longest payload of a segment. -1: no memory. */
int message_make(struct message_set *, const struct config_traffic *, uint64_t seed, uint16_t max,
		 struct arena *);

/* Arena bytes message_make() takes at most. */
size_t message_reserve(const struct config_traffic *, uint64_t seed, uint16_t max);

/* How many contents and rings there will be. */
uint32_t message_contents(const struct config_traffic *, uint32_t *rings);

/* Write len bytes from offset on to `to`. */
void message_write(const struct message *, uint32_t offset, char *to, uint32_t len);

/* Where len bytes from offset on lie in memory, in one piece and for as long as the message; NULL:
 * nowhere, they are to be written. len is at most `max` of message_make(). */
const char *message_bytes(const struct message *, uint32_t offset, uint32_t len);

/* The next content of a ring. */
static inline uint32_t ring_next(struct ring *ring)
{
	uint32_t content = ring->first + ring->next;

	if (++ring->next == ring->count)
		ring->next = 0;
	return content;
}

/* Deal n values of a mix: shares by weight as exactly as n allows, in random order. */
void mix_deal(const struct config_mix *, unsigned n, struct rng *, uint64_t *value);

/* head.c: header sections. `body`: what they announce. */
void head_request(struct store *, const struct config_message *, enum variant, enum config_content,
		  uint64_t body, struct template_rule *);
void head_response(struct store *, const struct config_message *, enum variant, uint16_t status,
		   enum config_content, uint64_t body);

#endif
