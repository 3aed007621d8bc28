/* Networks behind a port: on each core a worker for each of them, beside that of the port, whose
 * queue pair it shares. */
#ifndef RUN_WORKER_LANE_H
#define RUN_WORKER_LANE_H

#include <stddef.h>

#include "worker.h"

/* Of a frame or a port: its VLAN ids, outermost first; no tags are 0. */
static inline uint32_t lane_tag(uint32_t tags, uint16_t vlan)
{
	return tags << 16 | 0x1000 | (vlan & 0xfff);
}

/* Bytes that lanes_open() takes from its arena for this port. */
size_t lanes_bytes(const struct config *, unsigned port);

/* Room for the workers of the port's networks. Returns 0, or -1 when the arena is exhausted. */
int lanes_open(struct worker *, struct arena *);

/* Give a network's worker its place. */
void lane_add(struct worker *host, struct worker *network);

/* Let the workers of the networks take what is theirs of a received burst; returns how many packets
 * stay in it, moved together. */
unsigned lanes_input(struct worker *host, unsigned count, uint64_t now);

#endif
