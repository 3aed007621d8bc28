/* Memory between two pages that cannot be touched: who reads before `first` or at `end`, dies. */
#ifndef UNIT_GUARD_H
#define UNIT_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../common/base/require.h"

struct guard {
	uint8_t *first, *end;
	size_t size;
};

static inline void guard_open(struct guard *guard)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(map != MAP_FAILED);
	require(mprotect(map + page, 2 * page, PROT_READ | PROT_WRITE) == 0);
	guard->first = map + page;
	guard->size = 2 * page;
	guard->end = guard->first + guard->size;
}

static inline void guard_close(struct guard *guard)
{
	size_t page = guard->size / 2;

	require(munmap(guard->first - page, 4 * page) == 0);
}

#endif
