/* How a port's packets find their worker. Internal to port. */
#ifndef RUN_PORT_STEER_H
#define RUN_PORT_STEER_H

#include "dpdk_compat.h"
#include "port.h"

/* Ask for RSS in conf where the device has it; to be called before the device is configured. */
void port_steer_request(const struct port *, const struct rte_eth_dev_info *,
			struct rte_eth_conf *conf);

/* Fill port->steer from the started device, and make the hand-off rings. */
int port_steer_init(struct port *, const struct rte_eth_dev_info *, unsigned index, struct err *);
/* A network behind a port: the same, with hand-off rings of its own. */
int port_steer_share(struct port *network, unsigned index, struct err *);

void port_steer_free(struct port *);

#endif
