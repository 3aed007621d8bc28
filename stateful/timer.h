/* The timer wheel of an engine: 4-byte entries that name a record, no links through records.
 *
 * Three levels of 4096 slots: 8 us, 17 ms and 34 s each (33 ms, 68 s and 39 hours in all; what lies
 * further is looked at again then). A slot is a list of chunks of entries, appended to and consumed
 * as a whole. An entry is only a reminder: whoever takes it looks at the record, and puts the entry
 * back when the record's deadline has moved. */
#ifndef STATEFUL_TIMER_H
#define STATEFUL_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/base/arena.h"

#define TIMER_LEVELS  3
#define TIMER_SLOTS   4096
#define TIMER_ENTRIES 63

struct timer_chunk {
	uint32_t next;
	uint32_t entry[TIMER_ENTRIES];
};

struct timer_level {
	uint32_t head[TIMER_SLOTS];  /* chunk number + 1 */
	uint16_t count[TIMER_SLOTS]; /* entries in the head chunk */
	uint64_t occupied[TIMER_SLOTS / 64];
	uint64_t tick; /* the slot number (of all time) that is consumed next */
};

struct timer {
	struct timer_level *level;
	struct timer_chunk *chunk;
	uint32_t capacity, used, free;
	/* entries that are due and not yet taken: a chunk list detached from its slot */
	uint32_t due_head;
	uint16_t due_count;
	uint64_t next; /* no slot comes before this time */
};

size_t timer_reserve(uint64_t entries);
int timer_init(struct timer *, struct arena *, uint64_t entries);

/* Set the clock before the first use. */
void timer_start(struct timer *, uint64_t now);

/* Add an entry to be taken at `at`, up to 8 us later if it is near, up to one level's slot earlier
 * if it is far (then the taker puts it back). There must be room: never more entries than
 * timer_init() was told. */
void timer_add(struct timer *, uint32_t entry, uint64_t at);

/* Take the next entry whose slot has come; false when there is none at `now`. */
bool timer_take(struct timer *, uint64_t now, uint32_t *entry);

/* When timer_take() may have something, at the earliest; UINT64_MAX: nothing is in the wheel. */
static inline uint64_t timer_next(const struct timer *t)
{
	return t->due_head ? 0 : t->next;
}

/* Bytes touched. */
uint64_t timer_touched(const struct timer *);

#endif
