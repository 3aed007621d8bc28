/* Blast to sink: what arrives, what does not, and what else arrives. */
#include "blast_lab.h"

#define BLAST_KEYS                                                                           \
	"'kind': 'udp-blast', 'clients': '10.0.0.1-10.0.0.9', 'client_ports': '1000-1099', " \
	"'servers': '10.1.0.1', 'server_ports': 9, 'load': {'pps': '1m'}, "

/* Packets on their way, in order. */
struct way {
	struct packet_box *box;
	struct rte_mbuf *pkt[4096];
	unsigned count;
};

static void way_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct way *way = arg;

	(void)worker;
	(void)now;
	assert_true(way->count < 4096);
	way->pkt[way->count++] = packet_box_copy(way->box, m);
}

/* Send `packets` with `keys`, numbered in order of sending. */
static struct blast_lab *way_fill(struct way *way, unsigned workers, const char *keys,
				  unsigned packets)
{
	char text[1024];
	struct blast_lab *lab;

	snprintf(text, sizeof(text), BLAST_KEYS "'packets': %u%s", packets, keys);
	lab = blast_open("", text, workers);
	*way = (struct way){.box = &lab->box};
	assert_int_equal(blast_run(lab, 1000, way_tap, way), packets);
	return lab;
}

/* A sink engine beside the blast's, with everything of the lab's. */
static void sink_give(struct blast_lab *sink, unsigned w, struct rte_mbuf *m, uint64_t now)
{
	struct blast_worker *worker = &sink->worker[w];
	struct view_rule rule = {.verify = true};
	struct rx_burst rx = {.count = 1, .pkt = {m}};

	memcpy(rule.mac, blast_far_mac, 6);
	rx.reason[0] = (uint8_t)view_parse(m, &rule, &rx.view[0]);
	assert_true(!rx.reason[0] || rx.reason[0] == DROP_UDP_CSUM);
	worker->engine->ops->input(worker->engine, &rx, &worker->tx.tx, now);
	assert_ptr_equal(rx.pkt[0], m);
}

static void way_deliver(struct way *way, struct blast_lab *sink)
{
	for (unsigned i = 0; i < way->count; i++) {
		uint16_t port = be16(frame_bytes(way->pkt[i]) + 34);

		/* As steering does: a flow has one worker. */
		sink_give(sink, port % sink->workers, way->pkt[i], BLAST_NOW + 5000);
		packet_box_free(way->box, way->pkt[i]);
	}
}

/* What all workers of a sink counted, all lanes together. */
struct books {
	uint64_t next, unique, late, duplicate, too_late, corrupt, lanes, foreign, received, bad;
};

static struct books books_of(const struct blast_lab *sink)
{
	struct books b = {0};
	uint64_t next[BLAST_WORKERS_MAX] = {0};

	for (unsigned w = 0; w < sink->workers; w++) {
		const struct stream_stats *s = &sink->worker[w].streams[0];

		b.foreign += s->foreign;
		b.bad += s->corrupt;
		b.received += s->received;
		for (unsigned i = 0; i < s->lanes; i++) {
			const struct stream_lane *lane = &s->lane[i];

			b.unique += lane->unique;
			b.late += lane->late;
			b.duplicate += lane->duplicate;
			b.too_late += lane->too_late;
			b.corrupt += lane->corrupt;
			assert_true((lane->name & 0xff) < BLAST_WORKERS_MAX);
			if (lane->next > next[lane->name & 0xff])
				next[lane->name & 0xff] = lane->next;
		}
	}
	for (unsigned i = 0; i < BLAST_WORKERS_MAX; i++)
		b.next += next[i];
	/* The sink's own law: every packet is of one sort. */
	assert_int_equal(b.received, b.foreign + b.bad + b.unique + b.duplicate + b.too_late);
	return b;
}

static void swap(struct way *way, unsigned a, unsigned b)
{
	struct rte_mbuf *m = way->pkt[a];

	way->pkt[a] = way->pkt[b];
	way->pkt[b] = m;
}

/* Take packet `from` out and put it in again behind what is at `to`. */
static void hold(struct way *way, unsigned from, unsigned to)
{
	struct rte_mbuf *m = way->pkt[from];

	memmove(&way->pkt[from], &way->pkt[from + 1], (to - from) * sizeof(m));
	way->pkt[to] = m;
}

static void insert(struct way *way, unsigned at, struct rte_mbuf *m)
{
	memmove(&way->pkt[at + 1], &way->pkt[at], (way->count - at) * sizeof(m));
	way->pkt[at] = m;
	way->count++;
}

/* Drop #5 and #6, swap #10 and #11, double #20, hold #30 until after #40, flip a bit of #50's tag,
 * inject foreign packets. Whether the UDP checksum is put right again or not must not matter. */
static void script_run(bool repaired, unsigned bit)
{
	struct way way;
	struct blast_lab *lab = way_fill(&way, 1, "", 1000);
	struct blast_lab *sink = blast_open("", "'kind': 'udp-sink'", 1);
	struct rte_mbuf *foreign = packet_box_copy(&lab->box, way.pkt[70]);
	uint8_t *data = (uint8_t *)frame_bytes(way.pkt[50]);
	struct books b;

	memset((uint8_t *)frame_bytes(foreign) + 42, 0x55, 18);
	memset((uint8_t *)frame_bytes(foreign) + 40, 0, 2);
	data[42 + bit / 8] ^= (uint8_t)(1 << bit % 8);
	if (repaired) {
		uint16_t sum;

		memset(data + 40, 0, 2);
		sum = slow_sum(data + 34, 26,
			       (uint32_t)be16(data + 26) + be16(data + 28) + be16(data + 30) +
				       be16(data + 32) + 17 + 26);
		data[40] = (uint8_t)(sum >> 8);
		data[41] = (uint8_t)sum;
	}
	insert(&way, 100, foreign);
	hold(&way, 30, 40);
	insert(&way, 21, packet_box_copy(&lab->box, way.pkt[20]));
	swap(&way, 10, 11);
	packet_box_free(&lab->box, way.pkt[5]);
	packet_box_free(&lab->box, way.pkt[6]);
	way.count -= 2;
	memmove(&way.pkt[5], &way.pkt[7], (way.count - 5) * sizeof(way.pkt[0]));
	way_deliver(&way, sink);
	b = books_of(sink);
	assert_int_equal(b.next, 1000);
	assert_int_equal(b.unique, 997);
	assert_int_equal(b.late, 2);
	assert_int_equal(b.duplicate, 1);
	/* A flip in the run number leaves no trace of whose it was when the checksum was repaired.
	 */
	assert_int_equal(b.bad + b.foreign, 2);
	if (!repaired || bit >= 16)
		assert_int_equal(b.bad, 1);
	blast_close(sink);
	blast_close(lab);
}

static void test_script(void **state)
{
	(void)state;
	for (unsigned bit = 3; bit < 18 * 8; bit += 11) {
		script_run(true, bit);
		script_run(false, bit);
	}
}

/* Several workers at both ends, and a way that loses, doubles and shuffles. */
static void test_many_workers(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= BLAST_WORKERS_MAX; workers++) {
		struct way way;
		struct blast_lab *lab = way_fill(&way, workers, "", 2000);
		struct blast_lab *sink =
			blast_open("", "'kind': 'udp-sink'", BLAST_WORKERS_MAX + 1 - workers);
		unsigned lost = 0;
		struct books b;

		for (unsigned i = 100; i + 200 < way.count; i += 7) {
			packet_box_free(&lab->box, way.pkt[i]);
			way.pkt[i] = packet_box_copy(&lab->box, way.pkt[i + 1]);
			lost++;
		}
		way_deliver(&way, sink);
		b = books_of(sink);
		assert_int_equal(b.next, 2000);
		assert_int_equal(b.unique, 2000 - lost);
		assert_int_equal(b.duplicate, lost);
		assert_int_equal(b.late, 0);
		assert_int_equal(b.foreign + b.bad, 0);
		blast_close(sink);
		blast_close(lab);
	}
}

/* The clock is shared: latency is the time between, and jitter none. */
static void test_latency(void **state)
{
	struct way way;
	struct blast_lab *lab = way_fill(&way, 1, "", 100);
	struct blast_lab *sink = blast_open("", "'kind': 'udp-sink'", 1);
	const struct stream_lane *lane = sink->worker[0].streams[0].lane;

	(void)state;
	/* A packet a microsecond: sent at BLAST_NOW + i us. */
	for (unsigned i = 0; i < way.count; i++) {
		sink_give(sink, 0, way.pkt[i], BLAST_NOW + i * 1000 + (i % 2 ? 300 : 400));
		packet_box_free(way.box, way.pkt[i]);
	}
	assert_int_equal(lane->latency.count, 100);
	assert_int_equal(lane->latency.min, 300);
	assert_int_equal(lane->latency.max, 400);
	assert_int_equal(lane->jitter.count, 99);
	assert_int_equal(lane->jitter.min, 100);
	assert_int_equal(lane->jitter.max, 100);
	blast_close(sink);
	blast_close(lab);
}

static void foreign_check(const char *keys, unsigned sink_seed)
{
	struct way way;
	struct blast_lab *lab = way_fill(&way, 1, keys, 50), *sink;

	blast_seed = sink_seed;
	sink = blast_open("", "'kind': 'udp-sink'", 1);
	blast_seed = 1;
	way_deliver(&way, sink);
	assert_int_equal(books_of(sink).foreign, 50);
	assert_int_equal(books_of(sink).received, 50);
	assert_int_equal(sink->worker[0].stats[0].level.connection.offered, 50);
	assert_int_equal(sink->worker[0].stats[0].level.bits_rx, 50 * 480);
	blast_close(sink);
	blast_close(lab);
}

/* Packets of another run are foreign, those without a tag a plain count. */
static void test_foreign(void **state)
{
	(void)state;
	foreign_check(", 'tag': false", 1);
	foreign_check("", 2);
}

/* A sink with addresses leaves other packets alone. */
static void test_filter(void **state)
{
	struct way way;
	struct blast_lab *lab = way_fill(&way, 1, "", 10);
	struct blast_lab *sink =
		blast_open("", "'kind': 'udp-sink', 'servers': '10.1.0.2', 'server_ports': 9", 1);
	struct view_rule rule = {.verify = true};

	(void)state;
	memcpy(rule.mac, blast_far_mac, 6);
	for (unsigned i = 0; i < way.count; i++) {
		struct rx_burst rx = {.count = 1, .pkt = {way.pkt[i]}};
		struct engine *engine = sink->worker[0].engine;

		assert_int_equal(view_parse(way.pkt[i], &rule, &rx.view[0]), DROP_NONE);
		engine->ops->input(engine, &rx, &sink->worker[0].tx.tx, BLAST_NOW);
		assert_int_equal(rx.reason[0], DROP_UDP_NO_PORT);
		packet_box_free(way.box, way.pkt[i]);
	}
	assert_int_equal(books_of(sink).received, 0);
	blast_close(sink);
	blast_close(lab);
}

/* A sink waits for what is on its way: 100 ms of silence, or until the deadline. */
static void test_drain(void **state)
{
	struct blast_lab *sink = blast_open("", "'kind': 'udp-sink'", 1);
	struct engine *engine = sink->worker[0].engine;

	(void)state;
	blast_start_all(sink);
	engine->ops->drain(engine, BLAST_NOW, BLAST_NOW + 2 * BLAST_S);
	blast_step(sink, 0, BLAST_NOW + 99 * BLAST_MS, NULL, NULL);
	assert_false(engine->ops->idle(engine));
	blast_step(sink, 0, BLAST_NOW + 100 * BLAST_MS, NULL, NULL);
	assert_true(engine->ops->idle(engine));
	engine->ops->drain(engine, BLAST_NOW + 101 * BLAST_MS, BLAST_NOW + 50 * BLAST_MS);
	assert_true(engine->ops->idle(engine));
	blast_close(sink);
}

/* A sink of IPv6 servers takes theirs and no others', and follows the lanes of both families. */
static void test_families(void **state)
{
	static const char *const keys[] = {
		"'kind': 'udp-blast', 'clients': '10.0.0.1', 'servers': '10.1.0.1'",
		"'kind': 'udp-blast', 'clients': '2001:db8::1', 'servers': '2001:db8:1::1'"};
	static const char *const servers[] = {"'10.1.0.1'", "'2001:db8:1::1'",
					      "['2001:db8:1::1', '10.1.0.1']", "'2001:db8:2::1'"};

	(void)state;
	for (unsigned n = 0; n < 8; n++) {
		char text[512];
		struct blast_lab *lab, *sink;
		struct way way;
		bool wanted = n / 2 == n % 2 || n / 2 == 2;

		snprintf(text, sizeof(text), "%s, 'load': {'pps': '1m'}, 'packets': 100",
			 keys[n % 2]);
		lab = blast_open("", text, 1);
		way = (struct way){.box = &lab->box};
		assert_int_equal(blast_run(lab, 1000, way_tap, &way), 100);
		snprintf(text, sizeof(text), "'kind': 'udp-sink', 'servers': %s", servers[n / 2]);
		sink = blast_open("", text, 1);
		for (unsigned i = 0; i < way.count; i++) {
			struct view_rule rule = {.verify = true, .ip6 = true};
			struct rx_burst rx = {.count = 1, .pkt = {way.pkt[i]}};
			struct engine *engine = sink->worker[0].engine;

			memcpy(rule.mac, blast_far_mac, 6);
			assert_int_equal(view_parse(way.pkt[i], &rule, &rx.view[0]), DROP_NONE);
			engine->ops->input(engine, &rx, &sink->worker[0].tx.tx, BLAST_NOW);
			assert_int_equal(rx.reason[0], wanted ? DROP_NONE : DROP_UDP_NO_PORT);
			packet_box_free(way.box, way.pkt[i]);
		}
		assert_int_equal(books_of(sink).unique, wanted ? 100 : 0);
		blast_close(sink);
		blast_close(lab);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script),   cmocka_unit_test(test_many_workers),
		cmocka_unit_test(test_latency),  cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_filter),   cmocka_unit_test(test_drain),
		cmocka_unit_test(test_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
