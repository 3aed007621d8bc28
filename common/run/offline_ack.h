/* Sequence numbers of a recording against those of an engine that takes the part of one of its
 * ends.
 *
 * An engine begins its connections at other numbers than the end that was recorded did. What its
 * peer acknowledged in the recording is made an acknowledgment of what the engine sent, as far
 * ahead. */
#ifndef RUN_OFFLINE_ACK_H
#define RUN_OFFLINE_ACK_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/dissect.h"

struct ack_row {
	uint64_t connection; /* 0: free */
	uint32_t recorded, ours;
	bool has_recorded, has_ours;
};

struct ack_map {
	struct ack_row *row;
	uint32_t rows, used; /* rows: a power of two */
};

/* A SYN of the end whose part is taken: as recorded, or as the engine sent it. */
void ack_note(struct ack_map *, const uint8_t *frame, uint32_t length, const struct dissect *,
	      bool ours);

/* A packet for the engine: move what it acknowledges, its checksum as right or wrong as it was. */
void ack_move(struct ack_map *, uint8_t *frame, uint32_t length, const struct dissect *);

void ack_close(struct ack_map *);

#endif
