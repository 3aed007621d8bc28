/* The report's part about capture files: what each was shown, and what became of it. */
#include "report.h"

static void walk_file(struct sink *s, const char *name, const struct capture_result *file)
{
	sink_begin_flat(s, name, SINK_OBJECT);
	sink_text(s, "file", file->file);
	sink_count(s, "shown", file->shown);
	sink_count(s, "filtered", file->filtered);
	sink_count(s, "beyond", file->beyond);
	sink_count(s, "dropped", file->dropped);
	sink_count(s, "lost", file->lost);
	sink_count(s, "written", file->written);
	sink_count(s, "bytes", file->bytes);
	sink_count(s, "files", file->files);
	if (file->error)
		sink_text(s, "error", file->error);
	sink_end(s);
}

void report_walk_capture(struct sink *s, const struct result *r)
{
	unsigned packets = 0;

	if (!r->captures)
		return;
	sink_begin(s, "capture", SINK_OBJECT);
	for (unsigned i = 0; i < r->captures; i++) {
		if (r->capture[i].is_drops)
			walk_file(s, "drops", &r->capture[i]);
		else
			packets++;
	}
	if (packets)
		sink_begin(s, "packets", SINK_ARRAY);
	for (unsigned i = 0; i < r->captures; i++)
		if (!r->capture[i].is_drops)
			walk_file(s, NULL, &r->capture[i]);
	if (packets)
		sink_end(s);
	sink_end(s);
}
