/* The writer and what can happen to a file: rotation, limits, full devices, pipes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

/* 100 packets in files of a limit: none lost, and no file beyond the limit. */
static void rotate(const struct writer_options *limits, unsigned files, unsigned first_packets)
{
	struct writer_options options = *limits;
	struct writer *writer;
	struct writer_counts counts;
	unsigned packets = 0, file = 1;
	struct parsed parsed;
	struct err err;
	char name[32];

	options.path = scratch("ring.x.pcapng");
	writer = writer_to(&options);
	for (uint32_t i = 0; i < 100; i++) {
		struct record record = record_of(i, 100);

		assert_int_equal(writer_packet(writer, &record), 0);
	}
	assert_int_equal(writer_close(writer, &counts, &err), 0);
	assert_int_equal(counts.files, files);
	assert_int_equal(counts.written, 100);
	if (options.files)
		file = files - options.files + 1;
	for (; file <= files; file++) {
		struct stat status;

		snprintf(name, sizeof(name), "ring.x-%05u.pcapng", file);
		parsed = parse(scratch(name));
		assert_int_equal(parsed.sections, 1);
		assert_int_equal(parsed.interfaces, 1);
		assert_int_equal(parsed.statistics, 1);
		assert_true(file == files || parsed.packets == first_packets);
		stat(scratch(name), &status);
		assert_true(!options.file_bytes || parsed.packets == 1 ||
			    (uint64_t)status.st_size <= options.file_bytes);
		packets += parsed.packets;
		assert_int_equal(unlink(scratch(name)), 0);
		assert_int_equal(parsed.delivered, options.files ? parsed.delivered : packets);
	}
	assert_int_equal(parsed.delivered, 100);
	if (!options.files)
		assert_int_equal(packets, 100);
	snprintf(name, sizeof(name), "ring.x-%05u.pcapng", files - options.files);
	assert_int_equal(access(scratch(name), F_OK), -1);
}

static void test_rotation(void **state)
{
	struct err err;

	(void)state;
	rotate(&(struct writer_options){.file_packets = 30}, 4, 30);
	rotate(&(struct writer_options){.file_packets = 7, .files = 3}, 15, 7);
	rotate(&(struct writer_options){.file_packets = 7, .files = 1}, 15, 7);
	rotate(&(struct writer_options){.file_ns = 25000}, 4, 25);
	rotate(&(struct writer_options){.file_bytes = 4096}, 4, 29);
	rotate(&(struct writer_options){.file_bytes = 1}, 100, 1);
	assert_null(writer_open(&(struct writer_options){.path = "-", .file_packets = 1}, &err));
	assert_null(writer_open(&(struct writer_options){.path = "x", .files = 2}, &err));
	assert_null(writer_open(&(struct writer_options){.path = "/nonexistent/x"}, &err));
	assert_string_equal(err.text, "/nonexistent/x: open failed: No such file or directory");
}

/* A device without room: all is lost, nothing hangs, the reason is there. */
static void test_full_device(void **state)
{
	struct writer *writer = writer_to(&(struct writer_options){.path = "/dev/full"});
	struct writer_counts counts;
	struct err err;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		struct record record = record_of(i, 1000);

		writer_packet(writer, &record);
	}
	assert_string_equal(writer_error(writer),
			    "/dev/full: write failed: No space left on device");
	assert_int_equal(writer_close(writer, &counts, &err), -1);
	assert_int_equal(err.exit, EXIT_ENVIRONMENT);
	assert_non_null(strstr(err.text, "; 5000 of 5000 packets lost"));
	assert_int_equal(counts.packets, 5000);
	assert_int_equal(counts.lost, 5000);
	assert_int_equal(counts.written, 0);
	assert_int_equal(counts.bytes, 0);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* As `ulimit -f` does it, for every limit from no byte on: the file ends behind a whole block, and
 * when there is room again, writing goes on and the next packet has the drop count. */
static void test_file_size_limit(void **state)
{
	struct writer_options options = {.path = scratch("limit.pcapng")};

	(void)state;
	for (unsigned limit = 0; limit < 700; limit++) {
		struct writer *writer = writer_to(&options);
		struct writer_counts counts;
		struct parsed parsed;
		struct err err;
		int result;

		limit_file_size(limit);
		for (uint32_t i = 0; i < 5; i++) {
			struct record record = record_of(i, 64 + i);

			record.drops = 2;
			assert_int_equal(writer_packet(writer, &record), 0);
		}
		result = writer_flush(writer);
		limit_file_size(RLIM_INFINITY);
		counts = *writer_counts(writer);
		assert_int_equal(result, counts.lost ? -1 : 0);
		assert_int_equal(counts.written + counts.lost, 5);
		assert_int_equal(counts.errors > 0, counts.lost > 0);
		parsed = parse(options.path);
		assert_int_equal(parsed.packets, counts.written);
		assert_true(counts.lost == 0 || parsed.packets * 128 <= limit);

		writer_packet(writer, &(struct record){.time_ns = START_NS});
		assert_int_equal(writer_close(writer, &counts, &err), counts.lost ? -1 : 0);
		parsed = parse(options.path);
		assert_int_equal(parsed.packets, counts.written);
		assert_int_equal(parsed.delivered, counts.written);
		assert_int_equal(parsed.dropped, 10 + counts.lost);
		assert_int_equal(parsed.drops, parsed.dropped);
		assert_int_equal(parsed.received, 16);
	}
}

/* A reader that goes away, with SIGPIPE at its default action; a slow one that takes bits. */
static void test_pipes(void **state)
{
	struct writer *writer;
	struct writer_counts counts;
	int ends[2], before = dup(STDOUT_FILENO), result;
	struct err err;

	(void)state;
	fflush(stdout);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	writer = writer_to(&(struct writer_options){.path = "-"});
	writer_packet(writer, &(struct record){.time_ns = START_NS});
	result = writer_flush(writer);
	close(ends[0]);
	writer_packet(writer, &(struct record){.time_ns = START_NS});
	writer_flush(writer);
	writer_packet(writer, &(struct record){.time_ns = START_NS});
	result += writer_close(writer, &counts, &err);
	dup2(before, STDOUT_FILENO);
	close(before);
	assert_int_equal(result, -1);
	assert_string_equal(err.text, "standard output: write failed: Broken pipe; "
				      "2 of 3 packets lost");
	assert_int_equal(counts.written, 1);
	assert_int_equal(counts.errors, 1);
}

/* A non-blocking pipe takes bits and then nothing for a while: no byte may be lost or doubled. */
static void test_non_blocking_pipe(void **state)
{
	int ends[2], before = dup(STDOUT_FILENO), status;
	char bytes[1000];
	ssize_t count;
	struct writer *writer;
	struct err err;
	pid_t child;

	(void)state;
	fflush(stdout);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		int fd = open(scratch("pipe.pcapng"), O_WRONLY | O_CREAT, 0600);

		close(ends[1]);
		while ((count = read(ends[0], bytes, sizeof(bytes))) > 0)
			if (write(fd, bytes, (size_t)count) != count)
				_exit(1);
		_exit(0);
	}
	close(ends[0]);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	writer = writer_to(&(struct writer_options){.path = "-"});
	for (uint32_t i = 0; i < 3000; i++) {
		struct record record = record_of(i, 1000);

		writer_packet(writer, &record);
	}
	status = writer_close(writer, NULL, &err);
	dup2(before, STDOUT_FILENO);
	close(before);
	assert_int_equal(status, 0);
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(parse(scratch("pipe.pcapng")).packets, 3000);
}

/* The next file cannot be opened; later it can. */
static void test_next_file(void **state)
{
	struct writer_options options = {.path = scratch("sub/x"), .file_packets = 1};
	struct writer *writer;
	struct writer_counts counts;
	struct record record = record_of(0, 64);
	struct parsed parsed;
	struct err err;

	(void)state;
	assert_int_equal(mkdir(scratch("sub"), 0700), 0);
	writer = writer_to(&options);
	assert_int_equal(writer_packet(writer, &record), 0);
	assert_int_equal(rename(scratch("sub"), scratch("moved")), 0);
	writer_packet(writer, &record);
	assert_int_equal(writer_flush(writer), -1);
	assert_int_equal(rename(scratch("moved"), scratch("sub")), 0);
	assert_int_equal(writer_packet(writer, &record), 0);
	assert_int_equal(writer_close(writer, &counts, &err), -1);
	assert_non_null(strstr(err.text, "sub/x-00002: open failed: No such file or directory; "
					 "1 of 3 packets lost"));
	assert_int_equal(counts.files, 2);
	assert_int_equal(counts.written, 2);
	assert_int_equal(parse(scratch("sub/x-00001")).packets, 1);
	parsed = parse(scratch("sub/x-00002"));
	assert_int_equal(parsed.packets, 1);
	assert_int_equal(parsed.drops, 1);
	assert_int_equal(parsed.dropped, 1);
	unlink(scratch("sub/x-00001"));
	unlink(scratch("sub/x-00002"));
	rmdir(scratch("sub"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rotation),          cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_file_size_limit),   cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_non_blocking_pipe), cmocka_unit_test(test_next_file),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
