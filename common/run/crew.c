/* The crew: one arena and one worker per queue pair, one thread per core.
 *
 * Each worker's memory is sized by the engine's plan and lies on the NUMA node of its core. Threads
 * are DPDK's lcores; all workers that name the same core share one. */
#include "crew.h"

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "../base/require.h"
#include "race.h"
#include "worker_lane.h"

/* What the port's link carries, for loads in percent of it. */
static uint64_t link_bps(const struct port *port)
{
	struct rte_eth_link link = {.link_speed = 0};

	if (rte_eth_link_get_nowait(port->id, &link) ||
	    link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return link.link_speed * UINT64_C(1000000);
}

/* The engine of the port's stateless traffic, if there is any. */
static int stateless_make(struct crew *crew, struct worker *w, unsigned number,
			  const struct crew_engine *engine, struct arena *arena, struct err *err)
{
	struct stateless_setup setup = {
		.config = w->config,
		.port = w->port_index,
		.worker = number,
		.workers = w->port->config->cores,
		.link_bps = link_bps(w->port),
		.nexthop = &w->nexthop,
		.counters = &w->counters,
		.stats = w->stats,
		.streams = w->streams,
		.tapes = player_set_tapes(crew->players, w->port_index, number, w->tapes),
	};

	if (!engine->stateless_reserve(w->config, w->port_index))
		return 0;
	memcpy(setup.mac, w->port->mac, sizeof setup.mac);
	w->stateless = engine->stateless_create(&setup, arena, err);
	return w->stateless ? 0 : -1;
}

/* A worker that was made already. */
static struct worker *worker_of(const struct crew *crew, unsigned port, unsigned number)
{
	struct worker *const *w = crew->worker;

	while ((*w)->port_index != port || (*w)->queue != number)
		w++;
	return *w;
}

static int worker_make(struct crew *crew, unsigned port, unsigned number,
		       const struct crew_engine *engine, struct err *err)
{
	const struct config *config = crew->config;
	const struct config_port *config_port = &config->port[port];
	struct memory_arena *arena = &crew->arena[crew->workers];
	unsigned lcore = eal_lcore(config, config_port->core[number]);
	struct stateful_plan plan;
	struct stateful_setup setup;
	struct worker *w;

	engine->plan(config, port, config_port->cores, &plan);
	if (memory_arena_open(arena,
			      worker_bytes(config, port) + plan.bytes +
				      engine->stateless_reserve(config, port),
			      (int)rte_lcore_to_socket_id(lcore), config->hugepages, err))
		return err_prefix(err, "port %s: core %u: ", config_port->name,
				  config_port->core[number]);
	w = worker_open(config, &crew->ports[port], port, number, &crew->orders, &arena->arena,
			clock_now(crew->clock));
	require(w); /* the arena is as large as worker_bytes() says */
	crew->worker[crew->workers++] = w;
	setup = (struct stateful_setup){
		.config = config,
		.port = port,
		.worker = number,
		.workers = config_port->cores,
		.tx_checksum_offload = w->port->tx_checksum,
		.partial_checksums = w->port->rule.partial,
		.steer = &w->port->steer,
		.nexthop = &w->nexthop,
		.counters = &w->counters,
		.scripts = crew->players->conversations.scripts,
		.stats = w->stats,
	};
	memcpy(setup.mac, w->port->mac, sizeof setup.mac);
	w->engine = engine->create(&setup, &arena->arena, err);
	if (config_port->is_network)
		lane_add(worker_of(crew, config_port->host, number), w);
	if (w->engine && !stateless_make(crew, w, number, engine, &arena->arena, err))
		return 0;
	return err_prefix(err, "port %s: core %u: ", config_port->name, config_port->core[number]);
}

/* The group of an lcore: an existing one, or the next. */
static struct worker_group *group_of(struct crew *crew, unsigned lcore)
{
	struct worker_group *group = crew->group;

	while (group->workers && group->lcore != lcore)
		group++;
	if (!group->workers) {
		group->clock = crew->clock;
		group->orders = &crew->orders;
		group->lcore = lcore;
		crew->groups++;
	}
	return group;
}

static int groups_make(struct crew *crew, struct err *err)
{
	for (unsigned i = 0; i < crew->workers; i++) {
		struct worker *w = crew->worker[i];
		struct worker_group *group = group_of(crew, eal_lcore(crew->config, w->core));

		if (!group->worker)
			group->worker = calloc(crew->workers, sizeof(struct worker *));
		if (!group->worker)
			return err_set(err, EXIT_ENVIRONMENT, "out of memory");
		group->worker[group->workers++] = w;
	}
	return 0;
}

#ifdef __SANITIZE_THREAD__
char race_object;
#endif

int crew_open(struct crew *crew, const struct config *config, const struct port *ports,
	      const struct clock *clock, struct player_set *players,
	      const struct crew_engine *engine, struct err *err)
{
	unsigned most = 0;

	*crew = (struct crew){.config = config, .ports = ports, .clock = clock, .players = players};
	memset(crew->orders.at, 0xff, sizeof crew->orders.at);
	for (unsigned i = 0; i < config->ports; i++)
		most += config->port[i].cores;
	crew->worker = calloc(most, sizeof(*crew->worker));
	crew->arena = calloc(most, sizeof(*crew->arena));
	crew->group = calloc(most + 1, sizeof(*crew->group));
	if (!crew->worker || !crew->arena || !crew->group) {
		crew_close(crew);
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	}
	for (unsigned i = 0; i < config->ports; i++) {
		for (unsigned n = 0; n < config->port[i].cores; n++) {
			if (worker_make(crew, i, n, engine, err)) {
				crew_close(crew);
				return -1;
			}
		}
	}
	if (groups_make(crew, err)) {
		crew_close(crew);
		return -1;
	}
	return 0;
}

int crew_launch(struct crew *crew, struct err *err)
{
	race_give();
	for (unsigned i = 0; i < crew->groups; i++) {
		crew->launched = true;
		if (rte_eal_remote_launch(worker_loop, &crew->group[i], crew->group[i].lcore))
			return err_set(err, EXIT_ENVIRONMENT, "cannot start a worker on core %u",
				       crew->group[i].worker[0]->core);
	}
	return 0;
}

void crew_join(struct crew *crew)
{
	if (!crew->launched)
		return;
	order_give(&crew->orders, ORDER_STOP, 0);
	for (unsigned i = 0; i < crew->groups; i++)
		rte_eal_wait_lcore(crew->group[i].lcore);
	race_get();
	crew->launched = false;
}

void crew_settle(struct crew *crew)
{
	for (unsigned i = 0; i < crew->workers; i++) {
		struct engine *engine = crew->worker[i]->engine;

		engine->ops->settle(engine);
		worker_close(crew->worker[i]);
	}
}

void crew_close(struct crew *crew)
{
	for (unsigned i = 0; i < crew->groups; i++)
		free(crew->group[i].worker);
	for (unsigned i = 0; i < crew->workers; i++)
		memory_arena_close(&crew->arena[i]);
	free(crew->worker);
	free(crew->arena);
	free(crew->group);
	*crew = (struct crew){.config = NULL};
}
