/* A pass: every record of every file is filtered out, left out for a reason, or put on a tape.
 *
 * What is left out is put on a tape as well, without bytes: so whoever plays the tape counts it
 * when its time has come, and wanted = sent + left out holds at every moment and for every loop.
 * Records that the reader itself leaves out are noticed by its counts.
 *
 * Flows are dealt to workers by addresses and ports. Fragments have no ports: a recording with
 * fragments is begun again, and dealt by addresses alone. */
#include "player_pass.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../common/base/dissect.h"
#include "../common/base/rewrite.h"
#include "player_clock.h"

#define FRAME_LEAST  60u /* of Ethernet, without FCS */
#define ETHER_HEADER 14u
#define VLAN_TAG     4u

static void skip(struct pass *pass, enum skipped reason, uint64_t at)
{
	struct tape_packet packet = {.at = at,
				     .number = pass->clock.number,
				     .size = tape_size(0),
				     .skipped = (uint8_t)reason};

	pass->counts.skipped[reason]++;
	pass->put(pass, 0, &packet);
}

/* A frame on its way to the tape. */
struct frame {
	const uint8_t *data;
	uint32_t captured, length; /* without FCS */
	const struct record *record;
	const char *path;
	bool server; /* the server's port sends it */
};

static int frame_refuse(const struct frame *f, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int frame_refuse(const struct frame *f, struct err *err, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, EXIT_USAGE, "%s: packet %llu at offset %llu: %s", f->path,
		       (unsigned long long)f->record->number, (unsigned long long)f->record->offset,
		       text);
}

/* What the reader delivers is its own: a copy is rewritten. */
static void frame_rewrite(struct pass *pass, struct frame *f)
{
	memcpy(pass->scratch, f->data, f->captured);
	f->data = pass->scratch;
	rewrite_frame(&pass->options->rewrite, f->server, pass->scratch, &f->captured, &f->length);
}

/* 1: goes on; 0: left out; -1: refused. */
static int frame_fit(struct pass *pass, struct frame *f, uint64_t at, struct err *err)
{
	uint32_t mtu = f->server ? pass->setup->server_mtu : pass->setup->mtu, most;
	struct dissect d;

	dissect_frame(f->data, f->captured, &d);
	most = mtu + ETHER_HEADER + d.vlans * VLAN_TAG;
	if (f->length <= most)
		return 1;
	switch (pass->options->oversize) {
	case OVERSIZE_REFUSE:
		return frame_refuse(f, err,
				    "%u bytes, but the port's MTU of %u allows frames of %u: raise "
				    "mtu, or set oversize to \"skip\" or \"truncate\"",
				    f->length, mtu, most);
	case OVERSIZE_SKIP:
		skip(pass, SKIPPED_OVERSIZE, at);
		return 0;
	default:
		f->length = most;
		if (f->captured > most)
			f->captured = most;
		pass->counts.cut++;
		return 1;
	}
}

static int frame_whole(struct pass *pass, struct frame *f, uint64_t at, struct err *err)
{
	if (f->captured >= f->length)
		return 1;
	if (!*pass->truncated)
		snprintf(pass->truncated, sizeof(pass->truncated),
			 "%.200s: packet %llu at offset %llu", f->path,
			 (unsigned long long)f->record->number,
			 (unsigned long long)f->record->offset);
	switch (pass->options->truncated) {
	case TRUNCATED_REFUSE:
		return frame_refuse(f, err,
				    "%u of %u bytes were captured, and truncated is \"refuse\"",
				    f->captured, f->length);
	case TRUNCATED_SKIP:
		skip(pass, SKIPPED_TRUNCATED, at);
		return 0;
	case TRUNCATED_PAD:
		pass->counts.padded++;
		return 1;
	default:
		f->length = f->captured;
		pass->counts.truncated++;
		return 1;
	}
}

/* The tape that a frame belongs to; -1: the pass must begin again, by addresses. */
static int frame_tape(struct pass *pass, const struct frame *f)
{
	unsigned first = f->server ? pass->setup->workers : 0;
	unsigned workers = f->server ? pass->setup->server_workers : pass->setup->workers;
	struct dissect d;

	if (workers == 1)
		return (int)first;
	dissect_frame(f->data, f->captured, &d);
	if (d.fragment && !pass->by_address) {
		pass->fragments = true;
		return -1;
	}
	return (int)(first + ((uint64_t)dissect_flow(f->data, f->captured, &d, pass->by_address) *
				      workers >>
			      32));
}

/* By the frame as it was recorded. */
static bool frame_is_server(struct pass *pass, const struct frame *f)
{
	struct dissect d;

	if (!pass->setup->server_workers || pass->options->split.by == SPLIT_NONE)
		return false;
	dissect_frame(f->data, f->captured, &d);
	return side_is_server(&pass->sides, &pass->options->split, f->data, f->captured, &d);
}

static int frame_put(struct pass *pass, const struct frame *f, uint64_t at)
{
	uint32_t length = f->length < FRAME_LEAST ? FRAME_LEAST : f->length;
	struct tape_packet packet = {.at = at,
				     .number = pass->clock.number,
				     .size = tape_size(length),
				     .length = (uint16_t)length};
	int tape = frame_tape(pass, f);
	uint8_t *to;

	if (tape < 0)
		return -1;
	pass->counts.runts += f->length < FRAME_LEAST;
	if (pass->contents)
		packet.content =
			content_add(&pass->contents[f->server], content_hash(f->data, f->captured));
	to = pass->put(pass, (unsigned)tape, &packet);
	if (to) {
		memcpy(to, f->data, f->captured);
		memset(to + f->captured, 0, length - f->captured);
	}
	pass->counts.packets++;
	pass->counts.bytes += length;
	clock_sent(&pass->clock, length);
	return 0;
}

static int record_play(struct pass *pass, const struct record *record, const char *path,
		       struct err *err)
{
	struct frame f = {.data = record->data,
			  .captured = record->captured,
			  .length =
				  record->length - (record->fcs < record->length ? record->fcs : 0),
			  .record = record,
			  .path = path};
	uint64_t at;
	int goes_on;

	pass->counts.records++;
	if (f.captured > f.length)
		f.captured = f.length;
	if (pass->filter && !filter_match(pass->filter, f.data, f.captured, f.length)) {
		pass->counts.filtered++;
		return 0;
	}
	at = clock_due(&pass->clock, record, &pass->counts);
	if (!f.captured) {
		skip(pass, SKIPPED_EMPTY, at);
		return 0;
	}
	f.server = frame_is_server(pass, &f);
	if (pass->scratch)
		frame_rewrite(pass, &f);
	goes_on = frame_fit(pass, &f, at, err);
	if (goes_on > 0)
		goes_on = frame_whole(pass, &f, at, err);
	if (goes_on > 0)
		goes_on = frame_put(pass, &f, at);
	return goes_on < 0 ? -1 : 0;
}

/* Records that the reader left out since it was last asked. */
static void reader_skips(struct pass *pass, const struct reader *reader, uint64_t *seen)
{
	uint64_t now = 0;

	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++)
		if (reader_problem_info[i].class == READER_SKIP)
			now += reader_count(reader, i)->count;
	for (; *seen < now; ++*seen) {
		pass->counts.records++;
		skip(pass, SKIPPED_LINK, pass->clock.at);
	}
}

static void problems_add(struct pass *pass, const struct reader *reader)
{
	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++) {
		const struct reader_count *count = reader_count(reader, i);

		if (count->count && !pass->counts.problem[i])
			memcpy(pass->first[i], count->first, sizeof(count->first));
		pass->counts.problem[i] += count->count;
	}
}

static bool is_wanted(const struct pass *pass)
{
	return !pass->wanted || pass->wanted(pass);
}

static int file_play(struct pass *pass, const char *path, struct err *err)
{
	const struct replay_convert *convert = &pass->options->convert;
	struct reader_options options = {.links =
						 convert->given ? READER_CONVERT : READER_ETHERNET};
	struct reader *reader;
	struct record record;
	uint64_t skips = 0;
	int failed = 0;

	memcpy(options.dst, convert->dst, sizeof(options.dst));
	memcpy(options.src, convert->src, sizeof(options.src));
	reader = reader_open(path, &options, err);
	if (!reader)
		return -1;
	clock_file(&pass->clock);
	while (!failed && is_wanted(pass) && reader_next(reader, &record) > 0) {
		reader_skips(pass, reader, &skips);
		failed = record_play(pass, &record, path, err);
	}
	reader_skips(pass, reader, &skips);
	problems_add(pass, reader);
	reader_close(reader);
	clock_file_end(&pass->clock);
	return failed;
}

int pass_run(struct pass *pass, struct err *err)
{
	pass->clock = (struct pass_clock){.options = pass->options};
	pass->counts = (struct player_counts){.records = 0};
	*pass->truncated = '\0';
	pass->fragments = false;
	side_clear(&pass->sides);
	for (unsigned i = 0; i < pass->options->files && is_wanted(pass); i++)
		if (file_play(pass, pass->options->file[i], err))
			return -1;
	return 0;
}

void pass_length(const struct pass *pass, uint64_t *length, uint64_t *part, uint64_t *parts)
{
	clock_length(&pass->clock, length, part, parts);
}
