/* Messages. The body is a 64-byte line repeated, so a segment of it is whole-line copies, and a
 * wrong offset shows in the bytes. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../common/base/checksum.h"
#include "../common/base/require.h"

#define LINE 64u
static const char body_line[LINE + 1] =
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n";

/* A text that grows: with text NULL it only measures. */
struct writer {
	char *text;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void writer_add(struct writer *w, const char *format,
							     ...)
{
	va_list args;
	char none[1];
	int n;

	va_start(args, format);
	n = vsnprintf(w->text ? w->text + w->length : none, w->text ? SIZE_MAX / 2 : 1, format,
		      args);
	va_end(args);
	require(n >= 0);
	w->length += (size_t)n;
}

static const char *status_phrase(uint16_t status)
{
	switch (status) {
	case 200:
		return "OK";
	case 201:
		return "Created";
	case 204:
		return "No Content";
	case 301:
		return "Moved Permanently";
	case 302:
		return "Found";
	case 304:
		return "Not Modified";
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 500:
		return "Internal Server Error";
	case 503:
		return "Service Unavailable";
	default:
		return "Status"; /* the phrase carries no meaning (RFC 9112 section 4) */
	}
}

static void write_headers(struct writer *w, const struct config_message *m)
{
	for (unsigned i = 0; i < m->headers; i++)
		writer_add(w, "%s: %s\r\n", m->header[i].name, m->header[i].value);
}

static const char *connection_value(enum variant variant)
{
	return variant == VARIANT_KEEP || variant == VARIANT_HEAD_KEEP ? "keep-alive" : "close";
}

static void write_request(struct writer *w, const struct config_message *m, enum variant variant)
{
	writer_add(w, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: %s\r\n", m->method, m->path,
		   m->host, connection_value(variant));
	write_headers(w, m);
	if (m->body_size || !strcmp(m->method, "POST"))
		writer_add(w, "Content-Length: %llu\r\n", (unsigned long long)m->body_size);
	writer_add(w, "\r\n");
}

/* RFC 9110 section 6.4.1: these have no content, whatever the headers say. */
static bool status_has_body(uint16_t status)
{
	return status >= 200 && status != 204 && status != 304;
}

static void write_response(struct writer *w, const struct config_message *m, enum variant variant)
{
	uint16_t status = variant == VARIANT_BAD ? 400 : m->status;
	uint64_t size = variant == VARIANT_BAD ? 0 : m->body_size;

	if (variant == VARIANT_CONTINUE) {
		writer_add(w, "HTTP/1.1 100 Continue\r\n\r\n");
		return;
	}
	writer_add(w, "HTTP/1.1 %u %s\r\nConnection: %s\r\n", status, status_phrase(status),
		   connection_value(variant));
	if (variant != VARIANT_BAD)
		write_headers(w, m);
	if (status_has_body(status))
		writer_add(w, "Content-Length: %llu\r\n", (unsigned long long)size);
	writer_add(w, "\r\n");
}

static uint64_t body_length(const struct config_traffic *t, enum variant variant)
{
	if (traffic_is_client(t->kind))
		return t->request.body_size;
	if (t->kind == UDP_SERVER && t->response.body_size == CONFIG_ANY_SIZE)
		return 0;
	if (t->kind == HTTP_SERVER &&
	    (variant > VARIANT_CLOSE || !status_has_body(t->response.status)))
		return 0;
	return t->response.body_size;
}

static void write_head(struct writer *w, const struct config_traffic *t, enum variant variant)
{
	if (t->kind == HTTP_CLIENT)
		write_request(w, &t->request, variant);
	else if (t->kind == HTTP_SERVER)
		write_response(w, &t->response, variant);
}

static bool is_sent(const struct config_traffic *t, enum variant variant)
{
	return t->kind == HTTP_SERVER || variant <= VARIANT_CLOSE;
}

static int message_init(struct message *m, const struct config_traffic *t, enum variant variant,
			uint16_t max, struct arena *arena)
{
	struct writer w = {0};
	char *text;

	write_head(&w, t, variant);
	m->head_len = (uint32_t)w.length;
	m->length = m->head_len + (uint32_t)body_length(t, variant);
	m->status = variant == VARIANT_BAD ? 400 : t->response.status;
	if (variant == VARIANT_CONTINUE)
		m->status = 100;
	text = arena_take(arena, m->head_len + 1);
	if (!text)
		return -1;
	w = (struct writer){.text = text};
	write_head(&w, t, variant);
	m->head = text;
	if (m->length > max)
		return 0;
	text = arena_take(arena, m->length + 1);
	if (!text)
		return -1;
	message_write(m, 0, text, m->length);
	m->whole_sum = checksum_sum(text, m->length);
	m->whole = text;
	return 0;
}

int message_make(struct message message[VARIANT_COUNT], const struct config_traffic *t,
		 uint16_t max, struct arena *arena)
{
	for (enum variant v = 0; v < VARIANT_COUNT; v++)
		if (is_sent(t, v) && message_init(&message[v], t, v, max, arena))
			return -1;
	return 0;
}

size_t message_reserve(const struct config_traffic *t, uint16_t max)
{
	size_t bytes = 0;

	for (enum variant v = 0; v < VARIANT_COUNT; v++) {
		struct writer w = {0};

		write_head(&w, t, v);
		bytes += w.length + max + 2 * 64 + 2;
	}
	return bytes;
}

void message_write(const struct message *m, uint32_t offset, char *to, uint32_t len)
{
	uint32_t at, n;

	if (m->whole) {
		memcpy(to, m->whole + offset, len);
		return;
	}
	if (offset < m->head_len) {
		n = m->head_len - offset < len ? m->head_len - offset : len;
		memcpy(to, m->head + offset, n);
		to += n;
		offset += n;
		len -= n;
	}
	at = (offset - m->head_len) % LINE;
	if (len && at) {
		n = LINE - at < len ? LINE - at : len;
		memcpy(to, body_line + at, n);
		to += n;
		len -= n;
	}
	for (; len >= LINE; to += LINE, len -= LINE)
		memcpy(to, body_line, LINE);
	memcpy(to, body_line, len);
}
