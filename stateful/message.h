/* Messages: what a connection sends, as a function of the offset. There is no send buffer; a
 * retransmission writes the same bytes again. */
#ifndef STATEFUL_MESSAGE_H
#define STATEFUL_MESSAGE_H

#include <stdint.h>

#include "../common/base/arena.h"
#include "../common/config/config.h"

/* A client sends VARIANT_KEEP, and VARIANT_CLOSE as its last request. */
enum variant {
	VARIANT_KEEP,
	VARIANT_CLOSE,
	VARIANT_HEAD_KEEP, /* response to HEAD */
	VARIANT_HEAD_CLOSE,
	VARIANT_BAD,      /* 400, and close */
	VARIANT_CONTINUE, /* 100 */
	VARIANT_COUNT,
	VARIANT_NONE = VARIANT_COUNT
};

struct message {
	const char *head; /* header section; head_len 0 for raw payloads */
	uint32_t head_len;
	uint32_t length;    /* with the body */
	const char *whole;  /* all of it, when it fits one segment; else NULL */
	uint64_t whole_sum; /* its checksum sum */
	uint16_t status;    /* of a response */
};

/* Make the variants of a traffic entry. max: the longest payload of a segment. -1: no memory. */
int message_make(struct message message[VARIANT_COUNT], const struct config_traffic *, uint16_t max,
		 struct arena *);

/* Arena bytes message_make() takes. */
size_t message_reserve(const struct config_traffic *, uint16_t max);

/* Write len bytes from offset on to `to`. */
void message_write(const struct message *, uint32_t offset, char *to, uint32_t len);

#endif
