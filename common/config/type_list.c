/* Types whose value may be a list: JSON arrays, or texts with commas, or both. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "value.h"

static void item_refuse(struct item *item, const char *note)
{
	char *words = key_words(item->key);
	char *noted = text_format("%s%s", words, note);

	refuse(item->reader, &item->where, noted);
	free(noted);
	free(words);
}

/* Take the comma-separated pieces of a text. */
static bool pieces_read(struct item *item, const char *text,
			bool (*take)(struct item *, const char *piece))
{
	char *copy = text_format("%s", text);
	bool good = *text != '\0';

	for (char *piece = copy, *next; good && piece; piece = next) {
		next = strchr(piece, ',');
		if (next)
			*next++ = '\0';
		good = take(item, piece);
	}
	free(copy);
	return good;
}

/* Take all items of a value; each that is wrong is refused at its place. */
void items_read(struct item *item, const cJSON *node,
		bool (*take)(struct item *, const char *piece))
{
	const cJSON *element = cJSON_IsArray(node) ? node->child : node;

	if (!element) {
		item_refuse(item, "");
		return;
	}
	for (; element; element = cJSON_IsArray(node) ? element->next : NULL) {
		size_t problems = item->reader->document->problems;
		const char *text = node_value(element);

		item->where.node = element;
		if ((!text || !pieces_read(item, text, take)) &&
		    item->reader->document->problems == problems)
			item_refuse(item, "");
	}
}

static struct item item_of(struct reader *r, const struct where *w, const struct key *key,
			   char *base, void *list)
{
	return (struct item){
		.reader = r, .where = *w, .key = key, .base = base, .list = (void **)list};
}

static bool core_take(struct item *item, const char *piece)
{
	unsigned cores = item->reader->machine->cores;
	uint64_t first, last;

	if (!value_span(piece, UINT16_MAX, &first, &last))
		return false;
	if (last >= cores) {
		char *words = cores == 1
				      ? text_format("core number 0 of this machine")
				      : text_format("core numbers 0-%u of this machine", cores - 1);

		refuse(item->reader, &item->where, words);
		free(words);
		return true;
	}
	for (; first <= last; first++) {
		*(uint16_t *)list_grow(item->reader->config, item->list, item->count, 2) =
			(uint16_t)first;
		item->count++;
	}
	return true;
}

void cores_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = item_of(r, w, key, base, base + key->offset);
	char *all = text_format("0-%u", r->machine->cores - 1);

	if (cJSON_IsString(w->node) && strcmp(w->node->valuestring, "max") == 0)
		pieces_read(&item, all, core_take);
	else
		items_read(&item, w->node, core_take);
	uint_store(base + key->count, key->count_size, item.count);
	free(all);
}

/* Say what is wrong with a piece that is no range of addresses, nor, with `one`, an address. */
static bool address_refuse(struct item *item, const char *piece, bool one)
{
	char words[128];
	const char *fault = value_range_fault(piece, one, words, sizeof(words));

	if (fault)
		refuse(item->reader, &item->where, fault);
	return fault != NULL;
}

static bool own_address_take(struct item *item, const char *piece)
{
	struct config_address address;

	if (!value_address(piece, &address))
		return address_refuse(item, piece, true);
	memcpy(list_grow(item->reader->config, item->list, item->count++, sizeof(address)),
	       &address, sizeof(address));
	return true;
}

void own_addresses_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = item_of(r, w, key, base, base + key->offset);

	items_read(&item, w->node, own_address_take);
	uint_store(base + key->count, key->count_size, item.count);
}

static bool vlan_take(struct item *item, const char *piece)
{
	uint64_t id;

	if (item->count == 2 || !value_count(piece, &id) || id < item->key->min ||
	    id > item->key->max)
		return false;
	((uint16_t *)item->list)[item->count++] = (uint16_t)id;
	return true;
}

void vlans_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = item_of(r, w, key, base, base + key->offset);

	if (!cJSON_IsArray(w->node) || w->node->child)
		items_read(&item, w->node, vlan_take);
	uint_store(base + key->count, key->count_size, item.count);
}

/* A key of addresses fills two pools that lie side by side: IPv4's, then IPv6's. */
static bool address_take(struct item *item, const char *piece)
{
	struct ip_pool *pool = (struct ip_pool *)(item->base + item->key->offset);
	struct ip_range range;
	uint8_t family;

	if (!value_ip_range(piece, &range, &family))
		return address_refuse(item, piece, false);
	pool += family == 6;
	for (unsigned i = 0; i < pool->ranges; i++) {
		const struct ip_range *other = &pool->range[i];
		u128 start = range.first > other->first ? range.first : other->first;
		char text[46];

		if (range.first >= other->first + other->count ||
		    other->first >= range.first + range.count)
			continue;
		problem_add(item->reader->document, &item->where, PLACE_VALUE,
			    "%s is in the list twice", ip_format(text, family, start));
		return true;
	}
	memcpy(list_grow(item->reader->config, (void **)&pool->range, pool->ranges, sizeof(range)),
	       &range, sizeof(range));
	pool->ranges++;
	pool->count += range.count;
	return true;
}

void addresses_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct ip_pool *pool = (struct ip_pool *)(base + key->offset);
	struct item item = item_of(r, w, key, base, NULL);

	pool[0].family = 4;
	pool[1].family = 6;
	items_read(&item, w->node, address_take);
}

static bool port_take(struct item *item, const char *piece)
{
	struct port_pool *pool = (struct port_pool *)(item->base + item->key->offset);
	uint64_t first, last;

	if (!value_span(piece, 65535, &first, &last) || !first)
		return false;
	for (unsigned i = 0; i < pool->ranges; i++) {
		if (first > pool->range[i].last || last < pool->range[i].first)
			continue;
		problem_add(item->reader->document, &item->where, PLACE_VALUE,
			    "port %u is in the list twice",
			    first > pool->range[i].first ? (unsigned)first : pool->range[i].first);
		return true;
	}
	*(struct port_range *)list_grow(item->reader->config, item->list, pool->ranges,
					sizeof(struct port_range)) =
		(struct port_range){(uint16_t)first, (uint16_t)last};
	pool->ranges++;
	pool->count += (uint32_t)(last - first + 1);
	return true;
}

void ports_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct port_pool *pool = (struct port_pool *)(base + key->offset);
	struct item item = item_of(r, w, key, base, &pool->range);

	items_read(&item, w->node, port_take);
}

static bool number_take(struct item *item, const char *piece)
{
	struct number_pool *pool = (struct number_pool *)(item->base + item->key->offset);
	uint64_t first, last;

	if (!value_span(piece, item->key->max, &first, &last) || first < item->key->min)
		return false;
	for (unsigned i = 0; i < pool->ranges; i++) {
		if (first > pool->range[i].last || last < pool->range[i].first)
			continue;
		problem_add(item->reader->document, &item->where, PLACE_VALUE,
			    "%u is in the list twice",
			    first > pool->range[i].first ? (unsigned)first : pool->range[i].first);
		return true;
	}
	*(struct number_range *)list_grow(item->reader->config, item->list, pool->ranges,
					  sizeof(struct number_range)) =
		(struct number_range){(uint32_t)first, (uint32_t)last};
	pool->ranges++;
	return true;
}

void numbers_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct number_pool *pool = (struct number_pool *)(base + key->offset);
	struct item item = item_of(r, w, key, base, &pool->range);

	items_read(&item, w->node, number_take);
}

void texts_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = item_of(r, w, key, base, base + key->offset);

	if (!cJSON_IsArray(w->node)) {
		item_refuse(&item, "");
		return;
	}
	for (const cJSON *element = w->node->child; element; element = element->next) {
		struct where at = {.up = w, .index = (unsigned)item.count, .node = element};

		if (!cJSON_IsString(element) || !*element->valuestring)
			refuse(r, &at, "a text that is not empty");
		*(const char **)list_grow(r->config, item.list, item.count++, sizeof(char *)) =
			storage_text(r->config,
				     cJSON_IsString(element) ? element->valuestring : "");
	}
	uint_store(base + key->count, key->count_size, item.count);
}

/* A token (RFC 9110, section 5.6.2). */
static bool text_is_token(const char *text)
{
	return *text && !text[strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

/* A field value (RFC 9110, section 5.5): no control characters but tab. */
static bool text_is_field(const char *text)
{
	for (; *text; text++) {
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return false;
	}
	return true;
}

static void header_check(struct reader *r, const struct where *w)
{
	static const char *const own[] = {"Content-Length", "Transfer-Encoding", "Connection"};
	struct where name = *w;

	for (const cJSON *other = w->up->node->child; other != w->node; other = other->next) {
		if (strcasecmp(other->string, w->key) == 0)
			problem_add(r->document, w, PLACE_KEY, "given twice, first in line %u",
				    r->document->marks.mark[other->valueint].key.line);
	}
	if (!text_is_token(name.key))
		problem_add(r->document, w, PLACE_KEY, "not the name of a header (RFC 9110)");
	else if (strcasecmp(name.key, "Host") == 0)
		problem_add(r->document, w, PLACE_KEY,
			    "expected in the key \"host\" of the request");
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		if (strcasecmp(name.key, own[i]) == 0)
			problem_add(
				r->document, w, PLACE_KEY,
				"made by Onager itself, as the body and the connection need it");
	}
	if (!cJSON_IsString(w->node) || !text_is_field(w->node->valuestring))
		refuse(r, w, "a text in one line");
}

void headers_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = item_of(r, w, key, base, base + key->offset);

	if (!cJSON_IsObject(w->node)) {
		item_refuse(&item, "");
		return;
	}
	for (const cJSON *child = w->node->child; child; child = child->next) {
		struct where at = {.up = w, .key = child->string, .node = child};
		struct config_header *header;

		header_check(r, &at);
		header = list_grow(r->config, item.list, item.count++, sizeof(*header));
		header->name = storage_text(r->config, child->string);
		header->value =
			storage_text(r->config, cJSON_IsString(child) ? child->valuestring : "");
	}
	uint_store(base + key->count, key->count_size, item.count);
}
