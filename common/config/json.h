/* Reading JSON of our own, such as a report: a tree to look at, without cJSON in sight. */
#ifndef CONFIG_JSON_H
#define CONFIG_JSON_H

#include <stdbool.h>
#include <stdio.h>

struct json; /* a value */
struct json_file;

/* Read a file ("-": standard input). NULL with a line on `errors` that says what is wrong where. */
struct json_file *json_open(const char *file, FILE *errors);
void json_close(struct json_file *);
const struct json *json_root(const struct json_file *);

/* Member of an object; NULL if there is none, or value is no object (NULL neither). */
const struct json *json_get(const struct json *, const char *name);

/* First member or element, and the one after it; NULL at the end, or if there are none. */
const struct json *json_first(const struct json *);
const struct json *json_next(const struct json *);
const char *json_name(const struct json *member);

bool json_is_object(const struct json *);
bool json_is_list(const struct json *);
bool json_is_true(const struct json *);
/* NULL if it is none. */
const char *json_text(const struct json *);
bool json_number(const struct json *, double *);

/* The value as JSON, indented; allocated. */
char *json_print(const struct json *);

#endif
