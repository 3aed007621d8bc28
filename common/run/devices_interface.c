/* Kernel interfaces as `onager devices` shows them; by ioctl, which needs no root and follows the
 * network namespace. */
#define _GNU_SOURCE
#include "devices.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "../base/require.h"
#include "device.h"

static const struct {
	unsigned command;
	const char *name;
} offload_kinds[DEVICES_OFFLOADS] = {
	{ETHTOOL_GRXCSUM, "rx-checksum"},
	{ETHTOOL_GTXCSUM, "tx-checksum"},
	{ETHTOOL_GSG, "scatter-gather"},
	{ETHTOOL_GTSO, "tso"},
	{ETHTOOL_GGSO, "gso"},
	{ETHTOOL_GGRO, "gro"},
};

static bool ask(int fd, const char *name, unsigned long request, struct ifreq *ifr)
{
	strlcpy(ifr->ifr_name, name, IFNAMSIZ);
	return !ioctl(fd, request, ifr);
}

static bool ask_ethtool(int fd, const char *name, void *command)
{
	struct ifreq ifr = {.ifr_data = command};

	return ask(fd, name, SIOCETHTOOL, &ifr);
}

static long sysfs_number(const char *format, const char *name, long fallback)
{
	char path[128];
	FILE *file;
	long value;

	snprintf(path, sizeof(path), format, name);
	file = fopen(path, "r");
	if (!file)
		return fallback;
	if (fscanf(file, "%ld", &value) != 1)
		value = fallback;
	fclose(file);
	return value;
}

static void find_driver(int fd, struct devices_interface *i)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct device device = {DEVICE_PCI, info.bus_info};

	i->node = -1;
	if (!ask_ethtool(fd, i->name, &info))
		return;
	snprintf(i->driver, sizeof(i->driver), "%s", info.driver);
	if (device_pci_address(&device, i->pci))
		i->pci[0] = '\0';
	else
		i->node = (int)sysfs_number("/sys/bus/pci/devices/%s/numa_node", i->pci, -1);
}

static void find_offloads(int fd, struct devices_interface *i)
{
	for (unsigned k = 0; k < DEVICES_OFFLOADS; k++) {
		struct ethtool_value value = {.cmd = offload_kinds[k].command};

		if (ask_ethtool(fd, i->name, &value) && value.data)
			i->offload[i->offloads++] = offload_kinds[k].name;
	}
}

static void find_interface(int fd, const char *name, struct devices_interface *i)
{
	struct ifreq ifr = {0};

	snprintf(i->name, sizeof(i->name), "%s", name);
	if (ask(fd, name, SIOCGIFFLAGS, &ifr)) {
		i->up = ifr.ifr_flags & IFF_UP;
		i->carrier = ifr.ifr_flags & IFF_RUNNING;
	}
	if (ask(fd, name, SIOCGIFMTU, &ifr))
		i->mtu = (unsigned)ifr.ifr_mtu;
	if (ask(fd, name, SIOCGIFHWADDR, &ifr)) {
		const uint8_t *m = (const uint8_t *)ifr.ifr_hwaddr.sa_data;

		snprintf(i->mac, sizeof(i->mac), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2],
			 m[3], m[4], m[5]);
	}
	i->speed_mbps = sysfs_number("/sys/class/net/%s/speed", name, -1);
	i->queues = device_interface_queues(name);
	find_driver(fd, i);
	find_offloads(fd, i);
}

void devices_find_interfaces(struct devices *d)
{
	struct if_nameindex *names = if_nameindex();
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned count = 0;

	while (names && names[count].if_index)
		count++;
	d->interface = calloc(count + 1, sizeof(*d->interface));
	require(d->interface);
	for (unsigned n = 0; n < count; n++)
		find_interface(fd, names[n].if_name, &d->interface[d->interfaces++]);
	close(fd);
	if_freenameindex(names);
}
