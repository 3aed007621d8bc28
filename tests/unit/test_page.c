/* The page of a report: what it says of a made-up result, and of reports that nobody would make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/run/page.h"
#include "../../common/run/report.h"
#include "../support/made_result.h"

static struct made made;
static char path[] = "/tmp/onager-page-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	made_init(&made);
	strcpy(path, "/tmp/onager-page-XXXXXX");
	return mkstemp(path) < 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

/* The page of what lies in the file, allocated; NULL with the fault if there is one. */
static char *page(const char **fault)
{
	struct json_file *file = json_open(path, stderr);
	char *text = NULL;
	size_t size;
	FILE *out;

	assert_non_null(file);
	*fault = page_fault(json_root(file));
	if (!*fault) {
		out = open_memstream(&text, &size);
		page_write(out, json_root(file));
		fclose(out);
	}
	json_close(file);
	return text;
}

static char *page_of(const char *report)
{
	FILE *file = fopen(path, "w");
	const char *fault;
	char *text;

	fputs(report, file);
	fclose(file);
	text = page(&fault);
	if (fault)
		fail_msg("%s: %s", fault, report);
	return text;
}

static void assert_says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void a_result_is_shown(void **state)
{
	struct verdict verdict;
	const char *fault;
	struct err err;
	char *text;

	(void)state;
	made.result.total.counters.drop[DROP_TCP_BAD_SEQ] = 3;
	assert_int_equal(verdict_judge(&verdict, &made.result, &err), 0);
	assert_int_equal(report_write(&made.result, &verdict, path, &err), 0);
	verdict_free(&verdict);
	text = page(&fault);
	assert_null(fault);
	assert_says(text, "<!DOCTYPE html>");
	assert_says(text, "<h2>web</h2>");
	assert_says(text, "<tr><td>wanted </td><td class=\"n\">3,500</td><td>= offered </td>"
			  "<td class=\"n\">3,500</td><td>+ not offered </td><td>0</td></tr>");
	assert_says(text, "<figcaption>Packets per second</figcaption>");
	assert_says(text, "<figcaption>Busy, percent of a worker's core</figcaption>");
	assert_says(text, "<figcaption>Latency, us</figcaption>");
	assert_null(strstr(text, "<figcaption>UDP per second"));
	assert_says(text, "<th>dropped: tcp.bad_seq</th><td class=\"n\">3</td>");
	assert_says(text, "</body></html>\n");
	free(text);
}

#define REPORT(more)                                                                         \
	"{\"onager\": \"1\", \"verdict\": \"fail\", \"reasons\": [\"a<b\"], \"phases\": {}," \
	"\"total\": {}, \"steady\": {}, " more "}"

/* Text is text wherever it stands, and what does not add up is said. */
static void text_is_escaped_and_laws_are_checked(void **state)
{
	char *text = page_of(
		REPORT("\"traffic\": {\"<i>'&\\\"\\u0001\": {\"kind\": \"</p>\","
		       "\"wanted\": 5, \"offered\": 3, \"not_offered\": {\"<late>\": 1},"
		       "\"succeeded\": 2, \"failed\": {\"reset\": 1}}}, \"intervals\": []"));

	(void)state;
	assert_says(text, "<li>a&lt;b</li>");
	assert_says(text, "<h2>&lt;i&gt;'&amp;&quot;&#xfffd;</h2>");
	assert_says(text,
		    "<td>1 (&lt;late&gt; 1) <span class=\"wrong\">this does not add up</span>");
	assert_says(text, "<td>1 (reset 1)</td>");
	assert_null(strstr(text, "<i>"));
	assert_null(strstr(text, "</p></td>"));
	free(text);
}

/* Numbers beyond all measure end neither in a loop nor in a chart that is none. */
static void charts_bear_any_number(void **state)
{
	static const char *const interval[] = {
		"{\"t\": 0, \"pktRx\": 5}",
		"{\"t\": -1, \"pktRx\": 5}, {\"t\": -2, \"pktRx\": 5, \"skCon\": 7}",
		"{\"t\": 1e308, \"pktRx\": 5}, {\"t\": 1e-308, \"pktRx\": 1e308}",
		"{\"t\": 1e999, \"pktRx\": 1e999, \"skCon\": 1e308}",
		"{\"t\": 1, \"pktRx\": -5, \"skCon\": 1e-320, \"cpuUsage\": [1, \"x\", null]}",
		"7, null, [], {\"t\": \"x\", \"phase\": 4}",
		"{\"t\": 1, \"phase\": \"ramp\"}, {\"t\": 0.5, \"phase\": \"drain\", \"skCon\": 1}",
	};
	static const char *const latency[] = {
		"{\"count\": 1, \"min\": 0, \"p50\": 1e-320, \"p99\": 1e-320, \"max\": 1e-320}",
		"{\"count\": 1, \"min\": 1e308, \"p50\": 1e308, \"p99\": 1, \"max\": 1e999}",
		"{\"count\": 1, \"p99\": -5}",
		"{\"count\": 1, \"min\": 1, \"p99\": 1, \"max\": 1}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(interval) / sizeof(*interval); i++) {
		char report[1024], *text;

		snprintf(report, sizeof(report),
			 REPORT("\"traffic\": {\"a\": {\"latency_us\": {\"connect\": %s}}},"
				"\"intervals\": [%s]"),
			 latency[i % 4], interval[i]);
		text = page_of(report);
		if (strstr(text, "nan") || strstr(text, "inf"))
			fail_msg("a number is none: %s", text);
		assert_says(text, "</html>");
		free(text);
	}
}

/* As many points as a screen has columns, however long the run was. */
static void many_intervals_are_drawn_as_means(void **state)
{
	char *report = NULL, *text;
	size_t size;
	FILE *out = open_memstream(&report, &size);
	unsigned points = 0;

	(void)state;
	fputs("{\"onager\": \"1\", \"verdict\": \"pass\", \"reasons\": [], \"phases\": {}, "
	      "\"total\": {},"
	      "\"steady\": {}, \"traffic\": {}, \"intervals\": [",
	      out);
	for (unsigned i = 1; i <= 2001; i++)
		fprintf(out, "%s{\"t\": %u, \"pktRx\": %u}", i > 1 ? "," : "", i, i);
	fputs("]}", out);
	fclose(out);
	text = page_of(report);
	assert_says(text, "Packets per second (each point the mean of 6 intervals)");
	for (char *at = strstr(strstr(text, "<polyline"), "points="); *at != '/'; at++)
		points += *at == ',';
	assert_int_equal(points, 334);
	free(text);
	free(report);
}

static void what_is_no_report_is_refused(void **state)
{
	static const char *const text[] = {
		"[]",
		"7",
		"{}",
		"{\"onager\": \"1\", \"verdict\": \"maybe\"}",
		"{\"onager\": \"1\", \"verdict\": \"pass\", \"total\": {}}",
		"{\"onager\": \"1\", \"verdict\": \"pass\", \"total\": {}, \"steady\": {}, "
		"\"traffic\": {},"
		"\"phases\": {}, \"reasons\": {}, \"intervals\": []}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		FILE *file = fopen(path, "w");
		const char *fault;

		fputs(text[i], file);
		fclose(file);
		assert_null(page(&fault));
		assert_non_null(strstr(fault, "expected"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_result_is_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(text_is_escaped_and_laws_are_checked, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(charts_bear_any_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_intervals_are_drawn_as_means, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_report_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
