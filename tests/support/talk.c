/* See talk.h. */
#define _GNU_SOURCE
#include "talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/checksum.h"

#define SCRIPTS_MAX 256
#define TURNS_MAX   64

static struct script script[SCRIPTS_MAX];
static struct script_file file;
static uint32_t order[SCRIPTS_MAX];
static struct script_set set;

void talk_end(void)
{
	for (uint32_t i = 0; i < set.scripts; i++) {
		for (unsigned side = 0; side < 2; side++) {
			free((char *)script[i].side[side].bytes);
			free(script[i].side[side].turn);
		}
	}
	set = (struct script_set){.scripts = 0};
}

void talk_begin(void)
{
	talk_end();
	set = (struct script_set){.script = script, .order = order, .file = &file, .files = 1};
}

/* The words of a turn; pattern bytes differ by script, side and place. */
static void say(struct script_side *side, uint32_t salt, const char *text, uint32_t length)
{
	char *bytes = realloc((char *)side->bytes, side->length + length + 1);

	assert_non_null(bytes);
	for (uint32_t i = 0; i < length; i++)
		bytes[side->length + i] =
			text ? text[i] : (char)((side->length + i) * 31 + salt * 7 + (i >> 8));
	side->bytes = bytes;
	side->length += length;
}

static uint32_t said(const struct script_side *side)
{
	uint32_t fins = 0;

	for (uint32_t i = 0; i < side->turns; i++)
		fins += side->turn[i].what == SCRIPT_FIN;
	return side->length + fins;
}

static void turn_add(struct script *s, const char *word)
{
	struct script_side *side = &s->side[word[0] == 's'], *far = &s->side[word[0] == 'c'];
	struct script_turn *turn = &side->turn[side->turns];
	unsigned ms = 0;
	int length = 0;

	assert_true(side->turns < TURNS_MAX);
	*turn = (struct script_turn){.need = said(far)};
	word++;
	if (*word == '&') {
		turn->need = side->turns ? turn[-1].need : 0;
		word++;
	}
	if (sscanf(word, "@%u%n", &ms, &length) == 1)
		word += length;
	turn->wait = ms * UINT64_C(1000000);
	if (set.longest_wait < turn->wait)
		set.longest_wait = turn->wait;
	if (*word == ':')
		say(side, set.scripts, word + 1, (uint32_t)strcspn(word + 1, " "));
	else if (*word == '#')
		say(side, set.scripts + (side == &s->side[1]), NULL, (uint32_t)atoi(word + 1));
	turn->what = *word == 'F' ? SCRIPT_FIN : *word == 'R' ? SCRIPT_RST : SCRIPT_DATA;
	turn->until = side->length;
	side->resets = *word == 'R';
	side->turns++;
}

void talk_add(const char *text)
{
	struct script *s = &script[set.scripts];
	char *words = strdup(text), *rest = words, *word;

	assert_true(set.scripts < SCRIPTS_MAX);
	*s = (struct script){0};
	for (unsigned i = 0; i < 2; i++)
		s->side[i].turn = calloc(TURNS_MAX, sizeof(struct script_turn));
	while ((word = strsep(&rest, " ")))
		if (*word)
			turn_add(s, word);
	free(words);
	for (unsigned i = 0; i < 2; i++) {
		struct script_side *side = &s->side[i];

		side->sum = checksum_sum(side->bytes, side->length);
		if (set.longest < side->length)
			set.longest = side->length;
	}
	set.scripts++;
}

static int client_compare(const void *a, const void *b)
{
	const struct script_side *p = &script[*(const uint32_t *)a].side[SCRIPT_CLIENT];
	const struct script_side *q = &script[*(const uint32_t *)b].side[SCRIPT_CLIENT];
	uint32_t length = p->length < q->length ? p->length : q->length;
	int compared = length ? memcmp(p->bytes, q->bytes, length) : 0;

	return compared ? compared : (p->length > q->length) - (p->length < q->length);
}

const struct script_set *talk_set(void)
{
	file = (struct script_file){.count = set.scripts};
	for (uint32_t i = 0; i < set.scripts; i++)
		order[i] = i;
	qsort(order, set.scripts, sizeof(*order), client_compare);
	return &set;
}
