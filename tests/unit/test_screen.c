/* The screen: blocks, CSV, JSON lines and the summary, exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../common/run/report.h"
#include "../support/golden.h"
#include "../support/made_result.h"

static struct made made;
static struct screen screen;
static char *text;
static size_t size;

static int set_up(void **state)
{
	(void)state;
	made_init(&made);
	screen = (struct screen){.out = open_memstream(&text, &size)};
	return screen.out ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	fclose(screen.out);
	free(text);
	return 0;
}

static void draw(unsigned i, enum phase phase)
{
	static const struct snapshot zero;

	screen_interval(&screen, &made.result, i ? &made.interval[i - 1] : &zero, &made.interval[i],
			made.cpu[i], phase);
}

static void a_block_is_exactly_so(void **state)
{
	(void)state;
	draw(0, PHASE_RAMP);
	draw(1, PHASE_STEADY);
	draw(3, PHASE_DRAIN);
	golden_check("report/blocks.txt", text);
}

static void no_line_is_wider_than_the_screen(void **state)
{
	struct counters *counters = &made.interval[0].counters;

	(void)state;
	/* 100 Gbit/s and 5 million requests a second. */
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		counters->value[i] = counter_info[i].group == 1 ? 100000000000 : 5000000;
	draw(0, PHASE_STEADY);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 100)
			fail_msg("%zu columns: %s", strlen(line), line);
}

static void warnings_say_what_will_count(void **state)
{
	(void)state;
	made.at[2][0].connection.failed[FAILED_TIMEOUT] = 10;
	made.at[2][0].connection.failed[FAILED_RESET] = 2;
	made.at[1][0].connection.failed[FAILED_RESET] = 1;
	made.at[2][0].connection.not_offered[NOT_OFFERED_LATE] = 3;
	made.at[2][0].request.not_offered[NOT_OFFERED_NO_CONN] = 4;
	made.interval[2].counters.value[COUNTER_IMISSED] = 5;
	draw(2, PHASE_STEADY);
	assert_string_equal(
		strchr(text, '!'),
		"! web: connections failed: 10 timeout, 1 reset\n"
		"! web: connections not offered: 3 late\n"
		"! web: requests not offered: 4 no_conn\n"
		"! imissed +5: packets the port dropped because its receive ring was full\n");
}

static unsigned count(const char *in, char c)
{
	unsigned n = 0;

	for (; *in; in++)
		n += *in == c;
	return n;
}

static void csv_has_one_header_and_equal_lines(void **state)
{
	char *second, *third;

	(void)state;
	screen.format = FORMAT_CSV;
	made.traffic[1].name = "s,\"x\"";
	for (unsigned i = 0; i < 2; i++)
		draw(i, PHASE_STEADY);
	assert_int_equal(count(text, '\n'), 3);
	second = strchr(text, '\n') + 1;
	third = strchr(second, '\n') + 1;
	assert_int_equal(strncmp(text, "t,phase,cpuUsage.0,cpuUsage.1,pktRx,pktTx,", 42), 0);
	assert_non_null(strstr(text, ",traffic.web.open,\"traffic.s,\"\"x\"\".offered\","));
	assert_int_equal(strncmp(second, "1,steady,50,25.5,3000,3000,1000000,", 35), 0);
	assert_int_equal(strncmp(third, "2,steady,50,25.5,6000,6000,2000000,", 35), 0);
	assert_int_equal(count(second, ','), 2 * count(third, ','));
	second[-1] = '\0';
	/* The awkward name is quoted, with a comma in it, once per member of its entry. */
	assert_int_equal(count(text, ','), count(third, ',') + count(text, '"') / 6);
}

static void json_is_a_line_an_interval(void **state)
{
	(void)state;
	screen.format = FORMAT_JSON;
	draw(0, PHASE_RAMP);
	draw(1, PHASE_STEADY);
	assert_int_equal(count(text, '\n'), 2);
	assert_int_equal(
		strncmp(text, "{\"t\": 1.0, \"phase\": \"ramp\", \"cpuUsage\": [50.0, 25.5], ", 54),
		0);
}

static void quiet_is_quiet(void **state)
{
	(void)state;
	screen.quiet = true;
	for (screen.format = FORMAT_TEXT; screen.format <= FORMAT_CSV; screen.format++)
		draw(0, PHASE_STEADY);
	fflush(screen.out);
	assert_string_equal(text, "");
}

static void the_summary_is_exactly_so(void **state)
{
	static char reason[] = "web: 12 of 3500 connections failed: 10 timeout, 2 reset";
	static char *reasons[] = {reason};
	struct verdict verdict = {EXIT_FAIL, "fail", reasons, 1};

	(void)state;
	made_fail(&made, FAILED_TIMEOUT, 10);
	made_fail(&made, FAILED_RESET, 2);
	made.stats[0].level.connection.not_offered[NOT_OFFERED_LATE] = 3000;
	made.result.total.counters.drop[DROP_TCP_BAD_SEQ] = 1234;
	made.traffic[0].load.rps = (struct rate){UINT64_MAX, 1};
	made.traffic[0].load.concurrency = 5;
	screen_summary(&screen, &made.result, &verdict);
	golden_check("report/summary.txt", text);
}

static void the_json_summary_is_the_verdict(void **state)
{
	struct verdict verdict = {EXIT_PASS, "pass", NULL, 0};

	(void)state;
	screen.format = FORMAT_JSON;
	screen_summary(&screen, &made.result, &verdict);
	assert_string_equal(text, "{\"verdict\": \"pass\", \"reasons\": []}\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_block_is_exactly_so),        TEST(no_line_is_wider_than_the_screen),
		TEST(warnings_say_what_will_count), TEST(csv_has_one_header_and_equal_lines),
		TEST(json_is_a_line_an_interval),   TEST(quiet_is_quiet),
		TEST(the_summary_is_exactly_so),    TEST(the_json_summary_is_the_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
