/* Moving the window of seen numbers up: words that come into use are cleared first.
 *
 * Rejected: a bit for every number ever sent (300 MB after a minute at full rate) and a sorted list
 * of gaps (short when little is lost, and slow just when much is). */
#include "track.h"

#include <string.h>

void track_advance(struct track *t, uint64_t word)
{
	if (word - t->top >= TRACK_WORDS)
		memset(t->word, 0, sizeof t->word);
	else
		while (t->top < word)
			t->word[++t->top % TRACK_WORDS] = 0;
	t->top = word;
}
