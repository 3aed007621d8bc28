/* The window of seen numbers, against a plain table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../common/base/rng.h"
#include "../../stateless/track.h"

static struct track track;

static int reset(void **state)
{
	(void)state;
	memset(&track, 0, sizeof(track));
	return 0;
}

static void test_in_order(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 300000; n++)
		assert_int_equal(track_add(&track, n), TRACK_NEW);
	assert_int_equal(track.next, 300000);
}

static void test_first_number_is_any(void **state)
{
	(void)state;
	assert_int_equal(track_add(&track, UINT64_C(1) << 47), TRACK_NEW);
	assert_int_equal(track_add(&track, UINT64_C(1) << 47), TRACK_DUPLICATE);
	assert_int_equal(track_add(&track, (UINT64_C(1) << 47) - 1), TRACK_LATE);
	assert_int_equal(track_add(&track, 0), TRACK_OLD);
}

static void test_bound(void **state)
{
	(void)state;
	/* Whatever the place in its word: what is inside of the bound is told apart. */
	for (unsigned place = 0; place < 64; place++) {
		uint64_t top = 10000000 + place;

		reset(NULL);
		assert_int_equal(track_add(&track, top), TRACK_NEW);
		assert_int_equal(track_add(&track, top - TRACK_BOUND), TRACK_LATE);
		assert_int_equal(track_add(&track, top - TRACK_BOUND), TRACK_DUPLICATE);
		assert_int_equal(track_add(&track, top - TRACK_BOUND - 64), TRACK_OLD);
	}
}

static void test_jump_clears(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 65536; n++)
		track_add(&track, n);
	assert_int_equal(track_add(&track, 65536 * 5 + 100), TRACK_NEW);
	for (uint64_t n = 65536 * 5; n < 65536 * 5 + 100; n++)
		assert_int_equal(track_add(&track, n), TRACK_LATE);
}

enum { NUMBERS = 400000, SPREAD = 60000 };

static void test_random_order(void **state)
{
	static uint8_t seen[NUMBERS + SPREAD + 1];
	struct rng rng = {7};
	uint64_t highest = 0;

	(void)state;
	memset(seen, 0, sizeof(seen));
	for (uint64_t i = 0; i < NUMBERS; i++) {
		uint64_t n = i + rng_below(&rng, SPREAD);
		enum track_seen expected = seen[n]            ? TRACK_DUPLICATE
					   : i && n < highest ? TRACK_LATE
							      : TRACK_NEW;

		assert_int_equal(track_add(&track, n), expected);
		seen[n] = 1;
		highest = n + 1 > highest ? n + 1 : highest;
		assert_int_equal(track.next, highest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_in_order, reset),
		cmocka_unit_test_setup(test_first_number_is_any, reset),
		cmocka_unit_test_setup(test_bound, reset),
		cmocka_unit_test_setup(test_jump_clears, reset),
		cmocka_unit_test_setup(test_random_order, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
