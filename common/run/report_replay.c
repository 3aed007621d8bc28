/* A replay: wanted = sent + not offered + skipped, each with its reasons; how punctual it was; and
 * what its recording is, loop by loop. */
#include "report_replay.h"

#include <string.h>

#include "screen_stream.h"

static uint64_t sum(const uint64_t *count, unsigned n)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < n; i++)
		total += count[i];
	return total;
}

static const uint64_t *skips(const struct result *r, unsigned i)
{
	static const uint64_t none[SKIPPED_COUNT];

	return r->blast ? r->blast[i].skipped : none;
}

uint64_t replay_wanted(const struct result *r, unsigned i)
{
	const struct tally *tally = &r->traffic[i].level.connection;

	return tally->offered + tally_not_offered(tally) + sum(skips(r, i), SKIPPED_COUNT);
}

static void walk_target(struct sink *s, const struct replay_options *o)
{
	sink_begin_flat(s, "target", SINK_OBJECT);
	report_walk_target(s, "pps", o->pps);
	report_walk_target(s, "bps", o->bps);
	report_walk_target(s, "bps_l1", o->bps_l1);
	if (o->topspeed)
		sink_bool(s, "topspeed", true);
	else if (!o->pps.den && !o->bps.den && !o->bps_l1.den)
		report_walk_target(s, "speed", o->speed);
	sink_end(s);
}

static void walk_recording(struct sink *s, const struct replay_result *replay)
{
	const struct player_counts *c = &replay->loop;

	sink_begin(s, "recording", SINK_OBJECT);
	sink_count(s, "records", c->records);
	sink_count(s, "filtered", c->filtered);
	sink_count(s, "packets", c->packets);
	sink_count(s, "bytes", c->bytes);
	sink_count(s, "truncated", c->truncated);
	sink_count(s, "padded", c->padded);
	sink_count(s, "cut", c->cut);
	sink_count(s, "runts", c->runts);
	sink_count(s, "gaps_clamped", c->clamped);
	sink_real(s, "loop_s", (double)c->length / 1e9);
	sink_begin_flat(s, "problems", SINK_OBJECT);
	for (unsigned i = 0; i < READER_PROBLEMS; i++)
		if (replay->problem[i])
			sink_count(s, replay->problem[i], c->problem[i]);
	sink_end(s);
	sink_end(s);
}

static void walk_compared(struct sink *s, const struct player_compared *c)
{
	sink_begin_flat(s, "compared", SINK_OBJECT);
	sink_count(s, "sent", c->sent);
	sink_count(s, "received", c->received);
	sink_count(s, "lost", c->lost);
	sink_count(s, "duplicate", c->duplicate);
	sink_count(s, "foreign", c->foreign);
	sink_end(s);
}

void report_walk_replay(struct sink *s, const struct result *r, unsigned i)
{
	const struct tally *tally = &r->traffic[i].level.connection;
	struct report_achieved achieved;

	report_achieved(r, i, &achieved);
	walk_target(s, &r->config->traffic[i].replay);
	sink_begin_flat(s, "achieved", SINK_OBJECT);
	sink_real(s, "pps", achieved.pps);
	sink_real(s, "bps_tx", achieved.bps_tx);
	sink_end(s);
	sink_count(s, "wanted", replay_wanted(r, i));
	sink_count(s, "offered", tally->offered);
	sink_begin_flat(s, "not_offered", SINK_OBJECT);
	for (unsigned n = 0; n < NOT_OFFERED_COUNT; n++)
		sink_count(s, not_offered_name[n], tally->not_offered[n]);
	sink_end(s);
	sink_begin_flat(s, "skipped", SINK_OBJECT);
	for (unsigned n = 0; n < SKIPPED_COUNT; n++)
		sink_count(s, skipped_name[n], skips(r, i)[n]);
	sink_end(s);
	if (r->blast) {
		sink_count(s, "bytes", r->blast[i].bytes);
		sink_real(s, "elapsed_s", (double)r->blast[i].elapsed / 1e9);
		report_walk_latency(s, "lateness_us", &r->blast[i].lateness);
	}
	if (r->replay && r->replay[i].is_compared)
		walk_compared(s, &r->replay[i].compared);
	if (r->replay)
		walk_recording(s, &r->replay[i]);
}

static void put_count(FILE *out, const char *name, uint64_t count)
{
	char number[REPORT_THOUSANDS_MAX];

	fprintf(out, "  %s %s", name, report_thousands(number, count));
}

static void put_compared(FILE *out, const struct player_compared *c)
{
	fputs("  arrived   ", out);
	put_count(out, "received", c->received);
	put_count(out, "lost", c->lost);
	put_count(out, "duplicate", c->duplicate);
	put_count(out, "foreign", c->foreign);
	putc('\n', out);
}

void screen_replay(FILE *out, const struct result *r, unsigned i)
{
	const struct replay_options *o = &r->config->traffic[i].replay;
	const struct tally *tally = &r->traffic[i].level.connection;
	struct report_achieved achieved;
	char counts[REPORT_COUNTS_MAX];

	report_achieved(r, i, &achieved);
	fputs("  achieved    ", out);
	screen_rate(out, "", "pps", achieved.pps, o->pps);
	screen_rate(out, "  ", "bits/s", achieved.bps_tx, o->bps);
	fputs("\n  packets   ", out);
	put_count(out, "wanted", replay_wanted(r, i));
	put_count(out, "sent", tally->offered);
	put_count(out, "not offered", tally_not_offered(tally));
	put_count(out, "skipped", sum(skips(r, i), SKIPPED_COUNT));
	putc('\n', out);
	if (*report_counts(counts, tally->not_offered, not_offered_name, NOT_OFFERED_COUNT, true))
		fprintf(out, "              not offered: %s\n", counts);
	if (*report_counts(counts, skips(r, i), skipped_name, SKIPPED_COUNT, true))
		fprintf(out, "              skipped: %s\n", counts);
	if (r->replay && r->replay[i].is_compared)
		put_compared(out, &r->replay[i].compared);
	if (r->blast)
		fprintf(out,
			"  time          %.6f s from the first packet's time to the last sent\n",
			(double)r->blast[i].elapsed / 1e9);
	if (!r->blast || !r->blast[i].lateness.count)
		return;
	screen_latency_head(out);
	screen_latency(out, "lateness", &r->blast[i].lateness);
}
