/* What the tests of pcap share: paths, files in memory, the outcome of reading one, and a parser of
 * pcapng that has no code in common with the reader. */
#ifndef TESTS_PCAP_SUPPORT_H
#define TESTS_PCAP_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "../../pcap/reader.h"
#include "../../pcap/writer.h"

#define START_NS 1700000000123456789ull

/* Options of the reader: everything; Ethernet alone; what can be converted, sent by ...:09 unless
 * the file knows better. */
extern const struct reader_options as_is, ethernet, convert;

/* The path of a case file. */
const char *golden(const char *name);

/* A case file's bytes. */
size_t file_bytes(const char *name, uint8_t *data, size_t room);

/* A file in memory, under a path. */
struct memory {
	int fd;
	char path[32];
};

struct memory memory_file(const void *data, size_t length);

/* What reading a file to its end gave. */
struct outcome {
	int result; /* of the last reader_next(), -2: reader_open() failed */
	unsigned packets;
	unsigned bytes; /* captured */
	uint64_t counts[READER_PROBLEMS];
	char message[1024]; /* of the first problem, by row; else of reader_open() */
	struct record records[32];
	uint8_t data[32][128]; /* the first bytes of each */
};

void outcome_of(struct outcome *, const char *path, const struct reader_options *);

/* The outcome of a file in memory. */
void outcome_of_bytes(struct outcome *, const void *data, size_t length,
		      const struct reader_options *);

/* A directory of the test program's own: path of a file in it; group fixtures. */
const char *scratch(const char *name);
int scratch_make(void **state);
int scratch_remove(void **state);

/* Bytes that packets are made of, and packet number n, 1 us after the last. */
extern uint8_t payload[2048];
struct record record_of(uint64_t number, uint32_t captured);

/* An open writer with one interface, eth0. */
extern const struct encode_interface eth0;
struct writer *writer_to(const struct writer_options *);

size_t file_read(const char *path, uint8_t *data, size_t room);

/* The independent parser: little-endian pcapng as the draft has it. */
struct parsed {
	unsigned sections, interfaces, packets, statistics;
	uint64_t drops;                        /* sum of epb_dropcount */
	uint64_t received, dropped, delivered; /* of the last statistics block */
};

struct parsed parse(const char *path);
uint64_t number_at(const uint8_t *at, unsigned bytes);

#endif
