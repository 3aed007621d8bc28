/* The writer. What it wrote is judged by a parser of this file that shares no code with it, and by
 * reading it back. tests/pcap/peers.sh has tshark and capinfos judge. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../pcap/reader.h"
#include "../../pcap/writer.h"

#define START_NS 1700000000123456789ull

static char directory[] = "/tmp/test_pcap_writer.XXXXXX";
static uint8_t payload[2048];
static const struct encode_interface eth0 = {
	.name = "eth0", .description = "the first", .linktype = 1};

static const char *scratch(const char *name)
{
	static char paths[4][64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static const char *golden(const char *name)
{
	static char path[512];
	const char *source = getenv("TEST_SOURCE_DIR");

	snprintf(path, sizeof(path), "%s/golden/pcap/%s", source ? source : "tests", name);
	return path;
}

static struct record record_of(uint64_t number, uint32_t captured)
{
	return (struct record){.data = payload + number % 256,
			       .captured = captured,
			       .length = captured,
			       .time_ns = START_NS + number * 1000,
			       .linktype = 1};
}

static struct writer *writer_to(const struct writer_options *options)
{
	struct err err;
	struct writer *writer = writer_open(options, &err);

	assert_non_null(writer);
	assert_int_equal(writer_interface(writer, &eth0, &err), 0);
	return writer;
}

static size_t file_read(const char *path, uint8_t *data, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t length;

	assert_true(fd >= 0);
	length = read(fd, data, room);
	assert_true(length >= 0);
	close(fd);
	return (size_t)length;
}

/* The independent parser: little-endian pcapng as the draft has it. */
struct parsed {
	unsigned sections, interfaces, packets, statistics;
	uint64_t drops;                        /* sum of epb_dropcount */
	uint64_t received, dropped, delivered; /* of the last statistics block */
};

static uint64_t number_at(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static uint64_t option_at(const uint8_t *at, const uint8_t *end, uint64_t code, uint64_t missing)
{
	for (; at + 4 <= end && number_at(at, 2); at += 4 + ((number_at(at + 2, 2) + 3) & ~3ull))
		if (number_at(at, 2) == code)
			return number_at(at + 4, (unsigned)number_at(at + 2, 2));
	return missing;
}

static struct parsed parse(const char *path)
{
	static uint8_t file[4 << 20];
	struct parsed parsed = {0};
	size_t size = file_read(path, file, sizeof(file)), at = 0;

	assert_true(size < sizeof(file));
	while (at < size) {
		const uint8_t *block = file + at;
		uint64_t type = number_at(block, 4), length = number_at(block + 4, 4);
		const uint8_t *end = block + length - 4;

		assert_true(length >= 12 && length % 4 == 0 && at + length <= size);
		assert_int_equal(number_at(end, 4), length);
		parsed.sections += type == 0x0a0d0d0a;
		parsed.interfaces += type == 1;
		parsed.packets += type == 6;
		if (type == 6)
			parsed.drops += option_at(
				block + 28 + ((number_at(block + 20, 4) + 3) & ~3ull), end, 4, 0);
		if (type == 5) {
			parsed.statistics++;
			parsed.received = option_at(block + 20, end, 4, 0);
			parsed.dropped = option_at(block + 20, end, 5, 0);
			parsed.delivered = option_at(block + 20, end, 8, 0);
		}
		at += length;
	}
	return parsed;
}

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

/* 100 packets in files of a limit: none lost, and no file beyond the limit. */
static void rotate(const struct writer_options *limits, unsigned files, unsigned first_packets)
{
	struct writer_options options = *limits;
	struct writer *writer;
	struct writer_counts counts;
	unsigned packets = 0, file = 1;
	struct parsed parsed;
	struct err err;
	char name[32];

	options.path = scratch("ring.x.pcapng");
	writer = writer_to(&options);
	for (uint32_t i = 0; i < 100; i++) {
		struct record record = record_of(i, 100);

		assert_int_equal(writer_packet(writer, &record), 0);
	}
	assert_int_equal(writer_close(writer, &counts, &err), 0);
	assert_int_equal(counts.files, files);
	assert_int_equal(counts.written, 100);
	if (options.files)
		file = files - options.files + 1;
	for (; file <= files; file++) {
		struct stat status;

		snprintf(name, sizeof(name), "ring.x-%05u.pcapng", file);
		parsed = parse(scratch(name));
		assert_int_equal(parsed.sections, 1);
		assert_int_equal(parsed.interfaces, 1);
		assert_int_equal(parsed.statistics, 1);
		assert_true(file == files || parsed.packets == first_packets);
		stat(scratch(name), &status);
		assert_true(!options.file_bytes || parsed.packets == 1 ||
			    (uint64_t)status.st_size <= options.file_bytes);
		packets += parsed.packets;
		assert_int_equal(unlink(scratch(name)), 0);
		assert_int_equal(parsed.delivered, options.files ? parsed.delivered : packets);
	}
	assert_int_equal(parsed.delivered, 100);
	if (!options.files)
		assert_int_equal(packets, 100);
	snprintf(name, sizeof(name), "ring.x-%05u.pcapng", files - options.files);
	assert_int_equal(access(scratch(name), F_OK), -1);
}

static void test_rotation(void **state)
{
	struct err err;

	(void)state;
	rotate(&(struct writer_options){.file_packets = 30}, 4, 30);
	rotate(&(struct writer_options){.file_packets = 7, .files = 3}, 15, 7);
	rotate(&(struct writer_options){.file_packets = 7, .files = 1}, 15, 7);
	rotate(&(struct writer_options){.file_ns = 25000}, 4, 25);
	rotate(&(struct writer_options){.file_bytes = 4096}, 4, 29);
	rotate(&(struct writer_options){.file_bytes = 1}, 100, 1);
	assert_null(writer_open(&(struct writer_options){.path = "-", .file_packets = 1}, &err));
	assert_null(writer_open(&(struct writer_options){.path = "x", .files = 2}, &err));
	assert_null(writer_open(&(struct writer_options){.path = "/nonexistent/x"}, &err));
	assert_string_equal(err.text, "/nonexistent/x: open failed: No such file or directory");
}

/* A device without room: all is lost, nothing hangs, the reason is there. */
static void test_full_device(void **state)
{
	struct writer *writer = writer_to(&(struct writer_options){.path = "/dev/full"});
	struct writer_counts counts;
	struct err err;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		struct record record = record_of(i, 1000);

		writer_packet(writer, &record);
	}
	assert_string_equal(writer_error(writer),
			    "/dev/full: write failed: No space left on device");
	assert_int_equal(writer_close(writer, &counts, &err), -1);
	assert_int_equal(err.exit, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "; 5000 of 5000 packets lost"));
	assert_int_equal(counts.packets, 5000);
	assert_int_equal(counts.lost, 5000);
	assert_int_equal(counts.written, 0);
	assert_int_equal(counts.bytes, 0);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* As `ulimit -f` does it, for every limit from no byte on: the file ends behind a whole block, and
 * when there is room again, writing goes on and the next packet has the drop count. */
static void test_file_size_limit(void **state)
{
	struct writer_options options = {.path = scratch("limit.pcapng")};

	(void)state;
	for (unsigned limit = 0; limit < 700; limit++) {
		struct writer *writer = writer_to(&options);
		struct writer_counts counts;
		struct parsed parsed;
		struct err err;
		int result;

		limit_file_size(limit);
		for (uint32_t i = 0; i < 5; i++) {
			struct record record = record_of(i, 64 + i);

			record.drops = 2;
			assert_int_equal(writer_packet(writer, &record), 0);
		}
		result = writer_flush(writer);
		limit_file_size(RLIM_INFINITY);
		counts = *writer_counts(writer);
		assert_int_equal(result, counts.lost ? -1 : 0);
		assert_int_equal(counts.written + counts.lost, 5);
		assert_int_equal(counts.errors > 0, counts.lost > 0);
		parsed = parse(options.path);
		assert_int_equal(parsed.packets, counts.written);
		assert_true(counts.lost == 0 || parsed.packets * 128 <= limit);

		writer_packet(writer, &(struct record){.time_ns = START_NS});
		assert_int_equal(writer_close(writer, &counts, &err), counts.lost ? -1 : 0);
		parsed = parse(options.path);
		assert_int_equal(parsed.packets, counts.written);
		assert_int_equal(parsed.delivered, counts.written);
		assert_int_equal(parsed.dropped, 10 + counts.lost);
		assert_int_equal(parsed.drops, parsed.dropped);
		assert_int_equal(parsed.received, 16);
	}
}

/* A reader that goes away, with SIGPIPE at its default action; a slow one that takes bits. */
static void test_pipes(void **state)
{
	struct writer *writer;
	struct writer_counts counts;
	int ends[2], before = dup(STDOUT_FILENO), result;
	struct err err;

	(void)state;
	fflush(stdout);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	writer = writer_to(&(struct writer_options){.path = "-"});
	writer_packet(writer, &(struct record){.time_ns = START_NS});
	result = writer_flush(writer);
	close(ends[0]);
	writer_packet(writer, &(struct record){.time_ns = START_NS});
	writer_flush(writer);
	writer_packet(writer, &(struct record){.time_ns = START_NS});
	result += writer_close(writer, &counts, &err);
	dup2(before, STDOUT_FILENO);
	close(before);
	assert_int_equal(result, -1);
	assert_string_equal(err.text, "standard output: write failed: Broken pipe; "
				      "2 of 3 packets lost");
	assert_int_equal(counts.written, 1);
	assert_int_equal(counts.errors, 1);
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

static int set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + i / 256);
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *names[] = {"fields.pcapng",  "copy.pcapng",  "paddings.pcapng",
				      "large.pcapng",   "classic.pcap", "limit.pcapng",
				      "dropped.pcapng", "flush.pcapng"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(scratch(names[i]));
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),      cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_paddings),    cmocka_unit_test(test_largest_and_truncate),
		cmocka_unit_test(test_classic),     cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_full_device), cmocka_unit_test(test_file_size_limit),
		cmocka_unit_test(test_pipes),       cmocka_unit_test(test_dropped_before),
		cmocka_unit_test(test_flush),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
