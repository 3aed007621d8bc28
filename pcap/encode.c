/* Encoding of capture records (draft-ietf-opsawg-pcapng, draft-ietf-opsawg-pcap).
 *
 * A block is written front to back, its length filled in at the end. The drop count is the first
 * option of a packet, so that encode_item() finds it without parsing options. */
#include "encode.h"

#include <string.h>

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SHB_HARDWARE = 2,
	SHB_OS = 3,
	SHB_APPLICATION = 4,
	IF_NAME = 2,
	IF_DESCRIPTION = 3,
	IF_TSRESOL = 9,
	IF_FCSLEN = 13,
	EPB_FLAGS = 2,
	EPB_DROPCOUNT = 4,
	EPB_QUEUE = 6,
	ISB_STARTTIME = 2,
	ISB_ENDTIME = 3,
	ISB_RECEIVED = 4,
	ISB_DROPPED = 5,
	ISB_DELIVERED = 8,
};

enum { PACKET_FIXED = 28 };

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define CLASSIC_MAGIC_NS 0xa1b23c4du

static uint8_t *put(uint8_t *out, const void *data, size_t length)
{
	if (length) /* a packet of no bytes may have no address either */
		memcpy(out, data, length);
	return out + length;
}

static uint8_t *put16(uint8_t *out, uint16_t value)
{
	return put(out, &value, sizeof(value));
}

static uint8_t *put32(uint8_t *out, uint32_t value)
{
	return put(out, &value, sizeof(value));
}

static uint8_t *put64(uint8_t *out, uint64_t value)
{
	return put(out, &value, sizeof(value));
}

/* Time stamps are two words, the upper first, whatever the byte order. */
static uint8_t *put_time(uint8_t *out, uint64_t time_ns)
{
	out = put32(out, (uint32_t)(time_ns >> 32));
	return put32(out, (uint32_t)time_ns);
}

static uint8_t *put_padded(uint8_t *out, const void *data, size_t length)
{
	out = put(out, data, length);
	memset(out, 0, -length & 3);
	return out + (-length & 3);
}

static uint8_t *put_option(uint8_t *out, uint16_t code, const void *value, uint16_t length)
{
	out = put16(put16(out, code), length);
	return put_padded(out, value, length);
}

static uint8_t *put_string(uint8_t *out, uint16_t code, const char *string)
{
	size_t length = string ? strlen(string) : 0;

	if (!length)
		return out;
	if (length > ENCODE_STRING_MAX)
		length = ENCODE_STRING_MAX;
	return put_option(out, code, string, (uint16_t)length);
}

/* An option of time or count. */
static uint8_t *put_count(uint8_t *out, uint16_t code, uint64_t value)
{
	return put_option(out, code, &value, sizeof(value));
}

static uint8_t *block_begin(uint8_t *out, uint32_t type)
{
	return put32(out, type) + sizeof(uint32_t);
}

/* Ends the option list, too, if there is one: options is where it began. */
static size_t block_end(uint8_t *block, const uint8_t *options, uint8_t *out)
{
	uint32_t length;

	if (out != options)
		out = put16(put16(out, OPTION_END), 0);
	length = (uint32_t)(out - block) + (uint32_t)sizeof(length);
	put32(block + 4, length);
	put32(out, length);
	return length;
}

size_t encode_section(uint8_t *out, const struct encode_origin *origin)
{
	uint8_t *at = put32(block_begin(out, BLOCK_SECTION), BYTE_ORDER_MAGIC);
	uint8_t *options;

	at = put16(put16(at, 1), 0);
	options = at = put64(at, UINT64_MAX); /* the section's length is not known yet */
	at = put_string(at, SHB_HARDWARE, origin->hardware);
	at = put_string(at, SHB_OS, origin->os);
	at = put_string(at, SHB_APPLICATION, origin->application);
	return block_end(out, options, at);
}

size_t encode_interface(uint8_t *out, const struct encode_interface *interface)
{
	static const uint8_t nanoseconds = 9;
	uint8_t *at = put16(put16(block_begin(out, BLOCK_INTERFACE), interface->linktype), 0);
	uint8_t *options = at = put32(at, interface->snaplen);

	at = put_string(at, IF_NAME, interface->name);
	at = put_string(at, IF_DESCRIPTION, interface->description);
	at = put_option(at, IF_TSRESOL, &nanoseconds, sizeof(nanoseconds));
	if (interface->fcs)
		at = put_option(at, IF_FCSLEN, &interface->fcs, sizeof(interface->fcs));
	return block_end(out, options, at);
}

size_t encode_packet(uint8_t *out, const struct record *record)
{
	uint8_t *at = put32(block_begin(out, BLOCK_PACKET), record->interface);
	uint32_t flags = (record->direction & 3) | (record->fcs & 15u) << 5;
	uint8_t *options;

	at = put_time(at, record->time_ns);
	at = put32(put32(at, record->captured), record->length);
	options = at = put_padded(at, record->data, record->captured);
	if (record->drops)
		at = put_count(at, EPB_DROPCOUNT, record->drops);
	if (flags)
		at = put_option(at, EPB_FLAGS, &flags, sizeof(flags));
	if (record->flags & RECORD_QUEUE)
		at = put_option(at, EPB_QUEUE, &record->queue, sizeof(record->queue));
	if (record->comment_length)
		at = put_option(at, OPTION_COMMENT, record->comment, record->comment_length);
	return block_end(out, options, at);
}

static uint8_t *put_time_option(uint8_t *out, uint16_t code, uint64_t time_ns)
{
	return put_time(put16(put16(out, code), sizeof(time_ns)), time_ns);
}

size_t encode_statistics(uint8_t *out, uint32_t interface, const struct encode_statistics *counts)
{
	uint8_t *at = put32(block_begin(out, BLOCK_STATISTICS), interface);
	uint8_t *options = at = put_time(at, counts->end_ns);

	if (counts->end_ns) {
		at = put_time_option(at, ISB_STARTTIME, counts->start_ns);
		at = put_time_option(at, ISB_ENDTIME, counts->end_ns);
	}
	at = put_count(at, ISB_RECEIVED, counts->written + counts->dropped);
	at = put_count(at, ISB_DROPPED, counts->dropped);
	at = put_count(at, ISB_DELIVERED, counts->written);
	return block_end(out, options, at);
}

size_t encode_classic(uint8_t *out, const struct encode_interface *interface)
{
	uint8_t *at = put16(put16(put32(out, CLASSIC_MAGIC_NS), 2), 4);
	uint32_t fcs = interface->fcs ? 1u << 26 | (uint32_t)interface->fcs / 2 << 28 : 0;

	at = put64(at, 0); /* time zone and accuracy: always 0 */
	at = put32(at, interface->snaplen ? interface->snaplen : RECORD_CAPTURED_MAX);
	return (size_t)(put32(at, interface->linktype | fcs) - out);
}

size_t encode_classic_packet(uint8_t *out, const struct record *record)
{
	uint8_t *at = put32(out, (uint32_t)(record->time_ns / 1000000000));

	at = put32(at, (uint32_t)(record->time_ns % 1000000000));
	at = put32(put32(at, record->captured), record->length);
	return (size_t)(put(at, record->data, record->captured) - out);
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

struct encode_item encode_item(const uint8_t *at)
{
	uint32_t type = get32(at), length = get32(at + 4), captured;
	struct encode_item item = {.length = length};
	uint16_t code = OPTION_END;

	if (type != BLOCK_PACKET)
		return item;
	item.is_packet = 1;
	item.interface = get32(at + 8);
	captured = get32(at + 20);
	at += PACKET_FIXED + captured + (-captured & 3);
	if (length > PACKET_FIXED + captured + (-captured & 3) + sizeof(length))
		memcpy(&code, at, sizeof(code));
	if (code == EPB_DROPCOUNT)
		memcpy(&item.drops, at + 4, sizeof(item.drops));
	return item;
}

struct encode_item encode_classic_item(const uint8_t *at)
{
	return (struct encode_item){.length = 16 + get32(at + 8), .is_packet = 1};
}
