/* What the writer writes, judged by an independent parser and by reading it back.
 * tests/pcap/peers.sh has tshark and capinfos judge. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

static unsigned count_packets(const char *path)
{
	struct err err;
	struct reader *reader = reader_open(path, NULL, &err);
	struct record record;
	unsigned count = 0;

	assert_non_null(reader);
	while (reader_next(reader, &record) > 0)
		count++;
	assert_null(reader_error(reader));
	reader_close(reader);
	return count;
}

/* Every field of a packet comes back. */
static void test_fields(void **state)
{
	struct writer_options options = {.path = scratch("fields.pcapng"),
					 .origin = {"hardware", "os", "application"}};
	struct encode_interface snapped = {.name = "eth1", .snaplen = 60, .linktype = 101};
	struct writer *writer = writer_to(&options);
	struct record in = record_of(0, 77), out;
	struct reader *reader;
	struct err err;

	(void)state;
	assert_int_equal(writer_interface(writer, &snapped, &err), 1);
	in.comment = "tcp.bad_seq: outside the receive window";
	in.comment_length = (uint16_t)strlen(in.comment);
	in.direction = RECORD_OUT;
	in.flags = RECORD_QUEUE;
	in.queue = 7;
	in.drops = 3;
	in.fcs = 4;
	assert_int_equal(writer_packet(writer, &in), 0);
	in.interface = 1;
	assert_int_equal(writer_packet(writer, &in), 0);
	assert_int_equal(writer_close(writer, NULL, &err), 0);

	reader = reader_open(options.path, NULL, &err);
	assert_non_null(reader);
	assert_int_equal(reader_next(reader, &out), 1);
	assert_string_equal(reader_interface(reader, 0)->name, "eth0");
	assert_int_equal(out.captured, 77);
	assert_memory_equal(out.data, payload, 77);
	assert_int_equal(out.time_ns, START_NS);
	assert_int_equal(out.comment_length, in.comment_length);
	assert_memory_equal(out.comment, in.comment, in.comment_length);
	assert_int_equal(out.direction, RECORD_OUT);
	assert_int_equal(out.flags, RECORD_QUEUE);
	assert_int_equal(out.queue, 7);
	assert_int_equal(out.drops, 3);
	assert_int_equal(out.fcs, 4);
	assert_int_equal(reader_next(reader, &out), 1);
	assert_int_equal(out.interface, 1);
	assert_int_equal(out.linktype, 101);
	assert_int_equal(out.captured, 60);
	assert_int_equal(out.length, 77);
	assert_int_equal(reader_next(reader, &out), 0);
	reader_close(reader);
}

/* Copy what a reader has into a new pcapng file; sections' interfaces follow each other. */
static void copy(const char *from, const char *to)
{
	struct writer_options options = {.path = to};
	struct err err;
	struct writer *writer = writer_open(&options, &err);
	struct reader *reader = reader_open(from, NULL, &err);
	struct record record;
	uint32_t section = 0, base = 0, known = 0;

	assert_true(writer && reader);
	while (reader_next(reader, &record) > 0) {
		if (record.section != section)
			base = known;
		section = record.section;
		for (; known <= base + record.interface; known++) {
			const struct reader_interface *interface =
				reader_interface(reader, known - base);
			struct encode_interface same = {.name = interface->name,
							.linktype = interface->linktype,
							.fcs = interface->fcs};

			assert_int_equal(writer_interface(writer, &same, &err), known);
		}
		record.interface += base;
		assert_int_equal(writer_packet(writer, &record), 0);
	}
	reader_close(reader);
	assert_int_equal(writer_close(writer, NULL, &err), 0);
}

static void compare(const struct record *a, const struct record *b)
{
	assert_int_equal(a->captured, b->captured);
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->linktype, b->linktype);
	assert_int_equal(a->direction, b->direction);
	assert_int_equal(a->drops, b->drops);
	assert_int_equal(a->number, b->number);
	assert_memory_equal(a->data, b->data, a->captured);
}

static void test_round_trip(void **state)
{
	static const char *files[] = {
		"us_le.pcap",  "ns_be.pcap",           "ns.pcapng",      "bin10.pcapng",
		"sll.pcap",    "two_linktypes.pcapng", "blocks.pcapng",  "sizes.pcap",
		"t20.pcap.gz", "caplen_gt_len.pcap",   "backwards.pcap", "zero_len.pcap"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *copied = scratch("copy.pcapng");
		struct reader *first, *second;
		struct record a, b;
		struct err err;
		int result;

		copy(golden(files[i]), copied);
		first = reader_open(golden(files[i]), NULL, &err);
		second = reader_open(copied, NULL, &err);
		assert_true(first && second);
		while ((result = reader_next(first, &a)) > 0) {
			assert_int_equal(reader_next(second, &b), 1);
			compare(&a, &b);
		}
		assert_int_equal(reader_next(second, &b), result);
		reader_close(first);
		reader_close(second);
	}
}

/* All lengths of data and comment, so all paddings, by the independent parser. */
static void test_paddings(void **state)
{
	struct writer_options options = {.path = scratch("paddings.pcapng")};
	struct writer *writer = writer_to(&options);
	struct parsed parsed;
	struct err err;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct record record = record_of(i, i);

		record.comment = "0123456789";
		record.comment_length = (uint16_t)(i % 11);
		record.direction = i % 3;
		record.drops = i % 2;
		assert_int_equal(writer_packet(writer, &record), 0);
	}
	assert_int_equal(writer_close(writer, NULL, &err), 0);
	parsed = parse(options.path);
	assert_int_equal(parsed.sections, 1);
	assert_int_equal(parsed.interfaces, 1);
	assert_int_equal(parsed.packets, 100);
	assert_int_equal(parsed.drops, 50);
	assert_int_equal(parsed.statistics, 1);
	assert_int_equal(parsed.received, 150);
	assert_int_equal(parsed.dropped, 50);
	assert_int_equal(parsed.delivered, 100);
}

/* The largest packet with the largest comment, and bytes of an earlier, longer file. */
static void test_largest_and_truncate(void **state)
{
	static uint8_t large[RECORD_CAPTURED_MAX + 1];
	static char comment[UINT16_MAX];
	struct writer_options options = {.path = scratch("large.pcapng")};
	struct err err;

	(void)state;
	memset(comment, 'x', sizeof(comment));
	for (unsigned round = 4; round > 0; round -= 2) {
		struct writer *writer = writer_to(&options);

		for (unsigned i = 0; i < round; i++) {
			struct record record = record_of(i, sizeof(large));

			record.data = large;
			record.comment = comment;
			record.comment_length = UINT16_MAX;
			assert_int_equal(writer_packet(writer, &record), 0);
		}
		assert_int_equal(writer_close(writer, NULL, &err), 0);
		assert_int_equal(parse(options.path).packets, round);
		assert_int_equal(count_packets(options.path), round);
	}
}

static void test_classic(void **state)
{
	struct writer_options options = {.path = scratch("classic.pcap"), .format = WRITER_PCAP};
	struct writer *writer = writer_to(&options);
	struct record record = record_of(5, 61), out;
	struct reader *reader;
	uint8_t file[256];
	struct err err;

	(void)state;
	assert_int_equal(writer_interface(writer, &eth0, &err), -1);
	assert_int_equal(err.exit, EXIT_USAGE);
	record.length = 90;
	assert_int_equal(writer_packet(writer, &record), 0);
	assert_int_equal(writer_close(writer, NULL, &err), 0);

	assert_int_equal(file_read(options.path, file, sizeof(file)), 24 + 16 + 61);
	assert_int_equal(number_at(file, 4), 0xa1b23c4d);
	assert_int_equal(number_at(file + 16, 4), 262144);
	assert_int_equal(number_at(file + 20, 4), 1);
	assert_int_equal(number_at(file + 24, 4), 1700000000);
	assert_int_equal(number_at(file + 28, 4), 123461789);
	reader = reader_open(options.path, NULL, &err);
	assert_non_null(reader);
	assert_int_equal(reader_next(reader, &out), 1);
	assert_int_equal(out.length, 90);
	assert_int_equal(out.time_ns, record.time_ns);
	reader_close(reader);
}

/* Packets lost in front of the writer show up in the next packet and in the statistics. */
static void test_dropped_before(void **state)
{
	struct writer_options options = {.path = scratch("dropped.pcapng")};
	struct writer *writer = writer_to(&options);
	struct record record = record_of(0, 64);
	struct parsed parsed;
	struct err err;

	(void)state;
	writer_dropped(writer, 0, 5);
	assert_int_equal(writer_packet(writer, &record), 0);
	assert_int_equal(writer_packet(writer, &record), 0);
	writer_dropped(writer, 0, 2);
	assert_int_equal(writer_close(writer, NULL, &err), 0);
	parsed = parse(options.path);
	assert_int_equal(parsed.drops, 5);
	assert_int_equal(parsed.dropped, 7);
	assert_int_equal(parsed.received, 9);
	assert_int_equal(parsed.delivered, 2);
}

/* What is flushed is readable while the writer goes on, an interface that comes late included. */
static void test_flush(void **state)
{
	struct writer_options options = {.path = scratch("flush.pcapng")};
	struct writer *writer = writer_to(&options);
	struct record record = record_of(0, 64);
	struct err err;

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		writer_packet(writer, &record);
		assert_int_equal(writer_flush(writer), 0);
		assert_int_equal(count_packets(options.path), i);
		assert_int_equal(writer_interface(writer, &eth0, &err), i);
		record.interface = i;
	}
	assert_int_equal(writer_close(writer, NULL, &err), 0);
	assert_int_equal(parse(options.path).interfaces, 4);
	assert_int_equal(parse(options.path).statistics, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),   cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_paddings), cmocka_unit_test(test_largest_and_truncate),
		cmocka_unit_test(test_classic),  cmocka_unit_test(test_dropped_before),
		cmocka_unit_test(test_flush),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
