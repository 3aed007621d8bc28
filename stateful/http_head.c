/* Start lines, header sections and trailer sections, byte by byte.
 *
 * Of a message only what frames it is understood: version, method or status, and the four headers
 * Content-Length, Transfer-Encoding, Connection and Expect. A name or token is recognized without
 * keeping it: `words` has a bit for each word that it may still become, `match` counts its bytes.
 *
 * A value is not judged at its line end but when the next line begins, which may continue it
 * (obs-fold, RFC 9112 section 5.2: to be read as blanks). A CR inside a value counts as a blank, as
 * section 2.2 asks; a line ends with LF, with or without CR before it. A NUL anywhere is an error
 * (RFC 9110 section 5.5): what reads it as the end of a text frames the message otherwise. */
#include "http_private.h"

#define BIT(word) (uint16_t)(1u << (word))

#define NAMES                                                                            \
	(BIT(WORD_CONTENT_LENGTH) | BIT(WORD_CONNECTION) | BIT(WORD_TRANSFER_ENCODING) | \
	 BIT(WORD_EXPECT))
#define METHODS (BIT(WORD_GET) | BIT(WORD_HEAD) | BIT(WORD_POST))

static const char *const text[WORD_COUNT] = {
	[WORD_CONTENT_LENGTH] = "content-length",
	[WORD_CONNECTION] = "connection",
	[WORD_TRANSFER_ENCODING] = "transfer-encoding",
	[WORD_EXPECT] = "expect",
	[WORD_CLOSE] = "close",
	[WORD_KEEP_ALIVE] = "keep-alive",
	[WORD_CHUNKED] = "chunked",
	[WORD_CONTINUE] = "100-continue",
	[WORD_GET] = "GET",
	[WORD_HEAD] = "HEAD",
	[WORD_POST] = "POST",
};

/* The tokens of each header that has tokens. */
static const uint16_t tokens[] = {
	[WORD_CONTENT_LENGTH] = 0,
	[WORD_CONNECTION] = BIT(WORD_CLOSE) | BIT(WORD_KEEP_ALIVE),
	[WORD_TRANSFER_ENCODING] = BIT(WORD_CHUNKED),
	[WORD_EXPECT] = BIT(WORD_CONTINUE),
};

static void word_begin(struct http_parser *p, uint16_t words)
{
	p->words = words;
	p->match = 0;
}

static void word_byte(struct http_parser *p, uint8_t byte)
{
	for (unsigned word = 0; p->words >> word; word++)
		if (p->words >> word & 1 && (!byte || text[word][p->match] != (char)byte))
			p->words &= (uint16_t)~BIT(word);
	if (p->match < UINT8_MAX)
		p->match++;
}

/* The word that was read, or WORD_COUNT. */
static unsigned word_end(const struct http_parser *p)
{
	for (unsigned word = 0; p->words >> word; word++)
		if (p->words >> word & 1 && !text[word][p->match])
			return word;
	return WORD_COUNT;
}

static uint8_t lower(uint8_t byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

static bool is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Visible ASCII: what else a token must not hold (RFC 9110 section 5.6.2) does no harm here. */
static bool is_visible(uint8_t byte)
{
	return byte > 0x20 && byte < 0x80;
}

static void start_byte(struct http_parser *p, uint8_t byte, bool response)
{
	p->match = 0;
	if (response) {
		p->state = STATE_VERSION;
		http_head_byte(p, byte, response);
	} else if (byte == '\r') {
		p->state = STATE_START_LF; /* RFC 9112 section 2.2: ignore empty lines */
	} else if (byte != '\n') {
		word_begin(p, METHODS);
		p->state = STATE_METHOD;
		http_head_byte(p, byte, response);
	}
}

static void method_byte(struct http_parser *p, uint8_t byte)
{
	if (is_visible(byte)) {
		word_byte(p, byte);
		return;
	}
	p->state = byte == ' ' && p->match ? STATE_TARGET : STATE_FAILED;
	switch (word_end(p)) {
	case WORD_GET:
		p->method = HTTP_GET;
		break;
	case WORD_HEAD:
		p->method = HTTP_HEAD;
		break;
	case WORD_POST:
		p->method = HTTP_POST;
		break;
	default:
		p->method = HTTP_OTHER;
	}
	p->match = 0;
}

static void target_byte(struct http_parser *p, uint8_t byte)
{
	if (byte > 0x20) {
		p->match = 1;
		return;
	}
	p->state = byte == ' ' && p->match ? STATE_VERSION : STATE_FAILED;
	p->match = 0;
}

static void version_byte(struct http_parser *p, uint8_t byte)
{
	static const char version[] = "HTTP/1.";

	if (byte != (uint8_t)version[p->match])
		p->state = STATE_FAILED;
	else if (!version[++p->match])
		p->state = STATE_MINOR;
}

static void minor_byte(struct http_parser *p, uint8_t byte)
{
	p->minor = (uint8_t)(byte - '0');
	p->state = is_digit(byte) ? STATE_AFTER_VERSION : STATE_FAILED;
	p->match = 0;
}

/* The line goes on after one blank, or it ends here. */
static void line_end_byte(struct http_parser *p, uint8_t byte, uint8_t after_blank)
{
	p->state = byte == ' '    ? after_blank
		   : byte == '\r' ? STATE_START_LINE_LF
		   : byte == '\n' ? STATE_LINE
				  : STATE_FAILED;
}

static void after_version_byte(struct http_parser *p, uint8_t byte, bool response)
{
	if (response)
		p->state = byte == ' ' ? STATE_STATUS : STATE_FAILED;
	else
		line_end_byte(p, byte, STATE_FAILED);
}

static void status_byte(struct http_parser *p, uint8_t byte)
{
	if (!is_digit(byte)) {
		p->state = STATE_FAILED;
		return;
	}
	p->status = (uint16_t)(p->status * 10 + (byte - '0'));
	if (++p->match == 3)
		p->state = p->status >= 100 && p->status <= 599 ? STATE_AFTER_STATUS : STATE_FAILED;
}

static void start_line_byte(struct http_parser *p, uint8_t byte, bool response)
{
	switch (p->state) {
	case STATE_START:
		start_byte(p, byte, response);
		break;
	case STATE_START_LF:
		p->state = byte == '\n' ? STATE_START : STATE_FAILED;
		break;
	case STATE_METHOD:
		method_byte(p, byte);
		break;
	case STATE_TARGET:
		target_byte(p, byte);
		break;
	case STATE_VERSION:
		version_byte(p, byte);
		break;
	case STATE_MINOR:
		minor_byte(p, byte);
		break;
	case STATE_AFTER_VERSION:
		after_version_byte(p, byte, response);
		break;
	case STATE_STATUS:
		status_byte(p, byte);
		break;
	case STATE_AFTER_STATUS:
		line_end_byte(p, byte, STATE_REASON);
		break;
	case STATE_REASON:
		if (byte == '\n')
			p->state = STATE_LINE;
		else if (!byte)
			p->state = STATE_FAILED;
		break;
	default: /* STATE_START_LINE_LF */
		p->state = byte == '\n' ? STATE_LINE : STATE_FAILED;
	}
}

/* A token of a list is complete. */
static void token_end(struct http_parser *p)
{
	unsigned word = word_end(p);

	switch (p->field) {
	case WORD_CONNECTION:
		if (word == WORD_CLOSE)
			p->private_flags |= FLAG_CLOSE;
		else if (word == WORD_KEEP_ALIVE)
			p->private_flags |= FLAG_KEEP_ALIVE;
		break;
	case WORD_TRANSFER_ENCODING:
		p->private_flags |= FLAG_TRANSFER;
		p->chunked = word == WORD_CHUNKED;
		break;
	default: /* WORD_EXPECT; RFC 9110 section 10.1.1: not of an HTTP/1.0 client */
		p->expect_continue |= word == WORD_CONTINUE && p->minor >= 1;
	}
}

/* An element of a list - a token or, in Content-Length, a number - is complete. RFC 9110
 * section 8.6 allows to read "5, 5" as 5. */
static void element_end(struct http_parser *p)
{
	if (p->field == WORD_CONTENT_LENGTH) {
		if (p->match)
			http_length_set(p);
		else
			p->state = STATE_FAILED;
		p->body_bytes = 0;
	} else if (p->match) {
		token_end(p);
	}
	p->private_flags &= (uint8_t)~FLAG_GAP;
	word_begin(p, tokens[p->field]);
}

static void number_byte(struct http_parser *p, uint8_t byte)
{
	if (!is_digit(byte) || p->private_flags & FLAG_GAP ||
	    __builtin_mul_overflow(p->body_bytes, 10, &p->body_bytes) ||
	    __builtin_add_overflow(p->body_bytes, (uint64_t)(byte - '0'), &p->body_bytes))
		p->state = STATE_FAILED;
	p->match = 1;
}

static void value_byte(struct http_parser *p, uint8_t byte)
{
	if (byte == '\n') {
		p->state = STATE_LINE;
	} else if (!byte) {
		p->state = STATE_FAILED;
	} else if (p->field == FIELD_OTHER) {
		return;
	} else if (is_blank(byte)) {
		if (p->match)
			p->private_flags |= FLAG_GAP;
	} else if (byte == ',') {
		element_end(p);
	} else if (p->field == WORD_CONTENT_LENGTH) {
		number_byte(p, byte);
	} else {
		if (p->private_flags & FLAG_GAP)
			p->words = 0; /* two words are no token */
		word_byte(p, lower(byte));
	}
}

static void name_byte(struct http_parser *p, uint8_t byte)
{
	if (byte == ':') {
		p->field = (uint8_t)word_end(p);
		p->private_flags |= FLAG_FIELD;
		word_begin(p, p->field == FIELD_OTHER ? 0 : tokens[p->field]);
		p->state = STATE_VALUE;
	} else if (is_visible(byte)) {
		word_byte(p, lower(byte));
	} else { /* RFC 9112 section 5.1: no blank before the colon */
		p->state = STATE_FAILED;
	}
}

static void section_end(struct http_parser *p, bool response)
{
	if (p->private_flags & FLAG_TRAILER)
		p->state = STATE_ENDED;
	else
		http_head_end(p, response);
}

static void line_byte(struct http_parser *p, uint8_t byte, bool response)
{
	bool after_field = p->private_flags & FLAG_FIELD;

	if (after_field && (byte == ' ' || byte == '\t')) {
		p->state = STATE_VALUE;
		value_byte(p, byte);
		return;
	}
	if (after_field && p->field != FIELD_OTHER)
		element_end(p);
	if (p->state == STATE_FAILED)
		return;
	if (byte == '\n') {
		section_end(p, response);
	} else if (byte == '\r') {
		p->state = STATE_LAST_LF;
	} else if (byte == ':') {
		p->state = STATE_FAILED;
	} else {
		/* what a trailer says comes too late to frame anything (RFC 9110 section 6.5.1) */
		word_begin(p, p->private_flags & FLAG_TRAILER ? 0 : NAMES);
		p->state = STATE_NAME;
		name_byte(p, byte);
	}
}

void http_head_byte(struct http_parser *p, uint8_t byte, bool response)
{
	switch (p->state) {
	case STATE_LINE:
		line_byte(p, byte, response);
		break;
	case STATE_NAME:
		name_byte(p, byte);
		break;
	case STATE_VALUE:
		value_byte(p, byte);
		break;
	case STATE_LAST_LF:
		if (byte == '\n')
			section_end(p, response);
		else
			p->state = STATE_FAILED;
		break;
	default:
		start_line_byte(p, byte, response);
	}
}
