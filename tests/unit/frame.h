/* Frames for tests of the view, and parsing them under guard.
 *
 * Each frame is parsed alone and as part of a burst, which have to agree, and lies right before a
 * page that cannot be read. Included after <cmocka.h>, once per test program. */
#ifndef UNIT_FRAME_H
#define UNIT_FRAME_H

#include <rte_mbuf.h>

#include "../../common/base/checksum.h"
#include "../../common/base/view.h"
#include "guard.h"

#define FRAME_MAX 2048

static const struct view_rule plain = {.mac = {2, 0, 0, 0, 0, 1}, .verify = true};
static const struct view_rule tagged = {
	.mac = {2, 0, 0, 0, 0, 1}, .vlans = 1, .vlan_id = {100}, .verify = true};
static const struct view_rule qinq = {
	.mac = {2, 0, 0, 0, 0, 1}, .vlans = 2, .vlan_id = {4094, 7}, .verify = true};
static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

struct frame {
	uint8_t byte[FRAME_MAX];
	uint16_t length;        /* as received */
	uint16_t l3, l4, total; /* total: of the IP packet */
	uint64_t ol_flags;
};

static struct guard guard;

static inline void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void put_sum(uint8_t *at, uint64_t sum)
{
	uint16_t field = (uint16_t)~checksum_fold(sum);

	memcpy(at, &field, sizeof field);
}

static inline unsigned l4_field(const struct frame *f)
{
	static const unsigned field[] = {[1] = 2, [6] = 16, [17] = 6};
	uint8_t protocol = f->byte[f->l3 + 9];

	return protocol < 18 ? field[protocol] : 0;
}

static inline uint64_t pseudo_sum(const struct frame *f)
{
	const uint8_t *ip = f->byte + f->l3;
	uint32_t src_be, dst_be;

	if (ip[9] == 1)
		return 0;
	memcpy(&src_be, ip + 12, 4);
	memcpy(&dst_be, ip + 16, 4);
	return checksum_pseudo4(src_be, dst_be, ip[9], (uint16_t)(f->total - (f->l4 - f->l3)));
}

/* Make all checksums right. */
static inline void seal(struct frame *f)
{
	uint8_t *ip = f->byte + f->l3, *l4 = f->byte + f->l4;
	unsigned field = l4_field(f);

	put16(ip + 10, 0);
	put_sum(ip + 10, checksum_sum(ip, (size_t)(f->l4 - f->l3)));
	if (!field)
		return;
	put16(l4 + field, 0);
	put_sum(l4 + field, pseudo_sum(f) + checksum_sum(l4, f->total - (size_t)(f->l4 - f->l3)));
}

/* Ethernet header with the rule's tags. */
static inline void ethernet(struct frame *f, const struct view_rule *rule, unsigned type)
{
	memset(f, 0, sizeof *f);
	memcpy(f->byte, rule->mac, 6);
	memcpy(f->byte + 6, "\x02\0\0\0\0\x02", 6);
	for (unsigned i = 0; i < rule->vlans; i++) {
		put16(f->byte + 12 + 4 * i, rule->vlans == 2 && !i ? 0x88a8 : 0x8100);
		put16(f->byte + 14 + 4 * i, 0xe000u | rule->vlan_id[i]); /* priority 7 */
	}
	f->l3 = (uint16_t)(14 + 4 * rule->vlans);
	put16(f->byte + f->l3 - 2, type);
}

/* IPv4 with `options` bytes of options, then `l4_len` bytes that count up, padded to 60. */
static inline void ipv4(struct frame *f, const struct view_rule *rule, uint8_t protocol,
			unsigned options, unsigned l4_len)
{
	uint8_t *ip;

	ethernet(f, rule, 0x0800);
	ip = f->byte + f->l3;
	f->l4 = (uint16_t)(f->l3 + 20 + options);
	f->total = (uint16_t)(20 + options + l4_len);
	ip[0] = (uint8_t)(0x40 | (20 + options) / 4);
	put16(ip + 2, f->total);
	put16(ip + 4, 0x1234);
	put16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = protocol;
	memcpy(ip + 12, "\x0a\0\0\x01\x0a\0\0\x02", 8);
	memset(ip + 20, 1, options);
	for (unsigned i = 0; i < l4_len; i++)
		f->byte[f->l4 + i] = (uint8_t)(i * 7 + 3);
	f->length = (uint16_t)(f->l3 + f->total < 60 ? 60 : f->l3 + f->total);
}

static inline void tcp(struct frame *f, const struct view_rule *rule, unsigned options,
		       unsigned payload)
{
	ipv4(f, rule, 6, 0, 20 + options + payload);
	f->byte[f->l4 + 12] = (uint8_t)((20 + options) / 4 << 4);
	seal(f);
}

static inline void udp(struct frame *f, const struct view_rule *rule, unsigned payload,
		       unsigned behind)
{
	ipv4(f, rule, 17, 0, 8 + payload + behind);
	put16(f->byte + f->l4 + 4, 8 + payload);
	f->total = (uint16_t)(f->total - behind); /* for the checksum, which ends there */
	seal(f);
	f->total = (uint16_t)(f->total + behind);
}

static inline void icmp(struct frame *f, const struct view_rule *rule, unsigned payload)
{
	ipv4(f, rule, 1, 0, 8 + payload);
	seal(f);
}

static inline void arp(struct frame *f, const struct view_rule *rule)
{
	ethernet(f, rule, 0x0806);
	memcpy(f->byte + f->l3, "\0\x01\x08\0\x06\x04\0\x01", 8);
	f->length = (uint16_t)(f->l3 + 28 < 60 ? 60 : f->l3 + 28);
}

/* Parse an mbuf alone and in the middle of a burst. */
static inline enum drop parse_mbuf(struct rte_mbuf *m, const struct view_rule *rule,
				   struct view *view)
{
	struct rte_mbuf *burst[3] = {m, m, m};
	struct view views[3];
	uint8_t reason[3] = {0xee, 0xee, 0xee};
	enum drop drop = view_parse(m, rule, view);
	struct view_matcher matcher;

	view_matcher_make(&matcher, rule);
	assert_int_equal(view_parse_burst(burst, 3, &matcher, views, reason),
			 drop ? VIEW_REFUSED : 1u << view->kind);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(reason[i], drop);
		if (!drop)
			assert_memory_equal(&views[i], view, sizeof *view);
	}
	return drop;
}

/* The frame in one segment, which ends where memory ends. */
static inline enum drop parse(const struct frame *f, const struct view_rule *rule,
			      struct view *view)
{
	struct rte_mbuf m = {.nb_segs = 1, .ol_flags = f->ol_flags};

	m.buf_addr = memcpy(guard.end - f->length, f->byte, f->length);
	m.data_len = f->length;
	m.pkt_len = f->length;
	return parse_mbuf(&m, rule, view);
}

static inline void assert_view(const struct frame *f, const struct view_rule *rule,
			       enum view_kind kind, unsigned payload, unsigned payload_len)
{
	struct view view;

	assert_int_equal(parse(f, rule, &view), DROP_NONE);
	assert_int_equal(view.kind, kind);
	assert_int_equal(view.family, 4);
	assert_int_equal(view.l3, f->l3);
	assert_int_equal(view.l4, f->l4);
	assert_int_equal(view.payload, payload);
	assert_int_equal(view.payload_len, payload_len);
}

static inline void assert_drop(const struct frame *f, const struct view_rule *rule, enum drop drop)
{
	struct view view;

	assert_int_equal(parse(f, rule, &view), drop);
}

static const struct view_rule *const rules[] = {&plain, &tagged, &qinq};

static inline int open_memory(void **state)
{
	(void)state;
	guard_open(&guard);
	return 0;
}

static inline int close_memory(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

#endif
