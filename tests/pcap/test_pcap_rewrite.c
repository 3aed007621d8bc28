/* Rewriting, over tests/golden/pcap/rewrite.pcap: each checksum afterwards is the one that
 * EXPECTED.md names, what was wrong stays wrong, and nothing else changes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/dissect.h"
#include "../../common/base/rewrite.h"
#include "support.h"

#define PACKETS        12
#define IP(a, b, c, d) ((u128)(a) << 24 | (b) << 16 | (c) << 8 | (d))

struct frame {
	uint8_t data[2048];
	uint32_t captured, length;
};

static struct frame frames[PACKETS];

static int frames_read(void **state)
{
	struct reader *reader = reader_open(golden("rewrite.pcap"), NULL, NULL);
	struct record record;
	unsigned n = 0;

	(void)state;
	assert_non_null(reader);
	while (reader_next(reader, &record) > 0) {
		assert_true(n < PACKETS && record.captured <= sizeof(frames[n].data) - 64);
		memcpy(frames[n].data, record.data, record.captured);
		frames[n].captured = record.captured;
		frames[n++].length = record.length;
	}
	assert_int_equal(n, PACKETS);
	reader_close(reader);
	return 0;
}

static struct rewrite_map map[] = {
	{4, 32, IP(10, 0, 0, 1), IP(192, 0, 2, 1)},
	{4, 32, IP(10, 0, 0, 2), IP(198, 51, 100, 2)},
};
static const struct rewrite mapped = {.map = map, .maps = 2};

static struct frame rewritten(const struct rewrite *r, unsigned n)
{
	struct frame f = frames[n];

	rewrite_frame(r, false, f.data, &f.captured, &f.length);
	return f;
}

/* The Internet checksum as nobody would write it for speed. */
static uint16_t slow_sum(const uint8_t *data, size_t length, uint32_t sum)
{
	for (size_t i = 0; i < length; i++)
		sum += (uint32_t)data[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* The sum over a transport segment and its pseudo-header: 0xffff if it is right. */
static uint16_t transport_sum(const struct frame *f)
{
	const uint8_t *ip;
	struct dissect d;
	uint32_t length;

	dissect_frame(f->data, f->captured, &d);
	ip = f->data + d.l3;
	length = d.family == 4 ? dissect_u16(ip + 2) - (uint32_t)(d.l4 - d.l3)
			       : dissect_u16(ip + 4) - (uint32_t)(d.l4 - d.l3 - 40);
	if (d.protocol == PROTOCOL_ICMP)
		return slow_sum(f->data + d.l4, length, 0);
	return slow_sum(f->data + d.l4, length,
			slow_sum(d.family == 4 ? ip + 12 : ip + 8, d.family == 4 ? 8 : 32,
				 length + d.protocol));
}

static uint16_t ip_sum(const struct frame *f, uint32_t at)
{
	return slow_sum(f->data + at, (f->data[at] & 15) * 4u, 0);
}

static void test_expected(void **state)
{
	/* Offsets of the IP header and of the transport checksum; 0: there is none. */
	static const struct {
		unsigned n, l3, check;
		uint16_t ip[2], transport[2];
	} expected[] = {
		{0, 14, 40, {0x66af, 0x8e7a}, {0xdfe3, 0x07af}},
		{1, 14, 40, {0x66c9, 0x8e94}, {0, 0}},
		{2, 14, 50, {0x66c8, 0x8e93}, {0xad26, 0xd4f1}},
		{3, 14, 40, {0x4108, 0x68d3}, {0xd3a3, 0xfb6e}},
		{4, 14, 0, {0x6597, 0x8d62}, {0, 0}},
		{7, 18, 44, {0x66ba, 0x8e85}, {0x3f5b, 0x6726}},
		{8, 22, 48, {0x66ba, 0x8e85}, {0x3551, 0x5d1c}},
		{9, 14, 0, {0xd1b1, 0xf97c}, {0x85a1, 0xad6c}},
		{10, 14, 0, {0x66c2, 0x8e8d}, {0, 0}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		unsigned n = expected[i].n, l3 = expected[i].l3, check = expected[i].check;
		struct frame f = rewritten(&mapped, n);
		struct dissect d;

		dissect_frame(f.data, f.captured, &d);
		if (n == 9)
			check = d.l4 + (d.protocol == PROTOCOL_UDP ? 6u : 16u);
		assert_int_equal(dissect_u16(frames[n].data + l3 + 10), expected[i].ip[0]);
		assert_int_equal(dissect_u16(f.data + l3 + 10), expected[i].ip[1]);
		assert_int_equal(ip_sum(&f, l3), 0xffff);
		if (check) {
			assert_int_equal(dissect_u16(frames[n].data + check),
					 expected[i].transport[0]);
			assert_int_equal(dissect_u16(f.data + check), expected[i].transport[1]);
		}
		if (!d.fragment && n != 1)
			assert_int_equal(transport_sum(&f), 0xffff);
	}
}

static void test_untouched(void **state)
{
	static const unsigned n[] = {5, 6};
	struct frame f = rewritten(&mapped, 4);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct frame six = rewritten(&mapped, n[i]);

		assert_memory_equal(&six, &frames[n[i]], sizeof(six));
	}
	assert_memory_equal(f.data + 34, frames[4].data + 34, f.captured - 34);
}

/* An ICMP error: the quoted header is mapped too, and its own checksum is right. */
static void test_quoted(void **state)
{
	struct frame f = rewritten(&mapped, 10);

	(void)state;
	assert_int_equal(transport_sum(&f), 0xffff);
	assert_int_equal(ip_sum(&f, 42), 0xffff);
	assert_memory_equal(f.data + 42 + 12, f.data + 30, 4); /* it goes back to the sender */
	assert_memory_not_equal(f.data + 42 + 12, frames[10].data + 42 + 12, 4);
}

static void test_arp(void **state)
{
	struct frame f = rewritten(&mapped, 11);

	(void)state;
	assert_memory_equal(f.data + 28, "\xc0\x00\x02\x01", 4);
	assert_memory_equal(f.data + 38, "\xc6\x33\x64\x02", 4);
}

/* Checksums that are wrong stay wrong by as much, unless they are to be repaired. */
static void test_bad_stays(void **state)
{
	static const struct rewrite repair = {.repair = true};
	struct frame *f = &frames[2], saved = *f, got;

	(void)state;
	f->data[50] ^= 0x40;
	f->data[24] ^= 0x01;
	got = rewritten(&mapped, 2);
	assert_int_equal(transport_sum(&got), transport_sum(f));
	assert_int_equal(ip_sum(&got, 14), ip_sum(f, 14));
	assert_int_not_equal(transport_sum(&got), 0xffff);
	got = rewritten(&repair, 2);
	assert_memory_equal(&got, &saved, sizeof(got));
	*f = saved;
	for (unsigned n = 0; n < PACKETS; n++) { /* what is right is right already */
		got = rewritten(&repair, n);
		assert_memory_equal(&got, &frames[n], sizeof(got));
	}
}

static void test_ports(void **state)
{
	struct rewrite_port port = {0, 4242};
	const struct rewrite r = {.port = &port, .ports = 1};

	(void)state;
	for (unsigned n = 0; n < PACKETS; n++) {
		struct dissect d;
		struct frame f;

		dissect_frame(frames[n].data, frames[n].captured, &d);
		if (!d.l4 || (d.protocol != PROTOCOL_TCP && d.protocol != PROTOCOL_UDP))
			continue;
		port.from = dissect_u16(frames[n].data + d.l4 + 2);
		f = rewritten(&r, n);
		assert_int_equal(dissect_u16(f.data + d.l4 + 2), 4242);
		assert_int_equal(dissect_u16(f.data + d.l4), dissect_u16(frames[n].data + d.l4));
		if (!d.fragment && n != 1)
			assert_int_equal(transport_sum(&f), 0xffff);
	}
}

static void test_macs_and_vlans(void **state)
{
	struct rewrite r = {.has_dst_mac = true,
			    .has_src_mac = true,
			    .dst_mac = {2, 0, 0, 0, 0, 7},
			    .src_mac = {2, 0, 0, 0, 0, 8},
			    .vlan_push = {30, 40},
			    .vlan_pushes = 2};
	struct frame f = rewritten(&r, 0);

	(void)state;
	assert_memory_equal(f.data,
			    "\x02\0\0\0\0\x07\x02\0\0\0\0\x08\x88\xa8\0\x1e\x81\0\0\x28\x08", 21);
	assert_int_equal(f.captured, frames[0].captured + 8);
	assert_int_equal(f.length, frames[0].length + 8);
	assert_memory_equal(f.data + 20, frames[0].data + 12, frames[0].captured - 12);
	r = (struct rewrite){.vlan_pop = 1};
	f = rewritten(&r, 8);
	assert_int_equal(f.captured, frames[8].captured - 4);
	assert_memory_equal(f.data + 12, frames[8].data + 16, f.captured - 12);
	r.vlan_pop = 8;
	r.vlan_set = 9; /* no tag is left to set */
	f = rewritten(&r, 8);
	assert_int_equal(f.captured, frames[8].captured - 8);
	assert_memory_equal(f.data + 12, frames[8].data + 20, f.captured - 12);
	r.vlan_pop = 0;
	f = rewritten(&r, 7);
	assert_int_equal(dissect_u16(f.data + 14) & 0xfff, 9);
	assert_int_equal(f.data[14] & 0xf0, frames[7].data[14] & 0xf0);
}

/* Prefixes of both families: what is behind them is kept. */
static void test_prefixes(void **state)
{
	struct rewrite_map prefix[] = {
		{4, 8, IP(10, 0, 0, 0), IP(99, 9, 9, 9)},
		{6, 16, 0, (u128)0x2002 << 112},
	};
	const struct rewrite r = {.map = prefix, .maps = 2};
	struct frame f = rewritten(&r, 0);
	struct dissect d;

	(void)state;
	assert_int_equal(f.data[26], 99);
	assert_memory_equal(f.data + 27, frames[0].data + 27, 3);
	assert_int_equal(transport_sum(&f), 0xffff);
	dissect_frame(frames[5].data, frames[5].captured, &d);
	prefix[1].from = (u128)dissect_u16(frames[5].data + d.l3 + 8) << 112;
	f = rewritten(&r, 5);
	assert_int_equal(dissect_u16(f.data + d.l3 + 8), 0x2002);
	assert_memory_equal(f.data + d.l3 + 10, frames[5].data + d.l3 + 10, 14);
	assert_int_equal(transport_sum(&f), 0xffff);
}

/* A thousand loops: a thousand pairs of addresses, every checksum right. */
static void test_step(void **state)
{
	(void)state;
	for (unsigned loop = 1; loop < 1000; loop++) {
		struct frame f = frames[0], quote = frames[10];
		u128 was = number_at(frames[0].data + 26, 4), is;

		rewrite_step(f.data, f.captured, loop);
		was = __builtin_bswap32((uint32_t)was);
		is = __builtin_bswap32((uint32_t)number_at(f.data + 26, 4));
		assert_true(is == was + loop);
		assert_int_equal(ip_sum(&f, 14), 0xffff);
		assert_int_equal(transport_sum(&f), 0xffff);
		rewrite_step(quote.data, quote.captured, loop);
		assert_int_equal(transport_sum(&quote), 0xffff);
		assert_int_equal(ip_sum(&quote, 42), 0xffff);
		assert_memory_equal(quote.data + 54, quote.data + 30, 4);
	}
}

/* Cut anywhere, nothing is touched behind the cut, and what is there changes as in the whole. */
static void test_cut(void **state)
{
	(void)state;
	for (unsigned n = 0; n < PACKETS; n++) {
		struct frame whole = rewritten(&mapped, n);

		for (uint32_t cut = 0; cut < frames[n].captured; cut++) {
			uint8_t *data = malloc(cut ? cut : 1);
			uint32_t captured = cut, length = frames[n].length;
			struct dissect d;

			memcpy(data, frames[n].data, cut);
			rewrite_frame(&mapped, false, data, &captured, &length);
			assert_int_equal(captured, cut);
			dissect_frame(frames[n].data, cut, &d);
			if (d.family == 4) {
				assert_memory_equal(data + d.l3, whole.data + d.l3, 20);
			}
			free(data);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The seeds of tests/fuzz/fuzz_rewrite.c: every packet, whole and cut, under every option. */
static void test_fuzz_seeds(void **state)
{
	uint8_t data[sizeof(frames[0].data) + 2];

	(void)state;
	for (unsigned n = 0; n < PACKETS; n++) {
		memcpy(data + 2, frames[n].data, frames[n].captured);
		for (unsigned option = 0; option < 512; option++) {
			data[0] = (uint8_t)option;
			data[1] = (uint8_t)(option >> 8);
			for (uint32_t cut = frames[n].captured; cut > 100; cut -= 97)
				LLVMFuzzerTestOneInput(data, cut + 2);
			for (uint32_t cut = 0; cut < 100 && cut < frames[n].captured; cut++)
				LLVMFuzzerTestOneInput(data, cut + 2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expected),   cmocka_unit_test(test_untouched),
		cmocka_unit_test(test_quoted),     cmocka_unit_test(test_arp),
		cmocka_unit_test(test_bad_stays),  cmocka_unit_test(test_ports),
		cmocka_unit_test(test_prefixes),   cmocka_unit_test(test_macs_and_vlans),
		cmocka_unit_test(test_step),       cmocka_unit_test(test_cut),
		cmocka_unit_test(test_fuzz_seeds),
	};

	return cmocka_run_group_tests(tests, frames_read, NULL);
}
