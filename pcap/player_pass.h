/* One pass over the files of a recording: which packets, when, and how they are to look. */
#ifndef PCAP_PLAYER_PASS_H
#define PCAP_PLAYER_PASS_H

#include "filter.h"
#include "player.h"
#include "player_side.h"

/* When packets are due, in ns since the loop began. */
struct pass_clock {
	const struct replay_options *options;
	uint64_t at;            /* of the last packet */
	uint64_t number;        /* packets that were sent */
	unsigned __int128 bits; /* of these */
	/* By the file's times: */
	uint64_t file_at; /* when the file at hand began */
	bool timed;       /* a packet of it had a time, the first of them: */
	uint64_t file_ns;
	uint64_t latest_ns;  /* of all its packets, since the first */
	uint64_t clamped_ns; /* what max_gap took away */
	uint64_t file_records;
};

struct pass {
	const struct replay_options *options;
	const struct player_setup *setup;
	const struct filter *filter;
	struct pass_clock clock;
	struct player_counts counts;
	char truncated[256]; /* the first packet not captured whole */
	char first[READER_PROBLEMS][sizeof(((struct reader_count *)0)->first)];
	uint8_t *scratch; /* room for a frame to be rewritten; NULL: none is */
	bool by_address;  /* fragments were met: flows are told by their addresses alone */
	bool fragments;   /* the pass ended because of these */
	struct side_table sides;
	struct content_table *contents; /* of both sides, to be filled; NULL: not compared */
	/* Put a packet on a tape, those of the server's port behind the others; returns where its
	 * bytes belong, or NULL to leave it. */
	uint8_t *(*put)(struct pass *, unsigned tape, const struct tape_packet *);
	/* False: the pass is to end. NULL: never. */
	bool (*wanted)(const struct pass *);
	void *owner;
};

/* Run through all files. Returns 0, or -1 with err. */
int pass_run(struct pass *, struct err *);

/* The rest of the loop's length that is no whole ns: part / parts. */
void pass_length(const struct pass *, uint64_t *length, uint64_t *part, uint64_t *parts);

#endif
