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
#else
#define COMPAT_BONDING_MEMBER "member"
#endif

#endif
