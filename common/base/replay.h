/* What a replay is asked to do: filled in by the configuration, obeyed by the player that reads the
 * files (pcap/player.h) and by the engine that plays them (stateless/replay.h). */
#ifndef BASE_REPLAY_H
#define BASE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "pace.h"
#include "rewrite.h"

enum replay_oversize { OVERSIZE_REFUSE, OVERSIZE_SKIP, OVERSIZE_TRUNCATE };
enum replay_truncated { TRUNCATED_AS_IS, TRUNCATED_SKIP, TRUNCATED_PAD, TRUNCATED_REFUSE };

/* Addresses of frames made from packets without an Ethernet header. */
struct replay_convert {
	bool given;
	uint8_t dst[6], src[6];
};

struct replay_options {
	const char **file;
	unsigned files;
	/* When packets are due: by the file's times divided by speed, or one of the others. */
	struct rate speed, pps, bps, bps_l1;
	bool topspeed;
	uint64_t loop; /* UINT64_MAX: without end */
	bool has_loop_gap;
	uint64_t loop_gap;          /* from the last packet of a loop or file to the next first */
	uint64_t max_gap;           /* 0: any */
	uint64_t packets, duration; /* 0: no such limit */
	const char *filter;         /* as tcpdump's; NULL: all packets */
	enum replay_oversize oversize;
	enum replay_truncated truncated;
	bool allow_incomplete; /* what cannot be read or sent does not spoil the verdict */
	uint64_t memory;       /* bytes; a larger recording is streamed */
	struct replay_convert convert;
	struct rewrite rewrite;
};

#endif
