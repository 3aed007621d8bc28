/* The timer wheel. A slot's bit in `occupied` lets empty time be skipped by the word, so a virtual
 * clock may jump. The nearest level rounds up, so an entry is never taken before its time there;
 * the others round down, so that what is taken from them can still be put into a nearer one.
 *
 * Rejected: doubly linked lists through the records (each unlink touches two strangers' cache
 * lines), a heap (log n misses), one ring per time-out (a think time per traffic entry makes too
 * many). */
#include "timer.h"

#include "../common/base/require.h"

#define SLOT_MASK (TIMER_SLOTS - 1)

static const uint8_t level_shift[TIMER_LEVELS] = {13, 24, 35};

static size_t chunk_count(uint64_t entries)
{
	/* Every slot may have one chunk partly filled. */
	return entries / TIMER_ENTRIES + TIMER_LEVELS * TIMER_SLOTS + 1;
}

size_t timer_reserve(uint64_t entries)
{
	return TIMER_LEVELS * sizeof(struct timer_level) +
	       chunk_count(entries) * sizeof(struct timer_chunk) + 2 * 64;
}

int timer_init(struct timer *t, struct arena *arena, uint64_t entries)
{
	*t = (struct timer){.capacity = (uint32_t)chunk_count(entries), .next = UINT64_MAX};
	t->level = arena_take(arena, TIMER_LEVELS * sizeof(struct timer_level));
	t->chunk = arena_take(arena, t->capacity * sizeof(struct timer_chunk));
	return t->level && t->chunk ? 0 : -1;
}

void timer_start(struct timer *t, uint64_t now)
{
	for (unsigned l = 0; l < TIMER_LEVELS; l++)
		t->level[l].tick = now >> level_shift[l];
}

static uint32_t chunk_take(struct timer *t)
{
	uint32_t number = t->free;

	if (number) {
		t->free = t->chunk[number - 1].next;
		return number;
	}
	require(t->used < t->capacity);
	return ++t->used;
}

static void level_add(struct timer *t, struct timer_level *level, uint64_t tick, uint32_t entry)
{
	uint32_t slot = tick & SLOT_MASK;

	if (!level->head[slot] || level->count[slot] == TIMER_ENTRIES) {
		uint32_t number = chunk_take(t);

		t->chunk[number - 1].next = level->head[slot];
		level->head[slot] = number;
		level->count[slot] = 0;
		level->occupied[slot / 64] |= 1ull << slot % 64;
	}
	t->chunk[level->head[slot] - 1].entry[level->count[slot]++] = entry;
}

void timer_add(struct timer *t, uint32_t entry, uint64_t at)
{
	for (unsigned l = 0;; l++) {
		struct timer_level *level = &t->level[l];
		uint64_t round = l ? 0 : (1ull << level_shift[0]) - 1;
		uint64_t tick = (at + round) >> level_shift[l];

		if (tick < level->tick)
			tick = level->tick;
		if (tick - level->tick >= TIMER_SLOTS) {
			if (l + 1 < TIMER_LEVELS)
				continue;
			tick = level->tick + TIMER_SLOTS - 1;
		}
		level_add(t, level, tick, entry);
		if (tick << level_shift[l] < t->next)
			t->next = tick << level_shift[l];
		return;
	}
}

/* The first occupied tick from level->tick up to `last`, or last + 1. */
static uint64_t level_find(const struct timer_level *level, uint64_t last)
{
	uint64_t tick = level->tick;
	uint64_t end = last - tick >= TIMER_SLOTS ? tick + TIMER_SLOTS - 1 : last;

	while (tick <= end) {
		uint64_t word = level->occupied[(tick & SLOT_MASK) / 64] >> (tick & 63);

		if (word) {
			tick += (unsigned)__builtin_ctzll(word);
			return tick <= end ? tick : last + 1;
		}
		tick = (tick | 63) + 1;
	}
	return last + 1;
}

/* Detach the next slot of a level that has come; false when there is none. */
static bool level_detach(struct timer *t, struct timer_level *level, uint64_t now_tick)
{
	uint64_t tick;
	uint32_t slot;

	if (level->tick > now_tick)
		return false;
	tick = level_find(level, now_tick);
	if (tick > now_tick) {
		level->tick = now_tick + 1;
		return false;
	}
	level->tick = tick + 1;
	slot = tick & SLOT_MASK;
	t->due_head = level->head[slot];
	t->due_count = level->count[slot];
	level->head[slot] = 0;
	level->occupied[slot / 64] &= ~(1ull << slot % 64);
	return true;
}

static uint64_t find_next(const struct timer *t)
{
	uint64_t next = UINT64_MAX;

	for (unsigned l = 0; l < TIMER_LEVELS; l++) {
		uint64_t last = t->level[l].tick + TIMER_SLOTS - 1;
		uint64_t tick = level_find(&t->level[l], last);

		if (tick <= last && tick << level_shift[l] < next)
			next = tick << level_shift[l];
	}
	return next;
}

/* Pass over the empty slots up to now: what is put back next is then near. */
static void level_skip(struct timer_level *level, uint64_t now_tick)
{
	uint64_t tick;

	if (level->tick >= now_tick)
		return;
	tick = level_find(level, now_tick);
	level->tick = tick < now_tick ? tick : now_tick;
}

/* Detach a slot that has come, far levels first: what is put back from them may be due at once. */
static bool detach(struct timer *t, uint64_t now)
{
	for (unsigned l = 0; l < TIMER_LEVELS; l++)
		level_skip(&t->level[l], now >> level_shift[l]);
	for (unsigned l = TIMER_LEVELS; l-- > 0;)
		if (level_detach(t, &t->level[l], now >> level_shift[l]))
			return true;
	t->next = find_next(t);
	return false;
}

bool timer_take(struct timer *t, uint64_t now, uint32_t *entry)
{
	struct timer_chunk *chunk;
	uint32_t done;

	if (!t->due_head) {
		if (now < t->next) {
			for (unsigned l = 0; l < TIMER_LEVELS; l++)
				t->level[l].tick = (now >> level_shift[l]) + 1;
			return false;
		}
		if (!detach(t, now))
			return false;
	}
	chunk = &t->chunk[t->due_head - 1];
	*entry = chunk->entry[--t->due_count];
	if (!t->due_count) {
		done = t->due_head;
		t->due_head = chunk->next;
		t->due_count = TIMER_ENTRIES;
		chunk->next = t->free;
		t->free = done;
	}
	return true;
}

uint64_t timer_touched(const struct timer *t)
{
	return TIMER_LEVELS * sizeof(struct timer_level) +
	       (uint64_t)t->used * sizeof(struct timer_chunk);
}
