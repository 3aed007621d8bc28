/* Rewriting.
 *
 * Checksums are updated by what changed (RFC 1624, equation 3), never computed anew unless asked
 * for: a checksum that was wrong by some amount stays wrong by it, one over bytes that are not
 * there - a fragment, a packet captured in part - stays right. A word that changes tells every
 * checksum that covers it: an address that of its IP header and of TCP, UDP and ICMPv6, whose
 * pseudo-headers have it; in an ICMP error everything, including the checksums of the packet it
 * quotes, is payload of the message, and tells its checksum too.
 *
 * Rejected: computing everything anew (hides the packets that a recording was made for), and a list
 * of patches made once for each packet (the frame is read again for a tenth of that memory). */
#include "rewrite.h"

#include <string.h>

#include "checksum.h"
#include "dissect.h"

enum { IPV4_CHECK = 10, IPV4_ADDRESSES = 12, IPV6_ADDRESSES = 8, ETHER_ADDRESSES = 12 };
enum { TCP_CHECK = 16, UDP_CHECK = 6, ICMP_CHECK = 2, VLAN_TAG = 4 };
enum { ARP_SENDER = 14, ARP_TARGET = 24 };
#define ARP_BYTES  28u
#define ICMP_QUOTE 8u /* offset of the packet that an error quotes */
#define CHECKS_MAX 3

/* What is done to addresses and ports: a map, or a step. */
struct change {
	const struct rewrite *rewrite; /* NULL: the step */
	uint64_t step;
};

/* A checksum field that follows what changes. */
struct check {
	uint8_t *at;
	bool is_udp; /* 0 says that there is none (RFC 768) */
};

/* The frame as far as it is there, and the checksums over what is being changed. */
struct scope {
	uint8_t *frame;
	uint32_t length;
	const struct change *change;
	struct check outer; /* of the ICMP message that quotes what is at hand; at NULL: none */
};

static uint16_t load16(const uint8_t *at)
{
	uint16_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static void store16(uint8_t *at, uint16_t word)
{
	memcpy(at, &word, sizeof(word));
}

/* A word covered by a checksum has changed. */
static void check_update(const struct check *check, uint16_t was, uint16_t is)
{
	uint16_t sum;

	if (!check->at || was == is)
		return;
	sum = load16(check->at);
	if (check->is_udp && !sum)
		return;
	sum = checksum_update(sum, was, is);
	store16(check->at, check->is_udp && !sum ? 0xffff : sum);
}

/* Put a word at an even distance from the start of what the checks cover. */
static void word_put(uint8_t *at, uint16_t is, const struct check *check, unsigned checks)
{
	uint16_t was = load16(at);

	store16(at, is);
	for (unsigned i = 0; i < checks; i++)
		check_update(&check[i], was, is);
}

static void words_put(uint8_t *at, const uint8_t *is, unsigned size, const struct check *check,
		      unsigned checks)
{
	for (unsigned i = 0; i < size; i += 2)
		word_put(at + i, load16(is + i), check, checks);
}

static u128 address_load(const uint8_t *at, unsigned size)
{
	u128 address = 0;

	for (unsigned i = 0; i < size; i++)
		address = address << 8 | at[i];
	return address;
}

static void address_store(uint8_t *at, unsigned size, u128 address)
{
	for (unsigned i = size; i--; address >>= 8)
		at[i] = (uint8_t)address;
}

static u128 address_change(const struct change *change, uint8_t family, u128 address)
{
	const struct rewrite *r = change->rewrite;
	unsigned bits = family == 4 ? 32 : 128;

	if (!r) /* within the family's lower half: an IPv6 prefix stays */
		return family == 4 ? (uint32_t)((uint32_t)address + change->step)
				   : (address >> 64 << 64) +
					     (uint64_t)((uint64_t)address + change->step);
	for (unsigned i = 0; i < r->maps; i++) {
		const struct rewrite_map *map = &r->map[i];
		unsigned host = bits - map->prefix;
		u128 mask = host >= 128 ? ~(u128)0 : ((u128)1 << host) - 1;

		if (map->family == family && (address | mask) == (map->from | mask))
			return (map->to & ~mask) | (address & mask);
	}
	return address;
}

/* Change an address that stands at `at`. */
static void address_put(const struct scope *s, uint8_t *at, uint8_t family,
			const struct check *check, unsigned checks)
{
	unsigned size = family == 4 ? 4 : 16;
	u128 was = address_load(at, size), is = address_change(s->change, family, was);
	uint8_t bytes[16];

	if (was == is)
		return;
	address_store(bytes, size, is);
	words_put(at, bytes, size, check, checks);
}

static void port_put(const struct scope *s, uint8_t *at, const struct check *check, unsigned checks)
{
	const struct rewrite *r = s->change->rewrite;
	uint16_t was = dissect_u16(at);

	for (unsigned i = 0; r && i < r->ports; i++) {
		if (r->port[i].from != was)
			continue;
		word_put(at, __builtin_bswap16(r->port[i].to), check, checks);
		return;
	}
}

/* The checksum that a transport header has of its own, if the field is there. */
static struct check transport_check(const struct scope *s, const struct dissect *d)
{
	uint32_t at = d->protocol == PROTOCOL_TCP      ? TCP_CHECK
		      : d->protocol == PROTOCOL_UDP    ? UDP_CHECK
		      : d->protocol == PROTOCOL_ICMP   ? ICMP_CHECK
		      : d->protocol == PROTOCOL_ICMPV6 ? ICMP_CHECK
						       : 0;

	if (!at || !d->l4 || d->l4 + at + 2 > s->length)
		return (struct check){NULL, false};
	return (struct check){s->frame + d->l4 + at, d->protocol == PROTOCOL_UDP};
}

/* Types that quote the packet they are about (RFC 792, RFC 4443). */
static bool is_error(const struct dissect *d, const uint8_t *icmp)
{
	if (d->protocol == PROTOCOL_ICMPV6)
		return icmp[0] < 128;
	return icmp[0] == 3 || icmp[0] == 4 || icmp[0] == 5 || icmp[0] == 11 || icmp[0] == 12;
}

static void ip_rewrite(const struct scope *s, const struct dissect *d);

static void quote_rewrite(const struct scope *s, const struct dissect *d, struct check check)
{
	struct scope quote = *s;
	struct dissect inner;

	if (s->outer.at || d->l4 + ICMP_QUOTE > s->length || !is_error(d, s->frame + d->l4))
		return;
	quote.outer = check;
	dissect_ip(s->frame, s->length, (uint16_t)(d->l4 + ICMP_QUOTE), d->family, &inner);
	if (inner.family)
		ip_rewrite(&quote, &inner);
}

/* A check that changes is itself payload of an ICMP message that quotes it. */
static void check_quoted(const struct scope *s, uint8_t *at, uint16_t was)
{
	if (at)
		check_update(&s->outer, was, load16(at));
}

static void ip_rewrite(const struct scope *s, const struct dissect *d)
{
	unsigned size = d->family == 4 ? 4 : 16;
	uint8_t *addresses = s->frame + d->l3 + (d->family == 4 ? IPV4_ADDRESSES : IPV6_ADDRESSES);
	struct check own = transport_check(s, d);
	struct check ip = {d->family == 4 ? s->frame + d->l3 + IPV4_CHECK : NULL, false};
	uint16_t ip_was = ip.at ? load16(ip.at) : 0, own_was = own.at ? load16(own.at) : 0;
	/* ICMP alone has no pseudo-header. */
	struct check pseudo = d->protocol == PROTOCOL_ICMP ? (struct check){NULL, false} : own;
	struct check covers[CHECKS_MAX] = {s->outer, pseudo, ip};
	struct check covers_port[CHECKS_MAX] = {s->outer, own};

	address_put(s, addresses, d->family, covers, 3);
	address_put(s, addresses + size, d->family, covers, 3);
	if (d->l4 && (d->protocol == PROTOCOL_TCP || d->protocol == PROTOCOL_UDP)) {
		port_put(s, s->frame + d->l4, covers_port, 2);
		port_put(s, s->frame + d->l4 + 2, covers_port, 2);
	}
	check_quoted(s, ip.at, ip_was);
	check_quoted(s, own.at, own_was);
	if (d->l4 && (d->protocol == PROTOCOL_ICMP || d->protocol == PROTOCOL_ICMPV6))
		quote_rewrite(s, d, own);
}

static void arp_rewrite(const struct scope *s, const struct dissect *d)
{
	uint8_t *arp = s->frame + d->l3;

	/* Ethernet and IPv4. */
	if (d->l3 + ARP_BYTES > s->length || memcmp(arp, "\x00\x01\x08\x00\x06\x04", 6))
		return;
	address_put(s, arp + ARP_SENDER, 4, NULL, 0);
	address_put(s, arp + ARP_TARGET, 4, NULL, 0);
}

static void layers_rewrite(const struct scope *s, const struct dissect *d)
{
	if (d->family)
		ip_rewrite(s, d);
	else if (d->type == ETHER_TYPE_ARP)
		arp_rewrite(s, d);
}

static void bytes_move(uint8_t *frame, uint32_t *captured, uint32_t *length, int by)
{
	memmove(frame + ETHER_ADDRESSES + (by > 0 ? by : 0),
		frame + ETHER_ADDRESSES + (by < 0 ? -by : 0),
		*captured - ETHER_ADDRESSES - (by < 0 ? (uint32_t)-by : 0));
	*captured += (uint32_t)by;
	*length += (uint32_t)by;
}

static void vlans_rewrite(const struct rewrite *r, uint8_t *frame, uint32_t *captured,
			  uint32_t *length, uint8_t vlans)
{
	for (unsigned i = 0; i < r->vlan_pop && vlans; i++, vlans--)
		bytes_move(frame, captured, length, -VLAN_TAG);
	if (r->vlan_set && vlans) {
		uint8_t *tag = frame + ETHER_ADDRESSES + 2;

		tag[0] = (uint8_t)((tag[0] & 0xf0) | r->vlan_set >> 8);
		tag[1] = (uint8_t)r->vlan_set;
	}
	for (unsigned i = r->vlan_pushes; i--; vlans++) {
		uint8_t *tag = frame + ETHER_ADDRESSES;

		bytes_move(frame, captured, length, VLAN_TAG);
		/* IEEE 802.1ad for a tag around another one */
		memcpy(tag, vlans ? "\x88\xa8" : "\x81\x00", 2);
		tag[2] = (uint8_t)(r->vlan_push[i] >> 8);
		tag[3] = (uint8_t)r->vlan_push[i];
	}
}

static uint64_t pseudo_sum(const uint8_t *frame, const struct dissect *d, uint32_t bytes)
{
	const uint8_t *l3 = frame + d->l3;
	uint64_t sum = __builtin_bswap16((uint16_t)bytes) + __builtin_bswap16(d->protocol);

	if (d->protocol == PROTOCOL_ICMP)
		return 0;
	return sum + (d->family == 4 ? checksum_sum(l3 + IPV4_ADDRESSES, 8)
				     : checksum_sum(l3 + IPV6_ADDRESSES, 32));
}

/* Bytes from the transport header to the packet's end, by the IP header; 0: not all of them are
 * there. */
static uint32_t transport_bytes(const struct scope *s, const struct dissect *d)
{
	uint32_t bytes = dissect_u16(s->frame + d->l3 + (d->family == 4 ? 2 : 4));
	uint32_t end = d->l3 + bytes + (d->family == 4 ? 0 : 40);

	return end > d->l4 && end <= s->length ? end - d->l4 : 0;
}

static void checks_repair(const struct scope *s, const struct dissect *d)
{
	struct check own = transport_check(s, d);
	uint8_t *l3 = s->frame + d->l3;
	uint32_t bytes;
	uint16_t sum;

	if (d->family == 4) {
		uint32_t header = (l3[0] & 15u) * 4;

		if (header < 20 || d->l3 + header > s->length)
			return;
		store16(l3 + IPV4_CHECK, 0);
		store16(l3 + IPV4_CHECK, (uint16_t)~checksum_fold(checksum_sum(l3, header)));
	}
	if (!own.at || d->fragment || (own.is_udp && !load16(own.at)))
		return;
	bytes = transport_bytes(s, d);
	if (!bytes)
		return;
	store16(own.at, 0);
	sum = (uint16_t)~checksum_fold(pseudo_sum(s->frame, d, bytes) +
				       checksum_sum(s->frame + d->l4, bytes));
	store16(own.at, own.is_udp && !sum ? 0xffff : sum);
}

static void macs_rewrite(const struct rewrite *r, bool server, uint8_t *frame)
{
	if (server && r->has_server_dst_mac)
		memcpy(frame, r->server_dst_mac, 6);
	else if (r->has_dst_mac)
		memcpy(frame, r->dst_mac, 6);
	if (server && r->has_server_src_mac)
		memcpy(frame + 6, r->server_src_mac, 6);
	else if (r->has_src_mac)
		memcpy(frame + 6, r->src_mac, 6);
}

bool rewrite_is_set(const struct rewrite *r)
{
	return r->has_dst_mac || r->has_src_mac || r->has_server_dst_mac || r->has_server_src_mac ||
	       r->vlan_pop || r->vlan_set || r->vlan_pushes || r->maps || r->ports || r->repair;
}

void rewrite_frame(const struct rewrite *r, bool server, uint8_t *frame, uint32_t *captured,
		   uint32_t *length)
{
	const struct change change = {.rewrite = r};
	struct scope s = {.frame = frame, .change = &change};
	struct dissect d;

	if (*captured < ETHER_ADDRESSES + 2)
		return;
	dissect_frame(frame, *captured, &d);
	vlans_rewrite(r, frame, captured, length, d.vlans);
	macs_rewrite(r, server, frame);
	s.length = *captured;
	dissect_frame(frame, *captured, &d);
	if (r->maps || r->ports)
		layers_rewrite(&s, &d);
	if (r->repair && d.family)
		checks_repair(&s, &d);
}

void rewrite_step(uint8_t *frame, uint32_t length, uint64_t step)
{
	const struct change change = {.step = step};
	const struct scope s = {.frame = frame, .length = length, .change = &change};
	struct dissect d;

	dissect_frame(frame, length, &d);
	layers_rewrite(&s, &d);
}
