/* The crew: all workers of a run, their memory, and the threads they work on. */
#ifndef RUN_CREW_H
#define RUN_CREW_H

#include "../../stateful/stateful.h"
#include "../../stateless/stateless.h"
#include "memory.h"
#include "player_set.h"
#include "worker.h"

/* How engines are made: main.c says which kind. */
struct crew_engine {
	struct engine *(*create)(const struct stateful_setup *, struct arena *, struct err *);
	void (*plan)(const struct config *, unsigned port, unsigned workers,
		     struct stateful_plan *);
	struct engine *(*stateless_create)(const struct stateless_setup *, struct arena *,
					   struct err *);
	uint64_t (*stateless_reserve)(const struct config *, unsigned port);
};

struct crew {
	const struct config *config;
	const struct port *ports;
	const struct clock *clock;  /* calibrated */
	struct player_set *players; /* of replays */
	struct orders orders;       /* written by the control thread */
	struct worker **worker;     /* in the order of ports, then of their cores */
	unsigned workers;
	struct memory_arena *arena; /* one per worker */
	struct worker_group *group; /* one per core */
	unsigned groups;
	bool launched;
};

/* Make every worker with its engine. On failure nothing is left open. */
int crew_open(struct crew *, const struct config *, const struct port *ports, const struct clock *,
	      struct player_set *, const struct crew_engine *, struct err *);

/* Start the threads. */
int crew_launch(struct crew *, struct err *);

/* Order the threads to stop, if they run, and wait until they have. Workers remain readable. */
void crew_join(struct crew *);

/* End what is still open and free the workers' packets, so that the totals are final; after
 * crew_join(). */
void crew_settle(struct crew *);

void crew_close(struct crew *);

#endif
