/* Every reason for refusing a packet, and the edges of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

static void destination_mac(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		tcp(&f, &plain, 0, 10);
		f.byte[i] ^= 0x10;
		assert_drop(&f, &plain, DROP_ETH_NOT_MINE);
		arp(&f, &plain);
		f.byte[i] ^= 0x10;
		assert_drop(&f, &plain, DROP_ETH_NOT_MINE);
	}
	tcp(&f, &plain, 0, 10);
	memcpy(f.byte, broadcast, 6);
	assert_drop(&f, &plain, DROP_ETH_NOT_MINE);
	memcpy(f.byte, "\x01\0\x5e\0\0\x01", 6);
	assert_drop(&f, &plain, DROP_ETH_NOT_MINE);
	arp(&f, &tagged);
	memcpy(f.byte, broadcast, 6);
	f.l4 = f.l3;
	assert_view(&f, &tagged, VIEW_ARP, 18 + 28, 0);
}

static void tags(void **state)
{
	struct view_rule other = tagged;
	struct frame f;

	(void)state;
	for (unsigned sent = 0; sent < 3; sent++)
		for (unsigned wanted = 0; wanted < 3; wanted++) {
			tcp(&f, rules[sent], 0, 40);
			if (sent != wanted)
				assert_drop(&f, rules[wanted], DROP_ETH_VLAN);
		}
	other.vlan_id[0] = 101;
	tcp(&f, &other, 0, 40);
	assert_drop(&f, &tagged, DROP_ETH_VLAN);
	for (unsigned i = 0; i < 2; i++) {
		other = qinq;
		other.vlan_id[i] ^= 1;
		tcp(&f, &other, 0, 40);
		assert_drop(&f, &qinq, DROP_ETH_VLAN);
	}
	tcp(&f, &qinq, 0, 40);
	put16(f.byte + 12, 0x8100); /* two customer tags, as older switches stack them */
	assert_view(&f, &qinq, VIEW_TCP, f.l4 + 20u, 40);
	tcp(&f, &tagged, 0, 40);
	put16(f.byte + 12, 0x88a8);
	assert_view(&f, &tagged, VIEW_TCP, f.l4 + 20u, 40);
	put16(f.byte + 12, 0x8101);
	assert_drop(&f, &tagged, DROP_ETH_VLAN);
}

static void ether_type(void **state)
{
	struct frame f;

	(void)state;
	tcp(&f, &plain, 0, 40);
	put16(f.byte + 12, 0x86dd);
	assert_drop(&f, &plain, DROP_ETH_TYPE);
	put16(f.byte + 12, 46); /* IEEE 802.3 length */
	assert_drop(&f, &plain, DROP_ETH_TYPE);
}

/* Cut anywhere, a frame is refused and nothing behind the cut is read. */
static void cut_frames(void **state)
{
	struct frame whole, f;

	(void)state;
	for (unsigned r = 0; r < 3; r++) {
		tcp(&whole, rules[r], 12, 20);
		for (uint16_t length = 0; length < whole.l3 + whole.total; length++) {
			f = whole;
			f.length = length;
			assert_drop(&f, rules[r],
				    length < whole.l3 + 20 ? DROP_ETH_SHORT : DROP_IP_CUT);
		}
		arp(&whole, rules[r]);
		for (uint16_t length = 0; length < whole.l3 + 28; length++) {
			f = whole;
			f.length = length;
			assert_drop(&f, rules[r], DROP_ETH_SHORT);
		}
	}
}

static void malformed_arp(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		arp(&f, &plain);
		f.byte[14 + i] ^= 1;
		assert_drop(&f, &plain, DROP_ARP_BAD);
	}
}

static void malformed_ip(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned version = 0; version < 16; version++) {
		tcp(&f, &plain, 0, 40);
		f.byte[14] = (uint8_t)(version << 4 | 5);
		seal(&f);
		if (version != 4)
			assert_drop(&f, &plain, DROP_IP_BAD);
	}
	for (unsigned words = 0; words < 5; words++) {
		tcp(&f, &plain, 0, 40);
		f.byte[14] = (uint8_t)(0x40 | words);
		seal(&f);
		assert_drop(&f, &plain, DROP_IP_BAD);
	}
	tcp(&f, &plain, 0, 40);
	put16(f.byte + 16, 19);
	seal(&f);
	assert_drop(&f, &plain, DROP_IP_BAD);
	put16(f.byte + 16, 101); /* one more than there is */
	seal(&f);
	assert_drop(&f, &plain, DROP_IP_CUT);
	put16(f.byte + 16, 0xffff);
	seal(&f);
	assert_drop(&f, &plain, DROP_IP_CUT);
	ipv4(&f, &plain, 6, 8, 30);
	put16(f.byte + 16, 24); /* less than its own header */
	assert_drop(&f, &plain, DROP_IP_BAD);
}

static void fragments(void **state)
{
	static const unsigned field[] = {0x2000, 0x2001, 0x0001, 0x1fff, 0x3fff, 0x0100};
	struct frame f;

	(void)state;
	for (unsigned i = 0; i < sizeof field / sizeof *field; i++) {
		tcp(&f, &plain, 0, 40);
		put16(f.byte + 20, field[i]);
		seal(&f);
		assert_drop(&f, &plain, DROP_IP_FRAGMENT);
	}
}

static void other_protocols(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned protocol = 0; protocol < 256; protocol++) {
		if (protocol == 1 || protocol == 6 || protocol == 17)
			continue;
		ipv4(&f, &plain, (uint8_t)protocol, 0, 40);
		seal(&f);
		assert_drop(&f, &plain, DROP_IP_PROTO);
	}
}

static void malformed_transport(void **state)
{
	struct frame f;

	(void)state;
	for (unsigned length = 0; length < 20; length++) {
		ipv4(&f, &plain, 6, 0, length);
		f.byte[f.l4 + 12] = 0x50;
		assert_int_equal(f.length, 60);
		put_sum(f.byte + 24, checksum_sum(f.byte + 14, 20));
		assert_drop(&f, &plain, DROP_TCP_BAD);
		f.length = f.l3 + f.total;
		assert_drop(&f, &plain, DROP_TCP_BAD);
	}
	for (unsigned words = 0; words < 16; words++) {
		tcp(&f, &plain, 0, 19);
		f.byte[f.l4 + 12] = (uint8_t)(words << 4);
		seal(&f);
		if (words < 5 || words > 9)
			assert_drop(&f, &plain, DROP_TCP_BAD);
		else
			assert_view(&f, &plain, VIEW_TCP, f.l4 + 4 * words, 39 - 4 * words);
	}
	for (unsigned length = 0; length < 8; length++) {
		ipv4(&f, &plain, 17, 0, length);
		put_sum(f.byte + 24, checksum_sum(f.byte + 14, 20));
		assert_drop(&f, &plain, DROP_UDP_BAD);
		f.length = f.l3 + f.total;
		assert_drop(&f, &plain, DROP_UDP_BAD);
		ipv4(&f, &plain, 1, 0, length);
		put_sum(f.byte + 24, checksum_sum(f.byte + 14, 20));
		assert_drop(&f, &plain, DROP_ICMP_BAD);
		f.length = f.l3 + f.total;
		assert_drop(&f, &plain, DROP_ICMP_BAD);
		udp(&f, &plain, 30, 0);
		put16(f.byte + f.l4 + 4, length);
		seal(&f);
		assert_drop(&f, &plain, DROP_UDP_BAD);
	}
	udp(&f, &plain, 30, 0);
	put16(f.byte + f.l4 + 4, 39);
	seal(&f);
	assert_drop(&f, &plain, DROP_UDP_BAD);
}

/* A flipped bit anywhere is found, and nothing outside the checksums' reach is covered by them. */
static void every_flipped_bit(void **state)
{
	struct frame whole, f;
	struct view view;
	enum drop drop;

	(void)state;
	for (unsigned payload = 0; payload < 80; payload += 13) {
		tcp(&whole, &plain, 12, payload);
		for (unsigned bit = 14 * 8; bit < (whole.l3 + whole.total) * 8u; bit++) {
			f = whole;
			f.byte[bit / 8] ^= (uint8_t)(1 << bit % 8);
			drop = parse(&f, &plain, &view);
			if (bit / 8 >= 34 && bit / 8 != 46)
				assert_int_equal(drop, DROP_TCP_CSUM);
			else if (bit / 8 >= 18 && bit / 8 < 34)
				assert_int_equal(drop, DROP_IP_CSUM);
			else
				assert_int_not_equal(drop, DROP_NONE);
		}
	}
	udp(&whole, &plain, 21, 0);
	for (unsigned bit = 34 * 8; bit < (whole.l3 + whole.total) * 8u; bit++) {
		f = whole;
		f.byte[bit / 8] ^= (uint8_t)(1 << bit % 8);
		drop = parse(&f, &plain, &view);
		assert_true(drop == DROP_UDP_CSUM || (drop == DROP_UDP_BAD && bit / 8 < 40));
	}
	icmp(&whole, &plain, 21);
	for (unsigned bit = 34 * 8; bit < (whole.l3 + whole.total) * 8u; bit++) {
		f = whole;
		f.byte[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_drop(&f, &plain, DROP_ICMP_BAD);
	}
}

/* RFC 768: a UDP checksum field of zero says that none was made. */
static void udp_without_checksum(void **state)
{
	struct frame f;

	(void)state;
	udp(&f, &plain, 30, 0);
	put16(f.byte + f.l4 + 6, 0);
	assert_view(&f, &plain, VIEW_UDP, f.l4 + 8u, 30);
	f.ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD; /* some NICs think so */
	assert_view(&f, &plain, VIEW_UDP, f.l4 + 8u, 30);
}

static void verdict_of_the_nic(void **state)
{
	static const struct {
		uint64_t ol_flags;
		enum drop drop; /* of a segment with both checksums wrong */
	} verdicts[] = {
		{0, DROP_IP_CSUM},
		{RTE_MBUF_F_RX_IP_CKSUM_GOOD, DROP_TCP_CSUM},
		{RTE_MBUF_F_RX_L4_CKSUM_GOOD, DROP_IP_CSUM},
		{RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD, DROP_NONE},
		{RTE_MBUF_F_RX_IP_CKSUM_NONE | RTE_MBUF_F_RX_L4_CKSUM_NONE, DROP_NONE},
		{RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD, DROP_TCP_CSUM},
		{RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_GOOD, DROP_IP_CSUM},
	};
	struct view_rule rule = plain;
	struct frame f;

	(void)state;
	for (unsigned i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
		tcp(&f, &plain, 0, 30);
		f.byte[24] ^= 1;
		f.byte[50] ^= 1;
		f.ol_flags = verdicts[i].ol_flags;
		assert_drop(&f, &plain, verdicts[i].drop);
		udp(&f, &plain, 30, 0);
		f.byte[24] ^= 1;
		f.byte[50] ^= 1;
		f.ol_flags = verdicts[i].ol_flags;
		assert_drop(&f, &plain,
			    verdicts[i].drop == DROP_TCP_CSUM ? DROP_UDP_CSUM : verdicts[i].drop);
	}
	rule.verify = false;
	tcp(&f, &plain, 0, 30);
	f.byte[24] ^= 1;
	f.byte[50] ^= 1;
	assert_view(&f, &rule, VIEW_TCP, 54, 30);
	f.ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD;
	assert_drop(&f, &rule, DROP_TCP_CSUM);
	icmp(&f, &plain, 30);
	f.byte[50] ^= 1;
	assert_view(&f, &rule, VIEW_ICMP, 42, 30);
	f.ol_flags = RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	assert_drop(&f, &plain, DROP_ICMP_BAD);
}

/* A kernel on the other end of a veth leaves the pseudo-header's sum for a device to complete. */
static void checksum_left_to_a_device(void **state)
{
	struct view_rule rule = plain;
	struct frame f;
	uint16_t field;

	(void)state;
	rule.partial = true;
	tcp(&f, &plain, 0, 30);
	assert_view(&f, &rule, VIEW_TCP, 54, 30);
	field = checksum_fold(pseudo_sum(&f));
	memcpy(f.byte + f.l4 + 16, &field, sizeof field);
	assert_view(&f, &rule, VIEW_TCP, 54, 30);
	assert_drop(&f, &plain, DROP_TCP_CSUM);
	f.byte[f.l4 + 16] ^= 1;
	assert_drop(&f, &rule, DROP_TCP_CSUM);
	udp(&f, &plain, 30, 0);
	field = checksum_fold(pseudo_sum(&f));
	memcpy(f.byte + f.l4 + 6, &field, sizeof field);
	assert_view(&f, &rule, VIEW_UDP, f.l4 + 8u, 30);
	assert_drop(&f, &plain, DROP_UDP_CSUM);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destination_mac),
		cmocka_unit_test(tags),
		cmocka_unit_test(ether_type),
		cmocka_unit_test(cut_frames),
		cmocka_unit_test(malformed_arp),
		cmocka_unit_test(malformed_ip),
		cmocka_unit_test(fragments),
		cmocka_unit_test(other_protocols),
		cmocka_unit_test(malformed_transport),
		cmocka_unit_test(every_flipped_bit),
		cmocka_unit_test(udp_without_checksum),
		cmocka_unit_test(verdict_of_the_nic),
		cmocka_unit_test(checksum_left_to_a_device),
	};

	return cmocka_run_group_tests(tests, open_memory, close_memory);
}
