/* The sink.
 *
 * A packet is of one sort: corrupt (its UDP checksum is wrong, or its tag says our run and the
 * check denies it), foreign (no tag of our run), or of a lane, where its number decides: new, late,
 * duplicate, or too late to tell. A corrupt packet counts as lost in its lane, for nobody knows
 * which one it was.
 *
 * The law is sent = unique + lost. What was sent is known when the blast is in the same process;
 * else it is the highest number seen, and packets lost at the very end are not known of. */
#include "sink.h"

#include <string.h>

#include "tag.h"

#define NAMES (UINT16_MAX + 1u)
/* Beyond this a latency is taken as clocks that differ: the histogram ends there. */
#define LATENCY_MOST (UINT64_C(1) << 39)
#define STEP_MOST    100000000u /* a core may be taken away in the middle of a step */

uint64_t sink_reserve(void)
{
	return STREAM_LANES * (sizeof(struct sink_lane) + sizeof(struct stream_lane)) +
	       NAMES * sizeof(uint16_t) + 3 * 64;
}

/* It wants those of its servers only. */
static bool sink_addresses(const struct config_traffic *t)
{
	return t->servers.ranges || t->servers6.ranges;
}

int sink_make(struct sink *s, const struct config_traffic *t, const struct stateless_setup *setup,
	      struct arena *arena)
{
	unsigned traffic = (unsigned)(t - setup->config->traffic);

	*s = (struct sink){.config = t,
			   .setup = setup,
			   .level = &setup->stats[traffic]->level,
			   .stats = setup->streams[traffic],
			   .lane = arena_take(arena, STREAM_LANES * sizeof(*s->lane)),
			   .index = arena_take(arena, NAMES * sizeof(*s->index)),
			   .run = tag_run(setup->config->seed),
			   .any = !sink_addresses(t) && !t->server_ports.ranges};
	s->stats->lane = arena_take(arena, STREAM_LANES * sizeof(*s->stats->lane));
	return s->lane && s->index && s->stats->lane ? 0 : -1;
}

bool sink_wants(const struct sink *s, uint8_t family, u128 address, uint16_t port)
{
	const struct config_traffic *t = s->config;

	if (s->any)
		return true;
	return (!sink_addresses(t) || ip_pool_contains(traffic_servers(t, family), address)) &&
	       (!t->server_ports.ranges || port_pool_contains(&t->server_ports, port));
}

/* The place of a lane, a new one if need be; -1 without room. */
static int lane_find(struct sink *s, uint16_t name)
{
	struct stream_stats *stats = s->stats;
	unsigned place = s->index[name];

	if (__builtin_expect(place, 1))
		return (int)place - 1;
	if (stats->lanes == STREAM_LANES)
		return -1;
	place = stats->lanes++;
	stats->lane[place].name = name;
	s->lane[place].latency = UINT64_MAX;
	s->index[name] = (uint16_t)(place + 1);
	return (int)place;
}

static void repeats_settle(struct sink *s)
{
	if (!s->repeats)
		return;
	hist_add_many(&s->repeated->latency, s->repeated_latency, s->repeats);
	hist_add_many(&s->repeated->jitter, 0, s->repeats);
	s->repeats = 0;
}

static inline void latency_count(struct sink *s, struct sink_lane *lane, struct stream_lane *stats,
				 uint64_t latency)
{
	uint64_t before = lane->latency;

	/* Sent while the step was under way in which it was received: its time is the step's. */
	if (latency > TAG_48 - STEP_MOST)
		latency = 0;
	if (latency >= LATENCY_MOST)
		return;
	if (latency == before && stats == s->repeated) {
		s->repeats++;
		return;
	}
	repeats_settle(s);
	s->repeated = stats;
	s->repeated_latency = latency;
	hist_add(&stats->latency, latency);
	if (before != UINT64_MAX)
		hist_add(&stats->jitter, latency > before ? latency - before : before - latency);
	lane->latency = latency;
}

static inline void lane_count(struct sink *s, unsigned place, const struct tag *tag, uint64_t time)
{
	struct sink_lane *lane = &s->lane[place];
	struct stream_lane *stats = &s->stats->lane[place];

	switch (track_add(&lane->track, tag->sequence)) {
	case TRACK_LATE:
		stats->late++;
		break;
	case TRACK_DUPLICATE:
		stats->duplicate++;
		return;
	case TRACK_OLD:
		stats->too_late++;
		return;
	default:
		stats->next = lane->track.next;
	}
	stats->unique++;
	latency_count(s, lane, stats, (time - tag->time) & TAG_48);
}

static void corrupt_count(struct sink *s, const struct tag *tag)
{
	unsigned place = tag->run == s->run ? s->index[tag->lane] : 0;

	s->stats->corrupt++;
	if (place)
		s->stats->lane[place - 1].corrupt++;
}

static inline void packet_count(struct sink *s, const struct rx_burst *rx, unsigned i, uint64_t now)
{
	const struct rte_mbuf *m = rx->pkt[i];
	const struct view *view = &rx->view[i];
	const uint8_t *payload = (const uint8_t *)m->buf_addr + m->data_off + view->payload;
	bool good = rx->reason[i] == DROP_NONE;
	struct tag tag = {.run = (uint16_t)~s->run};
	int place;

	if (view->payload_len >= TAG_BYTES && view->payload + TAG_BYTES <= m->data_len)
		good = tag_read(payload, &tag) && good;
	if (rx->reason[i] || (!good && tag.run == s->run)) {
		corrupt_count(s, &tag);
		return;
	}
	place = good && tag.run == s->run ? lane_find(s, tag.lane) : -1;
	if (place < 0)
		s->stats->foreign++;
	else
		lane_count(s, (unsigned)place, &tag, now);
}

void sink_input(struct sink *s, const struct rx_burst *rx, unsigned i, unsigned end, uint64_t now)
{
	uint64_t bytes = 0;

	s->heard_at = now;
	s->level->connection.offered += end - i;
	s->stats->received += end - i;
	for (; i < end; i++) {
		bytes += rx->pkt[i]->pkt_len;
		packet_count(s, rx, i, now);
	}
	s->level->bits_rx += bytes * 8;
	repeats_settle(s);
}
