/* Reading capture files: classic pcap and pcapng, plain, gzip or zstd, from files and pipes.
 *
 * Streaming in constant memory; offsets of 64 bits. Whatever is wrong with a file is defined and
 * counted: see READER_TABLE. Interfaces' and the file's snaplen are not believed: packets are
 * delivered as long as they were stored. */
#ifndef PCAP_READER_H
#define PCAP_READER_H

#include <stdint.h>

#include "../common/base/err.h"
#include "record.h"

/* What can be wrong, one row each: identifier, name in reports, class, help.
 * ERROR ends the file; SKIP leaves the packet out; WARNING delivers it. */
#define READER_TABLE(X)                                                                            \
	X(IO, "io", ERROR, "the file could not be read on")                                        \
	X(COMPRESSION, "compression", ERROR, "compressed data damaged or cut")                     \
	X(EMPTY, "empty", ERROR, "the file holds not a byte")                                      \
	X(FORMAT, "format", ERROR, "neither a pcap nor a pcapng file")                             \
	X(HEADER, "header", ERROR, "file, section or interface header malformed")                  \
	X(CUT, "cut", ERROR, "the file ends inside a record")                                      \
	X(LENGTH, "length", ERROR, "a length field that cannot be true")                           \
	X(INTERFACE, "interface", SKIP, "packet of an interface that the file does not describe")  \
	X(LINK_TYPE, "link_type", SKIP, "not Ethernet, and no conversion was asked for or exists") \
	X(LINK_HEADER, "link_header", SKIP, "link-layer header cut, or carries no EtherType")      \
	X(NO_PACKETS, "no_packets", WARNING, "a well-formed file without a packet")                \
	X(NO_BYTES, "no_bytes", WARNING, "record of no bytes")                                     \
	X(CAPTURED, "captured", WARNING, "more bytes captured than were on the wire")              \
	X(OPTION, "option", WARNING, "malformed option, and what follows it, ignored")             \
	X(TIME_BACKWARDS, "time_backwards", WARNING, "earlier than a packet before it")            \
	X(TIME_FRACTION, "time_fraction", WARNING, "fraction of a second of a second or more")     \
	X(TIME_RANGE, "time_range", WARNING, "time before 1970 or after 2554, clamped")

enum reader_problem {
#define READER_ENUM(id, name, class, help) READER_##id,
	READER_TABLE(READER_ENUM)
#undef READER_ENUM
		READER_PROBLEMS
};

enum reader_class { READER_ERROR, READER_SKIP, READER_WARNING };

struct reader_problem_info {
	const char *name;
	const char *help;
	enum reader_class class;
};
extern const struct reader_problem_info reader_problem_info[READER_PROBLEMS];

/* How often a problem occurred, and the first time in words, with file, packet and offset. */
struct reader_count {
	uint64_t count;
	char first[400];
};

/* An interface that the current section describes; a classic file has one, without a name. */
struct reader_interface {
	char name[64];
	uint32_t snaplen; /* 0: unlimited */
	uint16_t linktype;
	uint8_t fcs; /* bytes of frame check sequence at the end of its packets */
	/* Time of t ticks: (t * multiply >> shift) / divide ns, plus offset_s seconds. */
	uint8_t shift;
	uint64_t multiply, divide;
	int64_t offset_s;
};

enum reader_links {
	READER_AS_IS,    /* deliver every link type */
	READER_ETHERNET, /* skip what is not Ethernet */
	READER_CONVERT,  /* make Ethernet of what carries IP, skip the rest */
};

struct reader_options {
	enum reader_links links;
	uint8_t dst[6], src[6]; /* addresses of converted frames */
};

struct reader;

/* Open path ("-": standard input) and read its header. options may be NULL: as is. Returns NULL
 * with err if there is no such file, or it is no capture file. */
struct reader *reader_open(const char *path, const struct reader_options *, struct err *);

/* The next packet, valid until the next call. Returns 1; 0 at the end; -1 if an error ended the
 * file early: reader_error() has it. After 0 or -1, always the same. */
int reader_next(struct reader *, struct record *);

/* The sentence of the error that ended the file, or NULL. */
const char *reader_error(const struct reader *);

/* What was met so far. */
const struct reader_count *reader_count(const struct reader *, enum reader_problem);

/* Interface id of the current section, or NULL. */
const struct reader_interface *reader_interface(const struct reader *, uint32_t id);

void reader_close(struct reader *);

#endif
