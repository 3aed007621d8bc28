/* Link types. The numbers and header layouts are those of https://www.tcpdump.org/linktypes.html.
 *
 * Each convertible type is reduced to three facts: how long its header is, which EtherType follows,
 * and whether it names a sender. An EtherType of 0 means that it cannot be converted. */
#include "linktype.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <pcap/pcap.h>

enum {
	LINKTYPE_NULL = 0,
	LINKTYPE_RAW_BSD = 12, /* DLT_RAW of two systems, written into files by old libpcaps */
	LINKTYPE_RAW_OPENBSD = 14,
	LINKTYPE_RAW = 101,
	LINKTYPE_LOOP = 108,
	LINKTYPE_LINUX_SLL = 113,
	LINKTYPE_IPV4 = 228,
	LINKTYPE_IPV6 = 229,
	LINKTYPE_LINUX_SLL2 = 276,
};

enum { ETHER_IPV4 = 0x0800, ETHER_IPV6 = 0x86dd, ETHER_TYPE_MIN = 0x0600, ETHER_HEADER = 14 };

struct link_header {
	bool known;
	uint32_t length;
	uint16_t ether_type;
	const uint8_t *sender; /* or NULL */
};

int linktype_dlt(uint16_t linktype)
{
	if (linktype == LINKTYPE_RAW || linktype == LINKTYPE_RAW_OPENBSD)
		return DLT_RAW;
	return linktype;
}

const char *linktype_name(uint16_t linktype)
{
	const char *name = pcap_datalink_val_to_name(linktype_dlt(linktype));

	if (linktype == LINKTYPE_ETHERNET)
		return "ETHERNET"; /* libpcap says EN10MB, for historical reasons */
	return name ? name : "unknown";
}

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint16_t ip_type(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? ETHER_IPV4 : ip[0] >> 4 == 6 ? ETHER_IPV6 : 0;
}

/* The address family is in the byte order of the machine that captured: the first or the last of
 * four bytes. IPv6 has a number of its own on each system. */
static uint16_t family_type(const uint8_t *header)
{
	if (header[1] || header[2] || (header[0] && header[3]))
		return 0;
	switch (header[0] | header[3]) {
	case 2:
		return ETHER_IPV4;
	case 10: /* Linux */
	case 23: /* Windows */
	case 24: /* NetBSD, OpenBSD */
	case 28: /* FreeBSD */
	case 30: /* macOS */
		return ETHER_IPV6;
	}
	return 0;
}

/* The "protocol" of a cooked header is an EtherType unless it is small, or the ARPHRD_ type of the
 * device is 802.11 (801-803) or netlink (824). */
static uint16_t cooked_type(uint16_t protocol, uint16_t hardware)
{
	if (protocol < ETHER_TYPE_MIN || (hardware >= 801 && hardware <= 803) || hardware == 824)
		return 0;
	return protocol;
}

static struct link_header link_header_parse(uint16_t linktype, const uint8_t *p, uint32_t captured)
{
	const struct link_header cut = {.known = true};

	switch (linktype) {
	case LINKTYPE_RAW:
	case LINKTYPE_RAW_BSD:
	case LINKTYPE_RAW_OPENBSD:
	case LINKTYPE_IPV4:
	case LINKTYPE_IPV6:
		return captured < 1 ? cut : (struct link_header){true, 0, ip_type(p), NULL};
	case LINKTYPE_NULL:
	case LINKTYPE_LOOP:
		return captured < 4 ? cut : (struct link_header){true, 4, family_type(p), NULL};
	case LINKTYPE_LINUX_SLL:
		if (captured < 16)
			return cut;
		return (struct link_header){true, 16, cooked_type(be16(p + 14), be16(p + 2)),
					    be16(p + 4) == 6 ? p + 6 : NULL};
	case LINKTYPE_LINUX_SLL2:
		if (captured < 20)
			return cut;
		return (struct link_header){true, 20, cooked_type(be16(p), be16(p + 8)),
					    p[11] == 6 ? p + 12 : NULL};
	}
	return (struct link_header){.known = false};
}

enum linktype_result linktype_to_ethernet(struct record *record, const uint8_t dst[6],
					  const uint8_t src[6])
{
	struct link_header header =
		link_header_parse(record->linktype, record->data, record->captured);
	uint8_t sender[6];
	uint8_t *frame;

	if (!header.known)
		return LINKTYPE_FOREIGN;
	if (!header.ether_type)
		return LINKTYPE_NO_PACKET;
	memcpy(sender, header.sender ? header.sender : src, sizeof(sender));
	frame = (uint8_t *)record->data + header.length - ETHER_HEADER;
	memcpy(frame, dst, 6);
	memcpy(frame + 6, sender, 6);
	frame[12] = (uint8_t)(header.ether_type >> 8);
	frame[13] = (uint8_t)header.ether_type;
	record->data = frame;
	record->captured += ETHER_HEADER - header.length;
	record->length += ETHER_HEADER - header.length;
	record->linktype = LINKTYPE_ETHERNET;
	return LINKTYPE_CONVERTED;
}
