/* Pieces of a page: text that is escaped, numbers, tables. Internal to page*.c. */
#ifndef RUN_PAGE_HTML_H
#define RUN_PAGE_HTML_H

#include <stdio.h>

#include "../config/json.h"

/* Text, wherever it may stand: an element's content or an attribute in double quotes. */
void html_text(FILE *out, const char *text);

/* A number for people: thousands, at most three places. */
void html_number(FILE *out, double number);

/* A value as a cell shows it: text, number, list; nothing for what is absent. */
void html_value(FILE *out, const struct json *value);

/* Each member that is a number, text or list as a row of two cells. */
void html_members(FILE *out, const struct json *object);

/* One row for each member or element, which are objects, and a column for each of their values. The
 * first column is the member's name; NULL: elements have none. */
void html_table(FILE *out, const struct json *rows, const char *name);

#endif
