/* Taps and the sampler.
 *
 * What is sent must be copied before the port has it: on a cable in this process the other end
 * writes over it at once. So packets being sent are put into the channel unpublished, with a mark
 * before each, and what the port refused is taken back.
 *
 * A packet in several pieces is copied whole before it is filtered, into room that it perhaps does
 * not keep: filters read one piece. */
#include "tap.h"

#include <stdio.h>
#include <string.h>

#define SECOND_NS   1000000000u
#define COMMENT_MAX 512

static void packet_copy(uint8_t *to, const struct rte_mbuf *m, uint32_t length)
{
	while (length) {
		uint32_t piece = m->data_len < length ? m->data_len : length;

		memcpy(to, rte_pktmbuf_mtod(m, const uint8_t *), piece);
		to += piece;
		length -= piece;
		m = m->next;
	}
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Does the filter let a packet of several pieces through? Without room to see: yes. */
static bool pieces_match(struct tap *tap, const struct rte_mbuf *m)
{
	struct channel_packet *packet = channel_room(tap->channel, m->pkt_len, 0);

	if (!packet)
		return true;
	packet_copy(channel_data(packet), m, m->pkt_len);
	return filter_match(tap->filter, channel_data(packet), m->pkt_len, m->pkt_len);
}

static bool tap_matches(struct tap *tap, const struct rte_mbuf *m)
{
	if (!tap->filter)
		return true;
	if (m->nb_segs > 1)
		return pieces_match(tap, m);
	return filter_match(tap->filter, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len,
			    m->pkt_len);
}

static void tap_show(struct tap *tap, const struct rte_mbuf *m, enum record_direction direction,
		     uint64_t now)
{
	struct channel *channel = tap->channel;
	struct channel_packet *packet;

	tap->counts.shown++;
	if (!tap_matches(tap, m)) {
		tap->counts.filtered++;
		return;
	}
	if (__atomic_load_n(&channel->full, __ATOMIC_RELAXED)) {
		tap->counts.beyond++;
		return;
	}
	packet = channel_room(channel, least(m->pkt_len, tap->snaplen), 0);
	if (!packet) {
		channel->dropped++;
		return;
	}
	packet->direction = (uint8_t)direction;
	packet->length = m->pkt_len;
	packet->time_ns = now + tap->origin_ns;
	packet_copy(channel_data(packet), m, packet->captured);
	channel_put(channel, packet);
	tap->counts.put++;
}

void tap_received(struct tap *tap, struct rte_mbuf *const *pkt, unsigned count, uint64_t now)
{
	if (!tap->rx)
		return;
	for (unsigned i = 0; i < count; i++)
		tap_show(tap, pkt[i], RECORD_IN, now);
	channel_publish(tap->channel);
}

static void mark_make(struct tap *tap, unsigned i)
{
	tap->mark[i] = (struct tap_mark){tap->channel->head, tap->channel->dropped, tap->counts};
}

void tap_sending(struct tap *tap, struct rte_mbuf *const *pkt, unsigned count, uint64_t now)
{
	if (!tap->tx)
		return;
	for (unsigned i = 0; i < count; i++) {
		mark_make(tap, i);
		tap_show(tap, pkt[i], RECORD_OUT, now);
	}
	mark_make(tap, count);
}

void tap_sent(struct tap *tap, unsigned count)
{
	if (!tap->tx)
		return;
	tap->channel->head = tap->mark[count].head;
	tap->channel->dropped = tap->mark[count].dropped;
	tap->counts = tap->mark[count].counts;
	channel_publish(tap->channel);
}

bool sampler_wants(struct sampler *sampler, enum drop reason, uint64_t now)
{
	sampler->counts.shown++;
	if (now >= sampler->second_end) {
		sampler->second_end = now - now % SECOND_NS + SECOND_NS;
		for (unsigned i = 0; i < DROP_COUNT; i++)
			sampler->left[i] = sampler->per_second;
	}
	if (sampler->left[reason]) {
		sampler->left[reason]--;
		return true;
	}
	sampler->counts.beyond++;
	return false;
}

void sampler_take(struct sampler *sampler, const struct rte_mbuf *m, enum drop reason,
		  const char *state, uint64_t now)
{
	struct channel *channel = sampler->channel;
	char comment[COMMENT_MAX];
	int length = snprintf(comment, sizeof(comment), "%s: %s%s%s", drop_info[reason].name,
			      drop_info[reason].help, state ? "; " : "", state ? state : "");
	uint32_t captured = least(m->pkt_len, sampler->snaplen);
	struct channel_packet *packet;

	if (length >= (int)sizeof(comment))
		length = sizeof(comment) - 1;
	packet = channel_room(channel, captured, (uint16_t)length);
	if (!packet) {
		channel->dropped++;
		return;
	}
	packet->direction = RECORD_IN;
	packet->length = m->pkt_len;
	packet->time_ns = now + sampler->origin_ns;
	packet_copy(channel_data(packet), m, captured);
	memcpy(channel_data(packet) + captured, comment, (size_t)length);
	channel_put(channel, packet);
	channel_publish(channel);
	sampler->counts.put++;
}
