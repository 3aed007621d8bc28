/* Which numbers of a lane were seen: a window of bits over the highest ones.
 *
 * A number less than TRACK_BOUND below the highest is judged rightly, whatever came in between;
 * what lies further back is TRACK_OLD. 8 KiB a lane, touched word by word as numbers go up. */
#ifndef STATELESS_TRACK_H
#define STATELESS_TRACK_H

#include <stdint.h>

#define TRACK_WORDS 1024u
#define TRACK_BOUND ((TRACK_WORDS - 1) * 64)

struct track {
	uint64_t next; /* highest number seen + 1 */
	uint64_t top;  /* the highest word in use; those up to TRACK_WORDS below it are valid */
	uint64_t word[TRACK_WORDS];
};

enum track_seen { TRACK_NEW, TRACK_LATE, TRACK_DUPLICATE, TRACK_OLD };

/* Make `word` the highest one. */
void track_advance(struct track *, uint64_t word);

static inline enum track_seen track_add(struct track *t, uint64_t number)
{
	uint64_t word = number / 64, bit = UINT64_C(1) << number % 64;

	if (__builtin_expect(number >= t->next, 1)) {
		if (word != t->top)
			track_advance(t, word);
		t->next = number + 1;
		t->word[word % TRACK_WORDS] |= bit;
		return TRACK_NEW;
	}
	if (t->top - word >= TRACK_WORDS)
		return TRACK_OLD;
	if (t->word[word % TRACK_WORDS] & bit)
		return TRACK_DUPLICATE;
	t->word[word % TRACK_WORDS] |= bit;
	return TRACK_LATE;
}

#endif
