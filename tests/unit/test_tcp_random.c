/* Random worlds: both engines under every mixture of impairments; the laws hold in each.
 *
 * A world is a function of its seed. `test_tcp_random SEED` runs that one alone and prints what was
 * sent; `test_tcp_random FIRST COUNT` runs as many as wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/world.h"
#include "../../common/base/rng.h"

#define SETS 48

static uint64_t first_seed = 1, seeds = 100;
static bool verbose;

/* What one direction of a connection has sent: a retransmission must be the same bytes. */
struct stream {
	bool known;
	uint32_t isn, length, room;
	char *byte;
};

struct plan {
	struct world_rule rule;
	char text[SETS][64];
	const char *set[SETS + 1];
	unsigned sets;
	bool gentle;    /* every connection must succeed */
	bool untouched; /* and nothing be sent twice, unless pools are ... */
	bool scarce;
};

static struct world w;
static struct stream stream[2][65536]; /* by direction and client port */

static void watch(void *arg, unsigned from, const struct rte_mbuf *m, uint64_t now, unsigned fate)
{
	struct segment s;
	struct stream *t;
	struct view view;
	uint32_t at, known;

	(void)arg;
	(void)now;
	(void)fate;
	assert_int_equal(view_parse(m, &w.lab[!from].sim.rule, &view), DROP_NONE);
	segment_read(&s, m, &view);
	t = &stream[from][from == LAB_CLIENT_PORT ? s.src_port : s.dst_port];
	if (s.flags & 0x02) {
		if (!t->known || t->isn != s.seq)
			t->length = 0;
		t->known = true;
		t->isn = s.seq;
	}
	if (!s.payload_len || !t->known)
		return;
	at = s.seq - t->isn - 1;
	if (at > t->length)
		fail_msg("sent out of nowhere: offset %u, %u known", at, t->length);
	if (at + s.payload_len > t->room) {
		t->room = 2 * (at + s.payload_len);
		t->byte = realloc(t->byte, t->room);
	}
	known = t->length - at < s.payload_len ? t->length - at : s.payload_len;
	assert_memory_equal(t->byte + at, s.payload, known);
	memcpy(t->byte + at, s.payload, s.payload_len);
	if (at + s.payload_len > t->length)
		t->length = at + s.payload_len;
}

static void forget_streams(void)
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned port = 0; port < 65536; port++) {
			free(stream[i][port].byte);
			stream[i][port] = (struct stream){0};
		}
}

__attribute__((format(printf, 2, 3))) static void set(struct plan *p, const char *format, ...)
{
	va_list arguments;

	assert_true(p->sets < SETS);
	va_start(arguments, format);
	vsnprintf(p->text[p->sets], sizeof(p->text[0]), format, arguments);
	va_end(arguments);
	p->set[p->sets] = p->text[p->sets];
	p->sets++;
}

static uint64_t pick(struct rng *r, const uint64_t *of, unsigned count)
{
	return of[rng_below(r, count)];
}
#define PICK(r, ...)                             \
	pick(r, (const uint64_t[]){__VA_ARGS__}, \
	     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void plan_traffic(struct plan *p, struct rng *r)
{
	uint64_t request = PICK(r, 0, 0, 1, 100, 1460, 3000, 30000);
	uint64_t response = PICK(r, 0, 1, 100, 1300, 1460, 3000, 20000, 100000);
	uint64_t requests = PICK(r, 1, 1, 2, 5);
	if (rng_below(r, 4) == 0) {
		set(p, "client.kind=tcp-client");
		set(p, "server.kind=tcp-server");
		set(p, "client.request.size=%lu", (unsigned long)request + 1);
		set(p, "server.request.size=%lu", (unsigned long)request + 1);
		set(p, "client.response.size=%lu", (unsigned long)response + 1);
		set(p, "server.response.size=%lu", (unsigned long)response + 1);
	} else {
		set(p, "client.request.method=%s", request ? "POST" : "GET");
		set(p, "client.request.body.size=%lu", (unsigned long)request);
		set(p, "server.response.body.size=%lu", (unsigned long)response);
	}
	set(p, "client.requests_per_connection=%lu", (unsigned long)requests);
	set(p, "client.think_time=%luus", (unsigned long)PICK(r, 0, 0, 100, 30000));
	set(p, "client.load.cps=%lu", (unsigned long)PICK(r, 3, 20, 60));
}

static void plan_options(struct plan *p, struct rng *r, const char *side)
{
	static const char *const stamps[] = {"false", "true", "peer"};
	static const char *const scales[] = {"auto", "false", "5", "7"};

	set(p, "%s.tcp.timestamps=%s", side, stamps[rng_below(r, 3)]);
	set(p, "%s.tcp.scale=%s", side, scales[rng_below(r, 4)]);
	set(p, "%s.tcp.ecn=%s", side, rng_below(r, 3) ? "false" : "true");
	set(p, "%s.tcp.sack=%s", side, rng_below(r, 3) ? "true" : "false");
	set(p, "%s.tcp.congestion=%s", side, rng_below(r, 2) ? "newreno" : "cubic");
	set(p, "%s.tcp.delayed_ack=%lums", side, (unsigned long)PICK(r, 0, 0, 1, 40));
	set(p, "%s.tcp.ack_every=%lu", side, (unsigned long)PICK(r, 2, 2, 1, 8));
}

static void plan_engines(struct plan *p, struct rng *r)
{
	for (unsigned i = 0; i < 2; i++) {
		const char *side = i ? "server" : "client";

		set(p, "ports.%u.mtu=%lu", i, (unsigned long)PICK(r, 1500, 1500, 576, 1501, 9000));
		set(p, "%s.tcp.window=%lu", side,
		    (unsigned long)PICK(r, 65536, 65536, 5000, 20000, 1 << 20));
		set(p, "%s.tcp.retries=15", side);
		set(p, "%s.timeout=100s", side);
		set(p, "%s.tcp.initial_rto=%lums", side, (unsigned long)PICK(r, 1000, 300));
	}
	for (unsigned i = 0; i < 2; i++)
		plan_options(p, r, i ? "server" : "client");
	if (rng_below(r, 6) ==
	    0) { /* a pool that is soon empty makes all of it slower, and breaks nothing */
		set(p, "memory.side_records=%lu", (unsigned long)PICK(r, 8, 32));
		set(p, "memory.kept_segments=%lu", (unsigned long)PICK(r, 0, 4));
		p->scarce = true;
	}
	set(p, "client.tcp.handshake_ack=%s", rng_below(r, 3) ? "false" : "true");
	set(p, "server.tcp.separate_fin=%s", rng_below(r, 3) ? "false" : "true");
	set(p, "drain=100s");
}

static void plan_wire(struct plan *p, struct wire_rule *rule, struct rng *r)
{
	rule->delay = PICK(r, US(10), US(100), MS(2), MS(40));
	rule->jitter = PICK(r, 0, 0, US(50), MS(10));
	rule->loss = (double)PICK(r, 0, 0, 5, 20, 50, 200) / 1000;
	rule->loss_burst = (uint32_t)PICK(r, 1, 1, 4);
	rule->reorder = (double)PICK(r, 0, 0, 20, 200) / 1000;
	rule->reorder_delay = PICK(r, US(100), MS(5));
	rule->duplicate = (double)PICK(r, 0, 0, 50) / 1000;
	rule->corrupt = (double)PICK(r, 0, 0, 20) / 1000;
	rule->rate_bps = PICK(r, 0, 0, 0, 1000000000, 100000000);
	rule->queue = rule->rate_bps ? (uint32_t)PICK(r, 0, 20, 100) : 0;
	if (rule->loss || rule->queue || rule->corrupt)
		p->untouched = false;
	if (rule->reorder || rule->duplicate)
		p->untouched = false;
	/* a burst takes one retransmission after the other when nothing else is on the wire */
	if (rule->loss * rule->loss_burst * rule->loss_burst + rule->corrupt > 0.08)
		p->gentle = false;
}

static void plan_world(struct plan *p, uint64_t seed)
{
	struct rng r = {seed};

	*p = (struct plan){.gentle = true, .untouched = true, .rule.seed = seed};
	plan_traffic(p, &r);
	plan_engines(p, &r);
	plan_wire(p, &p->rule.to_server, &r);
	plan_wire(p, &p->rule.to_client, &r);
	if (rng_below(&r, 5) == 0) { /* a clean wire */
		p->rule.to_server = (struct wire_rule){.delay = p->rule.to_server.delay};
		p->rule.to_client = (struct wire_rule){.delay = p->rule.to_client.delay};
		p->gentle = p->untouched = true;
	}
}

static uint64_t retransmissions(const struct counters *c)
{
	return c->value[COUNTER_SYN_RT] + c->value[COUNTER_PUSH_RT] + c->value[COUNTER_FIN_RT];
}

static void judge(const struct plan *p, uint64_t seed)
{
	const struct traffic_level *client = world_client(&w), *server = world_server(&w);
	const char *wrong = NULL;

	if (client->connection.offered == 0)
		wrong = "nothing was offered";
	if (p->gentle && client->connection.succeeded != client->connection.offered)
		wrong = "a connection failed on a gentle network";
	/* an old SYN may find its connection closed, and open one that the client resets */
	if (p->gentle && server->connection.succeeded < client->connection.offered)
		wrong = "a connection of the server failed on a gentle network";
	if (p->untouched && !p->scarce &&
	    retransmissions(&w.lab[0].counters) + retransmissions(&w.lab[1].counters))
		wrong = "something was sent twice on a network that loses nothing";
	if (!wrong && !verbose)
		return;
	world_describe(&w);
	if (wrong)
		fail_msg("seed %lu: %s; `test_tcp_random %lu` repeats it and prints its packets",
			 (unsigned long)seed, wrong, (unsigned long)seed);
}

/* Payload by reference, or copied: nobody sees a difference. */
static void open_world(const struct plan *p, bool pieces)
{
	world_open(&w, &p->rule, p->set);
	for (unsigned i = 0; pieces && i < 2; i++)
		w.lab[i].sim.tx.tx.piece_min = 100;
}

static void run_seed(uint64_t seed)
{
	static struct plan p;

	plan_world(&p, seed);
	open_world(&p, seed & 1);
	if (verbose) {
		world_record(&w, 200000);
	} else {
		w.sim.tap = watch;
	}
	world_run(&w);
	judge(&p, seed);
	world_close(&w);
	forget_streams();
}

static void test_random_worlds(void **state)
{
	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++)
		run_seed(seed);
}

/* The same seed gives the same packets at the same times and the same counts, wherever payload lies
 * and whichever way segments take. */
static uint64_t fingerprint;

static void add_bytes(const void *bytes, size_t count)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < count; i++)
		fingerprint = (fingerprint ^ byte[i]) * 0x100000001b3u;
}

static void add_packet(void *arg, unsigned from, const struct rte_mbuf *m, uint64_t now,
		       unsigned fate)
{
	(void)arg;
	fingerprint = (fingerprint ^ now ^ from ^ fate << 8) * 0x100000001b3u;
	add_bytes((const uint8_t *)m->buf_addr + m->data_off, m->data_len);
}

static uint64_t fingerprint_of(uint64_t seed, bool pieces, bool long_way)
{
	static struct plan p;

	plan_world(&p, seed);
	fingerprint = 0xcbf29ce484222325u;
	lab_long_way = long_way;
	open_world(&p, pieces);
	lab_long_way = false;
	w.sim.tap = add_packet;
	world_run(&w);
	for (unsigned i = 0; i < 2; i++) {
		add_bytes(&w.lab[i].stats.level, sizeof(w.lab[i].stats.level));
		add_bytes(&w.lab[i].stats.connect, sizeof(struct hist));
		add_bytes(&w.lab[i].stats.first_byte, sizeof(struct hist));
		add_bytes(&w.lab[i].stats.response, sizeof(struct hist));
		add_bytes(&w.lab[i].counters, sizeof(w.lab[i].counters));
	}
	world_close(&w);
	return fingerprint;
}

static void test_worlds_repeat(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		assert_int_equal(fingerprint_of(seed, false, false),
				 fingerprint_of(seed, true, false));
}

static void test_both_ways(void **state)
{
	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + seeds / 2; seed++)
		if (fingerprint_of(seed, false, false) != fingerprint_of(seed, false, true))
			fail_msg("seed %lu: the short way sends or counts something else",
				 (unsigned long)seed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_worlds),
		cmocka_unit_test(test_worlds_repeat),
		cmocka_unit_test(test_both_ways),
	};

	if (argc > 1) {
		first_seed = strtoull(argv[1], NULL, 10);
		seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
		verbose = argc == 2;
	}
	return cmocka_run_group_tests_name("tcp random", tests, NULL, NULL);
}
