/* Routes: the longest prefix counts, in both families, and next hops are asked for in place of the
 * destinations behind them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../common/base/nexthop.h"

#define IP4(a, b, c, d) ((u128)0xffff << 32 | (uint32_t)((a) << 24 | (b) << 16 | (c) << 8 | (d)))
#define IP6(high, low)  ((u128)(high) << 64 | (low))
#define ROUTES_MAX      16

static u128 mask4(unsigned prefix)
{
	return ~(u128)0 << (32 - prefix);
}

static u128 mask6(unsigned prefix)
{
	return prefix ? ~(u128)0 << (128 - prefix) : 0;
}

/* In an order in which a first match would be wrong. */
static unsigned routes_make(struct route *route)
{
	unsigned routes = 0;

	route_add(route, &routes, (struct route){0, 0, IP6(0xfe80ull << 48, 1)});
	route_add(route, &routes, (struct route){IP4(0, 0, 0, 0), mask4(0), IP4(10, 0, 0, 254)});
	route_add(route, &routes, (struct route){IP4(48, 0, 0, 0), mask4(8), IP4(10, 0, 0, 1)});
	route_add(route, &routes, (struct route){IP4(48, 7, 0, 0), mask4(16), IP4(10, 0, 0, 2)});
	route_add(route, &routes, (struct route){IP4(48, 7, 7, 7), mask4(32), ROUTE_ON_LINK});
	route_add(route, &routes, (struct route){IP4(10, 0, 0, 0), mask4(24), ROUTE_ON_LINK});
	route_add(route, &routes,
		  (struct route){IP6(0x20010db800010000, 0), mask6(48), IP6(0xfe80ull << 48, 2)});
	route_add(route, &routes,
		  (struct route){IP6(0x20010db800010002, 0), mask6(64), ROUTE_ON_LINK});
	route_add(route, &routes, (struct route){IP4(48, 0, 0, 0), mask4(8), IP4(10, 0, 0, 9)});
	return routes;
}

static void test_the_longest_prefix_counts(void **state)
{
	struct route route[ROUTES_MAX];
	unsigned routes = routes_make(route);

	(void)state;
	assert_true(route_via(route, routes, IP4(48, 1, 2, 3)) == IP4(10, 0, 0, 1));
	assert_true(route_via(route, routes, IP4(48, 7, 2, 3)) == IP4(10, 0, 0, 2));
	assert_true(route_via(route, routes, IP4(48, 7, 7, 7)) == ROUTE_ON_LINK);
	assert_true(route_via(route, routes, IP4(10, 0, 0, 77)) == ROUTE_ON_LINK);
	assert_true(route_via(route, routes, IP4(10, 0, 1, 77)) == IP4(10, 0, 0, 254));
	assert_true(route_via(route, routes, IP6(0x20010db800010001, 5)) ==
		    IP6(0xfe80ull << 48, 2));
	assert_true(route_via(route, routes, IP6(0x20010db800010002, 5)) == ROUTE_ON_LINK);
	assert_true(route_via(route, routes, IP6(0x20010db800020002, 5)) ==
		    IP6(0xfe80ull << 48, 1));
}

static void test_without_routes_everything_is_on_link(void **state)
{
	(void)state;
	assert_true(route_via(NULL, 0, IP4(1, 2, 3, 4)) == ROUTE_ON_LINK);
}

static void test_next_hops_stand_for_what_is_behind_them(void **state)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct nexthop_entry table[64] = {0};
	struct route route[ROUTES_MAX];
	struct nexthop n = {.mask = 63, .table = table, .route = route};

	(void)state;
	n.routes = routes_make(route);
	for (unsigned i = 0; i < 100; i++)
		assert_null(nexthop_neighbor(&n, IP4(48, 7, 1, i)));
	assert_true(n.wanted);
	assert_int_equal(n.used, 1);
	nexthop_find(&n, IP4(10, 0, 0, 2))->resolved = 1;
	memcpy(nexthop_find(&n, IP4(10, 0, 0, 2))->mac, mac, 6);
	assert_memory_equal(nexthop_neighbor(&n, IP4(48, 7, 1, 1)), mac, 6);
	/* Who is behind a router does not tell its own address by the packets that it sends. */
	nexthop_learn(&n, __builtin_bswap32(48u << 24 | 7 << 16 | 1), mac);
	assert_int_equal(n.used, 1);
	nexthop_learn(&n, __builtin_bswap32(10u << 24 | 5), mac);
	assert_int_equal(n.used, 2);
}

static void test_the_advertised_router_is_for_the_rest(void **state)
{
	struct nexthop_entry table[64] = {0};
	struct route route[ROUTES_MAX];
	struct nexthop n = {.mask = 63, .table = table, .route = route, .gateway6 = {2, 1}};

	(void)state;
	route_add(route, &n.routes, (struct route){0, 0, ROUTE_ROUTER});
	route_add(route, &n.routes,
		  (struct route){IP6(0x20010db800010000, 0), mask6(48), ROUTE_ON_LINK});
	assert_null(nexthop_mac6(&n, IP6(0x3fffull << 48, 1)));
	assert_int_equal(n.used, 0);
	n.has_router = true;
	assert_ptr_equal(nexthop_mac6(&n, IP6(0x3fffull << 48, 1)), n.gateway6);
	assert_null(nexthop_mac6(&n, IP6(0x20010db800010000, 1)));
	assert_int_equal(n.used, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_longest_prefix_counts),
		cmocka_unit_test(test_without_routes_everything_is_on_link),
		cmocka_unit_test(test_next_hops_stand_for_what_is_behind_them),
		cmocka_unit_test(test_the_advertised_router_is_for_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
