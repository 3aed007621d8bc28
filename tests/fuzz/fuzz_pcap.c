/* libFuzzer target: any bytes as a capture file. Seeds: tests/golden/pcap.
 *
 *     clang -fsanitize=fuzzer,address,undefined ... && ./fuzz_pcap -max_len=4096 CORPUS
 * tests/golden/pcap
 *
 * Besides not crashing, what the reader delivers keeps its promises, and stands being written
 * again. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../common/base/require.h"
#include "../../pcap/linktype.h"
#include "../../pcap/reader.h"
#include "../../pcap/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void record_check(const struct record *record, uint64_t number)
{
	volatile uint8_t sum = 0;

	for (uint32_t i = 0; i < record->captured; i++)
		sum = (uint8_t)(sum + record->data[i]);
	for (uint32_t i = 0; i < record->comment_length; i++)
		sum = (uint8_t)(sum + (uint8_t)record->comment[i]);
	require(record->captured <= record->length);
	require(record->captured <= RECORD_CAPTURED_MAX + 14);
	require(record->number > number);
	require(record->linktype == LINKTYPE_ETHERNET);
}

static void read_all(struct reader *reader, struct writer *writer)
{
	struct record record;
	uint64_t number = 0;
	int result;

	while ((result = reader_next(reader, &record)) > 0) {
		record_check(&record, number);
		number = record.number;
		record.interface = 0;
		writer_packet(writer, &record);
	}
	require((result < 0) == (reader_error(reader) != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct reader_options options = {.links = READER_CONVERT};
	static const struct encode_interface interface = {.name = "fuzz", .linktype = 1};
	static struct writer *writer; /* one for all inputs: it is slow to make under ASan */
	static int fd;
	static char path[32];
	struct reader *reader;
	struct err err;

	if (!writer) {
		fd = memfd_create("fuzz", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		writer = writer_open(&(struct writer_options){.path = "/dev/null"}, &err);
		require(writer && writer_interface(writer, &interface, &err) == 0);
	}
	require(ftruncate(fd, 0) == 0);
	require(pwrite(fd, data, size, 0) == (ssize_t)size);
	reader = reader_open(path, &options, &err);
	if (!reader)
		return 0;
	read_all(reader, writer);
	reader_close(reader);
	require(writer_flush(writer) == 0);
	return 0;
}
