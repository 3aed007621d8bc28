/* Internal to worker.c: what a step receives, and the start of the engines, which may come with it.
 */
#ifndef RUN_WORKER_INPUT_H
#define RUN_WORKER_INPUT_H

#include <rte_common.h>

#include "worker.h"

/* Start the engines; the load's time zero is `at`. */
void worker_start(struct worker *, uint64_t at);

/* Time as the engine may see it: a step in which it was started early began before its start. */
static inline uint64_t worker_engine_now(const struct worker *w, uint64_t now)
{
	return RTE_MAX(now, w->start_at);
}

/* Deal with `count` packets that lie in the worker's burst. */
void worker_take(struct worker *, unsigned count, uint64_t now);

/* Take a burst from the port, or from the hand-off ring; returns how many packets came. */
unsigned worker_receive(struct worker *, uint64_t now);
unsigned worker_receive_handed(struct worker *, uint64_t now);

/* Take the next burst from the port already, when another has just been dealt with. What its
 * packets say comes from the far end's cache: it does so while timers and launches are seen to, and
 * then (worker_prefetch_ahead()) while what is queued is sent. */
void worker_look_ahead(struct worker *);
void worker_prefetch_ahead(const struct worker *);

/* Count packet i of a burst under its reason, which may be none. seen: the engine that saw it, or
 * NULL. */
void worker_reason_count(struct worker *, const struct rx_burst *, unsigned i,
			 const struct engine *seen, uint64_t now);

/* Give every other worker of the port a copy of a packet to learn from: ARP, or Neighbour
 * Discovery. Its packet_type is `mark`. */
void worker_news_share(struct worker *, const struct rte_mbuf *, const struct view *,
		       uint32_t mark);

#endif
