/* When packets of a recording are due.
 *
 * By the file: the time since the file's first packet, divided by the speed, from that first packet
 * and not from gap to gap, so that nothing drifts; a time that goes back counts as the latest so
 * far. With a rate: the packet's number, or the bits before it, by the rate. Whatever it is, due
 * times of a loop begin at 0 and never go back. */
#include "player_clock.h"

#define NS_PER_S  1000000000u
#define FCS_BYTES 4u
#define L1_BYTES  24u /* FCS, preamble, start delimiter, gap */

typedef unsigned __int128 u128;

static uint64_t saturate(u128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static struct rate clock_rate(const struct replay_options *o)
{
	return o->pps.den ? o->pps : o->bps.den ? o->bps : o->bps_l1;
}

static bool by_file(const struct replay_options *o)
{
	return !o->topspeed && !clock_rate(o).den;
}

void clock_file(struct pass_clock *c)
{
	c->file_at = c->at;
	c->latest_ns = c->clamped_ns = c->file_records = 0;
	c->timed = false;
}

/* By the file's times. */
static uint64_t file_due(struct pass_clock *c, const struct record *record,
			 struct player_counts *counts)
{
	const struct replay_options *o = c->options;
	uint64_t time_ns = record->time_ns, at, gap;

	if (record->flags & RECORD_NO_TIME) /* it comes with the packet before it */
		return c->at;
	if (!c->timed)
		c->file_ns = time_ns;
	c->timed = true;
	if (time_ns > c->file_ns && time_ns - c->file_ns > c->latest_ns)
		c->latest_ns = time_ns - c->file_ns;
	at = saturate((u128)c->latest_ns * o->speed.den / o->speed.num + c->file_at);
	at -= c->clamped_ns;
	gap = at - c->at;
	if (o->max_gap && gap > o->max_gap) {
		c->clamped_ns += gap - o->max_gap;
		counts->clamped++;
		at = c->at + o->max_gap;
		gap = o->max_gap;
	}
	if (gap > counts->longest_gap)
		counts->longest_gap = gap;
	return at;
}

/* units / rate, in ns and rate.num-ths of one. */
static u128 units_due(struct rate rate, u128 units, uint64_t *part)
{
	u128 seconds = units * rate.den / rate.num, rest = units * rate.den % rate.num * NS_PER_S;

	*part = (uint64_t)(rest % rate.num);
	return seconds * NS_PER_S + rest / rate.num;
}

static u128 units(const struct pass_clock *c)
{
	return c->options->pps.den ? c->number : c->bits;
}

uint64_t clock_due(struct pass_clock *c, const struct record *record, struct player_counts *counts)
{
	uint64_t part;

	c->file_records++;
	if (by_file(c->options))
		c->at = file_due(c, record, counts);
	else if (!c->options->topspeed)
		c->at = saturate(units_due(clock_rate(c->options), units(c), &part));
	return c->at;
}

void clock_sent(struct pass_clock *c, uint32_t length)
{
	c->number++;
	c->bits += (length + (c->options->bps_l1.den ? L1_BYTES : FCS_BYTES)) * 8;
}

void clock_file_end(struct pass_clock *c)
{
	uint64_t gap = c->options->loop_gap;

	if (!by_file(c->options))
		return;
	if (!c->options->has_loop_gap)
		gap = c->file_records > 1 ? (c->at - c->file_at) / (c->file_records - 1) : 0;
	c->at = saturate((u128)c->at + gap);
}

void clock_length(const struct pass_clock *c, uint64_t *length, uint64_t *part, uint64_t *parts)
{
	*length = c->at;
	*part = 0;
	*parts = 1;
	if (by_file(c->options) || c->options->topspeed)
		return;
	*parts = clock_rate(c->options).num;
	*length = saturate(units_due(clock_rate(c->options), units(c), part));
	if (c->options->has_loop_gap) {
		*length = saturate((u128)c->at + c->options->loop_gap);
		*part = 0;
	}
}
