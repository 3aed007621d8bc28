/* A walk is an odometer that adds the number of workers, or 1 within a burst, at each step.
 *
 * That number is written in the mixed radix of the pools once, and added digit by digit, with carry
 * and without a division. Most steps only move the lowest digit inside one range of its pool; how
 * many such steps lie ahead is known at each carry, so they are a decrement and an addition.
 *
 * Of IPv6 the same: a run steps the last 32 bits of an address and ends where they are through. A
 * pool of more than 2^63 addresses counts as one of so many; nobody lives to see its end.
 *
 * Rejected: computing the flow from the packet's number (three divisions each), and a table of all
 * flows (2^96 are possible). */
#include "walk.h"

#include "../common/base/require.h"

#define COUNT_MOST (UINT64_C(1) << 63)

static uint64_t addresses_count(const struct ip_pool *pool)
{
	return pool->count < COUNT_MOST ? (uint64_t)pool->count : COUNT_MOST;
}

static bool has_ports(const struct config_traffic *t)
{
	return t->blast.protocol != BLAST_IP;
}

static uint64_t pool_count(const struct config_traffic *t, uint8_t family, enum walk_first pool)
{
	switch (pool) {
	case WALK_CLIENT_PORTS:
		return has_ports(t) ? t->client_ports.count : 1;
	case WALK_CLIENTS:
		return addresses_count(traffic_clients(t, family));
	case WALK_SERVER_PORTS:
		return has_ports(t) ? t->server_ports.count : 1;
	default:
		return addresses_count(traffic_servers(t, family));
	}
}

/* The value at a place of a port pool; *left: how many places follow in the same range. */
static uint32_t ports_value(const struct port_pool *pool, uint64_t at, uint64_t *left)
{
	for (unsigned i = 0; i < pool->ranges; i++) {
		uint64_t count = pool->range[i].last - pool->range[i].first + 1u;

		if (at < count) {
			*left = count - 1 - at;
			return (uint32_t)(pool->range[i].first + at);
		}
		at -= count;
	}
	require(!"a place in the pool");
	return 0;
}

/* The same of addresses; what follows is at most as far as the last 32 bits go. */
static u128 addresses_value(const struct ip_pool *pool, uint64_t at, uint64_t *left)
{
	for (unsigned i = 0; i < pool->ranges; i++) {
		u128 count = pool->range[i].count, address = pool->range[i].first + at;

		if (at < count) {
			*left = UINT32_MAX - (uint32_t)address;
			if (count - 1 - at < *left)
				*left = (uint64_t)(count - 1 - at);
			return address;
		}
		at -= (uint64_t)count;
	}
	require(!"a place in the pool");
	return 0;
}

static u128 pool_value(const struct walk *w, enum walk_first pool, uint64_t at, uint64_t *left)
{
	switch (pool) {
	case WALK_CLIENT_PORTS:
		return ports_value(&w->traffic->client_ports, at, left);
	case WALK_CLIENTS:
		return addresses_value(traffic_clients(w->traffic, w->family), at, left);
	case WALK_SERVER_PORTS:
		return ports_value(&w->traffic->server_ports, at, left);
	default:
		return addresses_value(traffic_servers(w->traffic, w->family), at, left);
	}
}

/* Look all values up, and see how far the lowest digit runs alone. */
static void values_refresh(struct walk *w)
{
	bool alone = true;
	uint64_t left = 0;

	for (unsigned i = WALKS; i-- > 0;) {
		u128 value = pool_value(w, w->order[i], w->digit[i].at, &left);

		w->value[w->order[i]] = (uint32_t)value;
		w->upper[w->order[i]] = value >> 32 << 32;
		if (i && w->digit[i].step)
			alone = false;
	}
	if (w->digit[0].step)
		w->run = alone ? left / w->digit[0].step : 0;
	else
		w->run = alone ? UINT64_MAX : 0;
	w->ran = w->run;
}

void walk_init(struct walk *w, const struct config_traffic *traffic, uint8_t family,
	       struct deal deal)
{
	unsigned n = 0;

	*w = (struct walk){.traffic = traffic, .family = family};
	/* Pools of more than one first, so that the lowest digit moves. */
	for (unsigned i = 0; i < 2 * WALKS; i++) {
		enum walk_first pool = (traffic->blast.walk + i) % WALKS;

		if ((pool_count(traffic, family, pool) > 1) == (i < WALKS))
			w->order[n++] = (uint8_t)pool;
	}
	for (unsigned i = 0; i < WALKS; i++) {
		uint64_t count = pool_count(traffic, family, w->order[i]);

		w->digit[i] = digit_make(count, &deal);
		deal.first /= count;
		deal.step /= count;
		deal.jump /= count;
	}
	w->fast = w->order[0];
	w->stride = (uint32_t)w->digit[0].step;
	values_refresh(w);
}

static void run_settle(struct walk *w)
{
	w->digit[0].at += (w->ran - w->run) * w->digit[0].step;
	w->ran = w->run;
}

void walk_carry(struct walk *w)
{
	bool carry = false;

	run_settle(w);
	for (unsigned i = 0; i < WALKS; i++)
		carry = digit_add(&w->digit[i], w->digit[i].step, carry);
	values_refresh(w);
}

void walk_jump(struct walk *w)
{
	bool carry = false;

	run_settle(w);
	for (unsigned i = 0; i < WALKS; i++)
		carry = digit_add(&w->digit[i], w->digit[i].jump, carry);
	values_refresh(w);
}

uint64_t walk_number(const struct walk *w)
{
	uint64_t number = 0;

	for (unsigned i = WALKS; i-- > 0;) {
		uint64_t at = w->digit[i].at;

		if (!i)
			at += (w->ran - w->run) * w->digit[0].step;
		number = number * w->digit[i].count + at;
	}
	return number;
}
