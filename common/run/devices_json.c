/* `onager devices --json`. */
#define _GNU_SOURCE
#include "devices.h"

#include <rte_version.h>

#include "dpdk_compat.h"
#include "memory.h"
#include "report_json.h"

static void interface_walk(struct sink *sink, const struct devices_interface *i)
{
	char text[64];

	sink_begin(sink, NULL, SINK_OBJECT);
	sink_text(sink, "name", i->name);
	sink_text(sink, "driver", i->driver);
	sink_text(sink, "pci", i->pci);
	sink_real(sink, "numa_node", i->node);
	sink_text(sink, "link", !i->up ? "down" : i->carrier ? "up" : "no carrier");
	sink_real(sink, "speed_mbps", (double)i->speed_mbps);
	sink_count(sink, "queues", i->queues);
	sink_count(sink, "mtu", i->mtu);
	sink_text(sink, "mac", i->mac);
	sink_begin_flat(sink, "offloads", SINK_ARRAY);
	for (unsigned k = 0; k < i->offloads; k++)
		sink_text(sink, NULL, i->offload[k]);
	sink_end(sink);
	sink_begin_flat(sink, "use", SINK_ARRAY);
	snprintf(text, sizeof(text), "if:%s", i->name);
	sink_text(sink, NULL, text);
	snprintf(text, sizeof(text), "xdp:%s", i->name);
	sink_text(sink, NULL, text);
	sink_end(sink);
	sink_end(sink);
}

static void offloads_walk(struct sink *sink, const char *name, uint64_t offloads,
			  const char *(*name_of)(uint64_t))
{
	sink_begin_flat(sink, name, SINK_ARRAY);
	for (unsigned bit = 0; bit < 64; bit++)
		if (offloads >> bit & 1)
			sink_text(sink, NULL, name_of(1ull << bit));
	sink_end(sink);
}

static void pci_walk(struct sink *sink, const struct devices_pci *pci)
{
	char text[128];

	sink_begin(sink, NULL, SINK_OBJECT);
	sink_text(sink, "address", pci->address);
	snprintf(text, sizeof(text), "%04x:%04x", pci->vendor, pci->device);
	sink_text(sink, "id", text);
	sink_text(sink, "driver", pci->driver);
	sink_text(sink, "dpdk_driver", pci->pmd);
	sink_text(sink, "interface", pci->interface);
	sink_real(sink, "numa_node", pci->node);
	if (pci->queues) {
		sink_count(sink, "queues", pci->queues);
		offloads_walk(sink, "rx_offloads", pci->rx_offloads, rte_eth_dev_rx_offload_name);
		offloads_walk(sink, "tx_offloads", pci->tx_offloads, rte_eth_dev_tx_offload_name);
	}
	sink_text(sink, "use", devices_pci_use(pci, text, sizeof(text)));
	sink_end(sink);
}

static void vdevs_walk(struct sink *sink, const struct devices *d)
{
	sink_begin(sink, "vdevs", SINK_ARRAY);
	for (unsigned i = 0; i < DEVICES_VDEVS; i++) {
		const struct devices_pmd *pmd = devices_vdev_pmd(d, &devices_vdev[i]);

		if (!pmd)
			continue;
		sink_begin(sink, NULL, SINK_OBJECT);
		sink_text(sink, "name", pmd->name);
		sink_text(sink, "use", devices_vdev[i].use);
		sink_text(sink, "example", devices_vdev[i].example);
		sink_text(sink, "arguments", pmd->arguments);
		sink_end(sink);
	}
	sink_end(sink);
}

static void hugepages_walk(struct sink *sink)
{
	static const uint64_t sizes[] = {1ull << 30, 2ull << 20};

	sink_begin(sink, "hugepages", SINK_ARRAY);
	for (unsigned i = 0; i < RTE_DIM(sizes); i++) {
		sink_begin_flat(sink, NULL, SINK_OBJECT);
		sink_count(sink, "size", sizes[i]);
		sink_count(sink, "free", memory_hugepages_free(sizes[i], -1));
		sink_end(sink);
	}
	sink_end(sink);
}

void devices_print_json(FILE *out, const struct devices *d)
{
	struct json_sink json;
	struct sink *sink = &json.sink;

	json_sink_init(&json, out, false);
	sink_begin(sink, NULL, SINK_OBJECT);
	sink_text(sink, "dpdk", rte_version());
	sink_begin(sink, "interfaces", SINK_ARRAY);
	for (unsigned i = 0; i < d->interfaces; i++)
		interface_walk(sink, &d->interface[i]);
	sink_end(sink);
	sink_begin(sink, "pci", SINK_ARRAY);
	for (unsigned i = 0; i < d->pcis; i++)
		pci_walk(sink, &d->pci[i]);
	sink_end(sink);
	vdevs_walk(sink, d);
	hugepages_walk(sink);
	sink_end(sink);
	fputc('\n', out);
}
