/* Header sections of the messages sent. */
#include "message.h"

#include <string.h>
#include <strings.h>

static const char *status_phrase(uint16_t status)
{
	static const struct {
		uint16_t status;
		const char *phrase;
	} known[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{206, "Partial Content"},
		{301, "Moved Permanently"},
		{302, "Found"},
		{303, "See Other"},
		{304, "Not Modified"},
		{307, "Temporary Redirect"},
		{308, "Permanent Redirect"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{410, "Gone"},
		{413, "Content Too Large"},
		{429, "Too Many Requests"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].status == status)
			return known[i].phrase;
	return "Status"; /* the phrase carries no meaning (RFC 9112 section 4) */
}

static void headers_add(struct store *store, const struct config_message *m)
{
	for (unsigned i = 0; i < m->headers; i++)
		store_format(store, "%s: %s\r\n", m->header[i].name, m->header[i].value);
}

static bool header_is_given(const struct config_message *m, const char *name)
{
	for (unsigned i = 0; i < m->headers; i++)
		if (!strcasecmp(m->header[i].name, name))
			return true;
	return false;
}

static const char *connection_value(enum variant variant)
{
	return variant == VARIANT_KEEP || variant == VARIANT_HEAD_KEEP ? "keep-alive" : "close";
}

void head_request(struct store *store, const struct config_message *m, enum variant variant)
{
	store_format(store, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: %s\r\n", m->method, m->path,
		     m->host, connection_value(variant));
	headers_add(store, m);
	if (m->body_size || !strcmp(m->method, "POST"))
		store_format(store, "Content-Length: %llu\r\n", (unsigned long long)m->body_size);
	store_format(store, "\r\n");
}

void head_response(struct store *store, const struct config_message *m, enum variant variant,
		   uint16_t status, enum config_content content, uint64_t body)
{
	bool has_body = status != 204 && status != 304; /* RFC 9110 section 6.4.1 */

	if (variant == VARIANT_CONTINUE) {
		store_format(store, "HTTP/1.1 100 Continue\r\n\r\n");
		return;
	}
	store_format(store, "HTTP/1.1 %u %s\r\nConnection: %s\r\n", status, status_phrase(status),
		     connection_value(variant));
	if (variant != VARIANT_BAD) {
		headers_add(store, m);
		if (has_body && content_type(content) && !header_is_given(m, "Content-Type"))
			store_format(store, "Content-Type: %s\r\n", content_type(content));
		if (has_body && m->gzip)
			store_format(store, "Content-Encoding: gzip\r\n");
	}
	if (has_body && m->chunked && variant != VARIANT_OLD && variant != VARIANT_BAD)
		store_format(store, "Transfer-Encoding: chunked\r\n");
	else if (has_body)
		store_format(store, "Content-Length: %llu\r\n", (unsigned long long)body);
	store_format(store, "\r\n");
}
