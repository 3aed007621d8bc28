/* Blasts and sinks in a test: engines from JSON, several workers, packets in a box. */
#ifndef UNIT_BLAST_LAB_H
#define UNIT_BLAST_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/base/packet_box.h"
#include "../../stateless/stateless.h"

#define BLAST_WORKERS_MAX 5
#define BLAST_NOW         UINT64_C(1000000000000)
#define BLAST_MS          UINT64_C(1000000)
#define BLAST_S           UINT64_C(1000000000)

static const uint8_t blast_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t blast_far_mac[6] = {2, 0, 0, 0, 0, 2};

/* Of the configurations to come. */
static unsigned blast_seed = 1;

struct block_arena {
	struct arena arena;
	void *block[64];
	unsigned blocks;
	uint64_t left;
};

static void *block_take(struct arena *arena, size_t size)
{
	struct block_arena *a = (struct block_arena *)arena;
	size_t rounded = (size + 63) & ~(size_t)63;
	void *block;

	assert_true(a->blocks < 64);
	if (rounded > a->left)
		return NULL;
	a->left -= rounded;
	block = aligned_alloc(64, rounded ? rounded : 64);
	assert_non_null(block);
	memset(block, 0, rounded);
	return a->block[a->blocks++] = block;
}

struct blast_worker {
	struct engine *engine;
	struct packet_tx tx;
	struct counters counters;
	struct traffic_stats stats[4];
	struct stream_stats streams[4];
	struct traffic_stats *stats_of[4];
	struct stream_stats *streams_of[4];
	struct block_arena arena;
};

struct blast_lab {
	struct config config;
	struct packet_box box;
	struct nexthop nexthop;
	struct nexthop_entry hops[64];
	unsigned workers;
	struct blast_worker worker[BLAST_WORKERS_MAX];
};

/* Port "p" with `port_keys`, one traffic entry with `keys`; apostrophes stand for quotation marks.
 */
static void blast_config(struct blast_lab *lab, const char *port_keys, const char *keys)
{
	char name[] = "/tmp/onager-blast-XXXXXX", text[8192];
	int file = mkstemp(name);

	assert_true(file >= 0);
	snprintf(text, sizeof(text),
		 "{'duration': '1s', 'seed': %u, 'ports': [{'name': 'p', 'device': 'if:eth0', "
		 "'cores': [0], "
		 "'address': '10.0.0.1/8', 'mtu': 9202%s}], 'traffic': [{'name': 't', %s}]}",
		 blast_seed, port_keys, keys);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	if (config_load(&lab->config, name, NULL, 0, &(struct config_machine){.cores = 8}, stderr))
		fail_msg("the configuration of this test is refused");
	unlink(name);
}

static struct blast_lab *blast_open(const char *port_keys, const char *keys, unsigned workers)
{
	struct blast_lab *lab = aligned_alloc(64, sizeof(*lab));
	struct err err = {0};

	assert_non_null(lab);
	memset(lab, 0, sizeof(*lab));
	blast_config(lab, port_keys, keys);
	lab->box.room = 9300;
	lab->workers = workers;
	lab->nexthop = (struct nexthop){
		.has_gateway = true, .has_gateway6 = true, .mask = 63, .table = lab->hops};
	memcpy(lab->nexthop.gateway, blast_far_mac, 6);
	memcpy(lab->nexthop.gateway6, blast_far_mac, 6);
	for (unsigned w = 0; w < workers; w++) {
		struct blast_worker *worker = &lab->worker[w];
		struct stateless_setup setup = {.config = &lab->config,
						.worker = w,
						.workers = workers,
						.link_bps = 10000000000u,
						.nexthop = &lab->nexthop,
						.counters = &worker->counters,
						.stats = worker->stats_of,
						.streams = worker->streams_of};

		memcpy(setup.mac, blast_mac, 6);
		for (unsigned i = 0; i < 4; i++) {
			worker->stats_of[i] = &worker->stats[i];
			worker->streams_of[i] = &worker->streams[i];
		}
		worker->arena = (struct block_arena){.arena = {block_take},
						     .left = stateless_reserve(&lab->config, 0)};
		worker->engine = stateless_create(&setup, &worker->arena.arena, &err);
		assert_non_null(worker->engine);
		assert_int_equal(packet_tx_open(&worker->tx, &lab->box, 1024), 0);
	}
	return lab;
}

/* All packets are back. */
static void blast_close(struct blast_lab *lab)
{
	for (unsigned w = 0; w < lab->workers; w++) {
		packet_tx_close(&lab->worker[w].tx);
		for (unsigned i = 0; i < lab->worker[w].arena.blocks; i++)
			free(lab->worker[w].arena.block[i]);
	}
	assert_int_equal(lab->box.out, 0);
	config_free(&lab->config);
	free(lab);
}

static inline void blast_start_all(struct blast_lab *lab)
{
	for (unsigned w = 0; w < lab->workers; w++)
		lab->worker[w].engine->ops->start(lab->worker[w].engine, BLAST_NOW);
}

/* Called with every packet sent, before it is freed. */
typedef void blast_tap(void *arg, unsigned worker, const struct rte_mbuf *, uint64_t now);

/* Poll a worker once, as a port that takes everything. Returns how many packets it sent. */
static inline unsigned blast_step(struct blast_lab *lab, unsigned w, uint64_t now, blast_tap *tap,
				  void *arg)
{
	struct blast_worker *worker = &lab->worker[w];
	struct tx *tx = &worker->tx.tx;
	unsigned count;

	worker->engine->ops->poll(worker->engine, tx, now);
	count = tx->count;
	for (unsigned i = 0; i < count; i++) {
		if (tap)
			tap(arg, w, tx->queue[i], now);
		packet_box_free(&lab->box, tx->queue[i]);
	}
	tx->count = 0;
	return count;
}

/* Poll all workers every `step` ns over the time from start; until all are idle, for 100 s at most.
 */
static inline uint64_t blast_run(struct blast_lab *lab, uint64_t step, blast_tap *tap, void *arg)
{
	uint64_t now = BLAST_NOW, sent = 0;
	bool idle = false;

	blast_start_all(lab);
	for (; !idle && now < BLAST_NOW + 100 * BLAST_S; now += step) {
		idle = true;
		for (unsigned w = 0; w < lab->workers; w++) {
			sent += blast_step(lab, w, now, tap, arg);
			idle &= lab->worker[w].engine->ops->idle(lab->worker[w].engine);
		}
	}
	assert_true(idle);
	return sent;
}

static inline uint64_t blast_offered(const struct blast_lab *lab)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < lab->workers; w++)
		sum += lab->worker[w].stats[0].level.connection.offered;
	return sum;
}

static inline uint64_t blast_not_offered(const struct blast_lab *lab)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < lab->workers; w++)
		sum += tally_not_offered(&lab->worker[w].stats[0].level.connection);
	return sum;
}

static inline const uint8_t *frame_bytes(const struct rte_mbuf *m)
{
	return (const uint8_t *)m->buf_addr + m->data_off;
}

static inline uint16_t be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t be32(const uint8_t *at)
{
	return (uint32_t)be16(at) << 16 | be16(at + 2);
}

/* A checksum byte by byte, as nobody would write it for speed: 0 if the sum over data and `more` is
 * right. */
static inline uint16_t slow_sum(const uint8_t *data, size_t length, uint32_t more)
{
	uint32_t sum = more;

	for (size_t i = 0; i < length; i++)
		sum += (uint32_t)data[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Both checksums of a UDP, TCP or ICMP packet over IPv4 or IPv6 are right, and its lengths. */
static inline void frame_is_right(const struct rte_mbuf *m, unsigned l3)
{
	const uint8_t *ip = frame_bytes(m) + l3, *l4, *address;
	uint16_t length, addresses;
	uint32_t pseudo = 0;
	uint8_t protocol;

	assert_int_equal(m->pkt_len, m->data_len);
	if (ip[0] >> 4 == 6) {
		length = be16(ip + 4);
		l4 = ip + 40;
		address = ip + 8;
		addresses = 32;
		protocol = ip[6];
	} else {
		length = (uint16_t)(be16(ip + 2) - 20);
		l4 = ip + 20;
		address = ip + 12;
		addresses = 8;
		protocol = ip[9];
		assert_int_equal(slow_sum(ip, 20, 0), 0);
	}
	assert_true(l4 + length <= frame_bytes(m) + m->pkt_len);
	if (protocol == 253)
		return;
	if (protocol == 17)
		assert_int_equal(be16(l4 + 4), length);
	for (unsigned i = 0; i < addresses; i += 2)
		pseudo += be16(address + i);
	pseudo += protocol + length;
	assert_int_equal(slow_sum(l4, length, protocol == 1 ? 0 : pseudo), 0);
}

#endif
