/* Which worker of a port owns a flow: a pure function of the 4-tuple, the same for every worker.
 *
 * A client launches only tuples whose replies are its own; a packet that reaches another worker is
 * handed to its owner over a ring. STEER_SOFT is symmetric, so that two ports with as many queues
 * each, joined queue by queue, never hand anything over. */
#ifndef BASE_STEER_H
#define BASE_STEER_H

#include <stdbool.h>
#include <stdint.h>

enum steer_mode {
	STEER_SINGLE,   /* one worker */
	STEER_SOFT,     /* the port cannot hash: symmetric hash, hand-off rings */
	STEER_TOEPLITZ, /* the port's RSS: key and redirection table as the device has them */
};

struct steer {
	enum steer_mode mode;
	uint16_t workers;
	bool toeplitz6;     /* the port hashes TCP and UDP over IPv6 too, by 4-tuple */
	uint8_t key[52];    /* Toeplitz; as many bytes as the device's key, rest 0 */
	uint16_t reta_size; /* a power of two */
	uint16_t *reta;     /* queue of each bucket */
};

/* The Toeplitz hash (Microsoft RSS) of an IPv4 4-tuple of a received packet, network order. */
uint32_t steer_toeplitz4(const uint8_t *key, uint32_t src_be, uint32_t dst_be, uint16_t src_port_be,
			 uint16_t dst_port_be);

static inline uint32_t steer_soft4(uint32_t src_be, uint32_t dst_be, uint16_t src_port_be,
				   uint16_t dst_port_be)
{
	uint64_t h = (uint64_t)(src_be ^ dst_be) << 16 ^ (uint16_t)(src_port_be ^ dst_port_be);

	h *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

/* The same of IPv6; addresses as they lie in the header, source and destination, 32 bytes. */
uint32_t steer_toeplitz6(const uint8_t *key, const uint8_t *addresses, uint16_t src_port_be,
			 uint16_t dst_port_be);
uint32_t steer_soft6(const uint8_t *addresses, uint16_t src_port_be, uint16_t dst_port_be);

/* The worker, 0 to workers-1, that a received packet of this tuple belongs to. */
static inline uint16_t steer_owner4(const struct steer *s, uint32_t src_be, uint32_t dst_be,
				    uint16_t src_port_be, uint16_t dst_port_be)
{
	if (s->mode == STEER_SINGLE)
		return 0;
	if (s->mode == STEER_SOFT)
		return (uint16_t)((uint64_t)steer_soft4(src_be, dst_be, src_port_be, dst_port_be) *
					  s->workers >>
				  32);
	return s->reta[steer_toeplitz4(s->key, src_be, dst_be, src_port_be, dst_port_be) &
		       (s->reta_size - 1u)];
}

static inline uint16_t steer_owner6(const struct steer *s, const uint8_t *addresses,
				    uint16_t src_port_be, uint16_t dst_port_be)
{
	if (s->mode == STEER_SINGLE)
		return 0;
	if (s->mode == STEER_SOFT || !s->toeplitz6)
		return (uint16_t)((uint64_t)steer_soft6(addresses, src_port_be, dst_port_be) *
					  s->workers >>
				  32);
	return s->reta[steer_toeplitz6(s->key, addresses, src_port_be, dst_port_be) &
		       (s->reta_size - 1u)];
}

#endif
