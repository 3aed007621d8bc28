/* The schedule. Due times are real numbers cut to whole ns, so that for a whole t
 *
 *     floor(due) < t  <=>  due < t       and      count(t) = ceil(N(t))
 *
 * are exact inverses, with N the integral of the rate. With rate = num / den, k events into the
 * steady phase:  due = k den 10^9 / num. In a ramp of T ns:  N(t) = rate t^2 / (2 T), thus due =
 * sqrt(2 T k den 10^9 / num), cut by an integer square root.
 *
 * Nothing is accumulated over events but the fraction of the steady phase, which is exact; after a
 * skip, and in the ramp, the due time is computed afresh. Floating point was rejected for due
 * times: a double is off by microseconds after a day at 10^6 events per second and cannot be
 * inverted. It only gives first guesses here, which integers correct. */
#include "pace.h"

#include <math.h>

#include "require.h"

typedef unsigned __int128 u128;

#define NS_PER_S 1000000000u

static uint64_t saturate(u128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static u128 divide_up(u128 value, u128 by)
{
	return value / by + (value % by != 0);
}

/* a * b / c, cut; the product may take 192 bits, the quotient must fit. */
static u128 multiply_divide(u128 a, uint64_t b, uint64_t c)
{
	u128 low = (u128)(uint64_t)a * b;
	u128 high = (a >> 64) * b + (low >> 64);
	u128 middle = (high % c) << 64 | (uint64_t)low;
	u128 quotient = high / c;

	require(!(quotient >> 64));
	return (quotient << 64) + middle / c;
}

static uint64_t square_root(u128 value)
{
	uint64_t root = (uint64_t)sqrt((double)value);

	while ((u128)root * root > value)
		root--;
	while ((u128)(root + 1) * (root + 1) <= value)
		root++;
	return root;
}

/* k / rate, in ns and num-ths of a ns. */
static u128 steady_offset(struct rate rate, uint64_t k, uint64_t *part)
{
	u128 time = (u128)k * rate.den;
	u128 seconds = time / rate.num;
	u128 rest = (time % rate.num) * NS_PER_S;

	*part = (uint64_t)(rest % rate.num);
	if (seconds > UINT64_MAX / NS_PER_S)
		return UINT64_MAX;
	return seconds * NS_PER_S + rest / rate.num;
}

/* When the ramp's integral reaches k, from its start. */
static uint64_t ramp_offset(const struct pace *p, uint64_t k)
{
	u128 time = (u128)k * p->rate.den;
	u128 scale = (u128)p->ramp * (2ull * NS_PER_S);

	return square_root(time / p->rate.num * scale +
			   multiply_divide(scale, (uint64_t)(time % p->rate.num), p->rate.num));
}

/* How many k have ramp_offset(k) < t. */
static uint64_t ramp_count(const struct pace *p, uint64_t t)
{
	double share = (double)t / (double)p->ramp;
	uint64_t k = (uint64_t)((double)p->ramp_events * share * share);

	while (k < p->ramp_events && ramp_offset(p, k) < t)
		k++;
	while (k && ramp_offset(p, k - 1) >= t)
		k--;
	return k;
}

static bool is_numeric(struct rate rate)
{
	return rate.den && rate.num && !rate_is_max(rate);
}

void pace_seek(struct pace *p)
{
	u128 k = (u128)p->next * p->workers + p->worker;

	if (rate_is_max(p->rate) || p->next_at == UINT64_MAX)
		return;
	if (k < p->ramp_events) {
		p->next_at = p->start + ramp_offset(p, (uint64_t)k);
	} else {
		k -= p->ramp_events;
		p->next_at = saturate(p->start + p->ramp +
				      steady_offset(p->rate, saturate(k), &p->part));
		p->steady = true;
	}
	if (p->next_at >= p->end)
		p->next_at = UINT64_MAX;
}

void pace_init(struct pace *p, struct rate rate, uint64_t start, uint64_t ramp, uint64_t end,
	       uint32_t worker, uint32_t workers)
{
	require(workers && worker < workers);
	*p = (struct pace){.rate = rate,
			   .start = start,
			   .ramp = ramp,
			   .end = end,
			   .window = UINT64_MAX,
			   .worker = worker,
			   .workers = workers,
			   .next_at = start < end ? start : UINT64_MAX};
	if (rate_is_max(rate))
		return;
	if (!is_numeric(rate)) {
		p->next_at = UINT64_MAX;
		return;
	}
	if (ramp)
		p->ramp_events = saturate(
			divide_up((u128)ramp * rate.num, (u128)rate.den * (2ull * NS_PER_S)));
	p->step = saturate(steady_offset(rate, workers, &p->step_part));
	pace_seek(p);
}

uint64_t pace_due_at(const struct pace *p, uint64_t k)
{
	uint64_t part;

	if (rate_is_max(p->rate))
		return p->start;
	if (!is_numeric(p->rate))
		return UINT64_MAX;
	if (k < p->ramp_events)
		return p->start + ramp_offset(p, k);
	return saturate(p->start + p->ramp + steady_offset(p->rate, k - p->ramp_events, &part));
}

uint64_t pace_count(const struct pace *p, uint64_t t)
{
	if (t > p->end)
		t = p->end;
	if (!is_numeric(p->rate) || t <= p->start)
		return 0;
	t -= p->start;
	if (t <= p->ramp)
		return ramp_count(p, t);
	return saturate(p->ramp_events +
			divide_up((u128)(t - p->ramp) * p->rate.num, (u128)p->rate.den * NS_PER_S));
}

uint64_t pace_count_own(const struct pace *p, uint64_t t)
{
	uint64_t count = pace_count(p, t);

	return count <= p->worker ? 0 : (count - p->worker - 1) / p->workers + 1;
}

/* How many own events are done, or lie too far back at `now`. */
static uint64_t skip_target(const struct pace *p, uint64_t now)
{
	uint64_t due, old;

	if (now >= p->end)
		return pace_count_own(p, p->end);
	due = pace_count_own(p, now + 1);
	old = pace_count_own(p, now - p->window);
	if (old + p->keep > due)
		old = due > p->keep ? due - p->keep : 0;
	return old;
}

uint64_t pace_skip(struct pace *p, uint64_t now)
{
	uint64_t from = p->next;
	uint64_t target;

	if (p->next_at >= now || (now < p->end && now - p->next_at <= p->window))
		return 0;
	if (rate_is_max(p->rate)) {
		if (now >= p->end)
			p->next_at = UINT64_MAX;
		return 0;
	}
	target = skip_target(p, now);
	if (target <= from)
		return 0;
	p->next = target;
	pace_seek(p);
	return target - from;
}
