/* What the stateless engine counted on one worker: of a blast how punctual it was, of a sink every
 * lane it saw.
 *
 * A lane is what one worker of one blast sends: its packets are numbered 0, 1, 2, ... The law is
 *
 *     sent = unique + lost
 *
 * per lane and so per stream. All packets of a flow come to one worker of a port, so a number is
 * seen by one sink worker only, and what several of them saw of a lane adds up. */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "hist.h"
#include "tape.h"

#define STREAM_LANES 256 /* that one sink worker follows */

/* A lane's name, as it stands in every tag: the stream's number and the worker's. */
static inline uint16_t stream_lane(unsigned stream, unsigned worker)
{
	return (uint16_t)(stream << 8 | worker);
}

struct stream_lane {
	_Alignas(64) uint64_t next; /* highest number seen + 1 */
	uint64_t unique;            /* numbers seen */
	uint64_t late;              /* of these, after a higher one (RFC 4737) */
	uint64_t duplicate;         /* seen before */
	uint64_t too_late; /* so far behind that nobody knows whether they were seen: not unique */
	uint64_t corrupt;  /* the tag says this lane, but its check is wrong */
	uint16_t name;
	struct hist latency; /* one way, ns; only when both ends share a clock */
	struct hist jitter; /* difference between the latencies of packets that follow each other */
};

struct stream_stats {
	uint64_t sent, bytes; /* blast, replay: packets and their bytes */
	bool all_sent;        /* of these: nothing is left of what it is to send */
	struct hist lateness; /* blast, replay: how long after its due time a packet was made */
	uint64_t skipped[SKIPPED_COUNT]; /* replay: packets of the recording left out */
	/* replay: from its start to the last packet sent, as it was and as it should have been, ns
	 */
	uint64_t elapsed, planned;
	uint64_t received; /* sink: all packets; = foreign + corrupt + those of its lanes */
	uint64_t foreign;  /* sink: without a tag, of another run, or beyond STREAM_LANES */
	uint64_t corrupt;  /* sink: with a wrong UDP checksum, or a tag whose check is wrong */
	struct stream_lane *lane; /* sink: STREAM_LANES of them */
	unsigned lanes;           /* in use */
};

#endif
