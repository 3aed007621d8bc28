/* Putting together what sinks saw.
 *
 * Lanes are merged by name first: several sink workers may have seen packets of one, and its
 * highest number is the highest that any saw. Then a stream is the sum of its lanes. What was sent
 * is known of blasts of this run; of others it is what the numbers say.
 *
 * A blast of this run is judged if a sink should have seen it: if one did, one is on another port
 * than the blast, or one on its own waits for what is sent to the blast's clients: an echo. Other
 * sinks on its own port hear the far end. */
#include "report_stream.h"

#include "report_replay.h"

#include <stdlib.h>
#include <string.h>

/* One more than there are entries: the lanes of all sinks are gathered in the last. */
struct stream_stats *streams_open(const struct result *r)
{
	return calloc(r->config->traffics + 1, sizeof(struct stream_stats));
}

static struct stream_lane *lane_of(struct stream_stats *stats, uint16_t name)
{
	struct stream_lane *grown;
	size_t size = sizeof(*stats->lane);

	for (unsigned i = 0; i < stats->lanes; i++)
		if (stats->lane[i].name == name)
			return &stats->lane[i];
	grown = aligned_alloc(_Alignof(struct stream_lane), (stats->lanes + 1) * size);
	if (!grown)
		return NULL;
	if (stats->lanes)
		memcpy(grown, stats->lane, stats->lanes * size);
	free(stats->lane);
	stats->lane = grown;
	memset(&grown[stats->lanes], 0, size);
	grown[stats->lanes].name = name;
	return &grown[stats->lanes++];
}

static void lane_add(struct stream_lane *to, const struct stream_lane *from)
{
	to->next = from->next > to->next ? from->next : to->next;
	to->unique += from->unique;
	to->late += from->late;
	to->duplicate += from->duplicate;
	to->too_late += from->too_late;
	to->corrupt += from->corrupt;
	hist_merge(&to->latency, &from->latency);
	hist_merge(&to->jitter, &from->jitter);
}

void streams_add(struct result *r, struct stream_stats *const *streams)
{
	for (unsigned i = 0; i < r->config->traffics; i++) {
		const struct stream_stats *from = streams[i];
		struct stream_stats *to = &r->blast[i];

		if (!from)
			continue;
		to->sent += from->sent;
		to->bytes += from->bytes;
		to->received += from->received;
		to->foreign += from->foreign;
		to->corrupt += from->corrupt;
		hist_merge(&to->lateness, &from->lateness);
		for (unsigned n = 0; n < SKIPPED_COUNT; n++)
			to->skipped[n] += from->skipped[n];
		if (from->elapsed > to->elapsed) {
			to->elapsed = from->elapsed;
			to->planned = from->planned;
		}
		for (unsigned n = 0; n < from->lanes; n++) {
			struct stream_lane *lane =
				lane_of(&r->blast[r->config->traffics], from->lane[n].name);

			if (lane)
				lane_add(lane, &from->lane[n]);
		}
	}
}

static bool sink_awaits(const struct config_traffic *sink, const struct config_traffic *blast)
{
	uint8_t family = blast_family(blast);
	const struct ip_pool *clients = traffic_clients(blast, family);
	const struct ip_pool *servers = traffic_servers(sink, family);

	return sink->port != blast->port || (servers->ranges && clients->ranges &&
					     ip_pool_contains(servers, ip_pool_at(clients, 0)));
}

static bool has_sink(const struct config *config, const struct config_traffic *blast)
{
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].kind == UDP_SINK && sink_awaits(&config->traffic[i], blast))
			return true;
	return false;
}

/* The blast of this run that has a number, or -1. */
static int blast_of(const struct config *config, unsigned number)
{
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].kind == UDP_BLAST && config->traffic[i].blast.tag &&
		    config->traffic[i].blast.stream == number)
			return (int)i;
	return -1;
}

static void stream_fill(struct stream_result *stream, const struct stream_stats *all)
{
	for (unsigned i = 0; i < all->lanes; i++) {
		const struct stream_lane *lane = &all->lane[i];

		if (lane->name >> 8 != stream->number)
			continue;
		stream->judged = true;
		stream->unique += lane->unique;
		stream->late += lane->late;
		stream->duplicate += lane->duplicate;
		stream->too_late += lane->too_late;
		stream->corrupt += lane->corrupt;
		hist_merge(&stream->latency, &lane->latency);
		hist_merge(&stream->jitter, &lane->jitter);
		if (stream->traffic < 0)
			stream->sent += lane->next;
	}
}

void streams_end(struct result *r)
{
	const struct config *config = r->config;
	struct stream_stats *all = &r->blast[config->traffics];

	r->stream = calloc(UINT8_MAX + 1, sizeof(*r->stream));
	for (unsigned number = 0; r->stream && number <= UINT8_MAX; number++) {
		struct stream_result *stream = &r->stream[r->streams];

		*stream = (struct stream_result){.number = number,
						 .traffic = blast_of(config, number)};
		if (stream->traffic >= 0) {
			stream->sent = r->blast[stream->traffic].sent;
			stream->judged = has_sink(config, &config->traffic[stream->traffic]);
		}
		stream_fill(stream, all);
		if (stream->judged && stream->sent > stream->unique)
			stream->lost = stream->sent - stream->unique;
		snprintf(stream->name, sizeof(stream->name), "stream%u", number);
		r->streams += stream->judged || stream->traffic >= 0;
	}
	free(all->lane);
	all->lane = NULL;
	all->lanes = 0;
}

bool streams_limited(const struct config *config)
{
	bool any = false;

	for (unsigned i = 0; i < config->traffics; i++) {
		const struct config_traffic *t = &config->traffic[i];

		if (!traffic_is_client(t->kind))
			continue;
		if (!traffic_is_limited(t))
			return false;
		any = true;
	}
	return any;
}

bool streams_sent(const struct config *config, struct stream_stats *const *streams)
{
	for (unsigned i = 0; i < config->traffics; i++)
		if (streams[i] && traffic_is_limited(&config->traffic[i]) &&
		    !__atomic_load_n(&streams[i]->all_sent, __ATOMIC_RELAXED))
			return false;
	return true;
}

const char *stream_name(const struct result *r, const struct stream_result *stream)
{
	return stream->traffic < 0 ? stream->name : r->config->traffic[stream->traffic].name;
}

void report_walk_stateless(struct sink *s, const struct result *r, unsigned i)
{
	const struct config_traffic *traffic = &r->config->traffic[i];
	const struct config_load *load = &traffic->load;
	const struct tally *tally = &r->traffic[i].level.connection;
	struct report_achieved achieved;

	if (traffic->kind == REPLAY) {
		report_walk_replay(s, r, i);
		return;
	}
	report_achieved(r, i, &achieved);
	if (traffic->kind == UDP_BLAST) {
		sink_begin_flat(s, "target", SINK_OBJECT);
		report_walk_target(s, "pps", load->pps);
		report_walk_target(s, "bps", load->bps);
		report_walk_target(s, "bps_l1", load->bps_l1);
		report_walk_target(s, "percent", load->percent);
		sink_end(s);
	}
	sink_begin_flat(s, "achieved", SINK_OBJECT);
	sink_real(s, "pps", achieved.pps);
	sink_real(s, "bps_rx", achieved.bps_rx);
	sink_real(s, "bps_tx", achieved.bps_tx);
	sink_end(s);
	if (traffic->kind == UDP_SINK) {
		sink_count(s, "received", tally->offered);
		sink_count(s, "foreign", r->blast ? r->blast[i].foreign : 0);
		sink_count(s, "corrupt", r->blast ? r->blast[i].corrupt : 0);
		return;
	}
	sink_count(s, "wanted", tally->offered + tally_not_offered(tally));
	sink_count(s, "offered", tally->offered);
	sink_begin_flat(s, "not_offered", SINK_OBJECT);
	for (unsigned n = 0; n < NOT_OFFERED_COUNT; n++)
		sink_count(s, not_offered_name[n], tally->not_offered[n]);
	sink_end(s);
	if (!r->blast)
		return;
	sink_count(s, "bytes", r->blast[i].bytes);
	report_walk_latency(s, "lateness_us", &r->blast[i].lateness);
}

void report_walk_streams(struct sink *s, const struct result *r)
{
	sink_begin(s, "streams", SINK_OBJECT);
	for (unsigned i = 0; i < r->streams; i++) {
		const struct stream_result *stream = &r->stream[i];

		sink_begin(s, stream_name(r, stream), SINK_OBJECT);
		sink_count(s, "sent", stream->sent);
		if (stream->judged) {
			sink_count(s, "unique", stream->unique);
			sink_count(s, "lost", stream->lost);
			sink_count(s, "late", stream->late);
			sink_count(s, "duplicate", stream->duplicate);
			sink_count(s, "too_late", stream->too_late);
			sink_count(s, "corrupt", stream->corrupt);
			report_walk_latency(s, "latency_us", &stream->latency);
			report_walk_latency(s, "jitter_us", &stream->jitter);
		}
		sink_end(s);
	}
	sink_end(s);
}
