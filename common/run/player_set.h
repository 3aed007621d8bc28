/* What a configuration takes of recordings: the players of its replays, the scripts of its
 * conversations. */
#ifndef RUN_PLAYER_SET_H
#define RUN_PLAYER_SET_H

#include "../../pcap/player.h"
#include "../config/config.h"
#include "conversation_set.h"

/* What a replay read, for the result: see result.h. */
struct player_set {
	const struct config *config;
	struct player **player;       /* per config->traffic[]; NULL: no replay */
	struct replay_result *result; /* the same */
	struct conversation_set conversations;
};

/* Read all recordings, and say on stderr what is odd about them. virtual: for a virtual clock, with
 * one worker a port and nothing read later. */
int player_set_open(struct player_set *, const struct config *, bool virtual, struct err *);

/* Begin to read ahead. */
int player_set_start(struct player_set *, struct err *);

/* The tapes of one worker of a port, per config->traffic[] into tapes[]; returns tapes. */
struct tape **player_set_tapes(struct player_set *, unsigned port, unsigned worker,
			       struct tape **tapes);

/* When no worker plays any more: what became of the packets, into the results. */
void player_set_compare(struct player_set *);

void player_set_close(struct player_set *);

#endif
