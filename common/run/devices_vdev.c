/* DPDK's virtual devices that are of use to a load tester. A kind more is a row more; what a build
 * of DPDK lacks is not shown. */
#define _GNU_SOURCE
#include "devices.h"

#include <string.h>

#include "dpdk_compat.h"

const struct devices_vdev devices_vdev[DEVICES_VDEVS] = {
	{"net_memif", "two processes on one host, by shared memory",
	 "net_memif0,role=server,socket=/tmp/onager.sock,socket-abstract=no"},
	{"net_null", "sends nowhere, receives blank frames", "net_null0,size=60"},
	{"net_ring", "sends to itself", "net_ring0"},
	{"net_tap", "an interface made in the kernel", "net_tap0,iface=onager0"},
	{"net_virtio_user", "the virtio front end of a vhost-user switch",
	 "net_virtio_user0,path=/tmp/vhost.sock,queues=1"},
	{"net_vhost", "the vhost-user back end of a virtual machine",
	 "net_vhost0,iface=/tmp/vhost.sock,queues=1"},
	{"net_bonding", "several devices as one",
	 "net_bonding0,mode=1," COMPAT_BONDING_MEMBER "=0000:07:00.0," COMPAT_BONDING_MEMBER
	 "=0000:07:00.1"},
	{"net_pcap", "capture files as a device", "net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap"},
	{"net_failsafe", "a device that may come and go", "net_failsafe0,dev(0000:07:00.0)"},
};

const struct devices_pmd *devices_vdev_pmd(const struct devices *d, const struct devices_vdev *vdev)
{
	for (const struct devices_pmd *pmd = d->pmd; pmd; pmd = pmd->next)
		if (!strcmp(pmd->name, vdev->name))
			return pmd;
	return NULL;
}
