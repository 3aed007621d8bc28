/* The reader, over the case files of tests/golden/pcap: what EXPECTED.md says of each. */
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

#include "../../pcap/filter.h"
#include "../../pcap/linktype.h"
#include "support.h"

#define NONE READER_PROBLEMS

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
	{".", &ethernet, -2, 0, 0, NONE, 0, "/.: Is a directory"},
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

/* What was captured was on the wire, too. */
static void test_captured_more(void **state)
{
	static struct outcome outcome;

	(void)state;
	outcome_of(&outcome, golden("caplen_gt_len.pcap"), &as_is);
	assert_int_equal(outcome.records[1].captured, 90);
	assert_int_equal(outcome.records[1].length, 90);
	assert_int_equal(outcome.records[2].length, 74);
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
		cmocka_unit_test(test_cases),         cmocka_unit_test(test_times),
		cmocka_unit_test(test_same_bytes),    cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_captured_more), cmocka_unit_test(test_convert),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
