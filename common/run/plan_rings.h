/* The rings between workers and the threads that write capture files. */
#ifndef RUN_PLAN_RINGS_H
#define RUN_PLAN_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "../config/config.h"

/* Sized for the time that a thread may be kept from its core: at 8 million small packets a second
 * 64 MiB last 70 ms. Samples are few. */
#define RING_PACKETS (64u << 20)
#define RING_SAMPLES (1u << 20)

/* A file captures from this port; NULL: it is the file of samples. */
bool ring_wanted(const struct config *, const struct config_packets *, unsigned port);

/* How many workers a file captures from: each has a ring. */
unsigned ring_count(const struct config *, const struct config_packets *);

/* Bytes of all rings. */
uint64_t plan_rings(const struct config *);

#endif
