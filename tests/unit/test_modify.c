/* Fields that change: values, order, workers, and checksums that stay right. */
#include "blast_lab.h"

#include "../../common/base/rng.h"

#define KEYS "'size': 70, " KEYS_SIZED
#define KEYS_SIZED                                                                           \
	"'kind': 'udp-blast', 'clients': '10.0.0.1-10.0.0.3', 'client_ports': '1000-1001', " \
	"'servers': '10.1.0.1', 'load': {'pps': 'max'}, "

/* A field of every packet, by the packet's number in the stream (workers send in turn). */
struct fields {
	unsigned l3, offset, bytes, workers, count[BLAST_WORKERS_MAX];
	bool wrong; /* checksums are meant to be wrong */
	uint64_t value[600];
};

static void fields_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	struct fields *f = arg;
	uint64_t value = 0;

	(void)now;
	if (!f->wrong)
		frame_is_right(m, f->l3);
	for (unsigned i = 0; i < f->bytes; i++)
		value = value << 8 | frame_bytes(m)[f->offset + i];
	f->value[f->count[worker]++ * f->workers + worker] = value;
}

static void fields_read(struct fields *f, unsigned workers, unsigned offset, unsigned bytes,
			const char *port_keys, const char *keys, const char *modify)
{
	unsigned l3 = *port_keys ? 22 : f->l3 ? f->l3 : 14;
	bool wrong = f->wrong;
	char text[1024];
	struct blast_lab *lab;

	*f = (struct fields){
		.l3 = l3, .offset = offset, .bytes = bytes, .workers = workers, .wrong = wrong};
	snprintf(text, sizeof(text), "%s'packets': 600, 'modify': [%s]", keys, modify);
	lab = blast_open(port_keys, text, workers);
	assert_int_equal(blast_run(lab, 1000, fields_tap, f), 600);
	blast_close(lab);
}

static void test_counters(void **state)
{
	static struct fields f;

	(void)state;
	for (unsigned w = 1; w <= BLAST_WORKERS_MAX; w++) {
		fields_read(&f, w, 18, 2, "", KEYS, "{'field': 'ip.id'}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], i);
		fields_read(&f, w, 18, 2, "", KEYS,
			    "{'field': 'ip.id', 'start': 65530, 'step': 3, 'count': 7}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], (65530 + i % 7 * 3) & 0xffff);
		fields_read(&f, w, 22, 1, "", KEYS, "{'field': 'ip.ttl', 'op': 'decrement'}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], (64 - i) & 0xff);
		fields_read(&f, w, 36, 2, "", KEYS,
			    "{'field': 'dst_port', 'op': 'list', 'values': [7, 9, 65535]}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], ((unsigned[]){7, 9, 65535})[i % 3]);
		fields_read(&f, w, 30, 4, "", KEYS,
			    "{'field': 'ip.dst', 'start': '10.9.0.250', 'count': 100}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], 0x0a0900fa + i % 100);
		fields_read(&f, w, 0, 6, "", KEYS,
			    "{'field': 'eth.dst', 'start': 0, 'step': 1099511627776}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], (uint64_t)i % 256 << 40);
	}
}

/* Odd places, any width, parts of bytes, across words: every one changes what it should, nothing
 * else, and the checksum follows. */
static void test_any_bytes(void **state)
{
	static struct fields f;

	(void)state;
	for (unsigned offset = 60; offset < 63; offset++) {
		for (unsigned bytes = 1; bytes <= 8; bytes++) {
			char modify[128];
			uint64_t all = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

			snprintf(modify, sizeof(modify),
				 "{'offset': %u, 'bytes': %u, 'step': 72623859790382856}", offset,
				 bytes);
			fields_read(&f, 2, offset, bytes, "", KEYS, modify);
			for (uint64_t i = 0; i < 600; i++)
				assert_int_equal(f.value[i], i * 72623859790382856u & all);
		}
	}
	fields_read(&f, 3, 60, 2, "", KEYS "'payload': 'hex:ff', ",
		    "{'offset': 60, 'bytes': 2, 'mask': 4080, 'start': 0}");
	for (unsigned i = 0; i < 600; i++)
		assert_int_equal(f.value[i], 0xf00f | (i & 0xff) << 4);
	/* The last byte of an odd frame. */
	fields_read(&f, 3, 70, 1, "", KEYS_SIZED "'size': 71, ", "{'offset': 70}");
	for (unsigned i = 0; i < 600; i++)
		assert_int_equal(f.value[i], i & 0xff);
}

static void test_vlan(void **state)
{
	static struct fields f;

	(void)state;
	fields_read(&f, 2, 18, 2, ", 'vlan': [100, 200]", KEYS,
		    "{'field': 'vlan.id', 'count': 10}, "
		    "{'field': 'vlan.pcp', 'op': 'list', 'values': [7, 1]}");
	for (unsigned i = 0; i < 600; i++)
		assert_int_equal(f.value[i], (200 + i % 10) | (i % 2 ? 1u : 7u) << 13);
}

static void test_random(void **state)
{
	static struct fields f, again;
	unsigned seen[10] = {0}, equal = 0;

	(void)state;
	fields_read(&f, 1, 18, 2, "", KEYS, "{'field': 'ip.id', 'op': 'random'}");
	fields_read(&again, 3, 18, 2, "", KEYS, "{'field': 'ip.id', 'op': 'random'}");
	assert_memory_equal(f.value, again.value, sizeof f.value);
	for (unsigned i = 1; i < 600; i++)
		equal += f.value[i] == f.value[i - 1];
	assert_true(equal < 5);
	fields_read(&f, 2, 18, 2, "", KEYS,
		    "{'field': 'ip.id', 'op': 'random', 'start': 5, 'step': 2, 'count': 10}");
	for (unsigned i = 0; i < 600; i++) {
		assert_true(f.value[i] >= 5 && f.value[i] <= 23 && f.value[i] % 2);
		seen[(f.value[i] - 5) / 2]++;
	}
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(seen[i], 30, 100);
}

/* Six flows: the value is the flow's number. */
static void test_per_flow(void **state)
{
	static struct fields f;

	(void)state;
	for (unsigned w = 1; w <= BLAST_WORKERS_MAX; w++) {
		fields_read(&f, w, 18, 2, "", KEYS, "{'field': 'ip.id', 'per_flow': true}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], i % 6);
		fields_read(&f, w, 18, 2, "", KEYS,
			    "{'field': 'ip.id', 'per_flow': true, 'op': 'list', 'values': [4, 8]}");
		for (unsigned i = 0; i < 600; i++)
			assert_int_equal(f.value[i], i % 2 ? 8 : 4);
	}
}

/* Who writes into a checksum means it. */
static void test_wrong_checksum(void **state)
{
	static struct fields f = {.wrong = true};

	(void)state;
	fields_read(&f, 1, 40, 2, "", KEYS, "{'offset': 40, 'bytes': 2, 'start': 7, 'count': 1}");
	for (unsigned i = 0; i < 600; i++)
		assert_int_equal(f.value[i], 7);
	fields_read(&f, 1, 24, 2, "", KEYS, "{'offset': 25, 'start': 7, 'count': 1}");
	assert_int_equal(f.value[0] & 0xff, 7);
}

/* Frames from bytes: UDP, TCP and ICMP over IPv4, UDP over IPv6, no IP at all. Their checksums are
 * zero here and must come out right, also when bytes change. */
#define ETHER                "020000000002 020000000001"
#define IP4(protocol, total) "0800 4500" total "0000 4000 40" protocol "0000 0a000001 0a010001"
static void test_templates(void **state)
{
	static const struct {
		const char *bytes;
		unsigned offset, l3;
	} table[] = {
		{ETHER IP4("11", "001f") "03e80009 000b0000 414243", 34, 14},
		{ETHER IP4("06", "002b") "03e80050 00000001 00000000 50021000 00000000 616263", 39,
		 14},
		{ETHER IP4("01", "001f") "0800 0000 0001 0001 616263", 40, 14},
		{ETHER "8100 0064" IP4("11", "001f") "03e80009 000b0000 414243", 30, 18},
	};
	static struct fields f;

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char keys[512], modify[64] = "";

		for (unsigned bytes = 0; bytes <= 2; bytes++) {
			snprintf(keys, sizeof(keys),
				 "'kind': 'udp-blast', 'load': {'pps': 'max'}, 'template': '%s', ",
				 table[i].bytes);
			if (bytes)
				snprintf(modify, sizeof(modify),
					 "{'offset': %u, 'bytes': %u, 'start': 0}", table[i].offset,
					 bytes);
			f.l3 = table[i].l3;
			fields_read(&f, 2, table[i].offset, bytes, "", keys, modify);
			for (unsigned n = 0; bytes == 2 && n < 600; n++)
				assert_int_equal(f.value[n], n);
		}
	}
}

static void checked_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *ip = frame_bytes(m) + 14, *udp = ip + 40;
	uint32_t pseudo = 17 + 12;

	(void)worker;
	(void)now;
	for (unsigned i = 8; i < 40; i += 2)
		pseudo += be16(ip + i);
	assert_int_equal(m->pkt_len, 66);
	assert_int_equal(slow_sum(udp, 12, pseudo), 0);
	++*(unsigned *)arg;
}

static void same_tap(void *arg, unsigned worker, const struct rte_mbuf *m, uint64_t now)
{
	(void)worker;
	(void)now;
	assert_int_equal(m->pkt_len, 20);
	assert_memory_equal(frame_bytes(m) + 12, "\x88\xb5 hello", 8);
	++*(unsigned *)arg;
}

static void test_templates_of_others(void **state)
{
	unsigned count = 0;
	struct blast_lab *lab = blast_open(
		"",
		"'kind': 'udp-blast', 'load': {'pps': 'max'}, 'packets': 300, 'template': '" ETHER
		"86dd 60000000 000c 11 40 20010db8000000000000000000000001 "
		"20010db8000000000000000000000002 03e80009 000c0000 41424344', "
		"'modify': [{'offset': 29, 'bytes': 3}, {'offset': 62, 'bytes': 3}]",
		3);

	(void)state;
	assert_int_equal(blast_run(lab, 1000, checked_tap, &count), 300);
	blast_close(lab);
	lab = blast_open("",
			 "'kind': 'udp-blast', 'load': {'pps': 'max'}, 'packets': 300, "
			 "'template': '" ETHER "88b5 2068656c6c6f'",
			 1);
	assert_int_equal(blast_run(lab, 1000, same_tap, &count), 300);
	assert_int_equal(count, 600);
	blast_close(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),  cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_vlan),      cmocka_unit_test(test_random),
		cmocka_unit_test(test_per_flow),  cmocka_unit_test(test_wrong_checksum),
		cmocka_unit_test(test_templates), cmocka_unit_test(test_templates_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
