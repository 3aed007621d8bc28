/* Pools of addresses and ports, and how addresses are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../common/base/pool.h"

static const u128 ONE = 1;

/* 192.168.0.1, 10.0.0.0/8, 16.0.0.5-16.0.0.9: the order in which they were written. */
static struct ip_range some_range[] = {{0xc0a80001, 1}, {0x0a000000, 1 << 24}, {0x10000005, 5}};
static const struct ip_pool some = {some_range, 3, 4, 1 + (1 << 24) + 5};

static void addresses_come_in_the_order_written(void **state)
{
	(void)state;
	assert_true(ip_pool_at(&some, 0) == 0xc0a80001);
	assert_true(ip_pool_at(&some, 1) == 0x0a000000);
	assert_true(ip_pool_at(&some, 1 << 24) == 0x0affffff);
	assert_true(ip_pool_at(&some, (1 << 24) + 1) == 0x10000005);
	assert_true(ip_pool_at(&some, some.count - 1) == 0x10000009);
}

static void contains_the_ranges_and_nothing_else(void **state)
{
	static const u128 in[] = {0xc0a80001, 0x0a000000, 0x0affffff, 0x10000005, 0x10000009};
	static const u128 out[] = {0xc0a80000, 0xc0a80002, 0x09ffffff, 0x0b000000,
				   0x10000004, 0x1000000a, 0,          0xffffffff};

	(void)state;
	for (unsigned i = 0; i < sizeof in / sizeof *in; i++)
		assert_true(ip_pool_contains(&some, in[i]));
	for (unsigned i = 0; i < sizeof out / sizeof *out; i++)
		assert_false(ip_pool_contains(&some, out[i]));
	assert_false(ip_pool_contains(&some, (ONE << 127) + 0x0a000000));
	assert_false(ip_pool_contains(&(struct ip_pool){.range = NULL}, 0));
}

/* 2001:db8::/32 has 2^96 addresses: nothing is cut to 64 bits. */
static void ipv6_prefix(void **state)
{
	u128 first = (u128)0x20010db8 << 96;
	struct ip_range range = {first, ONE << 96};
	struct ip_pool pool = {&range, 1, 6, ONE << 96};

	(void)state;
	assert_true(ip_pool_at(&pool, (ONE << 96) - 1) == first + (ONE << 96) - 1);
	assert_true(ip_pool_contains(&pool, first + (ONE << 95)));
	assert_false(ip_pool_contains(&pool, first - 1));
	assert_false(ip_pool_contains(&pool, first + (ONE << 96)));
}

static void last_addresses_of_all(void **state)
{
	struct ip_range range = {~(u128)0 - 1, 2};
	struct ip_pool pool = {&range, 1, 6, 2};

	(void)state;
	assert_true(ip_pool_at(&pool, 1) == ~(u128)0);
	assert_true(ip_pool_contains(&pool, ~(u128)0));
	assert_false(ip_pool_contains(&pool, 0));
}

static void ports(void **state)
{
	struct port_range range[] = {{80, 83}, {443, 443}, {65535, 65535}};
	struct port_pool pool = {range, 3, 6};
	static const uint16_t expected[] = {80, 81, 82, 83, 443, 65535};

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(port_pool_at(&pool, i), expected[i]);
		assert_true(port_pool_contains(&pool, expected[i]));
	}
	assert_false(port_pool_contains(&pool, 79));
	assert_false(port_pool_contains(&pool, 84));
	assert_false(port_pool_contains(&pool, 0));
	assert_false(port_pool_contains(&pool, 65534));
}

static void all_ports(void **state)
{
	struct port_range range = {0, 65535};
	struct port_pool pool = {&range, 1, 65536};

	(void)state;
	for (uint32_t i = 0; i < 65536; i++) {
		assert_int_equal(port_pool_at(&pool, i), i);
		assert_true(port_pool_contains(&pool, (uint16_t)i));
	}
}

static void addresses_as_text(void **state)
{
	char text[46];

	(void)state;
	assert_string_equal(ip_format(text, 4, 0x0a000001), "10.0.0.1");
	assert_string_equal(ip_format(text, 4, 0xffffffff), "255.255.255.255");
	assert_string_equal(ip_format(text, 6, ((u128)0x20010db8 << 96) + 1), "2001:db8::1");
	assert_string_equal(ip_format(text, 6, 0), "::");
	assert_string_equal(ip_format(text, 6, ~(u128)0),
			    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	assert_ptr_equal(ip_format(text, 4, 0), text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_come_in_the_order_written),
		cmocka_unit_test(contains_the_ranges_and_nothing_else),
		cmocka_unit_test(ipv6_prefix),
		cmocka_unit_test(last_addresses_of_all),
		cmocka_unit_test(ports),
		cmocka_unit_test(all_ports),
		cmocka_unit_test(addresses_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
