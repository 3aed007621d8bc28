/* `onager devices`: what there is on this machine to send and receive with, and what to write for
 * it in a configuration. Reads sysfs, asks the kernel and looks into DPDK's drivers; needs no root.
 */
#define _GNU_SOURCE
#include "devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "device.h"
#include "dpdk_compat.h"
#include "memory.h"
#include "port.h"

static const char *link_text(const struct devices_interface *i, char *text, size_t size)
{
	if (!i->up || !i->carrier)
		return i->up ? "no carrier" : "down";
	if (i->speed_mbps <= 0)
		return "up";
	snprintf(text, size, i->speed_mbps % 1000 ? "up %ldM" : "up %ldG",
		 i->speed_mbps % 1000 ? i->speed_mbps : i->speed_mbps / 1000);
	return text;
}

static const char *node_text(int node, char *text, size_t size)
{
	snprintf(text, size, node < 0 ? "-" : "%d", node);
	return text;
}

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static void interfaces_print(FILE *out, const struct devices *d)
{
	char link[32], node[8];

	fprintf(out,
		"Kernel interfaces: device \"if:NAME\" (AF_PACKET) or \"xdp:NAME\" (AF_XDP)\n\n"
		"  %-15s %-12s %-12s %4s  %-10s %6s %5s  %-17s  %s\n",
		"NAME", "DRIVER", "PCI", "NODE", "LINK", "QUEUES", "MTU", "MAC", "OFFLOADS");
	for (unsigned n = 0; n < d->interfaces; n++) {
		const struct devices_interface *i = &d->interface[n];

		fprintf(out, "  %-15s %-12s %-12s %4s  %-10s %6u %5u  %-17s ", i->name,
			or_dash(i->driver), or_dash(i->pci), node_text(i->node, node, sizeof(node)),
			link_text(i, link, sizeof(link)), i->queues, i->mtu, i->mac);
		for (unsigned k = 0; k < i->offloads; k++)
			fprintf(out, " %s", i->offload[k]);
		fputc('\n', out);
	}
}

static void offloads_print(FILE *out, const char *what, uint64_t offloads,
			   const char *(*name_of)(uint64_t))
{
	if (!offloads)
		return;
	fprintf(out, "    %s:", what);
	for (unsigned bit = 0; bit < 64; bit++)
		if (offloads >> bit & 1)
			fprintf(out, " %s", name_of(1ull << bit));
	fputc('\n', out);
}

static void pci_print(FILE *out, const struct devices *d)
{
	char use[128], node[8];

	fputs("\nPCI network devices: device \"ADDRESS\", once bound to DPDK\n\n", out);
	if (!d->pcis)
		fputs("  none\n", out);
	else
		fprintf(out, "  %-13s %-10s %-12s %-14s %4s %6s  %s\n", "ADDRESS", "ID", "BOUND TO",
			"DPDK DRIVER", "NODE", "QUEUES", "USE");
	for (unsigned i = 0; i < d->pcis; i++) {
		const struct devices_pci *pci = &d->pci[i];
		char queues[8] = "-";

		if (pci->queues)
			snprintf(queues, sizeof(queues), "%u", pci->queues);
		fprintf(out, "  %-13s %04x:%04x  %-12s %-14s %4s %6s  %s\n", pci->address,
			pci->vendor, pci->device, or_dash(pci->driver), or_dash(pci->pmd),
			node_text(pci->node, node, sizeof(node)), queues,
			devices_pci_use(pci, use, sizeof(use)));
		offloads_print(out, "receive offloads", pci->rx_offloads,
			       rte_eth_dev_rx_offload_name);
		offloads_print(out, "transmit offloads", pci->tx_offloads,
			       rte_eth_dev_tx_offload_name);
	}
}

static void vdevs_print(FILE *out, const struct devices *d)
{
	fprintf(out,
		"\nVirtual devices of %s: device \"NAMEn,ARGUMENT=VALUE,...\"\n\n"
		"  %-16s %-58s  %s\n"
		"  %-16s %-58s  %s\n",
		rte_version(), "NAME", "FOR", "EXAMPLE", "loop",
		"two ports of one configuration, joined in the process", "loop:x");
	for (unsigned i = 0; i < DEVICES_VDEVS; i++)
		if (devices_vdev_pmd(d, &devices_vdev[i]))
			fprintf(out, "  %-16s %-58s  %s\n", devices_vdev[i].name,
				devices_vdev[i].use, devices_vdev[i].example);
}

static void hugepages_print(FILE *out)
{
	uint64_t huge_2m = memory_hugepages_free(2ull << 20, -1);
	uint64_t huge_1g = memory_hugepages_free(1ull << 30, -1);

	fprintf(out, "\nHugepages free: %lu of 1 GiB, %lu of 2 MiB", huge_1g, huge_2m);
	if (huge_1g || huge_2m)
		fputc('\n', out);
	else
		fputs(". Only PCI devices need them, others are faster with them;\n"
		      "reserve some as root: sysctl vm.nr_hugepages=1024\n",
		      out);
}

int devices_print(FILE *out, bool json, struct err *err)
{
	struct devices devices = {0};

	devices_find_pmds(&devices);
	devices_find_interfaces(&devices);
	devices_find_pci(&devices);
	devices_probe_pci(&devices);
	if (json) {
		devices_print_json(out, &devices);
	} else {
		interfaces_print(out, &devices);
		pci_print(out, &devices);
		vdevs_print(out, &devices);
		hugepages_print(out);
	}
	devices_free_pmds(&devices);
	free(devices.interface);
	free(devices.pci);
	if (fflush(out) || ferror(out))
		return err_set(err, EXIT_ENVIRONMENT, "cannot write: %s", strerror(errno));
	return 0;
}
