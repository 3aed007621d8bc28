/* Histogram and traffic statistics: error bound, quantiles, merging, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "../../common/base/stats.h"

static struct hist a, b;

static void error_is_below_one_percent(void **state)
{
	(void)state;
	for (double value = 1; value < 5e11; value *= 1.01) {
		uint64_t ns = (uint64_t)value;
		uint64_t read;

		a = (struct hist){0};
		hist_add(&a, 0);
		hist_add(&a, ns);
		hist_add(&a, UINT64_MAX / 2);
		read = hist_quantile(&a, 0.5);
		if (ns < 128)
			assert_int_equal(read, ns);
		assert_true(fabs((double)read - (double)ns) <= 0.008 * (double)ns);
	}
}

static void quantile_is_the_nearest_rank(void **state)
{
	(void)state;
	a = (struct hist){0};
	assert_int_equal(hist_quantile(&a, 0.5), 0);
	for (uint64_t ns = 100; ns >= 1; ns--)
		hist_add(&a, ns);
	assert_int_equal(a.min, 1);
	assert_int_equal(a.max, 100);
	assert_int_equal(a.sum, 5050);
	assert_int_equal(hist_quantile(&a, 0), 1);
	assert_int_equal(hist_quantile(&a, 0.5), 50);
	assert_int_equal(hist_quantile(&a, 0.9), 90);
	assert_int_equal(hist_quantile(&a, 0.99), 99);
	assert_int_equal(hist_quantile(&a, 0.991), 100);
	assert_int_equal(hist_quantile(&a, 1), 100);
}

static void quantile_stays_inside_min_and_max(void **state)
{
	(void)state;
	a = (struct hist){0};
	hist_add(&a, 1000001);
	for (double q = 0; q <= 1; q += 0.1)
		assert_int_equal(hist_quantile(&a, q), 1000001);
	/* Beyond the last bucket the maximum is all that is known. */
	hist_add(&a, 1ull << 50);
	hist_add(&a, 1ull << 51);
	assert_int_equal(hist_quantile(&a, 0.6), 1ull << 51);
}

static void merging_is_as_if_put_in_one(void **state)
{
	static struct hist all, part[3];

	(void)state;
	for (uint64_t i = 1; i < 10000; i++) {
		uint64_t ns = i * i * i % 1000003;

		hist_add(&all, ns);
		hist_add(&part[i % 2], ns); /* part[2] stays empty */
	}
	a = (struct hist){0};
	for (unsigned i = 0; i < 3; i++)
		hist_merge(&a, &part[i]);
	assert_memory_equal(&a, &all, sizeof(a));
	hist_merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(a));
}

static void levels_add_word_by_word(void **state)
{
	static struct traffic_stats sum, one;
	uint64_t *word = (uint64_t *)&one.level;

	(void)state;
	for (unsigned i = 0; i < sizeof(one.level) / sizeof(*word); i++)
		word[i] = i + 1;
	hist_add(&one.connect, 5);
	hist_add(&one.first_byte, 6);
	hist_add(&one.response, 7);
	stats_merge(&sum, &one);
	stats_merge(&sum, &one);
	word = (uint64_t *)&sum.level;
	for (unsigned i = 0; i < sizeof(one.level) / sizeof(*word); i++)
		assert_int_equal(word[i], 2 * (i + 1));
	assert_int_equal(sum.connect.sum, 10);
	assert_int_equal(sum.first_byte.sum, 12);
	assert_int_equal(sum.response.sum, 14);
}

static void tallies_and_names_match_their_tables(void **state)
{
	struct tally tally = {.not_offered = {1, 2, 3, 4}, .failed = {10, 20, 30, 40, 50}};

	(void)state;
	assert_int_equal(tally_not_offered(&tally), 10);
	assert_int_equal(tally_failed(&tally), 150);
	assert_string_equal(not_offered_name[NOT_OFFERED_LATE], "late");
	assert_string_equal(failed_name[FAILED_REFUSED], "refused");
	for (unsigned i = 0; i < NOT_OFFERED_COUNT; i++)
		assert_true(not_offered_name[i][0] && not_offered_help[i][0]);
	for (unsigned i = 0; i < FAILED_COUNT; i++)
		assert_true(failed_name[i][0] && failed_help[i][0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_is_below_one_percent),
		cmocka_unit_test(quantile_is_the_nearest_rank),
		cmocka_unit_test(quantile_stays_inside_min_and_max),
		cmocka_unit_test(merging_is_as_if_put_in_one),
		cmocka_unit_test(levels_add_word_by_word),
		cmocka_unit_test(tallies_and_names_match_their_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
