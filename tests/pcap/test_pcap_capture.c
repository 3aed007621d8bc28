/* Capture: taps and sampler of a worker, the channel, and the recorder that merges channels. Files
 * are read by our reader and by the independent parser of support.c. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_mbuf_core.h>

#include "../../pcap/recorder.h"
#include "../../pcap/tap.h"
#include "support.h"

#define RING 65536
#define S    1000000000ull

/* A packet of one or two pieces. */
struct frame {
	struct rte_mbuf m, second;
	uint8_t data[256];
};

static struct rte_mbuf *frame_make(struct frame *f, uint16_t length, uint16_t first_piece)
{
	*f = (struct frame){.m.nb_segs = 1};
	for (unsigned i = 0; i < length; i++)
		f->data[i] = (uint8_t)(i + 1);
	f->m.buf_addr = f->data;
	f->m.pkt_len = length;
	f->m.data_len = first_piece;
	if (first_piece < length) {
		f->m.nb_segs = 2;
		f->m.next = &f->second;
		f->second.buf_addr = f->data + first_piece;
		f->second.data_len = (uint16_t)(length - first_piece);
	}
	return &f->m;
}

/* A recorder into a scratch file, with as many channels as it has interfaces. */
static struct recorder *recorder_to(const char *path, unsigned channels, uint64_t limit,
				    struct channel **channel)
{
	struct recorder_options options = {
		.writer.path = path, .limit = limit, .channels = channels, .channel_size = RING};
	struct err err;
	struct recorder *recorder = recorder_open(&options, &err);

	assert_non_null(recorder);
	for (unsigned i = 0; i < channels; i++) {
		int interface = recorder_interface(recorder, &eth0, &err);

		assert_int_equal(interface, i);
		channel[i] = recorder_channel(recorder, i, interface, 7 + i);
	}
	return recorder;
}

/* Start and end the recorder: all that is in the channels is stored. */
static struct recorder_counts store(struct recorder *recorder)
{
	struct recorder_counts counts;
	struct err err;

	assert_int_equal(recorder_start(recorder, &err), 0);
	assert_int_equal(recorder_close(recorder, S, &counts, &err), 0);
	return counts;
}

static void test_tap(void **state)
{
	static struct outcome outcome;
	struct frame frame[3];
	struct rte_mbuf *pkt[] = {frame_make(&frame[0], 60, 60), frame_make(&frame[1], 200, 50),
				  frame_make(&frame[2], 61, 61)};
	struct channel *channel;
	struct recorder *recorder = recorder_to(scratch("tap.pcapng"), 1, 0, &channel);
	struct tap tap = {.channel = channel, .origin_ns = START_NS, .snaplen = 100, .rx = true};
	struct recorder_counts counts;

	(void)state;
	tap_received(&tap, pkt, 3, 5);
	tap_sending(&tap, pkt, 3, 6); /* not asked for */
	tap_sent(&tap, 3);
	assert_int_equal(tap.counts.shown, 3);
	assert_int_equal(tap.counts.put, 3);
	counts = store(recorder);
	assert_int_equal(counts.writer.written, 3);
	outcome_of(&outcome, scratch("tap.pcapng"), &as_is);
	assert_int_equal(outcome.packets, 3);
	assert_int_equal(outcome.records[0].captured, 60);
	assert_int_equal(outcome.records[1].captured, 100); /* of both pieces */
	assert_int_equal(outcome.records[1].length, 200);
	assert_memory_equal(outcome.data[1], frame[1].data, 100);
	assert_int_equal(outcome.records[2].captured, 61);
	assert_true(outcome.records[2].time_ns == START_NS + 5);
	assert_int_equal(outcome.records[2].direction, RECORD_IN);
	assert_true(outcome.records[2].flags & RECORD_QUEUE);
	assert_int_equal(outcome.records[2].queue, 7);
}

/* What the port refuses is not in the file, and not counted. */
static void test_tap_sent(void **state)
{
	static struct outcome outcome;
	struct frame frame[TAP_SEND_MAX];
	struct rte_mbuf *pkt[TAP_SEND_MAX];
	struct channel *channel;
	struct recorder *recorder = recorder_to(scratch("sent.pcapng"), 1, 0, &channel);
	struct tap tap = {.channel = channel, .snaplen = 999, .tx = true};

	(void)state;
	for (unsigned i = 0; i < TAP_SEND_MAX; i++)
		pkt[i] = frame_make(&frame[i], (uint16_t)(60 + i), (uint16_t)(60 + i));
	tap_sending(&tap, pkt, TAP_SEND_MAX, 1);
	tap_sent(&tap, 2);
	tap_sending(&tap, pkt + 2, 3, 2);
	tap_sent(&tap, 0);
	tap_sending(&tap, pkt + 2, 3, 3);
	tap_sent(&tap, 3);
	tap_received(&tap, pkt, 3, 4); /* not asked for */
	assert_int_equal(tap.counts.shown, 5);
	assert_int_equal(tap.counts.put, 5);
	assert_int_equal(store(recorder).writer.written, 5);
	outcome_of(&outcome, scratch("sent.pcapng"), &as_is);
	assert_int_equal(outcome.packets, 5);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(outcome.records[i].length, 60 + i);
		assert_int_equal(outcome.records[i].direction, RECORD_OUT);
	}
	assert_true(outcome.records[1].time_ns == 1 && outcome.records[2].time_ns == 3);
}

/* A filter sees all of a packet, in one piece or in two, whatever the snaplen. */
static void test_filter(void **state)
{
	struct frame frame[3];
	struct rte_mbuf *pkt[] = {frame_make(&frame[0], 150, 150), frame_make(&frame[1], 150, 20),
				  frame_make(&frame[2], 100, 100)};
	struct err err;
	struct filter *filter = filter_open("ether[120] = 121", 1, &err);
	struct channel *channel;
	struct recorder *recorder = recorder_to(scratch("filter.pcapng"), 1, 0, &channel);
	struct tap tap = {
		.channel = channel, .snaplen = 40, .rx = true, .tx = true, .filter = filter};

	(void)state;
	assert_non_null(filter);
	tap_received(&tap, pkt, 3, 0);
	tap_sending(&tap, pkt, 3, 0);
	tap_sent(&tap, 3);
	assert_int_equal(tap.counts.shown, 6);
	assert_int_equal(tap.counts.filtered, 2);
	assert_int_equal(tap.counts.put, 4);
	assert_int_equal(store(recorder).writer.written, 4);
	assert_int_equal(parse(scratch("filter.pcapng")).packets, 4);
	filter_close(filter);
}

static void test_sampler(void **state)
{
	static struct outcome outcome;
	struct frame frame;
	struct rte_mbuf *m = frame_make(&frame, 200, 200);
	struct channel *channel;
	struct recorder *recorder = recorder_to(scratch("drops.pcapng"), 1, 0, &channel);
	struct sampler sampler = {.channel = channel, .snaplen = 64, .per_second = 2};
	char file[4096];
	size_t length;

	(void)state;
	/* Two of each reason in a second: 4 of 10, then 2 of 5, then 1. */
	for (unsigned i = 0; i < 16; i++) {
		uint64_t now = i < 10 ? 10 * S + i : i < 15 ? 11 * S + i : 15 * S;
		enum drop reason = i % 2 && i < 10 ? DROP_TCP_BAD_SEQ : DROP_IP_CSUM;

		if (sampler_wants(&sampler, reason, now))
			sampler_take(&sampler, m, reason, i ? NULL : "ESTABLISHED", now);
	}
	assert_int_equal(sampler.counts.shown, 16);
	assert_int_equal(sampler.counts.put, 7);
	assert_int_equal(sampler.counts.beyond, 9);
	assert_int_equal(store(recorder).writer.written, 7);
	outcome_of(&outcome, scratch("drops.pcapng"), &as_is);
	assert_int_equal(outcome.packets, 7);
	assert_int_equal(outcome.records[0].captured, 64);
	length = file_read(scratch("drops.pcapng"), (uint8_t *)file, sizeof(file));
	assert_non_null(memmem(file, length, "tcp.bad_seq: outside the receive window", 39));
	assert_non_null(
		memmem(file, length, "ip.bad_csum: IPv4 header checksum wrong; ESTABLISHED", 52));
}

static void put_at(struct channel *channel, uint64_t time_ns)
{
	struct channel_packet *packet = channel_room(channel, 60, 0);

	assert_non_null(packet);
	packet->length = 60;
	packet->direction = RECORD_IN;
	packet->time_ns = time_ns;
	memset(channel_data(packet), 0, 60);
	channel_put(channel, packet);
	channel_publish(channel);
}

/* Several workers: the file is in the order of time. */
static void test_merge(void **state)
{
	static struct outcome outcome;
	struct channel *channel[3];
	struct recorder *recorder = recorder_to(scratch("merge.pcapng"), 3, 0, channel);

	(void)state;
	for (unsigned i = 0; i < 30; i++)
		put_at(channel[i * i % 3], 100 + i);
	assert_int_equal(store(recorder).writer.written, 30);
	outcome_of(&outcome, scratch("merge.pcapng"), &as_is);
	assert_int_equal(outcome.packets, 30);
	for (unsigned i = 0; i < 30; i++) {
		assert_true(outcome.records[i].time_ns == 100 + i);
		assert_int_equal(outcome.records[i].interface, i * i % 3);
		assert_int_equal(outcome.records[i].queue, 7 + i * i % 3);
	}
	assert_int_equal(outcome.counts[READER_TIME_BACKWARDS], 0);
}

/* After the limit nothing is written, and a worker is told. */
static void test_limit(void **state)
{
	struct frame frame;
	struct rte_mbuf *m = frame_make(&frame, 60, 60);
	struct channel *channel;
	struct recorder *recorder = recorder_to(scratch("limit.pcapng"), 1, 10, &channel);
	struct tap tap = {.channel = channel, .snaplen = 60, .rx = true};
	struct recorder_counts counts;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < 12; i++)
		tap_received(&tap, &m, 1, i);
	assert_int_equal(recorder_start(recorder, &err), 0);
	while (!__atomic_load_n(&channel->full, __ATOMIC_RELAXED))
		sched_yield();
	for (unsigned i = 12; i < 20; i++)
		tap_received(&tap, &m, 1, i);
	assert_int_equal(tap.counts.put, 12);
	assert_int_equal(tap.counts.beyond, 8);
	assert_int_equal(recorder_close(recorder, S, &counts, &err), 0);
	assert_int_equal(counts.beyond, 2);
	assert_int_equal(counts.writer.written, 10);
}

/* No room: counted, told in the file at the place, and in its statistics. */
static void test_no_room(void **state)
{
	struct frame frame;
	struct rte_mbuf *m = frame_make(&frame, 200, 200);
	struct channel *channel;
	struct recorder *recorder = recorder_to(scratch("room.pcapng"), 1, 0, &channel);
	struct tap tap = {.channel = channel, .snaplen = 200, .rx = true, .tx = true};
	struct recorder_counts counts;
	struct parsed parsed;
	struct err err;
	unsigned fits = RING / 232;

	(void)state;
	for (unsigned i = 0; i < fits + 5; i++)
		tap_received(&tap, &m, 1, i);
	assert_int_equal(tap.counts.put, fits);
	assert_int_equal(channel->dropped, 5);
	tap_sending(&tap, &m, 1, fits + 5); /* not sent: no loss either */
	tap_sent(&tap, 0);
	assert_int_equal(channel->dropped, 5);
	assert_int_equal(tap.counts.shown, fits + 5);
	assert_int_equal(recorder_start(recorder, &err), 0);
	while (__atomic_load_n(&channel->taken, __ATOMIC_ACQUIRE) != channel->head)
		sched_yield();
	for (unsigned i = 0; i < fits + 3; i++)
		tap_received(&tap, &m, 1, fits + 5 + i);
	assert_int_equal(recorder_close(recorder, S, &counts, &err), 0);
	assert_int_equal(counts.dropped, tap.counts.shown - tap.counts.put);
	assert_int_equal(counts.writer.written, tap.counts.put);
	parsed = parse(scratch("room.pcapng"));
	assert_int_equal(parsed.packets, tap.counts.put);
	assert_int_equal(parsed.dropped, counts.dropped);
	assert_true(parsed.drops >= 5);
	assert_int_equal(parsed.received, tap.counts.shown);
}

/* A worker at full speed beside its recorder: whatever the two do to each other, the sums hold. */
static void *worker_run(void *arg)
{
	struct tap *tap = arg;
	struct frame frame[4];
	struct rte_mbuf *pkt[4];

	for (unsigned i = 0; i < 4; i++)
		pkt[i] = frame_make(&frame[i], (uint16_t)(60 + 33 * i), (uint16_t)(60 + 33 * i));
	for (unsigned i = 0; i < 20000; i++) {
		tap_received(tap, pkt, 4, i);
		tap_sending(tap, pkt, 4, i);
		tap_sent(tap, i % 5);
		channel_complete(tap->channel, i);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct channel *channel[2];
	struct recorder *recorder = recorder_to(scratch("threads.pcapng"), 2, 0, channel);
	struct tap tap[2];
	pthread_t worker[2];
	struct recorder_counts counts;
	struct parsed parsed;
	struct err err;

	(void)state;
	assert_int_equal(recorder_start(recorder, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		tap[i] =
			(struct tap){.channel = channel[i], .snaplen = 128, .rx = true, .tx = true};
		pthread_create(&worker[i], NULL, worker_run, &tap[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(worker[i], NULL);
	assert_int_equal(recorder_close(recorder, S, &counts, &err), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tap[i].counts.shown, 20000 * 4 + 20000 / 5 * 10);
	assert_int_equal(tap[0].counts.put + tap[1].counts.put, counts.writer.written);
	assert_int_equal(counts.writer.written + counts.dropped, 2 * 120000);
	parsed = parse(scratch("threads.pcapng"));
	assert_int_equal(parsed.packets, counts.writer.written);
}

/* A full disk: every packet is lost and counted, and the reason is told. */
static void test_full_device(void **state)
{
	struct channel *channel;
	struct recorder *recorder = recorder_to("/dev/full", 1, 0, &channel);
	struct recorder_counts counts;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < 9; i++)
		put_at(channel, i);
	assert_int_equal(recorder_start(recorder, &err), 0);
	assert_int_equal(recorder_close(recorder, S, &counts, &err), -1);
	assert_non_null(strstr(err.text, "No space left on device"));
	assert_int_equal(counts.writer.lost, 9);
	assert_int_equal(counts.writer.written, 0);
}

/* A reader that has stopped reading is given up, and does not hold the end up. */
static void test_stuck_pipe(void **state)
{
	struct channel *channel;
	struct recorder *recorder;
	struct recorder_counts counts;
	struct err err;
	int reader;

	(void)state;
	assert_int_equal(mkfifo(scratch("fifo"), 0600), 0);
	reader = open(scratch("fifo"), O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	recorder = recorder_to(scratch("fifo"), 1, 0, &channel);
	assert_true(fcntl(reader, F_SETPIPE_SZ, 8192) == 8192);
	for (unsigned i = 0; i < 100; i++)
		put_at(channel, i);
	assert_int_equal(recorder_start(recorder, &err), 0);
	assert_int_equal(recorder_close(recorder, 1, &counts, &err), -1);
	assert_non_null(strstr(err.text, "timed out"));
	assert_true(counts.writer.lost > 0 && counts.writer.written > 0);
	assert_int_equal(counts.writer.lost + counts.writer.written, 100);
	close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tap),         cmocka_unit_test(test_tap_sent),
		cmocka_unit_test(test_filter),      cmocka_unit_test(test_sampler),
		cmocka_unit_test(test_merge),       cmocka_unit_test(test_limit),
		cmocka_unit_test(test_no_room),     cmocka_unit_test(test_threads),
		cmocka_unit_test(test_full_device), cmocka_unit_test(test_stuck_pipe),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
