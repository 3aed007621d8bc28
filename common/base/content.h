/* What a packet carries, as a number: the same before and behind a router, a NAT or a change of
 * VLAN. */
#ifndef BASE_CONTENT_H
#define BASE_CONTENT_H

#include <stdint.h>

/* A hash over a frame without its Ethernet and IP headers, ports and checksums; of IP, as far as
 * its total length goes. */
uint64_t content_hash(const uint8_t *frame, uint32_t length);

/* Contents of a recording, each with a place; read by any worker. */
struct content_table {
	uint64_t *hash; /* 0: free, as at least half of them are */
	uint32_t *place;
	uint32_t slots; /* a power of two; 0: there is no table */
	uint32_t places;
};

#define CONTENT_NONE UINT32_MAX

/* The place of a content, CONTENT_NONE if it is not there. */
uint32_t content_find(const struct content_table *, uint64_t hash);

/* The same, a new one if need be; CONTENT_NONE without memory. */
uint32_t content_add(struct content_table *, uint64_t hash);

void content_free(struct content_table *);

#endif
