/* Conversations: what two ends of a recorded TCP connection said to each other, as a script.
 *
 * Each side has its stream of bytes, and turns: how far it may give them to TCP once it has heard
 * so much of the far end's. What was heard when it spoke, the acknowledgments of the recording
 * tell. So what is sent is a function of script, side and offset, and who plays it needs no memory
 * of its own but how far it is; both sides may speak at once. Made by pcap/conversation.h, played
 * by stateful/conversation.c; read by any worker. */
#ifndef BASE_SCRIPT_H
#define BASE_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

/* Which conversations of a recording, and how they are played: the configuration's. */
enum script_weigh { WEIGH_CONVERSATIONS, WEIGH_FILES };
struct script_options {
	const char **file;
	unsigned files;
	const char *filter; /* as tcpdump's; NULL: all packets */
	uint64_t flow;      /* 1 + its number as Wireshark's tcp.stream has it; 0: all */
	enum script_weigh weigh;
	double think_factor;
	uint64_t max_think; /* 0: any */
	uint64_t memory;    /* bytes, at most */
	bool allow_incomplete;
};

enum script_what { SCRIPT_DATA, SCRIPT_FIN, SCRIPT_RST };

struct script_turn {
	uint64_t wait;  /* ns, from when need was met and the turn before it was done */
	uint32_t until; /* bytes of the own stream */
	uint32_t need;  /* bytes of the far end's to be heard before, and 1 for its FIN */
	enum script_what what;
};

enum { SCRIPT_CLIENT, SCRIPT_SERVER };
struct script_side {
	const char *bytes;
	uint64_t sum; /* checksum sum of all of them */
	uint32_t length;
	uint32_t
		turns; /* the last, or but for an RST the last, is a FIN; or the far end's an RST */
	struct script_turn *turn;
	bool resets; /* the last one is an RST */
};

struct script {
	struct script_side side[2];
};

/* Scripts first to first + count are of one file. */
struct script_file {
	uint32_t first, count;
};

#define SCRIPT_STREAM_MAX (1u << 30) /* bytes of one side */

struct script_set {
	struct script *script;
	uint32_t scripts;
	uint32_t *order; /* numbers of scripts, by the clients' bytes, which are compared as text */
	struct script_file *file;
	unsigned files;
	uint64_t longest_wait; /* of any turn */
	uint32_t longest;      /* stream, bytes */
};

/* Why a conversation of the recording is not played. */
#define SCRIPT_REFUSED_TABLE(X)                                                       \
	X(BEGIN, "begin", "the recording begins in its midst: there is no SYN")       \
	X(UNANSWERED, "unanswered", "the server did not answer the SYN with SYN,ACK") \
	X(GAP, "gap", "bytes are missing from the recording")                         \
	X(TRUNCATED, "truncated", "packets were not captured whole")                  \
	X(ORDER, "order", "its ends acknowledge what was sent only later")            \
	X(SIZE, "size", "one side says more than 1 GiB")

enum script_refused {
#define X(id, name, help) SCRIPT_REFUSED_##id,
	SCRIPT_REFUSED_TABLE(X)
#undef X
		SCRIPT_REFUSALS
};

extern const char *const script_refused_name[SCRIPT_REFUSALS];
extern const char *const script_refused_help[SCRIPT_REFUSALS];

/* Of a recording: conversations = scripts + refused[]. */
struct script_counts {
	uint64_t records, other; /* packets, and those among them that are not TCP, or filtered */
	uint64_t conversations, refused[SCRIPT_REFUSALS];
	uint64_t turns, bytes[2];
	uint64_t unended; /* without FIN or RST: the client closes */
};

#endif
