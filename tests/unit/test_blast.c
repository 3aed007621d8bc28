/* What a blast sends: flows, sizes, checksums, payloads, modifiers, stop rules, for any number of
 * workers. */
#include "blast_lab.h"

#define POOLS                                                                                \
	"'kind': 'udp-blast', 'clients': '10.0.0.0-10.0.0.7', 'client_ports': '1000-1099', " \
	"'servers': '10.1.0.1', 'server_ports': 9, "
#define FLOWS 800

/* How often each flow was sent, and what was wrong with any packet. */
struct flows {
	unsigned count[8][100];
	uint64_t order[4096]; /* of worker 0: flow numbers */
	unsigned packets, first;
};

static void flows_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct flows *flows = arg;
	const uint8_t *ip = frame_bytes(m) + 14;
	unsigned client = be32(ip + 12) - 0x0a000000, port = be16(ip + 20) - 1000u;

	(void)now;
	frame_is_right(m, 14);
	assert_true(client < 8 && port < 100);
	assert_memory_equal(frame_bytes(m), blast_far_mac, 6);
	assert_memory_equal(frame_bytes(m) + 6, blast_mac, 6);
	assert_int_equal(be32(ip + 16), 0x0a010001);
	assert_int_equal(be16(ip + 22), 9);
	flows->count[client][port]++;
	flows->packets++;
	if (!worker && flows->first < 4096)
		flows->order[flows->first++] = client * 100 + port;
}

static void flows_check(unsigned packets, unsigned workers, unsigned burst, const char *more,
			unsigned least, unsigned most, unsigned at_most)
{
	struct flows *flows = calloc(1, sizeof(*flows));
	char keys[512];
	struct blast_lab *lab;
	unsigned often = 0;

	snprintf(keys, sizeof(keys), POOLS "'load': {'pps': 'max', 'burst': %u}, 'packets': %u%s",
		 burst, packets, more);
	lab = blast_open("", keys, workers);
	assert_int_equal(blast_run(lab, 1000, flows_tap, flows), packets);
	assert_int_equal(flows->packets, packets);
	assert_int_equal(blast_offered(lab), packets);
	assert_int_equal(blast_not_offered(lab), 0);
	for (unsigned c = 0; c < 8; c++) {
		for (unsigned p = 0; p < 100; p++) {
			assert_in_range(flows->count[c][p], least, most);
			often += flows->count[c][p] == most && most > least;
		}
	}
	assert_int_equal(often, at_most);
	for (unsigned i = 0; i < flows->first; i++)
		assert_int_equal(flows->order[i],
				 (i % burst + (uint64_t)i / burst * burst * workers) % FLOWS);
	blast_close(lab);
	free(flows);
}

static void test_every_flow_equally(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= BLAST_WORKERS_MAX; workers++) {
		flows_check(800, workers, 1, "", 1, 1, 0);
		flows_check(1600, workers, 1, "", 2, 2, 0);
		flows_check(801, workers, 1, "", 1, 2, 1);
		flows_check(16799, workers, 1, "", 20, 21, 799);
		flows_check(801, workers, 1, ", 'tag': false", 1, 2, 1);
		flows_check(801, workers, 7, "", 1, 2, 1);
		flows_check(16799, workers, 200, ", 'sizes': [60, 61]", 20, 21, 799);
		/* Through the general way of making packets. */
		flows_check(801, workers, 1, ", 'sizes': [60, 61]", 1, 2, 1);
	}
}

struct addresses {
	uint32_t client[8], server[8];
	uint16_t port[8];
	unsigned packets;
};

static void addresses_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct addresses *a = arg;
	const uint8_t *ip = frame_bytes(m) + 14;

	(void)worker;
	(void)now;
	frame_is_right(m, 14);
	if (a->packets >= 8)
		return;
	a->client[a->packets] = be32(ip + 12) & 0xff;
	a->server[a->packets] = be32(ip + 16) & 0xff;
	a->port[a->packets++] = be16(ip + 20);
}

static void walk_check(const char *walk, bool gateway, struct addresses *a)
{
	char keys[512];
	struct blast_lab *lab;

	*a = (struct addresses){.packets = 0};
	snprintf(keys, sizeof(keys),
		 "'kind': 'udp-blast', 'clients': ['10.0.0.5', '10.0.0.2-10.0.0.3'], "
		 "'client_ports': [7, 3], 'servers': '10.1.0.1-10.1.0.2', 'walk': '%s', "
		 "'load': {'pps': 'max'}, 'packets': 8",
		 walk);
	lab = blast_open("", keys, 1);
	lab->nexthop.has_gateway = gateway;
	for (unsigned i = 1; i <= 2; i++)
		nexthop_learn(&lab->nexthop, __builtin_bswap32(0x0a010000 + i),
			      i == 1 ? blast_far_mac : blast_mac);
	assert_int_equal(blast_run(lab, 1000, addresses_tap, a), 8);
	blast_close(lab);
}

static void test_walk_order(void **state)
{
	struct addresses a;

	(void)state;
	walk_check("client_ports", true, &a);
	assert_memory_equal(a.port, ((uint16_t[8]){7, 3, 7, 3, 7, 3, 7, 3}), sizeof a.port);
	assert_memory_equal(a.client, ((uint32_t[8]){5, 5, 2, 2, 3, 3, 5, 5}), sizeof a.client);
	assert_memory_equal(a.server, ((uint32_t[8]){1, 1, 1, 1, 1, 1, 2, 2}), sizeof a.server);
	walk_check("clients", true, &a);
	assert_memory_equal(a.client, ((uint32_t[8]){5, 2, 3, 5, 2, 3, 5, 2}), sizeof a.client);
	assert_memory_equal(a.server, ((uint32_t[8]){1, 1, 1, 2, 2, 2, 1, 1}), sizeof a.server);
	assert_memory_equal(a.port, ((uint16_t[8]){7, 7, 7, 7, 7, 7, 3, 3}), sizeof a.port);
	walk_check("servers", true, &a);
	assert_memory_equal(a.server, ((uint32_t[8]){1, 2, 1, 2, 1, 2, 1, 2}), sizeof a.server);
	assert_memory_equal(a.port, ((uint16_t[8]){7, 7, 3, 3, 7, 7, 3, 3}), sizeof a.port);
}

static void macs_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	bool first = be32(frame_bytes(m) + 30) == 0x0a010001;

	(void)worker;
	(void)now;
	assert_memory_equal(frame_bytes(m), first ? blast_far_mac : blast_mac, 6);
	++*(unsigned *)arg;
}

/* Without a gateway every server has its own MAC address; one that is not known is waited for. */
static void test_on_link(void **state)
{
	struct blast_lab *lab = blast_open(
		"",
		"'kind': 'udp-blast', 'clients': '10.0.0.5', 'client_ports': 7, "
		"'servers': '10.1.0.1-10.1.0.2', 'walk': 'servers', 'load': {'pps': 1000}, "
		"'catch_up': '10ms'",
		1);
	unsigned sent = 0;

	(void)state;
	lab->nexthop.has_gateway = false;
	blast_start_all(lab);
	assert_int_equal(blast_step(lab, 0, BLAST_NOW, macs_tap, &sent), 0);
	assert_true(lab->nexthop.wanted);
	nexthop_learn(&lab->nexthop, __builtin_bswap32(0x0a010001), blast_far_mac);
	assert_int_equal(blast_step(lab, 0, BLAST_NOW + BLAST_MS, macs_tap, &sent), 1);
	nexthop_learn(&lab->nexthop, __builtin_bswap32(0x0a010002), blast_mac);
	blast_step(lab, 0, BLAST_NOW + 100 * BLAST_MS, macs_tap, &sent);
	assert_int_equal(blast_offered(lab), sent);
	assert_int_equal(blast_offered(lab) + blast_not_offered(lab), 101);
	assert_in_range(sent, 11, 13);
	blast_close(lab);
}

struct sizes {
	unsigned of[9300], packets;
	uint64_t bytes;
	const uint8_t *payload; /* repeated; NULL: not looked at */
	unsigned payload_bytes;
};

static void sizes_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct sizes *sizes = arg;
	const uint8_t *data = frame_bytes(m) + 42;

	(void)worker;
	(void)now;
	frame_is_right(m, 14);
	assert_int_equal(be16(frame_bytes(m) + 16), m->pkt_len - 14);
	assert_int_equal(be16(frame_bytes(m) + 38), m->pkt_len - 34);
	sizes->of[m->pkt_len]++;
	sizes->packets++;
	sizes->bytes += m->pkt_len;
	for (unsigned i = 18; sizes->payload && i < m->pkt_len - 42; i++)
		assert_int_equal(data[i], sizes->payload[i % sizes->payload_bytes]);
}

static struct sizes *sizes_of(const char *more, unsigned workers, const char *payload)
{
	struct sizes *sizes = calloc(1, sizeof(*sizes));
	char keys[512];
	struct blast_lab *lab;

	sizes->payload = (const uint8_t *)payload;
	sizes->payload_bytes = payload ? (unsigned)strlen(payload) : 0;
	if (payload && !*payload)
		sizes->payload_bytes = 1;
	snprintf(keys, sizeof(keys), POOLS "'load': {'pps': 'max'}, %s", more);
	lab = blast_open("", keys, workers);
	blast_run(lab, 1000, sizes_tap, sizes);
	blast_close(lab);
	return sizes;
}

static void test_sizes(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 3; workers++) {
		struct sizes *s = sizes_of("'imix': true, 'packets': 1200", workers, "");

		assert_int_equal(s->of[60], 700);
		assert_int_equal(s->of[590], 400);
		assert_int_equal(s->of[1514], 100);
		free(s);
		s = sizes_of("'sizes': ['60-9216'], 'packets': 18314", workers, "");
		for (unsigned i = 60; i <= 9216; i++)
			assert_int_equal(s->of[i], 2);
		free(s);
		s = sizes_of("'size': 1001, 'payload': 'hex:4142432021', 'packets': 70", workers,
			     "ABC !");
		assert_int_equal(s->of[1001], 70);
		free(s);
		s = sizes_of("'sizes': [64, 65, 64], 'payload': 'hex:414243', 'packets': 300",
			     workers, "ABC");
		assert_int_equal(s->of[64], 200);
		assert_int_equal(s->of[65], 100);
		free(s);
		s = sizes_of("'size': 1500, 'payload': 'random', 'packets': 5", workers, NULL);
		assert_int_equal(s->of[1500], 5);
		free(s);
	}
}

/* The last packet that fits is sent, whoever's it is. */
static void test_stop_after_bytes(void **state)
{
	static const uint16_t mix[12] = {60, 590, 60, 60, 590, 60, 60, 590, 60, 590, 60, 1514};

	(void)state;
	for (unsigned workers = 1; workers <= 4; workers++) {
		for (unsigned bytes = 60; bytes < 20000; bytes += 617) {
			unsigned packets = 0, sum = 0;
			char keys[80];
			struct sizes *s;

			while (sum + mix[packets % 12] <= bytes)
				sum += mix[packets++ % 12];
			snprintf(keys, sizeof(keys), "'imix': true, 'bytes': %u", bytes);
			s = sizes_of(keys, workers, NULL);
			assert_int_equal(s->packets, packets);
			assert_int_equal(s->bytes, sum);
			free(s);
		}
	}
}

static void count_check(const char *more, unsigned workers, uint64_t expected)
{
	char keys[512];
	struct blast_lab *lab;

	snprintf(keys, sizeof(keys), POOLS "%s", more);
	lab = blast_open("", keys, workers);
	assert_int_equal(blast_run(lab, 10 * BLAST_MS, NULL, NULL), expected);
	assert_int_equal(blast_offered(lab), expected);
	assert_int_equal(blast_not_offered(lab), 0);
	blast_close(lab);
}

static void test_stop_rules(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 4; workers++) {
		count_check("'load': {'pps': 1000}", workers, 1000);
		count_check("'load': {'pps': 999.5}", workers, 1000);
		count_check("'load': {'pps': 3}, 'duration': '0.5s'", workers, 2);
		count_check("'load': {'pps': 1000}, 'packets': 7", workers, 7);
		count_check("'load': {'pps': 1000}, 'packets': 7, 'bytes': 180", workers, 3);
		count_check("'load': {'pps': 1000}, 'packets': 70000, 'duration': '10ms'", workers,
			    10);
		/* In bits: 60 byte frames are 480 bits, or 672 with all that a link adds. */
		count_check("'load': {'bps': '480k'}", workers, 1000);
		count_check("'load': {'bps_l1': '672k'}", workers, 1000);
		count_check("'load': {'bps_l1': '672k', 'pps': 999}", workers, 999);
		count_check("'load': {'percent': 0.00672}", workers, 1000);
		count_check("'imix': true, 'load': {'bps': '4294k'}", workers, 1500);
		/* Bursts: 1000 packets a second, 10 each 10 ms. */
		count_check("'load': {'pps': 1000, 'burst': 10}", workers, 1000);
		count_check("'load': {'pps': 1000, 'burst': 10}, 'packets': 995", workers, 995);
	}
}

static void header_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *want = arg, *ip = frame_bytes(m) + 14;

	(void)worker;
	(void)now;
	frame_is_right(m, 14);
	assert_int_equal(ip[1], want[0]);
	assert_int_equal(ip[8], want[1]);
}

/* TOS is the port's, unless the blast says otherwise. */
static void test_header(void **state)
{
	static const struct {
		const char *port, *keys;
		uint8_t want[2]; /* TOS, TTL */
	} table[] = {
		{"", "", {0, 64}},
		{", 'tos': 184", "", {184, 64}},
		{", 'tos': 184", ", 'tos': 0, 'ttl': 1", {0, 1}},
		{"", ", 'tos': 255, 'ttl': 255", {255, 255}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint8_t want[2] = {table[i].want[0], table[i].want[1]};
		struct blast_lab *lab;
		char keys[512];

		snprintf(keys, sizeof(keys), POOLS "'load': {'pps': 'max'}, 'packets': 100%s",
			 table[i].keys);
		lab = blast_open(table[i].port, keys, 1);
		assert_int_equal(blast_run(lab, 1000, header_tap, want), 100);
		blast_close(lab);
	}
}

struct times {
	uint64_t at[4000];
	unsigned packets;
};

static void times_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct times *times = arg;

	(void)worker;
	(void)m;
	assert_true(times->packets < 4000);
	times->at[times->packets++] = now - BLAST_NOW;
}

static void test_bursts_leave_together(void **state)
{
	struct times times = {.packets = 0};
	struct blast_lab *lab = blast_open("", POOLS "'load': {'pps': 1000, 'burst': 32}", 1);

	(void)state;
	blast_run(lab, BLAST_MS, times_tap, &times);
	for (unsigned i = 0; i < times.packets; i++)
		assert_int_equal(times.at[i], i / 32 * 32 * BLAST_MS);
	assert_int_equal(times.packets, 32 * 32);
	blast_close(lab);
}

/* The gaps of a Poisson load: mean as the rate says, as many below the median as above. */
static void test_poisson(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 3; workers++) {
		static struct times times;
		struct blast_lab *lab =
			blast_open("", POOLS "'load': {'pps': 2500, 'poisson': true}", workers);
		unsigned below = 0;

		times.packets = 0;
		blast_run(lab, 1000, times_tap, &times);
		assert_in_range(times.packets, 2500 - 4 * 50, 2500 + 4 * 50);
		for (unsigned i = 1; i < times.packets; i++)
			below += times.at[i] - times.at[i - 1] < 277259; /* ln 2 / rate */
		assert_in_range(below, times.packets * 45 / 100, times.packets * 55 / 100);
		assert_int_equal(blast_not_offered(lab), 0);
		blast_close(lab);
	}
}

/* A stall: what is too far back is given up and counted, the rest is made up for. */
static void test_catch_up(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 3; workers++) {
		struct blast_lab *lab =
			blast_open("", POOLS "'load': {'pps': 1000}, 'catch_up': '100ms'", workers);
		unsigned sent = 0;

		blast_start_all(lab);
		for (unsigned w = 0; w < workers; w++)
			sent += blast_step(lab, w, BLAST_NOW + 499 * BLAST_MS, NULL, NULL);
		assert_int_equal(sent, 101);
		assert_int_equal(blast_not_offered(lab), 399);
		/* And at the end all that is left. */
		for (unsigned w = 0; w < workers; w++)
			assert_int_equal(blast_step(lab, w, BLAST_NOW + 2 * BLAST_S, NULL, NULL),
					 0);
		assert_int_equal(blast_offered(lab) + blast_not_offered(lab), 1000);
		assert_int_equal(blast_not_offered(lab), 899);
		for (unsigned w = 0; w < workers; w++)
			assert_int_equal(lab->worker[w]
						 .stats[0]
						 .level.connection.not_offered[NOT_OFFERED_TX_FULL],
					 0);
		assert_true(lab->worker[0].engine->ops->idle(lab->worker[0].engine));
		blast_close(lab);
	}
}

/* A port that takes nothing: the blast waits, and the schedule is not made up for beyond its
 * window.
 */
static void test_port_full(void **state)
{
	struct blast_lab *lab = blast_open("", POOLS "'load': {'pps': '1m'}, 'catch_up': '1ms'", 1);
	struct blast_worker *w = &lab->worker[0];
	uint64_t now = BLAST_NOW;

	(void)state;
	blast_start_all(lab);
	for (; now < BLAST_NOW + 2 * BLAST_S; now += 100000)
		w->engine->ops->poll(w->engine, &w->tx.tx, now);
	assert_true(w->tx.tx.count < 512);
	assert_int_equal(blast_offered(lab), w->tx.tx.count);
	assert_int_equal(blast_offered(lab) + blast_not_offered(lab), 1000000);
	assert_true(w->stats[0].level.connection.not_offered[NOT_OFFERED_TX_FULL] > 999000);
	blast_close(lab);
}

/* "max" with a number of packets, and too little time for them. */
static void test_limit_missed(void **state)
{
	struct blast_lab *lab = blast_open("", POOLS "'load': {'pps': 'max'}, 'packets': '1g'", 1);
	uint64_t sent = blast_run(lab, BLAST_MS, NULL, NULL);

	(void)state;
	assert_int_equal(blast_offered(lab), sent);
	assert_int_equal(blast_not_offered(lab), 1000000000 - sent);
	blast_close(lab);
}

/* No packets in the pool: the blast goes on when there are. */
static void test_no_packets(void **state)
{
	struct blast_lab *lab = blast_open("", POOLS "'load': {'pps': 1000}", 1);
	uint64_t sent = 0;

	(void)state;
	blast_start_all(lab);
	lab->box.limit = 10;
	for (unsigned i = 0; i < 200; i++)
		sent += blast_step(lab, 0, BLAST_NOW + i * 10 * BLAST_MS, NULL, NULL);
	assert_int_equal(sent + blast_not_offered(lab), 1000);
	assert_in_range(sent, 995, 1000);
	blast_close(lab);
}

static void test_rates(void **state)
{
	static const struct {
		const char *load;
		struct rate rate;
	} table[] = {
		{"{'pps': 0.5}", {1, 2}},
		{"{'pps': '14.88m'}", {14880000, 1}},
		{"{'bps': '10Gbps'}", {10000000000 / 480 * 480 / 480, 1}},
		{"{'percent': 100}", {14880952, 1}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char keys[512];
		struct blast_lab *lab;
		struct rate rate;

		snprintf(keys, sizeof(keys), POOLS "'load': %s", table[i].load);
		lab = blast_open("", keys, 1);
		rate = stateless_rate(&lab->config.traffic[0], 10000000000u);
		/* floor(num / den) is that of the table, and fractions are kept. */
		assert_int_equal(rate.num / rate.den, table[i].rate.num / table[i].rate.den);
		blast_close(lab);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_flow_equally),
		cmocka_unit_test(test_walk_order),
		cmocka_unit_test(test_on_link),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_stop_after_bytes),
		cmocka_unit_test(test_stop_rules),
		cmocka_unit_test(test_bursts_leave_together),
		cmocka_unit_test(test_poisson),
		cmocka_unit_test(test_catch_up),
		cmocka_unit_test(test_port_full),
		cmocka_unit_test(test_limit_missed),
		cmocka_unit_test(test_no_packets),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
