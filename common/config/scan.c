/* The scanner: a strict JSON checker that knows where it is.
 *
 * It runs before cJSON, over the same text and in the same order, and does what cJSON does not:
 * says where and why a text is not JSON, refuses what cJSON lets pass (control characters and bad
 * UTF-8 in strings, numbers such as 01), notes the position of every value, and turns comments into
 * blanks in place, so that cJSON sees plain JSON. Searching positions afterwards by path was
 * rejected: it needs the same scanner, and a second walk for every message. */
#include "document.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/require.h"

#define DEPTH_MOST  100 /* nesting; ours needs 6, cJSON's recursion ends at 1000 */
#define NUMBER_MOST 60  /* characters; cJSON reads at most 63 */

struct scan {
	char *text;
	size_t at, length;
	struct place place;
	unsigned source, depth;
	struct marks *marks;
	char **sentence;
};

static bool value_scan(struct scan *, const struct place *key);

static int peek(const struct scan *s)
{
	return s->at < s->length ? (unsigned char)s->text[s->at] : EOF;
}

static void advance(struct scan *s)
{
	unsigned char c = (unsigned char)s->text[s->at++];

	if (c == '\n') {
		s->place.line++;
		s->place.column = 1;
	} else if ((s->at == s->length || (s->text[s->at] & 0xc0) != 0x80)) {
		s->place.column++;
	}
}

static void blank(struct scan *s)
{
	char *c = &s->text[s->at];

	advance(s);
	if (*c != '\n')
		*c = ' ';
}

/* The character at hand, as messages show it. */
static char *found_text(const struct scan *s)
{
	int c = peek(s);
	int length = 1;

	if (c == EOF)
		return text_format("the end of the text");
	if (c < 0x20 || c == 0x7f)
		return text_format("the byte 0x%02x", (unsigned)c);
	while (s->at + (size_t)length < s->length &&
	       (s->text[s->at + (size_t)length] & 0xc0) == 0x80)
		length++;
	return text_format("\"%.*s\"", length, s->text + s->at);
}

static bool fail(struct scan *s, const char *expected)
{
	char *found = found_text(s);

	*s->sentence = text_format("expected %s, got %s", expected, found);
	free(found);
	return false;
}

static bool comment_skip(struct scan *s)
{
	struct place start = s->place;
	bool block = s->text[s->at + 1] == '*';

	blank(s);
	blank(s);
	if (!block) {
		while (peek(s) != EOF && peek(s) != '\n')
			blank(s);
		return true;
	}
	while (peek(s) != EOF) {
		bool end = peek(s) == '*' && s->at + 1 < s->length && s->text[s->at + 1] == '/';

		blank(s);
		if (end) {
			blank(s);
			return true;
		}
	}
	s->place = start;
	*s->sentence =
		text_format("expected */ at the end of this comment, got the end of the text");
	return false;
}

static bool blanks_skip(struct scan *s)
{
	for (;;) {
		int c = peek(s);

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			advance(s);
		} else if (c == '/' && s->at + 1 < s->length &&
			   (s->text[s->at + 1] == '/' || s->text[s->at + 1] == '*')) {
			if (!comment_skip(s))
				return false;
		} else {
			return true;
		}
	}
}

/* The four digits after \u, or -1. */
static long hex_scan(struct scan *s)
{
	long code = 0;

	for (int i = 0; i < 4; i++) {
		int c = peek(s);

		if (c == EOF || !isxdigit(c))
			return -1;
		code = code * 16 + (isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
		advance(s);
	}
	return code;
}

static bool escape_scan(struct scan *s)
{
	long code;

	advance(s);
	if (peek(s) == EOF || !strchr("\"\\/bfnrtu", peek(s)))
		return fail(s, "one of \"\\/bfnrtu after \\");
	if (peek(s) != 'u') {
		advance(s);
		return true;
	}
	advance(s);
	code = hex_scan(s);
	if (code <= 0 || (code >= 0xdc00 && code <= 0xdfff))
		return fail(s, "four hexadecimal digits of a character after \\u");
	if (code < 0xd800 || code > 0xdbff)
		return true;
	if (s->length - s->at < 2 || memcmp(s->text + s->at, "\\u", 2) != 0)
		return fail(s, "the second half of a surrogate pair");
	advance(s);
	advance(s);
	code = hex_scan(s);
	return (code >= 0xdc00 && code <= 0xdfff) || fail(s, "the second half of a surrogate pair");
}

/* One character above 0x7f (RFC 3629: shortest form, no surrogates, up to U+10FFFF). */
static bool utf8_scan(struct scan *s)
{
	int lead = peek(s);
	int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
	static const unsigned long least[] = {0, 0x80, 0x800, 0x10000};
	unsigned long code = (unsigned long)lead & (0x3fu >> more);

	if (lead < 0xc2 || lead > 0xf4 || s->length - s->at <= (size_t)more)
		return fail(s, "text in UTF-8");
	for (int i = 1; i <= more; i++) {
		unsigned char c = (unsigned char)s->text[s->at + (size_t)i];

		if ((c & 0xc0) != 0x80)
			return fail(s, "text in UTF-8");
		code = code << 6 | (c & 0x3f);
	}
	if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return fail(s, "text in UTF-8");
	for (int i = 0; i <= more; i++)
		advance(s);
	return true;
}

static bool string_scan(struct scan *s)
{
	advance(s);
	for (;;) {
		int c = peek(s);

		if (c == '"') {
			advance(s);
			return true;
		}
		if (c == EOF || c < 0x20)
			return fail(s, "\" at the end of the text");
		if (c == '\\') {
			if (!escape_scan(s))
				return false;
		} else if (c < 0x80) {
			advance(s);
		} else if (!utf8_scan(s)) {
			return false;
		}
	}
}

static bool digits_scan(struct scan *s)
{
	if (peek(s) == EOF || !isdigit(peek(s)))
		return fail(s, "a digit");
	while (peek(s) != EOF && isdigit(peek(s)))
		advance(s);
	return true;
}

static bool number_scan(struct scan *s)
{
	size_t start = s->at;

	if (peek(s) == '-')
		advance(s);
	if (peek(s) == '0')
		advance(s);
	else if (!digits_scan(s))
		return false;
	if (peek(s) == '.') {
		advance(s);
		if (!digits_scan(s))
			return false;
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		advance(s);
		if (peek(s) == '+' || peek(s) == '-')
			advance(s);
		if (!digits_scan(s))
			return false;
	}
	if (s->at - start > NUMBER_MOST)
		return fail(s, "the end of this number after at most 60 characters");
	return true;
}

static bool word_scan(struct scan *s)
{
	static const char *const word[] = {"true", "false", "null"};

	for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
		size_t length = strlen(word[i]);

		if (s->length - s->at < length || memcmp(s->text + s->at, word[i], length) != 0)
			continue;
		while (length--)
			advance(s);
		return true;
	}
	return fail(s, "a value (text in double quotes, number, true, false, { or [)");
}

/* What follows an element: true with *more set if it is a comma. */
static bool comma_scan(struct scan *s, int end, bool *more)
{
	if (!blanks_skip(s))
		return false;
	*more = peek(s) == ',';
	if (!*more && peek(s) != end)
		return fail(s, end == '}' ? "\",\" or \"}\"" : "\",\" or \"]\"");
	advance(s);
	return true;
}

static bool member_scan(struct scan *s, bool first)
{
	struct place key;

	if (!blanks_skip(s))
		return false;
	key = s->place;
	if (peek(s) != '"')
		return fail(s,
			    first ? "a key in double quotes or \"}\"" : "a key in double quotes");
	if (!string_scan(s) || !blanks_skip(s))
		return false;
	if (peek(s) != ':')
		return fail(s, "\":\" after the key");
	advance(s);
	return blanks_skip(s) && value_scan(s, &key);
}

static bool object_scan(struct scan *s)
{
	bool more = true;

	advance(s);
	if (!blanks_skip(s))
		return false;
	if (peek(s) == '}') {
		advance(s);
		return true;
	}
	for (bool first = true; more; first = false) {
		if (!member_scan(s, first) || !comma_scan(s, '}', &more))
			return false;
	}
	return true;
}

static bool array_scan(struct scan *s)
{
	bool more = true;

	advance(s);
	if (!blanks_skip(s))
		return false;
	if (peek(s) == ']') {
		advance(s);
		return true;
	}
	while (more) {
		if (!blanks_skip(s) || !value_scan(s, &s->place) || !comma_scan(s, ']', &more))
			return false;
	}
	return true;
}

static size_t mark_add(struct scan *s, const struct place *key)
{
	struct marks *m = s->marks;

	if (m->count == m->room) {
		m->room = m->room ? 2 * m->room : 256;
		m->mark = realloc(m->mark, m->room * sizeof(*m->mark));
		require(m->mark);
	}
	m->mark[m->count] =
		(struct mark){.source = s->source, .key = *key, .value = s->place, .offset = s->at};
	return m->count++;
}

static bool value_scan(struct scan *s, const struct place *key)
{
	size_t mark = mark_add(s, key);
	int c = peek(s);
	bool good;

	if (s->depth == DEPTH_MOST)
		return fail(s, "at most 100 levels of lists and objects");
	s->depth++;
	if (c == '{')
		good = object_scan(s);
	else if (c == '[')
		good = array_scan(s);
	else if (c == '"')
		good = string_scan(s);
	else if (c == '-' || (c != EOF && isdigit(c)))
		good = number_scan(s);
	else
		good = word_scan(s);
	s->depth--;
	s->marks->mark[mark].length = s->at - s->marks->mark[mark].offset;
	return good;
}

bool scan_json(char *text, size_t length, unsigned source, struct marks *marks, struct place *place,
	       char **sentence)
{
	struct scan s = {.text = text,
			 .length = length,
			 .place = {1, 1},
			 .source = source,
			 .marks = marks,
			 .sentence = sentence};
	size_t marks_before = marks->count;
	bool good;

	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		memset(text, ' ', 3);
		s.at = 3;
	}
	good = blanks_skip(&s) && value_scan(&s, &s.place) && blanks_skip(&s);
	if (good && s.at < s.length)
		good = fail(&s, "nothing more after the value");
	*place = s.place;
	if (!good)
		marks->count = marks_before;
	return good;
}
