/* The stateful engine: TCP with HTTP/1.1 or raw payloads on top, and UDP sockets, client and server
 * side, for all traffic entries of one worker of one port. See stateful.c for how it works. */
#ifndef STATEFUL_STATEFUL_H
#define STATEFUL_STATEFUL_H

#include "../common/base/arena.h"
#include "../common/base/counter.h"
#include "../common/base/engine.h"
#include "../common/base/err.h"
#include "../common/base/nexthop.h"
#include "../common/base/stats.h"
#include "../common/base/steer.h"
#include "../common/config/config.h"

struct stateful_setup {
	const struct config *config; /* outlives the engine */
	unsigned port;            /* index into config->port; the engine runs its traffic entries */
	unsigned worker, workers; /* of that port */
	uint8_t mac[6];           /* own */
	bool tx_checksum_offload; /* leave IP and TCP checksums to the port */
	bool long_way;            /* no segment takes the short way (quick.c): to compare both */
	bool partial_checksums;   /* what the port receives may bear such; see struct view_rule */
	const struct steer *steer; /* outlives the engine */
	struct nexthop *nexthop;   /* of this worker, outlives the engine */
	/* one per config->traffic[i], of conversations; outlive the engine. May be NULL without any
	 */
	const struct script_set *const *scripts;
	struct counters *counters; /* written by the engine; outlives it */
	struct traffic_stats *
		*stats; /* one per config->traffic[i]; those of other ports may be NULL */
};

/* Make an engine; all its memory comes from the arena, sized by stateful_plan(). */
struct engine *stateful_create(const struct stateful_setup *, struct arena *, struct err *);

struct stateful_plan {
	uint64_t connections; /* most that can be open at once on this worker */
	uint64_t bytes;       /* address space the engine reserves (touched only as used) */
	uint64_t table_bytes; /* of that, records, index and timers when all connections are open */
};

/* What an engine of this port and worker count would need; no memory is taken. */
void stateful_plan(const struct config *, unsigned port, unsigned workers, struct stateful_plan *);

#endif
