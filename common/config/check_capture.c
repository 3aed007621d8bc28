/* Capture files among themselves and beside the report: two must not share a place, and what a file
 * cannot do is refused before the run. */
#include <string.h>

#include "reader.h"

/* The way down to capture.packets[i].key. */
struct way {
	struct where root, capture, list, element, key;
};

static const struct where *way_find(struct reader *r, struct way *s, unsigned i, const char *key)
{
	s->root = (struct where){.node = r->document->root};
	s->capture = (struct where){.up = &s->root, .key = "capture"};
	s->capture.node = cJSON_GetObjectItemCaseSensitive(s->root.node, "capture");
	s->list = (struct where){.up = &s->capture, .key = "packets"};
	s->list.node = cJSON_GetObjectItemCaseSensitive(s->capture.node, "packets");
	s->element = (struct where){.up = &s->list, .index = i};
	s->element.node = cJSON_GetArrayItem(s->list.node, (int)i);
	s->key = (struct where){.up = &s->element, .key = key};
	s->key.node = cJSON_GetObjectItemCaseSensitive(s->element.node, key);
	return &s->key;
}

static bool is_same(const char *file, const char *other)
{
	return file && other && !strcmp(file, other);
}

/* Whose file this is already, or NULL. */
static const char *owner_of(const struct config *c, const char *file, unsigned before)
{
	if (is_same(file, c->report_json))
		return "report.json";
	for (unsigned i = 0; i < before; i++)
		if (is_same(file, c->capture.packets[i].file))
			return "another entry";
	return is_same(file, c->capture.drops) ? "capture.drops" : NULL;
}

static void rotation_check(struct reader *r, unsigned i)
{
	const struct config_packets *packets = &r->config->capture.packets[i];
	bool rotates = packets->file_size || packets->file_packets || packets->file_time;
	struct way s;

	if (packets->files && !rotates)
		problem_add(r->document, way_find(r, &s, i, "files"), PLACE_VALUE,
			    "there is one file only: set file_size, file_packets or file_time");
	if (rotates && is_same(packets->file, "-"))
		problem_add(r->document, way_find(r, &s, i, "file"), PLACE_VALUE,
			    "standard output cannot be split into several files");
}

void capture_check(struct reader *r)
{
	struct config_capture *capture = &r->config->capture;
	struct way s;

	if (is_same(capture->drops, r->config->report_json)) {
		way_find(r, &s, 0, "file");
		s.key = (struct where){.up = &s.capture, .key = "drops"};
		s.key.node = cJSON_GetObjectItemCaseSensitive(s.capture.node, "drops");
		problem_add(r->document, &s.key, PLACE_VALUE, "report.json writes there already");
	}
	for (unsigned i = 0; i < capture->packet_files; i++) {
		struct config_packets *packets = &capture->packets[i];
		const char *owner = owner_of(r->config, packets->file, i);

		if (owner)
			problem_add(r->document, way_find(r, &s, i, "file"), PLACE_VALUE,
				    "%s writes there already", owner);
		if (!way_find(r, &s, i, "port")->node)
			packets->port = CONFIG_UNLIMITED;
		if (packets->format == CAPTURE_PCAP && packets->port == CONFIG_UNLIMITED &&
		    r->config->ports > 1)
			problem_add(r->document, way_find(r, &s, i, "format"), PLACE_VALUE,
				    "a classic pcap file holds one port's packets: name the "
				    "port, or use \"pcapng\"");
		rotation_check(r, i);
	}
}
