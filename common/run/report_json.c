/* The JSON writer and the report file.
 *
 * Text is written as it comes; nesting needs one bit a level. Bytes that are not UTF-8 become
 * U+FFFD, because one such byte in a name would make the whole report unreadable to strict parsers.
 * Numbers that JSON does not have (infinite, not a number) become null.
 *
 * The file is rendered in memory, written beside its place and renamed into it: a reader finds the
 * old report or the new one, never half of one. What is not a regular file (a pipe, /dev/stderr) is
 * written to in place. */
#include "report_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOT_FLAT UINT32_MAX

/* Length of the UTF-8 sequence at text (RFC 3629: shortest form, no surrogates), or 0. */
static unsigned utf8_length(const unsigned char *text)
{
	unsigned char c = text[0];
	unsigned length = c < 0x80   ? 1
			  : c < 0xc2 ? 0
			  : c < 0xe0 ? 2
			  : c < 0xf0 ? 3
			  : c < 0xf5 ? 4
				     : 0;

	for (unsigned i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) ||
	    (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

static void write_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned length;

	putc('"', out);
	for (; *at; at += length) {
		length = utf8_length(at);
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at == '\n')
			fputs("\\n", out);
		else if (*at == '\t')
			fputs("\\t", out);
		else if (*at < 0x20)
			fprintf(out, "\\u%04x", *at);
		else if (length)
			fwrite(at, 1, length, out);
		else
			fputs("\\ufffd", out);
		length += !length;
	}
	putc('"', out);
}

static void write_real(FILE *out, double real)
{
	char text[REPORT_NUMBER_MAX];
	const char *number;

	if (!isfinite(real)) {
		fputs("null", out);
		return;
	}
	number = report_number(text, real);
	fprintf(out, strpbrk(number, ".e") ? "%s" : "%s.0", number);
}

static void new_line(struct json_sink *json)
{
	if (json->depth >= json->flat_from)
		return;
	putc('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		putc('\t', json->out);
}

/* What goes in front of a member: comma, line break, name. */
static void write_head(struct json_sink *json, const char *name)
{
	if (!json->first)
		fputs(json->depth >= json->flat_from ? ", " : ",", json->out);
	json->first = false;
	if (json->depth)
		new_line(json);
	if (name) {
		write_string(json->out, name);
		fputs(": ", json->out);
	}
}

static void json_begin(struct sink *sink, const char *name, enum sink_shape shape, bool flat)
{
	struct json_sink *json = (struct json_sink *)sink;

	write_head(json, name);
	putc(shape == SINK_ARRAY ? '[' : '{', json->out);
	json->depth++;
	if (flat && json->flat_from == NOT_FLAT)
		json->flat_from = json->depth;
	json->arrays &= ~(UINT64_C(1) << json->depth);
	json->arrays |= (uint64_t)(shape == SINK_ARRAY) << json->depth;
	json->first = true;
}

static void json_end(struct sink *sink)
{
	struct json_sink *json = (struct json_sink *)sink;
	bool array = json->arrays >> json->depth & 1;
	bool flat = json->depth >= json->flat_from;

	if (json->depth == json->flat_from)
		json->flat_from = NOT_FLAT;
	json->depth--;
	if (!flat && !json->first)
		new_line(json);
	putc(array ? ']' : '}', json->out);
	json->first = false;
}

static void json_value(struct sink *sink, const char *name, struct sink_value value)
{
	struct json_sink *json = (struct json_sink *)sink;

	write_head(json, name);
	switch (value.kind) {
	case SINK_COUNT:
		fprintf(json->out, "%" PRIu64, value.count);
		break;
	case SINK_REAL:
		write_real(json->out, value.real);
		break;
	case SINK_BOOL:
		fputs(value.truth ? "true" : "false", json->out);
		break;
	case SINK_TEXT:
		write_string(json->out, value.text);
		break;
	case SINK_JSON:
		fputs(value.text, json->out);
		break;
	}
}

void json_sink_init(struct json_sink *json, FILE *out, bool flat)
{
	*json = (struct json_sink){
		.sink = {json_begin, json_end, json_value},
		.out = out,
		.flat_from = flat ? 0 : NOT_FLAT,
		.first = true,
	};
}

/* The report as text, to be freed by the caller; NULL without memory. */
static char *render(const struct result *r, const struct verdict *verdict, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	struct json_sink json;
	int bad;

	if (!out)
		return NULL;
	json_sink_init(&json, out, false);
	report_walk(&json.sink, r, verdict);
	putc('\n', out);
	bad = ferror(out);
	if (fclose(out) || bad) {
		free(text);
		return NULL;
	}
	return text;
}

static int store(FILE *out, const char *text, size_t size)
{
	return fwrite(text, 1, size, out) == size && !fflush(out) ? 0 : -1;
}

static int store_and_close(FILE *out, const char *text, size_t size)
{
	int rc, error;

	if (!out)
		return -1;
	rc = store(out, text, size);
	error = errno;
	if (fclose(out) && !rc)
		return -1;
	errno = error;
	return rc;
}

/* Write beside `path` and rename. On failure nothing is left behind and errno says why. */
static int replace(const char *path, const char *text, size_t size)
{
	size_t length = strlen(path) + sizeof(".2147483647.tmp");
	char *beside = malloc(length);
	int rc, error;

	if (!beside)
		return -1;
	snprintf(beside, length, "%s.%d.tmp", path, (int)getpid());
	unlink(beside); /* of a process of the same number that was killed */
	rc = store_and_close(fopen(beside, "wx"), text, size);
	if (!rc)
		rc = rename(beside, path);
	error = errno;
	if (rc)
		unlink(beside);
	free(beside);
	errno = error;
	return rc;
}

/* A symbolic link stays one: what it points to is replaced. */
static int write_file(const char *path, const char *text, size_t size)
{
	char *target = realpath(path, NULL);
	struct stat status;
	int rc, error;

	if (target && !stat(target, &status) && !S_ISREG(status.st_mode))
		rc = store_and_close(fopen(target, "w"), text, size);
	else
		rc = replace(target ? target : path, text, size);
	error = errno;
	free(target);
	errno = error;
	return rc;
}

int report_store(const char *path, const char *text, size_t size, struct err *err)
{
	int rc;

	if (strcmp(path, "-"))
		rc = write_file(path, text, size);
	else
		rc = store(stdout, text, size);
	if (rc)
		rc = err_set(err, EXIT_ENVIRONMENT, "report %s: %s",
			     strcmp(path, "-") ? path : "on standard output", strerror(errno));
	return rc;
}

int report_write(const struct result *r, const struct verdict *verdict, const char *path,
		 struct err *err)
{
	size_t size;
	char *text = render(r, verdict, &size);
	int rc;

	if (!text)
		return err_set(err, EXIT_ENVIRONMENT, "report: no memory for its text");
	rc = report_store(path, text, size, err);
	free(text);
	return rc;
}
