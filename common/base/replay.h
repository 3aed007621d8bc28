/* What a replay is asked to do: filled in by the configuration, obeyed by the player that reads the
 * files (pcap/player.h) and by the engine that plays them (stateless/replay.h). */
#ifndef BASE_REPLAY_H
#define BASE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "pace.h"
#include "pool.h"
#include "rewrite.h"

enum replay_oversize { OVERSIZE_REFUSE, OVERSIZE_SKIP, OVERSIZE_TRUNCATE };
enum replay_truncated { TRUNCATED_AS_IS, TRUNCATED_SKIP, TRUNCATED_PAD, TRUNCATED_REFUSE };

/* Addresses of frames made from packets without an Ethernet header. */
struct replay_convert {
	bool given;
	uint8_t dst[6], src[6];
};

/* On two ports: whose packets are the server's. */
enum replay_split_by {
	SPLIT_FIRST_SENDER,
	SPLIT_SYN,
	SPLIT_ADDRESS,
	SPLIT_MAC,
	SPLIT_PORT,
	SPLIT_NONE
};

struct replay_split {
	enum replay_split_by by; /* SPLIT_NONE: nobody's, the second port only receives */
	struct ip_pool servers;
	struct port_pool ports;
	uint8_t mac[6];
	bool has_mac;
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
	bool two_ports;       /* there is a second port: */
	unsigned server_port; /* index into config.port */
	struct replay_split split;
	bool strict_order; /* no packet before the one before it has left, on either port */
};

#endif
