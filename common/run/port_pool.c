/* A small pool per queue: what its rings, bursts, stock and caches can hold at once, no more.
 *
 * Small is fast: the mbufs that circulate stay in the cache. Several cores touch a pool - the far
 * end of a cable frees our packets, a hand-off carries them to another worker - so it is a ring for
 * many producers and consumers with a cache per lcore in front, which takes the cost away. When it
 * runs dry nothing breaks: the port drops and counts, a launcher waits a step. */
#include "port_pool.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "device.h"
#include "eal_log.h"

#define CACHE_SIZE  512
#define CACHE_HELD  (2 * CACHE_SIZE * 3 / 2) /* own lcore and that of the cable's far end */
#define WORKER_HELD 3072                     /* transmit queue of 2048, stock of blanks, bursts */
#define FRAME_EXTRA (RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN + RTE_ETHER_CRC_LEN)
#define USUAL_ROOM  2048
#define DESCRIPTORS 1024

/* The AF_PACKET PMD refuses mbufs that are smaller than the slots of its ring, which are of 2 KiB
 * steps. */
uint16_t port_pool_room(const struct config_port *port)
{
	unsigned frame = port->mtu + FRAME_EXTRA;

	if (frame <= 1514 + FRAME_EXTRA)
		return USUAL_ROOM;
	return (uint16_t)RTE_ALIGN_CEIL(frame + 64, USUAL_ROOM);
}

static unsigned port_pool_count(const struct config_port *port)
{
	unsigned rx = port->rx_descriptors ? port->rx_descriptors : DESCRIPTORS;
	unsigned tx = port->tx_descriptors ? port->tx_descriptors : DESCRIPTORS;

	if (device_parse(port->device).kind == DEVICE_LOOP)
		rx = tx = LOOP_RING_SIZE / 2;
	return rx + tx + WORKER_HELD + CACHE_HELD - 1;
}

uint64_t port_pool_bytes(const struct config_port *port)
{
	uint32_t mbuf =
		(uint32_t)sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + port_pool_room(port);

	return (uint64_t)rte_mempool_calc_obj_size(mbuf, 0, NULL) * port_pool_count(port);
}

struct rte_mempool *port_pool_create(const struct config_port *port, unsigned index, unsigned queue,
				     int socket, uint64_t *bytes, struct err *err)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "pool_%u_%u", index, queue);
	pool = rte_pktmbuf_pool_create(name, port_pool_count(port), CACHE_SIZE, 0,
				       (uint16_t)(RTE_PKTMBUF_HEADROOM + port_pool_room(port)),
				       socket);
	if (!pool) {
		err_set(err, EXIT_ENVIRONMENT,
			"no memory for %u packet buffers (%u MiB): %s%s; free some hugepages, or "
			"set "
			"memory.hugepages to false",
			port_pool_count(port), (unsigned)(port_pool_bytes(port) >> 20),
			rte_strerror(rte_errno), eal_log_cause());
		return NULL;
	}
	*bytes += port_pool_bytes(port);
	return pool;
}
