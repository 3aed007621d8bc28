/* The plan of blasts and sinks: flows, sizes, rate, and what ends it. */
#include "plan_stream.h"

#include <inttypes.h>

#include "../../stateless/stateless.h"

struct blast_plan {
	double flows, mean_bytes,
		pps;          /* pps 0: as many as the port takes, or depends on the link */
	unsigned least, most; /* bytes of a frame */
	double packets;       /* in all, with the ramp's; 0: not known */
};

static double rate_number(struct rate rate)
{
	return rate.den && !rate_is_max(rate) ? (double)rate.num / (double)rate.den : 0;
}

static void sizes_plan(struct blast_plan *plan, const struct config_blast *blast)
{
	double sum = 0;

	plan->least = plan->most = blast->template.count ? blast->template.count : blast->size[0];
	if (blast->template.count) {
		plan->mean_bytes = blast->template.count;
		return;
	}
	for (unsigned i = 0; i < blast->sizes; i++) {
		plan->least = RTE_MIN(plan->least, blast->size[i]);
		plan->most = RTE_MAX(plan->most, blast->size[i]);
		sum += blast->size[i];
	}
	plan->mean_bytes = sum / blast->sizes;
}

static double flows_count(const struct config_traffic *t)
{
	uint8_t family = blast_family(t);
	double addresses = (double)traffic_clients(t, family)->count *
			   (double)traffic_servers(t, family)->count;

	if (t->blast.protocol == BLAST_IP)
		return addresses;
	return addresses * t->client_ports.count * t->server_ports.count;
}

static void blast_plan(struct blast_plan *plan, const struct config *config,
		       const struct config_traffic *t)
{
	const struct config_blast *blast = &t->blast;
	uint64_t length = config->duration;

	*plan = (struct blast_plan){.flows = 1};
	sizes_plan(plan, blast);
	if (!blast->template.count)
		plan->flows = flows_count(t);
	if (!t->load.percent.den || rate_is_max(t->load.percent))
		plan->pps = rate_number(stateless_rate(t, 0));
	if (blast->duration && blast->duration < length)
		length = blast->duration;
	plan->packets = plan->pps * ((double)config->ramp / 2 + (double)length) / 1e9;
	if (blast->packets && (!plan->pps || plan->packets > (double)blast->packets))
		plan->packets = (double)blast->packets;
}

static void replay_put(FILE *out, const struct replay_options *o)
{
	char text[REPORT_NUMBER_MAX];

	fprintf(out, "  %u file%s, %s first", o->files, o->files == 1 ? "" : "s", o->file[0]);
	if (o->loop == UINT64_MAX)
		fputs(", again and again\n  at ", out);
	else
		fprintf(out, ", %" PRIu64 " time%s\n  at ", o->loop, o->loop == 1 ? "" : "s");
	if (o->topspeed)
		fputs("top speed\n", out);
	else if (o->pps.den)
		fprintf(out, "%s packets/s\n", report_number(text, rate_number(o->pps)));
	else if (o->bps.den || o->bps_l1.den)
		fprintf(out, "%s bits/s\n",
			report_number(text, rate_number(o->bps.den ? o->bps : o->bps_l1)));
	else
		fprintf(out, "%s times the recording's speed\n",
			report_number(text, rate_number(o->speed)));
}

void plan_stream_put(FILE *out, const struct config *config, const struct config_traffic *t)
{
	char text[REPORT_NUMBER_MAX];
	struct blast_plan plan;

	if (t->kind == REPLAY) {
		replay_put(out, &t->replay);
		return;
	}
	if (t->kind == UDP_SINK) {
		fprintf(out, "  counts UDP to %s%s\n",
			t->servers.ranges || t->servers6.ranges ? "its servers' addresses"
								: "any address",
			t->server_ports.ranges ? " and server_ports" : ", any port");
		return;
	}
	blast_plan(&plan, config, t);
	fprintf(out, "  %.0f flow%s, frames of ", plan.flows, plan.flows == 1 ? "" : "s");
	if (plan.least == plan.most)
		fprintf(out, "%u bytes", plan.least);
	else
		fprintf(out, "%u to %u bytes, on average %s", plan.least, plan.most,
			report_number(text, plan.mean_bytes));
	fprintf(out, ", %s\n  load", t->blast.tag ? "tagged" : "without tag");
	if (plan.pps > 0)
		fprintf(out, " %s packets/s, %.0f bits/s", report_number(text, plan.pps),
			plan.pps * plan.mean_bytes * 8);
	else
		fputs(t->load.percent.den && !rate_is_max(t->load.percent)
			      ? " a share of what the link carries"
			      : " as many packets as the port takes",
		      out);
	if (plan.packets > 0)
		fprintf(out, "; about %.0f packets", plan.packets);
	putc('\n', out);
}

void plan_stream_walk(struct sink *s, const struct config *config, const struct config_traffic *t)
{
	struct blast_plan plan;

	if (t->kind != UDP_BLAST)
		return;
	blast_plan(&plan, config, t);
	sink_real(s, "flows", plan.flows);
	sink_real(s, "frame_bytes", plan.mean_bytes);
	if (plan.pps > 0) {
		sink_real(s, "pps", plan.pps);
		sink_real(s, "bps", plan.pps * plan.mean_bytes * 8);
	}
	if (plan.packets > 0)
		sink_real(s, "packets", plan.packets);
}
