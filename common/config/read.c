/* Objects: each key of the file finds its row, each row its key or its default.
 *
 * Two passes. Over the file's keys: unknown ones, ones given twice, ones of another traffic kind.
 * Over the rows, in the table's order: values, defaults, and what is missing. Defaults are read by
 * the same functions as values. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "../base/require.h"

struct block {
	struct block *next;
	_Alignas(16) char data[];
};

void *storage_take(struct config *config, size_t size)
{
	struct block *block = calloc(1, sizeof(*block) + size);

	require(block);
	block->next = config->storage;
	config->storage = block;
	return block->data;
}

const char *storage_text(struct config *config, const char *text)
{
	return strcpy(storage_take(config, strlen(text) + 1), text);
}

void *list_grow(struct config *config, void **list, size_t count, size_t size)
{
	if (!(count & (count - 1))) { /* a power of two, or none: full */
		char *larger = storage_take(config, (count ? 2 * count : 1) * size);

		if (count)
			memcpy(larger, *list, count * size);
		*list = larger;
	}
	return (char *)*list + count * size;
}

void config_free(struct config *config)
{
	for (struct block *block = config->storage, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(config->json);
	*config = (struct config){.file = NULL};
}

const char *node_value(const cJSON *node)
{
	return cJSON_IsString(node) || cJSON_IsRaw(node) ? node->valuestring : NULL;
}

void uint_store(void *field, size_t size, uint64_t value)
{
	if (size == 1)
		*(uint8_t *)field = (uint8_t)value;
	else if (size == 2)
		*(uint16_t *)field = (uint16_t)value;
	else if (size == 4)
		*(uint32_t *)field = (uint32_t)value;
	else
		*(uint64_t *)field = value;
}

void refuse(struct reader *r, const struct where *w, const char *words)
{
	char *got = node_text(w->node);

	problem_add(r->document, w, PLACE_VALUE, "expected %s, got %s", words, got);
	free(got);
}

/* "http-client, tcp-client": the kinds that know the key. */
static char *kinds_text(enum key_object object, const char *name)
{
	unsigned kinds = 0;
	char *text = text_format("%s", "");

	for (size_t i = 0; i < key_count; i++) {
		if (key_table[i].object == object && strcmp(key_table[i].name, name) == 0)
			kinds |= key_table[i].kinds;
	}
	for (unsigned i = 0; kinds >> i; i++) {
		char *longer;

		if (!(kinds >> i & 1))
			continue;
		longer = text_format("%s%s%s", text, *text ? ", " : "",
				     traffic_kind_name((enum traffic_kind)i));
		free(text);
		text = longer;
	}
	return text;
}

static void key_unknown(struct reader *r, const struct where *w, enum key_object object)
{
	const char *hint = key_hint(object, w->key, r->kinds);

	if (key_find(object, w->key, KIND_ALL)) {
		char *kinds = kinds_text(object, w->key);

		problem_add(r->document, w, PLACE_KEY, "not a key of this kind, only of %s", kinds);
		free(kinds);
	} else if (hint) {
		problem_add(r->document, w, PLACE_KEY, "unknown key (did you mean \"%s\"?)", hint);
	} else {
		problem_add(r->document, w, PLACE_KEY, "unknown key");
	}
}

static void keys_check(struct reader *r, const struct where *w, enum key_object object)
{
	for (const cJSON *child = w->node->child; child; child = child->next) {
		struct where at = {.up = w, .key = child->string, .node = child};
		const cJSON *first = cJSON_GetObjectItemCaseSensitive(w->node, child->string);

		if (first != child)
			problem_add(r->document, &at, PLACE_KEY, "given twice, first in line %u",
				    r->document->marks.mark[first->valueint].key.line);
		else if (!key_find(object, child->string, r->kinds))
			key_unknown(r, &at, object);
	}
}

static void default_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct where at = *w;
	char *sentence;
	cJSON *node = document_value(r->document, key->standard, SOURCE_DEFAULT, &sentence);
	size_t problems = r->document->problems;

	at.node = node;
	type_table[key->type].read(r, &at, key, base);
	require(r->document->problems == problems);
	cJSON_Delete(node);
}

static void list_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	size_t size = key_object[key->inner].size;
	unsigned count = (unsigned)cJSON_GetArraySize(w->node);
	const cJSON *child = w->node->child;
	char *list;

	if (!cJSON_IsArray(w->node) || (!count && key->required)) {
		refuse(r, w, key->required ? "a list of at least one object" : "a list of objects");
		return;
	}
	list = storage_take(r->config, count * size);
	memcpy(base + key->offset, &list, sizeof(list));
	uint_store(base + key->count, key->count_size, count);
	for (unsigned i = 0; i < count; i++, child = child->next) {
		struct where at = {.up = w, .index = i, .node = child};
		struct reader inner = *r;

		inner.position = i;
		object_read(&inner, &at, key->inner, list + i * size);
	}
}

/* What an element without a name is called; one with a bad name stays without. */
static void name_default(struct reader *r, const struct where *w, enum key_object object,
			 char *base)
{
	char *name;

	if (cJSON_GetObjectItemCaseSensitive(w->node, "name"))
		return;
	name = text_format("%s%u", key_object[object].name, r->position);
	if (object == OBJECT_PORT)
		((struct config_port *)base)->name = storage_text(r->config, name);
	else if (object == OBJECT_TRAFFIC)
		((struct config_traffic *)base)->name = storage_text(r->config, name);
	else if (object == OBJECT_ONE_REQUEST)
		((struct config_message *)base)->name = storage_text(r->config, name);
	free(name);
}

static void key_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	if (key->inner == OBJECT_DIRECTION) /* begins with what stands beside it, for both */
		*(struct config_direction *)(base + key->offset) =
			((struct config_network *)base)->both;
	if (key->type == TYPE_OBJECT && (w->node || !key->required)) {
		object_read(r, w, key->inner, base + key->offset);
	} else if (key->type == TYPE_LIST && w->node) {
		list_read(r, w, key, base);
	} else if (w->node) {
		type_table[key->type].read(r, w, key, base);
	} else if (key->standard) {
		default_read(r, w, key, base);
	} else if (key->required && w->up->node) { /* an object that is not there lacks nothing */
		char *words = key_words(key);

		problem_add(r->document, w, PLACE_VALUE, "missing, expected %s", words);
		free(words);
	}
}

/* The kind decides which other keys there are: it is read before them. */
static void kind_read(struct reader *r, const struct where *w, char *base)
{
	const struct key *key = key_find(OBJECT_TRAFFIC, "kind", KIND_ALL);
	struct where at = {.up = w, .key = "kind"};
	size_t problems = r->document->problems;

	at.node = cJSON_GetObjectItemCaseSensitive(w->node, "kind");
	key_read(r, &at, key, base);
	if (r->document->problems == problems)
		r->kinds = 1u << ((struct config_traffic *)base)->kind;
}

/* Whether a row is to be read for the object at hand. */
static bool key_applies(const struct reader *r, const struct key *key, enum key_object object)
{
	return key->object == object && key_find(object, key->name, r->kinds) == key &&
	       key->type != TYPE_IGNORED &&
	       (object != OBJECT_TRAFFIC || strcmp(key->name, "kind") != 0);
}

void object_read(struct reader *r, const struct where *w, enum key_object object, char *base)
{
	if (w->node && !cJSON_IsObject(w->node)) {
		refuse(r, w, "an object");
		return;
	}
	name_default(r, w, object, base);
	if (object == OBJECT_TRAFFIC)
		kind_read(r, w, base);
	if (w->node)
		keys_check(r, w, object);
	for (size_t i = 0; i < key_count; i++) {
		const struct key *key = &key_table[i];
		struct where at = {.up = w, .key = key->name};

		if (!key_applies(r, key, object))
			continue;
		at.node = cJSON_GetObjectItemCaseSensitive(w->node, key->name);
		/* Of an unknown kind nothing is known to be missing. */
		if (at.node || object != OBJECT_TRAFFIC || r->kinds != KIND_ALL)
			key_read(r, &at, key, base);
	}
}
