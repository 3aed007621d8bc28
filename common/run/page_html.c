/* Pieces of a page. Everything that comes from the report passes html_text(): names and reasons are
 * the user's own text, and a report may have come from anywhere. */
#include "page_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '&')
			fputs("&amp;", out);
		else if (c == '<')
			fputs("&lt;", out);
		else if (c == '>')
			fputs("&gt;", out);
		else if (c == '"')
			fputs("&quot;", out);
		else if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			fputs("&#xfffd;", out); /* no page may have these, escaped or not */
		else
			putc(c, out);
	}
}

void html_number(FILE *out, double number)
{
	char text[REPORT_NUMBER_MAX], whole[REPORT_THOUSANDS_MAX];
	double magnitude = fabs(number);
	const char *point;

	if (magnitude < 1000 || !(magnitude < 1e15)) {
		if (magnitude >= 1e-3 && magnitude < 1000)
			number = round(number * 1000) / 1000;
		fputs(report_number(text, number), out);
		return;
	}
	if (magnitude >= 1e6)
		number = round(number);
	report_number(text, round(number * 1000) / 1000);
	fprintf(out, "%s%s", number < 0 ? "-" : "",
		report_thousands(whole, (uint64_t)fabs(trunc(number))));
	point = strchr(text, '.');
	if (point)
		fputs(point, out);
}

void html_value(FILE *out, const struct json *value)
{
	double number;

	if (json_text(value)) {
		html_text(out, json_text(value));
	} else if (json_number(value, &number)) {
		html_number(out, number);
	} else if (json_is_list(value)) {
		for (const struct json *item = json_first(value); item; item = json_next(item)) {
			html_value(out, item);
			if (json_next(item))
				fputs(", ", out);
		}
	}
}

static bool is_plain(const struct json *value)
{
	double number;

	return json_text(value) || json_number(value, &number) || json_is_list(value);
}

/* Numbers to the right, so that their digits stand below each other. */
static void cell(FILE *out, const struct json *value)
{
	double number;

	fputs(json_number(value, &number) ? "<td class=\"n\">" : "<td>", out);
	html_value(out, value);
	fputs("</td>", out);
}

void html_members(FILE *out, const struct json *object)
{
	for (const struct json *m = json_first(object); m; m = json_next(m)) {
		if (!is_plain(m))
			continue;
		fputs("<tr><th>", out);
		html_text(out, json_name(m));
		fputs("</th>", out);
		cell(out, m);
		fputs("</tr>\n", out);
	}
}

void html_table(FILE *out, const struct json *rows, const char *name)
{
	const struct json *first = json_first(rows);

	fputs("<table><tr>", out);
	if (name)
		fprintf(out, "<th>%s</th>", name);
	for (const struct json *m = json_first(first); m; m = json_next(m)) {
		fputs("<th>", out);
		html_text(out, json_name(m) ? json_name(m) : "");
		fputs("</th>", out);
	}
	fputs("</tr>\n", out);
	for (const struct json *row = first; row; row = json_next(row)) {
		fputs("<tr>", out);
		if (name) {
			fputs("<th>", out);
			html_text(out, json_name(row));
			fputs("</th>", out);
		}
		for (const struct json *m = json_first(first); m; m = json_next(m))
			cell(out, json_name(m) ? json_get(row, json_name(m)) : NULL);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}
