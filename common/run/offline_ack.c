/* Connections by a hash of both ends, the engine's first; without memory for a row a connection's
 * numbers stay as they were recorded. Blocks of selective acknowledgments are moved as well. */
#include "offline_ack.h"

#include <stdlib.h>
#include <string.h>

#include "../base/checksum.h"

#define ROWS_MIN 256u
enum { TCP_HEADER = 20, TCP_SEQ = 4, TCP_ACK = 8, TCP_OFFSET = 12, TCP_FLAGS = 13, TCP_CHECK = 16 };
enum { FLAG_SYN = 2, FLAG_ACK = 16, OPTION_END = 0, OPTION_NOP = 1, OPTION_SACK = 5 };

static bool is_tcp(uint32_t length, const struct dissect *d)
{
	return d->protocol == PROTOCOL_TCP && d->l4 && !d->fragment &&
	       d->l4 + (uint32_t)TCP_HEADER <= length;
}

static uint64_t end_hash(const uint8_t *address, uint32_t size, const uint8_t *port)
{
	uint64_t hash = dissect_u16(port);

	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ address[i]) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* from_engine: the engine's end is the packet's source. */
static uint64_t connection_of(const uint8_t *frame, const struct dissect *d, bool from_engine)
{
	uint32_t size = d->family == 4 ? 4 : 16;
	const uint8_t *src = frame + d->l3 + (d->family == 4 ? 12 : 8), *ports = frame + d->l4;
	uint64_t from = end_hash(src, size, ports), to = end_hash(src + size, size, ports + 2);

	return (from_engine ? from * 31 + to : to * 31 + from) | 1;
}

static struct ack_row *row_slot(struct ack_row *row, uint32_t rows, uint64_t connection)
{
	uint32_t at = (uint32_t)(connection >> 8) & (rows - 1);

	while (row[at].connection && row[at].connection != connection)
		at = (at + 1) & (rows - 1);
	return &row[at];
}

static int map_grow(struct ack_map *map)
{
	uint32_t rows = map->rows ? 2 * map->rows : ROWS_MIN;
	struct ack_row *row = calloc(rows, sizeof(*row));

	if (!row)
		return -1;
	for (uint32_t i = 0; i < map->rows; i++)
		if (map->row[i].connection)
			*row_slot(row, rows, map->row[i].connection) = map->row[i];
	free(map->row);
	map->row = row;
	map->rows = rows;
	return 0;
}

static uint32_t load32(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return __builtin_bswap32(word);
}

void ack_note(struct ack_map *map, const uint8_t *frame, uint32_t length, const struct dissect *d,
	      bool ours)
{
	uint64_t connection;
	struct ack_row *row;

	if (!is_tcp(length, d) || !(frame[d->l4 + TCP_FLAGS] & FLAG_SYN))
		return;
	if (2 * map->used >= map->rows && map_grow(map))
		return;
	connection = connection_of(frame, d, true);
	row = row_slot(map->row, map->rows, connection);
	map->used += !row->connection;
	row->connection = connection;
	*(ours ? &row->ours : &row->recorded) = load32(frame + d->l4 + TCP_SEQ);
	*(ours ? &row->has_ours : &row->has_recorded) = true;
}

/* Add to a number that stands anywhere in the segment. */
static void number_move(uint8_t *segment, uint32_t at, uint32_t by)
{
	uint8_t was[6] = {0}, *first = segment + (at & ~1u);
	uint32_t number = __builtin_bswap32(load32(segment + at) + by);
	uint16_t check, old, new;

	memcpy(was, first, at & 1 ? 6 : 4);
	memcpy(segment + at, &number, sizeof(number));
	memcpy(&check, segment + TCP_CHECK, sizeof(check));
	for (unsigned i = 0; i < (at & 1 ? 6u : 4u); i += 2) {
		memcpy(&old, was + i, sizeof(old));
		memcpy(&new, first + i, sizeof(new));
		check = checksum_update(check, old, new);
	}
	memcpy(segment + TCP_CHECK, &check, sizeof(check));
}

static void sacks_move(uint8_t *segment, uint32_t header, uint32_t by)
{
	uint32_t at = TCP_HEADER;

	while (at < header && segment[at] != OPTION_END) {
		uint32_t size = segment[at] == OPTION_NOP ? 1
				: at + 1 < header         ? segment[at + 1]
							  : 0;

		if (!size || at + size > header)
			return;
		for (uint32_t i = 2; segment[at] == OPTION_SACK && i + 4 <= size; i += 4)
			if (at + i + 5 <= header || !((at + i) & 1))
				number_move(segment, at + i, by);
		at += size;
	}
}

void ack_move(struct ack_map *map, uint8_t *frame, uint32_t length, const struct dissect *d)
{
	uint8_t *segment = frame + d->l4;
	uint32_t header, by;
	struct ack_row *row;

	if (!map->rows || !is_tcp(length, d) || !(segment[TCP_FLAGS] & FLAG_ACK))
		return;
	row = row_slot(map->row, map->rows, connection_of(frame, d, false));
	if (!row->connection || !row->has_recorded || !row->has_ours)
		return;
	by = row->ours - row->recorded;
	number_move(segment, TCP_ACK, by);
	header = (uint32_t)(segment[TCP_OFFSET] >> 4) * 4;
	if (d->l4 + header <= length)
		sacks_move(segment, header, by);
}

void ack_close(struct ack_map *map)
{
	free(map->row);
	*map = (struct ack_map){.row = NULL};
}
