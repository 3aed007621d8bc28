/* Where the parts of any frame are, however odd it is: for packets that are replayed or compared.
 *
 * Unlike view.h, which judges what a port may accept, this finds its way as far as the bytes go and
 * refuses nothing. */
#ifndef BASE_DISSECT_H
#define BASE_DISSECT_H

#include <stdbool.h>
#include <stdint.h>

#define ETHER_TYPE_IPV4 0x0800
#define ETHER_TYPE_ARP  0x0806
#define ETHER_TYPE_IPV6 0x86dd

enum { PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_ICMPV6 = 58 };

struct dissect {
	uint16_t type;    /* EtherType behind all VLAN tags, host order; 0: there is none */
	uint16_t l3;      /* offset of what follows it */
	uint16_t l4;      /* offset of the transport header; 0: not in this packet */
	uint8_t vlans;    /* tags */
	uint8_t family;   /* 4 or 6, with a whole IP header; else 0 */
	uint8_t protocol; /* of IP, behind IPv6's extension headers */
	bool fragment;    /* one of several of an IP packet */
};

void dissect_frame(const uint8_t *frame, uint32_t length, struct dissect *);

/* The same for what begins with an IP header at offset l3 of family 4 or 6: a quotation in ICMP. */
void dissect_ip(const uint8_t *frame, uint32_t length, uint16_t l3, uint8_t family,
		struct dissect *);

/* A number that is the same for all packets of a flow, both directions. by_address: ports are left
 * out, so that fragments go with their flow. */
uint32_t dissect_flow(const uint8_t *frame, uint32_t length, const struct dissect *,
		      bool by_address);

static inline uint16_t dissect_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

#endif
