/* The mempools of a port: one per queue. Internal to eal and port. */
#ifndef RUN_PORT_POOL_H
#define RUN_PORT_POOL_H

#include <stdint.h>

#include <rte_mempool.h>

#include "../base/err.h"
#include "../config/config.h"

/* Bytes of one queue's pool. */
uint64_t port_pool_bytes(const struct config_port *);

/* The data room of its mbufs, headroom not counted. */
uint16_t port_pool_room(const struct config_port *);

/* The pool of a queue; *bytes is what it takes. NULL: err says why. */
struct rte_mempool *port_pool_create(const struct config_port *, unsigned index, unsigned queue,
				     int socket, uint64_t *bytes, struct err *);

#endif
