/* The messages of a traffic entry, prepared.
 *
 * For each content the body is made once; each variant is a header section before it. A message
 * that fits a segment is laid out whole, with its checksum sum; of a longer one the header section
 * and the body's text in front are one text, and the rest is the body's. All texts lie in one piece
 * of the arena, whose length a first pass without memory finds.
 *
 * Rejected: messages made when they are sent (many times the cost of the copy, and a retransmission
 * would have to remember by which random numbers). */
#include "message.h"

#include <string.h>

#include "../common/base/checksum.h"
#include "../common/base/require.h"
#include "http.h"

struct maker {
	const struct config_traffic *traffic;
	struct message_set *set; /* NULL: measuring */
	struct store store;
	struct rng rng;
	uint16_t max;
};

void mix_deal(const struct config_mix *mix, unsigned n, struct rng *rng, uint64_t *value)
{
	uint64_t total = 0, passed = 0;
	unsigned at = 0;

	for (unsigned i = 0; i < mix->shares; i++)
		total += mix->share[i].weight;
	for (unsigned i = 0; i < mix->shares; i++) {
		const struct config_share *share = &mix->share[i];

		passed += share->weight;
		for (; at < (passed * n + total / 2) / total; at++)
			value[at] = share->first + rng_below(rng, share->last - share->first + 1);
	}
	for (unsigned i = n; i > 1; i--) {
		unsigned other = (unsigned)rng_below(rng, i);
		uint64_t swap = value[i - 1];

		value[i - 1] = value[other];
		value[other] = swap;
	}
}

/* Lay out one message: a header section, written by the caller from `begin` on, and a body. */
static void message_add(struct maker *m, struct message *message, size_t begin,
			const struct body *body, uint16_t status)
{
	uint64_t length = m->store.length - begin + body_length(body);
	char *text = m->store.text ? m->store.text + begin : NULL;
	uint32_t rest = (uint32_t)(length <= m->max ? body_length(body) : body->head.length);

	if (text) /* the body, or what of it is in front, behind the header section */
		body_write(body, 0, m->store.text + m->store.length, rest);
	m->store.length += rest;
	if (!m->set)
		return;
	*message = (struct message){.length = (uint32_t)length, .status = status};
	if (length <= m->max) {
		message->whole = text;
		message->whole_sum = checksum_sum(text, length);
	} else {
		message->text = *body;
		message->text.head = (struct text_piece){text, (uint32_t)(m->store.length - begin)};
	}
	if (message->length > m->set->longest)
		m->set->longest = message->length;
}

/* Where a content's message goes; of use when there is a set. */
static struct message *message_place(const struct maker *m, uint32_t content, enum variant variant)
{
	static struct message none;

	return m->set ? &m->set->message[content * VARIANT_COUNT + variant] : &none;
}

static const struct body no_body;

static void response_add(struct maker *m, uint32_t number, const struct config_message *from,
			 const struct content *content, const struct body *body,
			 const struct body *chunked, enum variant variant)
{
	bool is_head = variant == VARIANT_HEAD_KEEP || variant == VARIANT_HEAD_CLOSE;
	bool is_plain = variant == VARIANT_OLD || !from->chunked;
	size_t begin = m->store.length;

	head_response(&m->store, from, variant, content->status, (enum config_content)content->type,
		      body_length(body));
	if (is_head || content->status == 204 || content->status == 304)
		body = &no_body;
	else if (!is_plain)
		body = chunked;
	message_add(m, message_place(m, number, variant), begin, body, content->status);
}

/* The number by which a body differs from its neighbours in the ring: bodies have room for it to 9,
 * 26 or 256 at least, and the last is a neighbour of the first. */
static unsigned ring_number(unsigned at, unsigned count)
{
	unsigned number = 1;

	if (at + 1 < count || count < 3)
		return at;
	while (number == (at - 1) % 9 || number == (at - 1) % 26 || number == (at - 1) % 256)
		number++;
	return number;
}

/* Response `at` of a route. */
static void content_add(struct maker *m, uint32_t number, uint16_t source,
			const struct config_message *from, const uint64_t value[3], unsigned at)
{
	struct content content = {
		.source = source, .status = (uint16_t)value[0], .type = (uint8_t)value[1]};
	struct body_rule rule = {.content = (enum config_content)value[1],
				 .sensitive = from->sensitive,
				 .per_response = from->per_response,
				 .file = &from->file,
				 .number = ring_number(at, from->variants)};
	bool has_body = content.status != 204 && content.status != 304;
	struct body body, chunked;

	body_make(&body, &rule, has_body ? value[2] : 0, &m->rng, &m->store);
	memcpy(content.items, body.items, sizeof(content.items));
	if (from->gzip && has_body)
		body_gzip(&body, &m->store);
	chunked = body;
	if (from->chunked && has_body)
		body_chunk(&chunked, &m->store);
	body_wrap(&body, m->max, &m->store);
	body_wrap(&chunked, m->max, &m->store);
	for (enum variant v = VARIANT_KEEP; v <= VARIANT_HEAD_CLOSE; v++)
		response_add(m, number, from, &content, &body, &chunked, v);
	if (from->chunked)
		response_add(m, number, from, &content, &body, &chunked, VARIANT_OLD);
	else if (m->set)
		*message_place(m, number, VARIANT_OLD) = *message_place(m, number, VARIANT_CLOSE);
	if (m->set)
		m->set->content[number] = content;
}

/* What is said of no content: 400 and 100. */
static void others_add(struct maker *m, uint32_t contents)
{
	const struct config_message *from = &m->traffic->response;

	for (enum variant v = VARIANT_BAD; v <= VARIANT_CONTINUE; v++) {
		uint16_t status = v == VARIANT_BAD ? 400 : 100;
		size_t begin = m->store.length;

		head_response(&m->store, from, v, status, CONTENT_BARE, 0);
		message_add(m, message_place(m, 0, v), begin, &no_body, status);
		for (uint32_t i = 1; m->set && i < contents; i++)
			*message_place(m, i, v) = *message_place(m, 0, v);
	}
}

static void responses_make(struct maker *m)
{
	uint64_t value[3][CONFIG_VARIANTS_MAX];
	uint32_t number = 0;

	for (unsigned i = 0; i < traffic_sources(m->traffic); i++) {
		const struct config_message *from = traffic_source(m->traffic, i);

		if (m->set)
			m->set->ring[i] = (struct ring){.first = number,
							.count = from->variants,
							.chunked = from->chunked,
							.delay = from->delay};
		mix_deal(&from->statuses, from->variants, &m->rng, value[0]);
		mix_deal(&from->contents, from->variants, &m->rng, value[1]);
		mix_deal(&from->sizes, from->variants, &m->rng, value[2]);
		for (unsigned j = 0; j < from->variants; j++)
			content_add(m, number++, (uint16_t)i, from,
				    (const uint64_t[]){value[0][j], value[1][j], value[2][j]}, j);
	}
	others_add(m, number);
}

/* A raw payload. */
static void plain_make(struct maker *m)
{
	const struct config_traffic *t = m->traffic;
	const struct config_message *from = traffic_is_client(t->kind) ? &t->request : &t->response;
	struct body_rule rule = {.content = CONTENT_BARE};
	struct body body;

	body_make(&body, &rule, from->body_size == CONFIG_ANY_SIZE ? 0 : from->body_size, &m->rng,
		  &m->store);
	body_wrap(&body, m->max, &m->store);
	for (enum variant v = VARIANT_KEEP; v <= VARIANT_CLOSE; v++)
		message_add(m, message_place(m, 0, v), m->store.length, &body, from->status);
	if (m->set)
		m->set->ring[0] = (struct ring){.count = 1};
}

static bool payload_is_placed(const struct config_message *from)
{
	bool placed = strstr(from->path, "{payload}") || strstr(from->host, "{payload}") ||
		      (from->text && strstr(from->text, "{payload}"));

	for (unsigned i = 0; i < from->headers; i++)
		placed |= strstr(from->header[i].value, "{payload}") != NULL;
	return placed;
}

static uint8_t method_of(const struct config_message *from)
{
	return !strcmp(from->method, "GET")    ? HTTP_GET
	       : !strcmp(from->method, "HEAD") ? HTTP_HEAD
	       : !strcmp(from->method, "POST") ? HTTP_POST
					       : HTTP_OTHER;
}

/* One request, as prepared number `variant` of its kind. */
static void request_add(struct maker *m, uint32_t number, uint16_t source, unsigned variant,
			uint64_t type, struct text_piece payload)
{
	const struct config_message *from = traffic_source(m->traffic, source);
	struct template_rule template = {.traffic = m->traffic,
					 .payload = payload,
					 .placed = payload_is_placed(from),
					 .number = variant};
	struct body_rule rule = {.content = (enum config_content)type,
				 .sensitive = from->sensitive,
				 .per_response = from->per_response,
				 .file = &from->file,
				 .number = number};
	uint64_t seed = rng_next(&m->rng);
	struct body body = {.middle = 0};

	if (from->text) {
		size_t begin = m->store.length;

		template.rng = &m->rng;
		template.items = body.items;
		template_add(&m->store, from->text, &template);
		body.head = (struct text_piece){m->store.text ? m->store.text + begin : NULL,
						(uint32_t)(m->store.length - begin)};
	} else {
		body_make(&body, &rule, from->body_size, &m->rng, &m->store);
		body_wrap(&body, m->max, &m->store);
	}
	for (enum variant v = VARIANT_KEEP; v <= VARIANT_CLOSE; v++) {
		size_t begin = m->store.length;
		struct rng same = {seed}; /* both are to say the same */

		template.rng = &same;
		template.items = v == VARIANT_KEEP ? body.items : NULL;
		head_request(&m->store, from, v, rule.content, body_length(&body), &template);
		message_add(m, message_place(m, number, v), begin, &body, from->status);
	}
	if (!m->set)
		return;
	m->set->content[number] = (struct content){.source = source,
						   .status = from->status,
						   .type = (uint8_t)type,
						   .is_request = true,
						   .method = method_of(from),
						   .line = payload.text ? variant + 1 : 0};
	memcpy(m->set->content[number].items, body.items, sizeof(body.items));
}

static void requests_make(struct maker *m)
{
	const struct config_bytes *payloads = &m->traffic->payloads;
	uint64_t type[CONFIG_VARIANTS_MAX];
	uint32_t number = 0;

	for (uint16_t i = 0; i < traffic_sources(m->traffic); i++) {
		const struct config_message *from = traffic_source(m->traffic, i);
		unsigned count = traffic_variants(m->traffic, i);
		uint32_t at = 0;

		if (m->set)
			m->set->ring[i] = (struct ring){
				.first = number, .count = count, .weight = from->weight};
		mix_deal(&from->contents, from->variants, &m->rng, type);
		for (unsigned j = 0; j < count; j++) {
			struct text_piece payload = {.text = NULL};

			payload.text =
				line_next(payloads->data, payloads->count, &at, &payload.length);
			request_add(m, number++, i, j, type[j % from->variants], payload);
		}
	}
}

static void all_make(struct maker *m)
{
	if (m->traffic->kind == HTTP_SERVER)
		responses_make(m);
	else if (m->traffic->kind == HTTP_CLIENT)
		requests_make(m);
	else
		plain_make(m);
}

static uint32_t contents_of(const struct config_traffic *t)
{
	uint32_t contents = 0;

	for (unsigned i = 0; i < traffic_sources(t); i++)
		contents += traffic_variants(t, i);
	return contents;
}

static size_t text_length(const struct config_traffic *t, uint64_t seed, uint16_t max)
{
	struct maker m = {.traffic = t, .rng = {seed}, .max = max};

	all_make(&m);
	return m.store.length + 1; /* text ends in a zero, which nobody reads */
}

uint32_t message_contents(const struct config_traffic *t, uint32_t *rings)
{
	*rings = traffic_sources(t);
	return contents_of(t);
}

size_t message_reserve(const struct config_traffic *t, uint64_t seed, uint16_t max)
{
	uint32_t contents = contents_of(t);

	return text_length(t, seed, max) + contents * VARIANT_COUNT * sizeof(struct message) +
	       contents * sizeof(struct content) + traffic_sources(t) * sizeof(struct ring) +
	       4 * 64;
}

int message_make(struct message_set *set, const struct config_traffic *t, uint64_t seed,
		 uint16_t max, struct arena *arena)
{
	struct maker m = {.traffic = t, .set = set, .rng = {seed}, .max = max};
	uint32_t contents = contents_of(t);

	*set = (struct message_set){.contents = contents, .rings = traffic_sources(t)};
	while (1u << set->content_bits < contents)
		set->content_bits++;
	set->message = arena_take(arena, contents * VARIANT_COUNT * sizeof(struct message));
	set->content = arena_take(arena, contents * sizeof(struct content));
	set->ring = arena_take(arena, set->rings * sizeof(struct ring));
	m.store.text = arena_take(arena, text_length(t, seed, max));
	if (!set->message || !set->content || !set->ring || !m.store.text)
		return -1;
	all_make(&m);
	return 0;
}

void message_write(const struct message *m, uint32_t offset, char *to, uint32_t len)
{
	if (m->whole)
		memcpy(to, m->whole + offset, len);
	else
		body_write(&m->text, offset, to, len);
}

const char *message_bytes(const struct message *m, uint32_t offset, uint32_t len)
{
	return m->whole ? m->whole + offset : body_bytes(&m->text, offset, len);
}
