/* What `onager devices` knows about this machine. Internal to devices*.c. */
#ifndef RUN_DEVICES_H
#define RUN_DEVICES_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define DEVICES_OFFLOADS 6

struct devices_interface {
	char name[IFNAMSIZ], driver[32], pci[32], mac[18];
	int node; /* NUMA, -1: none */
	bool up, carrier;
	long speed_mbps; /* -1: unknown */
	unsigned queues, mtu;
	const char *offload[DEVICES_OFFLOADS];
	unsigned offloads;
};

struct devices_pci {
	char address[32], driver[32], pmd[48], interface[IFNAMSIZ];
	unsigned vendor, device;
	int node;
	uint64_t rx_offloads, tx_offloads; /* of RTE_ETH_*_OFFLOAD_*, when probed */
	uint16_t queues;                   /* 0: not probed */
};

struct devices_pmd { /* a driver of this DPDK */
	char *name, *arguments;
	char *ids; /* "[vendor, device, ...], ..." */
	struct devices_pmd *next;
};

struct devices {
	struct devices_interface *interface;
	unsigned interfaces;
	struct devices_pci *pci;
	unsigned pcis;
	struct devices_pmd *pmd;
};

/* devices_interface.c */
void devices_find_interfaces(struct devices *);

/* devices_pci.c: network devices of the PCI bus; needs drivers and interfaces. Those that DPDK may
 * have are probed for queues and offloads, for which an EAL is started and stopped. */
void devices_find_pci(struct devices *);
void devices_probe_pci(struct devices *);

/* What to write as `device` for it, or how to get there. */
const char *devices_pci_use(const struct devices_pci *, char *text, size_t size);

/* devices_pmd.c: the drivers of this DPDK, from the information each carries in its file. */
void devices_find_pmds(struct devices *);
void devices_free_pmds(struct devices *);
const struct devices_pmd *devices_pmd_of(const struct devices *, unsigned vendor, unsigned device);

/* devices_vdev.c: the kinds of vdev that are of use here. */
struct devices_vdev {
	const char *name, *use, *example;
};
#define DEVICES_VDEVS 9
extern const struct devices_vdev devices_vdev[DEVICES_VDEVS];
const struct devices_pmd *devices_vdev_pmd(const struct devices *, const struct devices_vdev *);

/* devices_json.c */
void devices_print_json(FILE *out, const struct devices *);

#endif
