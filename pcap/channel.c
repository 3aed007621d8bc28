/* The ring: positions count bytes without end, their lower bits are the place.
 *
 * The worker leaves the end of the ring out when a packet does not fit there; a size of 0 says so
 * (a header always fits: all sizes are multiples of 8, and the ring's end is looked at only when
 * bytes are left). It looks at the other side's position only when the ring seems full.
 *
 * Rejected: blocks that travel to and fro (a worker that sees little would hold a block back, or
 * hand over one that is nearly empty), and finished pcapng blocks as contents (the thread that
 * merges several workers would have to take them apart again). */
#define _GNU_SOURCE
#include "channel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define RETURNS 64u /* of a ring, in so many steps */
#define ALIGN   8u

int channel_open(struct channel *channel, size_t size, struct err *err)
{
	/* Populated: a worker must not wait for pages. */
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	*channel = (struct channel){.mask = size - 1};
	if (ring == MAP_FAILED)
		return err_set(err, EXIT_ENVIRONMENT, "no memory for a capture ring of %zu KiB: %s",
			       size / 1024, strerror(errno));
	channel->ring = ring;
	return 0;
}

void channel_close(struct channel *channel)
{
	if (channel->ring)
		munmap(channel->ring, channel->mask + 1);
	channel->ring = NULL;
}

/* Are there `need` bytes from head on? */
static bool has_room(struct channel *channel, uint64_t need)
{
	uint64_t size = channel->mask + 1;

	if (size - (channel->head - channel->taken_seen) >= need)
		return true;
	channel->taken_seen = __atomic_load_n(&channel->taken, __ATOMIC_ACQUIRE);
	return size - (channel->head - channel->taken_seen) >= need;
}

struct channel_packet *channel_room(struct channel *channel, uint32_t captured,
				    uint16_t comment_length)
{
	uint64_t size = sizeof(struct channel_packet) + captured + comment_length;
	uint64_t at = channel->head & channel->mask, left = channel->mask + 1 - at;
	struct channel_packet *packet;

	size = (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
	if (!has_room(channel, size <= left ? size : left + size))
		return NULL;
	if (size > left) {
		((struct channel_packet *)(channel->ring + at))->size = 0;
		at = 0;
	}
	packet = (struct channel_packet *)(channel->ring + at);
	packet->size = (uint32_t)size;
	packet->comment_length = comment_length;
	packet->captured = captured;
	packet->dropped = channel->dropped;
	return packet;
}

void channel_put(struct channel *channel, const struct channel_packet *packet)
{
	uint64_t at = (uint64_t)((const uint8_t *)packet - channel->ring);

	/* The packet may be at the ring's beginning with head still before the end. */
	channel->head += ((at - channel->head) & channel->mask) + packet->size;
}

/* Each store takes the line away from the worker. */
static void room_return(struct channel *channel)
{
	__atomic_store_n(&channel->taken, channel->next, __ATOMIC_RELEASE);
}

const struct channel_packet *channel_peek(struct channel *channel)
{
	const struct channel_packet *packet;
	uint64_t at;

	if (channel->next == channel->published_seen) {
		room_return(channel);
		channel->published_seen = __atomic_load_n(&channel->published, __ATOMIC_ACQUIRE);
		if (channel->next == channel->published_seen)
			return NULL;
	}
	at = channel->next & channel->mask;
	packet = (const struct channel_packet *)(channel->ring + at);
	if (packet->size)
		return packet;
	channel->next += channel->mask + 1 - at;
	return (const struct channel_packet *)channel->ring;
}

void channel_take(struct channel *channel, const struct channel_packet *packet)
{
	channel->next += packet->size;
	if (channel->next - channel->taken > channel->mask / RETURNS)
		room_return(channel);
}
