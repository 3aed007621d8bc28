/* The CSV line. Header and values are made by the same walk, once with paths and once with values:
 * they cannot disagree. */
#include "screen_csv.h"

#include <inttypes.h>
#include <string.h>

/* Text of a quoted cell: quotes are doubled. */
static void write_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
}

static void enter(struct csv_sink *csv, const char *name)
{
	bool element = csv->level[csv->depth].array;

	csv->depth++;
	csv->level[csv->depth].name = name;
	csv->level[csv->depth].index = element ? csv->level[csv->depth - 1].count++ : 0;
	csv->level[csv->depth].array = false;
	csv->level[csv->depth].count = 0;
}

static bool needs_quotes(const struct csv_sink *csv)
{
	for (unsigned i = 1; i <= csv->depth; i++)
		if (csv->level[i].name && strpbrk(csv->level[i].name, ",\"\r\n"))
			return true;
	return false;
}

static void write_path(struct csv_sink *csv)
{
	const char *quote = needs_quotes(csv) ? "\"" : "";
	const char *dot = "";

	fputs(quote, csv->out);
	for (unsigned i = 1; i <= csv->depth; i++) {
		if (!csv->level[i].name && !csv->level[i - 1].array)
			continue; /* the outermost object */
		fputs(dot, csv->out);
		if (csv->level[i].name)
			write_quoted(csv->out, csv->level[i].name);
		else
			fprintf(csv->out, "%u", csv->level[i].index);
		dot = ".";
	}
	fputs(quote, csv->out);
}

static void csv_begin(struct sink *sink, const char *name, enum sink_shape shape, bool flat)
{
	struct csv_sink *csv = (struct csv_sink *)sink;

	(void)flat;
	enter(csv, name);
	csv->level[csv->depth].array = shape == SINK_ARRAY;
}

static void csv_end(struct sink *sink)
{
	struct csv_sink *csv = (struct csv_sink *)sink;

	if (!--csv->depth)
		putc('\n', csv->out);
}

static void csv_value(struct sink *sink, const char *name, struct sink_value value)
{
	struct csv_sink *csv = (struct csv_sink *)sink;
	char text[REPORT_NUMBER_MAX];

	enter(csv, name);
	if (!csv->first)
		putc(',', csv->out);
	csv->first = false;
	if (csv->names)
		write_path(csv);
	else if (value.kind == SINK_COUNT)
		fprintf(csv->out, "%" PRIu64, value.count);
	else if (value.kind == SINK_REAL)
		fputs(report_number(text, value.real), csv->out);
	else if (value.kind == SINK_BOOL)
		putc(value.truth ? '1' : '0', csv->out);
	else
		fputs(value.text, csv->out);
	csv->depth--;
}

void csv_sink_init(struct csv_sink *csv, FILE *out, bool names)
{
	*csv = (struct csv_sink){
		.sink = {csv_begin, csv_end, csv_value},
		.out = out,
		.names = names,
		.first = true,
	};
}
