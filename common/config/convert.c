/* dperf's configuration read, line by line: words separated by blanks, the first a keyword; a line
 * whose first word begins with # is a comment.
 *
 * The mode is looked for first, because keywords of the other side mean nothing. All that is said
 * about a line - its comment, or what is dropped and why - becomes a remark with a place in our
 * configuration; convert_write() prints them there, and the dropped ones go to the user too. */
#define _GNU_SOURCE
#include "convert.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "convert_private.h"

#define BLANKS " \t\r\v\f"

void remark_add(struct convert *c, enum remark_kind kind, enum slot slot, unsigned index,
		unsigned line, const char *format, ...)
{
	struct remark *r, remark = {.kind = kind, .slot = slot, .index = index, .line = line};
	va_list args;

	r = realloc(c->remark, (c->remarks + 1) * sizeof(*r));
	va_start(args, format);
	if (!r || vasprintf(&remark.text, format, args) < 0)
		abort();
	va_end(args);
	c->remark = r;
	c->remark[c->remarks++] = remark;
	c->wrong += kind == REMARK_WRONG;
}

unsigned keyword_line(const struct convert *c, const char *name)
{
	for (size_t i = 0; i < keyword_count; i++)
		if (!strcmp(keyword_table[i].name, name))
			return c->seen[i];
	return 0;
}

static size_t keyword_find(const char *name)
{
	size_t i = 0;

	while (i < keyword_count && strcmp(keyword_table[i].name, name) != 0)
		i++;
	return i;
}

/* Comments stand in front of the keyword that follows them. */
static void comments_place(struct convert *c, const struct keyword *keyword, unsigned index)
{
	for (unsigned i = 0; i < c->remarks; i++) {
		struct remark *r = &c->remark[i];

		if (r->kind == REMARK_COMMENT && r->slot == SLOT_END) {
			r->slot = keyword->slot;
			r->index = index;
		}
	}
}

/* How often a keyword of ports and pools was given: which of them a comment belongs to. */
static unsigned index_of(const struct convert *c, const struct keyword *keyword)
{
	switch (keyword->slot) {
	case SLOT_PORT:
		return c->dperf.ports;
	case SLOT_CLIENTS:
		return c->dperf.clients;
	case SLOT_SERVERS:
		return keyword->is_repeated ? c->dperf.servers : 0;
	default:
		return 0;
	}
}

/* The words behind a keyword as a text; whoever takes them may cut them up. */
static const char *words_text(unsigned words, char **word)
{
	static char text[128];
	size_t length = 0;

	for (unsigned i = 0; i < words && length < sizeof(text); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   i ? " " : "", word[i]);
	return words ? text : "nothing";
}

static void keyword_take(struct convert *c, size_t row, unsigned words, char **word)
{
	const struct keyword *keyword = &keyword_table[row];
	const char *text = words_text(words, word);

	comments_place(c, keyword, index_of(c, keyword));
	if (c->seen[row] && !keyword->is_repeated) {
		remark_add(c, REMARK_WRONG, SLOT_END, 0, c->line, "%s: line %u has it already",
			   keyword->name, c->seen[row]);
		return;
	}
	c->seen[row] = c->line;
	if (words < keyword->least || words > keyword->most ||
	    (keyword->take && keyword->take(c, keyword, words, word)))
		remark_add(c, REMARK_WRONG, SLOT_END, 0, c->line, "%s: expected %s, got %s",
			   keyword->name, keyword->arguments, text);
	else if (keyword->is_clients && c->dperf.is_server)
		remark_add(c, REMARK_DROPPED, keyword->slot, 0, c->line, "%s: only a client has it",
			   keyword->name);
	else if (!keyword->take)
		remark_add(c, REMARK_DROPPED, keyword->slot, 0, c->line, "%s: %s", keyword->name,
			   keyword->why);
}

/* The words of a line, cut out of it. A comment has none. */
static unsigned line_split(char *line, char **word)
{
	unsigned words = 0;
	char *rest;

	for (char *w = strtok_r(line, BLANKS, &rest); w && *w != '#' && words < DPERF_WORDS;
	     w = strtok_r(NULL, BLANKS, &rest))
		word[words++] = w;
	return words;
}

static void comment_take(struct convert *c, const char *line)
{
	const char *text = strchr(line, '#');
	size_t length;

	if (!text)
		return;
	text += strspn(text, "#");
	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	remark_add(c, REMARK_COMMENT, SLOT_END, 0, c->line, "%.*s", (int)length, text);
}

static void line_take(struct convert *c, char *line)
{
	char *word[DPERF_WORDS];
	unsigned words;
	size_t row;

	comment_take(c, line);
	words = line_split(line, word);
	if (!words)
		return;
	row = keyword_find(word[0]);
	if (row == keyword_count)
		remark_add(c, REMARK_WRONG, SLOT_END, 0, c->line, "%s: unknown keyword", word[0]);
	else
		keyword_take(c, row, words - 1, word + 1);
}

/* The mode, wherever it is; it is checked in its turn. */
static bool text_is_of_server(const char *text)
{
	char mode[8];

	for (; text; text = strchr(text, '\n')) {
		text += strspn(text, BLANKS "\n");
		if (sscanf(text, "mode %7s", mode) == 1)
			return !strcmp(mode, "server");
		if (!*text)
			break;
	}
	return false;
}

/* A whole file as a text, NULL: errno says why not. */
static char *text_read(const char *file)
{
	FILE *in = strcmp(file, "-") ? fopen(file, "r") : stdin;
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	if (!in)
		return NULL;
	length = getdelim(&text, &size, '\0', in);
	if (length < 0 && !ferror(in) && text)
		*text = '\0'; /* an empty file */
	if (ferror(in)) {
		free(text);
		text = NULL;
	}
	if (in != stdin)
		fclose(in);
	return text;
}

static void text_take(struct convert *c, char *text)
{
	char *next;

	c->dperf.is_server = text_is_of_server(text);
	for (char *line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		c->line++;
		line_take(c, line);
	}
}

static int remark_compare(const void *a, const void *b)
{
	const struct remark *p = a, *q = b;

	return p->line < q->line ? -1 : p->line > q->line;
}

/* What the user must know, in the order of the lines; line 0 stands for the whole file. */
static void remarks_print(struct convert *c, enum remark_kind kind, FILE *messages)
{
	const char *file = strcmp(c->file, "-") ? c->file : "<stdin>";

	for (unsigned i = 0; i < c->remarks; i++) {
		const struct remark *r = &c->remark[i];

		if (r->kind != kind)
			continue;
		if (r->line)
			fprintf(messages, "%s:%u: %s\n", file, r->line, r->text);
		else
			fprintf(messages, "%s: %s\n", file, r->text);
	}
}

static int convert_run(struct convert *c, FILE *messages)
{
	convert_check(c);
	if (c->remarks)
		qsort(c->remark, c->remarks, sizeof(*c->remark), remark_compare);
	if (c->wrong) {
		remarks_print(c, REMARK_WRONG, messages);
		return -1;
	}
	convert_write(c);
	remarks_print(c, REMARK_DROPPED, messages);
	return 0;
}

int convert_dperf(const char *file, FILE *out, FILE *messages)
{
	struct convert *c = calloc(1, sizeof(*c));
	char *text = text_read(file);
	int result = -1;

	if (!c || !text) {
		fprintf(messages, "%s: %s\n", file, strerror(errno));
	} else {
		c->file = file;
		c->out = out;
		text_take(c, text);
		result = convert_run(c, messages);
		for (unsigned i = 0; i < c->remarks; i++)
			free(c->remark[i].text);
		free(c->remark);
	}
	free(text);
	free(c);
	return result;
}
