/* Link state: what the device says, except that the AF_PACKET and AF_XDP PMDs call every link up;
 * there the kernel is asked, by ioctl, because sysfs may be of another network namespace. */
#include "link.h"

#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "device.h"

static bool interface_is_up(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};
	bool up;

	if (fd < 0)
		return true; /* not known to be down */
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	up = !ioctl(fd, SIOCGIFFLAGS, &request) && request.ifr_flags & IFF_UP &&
	     request.ifr_flags & IFF_RUNNING;
	close(fd);
	return up;
}

uint32_t link_members_up(const struct port *port)
{
	uint16_t member[BOND_MEMBERS_MAX];
	unsigned members = bond_members(port->id, member);
	uint32_t up = 0;

	for (unsigned i = 0; i < members; i++) {
		struct device device = device_part(port->config, i);
		struct rte_eth_link link = {0};
		bool is_up =
			device.kind == DEVICE_INTERFACE || device.kind == DEVICE_XDP
				? interface_is_up(device.name)
				: !rte_eth_link_get_nowait(member[i], &link) && link.link_status;

		up |= (uint32_t)is_up << i;
	}
	return up;
}

bool link_is_up(const struct port *port)
{
	struct device device = device_parse(port->config->device);
	struct rte_eth_link link = {0};

	if (device.kind == DEVICE_INTERFACE || device.kind == DEVICE_XDP)
		return interface_is_up(device.name);
	return !rte_eth_link_get_nowait(port->id, &link) && link.link_status;
}
