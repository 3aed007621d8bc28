/* The report's parts by request or route, status, content, sensitive data and payload. */
#include "report.h"

#include <string.h>

static const char *const content_name[CONTENTS] = {"html",   "json", "xml", "text",
						   "random", "file", "bare"};
static const char *const fate_name[PAYLOAD_FATES] = {"answered", "blocked", "unanswered"};

static const char *source_name(const struct config_traffic *t, unsigned i)
{
	if (t->kind == HTTP_CLIENT)
		return t->requests ? t->more[i].name : "request";
	return i < t->routes ? t->route[i].path : "*";
}

static void walk_sources(struct sink *s, const struct config_traffic *t, const struct split *split)
{
	bool client = t->kind == HTTP_CLIENT;

	sink_begin(s, client ? "by_request" : "by_route", SINK_OBJECT);
	for (unsigned i = 0; i < split->sources; i++) {
		const struct part *part = &split->source[i];

		sink_begin(s, source_name(t, i), SINK_OBJECT);
		sink_count(s, client ? "offered" : "sent", part->offered);
		if (client) {
			sink_count(s, "succeeded", part->succeeded);
			sink_count(s, "failed", part->failed);
			report_walk_latency(s, "first_byte_us", &part->first_byte);
			report_walk_latency(s, "response_us", &part->response);
		}
		sink_end(s);
	}
	sink_end(s);
}

static void walk_statuses(struct sink *s, bool client, const struct split *split)
{
	sink_begin(s, "by_status", SINK_OBJECT);
	for (unsigned i = 0; i < SPLIT_STATUSES; i++) {
		const struct part *part = &split->status[i];
		char code[16] = "other";

		if (!part->offered)
			continue;
		if (split->code[i])
			snprintf(code, sizeof(code), "%u", split->code[i]);
		sink_begin(s, code, SINK_OBJECT);
		sink_count(s, client ? "received" : "sent", part->offered);
		if (client)
			report_walk_latency(s, "response_us", &part->response);
		sink_end(s);
	}
	sink_end(s);
}

static void walk_payloads(struct sink *s, const struct split *split)
{
	uint64_t sum[PAYLOAD_FATES] = {0}, total = 0;

	for (uint32_t i = 0; i < split->lines; i++)
		for (unsigned fate = 0; fate < PAYLOAD_FATES; fate++) {
			sum[fate] += split->fate[i][fate];
			total += split->fate[i][fate];
		}
	sink_begin(s, "payloads", SINK_OBJECT);
	for (unsigned fate = 0; fate < PAYLOAD_FATES; fate++)
		sink_count(s, fate_name[fate], sum[fate]);
	sink_real(s, "blocked_percent",
		  total ? 100.0 * (double)sum[PAYLOAD_BLOCKED] / (double)total : 0);
	sink_begin(s, "lines", SINK_ARRAY);
	for (uint32_t i = 0; i < split->lines; i++) {
		sink_begin_flat(s, NULL, SINK_OBJECT);
		sink_count(s, "line", i + 1);
		for (unsigned fate = 0; fate < PAYLOAD_FATES; fate++)
			sink_count(s, fate_name[fate], split->fate[i][fate]);
		sink_end(s);
	}
	sink_end(s);
	sink_end(s);
}

void report_walk_split(struct sink *s, const struct config_traffic *t, const struct split *split)
{
	walk_sources(s, t, split);
	walk_statuses(s, t->kind == HTTP_CLIENT, split);
	sink_begin_flat(s, "by_content", SINK_OBJECT);
	for (unsigned i = 0; i < CONTENTS; i++)
		if (split->type[i])
			sink_count(s, content_name[i], split->type[i]);
	sink_end(s);
	sink_begin_flat(s, "sensitive", SINK_OBJECT);
	for (unsigned i = 0; i < SENSITIVE_KINDS; i++)
		sink_count(s, sensitive_info[i].name, split->items[i]);
	sink_end(s);
	if (split->lines)
		walk_payloads(s, split);
}
