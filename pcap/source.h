/* The bytes of a file, pipe or standard input, gzip and zstd undone: a window that moves forward.
 *
 * Memory is constant whatever the stream holds. Offsets count uncompressed bytes. */
#ifndef PCAP_SOURCE_H
#define PCAP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/base/err.h"

/* The most that can be looked at in one piece. */
#define SOURCE_PEEK_MAX (1u << 20)

struct unpacker;

struct source {
	uint8_t *begin, *end;      /* what is read and not yet taken */
	uint64_t offset;           /* of *begin in the stream */
	uint8_t *window;           /* 16 bytes in front of it may be written, too */
	struct unpacker *unpacker; /* NULL: not compressed */
	int fd;
	bool damaged;    /* the compressed data are wrong, error says how */
	char error[128]; /* why reading ended before the end, or empty */
};

/* Open path ("-": standard input) and look at its first bytes. Returns 0, or -1 with err. */
int source_open(struct source *, const char *path, struct err *);

void source_close(struct source *);

/* Slow part of source_peek(). */
uint8_t *source_fill(struct source *, size_t need);

/* The next need bytes (at most SOURCE_PEEK_MAX), valid and writable until the next call; NULL if
 * the stream has fewer, or `error` is set: what there is of them lies between begin and end. */
static inline uint8_t *source_peek(struct source *source, size_t need)
{
	if (__builtin_expect((size_t)(source->end - source->begin) >= need, 1))
		return source->begin;
	return source_fill(source, need);
}

/* Step over bytes that source_peek() has shown. */
static inline void source_take(struct source *source, size_t count)
{
	source->begin += count;
	source->offset += count;
}

/* Step over any number of bytes; returns how many there were. */
uint64_t source_skip(struct source *, uint64_t count);

static inline size_t source_left(const struct source *source)
{
	return (size_t)(source->end - source->begin);
}

/* When source_peek() returned NULL: true if nothing is left and nothing is wrong. */
static inline bool source_is_ended(const struct source *source)
{
	return source->begin == source->end && !source->error[0];
}

#endif
