/* Frames, packets and bits of a load.
 *
 * A connection with one request that fits a segment is six frames (SYN; SYN,ACK; ACK and request;
 * response and FIN; FIN,ACK; ACK), every further request two. A message of s segments is s frames
 * and an ACK for every second one (RFC 9293, 3.8.6.3). What a client's far end will answer is known
 * only if the file also has that server; otherwise one segment is assumed. Header lengths are
 * estimates. */
#include "plan_load.h"

#include <string.h>

#define FRAME_MIN    60 /* without FCS */
#define ETHER_HEADER 14
#define VLAN_TAG     4
#define IP4_HEADER   20
#define IP6_HEADER   40
#define TCP_HEADER   20
#define UDP_HEADER   8

static uint64_t header_lines(const struct config_message *message)
{
	uint64_t length = sizeof("Content-Length: 1\r\n\r\n") - 1;

	for (unsigned i = 0; i < message->headers; i++)
		length += strlen(message->header[i].name) + strlen(message->header[i].value) + 4;
	return length;
}

static uint64_t request_length(const struct config_traffic *traffic)
{
	const struct config_message *request = &traffic->request;

	if (traffic->kind != HTTP_CLIENT)
		return request->body_size;
	return strlen(request->method) + strlen(request->path) + strlen(request->host) +
	       sizeof("  HTTP/1.1\r\nHost: \r\n") - 1 + header_lines(request) + request->body_size;
}

static uint64_t response_length(const struct config_traffic *client,
				const struct config_traffic *server)
{
	uint64_t header = sizeof("HTTP/1.1 200 OK\r\n") - 1 + header_lines(&server->response);

	if (!strcmp(client->request.method, "HEAD"))
		return header;
	return header + server->response.body_size;
}

const struct config_traffic *plan_load_server(const struct config *config,
					      const struct config_traffic *client)
{
	enum traffic_kind kind = (enum traffic_kind)(client->kind + 1); /* they come in pairs */
	uint8_t family = traffic_has(client, 4) ? 4 : 6;

	for (unsigned i = 0; i < config->traffics; i++) {
		const struct config_traffic *server = &config->traffic[i];

		if (server->kind == kind &&
		    ip_pool_contains(traffic_servers(server, family),
				     ip_pool_at(traffic_servers(client, family), 0)) &&
		    port_pool_contains(&server->server_ports,
				       port_pool_at(&client->server_ports, 0)))
			return server;
	}
	return NULL;
}

/* A frame of so many bytes of headers from IP on, and of payload. */
static uint64_t frame_bytes(const struct config_port *port, uint64_t header, uint64_t payload)
{
	uint64_t bytes = ETHER_HEADER + (uint64_t)VLAN_TAG * config_wire(port)->vlans +
			 tunnel_overhead(&port->tunnel.rule) + header + payload;

	return bytes < FRAME_MIN ? FRAME_MIN : bytes;
}

/* Of both families, IPv4 is taken for all. */
static uint64_t ip_header(const struct config_traffic *client)
{
	return traffic_has(client, 6) && !traffic_has(client, 4) ? IP6_HEADER : IP4_HEADER;
}

/* Add a message of `length` bytes, its segments and the ACKs between them. */
static void add_message(struct frames *frames, const struct config_port *port, uint64_t header,
			uint64_t length, uint64_t mss)
{
	uint64_t full = length ? (length - 1) / mss : 0;
	uint64_t acks = full / 2;

	frames->request += full + 1 + acks;
	frames->request_bytes += full * frame_bytes(port, header, mss) +
				 frame_bytes(port, header, length - full * mss) +
				 acks * frame_bytes(port, header, 0);
}

/* A request and its answer, which is as long unless it is said to differ. */
static void count_datagrams(struct frames *frames, const struct config_port *port,
			    const struct config_traffic *client,
			    const struct config_traffic *server)
{
	uint64_t request = client->request.body_size;
	uint64_t response = server ? server->response.body_size : client->response.body_size;
	uint64_t header = ip_header(client) + UDP_HEADER;

	if (response == CONFIG_ANY_SIZE)
		response = request;
	*frames = (struct frames){.request = 2, .assumed = !server};
	frames->request_bytes =
		frame_bytes(port, header, request) + frame_bytes(port, header, response);
}

static void count_frames(struct frames *frames, const struct config *config,
			 const struct config_traffic *client)
{
	const struct config_port *port = &config->port[client->port];
	const struct config_traffic *server = plan_load_server(config, client);
	uint64_t header = ip_header(client) + TCP_HEADER;
	uint64_t mss = client->tcp.mss ? client->tcp.mss : port->mtu - header;
	bool separate_fin = server ? server->tcp.separate_fin : client->tcp.separate_fin;

	if (client->kind == UDP_CLIENT) {
		count_datagrams(frames, port, client, server);
		return;
	}
	*frames =
		(struct frames){.connection = 4, .assumed = client->kind == HTTP_CLIENT && !server};
	frames->connection += client->tcp.handshake_ack + separate_fin;
	frames->connection_bytes = frames->connection * frame_bytes(port, header, 0);
	add_message(frames, port, header, request_length(client), mss);
	if (client->kind == TCP_CLIENT)
		add_message(frames, port, header, client->response.body_size, mss);
	else
		add_message(frames, port, header, server ? response_length(client, server) : 1,
			    mss);
}

static bool is_number(struct rate rate)
{
	return rate.den && rate.num && !rate_is_max(rate);
}

static double number(struct rate rate)
{
	return (double)rate.num / (double)rate.den;
}

/* Of both families; saturates. */
static u128 tuples(const struct config_traffic *client)
{
	u128 ports = (u128)client->client_ports.count * client->server_ports.count, sum = 0;

	for (uint8_t family = 4; family <= 6; family += 2) {
		u128 count;

		if (__builtin_mul_overflow(traffic_clients(client, family)->count,
					   traffic_servers(client, family)->count, &count) ||
		    __builtin_mul_overflow(count, ports, &count) ||
		    __builtin_add_overflow(sum, count, &sum))
			return ~(u128)0;
	}
	return sum;
}

void plan_load(struct load_plan *plan, const struct config *config,
	       const struct config_traffic *client)
{
	const struct config_load *load = &client->load;
	double cps = is_number(load->cps) ? number(load->cps) : 0;
	double rps = is_number(load->rps) ? number(load->rps) : 0;
	double bytes;

	*plan = (struct load_plan){0};
	plan->tuples = tuples(client);
	if (!traffic_is_conversation(client->kind))
		count_frames(&plan->frames, config, client);
	if (client->requests_per_connection != CONFIG_UNLIMITED) {
		if (cps > 0 && !(rps > 0))
			rps = cps * client->requests_per_connection;
		else if (rps > 0 && !(cps > 0))
			cps = rps / client->requests_per_connection;
	} else if (!(rps > 0)) {
		return;
	}
	bytes = cps * (double)plan->frames.connection_bytes +
		rps * (double)plan->frames.request_bytes;
	plan->pps = cps * (double)plan->frames.connection + rps * (double)plan->frames.request;
	plan->bps = 8 * bytes;
	plan->reuse_s = cps > 0 ? (double)plan->tuples / cps : 0;
}
