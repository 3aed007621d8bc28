/* A whole, plain header section in one piece: nearly every message of a run.
 *
 * Eight bytes are looked at in one step: subtracting from each byte of a word sets its highest bit
 * where the byte was too small; the lowest of these bits is the first such byte (higher ones may be
 * false, by a borrow). Plain means: GET, HEAD or POST, no folded lines, values of the four headers
 * of concern as most senders write them. Whatever is not plain, and whatever is wrong, is left to
 * http_head.c. Reads stay before `end`.
 *
 * Rejected: vector instructions (names and values are shorter than a vector is wide; not portable)
 * and memchr() (a call for each of many short lines). */
#include <string.h>

#include "http_private.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

#define EACH(byte)    (0x0101010101010101u * (byte))
#define LENGTH_DIGITS 18 /* more might overflow */

static inline uint64_t load64(const char *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof word);
	return word;
}

static inline uint32_t load32(const char *data)
{
	uint32_t word;

	memcpy(&word, data, sizeof word);
	return word;
}

/* Are these 8 (4) bytes `text` in any case? Text is lower-case letters; '-' only where a CR, which
 * would be taken for it, cannot be: in names. */
static inline bool is_text8(const char *data, const char *text)
{
	return (load64(data) | EACH(0x20u)) == load64(text);
}

static inline bool is_text4(const char *data, const char *text)
{
	return (load32(data) | 0x20202020u) == load32(text);
}

static inline uint64_t bytes_below(uint64_t word, uint8_t limit)
{
	return (word - EACH(limit)) & ~word & EACH(0x80u);
}

static inline uint64_t bytes_equal(uint64_t word, uint8_t byte)
{
	return bytes_below(word ^ EACH(byte), 1);
}

enum find { LINE_END, NAME_END, TARGET_END };

/* Bits at the bytes of the word that are looked for; the lowest is right. */
static inline uint64_t find_hits(uint64_t word, enum find what)
{
	switch (what) {
	case LINE_END: /* or what is not plain in front of it: a tab, a NUL */
		return bytes_below(word, '\n' + 1);
	case NAME_END: /* a colon, or what is not visible */
		return bytes_equal(word, ':') | bytes_below(word, 0x21) | (word & EACH(0x80u));
	default: /* TARGET_END */
		return bytes_below(word, 0x21);
	}
}

static inline const char *find_first(const char *next, const char *end, enum find what)
{
	uint64_t hits;

	for (; end - next >= 8; next += 8) {
		hits = find_hits(load64(next), what);
		if (hits)
			return next + __builtin_ctzll(hits) / 8;
	}
	for (; next < end; next++)
		if (find_hits((uint8_t)*next, what) & 0x80)
			return next;
	return NULL;
}

/* Behind the line that has to end here, or NULL. */
static inline const char *line_over(const char *next, const char *end)
{
	if (next < end && *next == '\r')
		next++;
	return next < end && *next == '\n' ? next + 1 : NULL;
}

/* Behind the line that ends somewhere from here on, or NULL. */
static inline const char *line_skip(const char *next, const char *end)
{
	next = find_first(next, end, LINE_END);
	return next && *next == '\n' ? next + 1 : NULL;
}

static inline const char *blanks_skip(const char *next, const char *end)
{
	while (next < end && *next == ' ')
		next++;
	return next;
}

static const char *length_quick(struct http_parser *p, const char *next, const char *end)
{
	const char *first = next = blanks_skip(next, end);
	uint64_t length = 0;
	uint8_t digit;

	for (; next < end && (digit = (uint8_t)(*next - '0')) <= 9; next++)
		length = length * 10 + digit;
	if (next == first || next - first > LENGTH_DIGITS ||
	    (p->has_length && p->remaining != length))
		return NULL;
	p->has_length = true;
	p->remaining = length;
	return line_over(next, end);
}

static const char *connection_quick(struct http_parser *p, const char *next, const char *end)
{
	next = blanks_skip(next, end);
	if (end - next > 5 && is_text4(next, "clos") && (next[4] | 0x20) == 'e') {
		p->private_flags |= FLAG_CLOSE;
		return line_over(next + 5, end);
	}
	if (end - next > 10 && is_text4(next, "keep") && next[4] == '-' &&
	    is_text4(next + 5, "aliv") && (next[9] | 0x20) == 'e') {
		p->private_flags |= FLAG_KEEP_ALIVE;
		return line_over(next + 10, end);
	}
	return NULL;
}

static const char *transfer_quick(struct http_parser *p, const char *next, const char *end)
{
	next = blanks_skip(next, end);
	if (end - next <= 7 || !is_text4(next, "chun") || !is_text4(next + 3, "nked"))
		return NULL;
	p->private_flags |= FLAG_TRANSFER;
	p->chunked = true;
	return line_over(next + 7, end);
}

/* Behind the header line, or NULL. */
static inline const char *field_quick(struct http_parser *p, const char *line, const char *end)
{
	const char *colon = find_first(line, end, NAME_END);

	if (!colon || *colon != ':' || colon == line)
		return NULL;
	switch (colon - line) {
	case sizeof "content-length" - 1:
		if (is_text8(line, "content-") && is_text8(line + 6, "t-length"))
			return length_quick(p, colon + 1, end);
		break;
	case sizeof "connection" - 1:
		if (is_text8(line, "connecti") && is_text4(line + 6, "tion"))
			return connection_quick(p, colon + 1, end);
		break;
	case sizeof "transfer-encoding" - 1:
		if (is_text8(line, "transfer") && is_text8(line + 8, "-encodin") &&
		    is_text4(line + 13, "ding"))
			return transfer_quick(p, colon + 1, end);
		break;
	case sizeof "expect" - 1:
		if (is_text4(line, "expe") && is_text4(line + 2, "pect"))
			return NULL;
	}
	return line_skip(colon + 1, end);
}

static inline bool version_quick(struct http_parser *p, const char *next)
{
	p->minor = (uint8_t)(next[7] - '0');
	return load64(next) == load64("HTTP/1.1") || load64(next) == load64("HTTP/1.0");
}

static inline const char *status_line_quick(struct http_parser *p, const char *line,
					    const char *end)
{
	unsigned hundreds, tens, ones;

	if (end - line <= (ptrdiff_t)strlen("HTTP/1.1 200") || !version_quick(p, line) ||
	    line[8] != ' ')
		return NULL;
	hundreds = (uint8_t)(line[9] - '0');
	tens = (uint8_t)(line[10] - '0');
	ones = (uint8_t)(line[11] - '0');
	if (hundreds < 1 || hundreds > 5 || tens > 9 || ones > 9)
		return NULL;
	p->status = (uint16_t)(hundreds * 100 + tens * 10 + ones);
	return line[12] == ' ' ? line_skip(line + 13, end) : line_over(line + 12, end);
}

static inline const char *request_line_quick(struct http_parser *p, const char *line,
					     const char *end)
{
	const char *target, *blank;

	if (end - line < (ptrdiff_t)strlen("GET / HTTP/1.1\n"))
		return NULL;
	if (load32(line) == load32("GET ")) {
		p->method = HTTP_GET;
		target = line + 4;
	} else {
		if (load32(line) == load32("POST"))
			p->method = HTTP_POST;
		else if (load32(line) == load32("HEAD"))
			p->method = HTTP_HEAD;
		else
			return NULL;
		if (line[4] != ' ')
			return NULL;
		target = line + 5;
	}
	blank = find_first(target, end, TARGET_END);
	if (!blank || blank == target || *blank != ' ' ||
	    end - blank <= (ptrdiff_t)strlen(" HTTP/1.1") || !version_quick(p, blank + 1))
		return NULL;
	return line_over(blank + 9, end);
}

const char *http_head_quick(struct http_parser *p, const char *data, const char *end, bool response)
{
	struct http_parser read = *p;
	const char *next = response ? status_line_quick(&read, data, end)
				    : request_line_quick(&read, data, end);

	while (next && next < end && *next != '\r' && *next != '\n')
		next = field_quick(&read, next, end);
	if (!next)
		return NULL;
	next = line_over(next, end);
	if (!next || next - data > HTTP_HEADER_MAX - (ptrdiff_t)read.header_bytes)
		return NULL;
	read.header_bytes += (uint32_t)(next - data);
	http_head_end(&read, response);
	*p = read;
	return next;
}
