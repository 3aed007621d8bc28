/* Client tuples: every combination of the pools once, then all over again, in a stated order:
 * client address fastest, then server address, server port, and client port slowest. */
#ifndef STATEFUL_TUPLE_H
#define STATEFUL_TUPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../common/base/pool.h"
#include "../common/base/simd.h"
#include "../common/config/config.h"

/* From our side, network order, as it lies in a received packet: two loads read it, two compare. Of
 * an IPv6 connection local_be is the number of our address (core.h) and peer_be a digest of the
 * peer's, with the first three bits set: no IPv4 peer's address has them, so tuples of the two
 * families are never equal. */
struct tuple {
	uint32_t peer_be, local_be;
	uint16_t peer_port_be, local_port_be;
};

/* The two addresses of an IPv6 connection, as they lie in a header. */
struct ip6_pair {
	u128 peer, local;
};

/* Between the byte order of headers and that of numbers. */
static inline u128 ip6_swap(u128 ip)
{
	return (u128)__builtin_bswap64((uint64_t)ip) << 64 |
	       __builtin_bswap64((uint64_t)(ip >> 64));
}

static inline uint32_t ip6_digest(u128 peer)
{
	return simd_hash128((uint64_t)peer, (uint64_t)(peer >> 64)) | 0xe0;
}

static inline uint64_t tuple_addresses(const struct tuple *t)
{
	uint64_t addresses;

	memcpy(&addresses, &t->peer_be, sizeof(addresses));
	return addresses;
}

static inline uint32_t tuple_ports(const struct tuple *t)
{
	uint32_t ports;

	memcpy(&ports, &t->peer_port_be, sizeof(ports));
	return ports;
}

static inline bool tuple_equal(const struct tuple *a, const struct tuple *b)
{
	return tuple_addresses(a) == tuple_addresses(b) && tuple_ports(a) == tuple_ports(b);
}

struct ip_walk {
	const struct ip_pool *pool;
	unsigned range;
	u128 offset;
};

struct port_walk {
	const struct port_pool *pool;
	unsigned range;
	uint32_t offset;
};

struct tuple_walk {
	struct ip_walk client, server;
	struct port_walk client_port, server_port;
};

void tuple_walk_init(struct tuple_walk *, const struct config_traffic *, uint8_t family);

/* The tuple the walk stands at, and one step on. */
void tuple_walk_next(struct tuple_walk *, struct tuple *);
/* The same of IPv6: ports in the tuple, addresses in the pair. */
void tuple_walk_next6(struct tuple_walk *, struct tuple *, struct ip6_pair *);

/* All tuples of a client, both families; saturates at the largest value. */
u128 tuple_count(const struct config_traffic *);

#endif
