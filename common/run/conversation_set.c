/* Recordings of conversations: those that two entries name alike - the client's and the server's,
 * as a rule - are read once. */
#include "conversation_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool text_is(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool options_are(const struct script_options *a, const struct script_options *b)
{
	if (a->files != b->files || a->flow != b->flow || a->weigh != b->weigh ||
	    a->think_factor != b->think_factor || a->max_think != b->max_think ||
	    a->memory != b->memory || !text_is(a->filter, b->filter))
		return false;
	for (unsigned i = 0; i < a->files; i++)
		if (!text_is(a->file[i], b->file[i]))
			return false;
	return true;
}

static void problems_say(FILE *out, const char *name, const struct conversations *c)
{
	const struct script_counts *counts = conversations_counts(c);

	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++)
		if (conversations_problem(c, i))
			fprintf(out, "onager: %s: %s\n", name, conversations_problem(c, i));
	for (unsigned i = 0; i < SCRIPT_REFUSALS; i++) {
		if (!counts->refused[i])
			continue;
		fprintf(out, "onager: %s: left out: %s", name, conversations_refused(c, i));
		if (counts->refused[i] > 1)
			fprintf(out, " (and %" PRIu64 " more like this)", counts->refused[i] - 1);
		putc('\n', out);
	}
}

/* A file that ends in an error, or a connection that cannot be played. */
static const char *incomplete(const struct conversations *c)
{
	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++)
		if (reader_problem_info[i].class != READER_WARNING && conversations_problem(c, i))
			return conversations_problem(c, i);
	for (unsigned i = 0; i < SCRIPT_REFUSALS; i++)
		if (conversations_refused(c, i))
			return conversations_refused(c, i);
	return NULL;
}

static int entry_add(struct conversation_set *set, unsigned i, FILE *out, struct err *err)
{
	const struct config_traffic *t = &set->config->traffic[i];
	struct conversations *c = NULL;

	for (unsigned j = 0; j < i && !c; j++)
		if (set->conversation[j] &&
		    options_are(&t->conversation, &set->config->traffic[j].conversation))
			c = set->conversation[j];
	if (!c) {
		c = conversations_open(&t->conversation, err);
		if (!c)
			return err_prefix(err, "%s: ", t->name);
		if (out)
			problems_say(out, t->name, c);
	}
	set->conversation[i] = c;
	set->scripts[i] = conversations_scripts(c);
	set->result[i] = (struct conversation_result){
		.counts = conversations_counts(c),
		.incomplete = t->conversation.allow_incomplete ? NULL : incomplete(c),
		.longest_wait = set->scripts[i]->longest_wait};
	return 0;
}

int conversation_set_open(struct conversation_set *set, const struct config *config, FILE *out,
			  struct err *err)
{
	*set = (struct conversation_set){
		.config = config,
		.conversation = calloc(config->traffics + 1, sizeof(*set->conversation)),
		.scripts = calloc(config->traffics + 1, sizeof(*set->scripts)),
		.result = calloc(config->traffics + 1, sizeof(*set->result)),
	};
	if (!set->conversation || !set->scripts || !set->result)
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	for (unsigned i = 0; i < config->traffics; i++)
		if (traffic_is_conversation(config->traffic[i].kind) && entry_add(set, i, out, err))
			return -1;
	return 0;
}

void conversation_set_close(struct conversation_set *set)
{
	for (unsigned i = 0; set->conversation && i < set->config->traffics; i++) {
		for (unsigned j = i + 1; j < set->config->traffics; j++)
			if (set->conversation[j] == set->conversation[i])
				set->conversation[j] = NULL;
		conversations_close(set->conversation[i]);
	}
	free(set->conversation);
	free(set->scripts);
	free(set->result);
	*set = (struct conversation_set){.config = NULL};
}
