/* Blasts, sinks and streams in the summary. */
#include "screen_stream.h"

#include "report_replay.h"
#include "report_stream.h"

static void put_count(FILE *out, const char *name, uint64_t count)
{
	char number[REPORT_THOUSANDS_MAX];

	fprintf(out, "  %s %s", name, report_thousands(number, count));
}

void screen_stateless(FILE *out, const struct result *r, unsigned i)
{
	const struct config_traffic *traffic = &r->config->traffic[i];
	const struct tally *tally = &r->traffic[i].level.connection;
	const struct rate none = {0};
	struct report_achieved achieved;
	char counts[REPORT_COUNTS_MAX];
	bool blast = traffic->kind == UDP_BLAST;

	if (traffic->kind == REPLAY) {
		screen_replay(out, r, i);
		return;
	}
	report_achieved(r, i, &achieved);
	fputs("  achieved    ", out);
	screen_rate(out, "", "pps", achieved.pps, blast ? traffic->load.pps : none);
	screen_rate(out, "  ", "bits/s", achieved.bps_rx + achieved.bps_tx,
		    blast ? traffic->load.bps : none);
	fputs("\n  packets   ", out);
	if (blast) {
		put_count(out, "wanted", tally->offered + tally_not_offered(tally));
		put_count(out, "offered", tally->offered);
		put_count(out, "not offered", tally_not_offered(tally));
	} else {
		put_count(out, "received", tally->offered);
		put_count(out, "foreign", r->blast ? r->blast[i].foreign : 0);
		put_count(out, "corrupt", r->blast ? r->blast[i].corrupt : 0);
	}
	putc('\n', out);
	if (*report_counts(counts, tally->not_offered, not_offered_name, NOT_OFFERED_COUNT, true))
		fprintf(out, "              not offered: %s\n", counts);
	if (!blast || !r->blast || !r->blast[i].lateness.count)
		return;
	screen_latency_head(out);
	screen_latency(out, "lateness", &r->blast[i].lateness);
}

void screen_streams(FILE *out, const struct result *r)
{
	for (unsigned i = 0; i < r->streams; i++) {
		const struct stream_result *stream = &r->stream[i];

		if (!stream->judged)
			continue;
		fprintf(out, "stream %s\n  packets   ", stream_name(r, stream));
		put_count(out, "sent", stream->sent);
		put_count(out, "unique", stream->unique);
		put_count(out, "lost", stream->lost);
		put_count(out, "late", stream->late);
		put_count(out, "duplicate", stream->duplicate);
		put_count(out, "corrupt", stream->corrupt);
		putc('\n', out);
		if (!stream->latency.count)
			continue;
		screen_latency_head(out);
		screen_latency(out, "one way", &stream->latency);
		screen_latency(out, "jitter", &stream->jitter);
	}
}
