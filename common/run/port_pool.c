/* A small pool per queue: what its rings, bursts, stock and caches can hold at once, no more.
 *
 * Small is fast: the mbufs that circulate stay in the cache. Several cores touch a pool - the far
 * end of a cable frees our packets, a hand-off carries them to another worker - so it is a ring for
 * many producers and consumers with a cache per lcore in front, which takes the cost away (a stack
 * under it is no faster). When it runs dry nothing breaks: the port drops and counts, a launcher
 * waits a step.
 *
 * How mbufs lie in memory matters more. On a cable each has a page of its own, so that the lines in
 * use of all of them fall into few sets of the second-level cache: with a thousand packets in
 * flight they overflow to the third level, where the other core finds them sooner than in this
 * core's cache. Measured between two cores of a Xeon (Sapphire Rapids), 64-byte frames there and
 * back: 47 million a second against 29 packed. With few in flight it costs up to 10 %. On other
 * devices the mbufs stay with one core and are packed and spread, as DPDK does with hugepages: over
 * memif 18 against 16.5 million. Transparent hugepages for them gave nothing. */
#include "port_pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "device.h"
#include "eal_log.h"

#define CACHE_SIZE   512
#define CACHE_HELD   (2 * CACHE_SIZE * 3 / 2) /* own lcore and that of the cable's far end */
#define WORKER_HELD  3072                     /* transmit queue of 2048, stock of blanks, bursts */
#define NETWORK_HELD 1024                     /* stock of blanks, bursts; of each network behind */
#define FRAME_EXTRA  (RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN + RTE_ETHER_CRC_LEN)
#define USUAL_ROOM   2048
#define DESCRIPTORS  1024
#define PAGE         4096u
#define PIECE_FLAGS  (RTE_MEMPOOL_F_NO_SPREAD | RTE_MEMPOOL_F_NO_IOVA_CONTIG)
#define PIECE_BYTES  (uint32_t)(sizeof(struct rte_mbuf) + sizeof(struct rte_mbuf_ext_shared_info))

/* The AF_PACKET PMD refuses mbufs that are smaller than the slots of its ring, which are of 2 KiB
 * steps. */
uint16_t port_pool_room(const struct config_port *port)
{
	unsigned frame = config_wire(port)->mtu + FRAME_EXTRA;

	if (frame <= 1514 + FRAME_EXTRA)
		return USUAL_ROOM;
	return (uint16_t)RTE_ALIGN_CEIL(frame + 64, USUAL_ROOM);
}

static bool is_loop(const struct config_port *port)
{
	return device_parse(port->device).kind == DEVICE_LOOP;
}

/* On a cable what is in flight is bounded by its ring, not by descriptors. */
static unsigned pool_count(const struct config_port *port)
{
	unsigned rx = port->rx_descriptors ? port->rx_descriptors : DESCRIPTORS;
	unsigned tx = port->tx_descriptors ? port->tx_descriptors : DESCRIPTORS;

	if (is_loop(port))
		return LOOP_RING_SIZE + DESCRIPTORS + port->behind * NETWORK_HELD - 1;
	return rx + tx + WORKER_HELD + port->behind * NETWORK_HELD + CACHE_HELD - 1;
}

/* Flags of the mempool. Without hugepages DPDK gives each object a page of its own, because it
 * thinks of physical addresses: unasked for, unless a PCI device takes part. */
static unsigned pool_flags(const struct config_port *port)
{
	if (is_loop(port))
		return RTE_MEMPOOL_F_NO_SPREAD;
	if (device_parse(port->device).kind == DEVICE_PCI)
		return 0;
	return RTE_MEMPOOL_F_NO_IOVA_CONTIG;
}

/* Bytes of an mbuf with its data; on a cable rounded up so that object and header fill whole pages.
 */
static uint32_t pool_element(const struct config_port *port)
{
	uint32_t mbuf =
		(uint32_t)sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + port_pool_room(port);
	struct rte_mempool_objsz size;

	if (!is_loop(port))
		return mbuf;
	rte_mempool_calc_obj_size(mbuf, pool_flags(port), &size);
	return mbuf + RTE_ALIGN_CEIL(size.total_size, PAGE) - size.total_size;
}

/* These pass chains on as they are, without an offload that changes their transmit path. A memif
 * that copies nothing itself shares pools with its far end, and nothing else. */
bool port_takes_pieces(const struct config_port *port)
{
	struct device device = device_parse(port->device);

	if (device_is_memif(&device))
		return !strstr(device.name, "zero-copy=yes");
	return device.kind == DEVICE_LOOP || device_is_vdev(&device, "net_ring") ||
	       device_is_vdev(&device, "net_null");
}

static uint64_t pieces_bytes(const struct config_port *port)
{
	uint32_t object = rte_mempool_calc_obj_size(PIECE_BYTES, PIECE_FLAGS, NULL);

	return port_takes_pieces(port) ? (uint64_t)object * pool_count(port) : 0;
}

uint64_t port_pool_bytes(const struct config_port *port)
{
	uint32_t object = rte_mempool_calc_obj_size(pool_element(port), pool_flags(port), NULL);

	return (uint64_t)object * pool_count(port) + pieces_bytes(port);
}

static struct rte_mempool *no_memory(const struct config_port *port, struct err *err)
{
	err_set(err, EXIT_ENVIRONMENT,
		"no memory for %u packet buffers (%u MiB): %s%s; free some hugepages, or set "
		"memory.hugepages to false",
		pool_count(port), (unsigned)(port_pool_bytes(port) >> 20), rte_strerror(rte_errno),
		eal_log_cause());
	return NULL;
}

static struct rte_mempool *pool_make(const char *name, const struct config_port *port, int socket)
{
	struct rte_mempool *pool;

	pool = rte_mempool_create_empty(name, pool_count(port), pool_element(port), CACHE_SIZE,
					sizeof(struct rte_pktmbuf_pool_private), socket,
					pool_flags(port));
	if (!pool)
		return NULL;
	rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
	rte_pktmbuf_pool_init(pool, NULL);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

struct rte_mempool *port_pool_create(const struct config_port *port, unsigned index, unsigned queue,
				     int socket, uint64_t *bytes, struct err *err)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "pool_%u_%u", index, queue);
	pool = pool_make(name, port, socket);
	if (!pool)
		return no_memory(port, err);
	*bytes += port_pool_bytes(port) - pieces_bytes(port);
	return pool;
}

/* DPDK's "pinned external buffer" says of an mbuf that it is never to be parted from what it points
 * to: freeing it puts it back as it is. That is all that is wanted here. The count of its users
 * lies in the mbuf, one each, and stays 1, so that no two cores meet at it. */
static void piece_init(struct rte_mempool *pool, void *arg, void *object, unsigned index)
{
	struct rte_mbuf *m = object;

	(void)arg;
	(void)index;
	memset(m, 0, PIECE_BYTES);
	m->pool = pool;
	m->nb_segs = 1;
	m->port = RTE_MBUF_PORT_INVALID;
	m->priv_size = sizeof(struct rte_mbuf_ext_shared_info);
	m->ol_flags = RTE_MBUF_F_EXTERNAL;
	m->shinfo = (struct rte_mbuf_ext_shared_info *)(m + 1);
	rte_mbuf_refcnt_set(m, 1);
	rte_mbuf_ext_refcnt_set(m->shinfo, 1);
}

struct rte_mempool *port_pieces_create(const struct config_port *port, unsigned index,
				       unsigned queue, int socket, uint64_t *bytes, struct err *err)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_priv_size =
							   sizeof(struct rte_mbuf_ext_shared_info),
						   .flags = RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF};
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "pieces_%u_%u", index, queue);
	pool = rte_mempool_create(name, pool_count(port), PIECE_BYTES, CACHE_SIZE, sizeof(private),
				  rte_pktmbuf_pool_init, &private, piece_init, NULL, socket,
				  PIECE_FLAGS);
	if (!pool)
		return no_memory(port, err);
	*bytes += pieces_bytes(port);
	return pool;
}
