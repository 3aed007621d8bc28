/* Capture records as bytes: pure functions, so that any thread can prepare what one thread writes.
 *
 * Each writes one record at `out` in this machine's byte order (both formats allow either) and
 * returns its length. The caller provides the room that the constants name. */
#ifndef PCAP_ENCODE_H
#define PCAP_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "record.h"

/* Longer strings are cut to this many bytes. */
#define ENCODE_STRING_MAX 255

#define ENCODE_SECTION_MAX    1024 /* room for a section or an interface */
#define ENCODE_STATISTICS_MAX 96
#define ENCODE_OVERHEAD_MAX   80 /* of a packet, besides its bytes and its comment's */
#define ENCODE_PACKET_MAX     (RECORD_CAPTURED_MAX + UINT16_MAX + ENCODE_OVERHEAD_MAX)

/* The software and hardware that captured; NULL is left out. */
struct encode_origin {
	const char *hardware;    /* "Intel(R) Xeon(R) ..." */
	const char *os;          /* "Linux 6.1.0" */
	const char *application; /* "onager 0.1.0" */
};

struct encode_interface {
	const char *name;        /* "eth0", NULL is left out */
	const char *description; /* NULL is left out */
	uint32_t snaplen;        /* packets are cut to this; 0: as long as they are */
	uint16_t linktype;
	uint8_t fcs; /* bytes of frame check sequence at the end of its packets */
};

/* Of one interface since the capture began. received = written + dropped. */
struct encode_statistics {
	uint64_t start_ns, end_ns; /* first and last packet; 0: there was none */
	uint64_t written, dropped;
};

/* pcapng: section header, interface description with ns time stamps, packet, interface statistics.
 */
size_t encode_section(uint8_t *out, const struct encode_origin *);
size_t encode_interface(uint8_t *out, const struct encode_interface *);
size_t encode_packet(uint8_t *out, const struct record *);
size_t encode_statistics(uint8_t *out, uint32_t interface, const struct encode_statistics *);

/* Classic pcap with ns time stamps (seconds end in 2106): file header, packet. */
size_t encode_classic(uint8_t *out, const struct encode_interface *);
size_t encode_classic_packet(uint8_t *out, const struct record *);

/* At least the length of what encode_packet() makes of a record. */
static inline size_t encode_packet_length(const struct record *record)
{
	return ENCODE_OVERHEAD_MAX + record->captured + record->comment_length;
}

/* What an encoded record is: for walking over a sequence of them. */
struct encode_item {
	size_t length;
	uint32_t interface; /* of a packet, as are drops */
	uint64_t drops;
	int is_packet;
};
struct encode_item encode_item(const uint8_t *at);
struct encode_item encode_classic_item(const uint8_t *at);

#endif
