/* Kernel interfaces: everything that can be wrong with one is found out before DPDK is asked to
 * open it. */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "signal.h"

#define LINK_WAIT_MS 3000
#define LINK_POLL_MS 20

#define CAPABILITY_IPC_LOCK 14

/* Numbers of <linux/capability.h>, as bits of CapEff in /proc/self/status. */
static const struct capability {
	const char *name;
	unsigned bit;
	bool xdp_only;
} capabilities[] = {
	{"CAP_NET_RAW", 13, false},
	{"CAP_NET_ADMIN", 12, false},
	{"CAP_SYS_ADMIN", 21, true},
	{"CAP_IPC_LOCK", CAPABILITY_IPC_LOCK, true},
};

static uint64_t capabilities_effective(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long set = 0;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &set) == 1)
			break;
	fclose(file);
	return set;
}

static bool has_capability(unsigned bit)
{
	return capabilities_effective() >> bit & 1;
}

static int permission_check(bool xdp, struct err *err)
{
	for (unsigned i = 0; i < RTE_DIM(capabilities); i++) {
		const struct capability *c = &capabilities[i];

		if (has_capability(c->bit) || (c->xdp_only && !xdp))
			continue;
		return err_set(
			err, EXIT_ENVIRONMENT,
			"no permission to use a kernel interface: this needs %s; run as root, or "
			"once `setcap %s+ep` on the onager binary",
			c->name,
			xdp ? "cap_net_raw,cap_net_admin,cap_sys_admin,cap_ipc_lock"
			    : "cap_net_raw,cap_net_admin");
	}
	return 0;
}

uint64_t device_interface_lockable(void)
{
	struct rlimit limit;

	if (has_capability(CAPABILITY_IPC_LOCK) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return UINT64_MAX;
	return limit.rlim_cur;
}

/* By ioctl, because sysfs may be of another network namespace. */
static int interface_request(const char *name, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int ret;

	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	if (fd < 0)
		return -1;
	ret = ioctl(fd, request, ifr);
	close(fd);
	return ret;
}

/* IFF_RUNNING lags behind the carrier by up to a second; asking for the link brings it up to date.
 */
static bool has_carrier(const char *name)
{
	struct ethtool_value link = {.cmd = ETHTOOL_GLINK};
	struct ifreq ifr = {.ifr_data = (char *)&link};

	return interface_request(name, SIOCETHTOOL, &ifr) || link.data;
}

static int link_check(const char *name, struct err *err)
{
	struct ifreq ifr = {0};

	for (unsigned waited = 0;; waited += LINK_POLL_MS) {
		if (interface_request(name, SIOCGIFFLAGS, &ifr))
			return err_set(err, EXIT_ENVIRONMENT, "the interface vanished: %s",
				       strerror(errno));
		if (!(ifr.ifr_flags & IFF_UP))
			return err_set(
				err, EXIT_ENVIRONMENT,
				"link down: the interface is not up; `ip link set dev %s up`",
				name);
		if (ifr.ifr_flags & IFF_RUNNING && has_carrier(name))
			return 0;
		if (waited >= LINK_WAIT_MS)
			return err_set(err, EXIT_ENVIRONMENT,
				       "link down: the interface is up, but has had no carrier for "
				       "%u s; check the "
				       "cable, or whether the far end of the veth is up",
				       LINK_WAIT_MS / 1000);
		if (signal_sleep(LINK_POLL_MS * 1000000))
			return 0;
	}
}

unsigned device_interface_queues(const char *name)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq ifr = {.ifr_data = (char *)&channels};
	unsigned queues;

	if (interface_request(name, SIOCETHTOOL, &ifr))
		return 1;
	queues = channels.max_combined ? channels.combined_count
				       : RTE_MIN(channels.rx_count, channels.tx_count);
	return RTE_MAX(queues, 1u);
}

int device_interface_check(const char *name, const struct config_port *port, bool xdp,
			   struct err *err)
{
	struct ifreq ifr = {0};

	if (!if_nametoindex(name))
		return err_set(err, EXIT_ENVIRONMENT,
			       "no such network interface; `onager devices` lists what there is");
	if (permission_check(xdp, err) || link_check(name, err))
		return -1;
	if (!interface_request(name, SIOCGIFMTU, &ifr) && ifr.ifr_mtu < config_wire(port)->mtu)
		return err_set(err, EXIT_ENVIRONMENT,
			       "MTU %u is not supported: the interface has %d; `ip link set dev %s "
			       "mtu %u`, or "
			       "set the port's mtu to %d",
			       config_wire(port)->mtu, ifr.ifr_mtu, name, config_wire(port)->mtu,
			       ifr.ifr_mtu);
	if (xdp && device_interface_queues(name) < port->cores)
		return err_set(
			err, EXIT_ENVIRONMENT,
			"%u cores listed, but the interface has %u queues: list fewer cores, or "
			"`ethtool -L %s combined %u`",
			port->cores, device_interface_queues(name), name, port->cores);
	return 0;
}
