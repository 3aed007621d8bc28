/* The JSON Schema (draft 2020-12) and the help text, made from the table of keys.
 *
 * An object whose keys depend on the traffic kind is written once per kind, so that each is closed
 * (additionalProperties false) and an editor offers only what applies; `kind` selects by if/then.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "../base/require.h"
#include "value.h"

static cJSON *object_schema(enum key_object, unsigned kinds);

/* A value as it would be written: a JSON value, all of it, or a text. */
static cJSON *value_schema(const char *text)
{
	cJSON *value = cJSON_ParseWithOpts(text, NULL, true);

	return value ? value : cJSON_CreateString(text);
}

static cJSON *choices_schema(const char *choices)
{
	cJSON *list = cJSON_CreateArray();
	const char *word;
	size_t length;

	for (unsigned i = 0; choice_at(choices, i, &word, &length); i++) {
		char *text = text_format("%.*s", (int)length, word);

		cJSON_AddItemToArray(list, value_schema(text));
		free(text);
	}
	return list;
}

/* One of the words, a list of them, or (of a mix) an object of them and their weights. */
static cJSON *words_schema(const struct key *key)
{
	cJSON *schema = cJSON_CreateObject(), *any = cJSON_AddArrayToObject(schema, "anyOf");
	cJSON *word = cJSON_CreateObject(), *list = cJSON_CreateObject();

	cJSON_AddItemToObject(word, "enum", choices_schema(key->choices));
	cJSON_AddItemToArray(any, word);
	cJSON_AddStringToObject(list, "type", "array");
	cJSON_AddNumberToObject(list, "minItems", key->type == TYPE_MIX);
	cJSON_AddItemToObject(list, "items", cJSON_Duplicate(word, true));
	cJSON_AddItemToArray(any, list);
	if (key->type == TYPE_MIX) {
		cJSON *weights = cJSON_Parse("{\"type\":\"object\",\"minProperties\":1,"
					     "\"additionalProperties\":{\"type\":\"integer\","
					     "\"minimum\":1,\"maximum\":1000000}}");

		cJSON_AddItemToObject(weights, "propertyNames", cJSON_Duplicate(word, true));
		cJSON_AddItemToArray(any, weights);
	}
	return schema;
}

static void limits_add_items(cJSON *schema, const struct key *key)
{
	cJSON *items = cJSON_GetObjectItemCaseSensitive(schema, "items");

	cJSON_AddNumberToObject(items, "minimum", (double)key->min);
	cJSON_AddNumberToObject(items, "maximum", (double)key->max);
}

static void limits_add(cJSON *schema, const struct key *key)
{
	bool has_zero = key->type == TYPE_REQUESTS;

	if (key->type == TYPE_TIME || key->type == TYPE_SPAN) {
		/* A number without a unit is a time only if it is 0. */
		if (!key->min)
			return;
		cJSON_ReplaceItemInObjectCaseSensitive(schema, "type",
						       cJSON_CreateString("string"));
		cJSON_DeleteItemFromObjectCaseSensitive(schema, "minimum");
		cJSON_DeleteItemFromObjectCaseSensitive(schema, "maximum");
		return;
	}
	if (key->type == TYPE_MIX && !key->choices)
		limits_add_items(schema, key);
	else if (key->type != TYPE_COUNT && key->type != TYPE_LEVEL && !has_zero)
		return;
	cJSON_AddNumberToObject(schema, "minimum", has_zero ? 0 : (double)key->min);
	cJSON_AddNumberToObject(schema, "maximum", (double)key->max);
}

static char *key_description(const struct key *key)
{
	char *words = key_words(key);
	bool is_object = key->type == TYPE_OBJECT || key->type == TYPE_LIST;
	char *text = is_object ? text_format("%s", key->help)
			       : text_format("%s Expected: %s.", key->help, words);

	free(words);
	return text;
}

static cJSON *key_schema(const struct key *key, unsigned kinds)
{
	char *fragment = text_format("{%s}", type_table[key->type].schema);
	char *description = key_description(key);
	cJSON *schema;

	if (key->type == TYPE_OBJECT) {
		schema = object_schema(key->inner, kinds);
	} else if (key->choices && (key->type == TYPE_MIX || key->type == TYPE_SET)) {
		schema = words_schema(key);
	} else {
		schema = cJSON_Parse(fragment);
		require(schema);
	}
	if (key->type == TYPE_LIST) {
		cJSON_AddItemToObject(schema, "items", object_schema(key->inner, kinds));
		cJSON_AddNumberToObject(schema, "minItems", key->required);
	}
	if (key->choices && key->type != TYPE_MIX && key->type != TYPE_SET)
		cJSON_AddItemToObject(schema, "enum", choices_schema(key->choices));
	limits_add(schema, key);
	if (key->standard)
		cJSON_AddItemToObject(schema, "default", value_schema(key->standard));
	cJSON_AddStringToObject(schema, "description", description);
	free(fragment);
	free(description);
	return schema;
}

/* An object as one set of kinds knows it. */
static cJSON *closed_schema(enum key_object object, unsigned kinds)
{
	cJSON *schema = cJSON_CreateObject();
	cJSON *properties, *required;

	cJSON_AddStringToObject(schema, "type", "object");
	properties = cJSON_AddObjectToObject(schema, "properties");
	required = cJSON_CreateArray();
	for (size_t i = 0; i < key_count; i++) {
		const struct key *key = &key_table[i];

		if (key->object != object || !(key->kinds & kinds))
			continue;
		cJSON_AddItemToObject(properties, key->name, key_schema(key, kinds));
		if (key->required)
			cJSON_AddItemToArray(required, cJSON_CreateString(key->name));
	}
	cJSON_AddItemToObject(schema, "required", required);
	cJSON_AddBoolToObject(schema, "additionalProperties", false);
	if (object == OBJECT_LOAD)
		cJSON_AddNumberToObject(schema, "minProperties", 1);
	if (object == OBJECT_EXPECT)
		cJSON_AddNumberToObject(schema, "minProperties", 2);
	return schema;
}

/* {"if": {"properties": {"kind": {"const": KIND}}}, "then": the entry of that kind} */
static cJSON *kind_schema(enum traffic_kind kind)
{
	cJSON *branch = cJSON_CreateObject();
	cJSON *when = cJSON_AddObjectToObject(branch, "if");
	cJSON *properties = cJSON_AddObjectToObject(when, "properties");
	cJSON *is = cJSON_AddObjectToObject(properties, "kind");
	cJSON *required = cJSON_AddArrayToObject(when, "required");

	cJSON_AddStringToObject(is, "const", traffic_kind_name(kind));
	cJSON_AddItemToArray(required, cJSON_CreateString("kind"));
	cJSON_AddItemToObject(branch, "then", closed_schema(OBJECT_TRAFFIC, 1u << kind));
	return branch;
}

static cJSON *object_schema(enum key_object object, unsigned kinds)
{
	const struct key *kind = key_find(OBJECT_TRAFFIC, "kind", KIND_ALL);
	cJSON *schema, *branches, *properties;

	if (object != OBJECT_TRAFFIC)
		return closed_schema(object, kinds);
	schema = cJSON_CreateObject();
	cJSON_AddStringToObject(schema, "type", "object");
	properties = cJSON_AddObjectToObject(schema, "properties");
	cJSON_AddItemToObject(properties, "kind", key_schema(kind, kinds));
	cJSON_AddItemToArray(cJSON_AddArrayToObject(schema, "required"),
			     cJSON_CreateString("kind"));
	branches = cJSON_AddArrayToObject(schema, "allOf");
	for (unsigned i = 0; KIND_ALL >> i; i++)
		cJSON_AddItemToArray(branches, kind_schema((enum traffic_kind)i));
	return schema;
}

void config_schema(FILE *out)
{
	cJSON *schema = cJSON_CreateObject();
	cJSON *root = closed_schema(OBJECT_ROOT, KIND_ALL);
	char *text;

	cJSON_AddStringToObject(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
	cJSON_AddStringToObject(schema, "title", "Onager configuration");
	while (root->child) {
		cJSON *member = cJSON_DetachItemViaPointer(root, root->child);

		cJSON_AddItemToObject(schema, member->string, member);
	}
	text = cJSON_Print(schema);
	require(text);
	fprintf(out, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(root);
	cJSON_Delete(schema);
}

static void help_print(FILE *out, enum key_object object, const char *path, unsigned kinds)
{
	for (size_t i = 0; i < key_count; i++) {
		const struct key *key = &key_table[i];
		char *name = text_format("%s%s%s", path, *path ? "." : "", key->name);
		char *description = key_description(key);

		if (key->object == object && key->kinds & kinds) {
			fprintf(out, "%s%s\n        %s", name, key->type == TYPE_LIST ? "[]" : "",
				description);
			for (unsigned j = 0; key->kinds != KIND_ALL && KIND_ALL >> j; j++) {
				if (key->kinds & kinds & 1u << j)
					fprintf(out, " [%s]",
						traffic_kind_name((enum traffic_kind)j));
			}
			if (key->required)
				fprintf(out, " Required.");
			if (key->standard)
				fprintf(out, " Default: %s.", key->standard);
			fputc('\n', out);
			if (key->type == TYPE_OBJECT || key->type == TYPE_LIST) {
				char *inner = text_format("%s%s", name,
							  key->type == TYPE_LIST ? "[]" : "");

				help_print(out, key->inner, inner, kinds & key->kinds);
				free(inner);
			}
		}
		free(name);
		free(description);
	}
}

void config_help(FILE *out)
{
	help_print(out, OBJECT_ROOT, "", KIND_ALL);
}
