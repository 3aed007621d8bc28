/* An arena: memory handed out once, while engines are made, and given back as a whole.
 *
 * The owner (run, or a test) supplies the function; memory is zero, aligned to a cache line, and
 * touched lazily where the system can: a table costs what is used of it. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	/* size bytes of zeros, or NULL. */
	void *(*take)(struct arena *, size_t size);
};

static inline void *arena_take(struct arena *arena, size_t size)
{
	return arena->take(arena, size);
}

#endif
