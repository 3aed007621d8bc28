/* Making the frame: UDP, TCP, ICMP or anything over IP from the configuration's keys, or any bytes
 * the user gives.
 *
 * Of given bytes the headers are found - VLAN tags, IPv4 or IPv6, UDP, TCP or ICMP - so that their
 * checksums can be kept right; what is not recognised is sent as it is. In a frame from keys
 * addresses, ports and checksums are zero here: each packet fills them in, and the sums of a shape
 * are of all the rest. A tag sums to nothing (tag.h), so its bytes are zero here too. */
#include "frame.h"

#include <string.h>

#include "../common/base/checksum.h"
#include "../common/base/counter.h"
#include "../common/base/rng.h"
#include "tag.h"

#define ETHER_ADDRESSES 12u
#define VLAN_TAG        4u
#define IP4_BYTES       20u
#define IP6_BYTES       40u
#define UDP_BYTES       8u
#define TCP_BYTES       20u
#define ICMP_BYTES      8u
#define ECHO_REQUEST    8u
#define ECHO_REQUEST6   128u
#define FRAME_LEAST     60u
#define TYPE_VLAN       0x8100u
#define TYPE_QINQ       0x88a8u
#define TYPE_IP4        0x0800u
#define TYPE_IP6        0x86ddu

enum { PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_ICMP6 = 58 };

static void store16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint16_t load16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint16_t length_max(const struct config_blast *blast)
{
	uint16_t most = (uint16_t)blast->template.count;

	for (unsigned i = 0; i < blast->sizes; i++)
		if (blast->size[i] > most)
			most = blast->size[i];
	return most;
}

static uint32_t shapes_of(const struct config_blast *blast)
{
	return blast->template.count ? 1 : blast->sizes;
}

static size_t data_bytes(const struct config_blast *blast)
{
	uint16_t length = length_max(blast);

	return length < FRAME_HEAD ? FRAME_HEAD : length;
}

uint64_t frame_reserve(const struct config_traffic *t)
{
	return data_bytes(&t->blast) + shapes_of(&t->blast) * sizeof(struct shape) + 2 * 64;
}

static void payload_fill(const struct frame *f, const struct config_blast *blast, uint16_t length,
			 uint64_t seed)
{
	struct rng rng = {.state = seed};

	for (uint32_t i = 0; f->payload + i < length; i++) {
		uint8_t byte = 0;

		if (blast->payload == PAYLOAD_RANDOM)
			byte = (uint8_t)rng_next(&rng);
		else if (blast->payload == PAYLOAD_BYTES)
			byte = blast->payload_bytes.data[i % blast->payload_bytes.count];
		f->data[f->payload + i] = blast->tag && i < TAG_BYTES ? 0 : byte;
	}
}

static int counter_of(uint8_t protocol)
{
	switch (protocol) {
	case PROTOCOL_TCP:
		return COUNTER_TCP_TX;
	case PROTOCOL_UDP:
		return COUNTER_UDP_TX;
	case PROTOCOL_ICMP:
	case PROTOCOL_ICMP6:
		return COUNTER_ICMP_TX;
	default:
		return -1;
	}
}

static uint16_t check_offset(uint8_t protocol)
{
	switch (protocol) {
	case PROTOCOL_TCP:
		return 16;
	case PROTOCOL_UDP:
		return 6;
	case PROTOCOL_ICMP:
	case PROTOCOL_ICMP6:
		return 2;
	default:
		return 0;
	}
}

/* Ethernet and the port's tags; returns where IP begins. */
static uint16_t ether_make(uint8_t *data, const struct config_port *port,
			   const struct config_blast *blast, uint8_t family, const uint8_t mac[6])
{
	uint8_t *at = data + ETHER_ADDRESSES;

	memcpy(data + 6, mac, 6);
	for (unsigned i = 0; i < port->vlans; i++, at += VLAN_TAG) {
		store16(at, port->vlans == 2 && !i ? TYPE_QINQ : TYPE_VLAN);
		store16(at + 2, (uint16_t)(blast->vlan_priority << 13 | port->vlan[i]));
	}
	store16(at, family == 6 ? TYPE_IP6 : TYPE_IP4);
	return (uint16_t)(at + 2 - data);
}

static void ip_make(uint8_t *ip, const struct config_blast *blast, uint8_t family, uint8_t protocol)
{
	if (family == 6) {
		ip[0] = (uint8_t)(0x60 | blast->tos >> 4);
		ip[1] = (uint8_t)(blast->tos << 4);
		ip[6] = protocol;
		ip[7] = blast->ttl;
		return;
	}
	ip[0] = 0x45;
	ip[1] = blast->tos;
	ip[6] = 0x40; /* do not fragment */
	ip[8] = blast->ttl;
	ip[9] = protocol;
}

static uint8_t protocol_of(const struct config_blast *blast, uint8_t family)
{
	switch (blast->protocol) {
	case BLAST_UDP:
		return PROTOCOL_UDP;
	case BLAST_TCP:
		return PROTOCOL_TCP;
	case BLAST_ICMP:
		return family == 6 ? PROTOCOL_ICMP6 : PROTOCOL_ICMP;
	default:
		return blast->ip_protocol;
	}
}

/* The transport header at l4; returns how long it is. */
static uint16_t l4_make(struct frame *f, const struct config_blast *blast)
{
	uint8_t *at = f->data + f->l4;

	f->ports = f->l4;
	switch (blast->protocol) {
	case BLAST_UDP:
		return UDP_BYTES;
	case BLAST_TCP:
		at[12] = TCP_BYTES / 4 << 4;
		at[13] = blast->tcp_flags;
		store16(at + 14, UINT16_MAX); /* window */
		return TCP_BYTES;
	case BLAST_ICMP:
		at[0] = f->family == 6 ? ECHO_REQUEST6 : ECHO_REQUEST;
		f->ports = (uint16_t)(f->l4 + 4);
		return ICMP_BYTES;
	default:
		f->ports = 0;
		return 0;
	}
}

/* Headers, all but addresses, ports, lengths and checksums. */
static void headers_make(struct frame *f, const struct config_port *port,
			 const struct config_blast *blast, const uint8_t mac[6], uint8_t protocol)
{
	f->walks = true;
	f->counter = counter_of(protocol);
	f->l3 = ether_make(f->data, port, blast, f->family, mac);
	f->l4 = (uint16_t)(f->l3 + (f->family == 6 ? IP6_BYTES : IP4_BYTES));
	ip_make(f->data + f->l3, blast, f->family, protocol);
	f->payload = (uint16_t)(f->l4 + l4_make(f, blast));
	if (blast->protocol != BLAST_IP)
		f->l4_check = (uint16_t)(f->l4 + check_offset(protocol));
	f->pseudo = protocol != PROTOCOL_ICMP;
}

/* The sums of a shape, from the frame as it stands, its checksum fields zero. */
static void shape_sum(const struct frame *f, struct shape *shape, uint16_t l4_length,
		      uint8_t protocol)
{
	const uint8_t *ip = f->data + f->l3;
	uint64_t sum = __builtin_bswap16(protocol) + (uint64_t)__builtin_bswap16(l4_length);

	if (f->family == 4)
		shape->ip_sum = checksum_fold(checksum_sum(ip, (size_t)(f->l4 - f->l3)));
	if (protocol == PROTOCOL_ICMP)
		sum = 0;
	else if (f->family == 4)
		sum += checksum_sum(ip + 12, 8);
	else
		sum += checksum_sum(ip + 8, 32);
	shape->l4_sum = checksum_fold(sum + checksum_sum(f->data + f->l4, l4_length));
}

/* Where the IP packet of a frame ends. The smallest frame of TCP has no payload, but padding: a SYN
 * as a host sends it. */
static uint16_t ip_end(const struct frame *f, const struct config_blast *blast, uint16_t length)
{
	return blast->protocol == BLAST_TCP && length <= FRAME_LEAST ? f->payload : length;
}

static void shapes_make(struct frame *f, const struct config_blast *blast, uint8_t protocol)
{
	for (unsigned i = 0; i < f->shapes; i++) {
		uint16_t length = blast->size[i], end = ip_end(f, blast, length);
		uint16_t l4 = (uint16_t)(end - f->l4);
		uint16_t ip = f->family == 6 ? l4 : (uint16_t)(end - f->l3);

		store16(f->data + f->l3 + (f->family == 6 ? 4 : 2), ip);
		if (protocol == PROTOCOL_UDP && blast->protocol == BLAST_UDP)
			store16(f->data + f->l4 + 4, l4);
		f->shape[i] = (struct shape){.length = length,
					     .ip_length_be = __builtin_bswap16(ip),
					     .l4_length_be = __builtin_bswap16(l4)};
		shape_sum(f, &f->shape[i], l4, protocol);
	}
}

/* The IP header at l3: where the transport header begins and how long that part is, or false. */
static bool ip_parse(struct frame *f, uint16_t length, uint16_t type, uint8_t *protocol,
		     uint16_t *l4_length)
{
	const uint8_t *ip = f->data + f->l3;
	unsigned room = length - f->l3, header, total;

	if (type == TYPE_IP4 && room >= IP4_BYTES && ip[0] >> 4 == 4) {
		header = (ip[0] & 15u) * 4;
		total = load16(ip + 2);
		*protocol = ip[9];
		f->family = 4;
	} else if (type == TYPE_IP6 && room >= IP6_BYTES && ip[0] >> 4 == 6) {
		header = IP6_BYTES;
		total = IP6_BYTES + load16(ip + 4);
		*protocol = ip[6];
		f->family = 6;
	} else {
		return false;
	}
	if (header < IP4_BYTES || total < header || total > room) {
		f->family = 0;
		return false;
	}
	f->l4 = (uint16_t)(f->l3 + header);
	*l4_length = (uint16_t)(total - header);
	return true;
}

/* Of UDP and TCP the payload follows a header of known length. */
static uint16_t l4_header(const struct frame *f, uint8_t protocol, uint16_t l4_length)
{
	uint16_t header = UDP_BYTES;

	if (protocol == PROTOCOL_TCP && l4_length >= 20)
		header = (uint16_t)(f->data[f->l4 + 12] >> 4) * 4;
	return header < l4_length ? header : l4_length;
}

static void template_parse(struct frame *f, uint16_t length)
{
	uint16_t at = ETHER_ADDRESSES, l4_length = 0, check;
	uint8_t protocol = 0;

	f->l3 = f->l4 = f->payload = length;
	while (at + 6u <= length &&
	       (load16(f->data + at) == TYPE_VLAN || load16(f->data + at) == TYPE_QINQ))
		at += VLAN_TAG;
	if (at + 2u > length)
		return;
	f->l3 = (uint16_t)(at + 2);
	if (!ip_parse(f, length, load16(f->data + at), &protocol, &l4_length))
		return;
	f->counter = counter_of(protocol);
	check = check_offset(protocol);
	f->payload = (uint16_t)(f->l4 + l4_header(f, protocol, l4_length));
	if (f->family == 4)
		memset(f->data + f->l3 + 10, 0, 2);
	if (check && check + 2u <= l4_length) {
		f->l4_check = (uint16_t)(f->l4 + check);
		memset(f->data + f->l4_check, 0, 2);
	}
	shape_sum(f, &f->shape[0], l4_length, protocol);
}

int frame_make(struct frame *f, const struct config *config, const struct config_traffic *t,
	       const uint8_t mac[6], struct arena *arena)
{
	const struct config_blast *blast = &t->blast;
	uint16_t length = length_max(blast);
	uint8_t protocol;

	*f = (struct frame){.data = arena_take(arena, data_bytes(blast)),
			    .counter = -1,
			    .shapes = shapes_of(blast),
			    .shape = arena_take(arena, shapes_of(blast) * sizeof(struct shape))};
	if (!f->data || !f->shape)
		return -1;
	if (blast->template.count) {
		memcpy(f->data, blast->template.data, length);
		f->shape[0] = (struct shape){.length = length};
		template_parse(f, length);
		return 0;
	}
	f->family = blast_family(t);
	protocol = protocol_of(blast, f->family);
	headers_make(f, &config->port[t->port], blast, mac, protocol);
	payload_fill(f, blast, length, config->seed);
	shapes_make(f, blast, protocol);
	return 0;
}

uint64_t frame_packets(const struct frame *f, uint64_t bytes)
{
	uint64_t round = 0, packets;

	for (uint32_t i = 0; i < f->shapes; i++)
		round += f->shape[i].length;
	packets = bytes / round * f->shapes;
	bytes %= round;
	for (uint32_t i = 0; f->shape[i].length <= bytes; i++, packets++)
		bytes -= f->shape[i].length;
	return packets;
}
