/* One replay of one worker: the packets of its tape, when they are due. */
#ifndef STATELESS_REPLAY_H
#define STATELESS_REPLAY_H

#include "../common/base/tape.h"
#include "stateless.h"

struct replay {
	const struct replay_options *options;
	const struct stateless_setup *setup; /* the engine's own copy */
	struct traffic_level *level;
	struct stream_stats *stats;
	struct tape *tape;
	struct tape_block *block; /* at hand; NULL: the next is still to be taken */
	uint32_t offset;          /* of the next packet in it */
	uint64_t loop;            /* at hand, from 0 */
	uint64_t base, part;      /* when it began */
	uint64_t step;            /* how much higher its addresses are */
	uint64_t first;           /* number of its first packet, of all loops */
	uint64_t start, end;      /* nothing is due from `end` on */
	uint64_t turn_next;       /* whose turn it is once what is queued has left; 0: nothing is */
	uint64_t heard_at;        /* when something was received last */
	bool started, done, paced;
};

void replay_make(struct replay *, const struct config_traffic *, const struct stateless_setup *);
void replay_start(struct replay *, uint64_t now);

/* Send what is due; returns when it wants to be called next. */
uint64_t replay_poll(struct replay *, struct tx *, uint64_t now);

/* Compare what was received with what the other port's replay sends. */
void replay_listen(struct replay *, struct rte_mbuf *const *, unsigned count, uint64_t now);

/* Nothing more that is due later than now. */
void replay_end(struct replay *, uint64_t now);

#endif
