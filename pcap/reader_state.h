/* What reader.c and pcapng.c share: the reader from inside. */
#ifndef PCAP_READER_STATE_H
#define PCAP_READER_STATE_H

#include <stdbool.h>
#include <string.h>

#include "reader.h"
#include "source.h"

/* A section may not describe more: memory stays bounded. */
#define READER_INTERFACES_MAX 65536u

struct reader {
	struct source source;
	struct reader_options options;
	int (*read)(struct reader *, struct record *); /* as reader_next(), without the checks */
	bool swapped; /* the file's byte order is not this machine's */
	bool ended;   /* with the result below */
	int result;
	struct reader_interface *interfaces;
	uint32_t interface_count, interface_room;
	bool in_packet;            /* what is at offset is packet number, not something behind it */
	uint32_t section;          /* of pcapng */
	uint64_t number;           /* of the current record, else of the last */
	uint64_t offset;           /* of the record or block that is being read */
	uint64_t time_ns;          /* of the last record */
	uint64_t latest_ns;        /* of all so far */
	enum reader_problem error; /* which ended the file; READER_PROBLEMS: none */
	struct reader_count counts[READER_PROBLEMS];
	char path[];
};

/* Count a problem and, the first time, put it into words behind file, packet and offset. Always
 * returns -1, so that an error reads `return reader_met(...)`. */
int reader_met(struct reader *, enum reader_problem, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* need bytes could not be had: put down why. Returns -1. */
int reader_cut(struct reader *, size_t need);

/* A new interface of the section, zeroed; NULL, with the problem, if that is one too many. */
struct reader_interface *reader_interface_add(struct reader *);

/* Ticks of an interface as ns since 1970. */
uint64_t reader_time(struct reader *, const struct reader_interface *, uint64_t ticks);

/* A file that begins with a section header: its reader->read. */
int pcapng_read(struct reader *, struct record *);

static inline uint16_t reader_u16(const struct reader *reader, const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return reader->swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t reader_u32(const struct reader *reader, const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return reader->swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t reader_u64(const struct reader *reader, const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return reader->swapped ? __builtin_bswap64(value) : value;
}

#endif
