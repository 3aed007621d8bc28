/* Which worker owns a flow: the Toeplitz hash against Microsoft's RSS verification suite, and the
 * laws that all modes keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../common/base/rng.h"
#include "../../common/base/steer.h"

#define IP(a, b, c, d) \
	__builtin_bswap32((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (d))
#define PORT(n) __builtin_bswap16(n)

/* "Verifying the RSS Hash Calculation", Windows driver documentation. */
static const uint8_t key[52] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
				0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
				0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
				0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

static const struct {
	uint32_t src, dst;
	uint16_t src_port, dst_port;
	uint32_t with_ports, without;
} vectors[] = {
	{IP(66, 9, 149, 187), IP(161, 142, 100, 80), PORT(2794), PORT(1766), 0x51ccc178,
	 0x323e8fc2},
	{IP(199, 92, 111, 2), IP(65, 69, 140, 83), PORT(14230), PORT(4739), 0xc626b0ea, 0xd718262a},
	{IP(24, 19, 198, 95), IP(12, 22, 207, 184), PORT(12898), PORT(38024), 0x5c2b394a,
	 0xd2d0a5de},
	{IP(38, 27, 205, 30), IP(209, 142, 163, 6), PORT(48228), PORT(2217), 0xafc7327f,
	 0x82989176},
	{IP(153, 39, 163, 191), IP(202, 188, 127, 2), PORT(44251), PORT(1303), 0x10e828a2,
	 0x5d1809c5},
};

/* Ports of zero have no bit set: the hash is that of the addresses alone. */
static void microsoft_vectors(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		assert_int_equal(steer_toeplitz4(key, vectors[i].src, vectors[i].dst,
						 vectors[i].src_port, vectors[i].dst_port),
				 vectors[i].with_ports);
		assert_int_equal(steer_toeplitz4(key, vectors[i].src, vectors[i].dst, 0, 0),
				 vectors[i].without);
	}
}

/* A client that knows the hash of a reply's addresses finds its ports by exclusive or. */
static void hash_is_linear(void **state)
{
	struct rng rng = {1};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t r = rng_next(&rng);
		uint32_t src = (uint32_t)r, dst = (uint32_t)(r >> 32);
		uint16_t a = (uint16_t)rng_next(&rng), b = (uint16_t)rng_next(&rng);

		assert_int_equal(steer_toeplitz4(key, src, dst, a, b),
				 steer_toeplitz4(key, src, dst, 0, 0) ^
					 steer_toeplitz4(key, 0, 0, a, 0) ^
					 steer_toeplitz4(key, 0, 0, 0, b));
	}
}

static void one_worker_owns_all(void **state)
{
	struct steer steer = {.mode = STEER_SINGLE, .workers = 1};

	(void)state;
	assert_int_equal(steer_owner4(&steer, IP(1, 2, 3, 4), IP(5, 6, 7, 8), 9, 10), 0);
}

/* Both ends of a cable find the same queue, and ports of one pair of addresses spread evenly. */
static void soft_is_symmetric_and_even(void **state)
{
	struct steer steer = {.mode = STEER_SOFT, .workers = 3};
	uint32_t src = IP(10, 0, 0, 1), dst = IP(10, 0, 0, 2);
	unsigned owned[3] = {0};

	(void)state;
	for (unsigned port = 1024; port < 65536; port++) {
		uint16_t owner = steer_owner4(&steer, src, dst, PORT(port), PORT(80));

		assert_in_range(owner, 0, 2);
		assert_int_equal(owner, steer_owner4(&steer, dst, src, PORT(80), PORT(port)));
		owned[owner]++;
	}
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(owned[i], 64512 / 3 * 95 / 100, 64512 / 3 * 105 / 100);
}

static void toeplitz_goes_through_the_redirection_table(void **state)
{
	uint16_t reta[128];
	struct steer steer = {.mode = STEER_TOEPLITZ, .workers = 5, .reta_size = 128, .reta = reta};

	(void)state;
	for (unsigned i = 0; i < sizeof key; i++)
		steer.key[i] = key[i];
	for (uint16_t i = 0; i < 128; i++)
		reta[i] = i % 5;
	for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
		assert_int_equal(steer_owner4(&steer, vectors[i].src, vectors[i].dst,
					      vectors[i].src_port, vectors[i].dst_port),
				 (vectors[i].with_ports & 127) % 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(microsoft_vectors),
		cmocka_unit_test(hash_is_linear),
		cmocka_unit_test(one_worker_owns_all),
		cmocka_unit_test(soft_is_symmetric_and_even),
		cmocka_unit_test(toeplitz_goes_through_the_redirection_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
