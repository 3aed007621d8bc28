/* Samples fed in pieces, each from the very end of readable memory. Included after <cmocka.h>, once
 * per test program. */
#ifndef UNIT_HTTP_CUT_H
#define UNIT_HTTP_CUT_H

#include <string.h>

#include "guard.h"
#include "http_feed.h"
#include "http_samples.h"

static struct guard guard;

static inline void feed_guarded(struct feed *feed, const char *data, size_t length)
{
	feed_piece(feed, memcpy(guard.end - length, data, length), length);
}

/* Parse text in pieces that end at a, b and its end. */
static inline struct outcome cut(const struct sample *s, bool response, size_t a, size_t b)
{
	struct feed feed = feed_begin(response, response ? s->method : HTTP_GET);

	feed_guarded(&feed, s->text, a);
	feed_guarded(&feed, s->text + a, b - a);
	feed_guarded(&feed, s->text + b, strlen(s->text) - b);
	return feed_outcome(&feed);
}

static inline int open_memory(void **state)
{
	(void)state;
	guard_open(&guard);
	return 0;
}

static inline int close_memory(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

#endif
