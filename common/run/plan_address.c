/* The addresses and ports of a traffic entry, as ranges: the first few, and how many more. */
#include "plan_address.h"

#include "report.h"

#define SHOWN 3u

static void put_more(FILE *out, unsigned ranges)
{
	if (ranges > SHOWN)
		fprintf(out, " and %u more", ranges - SHOWN);
}

static void put_pool(FILE *out, const char *before, const struct ip_pool *pool)
{
	char text[46];

	for (unsigned i = 0; i < pool->ranges && i < SHOWN; i++) {
		const struct ip_range *range = &pool->range[i];

		fprintf(out, "%s%s", i ? ", " : before,
			ip_format(text, pool->family, range->first));
		if (range->count > 1)
			fprintf(out, "-%s",
				ip_format(text, pool->family, range->first + range->count - 1));
	}
	put_more(out, pool->ranges);
}

static void put_ports(FILE *out, const struct port_pool *pool)
{
	for (unsigned i = 0; i < pool->ranges && i < SHOWN; i++) {
		fprintf(out, "%s%u",
			i                 ? ", "
			: pool->count > 1 ? " ports "
					  : " port ",
			pool->range[i].first);
		if (pool->range[i].last > pool->range[i].first)
			fprintf(out, "-%u", pool->range[i].last);
	}
	put_more(out, pool->ranges);
}

void plan_addresses(FILE *out, const struct config_traffic *traffic)
{
	for (uint8_t family = 4; family <= 6; family += 2) {
		const struct ip_pool *clients = traffic_clients(traffic, family);
		const struct ip_pool *servers = traffic_servers(traffic, family);

		if (!traffic_has(traffic, family))
			continue;
		put_pool(out, "  from ", clients);
		if (clients->ranges)
			put_ports(out, &traffic->client_ports);
		else
			fputs("  from any client", out);
		put_pool(out, " to ", servers);
		put_ports(out, &traffic->server_ports);
		putc('\n', out);
	}
}
