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

/* Host bits are of no meaning, so they are not there. */
static bool prefix_is_clean(const struct config_address *a)
{
	unsigned host = (a->family == 4 ? 32u : 128u) - a->prefix;

	return !host || !(a->address << (128 - host));
}

static void route_read(struct reader *r, const struct where *w, const struct key *key,
		       struct config_port *port)
{
	const char *text = cJSON_IsString(w->node) ? w->node->valuestring : NULL;
	bool on_link = text && !strcmp(text, "link");
	struct config_address to, via = {.family = 0};

	if (!prefix_read(w->key, &to) || !prefix_is_clean(&to)) {
		problem_add(r->document, w, PLACE_KEY,
			    "expected a prefix without host bits, such as 10.0.0.0/8");
		return;
	}
	if (!on_link &&
	    (!text || strchr(text, '/') || !prefix_read(text, &via) || via.family != to.family)) {
		refuse(r, w,
		       to.family == 4 ? "the IPv4 address of a next hop, or \"link\""
				      : "the IPv6 address of a next hop, or \"link\"");
		return;
	}
	*(struct config_route *)list_grow(r->config, (void **)((char *)port + key->offset),
					  port->routes++, sizeof(struct config_route)) =
		(struct config_route){to.family, to.prefix, on_link, to.address, via.address};
}

void routes_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct config_port *port = (struct config_port *)base;

	port->has_routes = true;
	for (const cJSON *child = map_first(r, w, key); child; child = child->next) {
		struct where at = {.up = w, .key = child->string, .node = child};

		route_read(r, &at, key, port);
	}
	if (port->routes > CONFIG_ROUTES_MAX)
		problem_add(r->document, w, PLACE_VALUE, "expected at most %d routes, got %u",
			    CONFIG_ROUTES_MAX, port->routes);
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
