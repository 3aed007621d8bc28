/* Ports, with DPDK: cables of every shape, vdevs, and the errors of opening. No root, no hugepages,
 * no network. One EAL serves all tests; each opens and closes its own ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "../../common/run/memory.h"
#include "../../common/run/port.h"

#define PORTS_MAX 3
#define BURST     32
#define ROUNDS    300 /* more packets than a ring holds */

static uint16_t cores[20]; /* all on core 0: the tests poll every queue themselves */
static struct config_port config_port[PORTS_MAX];
static struct config config = {.port = config_port};
static struct port *ports;
static struct err err;

static void port_add(const char *name, const char *device, unsigned queues)
{
	config_port[config.ports++] = (struct config_port){
		.name = name,
		.device = device,
		.core = cores,
		.cores = queues,
		.mtu = 1500,
		.rx_descriptors = 1024,
		.tx_descriptors = 1024,
	};
}

static int setup(void **state)
{
	(void)state;
	config.ports = 0;
	ports = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (ports)
		ports_close(ports, config.ports);
	return 0;
}

/* Every packet is back in its pool, else something keeps one. */
static void close_all(void)
{
	for (unsigned i = 0; i < config.ports; i++)
		for (unsigned q = 0; q < ports[i].queues; q++)
			assert_int_equal(rte_mempool_in_use_count(ports[i].pool[q]), 0);
	ports_close(ports, config.ports);
	ports = NULL;
}

static void open_all(void)
{
	if (ports_open(&config, &ports, &err))
		fail_msg("%s", err.text);
}

/* The sentence must name what is wrong and what to do; nothing may stay open. */
static void assert_refused(const char *cause, const char *remedy)
{
	err.text[0] = '\0';
	assert_int_equal(ports_open(&config, &ports, &err), -1);
	assert_int_equal(err.exit, EXIT_ENVIRONMENT);
	if (!strstr(err.text, cause) || !strstr(err.text, remedy))
		fail_msg("\"%s\" lacks \"%s\" or \"%s\"", err.text, cause, remedy);
	assert_int_equal(strncmp(err.text, "port ", 5), 0);
	assert_int_equal(rte_eth_dev_count_avail(), 0);
}

/* Send a burst on each transmit queue of one end; all of it must come out of the other. */
static void cross(struct port *from, struct port *to)
{
	struct rte_mbuf *sent[BURST], *got[BURST];
	unsigned received = 0;

	for (uint16_t q = 0; q < from->queues; q++) {
		assert_int_equal(rte_pktmbuf_alloc_bulk(from->pool[q], sent, BURST), 0);
		for (unsigned i = 0; i < BURST; i++)
			rte_pktmbuf_append(sent[i], 60);
		assert_int_equal(rte_eth_tx_burst(from->id, q, sent, BURST), BURST);
	}
	for (uint16_t q = 0; q < to->queues; q++) {
		uint16_t count;

		while ((count = rte_eth_rx_burst(to->id, q, got, BURST))) {
			received += count;
			rte_pktmbuf_free_bulk(got, count);
		}
	}
	assert_int_equal(received, BURST * from->queues);
	for (uint16_t q = 0; q < from->queues; q++)
		assert_int_equal(rte_mempool_in_use_count(from->pool[q]), 0);
}

static void cable(unsigned a, unsigned b)
{
	port_add("c", "loop:x", a);
	port_add("s", "loop:x", b);
	open_all();
	for (unsigned i = 0; i < 2 * ROUNDS; i++)
		cross(&ports[i & 1], &ports[~i & 1]);
}

static void test_cable_one_to_one(void **state)
{
	struct port_stats stats;

	(void)state;
	cable(1, 1);
	assert_int_equal(ports[0].steer.mode, STEER_SINGLE);
	assert_null(ports[0].handoff);
	assert_memory_not_equal(ports[0].mac, ports[1].mac, 6);
	assert_memory_equal(ports[0].mac, ports[0].rule.mac, 6);
	assert_int_equal(ports[0].mac[0] & 3, 2); /* locally administered, unicast */
	assert_true(ports[0].mbufs_bytes <= 22 << 20);
	port_stats(&ports[0], &stats);
	assert_int_equal(stats.tx_packets, BURST * ROUNDS);
	assert_int_equal(stats.rx_packets, BURST * ROUNDS);
	close_all();
}

/* With as many queues at both ends, queue i is joined to queue i. */
static void test_cable_two_to_two(void **state)
{
	struct rte_mbuf *m, *got;

	(void)state;
	cable(2, 2);
	assert_int_equal(ports[1].steer.mode, STEER_SOFT);
	assert_int_equal(ports[1].steer.workers, 2);
	assert_non_null(ports[1].handoff[1]);
	m = rte_pktmbuf_alloc(ports[0].pool[1]);
	assert_int_equal(rte_eth_tx_burst(ports[0].id, 1, &m, 1), 1);
	assert_int_equal(rte_eth_rx_burst(ports[1].id, 0, &got, 1), 0);
	assert_int_equal(rte_eth_rx_burst(ports[1].id, 1, &got, 1), 1);
	assert_ptr_equal(m, got); /* zero copy */
	rte_pktmbuf_free(m);
	close_all();
}

static void test_cable_one_to_two(void **state)
{
	(void)state;
	cable(1, 2);
	assert_int_equal(ports[0].steer.mode, STEER_SINGLE);
	assert_int_equal(ports[1].steer.mode, STEER_SOFT);
	close_all();
}

static void test_cable_five_to_three(void **state)
{
	(void)state;
	cable(5, 3);
	close_all();
}

/* What the rings of a cable hold at closing goes home as well: nothing crashes, the next cable
 * works. */
static void test_cable_closed_full(void **state)
{
	struct rte_mbuf *m[BURST];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		setup(NULL);
		cable(1, 1);
		assert_int_equal(rte_pktmbuf_alloc_bulk(ports[0].pool[0], m, BURST), 0);
		assert_int_equal(rte_eth_tx_burst(ports[0].id, 0, m, BURST), BURST);
		ports_close(ports, 2);
		ports = NULL;
	}
}

static void test_two_cables(void **state)
{
	(void)state;
	port_add("a", "loop:x", 1);
	port_add("b", "loop:x", 1);
	port_add("n", "net_null0", 1);
	open_all();
	cross(&ports[0], &ports[1]);
	assert_memory_not_equal(ports[0].mac, ports[2].mac, 6);
	close_all();
}

static void test_null(void **state)
{
	struct rte_mbuf *m[BURST];
	struct port_stats stats;

	(void)state;
	port_add("n", "net_null0,size=60", 1);
	open_all();
	assert_string_equal(ports[0].driver, "net_null");
	assert_int_equal(rte_eth_rx_burst(ports[0].id, 0, m, BURST), BURST);
	assert_int_equal(m[0]->pkt_len, 60);
	assert_int_equal(rte_eth_tx_burst(ports[0].id, 0, m, BURST), BURST);
	port_stats(&ports[0], &stats);
	assert_int_equal(stats.tx_packets, BURST);
	close_all();
}

/* net_null offers RSS and does none: it must not be believed. */
static void test_null_two_queues(void **state)
{
	(void)state;
	port_add("n", "net_null0", 2);
	open_all();
	assert_int_equal(ports[0].steer.mode, STEER_SOFT);
	close_all();
}

static void test_ring(void **state)
{
	(void)state;
	port_add("r", "net_ring0", 1);
	open_all();
	cross(&ports[0], &ports[0]);
	close_all();
}

static void test_jumbo_is_one_segment(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	port_add("c", "loop:x", 1);
	port_add("s", "loop:x", 1);
	config_port[0].mtu = config_port[1].mtu = 9000;
	open_all();
	m = rte_pktmbuf_alloc(ports[0].pool[0]);
	assert_non_null(rte_pktmbuf_append(m, 9000 + 14 + 8));
	rte_pktmbuf_free(m);
	close_all();
}

static void test_vlans_in_rule(void **state)
{
	(void)state;
	port_add("n", "net_null0", 1);
	config_port[0].vlans = 1;
	config_port[0].vlan[0] = 100;
	config_port[0].verify_checksums = true;
	open_all();
	assert_int_equal(ports[0].rule.vlans, 1);
	assert_int_equal(ports[0].rule.vlan_id[0], 100);
	assert_true(ports[0].rule.verify);
	assert_false(ports[0].rule.partial); /* no kernel at the far end */
	assert_false(ports[0].rx_checksum);
	close_all();
}

static void test_unknown_devices(void **state)
{
	static const struct {
		const char *device, *cause, *remedy;
	} unknown[] = {
		{"net_nosuch0", "no such driver", "onager devices"},
		{"net_null0,nosuch=1", "wrong arguments", "onager devices"},
		{"if:nosuch", "no such network interface", "onager devices"},
		{"xdp:nosuch", "no such network interface", "onager devices"},
		{"0000:ff:1f.7", "no PCI device at this address", "onager devices"},
		{"eth0", "no such device", "if:NAME"},
		{"loop:alone", "no other port", "loop"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		setup(NULL);
		port_add("first", "net_null1", 1);
		port_add("p", unknown[i].device, 1);
		assert_refused(unknown[i].cause, unknown[i].remedy);
		assert_non_null(strstr(err.text, unknown[i].device));
	}
}

static void test_same_device_twice(void **state)
{
	(void)state;
	port_add("a", "net_null0", 1);
	port_add("b", "net_null0", 1);
	assert_refused("another port has a device named net_null0", "another number");
}

static void test_too_many_queues(void **state)
{
	(void)state;
	port_add("c", "loop:x", 17);
	port_add("s", "loop:x", 1);
	assert_refused("17 cores listed", "16 queues at most");
	setup(NULL);
	port_add("r", "net_ring0", 17);
	assert_refused("17 cores listed, but the device has 16 queues", "list fewer cores");
}

static void test_mtu_refused(void **state)
{
	(void)state;
	port_add("m", "net_memif0,role=server,socket=@onager-test,socket-abstract=yes", 1);
	config_port[0].mtu = 9000;
	assert_refused("MTU 9000 is not supported", "bsize=16384");
}

static void test_permission(void **state)
{
	bool is_root = !geteuid();

	(void)state;
	port_add("l", "if:lo", 1);
	if (is_root) /* without root's capabilities, as long as this takes */
		assert_int_equal(seteuid(65534), 0);
	assert_refused("no permission", "CAP_NET_RAW");
	if (is_root)
		assert_int_equal(seteuid(0), 0);
}

static void test_memif_pair(void **state)
{
	struct rte_eth_link link = {0};

	(void)state;
	port_add("s", "net_memif0,role=server,id=0,socket=onager-test-ports,socket-abstract=yes",
		 1);
	port_add("c", "net_memif1,role=client,id=0,socket=onager-test-ports,socket-abstract=yes",
		 1);
	open_all();
	assert_int_equal(rte_eth_link_get_nowait(ports[1].id, &link), 0);
	assert_int_equal(link.link_status, RTE_ETH_LINK_UP);
	assert_memory_not_equal(ports[0].mac, ports[1].mac, 6);
	assert_true(ports[0].mbufs_bytes <= 22 << 20);
	close_all();
}

static void test_memif_without_server(void **state)
{
	(void)state;
	port_add("c", "net_memif1,role=client,id=0,socket=onager-test-none,socket-abstract=yes", 1);
	assert_refused("nobody has been listening", "role=server first");
}

/* A killed server leaves its socket; a file that is none stays. */
static void test_memif_stale_socket(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char device[160];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/test_ports.%d", getpid());
	snprintf(device, sizeof(device), "net_memif0,role=server,socket=%s,socket-abstract=no",
		 address.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	port_add("s", device, 1);
	open_all();
	close_all();
	fd = open(address.sun_path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_refused("is in the way", address.sun_path);
	assert_int_equal(unlink(address.sun_path), 0);
}

static void test_devices(void **state)
{
	char *text;
	size_t length;
	FILE *out;

	(void)state;
	out = open_memstream(&text, &length);
	assert_int_equal(devices_print(out, true, &err), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"net_memif\""));
	assert_non_null(strstr(text, "\"if:lo\""));
	free(text);
	out = open_memstream(&text, &length);
	assert_int_equal(devices_print(out, false, &err), 0);
	fclose(out);
	assert_non_null(strstr(text, "loop:x"));
	free(text);
	out = fopen("/dev/full", "w");
	assert_int_equal(devices_print(out, false, &err), -1);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(out);
}

static void test_lcores(void **state)
{
	(void)state;
	assert_int_equal(rte_lcore_id(), 0);
	assert_int_equal(rte_lcore_count(), 2);
	assert_int_equal(eal_lcore(&config, 0), 1);
}

static void test_memory_arena(void **state)
{
	size_t size = 64 << 20;
	struct memory_arena m;
	uint64_t before = memory_resident();
	char *a, *b;

	(void)state;
	assert_int_equal(memory_arena_open(&m, size, -1, HUGEPAGES_AUTO, &err), 0);
	assert_non_null(m.pages);
	a = arena_take(&m.arena, 100);
	b = arena_take(&m.arena, size - 128);
	assert_int_equal((uintptr_t)a % 64, 0);
	assert_int_equal(b - a, 128);
	assert_int_equal(b[size - 129], 0);
	assert_null(arena_take(&m.arena, size));
	assert_true(memory_resident() < before + size); /* reserved, not touched */
	memset(a, 1, 100);
	memory_arena_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cable_one_to_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cable_two_to_two, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cable_one_to_two, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cable_five_to_three, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cable_closed_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_cables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_null, setup, teardown),
		cmocka_unit_test_setup_teardown(test_null_two_queues, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jumbo_is_one_segment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vlans_in_rule, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_device_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_queues, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mtu_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_permission, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memif_pair, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memif_without_server, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memif_stale_socket, setup, teardown),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_lcores),
		cmocka_unit_test(test_memory_arena),
	};
	int failed;

	/* The largest port any test opens decides how much memory the EAL reserves. */
	config.hugepages = HUGEPAGES_OFF;
	port_add("any", "loop:x", 17);
	config_port[0].mtu = 9000;
	if (eal_start(&config, "test_ports", &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	eal_stop();
	return failed;
}
