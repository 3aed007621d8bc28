/* The requests that a client's connection has under way, in the order in which they were sent
 * (RFC 9112 section 9.3.2): of each entry with `pipeline` every record has a ring of them. */
#ifndef STATEFUL_PIPELINE_H
#define STATEFUL_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

struct awaited {
	uint32_t content;
	uint32_t sent; /* when first, as conn.time */
};

struct pipeline {
	uint16_t first, count;
	uint16_t owed;  /* requests that are to be sent now, as soon as they can be */
	bool listed;    /* stands in the entry's ring of connections with room for a request */
	uint32_t heard; /* as conn.time: since when nothing has come of what is awaited */
	struct awaited awaited[];
};

static inline struct awaited *pipeline_oldest(struct pipeline *p)
{
	return &p->awaited[p->first];
}

/* It must have room. */
static inline struct awaited *pipeline_push(struct pipeline *p, uint16_t depth)
{
	uint16_t at = (uint16_t)(p->first + p->count++);

	return &p->awaited[at < depth ? at : at - depth];
}

static inline void pipeline_pop(struct pipeline *p, uint16_t depth)
{
	p->count--;
	if (++p->first == depth)
		p->first = 0;
}

#endif
