/* The reader: opening, what is common to all formats, and classic pcap. pcapng.c has the other
 * format.
 *
 * A packet's data stay where they were read; only a record that straddles two reads is moved. Each
 * format fills in a record, record_accept() judges it: so both count the same things the same way.
 * libpcap was rejected for reading: it refuses files with several link types or snaplens, cuts
 * packets to the header's snaplen, and knows neither interfaces nor comments. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "linktype.h"
#include "reader_state.h"

enum { CLASSIC_FILE_HEADER = 24, CLASSIC_RECORD_HEADER = 16 };

#define CLASSIC_MAGIC_US 0xa1b2c3d4u
#define CLASSIC_MAGIC_NS 0xa1b23c4du
#define SECTION_HEADER   0x0a0d0d0au

const struct reader_problem_info reader_problem_info[READER_PROBLEMS] = {
#define READER_ROW(id, name, class, help) {name, help, READER_##class},
	READER_TABLE(READER_ROW)
#undef READER_ROW
};

/* "lab.pcap: packet 7 at offset 402: " */
static int reader_where(const struct reader *reader, char *text, size_t room)
{
	const char *offset = reader->source.unpacker ? "uncompressed offset" : "offset";
	unsigned long long number = reader->number;

	if (number == 0)
		return snprintf(text, room, "%.200s: at %s %llu: ", reader->path, offset,
				(unsigned long long)reader->offset);
	return snprintf(text, room, "%.200s: %s %llu at %s %llu: ", reader->path,
			reader->in_packet ? "packet" : "block after packet", number, offset,
			(unsigned long long)reader->offset);
}

int reader_met(struct reader *reader, enum reader_problem problem, const char *format, ...)
{
	struct reader_count *count = &reader->counts[problem];
	va_list args;
	int length;

	if (reader_problem_info[problem].class == READER_ERROR)
		reader->error = problem;
	if (count->count++)
		return -1;
	length = reader_where(reader, count->first, sizeof(count->first));
	va_start(args, format);
	vsnprintf(count->first + length, sizeof(count->first) - (size_t)length, format, args);
	va_end(args);
	return -1;
}

int reader_cut(struct reader *reader, size_t need)
{
	const struct source *source = &reader->source;

	if (source->error[0])
		return reader_met(reader, source->damaged ? READER_COMPRESSION : READER_IO, "%s",
				  source->error);
	return reader_met(reader, READER_CUT,
			  "the file ends inside it: %zu bytes needed, %zu there", need,
			  source_left(source));
}

struct reader_interface *reader_interface_add(struct reader *reader)
{
	struct reader_interface *interfaces = reader->interfaces;

	if (reader->interface_count == reader->interface_room) {
		uint32_t room = reader->interface_room ? 2 * reader->interface_room : 1;

		if (room <= READER_INTERFACES_MAX)
			interfaces = realloc(interfaces, room * sizeof(*interfaces));
		if (room > READER_INTERFACES_MAX || !interfaces) {
			reader_met(reader, READER_HEADER, "more than %u interfaces",
				   reader->interface_count);
			return NULL;
		}
		reader->interfaces = interfaces;
		reader->interface_room = room;
	}
	interfaces += reader->interface_count++;
	memset(interfaces, 0, sizeof(*interfaces));
	return interfaces;
}

uint64_t reader_time(struct reader *reader, const struct reader_interface *interface,
		     uint64_t ticks)
{
	unsigned __int128 scaled =
		(unsigned __int128)ticks * interface->multiply >> interface->shift;
	__int128 time;

	if (interface->divide != 1) /* a slow division that few files need */
		scaled /= interface->divide;
	time = (__int128)scaled + (__int128)interface->offset_s * 1000000000;
	if (time >= 0 && time <= UINT64_MAX)
		return (uint64_t)time;
	reader_met(reader, READER_TIME_RANGE, "time stamp %s, clamped",
		   time < 0 ? "before 1970" : "after 2554");
	return time < 0 ? 0 : UINT64_MAX;
}

static uint64_t classic_time(struct reader *reader, const uint8_t *header)
{
	uint64_t scale = reader->interfaces[0].multiply;
	uint64_t fraction_ns = reader_u32(reader, header + 4) * scale;

	if (fraction_ns >= 1000000000)
		reader_met(reader, READER_TIME_FRACTION, "its fraction of a second is %llu %s",
			   (unsigned long long)(fraction_ns / scale), scale == 1 ? "ns" : "us");
	return reader_u32(reader, header) * 1000000000ull + fraction_ns;
}

static int classic_read(struct reader *reader, struct record *record)
{
	const uint8_t *header = source_peek(&reader->source, CLASSIC_RECORD_HEADER);
	uint32_t captured;

	reader->offset = reader->source.offset;
	if (!header && source_is_ended(&reader->source))
		return 0;
	reader->number++;
	if (!header)
		return reader_cut(reader, CLASSIC_RECORD_HEADER);
	captured = reader_u32(reader, header + 8);
	if (captured > RECORD_CAPTURED_MAX)
		return reader_met(reader, READER_LENGTH, "its captured length is %u, more than %u",
				  captured, RECORD_CAPTURED_MAX);
	header = source_peek(&reader->source, CLASSIC_RECORD_HEADER + captured);
	if (!header)
		return reader_cut(reader, CLASSIC_RECORD_HEADER + captured);
	source_take(&reader->source, CLASSIC_RECORD_HEADER + captured);
	*record = (struct record){
		.data = header + CLASSIC_RECORD_HEADER,
		.captured = captured,
		.length = reader_u32(reader, header + 12),
		.time_ns = classic_time(reader, header),
		.linktype = reader->interfaces[0].linktype,
		.fcs = reader->interfaces[0].fcs,
		.number = reader->number,
		.offset = reader->offset,
	};
	return 1;
}

/* The link type's upper half: with bit 26, its top four bits are the length of the FCS in 16-bit
 * words (draft-ietf-opsawg-pcap, section 4). */
static int classic_start(struct reader *reader, bool ns)
{
	const uint8_t *header = source_peek(&reader->source, CLASSIC_FILE_HEADER);
	struct reader_interface *interface;
	uint32_t linktype;

	if (!header)
		return reader_cut(reader, CLASSIC_FILE_HEADER);
	if (reader_u16(reader, header + 4) != 2)
		return reader_met(reader, READER_HEADER, "pcap version %u is not 2",
				  reader_u16(reader, header + 4));
	interface = reader_interface_add(reader);
	if (!interface)
		return -1;
	linktype = reader_u32(reader, header + 20);
	interface->snaplen = reader_u32(reader, header + 16);
	interface->linktype = (uint16_t)linktype;
	interface->fcs = linktype & 1u << 26 ? (uint8_t)(linktype >> 28 << 1) : 0;
	interface->multiply = ns ? 1 : 1000;
	interface->divide = 1;
	source_take(&reader->source, CLASSIC_FILE_HEADER);
	reader->read = classic_read;
	reader->in_packet = true; /* all there is from here on */
	return 0;
}

static int reader_start(struct reader *reader)
{
	const uint8_t *magic = source_peek(&reader->source, 4);
	uint32_t value;

	if (!magic && source_is_ended(&reader->source))
		return reader_met(reader, READER_EMPTY, "the file is empty");
	if (!magic)
		return reader_cut(reader, 4);
	memcpy(&value, magic, sizeof(value));
	reader->read = pcapng_read;
	if (value == SECTION_HEADER) /* the same in both byte orders; read as the first block */
		return 0;
	reader->swapped = __builtin_bswap32(value) == CLASSIC_MAGIC_US ||
			  __builtin_bswap32(value) == CLASSIC_MAGIC_NS;
	value = reader_u32(reader, magic);
	if (value == CLASSIC_MAGIC_US || value == CLASSIC_MAGIC_NS)
		return classic_start(reader, value == CLASSIC_MAGIC_NS);
	return reader_met(reader, READER_FORMAT,
			  "neither a pcap nor a pcapng file: it begins with %02x %02x %02x %02x",
			  magic[0], magic[1], magic[2], magic[3]);
}

struct reader *reader_open(const char *path, const struct reader_options *options, struct err *err)
{
	struct reader *reader = calloc(1, sizeof(*reader) + strlen(path) + 1);

	if (!reader) {
		err_set(err, EXIT_ENVIRONMENT, "%s: no memory to read it", path);
		return NULL;
	}
	strcpy(reader->path, path);
	reader->error = READER_PROBLEMS;
	if (options)
		reader->options = *options;
	if (source_open(&reader->source, path, err)) {
		free(reader);
		return NULL;
	}
	if (reader_start(reader)) {
		err_set(err, reader->error == READER_IO ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s",
			reader_error(reader));
		reader_close(reader);
		return NULL;
	}
	return reader;
}

/* Make an Ethernet frame of it if the options ask for one; false if that cannot be. */
static bool record_link(struct reader *reader, struct record *record)
{
	const struct reader_options *options = &reader->options;
	enum linktype_result result = LINKTYPE_FOREIGN;
	enum reader_problem problem;

	if (options->links == READER_AS_IS || record->linktype == LINKTYPE_ETHERNET)
		return true;
	if (options->links == READER_CONVERT)
		result = linktype_to_ethernet(record, options->dst, options->src);
	if (result == LINKTYPE_CONVERTED)
		return true;
	problem = result == LINKTYPE_FOREIGN ? READER_LINK_TYPE : READER_LINK_HEADER;
	reader_met(reader, problem, "%s %s (%u) of interface %u %s",
		   problem == READER_LINK_TYPE ? "link type" : "header of link type",
		   linktype_name(record->linktype), record->linktype, record->interface,
		   options->links == READER_CONVERT ? "cannot become Ethernet" : "is not Ethernet");
	return false;
}

static bool record_accept(struct reader *reader, struct record *record)
{
	if (record->captured == 0)
		reader_met(reader, READER_NO_BYTES, "it has no bytes");
	if (record->captured > record->length) {
		reader_met(reader, READER_CAPTURED, "%u bytes captured of %u on the wire",
			   record->captured, record->length);
		record->length = record->captured;
	}
	if (record->flags & RECORD_NO_TIME)
		record->time_ns = reader->time_ns;
	if (record->time_ns < reader->latest_ns && !(record->flags & RECORD_NO_TIME)) {
		reader_met(reader, READER_TIME_BACKWARDS, "%.9f s earlier than a packet before it",
			   (double)(reader->latest_ns - record->time_ns) / 1e9);
		record->flags |= RECORD_BACKWARDS;
	}
	reader->time_ns = record->time_ns;
	if (record->time_ns > reader->latest_ns)
		reader->latest_ns = record->time_ns;
	return record_link(reader, record);
}

static int reader_end(struct reader *reader, int result)
{
	if (result == 0 && reader->number == 0)
		reader_met(reader, READER_NO_PACKETS, "the file holds no packets");
	reader->ended = true;
	return reader->result = result;
}

int reader_next(struct reader *reader, struct record *record)
{
	int result;

	if (reader->ended)
		return reader->result;
	do {
		result = reader->read(reader, record);
		if (result <= 0)
			return reader_end(reader, result);
	} while (!record_accept(reader, record));
	return result;
}

const char *reader_error(const struct reader *reader)
{
	return reader->error == READER_PROBLEMS ? NULL : reader->counts[reader->error].first;
}

const struct reader_count *reader_count(const struct reader *reader, enum reader_problem problem)
{
	return &reader->counts[problem];
}

const struct reader_interface *reader_interface(const struct reader *reader, uint32_t id)
{
	return id < reader->interface_count ? &reader->interfaces[id] : NULL;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	source_close(&reader->source);
	free(reader->interfaces);
	free(reader);
}
