/* Network devices of the PCI bus, from sysfs; those bound to DPDK also as their driver describes
 * them. */
#define _GNU_SOURCE
#include "devices.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "../base/require.h"
#include "device.h"
#include "dpdk_compat.h"
#include "port.h"

#define CLASS_NETWORK 0x02

static unsigned long attribute(const char *address, const char *name, unsigned long fallback)
{
	char path[512], text[32];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", address, name);
	file = fopen(path, "r");
	if (!file)
		return fallback;
	if (fgets(text, sizeof(text), file))
		fallback = strtoul(text, NULL, 0);
	fclose(file);
	return fallback;
}

static const char *interface_of(const struct devices *d, const char *address)
{
	for (unsigned i = 0; i < d->interfaces; i++)
		if (!strcmp(d->interface[i].pci, address))
			return d->interface[i].name;
	return "";
}

static void pci_add(struct devices *d, const char *address)
{
	const struct devices_pmd *pmd;
	struct devices_pci *pci;

	d->pci = realloc(d->pci, (d->pcis + 1) * sizeof(*d->pci));
	require(d->pci);
	pci = &d->pci[d->pcis++];
	*pci = (struct devices_pci){
		.vendor = (unsigned)attribute(address, "vendor", 0),
		.device = (unsigned)attribute(address, "device", 0),
		.node = (int)attribute(address, "numa_node", (unsigned long)-1)};
	strlcpy(pci->address, address, sizeof(pci->address));
	snprintf(pci->interface, sizeof(pci->interface), "%s", interface_of(d, address));
	device_pci_link(address, "driver", pci->driver, sizeof(pci->driver));
	pmd = devices_pmd_of(d, pci->vendor, pci->device);
	if (pmd)
		snprintf(pci->pmd, sizeof(pci->pmd), "%s", pmd->name);
}

static int by_address(const void *a, const void *b)
{
	return strcmp(((const struct devices_pci *)a)->address,
		      ((const struct devices_pci *)b)->address);
}

void devices_find_pci(struct devices *d)
{
	DIR *folder = opendir("/sys/bus/pci/devices");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (attribute(entry->d_name, "class", 0) >> 16 == CLASS_NETWORK)
			pci_add(d, entry->d_name);
	if (folder)
		closedir(folder);
	if (d->pcis)
		qsort(d->pci, d->pcis, sizeof(*d->pci), by_address);
}

static void pci_describe(struct devices_pci *pci)
{
	struct rte_eth_dev_info info;
	uint16_t id;

	if (rte_eth_dev_get_port_by_name(pci->address, &id) || rte_eth_dev_info_get(id, &info))
		return;
	snprintf(pci->pmd, sizeof(pci->pmd), "%s", info.driver_name);
	pci->queues = RTE_MIN(info.max_rx_queues, info.max_tx_queues);
	pci->rx_offloads = info.rx_offload_capa;
	pci->tx_offloads = info.tx_offload_capa;
}

void devices_probe_pci(struct devices *d)
{
	struct config_port *port = calloc(d->pcis + 1, sizeof(*port));
	struct config config = {.port = port, .hugepages = HUGEPAGES_OFF};
	struct err err;

	require(port);
	for (unsigned i = 0; i < d->pcis; i++) {
		struct device device = {DEVICE_PCI, d->pci[i].address};

		if (!device_pci_check(&device, &err))
			port[config.ports++] =
				(struct config_port){.name = "", .device = d->pci[i].address};
	}
	if (config.ports && !eal_start(&config, "onager", &err)) {
		for (unsigned i = 0; i < d->pcis; i++)
			pci_describe(&d->pci[i]);
		eal_stop();
	}
	free(port);
}

const char *devices_pci_use(const struct devices_pci *pci, char *text, size_t size)
{
	const char * or = pci->interface[0] ? ", or " : "";
	int length = 0;

	if (device_pci_is_dpdk(pci->driver) || device_pci_is_kernel_shared(pci->driver)) {
		snprintf(text, size, "%s", pci->address);
		return text;
	}
	if (pci->interface[0])
		length = snprintf(text, size, "if:%s", pci->interface);
	if (pci->pmd[0])
		snprintf(text + length, size - (size_t)length,
			 "%s%s after `dpdk-devbind.py --bind=vfio-pci %s`", or, pci->address,
			 pci->address);
	else
		snprintf(text + length, size - (size_t)length, "%s(this DPDK has no driver for it)",
			 length ? " " : "");
	return text;
}
