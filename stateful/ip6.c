/* Own IPv6 addresses as numbers: a record has 32 bits for its own address.
 *
 * The pools of all entries are laid one behind the other; an address is its place there. Nearly
 * always it lies in the first range of the first entry that is looked at. */
#include "core.h"

static bool pool_number(const struct ip_pool *pool, u128 address, uint32_t *number)
{
	uint32_t before = 0;

	for (unsigned i = 0; i < pool->ranges; i++) {
		const struct ip_range *range = &pool->range[i];

		if (address - range->first < range->count) {
			*number = before + (uint32_t)(address - range->first);
			return true;
		}
		before += (uint32_t)range->count;
	}
	return false;
}

uint32_t ip6_number_search(const struct stateful *s, u128 local)
{
	u128 address = ip6_swap(local);
	uint32_t number;

	for (unsigned i = 0; i < s->entries; i++) {
		const struct entry *e = &s->entry[i];

		if (e->family == 6 && pool_number(traffic_own(e->config, 6), address, &number))
			return e->local6_number + number;
	}
	return IP6_FOREIGN;
}

u128 ip6_address_search(const struct stateful *s, uint32_t number)
{
	const struct entry *e = &s->entry[s->entries - 1];

	while (e->family != 6 || number < e->local6_number)
		e--;
	return ip6_swap(ip_pool_at(traffic_own(e->config, 6), number - e->local6_number));
}
