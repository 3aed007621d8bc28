/* Which network of a port a received frame belongs to: its tags say it, and nothing else.
 *
 * A port without further networks never comes here. With some, the burst is dealt by tags first, a
 * look-up in a small table for each packet; each network's worker then takes its part as if it had
 * come from a queue of its own, with one masked compare a packet and its own engines, next hops
 * and counters. What has no network's tags stays with the port, which refuses it or not.
 *
 * Rejected: a header template and a matcher per connection's network inside one engine (every
 * packet would pay for it), and a queue for each network by rte_flow (few devices can). */
#include "worker_lane.h"

#include <rte_mbuf.h>

#include "worker_input.h"

#define ETHER_TYPE 12u
#define TAG_BYTES  4u

static uint32_t slots_for(const struct config *config, unsigned port)
{
	uint32_t networks = 0, slots = 1;

	for (unsigned i = 0; i < config->ports; i++)
		networks += config->port[i].is_network && config->port[i].host == port;
	while (networks && slots < 2 * networks)
		slots *= 2;
	return networks ? slots : 0;
}

size_t lanes_bytes(const struct config *config, unsigned port)
{
	return slots_for(config, port) * sizeof(struct lane) + 64;
}

int lanes_open(struct worker *w, struct arena *arena)
{
	uint32_t slots = slots_for(w->config, w->port_index);

	if (!slots)
		return 0;
	w->lane_mask = slots - 1;
	w->lane = arena_take(arena, slots * sizeof(*w->lane));
	return w->lane ? 0 : -1;
}

static inline struct lane *lane_find(const struct worker *w, uint32_t tags)
{
	uint32_t i = (tags * 0x9e3779b1u) >> 16 & w->lane_mask;

	while (w->lane[i].worker && w->lane[i].tags != tags)
		i = (i + 1) & w->lane_mask;
	return &w->lane[i];
}

void lane_add(struct worker *host, struct worker *network)
{
	const struct config_port *port = config_wire(network->port->config);
	uint32_t tags = 0;

	for (unsigned i = 0; i < port->vlans; i++)
		tags = lane_tag(tags, port->vlan[i]);
	*lane_find(host, tags) = (struct lane){network, tags};
	network->is_lane = true;
}

static inline bool is_tag(const uint8_t *at)
{
	return (at[0] == 0x81 && at[1] == 0x00) || (at[0] == 0x88 && at[1] == 0xa8);
}

/* The frame's first two tags. */
static uint32_t tags_of(const struct rte_mbuf *m)
{
	const uint8_t *at = rte_pktmbuf_mtod_offset(m, const uint8_t *, ETHER_TYPE);
	uint32_t tags = 0;

	for (unsigned end = ETHER_TYPE + TAG_BYTES + 2;
	     end <= ETHER_TYPE + 2 * TAG_BYTES + 2 && end <= m->data_len && is_tag(at);
	     end += TAG_BYTES, at += TAG_BYTES)
		tags = lane_tag(tags, (uint16_t)(at[2] << 8 | at[3]));
	return tags;
}

unsigned lanes_input(struct worker *host, unsigned count, uint64_t now)
{
	struct worker *touched[RX_BURST_MAX];
	struct rx_burst *rx = &host->rx;
	unsigned kept = 0, lanes = 0;

	for (unsigned i = 0; i < count; i++) {
		struct worker *w = lane_find(host, tags_of(rx->pkt[i]))->worker;

		if (!w) {
			rx->pkt[kept++] = rx->pkt[i];
			continue;
		}
		if (!w->lane_count)
			touched[lanes++] = w;
		w->rx.pkt[w->lane_count++] = rx->pkt[i];
	}
	for (unsigned i = 0; i < lanes; i++) {
		worker_take(touched[i], touched[i]->lane_count, now);
		touched[i]->lane_count = 0;
	}
	return kept;
}
