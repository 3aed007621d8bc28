/* See drill.h. */
#include "drill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SERVER_IP ((10u << 24) + 0xfffffeu)
#define CLIENT_IP ((10u << 24) + 1)

/* Our sequence numbers wrap early in every test. */
#define FAR_ISN 0xfffffff0u

static void collect(struct drill *d)
{
	struct tx *tx = &d->lab.sim.tx.tx;

	if (d->stuck)
		return;
	for (uint32_t i = 0; i < tx->count; i++) {
		struct rte_mbuf *m = tx->queue[i];

		assert_true(d->outs < DRILL_OUT_MAX);
		d->offloaded += segment_offload(m);
		if (m->next) { /* payload by reference */
			m = packet_box_copy(&d->box, m);
			assert_non_null(m);
			packet_box_free(&d->box, tx->queue[i]);
		}
		d->out[d->outs].m = m;
		d->out[d->outs++].at = d->now;
	}
	tx->count = 0;
}

static void poll(struct drill *d)
{
	struct sim_end *end = &d->lab.sim;

	end->wake = sim_poll(end, d->now);
	collect(d);
}

void drill_wait(struct drill *d, uint64_t ns)
{
	uint64_t until = d->now + ns;

	while (d->lab.sim.wake <= until) {
		d->now = d->lab.sim.wake > d->now ? d->lab.sim.wake : d->now;
		poll(d);
	}
	d->now = until;
}

void drill_open(struct drill *d, enum drill_side side, const char *const *set)
{
	memset(d, 0, sizeof(*d));
	d->side = side;
	d->box.room = 9728;
	lab_config(&d->config, set);
	lab_open(&d->lab, &d->config, side == DRILL_CLIENT ? LAB_CLIENT_PORT : LAB_SERVER_PORT,
		 &d->box, 2048);
	d->far_rule.verify = true;
	d->far_rule.ip6 = lab_ip6();
	memcpy(d->far_rule.mac, lab_mac[side == DRILL_CLIENT ? LAB_SERVER_PORT : LAB_CLIENT_PORT],
	       6);
	for (unsigned i = 0; i < DRILL_FLOWS; i++)
		d->flow[i] = (struct drill_flow){
			.far_ip = side == DRILL_CLIENT ? SERVER_IP : CLIENT_IP,
			.near_ip = side == DRILL_CLIENT ? CLIENT_IP : SERVER_IP,
			.far_port = (uint16_t)(side == DRILL_CLIENT ? 80 : 20000 + i),
			.near_port = 80,
			.far_isn = FAR_ISN + i * 1000,
		};
	d->now = d->zero = d->last = LAB_EPOCH;
	d->lab.sim.engine->ops->start(d->lab.sim.engine, d->now);
	poll(d);
}

static void forget_output(struct drill *d)
{
	while (d->outs)
		packet_box_free(&d->box, d->out[--d->outs].m);
	d->out_at = 0;
}

void drill_close(struct drill *d)
{
	struct engine *engine = d->lab.sim.engine;
	const char *law;

	forget_output(d);
	engine->ops->drain(engine, d->now, d->now);
	for (unsigned i = 0; i < 100 && !engine->ops->idle(engine); i++) {
		d->now += MS(1);
		poll(d);
		forget_output(d);
	}
	law = lab_broken_law(&d->lab);
	lab_close(&d->lab);
	config_free(&d->config);
	if (law)
		fail_msg("at the end of the drill it does not hold that %s", law);
	if (d->box.out)
		fail_msg("%lu packets are missing in the box", (unsigned long)d->box.out);
}

void drill_flow(struct drill *d, unsigned n)
{
	assert_true(n < DRILL_FLOWS);
	d->current = n;
}

void drill_renumber(struct drill *d, uint32_t isn)
{
	d->flow[d->current].far_isn = isn;
	d->flow[d->current].known = false;
	d->flow[d->current].near_isn = 0;
}

/* Move the payload into a packet that hangs behind. */
static void payload_split(struct drill *d, struct rte_mbuf *m, uint32_t payload_len)
{
	struct rte_mbuf *behind = packet_box_new(&d->box);

	assert_non_null(behind);
	m->data_len = (uint16_t)(m->data_len - payload_len);
	memcpy((char *)behind->buf_addr + behind->data_off,
	       (char *)m->buf_addr + m->data_off + m->data_len, payload_len);
	behind->data_len = (uint16_t)payload_len;
	m->nb_segs = 2;
	m->next = behind;
}

/* Give the engine a frame as a worker would. */
static void inject(struct drill *d, struct rte_mbuf *m)
{
	struct rx_burst rx = {.count = 1, .pkt = {m}};

	sim_input(&d->lab.sim, &d->box, &rx, d->now);
	poll(d);
	d->last = d->now;
}

void drill_send_segment(struct drill *d, const struct segment *segment)
{
	struct segment copy = *segment;
	struct rte_mbuf *m = packet_box_new(&d->box);
	unsigned to = d->side == DRILL_CLIENT ? LAB_CLIENT_PORT : LAB_SERVER_PORT;

	assert_non_null(m);
	copy.ip6 = lab_ip6();
	segment_write(&copy, m, lab_mac[!to], lab_mac[to]);
	if (d->split && segment->payload_len > 6) /* no padding behind it */
		payload_split(d, m, segment->payload_len);
	inject(d, m);
}

/* Replace a byte, and make up for it in the checksum (RFC 1624). */
static void icmp_change(uint8_t *icmp, unsigned at, uint8_t value)
{
	uint8_t *word = icmp + (at & ~1u);
	uint32_t sum = (uint16_t) ~(icmp[2] << 8 | icmp[3]);

	sum += (uint16_t) ~(word[0] << 8 | word[1]);
	icmp[at] = value;
	sum += (uint32_t)(word[0] << 8 | word[1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	icmp[2] = (uint8_t)(~sum >> 8);
	icmp[3] = (uint8_t)~sum;
}

static void too_big(struct drill *d, uint32_t seq, uint32_t mtu, int at, uint8_t value)
{
	struct drill_flow *flow = &d->flow[d->current];
	struct segment quoted = {.ip6 = lab_ip6(),
				 .src = flow->near_ip,
				 .dst = flow->far_ip,
				 .src_port = flow->near_port,
				 .dst_port = flow->far_port,
				 .seq = flow->near_isn + seq,
				 .flags = 0x10,
				 .payload_len = 1460};
	struct rte_mbuf *m = packet_box_new(&d->box);
	unsigned to = d->side == DRILL_CLIENT ? LAB_CLIENT_PORT : LAB_SERVER_PORT;

	assert_non_null(m);
	/* as in lab.h: segments are as long as with IPv4 */
	segment_write_too_big(&quoted, mtu + (lab_ip6() ? 20 : 0), m, lab_mac[!to], lab_mac[to]);
	if (at >= 0)
		icmp_change((uint8_t *)m->buf_addr + m->data_off + (lab_ip6() ? 54 : 34),
			    (unsigned)at, value);
	inject(d, m);
}

void drill_too_big(struct drill *d, uint32_t seq, uint32_t mtu)
{
	too_big(d, seq, mtu, -1, 0);
}

void drill_too_big_but(struct drill *d, uint32_t seq, uint32_t mtu, unsigned at, uint8_t value)
{
	too_big(d, seq, mtu, (int)at, value);
}

void drill_send(struct drill *d, const char *payload, const char *format, ...)
{
	struct drill_flow *flow = &d->flow[d->current];
	struct segment segment;
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	segment_parse(&segment, text);
	segment.src = flow->far_ip;
	segment.dst = flow->near_ip;
	segment.src_port = flow->far_port;
	segment.dst_port = flow->near_port;
	segment.seq += flow->far_isn;
	if (segment.flags & 0x10)
		segment.ack += flow->near_isn;
	if (!segment.has_window)
		segment.window = UINT16_MAX;
	if (payload) {
		segment.payload = (const uint8_t *)payload;
		segment.payload_len = (uint32_t)strlen(payload);
	}
	if (!(segment.flags & 0x04))
		flow->far_nxt = segment.seq - flow->far_isn + segment.payload_len +
				(segment.flags & 0x01) + !!(segment.flags & 0x02);
	drill_send_segment(d, &segment);
}

/* The flow of a segment is the current one; a client's first segment makes it known. */
static bool learn_flow(struct drill *d, const struct segment *got)
{
	struct drill_flow *flow = &d->flow[d->current];
	bool syn = got->flags & 0x02;

	if (!flow->known && d->side == DRILL_CLIENT && syn) {
		flow->near_ip = got->src;
		flow->near_port = got->src_port;
		flow->far_ip = got->dst;
		flow->far_port = got->dst_port;
	}
	if (!flow->known && syn) {
		flow->near_isn = got->seq;
		flow->known = true;
	}
	return got->src == flow->near_ip && got->dst == flow->far_ip &&
	       got->src_port == flow->near_port && got->dst_port == flow->far_port;
}

static bool matches(const struct segment *want, const struct segment *got,
		    const struct drill_flow *flow)
{
	return want->flags == got->flags && want->seq + flow->near_isn == got->seq &&
	       (!want->has_ack || want->ack + flow->far_isn == got->ack) &&
	       (!want->has_tos || want->tos == got->tos) &&
	       (!want->has_window || want->window == got->window) &&
	       (!want->has_end || want->payload_len == got->payload_len) &&
	       (!want->has_options || (want->options_len == got->options_len &&
				       !memcmp(want->options, got->options, want->options_len)));
}

static void complain(struct drill *d, const char *file, int line, uint64_t at, const char *want,
		     const char *got)
{
	print_error("%s:%d: at %.6f s\n  expected: %s\n  got:      %s\n", file, line,
		    (double)(at - d->zero) / 1e9, want, got);
	_fail(file, line);
}

/* The next frame out as a segment in d->got; the test fails when it is no good TCP segment. */
static void read_next(struct drill *d, const char *file, int line, const char *want)
{
	const struct rte_mbuf *m = d->out[d->out_at].m;
	struct view view;
	enum drop reason = view_parse(m, &d->far_rule, &view);

	if (reason != DROP_NONE)
		complain(d, file, line, d->now, want, drop_info[reason].name);
	if (view.kind != VIEW_TCP)
		complain(d, file, line, d->now, want, "no TCP");
	segment_read(&d->got, m, &view);
}

static void expect_text(struct drill *d, const char *text, const char *file, int line)
{
	struct drill_flow *flow = &d->flow[d->current];
	struct segment want;
	char got[256];
	uint64_t at;

	segment_parse(&want, text);
	if (d->out_at == d->outs)
		complain(d, file, line, d->now, text, "nothing");
	at = d->out[d->out_at].at;
	read_next(d, file, line, text);
	if (!learn_flow(d, &d->got))
		complain(d, file, line, at, text, "a segment of another connection");
	if (!matches(&want, &d->got, flow))
		complain(d, file, line, at, text,
			 segment_text(got, &d->got, flow->near_isn, flow->far_isn));
	assert_true(d->got.payload_len < DRILL_TEXT_MAX);
	memcpy(d->payload, d->got.payload, d->got.payload_len);
	d->payload[d->got.payload_len] = 0;
	d->last = at;
	d->out_at++;
}

unsigned drill_skip_acks(struct drill *d)
{
	unsigned n = 0;

	for (; d->out_at < d->outs; d->out_at++, n++) {
		read_next(d, __FILE__, __LINE__, "a segment");
		if (!learn_flow(d, &d->got) || d->got.flags != 0x10 || d->got.payload_len)
			break;
	}
	return n;
}

uint32_t drill_stream(struct drill *d, uint32_t at)
{
	struct drill_flow *flow = &d->flow[d->current];

	while (d->out_at < d->outs) {
		uint32_t seq;

		read_next(d, __FILE__, __LINE__, "a segment of the stream");
		d->out_at++;
		if (!learn_flow(d, &d->got))
			fail_msg("a segment of another connection in the stream");
		seq = d->got.seq - flow->near_isn;
		if (!d->got.payload_len && !(d->got.flags & 1))
			continue;
		if (seq != at)
			fail_msg("the stream goes on at %u, expected %u", seq, at);
		assert_true(d->stream_len + d->got.payload_len < DRILL_TEXT_MAX);
		memcpy(d->stream + d->stream_len, d->got.payload, d->got.payload_len);
		d->stream_len += d->got.payload_len;
		d->stream[d->stream_len] = 0;
		at += d->got.payload_len + (d->got.flags & 1);
		SEND(d, ". %u ack %u", flow->far_nxt, at);
	}
	return at;
}

void drill_drain(struct drill *d, uint64_t deadline_in)
{
	d->lab.sim.engine->ops->drain(d->lab.sim.engine, d->now, d->now + deadline_in);
	poll(d);
}

void drill_expect(struct drill *d, const char *file, int line, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	expect_text(d, text, file, line);
}

void drill_expect_in(struct drill *d, uint64_t ns, const char *file, int line, const char *format,
		     ...)
{
	uint64_t slack = ns / 100 + MS(1), since = d->last;
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (d->out_at == d->outs && since + ns + slack > d->now)
		drill_wait(d, since + ns + slack - d->now);
	expect_text(d, text, file, line);
	if (d->last - since + slack < ns || d->last - since > ns + slack) {
		print_error("%s:%d: %s\n  expected: after %.6f s\n  got:      after %.6f s\n", file,
			    line, text, (double)ns / 1e9, (double)(d->last - since) / 1e9);
		_fail(file, line);
	}
}

void drill_expect_nothing(struct drill *d, const char *file, int line)
{
	const struct drill_flow *flow = &d->flow[d->current];
	char text[256];

	if (d->out_at == d->outs)
		return;
	read_next(d, file, line, "nothing");
	complain(d, file, line, d->out[d->out_at].at, "nothing",
		 segment_text(text, &d->got, flow->near_isn, flow->far_isn));
}

void drill_expect_drop(struct drill *d, enum drop reason, uint64_t count, const char *file,
		       int line)
{
	if (d->lab.counters.drop[reason] == count)
		return;
	print_error("%s:%d: refused as %s\n  expected: %lu\n  got:      %lu\n", file, line,
		    drop_info[reason].name, (unsigned long)count,
		    (unsigned long)d->lab.counters.drop[reason]);
	for (unsigned i = 1; i < DROP_COUNT; i++)
		if (d->lab.counters.drop[i])
			print_error("  (%s: %lu)\n", drop_info[i].name,
				    (unsigned long)d->lab.counters.drop[i]);
	_fail(file, line);
}
