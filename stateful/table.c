/* The connection table.
 *
 * Index: linear hashing in groups. A group is 64 buckets (4 KiB), a bucket is one cache line of 15
 * entries and a count of entries that went past it. An entry is a record number plus one in its low
 * bits and as many bits of the hash as are left over, so that a line is searched by one vector
 * compare and the record is touched once. A full bucket overflows into the next of its group, never
 * out of it: so a group can be split into two (itself and one `level` further up) without touching
 * any other, and the index grows in place by 4 KiB at a time while connections open: about 700
 * records are re-hashed per split, one split per 80 new connections, in the last tenth before a
 * doubling is due.
 *
 * Rejected: doubling with a second table (half of its memory stays behind), chains through records
 * (a miss per link), one slot per possible tuple (memory by address space), cuckoo (two lines per
 * look-up of an unknown tuple, and a client's first packet is just that). */
#include "table.h"

#include <string.h>

#include "../common/base/simd.h"

#define GROUP_BUCKETS 64u
#define BUCKET_SLOTS  15u
#define OVERFLOWED    15 /* the count's place in a bucket */
/* Fill at which a group is split: mean 780 of 960 slots, so that a group is full at 6 sigma. */
#define GROUP_CONNS 780u
#define SPLIT_FROM  700u
#define GROUP_BYTES (GROUP_BUCKETS * 64u)

static uint32_t power_of_two(uint64_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

static uint32_t groups_for(uint64_t connections)
{
	return power_of_two(connections / GROUP_CONNS + 1);
}

static size_t record_bytes(bool ip6)
{
	return sizeof(struct conn) + (ip6 ? sizeof(u128) : 0);
}

size_t table_reserve(uint64_t connections, uint64_t sides, bool ip6)
{
	return connections * record_bytes(ip6) + (size_t)groups_for(connections) * GROUP_BYTES +
	       sides * sizeof(struct side) + 4 * 64;
}

size_t table_bytes(uint64_t connections, bool ip6)
{
	return connections * record_bytes(ip6) + (connections / GROUP_CONNS + 1) * GROUP_BYTES;
}

int table_init(struct table *t, struct arena *arena, uint32_t connections, uint32_t expected,
	       uint32_t sides, bool ip6)
{
	uint32_t number_bits = 0;

	*t = (struct table){.capacity = connections,
			    .free = TABLE_NONE,
			    .side_capacity = sides,
			    .side_high = sides - sides / 8,
			    .side_free = TABLE_NONE};
	t->groups_max = groups_for(connections);
	t->level = groups_for(expected);
	while (number_bits < 32 && (uint64_t)connections + 1 > 1ull << number_bits)
		number_bits++;
	require(number_bits < 32);
	t->tag_mask = ~0u << number_bits;
	t->tag_one = 1u << number_bits;
	t->conn = arena_take(arena, (size_t)connections * sizeof(struct conn));
	t->bucket = arena_take(arena, (size_t)t->groups_max * GROUP_BYTES);
	t->side = arena_take(arena, (size_t)sides * sizeof(struct side));
	if (ip6)
		t->peer6 = arena_take(arena, (size_t)connections * sizeof(*t->peer6));
	return t->conn && t->bucket && t->side && (t->peer6 || !ip6) ? 0 : -1;
}

/* The group's number comes from the hash's low bits, the bucket in it from the top six: the entry's
 * tag is taken from the bits between, so neither repeats what the position says already. */
static inline uint32_t hash_bucket(const struct table *t, uint32_t hash)
{
	uint32_t group = hash & (2 * t->level - 1);

	if (group >= t->level + t->split) /* that one has not been split off yet */
		group -= t->level;
	return group * GROUP_BUCKETS + (hash >> 26);
}

/* Never zero, so that no tag is that of an empty entry. */
static inline uint32_t hash_tag(const struct table *t, uint32_t hash)
{
	return (hash * 0x9e3779b1u & t->tag_mask) | t->tag_one;
}

static inline uint32_t bucket_next(uint32_t bucket)
{
	return (bucket & ~(GROUP_BUCKETS - 1)) | ((bucket + 1) & (GROUP_BUCKETS - 1));
}

/* Bit i is set when entry i of the bucket has this tag. */
static inline uint32_t bucket_match(const struct table *t, uint32_t bucket, uint32_t tag)
{
	return simd_match15(t->bucket[bucket], t->tag_mask, tag);
}

uint32_t table_prefetch_index(const struct table *t, uint32_t hash)
{
	uint32_t bucket = hash_bucket(t, hash);

	__builtin_prefetch(t->bucket[bucket]);
	return bucket;
}

uint32_t table_guess(const struct table *t, uint32_t hash, uint32_t bucket)
{
	uint32_t match = bucket_match(t, bucket, hash_tag(t, hash));
	uint32_t number;

	if (!match)
		return TABLE_NONE;
	number = (t->bucket[bucket][__builtin_ctz(match)] & ~t->tag_mask) - 1;
	__builtin_prefetch(&t->conn[number], 1);
	return number;
}

static inline uint32_t find(const struct table *t, uint32_t hash, const struct tuple *tuple,
			    const u128 *peer)
{
	uint32_t bucket = hash_bucket(t, hash);

	for (unsigned i = 0; i < GROUP_BUCKETS; i++, bucket = bucket_next(bucket)) {
		uint32_t match = bucket_match(t, bucket, hash_tag(t, hash));

		for (; match; match &= match - 1) {
			uint32_t entry = t->bucket[bucket][__builtin_ctz(match)];
			uint32_t number = (entry & ~t->tag_mask) - 1;

			if (tuple_equal(&t->conn[number].tuple, tuple) &&
			    (!peer || t->peer6[number] == *peer))
				return number;
		}
		if (!t->bucket[bucket][OVERFLOWED])
			break;
	}
	return TABLE_NONE;
}

uint32_t table_find(const struct table *t, uint32_t hash, const struct tuple *tuple)
{
	return find(t, hash, tuple, NULL);
}

uint32_t table_find6(const struct table *t, uint32_t hash, const struct tuple *tuple, u128 peer)
{
	return find(t, hash, tuple, &peer);
}

/* Put an entry into the index; false when its group is full. */
static bool index_insert(struct table *t, uint32_t hash, uint32_t number)
{
	uint32_t home = hash_bucket(t, hash), bucket = home;

	for (unsigned i = 0; i < GROUP_BUCKETS; i++, bucket = bucket_next(bucket)) {
		uint32_t empty = simd_match15_zero(t->bucket[bucket]);

		if (!empty)
			continue;
		t->bucket[bucket][__builtin_ctz(empty)] = hash_tag(t, hash) | (number + 1);
		for (; home != bucket; home = bucket_next(home))
			t->bucket[home][OVERFLOWED]++;
		return true;
	}
	return false;
}

static void index_remove(struct table *t, uint32_t hash, uint32_t number)
{
	uint32_t home = hash_bucket(t, hash), bucket = home;
	uint32_t entry = hash_tag(t, hash) | (number + 1);

	for (unsigned i = 0; i < GROUP_BUCKETS; i++, bucket = bucket_next(bucket)) {
		uint32_t match = simd_match15(t->bucket[bucket], ~0u, entry);

		if (!match)
			continue;
		t->bucket[bucket][__builtin_ctz(match)] = 0;
		for (; home != bucket; home = bucket_next(home))
			t->bucket[home][OVERFLOWED]--;
		return;
	}
	require(!"the record is in the index");
}

/* Split the next group in two: take all of its entries out, and put each where it now belongs. */
static void index_split(struct table *t)
{
	uint32_t numbers[GROUP_BUCKETS * BUCKET_SLOTS], count = 0;
	uint32_t(*group)[16] = &t->bucket[t->split * GROUP_BUCKETS];

	for (unsigned b = 0; b < GROUP_BUCKETS; b++)
		for (unsigned i = 0; i < BUCKET_SLOTS; i++)
			if (group[b][i]) {
				numbers[count++] = (group[b][i] & ~t->tag_mask) - 1;
				__builtin_prefetch(&t->conn[numbers[count - 1]]);
			}
	memset(group, 0, GROUP_BYTES);
	if (++t->split == t->level) {
		t->level *= 2;
		t->split = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		require(index_insert(t, table_hash(&t->conn[numbers[i]].tuple), numbers[i]));
}

static bool index_can_grow(const struct table *t)
{
	return t->level + t->split < t->groups_max;
}

/* Groups not yet split hold 1/level of the connections each. Splitting all of them is spread over
 * the new connections between SPLIT_FROM and GROUP_CONNS a group. */
static bool index_is_full(const struct table *t)
{
	return t->live >=
	       (uint64_t)t->level * SPLIT_FROM + (uint64_t)t->split * (GROUP_CONNS - SPLIT_FROM);
}

static uint32_t slot_take(struct table *t)
{
	uint32_t number = t->free;

	if (number != TABLE_NONE) {
		t->free = t->conn[number].next_free;
		return number;
	}
	return t->used < t->capacity ? t->used++ : TABLE_NONE;
}

static void slot_give(struct table *t, uint32_t number)
{
	t->conn[number].next_free = t->free;
	t->free = number;
}

struct conn *table_add(struct table *t, uint32_t hash, const struct tuple *tuple)
{
	uint32_t number = slot_take(t);
	struct conn *c;

	if (number == TABLE_NONE)
		return NULL;
	c = &t->conn[number];
	*c = (struct conn){.tuple = *tuple, .rtx = c->rtx, .app = c->app};
	if (index_is_full(t) && index_can_grow(t))
		index_split(t);
	while (!index_insert(t, hash, number)) {
		if (!index_can_grow(t)) {
			slot_give(t, number);
			return NULL;
		}
		index_split(t);
	}
	t->live++;
	return c;
}

void table_remove(struct table *t, struct conn *c)
{
	uint32_t number = table_number(t, c);

	if (c->has_side)
		table_return_side(t, c, 0);
	index_remove(t, table_hash(&c->tuple), number);
	c->state = CLOSED;
	t->live--;
	if (!(c->app && t->hold_app))
		slot_give(t, number);
}

void table_reminded(struct table *t, struct conn *c, bool app)
{
	if (!app) {
		c->rtx = 0;
		return;
	}
	c->app = 0;
	if (t->hold_app)
		slot_give(t, table_number(t, c));
}

bool table_borrow_side(struct table *t, struct conn *c)
{
	uint32_t number = t->side_free, next_ready;
	struct side *side;
	bool ready, timed;

	if (number != TABLE_NONE)
		t->side_free = t->side[number].conn;
	else if (t->side_used < t->side_capacity)
		number = t->side_used++;
	else
		return false;
	t->side_live++;
	side = &t->side[number];
	next_ready = side->next_ready;
	ready = side->ready;
	timed = side->timed;
	memset(side, 0, offsetof(struct side, queue[1]));
	side->conn = table_number(t, c);
	side->next_ready = next_ready;
	side->requests = c->requests;
	side->live = 1;
	side->ready = ready;
	side->timed = timed;
	side->snd_una = c->snd_nxt - c->flight;
	side->snd_max = c->snd_nxt;
	c->has_side = 1;
	c->side = number;
	return true;
}

void table_return_side(struct table *t, struct conn *c, uint16_t flight)
{
	uint32_t number = c->side;
	struct side *side = &t->side[number];

	c->has_side = 0;
	c->flight = flight;
	c->requests = side->requests;
	side->live = 0;
	side->conn = t->side_free;
	t->side_free = number;
	t->side_live--;
}

uint64_t table_touched(const struct table *t)
{
	return (uint64_t)t->used * record_bytes(t->peer6) +
	       (uint64_t)(t->level + t->split) * GROUP_BYTES +
	       (uint64_t)t->side_used * sizeof(struct side);
}
