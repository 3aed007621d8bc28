/* From a worker to the thread that writes a capture file: a ring of packets.
 *
 * One thread puts, one takes, neither waits for the other. A packet lies in one piece behind its
 * header; times of one channel never go back. What finds no room is counted in `dropped`, which
 * travels with the next packet: so the file says where something is missing. */
#ifndef PCAP_CHANNEL_H
#define PCAP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/base/err.h"

/* In front of each packet's bytes, which its comment follows. */
struct channel_packet {
	uint32_t size; /* of all, a multiple of 8; 0: the rest of the ring is left out */
	uint16_t comment_length;
	uint8_t direction; /* enum record_direction */
	uint32_t captured, length;
	uint64_t time_ns; /* since 1970 */
	uint64_t dropped; /* of the channel, before this packet */
};

struct channel {
	/* the worker's */
	_Alignas(64) uint8_t *ring;
	uint64_t mask;
	uint64_t head;       /* where the next packet goes */
	uint64_t taken_seen; /* `taken`, as it was when last looked at */
	uint64_t dropped;
	bool full; /* the file takes nothing more: written by the thread that takes */
	/* published by the worker */
	_Alignas(64) uint64_t published;
	uint64_t complete_ns; /* no packet before this time is still to come */
	/* published by the thread that takes */
	_Alignas(64) uint64_t taken;
	/* of the thread that takes alone */
	uint64_t next;           /* the next packet to be taken: `taken` follows in steps */
	uint64_t published_seen; /* `published`, as it was when last looked at */
	uint64_t dropped_told;
	uint32_t interface, queue; /* of all its packets */
};

/* size: a power of two of bytes. Returns 0, or -1 with err. */
int channel_open(struct channel *, size_t size, struct err *);
void channel_close(struct channel *);

/* Worker. Room for a packet of `captured` bytes and a comment, its header begun; NULL when there is
 * none. The next call may return the same room, until channel_put(). */
struct channel_packet *channel_room(struct channel *, uint32_t captured, uint16_t comment_length);

/* Worker: the packet is complete. What is not published can be taken back by setting head back. */
void channel_put(struct channel *, const struct channel_packet *);

/* Where the bytes of a packet begin; those of its comment follow them. */
static inline uint8_t *channel_data(const struct channel_packet *packet)
{
	return (uint8_t *)(packet + 1);
}

/* Worker: let the other thread see all up to head; and no earlier time than complete_ns will come.
 */
static inline void channel_publish(struct channel *channel)
{
	__atomic_store_n(&channel->published, channel->head, __ATOMIC_RELEASE);
}

static inline void channel_complete(struct channel *channel, uint64_t time_ns)
{
	channel_publish(channel);
	__atomic_store_n(&channel->complete_ns, time_ns, __ATOMIC_RELEASE);
}

/* The other thread: the next packet, or NULL; and step over it. Room is given back now and then,
 * and all of it when there is no packet. */
const struct channel_packet *channel_peek(struct channel *);
void channel_take(struct channel *, const struct channel_packet *);

#endif
