/* How many capture rings there are, and what they take. */
#include "plan_rings.h"

#include <stddef.h>

bool ring_wanted(const struct config *config, const struct config_packets *packets, unsigned port)
{
	return !packets || packets->port == CONFIG_UNLIMITED ||
	       packets->port == config_port_host(config, port);
}

unsigned ring_count(const struct config *config, const struct config_packets *packets)
{
	unsigned workers = 0;

	for (unsigned i = 0; i < config->ports; i++)
		if (ring_wanted(config, packets, i))
			workers += config->port[i].cores;
	return workers;
}

uint64_t plan_rings(const struct config *config)
{
	const struct config_capture *capture = &config->capture;
	uint64_t bytes = 0;

	if (capture->drops)
		bytes = (uint64_t)RING_SAMPLES * ring_count(config, NULL);
	for (unsigned i = 0; i < capture->packet_files; i++)
		bytes += (uint64_t)RING_PACKETS * ring_count(config, &capture->packets[i]);
	return bytes;
}
