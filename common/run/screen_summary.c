/* The end of a run on the screen: what was asked for and what came of it, and the verdict.
 *
 * As text, a table a person reads; as JSON, one last line with the verdict. CSV has none: its lines
 * are all of one kind, and the exit code says it. */
#include "report.h"

#include "report_conversation.h"
#include "report_json.h"
#include "screen_stream.h"

#include <inttypes.h>

#define LABEL 14 /* width of the first column */

static void put_label(FILE *out, const char *label)
{
	fprintf(out, "  %-*s", LABEL - 2, label);
}

/* "1,234,567.8": thousands and one decimal. */
static const char *real_text(char *text, double value)
{
	char whole[REPORT_THOUSANDS_MAX];
	uint64_t tenths = (uint64_t)(value * 10 + 0.5);

	report_thousands(whole, tenths / 10);
	if (tenths % 10)
		sprintf(text, "%s.%u", whole, (unsigned)(tenths % 10));
	else
		sprintf(text, "%s", whole);
	return text;
}

#define REAL_MAX (REPORT_THOUSANDS_MAX + 2)

void screen_rate(FILE *out, const char *gap, const char *name, double achieved, struct rate target)
{
	char text[REAL_MAX];
	double wanted;

	fprintf(out, "%s%s %s", gap, name, real_text(text, achieved));
	if (rate_is_max(target)) {
		fputs(" of max", out);
	} else if (target.den && target.num) {
		wanted = (double)target.num / (double)target.den;
		fprintf(out, " of %s (%.1f %%)", real_text(text, wanted), 100 * achieved / wanted);
	}
}

/* What was asked for against what was reached, of the steady phase. */
static void put_achieved(FILE *out, const struct result *r, unsigned i)
{
	const struct config_load *load = &r->config->traffic[i].load;
	struct rate concurrency = {load->concurrency, load->concurrency != 0};
	const struct rate none = {0};
	struct report_achieved achieved;
	char rx[REAL_MAX], tx[REAL_MAX];

	report_achieved(r, i, &achieved);
	put_label(out, "achieved");
	screen_rate(out, "", "cps", achieved.cps, load->cps);
	screen_rate(out, "  ", "rps", achieved.rps, load->rps);
	screen_rate(out, "  ", "concurrency", achieved.concurrency, concurrency);
	putc('\n', out);
	put_label(out, "");
	if (load->bps.den)
		screen_rate(out, "", "bps",
			    achieved.bps_rx > achieved.bps_tx ? achieved.bps_rx : achieved.bps_tx,
			    load->bps);
	else
		screen_rate(out, "", "bits/s", achieved.bps_rx + achieved.bps_tx, none);
	fprintf(out, "  (received %s, sent %s)\n", real_text(rx, achieved.bps_rx),
		real_text(tx, achieved.bps_tx));
}

static void put_tally(FILE *out, const char *label, const struct tally *tally, bool client)
{
	char number[REPORT_THOUSANDS_MAX], counts[REPORT_COUNTS_MAX];

	put_label(out, label);
	if (client)
		fprintf(out, "wanted %s  ",
			report_thousands(number, tally->offered + tally_not_offered(tally)));
	fprintf(out, "%s %s  ", client ? "offered" : "received",
		report_thousands(number, tally->offered));
	fprintf(out, "succeeded %s  ", report_thousands(number, tally->succeeded));
	fprintf(out, "failed %s\n", report_thousands(number, tally_failed(tally)));
	if (*report_counts(counts, tally->failed, failed_name, FAILED_COUNT, true)) {
		put_label(out, "");
		fprintf(out, "failed: %s\n", counts);
	}
	if (*report_counts(counts, tally->not_offered, not_offered_name, NOT_OFFERED_COUNT, true)) {
		put_label(out, "");
		fprintf(out, "not offered: %s\n", counts);
	}
}

void screen_latency_head(FILE *out)
{
	put_label(out, "latency, us");
	fprintf(out, "%14s %9s %9s %9s %9s %9s %9s %9s\n", "count", "min", "mean", "p50", "p90",
		"p99", "p99.9", "max");
}

void screen_latency(FILE *out, const char *label, const struct hist *h)
{
	static const double quantile[] = {0.5, 0.9, 0.99, 0.999};
	char count[REPORT_THOUSANDS_MAX];

	put_label(out, label);
	fprintf(out, "%14s %9.1f %9.1f", report_thousands(count, h->count), (double)h->min / 1e3,
		h->count ? (double)h->sum / (double)h->count / 1e3 : 0.0);
	for (unsigned i = 0; i < sizeof(quantile) / sizeof(quantile[0]); i++)
		fprintf(out, " %9.1f", (double)hist_quantile(h, quantile[i]) / 1e3);
	fprintf(out, " %9.1f\n", (double)h->max / 1e3);
}

static void put_traffic(FILE *out, const struct result *r, unsigned i)
{
	const struct config_traffic *traffic = &r->config->traffic[i];
	const struct traffic_stats *stats = &r->traffic[i];
	bool client = traffic_is_client(traffic->kind);

	fprintf(out, "%s (%s on port %s)\n", traffic->name, traffic_kind_name(traffic->kind),
		r->config->port[traffic->port].name);
	if (traffic_is_stateless(traffic->kind)) {
		screen_stateless(out, r, i);
		return;
	}
	put_achieved(out, r, i);
	if (traffic->kind != UDP_SERVER)
		put_tally(out, "connections", &stats->level.connection, client);
	if (traffic_is_conversation(traffic->kind))
		screen_conversation(out, r, i);
	else
		put_tally(out, "requests", &stats->level.request, client);
	if (!client)
		return;
	screen_latency_head(out);
	if (traffic->kind != UDP_CLIENT) {
		screen_latency(out, "connect", &stats->connect);
		screen_latency(out, "first byte", &stats->first_byte);
	}
	screen_latency(out, "response", &stats->response);
}

static void put_drops(FILE *out, const struct result *r)
{
	const struct counters *total = &r->total.counters;
	char number[REPORT_THOUSANDS_MAX];
	bool any = false;

	for (unsigned i = DROP_NONE + 1; i < DROP_COUNT; i++) {
		if (!total->drop[i])
			continue;
		if (!any)
			fputs("received packets dropped\n", out);
		any = true;
		fprintf(out, "  %12s  %s: %s\n", report_thousands(number, total->drop[i]),
			drop_info[i].name, drop_info[i].help);
	}
}

static void put_captures(FILE *out, const struct result *r)
{
	char written[REPORT_THOUSANDS_MAX], shown[REPORT_THOUSANDS_MAX];

	for (unsigned i = 0; i < r->captures; i++)
		fprintf(out, "captured %s of %s %s in %s\n",
			report_thousands(written, r->capture[i].written),
			report_thousands(shown, r->capture[i].shown),
			r->capture[i].is_drops ? "dropped packets" : "packets", r->capture[i].file);
}

static void put_verdict(FILE *out, const struct verdict *verdict)
{
	fprintf(out, "verdict: %s\n", verdict->word);
	for (unsigned i = 0; i < verdict->reasons; i++)
		fprintf(out, "  %s\n", verdict->reason[i]);
}

static void put_text(FILE *out, const struct result *r, const struct verdict *verdict)
{
	fprintf(out, "== result: ramp %.3f s, steady %.3f s, drain %.3f s%s\n",
		(double)r->ramp / 1e9, (double)r->steady / 1e9, (double)r->drain / 1e9,
		r->interrupted ? ", interrupted" : "");
	for (unsigned i = 0; i < r->config->traffics; i++)
		put_traffic(out, r, i);
	screen_streams(out, r);
	put_drops(out, r);
	put_captures(out, r);
	put_verdict(out, verdict);
}

static void put_json(FILE *out, const struct verdict *verdict)
{
	struct json_sink json;
	struct sink *s = &json.sink;

	json_sink_init(&json, out, true);
	sink_begin(s, NULL, SINK_OBJECT);
	report_walk_verdict(s, verdict);
	sink_end(s);
	putc('\n', out);
}

void screen_summary(struct screen *screen, const struct result *r, const struct verdict *verdict)
{
	if (screen->format == FORMAT_TEXT)
		put_text(screen->out, r, verdict);
	else if (screen->format == FORMAT_JSON)
		put_json(screen->out, verdict);
	else /* a line that is none of the table would spoil it */
		put_verdict(stderr, verdict);
	fflush(screen->out);
}
