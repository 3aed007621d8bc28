/* The ports of a configuration on simulated cables, with their engines. */
#ifndef RUN_SIMULATE_NET_H
#define RUN_SIMULATE_NET_H

#include "../base/sim.h"
#include "crew.h"
#include "player_set.h"
#include "result.h"

struct simulated_port {
	struct sim_end end;
	struct counters counters;
	struct tunnel tunnel;   /* if the port has one */
	struct nexthop nexthop; /* the far end's address as gateway */
	struct steer steer;
	struct memory_arena arena;
	struct traffic_stats **stats;  /* per config->traffic[]; NULL: not of this port */
	struct stream_stats **streams; /* the same, for stateless traffic */
	struct tape **tapes;           /* the same, for replays */
	bool has_client;
};

/* Whose packets a cable carries, for the capture. */
struct simulated_cable {
	struct simulated_net *net;
	uint32_t port[2];
};

struct simulated_net {
	const struct config *config;
	struct packet_box box;
	struct simulated_port *port; /* per config->port[] */
	struct sim *cable;
	struct simulated_cable *ends; /* of each cable */
	unsigned cables;
	struct player_set players; /* of replays */
	struct writer *pcap;
};

/* Join the ports two by two - those that name the same loop, the others in the order of the file -
 * by wires as `network` says, one worker a port. pcap: file for what crosses the wires, or NULL. On
 * failure nothing is left open. */
int simulated_open(struct simulated_net *, const struct config *, const struct crew_engine *,
		   const char *pcap, struct err *);

/* One port of a configuration alone, without a cable: to be driven by hand. */
int simulated_port_open(struct simulated_net *, const struct config *, unsigned port,
			const struct crew_engine *, struct err *);

/* Everything away; fails when the capture could not be written. */
int simulated_close(struct simulated_net *, struct err *);

void simulated_start(struct simulated_net *);

/* Let virtual time, in ns since the load began, pass up to `until`. */
void simulated_run(struct simulated_net *, uint64_t until);

/* Drain the ports with clients, or all. */
void simulated_drain(struct simulated_net *, bool clients_only, uint64_t deadline);
bool simulated_idle(const struct simulated_net *, bool clients_only);
/* It is over: end what is still open. */
void simulated_settle(struct simulated_net *);

/* When the next thing happens; UINT64_MAX: nothing will. */
uint64_t simulated_next(const struct simulated_net *);
uint64_t simulated_now(const struct simulated_net *);

/* Levels now, into a snapshot whose `traffic` is there. */
void simulated_snapshot(const struct simulated_net *, struct snapshot *);

#endif
