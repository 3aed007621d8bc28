/* The reader, over the case files of tests/golden/pcap and over files made here.
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
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../pcap/filter.h"
#include "../../pcap/linktype.h"
#include "../../pcap/reader.h"

#define NONE READER_PROBLEMS

static const struct reader_options as_is;
static const struct reader_options ethernet = {.links = READER_ETHERNET};
static const struct reader_options convert = {
	.links = READER_CONVERT, .dst = {2, 0, 0, 0, 0, 2}, .src = {2, 0, 0, 0, 0, 9}};

static const char *golden(const char *name)
{
	static char path[512];
	const char *directory = getenv("TEST_SOURCE_DIR");

	snprintf(path, sizeof(path), "%s/golden/pcap/%s", directory ? directory : "tests", name);
	return path;
}

/* A file in memory, under a path. */
struct memory {
	int fd;
	char path[32];
};

static struct memory memory_file(const void *data, size_t length)
{
	struct memory memory = {.fd = memfd_create("capture", 0)};

	assert_true(memory.fd >= 0);
	assert_int_equal(write(memory.fd, data, length), length);
	snprintf(memory.path, sizeof(memory.path), "/proc/self/fd/%d", memory.fd);
	return memory;
}

static size_t file_bytes(const char *name, uint8_t *data, size_t room)
{
	int fd = open(golden(name), O_RDONLY);
	ssize_t length;

	assert_true(fd >= 0);
	length = read(fd, data, room);
	assert_true(length >= 0);
	close(fd);
	return (size_t)length;
}

/* What reading a file to its end gave. */
struct outcome {
	int result; /* of the last reader_next(), -2: reader_open() failed */
	unsigned packets;
	unsigned bytes; /* captured */
	uint64_t counts[READER_PROBLEMS];
	char message[1024]; /* of the first problem, by row; else of reader_open() */
	struct record records[32];
	uint8_t data[32][128]; /* the first bytes of each */
};

static void outcome_add(struct outcome *outcome, const struct record *record)
{
	unsigned i = outcome->packets++;
	volatile uint8_t sum = 0; /* every byte is there */

	outcome->bytes += record->captured;
	for (uint32_t at = 0; at < record->captured; at++)
		sum = (uint8_t)(sum + record->data[at]);
	for (uint32_t at = 0; at < record->comment_length; at++)
		sum = (uint8_t)(sum + (uint8_t)record->comment[at]);
	if (i >= 32)
		return;
	outcome->records[i] = *record;
	memcpy(outcome->data[i], record->data, record->captured < 128 ? record->captured : 128);
}

static void outcome_of(struct outcome *outcome, const char *path,
		       const struct reader_options *options)
{
	struct err err = {0};
	struct reader *reader = reader_open(path, options, &err);
	struct record record;

	memset(outcome, 0, offsetof(struct outcome, records));
	if (!reader) {
		outcome->result = -2;
		strcpy(outcome->message, err.text);
		return;
	}
	while ((outcome->result = reader_next(reader, &record)) > 0)
		outcome_add(outcome, &record);
	assert_int_equal(outcome->result, reader_next(reader, &record));
	assert_int_equal(outcome->result < 0, reader_error(reader) != NULL);
	for (unsigned i = READER_PROBLEMS; i-- > 0;) {
		outcome->counts[i] = reader_count(reader, i)->count;
		if (outcome->counts[i])
			strcpy(outcome->message, reader_count(reader, i)->first);
	}
	reader_close(reader);
}

/* A file in memory that is read once. */
static void outcome_of_bytes(struct outcome *outcome, const void *data, size_t length,
			     const struct reader_options *options)
{
	struct memory memory = memory_file(data, length);

	outcome_of(outcome, memory.path, options);
	close(memory.fd);
}

/* What EXPECTED.md says of each file, as far as reading goes. */
static const struct expected {
	const char *file;
	const struct reader_options *options;
	int result;
	unsigned packets, bytes;
	enum reader_problem problem;
	unsigned count;
	const char *message; /* its end */
} expected[] = {
	{"us_le.pcap", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"ns_be.pcap", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"ns.pcapng", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"default_us.pcapng", &ethernet, 0, 2, 148, NONE, 0, ""},
	{"bin10.pcapng", &ethernet, 0, 2, 148, NONE, 0, ""},
	{"two_snaplens.pcapng", &ethernet, 0, 2, 148, NONE, 0, ""},
	{"two_linktypes.pcapng", &ethernet, 0, 2, 148, READER_LINK_TYPE, 1,
	 ": packet 2 at offset 200: link type LINUX_SLL (113) of interface 1 is not Ethernet"},
	{"two_linktypes.pcapng", &convert, 0, 3, 222, NONE, 0, ""},
	{"two_linktypes.pcapng", &as_is, 0, 3, 224, NONE, 0, ""},
	{"blocks.pcapng", &ethernet, 0, 5, 336, READER_TIME_BACKWARDS, 2,
	 ": packet 4 at offset 532: 0.000005000 s earlier than a packet before it"},
	{"sll.pcap", &ethernet, 0, 0, 0, READER_LINK_TYPE, 3,
	 ": packet 1 at offset 24: link type LINUX_SLL (113) of interface 0 is not Ethernet"},
	{"sll.pcap", &convert, 0, 3, 222, NONE, 0, ""},
	{"raw.pcap", &ethernet, 0, 0, 0, READER_LINK_TYPE, 3,
	 ": packet 1 at offset 24: link type RAW (101) of interface 0 is not Ethernet"},
	{"raw.pcap", &convert, 0, 3, 222, NONE, 0, ""},
	{"null_le.pcap", &ethernet, 0, 0, 0, READER_LINK_TYPE, 3,
	 ": packet 1 at offset 24: link type NULL (0) of interface 0 is not Ethernet"},
	{"null_le.pcap", &convert, 0, 3, 222, NONE, 0, ""},
	{"radiotap.pcap", &convert, 0, 0, 0, READER_LINK_TYPE, 1,
	 ": link type IEEE802_11_RADIO (127) of interface 0 cannot become Ethernet"},
	{"snap60.pcap", &ethernet, 0, 3, 180, NONE, 0, ""},
	{"caplen_gt_len.pcap", &ethernet, 0, 3, 238, READER_CAPTURED, 1,
	 ": packet 2 at offset 114: 90 bytes captured of 74 on the wire"},
	{"zero_len.pcap", &ethernet, 0, 3, 148, READER_NO_BYTES, 1,
	 ": packet 2 at offset 114: it has no bytes"},
	{"cut_hdr.pcap", &ethernet, -1, 3, 222, READER_CUT, 1,
	 ": packet 4 at offset 294: the file ends inside it: 16 bytes needed, 9 there"},
	{"cut.pcapng", &ethernet, -1, 1, 74, READER_CUT, 1,
	 ": packet 2 at offset 168: the file ends inside it: 108 bytes needed, 97 there"},
	{"caplen_7fffffff.pcap", &ethernet, -1, 1, 74, READER_LENGTH, 1,
	 ": packet 2 at offset 114: its captured length is 2147483647, more than 262144"},
	{"empty.pcap", &ethernet, -2, 0, 0, NONE, 0, ": at offset 0: the file is empty"},
	{"not_pcap.pcap", &ethernet, -2, 0, 0, NONE, 0,
	 ": at offset 0: neither a pcap nor a pcapng file: it begins with 68 65 6c 6c"},
	{"header_only.pcap", &ethernet, 0, 0, 0, READER_NO_PACKETS, 1,
	 ": at offset 24: the file holds no packets"},
	{"hdr_snap_40.pcap", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"backwards.pcap", &ethernet, 0, 7, 518, READER_TIME_BACKWARDS, 4,
	 ": packet 3 at offset 204: 0.100000000 s earlier than a packet before it"},
	{"backwards.pcap", &ethernet, 0, 7, 518, READER_TIME_FRACTION, 1, ""},
	{"huge_gap.pcap", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"100ms.pcap", &ethernet, 0, 5, 370, NONE, 0, ""},
	{"one_udp.pcap", &ethernet, 0, 1, 74, NONE, 0, ""},
	{"sizes.pcap", &ethernet, 0, 11, 27116, NONE, 0, ""},
	{"rewrite.pcap", &ethernet, 0, 12, 2362, NONE, 0, ""},
	{"pingpong8.pcap", &ethernet, 0, 8, 452, NONE, 0, ""},
	{"t20.pcap", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"t20.pcap.gz", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"t20.pcap.zst", &ethernet, 0, 3, 222, NONE, 0, ""},
	{"absent.pcap", &ethernet, -2, 0, 0, NONE, 0, ": No such file or directory"},
};

static void expect(const struct expected *row, const struct outcome *outcome)
{
	const char *end = outcome->message;

	print_message("%s: %s\n", row->file, outcome->message);
	assert_int_equal(outcome->result, row->result);
	assert_int_equal(outcome->packets, row->packets);
	assert_int_equal(outcome->bytes, row->bytes);
	for (unsigned i = 0; i < READER_PROBLEMS; i++)
		if (i == row->problem)
			assert_int_equal(outcome->counts[i], row->count);
		else if (strcmp(row->file, "backwards.pcap") != 0) /* it has two */
			assert_int_equal(outcome->counts[i], 0);
	if (strlen(end) > strlen(row->message))
		end += strlen(end) - strlen(row->message);
	assert_string_equal(end, row->message);
	if (outcome->message[0])
		assert_non_null(strstr(outcome->message, row->file));
}

static void test_cases(void **state)
{
	static struct outcome outcome;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		outcome_of(&outcome, golden(expected[i].file), expected[i].options);
		expect(&expected[i], &outcome);
	}
}

static void test_times(void **state)
{
	static const struct {
		const char *file;
		uint64_t time_ns[7];
	} rows[] = {
		{"us_le.pcap", {0, 1000000, 2501000000}},
		{"ns_be.pcap", {0, 1000001, 2501000001}},
		{"ns.pcapng", {0, 1000001, 2501000001}},
		{"default_us.pcapng", {0, 1000000000}},
		{"bin10.pcapng", {0, 1000000000}},
		{"huge_gap.pcap", {0, 1700000000000000000, 1700000000010000000}},
		{"backwards.pcap",
		 {0, 200000000, 100000000, 100000000, -7200000000000ull, 1500000000, 300000000}},
	};
	static struct outcome outcome;

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		outcome_of(&outcome, golden(rows[row].file), &as_is);
		for (unsigned i = 0; i < outcome.packets; i++)
			assert_int_equal(outcome.records[i].time_ns - outcome.records[0].time_ns,
					 rows[row].time_ns[i]);
	}
	outcome_of(&outcome, golden("ns_be.pcap"), &as_is);
	assert_int_equal(outcome.records[0].time_ns, 1700000000000000000);
}

/* Three encodings of the same packets. */
static void test_same_bytes(void **state)
{
	static const char *files[] = {"ns_be.pcap", "ns.pcapng", "t20.pcap.gz", "t20.pcap.zst"};
	static struct outcome first, other;

	(void)state;
	outcome_of(&first, golden("us_le.pcap"), &as_is);
	for (size_t file = 0; file < sizeof(files) / sizeof(files[0]); file++) {
		outcome_of(&other, golden(files[file]), &as_is);
		assert_memory_equal(first.data, other.data, sizeof(first.data[0]) * 3);
	}
}

static void test_blocks(void **state)
{
	static const uint32_t captured[] = {64, 64, 60, 74, 74}, length[] = {74, 64, 74, 74, 74};
	static const uint64_t offset[] = {76, 156, 304, 532, 640};
	static struct outcome outcome;
	const struct record *records = outcome.records;

	(void)state;
	outcome_of(&outcome, golden("blocks.pcapng"), &as_is);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(records[i].captured, captured[i]);
		assert_int_equal(records[i].length, length[i]);
		assert_int_equal(records[i].offset, offset[i]);
		assert_int_equal(records[i].number, i + 1);
		assert_int_equal(records[i].section, i >= 3);
	}
	assert_true(records[0].flags & RECORD_NO_TIME);
	assert_int_equal(records[1].drops, 3); /* of the obsolete block */
	assert_int_equal(records[2].direction, RECORD_IN);
	assert_int_equal(records[2].drops, 9);
	assert_int_equal(records[4].time_ns - records[3].time_ns, 7);
}

/* Converted frames: header, then the same bytes as behind the header of the file. */
static void test_convert(void **state)
{
	static const struct {
		const char *file;
		unsigned packet, header;
		uint8_t sender; /* last byte of its MAC address */
	} rows[] = {{"sll.pcap", 2, 16, 1},
		    {"raw.pcap", 2, 0, 9},
		    {"null_le.pcap", 2, 4, 9},
		    {"two_linktypes.pcapng", 1, 16, 1}};
	static struct outcome raw, cooked;

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		uint8_t header[14] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, rows[row].sender, 8, 0};
		unsigned packet = rows[row].packet;

		outcome_of(&raw, golden(rows[row].file), &as_is);
		outcome_of(&cooked, golden(rows[row].file), &convert);
		assert_memory_equal(cooked.data[packet], header, sizeof(header));
		assert_memory_equal(cooked.data[packet] + 14, raw.data[packet] + rows[row].header,
				    60);
		assert_int_equal(cooked.records[packet].captured, 74);
		assert_int_equal(cooked.records[packet].length, 74);
		assert_int_equal(cooked.records[packet].linktype, LINKTYPE_ETHERNET);
	}
}

/* Link headers: what they become, by hand. 45... and 60... are IP. */
static void test_link_headers(void **state)
{
	static const struct {
		uint16_t linktype, ether_type; /* 0: cannot be */
		uint32_t captured, header;
		uint8_t data[24];
	} rows[] = {
		{101, 0x86dd, 2, 0, {0x60}},
		{12, 0x0800, 1, 0, {0x45}},
		{14, 0x0800, 1, 0, {0x45}},
		{228, 0x0800, 1, 0, {0x45}},
		{229, 0x86dd, 1, 0, {0x60}},
		{101, 0, 1, 0, {0x50}},
		{101, 0, 0, 0, {0x45}},
		{0, 0x0800, 5, 4, {0, 0, 0, 2, 0x45}},
		{0, 0x86dd, 5, 4, {30, 0, 0, 0, 0x60}},
		{0, 0x86dd, 5, 4, {10, 0, 0, 0, 0x60}},
		{108, 0x86dd, 5, 4, {0, 0, 0, 24, 0x60}},
		{108, 0, 5, 4, {0, 0, 8, 2, 0x60}},
		{0, 0, 5, 4, {8, 0, 0, 2, 0x60}},
		{0, 0, 3, 4, {2, 0, 0}},
		{113, 0x8100, 17, 16, {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x81, 0}},
		{113, 0, 17, 16, {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0, 4}},
		{113, 0, 17, 16, {0, 0, 3, 0x23, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0}},
		{113, 0, 15, 16, {0}},
		{276, 0x0800, 21, 20, {8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1}},
		{276, 0, 19, 20, {8, 0}},
	};

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		uint8_t memory[64] = {0};
		struct record record = {.data = memory + 32,
					.captured = rows[row].captured,
					.length = rows[row].captured,
					.linktype = rows[row].linktype};
		enum linktype_result result;

		memcpy(memory + 32, rows[row].data, sizeof(rows[row].data));
		result = linktype_to_ethernet(&record, convert.dst, convert.src);
		assert_int_equal(result,
				 rows[row].ether_type ? LINKTYPE_CONVERTED : LINKTYPE_NO_PACKET);
		if (result != LINKTYPE_CONVERTED)
			continue;
		assert_int_equal(record.data[12] << 8 | record.data[13], rows[row].ether_type);
		assert_int_equal(record.captured, rows[row].captured - rows[row].header + 14);
		assert_ptr_equal(record.data + 14, memory + 32 + rows[row].header);
	}
}

/* A pcapng file under construction, little-endian. */
struct image {
	uint8_t bytes[8192];
	size_t length;
};

static void image_put(struct image *image, const void *data, size_t length)
{
	memcpy(image->bytes + image->length, data, length);
	image->length += length;
}

/* A block of whole words. */
static void image_block(struct image *image, uint32_t type, const void *body, uint32_t length)
{
	uint32_t total = length + 12;

	image_put(image, &type, 4);
	image_put(image, &total, 4);
	image_put(image, body, length);
	image_put(image, &total, 4);
}

static void image_section(struct image *image)
{
	uint32_t body[] = {0x1a2b3c4d, 1, 0xffffffff, 0xffffffff};

	image_block(image, 0x0a0d0d0a, body, sizeof(body));
}

/* An Ethernet interface with one option, or none. */
static void image_interface(struct image *image, uint16_t code, uint16_t length, uint64_t value)
{
	uint8_t body[24] = {1};
	uint32_t size = 8;

	if (code) {
		memcpy(body + 8, &code, 2);
		memcpy(body + 10, &length, 2);
		memcpy(body + 12, &value, 8);
		size = length > 4 ? 20 : 16;
	}
	image_block(image, 1, body, size);
}

static void image_packet(struct image *image, uint32_t interface, uint64_t ticks)
{
	uint32_t body[] = {interface, (uint32_t)(ticks >> 32), (uint32_t)ticks, 4, 4, 0x11223344};

	image_block(image, 6, body, sizeof(body));
}

static void test_resolutions(void **state)
{
	static const struct {
		uint16_t code, length;
		uint64_t value, ticks, time_ns;
		unsigned out_of_range;
	} rows[] = {
		{9, 1, 0, 7, 7000000000, 0},
		{9, 1, 3, 7, 7000000, 0},
		{9, 1, 9, UINT64_MAX, UINT64_MAX, 0},
		{9, 1, 8, UINT64_MAX, UINT64_MAX, 1},
		{9, 1, 0, UINT64_MAX, UINT64_MAX, 1},
		{9, 1, 12, 7999, 7, 0},
		{9, 1, 28, UINT64_MAX, 1, 0},
		{9, 1, 29, UINT64_MAX, 0, 0},
		{9, 1, 127, UINT64_MAX, 0, 0},
		{9, 1, 0x80, 3, 3000000000, 0},
		{9, 1, 0x80 | 1, 3, 1500000000, 0},
		{9, 1, 0x80 | 64, UINT64_MAX, 999999999, 0},
		{9, 1, 0x80 | 127, UINT64_MAX, 0, 0},
		{14, 8, 1700000000, 5, 1700000000000005000, 0},
		{14, 8, -1ull, 1000001, 1000, 0},
		{14, 8, -1ull, 999999, 0, 1},
		{14, 8, INT64_MAX, 5, UINT64_MAX, 1},
		{14, 8, 1ull << 63, 5, 0, 1},
	};
	static struct outcome outcome;

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		struct image image = {0};

		image_section(&image);
		image_interface(&image, rows[row].code, rows[row].length, rows[row].value);
		image_packet(&image, 0, rows[row].ticks);
		outcome_of_bytes(&outcome, image.bytes, image.length, &as_is);
		assert_int_equal(outcome.result, 0);
		assert_int_equal(outcome.records[0].time_ns, rows[row].time_ns);
		assert_int_equal(outcome.counts[READER_TIME_RANGE], rows[row].out_of_range);
	}
}

static void test_damaged_blocks(void **state)
{
	static struct outcome outcome;
	struct image good = {0}, image;
	uint32_t long_option[] = {0, 0, 0, 4, 4, 0, 0x00ff0001};
	uint32_t too_long[] = {0, 0, 0, 5, 5, 0};

	(void)state;
	image_section(&good);
	image_interface(&good, 0, 0, 0);
	image_packet(&good, 0, 1);

	image = good; /* the packet of an interface that is not there is left out */
	image_packet(&image, 1, 2);
	image_packet(&image, 0, 3);
	outcome_of_bytes(&outcome, image.bytes, image.length, &as_is);
	assert_int_equal(outcome.result, 0);
	assert_int_equal(outcome.packets, 2);
	assert_int_equal(outcome.counts[READER_INTERFACE], 1);
	assert_int_equal(outcome.records[1].number, 3);

	image = good; /* an option that is longer than its block */
	image_block(&image, 6, long_option, sizeof(long_option));
	outcome_of_bytes(&outcome, image.bytes, image.length, &as_is);
	assert_int_equal(outcome.result, 0);
	assert_int_equal(outcome.packets, 2);
	assert_int_equal(outcome.counts[READER_OPTION], 1);

	image = good; /* a packet that is longer than its block */
	image_block(&image, 6, too_long, sizeof(too_long));
	image_packet(&image, 0, 3);
	outcome_of_bytes(&outcome, image.bytes, image.length, &as_is);
	assert_int_equal(outcome.result, -1);
	assert_int_equal(outcome.packets, 1);
	assert_int_equal(outcome.counts[READER_LENGTH], 1);

	image = good; /* the length behind a block is not that in front */
	image.bytes[image.length - 4] ^= 4;
	outcome_of_bytes(&outcome, image.bytes, image.length, &as_is);
	assert_int_equal(outcome.counts[READER_LENGTH], 1);

	image = good; /* a section of a version to come */
	image.bytes[12] = 2;
	outcome_of_bytes(&outcome, image.bytes, image.length, &as_is);
	assert_int_equal(outcome.counts[READER_HEADER], 1);
}

/* As many interfaces as a file may wish for must not cost as much memory. */
static void test_many_interfaces(void **state)
{
	static struct outcome outcome;
	struct image image = {0};
	size_t one, room = 70000 * 20, length;
	uint8_t *bytes = malloc(room + 64);

	(void)state;
	image_section(&image);
	memcpy(bytes, image.bytes, length = image.length);
	image.length = 0;
	image_interface(&image, 0, 0, 0);
	for (one = image.length; length + one < room; length += one)
		memcpy(bytes + length, image.bytes, one);
	outcome_of_bytes(&outcome, bytes, length, &as_is);
	assert_int_equal(outcome.result, -1);
	assert_int_equal(outcome.counts[READER_HEADER], 1);
	assert_non_null(strstr(outcome.message, "more than 65536 interfaces"));
	free(bytes);
}

/* A block of nearly 4 GiB is stepped over; what follows has its right offset. */
static void test_large_offsets(void **state)
{
	static struct outcome outcome;
	struct image image = {0};
	struct memory memory;
	struct rusage before, after;
	uint32_t huge[] = {0x0bad, 0xfffffff0};

	(void)state;
	image_section(&image);
	image_interface(&image, 0, 0, 0);
	image_put(&image, huge, sizeof(huge));
	memory = memory_file(image.bytes, image.length);
	assert_true(lseek(memory.fd, 48 + 0xfffffff0l - 4, SEEK_SET) > 0);
	assert_int_equal(write(memory.fd, &huge[1], 4), 4);
	image.length = 0;
	image_packet(&image, 0, 1);
	image_packet(&image, 0, 2);
	assert_int_equal(write(memory.fd, image.bytes, image.length), image.length);
	getrusage(RUSAGE_SELF, &before);
	outcome_of(&outcome, memory.path, &as_is);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(outcome.packets, 2);
	assert_int_equal(outcome.records[1].offset, 48 + 0xfffffff0l + 36);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 << 10);
	close(memory.fd);
}

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

/* A child writes the file into a pipe, byte by byte. */
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

static void test_filter(void **state)
{
	static struct outcome outcome;
	struct err err;
	struct filter *filter = filter_open("tcp src port 80", LINKTYPE_ETHERNET, &err);
	unsigned matches = 0;

	(void)state;
	assert_non_null(filter);
	outcome_of(&outcome, golden("pingpong8.pcap"), &as_is);
	for (unsigned i = 0; i < outcome.packets; i++)
		matches += filter_match(filter, outcome.data[i], outcome.records[i].captured,
					outcome.records[i].length);
	filter_close(filter);
	assert_int_equal(matches, 4);
	assert_null(filter_open("tcp sauce port 80", LINKTYPE_ETHERNET, &err));
	assert_int_equal(err.exit, EXIT_USAGE);
	assert_non_null(strstr(err.text, "tcp sauce port 80"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_convert),
		cmocka_unit_test(test_link_headers),
		cmocka_unit_test(test_resolutions),
		cmocka_unit_test(test_damaged_blocks),
		cmocka_unit_test(test_many_interfaces),
		cmocka_unit_test(test_large_offsets),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_cut_compressed),
		cmocka_unit_test(test_damage_everywhere),
		cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_long_stream),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
