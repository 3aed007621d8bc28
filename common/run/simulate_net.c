/* The simulated network of a configuration: see simulate_net.h.
 *
 * A port has one worker here, however many cores it names: virtual time needs no parallel work, and
 * the order of events must be one. Neighbours are known, so there is no ARP. Cables do not touch
 * each other, and each has its own clock; they are led from one time to the next together. */
#include "simulate_net.h"

#include <stdlib.h>
#include <string.h>

#include "../../pcap/linktype.h"
#include "../../pcap/writer.h"
#include "tunnel_make.h"

#define TX_CAPACITY 2048u
#define FRAME_MAX   9216u  /* of a blast */
#define ARENA_SPARE 65536u /* alignment of the pieces */

/* Packets have room for the largest frame of any port, or blast. */
static uint16_t frame_room(const struct config *config)
{
	uint16_t most = 0;

	for (unsigned i = 0; i < config->ports; i++)
		if (config_wire(&config->port[i])->mtu + 22 > most)
			most = (uint16_t)(config_wire(&config->port[i])->mtu + 22);
	for (unsigned i = 0; i < config->traffics; i++)
		if (traffic_is_stateless(config->traffic[i].kind) && most < FRAME_MAX)
			most = FRAME_MAX;
	return most;
}

static void mac_of(unsigned port, uint8_t mac[6])
{
	const uint8_t address[6] = {2, 0, 0, 0, (uint8_t)(port >> 8), (uint8_t)(port + 1)};

	memcpy(mac, address, 6);
}

static int stats_make(struct simulated_net *net, unsigned port, struct arena *arena)
{
	struct simulated_port *p = &net->port[port];
	const struct config *config = net->config;

	p->stats = arena_take(arena, config->traffics * sizeof(*p->stats));
	p->streams = arena_take(arena, config->traffics * sizeof(*p->streams));
	p->tapes = arena_take(arena, config->traffics * sizeof(*p->tapes));
	for (unsigned i = 0; p->stats && p->streams && p->tapes && i < config->traffics; i++) {
		const struct config_traffic *traffic = &config->traffic[i];

		if (!traffic_uses_port(traffic, port))
			continue;
		p->has_client |= traffic_is_client(traffic->kind);
		p->end.sockets |= traffic_is_udp(traffic->kind);
		p->stats[i] = arena_take(arena, sizeof(**p->stats));
		if (traffic_is_stateless(traffic->kind))
			p->streams[i] = arena_take(arena, sizeof(**p->streams));
		if (!p->stats[i] || (traffic_is_stateless(traffic->kind) && !p->streams[i]))
			return -1;
	}
	return p->stats && p->streams && p->tapes ? 0 : -1;
}

static int engines_make(struct simulated_net *net, unsigned port, const struct crew_engine *engine,
			struct err *err)
{
	struct simulated_port *p = &net->port[port];
	struct stateful_setup stateful = {.config = net->config,
					  .port = port,
					  .workers = 1,
					  .steer = &p->steer,
					  .nexthop = &p->nexthop,
					  .counters = &p->counters,
					  .scripts = net->players.conversations.scripts,
					  .stats = p->stats};
	struct stateless_setup stateless = {
		.config = net->config,
		.port = port,
		.workers = 1,
		.nexthop = &p->nexthop,
		.counters = &p->counters,
		.stats = p->stats,
		.streams = p->streams,
		.tapes = player_set_tapes(&net->players, port, 0, p->tapes)};

	mac_of(port, stateful.mac);
	mac_of(port, stateless.mac);
	p->end.engine = engine->create(&stateful, &p->arena.arena, err);
	if (!p->end.engine)
		return -1;
	if (!engine->stateless_reserve(net->config, port))
		return 0;
	p->end.stateless = engine->stateless_create(&stateless, &p->arena.arena, err);
	return p->end.stateless ? 0 : -1;
}

static int port_make(struct simulated_net *net, unsigned port, const struct crew_engine *engine,
		     struct err *err)
{
	struct simulated_port *p = &net->port[port];
	const struct config_port *config = &net->config->port[port];
	struct stateful_plan plan;
	uint64_t bytes = ARENA_SPARE;

	engine->plan(net->config, port, 1, &plan);
	if (config->outside)
		bytes += tunnel_make_bytes(net->config, port);
	bytes += plan.bytes + engine->stateless_reserve(net->config, port);
	bytes += net->config->traffics *
		 (sizeof(struct traffic_stats) + sizeof(struct stream_stats) + 4 * 64);
	if (memory_arena_open(&p->arena, bytes, -1, HUGEPAGES_OFF, err))
		return -1;
	p->steer.workers = 1;
	p->nexthop.has_gateway = p->nexthop.has_gateway6 = true;
	p->end.counters = &p->counters;
	p->end.wake = ENGINE_NEVER;
	p->end.listens = config_port_listens(net->config, port);
	p->end.rule.verify = config->verify_checksums;
	p->end.rule.ip6 = config_port_has6(net->config, port);
	p->end.rule.vlans = config->vlans;
	memcpy(p->end.rule.vlan_id, config->vlan, sizeof(config->vlan));
	mac_of(port, p->end.rule.mac);
	if (config->outside) {
		p->end.tunnel = &p->tunnel;
		if (tunnel_make(&p->tunnel, net->config, port, &p->end.rule, p->end.rule.mac,
				&p->nexthop, &p->arena.arena))
			return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	}
	if (stats_make(net, port, &p->arena.arena) ||
	    packet_tx_open(&p->end.tx, &net->box, TX_CAPACITY))
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	return engines_make(net, port, engine, err);
}

static void wire_rule_make(struct wire_rule *rule, const struct config_direction *d,
			   struct wire_blackout *blackout)
{
	static const uint8_t flags[] = {[LOSE_SYN] = 0x02,
					[LOSE_SYN_ACK] = 0x12,
					[LOSE_FIN] = 0x01,
					[LOSE_RST] = 0x04,
					[LOSE_DATA] = 0x08};

	/* never none: at one moment two engines that answer at once would go on for ever */
	*rule = (struct wire_rule){.delay = d->delay > SIM_STEP ? d->delay : SIM_STEP,
				   .jitter = d->jitter,
				   .queue = d->queue,
				   .loss = d->loss,
				   .reorder = d->reorder,
				   .duplicate = d->duplicate,
				   .corrupt = d->corrupt,
				   .corrupt_payload = d->corrupt_payload,
				   .loss_burst = d->loss_burst,
				   .reorder_delay = d->reorder_delay,
				   .loss_every = d->loss_every,
				   .lose_flags = flags[d->lose.what],
				   .lose_first = d->lose.first,
				   .mtu = d->mtu,
				   .blackout = blackout,
				   .blackouts = d->blackouts};
	if (d->rate.den && d->rate.num != UINT64_MAX)
		rule->rate_bps = d->rate.num / d->rate.den ? d->rate.num / d->rate.den : 1;
	if (d->lose.first)
		rule->lose_count = d->lose.count ? d->lose.count : 1;
	for (unsigned i = 0; i < d->blackouts; i++)
		blackout[i] = (struct wire_blackout){d->blackout[i].from,
						     d->blackout[i].from + d->blackout[i].length};
}

/* One wire of a cable, from port `from`. */
static int wire_make(struct simulated_net *net, unsigned from, bool to_server, struct err *err)
{
	const struct config_network *network = &net->config->network;
	const struct config_direction *d = to_server ? &network->to_server : &network->to_client;
	struct simulated_port *p = &net->port[from];
	struct wire_blackout *blackout =
		arena_take(&p->arena.arena, (d->blackouts + 1) * sizeof(*blackout));
	struct wire_rule rule;

	if (!blackout)
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	wire_rule_make(&rule, d, blackout);
	if (wire_open(&p->end.wire, &rule, &net->box, net->config->seed * 1000003 + from))
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	return 0;
}

/* The first of the two has the clients, unless only the second has some. */
static int cable_make(struct simulated_net *net, unsigned a, unsigned b, struct err *err)
{
	struct simulated_port *first = &net->port[a], *second = &net->port[b];
	bool swapped = second->has_client && !first->has_client;
	struct sim *cable = &net->cable[net->cables];

	net->ends[net->cables++] = (struct simulated_cable){net, {a, b}};
	mac_of(b, first->nexthop.gateway);
	mac_of(a, second->nexthop.gateway);
	mac_of(b, first->nexthop.gateway6);
	mac_of(a, second->nexthop.gateway6);
	*cable = (struct sim){.end = {&first->end, &second->end}, .box = &net->box};
	return wire_make(net, a, !swapped, err) || wire_make(net, b, swapped, err) ? -1 : 0;
}

static bool is_loop(const struct config_port *port)
{
	return !strncmp(port->device, "loop:", 5);
}

/* The port at the other end of a port's cable. */
static unsigned port_far(const struct simulated_net *net, unsigned port)
{
	const struct simulated_cable *ends = net->ends;

	while (ends->port[0] != port && ends->port[1] != port)
		ends++;
	return ends->port[0] == port ? ends->port[1] : ends->port[0];
}

/* A network has a line of its own, to the one with the same tags behind the far port. */
static int network_join(struct simulated_net *net, unsigned i, struct err *err)
{
	const struct config *config = net->config;
	const struct config_port *port = &config->port[i];
	unsigned far = port_far(net, port->host);

	for (unsigned j = 0; j < config->ports; j++)
		if (config->port[j].is_network && config->port[j].host == far &&
		    config_port_has_tags(&config->port[j], config_wire(port)->vlan,
					 config_wire(port)->vlans))
			return j > i ? cable_make(net, i, j, err) : 0;
	return err_set(err, EXIT_USAGE,
		       "network %s has no far end: port %s has no network with the same tags",
		       port->name, config->port[far].name);
}

static int cables_make(struct simulated_net *net, struct err *err)
{
	const struct config *config = net->config;
	unsigned open = UINT32_MAX; /* a port without loop that awaits its far end */

	for (unsigned i = 0; i < config->ports; i++) {
		unsigned far = i + 1;

		if (config->port[i].is_network)
			break;
		if (!is_loop(&config->port[i])) {
			if (open != UINT32_MAX && cable_make(net, open, i, err))
				return -1;
			open = open == UINT32_MAX ? i : UINT32_MAX;
			continue;
		}
		while (far < config->ports &&
		       strcmp(config->port[far].device, config->port[i].device))
			far++;
		if (far < config->ports && !config->port[far].is_network &&
		    cable_make(net, i, far, err))
			return -1;
	}
	if (open != UINT32_MAX)
		return err_set(err, EXIT_USAGE,
			       "port %s has no far end: to simulate it, the file needs another "
			       "port with the other side's traffic",
			       config->port[open].name);
	for (unsigned i = 0; i < config->ports; i++)
		if (config->port[i].is_network && network_join(net, i, err))
			return -1;
	return 0;
}

static const char *fate_text(unsigned fate, char text[64])
{
	snprintf(text, 64, "%s%s%s%s%s", fate & WIRE_LOST ? "lost, " : "",
		 fate & WIRE_QUEUE_FULL ? "queue full, " : "",
		 fate & WIRE_CORRUPTED ? "corrupted, " : "",
		 fate & WIRE_REORDERED ? "held back, " : "",
		 fate & WIRE_DUPLICATED ? "doubled, " : "");
	if (*text)
		text[strlen(text) - 2] = '\0';
	return text;
}

/* Interfaces of the capture are the ports, in their order. */
static void packet_write(void *arg, unsigned from, const struct rte_mbuf *m, uint64_t now,
			 unsigned fate)
{
	const struct simulated_cable *cable = arg;
	char text[64];
	struct record record = {.data = (const uint8_t *)m->buf_addr + m->data_off,
				.captured = m->data_len,
				.length = m->pkt_len,
				.time_ns = now,
				.direction = RECORD_OUT,
				.linktype = LINKTYPE_ETHERNET};

	record.interface = cable->port[from];
	if (fate) {
		record.comment = fate_text(fate, text);
		record.comment_length = (uint16_t)strlen(text);
	}
	writer_packet(cable->net->pcap, &record);
}

static int pcap_open(struct simulated_net *net, const char *path, struct err *err)
{
	const struct writer_options options = {
		.path = path,
		.origin = {.application = "onager " ONAGER_VERSION},
	};

	net->pcap = writer_open(&options, err);
	if (!net->pcap)
		return -1;
	for (unsigned i = 0; i < net->config->ports; i++) {
		const struct encode_interface interface = {.name = net->config->port[i].name,
							   .linktype = LINKTYPE_ETHERNET};

		if (writer_interface(net->pcap, &interface, err) < 0)
			return -1;
	}
	for (unsigned i = 0; i < net->cables; i++) {
		net->cable[i].tap = packet_write;
		net->cable[i].tap_arg = &net->ends[i];
	}
	return 0;
}

/* Everything empty. */
static int net_make(struct simulated_net *net, const struct config *config, struct err *err)
{
	size_t size = config->ports * sizeof(*net->port);

	*net = (struct simulated_net){.config = config, .box.room = frame_room(config)};
	net->port = aligned_alloc(_Alignof(struct simulated_port), size);
	net->cable = calloc(config->ports, sizeof(*net->cable));
	net->ends = calloc(config->ports, sizeof(*net->ends));
	if (!net->port || !net->cable || !net->ends) {
		free(net->port);
		free(net->cable);
		free(net->ends);
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	}
	memset(net->port, 0, size);
	return 0;
}

int simulated_port_open(struct simulated_net *net, const struct config *config, unsigned port,
			const struct crew_engine *engine, struct err *err)
{
	struct err ignored;
	int failed;

	if (net_make(net, config, err))
		return -1;
	failed = player_set_open(&net->players, config, true, err) ||
		 port_make(net, port, engine, err);
	if (failed)
		simulated_close(net, &ignored);
	return failed ? -1 : 0;
}

int simulated_open(struct simulated_net *net, const struct config *config,
		   const struct crew_engine *engine, const char *pcap, struct err *err)
{
	struct err ignored;
	int failed;

	if (net_make(net, config, err))
		return -1;
	failed = player_set_open(&net->players, config, true, err);
	for (unsigned i = 0; i < config->ports && !failed; i++)
		failed = port_make(net, i, engine, err);
	if (!failed)
		failed = cables_make(net, err);
	if (!failed && pcap)
		failed = pcap_open(net, pcap, err);
	if (!failed)
		failed = player_set_start(&net->players, err);
	if (failed)
		simulated_close(net, &ignored);
	return failed;
}

int simulated_close(struct simulated_net *net, struct err *err)
{
	int failed = 0;

	for (unsigned i = 0; i < net->config->ports; i++) {
		struct simulated_port *p = &net->port[i];

		if (p->end.wire.box)
			wire_close(&p->end.wire);
		if (p->end.tx.box)
			packet_tx_close(&p->end.tx);
		if (p->arena.base)
			memory_arena_close(&p->arena);
	}
	if (net->pcap)
		failed = writer_close(net->pcap, NULL, err);
	player_set_close(&net->players);
	free(net->port);
	free(net->cable);
	free(net->ends);
	return failed;
}

void simulated_start(struct simulated_net *net)
{
	for (unsigned i = 0; i < net->cables; i++)
		sim_start(&net->cable[i], 0);
}

void simulated_run(struct simulated_net *net, uint64_t until)
{
	for (unsigned i = 0; i < net->cables; i++)
		sim_run(&net->cable[i], until);
}

void simulated_drain(struct simulated_net *net, bool clients_only, uint64_t deadline)
{
	for (unsigned i = 0; i < net->config->ports; i++)
		if (net->port[i].has_client || !clients_only)
			sim_drain(&net->port[i].end, simulated_now(net), deadline);
}

bool simulated_idle(const struct simulated_net *net, bool clients_only)
{
	for (unsigned i = 0; i < net->config->ports; i++)
		if ((net->port[i].has_client || !clients_only) && !sim_idle(&net->port[i].end))
			return false;
	return true;
}

void simulated_settle(struct simulated_net *net)
{
	for (unsigned i = 0; i < net->config->ports; i++)
		net->port[i].end.engine->ops->settle(net->port[i].end.engine);
}

uint64_t simulated_next(const struct simulated_net *net)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < net->cables; i++) {
		uint64_t at = sim_next(&net->cable[i]);

		next = at < next ? at : next;
	}
	return next;
}

uint64_t simulated_now(const struct simulated_net *net)
{
	return net->cable[0].now;
}

void simulated_snapshot(const struct simulated_net *net, struct snapshot *s)
{
	s->at = simulated_now(net);
	s->counters = (struct counters){.value = {0}};
	for (unsigned i = 0; i < net->config->ports; i++) {
		const struct simulated_port *p = &net->port[i];

		counters_add(&s->counters, &p->counters);
		for (unsigned t = 0; t < net->config->traffics; t++)
			if (p->stats[t])
				traffic_level_add(&s->traffic[t], &p->stats[t]->level);
	}
}
