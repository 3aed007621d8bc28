/* Memory for tables: an arena of hugepages where there are some, on a NUMA node. */
#ifndef RUN_MEMORY_H
#define RUN_MEMORY_H

#include <stdint.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "../config/config.h"

struct memory_arena {
	struct arena arena; /* first */
	char *base;
	size_t size, used;
	const char *pages; /* "1 GiB hugepages", "2 MiB hugepages", "transparent hugepages", "4 KiB
			      pages" */
};

/* Reserve size bytes of zeros on NUMA node `socket` (-1: any). HUGEPAGES_AUTO takes 1 GiB or 2 MiB
 * hugepages if enough are free, else transparent ones; untouched memory costs nothing except with
 * explicit hugepages. */
int memory_arena_open(struct memory_arena *, size_t size, int socket, enum config_hugepages,
		      struct err *);
void memory_arena_close(struct memory_arena *);

/* How many hugepages of page_size bytes are free on a node (-1: on all together). */
uint64_t memory_hugepages_free(uint64_t page_size, int socket);

/* Can this process map a page of each kind that is free, the way DPDK does? Not with a limit of its
 * own (cgroup), and not under valgrind. */
bool memory_hugepages_work(void);

/* Bytes of memory that this process can have at most: the machine's, or its cgroup's limit. */
uint64_t memory_machine(void);

/* Resident bytes of this process, explicit hugepages included. */
uint64_t memory_resident(void);

#endif
