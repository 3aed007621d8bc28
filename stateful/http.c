/* HTTP/1.1 framing (RFC 9112): where a message ends.
 *
 * The parser is a state machine over bytes; everything it has to remember between two bytes is in
 * `struct http_parser`, so a message may be cut anywhere. Two short cuts skip bytes without looking
 * at each: body bytes are counted in one step, and a plain header section that lies there in one
 * piece is read by words (http_quick.c). A short cut that meets anything unusual changes nothing
 * and leaves it to the machine, which alone decides what is an error.
 *
 * Rejected: collecting the header section in a buffer before reading it. It costs memory on each
 * connection that waits, and a copy. */
#include <string.h>

#include "http_private.h"

_Static_assert(sizeof(struct http_parser) <= 40, "one in each side record");

/* RFC 9112 section 9.3. */
static bool is_persistent(const struct http_parser *p)
{
	if (p->private_flags & FLAG_CLOSE)
		return false;
	return p->minor >= 1 || p->private_flags & FLAG_KEEP_ALIVE;
}

static void final_response_await(struct http_parser *p)
{
	uint32_t header_bytes = p->header_bytes;
	uint8_t informational = p->informational;

	http_begin(p, p->method);
	p->header_bytes = header_bytes;
	p->informational = informational < UINT8_MAX ? informational + 1 : UINT8_MAX;
}

/* RFC 9112 section 6.3, item 1. */
static bool has_no_body(const struct http_parser *p)
{
	return p->method == HTTP_HEAD || p->status < 200 || p->status == 204 || p->status == 304;
}

static void body_until_close(struct http_parser *p)
{
	p->until_close = true;
	p->keep_alive = false;
	p->state = STATE_BODY_UNTIL_CLOSE;
}

/* RFC 9112 sections 6.1 and 6.3: Transfer-Encoding overrides Content-Length. */
static void transfer_begin(struct http_parser *p, bool response)
{
	if (p->has_length && !response) /* a server must close after such a request */
		p->keep_alive = false;
	p->has_length = false;
	p->remaining = 0;
	if (p->chunked)
		p->state = STATE_CHUNK_BEGIN;
	else if (response)
		body_until_close(p);
	else
		p->state = STATE_FAILED;
}

void http_head_end(struct http_parser *p, bool response)
{
	if (response && p->status < 200 && p->status != 101) {
		final_response_await(p);
		return;
	}
	p->head_done = true;
	p->keep_alive = is_persistent(p) && !(response && p->status == 101);
	if (p->private_flags & FLAG_TRANSFER && p->minor == 0) {
		p->state = STATE_FAILED; /* RFC 9112 section 6.1: faulty framing */
	} else if (response && has_no_body(p)) {
		p->remaining = 0;
		p->state = STATE_ENDED;
	} else if (p->private_flags & FLAG_TRANSFER) {
		transfer_begin(p, response);
	} else if (p->has_length || !response) {
		p->state = p->remaining ? STATE_BODY : STATE_ENDED;
	} else {
		body_until_close(p);
	}
}

static int hex_digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static void chunk_begin(struct http_parser *p)
{
	p->state = STATE_CHUNK_DATA;
	if (p->remaining)
		return;
	p->private_flags = FLAG_TRAILER;
	p->state = STATE_LINE;
}

/* Behind the digits of a chunk size (RFC 9112 section 7.1). That a bare LF ends a line is said of
 * header lines alone (section 2.2): in the framing of chunks it would be a body that another
 * recipient counts differently. */
static void chunk_size_end(struct http_parser *p, uint8_t byte)
{
	switch (byte) {
	case '\r':
		p->state = STATE_CHUNK_SIZE_LF;
		break;
	case ';':
		p->state = STATE_CHUNK_EXTENSION;
		break;
	case ' ':
	case '\t':
		p->state = STATE_CHUNK_SPACE;
		break;
	default:
		p->state = STATE_FAILED;
	}
}

static void chunk_size_byte(struct http_parser *p, uint8_t byte)
{
	int digit = hex_digit(byte);

	if (digit < 0) {
		if (p->state == STATE_CHUNK_BEGIN)
			p->state = STATE_FAILED;
		else
			chunk_size_end(p, byte);
		return;
	}
	p->state = p->remaining >> 60 ? STATE_FAILED : STATE_CHUNK_SIZE;
	p->remaining = p->remaining << 4 | (unsigned)digit;
}

static void chunk_byte(struct http_parser *p, uint8_t byte)
{
	switch (p->state) {
	case STATE_CHUNK_BEGIN:
	case STATE_CHUNK_SIZE:
		chunk_size_byte(p, byte);
		break;
	case STATE_CHUNK_SPACE:
		chunk_size_end(p, byte);
		break;
	case STATE_CHUNK_EXTENSION:
		if (byte == '\r')
			p->state = STATE_CHUNK_SIZE_LF;
		else if (byte == '\n' || !byte)
			p->state = STATE_FAILED;
		break;
	case STATE_CHUNK_SIZE_LF:
		if (byte == '\n')
			chunk_begin(p);
		else
			p->state = STATE_FAILED;
		break;
	case STATE_CHUNK_END:
		p->state = byte == '\r' ? STATE_CHUNK_END_LF : STATE_FAILED;
		break;
	default: /* STATE_CHUNK_END_LF */
		p->state = byte == '\n' ? STATE_CHUNK_BEGIN : STATE_FAILED;
	}
}

/* Count body bytes of known number; returns how many of length were. */
static size_t body_skip(struct http_parser *p, size_t length)
{
	if (length > p->remaining)
		length = (size_t)p->remaining;
	p->remaining -= length;
	p->body_bytes += length;
	if (!p->remaining)
		p->state = p->state == STATE_BODY ? STATE_ENDED : STATE_CHUNK_END;
	return length;
}

bool http_body_pass(struct http_parser *p, uint32_t length)
{
	if (p->state != STATE_BODY || p->remaining <= length)
		return false;
	p->remaining -= length;
	p->body_bytes += length;
	return true;
}

/* One step through the body; returns how many bytes were used, at least 1. */
static size_t body_parse(struct http_parser *p, const char *data, size_t length)
{
	switch (p->state) {
	case STATE_BODY:
	case STATE_CHUNK_DATA:
		return body_skip(p, length);
	case STATE_BODY_UNTIL_CLOSE:
		p->body_bytes += length;
		return length;
	default:
		chunk_byte(p, (uint8_t)*data);
		return 1;
	}
}

/* One step through start line and header; returns where it ended, behind data unless it failed. */
static const char *head_parse(struct http_parser *p, const char *data, const char *end,
			      bool response)
{
	const char *next = p->state == STATE_START ? http_head_quick(p, data, end, response) : NULL;

	if (next)
		return next;
	for (next = data; next < end && p->state < STATE_FIRST_OF_BODY; next++) {
		if (++p->header_bytes > HTTP_HEADER_MAX) {
			p->state = STATE_FAILED;
			break;
		}
		http_head_byte(p, (uint8_t)*next, response);
		if (p->state ==
		    STATE_START) /* behind an empty line or a 1xx: try to be quick again */
			return next + 1;
	}
	return next;
}

static inline enum http_event message_parse(struct http_parser *p, const char *data, size_t length,
					    size_t *used, bool response)
{
	const char *next = data, *end = data + length;

	while (next < end && p->state < STATE_ENDED) {
		if (p->state < STATE_FIRST_OF_BODY)
			next = head_parse(p, next, end, response);
		else
			next += body_parse(p, next, (size_t)(end - next));
	}
	*used = (size_t)(next - data);
	if (p->state < STATE_ENDED)
		return HTTP_MORE;
	return p->state == STATE_ENDED ? HTTP_DONE : HTTP_ERROR;
}

enum http_event http_request_parse(struct http_parser *p, const char *data, size_t length,
				   size_t *used)
{
	return message_parse(p, data, length, used, false);
}

enum http_event http_response_parse(struct http_parser *p, const char *data, size_t length,
				    size_t *used)
{
	return message_parse(p, data, length, used, true);
}

/* The end of the header section if it is the one of the memo, else NULL. */
static inline const char *memo_apply(const struct http_memo *memo, struct http_parser *p,
				     const char *data, size_t length)
{
	if (length < memo->length || !memo->length || p->method != memo->method ||
	    !simd_same(data, memo->head, memo->length))
		return NULL;
	*p = memo->parser;
	return data + memo->length;
}

/* The end of the header section, put into the memo, or NULL if it is nothing for a memo. */
static const char *memo_make(struct http_memo *memo, struct http_parser *p, const char *data,
			     size_t length, bool response)
{
	uint8_t method = p->method;
	const char *end = http_head_quick(p, data, data + length, response);

	if (!end || end - data > HTTP_MEMO_MAX)
		return end;
	memo->parser = *p;
	memo->length = (uint16_t)(end - data);
	memo->method = method;
	memo->body = p->state == STATE_ENDED  ? 0
		     : p->state == STATE_BODY ? p->remaining
					      : HTTP_MEMO_OPEN;
	memcpy(memo->head, data, memo->length);
	return end;
}

static inline enum http_event message_recall(struct http_memo *memo, struct http_parser *p,
					     const char *data, size_t length, size_t *used,
					     bool response)
{
	const char *next = NULL;
	enum http_event event;

	if (p->state == STATE_START && !p->header_bytes) {
		next = memo_apply(memo, p, data, length);
		if (!next)
			next = memo_make(memo, p, data, length, response);
	}
	if (!next)
		return message_parse(p, data, length, used, response);
	event = message_parse(p, next, (size_t)(data + length - next), used, response);
	*used += (size_t)(next - data);
	return event;
}

enum http_event http_request_recall(struct http_memo *memo, struct http_parser *p, const char *data,
				    size_t length, size_t *used)
{
	return message_recall(memo, p, data, length, used, false);
}

enum http_event http_response_recall(struct http_memo *memo, struct http_parser *p,
				     const char *data, size_t length, size_t *used)
{
	return message_recall(memo, p, data, length, used, true);
}

enum http_event http_response_end(struct http_parser *p)
{
	if (p->state == STATE_BODY_UNTIL_CLOSE)
		p->state = STATE_ENDED;
	return p->state == STATE_ENDED ? HTTP_DONE : HTTP_ERROR;
}
