/* Players: opened before any device is touched, so that a recording with nothing to send costs
 * nothing; what is odd about a recording is said once, then. */
#include "player_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "result.h"

#define LONG_NS 3600000000000u /* a replay that takes longer is worth a warning */

static void truncated_say(const char *name, const struct player *player)
{
	const struct player_counts *c = player_counts(player);
	const char *what = c->truncated ? "sent as they are"
			   : c->padded  ? "made whole with zeros"
					: "left out";
	uint64_t count = c->truncated + c->padded + c->skipped[SKIPPED_TRUNCATED];

	if (count)
		fprintf(stderr,
			"onager: %s: %" PRIu64 " of %" PRIu64
			" packets were not captured whole and are %s (the first: %s)\n",
			name, count, c->records - c->filtered, what,
			player_first_truncated(player));
}

static void length_say(const char *name, const struct player *player,
		       const struct replay_options *options)
{
	const struct player_counts *c = player_counts(player);

	if (c->length < LONG_NS || options->topspeed)
		return;
	fprintf(stderr,
		"onager: %s: a loop takes %.0f s, its longest gap %.0f s: max_gap would bound it\n",
		name, (double)c->length / 1e9, (double)c->longest_gap / 1e9);
}

static void problems_say(const char *name, const struct player *player)
{
	const struct player_counts *c = player_counts(player);

	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++) {
		if (!c->problem[i])
			continue;
		fprintf(stderr, "onager: %s: %s", name, player_first(player, i));
		if (c->problem[i] > 1)
			fprintf(stderr, " (and %" PRIu64 " more like this)", c->problem[i] - 1);
		putc('\n', stderr);
	}
}

static void result_note(struct replay_result *result, const struct player *player,
			const struct replay_options *options)
{
	result->loop = *player_counts(player);
	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++) {
		if (!result->loop.problem[i])
			continue;
		result->problem[i] = reader_problem_info[i].name;
		if (reader_problem_info[i].class != READER_WARNING && !options->allow_incomplete &&
		    !result->incomplete)
			result->incomplete = player_first(player, i);
	}
}

static int player_add(struct player_set *set, unsigned i, bool virtual, struct err *err)
{
	const struct config_traffic *t = &set->config->traffic[i];
	const struct config_port *port = &set->config->port[t->port];
	const struct config_port *second =
		t->replay.two_ports ? &set->config->port[t->replay.server_port] : NULL;
	struct player_setup setup = {
		.mtu = port->mtu, .workers = virtual ? 1 : port->cores, .never_streamed = virtual};

	if (second) {
		setup.server_mtu = second->mtu;
		setup.server_workers = virtual ? 1 : second->cores;
	}
	set->player[i] = player_open(&t->replay, &setup, err);
	if (!set->player[i])
		return err_prefix(err, "%s: ", t->name);
	result_note(&set->result[i], set->player[i], &t->replay);
	truncated_say(t->name, set->player[i]);
	problems_say(t->name, set->player[i]);
	length_say(t->name, set->player[i], &t->replay);
	return 0;
}

int player_set_open(struct player_set *set, const struct config *config, bool virtual,
		    struct err *err)
{
	*set = (struct player_set){
		.config = config,
		.player = calloc(config->traffics + 1, sizeof(*set->player)),
		.result = calloc(config->traffics + 1, sizeof(*set->result)),
	};
	if (!set->player || !set->result)
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].kind == REPLAY && player_add(set, i, virtual, err))
			return -1;
	return conversation_set_open(&set->conversations, config, stderr, err);
}

int player_set_start(struct player_set *set, struct err *err)
{
	for (unsigned i = 0; i < set->config->traffics; i++)
		if (set->player[i] && player_start(set->player[i], err))
			return -1;
	return 0;
}

struct tape **player_set_tapes(struct player_set *set, unsigned port, unsigned worker,
			       struct tape **tapes)
{
	for (unsigned i = 0; i < set->config->traffics; i++)
		tapes[i] = set->player[i] && traffic_uses_port(&set->config->traffic[i], port)
				   ? player_tape(set->player[i],
						 set->config->traffic[i].port != port, worker)
				   : NULL;
	return tapes;
}

void player_set_compare(struct player_set *set)
{
	for (unsigned i = 0; i < set->config->traffics; i++)
		if (set->player[i])
			set->result[i].is_compared =
				player_compare(set->player[i], &set->result[i].compared);
}

void player_set_close(struct player_set *set)
{
	for (unsigned i = 0; set->player && i < set->config->traffics; i++)
		player_close(set->player[i]);
	free(set->player);
	free(set->result);
	conversation_set_close(&set->conversations);
	*set = (struct player_set){.config = NULL};
}
