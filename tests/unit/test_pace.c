/* The schedule in virtual time: exact counts, exact times, sums over workers, ramp, catch-up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "../../common/base/pace.h"

#define S 1000000000ull

static const struct rate rates[] = {
	{11, 1}, {13, 1},      {23, 1},        {101, 1},     {1, 2},
	{1, 3},  {5100000, 1}, {51000005, 10}, {7, 1000003},
};
#define RATES (sizeof(rates) / sizeof(rates[0]))

static uint64_t run_all(struct pace *p, uint64_t *last)
{
	uint64_t n = 0;

	while (p->next_at != UINT64_MAX) {
		assert_true(pace_is_due(p, p->next_at));
		if (p->next_at)
			assert_false(pace_is_due(p, p->next_at - 1));
		*last = p->next_at;
		pace_done(p);
		n++;
	}
	return n;
}

static void opens_exactly_so_many(void **state)
{
	static const struct {
		struct rate rate;
		uint64_t seconds, count;
	} want[] = {{{11, 1}, 20, 220}, {{13, 1}, 20, 260},
		    {{23, 1}, 20, 460}, {{101, 1}, 20, 2020},
		    {{1, 2}, 5, 3},     {{1, 3}, 20, 7},
		    {{1, 1}, 3, 3},     {{5100000, 1}, 1, 5100000},
		    {{1, 2}, 20, 10}};

	(void)state;
	for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct pace p;
		uint64_t last = 0;

		pace_init(&p, want[i].rate, 7 * S, 0, (7 + want[i].seconds) * S, 0, 1);
		assert_int_equal(p.next_at, 7 * S);
		assert_int_equal(run_all(&p, &last), want[i].count);
		assert_true(last < p.end);
		assert_int_equal(pace_count(&p, UINT64_MAX), want[i].count);
	}
}

static void done_is_due_at(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RATES; i++) {
		for (uint32_t workers = 1; workers <= 7; workers += 2) {
			struct pace p;

			pace_init(&p, rates[i], 3, 1 * S + 17, UINT64_MAX, workers - 1, workers);
			for (uint64_t n = 0; n < 20000; n++) {
				uint64_t k = n * workers + workers - 1;

				assert_int_equal(p.next_at, pace_due_at(&p, k));
				pace_done(&p);
			}
		}
	}
}

/* The error of event k's due time, in ns, against 128-bit and 64-bit-mantissa arithmetic. */
static void exact_up_to_1e12(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RATES; i++) {
		struct pace p;

		pace_init(&p, rates[i], 0, 0, UINT64_MAX, 0, 1);
		for (uint64_t k = 1; k <= 1000000000000ull; k = k * 3 + 1) {
			unsigned __int128 exact =
				(unsigned __int128)k * rates[i].den * S / rates[i].num;

			if (exact > UINT64_MAX) {
				assert_int_equal(pace_due_at(&p, k), UINT64_MAX);
				continue;
			}
			assert_int_equal(pace_due_at(&p, k), (uint64_t)exact);
		}
	}
}

static void ramp_is_the_integral(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RATES; i++) {
		for (uint64_t ramp = 1 * S; ramp < 100000 * S; ramp *= 11) {
			struct pace p;
			long double rate = (long double)rates[i].num / rates[i].den;
			uint64_t events;

			pace_init(&p, rates[i], 5 * S, ramp, UINT64_MAX, 0, 1);
			events = pace_count(&p, 5 * S + ramp);
			assert_int_equal(events, (uint64_t)ceill(rate * ramp / 2e9L));
			assert_int_equal(pace_due_at(&p, events), 5 * S + ramp);
			for (uint64_t k = 0; k < events; k = k * 2 + 1) {
				long double due = sqrtl(2e9L * ramp * k / rate);
				long double error = due - (long double)(pace_due_at(&p, k) - 5 * S);

				assert_true(error > -0.001L && error < 1.001L);
			}
		}
	}
}

/* Where a double rounds the root up: due times are cut, never rounded. */
static void square_roots_are_cut(void **state)
{
	(void)state;
	for (uint64_t root = (1ull << 27) + 1; root < 1ull << 31; root = root * 2 + 1) {
		struct pace p;

		pace_init(&p, (struct rate){2 * S, 1}, 0, root * root - 1, UINT64_MAX, 0, 1);
		assert_int_equal(pace_due_at(&p, 1), root - 1);
		pace_init(&p, (struct rate){2 * S, 1}, 0, root * root, UINT64_MAX, 0, 1);
		assert_int_equal(pace_due_at(&p, 1), root);
	}
}

static void count_inverts_due(void **state)
{
	static const uint64_t ramps[] = {0, 1, 10 * S, 86400 * S};

	(void)state;
	for (unsigned i = 0; i < RATES; i++) {
		for (unsigned r = 0; r < 4; r++) {
			struct pace p;

			pace_init(&p, rates[i], 11, ramps[r], UINT64_MAX - 1, 0, 1);
			for (uint64_t k = 0; k < 1000000000000ull; k = k * 2 + 1) {
				uint64_t due = pace_due_at(&p, k);

				if (due >= p.end)
					break;
				assert_true(pace_count(&p, due) <= k);
				assert_true(pace_count(&p, due + 1) >= k + 1);
				if (pace_due_at(&p, k + 1) > due && k &&
				    pace_due_at(&p, k - 1) < due) {
					assert_int_equal(pace_count(&p, due), k);
					assert_int_equal(pace_count(&p, due + 1), k + 1);
				}
			}
		}
	}
}

static void no_drift_over_days(void **state)
{
	struct pace p;
	uint64_t seven_days = 7 * 86400 * S;

	(void)state;
	pace_init(&p, (struct rate){5100000, 1}, 0, 0, UINT64_MAX, 0, 1);
	assert_int_equal(pace_count(&p, seven_days), 5100000ull * 7 * 86400);
	assert_int_equal(pace_due_at(&p, 5100000ull * 7 * 86400), seven_days);
	pace_init(&p, (struct rate){3, 1}, 0, 0, UINT64_MAX, 0, 1);
	for (uint64_t n = 0; n < 3 * 7 * 86400; n++)
		pace_done(&p);
	assert_int_equal(p.next_at, seven_days);
}

static void workers_sum_exactly(void **state)
{
	static const uint32_t counts[] = {1, 2, 3, 7};
	static const uint64_t ramps[] = {0, 3 * S};

	(void)state;
	for (unsigned i = 0; i < RATES * 8; i++) {
		uint32_t workers = counts[i / 2 % 4];
		struct rate rate = rates[i / 8];
		uint64_t sum = 0, own = 0, least = UINT64_MAX, most = 0;
		struct pace p;

		if (rate.num / rate.den > 1000000)
			rate.den *= 100;
		for (uint32_t w = 0; w < workers; w++) {
			uint64_t last, n;

			pace_init(&p, rate, 9, ramps[i % 2], 9 + 20 * S, w, workers);
			n = run_all(&p, &last);
			least = n < least ? n : least;
			most = n > most ? n : most;
			sum += n;
			own += pace_count_own(&p, p.end);
			assert_int_equal(n, pace_count_own(&p, UINT64_MAX));
		}
		assert_int_equal(sum, pace_count(&p, p.end));
		assert_int_equal(own, sum);
		assert_true(most - least <= 1);
	}
}

static void a_stall_is_caught_up_within_the_window(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, (struct rate){1000, 1}, 0, 0, 10 * S, 0, 1);
	p.window = S / 10;
	assert_int_equal(pace_skip(&p, S / 10), 0);
	/* Half a second in which nothing was done: events 0-399 are given up, 400-500 are due. */
	assert_int_equal(pace_skip(&p, S / 2), 400);
	assert_int_equal(p.next, 400);
	assert_int_equal(pace_skip(&p, S / 2), 0);
	for (unsigned n = 0; n < 101; n++) {
		assert_true(pace_is_due(&p, S / 2));
		pace_done(&p);
	}
	assert_false(pace_is_due(&p, S / 2));
	assert_int_equal(p.next_at, S / 2 + S / 1000);
}

static void the_last_are_always_caught_up(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, (struct rate){10, 1}, 0, 0, 10 * S, 0, 1);
	p.window = 1000;
	p.keep = 2;
	assert_int_equal(pace_skip(&p, 199 * S / 100), 18); /* 0.0 to 1.9 are due: 20 */
	assert_int_equal(p.next_at, 18 * S / 10);
	assert_int_equal(pace_skip(&p, 199 * S / 100), 0);
	/* From the end on nothing is caught up: the other 82 are given up. */
	assert_int_equal(pace_skip(&p, 10 * S), 82);
	assert_int_equal(p.next_at, UINT64_MAX);
	assert_false(pace_is_due(&p, 20 * S));
	assert_int_equal(pace_skip(&p, 20 * S), 0);
}

static void done_and_skipped_are_all(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RATES; i++) {
		for (uint32_t workers = 1; workers < 4; workers++) {
			uint64_t done = 0, skipped = 0, now = 0, random = 1;
			struct pace p;

			pace_init(&p, rates[i], 100, S, 3 * S, workers - 1, workers);
			p.window = S / 1000;
			p.keep = 1;
			while (now < p.end + S) {
				skipped += pace_skip(&p, now);
				for (unsigned n = 0; n < 20 && pace_is_due(&p, now); n++, done++)
					pace_done(&p);
				random = random * 6364136223846793005u + 1442695040888963407u;
				now += (random >> 33) % (S / 200);
			}
			assert_int_equal(done + skipped, pace_count_own(&p, p.end));
			assert_true(done > 0 || !pace_count_own(&p, p.end));
		}
	}
}

static void max_is_always_due_until_the_end(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, (struct rate){UINT64_MAX, 1}, 5, 3, 10, 0, 2);
	assert_false(pace_is_due(&p, 4));
	for (unsigned n = 0; n < 1000; n++) {
		assert_true(pace_is_due(&p, 5));
		pace_done(&p);
	}
	assert_int_equal(pace_skip(&p, 9), 0);
	assert_true(pace_is_due(&p, 9));
	assert_false(pace_is_due(&p, 10));
	assert_int_equal(pace_skip(&p, 10), 0);
	assert_int_equal(p.next_at, UINT64_MAX);
	assert_int_equal(pace_count(&p, 10), 0);
}

static void nothing_is_due_without_a_rate(void **state)
{
	static const struct rate none[] = {{0, 0}, {5, 0}, {0, 1}};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct pace p;

		pace_init(&p, none[i], 5, 0, 10, 0, 1);
		assert_int_equal(p.next_at, UINT64_MAX);
		assert_int_equal(pace_skip(&p, 10), 0);
		assert_int_equal(pace_count(&p, 10), 0);
		assert_int_equal(pace_due_at(&p, 0), UINT64_MAX);
	}
}

static void extremes_do_not_wrap(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, (struct rate){1, UINT64_MAX}, 5, 0, UINT64_MAX, 0, 1);
	assert_int_equal(p.next_at, 5);
	pace_done(&p);
	assert_int_equal(p.next_at, UINT64_MAX);
	pace_init(&p, (struct rate){UINT64_MAX - 1, UINT64_MAX - 2}, 0, 100 * S, 1000 * S, 0, 1);
	/* A hair above 1: one event more in the ramp, and one in the steady phase. */
	assert_int_equal(pace_count(&p, UINT64_MAX), 952);
	for (unsigned k = 0; k < 952; k++) {
		assert_int_equal(p.next_at, pace_due_at(&p, k));
		pace_done(&p);
	}
	assert_int_equal(p.next_at, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_exactly_so_many),
		cmocka_unit_test(done_is_due_at),
		cmocka_unit_test(exact_up_to_1e12),
		cmocka_unit_test(ramp_is_the_integral),
		cmocka_unit_test(square_roots_are_cut),
		cmocka_unit_test(count_inverts_due),
		cmocka_unit_test(no_drift_over_days),
		cmocka_unit_test(workers_sum_exactly),
		cmocka_unit_test(a_stall_is_caught_up_within_the_window),
		cmocka_unit_test(the_last_are_always_caught_up),
		cmocka_unit_test(done_and_skipped_are_all),
		cmocka_unit_test(max_is_always_due_until_the_end),
		cmocka_unit_test(nothing_is_due_without_a_rate),
		cmocka_unit_test(extremes_do_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
