/* The player: from recordings to tapes.
 *
 * All files are read once before anything is sent, so that what is wrong with them is known then,
 * and how long a loop is. What fits into memory stays there; a larger recording is read again, by a
 * thread of its own, as it is played. */
#ifndef PCAP_PLAYER_H
#define PCAP_PLAYER_H

#include "../common/base/replay.h"
#include "../common/base/tape.h"
#include "reader.h"

struct player_setup {
	uint16_t mtu;            /* of the port that sends */
	unsigned workers;        /* of that port: packets are dealt to them by flow */
	uint16_t server_mtu;     /* of the second port, if there is one: */
	unsigned server_workers; /* 0: there is none */
	bool never_streamed;     /* all of it is to be in memory: under a virtual clock */
};

/* Of one loop: records = filtered + packets + skipped[]. */
struct player_counts {
	uint64_t records;
	uint64_t filtered;
	uint64_t packets, bytes; /* that are sent, and their bytes */
	uint64_t skipped[SKIPPED_COUNT];
	uint64_t truncated;   /* of those sent: not captured whole, sent as they are */
	uint64_t padded;      /* not captured whole, made whole with zeros */
	uint64_t cut;         /* cut to what the MTU allows */
	uint64_t runts;       /* shorter than Ethernet's least, made longer with zeros */
	uint64_t clamped;     /* gaps longer than max_gap */
	uint64_t longest_gap; /* ns, as played */
	uint64_t length;      /* of the loop in ns, the gap to the next one included */
	uint64_t problem[READER_PROBLEMS];
};

struct player;

/* Read the files. Returns NULL with err when there is nothing to send, or the options refuse what
 * there is. setup is copied, the options must live on. */
struct player *player_open(const struct replay_options *, const struct player_setup *,
			   struct err *);

const struct player_counts *player_counts(const struct player *);

/* What was met first of each problem, or NULL. */
const char *player_first(const struct player *, enum reader_problem);
/* The first packet of those truncated, skipped or padded for it, "lab.pcap: packet 1 at offset 24",
 * or NULL. */
const char *player_first_truncated(const struct player *);

/* The tape of a worker of a side's port; the player's own. */
struct tape *player_tape(struct player *, bool server, unsigned worker);

/* What became of the packets on their way from one port to the other: sent = received - duplicates
 * + lost. */
struct player_compared {
	uint64_t sent, received, lost, duplicate, foreign;
};

/* When no worker plays any more. Returns false if nothing is compared. */
bool player_compare(const struct player *, struct player_compared *);

/* Bytes that the tapes take. */
uint64_t player_bytes(const struct player *);

/* Begin to read ahead, where the recording is streamed; to be stopped before close. */
int player_start(struct player *, struct err *);
void player_stop(struct player *);

void player_close(struct player *);

#endif
