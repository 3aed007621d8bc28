/* What a configuration that is good in itself needs of the machine.
 *
 * memory.limit is the user's word for the worst case: all connections that may be open are. The
 * machine is asked for less. Tables reserve address space for the worst case and cost what is
 * touched, so only what the load will touch for sure counts: the connections that `concurrency`
 * keeps open, at both ends if the file has both. With memory.hugepages true all of it is set aside
 * at the start, and counts. */
#include "plan_machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "../../stateful/stateful.h"
#include "../../stateless/stateless.h"
#include "plan_load.h"
#include "plan_rings.h"
#include "port_pool.h"

#define AF_PACKET_QUEUES_MAX 16 /* RTE_PMD_AF_PACKET_MAX_RINGS, which no header has */
#define MEMIF_QUEUES_MAX     255

struct faults {
	struct config_fault *fault;
	unsigned count, most;
};

__attribute__((format(printf, 6, 7))) static void fault_add(struct faults *f, const char *list,
							    unsigned index, const char *key,
							    const char *inner, const char *format,
							    ...)
{
	struct config_fault *fault;
	va_list args;

	if (f->count == f->most)
		return;
	fault = &f->fault[f->count++];
	*fault = (struct config_fault){.list = list, .index = index, .key = key, .inner = inner};
	va_start(args, format);
	vsnprintf(fault->why, sizeof(fault->why), format, args);
	va_end(args);
}

/* Connections that a client entry keeps open for sure. */
static uint64_t client_open(const struct config_traffic *client)
{
	u128 tuples = client->clients.count * client->client_ports.count * client->servers.count *
		      client->server_ports.count;
	uint64_t open = client->load.concurrency;

	if (client->max_connections)
		open = RTE_MIN(open, client->max_connections);
	return (uint64_t)RTE_MIN((u128)open, tuples);
}

/* Connections that the load keeps open on a port for sure. */
static uint64_t port_open(const struct config *config, unsigned port)
{
	uint64_t open = 0;

	for (unsigned i = 0; i < config->traffics; i++) {
		const struct config_traffic *client = &config->traffic[i], *server;

		if (traffic_is_stateless(client->kind) || !traffic_is_client(client->kind))
			continue;
		server = plan_load_server(config, client);
		if (client->port == port)
			open += client_open(client);
		if (server && server->port == port)
			open += client_open(client);
	}
	return open;
}

static void memory_add(struct plan_memory *memory, const struct config *config, unsigned port)
{
	unsigned workers = config->port[port].cores;
	struct stateful_plan worker;
	uint64_t tables, stateless, open, most;

	stateful_plan(config, port, workers, &worker);
	stateless = stateless_reserve(config, port) * workers;
	tables = worker.table_bytes * workers;
	most = worker.connections * workers;
	open = RTE_MIN(port_open(config, port), most);
	memory->tables += tables + stateless;
	if (!config->port[port].is_network)
		memory->mbufs += port_pool_bytes(&config->port[port]) * workers;
	memory->touched += stateless;
	memory->touched += config->hugepages == HUGEPAGES_ON
				   ? worker.bytes * workers
				   : (uint64_t)((u128)tables * open / most);
}

void plan_memory(struct plan_memory *memory, const struct config *config)
{
	*memory = (struct plan_memory){.rings = plan_rings(config)};
	for (unsigned i = 0; i < config->ports; i++)
		memory_add(memory, config, i);
	memory->total = memory->tables + memory->mbufs + memory->rings;
	memory->touched += memory->mbufs + memory->rings;
}

static void limit_check(struct faults *f, const struct config *config,
			const struct plan_memory *memory)
{
	if (!config->memory_limit || memory->total <= config->memory_limit)
		return;
	fault_add(f, NULL, 0, "memory", "limit",
		  "%" PRIu64 " bytes are allowed, but %" PRIu64 " are needed: %" PRIu64
		  " for connections, %" PRIu64 " for packet buffers and %" PRIu64
		  " for capture; raise it, or lower concurrency or max_connections, or use fewer "
		  "cores",
		  config->memory_limit, memory->total, memory->tables, memory->mbufs,
		  memory->rings);
}

/* Where to say it: at the entry that keeps most connections open, or else at the cores. */
static const struct config_traffic *largest_client(const struct config *config)
{
	const struct config_traffic *largest = NULL;

	for (unsigned i = 0; i < config->traffics; i++) {
		const struct config_traffic *t = &config->traffic[i];

		if (!traffic_is_stateless(t->kind) && traffic_is_client(t->kind) &&
		    client_open(t) > (largest ? client_open(largest) : 0))
			largest = t;
	}
	return largest;
}

static void machine_check(struct faults *f, const struct config *config,
			  const struct plan_memory *memory, uint64_t bytes)
{
	const struct config_traffic *largest = largest_client(config);
	uint64_t buffers = memory->mbufs + memory->rings;
	bool many = largest && memory->touched - buffers > buffers;

	if (!bytes || memory->touched <= bytes)
		return;
	fault_add(f, many ? "traffic" : "ports", many ? (unsigned)(largest - config->traffic) : 0,
		  many ? "load" : "cores", many ? "concurrency" : NULL,
		  "this needs %" PRIu64 " bytes of memory%s, %" PRIu64
		  " for connections and %" PRIu64
		  " for packet buffers and capture, but the machine has %" PRIu64
		  ": lower concurrency, or use fewer cores",
		  memory->touched, config->hugepages == HUGEPAGES_ON ? " in hugepages" : "",
		  memory->touched - buffers, buffers, bytes);
}

/* Queues that devices of this kind can have at most, whatever the one at hand has. */
static unsigned queues_max(const struct config_port *port)
{
	static const struct {
		const char *device;
		unsigned most;
	} kind[] = {{"loop:", RTE_PMD_RING_MAX_RX_RINGS},
		    {"if:", AF_PACKET_QUEUES_MAX},
		    {"net_memif", MEMIF_QUEUES_MAX}};

	for (unsigned i = 0; i < RTE_DIM(kind); i++)
		if (!strncmp(port->device, kind[i].device, strlen(kind[i].device)))
			return kind[i].most;
	return RTE_MAX_QUEUES_PER_PORT;
}

static void devices_check(struct faults *f, const struct config *config)
{
	bool seen[UINT16_MAX + 1] = {false};
	unsigned cores = 0;

	if (config->devices > RTE_MAX_ETHPORTS)
		fault_add(f, "ports", RTE_MAX_ETHPORTS, NULL, NULL,
			  "expected at most %d ports, as this DPDK is built for, got %u",
			  RTE_MAX_ETHPORTS, config->devices);
	for (unsigned i = 0; i < config->ports; i++) {
		const struct config_port *port = &config->port[i];

		if (port->is_network)
			continue;
		if (port->cores > queues_max(port))
			fault_add(f, "ports", i, "cores", NULL,
				  "expected at most %u, the queues that such a device can have, "
				  "got %u",
				  queues_max(port), port->cores);
		for (unsigned c = 0; c < port->cores; c++) {
			cores += !seen[port->core[c]];
			seen[port->core[c]] = true;
		}
		if (cores >= RTE_MAX_LCORE) {
			fault_add(f, "ports", i, "cores", NULL,
				  "expected at most %d different cores in all, as this DPDK is "
				  "built for",
				  RTE_MAX_LCORE - 1);
			return;
		}
	}
}

unsigned plan_faults(const struct config *config, uint64_t machine_bytes, bool simulate,
		     struct config_fault *fault, unsigned most)
{
	struct faults f = {.fault = fault, .most = most};
	struct plan_memory memory;

	plan_memory(&memory, config);
	if (!simulate)
		devices_check(&f, config);
	limit_check(&f, config, &memory);
	machine_check(&f, config, &memory, machine_bytes);
	return f.count;
}
