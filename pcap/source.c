/* A window over a stream of bytes.
 *
 * Blocks of READ_SIZE are read behind what is left of the last one, which first moves to the front:
 * a record is copied only if it straddles two reads, and a pipe is never asked for more than the
 * caller needs. mmap() was rejected: it cannot read pipes, a file that shrinks kills the process
 * with SIGBUS, and faulting a page in costs about as much as copying it. gzopen() was rejected: it
 * takes damaged files for plain ones, and zstd needs the same loop anyway. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "../common/base/require.h"

#define READ_SIZE   (256u << 10)
#define HEAD_ROOM   64u
#define WINDOW_SIZE (SOURCE_PEEK_MAX + READ_SIZE)
#define MAGIC_SIZE  4u

struct unpacker {
	z_stream *gzip; /* one of the two */
	ZSTD_DStream *zstd;
	bool whole;        /* the last member or frame is complete: here the file may end */
	size_t at, length; /* of packed: what is not yet consumed */
	z_stream gzip_state;
	uint8_t packed[READ_SIZE];
};

static ssize_t source_failed(struct source *source, bool damaged, const char *why)
{
	source->damaged = damaged;
	snprintf(source->error, sizeof(source->error), "%s", why);
	return -1;
}

static ssize_t read_some(struct source *source, uint8_t *to, size_t room)
{
	for (;;) {
		ssize_t count = read(source->fd, to, room);

		if (count >= 0)
			return count;
		if (errno == EAGAIN) { /* standard input may be non-blocking by another's hand */
			struct pollfd wait = {.fd = source->fd, .events = POLLIN};

			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return source_failed(source, false, strerror(errno));
		}
	}
}

/* Both return false if the data are damaged; they advance u->at and *to. */
static bool unpack_gzip(struct unpacker *u, uint8_t **to, size_t room)
{
	int result;

	if (u->whole && inflateReset(u->gzip) != Z_OK)
		return false;
	u->gzip->next_in = u->packed + u->at;
	u->gzip->avail_in = (uInt)(u->length - u->at);
	u->gzip->next_out = *to;
	u->gzip->avail_out = (uInt)room;
	result = inflate(u->gzip, Z_NO_FLUSH);
	u->at = u->length - u->gzip->avail_in;
	*to = u->gzip->next_out;
	u->whole = result == Z_STREAM_END;
	return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
}

static bool unpack_zstd(struct unpacker *u, uint8_t **to, size_t room)
{
	ZSTD_inBuffer in = {u->packed, u->length, u->at};
	ZSTD_outBuffer out = {*to, room, 0};
	size_t result = ZSTD_decompressStream(u->zstd, &out, &in);

	u->at = in.pos;
	*to += out.pos;
	u->whole = result == 0;
	return !ZSTD_isError(result);
}

static ssize_t unpack_some(struct source *source, uint8_t *to, size_t room)
{
	struct unpacker *u = source->unpacker;
	uint8_t *end = to;

	do {
		bool good;

		if (u->at == u->length) {
			ssize_t count = read_some(source, u->packed, sizeof(u->packed));

			if (count < 0)
				return -1;
			/* Without more input, the decoder may still hold back some output. */
			if (count == 0 && u->whole)
				return 0;
			u->at = 0;
			u->length = (size_t)count;
		}
		good = u->gzip ? unpack_gzip(u, &end, room) : unpack_zstd(u, &end, room);
		if (!good)
			return source_failed(source, true, "compressed data are damaged");
		if (end == to && u->length == 0 && !u->whole)
			return source_failed(source, true, "compressed data end too early");
	} while (end == to);
	return end - to;
}

uint8_t *source_fill(struct source *source, size_t need)
{
	size_t left = source_left(source);
	uint8_t *limit = source->window + WINDOW_SIZE;

	require(need <= SOURCE_PEEK_MAX);
	memmove(source->window, source->begin, left);
	source->begin = source->window;
	source->end = source->begin + left;
	while (source_left(source) < need && !source->error[0]) {
		size_t room = (size_t)(limit - source->end);
		ssize_t count;

		room = room < READ_SIZE ? room : READ_SIZE;
		count = source->unpacker ? unpack_some(source, source->end, room)
					 : read_some(source, source->end, room);
		if (count <= 0)
			return NULL;
		source->end += count;
	}
	return source_left(source) >= need ? source->begin : NULL;
}

uint64_t source_skip(struct source *source, uint64_t count)
{
	uint64_t skipped = 0;

	while (skipped < count && source_peek(source, 1)) {
		size_t left = source_left(source);
		size_t step = count - skipped < left ? (size_t)(count - skipped) : left;

		source_take(source, step);
		skipped += step;
	}
	return skipped;
}

/* What was read to see the magic number becomes the unpacker's first input. */
static bool unpacker_add(struct source *source, bool gzip)
{
	struct unpacker *u = calloc(1, sizeof(*u));

	if (!u)
		return false;
	source->unpacker = u;
	if (gzip && inflateInit2(&u->gzip_state, 15 + 16) == Z_OK)
		u->gzip = &u->gzip_state;
	if (!gzip)
		u->zstd = ZSTD_createDStream();
	u->length = source_left(source);
	memcpy(u->packed, source->begin, u->length);
	source->end = source->begin;
	return u->gzip || u->zstd;
}

static int source_start(struct source *source, const char *path, struct err *err)
{
	static const uint8_t gzip[] = {0x1f, 0x8b, 8}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	uint8_t *memory = malloc(HEAD_ROOM + WINDOW_SIZE);
	const uint8_t *magic;

	if (!memory)
		return err_set(err, EXIT_ENVIRONMENT, "%s: no memory to read it", path);
	source->window = source->begin = source->end = memory + HEAD_ROOM;
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	magic = source_peek(source, MAGIC_SIZE);
	if (source->error[0])
		return err_set(err, EXIT_ENVIRONMENT, "%s: %s", path, source->error);
	if (magic && (!memcmp(magic, gzip, sizeof(gzip)) || !memcmp(magic, zstd, sizeof(zstd))) &&
	    !unpacker_add(source, magic[0] == gzip[0]))
		return err_set(err, EXIT_ENVIRONMENT, "%s: no memory to uncompress it", path);
	return 0;
}

int source_open(struct source *source, const char *path, struct err *err)
{
	*source = (struct source){.fd = STDIN_FILENO};
	if (strcmp(path, "-") != 0)
		source->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0)
		return err_set(err, EXIT_USAGE, "%s: %s", path, strerror(errno));
	if (source_start(source, path, err)) {
		source_close(source);
		return -1;
	}
	return 0;
}

void source_close(struct source *source)
{
	if (source->unpacker && source->unpacker->gzip)
		inflateEnd(source->unpacker->gzip);
	if (source->unpacker)
		ZSTD_freeDStream(source->unpacker->zstd);
	free(source->unpacker);
	if (source->window)
		free(source->window - HEAD_ROOM);
	if (source->fd != STDIN_FILENO)
		close(source->fd);
}
