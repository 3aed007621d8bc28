/* Sides: by addresses, ports or a MAC address that are the servers', or by who spoke first.
 *
 * A conversation is told by both addresses and both ports; what has no ports - fragments, ICMP, ARP
 * - belongs to the pair of addresses, whose first sender is remembered as well. Ends are known by
 * hashes of 64 bits: two that meet would send one conversation's packets from the wrong side, and
 * never lose one. */
#include "player_side.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MIN  1024u
#define FLAG_SYN  0x02
#define FLAG_ACK  0x10
#define TCP_FLAGS 13u

/* Both ends of a packet: where their addresses are. */
struct ends {
	const uint8_t *src, *dst;
	uint32_t size;
	uint16_t src_port, dst_port;
	bool has_ports;
};

static struct ends ends_of(const uint8_t *frame, uint32_t length, const struct dissect *d)
{
	const uint8_t *l3 = frame + d->l3;
	struct ends e = {frame + 6, frame, 6, 0, 0, false};

	if (d->family) {
		e.size = d->family == 4 ? 4 : 16;
		e.src = l3 + (d->family == 4 ? 12 : 8);
		e.dst = e.src + e.size;
	} else if (d->type == ETHER_TYPE_ARP && d->l3 + 28u <= length) {
		e = (struct ends){l3 + 14, l3 + 24, 4, 0, 0, false};
	}
	if (d->l4 && !d->fragment && (d->protocol == PROTOCOL_TCP || d->protocol == PROTOCOL_UDP)) {
		e.src_port = dissect_u16(frame + d->l4);
		e.dst_port = dissect_u16(frame + d->l4 + 2);
		e.has_ports = true;
	}
	return e;
}

static uint64_t end_hash(const uint8_t *address, uint32_t size, uint16_t port)
{
	uint64_t hash = port + 1u;

	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ address[i]) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static int table_grow(struct side_table *t)
{
	struct side_table larger = {.rows = t->rows ? 2 * t->rows : ROWS_MIN, .used = t->used};

	larger.row = calloc(larger.rows, sizeof(*larger.row));
	if (!larger.row)
		return -1;
	for (uint32_t i = 0; i < t->rows; i++) {
		uint32_t at = (uint32_t)t->row[i].conversation & (larger.rows - 1);

		if (!t->row[i].conversation)
			continue;
		while (larger.row[at].conversation)
			at = (at + 1) & (larger.rows - 1);
		larger.row[at] = t->row[i];
	}
	free(t->row);
	*t = larger;
	return 0;
}

/* The client's end of a conversation, `first` if it is new. */
static uint64_t client_of(struct side_table *t, uint64_t conversation, uint64_t first)
{
	uint32_t at;

	if (2 * t->used >= t->rows && table_grow(t))
		return first;
	at = (uint32_t)conversation & (t->rows - 1);
	while (t->row[at].conversation && t->row[at].conversation != conversation)
		at = (at + 1) & (t->rows - 1);
	if (!t->row[at].conversation) {
		t->row[at] = (struct side_row){conversation, first};
		t->used++;
	}
	return t->row[at].client;
}

/* TCP that answers: by its SYN,ACK its sender is the server, whoever was heard first. */
static bool answers(const uint8_t *frame, uint32_t length, const struct dissect *d)
{
	if (d->protocol != PROTOCOL_TCP || !d->l4 || d->fragment || d->l4 + TCP_FLAGS >= length)
		return false;
	return (frame[d->l4 + TCP_FLAGS] & (FLAG_SYN | FLAG_ACK)) == (FLAG_SYN | FLAG_ACK);
}

static bool by_conversation(struct side_table *t, const struct replay_split *split,
			    const uint8_t *frame, uint32_t length, const struct dissect *d)
{
	struct ends e = ends_of(frame, length, d);
	uint64_t src = end_hash(e.src, e.size, e.src_port);
	uint64_t dst = end_hash(e.dst, e.size, e.dst_port);
	uint64_t src_host = end_hash(e.src, e.size, 0), dst_host = end_hash(e.dst, e.size, 0);
	bool swapped = split->by == SPLIT_SYN && answers(frame, length, d);
	uint64_t hosts = (src_host + dst_host) | 1;
	uint64_t client = client_of(t, hosts, swapped ? dst_host : src_host);

	if (!e.has_ports)
		return client != src_host;
	return client_of(t, ((src + dst) * 0xbf58476d1ce4e5b9u) | 1, swapped ? dst : src) != src;
}

static u128 address_of(const struct ends *e)
{
	u128 address = 0;

	for (uint32_t i = 0; i < e->size; i++)
		address = address << 8 | e->src[i];
	return address;
}

bool side_is_server(struct side_table *t, const struct replay_split *split, const uint8_t *frame,
		    uint32_t length, const struct dissect *d)
{
	struct ends e;

	if (length < 12)
		return false;
	e = ends_of(frame, length, d);
	switch (split->by) {
	case SPLIT_ADDRESS:
		return e.size != 6 && split->servers.family == (e.size == 4 ? 4 : 6) &&
		       ip_pool_contains(&split->servers, address_of(&e));
	case SPLIT_MAC:
		return memcmp(frame + 6, split->mac, 6) == 0;
	case SPLIT_PORT:
		if (e.has_ports && port_pool_contains(&split->ports, e.src_port))
			return true;
		if (e.has_ports && port_pool_contains(&split->ports, e.dst_port))
			return false;
		return by_conversation(t, split, frame, length, d);
	default:
		return by_conversation(t, split, frame, length, d);
	}
}

void side_clear(struct side_table *t)
{
	free(t->row);
	*t = (struct side_table){.row = NULL};
}
