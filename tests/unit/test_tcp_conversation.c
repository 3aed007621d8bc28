/* Conversations, segment by segment, and in random worlds: each side plays its part of a script,
 * compares what it hears, and every conversation comes to its end over any network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/rng.h"
#include "../support/drill.h"
#include "../support/talk.h"
#include "../support/world.h"

#define TALK                                                                  \
	"client.kind=conversation-client", "server.kind=conversation-server", \
		"client.files=[\"x.pcap\"]", "server.files=[\"x.pcap\"]", "drain=30s"
#define GET_OK "c:GET s:OK sF cF"

static struct drill d;
static struct world w;

static void talk_one(const char *text)
{
	talk_begin();
	talk_add(text);
	lab_scripts = talk_set();
}

static void open_client(const char *text)
{
	talk_one(text);
	drill_open(&d, DRILL_CLIENT, SET(TALK, "client.load.cps=0.01", "duration=60s"));
	EXPECT(&d, "S 0:0 win 65535");
}

static void open_server(const char *text)
{
	talk_one(text);
	drill_open(&d, DRILL_SERVER, SET(TALK));
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
}

static const struct tally *tally(void)
{
	return &drill_level(&d)->connection;
}

static void expect_success(uint64_t compared)
{
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(tally()->succeeded, 1);
	assert_int_equal(drill_level(&d)->compared, compared);
	drill_close(&d);
}

static void expect_failure(enum failed why)
{
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(tally()->failed[why], 1);
	drill_close(&d);
}

/* In six packets, as HTTP. */
static void test_client_asks_and_hears(void **state)
{
	(void)state;
	open_client(GET_OK);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	assert_string_equal(d.payload, "GET");
	SEND_TEXT(&d, "OK", "FP. 1 ack 4");
	EXPECT(&d, "F. 4:4 ack 4");
	SEND(&d, ". 4 ack 5");
	expect_success(2);
}

static void test_server_answers(void **state)
{
	(void)state;
	open_server(GET_OK);
	SEND_TEXT(&d, "GET", "P. 1 ack 1");
	EXPECT(&d, "FP. 1:3 ack 4");
	assert_string_equal(d.payload, "OK");
	SEND(&d, "F. 4 ack 4");
	EXPECT(&d, ". 4:4 ack 5");
	expect_success(3);
}

/* As SMTP does. */
static void test_server_speaks_first(void **state)
{
	(void)state;
	open_server("s:220 c:HELO s:250 c:QUIT s:221 sF cF");
	SEND(&d, ". 1 ack 1");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND_TEXT(&d, "HELO", "P. 1 ack 4");
	EXPECT(&d, "P. 4:7 ack 5");
	SEND_TEXT(&d, "QUIT", "P. 5 ack 7");
	EXPECT(&d, "FP. 7:10 ack 9");
	SEND(&d, "F. 9 ack 11");
	EXPECT(&d, ". 11:11 ack 10");
	expect_success(8);
}

static void test_client_hears_first(void **state)
{
	(void)state;
	open_client("s:220 c:HELO cF sF");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, ". 1:1 ack 1");
	SEND_TEXT(&d, "220", "P. 1 ack 1");
	EXPECT(&d, "FP. 1:5 ack 4");
	SEND(&d, "F. 4 ack 6");
	EXPECT(&d, ". 6:6 ack 5");
	expect_success(3);
}

/* Think times begin when the far end has been heard; nothing but they delays a turn. */
static void test_think_times(void **state)
{
	(void)state;
	open_client("c:one s:two c@250:three c@30:four s:five sF cF");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND_TEXT(&d, "two", "P. 1 ack 4");
	EXPECT(&d, ". 4:4 ack 4");
	EXPECT_IN(&d, MS(250), "P. 4:9 ack 4");
	EXPECT_IN(&d, MS(30), "P. 9:13 ack 4");
	SEND_TEXT(&d, "five", "FP. 4 ack 13");
	EXPECT(&d, "F. 13:13 ack 9");
	SEND(&d, ". 9 ack 14");
	expect_success(7);
}

/* What is sent before a think time is repeated within it. */
static void test_retransmission_while_thinking(void **state)
{
	(void)state;
	open_client("c:one c@5000:two s:x sF cF");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	EXPECT_IN(&d, MS(200), "P. 1:4 ack 1");
	SEND(&d, ". 1 ack 4");
	EXPECT_IN(&d, MS(4800), "P. 4:7 ack 1");
	SEND_TEXT(&d, "x", "FP. 1 ack 7");
	EXPECT(&d, "F. 7:7 ack 3");
	SEND(&d, ". 3 ack 8");
	expect_success(1);
}

static void test_both_speak_at_once(void **state)
{
	(void)state;
	open_server("c:aaa s&:bbb c&:ccc s&:ddd cF sF");
	SEND(&d, ". 1 ack 1");
	EXPECT(&d, "P. 1:7 ack 1");
	assert_string_equal(d.payload, "bbbddd");
	SEND_TEXT(&d, "aaaccc", "FP. 1 ack 7");
	EXPECT(&d, "F. 7:7 ack 8");
	SEND(&d, ". 8 ack 8");
	expect_success(6);
}

/* The client closes its direction, and goes on hearing. */
static void test_half_close(void **state)
{
	(void)state;
	open_client("c:ask cF s:one s@50:two sF");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "FP. 1:4 ack 1");
	SEND(&d, ". 1 ack 5");
	EXPECT_NOTHING(&d);
	SEND_TEXT(&d, "one", "P. 1 ack 5");
	EXPECT(&d, ". 5:5 ack 4");
	SEND_TEXT(&d, "two", "FP. 4 ack 5");
	EXPECT(&d, ". 5:5 ack 8");
	expect_success(6);
}

static void test_server_of_a_half_close(void **state)
{
	(void)state;
	open_server("c:ask cF s:one s@50:two sF");
	SEND_TEXT(&d, "ask", "FP. 1 ack 1");
	EXPECT(&d, "P. 1:4 ack 5");
	SEND(&d, ". 5 ack 4");
	EXPECT_IN(&d, MS(50), "FP. 4:7 ack 5");
	SEND(&d, ". 5 ack 8");
	expect_success(3);
}

/* An RST leaves when all is acknowledged: else it could overtake what was said. */
static void test_client_resets(void **state)
{
	(void)state;
	open_client("c:one s:two c:three cR");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND_TEXT(&d, "two", "P. 1 ack 4");
	EXPECT(&d, "P. 4:9 ack 4");
	EXPECT_NOTHING(&d);
	SEND(&d, ". 4 ack 9");
	EXPECT(&d, "R. 9:9 ack 4");
	expect_success(3);
}

static void test_server_is_reset_as_recorded(void **state)
{
	(void)state;
	open_server("c:one s:two cR");
	SEND_TEXT(&d, "one", "P. 1 ack 1");
	EXPECT(&d, "P. 1:4 ack 4");
	SEND(&d, "R. 4 ack 4");
	expect_success(3);
}

/* Nobody repeats an RST. */
static void test_lost_rst_is_no_failure(void **state)
{
	(void)state;
	open_server("c:one s:two cR");
	SEND_TEXT(&d, "one", "P. 1 ack 1");
	EXPECT(&d, "P. 1:4 ack 4");
	SEND(&d, ". 4 ack 4");
	drill_wait(&d, SEC(6));
	EXPECT(&d, "R. 4:4 ack 4");
	expect_success(3);
}

static void test_reset_that_is_not_in_the_script(void **state)
{
	(void)state;
	open_server("c:one s:two c:three sF cF");
	SEND_TEXT(&d, "one", "P. 1 ack 1");
	EXPECT(&d, "P. 1:4 ack 4");
	SEND(&d, "R. 4 ack 4");
	expect_failure(FAILED_RESET);
}

static void test_other_bytes_are_a_mismatch(void **state)
{
	(void)state;
	open_client(GET_OK);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND_TEXT(&d, "KO", "P. 1 ack 4");
	EXPECT(&d, "R. 4:4");
	expect_failure(FAILED_MISMATCH);
}

static void test_more_bytes_are_a_mismatch(void **state)
{
	(void)state;
	open_client(GET_OK);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND_TEXT(&d, "OK!", "P. 1 ack 4");
	EXPECT(&d, "R. 4:4");
	expect_failure(FAILED_MISMATCH);
}

static void test_early_fin(void **state)
{
	(void)state;
	open_client(GET_OK);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND_TEXT(&d, "O", "FP. 1 ack 4");
	EXPECT(&d, "R. 4:4");
	expect_failure(FAILED_PROTOCOL);
}

static void test_silence(void **state)
{
	(void)state;
	open_client(GET_OK);
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND(&d, ". 1 ack 4");
	drill_wait(&d, SEC(6));
	EXPECT(&d, "R. 4:4");
	expect_failure(FAILED_TIMEOUT);
}

/* The far end thinks for as long as the recording says, and the time-out longer. */
static void test_patience(void **state)
{
	(void)state;
	open_client("c:GET s@20000:OK sF cF");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND(&d, ". 1 ack 4");
	drill_wait(&d, SEC(24));
	EXPECT_NOTHING(&d);
	SEND_TEXT(&d, "OK", "FP. 1 ack 4");
	EXPECT(&d, "F. 4:4 ack 4");
	SEND(&d, ". 4 ack 5");
	expect_success(2);
}

static void test_segments_out_of_order(void **state)
{
	(void)state;
	open_client("c:GET s:abcdef sF cF");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1:4 ack 1");
	SEND_TEXT(&d, "def", "FP. 4 ack 4");
	EXPECT(&d, ". 4:4 ack 1");
	SEND_TEXT(&d, "abc", ". 1 ack 4");
	EXPECT(&d, "F. 4:4 ack 8");
	SEND(&d, ". 8 ack 5");
	expect_success(6);
}

/* A connection that says nothing. */
static void test_nothing_said(void **state)
{
	(void)state;
	open_client("cF sF");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "F. 1:1 ack 1");
	SEND(&d, "F. 1 ack 2");
	EXPECT(&d, ". 2:2 ack 2");
	expect_success(0);
}

static void three_scripts(void)
{
	talk_begin();
	talk_add("c:GET/a s:A sF cF");
	talk_add("c:GET/b s:B sF cF");
	talk_add("c:GET/b c&:more s:M sF cF");
	lab_scripts = talk_set();
}

/* A client that is not ours: what it says tells the script. */
static void test_server_turns_to_the_right_script(void **state)
{
	static const char *const ask[] = {"GET/a", "GET/b", "GET/bmore", "GET/a"};
	static const char *const answer[] = {"A", "B", "M", "A"};

	(void)state;
	three_scripts();
	drill_open(&d, DRILL_SERVER, SET(TALK));
	for (unsigned i = 0; i < 4; i++) {
		uint32_t end = 1 + (uint32_t)strlen(ask[i]);

		drill_flow(&d, i);
		drill_renumber(&d, 0x1000); /* it names the first */
		SEND(&d, "S 0 win 65535 <mss 1460>");
		EXPECT(&d, "S. 0:0 ack 1");
		SEND_TEXT(&d, ask[i], "P. 1 ack 1");
		EXPECT(&d, "FP. 1:2 ack %u", end);
		assert_string_equal(d.payload, answer[i]);
		SEND(&d, "F. %u ack 3", end);
		EXPECT(&d, ". 3:3 ack %u", end + 1);
	}
	assert_int_equal(tally()->succeeded, 4);
	drill_flow(&d, 4);
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, "GET/c", "P. 1 ack 1");
	EXPECT(&d, "R. 1:1");
	assert_int_equal(tally()->failed[FAILED_MISMATCH], 1);
	drill_close(&d);
}

/* All conversations as often as each other, whatever they have in common. */
static void test_client_names_the_script(void **state)
{
	(void)state;
	talk_begin();
	for (unsigned i = 0; i < 5; i++) {
		char text[64];

		snprintf(text, sizeof(text), "c:same s:answer%u sF cF", i);
		talk_add(text);
	}
	lab_scripts = talk_set();
	world_open(&w, NULL, SET(TALK, "client.load.cps=50", "duration=2s"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 100);
	assert_int_equal(world_server(&w)->connection.succeeded, 100);
	assert_int_equal(world_client(&w)->compared, 100 * 7);
	world_close(&w);
}

static void turns_make(char *text, size_t size, struct rng *r)
{
	static const unsigned bytes[] = {1, 10, 500, 1460, 1461, 20000, 100000};
	unsigned turns = 1 + (unsigned)rng_below(r, 8);
	size_t at = 0;

	for (unsigned i = 0; i < turns; i++) {
		at += (size_t)snprintf(text + at, size - at, "%c%s", rng_below(r, 2) ? 'c' : 's',
				       rng_below(r, 4) ? "" : "&");
		if (!rng_below(r, 4))
			at += (size_t)snprintf(text + at, size - at, "@%u",
					       (unsigned)rng_below(r, 300));
		at += (size_t)snprintf(text + at, size - at, "#%u ", bytes[rng_below(r, 7)]);
	}
	switch (rng_below(r, 4)) {
	case 0:
		snprintf(text + at, size - at, "cF sF");
		break;
	case 1:
		snprintf(text + at, size - at, "sF cF");
		break;
	case 2:
		snprintf(text + at, size - at, "cF s#3000 sF");
		break;
	default:
		snprintf(text + at, size - at, rng_below(r, 2) ? "cR" : "sR");
	}
}

/* Every conversation comes to its end, and every byte is as the script has it. */
static void run_seed(uint64_t seed)
{
	struct rng r = {seed};
	unsigned scripts = 1 + (unsigned)rng_below(&r, 6);
	struct world_rule rule = {.seed = seed};
	char text[512];

	talk_begin();
	for (unsigned i = 0; i < scripts; i++) {
		turns_make(text, sizeof(text), &r);
		talk_add(text);
	}
	lab_scripts = talk_set();
	for (unsigned i = 0; i < 2; i++) {
		struct wire_rule *wire = i ? &rule.to_server : &rule.to_client;

		wire->delay = US(10) << rng_below(&r, 12);
		wire->loss = (double)rng_below(&r, 50) / 1000;
		wire->reorder = (double)rng_below(&r, 100) / 1000;
		wire->duplicate = (double)rng_below(&r, 50) / 1000;
		wire->corrupt = (double)rng_below(&r, 10) / 1000;
	}
	if (!rng_below(&r, 4))
		rule = (struct world_rule){.seed = seed};
	world_open(&w, &rule,
		   SET(TALK, "client.load.cps=20", "duration=1s", "client.timeout=60s",
		       "server.timeout=60s", "client.tcp.retries=15", "server.tcp.retries=15",
		       "drain=200s", seed & 1 ? "client.tcp.timestamps=true" : "seed=1",
		       seed & 2 ? "server.tcp.window=5000" : "seed=1"));
	for (unsigned i = 0; seed & 4 && i < 2; i++)
		w.lab[i].sim.tx.tx.piece_min = 100;
	world_run(&w);
	if (world_client(&w)->connection.succeeded != 20 ||
	    world_server(&w)->connection.succeeded < 20 ||
	    world_client(&w)->connection.failed[FAILED_MISMATCH]) {
		world_describe(&w);
		fail_msg("seed %lu: %lu of 20 succeeded, of the server %lu; the last script: %s",
			 (unsigned long)seed, (unsigned long)world_client(&w)->connection.succeeded,
			 (unsigned long)world_server(&w)->connection.succeeded, text);
	}
	world_close(&w);
}

static void test_random_worlds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		run_seed(seed);
}

static void test_concurrency_is_held(void **state)
{
	(void)state;
	talk_one("c:GET s@900:OK sF cF");
	world_open(&w, NULL, SET(TALK, "client.load.concurrency=30", "duration=3s"));
	world_start(&w);
	world_pass(&w, MS(1500));
	assert_int_equal(world_client(&w)->open, 30);
	world_pass(&w, MS(1400));
	world_drain(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 120);
	world_close(&w);
}

/* What a run ends before its time is not called a success. */
static void test_cut_by_the_end(void **state)
{
	(void)state;
	talk_one("c:GET s@5000:OK sF cF");
	world_open(&w, NULL, SET(TALK, "drain=1s", "client.load.cps=5", "duration=1s"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.failed[FAILED_CUT], 5);
	world_close(&w);
}

static int forget(void **state)
{
	(void)state;
	talk_end();
	lab_scripts = NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_asks_and_hears),
		cmocka_unit_test(test_server_answers),
		cmocka_unit_test(test_server_speaks_first),
		cmocka_unit_test(test_client_hears_first),
		cmocka_unit_test(test_think_times),
		cmocka_unit_test(test_retransmission_while_thinking),
		cmocka_unit_test(test_both_speak_at_once),
		cmocka_unit_test(test_half_close),
		cmocka_unit_test(test_server_of_a_half_close),
		cmocka_unit_test(test_client_resets),
		cmocka_unit_test(test_server_is_reset_as_recorded),
		cmocka_unit_test(test_lost_rst_is_no_failure),
		cmocka_unit_test(test_reset_that_is_not_in_the_script),
		cmocka_unit_test(test_other_bytes_are_a_mismatch),
		cmocka_unit_test(test_more_bytes_are_a_mismatch),
		cmocka_unit_test(test_early_fin),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_segments_out_of_order),
		cmocka_unit_test(test_nothing_said),
		cmocka_unit_test(test_server_turns_to_the_right_script),
		cmocka_unit_test(test_client_names_the_script),
		cmocka_unit_test(test_random_worlds),
		cmocka_unit_test(test_concurrency_is_held),
		cmocka_unit_test(test_cut_by_the_end),
	};

	return cmocka_run_group_tests_name("tcp conversation", tests, NULL, forget);
}
