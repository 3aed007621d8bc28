/* A port: a device of any kind, configured, started and steered, with one queue pair per worker.
 *
 * Device strings are those of INTERFACE: PCI address, "net_*" vdev with arguments, "if:NAME",
 * "xdp:NAME", "loop:NAME" (two ports of one file are the two ends of an in-process cable). */
#ifndef RUN_PORT_H
#define RUN_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "../base/err.h"
#include "../base/steer.h"
#include "../base/view.h"
#include "../config/config.h"

struct port_stats {
	uint64_t rx_packets, tx_packets, imissed, ierrors, oerrors, rx_nombuf, link_changes;
};

struct port {
	const struct config_port *config;
	uint16_t id;  /* of ethdev */
	bool opened;  /* private */
	bool is_lacp; /* a bond that must be called at least ten times a second */
	/* With "tlb" and "alb" each member is spoken to by its own address. */
	uint8_t (*alias)[6];
	unsigned aliases;
	unsigned link_changes; /* that the control thread has seen */
	bool listens;          /* to packets for any address: a replay's */
	uint16_t queues;
	int socket; /* NUMA node, -1: any */
	const char *driver;
	uint8_t mac[6];      /* that of engines; with a tunnel, inside of it */
	uint8_t wire_mac[6]; /* the device's */
	bool rx_checksum;    /* the device verifies checksums: view_parse() finds its verdict in
				ol_flags */
	bool tx_checksum; /* the device can compute checksums, and the configuration asks for it */
	struct view_rule rule;
	struct steer steer;
	struct rte_mempool **pool;   /* one per queue */
	struct rte_mempool **pieces; /* the same, of pieces; NULL: payload is copied */
	struct rte_ring *
		*handoff;     /* one per worker when steer.mode != STEER_SINGLE: many in, one out */
	uint64_t mbufs_bytes; /* of all its pools */
	struct port_stats base; /* the device's counters at ports_open(); private */
};

/* Start the EAL for this configuration: no hugepages, PCI scan, or root unless a device needs them;
 * unique in every way, so that instances run side by side and a kill leaves nothing. One lcore per
 * distinct core of the configuration, in ascending order from lcore 1; lcore 0 is the control
 * thread, not pinned. With PCI devices absent it does not scan PCI. */
int eal_start(const struct config *, const char *program, struct err *);
void eal_stop(void);

/* The lcore of a core number. */
unsigned eal_lcore(const struct config *, uint16_t core);

/* Open, configure and start every port; on failure everything opened is closed again and the error
 * names port, device and cause (unknown device, no permission, no driver, link down within 3 s,
 * queues, MTU, memory), each with what to do about it. exit is EXIT_ENVIRONMENT. *ports is one per
 * config->port[i]. */
int ports_open(const struct config *, struct port **ports, struct err *);
void ports_close(struct port *, unsigned count);

/* The device's own counters since ports_open(). */
void port_stats(const struct port *, struct port_stats *);

/* What an lcore says of its use of ports. Some devices take memory away when their far end vanishes
 * (memif), and may do so only while no burst is under way: they wait until every lcore between
 * port_enter() and port_leave() has come to a port_pass(), which is called between bursts, once per
 * step or so. */
struct port_use {
	_Alignas(64) uint64_t passes; /* 0: uses no port */
};
extern struct port_use port_use[RTE_MAX_LCORE];

static inline void port_enter(void)
{
	/* Before any burst, or the waiting side could miss it. */
	__atomic_store_n(&port_use[rte_lcore_id()].passes, 1, __ATOMIC_SEQ_CST);
}

static inline void port_pass(void)
{
	struct port_use *use = &port_use[rte_lcore_id()];

	__atomic_store_n(&use->passes, use->passes + 1, __ATOMIC_RELEASE);
}

static inline void port_leave(void)
{
	__atomic_store_n(&port_use[rte_lcore_id()].passes, 0, __ATOMIC_RELEASE);
}

/* Print what DPDK and the kernel offer (onager devices). */
int devices_print(FILE *out, bool json, struct err *);

#endif
