/* The floor under tools/bench: cores that do nothing but receive packets and send them back.
 *
 *     onager-floor FILE TO_SERVER:TO_CLIENT SECONDS [PATH=VALUE]...
 *
 * FILE is a configuration of Onager. Its ports are opened by the very code that `onager run` uses,
 * so the devices, rings, pools and cores are the same; its traffic only tells which ports are
 * clients. Each client queue sends IN_FLIGHT packets off, and from then on every core returns what
 * it receives, at the given frame size for its direction. Nothing looks into a packet. In two
 * processes (memif) each runs with its own file.
 *
 * It prints one line of JSON: the packets that went each way per second, seen from this process.
 * A closed circle was chosen because it is what connections are: the next packet of one needs the
 * last of the other side. A one-way blast is faster and says nothing about them; it is the floor of
 * a configuration whose client is a blast. There each packet is allocated, its first bytes touched,
 * and sent, and what arrives is freed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "../common/config/config.h"
#include "../common/run/port.h"

#define BURST 64
/* Enough for full bursts in both directions, half of memif's default ring. */
#define IN_FLIGHT 512
#define LANES_MAX 64

/* One queue pair of one port. */
struct lane {
	const struct port *port;
	uint16_t queue;
	uint16_t size; /* of the frames it sends */
	unsigned lcore;
	bool client, one_way;
	_Alignas(64) uint64_t received; /* or sent, one way; written by its core only */
};

static struct lane lane[LANES_MAX];
static unsigned lanes;
static bool stop;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "onager-floor: %s\n", what);
	exit(EXIT_ENVIRONMENT);
}

static void lane_send(const struct lane *l, struct rte_mbuf **pkt, uint16_t count)
{
	uint16_t sent = 0;

	while (sent < count && !__atomic_load_n(&stop, __ATOMIC_RELAXED))
		sent = (uint16_t)(sent + rte_eth_tx_burst(l->port->id, l->queue, pkt + sent,
							  (uint16_t)(count - sent)));
	rte_pktmbuf_free_bulk(pkt + sent, (unsigned)(count - sent));
}

static void lane_blast(struct lane *l)
{
	struct rte_mbuf *pkt[BURST];

	if (rte_pktmbuf_alloc_bulk(l->port->pool[l->queue], pkt, BURST))
		return;
	for (uint16_t i = 0; i < BURST; i++) {
		*rte_pktmbuf_mtod(pkt[i], uint64_t *) = 0;
		pkt[i]->pkt_len = pkt[i]->data_len = l->size;
	}
	lane_send(l, pkt, BURST);
	__atomic_store_n(&l->received, l->received + BURST, __ATOMIC_RELAXED);
}

static void lane_step(struct lane *l)
{
	struct rte_mbuf *pkt[BURST];
	uint16_t count;

	if (l->one_way && l->client) {
		lane_blast(l);
		return;
	}
	count = rte_eth_rx_burst(l->port->id, l->queue, pkt, BURST);
	if (!count)
		return;
	if (l->one_way) {
		rte_pktmbuf_free_bulk(pkt, count);
		return;
	}
	for (uint16_t i = 0; i < count; i++)
		pkt[i]->pkt_len = pkt[i]->data_len = l->size;
	lane_send(l, pkt, count);
	__atomic_store_n(&l->received, l->received + count, __ATOMIC_RELAXED);
}

static void lane_seed(struct lane *l)
{
	struct rte_mbuf *pkt[IN_FLIGHT];

	if (rte_pktmbuf_alloc_bulk(l->port->pool[l->queue], pkt, IN_FLIGHT))
		fail("the pool is too small for the packets in flight");
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		pkt[i]->pkt_len = pkt[i]->data_len = l->size;
	lane_send(l, pkt, IN_FLIGHT);
}

/* All lanes of one core, in turn. */
static int core_main(void *unused)
{
	struct lane *own[LANES_MAX];
	unsigned count = 0;

	(void)unused;
	for (unsigned i = 0; i < lanes; i++)
		if (lane[i].lcore == rte_lcore_id())
			own[count++] = &lane[i];
	port_enter();
	for (unsigned i = 0; i < count; i++)
		if (own[i]->client && !own[i]->one_way)
			lane_seed(own[i]);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (unsigned i = 0; i < count; i++)
			lane_step(own[i]);
		port_pass();
	}
	port_leave();
	return 0;
}

static bool port_has_client(const struct config *config, unsigned port)
{
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].port == port && traffic_is_client(config->traffic[i].kind))
			return true;
	return false;
}

/* The sender or the receiver of packets that nobody answers. */
static bool is_one_way(const struct config *config)
{
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].kind == UDP_BLAST || config->traffic[i].kind == UDP_SINK ||
		    config->traffic[i].kind == REPLAY)
			return true;
	return false;
}

static void lanes_make(const struct config *config, const struct port *port, uint16_t to_server,
		       uint16_t to_client)
{
	for (unsigned p = 0; p < config->ports; p++) {
		bool client = port_has_client(config, p);

		for (uint16_t q = 0; q < port[p].queues; q++) {
			if (lanes == LANES_MAX)
				fail("too many queues");
			lane[lanes++] =
				(struct lane){.port = &port[p],
					      .queue = q,
					      .size = client ? to_server : to_client,
					      .lcore = eal_lcore(config, config->port[p].core[q]),
					      .client = client,
					      .one_way = is_one_way(config)};
		}
	}
}

/* How many lanes count: one way only those that send; none in a process that only receives. */
static unsigned lanes_counted(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < lanes; i++)
		count += lane[i].client || !lane[i].one_way;
	return count ? count : 1;
}

static uint64_t received_all(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < lanes; i++)
		sum += __atomic_load_n(&lane[i].received, __ATOMIC_RELAXED);
	return sum;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(double seconds)
{
	uint64_t before;
	double start;

	usleep(200000); /* the far end of a memif may start later */
	before = received_all();
	start = now_s();
	usleep((useconds_t)(seconds * 1e6));
	printf("{\"packets_per_s\": %.0f}\n",
	       (double)(received_all() - before) / (now_s() - start) / lanes_counted());
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
}

int main(int argc, char **argv)
{
	struct config_machine machine = {.cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
	struct config config;
	struct port *port;
	struct err err = {0};
	unsigned to_server, to_client;
	int used = 0;

	if (argc < 4 || sscanf(argv[2], "%u:%u%n", &to_server, &to_client, &used) != 2 ||
	    argv[2][used] || to_server < 60 || to_client < 60 || to_server > 9600 ||
	    to_client > 9600 || atof(argv[3]) <= 0) {
		fprintf(stderr, "usage: %s FILE TO_SERVER:TO_CLIENT SECONDS [PATH=VALUE]...\n",
			argv[0]);
		return EXIT_USAGE;
	}
	if (config_load(&config, argv[1], (const char *const *)argv + 4, (unsigned)argc - 4,
			&machine, stderr))
		return EXIT_USAGE;
	if (eal_start(&config, argv[0], &err) || ports_open(&config, &port, &err))
		fail(err.text);
	lanes_make(&config, port, (uint16_t)to_server, (uint16_t)to_client);
	rte_eal_mp_remote_launch(core_main, NULL, SKIP_MAIN);
	measure(atof(argv[3]));
	ports_close(port, config.ports);
	eal_stop();
	config_free(&config);
	return EXIT_PASS;
}
