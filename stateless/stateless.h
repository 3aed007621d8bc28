/* The stateless engine: blasts of packets, sinks that account for them, and replays of recordings,
 * for all such traffic entries of one worker of one port. See stateless.c for how it works. */
#ifndef STATELESS_STATELESS_H
#define STATELESS_STATELESS_H

#include "../common/base/arena.h"
#include "../common/base/counter.h"
#include "../common/base/engine.h"
#include "../common/base/err.h"
#include "../common/base/nexthop.h"
#include "../common/base/stats.h"
#include "../common/base/stream.h"
#include "../common/base/tape.h"
#include "../common/config/config.h"

struct stateless_setup {
	const struct config *config; /* outlives the engine */
	unsigned port;            /* index into config->port; the engine runs its traffic entries */
	unsigned worker, workers; /* of that port */
	uint8_t mac[6];           /* own */
	uint64_t link_bps;        /* what the port's link carries; for loads in percent */
	struct nexthop *nexthop;  /* of this worker, outlives the engine */
	struct counters *counters; /* written by the engine; outlives it */
	/* One per config->traffic[i], those of other ports may be NULL. A packet of a blast counts
	 * as a connection offered, one that a sink received as a connection accepted. */
	struct traffic_stats **stats;
	struct stream_stats **streams;
	struct tape **tapes; /* of replays, this worker's; may be NULL when there are none */
};

/* Make an engine; all its memory comes from the arena, sized by stateless_reserve(). */
struct engine *stateless_create(const struct stateless_setup *, struct arena *, struct err *);

/* Bytes that an engine of this port takes; 0: none of its traffic is stateless. */
uint64_t stateless_reserve(const struct config *, unsigned port);

/* Packets per second that a blast asks for: exact, from whichever of pps, bps, bps_l1 and percent
 * is set; the lowest if several are. */
struct rate stateless_rate(const struct config_traffic *, uint64_t link_bps);

#endif
