/* The player, over the case files of tests/golden/pcap: which packets of a recording are sent, how
 * they look, when they are due, and what is refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../pcap/player.h"
#include "../../pcap/writer.h"
#include "support.h"

#define MS 1000000ull
#define S  1000000000ull

static const struct replay_convert macs = {true, {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

/* What stands on the tapes of one loop, in the order of due times. */
struct played {
	struct player_counts counts;
	unsigned packets;
	uint64_t at[64];
	uint16_t length[64]; /* 0: left out */
	uint8_t first[64][64];
	uint64_t loop, part, parts;
	char error[1024];
};

static struct replay_options options_of(const char *file)
{
	static const char *path[8];
	static unsigned next;
	const char **at = &path[next++ % 8];

	*at = golden(file);
	return (struct replay_options){
		.file = at, .files = 1, .speed = {1, 1}, .loop = 1, .memory = 1 << 28};
}

static void tape_read(struct played *played, const struct tape *tape)
{
	for (const struct tape_block *block = tape->first; block; block = block->next) {
		assert_int_equal(block->last, block->next == NULL);
		for (uint32_t at = 0; at < block->used;) {
			const struct tape_packet *packet = (const void *)(block->data + at);

			if (played->packets < 64) {
				played->at[played->packets] = packet->at;
				played->length[played->packets] = packet->length;
				memcpy(played->first[played->packets], tape_bytes(packet),
				       packet->length < 64 ? packet->length : 64);
			}
			played->packets++;
			at += packet->size;
		}
	}
	played->loop = tape->length;
	played->part = tape->part;
	played->parts = tape->parts;
}

/* Returns whether the player took the recording. */
static bool play_setup(struct played *played, const struct replay_options *options,
		       const struct player_setup *setup)
{
	struct err err = {.exit = EXIT_PASS};
	struct player *player = player_open(options, setup, &err);
	const struct player_counts *c;

	*played = (struct played){.packets = 0};
	if (!player) {
		assert_int_equal(err.exit, EXIT_USAGE);
		strcpy(played->error, err.text);
		return false;
	}
	c = player_counts(player);
	played->counts = *c;
	for (unsigned i = 0; i < setup->workers; i++)
		tape_read(played, player_tape(player, false, i));
	assert_int_equal(c->records, c->filtered + c->packets + c->skipped[SKIPPED_LINK] +
					     c->skipped[SKIPPED_EMPTY] +
					     c->skipped[SKIPPED_OVERSIZE] +
					     c->skipped[SKIPPED_TRUNCATED]);
	assert_int_equal(played->packets, c->records - c->filtered);
	player_close(player);
	return true;
}

static bool play(struct played *played, const struct replay_options *options)
{
	static const struct player_setup setup = {.mtu = 1500, .workers = 1};

	return play_setup(played, options, &setup);
}

static void assert_times(const struct played *played, unsigned count, const uint64_t *at)
{
	assert_int_equal(played->packets, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(played->at[i], at[i]);
}

/* Files that are sent whole, with the times of their packets. */
static void test_times(void **state)
{
	static const struct {
		const char *file;
		unsigned packets;
		uint64_t at[7];
	} cases[] = {
		{"us_le.pcap", 3, {0, MS, 2501 * MS}},
		{"ns_be.pcap", 3, {0, MS + 1, 2501 * MS + 1}},
		{"ns.pcapng", 3, {0, MS + 1, 2501 * MS + 1}},
		{"default_us.pcapng", 2, {0, S}},
		{"bin10.pcapng", 2, {0, S}},
		{"hdr_snap_40.pcap", 3, {0, 1000, 2000}},
		{"100ms.pcap", 5, {0, 100 * MS, 200 * MS, 300 * MS, 400 * MS}},
		{"backwards.pcap",
		 7,
		 {0, 200 * MS, 200 * MS, 200 * MS, 200 * MS, 1500 * MS, 1500 * MS}},
	};
	struct played played;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct replay_options options = options_of(cases[i].file);

		assert_true(play(&played, &options));
		assert_times(&played, cases[i].packets, cases[i].at);
		assert_int_equal(played.counts.bytes, 74 * cases[i].packets);
		assert_int_equal(played.counts.packets, cases[i].packets);
	}
	assert_int_equal(played.counts.problem[READER_TIME_BACKWARDS], 4);
	assert_int_equal(played.counts.problem[READER_TIME_FRACTION], 1);
}

static void test_speed(void **state)
{
	static const uint64_t slow[] = {0, 200 * MS, 400 * MS, 600 * MS, 800 * MS};
	static const uint64_t fast[] = {0, 50 * MS, 100 * MS, 150 * MS, 200 * MS};
	struct replay_options options = options_of("100ms.pcap");
	struct played played;

	(void)state;
	assert_true(play(&played, &options));
	assert_int_equal(played.loop, 500 * MS);
	options.speed = (struct rate){1, 2};
	assert_true(play(&played, &options));
	assert_times(&played, 5, slow);
	assert_int_equal(played.loop, 1000 * MS);
	options.speed = (struct rate){2, 1};
	options.has_loop_gap = true;
	options.loop_gap = 7 * MS;
	assert_true(play(&played, &options));
	assert_times(&played, 5, fast);
	assert_int_equal(played.loop, 207 * MS);
}

static void test_max_gap(void **state)
{
	static const uint64_t at[] = {0, S, 1010 * MS};
	struct replay_options options = options_of("huge_gap.pcap");
	struct played played;

	(void)state;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.clamped, 0);
	assert_true(played.counts.longest_gap > 1600000000 * S);
	options.max_gap = S;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.clamped, 1);
	assert_int_equal(played.counts.longest_gap, S);
	assert_times(&played, 3, at);
}

/* 74 bytes are 78 with FCS, and 98 as the link carries them. */
static void test_rates(void **state)
{
	struct replay_options options = options_of("one_udp.pcap");
	struct played played;

	(void)state;
	options.pps = (struct rate){3, 1};
	assert_true(play(&played, &options));
	assert_int_equal(played.loop, 333333333);
	assert_int_equal(played.part, 1);
	assert_int_equal(played.parts, 3);
	options.pps.den = 0;
	options.bps = (struct rate){1000000, 1};
	assert_true(play(&played, &options));
	assert_int_equal(played.loop, 624000);
	options.bps.den = 0;
	options.bps_l1 = (struct rate){1000000, 1};
	assert_true(play(&played, &options));
	assert_int_equal(played.loop, 784000);
	options.topspeed = true;
	assert_true(play(&played, &options));
	assert_int_equal(played.loop, 0);
}

static void test_blocks(void **state)
{
	static const uint16_t lengths[] = {64, 64, 60, 74, 74};
	struct replay_options options = options_of("blocks.pcapng");
	struct played played;

	(void)state;
	assert_true(play(&played, &options));
	assert_int_equal(played.packets, 5);
	assert_memory_equal(played.length, lengths, sizeof(lengths));
	assert_int_equal(played.counts.truncated, 2);
	assert_true(played.at[4] < S);
}

static void test_link_types(void **state)
{
	static const char *const other[] = {"sll.pcap", "raw.pcap", "null_le.pcap"};
	static const char *const name[] = {"LINUX_SLL (113)", "RAW (101)", "NULL (0)"};
	struct replay_options options = options_of("two_linktypes.pcapng");
	struct played played;

	(void)state;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.packets, 2);
	assert_int_equal(played.counts.skipped[SKIPPED_LINK], 1);
	options.convert = macs;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.packets, 3);
	assert_memory_equal(played.first[1] + 12, "\x08\x00\x45", 3);
	for (unsigned i = 0; i < 3; i++) {
		options = options_of(other[i]);
		assert_false(play(&played, &options));
		assert_non_null(strstr(played.error, name[i]));
		options.convert = macs;
		assert_true(play(&played, &options));
		assert_int_equal(played.counts.packets, 3);
		assert_memory_equal(played.first[2] + 12, "\x08\x00\x45", 3);
	}
	options = options_of("radiotap.pcap");
	options.convert = macs;
	assert_false(play(&played, &options));
	assert_non_null(strstr(played.error, "IEEE802_11_RADIO (127)"));
}

static void test_truncated(void **state)
{
	struct replay_options options = options_of("snap60.pcap");
	struct played played;

	(void)state;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.bytes, 180);
	assert_int_equal(played.counts.truncated, 3);
	options.truncated = TRUNCATED_PAD;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.bytes, 3 * 1042);
	assert_int_equal(played.counts.padded, 3);
	assert_int_equal(number_at(played.first[0] + 16, 2), 1028 >> 8 | (1028 & 255) << 8);
	options.truncated = TRUNCATED_SKIP;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.packets, 0);
	assert_int_equal(played.counts.skipped[SKIPPED_TRUNCATED], 3);
	options.truncated = TRUNCATED_REFUSE;
	assert_false(play(&played, &options));
	assert_non_null(strstr(played.error, "packet 1 at offset 24: 60 of 1042 bytes"));
}

static void test_oversize(void **state)
{
	static const uint16_t lengths[] = {60, 60, 60, 60, 64, 1514, 1514, 1514, 1514, 1514, 1514};
	static const struct player_setup jumbo = {.mtu = 9202, .workers = 1};
	struct replay_options options = options_of("sizes.pcap");
	struct played played;

	(void)state;
	assert_false(play(&played, &options));
	assert_non_null(strstr(played.error, "packet 7 at offset"));
	options.oversize = OVERSIZE_SKIP;
	assert_true(play(&played, &options));
	assert_int_equal(played.counts.packets, 6);
	assert_int_equal(played.counts.skipped[SKIPPED_OVERSIZE], 5);
	options.oversize = OVERSIZE_TRUNCATE;
	assert_true(play(&played, &options));
	assert_memory_equal(played.length, lengths, sizeof(lengths));
	assert_int_equal(played.counts.cut, 5);
	assert_int_equal(played.counts.runts, 3);
	options.oversize = OVERSIZE_REFUSE;
	assert_true(play_setup(&played, &options, &jumbo));
	assert_int_equal(played.counts.packets, 11);
	assert_int_equal(played.length[10], 9216);
	for (unsigned i = 14; i < 60; i++)
		assert_int_equal(played.first[0][i], 0);
}

static void test_damaged(void **state)
{
	static const struct {
		const char *file;
		unsigned packets;
		enum reader_problem problem;
	} cases[] = {
		{"cut_hdr.pcap", 3, READER_CUT},
		{"cut.pcapng", 1, READER_CUT},
		{"zero_len.pcap", 2, READER_NO_BYTES},
		{"caplen_gt_len.pcap", 3, READER_CAPTURED},
		{"caplen_7fffffff.pcap", 1, READER_LENGTH},
	};
	struct played played;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct replay_options options = options_of(cases[i].file);

		assert_true(play(&played, &options));
		assert_int_equal(played.counts.packets, cases[i].packets);
		assert_int_equal(played.counts.problem[cases[i].problem], 1);
	}
}

static void test_nothing(void **state)
{
	static const char *const file[] = {"empty.pcap", "not_pcap.pcap", "header_only.pcap",
					   "none.pcap"};
	static const char *const error[] = {"the file is empty", "neither a pcap nor a pcapng",
					    "the file holds no packets: nothing to send",
					    "No such file"};
	struct replay_options options;
	struct played played;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		options = options_of(file[i]);
		assert_false(play(&played, &options));
		assert_non_null(strstr(played.error, error[i]));
	}
	options = options_of(file[3]);
	assert_null(player_open(&options, &(struct player_setup){.mtu = 1500, .workers = 1}, &err));
	assert_non_null(strstr(err.text, error[3]));
	options = options_of("one_udp.pcap");
	options.filter = "tcp";
	assert_false(play(&played, &options));
	assert_non_null(strstr(played.error, "no packet matches the filter"));
}

static void test_files(void **state)
{
	static const uint64_t at[] = {0,        100 * MS, 200 * MS, 300 * MS, 400 * MS,
				      500 * MS, 600 * MS, 700 * MS, 800 * MS, 900 * MS};
	struct replay_options options = options_of("100ms.pcap");
	const char *files[] = {options.file[0], options.file[0]};
	struct played played;

	(void)state;
	options.file = files;
	options.files = 2;
	assert_true(play(&played, &options));
	assert_times(&played, 10, at);
	assert_int_equal(played.loop, 1000 * MS);
	options.filter = "udp";
	assert_true(play(&played, &options));
}

/* Packets of one conversation stay together; fragments make it one of addresses. */
static void test_workers(void **state)
{
	static const struct player_setup two = {.mtu = 1500, .workers = 2};
	struct replay_options options = options_of("rewrite.pcap");
	struct err err;
	struct player *player;
	unsigned used = 0;
	struct played all;

	(void)state;
	assert_true(play_setup(&all, &options, &two));
	assert_int_equal(all.counts.packets, 12);
	options = options_of("pingpong8.pcap");
	player = player_open(&options, &two, &err);
	assert_non_null(player);
	for (unsigned i = 0; i < 2; i++)
		used += player_tape(player, false, i)->first != NULL;
	assert_int_equal(used, 1);
	player_close(player);
}

/* A file of packets that are more than the memory allowed, played by hand, twice. */
static void test_streamed(void **state)
{
	enum { PACKETS = 5000 };
	struct replay_options options = options_of("one_udp.pcap");
	const char *path = scratch("large.pcapng");
	struct writer *writer = writer_to(&(struct writer_options){.path = path});
	unsigned packets = 0, loops = 0;
	struct player *player;
	struct tape *tape;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < PACKETS; i++) {
		struct record record = record_of(i, 1000);

		assert_int_equal(writer_packet(writer, &record), 0);
	}
	assert_int_equal(writer_close(writer, NULL, &err), 0);
	options.file = &path;
	options.memory = 1 << 20;
	options.loop = 2;
	player = player_open(&options, &(struct player_setup){.mtu = 1500, .workers = 1}, &err);
	assert_non_null(player);
	tape = player_tape(player, false, 0);
	assert_true(tape->streamed);
	assert_int_equal(player_counts(player)->packets, PACKETS);
	assert_int_equal(player_start(player, &err), 0);
	while (loops < 2) {
		struct tape_block *block = tape_take(&tape->full);

		for (uint32_t at = 0; block && at < block->used;) {
			const struct tape_packet *packet = (const void *)(block->data + at);

			assert_int_equal(packet->number, packets % PACKETS);
			assert_int_equal(packet->at, packets % PACKETS * 1000);
			packets++;
			at += packet->size;
		}
		if (!block)
			continue;
		loops += block->last;
		tape_put(&tape->empty, block);
	}
	assert_int_equal(packets, 2 * PACKETS);
	player_stop(player);
	assert_true(tape->ended);
	player_close(player);
	/* Left in the middle, with blocks everywhere. */
	player = player_open(&options, &(struct player_setup){.mtu = 1500, .workers = 2}, &err);
	assert_non_null(player);
	assert_int_equal(player_start(player, &err), 0);
	while (!tape_take(&player_tape(player, false, 0)->full))
		;
	player_close(player);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),     cmocka_unit_test(test_speed),
		cmocka_unit_test(test_max_gap),   cmocka_unit_test(test_rates),
		cmocka_unit_test(test_blocks),    cmocka_unit_test(test_link_types),
		cmocka_unit_test(test_truncated), cmocka_unit_test(test_oversize),
		cmocka_unit_test(test_damaged),   cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_files),     cmocka_unit_test(test_workers),
		cmocka_unit_test(test_streamed),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
