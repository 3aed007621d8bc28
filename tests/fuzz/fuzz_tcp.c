/* libFuzzer target: one engine, client or server, and a far end that sends whatever segments it
 * likes, with checksums that are right.
 *
 *     clang -std=gnu17 -g -O1 -fsanitize=fuzzer,address,undefined $(pkg-config --cflags libdpdk) \
 *         tests/fuzz/fuzz_tcp.c tests/support/{lab,segment}.c \
 *         $(ls -d {common/base,common/config,stateful}/[a-z]*.c) -lcjson -lcmocka -lz -lm -o
 * fuzz_tcp
 *     ./fuzz_tcp -max_len=640 -max_total_time=180 tests/fuzz/tcp
 *
 * An input is a byte that chooses the configuration, then records of 16 bytes, one segment or pause
 * each: sequence numbers are distances from what the engine expects, so that most segments reach
 * beyond the first checks. The mutator works on whole records. Whatever comes, what the engine
 * sends is well formed, and in the end all packets are back and the books balance. tests/fuzz/tcp
 * is replayed by tests/unit/test_tcp_corpus.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/lab.h"
#include "../support/segment.h"

#define RECORD   16u
#define RECORDS  40u
#define FLOWS    4u
#define VARIANTS (sizeof(variant) / sizeof(*variant))

#define SET(...) ((const char *const[]){"client.load.cps=20", "drain=1s", __VA_ARGS__, NULL})

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static const struct variant {
	unsigned port;
	const char *set[8];
} variant[] = {
	{LAB_SERVER_PORT, {"server.response.body.size=100"}},
	{LAB_SERVER_PORT, {"server.response.body.size=20000", "memory.side_records=8"}},
	{LAB_SERVER_PORT,
	 {"server.response.body.size=9000", "server.tcp.timestamps=true", "server.tcp.ecn=true",
	  "server.tcp.delayed_ack=10ms"}},
	{LAB_SERVER_PORT,
	 {"server.kind=tcp-server", "client.kind=tcp-client", "client.request.size=5000",
	  "server.request.size=5000", "server.response.size=5000", "client.response.size=5000",
	  "server.tcp.congestion=cubic"}},
	{LAB_CLIENT_PORT, {"client.requests_per_connection=3"}},
	{LAB_CLIENT_PORT,
	 {"client.request.method=POST", "client.request.body.size=9000", "client.think_time=10ms",
	  "client.requests_per_connection=2"}},
	{LAB_CLIENT_PORT,
	 {"client.tcp.timestamps=true", "client.tcp.ecn=true", "client.tcp.delayed_ack=10ms",
	  "client.tcp.handshake_ack=true"}},
};

/* A flow as the far end knows it: what the engine expects next, and what it has sent. */
struct flow {
	uint32_t far_ip, near_ip;
	uint16_t far_port, near_port;
	uint32_t expected, sent;
	uint32_t stamp;
};

static struct packet_box box = {.room = 9728};
static struct lab_end lab;
static struct flow flow[FLOWS];
static struct view_rule far_rule;
static uint64_t now;

/* What the engine sends must parse; it tells how far its connection is. */
static void learn(const struct rte_mbuf *m, unsigned port)
{
	struct segment s;
	struct view view;
	struct flow *f = NULL;

	if (view_parse(m, &far_rule, &view) != DROP_NONE)
		abort();
	if (view.kind != VIEW_TCP)
		return;
	segment_read(&s, m, &view);
	for (unsigned i = 0; i < FLOWS && !f; i++) {
		struct flow *g = &flow[i];

		if (port == LAB_CLIENT_PORT && !g->near_port) {
			g->near_ip = s.src;
			g->near_port = s.src_port;
		}
		if ((port == LAB_CLIENT_PORT ? g->near_port == s.src_port
					     : g->far_port == s.dst_port))
			f = g;
	}
	if (!f || s.flags & 4)
		return;
	f->sent = s.seq + s.payload_len + (s.flags & 1) + !!(s.flags & 2);
	if (s.flags & 0x10)
		f->expected = s.ack;
}

static void collect(unsigned port)
{
	struct tx *tx = &lab.sim.tx.tx;

	for (uint32_t i = 0; i < tx->count; i++) {
		learn(tx->queue[i], port);
		packet_box_free(&box, tx->queue[i]);
	}
	tx->count = 0;
}

static void pass(uint64_t ns, unsigned port)
{
	uint64_t until = now + ns;

	for (unsigned i = 0; i < 1000 && lab.sim.wake <= until; i++) {
		now = lab.sim.wake > now ? lab.sim.wake : now;
		lab.sim.wake = sim_poll(&lab.sim, now);
		collect(port);
	}
	now = until;
}

static uint16_t word(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* A distance: mostly small, now and then anything. */
static uint32_t distance(uint8_t kind, uint16_t value)
{
	switch (kind & 7) {
	case 5:
		return (uint32_t)(int16_t)value;
	case 6:
		return (uint32_t)value << 16;
	case 7:
		return (uint32_t)(int8_t)value;
	default:
		return 0;
	}
}

/* Options: none, those of a SYN, a time stamp, a SACK block, or the record's own bytes. */
static void options_write(struct segment *s, const struct flow *f, uint8_t kind, const uint8_t *raw)
{
	char text[128];
	struct segment parsed;

	switch (kind & 7) {
	case 1:
		snprintf(text, sizeof(text), "S 0 <mss %u,nop,wscale %u,sackOK,TS %u:0>", word(raw),
			 raw[2] & 15, f->stamp);
		break;
	case 2:
	case 3:
		snprintf(text, sizeof(text), ". 0 <nop,nop,TS %u:%u>",
			 f->stamp + (uint32_t)(int8_t)raw[0], (uint32_t)(now / 1000000));
		break;
	case 4:
		snprintf(text, sizeof(text), ". 0 <nop,nop,sack %u:%u>", f->sent - word(raw),
			 f->sent - word(raw) + raw[2] * 16u);
		break;
	case 5:
		s->options_len = 4;
		memcpy(s->options, raw, 4);
		return;
	default:
		return;
	}
	segment_parse(&parsed, text);
	s->options_len = parsed.options_len;
	memcpy(s->options, parsed.options, parsed.options_len);
}

static const char *const payload[] = {
	"GET / HTTP/1.1\r\nHost: t\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3000\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n",
	"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
	NULL, /* a pattern of any length */
	"",
};

static void send_record(const uint8_t *r, unsigned port)
{
	struct rx_burst rx = {.count = 1};
	struct flow *f = &flow[r[0] % FLOWS];
	struct segment s = {.ip6 = lab_ip6(),
			    .src = f->far_ip,
			    .dst = f->near_ip,
			    .src_port = f->far_port,
			    .dst_port = f->near_port,
			    .flags = r[1],
			    .tos = r[0] >> 6,
			    .window = word(r + 2)};
	const char *text = payload[r[4] % 8];

	if (r[0] & 0x20) { /* a pause instead */
		pass((uint64_t)word(r + 2) << (r[1] % 24), port);
		return;
	}
	s.seq = f->expected + distance(r[5], word(r + 6));
	s.ack = s.flags & 0x10 ? f->sent + distance(r[5] >> 3, word(r + 8)) : 0;
	s.payload = (const uint8_t *)text;
	s.payload_len = text ? (uint32_t)strlen(text) : word(r + 10) % 1461u;
	options_write(&s, f, r[4] >> 4, r + 12);
	f->stamp++;
	rx.pkt[0] = packet_box_new(&box);
	if (!rx.pkt[0])
		abort();
	if (r[5] >> 6 == 3) { /* ICMP of a router about what was sent last */
		struct segment quoted = {.ip6 = lab_ip6(),
					 .src = f->near_ip,
					 .dst = f->far_ip,
					 .src_port = f->near_port,
					 .dst_port = f->far_port,
					 .seq = f->sent - word(r + 8) % 1500u,
					 .payload_len = 1400};

		segment_write_too_big(&quoted, word(r + 10), rx.pkt[0], lab_mac[!port],
				      lab_mac[port]);
	} else {
		segment_write(&s, rx.pkt[0], lab_mac[!port], lab_mac[port]);
	}
	sim_input(&lab.sim, &box, &rx, now);
	lab.sim.wake = sim_poll(&lab.sim, now);
	collect(port);
}

static void flows_init(unsigned port)
{
	const uint32_t server = (10u << 24) + 0xfffffeu, client = (10u << 24) + 1;

	for (unsigned i = 0; i < FLOWS; i++)
		flow[i] = (struct flow){
			.far_ip = port == LAB_CLIENT_PORT ? server : client,
			.near_ip = port == LAB_CLIENT_PORT ? client : server,
			.far_port = (uint16_t)(port == LAB_CLIENT_PORT ? 80 : 20000 + i),
			.near_port = port == LAB_CLIENT_PORT ? 0 : 80,
			.expected = 0xfffffff0u,
			.stamp = 1000};
}

static void judge(unsigned port)
{
	const struct engine_ops *ops = lab.sim.engine->ops;

	sim_drain(&lab.sim, now, now + MS(1));
	for (unsigned i = 0; i < 200 && !ops->idle(lab.sim.engine); i++)
		pass(MS(1), port);
	if (lab_broken_law(&lab)) {
		fprintf(stderr, "it does not hold that %s\n", lab_broken_law(&lab));
		abort();
	}
	lab_close(&lab);
	if (box.out) {
		fprintf(stderr, "%lu packets are missing\n", (unsigned long)box.out);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config config[VARIANTS];
	unsigned v, port;

	if (!size)
		return 0;
	v = data[0] % VARIANTS;
	port = variant[v].port;
	if (!config[v].port) {
		const char *const *set = variant[v].set;

		lab_config(&config[v], SET(set[0], set[1], set[2], set[3], set[4], set[5], set[6]));
	}
	lab_open(&lab, &config[v], port, &box, 512);
	far_rule = (struct view_rule){.verify = true, .ip6 = lab_ip6()};
	memcpy(far_rule.mac, lab_mac[!port], 6);
	flows_init(port);
	now = LAB_EPOCH;
	lab.sim.engine->ops->start(lab.sim.engine, now);
	lab.sim.wake = sim_poll(&lab.sim, now);
	collect(port);
	for (size_t at = 1; at + RECORD <= size && at < RECORD * RECORDS; at += RECORD)
		send_record(data + at, port);
	judge(port);
	return 0;
}

/* Double, drop or swap whole records, or let libFuzzer change the bytes of one. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size_t records = size > 1 ? (size - 1) / RECORD : 0;
	uint8_t *a = data + 1 + (records ? seed / 8 % records * RECORD : 0);
	uint8_t *b = data + 1 + (records ? seed / 512 % records * RECORD : 0);
	uint8_t saved[RECORD];

	if (!records || (seed & 7) > 5) {
		size = LLVMFuzzerMutate(data, size, max);
		return size ? size : 1;
	}
	size = 1 + records * RECORD;
	switch (seed & 7) {
	case 0:
		if (size + RECORD > max || records >= RECORDS)
			break;
		memmove(a + RECORD, a, (size_t)(data + size - a));
		return size + RECORD;
	case 1:
		memmove(a, a + RECORD, (size_t)(data + size - a) - RECORD);
		return records > 1 ? size - RECORD : size;
	case 2:
		memcpy(saved, a, RECORD);
		memcpy(a, b, RECORD);
		memcpy(b, saved, RECORD);
		break;
	default:
		LLVMFuzzerMutate(a, RECORD, RECORD);
	}
	return size;
}
