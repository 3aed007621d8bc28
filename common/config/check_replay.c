/* Checks of a replay: one way to say when packets are due, and when the run ends. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#define EVER (3650ull * 86400 * 1000000000)

static const struct where *replay_spot(struct reader *r, struct spot *s, unsigned i,
				       const char *key)
{
	return spot_find(r, s, "traffic", i, key, NULL);
}

static bool replay_spot_is(struct reader *r, unsigned i, const char *key)
{
	struct spot s;

	return replay_spot(r, &s, i, key)->node != NULL;
}

/* What tells the servers must be there. */
static void split_check(struct reader *r, unsigned i)
{
	const struct replay_split *split = &r->config->traffic[i].replay.split;
	struct spot s;

	if (split->by == SPLIT_ADDRESS && !split->servers.ranges)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "split", "servers"),
			    PLACE_VALUE, "missing, expected the servers' addresses");
	if (split->by == SPLIT_PORT && !split->ports.ranges)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "split", "ports"),
			    PLACE_VALUE, "missing, expected the servers' ports");
	if (split->by == SPLIT_MAC && !split->has_mac)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "split", "mac"),
			    PLACE_VALUE, "missing, expected the servers' MAC address");
}

static void clock_check(struct reader *r, unsigned i)
{
	static const char *const key[] = {"speed", "pps", "bps", "bps_l1", "topspeed"};
	struct replay_options *o = &r->config->traffic[i].replay;
	struct spot s, last = {.key = {.node = NULL}};
	unsigned given = 0;

	for (unsigned n = 0; n < sizeof(key) / sizeof(*key); n++) {
		const cJSON *node = replay_spot(r, &s, i, key[n])->node;

		if (!node || cJSON_IsFalse(node))
			continue;
		replay_spot(r, &last, i, key[n]);
		given++;
	}
	if (given > 1)
		problem_add(r->document, &last.key, PLACE_KEY,
			    "expected one of speed, pps, bps, bps_l1 and topspeed, got %u", given);
	if (rate_is_max(o->speed) || rate_is_max(o->pps) || rate_is_max(o->bps) ||
	    rate_is_max(o->bps_l1))
		o->topspeed = true;
}

static void stdin_check(struct reader *r, unsigned i)
{
	unsigned given = 0;
	struct spot s;

	for (unsigned n = 0; n <= i; n++) {
		const struct replay_options *o = &r->config->traffic[n].replay;

		for (unsigned f = 0; f < o->files; f++)
			given += o->file[f] && strcmp(o->file[f], "-") == 0;
	}
	if (given > 1)
		problem_add(r->document, replay_spot(r, &s, i, "files"), PLACE_VALUE,
			    "standard input can be read once only");
}

/* The second port: one of two keys, another port than the first, and nobody else's. */
static void two_ports_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	struct replay_options *o = &t->replay;
	bool sends = replay_spot_is(r, i, "server_port");
	bool receives = replay_spot_is(r, i, "receive_port");
	const char *key = receives ? "receive_port" : "server_port";
	struct spot s;

	replay_spot(r, &s, i, key);
	o->two_ports = sends || receives;
	if (!o->two_ports)
		return;
	if (sends && receives)
		problem_add(r->document, &s.key, PLACE_KEY, "not together with server_port");
	else if (o->server_port == t->port)
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "expected another port than the replay's own");
	for (unsigned n = 0; n < r->config->traffics; n++)
		if (n != i && (traffic_uses_port(&r->config->traffic[n], o->server_port) ||
			       traffic_uses_port(&r->config->traffic[n], t->port)))
			problem_add(r->document, &s.key, PLACE_VALUE,
				    "a port that a replay listens to can have no other traffic, "
				    "and traffic[%u] is on one of both",
				    n);
	if (receives)
		o->split.by = SPLIT_NONE;
	split_check(r, i);
}

void replay_check(struct reader *r, unsigned i)
{
	struct replay_options *o = &r->config->traffic[i].replay;
	const struct where *w;
	struct spot s;

	clock_check(r, i);
	two_ports_check(r, i);
	stdin_check(r, i);
	w = replay_spot(r, &s, i, "files");
	if (cJSON_IsArray(w->node) && !o->files)
		problem_add(r->document, w, PLACE_VALUE, "expected at least one file");
	o->has_loop_gap = replay_spot(r, &s, i, "loop_gap")->node != NULL;
}

/* A run whose whole load has an end of its own ends with it. */
void duration_check(struct reader *r)
{
	struct config *c = r->config;
	struct where root = {.node = r->document->root};
	struct where at = {.up = &root, .key = "duration"};
	bool limited = false, endless = !c->traffics;

	for (unsigned i = 0; i < c->traffics; i++) {
		limited |= traffic_is_limited(&c->traffic[i]);
		endless |= traffic_is_client(c->traffic[i].kind) &&
			   !traffic_is_limited(&c->traffic[i]);
	}
	at.node = cJSON_GetObjectItemCaseSensitive(root.node, at.key);
	if (at.node || !cJSON_IsObject(root.node))
		return;
	c->duration = EVER;
	if (!limited || endless) {
		char *words = key_words(key_find(OBJECT_ROOT, at.key, KIND_ALL));

		problem_add(r->document, &at, PLACE_VALUE, "missing, expected %s", words);
		free(words);
	}
}
