/* The simulated network: two engines, a wire each way, a virtual clock.
 *
 * It does for an engine what a worker on a port does - parse, count, hand over, flush - except that
 * time jumps from event to event: a packet that is due, or the wake-up an engine asked for. Same
 * engines, seeds and rules: the same packets at the same times. */
#ifndef BASE_SIM_H
#define BASE_SIM_H

#include "counter.h"
#include "engine.h"
#include "packet_box.h"
#include "tunnel.h"
#include "wire.h"

/* A worker's shortest step: an engine that is always ready (a "max" load) is asked this often. */
#define SIM_STEP 1000u

struct sim_end {
	struct engine *engine;    /* of TCP, and of UDP sockets if `sockets` */
	struct engine *stateless; /* of other UDP, or NULL */
	bool sockets;
	struct view_rule rule;
	struct tunnel *tunnel; /* between the engines and the wire; NULL: none */
	struct counters *counters;
	struct packet_tx tx;
	struct wire wire; /* to the other end */
	uint64_t wake;    /* when an engine wants to be called */
	bool listens;     /* what is received is a replay's, all of it */
};

/* Sees each packet as `from` (0 or 1) put it on its wire, and what befell it there (wire_put()). */
typedef void sim_tap(void *arg, unsigned from, const struct rte_mbuf *, uint64_t now,
		     unsigned fate);

struct sim {
	struct sim_end *end[2];
	struct packet_box *box;
	uint64_t now;
	sim_tap *tap; /* may be NULL */
	void *tap_arg;
};

/* Begin the load on all engines at `now`. The caller has filled in engines, rule, counters, tx and
 * wire of both ends. */
void sim_start(struct sim *, uint64_t now);

/* Let everything happen that happens up to and at `until`; the clock stands there afterwards. */
void sim_run(struct sim *, uint64_t until);

/* When the next thing happens, ENGINE_NEVER if nothing will. */
uint64_t sim_next(const struct sim *);

/* What a worker does with a burst it received: parse, count, let the engines have it, count the
 * reasons, give back what is left. */
void sim_input(struct sim_end *, struct packet_box *, struct rx_burst *, uint64_t now);

/* Let an end's engines do what is due; returns when they want to be called next, at least SIM_STEP
 * from now if at once. */
uint64_t sim_poll(struct sim_end *, uint64_t now);

/* As the engines' own: open nothing new; nothing is open and nothing left to send. */
void sim_drain(struct sim_end *, uint64_t now, uint64_t deadline);
bool sim_idle(const struct sim_end *);

#endif
