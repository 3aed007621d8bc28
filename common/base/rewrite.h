/* Rewriting frames: MAC addresses, VLAN tags, IP addresses, ports - with every checksum over them
 * kept as right, or as wrong, as it was.
 *
 * What is mapped is mapped wherever it stands: source, destination, ARP, and in the packet that an
 * ICMP error quotes. So both directions of a conversation change together. */
#ifndef BASE_REWRITE_H
#define BASE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

#define REWRITE_GROWS 8u /* bytes that a frame may become longer: two tags */

/* Addresses of a prefix become those of another, as long; the bits behind it are kept. */
struct rewrite_map {
	uint8_t family, prefix;
	u128 from, to;
};

struct rewrite_port {
	uint16_t from, to;
};

struct rewrite {
	bool has_dst_mac, has_src_mac;
	uint8_t dst_mac[6], src_mac[6];
	/* The same of packets that the server's port sends; without, those above. */
	bool has_server_dst_mac, has_server_src_mac;
	uint8_t server_dst_mac[6], server_src_mac[6];
	uint8_t vlan_pop;  /* so many tags are taken off, if there are as many */
	uint16_t vlan_set; /* the outermost tag left gets this id; 0: as it is */
	uint8_t vlan_pushes;
	uint16_t vlan_push[2];   /* put on, the first is the outermost */
	struct rewrite_map *map; /* the first that matches */
	unsigned maps;
	struct rewrite_port *port;
	unsigned ports;
	bool repair;        /* compute all checksums of whole packets anew */
	uint64_t loop_step; /* in each loop addresses are so much higher than in the last */
};

/* True if there is anything to do but the step of loops. */
bool rewrite_is_set(const struct rewrite *);

/* Rewrite a frame of which *captured of *length bytes are there, in room for REWRITE_GROWS more.
 * server: the server's port sends it. */
void rewrite_frame(const struct rewrite *, bool server, uint8_t *frame, uint32_t *captured,
		   uint32_t *length);

/* Add `step` to every IP address of a frame. */
void rewrite_step(uint8_t *frame, uint32_t length, uint64_t step);

#endif
