/* Support of the tests of pcap. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

const struct reader_options as_is;
const struct reader_options ethernet = {.links = READER_ETHERNET};
const struct reader_options convert = {
	.links = READER_CONVERT, .dst = {2, 0, 0, 0, 0, 2}, .src = {2, 0, 0, 0, 0, 9}};

static char directory[] = "/tmp/onager-test-pcap.XXXXXX";
uint8_t payload[2048];
const struct encode_interface eth0 = {.name = "eth0", .description = "the first", .linktype = 1};

const char *golden(const char *name)
{
	static char path[512];
	const char *tests = getenv("TEST_SOURCE_DIR");

	snprintf(path, sizeof(path), "%s/golden/pcap/%s", tests ? tests : "tests", name);
	return path;
}

size_t file_read(const char *path, uint8_t *data, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t length;

	assert_true(fd >= 0);
	length = read(fd, data, room);
	assert_true(length >= 0);
	close(fd);
	return (size_t)length;
}

size_t file_bytes(const char *name, uint8_t *data, size_t room)
{
	return file_read(golden(name), data, room);
}

struct memory memory_file(const void *data, size_t length)
{
	struct memory memory = {.fd = memfd_create("capture", 0)};

	assert_true(memory.fd >= 0);
	assert_int_equal(write(memory.fd, data, length), length);
	snprintf(memory.path, sizeof(memory.path), "/proc/self/fd/%d", memory.fd);
	return memory;
}

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

void outcome_of(struct outcome *outcome, const char *path, const struct reader_options *options)
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

void outcome_of_bytes(struct outcome *outcome, const void *data, size_t length,
		      const struct reader_options *options)
{
	struct memory memory = memory_file(data, length);

	outcome_of(outcome, memory.path, options);
	close(memory.fd);
}

const char *scratch(const char *name)
{
	static char paths[4][sizeof(directory) + NAME_MAX + 1];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

int scratch_make(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + i / 256);
	return mkdtemp(directory) ? 0 : -1;
}

int scratch_remove(void **state)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;

	(void)state;
	while (entries && (entry = readdir(entries)))
		unlink(scratch(entry->d_name));
	if (entries)
		closedir(entries);
	return rmdir(directory);
}

struct record record_of(uint64_t number, uint32_t captured)
{
	return (struct record){.data = payload + number % 256,
			       .captured = captured,
			       .length = captured,
			       .time_ns = START_NS + number * 1000,
			       .linktype = 1};
}

struct writer *writer_to(const struct writer_options *options)
{
	struct err err;
	struct writer *writer = writer_open(options, &err);

	assert_non_null(writer);
	assert_int_equal(writer_interface(writer, &eth0, &err), 0);
	return writer;
}

uint64_t number_at(const uint8_t *at, unsigned bytes)
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

struct parsed parse(const char *path)
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
