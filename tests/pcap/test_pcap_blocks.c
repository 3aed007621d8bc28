/* The reader, over pcapng files and link-layer headers made here: clocks, damage, sizes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../pcap/linktype.h"
#include "support.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_headers),   cmocka_unit_test(test_resolutions),
		cmocka_unit_test(test_damaged_blocks), cmocka_unit_test(test_many_interfaces),
		cmocka_unit_test(test_large_offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
