/* The in-process cable: rte_rings under DPDK's ring PMD, so that its two ends are ordinary ethdevs
 * and a packet crosses by pointer.
 *
 * An end has one ring per receive queue; transmit queue i of the other end writes to ring
 * i mod rings. So with equal queue counts queue i is joined to queue i by a ring of one writer and
 * one reader; with more writers than rings some rings have several writers (and are made so); with
 * fewer, some receive queues stay empty and hand-off brings their flows to them. Every packet is
 * delivered and none is copied. Both ends are made when the first is opened; the other picks its
 * own up. */
#include "device.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "eal_log.h"

#define LOOP_QUEUES_MAX RTE_PMD_RING_MAX_RX_RINGS

static bool is_end(const struct config *config, unsigned index, const char *name)
{
	struct device device = device_parse(config->port[index].device);

	return device.kind == DEVICE_LOOP && !strcmp(device.name, name);
}

/* The port at the other end, or -1. */
static int far_end(const struct config *config, unsigned index)
{
	const char *name = device_parse(config->port[index].device).name;

	for (unsigned i = 0; i < config->ports; i++)
		if (i != index && !config->port[i].is_network && is_end(config, i, name))
			return (int)i;
	return -1;
}

static void ring_name(char *name, size_t size, unsigned index, unsigned queue)
{
	snprintf(name, size, "loop_%u_%u", index, queue);
}

static void rings_free(unsigned index)
{
	char name[RTE_RING_NAMESIZE];

	for (unsigned q = 0; q < LOOP_QUEUES_MAX; q++) {
		ring_name(name, sizeof(name), index, q);
		rte_ring_free(rte_ring_lookup(name));
	}
}

/* The receive rings of one end, of which `writers` queues of the other are to write. */
static int rings_create(const struct config *config, unsigned index, unsigned writers,
			struct rte_ring **ring, struct err *err)
{
	unsigned rings = config->port[index].cores;
	char name[RTE_RING_NAMESIZE];

	for (unsigned q = 0; q < rings; q++) {
		unsigned flags = RING_F_SC_DEQ | (writers > rings ? 0 : RING_F_SP_ENQ);

		ring_name(name, sizeof(name), index, q);
		ring[q] = rte_ring_create(name, LOOP_RING_SIZE, SOCKET_ID_ANY, flags);
		if (!ring[q])
			return err_set(err, EXIT_ENVIRONMENT, "no memory for the cable's rings: %s",
				       rte_strerror(rte_errno));
	}
	return 0;
}

static int end_create(const struct config *config, unsigned index, struct rte_ring **rx,
		      unsigned rx_rings, struct rte_ring **tx_ring, unsigned tx_rings,
		      struct err *err)
{
	struct rte_ring *tx[LOOP_QUEUES_MAX];
	char name[RTE_ETH_NAME_MAX_LEN];

	for (unsigned q = 0; q < config->port[index].cores; q++)
		tx[q] = tx_ring[q % tx_rings];
	snprintf(name, sizeof(name), "loop_%u", index);
	if (rte_eth_from_rings(name, rx, rx_rings, tx, config->port[index].cores, 0) < 0)
		return err_set(err, EXIT_ENVIRONMENT, "cannot make the cable: %s%s",
			       rte_strerror(rte_errno), eal_log_cause());
	return 0;
}

static int cable_create(const struct config *config, unsigned a, unsigned b, struct err *err)
{
	struct rte_ring *ring[2][LOOP_QUEUES_MAX];
	unsigned queues[2] = {config->port[a].cores, config->port[b].cores};

	if (queues[0] > LOOP_QUEUES_MAX || queues[1] > LOOP_QUEUES_MAX)
		return err_set(err, EXIT_ENVIRONMENT,
			       "%u cores listed, but a loop has %u queues at most",
			       RTE_MAX(queues[0], queues[1]), LOOP_QUEUES_MAX);
	if (rings_create(config, a, queues[1], ring[0], err) ||
	    rings_create(config, b, queues[0], ring[1], err) ||
	    end_create(config, a, ring[0], queues[0], ring[1], queues[1], err) ||
	    end_create(config, b, ring[1], queues[1], ring[0], queues[0], err)) {
		loop_close(a);
		loop_close(b);
		return -1;
	}
	return 0;
}

int loop_open(const struct config *config, unsigned index, uint16_t *id, struct err *err)
{
	int other = far_end(config, index);
	char name[RTE_ETH_NAME_MAX_LEN];

	if (other < 0)
		return err_set(err, EXIT_ENVIRONMENT, "no other port is the far end of this loop");
	snprintf(name, sizeof(name), "net_ring_loop_%u", index);
	if (rte_eth_dev_get_port_by_name(name, id) &&
	    cable_create(config, index, (unsigned)other, err))
		return -1;
	if (rte_eth_dev_get_port_by_name(name, id))
		return err_set(err, EXIT_ENVIRONMENT, "the cable's device did not appear");
	return 0;
}

void loop_close(unsigned index)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t id;

	snprintf(name, sizeof(name), "net_ring_loop_%u", index);
	if (!rte_eth_dev_get_port_by_name(name, &id))
		device_close(id);
	rings_free(index);
}
