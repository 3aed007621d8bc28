/* Networks behind a port: what they say themselves, what they have from the port, and where the
 * traffic goes that names one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/config/config.h"

#define SERVER "{\"kind\": \"http-server\", \"servers\": "

static void load(struct config *config, const char *networks, const char *traffic)
{
	static const struct config_machine machine = {.cores = 2};
	char name[] = "/tmp/onager-test-XXXXXX";
	FILE *file = fdopen(mkstemp(name), "w");

	assert_non_null(file);
	fprintf(file,
		"{\"duration\": \"1s\", \"ports\": [{\"name\": \"c\", \"device\": \"net_null0\", "
		"\"cores\": [0, 1], \"address\": \"10.0.0.1/24\", \"gateway\": \"10.0.0.254\", "
		"\"mtu\": 4000, \"tos\": 8, \"announce\": true, \"networks\": [%s]}], "
		"\"traffic\": [%s]}",
		networks, traffic);
	fclose(file);
	assert_int_equal(config_load(config, name, NULL, 0, &machine, stderr), 0);
	unlink(name);
}

static void test_a_network_has_its_own_place(void **state)
{
	struct config c;
	const struct config_port *n;

	(void)state;
	load(&c,
	     "{\"name\": \"a\", \"vlan\": [100, 7], \"vlan_priority\": 6, \"address\": "
	     "\"10.7.0.1/24\", \"gateway\": \"10.7.0.2\", \"mac\": \"02:00:00:00:00:07\"}, "
	     "{\"name\": \"b\", \"vlan\": 8, \"address\": \"10.8.0.1/24\", \"mtu\": 1400, "
	     "\"tos\": 16, \"announce\": false, \"neighbor\": \"ignore\"}",
	     SERVER "\"10.7.0.9\", \"network\": \"a\"}, " SERVER
		    "\"10.8.0.9\", \"network\": \"b\"}, " SERVER "\"10.0.0.9\"}");
	assert_int_equal(c.devices, 1);
	assert_int_equal(c.ports, 3);
	assert_int_equal(c.port[0].behind, 2);
	assert_int_equal(c.traffic[0].port, 1);
	assert_int_equal(c.traffic[1].port, 2);
	assert_int_equal(c.traffic[2].port, 0);
	n = &c.port[1];
	assert_string_equal(n->name, "c/a");
	assert_int_equal(config_port_host(&c, 1), 0);
	assert_int_equal(n->cores, 2);
	assert_int_equal(n->vlans, 2);
	assert_int_equal(config_port_tag(n, 0), 6 << 13 | 100);
	assert_int_equal(config_port_tag(n, 1), 6 << 13 | 7);
	assert_true(n->has_gateway && n->gateway == 0x0a070002);
	assert_true(n->has_mac && n->mac[5] == 7);
	assert_int_equal(n->mtu, 4000);
	assert_int_equal(c.traffic[0].tos, 8);
	assert_true(n->announce && !n->neighbor_ignore);
	n = &c.port[2];
	assert_false(n->has_gateway || n->has_mac || n->announce);
	assert_true(n->neighbor_ignore);
	assert_int_equal(n->mtu, 1400);
	assert_int_equal(c.traffic[1].tos, 16);
	config_free(&c);
}

static void test_traffic_with_tags_shares_a_network_like_the_port(void **state)
{
	struct config c;

	(void)state;
	load(&c, "{\"name\": \"a\", \"vlan\": 10, \"address\": \"10.1.0.1/24\"}",
	     SERVER "\"10.0.0.2\", \"vlan\": 20}, " SERVER
		    "\"10.0.0.3\", \"vlan\": [5, 20]}, " SERVER
		    "\"10.0.0.4\", \"vlan\": [20]}, " SERVER "\"10.1.0.5\", \"vlan\": 10}, " SERVER
		    "\"10.0.0.6\", \"vlan\": []}");
	assert_int_equal(c.ports, 4);
	assert_int_equal(c.traffic[0].port, 2);
	assert_int_equal(c.traffic[1].port, 3);
	assert_int_equal(c.traffic[2].port, 2);
	assert_int_equal(c.traffic[3].port, 1); /* the one that has these tags */
	assert_int_equal(c.traffic[4].port, 0);
	assert_string_equal(c.port[2].name, "c/vlan20");
	assert_string_equal(c.port[3].name, "c/vlan5-20");
	assert_true(c.port[2].has_gateway && c.port[2].address[0].address == 0x0a000001);
	config_free(&c);
}

/* 300 of them: the list is moved as it grows. */
static void test_many_networks(void **state)
{
	char *networks = NULL, *traffic = NULL;
	size_t length;
	FILE *a = open_memstream(&networks, &length), *b = open_memstream(&traffic, &length);
	struct config c;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		fprintf(a, "%s{\"name\": \"n%u\", \"vlan\": %u}", i ? "," : "", i, i + 1);
		fprintf(b, "%s" SERVER "\"10.0.0.2\", \"network\": \"n%u\"}", i ? "," : "",
			299 - i);
	}
	fclose(a);
	fclose(b);
	load(&c, networks, traffic);
	assert_int_equal(c.ports, 301);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(c.port[c.traffic[i].port].vlan[0], 300 - i);
	config_free(&c);
	free(networks);
	free(traffic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_network_has_its_own_place),
		cmocka_unit_test(test_traffic_with_tags_shares_a_network_like_the_port),
		cmocka_unit_test(test_many_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
