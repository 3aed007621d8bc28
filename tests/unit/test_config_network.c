/* The simulated network's keys: what stands for both directions, and what differs in one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../common/config/config.h"

static void load(struct config *config, const char *network)
{
	int fd = memfd_create("network", 0);
	char name[64];

	dprintf(fd,
		"{\"duration\": \"1s\", \"ports\": [{\"device\": \"if:eth0\", \"cores\": [0]}],"
		"\"traffic\": [{\"kind\": \"http-server\", \"servers\": \"48.0.0.1\"}]%s}",
		network);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	assert_int_equal(
		config_load(config, name, NULL, 0, &(struct config_machine){.cores = 1}, stderr),
		0);
	close(fd);
}

static void test_absent_network_is_perfect(void **state)
{
	static const struct config_direction nothing;
	struct config c;

	(void)state;
	load(&c, "");
	assert_memory_equal(&c.network.to_server, &nothing, sizeof(nothing));
	assert_memory_equal(&c.network.to_client, &nothing, sizeof(nothing));
	config_free(&c);
}

static void test_a_direction_keeps_what_is_said_of_both(void **state)
{
	struct config c;
	const struct config_direction *s = &c.network.to_server, *t = &c.network.to_client;

	(void)state;
	load(&c, ", \"network\": {\"to_client\": {\"delay\": 0, \"loss\": \"0.5\", \"lose\": "
		 "{\"first\": 3}}, \"rate\": \"10Mbps\", \"delay\": \"20ms\", \"loss\": 0.01,"
		 "\"queue\": 100, \"lose\": {\"what\": \"fin\", \"count\": 2},"
		 "\"blackouts\": [{\"from\": \"1s\", \"for\": \"250ms\"}, {\"for\": \"1ms\"}]}");
	assert_int_equal(s->rate.num, 10000000);
	assert_int_equal(s->rate.den, 1);
	assert_int_equal(s->delay, 20000000);
	assert_true(s->loss == 0.01);
	assert_int_equal(s->queue, 100);
	assert_int_equal(s->lose.what, LOSE_FIN);
	assert_int_equal(s->lose.first, 0);
	assert_int_equal(s->lose.count, 2);
	assert_int_equal(s->blackouts, 2);
	assert_int_equal(s->blackout[0].from, 1000000000);
	assert_int_equal(s->blackout[0].length, 250000000);
	assert_int_equal(s->blackout[1].from, 0);
	assert_int_equal(t->rate.num, 10000000);
	assert_int_equal(t->delay, 0);
	assert_true(t->loss == 0.5);
	assert_int_equal(t->lose.what, LOSE_FIN);
	assert_int_equal(t->lose.first, 3);
	assert_int_equal(t->blackouts, 2);
	config_free(&c);
}

static void test_one_direction_alone(void **state)
{
	struct config c;

	(void)state;
	load(&c,
	     ", \"network\": {\"to_server\": {\"jitter\": \"1ms\", \"reorder\": 0.1,"
	     "\"reorder_delay\": \"3ms\", \"duplicate\": 1, \"corrupt\": 0.25,"
	     "\"corrupt_payload\": true, \"mtu\": 1400, \"loss_burst\": 4, \"loss_every\": 7}}");
	assert_int_equal(c.network.to_server.jitter, 1000000);
	assert_true(c.network.to_server.reorder == 0.1);
	assert_int_equal(c.network.to_server.reorder_delay, 3000000);
	assert_true(c.network.to_server.duplicate == 1);
	assert_true(c.network.to_server.corrupt == 0.25);
	assert_true(c.network.to_server.corrupt_payload);
	assert_int_equal(c.network.to_server.mtu, 1400);
	assert_int_equal(c.network.to_server.loss_burst, 4);
	assert_int_equal(c.network.to_server.loss_every, 7);
	assert_int_equal(c.network.to_client.jitter, 0);
	assert_false(c.network.to_client.corrupt_payload);
	config_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent_network_is_perfect),
		cmocka_unit_test(test_a_direction_keeps_what_is_said_of_both),
		cmocka_unit_test(test_one_direction_alone),
	};

	return cmocka_run_group_tests_name("config network", tests, NULL, NULL);
}
