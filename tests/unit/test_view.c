/* Packets that are accepted and where their parts are; segments, bursts, random damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/rng.h"
#include "frame.h"

/* The frame in two segments; each ends where memory ends. */
static enum drop parse_split(const struct frame *f, const struct view_rule *rule, uint16_t first,
			     struct view *view)
{
	struct rte_mbuf tail = {.nb_segs = 1}, m = {.nb_segs = 2, .next = &tail};
	struct guard other;
	enum drop drop;

	guard_open(&other);
	m.ol_flags = f->ol_flags;
	m.buf_addr = memcpy(guard.end - first, f->byte, first);
	m.data_len = first;
	m.pkt_len = f->length;
	tail.data_len = (uint16_t)(f->length - first);
	tail.buf_addr = memcpy(other.end - tail.data_len, f->byte + first, tail.data_len);
	drop = parse_mbuf(&m, rule, view);
	guard_close(&other);
	return drop;
}

static void tcp_of_every_length(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned r = 0; r < 3; r++)
		for (unsigned options = 0; options <= 40; options += 4)
			for (unsigned payload = 0; payload < 200; payload++) {
				tcp(&f, rules[r], options, payload);
				assert_view(&f, rules[r], VIEW_TCP, f.l4 + 20u + options, payload);
			}
	tcp(&f, &plain, 12, 1448);
	assert_view(&f, &plain, VIEW_TCP, 66, 1448);
}

static void padding_and_trailer_are_not_payload(void **state)
{
	struct frame f;

	(void)state;
	tcp(&f, &plain, 0, 1);
	assert_int_equal(f.length, 60);
	memset(f.byte + 55, 0xaa, 5);
	assert_view(&f, &plain, VIEW_TCP, 54, 1);
	f.length = 200;
	assert_view(&f, &plain, VIEW_TCP, 54, 1);
	f.length = 55; /* no padding at all */
	assert_view(&f, &plain, VIEW_TCP, 54, 1);
}

static void udp_icmp_arp(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned r = 0; r < 3; r++)
		for (unsigned payload = 0; payload < 150; payload++) {
			udp(&f, rules[r], payload, 0);
			assert_view(&f, rules[r], VIEW_UDP, f.l4 + 8u, payload);
			udp(&f, rules[r], payload, 5);
			assert_view(&f, rules[r], VIEW_UDP, f.l4 + 8u, payload);
			icmp(&f, rules[r], payload);
			assert_view(&f, rules[r], VIEW_ICMP, f.l4 + 8u, payload);
			arp(&f, rules[r]);
			f.l4 = f.l3;
			assert_view(&f, rules[r], VIEW_ARP, f.l3 + 28u, 0);
		}
}

static void ip_options_are_stepped_over(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned options = 4; options <= 40; options += 4) {
		ipv4(&f, &plain, 6, options, 25);
		f.byte[f.l4 + 12] = 0x50;
		seal(&f);
		assert_view(&f, &plain, VIEW_TCP, f.l4 + 20u, 5);
	}
}

/* Service class, identification and "don't fragment" are free. */
static void free_fields(void **state)
{
	struct frame f;

	(void)state;
	tcp(&f, &plain, 0, 10);
	f.byte[15] = 0xff;
	put16(f.byte + 18, 0xffff);
	put16(f.byte + 20, 0xc000);
	f.byte[22] = 1;
	memcpy(f.byte + 6, broadcast, 6);
	seal(&f);
	assert_view(&f, &plain, VIEW_TCP, 54, 10);
}

/* Cut into two segments: headers must be in the first, payload may be anywhere. */
static void two_segments(void **state)
{
	struct frame f;
	struct view view;
	enum drop drop;

	(void)state;
	for (unsigned r = 0; r < 3; r++)
		for (unsigned kind = 0; kind < 3; kind++) {
			kind == 0   ? tcp(&f, rules[r], 12, 50)
			: kind == 1 ? udp(&f, rules[r], 50, 0)
				    : icmp(&f, rules[r], 50);
			for (uint16_t first = 0; first <= f.length; first++) {
				drop = parse_split(&f, rules[r], first, &view);
				if (first < f.l4 + (kind ? 8 : 32)) {
					assert_int_equal(drop, DROP_ETH_SHORT);
					continue;
				}
				assert_int_equal(drop, DROP_NONE);
				assert_int_equal(view.payload_len, 50);
				f.byte[f.length - 1] ^= 1;
				drop = parse_split(&f, rules[r], first, &view);
				assert_int_equal(drop, kind == 0   ? DROP_TCP_CSUM
						       : kind == 1 ? DROP_UDP_CSUM
								   : DROP_ICMP_BAD);
				f.byte[f.length - 1] ^= 1;
			}
		}
}

/* IP options are headers too, and summed only where they all are. */
static void ip_options_in_two_segments(void **state)
{
	struct frame f;
	struct view view;

	(void)state;
	ipv4(&f, &plain, 6, 12, 45);
	f.byte[f.l4 + 12] = 0x50;
	seal(&f);
	for (uint16_t first = 0; first <= f.length; first++)
		assert_int_equal(parse_split(&f, &plain, first, &view),
				 first < f.l4 + 20 ? DROP_ETH_SHORT : DROP_NONE);
}

/* Many segments of odd and even lengths, empty ones among them. */
static void many_segments(void **state)
{
	struct rte_mbuf m[64];
	struct rng rng = {1};
	struct frame f;
	struct view view;

	(void)state;
	for (unsigned run = 0; run < 300; run++) {
		unsigned at = 54 + (unsigned)rng_below(&rng, 20), i = 0;

		tcp(&f, &plain, 0, 1400);
		memset(m, 0, sizeof m);
		m[0].data_len = (uint16_t)at;
		m[0].buf_addr = f.byte;
		while (at < f.length) {
			unsigned part = i == 62 ? 2000 : (unsigned)rng_below(&rng, 60);

			part = part < f.length - at ? part : f.length - at;
			m[i].next = &m[i + 1];
			m[++i].buf_addr = f.byte + at;
			m[i].data_len = (uint16_t)part;
			at += part;
		}
		m[0].nb_segs = (uint16_t)(i + 1);
		m[0].pkt_len = f.length;
		assert_int_equal(parse_mbuf(&m[0], &plain, &view), DROP_NONE);
		f.byte[100] ^= 0x40;
		assert_int_equal(parse_mbuf(&m[0], &plain, &view), DROP_TCP_CSUM);
	}
}

/* A padded tail in a segment of its own is no reason to refuse. */
static void padding_in_another_segment(void **state)
{
	struct frame f;
	struct view view;

	(void)state;
	tcp(&f, &plain, 0, 2);
	assert_int_equal(parse_split(&f, &plain, 56, &view), DROP_NONE);
	assert_int_equal(view.payload_len, 2);
}

static void bursts_keep_packets_apart(void **state)
{
	enum { COUNT = 64 };
	static struct frame f[COUNT];
	struct rte_mbuf m[COUNT], *pkt[COUNT];
	struct view view[COUNT];
	uint8_t reason[COUNT];
	struct view_matcher matcher;

	(void)state;
	view_matcher_make(&matcher, &plain);
	for (unsigned i = 0; i < COUNT; i++) {
		i % 3 ? tcp(&f[i], &plain, 0, i) : udp(&f[i], &plain, i, 0);
		memset(&m[i], 0, sizeof m[i]);
		f[i].length = (uint16_t)(f[i].l3 + f[i].total);
		m[i].buf_addr = f[i].byte;
		m[i].data_len = f[i].length;
		m[i].pkt_len = f[i].length;
		m[i].nb_segs = 1;
		pkt[i] = &m[i];
	}
	for (unsigned i = 0; i < COUNT; i += 5)
		f[i].byte[f[i].l4] ^= 0x80;
	assert_int_equal(view_parse_burst(pkt, COUNT, &matcher, view, reason),
			 VIEW_REFUSED | 1 << VIEW_TCP | 1 << VIEW_UDP);
	for (unsigned i = 0; i < COUNT; i++) {
		if (i % 5 == 0) {
			assert_int_equal(reason[i], i % 3 ? DROP_TCP_CSUM : DROP_UDP_CSUM);
			continue;
		}
		assert_int_equal(reason[i], DROP_NONE);
		assert_int_equal(view[i].kind, i % 3 ? VIEW_TCP : VIEW_UDP);
		assert_int_equal(view[i].payload_len, i);
	}
	assert_int_equal(view_parse_burst(pkt, 0, &matcher, view, reason), 0);
}

/* Whatever arrives: both ways agree (parse() sees to it), and an accepted view is in bounds. */
static void random_damage(void **state)
{
	struct rng rng = {7};
	struct view_rule rule;
	struct frame f;
	struct view view;
	unsigned accepted = 0;

	(void)state;
	for (unsigned run = 0; run < 60000; run++) {
		rule = *rules[rng_below(&rng, 3)];
		rule.verify = rng_below(&rng, 2);
		switch (rng_below(&rng, 4)) {
		case 0:
			udp(&f, &rule, (unsigned)rng_below(&rng, 60), (unsigned)rng_below(&rng, 3));
			break;
		case 1:
			icmp(&f, &rule, (unsigned)rng_below(&rng, 60));
			break;
		default:
			tcp(&f, &rule, 4 * (unsigned)rng_below(&rng, 11),
			    (unsigned)rng_below(&rng, 60));
		}
		for (uint64_t flips = rng_below(&rng, 4); flips; flips--)
			f.byte[rng_below(&rng, 60)] = (uint8_t)rng_next(&rng);
		if (rng_below(&rng, 4) == 0)
			f.length = (uint16_t)rng_below(&rng, f.length + 1u);
		if (parse(&f, &rule, &view))
			continue;
		accepted++;
		assert_true(view.l3 <= view.l4 && view.l4 < view.payload);
		assert_true(view.payload + view.payload_len <= f.length);
	}
	assert_in_range(accepted, 15000, 45000);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_of_every_length),
		cmocka_unit_test(padding_and_trailer_are_not_payload),
		cmocka_unit_test(udp_icmp_arp),
		cmocka_unit_test(ip_options_are_stepped_over),
		cmocka_unit_test(free_fields),
		cmocka_unit_test(two_segments),
		cmocka_unit_test(ip_options_in_two_segments),
		cmocka_unit_test(many_segments),
		cmocka_unit_test(padding_in_another_segment),
		cmocka_unit_test(bursts_keep_packets_apart),
		cmocka_unit_test(random_damage),
	};

	return cmocka_run_group_tests(tests, open_memory, close_memory);
}
