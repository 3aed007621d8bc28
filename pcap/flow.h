/* One recorded TCP connection on its way to a script: streams, holes in them, turns. */
#ifndef PCAP_FLOW_H
#define PCAP_FLOW_H

#include <stddef.h>

#include "../common/base/script.h"

#define FLOW_HOLES_MAX 64u /* more are as good as a gap that is never filled */

struct flow_hole {
	uint32_t begin, end;
};

/* Offsets are those of the stream; in sequence space a FIN takes one more. */
struct flow_side {
	uint8_t *bytes;
	uint32_t room, end; /* end: behind the last byte seen */
	uint32_t base;      /* sequence number of byte 0 */
	uint32_t acked;     /* by the far end, in sequence space */
	bool based, fin, truncated, too_long;
	uint64_t last_ns;  /* when something new of it was seen */
	uint64_t round_ns; /* the round trip from the recording to it and back */
	struct flow_hole *hole;
	uint32_t holes;
	struct script_turn *turn;
	uint32_t turns, turns_room;
};

/* A segment, as the packet has it. */
struct flow_segment {
	uint64_t time_ns;
	const uint8_t *payload;
	uint32_t captured, length; /* of the payload */
	uint32_t seq, ack;
	uint8_t flags;
};

struct flow {
	uint8_t address[2][16]; /* of the client and the server, if there is a SYN */
	uint16_t port[2];
	uint8_t family;
	bool begun, answered, acknowledged, reset;
	uint32_t syn; /* sequence number of the SYN */
	uint64_t number;
	uint64_t syn_ns, answer_ns, last_ns;
	uint64_t taken; /* bytes of memory */
	struct flow_side side[2];
};

enum { FLOW_FIN = 1, FLOW_SYN = 2, FLOW_RST = 4, FLOW_ACK = 16 };

/* Take a segment that side `from` sent. Returns 0, or -1 without memory. */
int flow_take(struct flow *, unsigned from, const struct flow_segment *);

/* Both have closed, or one has reset: nothing of it is to come. */
bool flow_is_over(const struct flow *);

/* No more segments: the script, whose parts stay the flow's; or why there is none, of which `why`
 * tells more. */
enum script_refused flow_end(struct flow *, struct script *, bool *unended, char *why, size_t size);

void flow_free(struct flow *);

#endif
