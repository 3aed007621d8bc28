/* The report: its exact text, its numbers, look-up by path, JSON details, the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/run/report_json.h"
#include "../support/golden.h"
#include "../support/made_result.h"

static struct made made;
static struct verdict verdict;

static int set_up(void **state)
{
	static char reason[] = "made \"up\"";
	static char *reasons[] = {reason};

	(void)state;
	made_init(&made);
	verdict = (struct verdict){EXIT_FAIL, "fail", reasons, 1};
	return 0;
}

static void report_text(char **text)
{
	struct json_sink json;
	size_t size;
	FILE *out = open_memstream(text, &size);

	assert_non_null(out);
	json_sink_init(&json, out, false);
	report_walk(&json.sink, &made.result, &verdict);
	fputc('\n', out);
	assert_int_equal(fclose(out), 0);
}

/* Take members that are 0 out, so that the golden file need not grow with every new counter. */
static void strip_zeros(char *text)
{
	char *to = text;

	while (*text) {
		char *name = *text == '"' ? strchr(text + 1, '"') : NULL;
		size_t zero = name && !strncmp(name, "\": 0", 4) ? 4 : 0;

		if (zero && !strncmp(name + zero, ".0", 2))
			zero += 2;
		if (!zero || !strchr(",}\n", name[zero])) {
			*to++ = *text++;
			continue;
		}
		text = name + zero;
		text += strspn(text, ", \n\t");
	}
	*to = '\0';
}

static void text_is_exactly_so(void **state)
{
	char *text;

	(void)state;
	made.result.total.counters.drop[DROP_TCP_BAD_SEQ] = 3;
	made_fail(&made, FAILED_TIMEOUT, 10);
	made.traffic[0].load.rps = (struct rate){UINT64_MAX, 1};
	made.traffic[0].load.concurrency = 5;
	report_text(&text);
	strip_zeros(text);
	golden_check("report/report.json", text);
	free(text);
}

static double number(const char *path)
{
	double value;

	assert_int_equal(report_metric(&made.result, path, &value), REPORT_NUMBER);
	return value;
}

static void assert_number(const char *path, double want)
{
	double value = number(path);

	if (fabs(value - want) > 1e-9)
		fail_msg("%s: expected %f, got %f", path, want, value);
}

static void metrics_are_found_by_path(void **state)
{
	(void)state;
	made.result.total.counters.value[COUNTER_HTTP_ERR] = 4;
	made.result.total.counters.drop[DROP_TCP_BAD_SEQ] = 3;
	assert_number("total.httpErr", 4);
	assert_number("total.drops.tcp.bad_seq", 3);
	assert_number("total.accepted", 21000);
	assert_number("traffic.web.achieved.cps", 1000);
	assert_number("traffic.web.target.cps", 1000);
	assert_number("traffic.web.wanted", 3500);
	assert_number("traffic.web.requests.failed.reset", 0);
	assert_number("traffic.web.latency_us.connect.p50", 49.92);
	assert_number("traffic.web.latency_us.connect.p99.9", 100);
	assert_number("traffic.web.latency_us.connect.mean", 50.5);
	assert_number("workers.1.cpu_percent", 30);
	assert_number("intervals.1.skOpen", 1000);
	assert_number("intervals.1.cpuUsage.1", 25.5);
	assert_number("intervals.3.traffic.web.offered", 1000);
	assert_number("ports.c.rx_packets", 10500);
	assert_number("steady.pktRx", 6000);
	assert_number("phases.drain_s", 0.1);
	assert_number("interrupted", 0);
}

static void captures_are_found_by_path(void **state)
{
	const struct capture_result capture[] = {
		{.file = "a.pcapng",
		 .shown = 10,
		 .filtered = 1,
		 .beyond = 2,
		 .dropped = 3,
		 .lost = 1,
		 .written = 3,
		 .error = "a.pcapng: write failed"},
		{.file = "b.pcapng", .shown = 5, .written = 5},
		{.file = "drops.pcapng", .is_drops = true, .shown = 7, .written = 7},
	};
	double value;

	(void)state;
	assert_int_equal(report_metric(&made.result, "capture.drops.shown", &value), REPORT_ABSENT);
	made.result.capture = capture;
	made.result.captures = 3;
	assert_number("capture.drops.shown", 7);
	assert_number("capture.packets.0.dropped", 3);
	assert_number("capture.packets.1.written", 5);
	assert_int_equal(report_metric(&made.result, "capture.packets.0.error", &value),
			 REPORT_NOT_A_NUMBER);
	assert_int_equal(report_metric(&made.result, "capture.packets.1.error", &value),
			 REPORT_ABSENT);
}

static void names_with_dots_resolve(void **state)
{
	(void)state;
	made.traffic[0].name = "a";
	made.traffic[1].name = "a.achieved";
	assert_number("traffic.a.achieved.cps", 1000);
	assert_number("traffic.a.achieved.achieved.cps", 1000);
	assert_number("traffic.a.achieved.open_max", 7);
}

static void what_is_not_there_is_not_found(void **state)
{
	static const char *const absent[] = {
		"",
		"total",
		"total.",
		"total.httpEr",
		"total.httpErr.x",
		"total.httpErrX",
		"totalhttpErr",
		"httpErr",
		"traffic.nosuch.offered",
		"traffic.web",
		"traffic.srv.latency_us.connect.p50",
		"intervals.9.t",
		"workers.core",
		"verdict",
	};
	double value;

	(void)state;
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (report_metric(&made.result, absent[i], &value) != REPORT_ABSENT)
			fail_msg("\"%s\" was found", absent[i]);
	made.traffic[0].load.cps = (struct rate){UINT64_MAX, 1};
	assert_int_equal(report_metric(&made.result, "traffic.web.target.cps", &value),
			 REPORT_NOT_A_NUMBER);
	assert_int_equal(report_metric(&made.result, "traffic.web.kind", &value),
			 REPORT_NOT_A_NUMBER);
}

static void levels_are_means_of_the_steady_phase(void **state)
{
	(void)state;
	/* Snapshots inside at 2 s and 3 s (4 open each) and the end (6): not the one at its
	 * beginning. */
	made.begin[0].open = 1000;
	made.result.begin.counters.value[COUNTER_SK_CON] = 1000;
	assert_number("traffic.web.achieved.concurrency", 14. / 3);
	assert_number("steady.skCon", 14. / 3);
	assert_number("intervals.2.skCon", 4);
}

static void without_a_steady_phase_rates_are_zero(void **state)
{
	(void)state;
	made.result.started_steady = false;
	made.result.steady = 0;
	made.result.begin = made.result.end = (struct snapshot){0};
	assert_number("traffic.web.achieved.cps", 0);
	assert_number("traffic.web.achieved.concurrency", 0);
	assert_number("steady.pktRx", 0);
	assert_number("steady.skCon", 0);
}

static void a_simulated_run_has_no_ports(void **state)
{
	(void)state;
	made.result.ports = NULL;
	made.result.port = NULL;
	made.result.workers = 0;
	made.interval[0].cpu_percent = NULL;
	assert_number("ports.c.rx_packets", 0);
	assert_number("steady.cpuUsage", 0);
}

static void port_counters_are_cumulative_in_intervals(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		made.interval[i].counters.value[COUNTER_IMISSED] = 5;
	assert_number("intervals.0.imissed", 5);
	assert_number("intervals.3.imissed", 5);
}

static void assert_json(void (*tell)(struct sink *), const char *want)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json_sink json;

	json_sink_init(&json, out, true);
	tell(&json.sink);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, want);
	free(text);
}

static void tell_strings(struct sink *s)
{
	sink_begin(s, NULL, SINK_ARRAY);
	sink_text(s, NULL, "a\"b\\c\n\t\x01/");
	sink_text(s, NULL, "\u00e9\u20ac\U0001f680");
	sink_text(s, NULL, "\xff|\xc3|\xc0\xaf|\xed\xa0\x80|\xe2\x82");
	sink_end(s);
}

static void strings_are_escaped(void **state)
{
	(void)state;
	assert_json(tell_strings, "[\"a\\\"b\\\\c\\n\\t\\u0001/\", \"\u00e9\u20ac\U0001f680\", "
				  "\"\\ufffd|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
				  "\\ufffd\\ufffd\"]");
}

static void tell_numbers(struct sink *s)
{
	sink_begin(s, NULL, SINK_ARRAY);
	sink_count(s, NULL, UINT64_MAX);
	sink_real(s, NULL, 0);
	sink_real(s, NULL, -0.0000001);
	sink_real(s, NULL, 1. / 3);
	sink_real(s, NULL, 1e21);
	sink_real(s, NULL, 4812000);
	sink_real(s, NULL, NAN);
	sink_real(s, NULL, INFINITY);
	sink_bool(s, NULL, true);
	sink_json(s, NULL, "{}");
	sink_begin(s, NULL, SINK_OBJECT);
	sink_end(s);
	sink_end(s);
}

static void numbers_are_plain(void **state)
{
	(void)state;
	assert_json(tell_numbers, "[18446744073709551615, 0.0, -1e-07, 0.333333, "
				  "1000000000000000000000.0, 4812000.0, null, null, true, {}, {}]");
}

static void in_a_directory(char *path, size_t size, const char *name)
{
	static char directory[] = "/tmp/onager-test-XXXXXX";
	static bool is_made;

	if (!is_made)
		assert_non_null(mkdtemp(directory));
	is_made = true;
	snprintf(path, size, "%s/%s", directory, name);
}

static void the_file_is_replaced_whole(void **state)
{
	char path[200], link[200], left[240], *want;
	static char got[1 << 16];
	struct err err;
	struct stat status;
	FILE *file;

	(void)state;
	in_a_directory(path, sizeof(path), "out.json");
	in_a_directory(link, sizeof(link), "link.json");
	assert_int_equal(symlink("out.json", link), 0);
	/* What a killed process of our number has left is no obstacle. */
	snprintf(left, sizeof(left), "%s.%d.tmp", path, (int)getpid());
	assert_int_equal(symlink("/nosuch", left), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(report_write(&made.result, &verdict, i ? link : path, &err), 0);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	file = fopen(path, "r");
	assert_non_null(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
	fclose(file);
	report_text(&want);
	assert_string_equal(got, want);
	free(want);
	unlink(link);
	unlink(path);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0); /* nothing else was left in it */
}

static void write_errors_are_said(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(report_write(&made.result, &verdict, "/dev/full", &err), -1);
	assert_string_equal(err.text, "report /dev/full: No space left on device");
	assert_int_equal(err.exit, EXIT_ENVIRONMENT);
	assert_int_equal(access("/dev/full", W_OK), 0);
	assert_int_equal(report_write(&made.result, &verdict, "/nosuch/out.json", &err), -1);
	assert_string_equal(err.text, "report /nosuch/out.json: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(text_is_exactly_so, set_up),
		cmocka_unit_test_setup(metrics_are_found_by_path, set_up),
		cmocka_unit_test_setup(captures_are_found_by_path, set_up),
		cmocka_unit_test_setup(names_with_dots_resolve, set_up),
		cmocka_unit_test_setup(what_is_not_there_is_not_found, set_up),
		cmocka_unit_test_setup(levels_are_means_of_the_steady_phase, set_up),
		cmocka_unit_test_setup(without_a_steady_phase_rates_are_zero, set_up),
		cmocka_unit_test_setup(a_simulated_run_has_no_ports, set_up),
		cmocka_unit_test_setup(port_counters_are_cumulative_in_intervals, set_up),
		cmocka_unit_test_setup(strings_are_escaped, set_up),
		cmocka_unit_test_setup(numbers_are_plain, set_up),
		cmocka_unit_test_setup(the_file_is_replaced_whole, set_up),
		cmocka_unit_test_setup(write_errors_are_said, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
