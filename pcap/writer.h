/* Writing capture files: pcapng, or classic pcap, with ns time stamps.
 *
 * Every packet given to the writer is in a file in the end, or counted as lost. What the writer
 * loses (disk full, file size limit, reader of a pipe gone) it reports, and goes on: a file always
 * ends behind a whole record, and writing resumes when there is room again. The drop count of the
 * next packet and the statistics at the end of each pcapng file include what was lost.
 *
 * One thread uses a writer at a time. Signals of failing writes (SIGPIPE, SIGXFSZ) never leave it.
 */
#ifndef PCAP_WRITER_H
#define PCAP_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/base/err.h"
#include "encode.h"
#include "record.h"

enum writer_format { WRITER_PCAPNG, WRITER_PCAP };

/* A file is left for the next one when the next packet would exceed a limit; 0 is no limit. With
 * any limit, out.pcapng becomes out-00001.pcapng, out-00002.pcapng, ... */
struct writer_options {
	const char *path; /* "-": standard output */
	enum writer_format format;
	struct encode_origin origin; /* pcapng only */
	uint64_t file_bytes; /* statistics included; a file holds one packet, however large */
	uint64_t file_packets;
	uint64_t file_ns; /* by the packets' time stamps, from the file's first */
	uint32_t files;   /* keep the last so many and remove older ones; 0: keep all */
};

struct writer_counts {
	uint64_t packets; /* given to the writer = written + lost + still in its buffer */
	uint64_t written;
	uint64_t lost;
	uint64_t bytes;  /* in all files */
	uint64_t errors; /* system calls that failed */
	uint32_t files;
};

struct writer;

/* Create (or empty) the file. Returns NULL with err. */
struct writer *writer_open(const struct writer_options *, struct err *);

/* Describe an interface, at any time before its packets. Returns its number, from 0, or -1 with
 * err: classic pcap takes one. */
int writer_interface(struct writer *, const struct encode_interface *, struct err *);

/* Take a packet of an interface; its bytes are copied. Returns 0, or -1 if packets were lost. */
int writer_packet(struct writer *, const struct record *);

/* count packets of an interface were lost before they reached the writer. */
void writer_dropped(struct writer *, uint32_t interface, uint64_t count);

/* Hand what is buffered to the system. Returns 0, or -1 if packets were lost. */
int writer_flush(struct writer *);

/* From now on the reader of a pipe is waited for patience_ns at most, in all. Any thread may ask.
 */
void writer_hurry(struct writer *, uint64_t patience_ns);

const struct writer_counts *writer_counts(const struct writer *);

/* What went wrong first, or NULL. */
const char *writer_error(const struct writer *);

/* Flush, finish the file and free the writer; counts may be NULL. Returns 0, or -1 with err if
 * anything went wrong since writer_open(). */
int writer_close(struct writer *, struct writer_counts *, struct err *);

#endif
