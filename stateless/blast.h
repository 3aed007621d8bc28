/* One stream of one worker: what it sends next, and when. */
#ifndef STATELESS_BLAST_H
#define STATELESS_BLAST_H

#include "frame.h"
#include "modify.h"
#include "schedule.h"
#include "stateless.h"
#include "walk.h"

struct blast {
	const struct config_traffic *config;
	const struct stateless_setup *setup; /* the engine's own copy */
	struct traffic_level *level;
	struct stream_stats *stats;
	struct schedule schedule;
	struct walk walk;
	struct frame frame;
	struct digit size;
	struct modify *modify;
	uint64_t left;     /* packets until it has sent all it is to; UINT64_MAX: no limit */
	uint64_t sequence; /* of the next packet, in its lane */
	uint32_t burst, burst_left; /* packets dealt to a worker at a time, and left of these */
	uint64_t tag;               /* its first word; see tag.h */
	u128 mac_for;               /* the server whose MAC address stands in the frame */
	bool has_mac, ip_kept, l4_kept;
	bool per_flow; /* a modifier needs the flow's number */
	bool plain;    /* one size, no modifiers, from pools: the fast path */
	bool paced;    /* a rate, not "max" */
	enum not_offered blocked;
};

uint64_t blast_reserve(const struct config_traffic *);
int blast_make(struct blast *, const struct config_traffic *, const struct stateless_setup *,
	       struct arena *);
void blast_start(struct blast *, uint64_t now);

/* blast_write.c: put the next hop's address into the frame, again if it is known; false while it is
 * not. */
bool blast_mac(struct blast *, bool again);
/* Write the next packets, at most BLAST_BATCH; returns how many could be. What cannot is one whose
 * next hop is not known. */
#define BLAST_BATCH 64u
unsigned blast_write(struct blast *, struct rte_mbuf **, unsigned count, uint64_t now,
		     uint64_t *bytes);

/* Send what is due; returns when it wants to be called next. */
uint64_t blast_poll(struct blast *, struct tx *, uint64_t now);

/* Nothing more. */
void blast_end(struct blast *, uint64_t now);

#endif
