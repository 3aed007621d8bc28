/* The simulated wire and the packets it carries: each impairment alone, then the books. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../common/base/checksum.h"
#include "../../common/base/wire.h"

#define US(n) ((n)*UINT64_C(1000))
#define MS(n) ((n)*UINT64_C(1000000))

static struct packet_box box = {.room = 1600};

/* A TCP segment of the given frame length; `id` in its last two bytes tells it from others. */
static struct rte_mbuf *segment(uint16_t id, uint16_t length, uint8_t flags)
{
	struct rte_mbuf *m = packet_box_new(&box);
	uint8_t *frame = (uint8_t *)m->buf_addr + m->data_off;

	memset(frame, 0, length);
	frame[12] = 0x08;
	frame[14] = 0x45;
	frame[17] = 40;
	frame[23] = 6;
	frame[34 + 12] = 0x50;
	frame[34 + 13] = flags;
	frame[length - 2] = (uint8_t)(id >> 8);
	frame[length - 1] = (uint8_t)id;
	m->data_len = length;
	m->pkt_len = length;
	return m;
}

static uint16_t id_of(const struct rte_mbuf *m)
{
	const uint8_t *end = (uint8_t *)m->buf_addr + m->data_off + m->data_len;

	return (uint16_t)(end[-2] << 8 | end[-1]);
}

/* Put `count` segments in, one every `gap`, with ids from 0. */
static void put_many(struct wire *w, unsigned count, uint64_t gap)
{
	for (unsigned i = 0; i < count; i++)
		wire_put(w, segment((uint16_t)i, 60, 0x10), i * gap);
}

/* Take everything out that ever arrives; ids go to `id`, times to `at` (both may be NULL). */
static unsigned take_all(struct wire *w, uint16_t *id, uint64_t *at)
{
	unsigned n = 0;
	uint64_t now;

	while ((now = wire_next(w)) != WIRE_NEVER) {
		struct rte_mbuf *m = wire_get(w, now);

		assert_non_null(m);
		if (id)
			id[n] = id_of(m);
		if (at)
			at[n] = now;
		n++;
		packet_box_free(&box, m);
	}
	return n;
}

#define EXPECT_IDS(got, ...)                                  \
	do {                                                  \
		const uint16_t want[] = {__VA_ARGS__};        \
		assert_memory_equal(got, want, sizeof(want)); \
	} while (0)

/* The wire's books, and every packet back. */
static void finish(struct wire *w)
{
	const struct wire_stats s = w->stats;

	assert_int_equal(s.in + s.duplicated, s.out + s.lost + s.queue_full + w->flying);
	wire_close(w);
	assert_int_equal(box.out, 0);
}

static void test_delay_keeps_order_and_time(void **state)
{
	struct wire w;
	uint16_t id[100];
	uint64_t at[100];

	(void)state;
	wire_open(&w, &(struct wire_rule){.delay = US(50)}, &box, 1);
	put_many(&w, 100, US(10));
	assert_int_equal(wire_next(&w), US(50));
	assert_null(wire_get(&w, US(50) - 1));
	assert_int_equal(take_all(&w, id, at), 100);
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(id[i], i);
		assert_int_equal(at[i], i * US(10) + US(50));
	}
	finish(&w);
}

static void test_jitter_varies_but_keeps_order(void **state)
{
	struct wire w;
	uint16_t id[1000];
	uint64_t at[1000], last = 0;
	unsigned late = 0;

	(void)state;
	wire_open(&w, &(struct wire_rule){.delay = US(50), .jitter = US(100)}, &box, 1);
	put_many(&w, 1000, US(10));
	assert_int_equal(take_all(&w, id, at), 1000);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(id[i], i);
		assert_true(at[i] >= last && at[i] >= i * US(10) + US(50));
		assert_true(at[i] <= i * US(10) + US(150));
		late += at[i] > i * US(10) + US(100);
		last = at[i];
	}
	assert_in_range(late, 500, 999);
	finish(&w);
}

static void test_rate_spaces_packets(void **state)
{
	struct wire w;
	uint64_t at[10];

	(void)state;
	/* 60 bytes at 48 Mbps: 10 us each. */
	wire_open(&w, &(struct wire_rule){.rate_bps = 48000000, .delay = US(5)}, &box, 1);
	put_many(&w, 10, 0);
	assert_int_equal(take_all(&w, NULL, at), 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(at[i], US(10) * (i + 1) + US(5));
	finish(&w);
}

static void test_queue_drops_the_tail(void **state)
{
	struct wire w;
	uint16_t id[20];

	(void)state;
	wire_open(&w, &(struct wire_rule){.rate_bps = 48000000, .queue = 3}, &box, 1);
	put_many(&w, 10, 0);
	assert_int_equal(w.stats.queue_full, 7);
	/* At 10 us the first has left: there is one place again. */
	wire_put(&w, segment(100, 60, 0), US(10));
	wire_put(&w, segment(101, 60, 0), US(10));
	assert_int_equal(w.stats.queue_full, 8);
	assert_int_equal(take_all(&w, id, NULL), 4);
	assert_int_equal(id[3], 100);
	finish(&w);
}

static void test_loss_rate(void **state)
{
	struct wire w;

	(void)state;
	wire_open(&w, &(struct wire_rule){.loss = 0.1}, &box, 7);
	put_many(&w, 20000, US(1));
	assert_in_range(w.stats.lost, 1800, 2200);
	assert_int_equal(take_all(&w, NULL, NULL), 20000 - w.stats.lost);
	finish(&w);
}

static void test_loss_in_bursts(void **state)
{
	struct wire w;
	uint16_t id[2000];
	unsigned n, last = UINT32_MAX;

	(void)state;
	wire_open(&w, &(struct wire_rule){.loss = 0.02, .loss_burst = 5}, &box, 7);
	put_many(&w, 2000, US(1));
	n = take_all(&w, id, NULL);
	assert_in_range(n, 1600, 1950);
	for (unsigned i = 0; i < n; i++) { /* every gap is at least a burst long */
		unsigned gap = id[i] - last - 1;

		assert_true(gap == 0 || gap >= 5);
		last = id[i];
	}
	finish(&w);
}

static void test_every_nth_is_lost(void **state)
{
	struct wire w;
	uint16_t id[10];

	(void)state;
	wire_open(&w, &(struct wire_rule){.loss_every = 3}, &box, 1);
	put_many(&w, 9, US(1));
	assert_int_equal(take_all(&w, id, NULL), 6);
	EXPECT_IDS(id, 0, 1, 3, 4, 6, 7);
	finish(&w);
}

static void test_nth_of_some_flags_is_lost(void **state)
{
	struct wire_rule rule = {.lose_flags = 0x12, .lose_first = 2, .lose_count = 2};
	static const uint8_t flags[] = {0x02, 0x12, 0x10, 0x12, 0x12, 0x12};
	struct wire w;
	uint16_t id[6];

	(void)state;
	wire_open(&w, &rule, &box, 1);
	for (uint16_t i = 0; i < 6; i++)
		wire_put(&w, segment(i, 60, flags[i]), 0);
	assert_int_equal(take_all(&w, id, NULL), 4);
	EXPECT_IDS(id, 0, 1, 2, 5);
	finish(&w);
}

static bool is_fifth(void *arg, const struct rte_mbuf *m, uint64_t number)
{
	(void)m;
	return number == *(uint64_t *)arg;
}

static void test_predicate_blackout_and_mtu(void **state)
{
	static const struct wire_blackout blackout[] = {{US(1), US(3)}, {US(7), US(8)}};
	uint64_t fifth = 5;
	struct wire_rule rule = {.mtu = 1000,
				 .blackout = blackout,
				 .blackouts = 2,
				 .lose = is_fifth,
				 .lose_arg = &fifth};
	struct wire w;
	uint16_t id[10];

	(void)state;
	wire_open(&w, &rule, &box, 1);
	put_many(&w, 8, US(1)); /* lost: 1 and 2 in the dark, 4 is the fifth, 7 in the dark */
	wire_put(&w, segment(8, 1014, 0), US(8));
	wire_put(&w, segment(9, 1015, 0), US(8));
	assert_int_equal(take_all(&w, id, NULL), 5);
	EXPECT_IDS(id, 0, 3, 5, 6, 8);
	finish(&w);
}

static void test_reorder(void **state)
{
	struct wire w;
	uint16_t id[2000];
	unsigned n, back = 0;
	bool seen[2000] = {false};

	(void)state;
	wire_open(&w, &(struct wire_rule){.delay = US(5), .reorder = 0.05, .reorder_delay = US(50)},
		  &box, 3);
	put_many(&w, 2000, US(1));
	n = take_all(&w, id, NULL);
	assert_int_equal(n, 2000);
	for (unsigned i = 0; i < n; i++) {
		assert_false(seen[id[i]]);
		seen[id[i]] = true;
		back += i && id[i] < id[i - 1];
	}
	assert_in_range(w.stats.reordered, 60, 140);
	assert_in_range(back, 50, 140);
	finish(&w);
}

static void test_duplicate(void **state)
{
	struct wire w;
	uint16_t id[2000];
	unsigned n, twice = 0;

	(void)state;
	wire_open(&w, &(struct wire_rule){.delay = US(5), .duplicate = 0.1}, &box, 3);
	put_many(&w, 1000, US(1));
	n = take_all(&w, id, NULL);
	assert_int_equal(n, 1000 + w.stats.duplicated);
	assert_in_range(w.stats.duplicated, 60, 140);
	for (unsigned i = 1; i < n; i++)
		twice += id[i] == id[i - 1];
	assert_int_equal(twice, w.stats.duplicated);
	finish(&w);
}

static void test_corrupt_flips_one_bit_behind_ethernet(void **state)
{
	struct rte_mbuf *clean = segment(1, 60, 0x10), *m;
	const uint8_t *want = (uint8_t *)clean->buf_addr + clean->data_off;
	struct wire w;

	(void)state;
	wire_open(&w, &(struct wire_rule){.corrupt = 1}, &box, 3);
	for (unsigned i = 0; i < 500; i++)
		wire_put(&w, segment(1, 60, 0x10), 0);
	while ((m = wire_get(&w, 0))) {
		const uint8_t *got = (uint8_t *)m->buf_addr + m->data_off;
		unsigned bits = 0;

		assert_memory_equal(got, want, 14);
		for (unsigned i = 14; i < 60; i++)
			bits += (unsigned)__builtin_popcount((unsigned)(got[i] ^ want[i]));
		assert_int_equal(bits, 1);
		packet_box_free(&box, m);
	}
	assert_int_equal(w.stats.corrupted, 500);
	packet_box_free(&box, clean);
	finish(&w);
}

/* A segment of `length` bytes with that much payload behind 54 bytes of headers and a right
 * checksum. */
static struct rte_mbuf *payload_segment(uint16_t length)
{
	struct rte_mbuf *m = segment(0x1234, length, 0x10);
	uint8_t *frame = (uint8_t *)m->buf_addr + m->data_off;
	uint16_t sum;

	frame[16] = (uint8_t)((length - 14) >> 8);
	frame[17] = (uint8_t)(length - 14);
	for (unsigned i = 54; i + 2 < length; i++)
		frame[i] = (uint8_t)(i * 7);
	sum = (uint16_t)~checksum_fold(checksum_sum(frame + 34, length - 34u));
	memcpy(frame + 50, &sum, 2);
	return m;
}

static void test_corrupt_payload_keeps_the_checksum_right(void **state)
{
	struct wire_rule rule = {.corrupt = 1, .corrupt_payload = true};
	struct rte_mbuf *clean = payload_segment(501), *m;
	const uint8_t *want = (uint8_t *)clean->buf_addr + clean->data_off;
	struct wire w;

	(void)state;
	wire_open(&w, &rule, &box, 3);
	for (unsigned i = 0; i < 500; i++)
		wire_put(&w, payload_segment(501), 0);
	wire_put(&w, segment(1, 60, 0x10), 0); /* no payload: nothing to flip */
	while ((m = wire_get(&w, 0))) {
		const uint8_t *got = (uint8_t *)m->buf_addr + m->data_off;
		unsigned bits = 0;

		if (m->data_len == 501) {
			for (unsigned i = 54; i < 501; i++)
				bits += (unsigned)__builtin_popcount((unsigned)(got[i] ^ want[i]));
			assert_int_equal(bits, 1);
			assert_int_equal(checksum_fold(checksum_sum(got + 34, 467)), 0xffff);
		}
		packet_box_free(&box, m);
	}
	assert_int_equal(w.stats.corrupted, 500);
	packet_box_free(&box, clean);
	finish(&w);
}

/* What comes out, as one number. */
static uint64_t outcome(uint64_t seed)
{
	struct wire_rule rule = {.rate_bps = 100000000,
				 .delay = US(20),
				 .jitter = US(30),
				 .queue = 50,
				 .loss = 0.05,
				 .reorder = 0.05,
				 .duplicate = 0.05,
				 .corrupt = 0.05};
	uint64_t sum = 0, now;
	struct wire w;

	wire_open(&w, &rule, &box, seed);
	put_many(&w, 1000, US(3));
	while ((now = wire_next(&w)) != WIRE_NEVER) {
		struct rte_mbuf *m = wire_get(&w, now);
		const uint8_t *frame = (uint8_t *)m->buf_addr + m->data_off;

		sum = sum * 31 + now;
		for (unsigned i = 0; i < m->data_len; i++)
			sum = sum * 31 + frame[i];
		packet_box_free(&box, m);
	}
	finish(&w);
	return sum;
}

static void test_same_seed_same_outcome(void **state)
{
	(void)state;
	assert_int_equal(outcome(1), outcome(1));
	assert_int_not_equal(outcome(1), outcome(2));
}

static void test_close_gives_back_what_flies(void **state)
{
	struct wire w;

	(void)state;
	wire_open(&w, &(struct wire_rule){.delay = MS(1), .queue = 5}, &box, 1);
	put_many(&w, 100, 0);
	assert_int_equal(box.out, 100);
	finish(&w);
}

static void test_box_limits_and_copies(void **state)
{
	struct packet_box small = {.room = 100, .limit = 2};
	struct packet_tx t;
	struct rte_mbuf *a, *b;

	(void)state;
	assert_int_equal(packet_tx_open(&t, &small, 2), 0);
	a = tx_new(&t.tx);
	b = tx_new(&t.tx);
	assert_non_null(a);
	assert_non_null(b);
	assert_null(tx_new(&t.tx));
	a->data_len = 60;
	a->pkt_len = 100;
	b->data_len = 40;
	a->next = b;
	memset((char *)a->buf_addr + a->data_off, 1, 60);
	memset((char *)b->buf_addr + b->data_off, 2, 40);
	small.limit = 3;
	b = packet_box_copy(&small, a);
	assert_int_equal(b->data_len, 100);
	assert_int_equal(((char *)b->buf_addr + b->data_off)[59], 1);
	assert_int_equal(((char *)b->buf_addr + b->data_off)[60], 2);
	tx_push(&t.tx, a);
	tx_push(&t.tx, b);
	small.limit = 4;
	tx_push(&t.tx, packet_box_new(&small)); /* no room: refused and given back */
	assert_int_equal(t.tx.refused, 1);
	assert_int_equal(small.out, 3);
	packet_tx_close(&t);
	assert_int_equal(small.out, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay_keeps_order_and_time),
		cmocka_unit_test(test_jitter_varies_but_keeps_order),
		cmocka_unit_test(test_rate_spaces_packets),
		cmocka_unit_test(test_queue_drops_the_tail),
		cmocka_unit_test(test_loss_rate),
		cmocka_unit_test(test_loss_in_bursts),
		cmocka_unit_test(test_every_nth_is_lost),
		cmocka_unit_test(test_nth_of_some_flags_is_lost),
		cmocka_unit_test(test_predicate_blackout_and_mtu),
		cmocka_unit_test(test_reorder),
		cmocka_unit_test(test_duplicate),
		cmocka_unit_test(test_corrupt_flips_one_bit_behind_ethernet),
		cmocka_unit_test(test_corrupt_payload_keeps_the_checksum_right),
		cmocka_unit_test(test_same_seed_same_outcome),
		cmocka_unit_test(test_close_gives_back_what_flies),
		cmocka_unit_test(test_box_limits_and_copies),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
