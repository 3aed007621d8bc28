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

void head_request(struct store *store, const struct config_message *m, enum variant variant,
		  enum config_content content, uint64_t body, struct template_rule *rule)
{
	bool queries = rule->payload.text && !rule->placed;

	store_format(store, "%s ", m->method);
	rule->in_path = true;
	template_add(store, m->path, rule);
	if (queries) {
		store_format(store, "%sq=", strchr(m->path, '?') ? "&" : "?");
		template_add(store, "{payload}", rule);
	}
	rule->in_path = false;
	store_format(store, " HTTP/1.1\r\nHost: ");
	template_add(store, m->host, rule);
	store_format(store, "\r\nConnection: %s\r\n", connection_value(variant));
	for (unsigned i = 0; i < m->headers; i++) {
		store_format(store, "%s: ", m->header[i].name);
		template_add(store, m->header[i].value, rule);
		store_format(store, "\r\n");
	}
	if (body && content_type(content) && !header_is_given(m, "Content-Type"))
		store_format(store, "Content-Type: %s\r\n", content_type(content));
	if (body || !strcmp(m->method, "POST"))
		store_format(store, "Content-Length: %llu\r\n", (unsigned long long)body);
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
