/* HTTP/1.1 message parsing (RFC 9112), incremental: any segmentation, no copy of the message.
 *
 * A parser is a small state machine that is fed the bytes of one direction in order and stops at
 * the end of each message. It holds no pointer between calls. The common case - a whole header in
 * one piece with a Content-Length - takes a fast path over the same rules. */
#ifndef STATEFUL_HTTP_H
#define STATEFUL_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/base/simd.h"

enum http_event {
	HTTP_MORE,  /* everything was consumed, the message goes on */
	HTTP_DONE,  /* the message ended; bytes after `used` belong to the next */
	HTTP_ERROR, /* not HTTP/1.x, or framing that RFC 9112 calls an error */
};

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_OTHER };

struct http_parser {
	uint8_t state;       /* private; 0 at the beginning of a message */
	uint8_t field;       /* private: which header is being read */
	uint8_t match;       /* private: how much of a name or token has matched */
	uint8_t method;      /* enum http_method. Request: out. Response: in, that of its request */
	uint16_t status;     /* response: out */
	uint8_t minor;       /* HTTP/1.minor */
	bool head_done : 1;  /* the header section is complete */
	bool keep_alive : 1; /* the connection may carry another message after this one */
	bool chunked : 1;
	bool has_length : 1;  /* Content-Length frames the body; remaining begins as its value */
	bool until_close : 1; /* response: the body ends with the connection */
	bool expect_continue : 1; /* request: "Expect: 100-continue" */
	uint8_t private_flags;
	uint8_t informational; /* response: how many 1xx came before it; stops at 255 */
	uint16_t words;        /* private: what a name or token may still turn out to be */
	uint32_t header_bytes; /* of this message so far; more than 64 KiB is an error */
	uint64_t remaining;    /* body bytes (or bytes of this chunk) still to come */
	uint64_t body_bytes;   /* body bytes seen; of use once head_done */
};

/* Before each message. For a response, method is its request's. */
static inline void http_begin(struct http_parser *p, enum http_method method)
{
	*p = (struct http_parser){.method = (uint8_t)method};
}

/* Feed bytes. *used is set to how many belong to this message. 1xx responses are consumed and the
 * parser goes on to the final response (`status` is the final one; informational counts them). 101,
 * which no request of ours asks for, is final: what follows it is not HTTP. Once a message ended or
 * failed, the parser says so again and uses nothing until http_begin(). */
enum http_event http_request_parse(struct http_parser *, const char *data, size_t length,
				   size_t *used);
enum http_event http_response_parse(struct http_parser *, const char *data, size_t length,
				    size_t *used);

/* The last plain header section in one piece, and what it meant: a message that begins with the
 * same bytes is understood by comparing them, at a quarter of the cost. Zero at first; one for each
 * kind of message that repeats, shared by all connections of an engine. */
#define HTTP_MEMO_MAX  256
#define HTTP_MEMO_OPEN UINT64_MAX
struct http_memo {
	struct http_parser parser; /* behind the header section */
	uint16_t length;           /* of the header section */
	uint8_t method;            /* as http_begin() was given it */
	uint64_t body;             /* bytes behind it; HTTP_MEMO_OPEN: the header does not say */
	char head[HTTP_MEMO_MAX];
};

/* The same as parse, with the same result, by way of a memo. */
enum http_event http_request_recall(struct http_memo *, struct http_parser *, const char *data,
				    size_t length, size_t *used);
enum http_event http_response_recall(struct http_memo *, struct http_parser *, const char *data,
				     size_t length, size_t *used);

/* What such a header section meant, if the bytes are one whole message that begins with it, for the
 * same method; else NULL. */
static inline const struct http_parser *http_memo_whole(const struct http_memo *memo,
							enum http_method method, const char *data,
							uint32_t length)
{
	if (!memo->length || length - memo->body != memo->length || memo->method != method ||
	    !simd_same(data, memo->head, memo->length))
		return NULL;
	return &memo->parser;
}

/* The body of known length goes on beyond the next `length` bytes: count them. False: not so,
 * nothing is changed. */
bool http_body_pass(struct http_parser *, uint32_t length);

/* The far end closed in order: HTTP_DONE if that is a legal end of this response (until_close with
 * the header complete), else HTTP_ERROR. */
enum http_event http_response_end(struct http_parser *);

#endif
