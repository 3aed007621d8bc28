/* Random worlds: both engines under every mixture of impairments; the laws hold in each.
 *
 * A world is a function of its seed. `test_tcp_random SEED` runs that one alone, prints what was
 * sent and writes it to a capture file; `test_tcp_random FIRST COUNT` runs as many as wanted, and
 * so does WORLDS in the environment, for a night: `WORLDS=100000 ctest -R tcp_random`. Of a world
 * that fails the packets are written too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../support/world.h"
#include "../../common/base/rng.h"

#define SETS 48

static uint64_t first_seed = 1, seeds = 100, seed_now;
static bool verbose;
static FILE *capture;

/* What one direction of a connection has sent: a retransmission must be the same bytes. */
struct stream {
	bool known;
	uint32_t isn, length, room;
	char *byte;
};

struct plan {
	struct world_rule rule;
	char text[SETS][80];
	const char *set[SETS + 1];
	unsigned sets;
	bool gentle;    /* every connection must succeed */
	bool untouched; /* and nothing be sent twice, unless pools are ... */
	bool scarce;
	bool resets; /* the client ends connections by RST, which the server calls a failure */
	uint32_t starving;  /* so many in a thousand times there is no packet to write into */
	uint32_t tx_places; /* of either end's transmit queue */
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

/* The packets of a driver run out now and then. */
static uint32_t starving;
static struct rng hunger;
static uint32_t (*refill)(struct tx *);

static uint32_t refill_at_times(struct tx *tx)
{
	return rng_below(&hunger, 1000) < starving ? 0 : refill(tx);
}

static uint64_t pick(struct rng *r, const uint64_t *of, unsigned count)
{
	return of[rng_below(r, count)];
}
#define PICK(r, ...)                             \
	pick(r, (const uint64_t[]){__VA_ARGS__}, \
	     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void plan_load(struct plan *p, struct rng *r, unsigned requests)
{
	unsigned kind = (unsigned)rng_below(r, 8);

	switch (kind) {
	case 0:
	case 1:
		set(p, "client.load.concurrency=%lu", (unsigned long)PICK(r, 3, 20));
		if (kind)
			set(p, "client.load.cps=%lu", (unsigned long)PICK(r, 3, 20));
		break;
	case 2:
		set(p, "client.load.rps=%lu", (unsigned long)PICK(r, 3, 60));
		break;
	case 3:
		set(p, "client.load.bps=%luk", (unsigned long)PICK(r, 100, 2000));
		break;
	default:
		set(p, "client.load.cps=%lu", (unsigned long)PICK(r, 3, 20, 60));
	}
	if (kind != 1)
		set(p, "client.requests_per_connection=%u", requests);
	if (kind != 2 && kind != 3)
		set(p, "client.think_time=%luus", (unsigned long)PICK(r, 0, 0, 100, 30000));
	if (rng_below(r, 4) == 0) {
		set(p, "client.close={\"fin\": %lu, \"rst\": %lu, \"first\": \"%s\"}",
		    (unsigned long)PICK(r, 1, 3), (unsigned long)PICK(r, 0, 0, 1),
		    rng_below(r, 2) ? "client" : "server");
		p->resets = true;
	}
	if (rng_below(r, 4) == 0)
		set(p, "client.client_ports=\"2000-2009,3000-3300\"");
	/* what keeps connections busy is much in little time */
	set(p, "duration=%s", kind < 2 ? "30ms" : "1s");
	set(p, "ramp=%lums", (unsigned long)PICK(r, 0, 0, 20));
}

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
	plan_load(p, r, (unsigned)requests);
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
	p->starving = (uint32_t)PICK(r, 0, 0, 0, 0, 50, 300);
	if (p->starving > 100) /* as if so many were lost */
		p->gentle = false;
	p->tx_places = (uint32_t)PICK(r, 2048, 2048, 128);
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
	/* a burst takes one retransmission after the other when nothing else is on the wire; and
	 * where nothing is kept, what is late is as lost */
	if (rule->loss * rule->loss_burst * rule->loss_burst + rule->corrupt > 0.08 ||
	    (p->scarce && rule->reorder > 0.1))
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
	if (rng_below(&r, 8) == 0)
		set(p, "client.pipeline=%lu", (unsigned long)PICK(&r, 2, 3, 8));
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
	if (p->gentle && !p->resets && server->connection.succeeded < client->connection.offered)
		wrong = "a connection of the server failed on a gentle network";
	if (p->untouched && !p->scarce && !p->starving &&
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
	starving = p->starving;
	hunger.state = p->rule.seed;
	for (unsigned i = 0; i < 2; i++) {
		struct tx *tx = &w.lab[i].sim.tx.tx;

		if (pieces)
			tx->piece_min = 100;
		refill = tx->refill;
		tx->refill = refill_at_times;
		tx->capacity = p->tx_places;
	}
}

static void put(const void *bytes, size_t size)
{
	assert_int_equal(fwrite(bytes, size, 1, capture), 1);
}

/* Every packet with its virtual time, in nanoseconds. */
static void capture_add(void *arg, unsigned from, const struct rte_mbuf *m, uint64_t now,
			unsigned fate)
{
	uint32_t head[4] = {(uint32_t)(now / 1000000000), (uint32_t)(now % 1000000000), m->data_len,
			    m->data_len};

	(void)arg;
	(void)from;
	(void)fate;
	put(head, sizeof(head));
	put((const char *)m->buf_addr + m->data_off, m->data_len);
}

static void capture_open(uint64_t seed)
{
	const uint32_t head[6] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, 65535, 1};
	const char *directory = getenv("TMPDIR");
	char name[256];

	snprintf(name, sizeof(name), "%s/test_tcp_random.%lu.pcap", directory ? directory : "/tmp",
		 (unsigned long)seed);
	capture = fopen(name, "wb");
	assert_non_null(capture);
	put(head, sizeof(head));
	w.sim.tap = capture_add;
	print_message("packets: %s\n", name);
}

static void run_seed(uint64_t seed)
{
	static struct plan p;

	seed_now = seed;
	plan_world(&p, seed);
	open_world(&p, seed & 1);
	if (verbose)
		world_record(&w, 200000);
	else if (seeds)
		w.sim.tap = watch;
	else
		capture_open(seed);
	world_run(&w);
	judge(&p, seed);
	world_close(&w);
	forget_streams();
}

static void test_random_worlds(void **state)
{
	(void)state;
	if (!seeds)
		run_seed(first_seed);
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
	for (uint64_t seed = first_seed; seed < first_seed + seeds / 4; seed++)
		if (fingerprint_of(seed, false, false) != fingerprint_of(seed, false, true))
			fail_msg("seed %lu: the short way sends or counts something else",
				 (unsigned long)seed);
}

/* The same world once more, in a process of its own, for its packets. */
static void capture_write(const char *program, uint64_t seed)
{
	char number[32];
	pid_t child = fork();

	snprintf(number, sizeof(number), "%lu", (unsigned long)seed);
	if (!child) {
		execl(program, program, number, "0", NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_worlds),
		cmocka_unit_test(test_worlds_repeat),
		cmocka_unit_test(test_both_ways),
	};
	const char *worlds = getenv("WORLDS");
	int failed;

	if (worlds)
		seeds = strtoull(worlds, NULL, 10);
	if (argc > 1) {
		first_seed = strtoull(argv[1], NULL, 10);
		seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
		verbose = argc == 2;
	}
	if (argc > 1)
		failed = _cmocka_run_group_tests("tcp random", tests, 1, NULL, NULL);
	else
		failed = cmocka_run_group_tests_name("tcp random", tests, NULL, NULL);
	if (capture)
		fclose(capture);
	else if (failed || verbose)
		capture_write(argv[0], seed_now);
	return failed;
}
