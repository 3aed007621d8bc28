/* Bodies: documents of an exact length, as a function of the offset.
 *
 * A body is a text in front, a unit repeated and cut to length, and a text behind, so that 1 GiB of
 * well-formed JSON takes a few KiB. The texts lie in a store, which is written twice: once without
 * memory, to learn how much it takes. */
#ifndef STATEFUL_BODY_H
#define STATEFUL_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "../common/base/rng.h"
#include "../common/base/sensitive.h"
#include "../common/config/config.h"

/* Text that grows: with `text` NULL it only measures. */
struct store {
	char *text;
	size_t length;
};

/* Append; returns where it lies (NULL while measuring). */
char *store_add(struct store *, const void *data, size_t length);
char *store_format(struct store *, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct text_piece {
	const char *text;
	uint32_t length;
};

struct body {
	struct text_piece head, unit, tail;
	uint64_t middle; /* bytes of the unit's repetition */
	uint32_t wrap;   /* so many of them lie behind the unit once more */
	uint16_t items[SENSITIVE_KINDS];
};

static inline uint64_t body_length(const struct body *b)
{
	return b->head.length + b->middle + b->tail.length;
}

/* What a body is made of, beside its length. */
struct body_rule {
	enum config_content content;
	unsigned sensitive, per_response; /* as struct config_message has them */
	const struct config_bytes *file;
	unsigned number; /* bodies with numbers next to each other differ, if they have a byte */
};

/* Make a body of `size` bytes in the store. */
void body_make(struct body *, const struct body_rule *, uint64_t size, struct rng *,
	       struct store *);

/* The same body in chunks (RFC 9112 section 7.1), or gzip-encoded (RFC 1952). */
void body_chunk(struct body *, struct store *);
void body_gzip(struct body *, struct store *);

/* Store the unit so that any `max` bytes of its repetition lie somewhere in one piece. */
void body_wrap(struct body *, uint32_t max, struct store *);

/* Where length bytes from offset on lie in one piece; NULL: nowhere. */
const char *body_bytes(const struct body *, uint32_t offset, uint32_t length);

/* Write length bytes from offset on. */
void body_write(const struct body *, uint64_t offset, char *to, uint64_t length);

/* "text/html; charset=utf-8" etc.; NULL: nothing is said. */
const char *content_type(enum config_content);
/* "html" etc. */
extern const char *const content_name[CONTENTS];

#endif
