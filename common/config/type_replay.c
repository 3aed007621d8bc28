/* Readers of maps: objects whose names are what is replaced, and whose values replace it. */
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "value.h"

static bool prefix_read(const char *text, struct config_address *address)
{
	return text && value_address(text, address);
}

/* The number of a TCP or UDP port, or 0. */
static uint16_t number_read(const char *text)
{
	uint64_t number;

	return text && value_count(text, &number) && number <= UINT16_MAX ? (uint16_t)number : 0;
}

/* The first member of a map; NULL: it has none, or is none, which has then been said. */
static const cJSON *map_first(struct reader *r, const struct where *w, const struct key *key)
{
	if (cJSON_IsObject(w->node))
		return w->node->child;
	refuse(r, w, type_table[key->type].words);
	return NULL;
}

void address_map_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	size_t count = 0;

	for (const cJSON *child = map_first(r, w, key); child; child = child->next) {
		struct where at = {.up = w, .key = child->string, .node = child};
		struct config_address from, to;
		struct rewrite_map *map;

		if (!prefix_read(child->string, &from)) {
			problem_add(r->document, &at, PLACE_KEY,
				    "expected an IP address, or a prefix such as 10.0.0.0/8");
			continue;
		}
		if (!prefix_read(cJSON_IsString(child) ? child->valuestring : NULL, &to) ||
		    to.family != from.family || to.prefix != from.prefix) {
			refuse(r, &at, "a prefix of the same family and length");
			continue;
		}
		map = list_grow(r->config, (void **)(base + key->offset), count++, sizeof(*map));
		*map = (struct rewrite_map){from.family, from.prefix, from.address, to.address};
	}
	uint_store(base + key->count, key->count_size, count);
}

void port_map_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	size_t count = 0;

	for (const cJSON *child = map_first(r, w, key); child; child = child->next) {
		struct where at = {.up = w, .key = child->string, .node = child};
		struct rewrite_port *port;
		uint16_t from = number_read(child->string), to = number_read(node_value(child));

		if (!from)
			problem_add(r->document, &at, PLACE_KEY, "expected a port from 1 to 65535");
		else if (!to)
			refuse(r, &at, "a port from 1 to 65535");
		if (!from || !to)
			continue;
		port = list_grow(r->config, (void **)(base + key->offset), count++, sizeof(*port));
		*port = (struct rewrite_port){from, to};
	}
	uint_store(base + key->count, key->count_size, count);
}
