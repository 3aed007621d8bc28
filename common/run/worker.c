/* The worker's loop: receive, parse, sort, feed the engine, let it launch, send.
 *
 * Everything happens per burst; what is received is dealt with in worker_input.c.
 *
 * One compare per step, against the next millisecond or the next order if that is sooner, keeps all
 * that is rare out of the way: orders of the control thread, ARP, publishing. The counter that ends
 * a step is the one that begins the next, so a step reads the TSC once and no cycle is unaccounted.
 *
 * A worker that has been idle for a while yields the core in each step: alone there, that costs it
 * half a microsecond; where a kernel peer or another worker shares the core, it is what lets them
 * work.
 *
 * Rejected: skipping the engine's poll until the time it returned (a launcher that waits for room
 * in the transmit queue would have to say so; the call costs less than the bookkeeping), and
 * sleeping when idle (it would be the latency that the user reads). */
#include <sched.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "../../pcap/tap.h"
#include "worker_input.h"
#include "worker_tunnel.h"
#include "race.h"

#define TICK_NS  1000000u
#define STALL_NS 10000000u
#define IDLE_NS  50000u /* idle for so long, a worker lets others have the core */

static void mark_make(const struct worker *w, struct worker_mark *mark)
{
	mark->counters = w->counters;
	for (unsigned i = 0; i < w->config->traffics; i++)
		if (w->stats[i])
			mark->traffic[i] = w->stats[i]->level;
	mark->cycles = w->status.cycles;
	mark->busy_cycles = w->status.busy_cycles;
}

static void stage_enter(struct worker *w, enum worker_stage stage)
{
	__atomic_store_n(&w->status.stage, stage, __ATOMIC_RELEASE);
}

/* Drain the engine, or tell it that the deadline has come nearer. */
static void drain_order(struct worker *w, uint64_t now)
{
	uint64_t deadline = order_at(w->orders, ORDER_DEADLINE);

	if (w->draining && deadline >= w->deadline)
		return;
	w->draining = true;
	w->deadline = deadline;
	if (!w->started)
		return;
	w->engine->ops->drain(w->engine, now, deadline);
	if (w->stateless)
		w->stateless->ops->drain(w->stateless, now, deadline);
}

static bool engines_idle(const struct worker *w)
{
	return w->engine->ops->idle(w->engine) &&
	       (!w->stateless || w->stateless->ops->idle(w->stateless));
}

/* Carry out the orders whose time has come. The marks are made before anything else happens in that
 * step. */
static void orders_follow(struct worker *w, uint64_t now)
{
	const struct orders *orders = w->orders;
	bool ended = now >= order_at(orders, ORDER_END);

	if (!w->started && !w->has_client)
		worker_start(w, now); /* a server serves whoever is there already */
	if (w->status.stage == STAGE_WAITING && !ended && now >= order_at(orders, ORDER_START)) {
		if (!w->started)
			worker_start(w, order_at(orders, ORDER_START));
		stage_enter(w, STAGE_LOADED);
	}
	if (w->status.stage == STAGE_LOADED && now >= order_at(orders, ORDER_STEADY)) {
		mark_make(w, &w->begin);
		w->begun = true;
		stage_enter(w, STAGE_STEADY);
	}
	if (w->status.stage != STAGE_ENDED && ended) {
		mark_make(w, &w->end);
		stage_enter(w, STAGE_ENDED);
	}
	if ((ended && w->has_client) || now >= order_at(orders, ORDER_SERVER_DRAIN))
		drain_order(w, now);
}

static void status_publish(struct worker *w)
{
	struct worker_status *status = &w->status;
	uint64_t bytes, connections;
	bool idle = !w->started || (engines_idle(w) && !w->txq.tx.count);

	w->engine->ops->usage(w->engine, &bytes, &connections);
	if (connections >= status->connections) {
		__atomic_store_n(&status->connections, connections, __ATOMIC_RELAXED);
		__atomic_store_n(&status->memory_bytes, bytes, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&status->resolved,
			 !w->neighbor.pending && !(w->tunnel && w->tunnel->neighbor.pending),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&status->idle, w->draining && idle, __ATOMIC_RELEASE);
}

/* Let the threads that write captures know how far this worker is. */
static void capture_publish(struct worker *w, uint64_t now)
{
	for (unsigned i = 0; i < w->txq.taps; i++)
		channel_complete(w->txq.tap[i]->channel, w->txq.tap[i]->origin_ns + now);
	if (w->sampler)
		channel_complete(w->sampler->channel, w->sampler->origin_ns + now);
}

static void worker_tick(struct worker *w, uint64_t now)
{
	orders_follow(w, now);
	if (unlikely(w->port->is_lacp))
		rte_eth_tx_burst(w->port_id, w->queue, NULL, 0);
	if (w->tunnel)
		worker_tunnel_tick(w, now);
	if (!w->tunnel || !w->tunnel->neighbor.pending) /* before, nothing gets through */
		neighbor_poll(&w->neighbor, &w->txq.tx, now);
	status_publish(w);
	capture_publish(w, now);
	w->tick_at = now + TICK_NS;
	for (unsigned i = 0; i < ORDERS; i++) {
		uint64_t at = order_at(w->orders, i);

		if (at > now && at < w->tick_at)
			w->tick_at = at;
	}
}

/* Is there room for the answers to a burst? A port with servers alone does not receive before: what
 * it would have to drop waits in the port, and so do those who ask. Where there are clients it goes
 * on, for they send nothing new into a full queue, and two ends that wait for each other would wait
 * for ever. */
static inline bool can_receive(const struct worker *w)
{
	return likely(tx_room(&w->txq.tx) >= RX_BURST_MAX) || w->has_client;
}

/* One step; true if it did something. */
static inline bool worker_step(struct worker *w, uint64_t now)
{
	unsigned moved;

	if (unlikely(now >= w->tick_at))
		worker_tick(w, now);
	moved = likely(!w->is_lane && can_receive(w)) ? worker_receive(w, now) : 0;
	if (w->handoff && can_receive(w))
		moved += worker_receive_handed(w, now);
	if (moved && !w->is_lane)
		worker_look_ahead(w);
	if (likely(w->started)) {
		w->engine->ops->poll(w->engine, &w->txq.tx, worker_engine_now(w, now));
		if (w->stateless)
			w->stateless->ops->poll(w->stateless, &w->txq.tx,
						worker_engine_now(w, now));
	}
	worker_prefetch_ahead(w);
	return moved + txq_flush(&w->txq, now);
}

/* One step of each worker of the core; true if one did something. *tsc becomes the time of the end.
 */
static inline bool group_step(const struct worker_group *group, uint64_t stall, uint64_t *tsc)
{
	bool any = false;

	for (unsigned i = 0; i < group->workers; i++) {
		struct worker_status *status = &group->worker[i]->status;
		bool busy = worker_step(group->worker[i], clock_ns(group->clock, *tsc));
		uint64_t end = rte_rdtsc(), cycles = end - *tsc;

		status->cycles += cycles;
		if (busy)
			status->busy_cycles += cycles;
		if (unlikely(cycles > stall)) {
			status->stalls++;
			status->stall_cycles = RTE_MAX(status->stall_cycles, cycles);
		}
		any |= busy;
		*tsc = end;
	}
	return any;
}

int worker_loop(void *arg)
{
	const struct worker_group *group = arg;
	uint64_t stall, idle, tsc, worked, now;

	race_get();
	stall = clock_cycles(group->clock, STALL_NS);
	idle = clock_cycles(group->clock, IDLE_NS);
	worked = tsc = rte_rdtsc();
	port_enter();
	do {
		now = clock_ns(group->clock, tsc);
		if (group_step(group, stall, &tsc))
			worked = tsc;
		else if (tsc - worked > idle)
			sched_yield();
		port_pass();
	} while (now < order_at(group->orders, ORDER_STOP));
	port_leave();
	race_give();
	return 0;
}
