/* Checks of requests and responses that need more than one key, and what follows from their keys
 * together: how many variants are prepared, and how long bodies are in the mean. */
#include "reader.h"

#include <string.h>

#define VARIANTS_DEFAULT 64u
#define REQUESTS_DEFAULT 256u
#define GZIP_MOST        (16u << 20)
#define XML_LEAST        4u /* <a/> */

/* A response of an HTTP server and where it is written: `response`, or one of the routes. */
struct spoken {
	struct where root, traffic, entry, list, self, key, inner;
	struct config_message *message;
};

static const struct where *spoken_key(struct spoken *s, const char *key, const char *inner)
{
	s->key = (struct where){.up = &s->self, .key = key};
	s->key.node = cJSON_GetObjectItemCaseSensitive(s->self.node, key);
	s->inner = (struct where){.up = &s->key, .key = inner};
	s->inner.node = inner ? cJSON_GetObjectItemCaseSensitive(s->key.node, inner) : NULL;
	return inner ? &s->inner : &s->key;
}

/* route < 0: `response`, or of a client `request`. */
static void spoken_find(struct reader *r, struct spoken *s, unsigned i, int route)
{
	struct config_traffic *traffic = &r->config->traffic[i];
	bool is_client = traffic->kind == HTTP_CLIENT;
	const char *name = is_client   ? route < 0 ? "request" : "requests"
			   : route < 0 ? "response"
				       : "routes";

	s->root = (struct where){.node = r->document->root};
	s->traffic = (struct where){.up = &s->root, .key = "traffic"};
	s->traffic.node = cJSON_GetObjectItemCaseSensitive(s->root.node, "traffic");
	s->entry = (struct where){.up = &s->traffic, .index = i};
	s->entry.node = cJSON_GetArrayItem(s->traffic.node, (int)i);
	s->list = (struct where){.up = &s->entry, .key = name};
	s->list.node = cJSON_GetObjectItemCaseSensitive(s->entry.node, name);
	s->self = s->list;
	s->message = is_client ? &traffic->request : &traffic->response;
	if (route >= 0) {
		s->self = (struct where){.up = &s->list, .index = (unsigned)route};
		s->self.node = cJSON_GetArrayItem(s->list.node, route);
		s->message = is_client ? &traffic->more[route] : &traffic->route[route];
	}
}

static bool mix_varies(const struct config_mix *mix)
{
	return mix->shares > 1 || (mix->shares && mix->share->first != mix->share->last);
}

static bool mix_has(const struct config_mix *mix, uint64_t value)
{
	for (unsigned i = 0; i < mix->shares; i++)
		if (mix->share[i].first <= value && value <= mix->share[i].last)
			return true;
	return false;
}

static uint64_t mix_mean(const struct config_mix *mix)
{
	double sum = 0, weights = 0;

	for (unsigned i = 0; i < mix->shares; i++) {
		const struct config_share *share = &mix->share[i];

		sum += share->weight * ((double)share->first + (double)share->last) / 2;
		weights += share->weight;
	}
	return weights > 0 ? (uint64_t)(sum / weights) : 0;
}

static bool mix_is_any(const struct config_mix *mix, uint64_t first, uint64_t last)
{
	for (unsigned i = 0; i < mix->shares; i++)
		if (mix->share[i].first <= last && mix->share[i].last >= first)
			return true;
	return false;
}

static bool response_varies(const struct config_message *m)
{
	return mix_varies(&m->statuses) || mix_varies(&m->sizes) || mix_varies(&m->contents) ||
	       m->sensitive || mix_has(&m->contents, CONTENT_RANDOM);
}

/* As many as give each weight its share, within reason. */
static uint32_t variants_default(const struct config_message *m)
{
	uint64_t weights = 0;

	if (!response_varies(m))
		return 1;
	for (unsigned i = 0; i < m->statuses.shares; i++)
		weights += m->statuses.share[i].weight;
	return weights > VARIANTS_DEFAULT && weights <= CONFIG_VARIANTS_MAX ? (uint32_t)weights
									    : VARIANTS_DEFAULT;
}

static void response_file_check(struct reader *r, struct spoken *s)
{
	struct config_message *m = s->message;
	bool wanted = mix_has(&m->contents, CONTENT_FILE);

	if (wanted && !spoken_key(s, "file", NULL)->node)
		problem_add(r->document, spoken_key(s, "content", NULL), PLACE_VALUE,
			    "content \"file\" needs the key \"file\"");
	if (!wanted && spoken_key(s, "file", NULL)->node)
		problem_add(r->document, &s->key, PLACE_VALUE, "only of use with content \"file\"");
	if (!wanted || spoken_key(s, "body", "size")->node)
		return;
	m->sizes.share = storage_take(r->config, sizeof(*m->sizes.share));
	*m->sizes.share = (struct config_share){m->file.count, m->file.count, 1};
	m->sizes.shares = 1;
}

static void response_check(struct reader *r, struct spoken *s)
{
	struct config_message *m = s->message;
	bool no_body = mix_has(&m->statuses, 204) || mix_has(&m->statuses, 304);

	response_file_check(r, s);
	if (!m->statuses.shares || !m->sizes.shares)
		return; /* refused already */
	m->status = (uint16_t)m->statuses.share->first;
	m->body_size = mix_mean(&m->sizes);
	if (!m->variants)
		m->variants = variants_default(m);
	if (no_body && !mix_varies(&m->statuses)) {
		if (spoken_key(s, "body", NULL)->node && m->body_size)
			problem_add(r->document, spoken_key(s, "body", NULL), PLACE_VALUE,
				    "a response of status %u has no body (RFC 9110)", m->status);
		m->body_size = 0;
	} else if (mix_has(&m->contents, CONTENT_XML) && mix_is_any(&m->sizes, 1, XML_LEAST - 1)) {
		problem_add(r->document, spoken_key(s, "body", "size"), PLACE_VALUE,
			    "an XML document has at least %u bytes", XML_LEAST);
	}
	if (m->sensitive && !mix_is_any(&m->contents, CONTENT_HTML, CONTENT_TEXT))
		problem_add(r->document, spoken_key(s, "sensitive", NULL), PLACE_VALUE,
			    "such content has no values to put it into: set \"content\" to "
			    "\"html\", \"json\", \"xml\" or \"text\"");
	if (m->gzip && mix_is_any(&m->sizes, GZIP_MOST + 1, UINT64_MAX))
		problem_add(r->document, spoken_key(s, "body", "size"), PLACE_VALUE,
			    "expected at most %u bytes with gzip", GZIP_MOST);
}

static void server_check(struct reader *r, unsigned i)
{
	struct spoken s;

	for (int route = -1; route < (int)r->config->traffic[i].routes; route++) {
		spoken_find(r, &s, i, route);
		response_check(r, &s);
	}
}

static bool method_has_body(const char *method)
{
	return !method || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0);
}

/* Something of it is made by chance, or differs from one to the next. */
static bool request_varies(const struct config_message *m)
{
	bool varies = mix_varies(&m->contents) || m->sensitive ||
		      mix_has(&m->contents, CONTENT_RANDOM) ||
		      (m->path && (strchr(m->path, '{') || strchr(m->path, '`'))) ||
		      (m->text && strchr(m->text, '{')) || (m->host && strchr(m->host, '{'));

	for (unsigned i = 0; i < m->headers; i++)
		varies |= strchr(m->header[i].value, '{') != NULL;
	return varies;
}

static void request_check(struct reader *r, struct spoken *s)
{
	struct config_message *m = s->message;

	if (mix_has(&m->contents, CONTENT_FILE) && !m->body_size)
		m->body_size = m->file.count;
	if (mix_has(&m->contents, CONTENT_FILE) != (m->file.count != 0))
		problem_add(r->document, spoken_key(s, "body", NULL), PLACE_VALUE,
			    "content \"file\" and the key \"file\" belong together");
	if ((m->body_size || m->text) && !method_has_body(m->method))
		problem_add(r->document, spoken_key(s, "body", NULL), PLACE_VALUE,
			    "a %s request has no body: set \"method\" to \"POST\"", m->method);
	if (mix_has(&m->contents, CONTENT_XML) && m->body_size && m->body_size < XML_LEAST)
		problem_add(r->document, spoken_key(s, "body", "size"), PLACE_VALUE,
			    "an XML document has at least %u bytes", XML_LEAST);
	if (m->text && m->body_size)
		problem_add(r->document, spoken_key(s, "body", "size"), PLACE_VALUE,
			    "the body is given as text already");
	if (!m->weight)
		m->weight = 1;
	if (!m->variants)
		m->variants = request_varies(m) ? REQUESTS_DEFAULT : 1;
}

/* A connection's record keeps in 16 bits which message it sends, and how many requests are left. */
static void contents_check(struct reader *r, unsigned i)
{
	struct config_traffic *t = &r->config->traffic[i];
	uint64_t contents = 0, requests = t->requests_per_connection;
	unsigned bits = 0, most = 15;
	struct spot s;

	for (unsigned j = 0; j < traffic_sources(t); j++)
		contents += traffic_variants(t, j);
	while (1ull << bits < contents)
		bits++;
	while (requests != CONFIG_UNLIMITED && most && (UINT16_MAX >> most) <= (int)requests)
		most--;
	spot_find(r, &s, "traffic", i, "variants", NULL);
	if (bits > most)
		problem_add(r->document, &s.element, PLACE_VALUE,
			    "%llu messages are to be prepared, of which %u are possible with these "
			    "requests_per_connection: lower \"variants\"%s",
			    (unsigned long long)contents, 1u << most,
			    line_count(t->payloads.data, t->payloads.count)
				    ? " or shorten \"payloads\""
				    : "");
}

static void client_check(struct reader *r, unsigned i)
{
	struct config_traffic *traffic = &r->config->traffic[i];
	struct spoken spoken;
	struct spot s;

	if (traffic->requests > CONFIG_REQUESTS_MAX)
		problem_add(r->document, spot_find(r, &s, "traffic", i, "requests", NULL),
			    PLACE_VALUE, "expected at most %u requests, got %u",
			    CONFIG_REQUESTS_MAX, traffic->requests);
	if (traffic->requests && spot_find(r, &s, "traffic", i, "request", NULL)->node)
		problem_add(r->document, &s.key, PLACE_KEY,
			    "\"requests\" are given beside it already");
	if (traffic->payloads.count && traffic->pipeline > 1)
		problem_add(
			r->document, spot_find(r, &s, "traffic", i, "pipeline", NULL), PLACE_VALUE,
			"with payloads one request at a time is under way: which of several was "
			"blocked could not be told");
	for (int j = -1; j < (int)traffic->requests; j++) {
		spoken_find(r, &spoken, i, j);
		request_check(r, &spoken);
	}
	spot_find(r, &s, "traffic", i, "response", "body");
	if (!cJSON_GetObjectItemCaseSensitive(s.inner.node, "size"))
		traffic->response.body_size = CONFIG_ANY_SIZE;
}

/* Of raw payloads: "size" may stand in "body" or without it. */
static void raw_check(struct reader *r, unsigned i)
{
	static const char *const side[] = {"request", "response"};
	struct spot s;

	for (int j = 0; j < 2; j++) {
		if (spot_find(r, &s, "traffic", i, side[j], "body")->node &&
		    cJSON_GetObjectItemCaseSensitive(s.key.node, "size"))
			problem_add(r->document, &s.inner, PLACE_KEY,
				    "the size is given beside it already");
	}
}

/* Weights that are all absent, as with "first" alone, mean: in order. */
static void close_check(struct reader *r, unsigned i)
{
	struct config_close *close = &r->config->traffic[i].close;
	struct spot s;

	close->is_set = spot_find(r, &s, "traffic", i, "close", NULL)->node != NULL;
	if (!close->weight[0] && !close->weight[1] && !close->weight[2])
		close->weight[1] = 1;
}

void http_check(struct reader *r, unsigned i)
{
	struct config_traffic *traffic = &r->config->traffic[i];

	close_check(r, i);
	if (traffic->kind == HTTP_SERVER)
		server_check(r, i);
	else if (traffic->kind == HTTP_CLIENT)
		client_check(r, i);
	else if (traffic_is_udp(traffic->kind))
		datagram_check(r, i);
	else if (traffic->kind == TCP_CLIENT || traffic->kind == TCP_SERVER)
		raw_check(r, i);
}

/* When requests_per_connection is known. */
void http_contents_check(struct reader *r, unsigned i)
{
	if (r->config->traffic[i].kind == HTTP_SERVER || r->config->traffic[i].kind == HTTP_CLIENT)
		contents_check(r, i);
}
