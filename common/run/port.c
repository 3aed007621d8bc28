/* A port from its configuration to a running device.
 *
 * In order: make the ethdev, see what it can do, configure it, a pool and a queue pair per worker,
 * MAC and MTU, start, wait for the link, steering. Each step that can fail has its own sentence.
 * An interruption ends the waiting, no more: the run goes on to its report without a load.
 *
 * Offloads are off except for those that cost nothing: received checksums where a NIC verifies
 * them, and fast-free with a single queue (with several, hand-off brings packets of one pool into
 * another's queue, which fast-free forbids). Many PMDs leave their fast transmit path for anything
 * else. */
#define _GNU_SOURCE
#include "port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <numa.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "device.h"
#include "dpdk_compat.h"
#include "eal_log.h"
#include "port_pool.h"
#include "port_steer.h"
#include "signal.h"

#define LINK_WAIT_MS     3000
#define LINK_POLL_MS     20
#define LINK_RETRY_MS    200
#define DESCRIPTORS      1024
#define RX_CHECKSUMS     (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM)
#define RX_CHECKSUMS_ALL (RX_CHECKSUMS | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)
#define TX_CHECKSUMS     (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
#define TX_CHECKSUMS_ALL (TX_CHECKSUMS | RTE_ETH_TX_OFFLOAD_UDP_CKSUM)

/* Does the device decide the MTU itself? Kernel interfaces were checked, memif has buffers of a
 * size. */
static bool has_own_mtu(const struct port *port)
{
	struct device device = device_parse(port->config->device);

	return device_has_interface(port->config) || device_is_memif(&device);
}

static int mtu_refused(const struct port *port, const struct rte_eth_dev_info *info,
		       struct err *err)
{
	unsigned most = info->max_mtu;

	if (info->max_rx_pktlen &&
	    info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN < most)
		most = info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
	return err_set(err, EXIT_ENVIRONMENT, "MTU %u is not supported: the device takes %u to %u",
		       config_wire(port->config)->mtu, info->min_mtu, most);
}

static int queues_check(const struct port *port, const struct rte_eth_dev_info *info,
			struct err *err)
{
	unsigned most = RTE_MIN(info->max_rx_queues, info->max_tx_queues);

	if (port->queues <= most)
		return 0;
	return err_set(err, EXIT_ENVIRONMENT,
		       "%u cores listed, but the device has %u queues: list fewer cores",
		       port->queues, most);
}

/* Our own address for devices that have none or a random one, so that runs repeat: 02:6f:6e is
 * locally administered. The ends of a memif differ in their device strings, for sure in the role.
 */
static bool mac_choose(const struct port *port, unsigned index, uint8_t mac[6])
{
	struct device device = device_parse(port->config->device);
	uint8_t role = 0, hash = 0;

	if (strstr(port->config->device, "mac="))
		return false;
	if (device_is_memif(&device)) {
		role = device_is_memif_client(&device) ? 1 : 2;
		for (const char *c = device.name; *c; c++)
			hash = (uint8_t)(hash * 31 + *c);
	} else if (device.kind != DEVICE_LOOP && !device_is_vdev(&device, "net_ring") &&
		   !device_is_vdev(&device, "net_null")) {
		return false;
	}
	memcpy(mac, (uint8_t[6]){0x02, 0x6f, 0x6e, role, hash, (uint8_t)(index + 1)}, 6);
	return true;
}

/* A kernel interface keeps its own address, as it is not ours to change: it lets everything in. So
 * does a device that refuses. */
static void mac_set(const struct port *port)
{
	bool is_kernels = device_has_interface(port->config);
	struct rte_ether_addr mac;

	memcpy(mac.addr_bytes, port->mac, sizeof(port->mac));
	if (is_kernels ||
	    (port->config->is_network ? rte_eth_dev_mac_addr_add(port->id, &mac, 0)
				      : rte_eth_dev_default_mac_addr_set(port->id, &mac)))
		(void)rte_eth_promiscuous_enable(port->id);
}

static void mac_init(struct port *port, unsigned index)
{
	struct rte_ether_addr mac = {0};

	/* A cable has no MAC filter: it does not matter if such a device refuses the address. */
	if (port->config->has_mac) {
		memcpy(port->mac, port->config->mac, sizeof(port->mac));
		mac_set(port);
		return;
	}
	if (mac_choose(port, index, mac.addr_bytes))
		rte_eth_dev_default_mac_addr_set(port->id, &mac);
	else
		rte_eth_macaddr_get(port->id, &mac);
	memcpy(port->mac, mac.addr_bytes, sizeof(port->mac));
}

/* With a tunnel, `mac` is the address inside of it. */
static void mac_inside(struct port *port)
{
	memcpy(port->wire_mac, port->mac, sizeof(port->wire_mac));
	if (port->config->tunnel.has_mac)
		memcpy(port->mac, port->config->tunnel.mac, sizeof(port->mac));
}

/* A kernel at the far end of these leaves checksums to a NIC that is not there, unless told
 * otherwise. */
static bool is_local(const struct device *device)
{
	return device->kind == DEVICE_INTERFACE || device->kind == DEVICE_XDP ||
	       device_is_vdev(device, "net_af_packet") || device_is_vdev(device, "net_af_xdp") ||
	       device_is_vdev(device, "net_tap") || device_is_vdev(device, "net_virtio_user") ||
	       device_is_vdev(device, "net_vhost");
}

static void rule_init(struct port *port)
{
	memcpy(port->rule.mac, port->mac, sizeof(port->mac));
	port->rule.vlans = port->config->vlans;
	memcpy(port->rule.vlan_id, port->config->vlan, sizeof(port->rule.vlan_id));
	port->rule.verify = port->config->verify_checksums;
	for (unsigned i = 0; i < device_parts(port->config); i++) {
		struct device device = device_part(port->config, i);

		port->rule.partial |= is_local(&device);
	}
}

static int core_node(uint16_t core)
{
	return numa_available() < 0 ? -1 : numa_node_of_cpu(core);
}

/* NUMA: what is far away is used, and said once. */
static void node_init(struct port *port, const struct rte_eth_dev_info *info)
{
	enum device_kind kind = device_parse(port->config->device).kind;
	unsigned far = 0;

	port->socket = kind == DEVICE_PCI ? rte_eth_dev_socket_id(port->id)
					  : core_node(port->config->core[0]);
	if (numa_available() < 0 || numa_max_node() < 1 || port->socket < 0)
		return;
	for (unsigned i = 0; i < port->config->cores; i++)
		far += core_node(port->config->core[i]) != port->socket;
	if (far)
		fprintf(stderr,
			"onager: port %s: %s is on NUMA node %d, but %u of its %u cores are not: "
			"it works, "
			"at less speed; list cores of that node\n",
			port->config->name, info->driver_name, port->socket, far,
			port->config->cores);
}

static void offloads_choose(struct port *port, const struct rte_eth_dev_info *info,
			    struct rte_eth_conf *conf)
{
	struct device device = device_parse(port->config->device);

	if (port->config->verify_checksums && device.kind == DEVICE_PCI &&
	    (info->rx_offload_capa & RX_CHECKSUMS) == RX_CHECKSUMS) {
		conf->rxmode.offloads |= RX_CHECKSUMS_ALL & info->rx_offload_capa;
		port->rx_checksum = true;
	}
	if (port->config->checksum_offload &&
	    (info->tx_offload_capa & TX_CHECKSUMS) == TX_CHECKSUMS) {
		conf->txmode.offloads |= TX_CHECKSUMS_ALL & info->tx_offload_capa;
		port->tx_checksum = true;
	}
	if (port->queues == 1 && device.kind != DEVICE_BOND) /* whose packets may be shared */
		conf->txmode.offloads |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE & info->tx_offload_capa;
}

static int device_configure(struct port *port, const struct rte_eth_dev_info *info, struct err *err)
{
	struct rte_eth_conf conf = {0};
	int ret;

	if (!has_own_mtu(port)) {
		if (config_wire(port->config)->mtu < info->min_mtu ||
		    (info->max_mtu && config_wire(port->config)->mtu > info->max_mtu))
			return mtu_refused(port, info, err);
		conf.rxmode.mtu = config_wire(port->config)->mtu;
	}
	offloads_choose(port, info, &conf);
	port_steer_request(port, info, &conf);
	ret = rte_eth_dev_configure(port->id, port->queues, port->queues, &conf);
	if (ret == -EINVAL && conf.rxmode.mtu > RTE_ETHER_MTU)
		return mtu_refused(port, info, err);
	if (ret)
		return err_set(err, EXIT_ENVIRONMENT, "the device refuses %u queues: %s%s",
			       port->queues, rte_strerror(-ret), eal_log_cause());
	ret = has_own_mtu(port) ? 0 : rte_eth_dev_set_mtu(port->id, config_wire(port->config)->mtu);
	if (ret && ret != -ENOTSUP)
		return mtu_refused(port, info, err);
	return 0;
}

static int queue_setup(struct port *port, unsigned index, uint16_t queue, uint16_t rx_descriptors,
		       uint16_t tx_descriptors, struct err *err)
{
	unsigned socket = port->socket < 0 ? (unsigned)SOCKET_ID_ANY : (unsigned)port->socket;
	int ret;

	port->pool[queue] =
		port_pool_create(port->config, index, queue, port->socket, &port->mbufs_bytes, err);
	if (!port->pool[queue])
		return -1;
	if (port->pieces) {
		port->pieces[queue] = port_pieces_create(port->config, index, queue, port->socket,
							 &port->mbufs_bytes, err);
		if (!port->pieces[queue])
			return -1;
	}
	eal_log_mark();
	ret = rte_eth_rx_queue_setup(port->id, queue, rx_descriptors, socket, NULL,
				     port->pool[queue]);
	if (!ret)
		ret = rte_eth_tx_queue_setup(port->id, queue, tx_descriptors, socket, NULL);
	if (ret)
		return err_set(err, EXIT_ENVIRONMENT,
			       "the device refuses queue %u with %u receive and %u transmit "
			       "descriptors: %s%s",
			       queue, rx_descriptors, tx_descriptors, rte_strerror(-ret),
			       eal_log_cause());
	return 0;
}

static int queues_setup(struct port *port, unsigned index, struct err *err)
{
	uint16_t rx = port->config->rx_descriptors ? port->config->rx_descriptors : DESCRIPTORS;
	uint16_t tx = port->config->tx_descriptors ? port->config->tx_descriptors : DESCRIPTORS;

	port->pool = calloc(port->queues, sizeof(struct rte_mempool *));
	if (port_takes_pieces(port->config))
		port->pieces = calloc(port->queues, sizeof(struct rte_mempool *));
	if (!port->pool || (port_takes_pieces(port->config) && !port->pieces))
		return err_set(err, EXIT_ENVIRONMENT, "no memory");
	rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx);
	for (uint16_t queue = 0; queue < port->queues; queue++)
		if (queue_setup(port, index, queue, rx, tx, err))
			return -1;
	return 0;
}

static bool link_is_up(uint16_t id, unsigned wait_ms)
{
	struct rte_eth_link link = {0};

	for (unsigned waited = 0; waited < wait_ms; waited += LINK_POLL_MS) {
		if (!rte_eth_link_get_nowait(id, &link) && link.link_status)
			return true;
		if (signal_sleep(LINK_POLL_MS * 1000000))
			return false;
	}
	return false;
}

static int device_up(struct port *port, struct err *err)
{
	int ret = rte_eth_dev_start(port->id);

	if (ret)
		return err_set(err, EXIT_ENVIRONMENT, "the device does not start: %s%s",
			       rte_strerror(-ret), eal_log_cause());
	if (port->listens) /* not all devices can, and those that cannot hear everything */
		(void)rte_eth_promiscuous_enable(port->id);
	if (!link_is_up(port->id, LINK_WAIT_MS) && !signal_came())
		return err_set(err, EXIT_ENVIRONMENT,
			       "link down: no link within %u s%s; check the cable and the far end",
			       LINK_WAIT_MS / 1000, eal_log_cause());
	if (port->is_lacp && !bond_agree(port->id))
		fprintf(stderr,
			"onager: port %s: the far end does not speak LACP on any member, and gets "
			"no "
			"packets until it does\n",
			port->config->name);
	return 0;
}

/* The two ends of a memif are started by hand, in any order. A server's link comes when a client
 * does: it does not wait. A client that finds no server, or one that is not ready, gives up for
 * good: it is started again for as long as others wait for their link. */
static int memif_up(struct port *port, bool client, struct err *err)
{
	bool listening = false;

	for (unsigned waited = 0; waited < LINK_WAIT_MS; waited += LINK_RETRY_MS) {
		if (signal_came())
			return 0;
		eal_log_mark();
		if (rte_eth_dev_start(port->id)) {
			signal_sleep(LINK_RETRY_MS * 1000000);
			continue;
		}
		listening = true;
		if (!client || link_is_up(port->id, LINK_RETRY_MS))
			return 0;
		rte_eth_dev_stop(port->id);
	}
	if (listening)
		return err_set(
			err, EXIT_ENVIRONMENT,
			"link down: the far end of the memif has refused for %u s%s; it needs "
			"as many cores, and the same id and secret",
			LINK_WAIT_MS / 1000, eal_log_cause());
	return err_set(
		err, EXIT_ENVIRONMENT,
		"link down: nobody has been listening on the memif socket for %u s%s; start the "
		"instance with role=server first",
		LINK_WAIT_MS / 1000, eal_log_cause());
}

static int port_up(struct port *port, struct err *err)
{
	struct device device = device_parse(port->config->device);

	eal_log_mark();
	if (device_is_memif(&device))
		return memif_up(port, device_is_memif_client(&device), err);
	return device_up(port, err);
}

static void stats_read(uint16_t id, struct port_stats *stats)
{
	struct rte_eth_stats s = {0};

	rte_eth_stats_get(id, &s);
	*stats = (struct port_stats){.rx_packets = s.ipackets,
				     .tx_packets = s.opackets,
				     .imissed = s.imissed,
				     .ierrors = s.ierrors,
				     .oerrors = s.oerrors,
				     .rx_nombuf = s.rx_nombuf};
}

/* Some devices count from 0 again when their far end comes back (memif). */
static uint64_t since(uint64_t now, uint64_t base)
{
	return now >= base ? now - base : now;
}

void port_stats(const struct port *port, struct port_stats *stats)
{
	stats_read(port->id, stats);
	stats->link_changes = port->link_changes;
	stats->rx_packets = since(stats->rx_packets, port->base.rx_packets);
	stats->tx_packets = since(stats->tx_packets, port->base.tx_packets);
	stats->imissed = since(stats->imissed, port->base.imissed);
	stats->ierrors = since(stats->ierrors, port->base.ierrors);
	stats->oerrors = since(stats->oerrors, port->base.oerrors);
	stats->rx_nombuf = since(stats->rx_nombuf, port->base.rx_nombuf);
}

static int port_start(struct port *port, unsigned index, struct err *err)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port->id, &info))
		return err_set(err, EXIT_ENVIRONMENT, "the device tells nothing about itself");
	port->driver = info.driver_name;
	node_init(port, &info);
	eal_log_mark();
	if (queues_check(port, &info, err) || device_configure(port, &info, err) ||
	    queues_setup(port, index, err))
		return -1;
	mac_init(port, index);
	mac_inside(port);
	rule_init(port);
	if (port_up(port, err) || port_steer_init(port, &info, index, err))
		return -1;
	stats_read(port->id, &port->base);
	return 0;
}

/* Neighbour Discovery speaks to groups, one for each end of an address: all are taken in; to DPDK's
 * LACP a broadcast is one, too. A device that knows no such mode, or a cable, takes them in anyway
 * or everything. */
static void groups_hear(const struct config *config, unsigned index, struct port *port)
{
	port->rule.ip6 = config_port_has6(config, index);
	if (!port->rule.ip6 && !port->config->outside && !port->is_lacp)
		return;
	if (rte_eth_allmulticast_enable(port->id))
		rte_eth_promiscuous_enable(port->id);
}

static void port_close(struct port *port, unsigned index)
{
	if (!port->config) /* not come to */
		return;
	if (!port->config->is_network) {
		if (device_parse(port->config->device).kind == DEVICE_LOOP)
			loop_close(index);
		else if (device_parse(port->config->device).kind == DEVICE_BOND)
			bond_close(index);
		else if (port->opened)
			device_close(port->id);
	}
	port_steer_free(port);
}

/* A network behind a port that is open: the same device and pools, tags and addresses of its own.
 */
static int network_open(const struct config *config, unsigned index, struct port *ports,
			struct err *err)
{
	struct port *port = &ports[index];
	const struct port *host = &ports[config->port[index].host];

	*port = *host;
	port->config = &config->port[index];
	port->listens = config_port_listens(config, index);
	port->mbufs_bytes = 0;
	memcpy(port->mac, port->config->has_mac ? port->config->mac : host->wire_mac,
	       sizeof(port->mac));
	if (memcmp(port->mac, host->wire_mac, sizeof(port->mac)) != 0)
		mac_set(port);
	mac_inside(port);
	rule_init(port);
	groups_hear(config, index, port);
	return port_steer_share(port, index, err);
}

/* The addresses of a bond's members, by which "tlb" sends and is answered, and "alb" is asked. */
static int aliases_init(struct port *port, struct err *err)
{
	uint16_t member[BOND_MEMBERS_MAX];

	if (!port->config->bond.members || port->config->bond.mode < BOND_TLB)
		return 0;
	port->aliases = bond_members(port->id, member);
	port->alias = calloc(port->aliases, sizeof(*port->alias));
	if (!port->alias)
		return err_set(err, EXIT_ENVIRONMENT, "no memory");
	for (unsigned i = 0; i < port->aliases; i++)
		rte_eth_macaddr_get(member[i], (struct rte_ether_addr *)port->alias[i]);
	return 0;
}

static int port_open(const struct config *config, unsigned index, struct port *port,
		     struct err *err)
{
	port->config = &config->port[index];
	port->listens = config_port_listens(config, index);
	port->queues = (uint16_t)port->config->cores;
	if (device_open(config, index, &port->id, err))
		return err_prefix(err, "port %s: %s: ", port->config->name, port->config->device);
	port->opened = true;
	port->is_lacp = port->config->bond.members && port->config->bond.mode == BOND_LACP;
	if (port_start(port, index, err) || aliases_init(port, err))
		return err_prefix(err, "port %s: %s: ", port->config->name, port->config->device);
	groups_hear(config, index, port);
	return 0;
}

int ports_open(const struct config *config, struct port **ports, struct err *err)
{
	struct port *port = calloc(config->ports, sizeof(*port));

	if (!port)
		return err_set(err, EXIT_ENVIRONMENT, "no memory");
	eal_log_live(false);
	for (unsigned i = 0; i < config->ports; i++)
		if (config->port[i].is_network ? network_open(config, i, port, err)
					       : port_open(config, i, &port[i], err)) {
			ports_close(port, i + 1);
			return -1;
		}
	eal_log_live(true);
	*ports = port;
	return 0;
}

/* Pools go last: rings and devices of other ports hold packets of them. */
void ports_close(struct port *ports, unsigned count)
{
	eal_log_live(false); /* a far end that closes meanwhile is no news */
	for (unsigned i = 0; i < count; i++)
		port_close(&ports[i], i);
	for (unsigned i = 0; i < count; i++) {
		if (!ports[i].config || ports[i].config->is_network)
			continue;
		for (unsigned q = 0; ports[i].pool && q < ports[i].queues; q++)
			rte_mempool_free(ports[i].pool[q]);
		for (unsigned q = 0; ports[i].pieces && q < ports[i].queues; q++)
			rte_mempool_free(ports[i].pieces[q]);
		free(ports[i].pool);
		free(ports[i].pieces);
		free(ports[i].alias);
	}
	free(ports);
}
