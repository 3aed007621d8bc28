/* Several devices as one port, by DPDK's bonding PMD.
 *
 * Members are made like the devices of ports and then given to the bond, which configures, starts
 * and stops them. A bond has its first member's MAC address, or its primary's. LACP lives on calls
 * of the burst functions, at least one in 100 ms: workers see to that (worker.c).
 *
 * Link changes of members are DPDK's to notice: those of PCI devices and taps are heard of by
 * interrupt, others' looked at every 10 ms. The AF_PACKET and AF_XDP PMDs call every link up: of
 * kernel interfaces the control thread sees it, and makes another the one that sends. */
#include "device.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_bond.h>
#include <rte_eth_bond_8023ad.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "dpdk_compat.h"
#include "eal_log.h"
#include "signal.h"

#define AGREE_MS      10000u
#define AGREE_STEP_MS 10u
#define BURST         32

static void bond_name(char name[RTE_ETH_NAME_MAX_LEN], unsigned index)
{
	snprintf(name, RTE_ETH_NAME_MAX_LEN, "net_bonding_%u", index);
}

static int members_open(const struct config_port *port, unsigned index, uint16_t bond,
			struct err *err)
{
	const struct config_bond *wanted = &port->bond;

	for (unsigned i = 0; i < wanted->members; i++) {
		uint16_t id;
		int ret;

		if (device_make(wanted->member[i], port, (index + 1) * BOND_MEMBERS_MAX + i, &id,
				err))
			return err_prefix(err, "member %s: ", wanted->member[i]);
		eal_log_mark();
		ret = COMPAT_BOND_ADD(bond, id);
		if (ret)
			device_close(id);
		if (ret)
			return err_set(err, EXIT_ENVIRONMENT, "member %s: the bond refuses it%s",
				       wanted->member[i], eal_log_cause());
		if (wanted->primary && !strcmp(wanted->primary, wanted->member[i]))
			rte_eth_bond_primary_set(bond, id);
	}
	return 0;
}

int bond_open(const struct config_port *port, unsigned index, uint16_t *id, struct err *err)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	int bond;

	bond_name(name, index);
	eal_log_mark();
	bond = rte_eth_bond_create(name, (uint8_t)port->bond.mode, (uint8_t)rte_socket_id());
	if (bond < 0)
		return err_set(err, EXIT_ENVIRONMENT, "DPDK cannot make a bond: %s%s",
			       rte_strerror(-bond), eal_log_cause());
	*id = (uint16_t)bond;
	if (members_open(port, index, *id, err)) {
		bond_close(index);
		return -1;
	}
	if (rte_eth_bond_xmit_policy_set(*id, (uint8_t)port->bond.policy)) {
		bond_close(index);
		return err_set(err, EXIT_ENVIRONMENT, "the bond refuses its policy%s",
			       eal_log_cause());
	}
	return 0;
}

unsigned bond_members(uint16_t id, uint16_t member[BOND_MEMBERS_MAX])
{
	int count = COMPAT_BOND_LIST(id, member, BOND_MEMBERS_MAX);

	return count < 0 ? 0 : (unsigned)count;
}

/* LACP as a whole is driven by the burst functions. */
static void bond_drive(uint16_t id)
{
	struct rte_mbuf *pkt[BURST];
	uint16_t count = rte_eth_rx_burst(id, 0, pkt, BURST);

	rte_pktmbuf_free_bulk(pkt, count);
	rte_eth_tx_burst(id, 0, NULL, 0);
}

static bool is_distributing(uint16_t id)
{
	uint16_t member[BOND_MEMBERS_MAX];
	unsigned members = bond_members(id, member);
	struct COMPAT_BOND_LACP info;

	for (unsigned i = 0; i < members; i++)
		if (!COMPAT_BOND_LACP(id, member[i], &info) &&
		    info.actor_state & STATE_DISTRIBUTING)
			return true;
	return false;
}

bool bond_agree(uint16_t id)
{
	for (unsigned waited = 0; waited < AGREE_MS; waited += AGREE_STEP_MS) {
		if (is_distributing(id))
			return true;
		bond_drive(id);
		if (signal_sleep(AGREE_STEP_MS * 1000000))
			return true;
	}
	return false;
}

void bond_prefer(const struct config_port *port, uint16_t id, uint32_t up)
{
	uint16_t member[BOND_MEMBERS_MAX];
	unsigned members = bond_members(id, member);
	unsigned first = up ? (unsigned)__builtin_ctz(up) : members;

	for (unsigned i = 0; i < members && port->bond.primary; i++)
		if (up >> i & 1 && !strcmp(port->bond.member[i], port->bond.primary))
			first = i;
	if (port->bond.mode == BOND_ACTIVE_BACKUP && first < members)
		rte_eth_bond_primary_set(id, member[first]);
}

void bond_close(unsigned index)
{
	uint16_t id, member[BOND_MEMBERS_MAX];
	char name[RTE_ETH_NAME_MAX_LEN];
	unsigned members;

	bond_name(name, index);
	if (rte_eth_dev_get_port_by_name(name, &id))
		return;
	members = bond_members(id, member);
	rte_eth_dev_stop(id);
	for (unsigned i = 0; i < members; i++)
		COMPAT_BOND_REMOVE(id, member[i]);
	rte_eth_bond_free(name);
	for (unsigned i = 0; i < members; i++)
		device_close(member[i]);
}
