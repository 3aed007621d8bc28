/* From a device string to an ethdev.
 *
 * vdevs are plugged after the EAL has started, one by one, so that a failure names its port; "if:"
 * and "xdp:" become vdevs of the AF_PACKET and AF_XDP drivers. PCI devices the EAL has probed by
 * itself: one that did not appear is explained from what sysfs says about it. */
#define _GNU_SOURCE
#include "device.h"

#include <stdio.h>
#include <string.h>

#include <rte_dev.h>

#include "dpdk_compat.h"
#include "eal_log.h"
#include "port_pool.h"

struct device device_parse(const char *string)
{
	static const struct {
		const char *prefix;
		enum device_kind kind;
	} kinds[] = {{"if:", DEVICE_INTERFACE},
		     {"xdp:", DEVICE_XDP},
		     {"loop:", DEVICE_LOOP},
		     {"bond:", DEVICE_BOND}};
	struct device device = {DEVICE_UNKNOWN, string};
	char address[32];

	for (unsigned i = 0; i < RTE_DIM(kinds); i++) {
		size_t length = strlen(kinds[i].prefix);

		if (!strncmp(string, kinds[i].prefix, length))
			return (struct device){kinds[i].kind, string + length};
	}
	if (!strncmp(string, "net_", 4))
		device.kind = DEVICE_VDEV;
	else if (!device_pci_address(&device, address))
		device.kind = DEVICE_PCI;
	return device;
}

bool device_is_vdev(const struct device *device, const char *driver)
{
	return device->kind == DEVICE_VDEV && !strncmp(device->name, driver, strlen(driver));
}

#define USER_REMEDY                                                                                \
	"; no such driver, wrong arguments or in use: `onager devices` lists the kinds of device " \
	"and their arguments"

/* DPDK does not tell a wrong driver from a wrong argument; the remedy is for strings that a user
 * wrote. */
static int vdev_open(const char *string, const char *remedy, uint16_t *id, struct err *err)
{
	size_t length = strcspn(string, ",");
	char name[RTE_ETH_NAME_MAX_LEN];
	int ret;

	if (length >= sizeof(name))
		return err_set(err, EXIT_ENVIRONMENT,
			       "the device's name is longer than %zu characters", sizeof(name) - 1);
	memcpy(name, string, length);
	name[length] = '\0';
	if (!rte_eth_dev_get_port_by_name(name, id))
		return err_set(
			err, EXIT_ENVIRONMENT,
			"another port has a device named %s already: give this one another number",
			name);
	eal_log_mark();
	ret = rte_eal_hotplug_add("vdev", name, string[length] ? string + length + 1 : "");
	if (ret)
		return err_set(err, EXIT_ENVIRONMENT, "DPDK cannot make this device%s%s",
			       eal_log_cause(), remedy);
	if (rte_eth_dev_get_port_by_name(name, id))
		return err_set(err, EXIT_ENVIRONMENT, "%s is not an Ethernet device", name);
	return 0;
}

/* A slot holds what one mbuf holds. The PMD locks the rings in memory: 2 x 8 MiB a queue, less for
 * who may not lock as much. */
static int af_packet_open(const char *name, const struct config_port *port, unsigned index,
			  uint16_t *id, struct err *err)
{
	unsigned slot = port_pool_room(port), slots = slot > 2048 ? 1024 : 4096;
	uint64_t lockable = device_interface_lockable();
	char string[256];

	if (device_interface_check(name, port, false, err))
		return -1;
	while (2ull * port->cores * slots * slot > lockable && slots > 64)
		slots /= 2;
	if (2ull * port->cores * slots * slot > lockable)
		return err_set(
			err, EXIT_ENVIRONMENT,
			"no permission to lock memory for %u rings: raise `ulimit -l`, or give the "
			"onager binary CAP_IPC_LOCK",
			2 * port->cores);
	snprintf(string, sizeof(string),
		 "net_af_packet_%u,iface=%s,qpairs=%u,framesz=%u,blocksz=%u,framecnt=%u", index,
		 name, port->cores, slot, slot * 32, slots);
	return vdev_open(string, "", id, err);
}

static int af_xdp_open(const char *name, const struct config_port *port, unsigned index,
		       uint16_t *id, struct err *err)
{
	char string[256];

	if (device_interface_check(name, port, true, err))
		return -1;
	device_xdp_quiet();
	snprintf(string, sizeof(string), "net_af_xdp_%u,iface=%s,start_queue=0,queue_count=%u",
		 index, name, port->cores);
	return vdev_open(string, "", id, err);
}

int device_make(const char *string, const struct config_port *port, unsigned number, uint16_t *id,
		struct err *err)
{
	struct device device = device_parse(string);

	switch (device.kind) {
	case DEVICE_PCI:
		return device_pci_open(&device, id, err);
	case DEVICE_VDEV:
		if (device_is_memif(&device) && device_memif_check(&device, port, err))
			return -1;
		return vdev_open(device.name, USER_REMEDY, id, err);
	case DEVICE_INTERFACE:
		return af_packet_open(device.name, port, number, id, err);
	case DEVICE_XDP:
		return af_xdp_open(device.name, port, number, id, err);
	default:
		break;
	}
	return err_set(err, EXIT_ENVIRONMENT,
		       "no such device: expected a PCI address, \"net_*\", \"if:NAME\", "
		       "\"xdp:NAME\", \"loop:NAME\" or \"bond:NAME\"; `onager devices` lists what "
		       "there is");
}

int device_open(const struct config *config, unsigned index, uint16_t *id, struct err *err)
{
	const struct config_port *port = &config->port[index];

	switch (device_parse(port->device).kind) {
	case DEVICE_LOOP:
		return loop_open(config, index, id, err);
	case DEVICE_BOND:
		return bond_open(port, index, id, err);
	default:
		return device_make(port->device, port, index, id, err);
	}
}

unsigned device_parts(const struct config_port *port)
{
	return port->bond.members ? port->bond.members : 1;
}

struct device device_part(const struct config_port *port, unsigned i)
{
	return device_parse(port->bond.members ? port->bond.member[i] : port->device);
}

bool device_has_interface(const struct config_port *port)
{
	for (unsigned i = 0; i < device_parts(port); i++) {
		enum device_kind kind = device_part(port, i).kind;

		if (kind == DEVICE_INTERFACE || kind == DEVICE_XDP)
			return true;
	}
	return false;
}

void device_close(uint16_t id)
{
	struct rte_eth_dev_info info;
	bool known = !rte_eth_dev_info_get(id, &info);

	if (known && strstr(info.driver_name, "memif")) {
		device_memif_close(id);
	} else {
		rte_eth_dev_stop(id);
		rte_eth_dev_close(id);
	}
	if (known && info.device)
		rte_dev_remove(info.device);
}
