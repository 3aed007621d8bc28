/* The verdict: was it the device under test, or the tester?
 *
 * Two kinds of reasons are collected.
 *
 * Faults, of the device under test:
 *   - a criterion of `expect` is not met, or names what the report does not have;
 *   - packets of a replay did not arrive at the other port, and no criterion speaks about that;
 *   - packets of a stream were lost, and no criterion speaks about streams.X.lost or .unique;
 *   - a client's connection or request failed in a way that no criterion speaks about. A criterion
 *     on traffic.X.failed.KIND speaks about that kind, one on httpErr about wrong and malformed
 *     responses, one on skErr or traffic.X.succeeded about all;
 *   - a link went down and stayed down, and its clients failed or could not send: then what the
 *     port did not take is no limit of the generator.
 *
 * Limits, of the generator: more than 0.1 % of the wanted load was not offered (late, tx_full,
 * no_conn; no_tuple when nothing failed, for failed connections hold their tuples), a recording
 * could not be read to its end or holds what is no Ethernet, a replay took more than 1 % longer
 * than it should have, of the packets sent was given up, or of those received was lost in the port;
 * more than 1 % of the connections were cut off by the end of the run, so that nobody knows (fewer:
 * a remark);
 * a numeric target was missed by 1 % while a worker was busy more than 95 % of the time; or a
 * client offered nothing. A load with "max" in it asks for as much as there is: of these only
 * `late` counts.
 *
 * Which decides, when there are both? fail, if a criterion with `max` or on a metric that does not
 * exist is not met, if a link stayed down, or if more than 1 % of a client's connections or
 * requests failed, those cut off apart: no overload of the generator explains that away. Otherwise
 * invalid: a generator at its limit misses minima and loses a few connections by itself.
 *
 * A run interrupted before the steady phase is invalid and not judged further; later, it is judged
 * by what it measured, with a remark. Servers alone pass unless a criterion says otherwise, also
 * when interrupted. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report_stream.h"

#define BUSY_PERCENT 95
#define TARGET_SHARE 0.99
#define STRETCH_NS   1e7

struct list {
	char **text;
	unsigned count;
	bool failed; /* no memory */
};

struct judge {
	const struct result *r;
	struct list faults, limits, remarks;
	bool decisive; /* a fault that no limit explains away */
	bool clients;
	bool link_lost; /* a fault names a link that is down */
};

static void list_add(struct list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void list_add(struct list *list, const char *format, ...)
{
	char **grown = realloc(list->text, (list->count + 1) * sizeof(*grown));
	size_t size;
	va_list args;
	FILE *out;

	if (grown)
		list->text = grown;
	out = grown ? open_memstream(&grown[list->count], &size) : NULL;
	if (!out) {
		list->failed = true;
		return;
	}
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	list->failed |= fclose(out) != 0;
	list->count++;
}

static void list_free(struct list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		free(list->text[i]);
	free(list->text);
}

static bool over_permille(uint64_t part, uint64_t whole)
{
	return (double)part * 1000 > (double)whole;
}

/* Limits of the generator. */

static bool rate_is_numeric(struct rate rate)
{
	return rate.den && !rate_is_max(rate);
}

static bool load_has_max(const struct config_load *load)
{
	return rate_is_max(load->cps) || rate_is_max(load->rps) || rate_is_max(load->bps) ||
	       rate_is_max(load->pps) || rate_is_max(load->bps_l1) || rate_is_max(load->percent) ||
	       load->concurrency == UINT64_MAX;
}

/* What a traffic entry offers. */
static const char *launch_noun(const struct config_traffic *traffic, bool requests)
{
	if (requests)
		return "requests";
	return traffic_is_stateless(traffic->kind) ? "packets" : "connections";
}

static const char *launch_advice(enum not_offered reason, bool requests)
{
	switch (reason) {
	case NOT_OFFERED_NO_TUPLE:
		return "no client address and port was free: enlarge clients, client_ports or "
		       "server_ports, or lower the load";
	case NOT_OFFERED_TX_FULL:
		return "the port did not take the packets: give it more cores or tx_descriptors, "
		       "or lower the load";
	case NOT_OFFERED_NO_CONN:
		return requests
			       ? "every open connection was waiting for a response: raise "
				 "load.concurrency, or lower the load"
			       : "as many connections as load.concurrency or max_connections allow "
				 "were open: raise it, or lower the load";
	default:
		return "the generator could not keep up: give the port more cores, or lower the "
		       "load";
	}
}

/* What rate the tuples allow depends on how long each is held: it is what this run reached. */
static void limit_tuples(struct judge *j, const struct config_traffic *t)
{
	double tuples = (double)t->clients.count * t->client_ports.count *
			(double)t->servers.count * t->server_ports.count;
	char text[REPORT_NUMBER_MAX];
	struct report_achieved achieved;

	report_achieved(j->r, (unsigned)(t - j->r->config->traffic), &achieved);
	if (tuples > 0 && achieved.cps > 0)
		list_add(&j->limits,
			 "%s: its %.0f pairs of a client's and a server's address and port allowed "
			 "%s connections a second",
			 t->name, tuples, report_number(text, achieved.cps));
}

static void limit_launches(struct judge *j, const struct config_traffic *traffic,
			   const struct tally *tally, bool requests)
{
	const uint64_t *not = tally->not_offered;
	uint64_t wanted = tally->offered + tally_not_offered(tally);
	bool max = load_has_max(&traffic->load);
	uint64_t limited = not [NOT_OFFERED_LATE];
	char counts[REPORT_COUNTS_MAX];
	unsigned most = NOT_OFFERED_LATE;

	if (!max)
		limited += not [NOT_OFFERED_TX_FULL] + not [NOT_OFFERED_NO_CONN];
	if (!max && !tally_failed(tally))
		limited += not [NOT_OFFERED_NO_TUPLE];
	if (!over_permille(limited, wanted))
		return;
	for (unsigned i = 0; i < NOT_OFFERED_COUNT; i++)
		if (not [i] > not [most])
			most = i;
	list_add(&j->limits, "%s: %" PRIu64 " of %" PRIu64 " wanted %s were not offered (%s): %s",
		 traffic->name, wanted - tally->offered, wanted, launch_noun(traffic, requests),
		 report_counts(counts, not, not_offered_name, NOT_OFFERED_COUNT, false),
		 launch_advice(most, requests));
	if (most == NOT_OFFERED_NO_TUPLE && !requests)
		limit_tuples(j, traffic);
}

static void limit_nothing(struct judge *j, const struct config_traffic *traffic,
			  const struct tally *tally)
{
	char counts[REPORT_COUNTS_MAX];

	if (tally->offered)
		return;
	report_counts(counts, tally->not_offered, not_offered_name, NOT_OFFERED_COUNT, false);
	list_add(&j->limits, "%s: no %.*s was offered%s%s", traffic->name,
		 (int)strlen(launch_noun(traffic, false)) - 1, launch_noun(traffic, false),
		 *counts ? ", of those wanted: " : "", counts);
}

/* A recording of which not all can be sent. */
static void limit_recording(struct judge *j, unsigned i)
{
	const char *why = j->r->replay ? j->r->replay[i].incomplete : NULL;

	if (!why && j->r->conversation)
		why = j->r->conversation[i].incomplete;
	if (why)
		list_add(&j->limits, "%s: not the whole recording was played: %s",
			 j->r->config->traffic[i].name, why);
}

/* A replay leaves nothing out when it falls behind: it takes longer, and is not what was recorded.
 */
static void limit_stretched(struct judge *j, unsigned i)
{
	const struct stream_stats *stats = j->r->blast ? &j->r->blast[i] : NULL;
	const struct config_traffic *traffic = &j->r->config->traffic[i];

	if (!stats || traffic->kind != REPLAY || traffic->replay.topspeed ||
	    (double)stats->elapsed * TARGET_SHARE < (double)stats->planned + STRETCH_NS)
		return;
	list_add(
		&j->limits,
		"%s: it took %.3f s instead of %.3f s: give the port more cores, or play it slower",
		traffic->name, (double)stats->elapsed / 1e9, (double)stats->planned / 1e9);
}

static const struct worker_result *busiest_worker(const struct result *r)
{
	const struct worker_result *busiest = NULL;

	for (unsigned i = 0; i < r->workers; i++)
		if (!busiest || report_cpu_percent(&r->worker[i]) > report_cpu_percent(busiest))
			busiest = &r->worker[i];
	return busiest;
}

static void limit_target(struct judge *j, const struct config_traffic *traffic, const char *metric,
			 double target, double achieved)
{
	const struct worker_result *busiest = busiest_worker(j->r);
	char target_text[REPORT_NUMBER_MAX], achieved_text[REPORT_NUMBER_MAX];

	if (achieved >= target * TARGET_SHARE || !busiest ||
	    report_cpu_percent(busiest) <= BUSY_PERCENT)
		return;
	list_add(&j->limits,
		 "%s: achieved %s %s is below 99 %% of the target %s, and core %u of port %s was "
		 "busy %.1f %% of the time: use more cores, or lower the load",
		 traffic->name, metric, report_number(achieved_text, achieved),
		 report_number(target_text, target), busiest->core,
		 j->r->config->port[busiest->port].name, report_cpu_percent(busiest));
}

static double rate_value(struct rate rate)
{
	return (double)rate.num / (double)rate.den;
}

static void limit_targets(struct judge *j, unsigned i)
{
	const struct config_traffic *traffic = &j->r->config->traffic[i];
	const struct config_load *load = &traffic->load;
	struct report_achieved achieved;

	if (load_has_max(load))
		return;
	report_achieved(j->r, i, &achieved);
	if (rate_is_numeric(load->cps))
		limit_target(j, traffic, "cps", rate_value(load->cps), achieved.cps);
	if (rate_is_numeric(load->pps))
		limit_target(j, traffic, "pps", rate_value(load->pps), achieved.pps);
	if (rate_is_numeric(load->rps))
		limit_target(j, traffic, "rps", rate_value(load->rps), achieved.rps);
	if (rate_is_numeric(load->bps))
		limit_target(j, traffic, "bps", rate_value(load->bps),
			     achieved.bps_rx > achieved.bps_tx ? achieved.bps_rx : achieved.bps_tx);
	if (load->concurrency)
		limit_target(j, traffic, "concurrency", (double)load->concurrency,
			     achieved.concurrency);
}

/* Who is cut off by the end had time left: that is neither good nor bad, and a run of which much is
 * so has not measured it. */
static void limit_cut(struct judge *j, const struct config_traffic *traffic,
		      const struct tally *tally, unsigned spoken_of)
{
	uint64_t cut = spoken_of >> FAILED_CUT & 1 ? 0 : tally->failed[FAILED_CUT];
	char advice[128] = "";

	if (!cut)
		return;
	if (!j->r->interrupted)
		snprintf(advice, sizeof(advice), ": drain is %g s, their time-out %g s",
			 (double)j->r->config->drain / 1e9, (double)traffic->timeout / 1e9);
	list_add(over_permille(cut, tally->offered * 10) ? &j->limits : &j->remarks,
		 "%s: %" PRIu64 " of %" PRIu64 " connections were cut off by %s while the far end "
		 "still had time to answer%s",
		 traffic->name, cut, tally->offered,
		 j->r->interrupted ? "the interruption" : "the end of the drain", advice);
}

static void limit_packets(struct judge *j)
{
	const uint64_t *total = j->r->total.counters.value;
	uint64_t given_up = total[COUNTER_DROP_TX];
	uint64_t sent = total[COUNTER_PKT_TX] + given_up;
	uint64_t lost = total[COUNTER_IMISSED] + total[COUNTER_RX_NOMBUF];
	uint64_t received = total[COUNTER_PKT_RX] + lost;

	if (!j->link_lost && over_permille(given_up, sent))
		list_add(&j->limits,
			 "the ports refused %" PRIu64 " of %" PRIu64 " packets to send (dropTx): "
			 "give them more cores or tx_descriptors, or lower the load",
			 given_up, sent);
	if (over_permille(lost, received))
		list_add(&j->limits,
			 "%" PRIu64 " of %" PRIu64
			 " packets received were lost in the ports (imissed, "
			 "rxNombuf): give them more cores or rx_descriptors, or lower the load",
			 lost, received);
}

/* Faults of the device under test. */

/* "traffic.NAME." in front of metric taken off, or NULL. */
static const char *metric_of_traffic(const char *metric, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(metric, "traffic.", 8) || strncmp(metric + 8, name, length) ||
	    metric[8 + length] != '.')
		return NULL;
	return metric + 8 + length + 1;
}

#define ALL_KINDS ((1u << FAILED_COUNT) - 1)

/* The failure kinds of a traffic entry that a criterion speaks about, as a set of bits. */
static unsigned kinds_spoken_of(const char *metric, const char *name)
{
	const char *dot = strchr(metric, '.');
	const char *rest = metric_of_traffic(metric, name);

	if (!strncmp(metric, "total.", 6) || !strncmp(metric, "steady.", 7)) {
		if (!strcmp(dot, ".httpErr"))
			return 1u << FAILED_STATUS | 1u << FAILED_PROTOCOL | 1u << FAILED_LENGTH;
		return strcmp(dot, ".skErr") ? 0 : ALL_KINDS;
	}
	if (!rest)
		return 0;
	if (!strncmp(rest, "requests.", 9))
		rest += 9;
	if (!strcmp(rest, "succeeded"))
		return ALL_KINDS;
	for (unsigned i = 0; !strncmp(rest, "failed.", 7) && i < FAILED_COUNT; i++)
		if (!strcmp(rest + 7, failed_name[i]))
			return 1u << i;
	return 0;
}

static void fault_failures(struct judge *j, const struct config_traffic *traffic,
			   const struct tally *tally, unsigned spoken_of, const char *what)
{
	struct tally unspoken = *tally;
	uint64_t failed;
	char counts[REPORT_COUNTS_MAX];

	for (unsigned i = 0; i < FAILED_COUNT; i++)
		if (spoken_of >> i & 1)
			unspoken.failed[i] = 0;
	failed = tally_failed(&unspoken);
	if (!failed)
		return;
	list_add(&j->faults, "%s: %" PRIu64 " of %" PRIu64 " %s failed: %s", traffic->name, failed,
		 tally->offered, what,
		 report_counts(counts, unspoken.failed, failed_name, FAILED_COUNT, false));
	if (over_permille(failed, tally->offered * 10))
		j->decisive = true;
}

static unsigned traffic_spoken_of(const struct config *config, const struct config_traffic *traffic)
{
	unsigned spoken_of = 0;

	for (unsigned e = 0; e < config->expects; e++)
		spoken_of |= kinds_spoken_of(config->expect[e].metric, traffic->name);
	return spoken_of;
}

static void fault_traffic(struct judge *j, unsigned i, bool link_lost)
{
	const struct config_traffic *traffic = &j->r->config->traffic[i];
	const struct traffic_level *level = &j->r->traffic[i].level;
	unsigned spoken_of = traffic_spoken_of(j->r->config, traffic);

	if (!link_lost)
		spoken_of |= 1u << FAILED_CUT; /* see limit_cut() */
	fault_failures(j, traffic, &level->connection, spoken_of, "connections");
	/* With one request a connection the second sentence would only repeat the first. */
	if (level->request.offered != level->connection.offered ||
	    memcmp(level->request.failed, level->connection.failed, sizeof(level->request.failed)))
		fault_failures(j, traffic, &level->request, spoken_of, "requests");
}

static bool stream_is_spoken_of(const struct judge *j, const char *name)
{
	size_t length = strlen(name);

	for (unsigned e = 0; e < j->r->config->expects; e++) {
		const char *metric = j->r->config->expect[e].metric;

		if (!strncmp(metric, "streams.", 8) && !strncmp(metric + 8, name, length) &&
		    (!strcmp(metric + 8 + length, ".lost") ||
		     !strcmp(metric + 8 + length, ".unique")))
			return true;
	}
	return false;
}

static void fault_streams(struct judge *j)
{
	for (unsigned i = 0; i < j->r->streams; i++) {
		const struct stream_result *stream = &j->r->stream[i];
		const char *name = stream_name(j->r, stream);

		if (stream->lost && !stream_is_spoken_of(j, name))
			list_add(&j->faults, "%s: %" PRIu64 " of %" PRIu64 " packets were lost",
				 name, stream->lost, stream->sent);
	}
}

/* Packets of a replay that the other port did not receive. */
static void fault_replay(struct judge *j, unsigned i)
{
	const struct replay_result *replay = j->r->replay ? &j->r->replay[i] : NULL;
	const char *name = j->r->config->traffic[i].name;

	if (!replay || !replay->is_compared || !replay->compared.lost)
		return;
	for (unsigned e = 0; e < j->r->config->expects; e++) {
		const char *rest = metric_of_traffic(j->r->config->expect[e].metric, name);

		if (rest && (!strcmp(rest, "compared.lost") || !strcmp(rest, "compared.received")))
			return;
	}
	list_add(&j->faults, "%s: %" PRIu64 " of %" PRIu64 " packets sent were not received", name,
		 replay->compared.lost, replay->compared.sent);
}

static void fault_expect(struct judge *j, const struct config_expect *expect)
{
	char value_text[REPORT_NUMBER_MAX], bound[REPORT_NUMBER_MAX];
	double value;
	enum report_found found = report_metric(j->r, expect->metric, &value);

	if (found != REPORT_NUMBER) {
		list_add(&j->faults, "expect: \"%s\" %s", expect->metric,
			 found == REPORT_ABSENT ? "does not exist in the report"
						: "is not a number in the report");
		j->decisive = true;
		return;
	}
	report_number(value_text, value);
	if (expect->kinds & EXPECT_MIN && value < expect->min)
		list_add(&j->faults, "%s %s is below min %s", expect->metric, value_text,
			 report_number(bound, expect->min));
	if (expect->kinds & EXPECT_MAX && value > expect->max) {
		list_add(&j->faults, "%s %s is above max %s", expect->metric, value_text,
			 report_number(bound, expect->max));
		j->decisive = true;
	}
}

/* Links. */

/* What a client entry could not send, or had no success with. */
static uint64_t traffic_lost(const struct judge *j, unsigned i)
{
	const struct tally *tally = &j->r->traffic[i].level.connection;
	uint64_t lost = tally_failed(tally) + tally_not_offered(tally);

	if (traffic_is_stateless(j->r->config->traffic[i].kind))
		lost += j->r->total.counters.value[COUNTER_DROP_TX];
	return lost;
}

/* Does a client's traffic go through the port, in one of its networks perhaps, and suffer? */
static bool traffic_suffers(const struct judge *j, unsigned i, unsigned port)
{
	const struct config *config = j->r->config;

	if (!traffic_is_client(config->traffic[i].kind) || !traffic_lost(j, i))
		return false;
	for (unsigned p = 0; p < config->ports; p++)
		if ((config->port[p].is_network ? config->port[p].host : p) == port &&
		    traffic_uses_port(&config->traffic[i], p))
			return true;
	return false;
}

static bool traffic_lost_link(const struct judge *j, unsigned i)
{
	for (unsigned port = 0; j->r->link_down && port < j->r->config->ports; port++)
		if (j->r->link_down[port] && traffic_suffers(j, i, port))
			return true;
	return false;
}

static void fault_link(struct judge *j, unsigned port)
{
	const struct config *config = j->r->config;
	bool suffers = false;

	for (unsigned i = 0; i < config->traffics; i++)
		suffers |= traffic_suffers(j, i, port);
	if (!suffers)
		return;
	list_add(
		&j->faults,
		"port %s: its link was down %.1f s after the load began, and did not come up again",
		config->port[port].name, (double)j->r->link_down[port] / 1e9);
	j->link_lost = j->decisive = true;
}

/* What an entry's figures say of the generator: nothing, when they are the link's. */
static void limit_traffic(struct judge *j, unsigned i)
{
	const struct config_traffic *traffic = &j->r->config->traffic[i];
	const struct traffic_level *level = &j->r->traffic[i].level;

	limit_recording(j, i);
	limit_stretched(j, i);
	if (traffic_lost_link(j, i))
		return;
	limit_nothing(j, traffic, &level->connection);
	limit_cut(j, traffic, &level->connection, traffic_spoken_of(j->r->config, traffic));
	limit_launches(j, traffic, &level->connection, false);
	limit_launches(j, traffic, &level->request, true);
	limit_targets(j, i);
}

/* Put together. */

static void judge_interruption(struct judge *j)
{
	const struct result *r = j->r;

	if (!r->interrupted || !j->clients)
		return;
	if (!r->started_steady)
		list_add(&j->limits, "interrupted before the steady phase: nothing was measured");
	else
		list_add(&j->remarks, "interrupted after %.1f s of %.1f s", (double)r->steady / 1e9,
			 (double)r->config->duration / 1e9);
}

/* What is missing in a file says nothing about the device under test, but must be known. */
static void remark_captures(struct judge *j)
{
	for (unsigned i = 0; i < j->r->captures; i++) {
		const struct capture_result *capture = &j->r->capture[i];

		if (capture->error)
			list_add(&j->remarks, "capture: %s", capture->error);
		if (capture->dropped)
			list_add(&j->remarks,
				 "capture: %s: %" PRIu64 " of %" PRIu64
				 " packets dropped: writing is too slow",
				 capture->file, capture->dropped, capture->shown);
	}
}

static void judge_all(struct judge *j)
{
	const struct config *config = j->r->config;

	remark_captures(j);
	for (unsigned i = 0; i < config->traffics; i++)
		j->clients |= traffic_is_client(config->traffic[i].kind);
	judge_interruption(j);
	if (j->limits.count)
		return;
	for (unsigned i = 0; j->r->link_down && i < config->ports; i++)
		if (j->r->link_down[i])
			fault_link(j, i);
	for (unsigned i = 0; i < config->traffics; i++) {
		if (!traffic_is_client(config->traffic[i].kind))
			continue;
		fault_replay(j, i);
		fault_traffic(j, i, traffic_lost_link(j, i));
		limit_traffic(j, i);
	}
	fault_streams(j);
	if (j->clients)
		limit_packets(j);
	for (unsigned e = 0; e < config->expects; e++)
		fault_expect(j, &config->expect[e]);
}

/* Move the sentences of a list to the end of the verdict's. */
static int take_reasons(struct verdict *verdict, struct list *list)
{
	char **grown;

	if (list->failed)
		return -1;
	if (!list->count)
		return 0;
	grown = realloc(verdict->reason, (verdict->reasons + list->count) * sizeof(*grown));
	if (!grown)
		return -1;
	verdict->reason = grown;
	memcpy(grown + verdict->reasons, list->text, list->count * sizeof(*grown));
	verdict->reasons += list->count;
	list->count = 0;
	return 0;
}

static void decide(struct verdict *verdict, const struct judge *j)
{
	if (j->decisive || (j->faults.count && !j->limits.count)) {
		verdict->exit = EXIT_FAIL;
		verdict->word = "fail";
	} else if (j->limits.count) {
		verdict->exit = EXIT_INVALID;
		verdict->word = "invalid";
	} else {
		verdict->exit = EXIT_PASS;
		verdict->word = "pass";
	}
}

int verdict_judge(struct verdict *verdict, const struct result *r, struct err *err)
{
	struct judge j = {.r = r};
	struct list *first = &j.faults, *second = &j.limits;
	int rc = 0;

	*verdict = (struct verdict){0};
	judge_all(&j);
	decide(verdict, &j);
	if (verdict->exit == EXIT_INVALID) {
		first = &j.limits;
		second = &j.faults;
	}
	if (take_reasons(verdict, first) || take_reasons(verdict, second) ||
	    take_reasons(verdict, &j.remarks)) {
		verdict_free(verdict);
		rc = err_set(err, EXIT_ENVIRONMENT, "verdict: no memory for its reasons");
	}
	list_free(&j.faults);
	list_free(&j.limits);
	list_free(&j.remarks);
	return rc;
}

void verdict_free(struct verdict *verdict)
{
	for (unsigned i = 0; i < verdict->reasons; i++)
		free(verdict->reason[i]);
	free(verdict->reason);
	*verdict = (struct verdict){0};
}
