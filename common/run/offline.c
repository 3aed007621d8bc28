/* Offline replay: one port of the simulated network, without a cable.
 *
 * The recording is the clock: before a packet of time t is fed, all that the engines asked for up
 * to t happens. After the last one they go on for as long as `drain` says, so that what they would
 * repeat is in the file. Answers bear the recording's time.
 *
 * Which packets are for the engines? The first that is sent to an address of the configuration says
 * which MAC address is ours, and where answers go. Packets that the recording's own end sent - from
 * one of these addresses - are not fed: the engine makes them; their numbers are used
 * (offline_ack.h). */
#include "offline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../pcap/linktype.h"
#include "../../pcap/reader.h"
#include "../../pcap/writer.h"
#include "offline_ack.h"
#include "simulate_net.h"

struct offline {
	const struct config *config;
	struct simulated_net net;
	struct simulated_port *port;
	struct reader *reader;
	struct writer *writer;
	struct ack_map acks;
	uint64_t origin_ns; /* time of the first packet: the engines' time 0 */
	uint64_t now, wake; /* when the engines want to be called */
	/* Of the recording, packets = own + too_large + in: its own end's, those that no port
	 * takes, and those fed. */
	uint64_t packets, own, too_large, in;
	uint64_t out;
	bool begun, knows_mac;
};

static void answers_write(struct offline *o, uint64_t now)
{
	struct tx *tx = &o->port->end.tx.tx;

	for (uint32_t i = 0; i < tx->count; i++) {
		const struct rte_mbuf *m = tx->queue[i];
		const struct record record = {.data = (const uint8_t *)m->buf_addr + m->data_off,
					      .captured = m->data_len,
					      .length = m->pkt_len,
					      .time_ns = o->origin_ns + now,
					      .direction = RECORD_OUT,
					      .linktype = LINKTYPE_ETHERNET};
		struct dissect d;

		dissect_frame(record.data, record.captured, &d);
		ack_note(&o->acks, record.data, record.captured, &d, true);
		writer_packet(o->writer, &record);
		packet_box_free(&o->net.box, tx->queue[i]);
		o->out++;
	}
	tx->count = 0;
}

/* All that the engines want up to a time. */
static void pass(struct offline *o, uint64_t until)
{
	while (o->wake <= until) {
		uint64_t now = o->wake;

		o->wake = sim_poll(&o->port->end, now);
		answers_write(o, now);
	}
}

static u128 address_at(const uint8_t *at, unsigned size)
{
	u128 address = 0;

	for (unsigned i = 0; i < size; i++)
		address = address << 8 | at[i];
	return address;
}

static bool is_own(const struct offline *o, const struct dissect *d, u128 address)
{
	for (unsigned i = 0; i < o->config->traffics; i++) {
		const struct config_traffic *t = &o->config->traffic[i];

		if (t->port == 0 && ip_pool_contains(traffic_own(t, d->family), address))
			return true;
	}
	return false;
}

/* Is the packet's source, or its destination, an address of the configuration? */
static bool end_is_own(const struct offline *o, const uint8_t *frame, const struct dissect *d,
		       bool source)
{
	unsigned size = d->family == 4 ? 4 : 16;
	uint32_t at = d->l3 + (d->family == 4 ? 12u : 8u) + (source ? 0 : size);

	return d->family && is_own(o, d, address_at(frame + at, size));
}

static void mac_learn(struct offline *o, const uint8_t *frame)
{
	struct nexthop *hop = &o->port->nexthop;

	o->knows_mac = true;
	memcpy(o->port->end.rule.mac, frame, 6);
	memcpy(hop->gateway, frame + 6, 6);
	memcpy(hop->gateway6, frame + 6, 6);
}

static int feed(struct offline *o, const struct record *record, uint64_t now)
{
	struct rte_mbuf *m = packet_box_new(&o->net.box);
	struct rx_burst rx = {.count = 1, .pkt = {m}};
	struct dissect d;
	uint8_t *frame;

	if (!m)
		return -1;
	frame = (uint8_t *)m->buf_addr + m->data_off;
	m->data_len = (uint16_t)record->captured;
	m->pkt_len = record->captured;
	memcpy(frame, record->data, record->captured);
	dissect_frame(frame, record->captured, &d);
	ack_move(&o->acks, frame, record->captured, &d);
	sim_input(&o->port->end, &o->net.box, &rx, now);
	o->in++;
	o->wake = sim_poll(&o->port->end, now);
	answers_write(o, now);
	return 0;
}

static int record_play(struct offline *o, const struct record *record)
{
	uint64_t now;
	struct dissect d;

	if (!o->begun) {
		o->origin_ns = record->time_ns;
		o->port->end.engine->ops->start(o->port->end.engine, 0);
		if (o->port->end.stateless)
			o->port->end.stateless->ops->start(o->port->end.stateless, 0);
		o->begun = true;
	}
	now = record->time_ns > o->origin_ns ? record->time_ns - o->origin_ns : 0;
	if (o->now < now)
		o->now = now;
	o->packets++;
	pass(o, o->now);
	dissect_frame(record->data, record->captured, &d);
	if (end_is_own(o, record->data, &d, true)) {
		ack_note(&o->acks, record->data, record->captured, &d, false);
		o->own++;
		return 0;
	}
	if (!o->knows_mac && end_is_own(o, record->data, &d, false))
		mac_learn(o, record->data);
	if (record->captured > o->net.box.room) {
		o->too_large++;
		return 0;
	}
	return feed(o, record, o->now);
}

static int play(struct offline *o, struct err *err)
{
	struct record record;

	while (reader_next(o->reader, &record) > 0)
		if (record_play(o, &record))
			return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	if (!o->begun)
		return err_set(err, EXIT_USAGE, "the recording holds no packet to feed");
	pass(o, o->now + o->config->drain);
	if (reader_error(o->reader))
		return err_set(err, EXIT_INVALID, "%s", reader_error(o->reader));
	return 0;
}

static void tell(const struct offline *o, FILE *out)
{
	const struct counters *c = &o->port->counters;

	fprintf(out,
		"packets of the recording %" PRIu64 ", of these %" PRIu64
		" its own end's, too large %" PRIu64 ", fed %" PRIu64 "; answers %" PRIu64 "\n",
		o->packets, o->own, o->too_large, o->in, o->out);
	for (unsigned i = DROP_NONE + 1; i < DROP_COUNT; i++)
		if (c->drop[i])
			fprintf(out, "refused %" PRIu64 ": %s: %s\n", c->drop[i], drop_info[i].name,
				drop_info[i].help);
}

static int files_open(struct offline *o, const struct offline_options *options, struct err *err)
{
	static const struct reader_options ethernet = {.links = READER_ETHERNET};
	const struct writer_options writer = {.path = options->out,
					      .origin = {.application = "onager " ONAGER_VERSION}};
	const struct encode_interface interface = {.name = o->config->port[0].name,
						   .linktype = LINKTYPE_ETHERNET};

	o->reader = reader_open(options->in, &ethernet, err);
	if (!o->reader)
		return -1;
	o->writer = writer_open(&writer, err);
	return o->writer && writer_interface(o->writer, &interface, err) >= 0 ? 0 : -1;
}

int offline(const struct config *config, const struct offline_options *options, struct err *err)
{
	struct offline o = {.config = config};
	struct err closing;
	int failed;

	if (config->port[0].outside)
		return err_set(err, EXIT_USAGE,
			       "port %s: a recording is not put through a tunnel offline: leave "
			       "`tunnel` out",
			       config->port[0].name);
	if (simulated_port_open(&o.net, config, 0, options->engine, err))
		return -1;
	o.port = &o.net.port[0];
	failed = files_open(&o, options, err);
	if (!failed)
		failed = play(&o, err);
	if (o.begun)
		tell(&o, strcmp(options->out, "-") ? stdout : stderr);
	if (o.writer && writer_close(o.writer, NULL, failed ? &closing : err))
		failed = -1;
	reader_close(o.reader);
	ack_close(&o.acks);
	simulated_close(&o.net, &closing);
	return failed;
}
