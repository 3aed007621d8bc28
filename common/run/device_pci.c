/* PCI devices: who drives one, and what is to be done before DPDK can. All of it comes from sysfs,
 * so that a wrong address or a kernel-bound NIC is told as such before hugepages or the EAL come
 * into play. */
#define _GNU_SOURCE
#include "device.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_pci.h>
#include <rte_string_fns.h>

#include "dpdk_compat.h"
#include "eal_log.h"

int device_pci_address(const struct device *device, char address[32])
{
	struct rte_pci_addr pci;

	snprintf(address, 32, "%.*s", (int)strcspn(device->name, ","), device->name);
	if (rte_pci_addr_parse(address, &pci))
		return -1;
	rte_pci_device_name(&pci, address, 32);
	return 0;
}

void device_pci_link(const char *address, const char *link, char *name, size_t size)
{
	char path[128], target[PATH_MAX];
	const char *slash;
	ssize_t length;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", address, link);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return;
	target[length] = '\0';
	slash = strrchr(target, '/');
	strlcpy(name, slash ? slash + 1 : target, size);
}

bool device_pci_is_kernel_shared(const char *driver)
{
	return !strcmp(driver, "mlx5_core") || !strcmp(driver, "mlx4_core") ||
	       !strcmp(driver, "mana");
}

bool device_pci_is_dpdk(const char *driver)
{
	return !strcmp(driver, "vfio-pci") || strstr(driver, "uio");
}

int device_pci_check(const struct device *device, struct err *err)
{
	char address[32], path[128], driver[64], group[32];

	device_pci_address(device, address);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", address);
	if (access(path, F_OK))
		return err_set(
			err, EXIT_ENVIRONMENT,
			"no PCI device at this address; `onager devices` lists what there is");
	device_pci_link(address, "driver", driver, sizeof(driver));
	if (device_pci_is_kernel_shared(driver))
		return 0;
	if (!device_pci_is_dpdk(driver))
		return err_set(
			err, EXIT_ENVIRONMENT,
			"the device is bound to %s%s: bind it to DPDK as root with `modprobe "
			"vfio-pci && dpdk-devbind.py --bind=vfio-pci %s`, or use its kernel "
			"interface as \"if:NAME\" (`onager devices` names it)",
			driver[0] ? "the kernel driver " : "no driver", driver, address);
	device_pci_link(address, "iommu_group", group, sizeof(group));
	snprintf(path, sizeof(path), "/dev/vfio/%s", group);
	if (!strcmp(driver, "vfio-pci") && group[0] && access(path, R_OK | W_OK))
		return err_set(
			err, EXIT_ENVIRONMENT,
			"no permission to open %s: run as root, or as root once `chown USER %s`",
			path, path);
	return 0;
}

int device_pci_open(const struct device *device, uint16_t *id, struct err *err)
{
	char address[32], driver[64];

	device_pci_address(device, address);
	if (!rte_eth_dev_get_port_by_name(address, id))
		return 0;
	if (device_pci_check(device, err))
		return -1;
	device_pci_link(address, "driver", driver, sizeof(driver));
	return err_set(
		err, EXIT_ENVIRONMENT,
		"bound to %s, but DPDK does not start it%s: in use by another process, or no "
		"driver for this model in this DPDK",
		driver, eal_log_cause());
}
