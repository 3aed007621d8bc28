/* What the parts of the HTTP parser share: http.c (framing and bodies), http_head.c (header
 * sections byte by byte), http_quick.c (the same for plain ones in one piece). */
#ifndef STATEFUL_HTTP_PRIVATE_H
#define STATEFUL_HTTP_PRIVATE_H

#include "http.h"

#define HTTP_HEADER_MAX 65536

enum http_state {
	/* start line, header section and trailer section: http_head_byte() */
	STATE_START,
	STATE_START_LF, /* a CR before a request: an empty line */
	STATE_METHOD,
	STATE_TARGET,  /* match: whether it has begun */
	STATE_VERSION, /* match: how much of "HTTP/1." */
	STATE_MINOR,
	STATE_AFTER_VERSION,
	STATE_STATUS, /* match: how many digits */
	STATE_AFTER_STATUS,
	STATE_REASON,
	STATE_START_LINE_LF,
	STATE_LINE, /* at the start of a line */
	STATE_NAME,
	STATE_VALUE,
	STATE_LAST_LF, /* a CR instead of a header line: the last, empty line */
	/* body: http_body_parse() */
	STATE_BODY,
	STATE_BODY_UNTIL_CLOSE,
	STATE_CHUNK_BEGIN, /* before the first digit of a chunk size */
	STATE_CHUNK_SIZE,
	STATE_CHUNK_SPACE, /* blanks behind a chunk size */
	STATE_CHUNK_EXTENSION,
	STATE_CHUNK_SIZE_LF,
	STATE_CHUNK_DATA,
	STATE_CHUNK_END, /* at the line end behind chunk data */
	STATE_CHUNK_END_LF,
	/* nothing more is used */
	STATE_ENDED,
	STATE_FAILED,
};
#define STATE_FIRST_OF_BODY STATE_BODY

/* Words the parser knows, as bits in `words`. */
enum http_word {
	WORD_CONTENT_LENGTH,
	WORD_CONNECTION,
	WORD_TRANSFER_ENCODING,
	WORD_EXPECT,
	WORD_CLOSE,
	WORD_KEEP_ALIVE,
	WORD_CHUNKED,
	WORD_CONTINUE,
	WORD_GET,
	WORD_HEAD,
	WORD_POST,
	WORD_COUNT,
};
#define FIELD_OTHER WORD_COUNT /* a header of no concern here */

enum http_flag {
	FLAG_FIELD = 1,    /* a header line has been read: its value may go on (obs-fold) */
	FLAG_GAP = 2,      /* blanks behind a token or number */
	FLAG_TRAILER = 4,  /* this is the trailer section */
	FLAG_TRANSFER = 8, /* a Transfer-Encoding has been read; `chunked`: chunked came last */
	FLAG_CLOSE = 16,
	FLAG_KEEP_ALIVE = 32,
};

/* The header section is complete: decide how the body is framed and what comes next. */
void http_head_end(struct http_parser *, bool response);

/* One byte of a start line, a header section or a trailer section. */
void http_head_byte(struct http_parser *, uint8_t byte, bool response);

/* A whole header section of a plain kind, at the beginning of a message: returns its end, or NULL -
 * with nothing changed - when it is not all there or not plain. */
const char *http_head_quick(struct http_parser *, const char *data, const char *end, bool response);

/* A Content-Length has been read completely: `body_bytes` is its value. */
static inline void http_length_set(struct http_parser *p)
{
	/* RFC 9112 section 6.3: several are an error unless they are the same */
	if (p->has_length && p->remaining != p->body_bytes)
		p->state = STATE_FAILED;
	p->has_length = true;
	p->remaining = p->body_bytes;
}

#endif
