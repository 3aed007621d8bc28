/* Pools: ordered sets of addresses or ports, as ranges. Any size; nothing is expanded.
 *
 * An address is a 128-bit number in host order; an IPv4 address is its 32-bit value. Ranges of one
 * pool keep the order in which the user wrote them and do not overlap (configuration refuses it).
 * The arrays belong to whoever filled the pool in (the configuration). */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 u128;

struct ip_range {
	u128 first;
	u128 count; /* at least 1 */
};

struct ip_pool {
	struct ip_range *range;
	unsigned ranges; /* 0: the pool is absent */
	uint8_t family;  /* 4 or 6 */
	u128 count;      /* of all ranges */
};

struct port_range {
	uint16_t first;
	uint16_t last; /* inclusive */
};

struct port_pool {
	struct port_range *range;
	unsigned ranges;
	uint32_t count; /* 1-65536 */
};

/* The n-th address or port, n < count. */
u128 ip_pool_at(const struct ip_pool *, u128 n);
uint16_t port_pool_at(const struct port_pool *, uint32_t n);

bool ip_pool_contains(const struct ip_pool *, u128 address);
bool port_pool_contains(const struct port_pool *, uint16_t port);

/* "10.0.0.1" or "2001:db8::1" into text (at least 46 bytes); returns text. */
const char *ip_format(char *text, uint8_t family, u128 address);

#endif
