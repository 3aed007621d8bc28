/* A sink of one worker: counts every packet it is given, and follows the lanes of tagged ones. */
#ifndef STATELESS_SINK_H
#define STATELESS_SINK_H

#include "stateless.h"
#include "track.h"

struct sink_lane {
	struct track track;
	uint64_t latency; /* of the packet before; UINT64_MAX: none */
};

struct sink {
	const struct config_traffic *config;
	const struct stateless_setup *setup;
	struct traffic_level *level;
	struct stream_stats *stats;
	struct sink_lane *lane;
	uint16_t *index; /* of a lane's name: its place + 1 */
	uint16_t run;
	bool any; /* every address and port */
	/* So many times more than the histograms know the last latency of this lane was met:
	 * packets that were sent together and received together come as one. */
	struct stream_lane *repeated;
	uint64_t repeated_latency, repeats;
	uint64_t heard_at; /* when the last packet came */
};

uint64_t sink_reserve(void);
int sink_make(struct sink *, const struct config_traffic *, const struct stateless_setup *,
	      struct arena *);

/* Does the sink want a packet to this address and port? */
bool sink_wants(const struct sink *, uint8_t family, u128 address, uint16_t port);

/* Count packets i to end - 1 of a burst, which are UDP; with a wrong checksum if their reason says
 * so. */
void sink_input(struct sink *, const struct rx_burst *, unsigned i, unsigned end, uint64_t now);

#endif
