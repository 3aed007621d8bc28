/* Which worker gets a packet.
 *
 * A NIC's RSS is taken as the device has it: key and redirection table are read back, so that the
 * engines choose source ports by the very function that the NIC computes. Only PCI devices are
 * believed: DPDK's vdevs offer RSS that they do not do (net_null) or do by another hash (net_tap).
 * Where anything is missing the symmetric software hash decides, and what arrives at a wrong queue
 * goes to its owner over a ring of many writers and one reader; so each mode is correct, and RSS
 * fast. */
#include "port_steer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "device.h"

#define HANDOFF_SIZE 4096
#define RSS_IP6      (RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP)
#define RSS_WANTED \
	(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RSS_IP6)
#define RSS_NEEDED RTE_ETH_RSS_NONFRAG_IPV4_TCP

static bool has_rss(const struct port *port, const struct rte_eth_dev_info *info)
{
	return port->queues > 1 && device_parse(port->config->device).kind == DEVICE_PCI &&
	       (info->flow_type_rss_offloads & RSS_NEEDED) == RSS_NEEDED && info->reta_size &&
	       !(info->reta_size & (info->reta_size - 1)) && info->hash_key_size >= 40 &&
	       info->hash_key_size <= sizeof(port->steer.key);
}

void port_steer_request(const struct port *port, const struct rte_eth_dev_info *info,
			struct rte_eth_conf *conf)
{
	if (!has_rss(port, info))
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = RSS_WANTED & info->flow_type_rss_offloads;
}

static int reta_read(struct port *port, uint16_t size)
{
	unsigned groups = (size + RTE_ETH_RETA_GROUP_SIZE - 1u) / RTE_ETH_RETA_GROUP_SIZE;
	struct rte_eth_rss_reta_entry64 *entry = calloc(groups, sizeof(*entry));
	int ret = -ENOMEM;

	port->steer.reta = calloc(size, sizeof(*port->steer.reta));
	if (!entry || !port->steer.reta)
		goto out;
	for (unsigned i = 0; i < groups; i++)
		entry[i].mask = UINT64_MAX;
	ret = rte_eth_dev_rss_reta_query(port->id, entry, size);
	for (unsigned i = 0; !ret && i < size; i++) {
		port->steer.reta[i] =
			entry[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
		if (port->steer.reta[i] >= port->queues)
			ret = -ERANGE;
	}
	port->steer.reta_size = size;
out:
	free(entry);
	return ret;
}

/* Key, functions and table as the device has them, or -1: it cannot tell. */
static int rss_read(struct port *port, const struct rte_eth_dev_info *info)
{
	struct rte_eth_rss_conf rss = {.rss_key = port->steer.key,
				       .rss_key_len = info->hash_key_size};

	/* RSS of a tunnel's packets is by its outside: it spreads them, no more. */
	if (port->config->outside || !has_rss(port, info) ||
	    rte_eth_dev_rss_hash_conf_get(port->id, &rss) ||
	    (rss.rss_hf & RSS_NEEDED) != RSS_NEEDED)
		return -1;
	port->steer.toeplitz6 = (rss.rss_hf & RSS_IP6) == RSS_IP6;
	return reta_read(port, info->reta_size) ? -1 : 0;
}

static int handoff_create(struct port *port, unsigned index, struct err *err)
{
	char name[RTE_RING_NAMESIZE];

	port->handoff = calloc(port->queues, sizeof(struct rte_ring *));
	if (!port->handoff)
		return err_set(err, EXIT_ENVIRONMENT, "no memory");
	for (unsigned i = 0; i < port->queues; i++) {
		snprintf(name, sizeof(name), "handoff_%u_%u", index, i);
		port->handoff[i] =
			rte_ring_create(name, HANDOFF_SIZE, SOCKET_ID_ANY, RING_F_SC_DEQ);
		if (!port->handoff[i])
			return err_set(err, EXIT_ENVIRONMENT, "no memory for hand-off rings: %s",
				       rte_strerror(rte_errno));
	}
	return 0;
}

int port_steer_init(struct port *port, const struct rte_eth_dev_info *info, unsigned index,
		    struct err *err)
{
	port->steer.workers = port->queues;
	if (port->queues == 1) {
		port->steer.mode = STEER_SINGLE;
		return 0;
	}
	port->steer.mode = rss_read(port, info) ? STEER_SOFT : STEER_TOEPLITZ;
	return handoff_create(port, index, err);
}

int port_steer_share(struct port *network, unsigned index, struct err *err)
{
	network->handoff = NULL;
	if (network->config->outside && network->steer.mode == STEER_TOEPLITZ)
		network->steer.mode = STEER_SOFT;
	return network->steer.mode == STEER_SINGLE ? 0 : handoff_create(network, index, err);
}

void port_steer_free(struct port *port)
{
	for (unsigned i = 0; port->handoff && i < port->queues; i++)
		rte_ring_free(port->handoff[i]);
	free(port->handoff);
	if (!port->config->is_network)
		free(port->steer.reta);
	port->handoff = NULL;
	port->steer.reta = NULL;
}
