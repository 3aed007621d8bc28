#define _GNU_SOURCE
/* See lab.h. */
#include "lab.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

const struct script_set *lab_scripts;

const uint8_t lab_mac[2][6] = {{2, 0, 0, 0, 0, 0xc}, {2, 0, 0, 0, 0, 0x5}};

/* Apostrophes stand for quotation marks. */
static const char base[] =
	"{'duration': '1s', 'drain': '1s',\n"
	" 'ports': [\n"
	"  {'name': 'c', 'device': 'loop:lab', 'cores': [0], 'address': ['10.0.0.1/8']},\n"
	"  {'name': 's', 'device': 'loop:lab', 'cores': [0], 'address': ['10.255.255.254/8']}],\n"
	" 'traffic': [\n"
	"  {'name': 'client', 'port': 'c', 'kind': 'http-client', 'clients': '10.0.0.1',\n"
	"   'client_ports': '1024-65535', 'servers': '10.255.255.254', 'server_ports': 80},\n"
	"  {'name': 'server', 'port': 's', 'kind': 'http-server',\n"
	"   'servers': '10.255.255.254', 'server_ports': 80, 'max_connections': 1000}]}\n";

bool lab_ip6(void)
{
	const char *family = getenv("LAB_FAMILY");

	return family && !strcmp(family, "6");
}

/* The length of the dotted address that a text begins with, 0: none. */
static int quad_length(const char *text)
{
	unsigned a, b, c, d;
	int length = 0;

	return isdigit((unsigned char)*text) &&
			       sscanf(text, "%3u.%3u.%3u.%3u%n", &a, &b, &c, &d, &length) == 4
		       ? length
		       : 0;
}

/* The text as the family has it, to be freed. */
static char *addressed(const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *file = open_memstream(&out, &size);
	unsigned number;

	for (const char *at = text; *at;) {
		int length = lab_ip6() ? quad_length(at) : 0;

		if (!length && lab_ip6() && sscanf(at, "mtu=%u%n", &number, &length) == 1) {
			fprintf(file, "mtu=%u", number + 20);
		} else if (!length) {
			fputc(*at++, file);
			continue;
		} else {
			fprintf(file, "2001:db8::%.*s", length, at);
		}
		at += length;
		if (sscanf(at, "/%u%n", &number, &length) == 1) {
			fprintf(file, "/%u", number + 96);
			at += length;
		}
	}
	fclose(file);
	return out;
}

static int write_config(void)
{
	int fd = memfd_create("lab", 0);
	char *text = addressed(base);
	size_t length = strlen(text);

	assert_true(fd >= 0);
	for (size_t i = 0; i < length; i++)
		text[i] = text[i] == '\'' ? '"' : text[i];
	assert_int_equal(write(fd, text, length), length);
	free(text);
	return fd;
}

static char *expand(const char *set)
{
	char *value = addressed(set), *text;
	int length;

	if (!strncmp(set, "client.", 7))
		length = asprintf(&text, "traffic.0.%s", value + 7);
	else if (!strncmp(set, "server.", 7))
		length = asprintf(&text, "traffic.1.%s", value + 7);
	else
		length = asprintf(&text, "%s", value);
	assert_true(length > 0);
	free(value);
	return text;
}

void lab_config(struct config *config, const char *const *set)
{
	char *list[64], name[64];
	bool has_load = false;
	unsigned sets = 0;
	int fd = write_config(), failed;

	list[sets++] = expand("ports.0.mtu=1500");
	list[sets++] = expand("ports.1.mtu=1500");
	for (unsigned i = 0; set && set[i]; i++) {
		assert_true(sets < 63);
		list[sets++] = expand(set[i]);
		has_load |= !strncmp(set[i], "client.load.", 12);
	}
	if (!has_load)
		list[sets++] = expand("client.load.cps=1");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	failed = config_load(config, name, (const char *const *)list, sets,
			     &(struct config_machine){.cores = 1}, stderr);
	for (unsigned i = 0; i < sets; i++)
		free(list[i]);
	close(fd);
	if (failed)
		fail_msg("the configuration of this test is refused");
}

bool lab_offload;

struct lab_arena {
	struct arena arena; /* first */
	void *block[128];
	unsigned blocks;
};

static void *arena_calloc(struct arena *arena, size_t size)
{
	struct lab_arena *a = (struct lab_arena *)arena;
	char *block = calloc(1, size + 64);

	assert_non_null(block);
	assert_true(a->blocks < sizeof(a->block) / sizeof(a->block[0]));
	a->block[a->blocks++] = block;
	return block + (-(uintptr_t)block & 63);
}

bool lab_long_way;

void lab_open(struct lab_end *lab, const struct config *config, unsigned port,
	      struct packet_box *box, uint32_t tx_capacity)
{
	const struct script_set *scripts[] = {lab_scripts, lab_scripts};
	struct stateful_setup setup = {.config = config,
				       .scripts = scripts,
				       .port = port,
				       .workers = 1,
				       .long_way = lab_long_way,
				       .steer = &lab->steer,
				       .nexthop = &lab->nexthop,
				       .counters = &lab->counters,
				       .stats = lab->all};
	struct err err = {0};

	setup.tx_checksum_offload = lab_offload;
	memset(lab, 0, sizeof(*lab));
	lab->steer.workers = 1;
	lab->nexthop.has_gateway = true;
	memcpy(lab->nexthop.gateway, lab_mac[!port], 6);
	lab->nexthop.has_gateway6 = true;
	memcpy(lab->nexthop.gateway6, lab_mac[!port], 6);
	memcpy(setup.mac, lab_mac[port], 6);
	lab->all[port] = &lab->stats;
	lab->arena = calloc(1, sizeof(*lab->arena));
	lab->arena->arena.take = arena_calloc;
	lab->sim.counters = &lab->counters;
	lab->sim.rule.verify = true;
	lab->sim.rule.ip6 = config_port_has6(config, port);
	memcpy(lab->sim.rule.mac, lab_mac[port], 6);
	lab->sim.sockets = traffic_is_udp(config->traffic[port].kind);
	lab->sim.wake = ENGINE_NEVER;
	assert_int_equal(packet_tx_open(&lab->sim.tx, box, tx_capacity), 0);
	lab->sim.engine = stateful_create(&setup, &lab->arena->arena, &err);
	if (!lab->sim.engine)
		fail_msg("no engine: %s", err.text);
}

void lab_close(struct lab_end *lab)
{
	packet_tx_close(&lab->sim.tx);
	while (lab->arena->blocks)
		free(lab->arena->block[--lab->arena->blocks]);
	free(lab->arena);
}

static bool tally_balances(const struct tally *t)
{
	return t->offered == t->succeeded + tally_failed(t);
}

const char *lab_broken_law(const struct lab_end *lab)
{
	const struct traffic_level *level = &lab->stats.level;
	const struct counters *c = &lab->counters;
	uint64_t received = 0;

	for (unsigned i = 0; i < DROP_COUNT; i++)
		received += c->drop[i];
	if (received != c->value[COUNTER_PKT_RX])
		return "received = accepted + dropped by reason";
	if (!lab->sim.engine->ops->idle(lab->sim.engine))
		return "the engine is idle at the end";
	if (level->open || c->value[COUNTER_SK_CON])
		return "no connection is open at the end";
	if (!tally_balances(&level->connection))
		return "connections offered = succeeded + failed by reason";
	if (!tally_balances(&level->request))
		return "requests offered = succeeded + failed by reason";
	if (c->value[COUNTER_SK_OPEN] != c->value[COUNTER_SK_CLOSE])
		return "connections opened = connections closed";
	return NULL;
}
