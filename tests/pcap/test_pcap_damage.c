/* The reader and what can happen to a file: cut and damaged at every byte, compressed, in a pipe.
 *
 * Cut positions are judged by a walker of this file, not by the reader itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

/* Where the records of a file end, and whether each is a packet: an independent walker. */
struct piece {
	size_t end;
	bool packet;
};

static uint32_t word(const uint8_t *at, bool big)
{
	return big ? (uint32_t)(at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3])
		   : (uint32_t)(at[3] << 24 | at[2] << 16 | at[1] << 8 | at[0]);
}

static size_t pieces_of(const uint8_t *file, size_t size, struct piece *pieces)
{
	bool classic = file[0] != 0x0a, big = file[0] == 0xa1;
	size_t count = 0, at = classic ? 24 : 0;

	if (classic)
		pieces[count++] = (struct piece){24, false};
	while (at < size) {
		uint32_t type = word(file + at, big);

		if (!classic && type == 0x0a0d0d0a)
			big = file[at + 8] == 0x1a;
		at += classic ? 16 + word(file + at + 8, big) : word(file + at + 4, big);
		pieces[count++] =
			(struct piece){at, classic || type == 2 || type == 3 || type == 6};
	}
	return count;
}

static void test_cut_everywhere(void **state)
{
	static const char *files[] = {"us_le.pcap",     "ns_be.pcap",    "zero_len.pcap",
				      "ns.pcapng",      "blocks.pcapng", "two_linktypes.pcapng",
				      "pingpong8.pcap", "sizes.pcap"};
	static uint8_t bytes[32768];
	static struct outcome outcome;

	(void)state;
	for (size_t file = 0; file < sizeof(files) / sizeof(files[0]); file++) {
		size_t size = file_bytes(files[file], bytes, sizeof(bytes)), count;
		struct memory memory = memory_file(bytes, size);
		struct piece pieces[64];

		count = pieces_of(bytes, size, pieces);
		assert_int_equal(pieces[count - 1].end, size);
		for (size_t cut = size; cut-- > 0;) {
			unsigned packets = 0;
			bool whole = false;

			for (size_t i = 0; i < count && pieces[i].end <= cut; i++) {
				packets += pieces[i].packet;
				whole = pieces[i].end == cut;
			}
			assert_int_equal(ftruncate(memory.fd, (off_t)cut), 0);
			outcome_of(&outcome, memory.path, &as_is);
			assert_int_equal(outcome.packets, packets);
			assert_int_equal(outcome.result == 0, whole);
		}
		close(memory.fd);
	}
}

/* Compressed files deliver what is whole in front of the cut, and never end well. */
static void test_cut_compressed(void **state)
{
	static const char *files[] = {"t20.pcap.gz", "t20.pcap.zst"};
	static uint8_t bytes[1024];
	static struct outcome outcome;

	(void)state;
	for (size_t file = 0; file < sizeof(files) / sizeof(files[0]); file++) {
		size_t size = file_bytes(files[file], bytes, sizeof(bytes));

		for (size_t cut = 0; cut < size; cut++) {
			outcome_of_bytes(&outcome, bytes, cut, &as_is);
			assert_true(outcome.result < 0);
			assert_true(outcome.packets <= 3);
		}
		memcpy(bytes + size, bytes, size); /* two members are one stream: "cat a b" */
		outcome_of_bytes(&outcome, bytes, 2 * size, &as_is);
		assert_int_equal(outcome.packets, 4); /* the second header reads as an empty one */
		assert_int_equal(outcome.counts[READER_NO_BYTES], 1);
		assert_int_equal(outcome.records[3].offset, 294);
		assert_int_equal(outcome.counts[READER_LENGTH], 1);
	}
}

/* Whatever a byte becomes: an end, no crash (run under ASan as well). */
static void test_damage_everywhere(void **state)
{
	static const char *files[] = {"us_le.pcap",  "ns.pcapng",    "blocks.pcapng", "sll.pcap",
				      "t20.pcap.gz", "t20.pcap.zst", "null_le.pcap"};
	static const uint8_t damage[] = {0x01, 0x80, 0xff};
	static uint8_t bytes[1024];
	static struct outcome outcome;

	(void)state;
	for (size_t file = 0; file < sizeof(files) / sizeof(files[0]); file++) {
		size_t size = file_bytes(files[file], bytes, sizeof(bytes));

		for (size_t at = 0; at < size; at++)
			for (size_t i = 0; i < sizeof(damage); i++) {
				bytes[at] ^= damage[i];
				outcome_of_bytes(&outcome, bytes, size, &convert);
				assert_true(outcome.result <= 0);
				assert_true(outcome.packets <= 64);
				bytes[at] ^= damage[i];
			}
	}
}

/* A child writes the file into a pipe, byte by byte. Standard input is non-blocking on top. */
static void pipe_outcome(struct outcome *outcome, const char *name, bool as_stdin)
{
	static uint8_t bytes[4096];
	size_t size = file_bytes(name, bytes, sizeof(bytes));
	int ends[2], before = dup(STDIN_FILENO);
	char path[32];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		for (size_t at = 0; at < size; at++)
			if (write(ends[1], bytes + at, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	dup2(ends[0], STDIN_FILENO);
	outcome_of(outcome, as_stdin ? "-" : path, &as_is);
	dup2(before, STDIN_FILENO);
	close(ends[0]);
	close(before);
	waitpid(child, NULL, 0);
}

static void test_pipes(void **state)
{
	static const char *files[] = {"t20.pcap", "t20.pcap.gz", "t20.pcap.zst", "ns.pcapng"};
	static struct outcome outcome;

	(void)state;
	for (size_t file = 0; file < sizeof(files) / sizeof(files[0]); file++) {
		pipe_outcome(&outcome, files[file], file & 1);
		assert_int_equal(outcome.result, 0);
		assert_int_equal(outcome.packets, 3);
		assert_int_equal(outcome.bytes, 222);
	}
}

/* Records larger than one read, and windows that move: sizes.pcap many times over. */
static void test_long_stream(void **state)
{
	static uint8_t bytes[32768];
	static struct outcome outcome;
	size_t size = file_bytes("sizes.pcap", bytes, sizeof(bytes));
	uint8_t big[16 + RECORD_CAPTURED_MAX] = {0};
	uint32_t lengths[] = {RECORD_CAPTURED_MAX, RECORD_CAPTURED_MAX};
	struct memory memory = memory_file(bytes, size);

	(void)state;
	memcpy(big + 8, lengths, sizeof(lengths));
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(write(memory.fd, bytes + 24, size - 24), size - 24);
		assert_int_equal(write(memory.fd, big, sizeof(big)), sizeof(big));
	}
	outcome_of(&outcome, memory.path, &as_is);
	assert_int_equal(outcome.result, 0);
	assert_int_equal(outcome.packets, 11 * 51 + 50);
	assert_int_equal(outcome.bytes, 27116 * 51 + 50 * RECORD_CAPTURED_MAX);
	close(memory.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_everywhere),    cmocka_unit_test(test_cut_compressed),
		cmocka_unit_test(test_damage_everywhere), cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_long_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
