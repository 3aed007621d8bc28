/* What differs between the DPDK versions that Onager builds with: 21.11 to 25.11. */
#ifndef RUN_DPDK_COMPAT_H
#define RUN_DPDK_COMPAT_H

#include <rte_ethdev.h>
#include <rte_version.h>

#if RTE_VERSION < RTE_VERSION_NUM(21, 11, 0, 0)
#error "Onager needs DPDK 21.11 or later"
#endif

#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
#define COMPAT_BONDING_MEMBER "slave"
#define COMPAT_BOND_ADD       rte_eth_bond_slave_add
#define COMPAT_BOND_REMOVE    rte_eth_bond_slave_remove
#define COMPAT_BOND_LIST      rte_eth_bond_slaves_get
#define COMPAT_BOND_LACP      rte_eth_bond_8023ad_slave_info
#else
#define COMPAT_BONDING_MEMBER "member"
#define COMPAT_BOND_ADD       rte_eth_bond_member_add
#define COMPAT_BOND_REMOVE    rte_eth_bond_member_remove
#define COMPAT_BOND_LIST      rte_eth_bond_members_get
#define COMPAT_BOND_LACP      rte_eth_bond_8023ad_member_info
#endif

#endif
