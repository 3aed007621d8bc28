/* Capture: from the configuration to recorders, and from these to taps and samplers of workers.
 *
 * Each file has a recorder with one channel per worker that contributes, and one interface per
 * port. */
#define _GNU_SOURCE
#include "capture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "../../pcap/linktype.h"
#include "../../pcap/recorder.h"
#include "../../pcap/tap.h"
#include "plan_rings.h"

#define PATIENCE_NS       5000000000u /* for the reader of a pipe; after an interruption: */
#define PATIENCE_SHORT_NS 500000000u

struct file {
	const struct config_packets *packets; /* NULL: samples of refused packets */
	struct recorder *recorder;
	struct filter *filter;
	unsigned channels; /* handed out */
	struct tap *tap;   /* one per worker that contributes; of samples: */
	struct sampler *sampler;
	int *interface; /* per port of the configuration, -1: not captured */
	struct err err;
};

struct capture {
	const struct config *config;
	struct file *file;
	unsigned files;
	struct tap **list; /* of all workers' taps, each worker's in a row */
	uint64_t origin_ns;
	struct capture_result *result;
};

bool capture_filter_is_wrong(const char *expression, char *why, size_t size)
{
	struct err err;
	struct filter *filter = filter_open(expression, LINKTYPE_ETHERNET, &err);

	if (!filter)
		snprintf(why, size, "%s", err.text);
	filter_close(filter);
	return !filter;
}

bool capture_is_stdout(const struct config *config)
{
	const struct config_capture *capture = &config->capture;
	bool is_stdout = capture->drops && !strcmp(capture->drops, "-");

	for (unsigned i = 0; i < capture->packet_files; i++)
		is_stdout |= !strcmp(capture->packets[i].file, "-");
	return is_stdout;
}

static const char *file_path(const struct capture *capture, const struct file *file)
{
	return file->packets ? file->packets->file : capture->config->capture.drops;
}

static uint32_t file_snaplen(const struct capture *capture, const struct file *file)
{
	return file->packets ? file->packets->snaplen : capture->config->capture.snaplen;
}

static int interfaces_open(struct capture *capture, struct file *file, struct err *err)
{
	const struct config *config = capture->config;

	for (unsigned i = 0; i < config->ports; i++) {
		struct encode_interface interface = {
			.name = config->port[i].name,
			.description = config->port[i].device,
			.snaplen = file_snaplen(capture, file),
			.linktype = LINKTYPE_ETHERNET,
		};

		file->interface[i] = -1;
		if (!ring_wanted(config, file->packets, i))
			continue;
		file->interface[i] = recorder_interface(file->recorder, &interface, err);
		if (file->interface[i] < 0)
			return -1;
	}
	return 0;
}

static int recorder_make(struct capture *capture, struct file *file, struct err *err)
{
	const struct config_packets *packets = file->packets;
	struct utsname system = {.sysname = ""};
	struct recorder_options options = {
		.writer = {.path = file_path(capture, file),
			   .origin = {.application = "onager " ONAGER_VERSION}},
		.channels = ring_count(capture->config, file->packets),
		.channel_size = packets ? RING_PACKETS : RING_SAMPLES,
	};
	char os[sizeof(system.sysname) + sizeof(system.release) + 1];

	uname(&system);
	snprintf(os, sizeof(os), "%s %s", system.sysname, system.release);
	options.writer.origin.os = os;
	if (packets) {
		options.limit = packets->limit;
		options.writer.format =
			packets->format == CAPTURE_PCAP ? WRITER_PCAP : WRITER_PCAPNG;
		options.writer.file_bytes = packets->file_size;
		options.writer.file_packets = packets->file_packets;
		options.writer.file_ns = packets->file_time;
		options.writer.files = packets->files;
	}
	file->recorder = recorder_open(&options, err);
	return file->recorder ? 0 : -1;
}

static int file_open(struct capture *capture, struct file *file, struct err *err)
{
	unsigned workers = ring_count(capture->config, file->packets);

	file->interface = calloc(capture->config->ports, sizeof(*file->interface));
	if (file->packets)
		file->tap = calloc(workers, sizeof(*file->tap));
	else
		file->sampler = calloc(workers, sizeof(*file->sampler));
	if (!file->interface || !(file->tap || file->sampler))
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	if (file->packets && file->packets->filter) {
		file->filter = filter_open(file->packets->filter, LINKTYPE_ETHERNET, err);
		if (!file->filter)
			return -1;
	}
	return recorder_make(capture, file, err) || interfaces_open(capture, file, err) ? -1 : 0;
}

int capture_open(struct capture **made, const struct config *config, struct err *err)
{
	unsigned files = config->capture.packet_files + (config->capture.drops != NULL);
	struct capture *capture;

	*made = NULL;
	if (!files)
		return 0;
	*made = capture = calloc(1, sizeof(*capture));
	if (capture) {
		capture->config = config;
		capture->file = calloc(files, sizeof(*capture->file));
		capture->result = calloc(files, sizeof(*capture->result));
	}
	if (!capture || !capture->file || !capture->result)
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	for (unsigned i = 0; i < files; i++) {
		struct file *file = &capture->file[capture->files++];

		if (i < config->capture.packet_files)
			file->packets = &config->capture.packets[i];
		if (file_open(capture, file, err))
			return err_prefix(err, "capture: ");
	}
	return 0;
}

/* The next channel of a file, for a worker. */
static struct channel *channel_next(struct file *file, const struct worker *w)
{
	return recorder_channel(file->recorder, file->channels, file->interface[w->port_index],
				w->queue);
}

static void worker_attach(struct capture *capture, struct worker *w)
{
	for (unsigned i = 0; i < capture->files; i++) {
		struct file *file = &capture->file[i];

		if (!ring_wanted(capture->config, file->packets, w->port_index))
			continue;
		if (!file->packets) {
			w->sampler = &file->sampler[file->channels];
			*w->sampler = (struct sampler){
				.channel = channel_next(file, w),
				.origin_ns = capture->origin_ns,
				.snaplen = capture->config->capture.snaplen,
				.per_second = capture->config->capture.per_reason_per_second,
			};
		} else {
			struct tap *tap = &file->tap[file->channels];

			*tap = (struct tap){
				.channel = channel_next(file, w),
				.filter = file->filter,
				.origin_ns = capture->origin_ns,
				.snaplen = file->packets->snaplen,
				.rx = file->packets->direction != CAPTURE_TX,
				.tx = file->packets->direction != CAPTURE_RX,
			};
			w->txq.tap[w->txq.taps++] = tap;
		}
		file->channels++;
	}
}

int capture_start(struct capture *capture, struct worker *const *worker, unsigned workers,
		  const struct clock *clock, struct err *err)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	capture->origin_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	capture->origin_ns -= clock_now(clock);
	capture->list = calloc(workers * capture->files, sizeof(*capture->list));
	if (!capture->list)
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	for (unsigned i = 0; i < workers; i++) {
		worker[i]->txq.tap = capture->list + i * capture->files;
		worker_attach(capture, worker[i]);
	}
	for (unsigned i = 0; i < capture->files; i++)
		if (recorder_start(capture->file[i].recorder, err))
			return -1;
	return 0;
}

static void file_finish(struct capture *capture, struct file *file, uint64_t patience_ns,
			struct capture_result *result)
{
	struct recorder_counts counts;

	*result = (struct capture_result){.file = file_path(capture, file),
					  .is_drops = !file->packets};
	if (recorder_close(file->recorder, patience_ns, &counts, &file->err))
		result->error = file->err.text;
	file->recorder = NULL;
	for (unsigned i = 0; i < file->channels; i++) {
		const struct tap_counts *tap =
			file->packets ? &file->tap[i].counts : &file->sampler[i].counts;

		result->shown += tap->shown;
		result->filtered += tap->filtered;
		result->beyond += tap->beyond;
	}
	result->beyond += counts.beyond;
	result->dropped = counts.dropped;
	result->lost = counts.writer.lost;
	result->written = counts.writer.written;
	result->bytes = counts.writer.bytes;
	result->files = counts.writer.files;
}

void capture_finish(struct capture *capture, struct result *result)
{
	uint64_t patience_ns = result->interrupted ? PATIENCE_SHORT_NS : PATIENCE_NS;

	if (!capture)
		return;
	for (unsigned i = 0; i < capture->files; i++)
		file_finish(capture, &capture->file[i], patience_ns, &capture->result[i]);
	result->capture = capture->result;
	result->captures = capture->files;
}

void capture_close(struct capture *capture)
{
	for (unsigned i = 0; capture && i < capture->files; i++) {
		struct file *file = &capture->file[i];
		struct recorder_counts counts;

		if (file->recorder)
			recorder_close(file->recorder, 0, &counts, &file->err);
		filter_close(file->filter);
		free(file->interface);
		free(file->sampler);
		free(file->tap);
	}
	if (!capture)
		return;
	free(capture->list);
	free(capture->result);
	free(capture->file);
	free(capture);
}
