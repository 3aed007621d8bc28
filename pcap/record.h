/* A packet as a capture file holds it: what the reader fills in and the writer takes. */
#ifndef PCAP_RECORD_H
#define PCAP_RECORD_H

#include <stdint.h>

/* No link type that Onager handles has larger packets; a record that claims more is damaged. */
#define RECORD_CAPTURED_MAX 262144u

enum record_flag {
	RECORD_NO_TIME = 1 << 0,   /* the file gives none: time_ns is the previous packet's */
	RECORD_BACKWARDS = 1 << 1, /* earlier than a packet before it in the file */
	RECORD_QUEUE = 1 << 2,     /* queue is known */
};

/* As in the lowest two bits of pcapng's epb_flags. */
enum record_direction { RECORD_UNKNOWN, RECORD_IN, RECORD_OUT };

struct record {
	const uint8_t *data;
	uint32_t captured; /* bytes at data */
	uint32_t length;   /* bytes on the wire */
	uint64_t time_ns;  /* since 1970, UTC */

	uint32_t interface;  /* number of the interface, from 0, in the file's section */
	uint32_t queue;      /* with RECORD_QUEUE */
	uint64_t drops;      /* lost between the previous packet of the interface and this one */
	const char *comment; /* NULL, or comment_length bytes of UTF-8 without an end mark */
	uint16_t comment_length;
	uint16_t linktype; /* LINKTYPE_ number of tcpdump.org, 1 is Ethernet */
	uint8_t flags;     /* enum record_flag */
	uint8_t direction; /* enum record_direction */
	uint8_t fcs;       /* how many of the last bytes on the wire are a frame check sequence */

	/* Where the reader found it; the writer ignores these. */
	uint32_t section; /* of a pcapng file, from 0 */
	uint64_t number;  /* from 1, all records of the file counted */
	uint64_t offset;  /* of the record's header in the (uncompressed) file */
};

#endif
