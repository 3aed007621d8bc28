/* A report as a page: verdict and reasons, what was wanted and what became of it, charts, counters.
 *
 * The page holds no script and loads nothing, so it can be mailed and kept. It is HTML that is
 * well-formed XML as well. What the report has beside the members named here is shown by its own
 * names, so that a report of a later version loses nothing. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "../base/drop.h"
#include "page_chart.h"
#include "page_html.h"

static const char style[] =
	"body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:64em;padding:0 1em;"
	"background:#fff;color:#222}"
	"h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}"
	".verdict{padding:.6em 1em;border-radius:.4em;color:#fff;font-size:1.2em}"
	".pass{background:#2c8a4f}.fail{background:#c0392b}.invalid{background:#b07a00}"
	"table{border-collapse:collapse;margin:.6em 0}"
	"th,td{padding:.15em .7em;border-bottom:1px solid #8884;text-align:left;font-weight:normal}"
	"th{color:#777}td.n{text-align:right;font-variant-numeric:tabular-nums}"
	"figure{margin:1.2em 0}figcaption{font-weight:600}svg{width:100%;max-width:52em}"
	"svg text{font-size:11px;fill:#777}.y{text-anchor:end}.x{text-anchor:middle}"
	".grid{stroke:#8883}.phase{fill:#8882}polyline{fill:none;stroke-width:1.6}"
	".legend{margin:.2em 0;font-size:.9em}.wrong{color:#c0392b;font-weight:600}"
	"pre{overflow:auto;background:#8881;padding:.8em}"
	"@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}}";

const char *page_fault(const struct json *report)
{
	const char *verdict = json_text(json_get(report, "verdict"));
	static const char *const object[] = {"total", "steady", "traffic", "phases"};
	static const char *const list[] = {"reasons", "intervals"};

	if (!json_is_object(report) || !json_text(json_get(report, "onager")))
		return "no report of Onager: expected an object with the version in \"onager\"";
	if (!verdict ||
	    (strcmp(verdict, "pass") && strcmp(verdict, "fail") && strcmp(verdict, "invalid")))
		return "no report of a run: expected \"verdict\" to be pass, fail or invalid";
	for (size_t i = 0; i < sizeof(object) / sizeof(*object); i++)
		if (!json_is_object(json_get(report, object[i])))
			return "no whole report: expected the objects \"total\", \"steady\", "
			       "\"traffic\" and \"phases\"";
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (!json_is_list(json_get(report, list[i])))
			return "no whole report: expected the lists \"reasons\" and \"intervals\"";
	return NULL;
}

static void put_reasons(FILE *out, const struct json *report)
{
	const char *verdict = json_text(json_get(report, "verdict"));

	fprintf(out, "<p class=\"verdict %s\">verdict: %s</p>\n", verdict, verdict);
	if (!json_first(json_get(report, "reasons")))
		return;
	fputs("<ul>\n", out);
	for (const struct json *r = json_first(json_get(report, "reasons")); r; r = json_next(r)) {
		fputs("<li>", out);
		html_value(out, r);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void put_head(FILE *out, const struct json *report)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>Onager: ",
	      out);
	html_value(out, json_get(report, "verdict"));
	putc(' ', out);
	html_value(out, json_get(report, "started"));
	fprintf(out, "</title>\n<style>%s</style></head><body>\n<h1>Onager report</h1>\n", style);
	put_reasons(out, report);
	fputs("<table>\n<tr><th>started</th><td>", out);
	html_value(out, json_get(report, "started"));
	fputs("</td></tr>\n<tr><th>by Onager</th><td>", out);
	html_value(out, json_get(report, "onager"));
	fputs("</td></tr>\n", out);
	html_members(out, json_get(report, "phases"));
	if (json_is_true(json_get(report, "interrupted")))
		fputs("<tr><th>interrupted</th><td>yes</td></tr>\n", out);
	fputs("</table>\n", out);
}

/* The sum of an object's members, and the names of those that are not 0. */
static double sum_put(FILE *out, const struct json *object)
{
	double sum = 0, number;
	const char *before = " (";

	for (const struct json *m = json_first(object); m; m = json_next(m))
		if (json_number(m, &number))
			sum += number;
	html_number(out, sum);
	for (const struct json *m = json_first(object); m; m = json_next(m)) {
		if (!json_number(m, &number) || !(number > 0))
			continue;
		fputs(before, out);
		html_text(out, json_name(m));
		putc(' ', out);
		html_number(out, number);
		before = ", ";
	}
	if (before[0] == ',')
		putc(')', out);
	return sum;
}

/* "whole = part + the rest by reason", and whether that is so. */
static void put_law(FILE *out, const struct json *tally, const char *whole, const char *part,
		    const char *rest)
{
	double all = 0, some = 0, others;

	if (!json_number(json_get(tally, whole), &all) ||
	    !json_number(json_get(tally, part), &some) || !json_get(tally, rest))
		return;
	fprintf(out, "<tr><td>%s </td><td class=\"n\">", whole);
	html_number(out, all);
	fprintf(out, "</td><td>= %s </td><td class=\"n\">", part);
	html_number(out, some);
	fprintf(out, "</td><td>+ %s </td><td>", strcmp(rest, "failed") ? "not offered" : rest);
	others = sum_put(out, json_get(tally, rest));
	if (all < some + others || all > some + others)
		fputs(" <span class=\"wrong\">this does not add up</span>", out);
	fputs("</td></tr>\n", out);
}

static void put_tally(FILE *out, const char *what, const struct json *tally)
{
	if (!json_get(tally, "wanted"))
		return;
	fprintf(out, "<tr><th colspan=\"6\">%s</th></tr>\n", what);
	put_law(out, tally, "wanted", "offered", "not_offered");
	put_law(out, tally, "offered", "succeeded", "failed");
}

/* Achieved, beside its target where there is one. */
static void put_achieved(FILE *out, const struct json *traffic)
{
	fputs("<table><tr><th></th><th>achieved</th><th>target</th></tr>\n", out);
	for (const struct json *m = json_first(json_get(traffic, "achieved")); m;
	     m = json_next(m)) {
		fputs("<tr><th>", out);
		html_text(out, json_name(m));
		fputs("</th><td class=\"n\">", out);
		html_value(out, m);
		fputs("</td><td class=\"n\">", out);
		html_value(out, json_get(json_get(traffic, "target"), json_name(m)));
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

static bool is_latency(const struct json *value)
{
	return json_get(value, "p99") != NULL;
}

static void put_heading(FILE *out, const char *level, const char *before, const struct json *named)
{
	fprintf(out, "<%s>%s", level, before);
	html_text(out, json_name(named));
	fprintf(out, "</%s>\n", level);
}

/* A traffic entry or a stream has one latency ("lateness_us"), or an object of some. */
static void put_latencies(FILE *out, const struct json *entry)
{
	for (const struct json *m = json_first(entry); m; m = json_next(m)) {
		if (!is_latency(json_first(m)))
			continue;
		put_heading(out, "h3", "", m);
		html_table(out, m, "");
		chart_latency(out, m);
	}
	if (is_latency(json_get(entry, "latency_us")))
		chart_latency(out, entry);
}

static void put_traffic(FILE *out, const struct json *traffic)
{
	put_heading(out, "h2", "", traffic);
	put_achieved(out, traffic);
	fputs("<table>\n", out);
	put_tally(out, "connections", traffic);
	put_tally(out, "requests", json_get(traffic, "requests"));
	fputs("</table>\n<table>\n", out);
	html_members(out, traffic);
	fputs("</table>\n", out);
	put_latencies(out, traffic);
}

static void put_stream(FILE *out, const struct json *stream)
{
	put_heading(out, "h2", "stream ", stream);
	fputs("<table>\n", out);
	html_members(out, stream);
	fputs("</table>\n", out);
	put_latencies(out, stream);
}

static const char *drop_help(const char *name)
{
	for (unsigned i = DROP_NONE + 1; i < DROP_COUNT; i++)
		if (!strcmp(drop_info[i].name, name))
			return drop_info[i].help;
	return "";
}

static void put_drops(FILE *out, const struct json *total)
{
	double number;

	fputs("<h2>Received packets</h2>\n<table>\n<tr><th>received</th><td class=\"n\">", out);
	html_value(out, json_get(total, "pktRx"));
	fputs("</td><td></td></tr>\n<tr><th>accepted</th><td class=\"n\">", out);
	html_value(out, json_get(total, "accepted"));
	fputs("</td><td></td></tr>\n", out);
	for (const struct json *m = json_first(json_get(total, "drops")); m; m = json_next(m)) {
		if (!json_number(m, &number) || !(number > 0))
			continue;
		fputs("<tr><th>dropped: ", out);
		html_text(out, json_name(m));
		fputs("</th><td class=\"n\">", out);
		html_number(out, number);
		fputs("</td><td>", out);
		html_text(out, drop_help(json_name(m)));
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void put_counters(FILE *out, const struct json *report)
{
	const struct json *steady = json_get(report, "steady");
	double number;

	fputs("<details><summary>All counters</summary>\n<table><tr><th></th><th>total</th>"
	      "<th>per second of the steady phase</th></tr>\n",
	      out);
	for (const struct json *m = json_first(json_get(report, "total")); m; m = json_next(m)) {
		if (!json_number(m, &number))
			continue;
		fputs("<tr><th>", out);
		html_text(out, json_name(m));
		fputs("</th><td class=\"n\">", out);
		html_number(out, number);
		fputs("</td><td class=\"n\">", out);
		html_value(out, json_get(steady, json_name(m)));
		fputs("</td></tr>\n", out);
	}
	fputs("</table></details>\n", out);
}

static void put_machine(FILE *out, const struct json *report)
{
	fputs("<h2>Ports, workers, memory</h2>\n", out);
	html_table(out, json_get(report, "ports"), "port");
	html_table(out, json_get(report, "workers"), NULL);
	fputs("<table>\n", out);
	html_members(out, json_get(report, "memory"));
	fputs("</table>\n", out);
}

static void put_config(FILE *out, const struct json *config)
{
	char *text;

	if (!config)
		return;
	text = json_print(config);
	fputs("<details><summary>Configuration</summary>\n<pre>", out);
	html_text(out, text);
	fputs("</pre></details>\n", out);
	free(text);
}

void page_write(FILE *out, const struct json *report)
{
	const struct json *m;

	put_head(out, report);
	for (m = json_first(json_get(report, "traffic")); m; m = json_next(m))
		put_traffic(out, m);
	for (m = json_first(json_get(report, "streams")); m; m = json_next(m))
		put_stream(out, m);
	fputs("<h2>Over time</h2>\n<p>Where several ports belong to one process, their counters "
	      "are added up. Grey: ramp and drain, which are not measured.</p>\n",
	      out);
	chart_intervals(out, json_get(report, "intervals"));
	put_drops(out, json_get(report, "total"));
	put_machine(out, report);
	put_counters(out, report);
	put_config(out, json_get(report, "config"));
	fputs("</body></html>\n", out);
}
