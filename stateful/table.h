/* The connection table: records, their index by 4-tuple, and side records. Of IPv6 connections the
 * peers' addresses stand beside the records: 48 bytes together.
 *
 * Memory is address space reserved once and touched as used: records are handed out from the lowest
 * up and reused last-freed-first, so a table of a thousand live connections stays in the cache
 * whatever its capacity. The index grows with the connections (see table.c). */
#ifndef STATEFUL_TABLE_H
#define STATEFUL_TABLE_H

#include <stddef.h>

#include "../common/base/arena.h"
#include "../common/base/simd.h"
#include "conn.h"

#define TABLE_NONE UINT32_MAX

struct table {
	struct conn *conn;
	u128 *peer6; /* by record; NULL: none can be IPv6 */
	uint32_t capacity;
	uint32_t used; /* slots ever handed out: conn[used] and up are untouched */
	uint32_t live;
	uint32_t free; /* head of the list of closed slots */
	/* Think and idle times differ between traffic entries: a closed slot with an `app` entry in
	 * the wheel is not reused before that has come, or a short time could wait for a long one.
	 */
	bool hold_app;
	/* index: groups of 64 buckets of one cache line */
	uint32_t (*bucket)[16];
	uint32_t groups_max;
	uint32_t level;    /* groups when the present doubling began, a power of two */
	uint32_t split;    /* how many of them have been split */
	uint32_t tag_mask; /* the bits of an index entry that hold hash, not record number ... */
	uint32_t tag_one;  /* ... and the lowest of them, always set */
	/* side records */
	struct side *side;
	uint32_t side_capacity, side_used, side_live, side_free;
	uint32_t side_high; /* with so many in use nothing is launched: the rest is for recovery */
};

/* Bytes that table_init() takes from the arena, and bytes touched with all connections open. */
size_t table_reserve(uint64_t connections, uint64_t sides, bool ip6);
size_t table_bytes(uint64_t connections, bool ip6);

/* `expected` connections are provided for from the start; more grow the index. -1: no memory. */
int table_init(struct table *, struct arena *, uint32_t connections, uint32_t expected,
	       uint32_t sides, bool ip6);

static inline uint32_t table_hash(const struct tuple *t)
{
	return simd_hash(tuple_addresses(t), tuple_ports(t));
}

/* Stage 1 and 2 of a burst: bring the index line, whose number is returned, then the likely record,
 * into the cache. */
uint32_t table_prefetch_index(const struct table *, uint32_t hash);
uint32_t table_guess(const struct table *, uint32_t hash, uint32_t bucket);

/* The record of a tuple, or TABLE_NONE. */
uint32_t table_find(const struct table *, uint32_t hash, const struct tuple *);

/* The same of IPv6: the peer's address must be this. */
uint32_t table_find6(const struct table *, uint32_t hash, const struct tuple *, u128 peer);

/* A record for a new tuple, in the index; all other fields but rtx and app are zero. NULL when
 * full. */
struct conn *table_add(struct table *, uint32_t hash, const struct tuple *);

/* Take a record out of the index and free it. */
void table_remove(struct table *, struct conn *);

/* The wheel's entry for a closed slot has come: `app` says which of the two. */
void table_reminded(struct table *, struct conn *, bool app);

static inline uint32_t table_number(const struct table *t, const struct conn *c)
{
	return (uint32_t)(c - t->conn);
}

/* Borrow a side record for a connection without one; false when the pool is empty. */
bool table_borrow_side(struct table *, struct conn *);
/* Give it back: what is outstanding must fit the record again. */
void table_return_side(struct table *, struct conn *, uint16_t flight);

static inline struct side *table_side(const struct table *t, const struct conn *c)
{
	return &t->side[c->side];
}

/* Bytes of records, index and side records touched so far. */
uint64_t table_touched(const struct table *);

#endif
