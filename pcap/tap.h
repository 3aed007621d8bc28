/* What a worker captures: packets as they pass, and samples of those that were refused.
 *
 * Both copy into a channel, which a recorder empties into a file. Every packet shown is filtered,
 * beyond a limit, dropped for want of room, or in the channel. Times are given by the clock of the
 * run; origin_ns makes times since 1970 of them. */
#ifndef PCAP_TAP_H
#define PCAP_TAP_H

#include <rte_mbuf_core.h>

#include "../common/base/drop.h"
#include "channel.h"
#include "filter.h"
#include "record.h"

#define TAP_SEND_MAX 32

/* shown = filtered + beyond + dropped + put. */
struct tap_counts {
	uint64_t shown;
	uint64_t filtered;
	uint64_t beyond; /* a limit */
	uint64_t put;
};

struct tap {
	struct channel *channel;
	const struct filter *filter; /* NULL: all packets */
	uint64_t origin_ns;
	uint32_t snaplen;
	bool rx, tx; /* the directions wanted */
	struct tap_counts counts;
	struct tap_mark { /* before each packet that is being sent, and behind the last */
		uint64_t head, dropped;
		struct tap_counts counts;
	} mark[TAP_SEND_MAX + 1];
};

/* Received packets. */
void tap_received(struct tap *, struct rte_mbuf *const *, unsigned count, uint64_t now);

/* At most TAP_SEND_MAX packets about to be sent; and how many of them the port took: the others
 * were not shown. */
void tap_sending(struct tap *, struct rte_mbuf *const *, unsigned count, uint64_t now);
void tap_sent(struct tap *, unsigned count);

struct sampler {
	struct channel *channel;
	uint64_t origin_ns;
	uint32_t snaplen;
	uint32_t per_second;       /* and reason */
	uint64_t second_end;       /* by the clock of the run */
	uint32_t left[DROP_COUNT]; /* of per_second in this second */
	struct tap_counts counts;
};

/* True if this refused packet is to be sampled; if not it has been counted. */
bool sampler_wants(struct sampler *, enum drop, uint64_t now);

/* Sample it: the comment is "tcp.bad_seq: outside the receive window", and `state` (NULL: nothing
 * is known) behind it. */
void sampler_take(struct sampler *, const struct rte_mbuf *, enum drop, const char *state,
		  uint64_t now);

#endif
