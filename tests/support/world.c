/* See world.h. */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void record(void *arg, unsigned from, const struct rte_mbuf *m, uint64_t now, unsigned fate)
{
	struct world *w = arg;
	struct world_packet *p;
	struct view view;
	size_t length;

	(void)fate;
	if (w->packets == w->packets_max)
		return;
	assert_int_equal(view_parse(m, &w->lab[!from].sim.rule, &view), DROP_NONE);
	p = &w->packet[w->packets++];
	p->at = now - w->zero;
	p->from = from;
	segment_read(&p->segment, m, &view);
	length = p->segment.payload_len < sizeof(p->text) ? p->segment.payload_len
							  : sizeof(p->text) - 1;
	memcpy(p->text, p->segment.payload, length);
	p->text[length] = 0;
	p->segment.payload = NULL;
}

void world_record(struct world *w, unsigned count)
{
	w->packet = calloc(count, sizeof(*w->packet));
	assert_non_null(w->packet);
	w->packets_max = count;
	w->sim.tap = record;
	w->sim.tap_arg = w;
}

void world_open(struct world *w, const struct world_rule *rule, const char *const *set)
{
	static const struct world_rule plain = {
		.to_server = {.delay = US(10)}, .to_client = {.delay = US(10)}, .seed = 1};

	memset(w, 0, sizeof(*w));
	w->rule = rule ? *rule : plain;
	w->set = set;
	w->box.room = 9728;
	w->sim.box = &w->box;
	lab_config(&w->config, set);
	for (unsigned i = 0; i < 2; i++) {
		lab_open(&w->lab[i], &w->config, i, &w->box, 2048);
		w->sim.end[i] = &w->lab[i].sim;
		assert_int_equal(
			wire_open(&w->lab[i].sim.wire,
				  i == LAB_CLIENT_PORT ? &w->rule.to_server : &w->rule.to_client,
				  &w->box, w->rule.seed * 2 + i),
			0);
	}
}

void world_start(struct world *w)
{
	w->zero = LAB_EPOCH;
	sim_start(&w->sim, LAB_EPOCH);
}

void world_pass(struct world *w, uint64_t ns)
{
	sim_run(&w->sim, w->sim.now + ns);
}

/* Drain one end; it has the drain time of the configuration, and a grace for its last RSTs. */
static void drain_end(struct world *w, unsigned end)
{
	struct sim_end *sim = &w->lab[end].sim;
	uint64_t deadline = w->sim.now + w->config.drain, last = deadline + MS(100);

	sim_drain(sim, w->sim.now, deadline);
	while (!sim_idle(sim) && w->sim.now < last) {
		uint64_t next = sim_next(&w->sim);

		sim_run(&w->sim, next < last ? next : last);
	}
}

void world_drain(struct world *w)
{
	drain_end(w, LAB_CLIENT_PORT);
	drain_end(w, LAB_SERVER_PORT);
	sim_run(&w->sim, w->sim.now + SEC(1)); /* what is still in flight arrives */
}

void world_run(struct world *w)
{
	world_start(w);
	world_pass(w, w->config.ramp + w->config.duration);
	world_drain(w);
}

static void describe_wire(const char *name, const struct wire_rule *r)
{
	print_error("  %s: rate %lu delay %lu jitter %lu queue %u loss %g (burst %u) reorder %g "
		    "duplicate %g corrupt %g\n",
		    name, (unsigned long)r->rate_bps, (unsigned long)r->delay,
		    (unsigned long)r->jitter, r->queue, r->loss, r->loss_burst, r->reorder,
		    r->duplicate, r->corrupt);
}

static void describe_end(const char *name, const struct lab_end *lab)
{
	const struct traffic_level *l = &lab->stats.level;

	print_error("  %s: offered %lu succeeded %lu failed %lu open %lu; requests %lu %lu %lu\n",
		    name, (unsigned long)l->connection.offered,
		    (unsigned long)l->connection.succeeded,
		    (unsigned long)tally_failed(&l->connection), (unsigned long)l->open,
		    (unsigned long)l->request.offered, (unsigned long)l->request.succeeded,
		    (unsigned long)tally_failed(&l->request));
	for (unsigned i = 0; i < FAILED_COUNT; i++)
		if (l->connection.failed[i] || l->request.failed[i])
			print_error("    failed: %s %lu, requests %lu\n", failed_name[i],
				    (unsigned long)l->connection.failed[i],
				    (unsigned long)l->request.failed[i]);
	for (unsigned i = 1; i < DROP_COUNT; i++)
		if (lab->counters.drop[i])
			print_error("    refused %lu: %s\n", (unsigned long)lab->counters.drop[i],
				    drop_info[i].name);
}

void world_describe(const struct world *w)
{
	print_error("world of seed %lu:", (unsigned long)w->rule.seed);
	for (unsigned i = 0; w->set && w->set[i]; i++)
		print_error(" --set %s", w->set[i]);
	print_error("\n");
	describe_wire("to server", &w->rule.to_server);
	describe_wire("to client", &w->rule.to_client);
	describe_end("client", &w->lab[LAB_CLIENT_PORT]);
	describe_end("server", &w->lab[LAB_SERVER_PORT]);
	for (unsigned i = 0; i < w->packets; i++) {
		const struct world_packet *p = &w->packet[i];
		char text[256];

		print_error("  %10.6f %s %5u > %5u %s\n", (double)p->at / 1e9,
			    p->from == LAB_CLIENT_PORT ? "->" : "<-", p->segment.src_port,
			    p->segment.dst_port, segment_text(text, &p->segment, 0, 0));
	}
}

void world_close(struct world *w)
{
	const char *law = NULL;

	for (unsigned i = 0; i < 2 && !law; i++)
		law = lab_broken_law(&w->lab[i]);
	if (law)
		world_describe(w);
	for (unsigned i = 0; i < 2; i++) {
		wire_close(&w->lab[i].sim.wire);
		lab_close(&w->lab[i]);
	}
	free(w->packet);
	config_free(&w->config);
	if (law)
		fail_msg("in the end it does not hold that %s", law);
	if (w->box.out)
		fail_msg("%lu packets are missing in the box", (unsigned long)w->box.out);
}
