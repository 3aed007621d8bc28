/* The plan: frames, rates, tuples, memory, as numbers and as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "../../common/run/plan.h"
#include "../../common/run/plan_load.h"
#include "../../common/run/plan_machine.h"
#include "../../common/run/plan_rings.h"
#include "../../common/run/port_pool.h"
#include "../support/made_result.h"

#define POOL_BYTES (8ull << 20)

/* In the program this is DPDK's arithmetic. */
uint64_t port_pool_bytes(const struct config_port *port)
{
	(void)port;
	return POOL_BYTES;
}

static struct made made;
static struct ip_range client_range[] = {{0x10000001, 200}};
static struct ip_range server_range[] = {{0x30000001, 2}};
static struct port_range client_port_range[] = {{1024, 65535}};
static struct port_range server_port_range[] = {{80, 80}};

static int set_up(void **state)
{
	(void)state;
	made_init(&made);
	for (unsigned i = 0; i < 2; i++) {
		struct config_traffic *traffic = &made.traffic[i];

		traffic->clients = (struct ip_pool){client_range, 1, 4, 200};
		traffic->client_ports = (struct port_pool){client_port_range, 1, 64512};
		traffic->servers = (struct ip_pool){server_range, 1, 4, 2};
		traffic->server_ports = (struct port_pool){server_port_range, 1, 1};
		traffic->request =
			(struct config_message){.method = "GET", .path = "/", .host = "onager"};
		traffic->response = (struct config_message){.status = 200, .body_size = 1};
		traffic->tcp = (struct config_tcp){.window = 65536, .retries = 5};
		traffic->timeout = 5 * SECOND;
	}
	made.traffic[1].clients = (struct ip_pool){0};
	return 0;
}

static struct load_plan load(void)
{
	struct load_plan plan;

	plan_load(&plan, &made.config, &made.traffic[0]);
	return plan;
}

static uint64_t frames(void)
{
	struct load_plan plan = load();

	return plan.frames.connection +
	       plan.frames.request * made.traffic[0].requests_per_connection;
}

static void a_short_connection_is_six_frames(void **state)
{
	(void)state;
	assert_int_equal(frames(), 6);
	made.traffic[0].tcp.handshake_ack = true;
	assert_int_equal(frames(), 7);
	made.traffic[1].tcp.separate_fin = true;
	assert_int_equal(frames(), 8);
}

static void every_further_request_is_two(void **state)
{
	(void)state;
	made.traffic[0].requests_per_connection = 10;
	assert_int_equal(frames(), 24);
}

static void large_bodies_take_segments_and_acks(void **state)
{
	(void)state;
	made.traffic[1].kind = TCP_SERVER;
	made.traffic[0].kind = TCP_CLIENT;
	made.traffic[0].response.body_size = 1460;
	assert_int_equal(frames(), 6);
	made.traffic[0].response.body_size = 1461;
	assert_int_equal(frames(), 7);
	made.traffic[0].response.body_size = 14600;
	assert_int_equal(frames(), 6 + 9 + 4);
	made.traffic[0].tcp.mss = 730;
	assert_int_equal(frames(), 6 + 19 + 9);
}

static void a_head_request_has_no_body(void **state)
{
	(void)state;
	made.traffic[1].response.body_size = 1000000;
	made.traffic[0].request.method = "HEAD";
	assert_int_equal(frames(), 6);
}

static void the_server_of_the_file_is_found(void **state)
{
	(void)state;
	assert_false(load().frames.assumed);
	made.traffic[1].server_ports.range = client_port_range;
	assert_true(load().frames.assumed);
}

static void rates_follow_from_the_target(void **state)
{
	struct load_plan plan;

	(void)state;
	made.traffic[0].load.cps = (struct rate){5100000, 1};
	plan = load();
	assert_true(plan.tuples == 200 * 64512ull * 2);
	assert_true(fabs(plan.pps - 6 * 5100000.) < 1);
	assert_true(plan.bps >= 8 * 60 * plan.pps);
	assert_true(fabs(plan.reuse_s - 200 * 64512 * 2 / 5100000.) < 1e-9);
	made.traffic[0].load.cps = (struct rate){UINT64_MAX, 1};
	assert_true(load().pps == 0);
	made.traffic[0].load.cps = (struct rate){0, 0};
	made.traffic[0].load.rps = (struct rate){1000, 1};
	made.traffic[0].requests_per_connection = 10;
	assert_true(fabs(load().pps - 100 * 24) < 1e-6);
	made.traffic[0].requests_per_connection = CONFIG_UNLIMITED;
	assert_true(fabs(load().pps - 2000) < 1e-6);
}

static char *print(bool json)
{
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");

	plan_print(&made.config, NULL, json, out);
	fclose(out);
	return text;
}

static void assert_says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void the_text_says_it(void **state)
{
	char *text;

	(void)state;
	made.port[0].has_gateway = true;
	made.port[0].gateway = 0x0a000001;
	text = print(false);
	assert_says(text, "port c: loop:x, mtu 1500, gateway 10.0.0.1\n");
	assert_says(text, "port s: loop:x, mtu 1500, no gateway: everything is on-link\n");
	assert_says(text, "  cores 1: 1 worker\n");
	assert_says(text, "packet buffers 8.0 MiB\n");
	assert_says(text, "traffic web: http-client on port c\n");
	assert_says(text,
		    "  from 16.0.0.1-16.0.0.200 ports 1024-65535 to 48.0.0.1-48.0.0.2 port 80\n");
	assert_says(text, "  from any client to 48.0.0.1-48.0.0.2 port 80\n");
	assert_says(text, "clients 200 x ports 64,512 x servers 2 x ports 1 = 25,804,800 tuples\n");
	assert_says(text, "  load cps 1000; a tuple is used again after 25804.8 s\n");
	assert_says(text, "  frames 4 a connection and 2 a request: 6 with 1 request\n");
	assert_says(text, "  at the target 6,000 packets/s, ");
	assert_says(text, "  listens on addresses 2 x ports 1; serves any client; "
			  "response body 1 bytes\n");
	assert_says(text, "phases: ramp 1 s, steady 3 s, drain at most 2 s\n");
	assert_string_equal(text + strlen(text) - 4, "\nok\n");
}

static void the_json_says_it(void **state)
{
	char *text;

	(void)state;
	text = print(true);
	assert_says(text, "\"c\": {\"device\": \"loop:x\", \"cores\": [0], \"workers\": 1, ");
	assert_says(text, "\"tuples\": 25804800, \"tuple_reuse_s\": 25804.8, "
			  "\"frames_per_connection\": 6, \"frames_per_request\": 2, "
			  "\"response_assumed\": false, \"pps\": 6000.0, ");
	assert_says(text, "\"mbufs_bytes\": 16777216, ");
	assert_says(text, "\"ok\": true\n}\n");
}

static void capture_takes_memory(void **state)
{
	struct config_packets packets[] = {{.file = "a", .port = CONFIG_UNLIMITED},
					   {.file = "b", .port = 1}};

	(void)state;
	assert_int_equal(plan_rings(&made.config), 0);
	made.config.capture.drops = "drops.pcapng";
	assert_int_equal(plan_rings(&made.config), 2 << 20);
	made.config.capture.packets = packets;
	made.config.capture.packet_files = 2;
	assert_int_equal(plan_rings(&made.config), (2 + 3 * 64) << 20);
}

/* The faults of the made configuration; fails unless there are `want`. */
static const struct config_fault *faults(uint64_t machine, unsigned want)
{
	static struct config_fault fault[CONFIG_FAULTS_MAX];

	assert_int_equal(plan_faults(&made.config, machine, false, fault, CONFIG_FAULTS_MAX), want);
	return fault;
}

static void the_memory_limit_is_kept(void **state)
{
	const struct config_fault *fault;

	(void)state;
	made.config.memory_limit = 1ull << 40;
	faults(0, 0);
	assert_says(print(false), " MiB at most of 1048576.0 MiB allowed, 16.0 MiB for sure\nok\n");
	made.config.memory_limit = 16 << 20;
	fault = faults(0, 1);
	assert_null(fault->list);
	assert_string_equal(fault->key, "memory");
	assert_string_equal(fault->inner, "limit");
	assert_says(fault->why, "16777216 bytes are allowed, but ");
	assert_says(fault->why,
		    " for connections, 16777216 for packet buffers and 0 for capture; ");
}

/* Tables that may grow large are address space; what the load keeps open is memory. */
static void the_machine_must_hold_what_the_load_touches(void **state)
{
	const struct config_fault *fault;
	struct plan_memory memory;

	(void)state;
	made.traffic[0].max_connections = made.traffic[1].max_connections = 20 << 20;
	plan_memory(&memory, &made.config);
	assert_true(memory.total > 1ull << 30 && memory.touched < 1ull << 25);
	faults(1ull << 30, 0);
	made.traffic[0].load.concurrency = 20 << 20;
	plan_memory(&memory, &made.config);
	assert_true(memory.touched > 1ull << 30 && memory.touched <= memory.total);
	fault = faults(1ull << 30, 1);
	assert_string_equal(fault->list, "traffic");
	assert_string_equal(fault->inner, "concurrency");
	assert_says(fault->why, "but the machine has 1073741824: lower concurrency");
	made.traffic[0].load.concurrency = 0;
	made.config.hugepages = HUGEPAGES_ON;
	fault = faults(1ull << 30, 1);
	assert_says(fault->why, " bytes of memory in hugepages, ");
	made.config.hugepages = HUGEPAGES_AUTO;
	fault = faults(POOL_BYTES, 1);
	assert_string_equal(fault->list, "ports");
	assert_string_equal(fault->key, "cores");
}

/* What DPDK is not built for is said before it is asked. */
static void devices_have_so_many_queues(void **state)
{
	static uint16_t core[2000];
	static struct config_port port[RTE_MAX_ETHPORTS + 1];
	const struct config_fault *fault;

	(void)state;
	made.port[0].core = core;
	made.port[0].cores = 17;
	fault = faults(0, 1);
	assert_string_equal(fault->list, "ports");
	assert_string_equal(fault->why,
			    "expected at most 16, the queues that such a device can have, got 17");
	made.port[0].device = "net_memif0,role=client";
	faults(0, 0);
	made.port[0].cores = 1025;
	assert_says(faults(0, 1)->why, "at most 255, ");
	made.port[0].device = "0000:07:00.0";
	assert_says(faults(0, 1)->why, "at most 1024, ");
	made.port[0].cores = RTE_MAX_LCORE;
	for (unsigned i = 0; i < RTE_DIM(core); i++)
		core[i] = (uint16_t)i;
	assert_says(faults(0, 1)->why, "different cores in all, as this DPDK is built for");
	made.port[0].cores = 1;
	for (unsigned i = 0; i <= RTE_MAX_ETHPORTS; i++)
		port[i] = made.port[0];
	made.config.port = port;
	made.config.devices = made.config.ports = RTE_MAX_ETHPORTS + 1;
	fault = faults(0, 1);
	assert_int_equal(fault->index, RTE_MAX_ETHPORTS);
	assert_null(fault->key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_short_connection_is_six_frames, set_up),
		cmocka_unit_test_setup(every_further_request_is_two, set_up),
		cmocka_unit_test_setup(large_bodies_take_segments_and_acks, set_up),
		cmocka_unit_test_setup(a_head_request_has_no_body, set_up),
		cmocka_unit_test_setup(the_server_of_the_file_is_found, set_up),
		cmocka_unit_test_setup(rates_follow_from_the_target, set_up),
		cmocka_unit_test_setup(the_text_says_it, set_up),
		cmocka_unit_test_setup(the_json_says_it, set_up),
		cmocka_unit_test_setup(capture_takes_memory, set_up),
		cmocka_unit_test_setup(the_memory_limit_is_kept, set_up),
		cmocka_unit_test_setup(the_machine_must_hold_what_the_load_touches, set_up),
		cmocka_unit_test_setup(devices_have_so_many_queues, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
