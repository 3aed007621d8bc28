/* The writer: one batch of encoded records in memory, one file.
 *
 * A batch is stored by write(); what the system takes of it is cut back to whole records, and the
 * rest is counted as lost by walking over its records. So a file is well-formed after every
 * failure, and a later batch may succeed. The description of file and interfaces is kept apart:
 * each file begins with it, and interfaces that come later follow before the next batch.
 *
 * Rejected: stdio (hides how much was written when it fails); ignoring SIGPIPE and SIGXFSZ for the
 * whole process (not a library's to decide: they are blocked around each write); rotation by the
 * clock (it would make empty files, and tests that sleep). */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../common/base/require.h"

#define BATCH_SIZE   (1u << 20)
#define PIPE_LOOK_MS 100

_Static_assert(BATCH_SIZE > ENCODE_PACKET_MAX, "a batch holds any packet");

struct interface {
	uint32_t snaplen;
	uint64_t pending; /* lost since the last packet: the drop count of the next */
	struct encode_statistics counts;
};

struct writer {
	struct writer_options options; /* path is owned, origin is used up by writer_open() */
	struct encode_item (*item)(const uint8_t *);
	size_t (*encode)(uint8_t *, const struct record *);
	bool rotates;
	bool broken; /* a stream that ends inside a record, or without its reader: never write again
		      */
	bool is_pipe;
	int fd;              /* -1: none is open; the next flush tries again */
	uint64_t give_up_ns; /* by CLOCK_MONOTONIC: the reader of a pipe is waited for until then */

	uint8_t *batch;
	size_t used, batch_packets;
	uint8_t *header; /* what each file begins with */
	size_t header_length, header_stored;
	struct interface *interfaces;
	uint32_t interface_count;

	/* Of the current file, with what is still in the batch. */
	uint64_t file_bytes, file_packets, file_start_ns;
	char file[PATH_MAX];

	struct writer_counts counts;
	bool failed; /* and error has the first reason */
	struct err error;
};

static void writer_fail(struct writer *writer, const char *action)
{
	int number = errno;

	writer->counts.errors++;
	if (!writer->failed)
		err_set(&writer->error, EXIT_ENVIRONMENT, "%s: %s failed: %s", writer->file, action,
			strerror(number));
	writer->failed = true;
}

/* write() whose signals stay here. They are sent to the thread that writes, so that blocking them
 * in this thread, and fetching them, is enough. */
static ssize_t write_quietly(int fd, const uint8_t *data, size_t length)
{
	const struct timespec at_once = {0};
	sigset_t signals, before;
	ssize_t count;
	int error;

	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	count = write(fd, data, length);
	error = errno;
	if (count < (ssize_t)length) /* a pipe sends its signal with a short count, too */
		sigtimedwait(&signals, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return count;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Wait until a pipe has room; false, with errno, when that takes too long. */
static bool pipe_wait(const struct writer *writer)
{
	struct pollfd wait = {.fd = writer->fd, .events = POLLOUT};

	while (poll(&wait, 1, PIPE_LOOK_MS) <= 0) {
		if (monotonic_ns() < __atomic_load_n(&writer->give_up_ns, __ATOMIC_RELAXED))
			continue;
		errno = ETIMEDOUT;
		return false;
	}
	return true;
}

void writer_hurry(struct writer *writer, uint64_t patience_ns)
{
	__atomic_store_n(&writer->give_up_ns, monotonic_ns() + patience_ns, __ATOMIC_RELAXED);
}

/* One write(). A pipe with room takes PIPE_BUF bytes at once: this never waits for its reader. */
static ssize_t write_some(const struct writer *writer, const uint8_t *data, size_t length)
{
	if (!writer->is_pipe)
		return write_quietly(writer->fd, data, length);
	if (!pipe_wait(writer))
		return -1;
	return write_quietly(writer->fd, data, length < PIPE_BUF ? length : PIPE_BUF);
}

/* Returns how much was written: all of it, or the failure is put down. */
static size_t write_all(struct writer *writer, const uint8_t *data, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t count = write_some(writer, data + done, length - done);

		if (count > 0) {
			done += (size_t)count;
		} else if (count < 0 && errno == EAGAIN) { /* another's O_NONBLOCK on our stdout */
			struct pollfd wait = {.fd = writer->fd, .events = POLLOUT};

			poll(&wait, 1, PIPE_LOOK_MS);
		} else if (count == 0 || errno != EINTR) {
			writer->broken |= count < 0 && errno == EPIPE;
			writer_fail(writer, "write");
			break;
		}
	}
	writer->counts.bytes += done;
	return done;
}

/* Remove the last bytes from the file, where it is one. */
static void cut_back(struct writer *writer, size_t excess)
{
	off_t end;

	if (excess == 0)
		return;
	end = lseek(writer->fd, -(off_t)excess, SEEK_CUR);
	if (end < 0 || ftruncate(writer->fd, end)) {
		writer->broken = true;
		return;
	}
	writer->counts.bytes -= excess;
}

/* All records of the batch from `at` on are lost. */
static void batch_lose(struct writer *writer, size_t at)
{
	writer->file_bytes -= writer->used - at;
	while (at < writer->used) {
		struct encode_item item = writer->item(writer->batch + at);
		struct interface *interface = &writer->interfaces[item.interface];

		at += item.length;
		if (!item.is_packet)
			continue;
		writer->counts.lost++;
		writer->file_packets--;
		interface->counts.written--;
		interface->counts.dropped++;
		interface->pending += 1 + item.drops;
	}
}

static bool header_store(struct writer *writer)
{
	size_t length = writer->header_length - writer->header_stored;
	size_t done = write_all(writer, writer->header + writer->header_stored, length);

	if (done < length) {
		cut_back(writer, done);
		return false;
	}
	writer->header_stored = writer->header_length;
	return true;
}

/* Store the batch's records as far as the system takes them. Returns the length of these. */
static size_t batch_store(struct writer *writer)
{
	size_t done = write_all(writer, writer->batch, writer->used), whole = 0, packets = 0;

	if (done == writer->used) { /* nothing to be looked for */
		writer->counts.written += writer->batch_packets;
		return done;
	}

	while (whole < done) {
		struct encode_item item = writer->item(writer->batch + whole);

		if (whole + item.length > done)
			break;
		whole += item.length;
		packets += (size_t)item.is_packet;
	}
	cut_back(writer, done - whole);
	writer->counts.written += packets;
	return whole;
}

static void file_name(struct writer *writer, uint32_t number)
{
	const char *path = writer->options.path;
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	int stem = (int)strlen(path);

	if (dot && dot > (slash ? slash + 1 : path))
		stem = (int)(dot - path);
	if (writer->rotates)
		snprintf(writer->file, sizeof(writer->file), "%.*s-%05u%s", stem, path, number,
			 path + stem);
	else
		snprintf(writer->file, sizeof(writer->file), "%s", path);
}

static void ring_trim(struct writer *writer)
{
	uint32_t keep = writer->options.files, number = writer->counts.files;

	if (keep && number > keep) {
		file_name(writer, number - keep);
		unlink(writer->file);
		file_name(writer, number);
	}
}

/* Begin the next file; false, with the failure put down, if that cannot be. */
static bool file_open(struct writer *writer)
{
	struct stat status;

	if (strcmp(writer->options.path, "-") == 0) {
		snprintf(writer->file, sizeof(writer->file), "standard output");
		writer->fd = STDOUT_FILENO;
	} else {
		file_name(writer, writer->counts.files + 1);
		writer->fd = open(writer->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	}
	if (writer->fd < 0) {
		writer_fail(writer, "open");
		return false;
	}
	writer->is_pipe = !fstat(writer->fd, &status) && S_ISFIFO(status.st_mode);
	writer->counts.files++;
	writer->header_stored = 0;
	writer->broken = false;
	ring_trim(writer);
	return true;
}

int writer_flush(struct writer *writer)
{
	size_t whole = 0, used = writer->used;

	if (used == 0 && writer->header_stored == writer->header_length)
		return 0;
	if (!writer->broken && (writer->fd >= 0 || file_open(writer)) && header_store(writer))
		whole = batch_store(writer);
	if (whole < used)
		batch_lose(writer, whole);
	writer->used = 0;
	writer->batch_packets = 0;
	return whole < used ? -1 : 0;
}

static uint8_t *batch_room(struct writer *writer, size_t length)
{
	if (BATCH_SIZE - writer->used < length)
		writer_flush(writer);
	return writer->batch + writer->used;
}

/* Statistics of all interfaces, and the end of the file. */
static void file_finish(struct writer *writer)
{
	/* Flushed first: what is lost now belongs into the statistics. */
	writer_flush(writer);
	for (uint32_t i = 0; i < writer->interface_count; i++)
		if (writer->options.format == WRITER_PCAPNG)
			writer->used += encode_statistics(batch_room(writer, ENCODE_STATISTICS_MAX),
							  i, &writer->interfaces[i].counts);
	writer_flush(writer);
	if (writer->fd >= 0 && writer->fd != STDOUT_FILENO && close(writer->fd))
		writer_fail(writer, "close");
	writer->fd = -1;
}

static void file_next(struct writer *writer)
{
	file_finish(writer);
	writer->file_bytes = writer->header_length;
	writer->file_packets = 0;
	file_open(writer);
}

static bool file_is_full(const struct writer *writer, size_t length, uint64_t time_ns)
{
	const struct writer_options *options = &writer->options;
	uint64_t statistics = writer->interface_count * ENCODE_STATISTICS_MAX;

	if (writer->file_packets == 0)
		return false;
	if (options->file_packets && writer->file_packets >= options->file_packets)
		return true;
	if (options->file_bytes && writer->file_bytes + length + statistics > options->file_bytes)
		return true;
	return options->file_ns && time_ns >= writer->file_start_ns &&
	       time_ns - writer->file_start_ns >= options->file_ns;
}

static void packet_count(struct writer *writer, struct interface *interface,
			 const struct record *record)
{
	struct encode_statistics *counts = &interface->counts;

	if (writer->file_packets++ == 0)
		writer->file_start_ns = record->time_ns;
	if (counts->end_ns == 0)
		counts->start_ns = record->time_ns;
	if (record->time_ns > counts->end_ns)
		counts->end_ns = record->time_ns;
	counts->written++;
	counts->dropped += record->drops;
	writer->counts.packets++;
}

int writer_packet(struct writer *writer, const struct record *original)
{
	struct record record = *original;
	struct interface *interface;
	uint64_t lost = writer->counts.lost;
	size_t length;

	require(record.interface < writer->interface_count);
	interface = &writer->interfaces[record.interface];
	if (record.captured > interface->snaplen)
		record.captured = interface->snaplen;
	length = encode_packet_length(&record);
	if (file_is_full(writer, length, record.time_ns))
		file_next(writer);
	batch_room(writer, length);
	record.drops += interface->pending; /* read after the flush, which may add to it */
	interface->pending = 0;
	length = writer->encode(writer->batch + writer->used, &record);
	writer->used += length;
	writer->batch_packets++;
	writer->file_bytes += length;
	packet_count(writer, interface, original);
	return writer->counts.lost == lost ? 0 : -1;
}

void writer_dropped(struct writer *writer, uint32_t interface, uint64_t count)
{
	require(interface < writer->interface_count);
	writer->interfaces[interface].pending += count;
	writer->interfaces[interface].counts.dropped += count;
}

int writer_interface(struct writer *writer, const struct encode_interface *interface,
		     struct err *err)
{
	bool classic = writer->options.format == WRITER_PCAP;
	uint32_t id = writer->interface_count, snaplen = interface->snaplen;
	size_t room = writer->header_length + ENCODE_SECTION_MAX, length;
	struct interface *interfaces;
	uint8_t *header;

	if (classic && id > 0)
		return err_set(err, EXIT_USAGE, "%s: a classic pcap file has only one interface",
			       writer->file);
	header = realloc(writer->header, room);
	writer->header = header ? header : writer->header;
	interfaces = realloc(writer->interfaces, (id + 1) * sizeof(*interfaces));
	writer->interfaces = interfaces ? interfaces : writer->interfaces;
	if (!header || !interfaces)
		return err_set(err, EXIT_ENVIRONMENT, "%s: no memory for an interface",
			       writer->file);
	header += writer->header_length;
	length = classic ? encode_classic(header, interface) : encode_interface(header, interface);
	writer->header_length += length;
	writer->file_bytes += length;
	interfaces[id] = (struct interface){.snaplen = snaplen ? snaplen : RECORD_CAPTURED_MAX};
	if (snaplen > RECORD_CAPTURED_MAX)
		interfaces[id].snaplen = RECORD_CAPTURED_MAX;
	writer->interface_count++;
	return (int)id;
}

static void writer_free(struct writer *writer)
{
	free((char *)writer->options.path);
	free(writer->interfaces);
	free(writer->header);
	free(writer->batch);
	free(writer);
}

static struct writer *writer_make(const struct writer_options *options)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	bool classic = options->format == WRITER_PCAP;

	if (!writer)
		return NULL;
	writer->options = *options;
	writer->give_up_ns = UINT64_MAX;
	writer->options.path = strdup(options->path);
	writer->item = classic ? encode_classic_item : encode_item;
	writer->encode = classic ? encode_classic_packet : encode_packet;
	writer->rotates = options->file_bytes || options->file_packets || options->file_ns;
	writer->batch = malloc(BATCH_SIZE);
	writer->header = malloc(ENCODE_SECTION_MAX);
	if (!writer->options.path || !writer->batch || !writer->header) {
		writer_free(writer);
		return NULL;
	}
	if (!classic)
		writer->header_length = encode_section(writer->header, &options->origin);
	writer->file_bytes = writer->header_length;
	return writer;
}

struct writer *writer_open(const struct writer_options *options, struct err *err)
{
	struct writer *writer = writer_make(options);

	if (!writer) {
		err_set(err, EXIT_ENVIRONMENT, "%s: no memory to write it", options->path);
		return NULL;
	}
	if (writer->rotates && strcmp(options->path, "-") == 0)
		err_set(err, EXIT_USAGE, "standard output cannot be split into several files");
	else if (options->files && !writer->rotates)
		err_set(err, EXIT_USAGE, "%s: a ring of files needs a limit for each",
			options->path);
	else if (!file_open(writer))
		*err = writer->error;
	else
		return writer;
	writer_free(writer);
	return NULL;
}

const struct writer_counts *writer_counts(const struct writer *writer)
{
	return &writer->counts;
}

const char *writer_error(const struct writer *writer)
{
	return writer->failed ? writer->error.text : NULL;
}

int writer_close(struct writer *writer, struct writer_counts *counts, struct err *err)
{
	int result = 0;

	file_finish(writer);
	if (writer->failed)
		result = err_set(err, writer->error.exit, "%.800s; %llu of %llu packets lost",
				 writer->error.text, (unsigned long long)writer->counts.lost,
				 (unsigned long long)writer->counts.packets);
	if (counts)
		*counts = writer->counts;
	writer_free(writer);
	return result;
}
