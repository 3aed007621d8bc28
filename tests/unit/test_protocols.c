/* Blasts of every protocol over both families: each flow equally often, and every checksum right,
 * through the fast and the general way of making packets. */
#include "blast_lab.h"

struct flow {
	uint8_t source[16], destination[16];
	uint16_t port[2];
};

struct flows {
	unsigned l3, packets;
	uint8_t protocol;
	struct flow flow[4096];
	uint64_t bytes[4096]; /* the first 8 behind the addresses */
};

static void flows_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct flows *f = arg;
	const uint8_t *ip = frame_bytes(m) + f->l3;
	bool ip6 = ip[0] >> 4 == 6;
	struct flow *flow = &f->flow[f->packets];
	const uint8_t *l4 = ip + (ip6 ? 40 : 20);

	(void)worker;
	(void)now;
	frame_is_right(m, f->l3);
	assert_true(f->packets < 4096);
	memset(flow, 0, sizeof(*flow));
	memcpy(flow->source, ip + (ip6 ? 8 : 12), ip6 ? 16 : 4);
	memcpy(flow->destination, ip + (ip6 ? 24 : 16), ip6 ? 16 : 4);
	f->protocol = ip[ip6 ? 6 : 9];
	if (f->protocol == 1 || f->protocol == 58)
		assert_int_equal(l4[0], ip6 ? 128 : 8);
	if (f->protocol != 253)
		memcpy(flow->port, l4 + (f->protocol == 1 || f->protocol == 58 ? 4 : 0), 4);
	memcpy(&f->bytes[f->packets++], l4, 8);
}

static int flow_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct flow));
}

/* Each flow equally often: `flows` of them, `times` each. */
static void flows_check(struct flows *f, unsigned flows, unsigned times)
{
	unsigned different = 0;

	assert_int_equal(f->packets, flows * times);
	qsort(f->flow, f->packets, sizeof(*f->flow), flow_compare);
	for (unsigned i = 0; i < f->packets; i++) {
		different += !i || flow_compare(&f->flow[i], &f->flow[i - 1]);
		assert_int_equal(flow_compare(&f->flow[i], &f->flow[i - i % times]), 0);
	}
	assert_int_equal(different, flows);
}

#define POOLS4 "'clients': '10.0.0.9-10.0.0.13', 'servers': ['10.1.0.1', '10.2.0.255-10.2.1.0']"
/* Of the first range the last 32 bits go round in the middle. */
#define POOLS6                                               \
	"'clients': '2001:db8::ffff:fffd-2001:db8::1:0:1', " \
	"'servers': ['2001:db8:1::1', '2001:db8:2::ffff-2001:db8:2::1:0000']"

static struct flows flows;

static void blast_check(const char *keys, bool ip6, unsigned vlans, unsigned workers)
{
	static const char *const port[] = {"", ", 'vlan': 7", ", 'vlan': [7, 9]"};
	bool ports = !strstr(keys, "'ip'");
	unsigned all = 5 * 3 * (ports ? 8 : 1);
	char text[1024];
	struct blast_lab *lab;

	snprintf(text, sizeof(text),
		 "'kind': 'udp-blast', %s, 'client_ports': [7, '1000-1002'], "
		 "'server_ports': [9, 5], 'load': {'pps': 'max'}, %s",
		 ip6 ? POOLS6 : POOLS4, keys);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ", 'packets': %u", 2 * all);
	flows = (struct flows){.l3 = 14 + 4 * vlans};
	lab = blast_open(port[vlans], text, workers);
	assert_int_equal(blast_run(lab, 1000, flows_tap, &flows), 2 * all);
	flows_check(&flows, all, 2);
	blast_close(lab);
}

static void test_every_kind(void **state)
{
	static const char *const protocol[] = {"'tag': true", "'tag': false", "'protocol': 'tcp'",
					       "'protocol': 'icmp'", "'protocol': 'ip'"};
	static const char *const walk[] = {"client_ports", "clients", "server_ports", "servers"};
	static const char *const size[] = {"'size': 100", "'sizes': [90, 91]", "'size': 1514"};

	(void)state;
	for (unsigned n = 0; n < 5 * 4 * 3 * 2 * 3 * 2; n++) {
		char keys[256];

		snprintf(keys, sizeof(keys), "%s, 'walk': '%s', %s", protocol[n % 5],
			 walk[n / 5 % 4], size[n / 20 % 3]);
		blast_check(keys, n / 60 % 2, n / 120 % 3, 1 + n / 360 % 2 * 2);
	}
}

/* The smallest SYN is one: no payload, flags and window as said. */
static void test_syn(void **state)
{
	struct blast_lab *lab;

	(void)state;
	for (unsigned ip6 = 0; ip6 < 2; ip6++) {
		char keys[512];

		snprintf(keys, sizeof(keys),
			 "'kind': 'udp-blast', %s, 'protocol': 'tcp', 'packets': 100, "
			 "'load': {'pps': 'max'}, 'modify': [{'field': 'tcp.seq', 'op': 'random'}, "
			 "{'field': 'tcp.flags', 'op': 'list', 'values': [2, 18]}]%s",
			 ip6 ? POOLS6 : POOLS4, ip6 ? ", 'size': 74" : "");
		flows = (struct flows){.l3 = 14};
		lab = blast_open("", keys, 1);
		assert_int_equal(blast_run(lab, 1000, flows_tap, &flows), 100);
		assert_int_equal(flows.protocol, 6);
		assert_int_equal(lab->worker[0].counters.value[COUNTER_TCP_TX], 100);
		assert_int_equal(lab->worker[0].counters.value[COUNTER_UDP_TX], 0);
		for (unsigned i = 1; i < 100; i++) /* sequence numbers */
			assert_true(flows.bytes[i] >> 32 != flows.bytes[i - 1] >> 32);
		blast_close(lab);
	}
}

struct field {
	unsigned offset, bytes, packets;
	uint64_t value[256];
};

static void field_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct field *f = arg;
	uint64_t value = 0;

	(void)worker;
	(void)now;
	frame_is_right(m, 14);
	for (unsigned i = 0; i < f->bytes; i++)
		value = value << 8 | frame_bytes(m)[f->offset + i];
	f->value[f->packets++] = value;
}

static void field_read(struct field *f, const char *keys, const char *modify, unsigned offset,
		       unsigned bytes)
{
	char text[512];
	struct blast_lab *lab;

	snprintf(text, sizeof(text),
		 "'kind': 'udp-blast', 'load': {'pps': 'max'}, 'packets': 256, "
		 "%s, 'modify': [{'field': %s}]",
		 keys, modify);
	*f = (struct field){.offset = offset, .bytes = bytes};
	lab = blast_open("", text, 1);
	assert_int_equal(blast_run(lab, 1000, field_tap, f), 256);
	blast_close(lab);
}

static void test_fields(void **state)
{
	static struct field f;

	(void)state;
	field_read(&f, POOLS6 ", 'tos': 96", "'ip.tos', 'step': 3", 14, 4);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], 0x60000000 | ((96 + 3 * i) & 0xff) << 20);
	field_read(&f, POOLS6, "'ip.flow', 'start': 1048575", 14, 4);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], 0x60000000 | ((1048575 + i) & 0xfffff));
	field_read(&f, POOLS6, "'ip.ttl', 'op': 'decrement'", 21, 1);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], (64 - i) & 0xff);
	field_read(&f, POOLS6, "'ip.src', 'start': '::ffff:0', 'step': 256", 30, 8);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], 0xffff0000ull + 256 * i);
	field_read(&f, POOLS6, "'ip.dst', 'op': 'list', 'values': ['::1', '::1:2:3:4']", 46, 8);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], i % 2 ? 0x1000200030004ull : 1);
	field_read(&f, POOLS6 ", 'protocol': 'icmp'", "'icmp.seq', 'start': 65535", 60, 2);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], (uint16_t)(65535 + i));
	field_read(&f, POOLS4 ", 'protocol': 'icmp'", "'icmp.id', 'start': 1", 38, 2);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], 1 + i);
	field_read(&f, POOLS4 ", 'protocol': 'tcp'", "'tcp.window', 'start': 1", 48, 2);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], 1 + i);
	field_read(&f, POOLS4 ", 'protocol': 'tcp', 'tcp_flags': ['ack', 'psh']", "'tcp.ack'", 42,
		   6);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(f.value[i], (uint64_t)i << 16 | 0x5018);
}

static void vlan_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	(void)worker;
	(void)now;
	assert_memory_equal(frame_bytes(m) + 12, arg, 10);
	frame_is_right(m, 22);
}

/* A blast's own priority instead of the port's. */
static void test_vlan(void **state)
{
	static const uint8_t tags[] = {0x88, 0xa8, 0xa0, 3, 0x81, 0, 0xa0, 4, 8, 0};
	struct blast_lab *lab;

	(void)state;
	lab = blast_open(", 'vlan': [3, 4], 'vlan_priority': 1",
			 "'kind': 'udp-blast', 'load': {'pps': 'max'}, 'packets': 10, " POOLS4
			 ", 'vlan_priority': 5",
			 1);
	assert_int_equal(blast_run(lab, 1000, vlan_tap, (void *)tags), 10);
	blast_close(lab);
}

/* The next hop of each server, as they step. */
static void test_on_link6(void **state)
{
	static const uint8_t mac[2][6] = {{2, 0, 0, 0, 1, 1}, {2, 0, 0, 0, 1, 2}};
	u128 server = (u128)0x20010db800010000 << 64 | 1;
	struct blast_lab *lab;

	(void)state;
	lab = blast_open("",
			 "'kind': 'udp-blast', 'load': {'pps': 'max'}, 'packets': 10, "
			 "'walk': 'servers', 'clients': '2001:db8::1', 'client_ports': 7, "
			 "'servers': '2001:db8:1::1-2001:db8:1::2'",
			 1);
	lab->nexthop.has_gateway6 = false;
	blast_start_all(lab);
	assert_int_equal(blast_step(lab, 0, BLAST_NOW, NULL, NULL), 0);
	assert_true(lab->nexthop.wanted);
	for (unsigned i = 0; i < 2; i++)
		nexthop_learn6(&lab->nexthop, server + i, mac[i]);
	flows = (struct flows){.l3 = 14};
	assert_int_equal(blast_step(lab, 0, BLAST_NOW + 1000, flows_tap, &flows), 10);
	flows_check(&flows, 2, 5);
	blast_close(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind), cmocka_unit_test(test_syn),
		cmocka_unit_test(test_fields),     cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_on_link6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
