/* Which side of a conversation sent a packet: for a recording that is played on two ports. */
#ifndef PCAP_PLAYER_SIDE_H
#define PCAP_PLAYER_SIDE_H

#include "../common/base/dissect.h"
#include "../common/base/replay.h"

/* Conversations met so far. */
struct side_table {
	struct side_row {
		uint64_t conversation; /* 0: free */
		uint64_t client;       /* the end that is the client's */
	} * row;
	uint32_t rows, used; /* rows: a power of two */
};

/* True if the server sent it. Without memory for the table the first of both ends is the client. */
bool side_is_server(struct side_table *, const struct replay_split *, const uint8_t *frame,
		    uint32_t length, const struct dissect *);

void side_clear(struct side_table *);

#endif
