/* A worker: one queue pair of one port, the engine on it, and all that is needed to drive it.
 *
 * An lcore thread runs the workers of its core in turn (worker_loop). The control thread gives its
 * orders as times and only reads what a worker publishes. */
#ifndef RUN_WORKER_H
#define RUN_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/arena.h"
#include "../base/engine.h"
#include "../base/neighbor.h"
#include "../base/stats.h"
#include "../base/stream.h"
#include "../config/config.h"
#include "clock.h"
#include "port.h"
#include "txq.h"

/* When something is to happen, by the clock of the run; UINT64_MAX: not yet known. Workers look
 * once a millisecond; what was given that long before is done on time. */
enum order {
	ORDER_START,        /* the load begins */
	ORDER_STEADY,       /* the ramp is over */
	ORDER_END,          /* of the steady phase: clients drain */
	ORDER_SERVER_DRAIN, /* servers drain too */
	ORDER_DEADLINE,     /* of the drain: what is still open is reset */
	ORDER_STOP,         /* leave the loop */
	ORDERS,
};
struct orders {
	_Alignas(64) uint64_t at[ORDERS];
};

static inline uint64_t order_at(const struct orders *orders, enum order order)
{
	return __atomic_load_n(&orders->at[order], __ATOMIC_ACQUIRE);
}

static inline void order_give(struct orders *orders, enum order order, uint64_t at)
{
	__atomic_store_n(&orders->at[order], at, __ATOMIC_RELEASE);
}

/* What a worker had counted at one end of the steady phase. */
struct worker_mark {
	struct counters counters;
	struct traffic_level *traffic; /* per config->traffic[] */
	uint64_t cycles, busy_cycles;
};

enum worker_stage { STAGE_WAITING, STAGE_LOADED, STAGE_STEADY, STAGE_ENDED };

/* What a worker lets the control thread read, relaxed, except that `stage` is released when the
 * mark of its beginning is made. */
struct worker_status {
	enum worker_stage stage;
	bool resolved;                      /* all next hops that the load needs */
	bool idle;                          /* has drained: nothing is open */
	uint64_t memory_bytes, connections; /* of the engine, at its peak */
	uint64_t cycles, busy_cycles;       /* in all, and in steps that did something */
	uint64_t stalls,
		stall_cycles; /* how often the core was taken away, and for how long at most */
};

/* A network behind the port. */
struct lane {
	struct worker *worker; /* NULL: a free slot */
	uint32_t tags;         /* see lane_tag() */
};

struct worker {
	struct txq txq;
	struct rx_burst rx;
	unsigned ahead; /* packets in `rx` that wait for the next step, see worker_look_ahead() */
	struct counters counters;
	struct engine *engine;    /* of TCP, and of UDP sockets if `sockets` */
	struct engine *stateless; /* of other UDP; NULL: this port has no such traffic */
	struct view_matcher matcher;
	struct rte_ring *handoff; /* what other workers hand over; NULL: this port has one worker */
	struct sampler *sampler;  /* of refused packets; NULL: they are only counted */
	uint16_t port_id, queue;
	struct lane *lane; /* of the port's networks, by tags; NULL: it has none */
	bool aliased;      /* what comes to a member of the bond is the port's */
	uint32_t lane_mask;
	uint16_t lane_count; /* of a network: what waits in `rx` to be taken */
	bool is_lane;        /* a network's: the port's worker gives it what it receives */
	bool has_client;     /* a client entry runs here */
	bool listens;        /* what is received is a replay's, all of it */
	bool sockets;        /* the port has traffic of UDP sockets */
	bool started, draining;
	bool begun;        /* `begin` has been made */
	uint64_t start_at; /* what the engine was told */
	uint64_t deadline; /* of the drain, as the engine knows it */
	uint64_t tick_at;  /* when worker_tick() is due */
	struct worker_status status;
	struct neighbor neighbor;
	struct nexthop nexthop;
	struct worker_tunnel *tunnel; /* NULL: the port has none */
	struct worker_mark begin, end;
	const struct orders *orders;
	const struct config *config;
	const struct port *port;
	unsigned port_index;           /* in the configuration */
	uint16_t core;                 /* as the configuration has it */
	struct traffic_stats **stats;  /* per config->traffic[]; NULL: not of this port */
	struct stream_stats **streams; /* the same, for stateless traffic */
	struct tape **tapes;           /* the same, for replays */
	struct rx_burst udp;           /* sorted out of a mixed burst */
	struct rx_burst passed;        /* UDP of no socket, for the stateless engine; or what came
					* outside of the tunnel */
};

/* Bytes that worker_open() takes from its arena. */
size_t worker_bytes(const struct config *, unsigned port);

/* Make worker `number` of port index `port` in an arena, without its engine, which needs parts of
 * it: the caller adds that. `now`: by the clock of the run. NULL when the arena is exhausted. */
struct worker *worker_open(const struct config *, const struct port *, unsigned port,
			   unsigned number, const struct orders *, struct arena *, uint64_t now);

/* The routes of a port, at most so many, into a table of next hops; also those of an underlay. */
unsigned worker_routes_most(const struct config_port *);
void worker_routes_fill(struct nexthop *, const struct config_port *);

/* After its loop has ended: free its packets. Counters remain readable. */
void worker_close(struct worker *);

/* The workers of one core. */
struct worker_group {
	const struct clock *clock;
	const struct orders *orders;
	struct worker **worker;
	unsigned workers;
	unsigned lcore;
};

/* Run a group of workers until ORDER_STOP; an lcore function (arg: struct worker_group). */
int worker_loop(void *arg);

#endif
