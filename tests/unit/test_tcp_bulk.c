/* Bulk transfers over a long lossy path against what theory expects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/world.h"

#define BYTES 4000000.0
#define MSS   1460.0
#define RTT   0.1
#define LOSS  0.01

/* RFC 9438 section 5: at this loss and round trip CUBIC is in its Reno-friendly region, so one
 * figure is for both: MSS / RTT * sqrt(3/2) / sqrt(p), 179 kB/s. A factor of two either way is
 * allowed: the losses of one connection are few. */
static void transfer(const char *congestion, const char *sack, bool upload)
{
	double expected = BYTES / (MSS / RTT * 1.2247 / 0.1), took;
	static struct world w;
	struct world_rule rule = {
		.to_server = {.delay = MS(50)}, .to_client = {.delay = MS(50)}, .seed = 7};
	char client[64], server[64], client_sack[64], server_sack[64];

	(upload ? &rule.to_server : &rule.to_client)->loss = LOSS;
	snprintf(client, sizeof(client), "client.tcp.congestion=%s", congestion);
	snprintf(server, sizeof(server), "server.tcp.congestion=%s", congestion);
	snprintf(client_sack, sizeof(client_sack), "client.tcp.sack=%s", sack);
	snprintf(server_sack, sizeof(server_sack), "server.tcp.sack=%s", sack);
	world_open(&w, &rule,
		   SET("client.load.cps=0.01", "duration=60s", "drain=100s", "client.timeout=100s",
		       "server.timeout=100s", "client.tcp.window=4Mi", "server.tcp.window=4Mi",
		       client, server, client_sack, server_sack,
		       upload ? "client.request.method=POST" : "server.response.body.size=4m",
		       upload ? "client.request.body.size=4m" : "client.request.method=GET"));
	world_run(&w);
	assert_int_equal(world_client(&w)->request.succeeded, 1);
	took = (double)hist_quantile(&w.lab[LAB_CLIENT_PORT].stats.response, 1) / 1e9;
	print_message("%s, SACK %s, %s: %.1f s, theory %.1f s\n", congestion, sack,
		      upload ? "up" : "down", took, expected);
	assert_true(took < 2 * expected && took > expected / 2);
	world_close(&w);
}

static void test_newreno(void **state)
{
	(void)state;
	transfer("newreno", "true", false);
	transfer("newreno", "true", true);
	transfer("newreno", "false", false);
}

static void test_cubic(void **state)
{
	(void)state;
	transfer("cubic", "true", false);
	transfer("cubic", "true", true);
}

/* Without room to keep what came before its turn, the peer repeats it. */
static void test_nothing_is_kept(void **state)
{
	struct world_rule rule = {.to_server = {.delay = MS(1)},
				  .to_client = {.delay = MS(1), .loss = 0.02},
				  .seed = 3};
	static struct world w;

	(void)state;
	world_open(&w, &rule,
		   SET("client.load.cps=10", "memory.kept_segments=0", "drain=30s",
		       "server.response.body.size=100000", "client.timeout=30s"));
	world_run(&w);
	assert_true(w.lab[LAB_CLIENT_PORT].counters.drop[DROP_TCP_OUT_OF_ORDER] > 0);
	assert_int_equal(world_client(&w)->connection.succeeded, 10);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newreno),
		cmocka_unit_test(test_cubic),
		cmocka_unit_test(test_nothing_is_kept),
	};

	return cmocka_run_group_tests_name("tcp bulk", tests, NULL, NULL);
}
