/* Replays: when the packets of a tape leave, loop after loop, and what is said of those that do
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../common/base/packet_box.h"
#include "../../stateless/stateless.h"

#define NOW UINT64_C(1000000000000)
#define MS  UINT64_C(1000000)
#define S   UINT64_C(1000000000)

/* One replay on one worker of one port. */
struct lab {
	struct config config;
	struct config_port port;
	struct config_traffic traffic;
	struct arena arena;
	void *memory[16];
	unsigned pieces;
	struct packet_box box;
	struct packet_tx tx;
	struct counters counters;
	struct traffic_stats stats, *stats_of;
	struct stream_stats stream, *stream_of;
	struct tape tape, *tape_of;
	struct nexthop nexthop;
	struct engine *engine;
	unsigned sent;
	uint64_t at[4096]; /* since the start */
	uint16_t length[4096];
};

static void *piece_take(struct arena *arena, size_t size)
{
	struct lab *lab = (struct lab *)((char *)arena - offsetof(struct lab, arena));
	void *piece = aligned_alloc(64, (size + 63) & ~(size_t)63);

	assert_non_null(piece);
	assert_true(lab->pieces < 16);
	memset(piece, 0, size);
	return lab->memory[lab->pieces++] = piece;
}

static struct lab *lab_open(void)
{
	struct lab *lab = aligned_alloc(_Alignof(struct lab), sizeof(*lab));

	assert_non_null(lab);
	memset(lab, 0, sizeof(*lab));
	lab->port = (struct config_port){.name = "p", .mtu = 1500, .cores = 1};
	lab->traffic = (struct config_traffic){.name = "r", .kind = REPLAY};
	lab->config = (struct config){.duration = 3600 * S,
				      .port = &lab->port,
				      .ports = 1,
				      .traffic = &lab->traffic,
				      .traffics = 1};
	lab->arena.take = piece_take;
	lab->box.room = 2048;
	lab->tape.loops = 1;
	lab->tape.parts = 1;
	return lab;
}

static struct tape_block *block_add(struct lab *lab)
{
	struct tape_block *block = aligned_alloc(_Alignof(struct tape_block), sizeof(*block));

	assert_non_null(block);
	block->next = NULL;
	block->used = 0;
	block->last = true;
	if (lab->tape.last)
		lab->tape.last->last = false;
	*(lab->tape.last ? &lab->tape.last->next : &lab->tape.first) = block;
	return lab->tape.last = block;
}

/* A packet of length bytes, all of them its number; 0: one that is left out. */
static void packet_add(struct lab *lab, uint64_t at, uint16_t length)
{
	struct tape_block *block = lab->tape.last ? lab->tape.last : block_add(lab);
	struct tape_packet *packet = (struct tape_packet *)(block->data + block->used);

	*packet = (struct tape_packet){.at = at,
				       .number = lab->tape.packets,
				       .size = tape_size(length),
				       .length = length,
				       .skipped = SKIPPED_LINK};
	memset(tape_bytes(packet), (int)lab->tape.packets, length);
	block->used += packet->size;
	lab->tape.packets += length != 0;
}

static void lab_start(struct lab *lab)
{
	struct stateless_setup setup = {.config = &lab->config,
					.workers = 1,
					.nexthop = &lab->nexthop,
					.counters = &lab->counters,
					.stats = &lab->stats_of,
					.streams = &lab->stream_of,
					.tapes = &lab->tape_of};
	struct err err;

	lab->stats_of = &lab->stats;
	lab->stream_of = &lab->stream;
	lab->tape_of = &lab->tape;
	assert_true(stateless_reserve(&lab->config, 0) > 0);
	lab->engine = stateless_create(&setup, &lab->arena, &err);
	assert_non_null(lab->engine);
	assert_int_equal(packet_tx_open(&lab->tx, &lab->box, 1024), 0);
	lab->engine->ops->start(lab->engine, NOW);
}

/* Poll once; with `take` false the port takes nothing. Returns when it wants to be called next. */
static uint64_t lab_poll(struct lab *lab, uint64_t now, bool take)
{
	struct tx *tx = &lab->tx.tx;
	uint64_t next = lab->engine->ops->poll(lab->engine, tx, NOW + now);

	for (unsigned i = 0; take && i < tx->count; i++) {
		assert_true(lab->sent < 4096);
		lab->at[lab->sent] = now;
		lab->length[lab->sent++] = tx->queue[i]->data_len;
		assert_int_equal(tx->queue[i]->data_len, tx->queue[i]->pkt_len);
		packet_box_free(&lab->box, tx->queue[i]);
	}
	if (take)
		tx->count = 0;
	return next;
}

/* As the simulated network does: from due time to due time. */
static void lab_run(struct lab *lab)
{
	uint64_t now = 0;

	lab_start(lab);
	while (now < ENGINE_NEVER - NOW) {
		uint64_t next = lab_poll(lab, now, true);

		assert_true(next == ENGINE_NEVER || next > NOW + now || lab->sent);
		if (next == ENGINE_NEVER)
			break;
		now = next > NOW + now ? next - NOW : now + 1;
	}
	assert_true(lab->engine->ops->idle(lab->engine));
	assert_int_equal(lab->stats.level.connection.offered, lab->sent);
	assert_int_equal(lab->stream.sent, lab->sent);
}

static void lab_close(struct lab *lab)
{
	struct tape_block *next;

	packet_tx_close(&lab->tx);
	assert_int_equal(lab->box.out, 0);
	for (struct tape_block *block = lab->tape.first; block; block = next) {
		next = block->next;
		free(block);
	}
	for (unsigned i = 0; i < lab->pieces; i++)
		free(lab->memory[i]);
	free(lab);
}

static void test_due(void **state)
{
	struct lab *lab = lab_open();

	(void)state;
	packet_add(lab, 0, 60);
	packet_add(lab, 5, 700);
	packet_add(lab, 5, 61);
	block_add(lab);
	packet_add(lab, MS, 1514);
	lab->tape.length = 2 * MS;
	lab->tape.loops = 3;
	lab_run(lab);
	assert_int_equal(lab->sent, 12);
	for (unsigned loop = 0; loop < 3; loop++) {
		const uint64_t *at = &lab->at[loop * 4];
		const uint16_t *length = &lab->length[loop * 4];

		assert_int_equal(at[0], loop * 2 * MS);
		assert_int_equal(at[1], loop * 2 * MS + 5);
		assert_int_equal(at[2], loop * 2 * MS + 5);
		assert_int_equal(at[3], loop * 2 * MS + MS);
		assert_int_equal(length[1], 700);
		assert_int_equal(length[2], 61);
	}
	assert_int_equal(lab->stream.elapsed, 5 * MS);
	assert_int_equal(lab->stream.planned, 5 * MS);
	assert_int_equal(lab->stream.bytes, 3 * (60 + 700 + 61 + 1514));
	assert_int_equal(lab->stream.lateness.count, 12);
	assert_int_equal(lab->stream.lateness.max, 0);
	lab_close(lab);
}

/* A loop of a third of a second: every third begins at a whole one. */
static void test_loop_exact(void **state)
{
	struct lab *lab = lab_open();

	(void)state;
	packet_add(lab, 0, 60);
	lab->tape.length = 333333333;
	lab->tape.part = 1;
	lab->tape.parts = 3;
	lab->tape.loops = 3001;
	lab_run(lab);
	assert_int_equal(lab->sent, 3001);
	for (unsigned i = 0; i <= 3000; i++)
		assert_int_equal(lab->at[i], i * S / 3);
	lab_close(lab);
}

static void test_skipped(void **state)
{
	struct lab *lab = lab_open();

	(void)state;
	packet_add(lab, 0, 0);
	packet_add(lab, 0, 60);
	packet_add(lab, MS, 0);
	packet_add(lab, MS, 60);
	lab->tape.length = 2 * MS;
	lab->tape.loops = 5;
	lab->traffic.replay.packets = 7;
	lab_run(lab);
	assert_int_equal(lab->sent, 7);
	/* What stands before the packet that is one too many was come by. */
	assert_int_equal(lab->stream.skipped[SKIPPED_LINK], 8);
	lab_close(lab);
}

/* Behind its times a replay leaves nothing out, until its end comes. */
static void test_late(void **state)
{
	struct lab *lab = lab_open();

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		packet_add(lab, i * MS, 60);
	lab->tape.length = S;
	lab->config.duration = 500 * MS;
	lab_start(lab);
	assert_int_equal(lab_poll(lab, 0, true), NOW + MS);
	lab_poll(lab, 300 * MS, true);
	assert_int_equal(lab->sent, 257);
	lab_poll(lab, 300 * MS, true);
	assert_int_equal(lab->sent, 301);
	assert_int_equal(lab->stream.lateness.max, 299 * MS);
	/* The port takes no more, and the end comes: 301-499 were due, 256 of them wait in line. */
	lab_poll(lab, 400 * MS, false);
	lab_poll(lab, 510 * MS, false);
	assert_int_equal(lab->tx.tx.count, 100);
	assert_int_equal(lab->stats.level.connection.offered, 401);
	assert_int_equal(lab->stats.level.connection.not_offered[NOT_OFFERED_LATE], 99);
	assert_true(lab->engine->ops->idle(lab->engine));
	lab_close(lab);
}

static void test_top_speed(void **state)
{
	struct lab *lab = lab_open();

	(void)state;
	packet_add(lab, 0, 60);
	packet_add(lab, 0, 64);
	lab->tape.loops = UINT64_MAX;
	lab->traffic.replay.topspeed = true;
	lab->config.duration = S;
	lab_start(lab);
	for (unsigned i = 0; i < 10; i++)
		lab_poll(lab, i, true);
	assert_int_equal(lab->sent, 2560);
	lab_poll(lab, 2 * S, true);
	assert_int_equal(lab->sent, 2560);
	assert_int_equal(tally_not_offered(&lab->stats.level.connection), 0);
	assert_int_equal(lab->stream.lateness.count, 0);
	assert_true(lab->engine->ops->idle(lab->engine));
	lab_close(lab);
}

/* Blocks come and go; a reader that is slow is waited for, one that gave up is not. */
static void test_streamed(void **state)
{
	struct lab *lab = lab_open();
	struct tape_block *first, *second;

	(void)state;
	packet_add(lab, 0, 60);
	packet_add(lab, 1, 60);
	first = lab->tape.first;
	second = block_add(lab);
	packet_add(lab, 2, 60);
	lab->tape.length = 10;
	lab->tape.loops = 2;
	lab->tape.streamed = true;
	lab_start(lab);
	assert_int_equal(lab_poll(lab, 0, true), NOW);
	assert_int_equal(lab->sent, 0);
	tape_put(&lab->tape.full, first);
	assert_int_equal(lab_poll(lab, 3, true), NOW + 3);
	assert_int_equal(lab->sent, 2);
	assert_ptr_equal(tape_take(&lab->tape.empty), first);
	tape_put(&lab->tape.full, second);
	lab_poll(lab, 4, true);
	assert_int_equal(lab->sent, 3);
	assert_ptr_equal(tape_take(&lab->tape.empty), second);
	tape_put(&lab->tape.full, first);
	assert_int_equal(lab_poll(lab, 9, true), NOW + 10);
	assert_int_equal(lab_poll(lab, 12, true), NOW + 12);
	assert_int_equal(lab->sent, 5);
	assert_false(lab->engine->ops->idle(lab->engine));
	lab->tape.ended = true;
	assert_int_equal(lab_poll(lab, 13, true), ENGINE_NEVER);
	assert_true(lab->engine->ops->idle(lab->engine));
	lab_close(lab);
}

static void test_empty(void **state)
{
	struct lab *lab = lab_open();

	(void)state;
	lab->tape.loops = UINT64_MAX;
	lab_run(lab);
	assert_int_equal(lab->sent, 0);
	lab_close(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_due),       cmocka_unit_test(test_loop_exact),
		cmocka_unit_test(test_skipped),   cmocka_unit_test(test_late),
		cmocka_unit_test(test_top_speed), cmocka_unit_test(test_streamed),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
