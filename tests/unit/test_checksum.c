/* The Internet checksum against RFC 1071's example, against a sum done byte by byte, and against
 * pages that must not be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/checksum.h"
#include "../../common/base/rng.h"
#include "guard.h"

/* RFC 1071 section 1, with end-around carry at every step; the value is in host order. */
static uint16_t naive(const uint8_t *data, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2) {
		sum += (uint32_t)data[i] << 8 | (i + 1 < length ? data[i + 1] : 0);
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return (uint16_t)sum;
}

static uint16_t folded(const void *data, size_t length)
{
	return __builtin_bswap16(checksum_fold(checksum_sum(data, length)));
}

static void rfc1071_example(void **state)
{
	static const uint8_t data[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(folded(data, sizeof data), 0xddf2);
}

/* An IPv4 header whose checksum is known: 45 00 00 73 ... b8 61. */
static void ipv4_header(void **state)
{
	static const uint8_t header[] = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40,
					 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
					 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};

	(void)state;
	assert_int_equal(folded(header, sizeof header), 0xffff);
}

static void zero_and_ones(void **state)
{
	uint8_t data[100] = {0};

	(void)state;
	assert_int_equal(folded(data, sizeof data), 0);
	assert_int_equal(folded(data, 0), 0);
	memset(data, 0xff, sizeof data);
	assert_int_equal(folded(data, sizeof data), 0xffff);
	assert_int_equal(folded(data, 99), 0xff00);
}

static void equals_naive_at_every_length_and_alignment(void **state)
{
	static uint8_t data[2200];
	struct rng rng = {1};

	(void)state;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)rng_next(&rng);
	for (size_t length = 0; length < 2048; length++)
		for (size_t offset = 0; offset < 16; offset += length < 200 ? 1 : 5)
			assert_int_equal(folded(data + offset, length),
					 naive(data + offset, length));
}

/* Mostly 0xff: every addition carries. */
static void carries_are_not_lost(void **state)
{
	static uint8_t data[65536];
	struct rng rng = {2};

	(void)state;
	memset(data, 0xff, sizeof data);
	for (unsigned i = 0; i < 100; i++) {
		data[rng_below(&rng, sizeof data)] = (uint8_t)rng_next(&rng);
		assert_int_equal(folded(data, sizeof data - i), naive(data, sizeof data - i));
	}
}

/* Longer than any packet: nothing overflows on the way. */
static void megabytes(void **state)
{
	static uint8_t data[3000000];

	(void)state;
	for (unsigned fill = 0; fill < 256; fill += 51) {
		memset(data, (int)fill, sizeof data);
		assert_int_equal(folded(data, sizeof data), naive(data, sizeof data));
		assert_int_equal(folded(data + 1, sizeof data - 2),
				 naive(data + 1, sizeof data - 2));
	}
}

static void fold_is_the_sum_of_the_words(void **state)
{
	static const uint64_t edge[] = {
		0,           1,          0xffff,         0x10000,    0xffffffff,
		0x100000000, 0xffff0000, 0xffffffffffff, UINT64_MAX, UINT64_MAX - 1};
	struct rng rng = {3};
	uint64_t sum;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		sum = i < 10 ? edge[i] : rng_next(&rng) >> rng_below(&rng, 64);
		assert_int_equal(checksum_fold(sum) % 0xffff, sum % 0xffff);
		assert_int_equal(checksum_fold(sum) == 0, sum == 0);
	}
}

static void sums_add(void **state)
{
	static uint8_t data[4096];
	struct rng rng = {4};

	(void)state;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)rng_next(&rng);
	for (size_t cut = 0; cut <= sizeof data; cut += 2) {
		uint64_t sum =
			checksum_sum(data + cut, sizeof data - cut) + checksum_sum(data, cut);

		assert_int_equal(checksum_fold(sum),
				 checksum_fold(checksum_sum(data, sizeof data)));
	}
}

static void pseudo_header(void **state)
{
	static const uint8_t pseudo[] = {10, 0, 0, 1, 192, 168, 255, 254, 0, 6, 0x05, 0xc8};
	uint32_t src_be, dst_be;

	(void)state;
	memcpy(&src_be, pseudo, 4);
	memcpy(&dst_be, pseudo + 4, 4);
	assert_int_equal(checksum_fold(checksum_pseudo4(src_be, dst_be, 6, 0x05c8)),
			 checksum_fold(checksum_sum(pseudo, sizeof pseudo)));
}

static void reads_nothing_outside(void **state)
{
	struct guard guard;

	(void)state;
	guard_open(&guard);
	memset(guard.first, 0x5a, guard.size);
	for (size_t length = 0; length <= 300; length++) {
		assert_int_equal(folded(guard.end - length, length),
				 naive(guard.end - length, length));
		assert_int_equal(folded(guard.first, length), naive(guard.first, length));
	}
	guard_close(&guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc1071_example),
		cmocka_unit_test(ipv4_header),
		cmocka_unit_test(zero_and_ones),
		cmocka_unit_test(equals_naive_at_every_length_and_alignment),
		cmocka_unit_test(carries_are_not_lost),
		cmocka_unit_test(megabytes),
		cmocka_unit_test(fold_is_the_sum_of_the_words),
		cmocka_unit_test(sums_add),
		cmocka_unit_test(pseudo_header),
		cmocka_unit_test(reads_nothing_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
