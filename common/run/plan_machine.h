/* What a machine must have for a configuration, and what it has. */
#ifndef RUN_PLAN_MACHINE_H
#define RUN_PLAN_MACHINE_H

#include "../config/config.h"

struct plan_memory {
	uint64_t tables, mbufs, rings, total; /* when all connections are open */
	uint64_t touched;                     /* what the load is sure to take of `total` */
};

void plan_memory(struct plan_memory *, const struct config *);

/* What the configuration asks for and memory.limit, DPDK or a machine of so many bytes does not
 * give; at most `most`, returns how many. simulate: no device is used. */
unsigned plan_faults(const struct config *, uint64_t machine_bytes, bool simulate,
		     struct config_fault *, unsigned most);

#endif
