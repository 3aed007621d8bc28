/* A view of a document's tree: struct json is cJSON by another name, so that who reads needs no
 * more than this. Numbers lie there as their text (document.h). */
#include "json.h"

#include <math.h>
#include <stdlib.h>

#include "../base/require.h"
#include "document.h"

#define REPORT_BYTES_MAX (1u << 30)

struct json_file {
	struct document document;
};

static const cJSON *node(const struct json *json)
{
	return (const cJSON *)json;
}

static const struct json *view(const cJSON *item)
{
	return (const struct json *)item;
}

struct json_file *json_open(const char *name, FILE *errors)
{
	struct json_file *file = calloc(1, sizeof(*file));

	require(file);
	file->document.bytes_max = REPORT_BYTES_MAX;
	document_read(&file->document, name);
	if (!document_report(&file->document, errors))
		return file;
	json_close(file);
	return NULL;
}

void json_close(struct json_file *file)
{
	document_free(&file->document);
	free(file);
}

const struct json *json_root(const struct json_file *file)
{
	return view(file->document.root);
}

const struct json *json_get(const struct json *json, const char *name)
{
	return view(json_is_object(json) ? cJSON_GetObjectItemCaseSensitive(node(json), name)
					 : NULL);
}

const struct json *json_first(const struct json *json)
{
	return view(json_is_object(json) || json_is_list(json) ? node(json)->child : NULL);
}

const struct json *json_next(const struct json *json)
{
	return view(node(json)->next);
}

const char *json_name(const struct json *member)
{
	return node(member)->string;
}

bool json_is_object(const struct json *json)
{
	return cJSON_IsObject(node(json));
}

bool json_is_list(const struct json *json)
{
	return cJSON_IsArray(node(json));
}

bool json_is_true(const struct json *json)
{
	return cJSON_IsTrue(node(json));
}

const char *json_text(const struct json *json)
{
	return cJSON_IsString(node(json)) ? node(json)->valuestring : NULL;
}

bool json_number(const struct json *json, double *number)
{
	if (!cJSON_IsRaw(node(json)))
		return false;
	*number = strtod(node(json)->valuestring, NULL);
	return isfinite(*number);
}

char *json_print(const struct json *json)
{
	char *text = cJSON_Print(node(json));

	require(text);
	return text;
}
