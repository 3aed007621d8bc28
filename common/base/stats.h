/* What a traffic entry did on one worker. The laws of the project are sums over these:
 *
 *     wanted = offered + not_offered[]      offered = succeeded + failed[]
 *
 * counted in connections; the same for requests in `request`. At the end nothing is open - what the
 * drain could not close is ended by the engine's settle() - so both hold exactly; during the run
 * `open` is the difference of the second. One writer, read relaxed. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stdint.h>

#include "split.h"

/* Why a due connection or request was not started. */
#define NOT_OFFERED_TABLE(X)                                                           \
	X(NO_TUPLE, "no_tuple", "no free client address and port")                     \
	X(TX_FULL, "tx_full", "the port did not take the packets")                     \
	X(LATE, "late", "the worker could not keep up")                                \
	X(NO_SIDE, "no_side", "too many transfers under way: see memory.side_records") \
	X(NO_CONN, "no_conn", "no memory for a connection, or for a request no idle connection")

/* How a connection or request failed. */
#define FAILED_TABLE(X)                                                                   \
	X(TIMEOUT, "timeout", "no answer in time")                                        \
	X(RESET, "reset", "reset by the far end")                                         \
	X(REFUSED, "refused", "reset in answer to SYN")                                   \
	X(STATUS, "status", "another HTTP status than expected")                          \
	X(PROTOCOL, "protocol", "malformed, longer than it said, or closed too early")    \
	X(MISMATCH, "mismatch", "other bytes than the recorded conversation has")         \
	X(LENGTH, "length", "well-formed, but of another length than response.body.size") \
	X(CUT, "cut", "cut off by the end of the run while the far end still had time")

/* What a client does with a connection at its end. */
#define CLOSE_TABLE(X)                                   \
	X(KEEP, "keep", "left open until a time-out")    \
	X(FIN, "fin", "closed in order, by either side") \
	X(RST, "rst", "reset")

enum close {
#define X(id, name, help) CLOSE_##id,
	CLOSE_TABLE(X)
#undef X
		CLOSE_WAYS
};

enum not_offered {
#define X(id, name, help) NOT_OFFERED_##id,
	NOT_OFFERED_TABLE(X)
#undef X
		NOT_OFFERED_COUNT
};

enum failed {
#define X(id, name, help) FAILED_##id,
	FAILED_TABLE(X)
#undef X
		FAILED_COUNT
};

struct tally {
	uint64_t offered;
	uint64_t not_offered[NOT_OFFERED_COUNT];
	uint64_t succeeded;
	uint64_t failed[FAILED_COUNT];
};

struct traffic_level {
	struct tally connection; /* server: connections accepted and their ends */
	struct tally request;    /* requests sent (client) or received (server) */
	uint64_t established;    /* connections whose handshake completed */
	uint64_t open;           /* connections open now: SYN sent or received, not yet ended */
	uint64_t open_max;
	uint64_t closed[CLOSE_WAYS]; /* of a client whose ways to close have weights */
	uint64_t compared; /* payload bytes received of conversations: they were as recorded */
	uint64_t bits_rx, bits_tx; /* of this entry's frames, as bitsRx and bitsTx count */
};

struct traffic_stats {
	_Alignas(64) struct traffic_level level;
	struct hist connect, first_byte, response; /* of a client */
	struct split *split;                       /* NULL: none is kept */
};

/* Names and help of the rows above. */
extern const char *const close_name[CLOSE_WAYS];
extern const char *const not_offered_name[NOT_OFFERED_COUNT];
extern const char *const not_offered_help[NOT_OFFERED_COUNT];
extern const char *const failed_name[FAILED_COUNT];
extern const char *const failed_help[FAILED_COUNT];

/* Sums over all reasons. */
uint64_t tally_not_offered(const struct tally *);
uint64_t tally_failed(const struct tally *);

/* to += from, every word, read relaxed; open_max adds (an upper bound over workers). */
void traffic_level_add(struct traffic_level *to, const struct traffic_level *from);

/* The same with the histograms. */
void stats_merge(struct traffic_stats *to, const struct traffic_stats *from);

#endif
