/* What several workers' sinks saw, put together, in report and verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../common/run/report_stream.h"
#include "../support/made_result.h"

/* "web" sends from port 0, "srv" is a sink on port 1; two workers each. */
static struct made made;
static struct stream_stats blast[2], sink[2];
static struct stream_lane lanes[2][4];

static int begin(void **state)
{
	(void)state;
	made_init(&made);
	made.traffic[0].kind = UDP_BLAST;
	made.traffic[0].load = (struct config_load){.pps = {1000, 1}};
	made.traffic[0].blast.tag = true;
	made.traffic[1].kind = UDP_SINK;
	memset(blast, 0, sizeof(blast));
	memset(sink, 0, sizeof(sink));
	memset(lanes, 0, sizeof(lanes));
	for (unsigned w = 0; w < 2; w++)
		sink[w].lane = lanes[w];
	made.result.blast = streams_open(&made.result);
	assert_non_null(made.result.blast);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(made.result.blast);
	free(made.result.stream);
	return 0;
}

static void lane_see(unsigned worker, uint16_t name, uint64_t next, uint64_t unique)
{
	struct stream_lane *lane = &lanes[worker][sink[worker].lanes++];

	lane->name = name;
	lane->next = next;
	lane->unique = unique;
	lane->late = 1;
	hist_add(&lane->latency, 1000 * (worker + 1));
}

static void put_together(void)
{
	for (unsigned w = 0; w < 2; w++) {
		struct stream_stats *of_blast[2] = {&blast[w], NULL},
				    *of_sink[2] = {NULL, &sink[w]};

		streams_add(&made.result, of_blast);
		streams_add(&made.result, of_sink);
	}
	streams_end(&made.result);
}

static double metric(const char *path)
{
	double value;

	assert_int_equal(report_metric(&made.result, path, &value), REPORT_NUMBER);
	return value;
}

static void test_merge(void **state)
{
	(void)state;
	blast[0].sent = 600;
	blast[1].sent = 400;
	/* Two lanes of stream 0, each seen by both sink workers. */
	lane_see(0, stream_lane(0, 0), 598, 300);
	lane_see(0, stream_lane(0, 1), 380, 200);
	lane_see(1, stream_lane(0, 1), 400, 190);
	lane_see(1, stream_lane(0, 0), 599, 298);
	put_together();
	assert_int_equal(made.result.streams, 1);
	assert_true(metric("streams.web.sent") == 1000);
	assert_true(metric("streams.web.unique") == 988);
	assert_true(metric("streams.web.lost") == 12);
	assert_true(metric("streams.web.late") == 4);
	assert_true(metric("streams.web.latency_us.count") == 4);
	assert_true(metric("streams.web.latency_us.max") == 2);
}

/* Of a blast elsewhere what was sent is the highest number of each lane, whoever saw it. */
static void test_unknown_sender(void **state)
{
	(void)state;
	lane_see(0, stream_lane(7, 0), 90, 40);
	lane_see(1, stream_lane(7, 0), 100, 50);
	lane_see(1, stream_lane(7, 3), 10, 10);
	made.port[1].cores = 2;
	made.traffic[0].port = 1; /* the blast is beside the sink: its packets go elsewhere */
	blast[0].sent = 5;
	put_together();
	assert_int_equal(made.result.streams, 2);
	assert_true(metric("streams.stream7.sent") == 110);
	assert_true(metric("streams.stream7.lost") == 10);
	assert_true(metric("streams.web.sent") == 5);
	assert_int_equal(made.result.stream[0].lost, 0);
	assert_false(made.result.stream[0].judged);
}

static void verdict_is(const char *word, const char *reason)
{
	struct verdict verdict;
	struct err err;

	assert_int_equal(verdict_judge(&verdict, &made.result, &err), 0);
	assert_string_equal(verdict.word, word);
	if (reason)
		assert_string_equal(verdict.reason[0], reason);
	verdict_free(&verdict);
}

static void test_verdict(void **state)
{
	(void)state;
	blast[0].sent = 100;
	lane_see(0, stream_lane(0, 0), 100, 97);
	put_together();
	verdict_is("fail", "web: 3 of 100 packets were lost");
	/* A criterion speaks about it. */
	made_expect(&made, "streams.web.lost", EXPECT_MAX, 0, 5);
	verdict_is("pass", NULL);
	/* The blast could not keep up. */
	made.stats[0].level.connection.not_offered[NOT_OFFERED_LATE] = 3500;
	verdict_is("invalid", "web: 3500 of 7000 wanted packets were not offered (3500 late): the "
			      "generator could not keep up: give the port more cores, or lower the "
			      "load");
}

static void test_all_lost(void **state)
{
	(void)state;
	blast[0].sent = 100;
	put_together();
	verdict_is("fail", "web: 100 of 100 packets were lost");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_merge, begin, end),
		cmocka_unit_test_setup_teardown(test_unknown_sender, begin, end),
		cmocka_unit_test_setup_teardown(test_verdict, begin, end),
		cmocka_unit_test_setup_teardown(test_all_lost, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
