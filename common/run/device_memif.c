/* memif joins two processes on one host by shared memory: what DPDK's driver does not explain, and
 * the socket that a killed server leaves behind, which would keep the next one from starting. */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_common.h>
#include <rte_eal.h>
#include <rte_ether.h>

#include "dpdk_compat.h"
#include "port_use.h"
#include "race.h"

#define BUFFER_DEFAULT 2048 /* bsize of the driver */

/* The value of an argument of a vdev string; "" when it is not given. */
static void argument(const struct device *device, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);

	value[0] = '\0';
	for (const char *c = strchr(device->name, ','); c; c = strchr(c + 1, ','))
		if (!strncmp(c + 1, key, length) && c[length + 1] == '=') {
			c += length + 2;
			snprintf(value, size, "%.*s", (int)strcspn(c, ","), c);
		}
}

bool device_is_memif(const struct device *device)
{
	return device_is_vdev(device, "net_memif");
}

bool device_is_memif_client(const struct device *device)
{
	char role[16];

	argument(device, "role", role, sizeof(role));
	return device_is_memif(device) && (!strcmp(role, "client") || !strcmp(role, "slave"));
}

/* A larger frame would arrive in pieces. */
static int buffer_check(const struct device *device, const struct config_port *port,
			struct err *err)
{
	unsigned need = config_wire(port)->mtu + RTE_ETHER_HDR_LEN + 2u * RTE_VLAN_HLEN;
	unsigned size = BUFFER_DEFAULT;
	char text[16];

	argument(device, "bsize", text, sizeof(text));
	if (text[0])
		size = (unsigned)atoi(text);
	if (need <= size)
		return 0;
	return err_set(
		err, EXIT_ENVIRONMENT,
		"MTU %u is not supported: memif's buffers hold %u bytes; add bsize=%u to the "
		"device at both ends",
		config_wire(port)->mtu, size, rte_align32pow2(need));
}

static bool socket_answers(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool answers;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	answers = fd < 0 || !connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
		  errno != ECONNREFUSED;
	close(fd);
	return answers;
}

/* Of a server: nobody may be listening; the socket of a dead one is removed. */
static int socket_check(const struct device *device, struct err *err)
{
	char path[108], abstract[8];
	struct stat status;

	argument(device, "socket", path, sizeof(path));
	argument(device, "socket-abstract", abstract, sizeof(abstract));
	if (device_is_memif_client(device) || !path[0] || strcmp(abstract, "no") ||
	    stat(path, &status))
		return 0;
	if (!S_ISSOCK(status.st_mode))
		return err_set(err, EXIT_ENVIRONMENT, "%s is in the way and no socket", path);
	if (socket_answers(path))
		return 0; /* of another port with the same socket and another id, or the driver says
			   */
	if (unlink(path))
		return err_set(err, EXIT_ENVIRONMENT, "cannot remove the stale socket %s: %s", path,
			       strerror(errno));
	return 0;
}

int device_memif_check(const struct device *device, const struct config_port *port, struct err *err)
{
	char zero_copy[8];

	port_use_guard();
	argument(device, "zero-copy", zero_copy, sizeof(zero_copy));
	if (!strcmp(zero_copy, "yes") && device_is_memif_client(device) && !rte_eal_has_hugepages())
		return err_set(err, EXIT_ENVIRONMENT,
			       "zero-copy=yes needs hugepages: reserve some as root (`sysctl "
			       "vm.nr_hugepages=512`), or leave it out");
	return buffer_check(device, port, err) || socket_check(device, err) ? -1 : 0;
}

struct closing {
	uint16_t id;
	sem_t done;
};

static void close_alarm(void *arg)
{
	struct closing *closing = arg;

	race_get();
	rte_eth_dev_stop(closing->id);
	rte_eth_dev_close(closing->id);
	race_give();
	sem_post(&closing->done);
}

void device_memif_close(uint16_t id)
{
	struct closing closing = {.id = id};

	sem_init(&closing.done, 0, 0);
	race_give();
	if (rte_eal_alarm_set(1, close_alarm, &closing)) {
		close_alarm(&closing);
		return;
	}
	while (sem_wait(&closing.done))
		;
	race_get();
	sem_destroy(&closing.done);
}
