/* pcap_copy IN OUT [PACKETS_PER_FILE [FILES]]: reads with the reader, writes with the writer, and
 * adds what only pcapng keeps: a comment, a direction, a queue and a drop count for every third
 * packet. For tests/pcap/peers.sh. OUT ending in .pcap is written as classic pcap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pcap/reader.h"
#include "../../pcap/writer.h"

static int failed(const struct err *err)
{
	fprintf(stderr, "pcap_copy: %s\n", err->text);
	return err->exit;
}

static void decorate(struct record *record)
{
	if (record->number % 3)
		return;
	record->comment = "tcp.bad_seq: outside the receive window";
	record->comment_length = (uint16_t)strlen(record->comment);
	record->direction = RECORD_IN;
	record->flags |= RECORD_QUEUE;
	record->queue = 5;
	record->drops = 2;
}

static int copy(struct reader *reader, struct writer *writer, struct err *err)
{
	struct encode_interface interface = {.name = "copy0", .linktype = 1};
	struct record record;

	/* All interfaces become one: the reader made everything Ethernet. */
	if (writer_interface(writer, &interface, err) < 0)
		return -1;
	while (reader_next(reader, &record) > 0) {
		record.interface = 0;
		decorate(&record);
		writer_packet(writer, &record);
	}
	return 0;
}

int main(int count, char **arguments)
{
	struct reader_options convert = {
		.links = READER_CONVERT, .dst = {2, 0, 0, 0, 0, 2}, .src = {2, 0, 0, 0, 0, 1}};
	struct writer_options options = {.origin = {"test bed", "Linux", "pcap_copy"}};
	struct writer_counts counts;
	struct reader *reader;
	struct writer *writer;
	const char *suffix;
	struct err err;
	int result;

	if (count < 3)
		return failed(&(struct err){EXIT_USAGE, "usage: IN OUT [PACKETS [FILES]]"});
	options.path = arguments[2];
	suffix = strrchr(options.path, '.');
	if (suffix && !strcmp(suffix, ".pcap"))
		options.format = WRITER_PCAP;
	options.file_packets = count > 3 ? strtoull(arguments[3], NULL, 10) : 0;
	options.files = count > 4 ? (uint32_t)strtoul(arguments[4], NULL, 10) : 0;
	reader = reader_open(arguments[1], &convert, &err);
	if (!reader)
		return failed(&err);
	writer = writer_open(&options, &err);
	if (!writer)
		return failed(&err);
	if (copy(reader, writer, &err))
		return failed(&err);
	for (unsigned i = 0; i < READER_PROBLEMS; i++)
		if (reader_count(reader, i)->count)
			fprintf(stderr, "%s: %llu times, first %s\n", reader_problem_info[i].name,
				(unsigned long long)reader_count(reader, i)->count,
				reader_count(reader, i)->first);
	result = reader_error(reader) ? EXIT_FAIL : EXIT_PASS;
	reader_close(reader);
	if (writer_close(writer, &counts, &err))
		return failed(&err);
	fprintf(stderr, "%llu packets in %u files\n", (unsigned long long)counts.written,
		counts.files);
	return result;
}
