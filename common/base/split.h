/* What an HTTP entry did, by request, route, status, content and payload.
 *
 * Of each content that is prepared the engine counts how often it was sent; what that comes to by
 * route, status, content and kind of sensitive data is summed up at the end. A client's outcomes
 * and latencies are kept by request and by status. One writer, as with other statistics. */
#ifndef BASE_SPLIT_H
#define BASE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "hist.h"
#include "sensitive.h"

#define SPLIT_STATUSES 16
#define SPLIT_TYPES    8

/* What a prepared message is. */
struct content {
	uint16_t source; /* index of its route or request */
	uint16_t status; /* it has, or is to have */
	uint8_t type;    /* enum config_content */
	bool is_request;
	uint8_t method; /* enum http_method, of a request */
	uint32_t line;  /* of its payload, from 1; 0: it has none */
	uint16_t items[SENSITIVE_KINDS];
};

struct part {
	uint64_t offered, succeeded, failed;
	struct hist first_byte, response; /* of a client */
};

enum payload_fate { PAYLOAD_ANSWERED, PAYLOAD_BLOCKED, PAYLOAD_UNANSWERED, PAYLOAD_FATES };

struct split {
	uint32_t contents, sources, lines;
	const struct content *content;
	uint64_t (*sent)[2];           /* by content: with and without (HEAD) its body */
	struct part *source;           /* by request or route */
	uint16_t code[SPLIT_STATUSES]; /* the statuses met; further ones are in the last */
	struct part status[SPLIT_STATUSES];
	uint64_t (*fate)[PAYLOAD_FATES]; /* by line of the payloads */
	/* sums, of the result */
	uint64_t type[SPLIT_TYPES], items[SENSITIVE_KINDS];
};

/* The place of a status among those met. */
unsigned split_status(struct split *, uint16_t code);

/* to += from, as sums; `to` is made (by malloc) if it is NULL. */
void split_merge(struct split **to, const struct split *from);
void split_free(struct split *);

#endif
