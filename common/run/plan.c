/* The plan: arithmetic on a configuration, told as text or as JSON.
 *
 * Frames are counted for a clean path. A connection with one request that fits a segment is six
 * frames (SYN; SYN,ACK; ACK and request; response and FIN; FIN,ACK; ACK), every further request
 * two. A message of s segments is s frames and an ACK for every second one. What a client's far end
 * will answer is known only if the file also has that server; otherwise one segment is assumed, and
 * said. */
#include "plan.h"

#include <inttypes.h>
#include <string.h>

#include "../../stateful/stateful.h"
#include "../../stateless/stateless.h"
#include "plan_address.h"
#include "plan_load.h"
#include "plan_machine.h"
#include "plan_stream.h"
#include "port_pool.h"
#include "report_conversation.h"
#include "report_json.h"

#define DECIMAL_MAX 40

struct port_plan {
	struct stateful_plan worker;
	uint64_t tables_bytes, mbufs_bytes; /* of all its workers */
};

static const char *decimal(char *text, u128 value)
{
	char *at = text + DECIMAL_MAX - 1;

	*at = '\0';
	do {
		*--at = (char)('0' + (int)(value % 10));
		value /= 10;
	} while (value);
	return memmove(text, at, (size_t)(text + DECIMAL_MAX - at));
}

static void plan_port(struct port_plan *plan, const struct config *config, unsigned port)
{
	unsigned workers = config->port[port].cores;

	*plan = (struct port_plan){0};
	stateful_plan(config, port, workers, &plan->worker);
	plan->tables_bytes = plan->worker.table_bytes * workers;
	plan->tables_bytes += stateless_reserve(config, port) * workers;
	plan->mbufs_bytes = port_pool_bytes(&config->port[port]) * workers;
}

/* As text. */

static void put_thousands(FILE *out, const char *before, u128 value, const char *after)
{
	char text[REPORT_THOUSANDS_MAX], digits[DECIMAL_MAX];

	if (value > UINT64_MAX)
		fprintf(out, "%s%s%s", before, decimal(digits, value), after);
	else
		fprintf(out, "%s%s%s", before, report_thousands(text, (uint64_t)value), after);
}

static void put_bytes(FILE *out, const char *before, uint64_t bytes, const char *after)
{
	fprintf(out, "%s%.1f MiB%s", before, (double)bytes / (1 << 20), after);
}

static void put_seconds(FILE *out, const char *before, uint64_t ns, const char *after)
{
	char text[REPORT_NUMBER_MAX];

	fprintf(out, "%s%s%s", before, report_number(text, (double)ns / 1e9), after);
}

static void put_addresses(FILE *out, const struct config_port *port)
{
	char text[46];

	fprintf(out, "mtu %u", port->mtu);
	for (unsigned i = 0; i < port->vlans; i++)
		fprintf(out, ", vlan %u", port->vlan[i]);
	for (unsigned i = 0; i < port->addresses; i++)
		fprintf(out, ", address %s/%u",
			ip_format(text, port->address[i].family, port->address[i].address),
			port->address[i].prefix);
	if (port->routes)
		fprintf(out, ", %u route%s", port->routes, port->routes == 1 ? "" : "s");
	if (port->has_gateway)
		fprintf(out, ", gateway %s", ip_format(text, 4, port->gateway));
	if (port->has_gateway6)
		fprintf(out, ", gateway %s", ip_format(text, 6, port->gateway6));
	if (port->solicit_router)
		fputs(", gateway: the IPv6 router that advertises itself", out);
	if (!port->has_gateway && !port->has_gateway6 && !port->solicit_router)
		fputs(", no gateway: everything is on-link", out);
	putc('\n', out);
}

/* What is taken off the MTU, and what is then inside. */
static void put_tunnel(FILE *out, const struct config_port *port)
{
	static const char *const kind[TUNNEL_KINDS] = {
		[TUNNEL_VXLAN] = "VXLAN",          [TUNNEL_GRE] = "GRE",
		[TUNNEL_GRETAP] = "GRE of frames", [TUNNEL_GTPU] = "GTP-U",
		[TUNNEL_IPIP] = "IP in IP",        [TUNNEL_MPLS] = "MPLS"};
	const struct tunnel_rule *rule = &port->tunnel.rule;
	bool many = rule->kind != TUNNEL_IPIP && rule->number.ranges;

	fprintf(out, "  tunnel %s, %u bytes of each packet:", kind[rule->kind],
		tunnel_overhead(rule));
	if (rule->kind != TUNNEL_MPLS)
		put_thousands(out, " own ends ", rule->local.count + rule->local6.count, ",");
	if (rule->remote.count + rule->remote6.count)
		put_thousands(out, " far ends ", rule->remote.count + rule->remote6.count, "");
	else
		fputs(rule->kind == TUNNEL_MPLS ? " next hop the gateway"
						: " far ends those that are heard",
		      out);
	if (many)
		put_thousands(out, ", numbers ", number_pool_count(&rule->number), "");
	fputs("\n  inside: ", out);
	put_addresses(out, port);
}

static void put_port(FILE *out, const struct config *config, unsigned i)
{
	const struct config_port *port = &config->port[i];
	struct port_plan plan;

	plan_port(&plan, config, i);
	fprintf(out, "%s %s: %s, ", port->is_network ? "network" : "port", port->name,
		port->device);
	put_addresses(out, config_wire(port));
	if (port->outside)
		put_tunnel(out, port);
	fprintf(out, "  cores");
	for (unsigned c = 0; c < port->cores; c++)
		fprintf(out, " %u", port->core[c]);
	fprintf(out, ": %u worker%s\n", port->cores, port->cores == 1 ? "" : "s");
	put_thousands(out, "  connections at most ", plan.worker.connections, " a worker;");
	put_bytes(out, " tables ", plan.tables_bytes, " when all are open;");
	if (port->is_network)
		fputs(" packet buffers of its port\n", out);
	else
		put_bytes(out, " packet buffers ", plan.mbufs_bytes, "\n");
}

static void put_tuples(FILE *out, const struct config_traffic *traffic)
{
	const char *before = "  clients ";

	plan_addresses(out, traffic);
	for (uint8_t family = 4; family <= 6; family += 2) {
		if (!traffic_has(traffic, family))
			continue;
		put_thousands(out, before, traffic_clients(traffic, family)->count, "");
		put_thousands(out, " x ports ", traffic->client_ports.count, "");
		put_thousands(out, " x servers ", traffic_servers(traffic, family)->count, "");
		put_thousands(out, " x ports ", traffic->server_ports.count,
			      family == 6 ? " of IPv6" : "");
		before = " + clients ";
	}
}

static void put_rate(FILE *out, const char *name, struct rate rate)
{
	char text[REPORT_NUMBER_MAX];

	if (rate_is_max(rate))
		fprintf(out, " %s max", name);
	else if (rate.den)
		fprintf(out, " %s %s", name,
			report_number(text, (double)rate.num / (double)rate.den));
}

static void put_load(FILE *out, const struct config_load *load, const struct load_plan *plan)
{
	struct rate concurrency = {load->concurrency, load->concurrency != 0};

	fputs("  load", out);
	put_rate(out, "cps", load->cps);
	put_rate(out, "rps", load->rps);
	put_rate(out, "bps", load->bps);
	put_rate(out, "concurrency", concurrency);
	if (plan->reuse_s > 0)
		fprintf(out, "; a tuple is used again after %.1f s", plan->reuse_s);
	putc('\n', out);
}

static void put_client(FILE *out, const struct config *config, const struct config_traffic *traffic)
{
	struct load_plan plan;

	plan_load(&plan, config, traffic);
	put_tuples(out, traffic);
	put_thousands(out, " = ", plan.tuples, " tuples\n");
	put_load(out, &traffic->load, &plan);
	fprintf(out, "  frames %" PRIu64 " a connection and %" PRIu64 " a request",
		plan.frames.connection, plan.frames.request);
	if (traffic->requests_per_connection != CONFIG_UNLIMITED)
		fprintf(out, ": %" PRIu64 " with %" PRIu32 " request%s",
			plan.frames.connection +
				plan.frames.request * traffic->requests_per_connection,
			traffic->requests_per_connection,
			traffic->requests_per_connection == 1 ? "" : "s");
	fputs(plan.frames.assumed ? ", if a response fits one segment\n" : "\n", out);
	if (plan.pps > 0) {
		put_thousands(out, "  at the target ", (u128)plan.pps, " packets/s");
		put_thousands(out, ", ", (u128)plan.bps, " bits/s, both directions together\n");
	} else {
		fputs("  packets and bits a second depend on the far end\n", out);
	}
}

static void put_listens(FILE *out, const struct config_traffic *traffic)
{
	plan_addresses(out, traffic);
	put_thousands(out, "  listens on addresses ",
		      traffic->servers.count + traffic->servers6.count, "");
	put_thousands(out, " x ports ", traffic->server_ports.count, "");
	if (traffic->clients.ranges || traffic->clients6.ranges)
		put_thousands(out, "; serves ", traffic->clients.count + traffic->clients6.count,
			      " client addresses");
	else
		fputs("; serves any client", out);
}

static void put_server(FILE *out, const struct config_traffic *traffic)
{
	put_listens(out, traffic);
	if (traffic->response.body_size == CONFIG_ANY_SIZE)
		fputs("; answers with what it received\n", out);
	else
		put_thousands(out, "; response body ", traffic->response.body_size,
			      traffic->response.variants > 1 ? " bytes on average\n" : " bytes\n");
}

/* What is played, by whichever side. */
static void put_conversation(FILE *out, const struct config *config,
			     const struct config_traffic *traffic,
			     const struct conversation_result *conversation)
{
	struct load_plan plan;

	if (traffic_is_client(traffic->kind)) {
		plan_load(&plan, config, traffic);
		put_tuples(out, traffic);
		put_thousands(out, " = ", plan.tuples, " tuples\n");
		put_load(out, &traffic->load, &plan);
	} else {
		put_listens(out, traffic);
		putc('\n', out);
	}
	if (conversation)
		plan_conversation_put(out, conversation);
}

static void put_text(FILE *out, const struct config *config,
		     const struct conversation_result *conversation)
{
	struct plan_memory memory;

	plan_memory(&memory, config);
	for (unsigned i = 0; i < config->ports; i++)
		put_port(out, config, i);
	for (unsigned i = 0; i < config->traffics; i++) {
		const struct config_traffic *traffic = &config->traffic[i];

		fprintf(out, "traffic %s: %s on %s %s\n", traffic->name,
			traffic_kind_name(traffic->kind),
			config->port[traffic->port].is_network ? "network" : "port",
			config->port[traffic->port].name);
		if (traffic_is_stateless(traffic->kind))
			plan_stream_put(out, config, traffic);
		else if (traffic_is_conversation(traffic->kind))
			put_conversation(out, config, traffic,
					 conversation ? &conversation[i] : NULL);
		else if (traffic_is_client(traffic->kind))
			put_client(out, config, traffic);
		else
			put_server(out, traffic);
	}
	put_seconds(out, "phases: ramp ", config->ramp, " s, ");
	put_seconds(out, "steady ", config->duration, " s, ");
	put_seconds(out, "drain at most ", config->drain, " s\n");
	put_bytes(out, "memory: ", memory.total, " at most");
	if (config->memory_limit)
		put_bytes(out, " of ", config->memory_limit, " allowed");
	put_bytes(out, ", ", memory.touched, " for sure");
	fputs("\nok\n", out);
}

/* As JSON. */

static void walk_port(struct sink *s, const struct config *config, unsigned i)
{
	const struct config_port *port = &config->port[i];
	struct port_plan plan;

	plan_port(&plan, config, i);
	sink_begin_flat(s, port->name, SINK_OBJECT);
	sink_text(s, "device", port->device);
	sink_begin(s, "cores", SINK_ARRAY);
	for (unsigned c = 0; c < port->cores; c++)
		sink_count(s, NULL, port->core[c]);
	sink_end(s);
	sink_count(s, "workers", port->cores);
	sink_count(s, "connections_per_worker", plan.worker.connections);
	sink_count(s, "tables_bytes", plan.tables_bytes);
	sink_count(s, "mbufs_bytes", port->is_network ? 0 : plan.mbufs_bytes);
	sink_end(s);
}

static void walk_client(struct sink *s, const struct config *config,
			const struct config_traffic *traffic)
{
	struct load_plan plan;
	char digits[DECIMAL_MAX];

	plan_load(&plan, config, traffic);
	sink_json(s, "tuples", decimal(digits, plan.tuples));
	if (traffic->load.concurrency && traffic->load.concurrency != UINT64_MAX)
		sink_count(s, "tuples_needed", traffic->load.concurrency);
	if (plan.reuse_s > 0)
		sink_real(s, "tuple_reuse_s", plan.reuse_s);
	if (traffic->requests_per_connection != CONFIG_UNLIMITED)
		sink_count(s, "frames_per_connection",
			   plan.frames.connection +
				   plan.frames.request * traffic->requests_per_connection);
	sink_count(s, "frames_per_request", plan.frames.request);
	sink_bool(s, "response_assumed", plan.frames.assumed);
	if (plan.pps > 0) {
		sink_real(s, "pps", plan.pps);
		sink_real(s, "bps", plan.bps);
	}
}

static void walk_traffic(struct sink *s, const struct config *config, unsigned i,
			 const struct conversation_result *conversation)
{
	const struct config_traffic *traffic = &config->traffic[i];

	sink_begin_flat(s, traffic->name, SINK_OBJECT);
	sink_text(s, "kind", traffic_kind_name(traffic->kind));
	sink_text(s, "port", config->port[traffic->port].name);
	if (traffic_is_stateless(traffic->kind))
		plan_stream_walk(s, config, traffic);
	else if (traffic_is_client(traffic->kind))
		walk_client(s, config, traffic);
	if (conversation && traffic_is_conversation(traffic->kind))
		report_walk_recording(s, &conversation[i]);
	sink_end(s);
}

static void put_json(FILE *out, const struct config *config,
		     const struct conversation_result *conversation)
{
	struct json_sink json;
	struct sink *s = &json.sink;
	struct plan_memory memory;

	plan_memory(&memory, config);
	json_sink_init(&json, out, false);
	sink_begin(s, NULL, SINK_OBJECT);
	sink_begin(s, "ports", SINK_OBJECT);
	for (unsigned i = 0; i < config->ports; i++)
		walk_port(s, config, i);
	sink_end(s);
	sink_begin(s, "traffic", SINK_OBJECT);
	for (unsigned i = 0; i < config->traffics; i++)
		walk_traffic(s, config, i, conversation);
	sink_end(s);
	sink_begin_flat(s, "memory", SINK_OBJECT);
	sink_count(s, "connections_bytes", memory.tables);
	sink_count(s, "mbufs_bytes", memory.mbufs);
	sink_count(s, "capture_bytes", memory.rings);
	sink_count(s, "total_bytes", memory.total);
	sink_count(s, "touched_bytes", memory.touched);
	sink_count(s, "limit_bytes", config->memory_limit);
	sink_end(s);
	sink_bool(s, "ok", true);
	sink_end(s);
	putc('\n', out);
}

void plan_print(const struct config *config, const struct conversation_result *conversation,
		bool json, FILE *out)
{
	if (json)
		put_json(out, config, conversation);
	else
		put_text(out, config, conversation);
}
