/* pcapng (draft-ietf-opsawg-pcapng): blocks of a type, a length, a body and the length again.
 *
 * Section headers, interface descriptions and the three kinds of packet block are parsed in place;
 * all others are stepped over, whatever their length, without being held in memory. A packet of an
 * interface that was not described is left out, as its link type and clock are unknown; any length
 * that contradicts itself ends the file, as nothing behind it can be trusted. */
#include "reader_state.h"

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a, /* the same in both byte orders */
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OBSOLETE = 2,
	BLOCK_PACKET_SIMPLE = 3,
	BLOCK_PACKET = 6,
};

enum option_code {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_IF_NAME = 2,
	OPTION_IF_TSRESOL = 9,
	OPTION_IF_FCSLEN = 13,
	OPTION_IF_TSOFFSET = 14,
	OPTION_EPB_FLAGS = 2,
	OPTION_EPB_DROPCOUNT = 4,
	OPTION_EPB_QUEUE = 6,
};

enum { BLOCK_MIN = 12, BLOCK_MAX = SOURCE_PEEK_MAX, TRAILER = 4 };

/* Where options begin in a block, or the least length of one without any, less the trailer. */
enum { SECTION_FIXED = 24, INTERFACE_FIXED = 16, PACKET_FIXED = 28, SIMPLE_FIXED = 12 };

#define BYTE_ORDER_MAGIC    0x1a2b3c4du
#define SECTION_MAJOR       1
#define SNAPLEN_UNLIMITED   0
#define DROPS_UNKNOWN       0xffff
#define TSRESOL_BINARY      0x80
#define TSRESOL_DEFAULT     6
#define TSRESOL_DECIMAL_MAX 28 /* 10^-28 s: the longest possible time is 1 ns */

/* Options and packets are padded to whole words. */
static uint32_t padded(uint32_t length)
{
	return (length + 3) & ~3u;
}

struct option {
	uint16_t code;
	uint16_t length;
	const uint8_t *value;
};

/* The option at *at, which moves on; false at the end of the list, and where it is malformed. */
static bool option_next(struct reader *reader, const uint8_t **at, const uint8_t *end,
			struct option *option)
{
	size_t left = (size_t)(end - *at);

	if (left < 4)
		return false;
	option->code = reader_u16(reader, *at);
	option->length = reader_u16(reader, *at + 2);
	option->value = *at + 4;
	if (option->code == OPTION_END)
		return false;
	if (padded(option->length) > left - 4) {
		reader_met(reader, READER_OPTION, "option %u of %u bytes is longer than its block",
			   option->code, option->length);
		return false;
	}
	*at += 4 + padded(option->length);
	return true;
}

static uint64_t power_of_10(unsigned exponent)
{
	uint64_t power = 1;

	while (exponent--)
		power *= 10;
	return power;
}

static void interface_resolution(struct reader_interface *interface, uint8_t resolution)
{
	unsigned exponent = resolution & 0x7f;

	interface->multiply = 1000000000;
	interface->divide = 1;
	interface->shift = 0;
	if (resolution & TSRESOL_BINARY) {
		interface->shift = (uint8_t)exponent;
	} else if (exponent <= 9) {
		interface->multiply = power_of_10(9 - exponent);
	} else {
		interface->multiply = exponent <= TSRESOL_DECIMAL_MAX;
		interface->divide = exponent <= TSRESOL_DECIMAL_MAX ? power_of_10(exponent - 9) : 1;
	}
}

static void interface_option(struct reader *reader, struct reader_interface *interface,
			     const struct option *option)
{
	size_t length = option->length;

	switch (option->code) {
	case OPTION_IF_NAME:
		if (length >= sizeof(interface->name))
			length = sizeof(interface->name) - 1;
		memcpy(interface->name, option->value, length);
		interface->name[length] = 0;
		break;
	case OPTION_IF_TSRESOL:
		if (length >= 1)
			interface_resolution(interface, option->value[0]);
		break;
	case OPTION_IF_TSOFFSET:
		if (length >= 8)
			interface->offset_s = (int64_t)reader_u64(reader, option->value);
		break;
	case OPTION_IF_FCSLEN:
		if (length >= 1)
			interface->fcs = option->value[0];
		break;
	}
}

static int interface_parse(struct reader *reader, const uint8_t *block, uint32_t length)
{
	struct reader_interface *interface = reader_interface_add(reader);
	const uint8_t *at = block + INTERFACE_FIXED, *end = block + length - TRAILER;
	struct option option;

	if (!interface)
		return -1;
	interface->linktype = reader_u16(reader, block + 8);
	interface->snaplen = reader_u32(reader, block + 12);
	interface_resolution(interface, TSRESOL_DEFAULT);
	while (option_next(reader, &at, end, &option))
		interface_option(reader, interface, &option);
	return 0;
}

static int section_parse(struct reader *reader, const uint8_t *block)
{
	if (reader_u16(reader, block + 12) != SECTION_MAJOR)
		return reader_met(reader, READER_HEADER, "pcapng version %u is not %u",
				  reader_u16(reader, block + 12), SECTION_MAJOR);
	reader->interface_count = 0;
	reader->section += reader->offset > 0;
	return 0;
}

static void packet_option(struct reader *reader, struct record *record, const struct option *option)
{
	uint32_t flags;

	if (option->code == OPTION_COMMENT && !record->comment) {
		record->comment = (const char *)option->value;
		record->comment_length = option->length;
	} else if (option->code == OPTION_EPB_FLAGS && option->length >= 4) {
		flags = reader_u32(reader, option->value);
		record->direction = flags & 3;
		if (flags >> 5 & 15)
			record->fcs = flags >> 5 & 15;
	} else if (option->code == OPTION_EPB_DROPCOUNT && option->length >= 8) {
		record->drops = reader_u64(reader, option->value);
	} else if (option->code == OPTION_EPB_QUEUE && option->length >= 4) {
		record->queue = reader_u32(reader, option->value);
		record->flags |= RECORD_QUEUE;
	}
}

/* The interface of a packet block, or NULL with the problem. */
static const struct reader_interface *packet_interface(struct reader *reader, uint32_t id)
{
	if (id < reader->interface_count)
		return &reader->interfaces[id];
	reader_met(reader, READER_INTERFACE, "of interface %u, but the section describes %u", id,
		   reader->interface_count);
	return NULL;
}

/* The enhanced and the obsolete block differ only in their first eight bytes. All three return 1
 * with a record, 0 if the packet is left out, -1 on error. */
static int packet_parse(struct reader *reader, const uint8_t *block, uint32_t length,
			struct record *record)
{
	const uint8_t *at, *end = block + length - TRAILER;
	bool obsolete = reader_u32(reader, block) == BLOCK_PACKET_OBSOLETE;
	uint32_t id = obsolete ? reader_u16(reader, block + 8) : reader_u32(reader, block + 8);
	uint16_t drops = obsolete ? reader_u16(reader, block + 10) : DROPS_UNKNOWN;
	uint32_t captured = reader_u32(reader, block + 20);
	const struct reader_interface *interface;
	struct option option;

	if (captured > length - PACKET_FIXED - TRAILER || captured > RECORD_CAPTURED_MAX)
		return reader_met(reader, READER_LENGTH,
				  "its captured length is %u in a block of %u bytes", captured,
				  length);
	interface = packet_interface(reader, id);
	if (!interface)
		return 0;
	*record = (struct record){
		.data = block + PACKET_FIXED,
		.captured = captured,
		.length = reader_u32(reader, block + 24),
		.interface = id,
		.drops = drops == DROPS_UNKNOWN ? 0 : drops,
		.linktype = interface->linktype,
		.fcs = interface->fcs,
	};
	record->time_ns = reader_time(reader, interface,
				      (uint64_t)reader_u32(reader, block + 12) << 32 |
					      reader_u32(reader, block + 16));
	at = block + PACKET_FIXED + padded(captured);
	while (at < end && option_next(reader, &at, end, &option))
		packet_option(reader, record, &option);
	return 1;
}

/* A simple packet names no interface and no time; the snaplen tells how much was captured. */
static int simple_parse(struct reader *reader, const uint8_t *block, uint32_t length,
			struct record *record)
{
	const struct reader_interface *interface = packet_interface(reader, 0);
	uint32_t on_wire = reader_u32(reader, block + 8), captured = on_wire;

	if (!interface)
		return 0;
	if (interface->snaplen != SNAPLEN_UNLIMITED && captured > interface->snaplen)
		captured = interface->snaplen;
	if (captured > length - SIMPLE_FIXED - TRAILER || captured > RECORD_CAPTURED_MAX)
		return reader_met(reader, READER_LENGTH,
				  "its captured length is %u in a block of %u bytes", captured,
				  length);
	*record = (struct record){
		.data = block + SIMPLE_FIXED,
		.captured = captured,
		.length = on_wire,
		.linktype = interface->linktype,
		.fcs = interface->fcs,
		.flags = RECORD_NO_TIME,
	};
	return 1;
}

static uint32_t block_fixed(uint32_t type)
{
	switch (type) {
	case BLOCK_SECTION:
		return SECTION_FIXED;
	case BLOCK_INTERFACE:
		return INTERFACE_FIXED;
	case BLOCK_PACKET:
	case BLOCK_PACKET_OBSOLETE:
		return PACKET_FIXED;
	case BLOCK_PACKET_SIMPLE:
		return SIMPLE_FIXED;
	}
	return 0; /* not parsed */
}

static int trailer_check(struct reader *reader, const uint8_t *trailer, uint32_t length)
{
	if (reader_u32(reader, trailer) == length)
		return 0;
	return reader_met(reader, READER_LENGTH, "block length %u in front, %u at its end", length,
			  reader_u32(reader, trailer));
}

/* Step over a block of any length, holding only its trailer. */
static int block_skip(struct reader *reader, uint32_t length)
{
	uint64_t skipped = source_skip(&reader->source, length - TRAILER);
	const uint8_t *trailer = source_peek(&reader->source, TRAILER);

	if (!trailer && reader->source.error[0])
		return reader_cut(reader, length);
	if (!trailer)
		return reader_met(reader, READER_CUT,
				  "the file ends inside it: %u bytes needed, %llu there", length,
				  (unsigned long long)skipped + source_left(&reader->source));
	if (trailer_check(reader, trailer, length))
		return -1;
	source_take(&reader->source, TRAILER);
	return 0;
}

static int block_parse(struct reader *reader, uint32_t type, uint32_t length, struct record *record)
{
	const uint8_t *block = source_peek(&reader->source, length);

	if (!block)
		return reader_cut(reader, length);
	if (trailer_check(reader, block + length - TRAILER, length))
		return -1;
	source_take(&reader->source, length);
	switch (type) {
	case BLOCK_SECTION:
		return section_parse(reader, block);
	case BLOCK_INTERFACE:
		return interface_parse(reader, block, length);
	case BLOCK_PACKET_SIMPLE:
		return simple_parse(reader, block, length, record);
	}
	return packet_parse(reader, block, length, record);
}

/* The byte order of a section is that of its magic number, and holds from its length on. */
static int section_order(struct reader *reader, const uint8_t *block)
{
	uint32_t magic;

	memcpy(&magic, block + 8, sizeof(magic));
	reader->swapped = __builtin_bswap32(magic) == BYTE_ORDER_MAGIC;
	if (!reader->swapped && magic != BYTE_ORDER_MAGIC)
		return reader_met(reader, READER_HEADER, "section without byte-order magic");
	return 0;
}

/* Returns 1 with a record, 0 if there was none in the block, -1 on error. */
static int block_read(struct reader *reader, const uint8_t *block, struct record *record)
{
	uint32_t type = reader_u32(reader, block), fixed = block_fixed(type), length;

	reader->in_packet = fixed && type != BLOCK_SECTION && type != BLOCK_INTERFACE;
	reader->number += reader->in_packet;
	if (type == BLOCK_SECTION && section_order(reader, block))
		return -1;
	length = reader_u32(reader, block + 4);
	if (length % 4 || length < BLOCK_MIN || (fixed && length < fixed + TRAILER))
		return reader_met(reader, READER_LENGTH, "block length %u", length);
	if (!fixed)
		return block_skip(reader, length);
	if (length > BLOCK_MAX)
		return reader_met(reader, READER_LENGTH, "block length %u, more than %u", length,
				  BLOCK_MAX);
	return block_parse(reader, type, length, record);
}

int pcapng_read(struct reader *reader, struct record *record)
{
	int result;

	do {
		const uint8_t *block = source_peek(&reader->source, BLOCK_MIN);

		reader->offset = reader->source.offset;
		if (!block) {
			reader->in_packet = false;
			return source_is_ended(&reader->source) ? 0 : reader_cut(reader, BLOCK_MIN);
		}
		result = block_read(reader, block, record);
	} while (result == 0);
	if (result < 0)
		return -1;
	record->section = reader->section;
	record->number = reader->number;
	record->offset = reader->offset;
	return 1;
}
