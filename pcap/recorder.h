/* The thread behind a capture file: empties the channels of its workers into a writer, by time.
 *
 * All packets put into its channels are in the end written or lost by the writer, or counted as
 * beyond the limit. */
#ifndef PCAP_RECORDER_H
#define PCAP_RECORDER_H

#include "channel.h"
#include "writer.h"

struct recorder_options {
	struct writer_options writer;
	uint64_t limit; /* packets in all; 0: none */
	unsigned channels;
	size_t channel_size; /* a power of two of bytes */
};

struct recorder_counts {
	uint64_t beyond;  /* put into a channel and left out because of the limit */
	uint64_t dropped; /* found no room in their channel */
	struct writer_counts writer;
};

struct recorder;

/* Open the file and the channels. Returns NULL with err. */
struct recorder *recorder_open(const struct recorder_options *, struct err *);

/* Describe an interface, before the start. Returns its number, or -1 with err. */
int recorder_interface(struct recorder *, const struct encode_interface *, struct err *);

/* Channel i, for packets of an interface on a queue; before the start. */
struct channel *recorder_channel(struct recorder *, unsigned i, int interface, uint32_t queue);

int recorder_start(struct recorder *, struct err *);

/* When no worker puts any more: store the rest, close the file, free all. The reader of a pipe is
 * given patience_ns; what it has not taken then is lost. Returns 0, or -1 with err when the writer
 * failed at some time. */
int recorder_close(struct recorder *, uint64_t patience_ns, struct recorder_counts *, struct err *);

#endif
