/* The verdict: every rule, by the sentence it gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../support/made_result.h"

static struct made made;

static int set_up(void **state)
{
	(void)state;
	made_init(&made);
	return 0;
}

/* Judge; the reasons, joined by line ends, are exactly `want`. */
static void assert_verdict(enum exit_code exit, const char *want)
{
	static const char *const words[] = {
		[EXIT_PASS] = "pass", [EXIT_FAIL] = "fail", [EXIT_INVALID] = "invalid"};
	struct verdict verdict;
	struct err err;
	char got[4096] = "";

	assert_int_equal(verdict_judge(&verdict, &made.result, &err), 0);
	for (unsigned i = 0; i < verdict.reasons; i++) {
		strcat(got, i ? "\n" : "");
		strcat(got, verdict.reason[i]);
	}
	assert_string_equal(got, want);
	assert_int_equal(verdict.exit, exit);
	assert_string_equal(verdict.word, words[exit]);
	verdict_free(&verdict);
	verdict_free(&verdict);
}

static struct tally *web(void)
{
	return &made.stats[0].level.connection;
}

static void a_clean_run_passes(void **state)
{
	(void)state;
	assert_verdict(EXIT_PASS, "");
	made_expect(&made, "traffic.web.achieved.cps", EXPECT_MIN | EXPECT_MAX, 1000, 1000);
	made_expect(&made, "total.httpErr", EXPECT_MAX, 0, 0);
	assert_verdict(EXIT_PASS, "");
}

static void criteria_give_their_reasons(void **state)
{
	(void)state;
	made_expect(&made, "traffic.web.achieved.cps", EXPECT_MIN, 5000000, 0);
	made_expect(&made, "total.drops.tcp.bad_seq", EXPECT_MIN, 0.5, 0);
	made_expect(&made, "traffic.web.latency_us.connect.max", EXPECT_MAX, 0, 99.25);
	assert_verdict(EXIT_FAIL, "traffic.web.achieved.cps 1000 is below min 5000000\n"
				  "total.drops.tcp.bad_seq 0 is below min 0.5\n"
				  "traffic.web.latency_us.connect.max 100 is above max 99.25");
}

static void a_metric_that_does_not_exist_fails(void **state)
{
	(void)state;
	made_expect(&made, "traffic.wbe.offered", EXPECT_MIN, 0, 0);
	made_expect(&made, "traffic.web.kind", EXPECT_MIN, 0, 0);
	assert_verdict(EXIT_FAIL, "expect: \"traffic.wbe.offered\" does not exist in the report\n"
				  "expect: \"traffic.web.kind\" is not a number in the report");
}

static void failures_fail_by_kind(void **state)
{
	(void)state;
	made_fail(&made, FAILED_TIMEOUT, 10);
	made_fail(&made, FAILED_RESET, 2);
	assert_verdict(EXIT_FAIL, "web: 12 of 3500 connections failed: 10 timeout, 2 reset");
}

static void requests_are_told_apart_when_they_differ(void **state)
{
	(void)state;
	made.stats[0].level.request.offered = 7000;
	made.stats[0].level.request.failed[FAILED_STATUS] = 5;
	assert_verdict(EXIT_FAIL, "web: 5 of 7000 requests failed: 5 status");
	made_fail(&made, FAILED_STATUS, 5);
	assert_verdict(EXIT_FAIL, "web: 5 of 3500 connections failed: 5 status\n"
				  "web: 10 of 7000 requests failed: 10 status");
}

static void one_failure_is_enough(void **state)
{
	(void)state;
	made_fail(&made, FAILED_REFUSED, 1);
	assert_verdict(EXIT_FAIL, "web: 1 of 3500 connections failed: 1 refused");
}

static void all_failed_is_a_fail(void **state)
{
	(void)state;
	made_fail(&made, FAILED_TIMEOUT, 3500);
	assert_verdict(EXIT_FAIL, "web: 3500 of 3500 connections failed: 3500 timeout");
}

/* A criterion takes over the kinds it speaks about, and no others. */
static void criteria_on_failures_replace_the_rule(void **state)
{
	static const struct {
		const char *metric;
		bool timeout, status; /* is a failure of this kind left to the criterion? */
	} rows[] = {
		{"traffic.web.failed.timeout", true, false},
		{"traffic.web.requests.failed.timeout", true, false},
		{"traffic.web.succeeded", true, true},
		{"traffic.web.requests.succeeded", true, true},
		{"total.skErr", true, true},
		{"steady.skErr", true, true},
		{"total.httpErr", false, true},
		{"traffic.web.failed.status", false, true},
		{"traffic.srv.succeeded", false, false},
		{"traffic.web.achieved.cps", false, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		made_init(&made);
		made_expect(&made, rows[i].metric, EXPECT_MAX, 0, 1e12);
		made_fail(&made, FAILED_TIMEOUT, 1);
		assert_verdict(rows[i].timeout ? EXIT_PASS : EXIT_FAIL,
			       rows[i].timeout ? ""
					       : "web: 1 of 3500 connections failed: 1 timeout");
		made_fail(&made, FAILED_STATUS, 2);
		made.stats[0].level.connection.failed[FAILED_TIMEOUT] = 0;
		made.stats[0].level.request.failed[FAILED_TIMEOUT] = 0;
		assert_verdict(rows[i].status ? EXIT_PASS : EXIT_FAIL,
			       rows[i].status ? "" : "web: 2 of 3500 connections failed: 2 status");
	}
}

static void nothing_offered_is_invalid(void **state)
{
	(void)state;
	made.stats[0].level = (struct traffic_level){0};
	assert_verdict(EXIT_INVALID, "web: no connection was offered");
	web()->not_offered[NOT_OFFERED_NO_TUPLE] = 5;
	assert_verdict(
		EXIT_INVALID,
		"web: no connection was offered, of those wanted: 5 no_tuple\n"
		"web: 5 of 5 wanted connections were not offered (5 no_tuple): no client "
		"address and port was free: enlarge clients, client_ports or server_ports, or "
		"lower the load");
}

/* Who is short of tuples is told what rate they allow. */
static void the_rate_that_tuples_allow_is_said(void **state)
{
	(void)state;
	made.traffic[0].clients.count = 1;
	made.traffic[0].client_ports.count = 2;
	made.traffic[0].servers.count = 1;
	made.traffic[0].server_ports.count = 1;
	web()->not_offered[NOT_OFFERED_NO_TUPLE] = 3500;
	assert_verdict(
		EXIT_INVALID,
		"web: 3500 of 7000 wanted connections were not offered (3500 no_tuple): no "
		"client address and port was free: enlarge clients, client_ports or "
		"server_ports, or lower the load\n"
		"web: its 2 pairs of a client's and a server's address and port allowed 1000 "
		"connections a second");
}

static void lateness_is_invalid_above_a_permille(void **state)
{
	(void)state;
	web()->offered = web()->succeeded = 999000 - 1000;
	web()->not_offered[NOT_OFFERED_LATE] = 400;
	web()->not_offered[NOT_OFFERED_TX_FULL] = 300;
	web()->not_offered[NOT_OFFERED_NO_CONN] = 298;
	assert_verdict(EXIT_PASS, "");
	web()->not_offered[NOT_OFFERED_TX_FULL] = 401;
	assert_verdict(
		EXIT_INVALID,
		"web: 1099 of 999099 wanted connections were not offered (401 tx_full, 400 "
		"late, 298 no_conn): the port did not take the packets: give it more cores or "
		"tx_descriptors, or lower the load");
}

static void requests_without_a_connection_are_invalid(void **state)
{
	(void)state;
	made.stats[0].level.request.not_offered[NOT_OFFERED_NO_CONN] = 3500;
	assert_verdict(
		EXIT_INVALID,
		"web: 3500 of 7000 wanted requests were not offered (3500 no_conn): every open "
		"connection was waiting for a response: raise load.concurrency, or lower the "
		"load");
}

static void tuples_held_by_failures_are_no_limit(void **state)
{
	(void)state;
	web()->not_offered[NOT_OFFERED_NO_TUPLE] = 3500;
	made_fail(&made, FAILED_TIMEOUT, 1);
	assert_verdict(EXIT_FAIL, "web: 1 of 3500 connections failed: 1 timeout");
}

static void max_is_not_limited_by_itself(void **state)
{
	(void)state;
	made.traffic[0].load.cps = (struct rate){UINT64_MAX, 1};
	made.worker[0].busy_cycles = 100;
	web()->not_offered[NOT_OFFERED_TX_FULL] = 10000;
	web()->not_offered[NOT_OFFERED_NO_TUPLE] = 10000;
	web()->not_offered[NOT_OFFERED_NO_CONN] = 10000;
	assert_verdict(EXIT_PASS, "");
	made.traffic[0].load.concurrency = 1000000;
	assert_verdict(EXIT_PASS, "");
}

static void a_busy_worker_below_target_is_invalid(void **state)
{
	(void)state;
	made.traffic[0].load.cps = (struct rate){1011, 1};
	assert_verdict(EXIT_PASS, "");
	made.worker[1].busy_cycles = 96;
	assert_verdict(
		EXIT_INVALID,
		"web: achieved cps 1000 is below 99 % of the target 1011, and core 1 of port s "
		"was busy 96.0 % of the time: use more cores, or lower the load");
	made.traffic[0].load.cps = (struct rate){1010, 1};
	assert_verdict(EXIT_PASS, "");
	made.traffic[0].load.concurrency = 5;
	assert_verdict(
		EXIT_INVALID,
		"web: achieved concurrency 4.666667 is below 99 % of the target 5, and core 1 of "
		"port s was busy 96.0 % of the time: use more cores, or lower the load");
}

static void lost_packets_are_invalid_for_clients(void **state)
{
	uint64_t *total = made.result.total.counters.value;

	(void)state;
	total[COUNTER_DROP_TX] = 21;
	total[COUNTER_IMISSED] = 21;
	assert_verdict(EXIT_PASS, "");
	total[COUNTER_DROP_TX] = 22;
	total[COUNTER_RX_NOMBUF] = 1;
	assert_verdict(
		EXIT_INVALID,
		"the ports refused 22 of 21022 packets to send (dropTx): give them more cores or "
		"tx_descriptors, or lower the load\n"
		"22 of 21022 packets received were lost in the ports (imissed, rxNombuf): give "
		"them more cores or rx_descriptors, or lower the load");
	made.traffic[0].kind = HTTP_SERVER;
	assert_verdict(EXIT_PASS, "");
}

/* Generator at its limit, and something else is wrong too. */
static void a_limit_explains_minima_and_few_failures(void **state)
{
	(void)state;
	web()->not_offered[NOT_OFFERED_LATE] = 3500;
	made_expect(&made, "traffic.web.achieved.cps", EXPECT_MIN, 2000, 0);
	made_fail(&made, FAILED_TIMEOUT, 35);
	assert_verdict(EXIT_INVALID,
		       "web: 3500 of 7000 wanted connections were not offered (3500 late): the "
		       "generator could not keep up: give the port more cores, or lower the load\n"
		       "web: 35 of 3500 connections failed: 35 timeout\n"
		       "traffic.web.achieved.cps 1000 is below min 2000");
	made_fail(&made, FAILED_TIMEOUT, 1);
	assert_verdict(EXIT_FAIL,
		       "web: 36 of 3500 connections failed: 36 timeout\n"
		       "traffic.web.achieved.cps 1000 is below min 2000\n"
		       "web: 3500 of 7000 wanted connections were not offered (3500 late): the "
		       "generator could not keep up: give the port more cores, or lower the load");
}

static void a_limit_does_not_explain_maxima(void **state)
{
	(void)state;
	web()->not_offered[NOT_OFFERED_LATE] = 3500;
	made_expect(&made, "total.pktRx", EXPECT_MAX, 0, 1);
	assert_verdict(EXIT_FAIL,
		       "total.pktRx 21000 is above max 1\n"
		       "web: 3500 of 7000 wanted connections were not offered (3500 late): the "
		       "generator could not keep up: give the port more cores, or lower the load");
}

static void interruption_before_the_steady_phase_is_invalid(void **state)
{
	(void)state;
	made.result.interrupted = true;
	made.result.started_steady = false;
	made.stats[0].level = (struct traffic_level){0};
	made_expect(&made, "total.pktRx", EXPECT_MAX, 0, 1);
	assert_verdict(EXIT_INVALID, "interrupted before the steady phase: nothing was measured");
}

static void interruption_later_is_judged_by_what_was_measured(void **state)
{
	(void)state;
	made.result.interrupted = true;
	made.config.duration = 30 * SECOND;
	made.result.steady = 32 * SECOND / 10;
	assert_verdict(EXIT_PASS, "interrupted after 3.2 s of 30.0 s");
	made_fail(&made, FAILED_RESET, 2);
	assert_verdict(EXIT_FAIL, "web: 2 of 3500 connections failed: 2 reset\n"
				  "interrupted after 3.2 s of 30.0 s");
}

/* What the end cut off is nobody's failure: little of it is a remark, much of it is not measured.
 */
static void what_is_cut_off_is_not_judged(void **state)
{
	(void)state;
	made.traffic[0].timeout = 60 * SECOND;
	made_fail(&made, FAILED_CUT, 35);
	assert_verdict(EXIT_PASS,
		       "web: 35 of 3500 connections were cut off by the end of the drain while the "
		       "far end still had time to answer: drain is 2 s, their time-out 60 s");
	made_fail(&made, FAILED_CUT, 1);
	assert_verdict(EXIT_INVALID,
		       "web: 36 of 3500 connections were cut off by the end of the drain while the "
		       "far end still had time to answer: drain is 2 s, their time-out 60 s");
	made_expect(&made, "traffic.web.failed.cut", EXPECT_MAX, 0, 100);
	assert_verdict(EXIT_PASS, "");
	made.config.expects = 0;
	made.result.interrupted = true;
	made.config.duration = 30 * SECOND;
	assert_verdict(EXIT_INVALID,
		       "web: 36 of 3500 connections were cut off by the interruption while the far "
		       "end still had time to answer\n"
		       "interrupted after 3.0 s of 30.0 s");
}

/* A far end that takes its link along has failed, whatever the port then did not take. */
static void a_link_that_stays_down_is_a_fail(void **state)
{
	uint64_t down[2] = {1400000000, 0};

	(void)state;
	made.result.link_down = down;
	assert_verdict(EXIT_PASS, ""); /* it went when all was done */
	made.result.total.counters.value[COUNTER_DROP_TX] = 1000;
	web()->not_offered[NOT_OFFERED_TX_FULL] = 3500;
	assert_verdict(EXIT_FAIL, "port c: its link was down 1.4 s after the load began, and did "
				  "not come up again");
	made_fail(&made, FAILED_CUT, 1000);
	assert_verdict(EXIT_FAIL, "port c: its link was down 1.4 s after the load began, and did "
				  "not come up again\n"
				  "web: 1000 of 3500 connections failed: 1000 cut");
	set_up(NULL);
	down[0] = 0;
	down[1] = 1; /* of a server */
	made.result.link_down = down;
	assert_verdict(EXIT_PASS, "");
}

static void servers_pass_unless_told_otherwise(void **state)
{
	(void)state;
	made.traffic[0].kind = HTTP_SERVER;
	made.result.interrupted = true;
	made_fail(&made, FAILED_RESET, 2);
	assert_verdict(EXIT_PASS, "");
	made.stats[0].level = (struct traffic_level){0};
	assert_verdict(EXIT_PASS, "");
	made_expect(&made, "traffic.web.offered", EXPECT_MIN, 1, 0);
	assert_verdict(EXIT_FAIL, "traffic.web.offered 0 is below min 1");
}

static void what_a_capture_misses_is_remarked(void **state)
{
	const struct capture_result capture[] = {
		{.file = "a.pcapng", .shown = 10, .dropped = 3, .written = 7},
		{.file = "b.pcapng", .error = "b.pcapng: write failed: No space left on device"},
		{.file = "c.pcapng", .shown = 5, .filtered = 5},
	};

	(void)state;
	made.result.capture = capture;
	made.result.captures = 3;
	assert_verdict(EXIT_PASS,
		       "capture: a.pcapng: 3 of 10 packets dropped: writing is too slow\n"
		       "capture: b.pcapng: write failed: No space left on device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_clean_run_passes, set_up),
		cmocka_unit_test_setup(what_a_capture_misses_is_remarked, set_up),
		cmocka_unit_test_setup(criteria_give_their_reasons, set_up),
		cmocka_unit_test_setup(a_metric_that_does_not_exist_fails, set_up),
		cmocka_unit_test_setup(failures_fail_by_kind, set_up),
		cmocka_unit_test_setup(requests_are_told_apart_when_they_differ, set_up),
		cmocka_unit_test_setup(one_failure_is_enough, set_up),
		cmocka_unit_test_setup(all_failed_is_a_fail, set_up),
		cmocka_unit_test_setup(criteria_on_failures_replace_the_rule, set_up),
		cmocka_unit_test_setup(nothing_offered_is_invalid, set_up),
		cmocka_unit_test_setup(the_rate_that_tuples_allow_is_said, set_up),
		cmocka_unit_test_setup(lateness_is_invalid_above_a_permille, set_up),
		cmocka_unit_test_setup(requests_without_a_connection_are_invalid, set_up),
		cmocka_unit_test_setup(tuples_held_by_failures_are_no_limit, set_up),
		cmocka_unit_test_setup(max_is_not_limited_by_itself, set_up),
		cmocka_unit_test_setup(a_busy_worker_below_target_is_invalid, set_up),
		cmocka_unit_test_setup(lost_packets_are_invalid_for_clients, set_up),
		cmocka_unit_test_setup(a_limit_explains_minima_and_few_failures, set_up),
		cmocka_unit_test_setup(a_limit_does_not_explain_maxima, set_up),
		cmocka_unit_test_setup(interruption_before_the_steady_phase_is_invalid, set_up),
		cmocka_unit_test_setup(interruption_later_is_judged_by_what_was_measured, set_up),
		cmocka_unit_test_setup(what_is_cut_off_is_not_judged, set_up),
		cmocka_unit_test_setup(a_link_that_stays_down_is_a_fail, set_up),
		cmocka_unit_test_setup(servers_pass_unless_told_otherwise, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
