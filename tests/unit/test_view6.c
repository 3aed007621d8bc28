/* IPv6 frames: what is accepted and where its parts are, and why others are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/rng.h"
#include "frame.h"

static const struct view_rule plain6 = {.mac = {2, 0, 0, 0, 0, 1}, .verify = true, .ip6 = true};
static const struct view_rule tagged6 = {
	.mac = {2, 0, 0, 0, 0, 1}, .vlans = 1, .vlan_id = {100}, .verify = true, .ip6 = true};
static const struct view_rule qinq6 = {
	.mac = {2, 0, 0, 0, 0, 1}, .vlans = 2, .vlan_id = {4094, 7}, .verify = true, .ip6 = true};
static const struct view_rule *const rules6[] = {&plain6, &tagged6, &qinq6};

/* IPv6 with `extension` bytes of headers in front of `l4_len` bytes that count up. */
static void ipv6(struct frame *f, const struct view_rule *rule, uint8_t protocol,
		 const void *extension, unsigned length, unsigned l4_len)
{
	uint8_t *at;

	ethernet(f, rule, 0x86dd);
	at = f->byte + f->l3;
	f->l4 = (uint16_t)(f->l3 + 40 + length);
	f->total = (uint16_t)(40 + length + l4_len);
	at[0] = 0x6a; /* any traffic class and flow label */
	memcpy(at + 1, "\xbc\xde\xf1", 3);
	put16(at + 4, length + l4_len);
	at[6] = protocol;
	at[7] = 64;
	memcpy(at + 8, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	memcpy(at + 24, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02", 16);
	memcpy(at + 40, extension, length);
	for (unsigned i = 0; i < l4_len; i++)
		f->byte[f->l4 + i] = (uint8_t)(i * 7 + 3);
	f->length = (uint16_t)(f->l3 + f->total < 60 ? 60 : f->l3 + f->total);
}

/* Make the checksum at `field` of the transport header right, over `l4_len` bytes. */
static void seal6(struct frame *f, uint8_t protocol, unsigned field, unsigned l4_len)
{
	uint8_t *l4 = f->byte + f->l4;

	put16(l4 + field, 0);
	put_sum(l4 + field, checksum_pseudo6(f->byte + f->l3 + 8, protocol, (uint16_t)l4_len) +
				    checksum_sum(l4, l4_len));
}

static void tcp6_behind(struct frame *f, const struct view_rule *rule, uint8_t first,
			const void *extension, unsigned length, unsigned options, unsigned payload)
{
	ipv6(f, rule, first, extension, length, 20 + options + payload);
	f->byte[f->l4 + 12] = (uint8_t)((20 + options) / 4 << 4);
	seal6(f, 6, 16, 20 + options + payload);
}

static void tcp6(struct frame *f, const struct view_rule *rule, unsigned options, unsigned payload)
{
	tcp6_behind(f, rule, 6, "", 0, options, payload);
}

static void udp6(struct frame *f, const struct view_rule *rule, unsigned payload)
{
	ipv6(f, rule, 17, "", 0, 8 + payload);
	put16(f->byte + f->l4 + 4, 8 + payload);
	seal6(f, 17, 6, 8 + payload);
}

static void icmp6(struct frame *f, const struct view_rule *rule, unsigned payload)
{
	ipv6(f, rule, 58, "", 0, 8 + payload);
	seal6(f, 58, 2, 8 + payload);
}

static void assert_view6(const struct frame *f, const struct view_rule *rule, enum view_kind kind,
			 unsigned payload, unsigned payload_len)
{
	struct view view;

	assert_int_equal(parse(f, rule, &view), DROP_NONE);
	assert_int_equal(view.kind, kind);
	assert_int_equal(view.family, 6);
	assert_int_equal(view.l3, f->l3);
	assert_int_equal(view.l4, f->l4);
	assert_int_equal(view.payload, payload);
	assert_int_equal(view.payload_len, payload_len);
}

static void tcp_of_every_length(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned r = 0; r < 3; r++)
		for (unsigned options = 0; options <= 40; options += 4)
			for (unsigned payload = 0; payload < 200; payload++) {
				tcp6(&f, rules6[r], options, payload);
				assert_view6(&f, rules6[r], VIEW_TCP, f.l4 + 20u + options,
					     payload);
			}
	tcp6(&f, &plain6, 12, 1428);
	assert_view6(&f, &plain6, VIEW_TCP, 86, 1428);
}

static void udp_and_icmp(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned r = 0; r < 3; r++)
		for (unsigned payload = 0; payload < 80; payload++) {
			udp6(&f, rules6[r], payload);
			assert_view6(&f, rules6[r], VIEW_UDP, f.l4 + 8u, payload);
			icmp6(&f, rules6[r], payload);
			assert_view6(&f, rules6[r], VIEW_ICMP, f.l4 + 8u, payload);
		}
	udp6(&f, &plain6, 10);
	put16(f.byte + f.l4 + 6, 0); /* not allowed, unlike IPv4 */
	assert_drop(&f, &plain6, DROP_UDP_CSUM);
}

static void ipv4_beside_it(void **state)
{
	struct frame f;

	(void)state;
	tcp(&f, &plain6, 12, 100);
	assert_view(&f, &plain6, VIEW_TCP, f.l4 + 32u, 100);
	arp(&f, &plain6);
	f.l4 = f.l3;
	assert_view(&f, &plain6, VIEW_ARP, f.l3 + 28u, 0);
	tcp6(&f, &plain, 0, 0); /* a port without IPv6 */
	assert_drop(&f, &plain, DROP_ETH_TYPE);
}

/* Hop-by-hop, destination options, a routing header worked off, an atomic fragment; all together.
 */
static void extension_headers(void **state)
{
	static const uint8_t hops[8] = {6, 0, 1, 4}, destination[16] = {6, 1, 1, 12},
			     routed[24] = {6, 2, 0, 0}, atomic[8] = {6, 0, 0, 0, 1, 2, 3, 4};
	static const uint8_t all[40] = {60, 0, 1, 4, 0, 0, 0,  0, 43, 0, 1, 4, 0, 0, 0, 0, 44, 0,
					2,  0, 0, 0, 0, 0, 60, 0, 0,  0, 1, 2, 3, 4, 6, 0, 1,  4};
	struct frame f;

	(void)state;
	for (unsigned r = 0; r < 3; r++) {
		tcp6_behind(&f, rules6[r], 0, hops, 8, 0, 30);
		assert_view6(&f, rules6[r], VIEW_TCP, f.l4 + 20u, 30);
		tcp6_behind(&f, rules6[r], 60, destination, 16, 4, 0);
		assert_view6(&f, rules6[r], VIEW_TCP, f.l4 + 24u, 0);
		tcp6_behind(&f, rules6[r], 43, routed, 24, 0, 1);
		assert_view6(&f, rules6[r], VIEW_TCP, f.l4 + 20u, 1);
		tcp6_behind(&f, rules6[r], 44, atomic, 8, 0, 1);
		assert_view6(&f, rules6[r], VIEW_TCP, f.l4 + 20u, 1);
		tcp6_behind(&f, rules6[r], 0, all, 40, 12, 1000);
		assert_view6(&f, rules6[r], VIEW_TCP, f.l4 + 32u, 1000);
	}
}

static void odd_extension_headers(void **state)
{
	static const uint8_t late[16] = {0, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4};
	static const uint8_t left[24] = {6, 2, 0, 1}, more[8] = {6, 0, 0, 1},
			     next[8] = {6, 0, 0, 8};
	static const uint8_t huge[8] = {6, 255, 1, 4}, none[8] = {59, 0, 1, 4};
	struct frame f;

	(void)state;
	tcp6_behind(&f, &plain6, 60, late, 16, 0, 0);
	assert_drop(&f, &plain6, DROP_IP_BAD); /* hop-by-hop options are the first or not at all */
	tcp6_behind(&f, &plain6, 43, left, 24, 0, 0);
	assert_drop(&f, &plain6, DROP_IP_NOT_MINE);
	tcp6_behind(&f, &plain6, 44, more, 8, 0, 0);
	assert_drop(&f, &plain6, DROP_IP_FRAGMENT);
	tcp6_behind(&f, &plain6, 44, next, 8, 0, 0);
	assert_drop(&f, &plain6, DROP_IP_FRAGMENT);
	tcp6_behind(&f, &plain6, 60, huge, 8, 0, 0);
	assert_drop(&f, &plain6, DROP_IP_BAD);
	tcp6_behind(&f, &plain6, 60, none, 8, 0, 0);
	assert_drop(&f, &plain6, DROP_IP_PROTO);
	ipv6(&f, &plain6, 60, "", 0, 4);
	assert_drop(&f, &plain6, DROP_IP_BAD);
}

/* Only ICMPv6 may come by multicast. */
static void groups(void **state)
{
	static const uint8_t group[6] = {0x33, 0x33, 0xff, 0, 0, 2},
			     other[6] = {1, 0, 0x5e, 0, 0, 1};
	struct frame f;

	(void)state;
	icmp6(&f, &plain6, 20);
	memcpy(f.byte, group, 6);
	assert_view6(&f, &plain6, VIEW_ICMP, f.l4 + 8u, 20);
	memcpy(f.byte, other, 6);
	assert_drop(&f, &plain6, DROP_ETH_NOT_MINE);
	tcp6(&f, &plain6, 0, 0);
	memcpy(f.byte, group, 6);
	assert_drop(&f, &plain6, DROP_ETH_NOT_MINE);
	tcp(&f, &plain6, 0, 0);
	memcpy(f.byte, group, 6);
	assert_drop(&f, &plain6, DROP_ETH_NOT_MINE);
}

static void malformed(void **state)
{
	struct frame f;

	(void)state;
	tcp6(&f, &plain6, 0, 10);
	f.byte[f.l3] = 0x4a;
	assert_drop(&f, &plain6, DROP_IP_BAD);
	tcp6(&f, &plain6, 0, 10);
	put16(f.byte + f.l3 + 4, 31); /* a byte more than there is */
	assert_drop(&f, &plain6, DROP_IP_CUT);
	tcp6(&f, &plain6, 0, 10);
	put16(f.byte + f.l3 + 4, 19);
	assert_drop(&f, &plain6, DROP_TCP_BAD);
	tcp6(&f, &plain6, 0, 10);
	f.length = (uint16_t)(f.l3 + 39);
	assert_drop(&f, &plain6, DROP_ETH_SHORT);
}

/* No damage behind the hop limit goes unseen, and none before makes it read beyond the frame. */
static void damage(void **state)
{
	struct frame f;
	struct rng rng = {1};
	struct view view;

	(void)state;
	tcp6(&f, &plain6, 4, 33);
	for (unsigned bit = (f.l3 + 8u) * 8; bit < f.length * 8u; bit++) {
		f.byte[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_not_equal(parse(&f, &plain6, &view), DROP_NONE);
		f.byte[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (unsigned i = 0; i < 200000; i++) {
		static const uint8_t all[40] = {60, 0, 1, 4, 0,  0, 0, 0, 43, 0, 1, 4,
						0,  0, 0, 0, 44, 0, 2, 0, 0,  0, 0, 0,
						60, 0, 0, 0, 1,  2, 3, 4, 6,  0, 1, 4};

		tcp6_behind(&f, rules6[i % 3], 0, all, 40, 8, 40);
		for (unsigned n = (unsigned)rng_below(&rng, 4); n; n--)
			f.byte[rng_below(&rng, f.length)] = (uint8_t)rng_below(&rng, 256);
		f.length = (uint16_t)(1 + rng_below(&rng, f.length));
		parse(&f, rules6[i % 3], &view);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_of_every_length),
		cmocka_unit_test(udp_and_icmp),
		cmocka_unit_test(ipv4_beside_it),
		cmocka_unit_test(extension_headers),
		cmocka_unit_test(odd_extension_headers),
		cmocka_unit_test(groups),
		cmocka_unit_test(malformed),
		cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests_name("view6", tests, open_memory, close_memory);
}
