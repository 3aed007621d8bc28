/* A packet of a capture file. A packet that was cut when it was captured is refused: what its end
 * was, nobody knows. */
#include "packet_file.h"

#include <stdio.h>
#include <string.h>

#include "../../pcap/reader.h"
#include "../base/err.h"

static uint32_t frame_take(const struct record *record, uint8_t *data, uint32_t size, char *why,
			   size_t why_size)
{
	uint32_t length = record->length - record->fcs, taken = 0;

	if (record->captured < length)
		snprintf(why, why_size, "the packet was cut when it was captured: %u of %u bytes",
			 record->captured, record->length);
	else if (length > size)
		snprintf(why, why_size, "the packet has %u bytes, more than %u", length, size);
	else
		memcpy(data, record->data, taken = length);
	return taken;
}

uint32_t packet_file_read(const char *file, uint64_t number, uint8_t *data, uint32_t size,
			  char *why, size_t why_size)
{
	const struct reader_options options = {.links = READER_ETHERNET};
	struct err err = {0};
	struct reader *reader = reader_open(file, &options, &err);
	struct record record;
	uint32_t length = 0;
	uint64_t last = 0;

	if (!reader) {
		snprintf(why, why_size, "%s", err.text);
		return 0;
	}
	while (last < number && reader_next(reader, &record) == 1)
		last = record.number;
	if (last == number)
		length = frame_take(&record, data, size, why, why_size);
	else
		snprintf(why, why_size, "%s: no packet %llu of Ethernet is in it", file,
			 (unsigned long long)number);
	reader_close(reader);
	return length;
}
