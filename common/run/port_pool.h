/* The mempools of a port: one per queue. Internal to eal and port. */
#ifndef RUN_PORT_POOL_H
#define RUN_PORT_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "../base/err.h"
#include "../config/config.h"

/* Bytes of one queue's pools. */
uint64_t port_pool_bytes(const struct config_port *);

/* The data room of its mbufs, headroom not counted. */
uint16_t port_pool_room(const struct config_port *);

/* The pool of a queue; *bytes is what it takes. NULL: err says why. */
struct rte_mempool *port_pool_create(const struct config_port *, unsigned index, unsigned queue,
				     int socket, uint64_t *bytes, struct err *);

/* Does this port send payload by reference? Its device passes chains on, or copies them, in
 * software: a NIC cannot read what no pool holds. */
bool port_takes_pieces(const struct config_port *);

/* The pool of pieces of a queue of such a port: packets without memory of their own. */
struct rte_mempool *port_pieces_create(const struct config_port *, unsigned index, unsigned queue,
				       int socket, uint64_t *bytes, struct err *);

#endif
