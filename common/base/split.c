/* See split.h. */
#include "split.h"

#include <stdlib.h>

#include "require.h"

unsigned split_status(struct split *split, uint16_t code)
{
	unsigned i = 0;

	while (i < SPLIT_STATUSES - 1 && split->code[i] && split->code[i] != code)
		i++;
	if (i < SPLIT_STATUSES - 1)
		split->code[i] = code;
	return i;
}

static void part_add(struct part *to, const struct part *from)
{
	to->offered += from->offered;
	to->succeeded += from->succeeded;
	to->failed += from->failed;
	hist_merge(&to->first_byte, &from->first_byte);
	hist_merge(&to->response, &from->response);
}

static struct split *split_new(const struct split *like)
{
	struct split *split = calloc(1, sizeof(*split));

	require(split);
	split->sources = like->sources;
	split->lines = like->lines;
	split->source = calloc(like->sources, sizeof(*split->source));
	split->fate = calloc(like->lines + 1, sizeof(*split->fate));
	require(split->source && split->fate);
	return split;
}

/* Of a server: how often each content was sent. */
static void sent_add(struct split *to, const struct split *from)
{
	for (uint32_t i = 0; i < from->contents; i++) {
		const struct content *content = &from->content[i];
		uint64_t all = from->sent[i][0] + from->sent[i][1];

		if (!all)
			continue;
		if (!content->is_request) {
			to->source[content->source].offered += all;
			to->status[split_status(to, content->status)].offered += all;
		}
		to->type[content->type] += all;
		for (unsigned kind = 0; kind < SENSITIVE_KINDS; kind++)
			to->items[kind] += from->sent[i][0] * content->items[kind];
	}
}

void split_merge(struct split **to, const struct split *from)
{
	if (!*to)
		*to = split_new(from);
	sent_add(*to, from);
	for (uint32_t i = 0; i < from->sources; i++)
		part_add(&(*to)->source[i], &from->source[i]);
	for (unsigned i = 0; i < SPLIT_STATUSES; i++)
		if (from->code[i] || i == SPLIT_STATUSES - 1)
			part_add(&(*to)->status[from->code[i] ? split_status(*to, from->code[i])
							      : i],
				 &from->status[i]);
	for (uint32_t i = 0; i < from->lines; i++)
		for (unsigned fate = 0; fate < PAYLOAD_FATES; fate++)
			(*to)->fate[i][fate] += from->fate[i][fate];
}

void split_free(struct split *split)
{
	if (!split)
		return;
	free(split->source);
	free(split->fate);
	free(split);
}
