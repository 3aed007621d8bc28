/* Walking pools: which flow each packet belongs to.
 *
 * The flows of a blast are all combinations of client port, client, server port and server. They
 * are numbered with the pool that steps first as the lowest digit, and packet number g of the whole
 * stream has flow g modulo their number. The packets are dealt to the workers in turn, one by one
 * or in bursts: together they send every flow in order, and every flow equally often. */
#ifndef STATELESS_WALK_H
#define STATELESS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/config/config.h"

/* Which of a stream's packets are a worker's: from number `first`, each `step` after the last, and
 * at the end of each burst `jump` further. */
struct deal {
	uint64_t first, step, jump;
};

static inline struct deal deal_make(unsigned worker, unsigned workers, uint32_t burst)
{
	return (struct deal){.first = (uint64_t)worker * burst,
			     .step = burst == 1 ? workers : 1,
			     .jump = burst == 1 ? 0 : (workers - 1ull) * burst};
}

/* A number modulo `count`, or a digit of one, that goes up with the packets dealt. */
struct digit {
	uint64_t at, count;
	uint64_t step, jump; /* less than count */
};

static inline struct digit digit_make(uint64_t count, const struct deal *deal)
{
	return (struct digit){.at = deal->first % count,
			      .count = count,
			      .step = deal->step % count,
			      .jump = deal->jump % count};
}

/* Add less than count, and a carry; returns the carry. */
static inline bool digit_add(struct digit *d, uint64_t step, bool carry)
{
	uint64_t rest = d->count - d->at;

	step += carry;
	if (step < rest) {
		d->at += step;
		return false;
	}
	d->at = step - rest;
	return true;
}

struct walk {
	uint64_t run;    /* so many further steps change nothing but value[fast], by `stride` */
	uint32_t fast;   /* enum walk_first */
	uint32_t stride; /* of value[fast] */
	uint32_t value[WALKS]; /* the flow at hand: addresses and ports in host order */
	u128 upper[WALKS];     /* of IPv6 addresses all but the last 32 bits, which are `value` */
	uint64_t ran;          /* steps since the digits were brought up to date, with `run` */
	const struct config_traffic *traffic;
	uint8_t family;
	uint8_t order[WALKS]; /* which pool each digit is of; the lowest first */
	struct digit digit[WALKS];
};

/* family: that of the addresses. */
void walk_init(struct walk *, const struct config_traffic *, uint8_t family, struct deal);

/* Take the step that is not part of a run. */
void walk_carry(struct walk *);

/* A burst is over. */
void walk_jump(struct walk *);

/* The next flow. */
static inline void walk_next(struct walk *w)
{
	if (__builtin_expect(!w->run, 0)) {
		walk_carry(w);
		return;
	}
	w->run--;
	w->value[w->fast] += w->stride;
}

/* n further steps of the run, n at most run. */
static inline void walk_skip(struct walk *w, uint64_t n)
{
	w->run -= n;
	w->value[w->fast] += (uint32_t)n * w->stride;
}

/* The whole address at hand of a pool of addresses. */
static inline u128 walk_address(const struct walk *w, enum walk_first pool)
{
	return w->upper[pool] | w->value[pool];
}

/* The number of the flow at hand, modulo 2^64. */
uint64_t walk_number(const struct walk *);

#endif
