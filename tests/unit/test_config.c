/* Configurations: every golden file of tests/golden/config says exactly what its .err says, and
 * good ones become the structs that they mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/config/config.h"
#include "../support/golden.h"

static bool filter_is_wrong(const char *expression, char *why, size_t size)
{
	snprintf(why, size, "filter \"%s\": syntax error", expression);
	return strstr(expression, "prot") != NULL;
}

/* A small machine: no limit below 1000 bytes can be kept, three ports, a queue for each core. */
static unsigned faults(const struct config *config, struct config_fault *fault, unsigned most)
{
	unsigned count = 0;

	assert_true(most >= 3);
	if (config->memory_limit && config->memory_limit < 1000)
		fault[count++] =
			(struct config_fault){.key = "memory", .inner = "limit", .why = "too few"};
	if (config->ports > 3)
		fault[count++] =
			(struct config_fault){.list = "ports", .index = 3, .why = "one too many"};
	if (config->ports && config->port[0].cores > 8)
		fault[count++] = (struct config_fault){
			.list = "ports", .key = "cores", .why = "too many queues"};
	return count;
}

/* The only capture file has two packets of 60 bytes. */
static uint32_t packet_read(const char *file, uint64_t number, uint8_t *data, uint32_t size,
			    char *why, size_t why_size)
{
	if (number > 2 || strcmp(file, "two.pcap") != 0) {
		snprintf(why, why_size, "%s: no packet %lu", file, (unsigned long)number);
		return 0;
	}
	assert_true(size >= 60);
	memset(data, (int)number, 60);
	return 60;
}

static const struct config_machine two_cores = {2, filter_is_wrong, faults, packet_read};
static const struct config_machine many_cores = {.cores = 64};

static void directory_enter(const char *below_source)
{
	const char *tests = getenv("TEST_SOURCE_DIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", tests ? tests : "tests", below_source);
	assert_int_equal(chdir(path), 0);
}

/* Load a text; returns what was said of it, to be freed. */
static char *load(struct config *config, const char *text, const char *const *set, unsigned sets)
{
	char name[] = "/tmp/onager-test-XXXXXX";
	int file = mkstemp(name);
	char *said = NULL;
	size_t length;
	FILE *errors = open_memstream(&said, &length);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	config_load(config, name, set, sets, &two_cores, errors);
	fclose(errors);
	unlink(name);
	return said;
}

static void load_good(struct config *config, const char *text)
{
	char *said = load(config, text, NULL, 0);

	assert_string_equal(said, "");
	free(said);
}

/* A client over a cable with more keys in its port and its traffic entry. */
static void load_client(struct config *config, const char *kind, const char *port_keys,
			const char *traffic_keys)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "{\"duration\": \"1s\", \"ports\": [{\"device\": \"if:eth0\", \"cores\": [0]%s}],"
		 "\"traffic\": [{\"kind\": \"%s\", \"servers\": \"48.0.0.1\"%s}]}",
		 port_keys, kind, traffic_keys);
	load_good(config, text);
}

/* Settings of a golden file: the lines of NAME.set. */
static unsigned settings_read(const char *name, char **text, const char **set, unsigned most)
{
	FILE *file = fopen(name, "r");
	unsigned count = 0;
	size_t size = 0;

	*text = NULL;
	if (!file)
		return 0;
	assert_true(getdelim(text, &size, '\0', file) > 0);
	fclose(file);
	for (char *line = strtok(*text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(count < most);
		set[count++] = line;
	}
	return count;
}

static void golden_config_check(const char *name)
{
	char file[256], path[300], *settings, *said = NULL;
	const char *set[64];
	unsigned sets;
	size_t length;
	FILE *errors = open_memstream(&said, &length);
	struct config config;
	int result;

	snprintf(file, sizeof(file), "%s.set", name);
	sets = settings_read(file, &settings, set, 64);
	snprintf(file, sizeof(file), "%s.json", name);
	result = config_load(&config, file, set, sets, &two_cores, errors);
	fclose(errors);
	if (!result)
		fail_msg("%s was accepted", file);
	snprintf(path, sizeof(path), "config/%s.err", name);
	golden_check(path, said);
	free(said);
	free(settings);
}

static void test_golden(void **state)
{
	DIR *directory;
	unsigned count = 0;

	(void)state;
	directory_enter("golden/config");
	directory = opendir(".");
	assert_non_null(directory);
	for (struct dirent *entry; (entry = readdir(directory));) {
		char *end = strstr(entry->d_name, ".json");

		if (!end)
			continue;
		*end = '\0';
		golden_config_check(entry->d_name);
		count++;
	}
	closedir(directory);
	assert_true(count >= 100);
}

static void test_conf_is_good(void **state)
{
	struct dirent **entry;
	int count;

	(void)state;
	directory_enter("../conf");
	count = scandir(".", &entry, NULL, alphasort);
	assert_true(count > 2);
	for (int i = 0; i < count; i++) {
		struct config config;

		if (strstr(entry[i]->d_name, ".json")) {
			assert_int_equal(config_load(&config, entry[i]->d_name, NULL, 0,
						     &many_cores, stderr),
					 0);
			config_free(&config);
		}
		free(entry[i]);
	}
	free(entry);
}

/* A file as a text, to be freed. */
static char *file_text(const char *name)
{
	FILE *file = fopen(name, "r");
	char *text = NULL;
	size_t size = 0;

	assert_non_null(file);
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	fclose(file);
	return text;
}

/* conf/schema/onager.json is what `onager schema` prints; GOLDEN_UPDATE writes it anew. */
static void test_schema_is_current(void **state)
{
	char *schema = NULL, *written;
	size_t length;
	FILE *out = open_memstream(&schema, &length);

	(void)state;
	config_schema(out);
	fclose(out);
	if (getenv("GOLDEN_UPDATE"))
		golden_write("../../conf/schema/onager.json", schema);
	directory_enter("../conf/schema");
	written = file_text("onager.json");
	assert_string_equal(written, schema);
	free(written);
	free(schema);
}

static void test_help_has_every_key(void **state)
{
	char *help = NULL;
	size_t length;
	FILE *out = open_memstream(&help, &length);

	(void)state;
	config_help(out);
	fclose(out);
	assert_non_null(strstr(help, "\nports[].gateway_mac\n"));
	assert_non_null(strstr(help, "\ntraffic[].load.cps\n"));
	assert_non_null(strstr(help, "\ntraffic[].tcp.retries\n"));
	assert_non_null(strstr(help, "Default: 1024-65535."));
	free(help);
}

static void test_defaults(void **state)
{
	struct config c;
	const struct config_port *port;
	const struct config_traffic *traffic;

	(void)state;
	load_client(&c, "http-client", "", ",\"clients\": \"16.0.0.1\", \"load\": {\"cps\": 1}");
	assert_int_equal(c.duration, 1000000000);
	assert_int_equal(c.ramp, 0);
	assert_int_equal(c.drain, 2000000000);
	assert_int_equal(c.seed, 1);
	assert_int_equal(c.hugepages, HUGEPAGES_AUTO);
	assert_int_equal(c.memory_limit, 0);
	assert_int_equal(c.eal_args, 0);
	assert_int_equal(c.report_interval, 1000000000);
	assert_null(c.report_json);
	assert_int_equal(c.expects, 0);
	assert_int_equal(c.ports, 1);
	port = &c.port[0];
	assert_string_equal(port->name, "port0");
	assert_int_equal(port->addresses, 1);
	assert_true(port->address[0].address == 0x10000001);
	assert_int_equal(port->address[0].prefix, 32);
	assert_false(port->has_gateway || port->has_gateway_mac || port->checksum_offload);
	assert_true(port->verify_checksums);
	assert_int_equal(port->resolve_timeout, 3000000000);
	assert_int_equal(port->mtu, 1500);
	assert_int_equal(port->vlans, 0);
	assert_int_equal(port->tos, 0);
	assert_int_equal(port->rx_descriptors, 1024);
	assert_int_equal(port->tx_descriptors, 1024);
	traffic = &c.traffic[0];
	assert_string_equal(traffic->name, "traffic0");
	assert_int_equal(traffic->port, 0);
	assert_int_equal(traffic->client_ports.count, 64512);
	assert_int_equal(traffic->client_ports.range[0].first, 1024);
	assert_int_equal(traffic->server_ports.count, 1);
	assert_int_equal(traffic->server_ports.range[0].last, 80);
	assert_int_equal(traffic->load.rps.den, 0);
	assert_int_equal(traffic->load.concurrency, 0);
	assert_int_equal(traffic->requests_per_connection, 1);
	assert_int_equal(traffic->timeout, 5000000000);
	assert_int_equal(traffic->catch_up, 100000000);
	assert_string_equal(traffic->request.method, "GET");
	assert_string_equal(traffic->request.path, "/");
	assert_string_equal(traffic->request.host, "onager");
	assert_int_equal(traffic->response.status, 0);
	assert_int_equal(traffic->request.body_size, 0);
	assert_int_equal(traffic->tcp.mss, 0);
	assert_int_equal(traffic->tcp.window, 65536);
	assert_int_equal(traffic->tcp.initial_rto, 1000000000);
	assert_int_equal(traffic->tcp.retries, 5);
	assert_false(traffic->tcp.handshake_ack || traffic->tcp.separate_fin);
	config_free(&c);
}

static void test_defaults_by_kind(void **state)
{
	struct config c;

	(void)state;
	load_client(&c, "http-server", "", "");
	assert_int_equal(c.traffic[0].kind, HTTP_SERVER);
	assert_int_equal(c.traffic[0].clients.ranges, 0);
	assert_int_equal(c.traffic[0].response.status, 200);
	assert_int_equal(c.traffic[0].response.body_size, 1);
	assert_int_equal(c.traffic[0].timeout, 5000000000);
	assert_int_equal(c.traffic[0].requests_per_connection, CONFIG_UNLIMITED);
	assert_true(c.port[0].address[0].address == 0x30000001);
	config_free(&c);
	load_client(&c, "http-server", "", ",\"response\": {\"status\": 204}");
	assert_int_equal(c.traffic[0].response.body_size, 0);
	config_free(&c);
	load_client(&c, "tcp-server", "", "");
	assert_int_equal(c.traffic[0].request.body_size, 1);
	assert_int_equal(c.traffic[0].response.body_size, 1);
	config_free(&c);
	load_client(&c, "tcp-server", "",
		    ",\"request\": {\"size\": 7}, \"response\": {\"body\": {\"size\": \"2Ki\"}}");
	assert_int_equal(c.traffic[0].request.body_size, 7);
	assert_int_equal(c.traffic[0].response.body_size, 2048);
	config_free(&c);
}

static uint32_t requests_of(const char *keys)
{
	struct config c;
	uint32_t requests;
	char text[512];

	snprintf(text, sizeof(text), ",\"clients\": \"16.0.0.1\", %s", keys);
	load_client(&c, "http-client", "", text);
	requests = c.traffic[0].requests_per_connection;
	config_free(&c);
	return requests;
}

static void test_requests_per_connection(void **state)
{
	(void)state;
	assert_int_equal(requests_of("\"load\": {\"cps\": 1}"), 1);
	assert_int_equal(requests_of("\"load\": {\"concurrency\": 9}"), 1);
	assert_int_equal(requests_of("\"load\": {\"cps\": 1, \"concurrency\": 9}"),
			 CONFIG_UNLIMITED);
	assert_int_equal(requests_of("\"load\": {\"cps\": 1}, \"think_time\": \"1s\""),
			 CONFIG_UNLIMITED);
	assert_int_equal(requests_of("\"load\": {\"cps\": 1, \"concurrency\": 9}, "
				     "\"requests_per_connection\": 3"),
			 3);
	assert_int_equal(requests_of("\"load\": {\"cps\": 1}, \"requests_per_connection\": 0"),
			 CONFIG_UNLIMITED);
	assert_int_equal(
		requests_of("\"load\": {\"cps\": 1}, \"requests_per_connection\": \"max\""),
		CONFIG_UNLIMITED);
}

static struct rate rate_of(const char *key, const char *value)
{
	struct config c;
	struct rate rate;
	char text[512];

	snprintf(text, sizeof(text), ",\"clients\": \"16.0.0.1\", \"load\": {\"%s\": %s}", key,
		 value);
	load_client(&c, "http-client", "", text);
	rate = strcmp(key, "cps") == 0 ? c.traffic[0].load.cps : c.traffic[0].load.bps;
	config_free(&c);
	return rate;
}

#define assert_rate(key, value, want_num, want_den)      \
	do {                                             \
		struct rate rate_ = rate_of(key, value); \
		assert_true(rate_.num == (want_num));    \
		assert_true(rate_.den == (want_den));    \
	} while (0)

static void test_rates_are_exact(void **state)
{
	(void)state;
	assert_rate("cps", "5100000", 5100000, 1);
	assert_rate("cps", "5.1e6", 5100000, 1);
	assert_rate("cps", "\"5.1m\"", 5100000, 1);
	assert_rate("cps", "\"5.1M\"", 5100000, 1);
	assert_rate("cps", "0.1", 1, 10);
	assert_rate("cps", "\"0.1\"", 1, 10);
	assert_rate("cps", "0.5", 1, 2);
	assert_rate("cps", "1e-9", 1, 1000000000);
	assert_rate("cps", "0.333333333333333333", 333333333333333333, 1000000000000000000);
	assert_rate("cps", "9007199254740993", 9007199254740993, 1);
	assert_rate("cps", "1.000000000000000000000000000000", 1, 1);
	assert_rate("cps", "\"1Ki\"", 1024, 1);
	assert_rate("cps", "\"max\"", UINT64_MAX, 1);
	assert_rate("bps", "\"10Gbps\"", 10000000000, 1);
	assert_rate("bps", "\"2.5gbps\"", 2500000000, 1);
	assert_rate("bps", "\"100bps\"", 100, 1);
	assert_rate("bps", "\"10g\"", 10000000000, 1);
	assert_rate("bps", "\"max\"", UINT64_MAX, 1);
}

static uint64_t think_time_of(const char *value)
{
	struct config c;
	uint64_t ns;
	char text[512];

	snprintf(text, sizeof(text),
		 ",\"clients\": \"16.0.0.1\", \"load\": {\"cps\": 1}, \"think_time\": %s", value);
	load_client(&c, "http-client", "", text);
	ns = c.traffic[0].think_time;
	config_free(&c);
	return ns;
}

static void test_times(void **state)
{
	(void)state;
	assert_int_equal(think_time_of("0"), 0);
	assert_int_equal(think_time_of("\"0s\""), 0);
	assert_int_equal(think_time_of("\"5ns\""), 5);
	assert_int_equal(think_time_of("\"10us\""), 10000);
	assert_int_equal(think_time_of("\"1ms\""), 1000000);
	assert_int_equal(think_time_of("\"1.5s\""), 1500000000);
	assert_int_equal(think_time_of("\"2m\""), 120000000000);
	assert_int_equal(think_time_of("\"4h\""), 14400000000000);
	assert_int_equal(think_time_of("\"1d\""), 86400000000000);
}

static void test_pools(void **state)
{
	struct config c;
	const struct config_traffic *t = NULL;

	(void)state;
	load_client(&c, "http-client", "",
		    ",\"clients\": [\"10.0.0.1-10.0.0.200\", \"11.0.0.0/8\", \"9.0.0.1,9.0.0.3\"],"
		    "\"client_ports\": \"2000-2003,1024\", \"server_ports\": [443, \"80-83\"],"
		    "\"load\": {\"concurrency\": \"max\"}, \"max_connections\": \"1m\"");
	t = &c.traffic[0];
	assert_int_equal(t->clients.ranges, 4);
	assert_int_equal(t->clients.family, 4);
	assert_true(t->clients.count == 200 + 16777216 + 2);
	assert_true(t->clients.range[0].first == 0x0a000001 && t->clients.range[0].count == 200);
	assert_true(t->clients.range[1].first == 0x0b000000);
	assert_true(t->clients.range[3].first == 0x09000003 && t->clients.range[3].count == 1);
	assert_int_equal(t->client_ports.ranges, 2);
	assert_int_equal(t->client_ports.count, 5);
	assert_int_equal(t->client_ports.range[1].first, 1024);
	assert_int_equal(t->server_ports.count, 5);
	assert_int_equal(t->server_ports.range[1].last, 83);
	assert_true(t->load.concurrency == UINT64_MAX);
	assert_int_equal(t->max_connections, 1000000);
	config_free(&c);
}

static void test_port_keys(void **state)
{
	struct config c;
	const struct config_port *p;
	static const uint8_t mac[6] = {2, 0xab, 0, 0, 0, 1};

	(void)state;
	load_client(&c, "http-server",
		    ",\"name\": \"größe\", \"address\": [\"10.0.0.1/24\", \"10.0.1.1/16\"],"
		    "\"gateway\": [\"10.0.2.9\"], \"gateway_mac\": \"02:AB:00:00:00:01\","
		    "\"mtu\": 9000, \"vlan\": [100, 200], \"tos\": 16, \"resolve_timeout\": \"1s\","
		    "\"verify_checksums\": false, \"checksum_offload\": true,"
		    "\"rx_descriptors\": \"2Ki\", \"tx_descriptors\": 512",
		    "");
	p = &c.port[0];
	assert_string_equal(p->name, "größe");
	assert_string_equal(p->device, "if:eth0");
	assert_int_equal(p->addresses, 2);
	assert_int_equal(p->address[1].prefix, 16);
	assert_true(p->address[1].address == 0x0a000101);
	assert_true(p->has_gateway && p->gateway == 0x0a000209);
	assert_true(p->has_gateway_mac);
	assert_memory_equal(p->gateway_mac, mac, 6);
	assert_int_equal(p->mtu, 9000);
	assert_int_equal(p->vlans, 2);
	assert_int_equal(p->vlan[0], 100);
	assert_int_equal(p->vlan[1], 200);
	assert_int_equal(p->tos, 16);
	assert_int_equal(p->resolve_timeout, 1000000000);
	assert_true(p->checksum_offload && !p->verify_checksums);
	assert_int_equal(p->rx_descriptors, 2048);
	assert_int_equal(p->tx_descriptors, 512);
	config_free(&c);
}

static void cores_check(const char *value, unsigned count, uint16_t first, uint16_t last)
{
	struct config c;
	char text[512];

	snprintf(
		text, sizeof(text),
		"{\"duration\": \"1s\", \"ports\": [{\"device\": \"0000:07:00.0\", \"cores\": %s}],"
		"\"traffic\": [{\"kind\": \"http-server\", \"servers\": \"48.0.0.1\"}]}",
		value);
	load_good(&c, text);
	assert_int_equal(c.port[0].cores, count);
	assert_int_equal(c.port[0].core[0], first);
	assert_int_equal(c.port[0].core[count - 1], last);
	config_free(&c);
}

static void test_cores(void **state)
{
	(void)state;
	cores_check("1", 1, 1, 1);
	cores_check("[0, 1]", 2, 0, 1);
	cores_check("[1, 1, 1]", 3, 1, 1);
	cores_check("\"0-1\"", 2, 0, 1);
	cores_check("\"0-1,0\"", 3, 0, 0);
	cores_check("[\"0-1\", 1]", 3, 0, 1);
	cores_check("\"max\"", 2, 0, 1);
}

static void test_messages_and_tcp(void **state)
{
	struct config c;
	const struct config_traffic *t;

	(void)state;
	load_client(
		&c, "http-client", "",
		",\"clients\": \"16.0.0.1\", \"load\": {\"rps\": 1}, \"timeout\": \"120s\","
		"\"catch_up\": 0, \"request\": {\"method\": \"POST\", \"path\": \"/ä?b=c\","
		"\"host\": \"x.example\", \"headers\": {\"X-A\": \"1\", "
		"\"x-b\": \"\"},"
		"\"body\": {\"size\": \"1Gi\"}}, \"response\": {\"status\": 404}, \"tcp\": "
		"{\"mss\": 1460, \"window\": \"1Gi\","
		"\"initial_rto\": \"200ms\", \"retries\": 0, \"handshake_ack\": true,"
		"\"separate_fin\": true, \"scale\": 14, \"timestamps\": \"peer\", \"ecn\": true, "
		"\"delayed_ack\": \"40ms\", \"ack_every\": 4}");
	t = &c.traffic[0];
	assert_int_equal(t->timeout, 120000000000);
	assert_int_equal(t->catch_up, 0);
	assert_string_equal(t->request.method, "POST");
	assert_string_equal(t->request.path, "/ä?b=c");
	assert_string_equal(t->request.host, "x.example");
	assert_int_equal(t->response.status, 404);
	assert_true(t->response.body_size == CONFIG_ANY_SIZE);
	assert_int_equal(t->request.headers, 2);
	assert_string_equal(t->request.header[0].name, "X-A");
	assert_string_equal(t->request.header[0].value, "1");
	assert_string_equal(t->request.header[1].value, "");
	assert_int_equal(t->request.body_size, 1u << 30);
	assert_int_equal(t->tcp.mss, 1460);
	assert_int_equal(t->tcp.window, 1u << 30);
	assert_int_equal(t->tcp.initial_rto, 200000000);
	assert_int_equal(t->tcp.retries, 0);
	assert_true(t->tcp.handshake_ack && t->tcp.separate_fin);
	assert_int_equal(t->tcp.scale, SCALE_0 + 14);
	assert_int_equal(t->tcp.timestamps, TIMESTAMPS_PEER);
	assert_true(t->tcp.ecn);
	assert_int_equal(t->tcp.delayed_ack, 40000000);
	assert_int_equal(t->tcp.ack_every, 4);
	config_free(&c);
}

static const char whole[] =
	"\xef\xbb\xbf// größer\r\n{ /* \" // */ \"$schema\": \"x\", \"duration\": \"1h\",\n"
	"\"seed\": 18446744073709551615, \"ramp\": \"1.5m\", \"drain\": 0,\n"
	"\"memory\": {\"hugepages\": false, \"limit\": \"2Gi\"},\n"
	"\"eal\": [\"--log-level=lib.eal:info\", \"-v\"],\n"
	"\"report\": {\"interval\": \"100ms\", \"json\": \"a // b.json\"},\n"
	"\"traffic\": [\n"
	"  {\"name\": \"web\", \"port\": \"b\", \"kind\": \"http-server\", \"servers\": "
	"\"48.0.0.1\"},\n"
	"  {\"port\": \"a\", \"kind\": \"tcp-client\", \"servers\": \"48.0.0.1\",\n"
	"   \"clients\": \"16.0.0.1\", \"load\": {\"cps\": \"max\"}}],\n"
	"\"ports\": [{\"name\": \"a\", \"device\": \"loop:x\", \"cores\": 0},\n"
	"          {\"name\": \"b\", \"device\": \"loop:x\", \"cores\": 1}],\n"
	"\"expect\": [{\"metric\": \"traffic.web.achieved.cps\", \"min\": \"-1.5k\"},\n"
	"           {\"metric\": \"total.drops.tcp.bad_seq\", \"min\": 0, \"max\": 0.25}]}\n";

static void test_whole_file(void **state)
{
	struct config c;

	(void)state;
	load_good(&c, whole);
	assert_true(c.seed == UINT64_MAX);
	assert_int_equal(c.ramp, 90000000000);
	assert_int_equal(c.drain, 0);
	assert_int_equal(c.hugepages, HUGEPAGES_OFF);
	assert_int_equal(c.memory_limit, 2ull << 30);
	assert_int_equal(c.eal_args, 2);
	assert_string_equal(c.eal[1], "-v");
	assert_int_equal(c.report_interval, 100000000);
	assert_string_equal(c.report_json, "a // b.json");
	assert_int_equal(c.traffics, 2);
	assert_int_equal(c.traffic[0].port, 1);
	assert_int_equal(c.traffic[1].port, 0);
	assert_int_equal(c.expects, 2);
	assert_int_equal(c.expect[0].kinds, EXPECT_MIN);
	assert_true(fabs(c.expect[0].min + 1500) < 1e-9);
	assert_int_equal(c.expect[1].kinds, EXPECT_MIN | EXPECT_MAX);
	assert_true(fabs(c.expect[1].max - 0.25) < 1e-9);
	assert_non_null(strstr(c.json, "\"seed\":18446744073709551615,"));
	assert_null(strchr(c.json, '\n'));
	config_free(&c);
}

static void test_set(void **state)
{
	static const char *const set[] = {
		"duration=5s",
		"traffic.1.load.cps=5000",
		"traffic[1].load.concurrency=7",
		"traffic.1.tcp.retries=3",
		"traffic.0.response={\"body\": {\"size\": 9}}",
		"memory.hugepages=true",
		"ports.0.cores=[1, 0]",
		"report.json=-",
		"expect.2.metric=total.skErr",
		"expect.2.max=0",
	};
	struct config c;
	char *said;

	(void)state;
	said = load(&c, whole, set, sizeof(set) / sizeof(*set));
	assert_string_equal(said, "");
	free(said);
	assert_int_equal(c.duration, 5000000000);
	assert_true(c.traffic[1].load.cps.num == 5000 && c.traffic[1].load.cps.den == 1);
	assert_int_equal(c.traffic[1].load.concurrency, 7);
	assert_int_equal(c.traffic[1].tcp.retries, 3);
	assert_int_equal(c.traffic[0].response.body_size, 9);
	assert_int_equal(c.hugepages, HUGEPAGES_ON);
	assert_int_equal(c.port[0].core[0], 1);
	assert_string_equal(c.report_json, "-");
	assert_int_equal(c.expects, 3);
	assert_non_null(strstr(c.json, "\"duration\":\"5s\""));
	config_free(&c);
}

/* A file much longer than any buffer one would think of. */
static void test_long_lists(void **state)
{
	struct config c;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	fprintf(out, "{\"duration\": \"1s\", \"ports\": [{\"name\": \"");
	for (int i = 0; i < 100000; i++)
		fputc('n', out);
	fprintf(out, "\", \"device\": \"if:e\", \"cores\": 0}], \"traffic\": [{\"kind\": "
		     "\"http-server\", \"servers\": [");
	for (int i = 0; i < 5000; i++)
		fprintf(out, "%s\"10.%d.%d.1\"", i ? "," : "", i / 250, i % 250);
	fprintf(out, "]}]}");
	fclose(out);
	load_good(&c, text);
	assert_int_equal(strlen(c.port[0].name), 100000);
	assert_int_equal(c.traffic[0].servers.ranges, 5000);
	assert_true(c.traffic[0].servers.range[4999].first == 0x0a13f901);
	config_free(&c);
	free(text);
}

/* Every cut of a good file is an error with a place, and nothing leaks or crashes. */
static void test_every_cut(void **state)
{
	char text[sizeof(whole)];

	(void)state;
	for (size_t length = 0; length + 2 < sizeof(whole); length++) {
		struct config c;
		char *said;

		memcpy(text, whole, length);
		text[length] = '\0';
		said = load(&c, text, NULL, 0);
		assert_non_null(strstr(said, ": expected "));
		assert_non_null(strchr(said, '\n'));
		assert_null(c.json);
		free(said);
	}
}

/* Files named by a configuration are sought beside it; by a setting, where we are. */
static void test_named_files(void **state)
{
	static const char text[] =
		"{\"duration\": \"1s\", \"ports\": [{\"name\": \"c\", \"device\": \"net_null0\", "
		"\"cores\": [0], \"address\": \"10.0.0.1/24\"}], \"traffic\": [{\"name\": \"a\", "
		"\"kind\": \"http-client\", \"clients\": \"10.0.0.3\", \"servers\": \"10.0.0.2\", "
		"\"load\": {\"cps\": 1}, \"payloads\": \"attacks\"}]}";
	const char *set[] = {"traffic.0.payloads=attacks"};
	char directory[] = "/tmp/onager-config-XXXXXX", name[64], *said = NULL;
	struct config c;
	size_t size;
	FILE *out;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof(name), "%s/attacks", directory);
	out = fopen(name, "w");
	fputs("one\ntwo\n", out);
	fclose(out);
	snprintf(name, sizeof(name), "%s/lab.json", directory);
	out = fopen(name, "w");
	fputs(text, out);
	fclose(out);
	out = open_memstream(&said, &size);
	assert_int_equal(config_load(&c, name, NULL, 0, &two_cores, out), 0);
	assert_int_equal(c.traffic[0].payloads.count, 8);
	config_free(&c);
	assert_int_equal(config_load(&c, name, set, 1, &two_cores, out), -1);
	fclose(out);
	assert_string_equal(said, "--set traffic.0.payloads=attacks: traffic[0].payloads: attacks: "
				  "No such file or directory\n");
	free(said);
	config_free(&c);
	unlink(name);
	snprintf(name, sizeof(name), "%s/attacks", directory);
	unlink(name);
	rmdir(directory);
}

static void test_missing_file(void **state)
{
	struct config c;
	char *said = NULL;
	size_t length;
	FILE *errors = open_memstream(&said, &length);

	(void)state;
	assert_int_equal(config_load(&c, "/nowhere/lab.json", NULL, 0, &two_cores, errors), -1);
	fflush(errors);
	assert_string_equal(said, "/nowhere/lab.json: No such file or directory\n");
	assert_int_equal(config_load(&c, "/", NULL, 0, &two_cores, errors), -1);
	fclose(errors);
	assert_non_null(strstr(said, "/: Is a directory\n"));
	free(said);
}

static void test_capture(void **state)
{
	struct config_packets *packets;
	struct config c;

	(void)state;
	load_good(&c,
		  "{\"duration\": \"1s\", \"ports\": [{\"device\": \"if:eth0\", \"cores\": [0]},"
		  "{\"name\": \"b\", \"device\": \"if:eth1\", \"cores\": [0]}], \"traffic\": "
		  "[{\"kind\": \"http-server\", \"port\": \"b\", \"servers\": \"48.0.0.1\"}],"
		  "\"capture\": {\"drops\": \"d.pcapng\", \"packets\": [{\"file\": \"a\"},"
		  "{\"file\": \"b\", \"port\": \"b\", \"direction\": \"tx\", \"filter\": \"tcp\","
		  "\"snaplen\": 96, \"format\": \"pcap\", \"limit\": \"1k\", \"file_size\": "
		  "\"1Mi\", \"file_packets\": 7, \"file_time\": \"1m\", \"files\": 3}]}}");
	assert_string_equal(c.capture.drops, "d.pcapng");
	assert_int_equal(c.capture.per_reason_per_second, 10);
	assert_int_equal(c.capture.snaplen, 256);
	assert_int_equal(c.capture.packet_files, 2);
	packets = c.capture.packets;
	assert_string_equal(packets[0].file, "a");
	assert_int_equal(packets[0].port, CONFIG_UNLIMITED);
	assert_int_equal(packets[0].direction, CAPTURE_BOTH);
	assert_null(packets[0].filter);
	assert_int_equal(packets[0].snaplen, 65535);
	assert_int_equal(packets[0].format, CAPTURE_PCAPNG);
	assert_true(!packets[0].limit && !packets[0].file_size && !packets[0].file_packets &&
		    !packets[0].file_time && !packets[0].files);
	assert_int_equal(packets[1].port, 1);
	assert_int_equal(packets[1].direction, CAPTURE_TX);
	assert_string_equal(packets[1].filter, "tcp");
	assert_int_equal(packets[1].snaplen, 96);
	assert_int_equal(packets[1].format, CAPTURE_PCAP);
	assert_int_equal(packets[1].limit, 1000);
	assert_int_equal(packets[1].file_size, 1 << 20);
	assert_int_equal(packets[1].file_packets, 7);
	assert_true(packets[1].file_time == 60000000000);
	assert_int_equal(packets[1].files, 3);
	config_free(&c);
}

/* An entry of both sides is two, and other entries lose nothing by it. */
static void test_conversation(void **state)
{
	const struct config_traffic *client, *server;
	struct config c;

	(void)state;
	load_good(&c,
		  "{\"duration\": \"1s\", \"ports\": [{\"name\": \"a\", \"device\": \"if:eth0\","
		  "\"cores\": 0}, {\"name\": \"b\", \"device\": \"if:eth1\", \"cores\": 0}],"
		  "\"traffic\": [{\"name\": \"t\", \"kind\": \"conversation\", \"port\": \"a\","
		  "\"server_port\": \"b\", \"files\": [\"x\", \"y\"], \"weigh\": \"files\","
		  "\"clients\": \"10.0.0.1\", \"servers\": \"10.0.0.2\", \"load\": {\"cps\": 5},"
		  "\"think_time_factor\": 0.5, \"max_think_time\": \"2s\"},"
		  "{\"kind\": \"http-server\", \"port\": \"b\", \"servers\": \"10.0.0.3\"},"
		  "{\"kind\": \"http-server\", \"port\": \"b\", \"servers\": \"10.0.0.4\"}],"
		  "\"expect\": [{\"metric\": \"traffic.t-server.failed.mismatch\", \"max\": 0}]}");
	assert_int_equal(c.traffics, 4);
	client = &c.traffic[0];
	server = &c.traffic[3];
	assert_int_equal(client->kind, CONVERSATION_CLIENT);
	assert_int_equal(client->load.cps.num, 5);
	assert_int_equal(server->kind, CONVERSATION_SERVER);
	assert_string_equal(server->name, "t-server");
	assert_int_equal(server->port, 1);
	assert_int_equal(server->load.cps.den, 0);
	assert_int_equal(server->clients.count, 0);
	assert_true(server->servers.count == 1);
	for (unsigned i = 0; i < 2; i++) {
		const struct script_options *o = &c.traffic[3 * i].conversation;

		assert_int_equal(o->files, 2);
		assert_int_equal(o->weigh, WEIGH_FILES);
		assert_int_equal(o->flow, 0);
		assert_int_equal(o->max_think, 2000000000);
		assert_true(fabs(o->think_factor - 0.5) < 1e-9);
		assert_int_equal(o->memory, 1u << 30);
	}
	config_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_conversation),
		cmocka_unit_test(test_conf_is_good),
		cmocka_unit_test(test_schema_is_current),
		cmocka_unit_test(test_help_has_every_key),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_defaults_by_kind),
		cmocka_unit_test(test_requests_per_connection),
		cmocka_unit_test(test_rates_are_exact),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_port_keys),
		cmocka_unit_test(test_cores),
		cmocka_unit_test(test_messages_and_tcp),
		cmocka_unit_test(test_whole_file),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_named_files),
		cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
