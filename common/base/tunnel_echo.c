/* GTP-U's own question (3GPP TS 29.281 section 7.2.1): is this end still there? Who hears no answer
 * takes the path to be broken and its tunnels away.
 *
 * The request is turned round in its packet; the answer bears its sequence number, and a restart
 * counter, which is always 0 (section 8.2). */
#include <string.h>

#include "checksum.h"
#include "tunnel.h"
#include "view_packet.h"

#define ECHO_REQUEST  1
#define ECHO_RESPONSE 2
#define RECOVERY      14
#define ECHO_BYTES    14u
#define TTL           64

static void swap(uint8_t *a, uint8_t *b, unsigned bytes)
{
	uint8_t kept[16];

	memcpy(kept, a, bytes);
	memcpy(a, b, bytes);
	memcpy(b, kept, bytes);
}

static void check_store(uint8_t *at, uint64_t sum)
{
	uint16_t check = (uint16_t)~checksum_fold(sum);

	memcpy(at, &check, sizeof check);
}

/* Length, addresses and checksum of the IP header for `l4_bytes` behind it; the sum of the pseudo
 * header. */
static uint64_t ip_turn(uint8_t *ip, uint32_t ip_bytes, uint8_t family, uint16_t l4_bytes)
{
	if (family == 6) {
		swap(ip + 8, ip + 24, 16);
		store16_be(ip + 4, (uint16_t)(l4_bytes + (ip_bytes - IP6_BYTES)));
		ip[7] = TTL;
		return checksum_pseudo6(ip + 8, PROTOCOL_UDP, l4_bytes);
	}
	swap(ip + 12, ip + 16, 4);
	store16_be(ip + 2, ip_bytes + l4_bytes);
	ip[8] = TTL;
	store16_be(ip + 10, 0);
	check_store(ip + 10, checksum_sum(ip, ip_bytes));
	return checksum_pseudo4(load32(ip + 12), load32(ip + 16), PROTOCOL_UDP, l4_bytes);
}

bool tunnel_echo(const struct tunnel *t, struct rte_mbuf *m)
{
	const uint16_t l4_bytes = UDP_BYTES + ECHO_BYTES;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *udp, *gtp;
	struct view view;
	uint64_t sum;

	if (t->rule->kind != TUNNEL_GTPU || m->nb_segs != 1 || rte_mbuf_refcnt_read(m) != 1 ||
	    view_parse(m, &t->outside, &view) || view.kind != VIEW_UDP ||
	    view.payload_len < ECHO_BYTES - 2 ||
	    m->data_off + view.payload + ECHO_BYTES > m->buf_len)
		return false;
	udp = frame + view.l4;
	gtp = frame + view.payload;
	if (host16(udp + 2) != t->udp_port || gtp[0] >> 4 != 3 || gtp[1] != ECHO_REQUEST ||
	    !tunnel_ends_here(t, frame + view.l3 + (view.family == 6 ? 24 : 16)))
		return false;
	swap(frame, frame + 6, 6);
	swap(udp, udp + 2, 2);
	gtp[0] = 0x32; /* with a sequence number */
	gtp[1] = ECHO_RESPONSE;
	store16_be(gtp + 2, ECHO_BYTES - 8);
	memset(gtp + 4, 0, 4);
	memset(gtp + 10, 0, 4);
	gtp[12] = RECOVERY;
	sum = ip_turn(frame + view.l3, (uint32_t)view.l4 - view.l3, view.family, l4_bytes);
	store16_be(udp + 4, l4_bytes);
	store16_be(udp + 6, 0);
	check_store(udp + 6, sum + checksum_sum(udp, l4_bytes));
	m->data_len = (uint16_t)(view.payload + ECHO_BYTES);
	m->pkt_len = m->data_len;
	m->ol_flags = 0;
	return true;
}
