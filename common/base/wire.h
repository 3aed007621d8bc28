/* A simulated wire, one direction: packets go in with a time and come out when they are due.
 *
 * Virtual time, seeded, pure: the same rule, seed and packets give the same outcome. Order on the
 * wire is kept, also under jitter; only `reorder` breaks it. What happens to a packet, in this
 * order:
 *
 *     lost in a blackout, by a rule, or at random      the far end never sees it
 *     refused by the queue in front of the line        as a router's tail drop
 *     flipped by one bit                               the far end must notice, or with
 *                                                      corrupt_payload cannot
 *     sent at the line's rate, delayed, held back      reordered: those behind it overtake
 *     doubled                                          the copy follows at once */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "packet_box.h"
#include "rng.h"

#define WIRE_NEVER UINT64_MAX

struct wire_blackout {
	uint64_t from, until; /* ns of virtual time; packets put in then are lost */
};

struct wire_rule {
	uint64_t rate_bps; /* of frames without FCS and gap; 0: no limit */
	uint64_t delay;
	uint64_t jitter; /* up to this much more, uniformly */
	uint32_t queue;  /* packets that may wait for the line; 0: any number. Needs a rate */
	double loss, reorder, duplicate, corrupt; /* probabilities */
	uint32_t loss_burst;    /* a random loss takes this many packets in a row; 0 counts as 1 */
	bool corrupt_payload;   /* flip payload of TCP only, and make its checksum right again */
	uint64_t reorder_delay; /* a reordered packet is held back up to this long; 0: 1 ms */
	uint32_t loss_every;    /* every n-th packet is lost; 0: none */
	/* Of the TCP segments that carry all of `lose_flags` (0: every packet), lose number
	 * lose_first (1 is the first) and those behind it, lose_count in all. */
	uint8_t lose_flags;
	uint32_t lose_first, lose_count;
	uint16_t mtu; /* IP packets longer than this vanish; 0: no limit */
	const struct wire_blackout *blackout;
	unsigned blackouts;
	/* Lose what this says; number counts packets put in, from 1. */
	bool (*lose)(void *arg, const struct rte_mbuf *, uint64_t number);
	void *lose_arg;
};

struct wire_stats {
	uint64_t in, out;
	uint64_t lost, queue_full, reordered, duplicated, corrupted;
};

struct wire_packet;

struct wire {
	struct wire_rule rule;
	struct packet_box *box;
	struct wire_stats stats; /* in + duplicated = out + lost + queue_full + in flight */
	struct rng rng;
	uint64_t line_free;  /* when the line has sent all it was given */
	uint64_t last_due;   /* of those in order */
	uint64_t matched;    /* packets with lose_flags so far */
	uint32_t burst_left; /* of a loss burst */
	uint64_t *departure; /* of the last `queue` packets, a ring: when their sending ends */
	uint64_t departures;
	struct wire_packet *heap; /* in flight, by due time and then order of entry */
	uint32_t flying, room;
	uint64_t entered;
};

/* Returns 0, or -1 without memory. */
int wire_open(struct wire *, const struct wire_rule *, struct packet_box *, uint64_t seed);

/* Whatever is in flight goes back to the box. */
void wire_close(struct wire *);

/* What befell a packet; WIRE_LOST or WIRE_QUEUE_FULL excludes the others. */
enum wire_fate {
	WIRE_LOST = 1,
	WIRE_QUEUE_FULL = 2,
	WIRE_CORRUPTED = 4,
	WIRE_REORDERED = 8,
	WIRE_DUPLICATED = 16,
};

/* Put a packet in; it is the wire's now. `now` never goes back. Returns its enum wire_fate, several
 * added up. */
unsigned wire_put(struct wire *, struct rte_mbuf *, uint64_t now);

/* The next packet that is due at `now`, or NULL. */
struct rte_mbuf *wire_get(struct wire *, uint64_t now);

/* When the next packet is due, WIRE_NEVER when none is in flight. */
uint64_t wire_next(const struct wire *);

#endif
