/* TCP segments as text and as frames, for tests that play one end of a connection.
 *
 * The notation is tcpdump's, nearly:
 *
 *     FLAGS SEQ[:END] [ack ACK] [tos TOS] [win WINDOW] [<OPTION,...>]
 *
 * FLAGS are letters of S F R P U E W (ECE, CWR) and "." for ACK, "-" for none. OPTION is mss N,
 * wscale N, sackOK, sack A:B, TS VAL:ECR, nop, eol, or hex DIGITS; "<>" says: no options. */
#ifndef SUPPORT_SEGMENT_H
#define SUPPORT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/base/packet_box.h"
#include "../../common/base/view.h"

struct segment {
	/* addresses and ports in host order; of IPv6 the end of an address in 2001:db8::/96 */
	uint32_t src, dst;
	uint16_t src_port, dst_port;
	uint32_t seq, ack;
	uint16_t window;
	uint8_t flags;
	uint8_t tos; /* of the IP header */
	bool ip6;    /* it is one of IPv6 */
	uint8_t options_len;
	uint8_t options[40];
	uint32_t payload_len;
	const uint8_t *payload;
	/* of a text: which parts it gives */
	bool has_end, has_ack, has_tos, has_window, has_options;
};

/* Read a text; the test fails when it does not follow the notation. payload stays NULL. */
void segment_parse(struct segment *, const char *text);

/* The text of a segment, sequence numbers relative to the given ones. Returns `text`. */
const char *segment_text(char text[256], const struct segment *, uint32_t seq_base,
			 uint32_t ack_base);

/* The segment in a frame that view_parse() accepted. */
void segment_read(struct segment *, const struct rte_mbuf *, const struct view *);

/* Write a segment as a frame between two MAC addresses, checksums right, padded to 60 bytes. A NULL
 * payload stands for a pattern. */
void segment_write(const struct segment *, struct rte_mbuf *, const uint8_t *src_mac,
		   const uint8_t *dst_mac);

/* Write the ICMP message of a router, 10.77.77.77, that has not forwarded this segment, as it is
 * longer than `mtu`: the first 28 bytes are quoted. */
void segment_write_too_big(const struct segment *, uint32_t mtu, struct rte_mbuf *,
			   const uint8_t *src_mac, const uint8_t *dst_mac);

/* Compute the checksums that a segment leaves to its port, as a NIC does; false: none. */
bool segment_offload(struct rte_mbuf *);

/* The value of an option (its first two bytes for mss, one for wscale), -1 when it is absent. */
int segment_option(const struct segment *, uint8_t kind);

#endif
