/* Link types of capture files: their names, and making Ethernet frames of those that carry IP. */
#ifndef PCAP_LINKTYPE_H
#define PCAP_LINKTYPE_H

#include <stdint.h>

#include "record.h"

#define LINKTYPE_ETHERNET 1

/* The name, as in "LINUX_SLL", or "unknown". */
const char *linktype_name(uint16_t linktype);

/* libpcap's DLT number of a file's LINKTYPE number. */
int linktype_dlt(uint16_t linktype);

enum linktype_result {
	LINKTYPE_CONVERTED,
	LINKTYPE_FOREIGN,   /* no conversion exists for this link type */
	LINKTYPE_NO_PACKET, /* its header is cut, or no EtherType stands for what it carries */
};

/* Replace the link-layer header of LINUX_SLL, LINUX_SLL2, RAW, IPV4, IPV6, NULL or LOOP by an
 * Ethernet header with destination dst and source src (the sender's own, where the header has it).
 * The frame is built in place: 14 bytes in front of what the packet carries must be writable.
 * Unless converted, the record is unchanged. */
enum linktype_result linktype_to_ethernet(struct record *, const uint8_t dst[6],
					  const uint8_t src[6]);

#endif
