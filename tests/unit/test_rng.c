/* Random numbers: the published sequence, and the ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../common/base/rng.h"

/* splitmix64 with seed 1234567. */
static void published_sequence(void **state)
{
	static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
					    9817491932198370423u, 4593380528125082431u,
					    16408922859458223821u};
	struct rng rng = {1234567};

	(void)state;
	for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
		assert_true(rng_next(&rng) == expected[i]);
}

static void ranges_are_kept_and_filled_evenly(void **state)
{
	unsigned seen[7] = {0}, quarter[4] = {0};
	struct rng rng = {0};

	(void)state;
	for (unsigned i = 0; i < 70000; i++) {
		uint64_t n = rng_below(&rng, 7);
		double unit = rng_unit(&rng);

		assert_in_range(n, 0, 6);
		assert_true(unit >= 0 && unit < 1);
		seen[n]++;
		quarter[(int)(unit * 4)]++;
	}
	for (unsigned i = 0; i < 7; i++)
		assert_in_range(seen[i], 9500, 10500);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(quarter[i], 17000, 18000);
	assert_true(rng_below(&rng, 1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_sequence),
		cmocka_unit_test(ranges_are_kept_and_filled_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
