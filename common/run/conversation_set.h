/* The scripts of a configuration's conversations, read before any device is touched. */
#ifndef RUN_CONVERSATION_SET_H
#define RUN_CONVERSATION_SET_H

#include "../../pcap/conversation.h"
#include "../config/config.h"

/* What a recording holds, for the result. */
struct conversation_result {
	const struct script_counts *counts; /* NULL: this traffic is no conversation */
	const char *incomplete; /* what is left out, if that is not allowed; NULL: nothing */
	uint64_t longest_wait;
};

struct conversation_set {
	const struct config *config;
	/* per config->traffic[]; entries that ask for the same share one */
	struct conversations **conversation;
	const struct script_set **scripts;
	struct conversation_result *result;
};

/* Read all recordings, and say on `out` (NULL: nowhere) what is odd about them. */
int conversation_set_open(struct conversation_set *, const struct config *, FILE *out,
			  struct err *);
void conversation_set_close(struct conversation_set *);

#endif
