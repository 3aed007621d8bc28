/* Finding one's way through a frame: VLAN tags, IPv4 with options, IPv6 with extension headers.
 *
 * A transport header counts as being there when its first four bytes are: what is further on each
 * user checks. Tunnels are not entered: their outer flow is the flow. */
#include "dissect.h"

#include <string.h>

enum { ETHER_HEADER = 14, VLAN_TAG = 4, VLANS_MAX = 8, IPV4_HEADER = 20, IPV6_HEADER = 40 };
enum { HOP_OPTIONS = 0, ROUTING = 43, FRAGMENT = 44, AUTHENTICATION = 51, DESTINATION = 60 };

static bool is_vlan(uint16_t type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

static void ipv4(const uint8_t *frame, uint32_t length, struct dissect *d)
{
	const uint8_t *ip = frame + d->l3;
	uint32_t header = (ip[0] & 15u) * 4;
	uint16_t fragment = dissect_u16(ip + 6);

	d->protocol = ip[9];
	d->fragment = (fragment & 0x3fff) != 0;
	if (header >= IPV4_HEADER && !(fragment & 0x1fff) && d->l3 + header + 4 <= length)
		d->l4 = (uint16_t)(d->l3 + header);
}

static void ipv6(const uint8_t *frame, uint32_t length, struct dissect *d)
{
	uint32_t at = d->l3 + IPV6_HEADER;
	bool later = false;

	d->protocol = frame[d->l3 + 6];
	while (at + 8 <= length && !later) {
		const uint8_t *header = frame + at;
		uint8_t next = header[0];

		switch (d->protocol) {
		case HOP_OPTIONS:
		case ROUTING:
		case DESTINATION:
			at += (header[1] + 1u) * 8;
			break;
		case AUTHENTICATION:
			at += (header[1] + 2u) * 4;
			break;
		case FRAGMENT:
			d->fragment = true;
			later = dissect_u16(header + 2) & 0xfff8;
			at += 8;
			break;
		default:
			d->l4 = (uint16_t)at;
			return;
		}
		d->protocol = next;
	}
	if (!later && at + 4 <= length)
		d->l4 = (uint16_t)at;
}

void dissect_ip(const uint8_t *frame, uint32_t length, uint16_t l3, uint8_t family,
		struct dissect *d)
{
	uint32_t header = family == 4 ? IPV4_HEADER : IPV6_HEADER;

	*d = (struct dissect){.l3 = l3};
	if (l3 + header > length || frame[l3] >> 4 != family)
		return;
	d->family = family;
	if (family == 4)
		ipv4(frame, length, d);
	else
		ipv6(frame, length, d);
}

void dissect_frame(const uint8_t *frame, uint32_t length, struct dissect *d)
{
	uint32_t at = ETHER_HEADER;
	uint8_t vlans = 0;
	uint16_t type;

	*d = (struct dissect){.l3 = (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX)};
	if (length < ETHER_HEADER)
		return;
	type = dissect_u16(frame + 12);
	for (; is_vlan(type) && vlans < VLANS_MAX && at + VLAN_TAG <= length; vlans++) {
		type = dissect_u16(frame + at + 2);
		at += VLAN_TAG;
	}
	if (type == ETHER_TYPE_IPV4 || type == ETHER_TYPE_IPV6)
		dissect_ip(frame, length, (uint16_t)at, type == ETHER_TYPE_IPV4 ? 4 : 6, d);
	d->l3 = (uint16_t)at;
	d->type = type;
	d->vlans = vlans;
}

/* Sums, so that both directions give the same. */
static uint64_t addresses_add(const uint8_t *a, const uint8_t *b, uint32_t size)
{
	uint64_t sum = 0;
	uint32_t word[2];

	for (uint32_t i = 0; i < size; i += 4) {
		memcpy(&word[0], a + i, 4);
		memcpy(&word[1], b + i, 4);
		sum = sum * 31 + word[0] + word[1];
	}
	return sum;
}

uint32_t dissect_flow(const uint8_t *frame, uint32_t length, const struct dissect *d,
		      bool by_address)
{
	const uint8_t *l3 = frame + d->l3;
	uint64_t hash = 0;

	if (d->family == 4)
		hash = addresses_add(l3 + 12, l3 + 16, 4);
	else if (d->family == 6)
		hash = addresses_add(l3 + 8, l3 + 24, 16);
	else if (length >= 12)
		hash = (uint64_t)dissect_u16(frame + 4) + dissect_u16(frame + 10) +
		       ((uint64_t)dissect_u16(frame + 2) + dissect_u16(frame + 8)) * 31;
	if (!by_address && d->l4 && (d->protocol == PROTOCOL_TCP || d->protocol == PROTOCOL_UDP))
		hash = hash * 31 + dissect_u16(frame + d->l4) + dissect_u16(frame + d->l4 + 2);
	return (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 32);
}
