/* Selective acknowledgments (RFC 2018) and the scoreboard of recovery with them (RFC 6675).
 *
 * The scoreboard holds a few ranges; with more gaps than that the highest are forgotten, which only
 * makes the sender careful. A range is believed until a time-out (a receiver may renege, RFC 2018
 * section 8). */
#include "options.h"

#include <string.h>

static void range_add(struct side *side, struct sack_range range)
{
	struct sack_range *sacked = side->sacked;
	uint32_t count = side->sack_count, i = 0, j;

	while (i < count && seq_lt(sacked[i].end, range.begin))
		i++;
	for (j = i; j < count && !seq_lt(range.end, sacked[j].begin); j++) {
		if (seq_lt(sacked[j].begin, range.begin))
			range.begin = sacked[j].begin;
		if (seq_lt(range.end, sacked[j].end))
			range.end = sacked[j].end;
	}
	if (i == j) { /* touches none: make a place */
		if (i == SACK_RANGES)
			return;
		count -= count == SACK_RANGES;
		for (uint32_t k = count; k > i; k--)
			sacked[k] = sacked[k - 1];
		count++;
	} else { /* j - i ranges become one */
		for (uint32_t k = j; k < count; k++)
			sacked[k - (j - i) + 1] = sacked[k];
		count -= j - i - 1;
	}
	sacked[i] = range;
	side->sack_count = count;
}

/* A block is taken when it is sane, new, and of what was sent: else it is a D-SACK (RFC 2883) or a
 * mistake. */
static void block_read(struct side *side, const uint8_t *block)
{
	uint32_t edge[2];
	struct sack_range range;

	memcpy(edge, block, sizeof(edge));
	range = (struct sack_range){ntohl(edge[0]), ntohl(edge[1])};
	if (seq_lt(range.begin, range.end) && seq_lt(side->snd_una, range.begin) &&
	    !seq_lt(side->snd_max, range.end))
		range_add(side, range);
}

void sack_read(struct side *side, const struct segment *seg)
{
	struct option_walk walk = options_of(segment_tcp(seg));
	const uint8_t *option;

	while ((option = option_next(&walk)))
		for (unsigned i = 2; option[0] == TCP_OPTION_SACK && i + 8u <= option[1]; i += 8)
			block_read(side, option + i);
}

void sack_forget(struct side *side)
{
	uint32_t gone = 0;

	while (gone < side->sack_count && !seq_lt(side->snd_una, side->sacked[gone].end))
		gone++;
	side->sack_count -= gone;
	for (uint32_t i = 0; gone && i < side->sack_count; i++)
		side->sacked[i] = side->sacked[i + gone];
	if (side->sack_count && seq_lt(side->sacked[0].begin, side->snd_una))
		side->sacked[0].begin = side->snd_una;
}

uint32_t sack_bytes(const struct side *side)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < side->sack_count; i++)
		bytes += side->sacked[i].end - side->sacked[i].begin;
	return bytes;
}

uint32_t sack_lost_below(const struct side *side, uint32_t mss)
{
	uint32_t above = 0;

	for (uint32_t i = side->sack_count; i-- > 0;) {
		above += side->sacked[i].end - side->sacked[i].begin;
		if (above > 2 * mss)
			return side->sacked[i].begin;
	}
	return side->snd_una;
}

bool sack_hole(const struct side *side, uint32_t from, struct sack_range *hole)
{
	for (uint32_t i = 0; i < side->sack_count; i++) {
		if (seq_lt(from, side->sacked[i].begin)) {
			*hole = (struct sack_range){from, side->sacked[i].begin};
			return true;
		}
		if (seq_lt(from, side->sacked[i].end))
			from = side->sacked[i].end;
	}
	return false;
}

uint32_t sack_pipe(const struct side *side, uint32_t snd_nxt, uint32_t mss)
{
	uint32_t pipe = snd_nxt - side->snd_una - sack_bytes(side);
	uint32_t lost = sack_lost_below(side, mss);
	uint32_t from = seq_lt(side->high_rxt, side->snd_una) ? side->snd_una : side->high_rxt;
	struct sack_range hole;

	/* lost and not sent again: in the network no more */
	while (seq_lt(from, lost) && sack_hole(side, from, &hole)) {
		pipe -= (seq_lt(lost, hole.end) ? lost : hole.end) - hole.begin;
		from = hole.end;
	}
	return pipe;
}
