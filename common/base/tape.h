/* A tape: the packets of a recording, ready to be sent, for one worker.
 *
 * Whoever fills it (pcap/player.c) has settled all that can be settled before: which packets, their
 * bytes and lengths, and when each is due, in ns since its loop began. In memory a tape is a list
 * of blocks that every loop runs through; of a recording too large for that a few blocks travel
 * between the thread that reads and the worker that plays. */
#ifndef BASE_TAPE_H
#define BASE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "content.h"
#include "err.h"

/* Why a packet of a recording is left out: identifier, name in reports, help. */
#define SKIPPED_TABLE(X)                                                                         \
	X(LINK, "link", "of a link type that is not Ethernet, or of an interface not described") \
	X(EMPTY, "empty", "a record without a byte")                                             \
	X(OVERSIZE, "oversize", "larger than the port's MTU allows")                             \
	X(TRUNCATED, "truncated", "not captured whole")

enum skipped {
#define X(id, name, help) SKIPPED_##id,
	SKIPPED_TABLE(X)
#undef X
		SKIPPED_COUNT
};
extern const char *const skipped_name[SKIPPED_COUNT];

#define TAPE_BLOCK_BYTES (1u << 20) /* of a block's packets */
#define TAPE_SLACK       64u        /* readable behind them */
#define TAPE_BLOCKS      8u         /* that travel; a power of two */
#define TAPE_ALIGN       16u

struct tape_packet {
	uint64_t at;     /* when it is due, in ns since its loop began; never goes back */
	uint64_t number; /* among all packets of a loop that are sent, of all workers */
	uint32_t size;   /* of this header and the bytes behind it, aligned */
	uint16_t length; /* of the frame; 0: it is left out, as `skipped` says */
	uint8_t skipped;
	uint32_t content; /* its place among those of its side, if contents are compared */
};

struct tape_block {
	struct tape_block *next; /* in memory */
	uint32_t used;
	bool last; /* of its loop */
	_Alignas(64) uint8_t data[TAPE_BLOCK_BYTES + TAPE_SLACK];
};

/* Blocks on their way from one thread to another. */
struct tape_ring {
	_Alignas(64) uint64_t put;
	_Alignas(64) uint64_t taken;
	struct tape_block *block[TAPE_BLOCKS];
};

struct tape {
	/* Fixed before it is played. */
	uint64_t loops;                  /* to be played; UINT64_MAX: without end */
	uint64_t packets;                /* that are sent in a loop, of all workers */
	uint64_t length, part, parts;    /* of a loop: length + part / parts ns */
	struct tape_block *first, *last; /* in memory */
	bool streamed;
	uint64_t *turn; /* NULL, or the number of the packet, of all loops, whose turn it is */
	/* What is sent, and what the other side is to send, if that is compared (else NULL): per
	 * place how often. The worker writes. */
	const struct content_table *expected;
	uint32_t *sent, *received;
	uint64_t foreign; /* received that the other side never sends */
	/* Streamed. */
	struct tape_ring full, empty;
	bool ended; /* the reader gave up: no more blocks will come */
};

/* Put a block, which has room (there are no more blocks than that). */
static inline void tape_put(struct tape_ring *ring, struct tape_block *block)
{
	ring->block[ring->put % TAPE_BLOCKS] = block;
	__atomic_store_n(&ring->put, ring->put + 1, __ATOMIC_RELEASE);
}

/* The oldest block, or NULL. */
static inline struct tape_block *tape_take(struct tape_ring *ring)
{
	struct tape_block *block;

	if (__atomic_load_n(&ring->put, __ATOMIC_ACQUIRE) == ring->taken)
		return NULL;
	block = ring->block[ring->taken % TAPE_BLOCKS];
	__atomic_store_n(&ring->taken, ring->taken + 1, __ATOMIC_RELEASE);
	return block;
}

static inline uint8_t *tape_bytes(const struct tape_packet *packet)
{
	return (uint8_t *)(packet + 1);
}

static inline uint32_t tape_size(uint32_t length)
{
	return ((uint32_t)sizeof(struct tape_packet) + length + TAPE_ALIGN - 1) & ~(TAPE_ALIGN - 1);
}

#endif
