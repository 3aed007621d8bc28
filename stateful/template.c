/* Templates are expanded while messages are prepared, by the random numbers of the seed: nothing of
 * it is done when a request is sent. */
#include "template.h"

#include <stdlib.h>
#include <string.h>

#define REPEAT_MOST 1024u

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

static void random_add(struct store *store, struct rng *rng, const char *set, unsigned long count)
{
	size_t size = strlen(set);

	for (unsigned long i = 0; i < count && i < REPEAT_MOST; i++)
		store_add(store, &set[rng_below(rng, size)], 1);
}

/* What would end a path, or split a query, and what is no ASCII. */
static bool is_encoded(uint8_t byte)
{
	return byte <= ' ' || byte >= 0x7f || strchr("#&+", byte);
}

static void value_add(struct store *store, const char *value, size_t length, bool encode)
{
	for (size_t i = 0; i < length; i++) {
		if (encode && is_encoded((uint8_t)value[i]))
			store_format(store, "%%%02X", (uint8_t)value[i]);
		else
			store_add(store, value + i, 1);
	}
}

static void uuid_add(struct store *store, struct rng *rng)
{
	uint64_t a = rng_next(rng), b = rng_next(rng);

	/* RFC 9562 section 5.4: version 4 */
	store_format(store, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
		     (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
		     (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
		     (unsigned long long)(b & 0xffffffffffffu));
}

static bool list_add(struct store *store, const char *name, size_t length,
		     const struct template_rule *rule)
{
	for (unsigned i = 0; i < rule->traffic->lists; i++) {
		const struct config_list *list = &rule->traffic->list[i];
		const char *word;

		if (strlen(list->name) != length || memcmp(list->name, name, length) != 0)
			continue;
		word = list->word[rng_below(rule->rng, list->words)];
		value_add(store, word, strlen(word), rule->in_path);
		return true;
	}
	return false;
}

static bool sensitive_add(struct store *store, const char *name, size_t length,
			  const struct template_rule *rule)
{
	for (unsigned kind = 0; kind < SENSITIVE_KINDS; kind++) {
		char item[SENSITIVE_MAX];

		if (strlen(sensitive_info[kind].name) != length ||
		    memcmp(sensitive_info[kind].name, name, length) != 0)
			continue;
		value_add(store, item, sensitive_make(kind, rule->rng, item), rule->in_path);
		if (rule->items)
			rule->items[kind]++;
		return true;
	}
	return false;
}

static bool begins(const char *name, size_t length, const char *with)
{
	return length > strlen(with) && !memcmp(name, with, strlen(with));
}

static bool is_named(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(name, word, length);
}

/* A variable by its name; false if it is none. */
static bool variable_add(struct store *store, const char *name, size_t length,
			 const struct template_rule *rule)
{
	if (begins(name, length, "random:"))
		random_add(store, rule->rng, letters, strtoul(name + 7, NULL, 10));
	else if (begins(name, length, "digits:"))
		random_add(store, rule->rng, "0123456789", strtoul(name + 7, NULL, 10));
	else if (begins(name, length, "list:"))
		return list_add(store, name + 5, length - 5, rule);
	else if (is_named(name, length, "counter"))
		store_format(store, "%u", rule->number);
	else if (is_named(name, length, "uuid"))
		uuid_add(store, rule->rng);
	else if (is_named(name, length, "payload"))
		value_add(store, rule->payload.text ? rule->payload.text : "", rule->payload.length,
			  rule->in_path);
	else
		return sensitive_add(store, name, length, rule);
	return true;
}

void template_add(struct store *store, const char *text, const struct template_rule *rule)
{
	while (*text) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;

		if (rule->in_path && *text == '`') {
			random_add(store, rule->rng, characters, 1);
			text++;
		} else if (end && variable_add(store, text + 1, (size_t)(end - text - 1), rule)) {
			text = end + 1;
		} else {
			store_add(store, text++, 1);
		}
	}
}

bool template_varies(const char *text, bool in_path)
{
	const struct config_traffic none = {.lists = 0};
	struct rng rng = {1};
	const struct template_rule rule = {.traffic = &none, .rng = &rng};

	if (in_path && strchr(text, '`'))
		return true;
	for (; (text = strchr(text, '{')); text++) {
		const char *end = strchr(text, '}');
		struct store store = {.text = NULL};

		if (end && (!strncmp(text, "{list:", 6) ||
			    variable_add(&store, text + 1, (size_t)(end - text - 1), &rule)))
			return true;
	}
	return false;
}
