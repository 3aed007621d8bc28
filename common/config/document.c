/* Documents: a file and the settings of the command line become one tree with positions.
 *
 * A setting is applied to the tree before anything is checked, so that a value means the same
 * whether it comes from the file or from --set; its problems are shown with the setting itself. */
#define _GNU_SOURCE /* vasprintf() */
#include "document.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../base/require.h"

#define FILE_BYTES_MAX (64u << 20)

static char *text_vformat(const char *format, va_list args)
{
	char *text = NULL;

	require(vasprintf(&text, format, args) >= 0);
	return text;
}

char *text_format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = text_vformat(format, args);
	va_end(args);
	return text;
}

char *where_text(const struct where *w)
{
	char *up, *text;

	if (!w->up)
		return text_format("%s", "");
	up = where_text(w->up);
	if (w->key)
		text = text_format("%s%s%s", up, *up ? "." : "", w->key);
	else
		text = text_format("%s[%u]", up, w->index);
	free(up);
	return text;
}

char *node_text(const cJSON *node)
{
	char *printed, *text;

	if (cJSON_IsArray(node))
		return text_format("a list");
	if (cJSON_IsObject(node))
		return text_format("an object");
	printed = cJSON_PrintUnformatted(node);
	require(printed);
	text = text_format("%s", printed);
	cJSON_free(printed);
	return text;
}

/* Takes the text over. */
static void problem_push(struct document *d, unsigned source, struct place place, char *text)
{
	if (d->problems == d->problems_room) {
		d->problems_room = d->problems_room ? 2 * d->problems_room : 16;
		d->problem = realloc(d->problem, d->problems_room * sizeof(*d->problem));
		require(d->problem);
	}
	d->problem[d->problems] = (struct problem){source, place, d->problems, text};
	d->problems++;
}

void problem_add(struct document *d, const struct where *w, enum place_of place_of,
		 const char *format, ...)
{
	const struct where *placed = w;
	const struct mark *mark;
	char *path = where_text(w);
	char *sentence;
	va_list args;

	va_start(args, format);
	sentence = text_vformat(format, args);
	va_end(args);
	while (!placed->node)
		placed = placed->up;
	mark = &d->marks.mark[placed->node->valueint];
	problem_push(d, mark->source, place_of == PLACE_KEY ? mark->key : mark->value,
		     text_format("%s%s%s", path, *path ? ": " : "", sentence));
	free(path);
	free(sentence);
}

char *document_path(const struct document *d, const struct where *w, const char *name)
{
	const struct mark *mark = &d->marks.mark[w->node->valueint];
	const char *slash =
		mark->source == SOURCE_FILE && *name != '/' ? strrchr(d->file, '/') : NULL;

	return text_format("%.*s%s", slash ? (int)(slash + 1 - d->file) : 0, d->file, name);
}

/* Give each node its mark, in the order in which the scanner made them. */
static size_t node_mark(struct document *d, cJSON *node, const char *text, size_t next)
{
	const struct mark *mark = &d->marks.mark[next];

	node->valueint = (int)next++;
	if (cJSON_IsNumber(node)) {
		node->valuestring = cJSON_malloc(mark->length + 1);
		require(node->valuestring);
		memcpy(node->valuestring, text + mark->offset, mark->length);
		node->valuestring[mark->length] = '\0';
		node->type = cJSON_Raw;
	}
	for (cJSON *child = node->child; child; child = child->next)
		next = node_mark(d, child, text, next);
	return next;
}

static cJSON *text_parse(struct document *d, char *text, size_t length, unsigned source,
			 struct place *place, char **sentence)
{
	size_t first = d->marks.count;
	cJSON *node;

	if (!scan_json(text, length, source, &d->marks, place, sentence))
		return NULL;
	node = cJSON_ParseWithLength(text, length);
	require(node && d->marks.count <= INT32_MAX);
	require(node_mark(d, node, text, first) == d->marks.count);
	return node;
}

/* A mark for a node that stands in no text. */
static cJSON *node_own(struct document *d, cJSON *node, unsigned source)
{
	char blank[] = "0";
	struct place place;
	char *sentence;

	require(node && scan_json(blank, 1, source, &d->marks, &place, &sentence));
	node->valueint = (int)(d->marks.count - 1);
	return node;
}

cJSON *document_value(struct document *d, const char *text, unsigned source, char **sentence)
{
	char *copy = text_format("%s", text);
	struct place place;
	cJSON *node;

	*sentence = NULL;
	node = text_parse(d, copy, strlen(copy), source, &place, sentence);
	free(copy);
	if (node || (*text && strchr("\"[{", *text)))
		return node;
	free(*sentence);
	*sentence = NULL;
	return node_own(d, cJSON_CreateString(text), source);
}

/* The whole file, or NULL with errno set. The limit is for what has no end: a device, a pipe. */
static char *file_read(FILE *file, size_t bytes_max, size_t *length)
{
	size_t room = 65536;
	char *text = malloc(room);

	require(text);
	*length = 0;
	for (;;) {
		*length += fread(text + *length, 1, room - *length, file);
		if (*length < room)
			break;
		if (room >= bytes_max) {
			free(text);
			errno = EFBIG;
			return NULL;
		}
		room *= 2;
		text = realloc(text, room);
		require(text);
	}
	if (!ferror(file))
		return text;
	free(text);
	return NULL;
}

void document_read(struct document *d, const char *name)
{
	bool is_stdin = name && strcmp(name, "-") == 0;
	FILE *file = is_stdin ? stdin : name ? fopen(name, "rb") : NULL;
	struct place place = {0, 0};
	char *sentence = NULL;
	size_t length = 0;
	char *text = NULL;

	if (!name) {
		d->file = "command line";
		d->root = node_own(d, cJSON_CreateObject(), SOURCE_FILE);
		return;
	}
	d->file = is_stdin ? "<stdin>" : name;
	if (file)
		text = file_read(file, d->bytes_max ? d->bytes_max : FILE_BYTES_MAX, &length);
	if (!text)
		sentence = text_format("%s", strerror(errno));
	else
		d->root = text_parse(d, text, length, SOURCE_FILE, &place, &sentence);
	if (sentence)
		problem_push(d, SOURCE_FILE, place, sentence);
	if (file && !is_stdin)
		fclose(file);
	free(text);
}

/* One step of a path, "name", ".name", "[3]" or ".3": its length without the dot, NULL at its end.
 */
static const char *step_next(const char **path, size_t *length, bool *is_index)
{
	const char *step = *path;

	if (*step == '.')
		step++;
	if (*step == '[') {
		step++;
		*length = strcspn(step, "]");
		*path = step + *length + (step[*length] == ']');
	} else {
		*length = strcspn(step, ".[");
		*path = step + *length;
	}
	*is_index = *length > 0 && strspn(step, "0123456789") >= *length;
	return step;
}

static void set_refuse(struct document *d, unsigned set, const char *path, const char *end,
		       const char *sentence)
{
	problem_push(d, set + 1, (struct place){0, 0},
		     text_format("%.*s: %s", (int)(end - path), path, sentence));
}

/* Put a node in, in place of the one of that name or number if there is one. */
static void child_put(cJSON *parent, const char *name, cJSON *old, cJSON *node)
{
	if (old && cJSON_IsObject(parent))
		cJSON_ReplaceItemInObjectCaseSensitive(parent, name, node);
	else if (old)
		cJSON_ReplaceItemViaPointer(parent, old, node);
	else if (cJSON_IsObject(parent))
		cJSON_AddItemToObject(parent, name, node);
	else
		cJSON_AddItemToArray(parent, node);
}

/* Follow one step down from *node, making what is missing; the last step puts `value` there.
 * Returns what is wrong, or NULL. */
static const char *step_take(struct document *d, cJSON **node, const char *name, bool is_index,
			     const char *rest, unsigned set, cJSON *value)
{
	cJSON *child = NULL;

	if (cJSON_IsArray(*node)) {
		unsigned long size = (unsigned long)cJSON_GetArraySize(*node);
		unsigned long index = strtoul(name, NULL, 10);

		if (!is_index || index > size)
			return "no such element of the list";
		child = cJSON_GetArrayItem(*node, (int)index);
	} else if (cJSON_IsObject(*node)) {
		child = cJSON_GetObjectItemCaseSensitive(*node, name);
	} else {
		return "nothing can be set inside a value that is neither object nor list";
	}
	if (!*rest) {
		child_put(*node, name, child, value);
	} else if (!child) {
		size_t length;
		bool list;

		step_next(&rest, &length, &list);
		child = node_own(d, list ? cJSON_CreateArray() : cJSON_CreateObject(), set + 1);
		child_put(*node, name, NULL, child);
	}
	*node = child;
	return NULL;
}

void document_set(struct document *d, unsigned set)
{
	const char *start = d->set[set];
	const char *equals = strchr(start, '=');
	cJSON *node = d->root;
	cJSON *value;
	char *path;
	const char *rest;
	const char *wrong;
	char *sentence;

	if (!equals || equals == start) {
		problem_push(d, set + 1, (struct place){0, 0}, text_format("expected PATH=VALUE"));
		return;
	}
	path = text_format("%.*s", (int)(equals - start), start);
	value = document_value(d, equals + 1, set + 1, &sentence);
	wrong = sentence;
	for (rest = path; *rest && !wrong;) {
		size_t length;
		bool is_index;
		const char *step = step_next(&rest, &length, &is_index);
		char *name = text_format("%.*s", (int)length, step);

		if (!length)
			wrong = "expected a name or a number after \".\" or \"[\"";
		else
			wrong = step_take(d, &node, name, is_index, rest, set, value);
		free(name);
	}
	if (wrong) {
		set_refuse(d, set, path, sentence ? path + strlen(path) : rest, wrong);
		cJSON_Delete(value);
	}
	free(sentence);
	free(path);
}

static int problem_compare(const void *a, const void *b)
{
	const struct problem *p = a, *q = b;

	if (p->source != q->source)
		return p->source < q->source ? -1 : 1;
	if (p->place.line != q->place.line)
		return p->place.line < q->place.line ? -1 : 1;
	if (p->place.column != q->place.column)
		return p->place.column < q->place.column ? -1 : 1;
	return p->order < q->order ? -1 : 1;
}

size_t document_report(struct document *d, FILE *out)
{
	if (d->problems)
		qsort(d->problem, d->problems, sizeof(*d->problem), problem_compare);
	for (size_t i = 0; i < d->problems; i++) {
		const struct problem *p = &d->problem[i];

		if (p->source != SOURCE_FILE)
			fprintf(out, "--set %s: %s\n", d->set[p->source - 1], p->text);
		else if (p->place.line)
			fprintf(out, "%s:%u:%u: %s\n", d->file, p->place.line, p->place.column,
				p->text);
		else
			fprintf(out, "%s: %s\n", d->file, p->text);
	}
	return d->problems;
}

void document_free(struct document *d)
{
	for (size_t i = 0; i < d->problems; i++)
		free(d->problem[i].text);
	free(d->problem);
	free(d->marks.mark);
	cJSON_Delete(d->root);
	*d = (struct document){.root = NULL};
}
