/* A configuration file as a tree of cJSON nodes that remember where they were written.
 *
 * cJSON keeps no positions, so each node's `valueint` is the index of its mark; a number is kept as
 * its text (cJSON_Raw), so that nothing of it passes through a double. Problems are collected and
 * printed at the end, in order of position. */
#ifndef CONFIG_DOCUMENT_H
#define CONFIG_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#define SOURCE_FILE    0u /* source i + 1 is the i-th --set */
#define SOURCE_DEFAULT (~0u)

struct place {
	unsigned line, column; /* from 1; columns are characters, not bytes */
};

struct mark {
	unsigned source;
	struct place key, value; /* an element of a list has its value's place as key */
	size_t offset, length;   /* of the value's text, if it is a number */
};

struct marks {
	struct mark *mark;
	size_t count, room;
};

struct problem {
	unsigned source;
	struct place place; /* line 0: the whole source */
	size_t order;
	char *text;
};

struct document {
	const char *file; /* as it is called in messages */
	const char *const *set;
	size_t bytes_max; /* of a file; 0: as much as a configuration may have */
	cJSON *root;
	struct marks marks;
	struct problem *problem;
	size_t problems, problems_room;
};

/* A node on the way down from the root. node NULL: the key is missing. */
struct where {
	const struct where *up;
	const char *key; /* NULL: an element of a list, or the root */
	unsigned index;
	const cJSON *node;
};

enum place_of { PLACE_KEY, PLACE_VALUE };

/* Check JSON in `text` (comments allowed) strictly, turn its comments and BOM into blanks, append
 * the marks of its values in order. On failure returns false with the place and an allocated
 * sentence. */
bool scan_json(char *text, size_t length, unsigned source, struct marks *, struct place *place,
	       char **sentence);

/* Read a file ("-": stdin; NULL: an empty object) or apply a setting "PATH=VALUE". Failures become
 * problems. */
void document_read(struct document *, const char *file);
void document_set(struct document *, unsigned set);

/* The tree of a text that is JSON, or else is taken as a string; to be given to cJSON_Delete().
 * NULL with an allocated sentence if it begins as a string, list or object does, and is none. */
cJSON *document_value(struct document *, const char *text, unsigned source, char **sentence);

/* Note a problem; the sentence follows the path. */
void problem_add(struct document *, const struct where *, enum place_of, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The file that a value names: what a configuration file says is relative to where that file lies,
 * what a setting says to where the program was started. Allocated. */
char *document_path(const struct document *, const struct where *, const char *name);

/* Print a node's value as a message shows it: scalars whole, "a list", "an object". Allocated. */
char *node_text(const cJSON *);

/* "ports[0].cores", allocated. */
char *where_text(const struct where *);

/* Print all problems, by position; returns how many there were. */
size_t document_report(struct document *, FILE *);
void document_free(struct document *);

/* asprintf() that cannot fail. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
