/* The recorder: merge by time.
 *
 * The next packet is the oldest of those at the channels' heads. A channel that is empty holds the
 * others up until its worker has said that nothing older will come (once a millisecond). That ends
 * when another channel is half full: a file out of order is better than one with gaps.
 *
 * The thread sleeps between rounds rather than be woken: a worker makes no system call. It sleeps
 * the longer the less comes, since it may take a worker's core when it wakes up. */
#include "recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUSY_NS 1000000
#define IDLE_NS 40000000

struct recorder {
	struct writer *writer;
	struct channel *channel;
	unsigned channels;
	uint64_t limit, taken, beyond;
	bool ending; /* no worker puts any more */
	bool started;
	pthread_t thread;
};

static struct channel *recorder_fail(struct recorder *recorder)
{
	for (unsigned i = 0; recorder->channel && i < recorder->channels; i++)
		channel_close(&recorder->channel[i]);
	free(recorder->channel);
	free(recorder);
	return NULL;
}

struct recorder *recorder_open(const struct recorder_options *options, struct err *err)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (recorder)
		recorder->channel = aligned_alloc(_Alignof(struct channel),
						  options->channels * sizeof(struct channel));
	if (!recorder || !recorder->channel) {
		err_set(err, EXIT_ENVIRONMENT, "%s: out of memory", options->writer.path);
		free(recorder);
		return NULL;
	}
	recorder->limit = options->limit ? options->limit : UINT64_MAX;
	for (; recorder->channels < options->channels; recorder->channels++)
		if (channel_open(&recorder->channel[recorder->channels], options->channel_size,
				 err))
			return (void *)recorder_fail(recorder);
	recorder->writer = writer_open(&options->writer, err);
	if (!recorder->writer)
		return (void *)recorder_fail(recorder);
	return recorder;
}

int recorder_interface(struct recorder *recorder, const struct encode_interface *interface,
		       struct err *err)
{
	return writer_interface(recorder->writer, interface, err);
}

struct channel *recorder_channel(struct recorder *recorder, unsigned i, int interface,
				 uint32_t queue)
{
	struct channel *channel = &recorder->channel[i];

	channel->interface = (uint32_t)interface;
	channel->queue = queue;
	return channel;
}

/* The limit is reached: let workers know. */
static void channels_end(struct recorder *recorder)
{
	for (unsigned i = 0; i < recorder->channels; i++)
		__atomic_store_n(&recorder->channel[i].full, true, __ATOMIC_RELAXED);
}

static void packet_record(struct recorder *recorder, struct channel *channel,
			  const struct channel_packet *packet)
{
	struct record record = {
		.data = channel_data(packet),
		.captured = packet->captured,
		.length = packet->length,
		.time_ns = packet->time_ns,
		.interface = channel->interface,
		.queue = channel->queue,
		.drops = packet->dropped - channel->dropped_told,
		.comment = (const char *)channel_data(packet) + packet->captured,
		.comment_length = packet->comment_length,
		.flags = RECORD_QUEUE,
		.direction = packet->direction,
	};

	if (recorder->taken == recorder->limit) {
		recorder->beyond++;
		return;
	}
	channel->dropped_told = packet->dropped;
	writer_packet(recorder->writer, &record);
	if (++recorder->taken == recorder->limit)
		channels_end(recorder);
}

/* What a round sees: the oldest packet, and before which time it may be written. */
struct choice {
	struct channel *channel;
	const struct channel_packet *packet;
	uint64_t until_ns;
};

static struct choice packet_choose(struct recorder *recorder)
{
	struct choice choice = {.until_ns = UINT64_MAX};
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; i < recorder->channels; i++) {
		struct channel *channel = &recorder->channel[i];
		/* Read first: all that is older is published then. */
		uint64_t complete = __atomic_load_n(&channel->complete_ns, __ATOMIC_ACQUIRE);
		const struct channel_packet *packet = channel_peek(channel);
		uint64_t bound = packet ? packet->time_ns : complete;

		if (packet && (!choice.packet || packet->time_ns < oldest)) {
			if (choice.packet && oldest < choice.until_ns)
				choice.until_ns = oldest;
			oldest = packet->time_ns;
			choice.channel = channel;
			choice.packet = packet;
		} else if (bound < choice.until_ns) {
			choice.until_ns = bound;
		}
	}
	return choice;
}

/* More than half of a channel is in use. */
static bool is_pressed(const struct recorder *recorder)
{
	for (unsigned i = 0; i < recorder->channels; i++) {
		const struct channel *channel = &recorder->channel[i];
		uint64_t published = __atomic_load_n(&channel->published, __ATOMIC_RELAXED);

		if (published - channel->next > channel->mask / 2)
			return true;
	}
	return false;
}

/* Write what can be written now. Returns how many packets that was. */
static uint64_t recorder_round(struct recorder *recorder, bool all)
{
	uint64_t count = 0;

	for (;;) {
		struct choice choice = packet_choose(recorder);
		const struct channel_packet *packet = choice.packet;

		if (!packet)
			return count;
		if (packet->time_ns > choice.until_ns) {
			if (!all && !is_pressed(recorder))
				return count;
			choice.until_ns = packet->time_ns;
		}
		for (; packet && packet->time_ns <= choice.until_ns;
		     packet = channel_peek(choice.channel)) {
			packet_record(recorder, choice.channel, packet);
			channel_take(choice.channel, packet);
			count++;
		}
	}
}

static void *recorder_run(void *arg)
{
	struct timespec pause = {.tv_nsec = BUSY_NS};
	struct recorder *recorder = arg;
	bool dirty = false;

	while (!__atomic_load_n(&recorder->ending, __ATOMIC_ACQUIRE)) {
		if (recorder_round(recorder, false)) {
			dirty = true;
			pause.tv_nsec = BUSY_NS;
		} else {
			if (dirty)
				writer_flush(recorder->writer);
			dirty = false;
			pause.tv_nsec = pause.tv_nsec < IDLE_NS / 2 ? 2 * pause.tv_nsec : IDLE_NS;
		}
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	recorder_round(recorder, true);
	return NULL;
}

int recorder_start(struct recorder *recorder, struct err *err)
{
	int number = pthread_create(&recorder->thread, NULL, recorder_run, recorder);

	if (number)
		return err_set(err, EXIT_ENVIRONMENT, "no thread to write a capture: %s",
			       strerror(number));
	recorder->started = true;
	return 0;
}

int recorder_close(struct recorder *recorder, uint64_t patience_ns, struct recorder_counts *counts,
		   struct err *err)
{
	int result;

	writer_hurry(recorder->writer, patience_ns);
	__atomic_store_n(&recorder->ending, true, __ATOMIC_RELEASE);
	if (recorder->started)
		pthread_join(recorder->thread, NULL);
	*counts = (struct recorder_counts){.beyond = recorder->beyond};
	for (unsigned i = 0; i < recorder->channels; i++) {
		struct channel *channel = &recorder->channel[i];

		counts->dropped += channel->dropped;
		writer_dropped(recorder->writer, channel->interface,
			       channel->dropped - channel->dropped_told);
	}
	result = writer_close(recorder->writer, &counts->writer, err);
	recorder_fail(recorder);
	return result;
}
