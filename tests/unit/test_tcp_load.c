/* The load a client offers: exact counts, even spacing, what is held, and the exact end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/world.h"

static struct world w;

static uint64_t not_offered(void)
{
	return tally_not_offered(&world_client(&w)->connection);
}

static void expect_all_succeeded(uint64_t offered)
{
	const struct tally *t = &world_client(&w)->connection;

	if (t->offered != offered || t->succeeded != offered || not_offered() != 0) {
		world_describe(&w);
		fail_msg("%lu connections expected, all to succeed: %lu offered, %lu not, %lu "
			 "succeeded",
			 (unsigned long)offered, (unsigned long)t->offered,
			 (unsigned long)not_offered(), (unsigned long)t->succeeded);
	}
}

static void test_low_rates_are_exact(void **state)
{
	static const unsigned rate[] = {1, 11, 13, 23, 101, 997};

	(void)state;
	for (unsigned i = 0; i < sizeof(rate) / sizeof(rate[0]); i++) {
		char set[64];

		snprintf(set, sizeof(set), "client.load.cps=%u", rate[i]);
		world_open(&w, NULL, SET(set, "duration=20s"));
		world_run(&w);
		expect_all_succeeded(20 * rate[i]);
		assert_int_equal(w.lab[0].counters.value[COUNTER_SYN_RT], 0);
		world_close(&w);
	}
}

static void test_fractions_are_exact(void **state)
{
	(void)state;
	world_open(&w, NULL, SET("client.load.cps=0.5", "duration=5s"));
	world_run(&w);
	expect_all_succeeded(3); /* at 0, 2 and 4 s */
	world_close(&w);
	world_open(&w, NULL, SET("client.load.cps=33.3", "duration=10s"));
	world_run(&w);
	expect_all_succeeded(333);
	world_close(&w);
}

/* When each connection is opened: one at a time, evenly. */
static void test_low_rates_are_smooth(void **state)
{
	unsigned syn = 0;

	(void)state;
	world_open(&w, NULL, SET("client.load.cps=100", "duration=2s"));
	world_record(&w, 2000);
	world_run(&w);
	expect_all_succeeded(200);
	for (unsigned i = 0; i < w.packets; i++) {
		if (w.packet[i].segment.flags != 0x02)
			continue;
		assert_in_range(w.packet[i].at, syn * MS(10), syn * MS(10) + US(10));
		syn++;
	}
	assert_int_equal(syn, 200);
	world_close(&w);
}

static void test_nothing_is_opened_after_the_end(void **state)
{
	(void)state;
	world_open(&w, NULL, SET("client.load.cps=1000", "duration=100ms"));
	world_record(&w, 2000);
	world_start(&w);
	world_pass(&w, SEC(1)); /* on and on, without a drain */
	for (unsigned i = 0; i < w.packets; i++)
		if (w.packet[i].segment.flags == 0x02)
			assert_true(w.packet[i].at < MS(100));
	expect_all_succeeded(100);
	world_drain(&w);
	world_close(&w);
}

static void test_ramp_rises_linearly(void **state)
{
	unsigned first = 0, second = 0, steady = 0;

	(void)state;
	world_open(&w, NULL, SET("client.load.cps=1000", "ramp=2s", "duration=1s"));
	world_record(&w, 16000);
	world_run(&w);
	for (unsigned i = 0; i < w.packets; i++) {
		if (w.packet[i].segment.flags != 0x02)
			continue;
		first += w.packet[i].at < SEC(1);
		second += w.packet[i].at >= SEC(1) && w.packet[i].at < SEC(2);
		steady += w.packet[i].at >= SEC(2);
	}
	assert_in_range(first, 249, 251); /* half of rate * t^2 / ramp */
	assert_in_range(second, 749, 751);
	assert_int_equal(steady, 1000);
	expect_all_succeeded(2000);
	world_close(&w);
}

static void test_high_rate(void **state)
{
	(void)state;
	world_open(&w, NULL, SET("client.load.cps=200k", "duration=200ms"));
	world_run(&w);
	expect_all_succeeded(40000);
	world_close(&w);
}

static void test_concurrency_is_held(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   SET("client.load.concurrency=500", "duration=2s",
		       "client.requests_per_connection=max", "client.think_time=100ms"));
	world_start(&w);
	world_pass(&w, MS(100));
	for (unsigned i = 0; i < 18; i++) {
		assert_int_equal(world_client(&w)->open, 500);
		assert_int_equal(world_server(&w)->open, 500);
		world_pass(&w, MS(100));
	}
	assert_int_equal(world_client(&w)->connection.offered, 500);
	world_drain(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 500);
	assert_in_range(world_client(&w)->request.succeeded, 500 * 17, 500 * 20);
	world_close(&w);
}

/* Short connections, replaced as they end. */
static void test_concurrency_of_short_connections(void **state)
{
	uint64_t offered;

	(void)state;
	world_open(&w, NULL, SET("client.load.concurrency=10", "duration=100ms"));
	world_run(&w);
	offered = world_client(&w)->connection.offered;
	assert_int_equal(world_client(&w)->connection.succeeded, offered);
	/* a connection lasts about 50 us and 10 go on at once */
	assert_in_range(offered, 8000, 25000);
	assert_in_range(world_client(&w)->open_max, 10, 20);
	world_close(&w);
}

static void churn(const char *think_time)
{
	const struct world_rule rule = {.to_server = {.delay = MS(1)},
					.to_client = {.delay = MS(1)}};

	world_open(&w, &rule,
		   SET("client.load.concurrency=100", "client.load.cps=50", "duration=10s",
		       think_time));
	world_start(&w);
	world_pass(&w, SEC(2) + MS(500));
	for (unsigned i = 0; i < 7; i++) { /* full after two seconds */
		assert_in_range(world_client(&w)->open, 99, 102);
		world_pass(&w, SEC(1));
	}
	world_pass(&w, MS(500));
	assert_int_equal(world_client(&w)->connection.offered, 500);
	assert_int_equal(not_offered(), 0);
	world_drain(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 500);
	world_close(&w);
}

static void test_concurrency_with_churn(void **state)
{
	(void)state;
	churn("client.think_time=50ms");
}

/* No connection is ever idle: the oldest goes after the response that it awaits. */
static void test_churn_of_busy_connections(void **state)
{
	(void)state;
	churn("client.think_time=0s");
}

static void test_requests_per_second(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   SET("client.load.concurrency=20", "client.load.rps=777",
		       "client.requests_per_connection=max", "duration=3s"));
	world_run(&w);
	assert_in_range(world_client(&w)->request.succeeded, 3 * 777 - 1, 3 * 777);
	assert_int_equal(world_client(&w)->request.succeeded +
				 tally_not_offered(&world_client(&w)->request),
			 3 * 777);
	assert_int_equal(world_client(&w)->connection.offered, 20);
	world_close(&w);
}

/* Without a concurrency as many connections are opened as the rate needs. */
static void test_requests_per_second_alone(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   SET("client.load.rps=1000", "duration=2s", "client.requests_per_connection=10"));
	world_run(&w);
	assert_in_range(world_client(&w)->request.succeeded, 1990, 2000);
	assert_int_equal(world_client(&w)->request.succeeded +
				 tally_not_offered(&world_client(&w)->request),
			 2000);
	assert_in_range(world_client(&w)->connection.offered, 199, 240);
	world_close(&w);
}

static void test_bits_per_second(void **state)
{
	uint64_t bits;

	(void)state;
	world_open(&w, NULL,
		   SET("client.load.concurrency=10", "client.load.bps=100Mbps",
		       "client.requests_per_connection=max", "server.response.body.size=10000",
		       "duration=2s"));
	world_start(&w);
	world_pass(&w, SEC(2));
	bits = world_client(&w)->bits_rx;
	assert_in_range(bits, 196000000, 204000000);
	world_drain(&w);
	world_close(&w);
}

static void test_max(void **state)
{
	static const char *const load[] = {"client.load.cps=max", "client.load.rps=max",
					   "client.load.bps=max"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		world_open(&w, NULL, SET(load[i], "duration=1ms"));
		world_run(&w);
		assert_in_range(world_client(&w)->connection.offered, 2000, 10000000);
		assert_int_equal(world_client(&w)->connection.succeeded,
				 world_client(&w)->connection.offered);
		assert_int_equal(not_offered(), 0); /* "max" wants no number */
		world_close(&w);
	}
}

/* More than the tuples allow: what was due is offered or counted. */
static void test_tuples_run_out(void **state)
{
	struct world_rule slow = {.to_server = {.delay = MS(100)}, .to_client = {.delay = MS(100)}};
	const struct tally *t = &w.lab[0].stats.level.connection;

	(void)state;
	world_open(&w, &slow,
		   SET("client.load.cps=1000", "client.client_ports=2000-2009", "duration=300ms"));
	world_run(&w);
	assert_int_equal(t->offered + not_offered(), 300);
	assert_true(t->not_offered[NOT_OFFERED_NO_TUPLE] > 250);
	assert_int_equal(t->succeeded, t->offered);
	world_close(&w);
}

static void test_server_is_not_there(void **state)
{
	struct world_rule cut = {.to_server = {.loss = 1}};

	(void)state;
	world_open(&w, &cut, SET("client.load.cps=10", "duration=1s", "client.timeout=500ms"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.failed[FAILED_TIMEOUT], 10);
	world_close(&w);
}

static void test_wrong_port(void **state)
{
	(void)state;
	world_open(&w, NULL, SET("client.load.cps=10", "duration=1s", "server.server_ports=81"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.failed[FAILED_REFUSED], 10);
	world_close(&w);
}

/* The port takes no packet: nothing is lost in silence. */
static void test_stalled_port(void **state)
{
	const struct tally *t = &w.lab[0].stats.level.connection;

	(void)state;
	world_open(&w, NULL, SET("client.load.cps=10k", "duration=100ms", "client.catch_up=10ms"));
	w.box.limit = 1; /* no packets at all for a while */
	world_start(&w);
	world_pass(&w, MS(50));
	w.box.limit = 0;
	world_pass(&w, MS(50));
	world_pass(&w, SEC(4));
	world_drain(&w);
	assert_int_equal(t->offered + not_offered(), 1000);
	assert_int_equal(t->succeeded, t->offered);
	world_close(&w);
}

static void test_latencies(void **state)
{
	struct world_rule far = {.to_server = {.delay = MS(3)}, .to_client = {.delay = MS(4)}};
	const struct traffic_stats *s = &w.lab[0].stats;

	(void)state;
	world_open(&w, &far, SET("client.load.cps=100", "duration=1s"));
	world_run(&w);
	assert_int_equal(s->connect.count, 100);
	assert_int_equal(s->first_byte.count, 100);
	assert_int_equal(s->response.count, 100);
	assert_in_range(hist_quantile(&s->connect, 0.5), US(6930), US(7070));
	assert_in_range(hist_quantile(&s->first_byte, 0.5), US(6930), US(7070));
	assert_in_range(hist_quantile(&s->response, 0.99), US(6930), US(7070));
	assert_in_range(s->connect.max, MS(7) - 64, MS(7) + 64);
	world_close(&w);
}

static void test_latency_counts_from_the_first_transmission(void **state)
{
	struct world_rule lossy = {
		.to_server = {.delay = MS(3), .lose_flags = 0x02, .lose_first = 1, .lose_count = 1},
		.to_client = {.delay = MS(4)}};

	(void)state;
	world_open(&w, &lossy, SET("client.load.cps=1", "duration=1s", "drain=5s"));
	world_run(&w);
	assert_int_equal(w.lab[0].counters.value[COUNTER_SYN_RT], 1);
	assert_in_range(w.lab[0].stats.connect.max, MS(1006), MS(1008));
	world_close(&w);
}

/* Connections that remain at the end are closed by FIN; those that cannot be by RST. */
static void test_drain(void **state)
{
	(void)state;
	world_open(&w, NULL,
		   SET("client.load.concurrency=200", "duration=500ms",
		       "client.requests_per_connection=max", "client.think_time=60s"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 200);
	assert_int_equal(w.lab[0].counters.value[COUNTER_FIN_TX], 200);
	assert_int_equal(w.lab[0].counters.value[COUNTER_RST_TX], 0);
	assert_int_equal(w.lab[1].counters.value[COUNTER_RST_TX], 0);
	assert_int_equal(world_server(&w)->connection.succeeded, 200);
	world_close(&w);
}

static void test_drain_when_the_far_end_is_gone(void **state)
{
	static const struct wire_blackout dark[] = {{LAB_EPOCH + MS(500), WIRE_NEVER}};
	struct world_rule cut = {.to_server = {.blackout = dark, .blackouts = 1}};

	(void)state;
	world_open(&w, &cut,
		   SET("client.load.concurrency=200", "duration=1s",
		       "client.requests_per_connection=max", "client.think_time=60s"));
	world_run(&w);
	assert_int_equal(w.lab[0].counters.value[COUNTER_RST_TX], 200);
	world_close(&w);
}

static void test_early_drain(void **state)
{
	(void)state;
	world_open(&w, NULL, SET("client.load.cps=1000", "duration=10s"));
	world_start(&w);
	world_pass(&w, SEC(1));
	world_drain(&w);
	assert_in_range(world_client(&w)->connection.offered, 1000, 1001);
	assert_int_equal(world_client(&w)->connection.succeeded,
			 world_client(&w)->connection.offered);
	assert_int_equal(not_offered(), 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_low_rates_are_exact),
		cmocka_unit_test(test_fractions_are_exact),
		cmocka_unit_test(test_low_rates_are_smooth),
		cmocka_unit_test(test_nothing_is_opened_after_the_end),
		cmocka_unit_test(test_ramp_rises_linearly),
		cmocka_unit_test(test_high_rate),
		cmocka_unit_test(test_concurrency_is_held),
		cmocka_unit_test(test_concurrency_of_short_connections),
		cmocka_unit_test(test_concurrency_with_churn),
		cmocka_unit_test(test_churn_of_busy_connections),
		cmocka_unit_test(test_requests_per_second),
		cmocka_unit_test(test_requests_per_second_alone),
		cmocka_unit_test(test_bits_per_second),
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_tuples_run_out),
		cmocka_unit_test(test_server_is_not_there),
		cmocka_unit_test(test_wrong_port),
		cmocka_unit_test(test_stalled_port),
		cmocka_unit_test(test_latencies),
		cmocka_unit_test(test_latency_counts_from_the_first_transmission),
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_drain_when_the_far_end_is_gone),
		cmocka_unit_test(test_early_drain),
	};

	return cmocka_run_group_tests_name("tcp load", tests, NULL, NULL);
}
