/* Device strings, and how each kind becomes an ethdev. Internal to eal, device and port. */
#ifndef RUN_DEVICE_H
#define RUN_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/err.h"
#include "../config/config.h"

enum device_kind {
	DEVICE_PCI,       /* "0000:07:00.0[,args]" */
	DEVICE_VDEV,      /* "net_*[,args]" */
	DEVICE_INTERFACE, /* "if:NAME" */
	DEVICE_XDP,       /* "xdp:NAME" */
	DEVICE_LOOP,      /* "loop:NAME" */
	DEVICE_BOND,      /* "bond:NAME" */
	DEVICE_UNKNOWN,
};

#define LOOP_RING_SIZE 4096

struct device {
	enum device_kind kind;
	const char *name; /* PCI address or vdev with arguments; else what follows the colon */
};

struct device device_parse(const char *string);

/* Is this the DPDK vdev of that driver ("net_memif" matches "net_memif0,role=client")? */
bool device_is_vdev(const struct device *, const char *driver);

/* What a port stands on: its device, or the members of its bond. */
unsigned device_parts(const struct config_port *);
struct device device_part(const struct config_port *, unsigned i);

/* Is one of them a kernel interface, by AF_PACKET or AF_XDP? */
bool device_has_interface(const struct config_port *);

/* Make a device of this string, but not a loop or a bond; `number` is its own among such. */
int device_make(const char *string, const struct config_port *, unsigned number, uint16_t *id,
		struct err *);

/* Make config->port[index]'s device an ethdev. *created: device_close() is to be called. The error
 * says what is wrong with the device and what to do; it does not name the port. */
int device_open(const struct config *, unsigned index, uint16_t *id, struct err *);
void device_close(uint16_t id);

/* device_interface.c. Can this kernel interface be used with so many queues of this MTU? Its
 * permission and state are checked before DPDK tries, because DPDK's PMDs fail with one message for
 * everything. */
int device_interface_check(const char *name, const struct config_port *, bool xdp, struct err *);

/* Receive and transmit queues of a kernel interface (its "combined channels"), at least 1. */
unsigned device_interface_queues(const char *name);

/* How much memory this process may lock for AF_PACKET rings. */
uint64_t device_interface_lockable(void);

/* device_pci.c. The address alone, in full form; -1 if it is not one. */
int device_pci_address(const struct device *, char address[32]);
/* Is there such a device, and may DPDK have it? Needs no EAL. */
int device_pci_check(const struct device *, struct err *);
int device_pci_open(const struct device *, uint16_t *id, struct err *);
/* Where a symbolic link of its sysfs folder ("driver", "iommu_group") points, the last part; "" if
 * nowhere. */
void device_pci_link(const char *address, const char *link, char *name, size_t size);
/* Kernel drivers that DPDK works beside, and drivers that hand the device to it. */
bool device_pci_is_kernel_shared(const char *driver);
bool device_pci_is_dpdk(const char *driver);

/* device_memif.c. */
bool device_is_memif(const struct device *);
bool device_is_memif_client(const struct device *);
int device_memif_check(const struct device *, const struct config_port *, struct err *);
/* Stop and close it in DPDK's interrupt thread, where it also closes itself when its far end
 * leaves: from any other thread the two would collide. */
void device_memif_close(uint16_t id);

/* device_xdp.c. Keep AF_XDP's libraries off stderr; what they say may become an error's cause. */
void device_xdp_quiet(void);

/* device_bond.c. The ethdev of the bond of port `index`, with its members; and those, by number. */
#define BOND_MEMBERS_MAX CONFIG_BOND_MEMBERS_MAX
int bond_open(const struct config_port *, unsigned index, uint16_t *id, struct err *);
unsigned bond_members(uint16_t id, uint16_t member[BOND_MEMBERS_MAX]);
void bond_close(unsigned index);
/* Let LACP talk until some member may send; false: the far end does not agree. */
bool bond_agree(uint16_t id);
/* Send by the first member whose bit is set, if only one sends at all. */
void bond_prefer(const struct config_port *, uint16_t id, uint32_t up);

/* loop.c. The ethdev of one end; the first call for a cable makes both. */
int loop_open(const struct config *, unsigned index, uint16_t *id, struct err *);
void loop_close(unsigned index);

#endif
