/* Pools of addresses and ports: a walk over the few ranges that a user writes.
 *
 * Rejected: prefix sums with a binary search. A pool of one range, the usual one, is answered by
 * the first comparison, and who takes thousands of ranges asks for them at start, not per packet.
 */
#include "pool.h"

#include <arpa/inet.h>
#include <stddef.h>

#include "require.h"

u128 ip_pool_at(const struct ip_pool *pool, u128 n)
{
	const struct ip_range *range = pool->range;

	require(n < pool->count);
	for (; n >= range->count; range++)
		n -= range->count;
	return range->first + n;
}

uint16_t port_pool_at(const struct port_pool *pool, uint32_t n)
{
	const struct port_range *range = pool->range;

	require(n < pool->count);
	for (; n > (uint32_t)(range->last - range->first); range++)
		n -= (uint32_t)(range->last - range->first) + 1;
	return (uint16_t)(range->first + n);
}

bool ip_pool_contains(const struct ip_pool *pool, u128 address)
{
	for (unsigned i = 0; i < pool->ranges; i++)
		if (address - pool->range[i].first < pool->range[i].count)
			return true;
	return false;
}

bool port_pool_contains(const struct port_pool *pool, uint16_t port)
{
	for (unsigned i = 0; i < pool->ranges; i++)
		if (port >= pool->range[i].first && port <= pool->range[i].last)
			return true;
	return false;
}

const char *ip_format(char *text, uint8_t family, u128 address)
{
	uint8_t bytes[16];

	for (int i = 15; i >= 0; i--, address >>= 8)
		bytes[i] = (uint8_t)address;
	if (family == 4)
		return inet_ntop(AF_INET, bytes + 12, text, INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, bytes, text, INET6_ADDRSTRLEN);
}
