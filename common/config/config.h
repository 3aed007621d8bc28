/* The configuration as plain structs: what `config_load()` makes of a JSON file.
 *
 * Everything is checked and has its default filled in; nobody downstream looks at JSON. Times in
 * ns, sizes in bytes, ports and VLAN ids in host order, rates as exact fractions. All memory
 * belongs to the configuration and goes with config_free(). */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/err.h"
#include "../base/lines.h"
#include "../base/pace.h"
#include "../base/pool.h"
#include "../base/replay.h"
#include "../base/script.h"
#include "../base/tunnel_rule.h"

#define CONFIG_UNLIMITED UINT32_MAX
#define CONFIG_ANY_SIZE  UINT64_MAX

enum config_hugepages { HUGEPAGES_AUTO, HUGEPAGES_ON, HUGEPAGES_OFF };

struct config_address { /* "100.64.12.155/24" */
	uint8_t family;
	uint8_t prefix;
	u128 address;
};

/* Beside the tunnel itself: what of a port there is inside of it. */
struct config_tunnel {
	struct tunnel_rule rule;
	struct config_address *address;
	unsigned addresses;
	struct ip_pool gateway, gateway6; /* one at most of each */
	bool has_gateway_mac;
	uint8_t gateway_mac[6];
	bool has_mac;
	uint8_t mac[6]; /* own */
};

struct config_route { /* "10.0.0.0/8": "10.1.0.2" */
	uint8_t family, prefix;
	bool on_link; /* "link" */
	u128 address, via;
};

#define CONFIG_ROUTES_MAX 256

/* As DPDK numbers them. */
enum config_bond_mode {
	BOND_ROUND_ROBIN,
	BOND_ACTIVE_BACKUP,
	BOND_BALANCE,
	BOND_BROADCAST,
	BOND_LACP,
	BOND_TLB,
	BOND_ALB
};
enum config_bond_policy { BOND_L2, BOND_L23, BOND_L34 };

#define CONFIG_BOND_MEMBERS_MAX 16

struct config_bond { /* of a port whose device is "bond:NAME" */
	enum config_bond_mode mode;
	enum config_bond_policy policy;
	const char **member; /* devices */
	unsigned members;
	const char *primary; /* one of them; NULL: the first */
};

struct config_port {
	const char *name; /* unique; without blanks and . [ ] =, so that it fits into a path */
	const char *device;
	uint16_t *core; /* as the operating system numbers them; one may be listed more than once */
	unsigned cores;
	struct config_address *address; /* none only if no traffic uses the port */
	unsigned addresses;
	u128 gateway; /* of IPv4, valid when has_gateway */
	bool has_gateway;
	u128 gateway6; /* of IPv6, valid when has_gateway6 */
	bool has_gateway6;
	bool solicit_router; /* "auto": the IPv6 router that advertises itself */
	bool has_routes; /* what is in an own subnet is on-link then, and `gateway` one of them */
	struct config_route *route;
	unsigned routes;
	bool has_gateway_mac;
	uint8_t gateway_mac[6];
	bool neighbor_ignore;     /* "neighbor": "ignore": nobody is told of the pools' addresses */
	bool announce;            /* tell of the own addresses at the start */
	uint64_t resolve_timeout; /* "3s": how long ARP may take before the run is given up */
	uint16_t mtu;             /* 576-9710 */
	uint8_t vlans;            /* 0-2 tags, outermost first */
	uint16_t vlan[2];
	uint8_t vlan_priority; /* of every tag that is sent */
	bool has_mac;
	uint8_t mac[6];              /* "mac": the own one, instead of the device's */
	struct config_port *network; /* further networks of this port, as they were read */
	unsigned networks;
	/* One of those: it has a place of its own in config.port[], behind all ports, and with
	 * `host` the device and cores of the port behind which it lies. */
	bool is_network;
	unsigned behind; /* of a port: so many of them lie behind it */
	unsigned host;   /* of a network: index of that port */
	unsigned place;  /* in the host's list; CONFIG_UNLIMITED: made for traffic's `vlan` */
	struct config_bond bond;
	uint8_t tos;
	bool verify_checksums; /* "verify_checksums": true */
	bool checksum_offload; /* "checksum_offload": false: transmit checksums by the NIC */
	uint16_t rx_descriptors, tx_descriptors;
	/* With a tunnel all of the above is as it is inside: addresses, gateways, MTU, no tags. */
	struct config_tunnel tunnel;
	const struct config_port *outside; /* as it is on the wire; NULL: there is no tunnel */
};

/* A port as it is on the wire. */
static inline const struct config_port *config_wire(const struct config_port *port)
{
	return port->outside ? port->outside : port;
}

enum traffic_kind {
	HTTP_CLIENT,
	HTTP_SERVER,
	TCP_CLIENT,
	TCP_SERVER,
	UDP_CLIENT,
	UDP_SERVER,
	UDP_BLAST,
	UDP_SINK,
	REPLAY,
	/* both sides, as the file has it; config_load() makes the other two of it */
	CONVERSATION,
	CONVERSATION_CLIENT,
	CONVERSATION_SERVER
};

struct config_load {
	struct rate cps, rps, bps; /* den 0: not set; num UINT64_MAX: "max" */
	uint64_t concurrency;      /* 0: not set; UINT64_MAX: "max" */
	/* Of a blast: packets; bits of frames without FCS (bps above) or with all that a link
	 * carries (FCS, preamble, gap); or a share of what the link can carry, 0-100. */
	struct rate pps, bps_l1, percent;
	uint32_t burst; /* packets that leave together, at least 1 */
	bool poisson;   /* gaps are random, exponentially distributed */
};

struct config_bytes {
	uint8_t *data;
	uint32_t count;
};

/* A field that changes from packet to packet, or from flow to flow. */
enum modify_field {
	MODIFY_OFFSET, /* `bytes` bytes at `offset` of the frame */
	MODIFY_ETH_DST,
	MODIFY_ETH_SRC,
	MODIFY_VLAN_ID,  /* of the innermost tag */
	MODIFY_VLAN_PCP, /* the same */
	MODIFY_IP_TOS,
	MODIFY_IP_ID,
	MODIFY_IP_TTL,
	MODIFY_IP_SRC,
	MODIFY_IP_DST,
	MODIFY_SRC_PORT,
	MODIFY_DST_PORT,
	MODIFY_IP_FLOW, /* the flow label of IPv6 */
	MODIFY_TCP_SEQ,
	MODIFY_TCP_ACK,
	MODIFY_TCP_FLAGS,
	MODIFY_TCP_WINDOW,
	MODIFY_ICMP_ID,
	MODIFY_ICMP_SEQ,
	MODIFY_FIELDS
};
enum modify_op { MODIFY_INCREMENT, MODIFY_DECREMENT, MODIFY_RANDOM, MODIFY_LIST };

struct config_modify {
	enum modify_field field;
	uint16_t offset;
	uint8_t bytes; /* 1-8 */
	enum modify_op op;
	bool has_start;
	uint64_t start; /* first value, or with has_start false what the packet has */
	uint64_t step;
	uint64_t count; /* values until it begins again; 0: as many as fit */
	uint64_t mask;  /* bits that change */
	uint64_t *value;
	unsigned values; /* of a list */
	bool per_flow;
};

enum payload_fill { PAYLOAD_ZEROS, PAYLOAD_RANDOM, PAYLOAD_BYTES };

/* Which of a blast's pools steps with every packet; the others follow in this order, cyclically. */
enum walk_first { WALK_CLIENT_PORTS, WALK_CLIENTS, WALK_SERVER_PORTS, WALK_SERVERS, WALKS };

/* What a blast's packets carry behind the IP header: of ICMP echo requests, with the ports of the
 * pools as identifier and sequence number; of BLAST_IP the payload at once. */
enum blast_protocol { BLAST_UDP, BLAST_TCP, BLAST_ICMP, BLAST_IP };

struct config_blast {
	struct config_bytes template; /* the whole frame; count 0: from the pools */
	enum blast_protocol protocol;
	uint8_t ip_protocol; /* of BLAST_IP */
	uint8_t tcp_flags;
	uint8_t vlan_priority; /* in the port's tags */
	uint16_t *size;        /* of frames without FCS, walked one by one */
	unsigned sizes;
	enum payload_fill payload;
	struct config_bytes payload_bytes; /* repeated, for PAYLOAD_BYTES */
	struct config_modify *modify;
	unsigned modifies;
	enum walk_first walk;
	uint64_t packets, bytes, duration; /* 0: no such limit */
	bool tag;
	uint8_t ttl, tos;
	uint8_t stream; /* its number in the tags */
};

struct config_header {
	const char *name;
	const char *value;
};

/* Several values with weights: a share is a value, or a range of them, all equally likely. */
struct config_share {
	uint64_t first, last;
	uint32_t weight;
};

struct config_mix {
	struct config_share *share;
	unsigned shares;
};

enum config_content {
	CONTENT_HTML,
	CONTENT_JSON,
	CONTENT_XML,
	CONTENT_TEXT,
	CONTENT_RANDOM, /* bytes without meaning */
	CONTENT_FILE,
	CONTENT_BARE, /* a pattern, and no word of what it is */
	CONTENTS
};

#define CONFIG_VARIANTS_MAX 4096

struct config_span {
	uint64_t first, last;
};

struct config_message {     /* a request (client) or a response (server) */
	const char *method; /* request */
	const char *path;
	const char *host;
	struct config_header *header; /* extra headers */
	unsigned headers;
	uint16_t status;    /* response: what is sent, or what a client expects, 0: any 2xx */
	uint64_t body_size; /* an http-client or udp-client expects, or an udp-server sends
			     * CONFIG_ANY_SIZE: any, or what it received; of `sizes` the mean */
	/* of HTTP */
	struct config_mix statuses, sizes, contents; /* contents: of enum config_content */
	struct config_bytes file;
	unsigned sensitive;    /* bits, by enum sensitive */
	uint32_t per_response; /* items of each of these kinds */
	uint32_t variants;     /* messages prepared of it; at least 1 */
	bool chunked, gzip;
	struct config_span delay;
	/* of one of several requests */
	const char *name;
	uint32_t weight;
	const char *text; /* its body, a template; NULL: by size and content */
};

enum config_congestion { CONGESTION_NEWRENO, CONGESTION_CUBIC };

/* ON: our SYN offers them; ON and PEER: a peer's offer is taken up. */
enum config_timestamps { TIMESTAMPS_OFF, TIMESTAMPS_ON, TIMESTAMPS_PEER };

/* Window scaling: offered when the window needs it, never, or with the shift `scale` - SCALE_0. */
enum config_scale { SCALE_AUTO, SCALE_OFF, SCALE_0 };
#define SCALE_MAX 14 /* RFC 7323 section 2.3 */

struct config_tcp {
	uint16_t mss;    /* 0: MTU less headers */
	uint32_t window; /* receive window offered, "64Ki" */
	uint8_t scale;   /* enum config_scale and above: "auto" */
	enum config_timestamps timestamps;
	bool ecn;             /* "false": ask for ECN as a client, agree to it as a server */
	uint64_t delayed_ack; /* 0-500ms: "0s", at the end of the burst */
	uint8_t ack_every;    /* segments: 2 */
	uint64_t initial_rto; /* "1s" */
	uint64_t min_rto;     /* "200ms": once round trips are measured */
	enum config_congestion congestion;
	bool sack;          /* "true": permit, send and use selective acknowledgments */
	uint8_t retries;    /* 0-15: 5 */
	bool handshake_ack; /* send the handshake's ACK on its own: 7 packets */
	bool separate_fin;  /* send FIN on its own, not with the last data */
};

struct config_list { /* words by name */
	const char *name;
	const char **word;
	unsigned words;
};

#define CONFIG_REQUESTS_MAX 64

enum config_closer { CLOSER_SERVER, CLOSER_CLIENT };

struct config_close { /* how a client ends its connections */
	bool is_set;
	uint32_t weight[3]; /* by enum close */
	enum config_closer first;
	uint64_t timeout; /* of those that are left open */
};

struct config_traffic {
	const char *name;
	enum traffic_kind kind;
	unsigned port;       /* index into config.port */
	const char *network; /* of that port; NULL: the port itself. `port` is the network's then */
	uint8_t vlans;       /* tags of its own, as a network that is like the port in all else */
	uint16_t vlan[2];
	/* Of each family a pool, IPv4 first: `clients` and `servers` fill both of theirs. */
	struct ip_pool clients, clients6; /* server: absent = anyone */
	struct port_pool client_ports;
	struct ip_pool servers, servers6;
	struct port_pool server_ports;
	struct config_load load;
	uint32_t requests_per_connection; /* CONFIG_UNLIMITED: until churned or drained, or for a
					   * server until the client closes */
	uint64_t think_time;
	uint64_t timeout;         /* for connect, and for each response: "5s" */
	uint64_t idle_timeout;    /* server: idle connections are closed after; 0 never: "0s" */
	uint64_t catch_up;        /* how far a stalled schedule is caught up: "100ms" */
	uint8_t tos, ttl;         /* of packets sent; tos: absent, the port's */
	uint64_t max_connections; /* records reserved; 0: from the load */
	struct config_message request, response;
	uint8_t pipeline; /* client: requests that a connection has under way at once */
	bool numbered;    /* udp-client: an answer begins with its request's number */
	struct config_close close;
	struct config_message *more; /* http-client: the requests, instead of `request` */
	unsigned requests;
	struct config_list *list; /* of {list:NAME} */
	unsigned lists;
	struct config_bytes payloads; /* lines of {payload} */
	struct config_mix blocked;    /* statuses by which a device refuses one */
	struct config_message *route; /* http-server: responses by path; `response` is for others */
	unsigned routes;
	struct config_tcp tcp;
	struct config_blast blast;
	struct replay_options replay;
	struct script_options conversation;
	unsigned server_port; /* of CONVERSATION: index into config.port */
};

enum expect_kind { EXPECT_MIN = 1, EXPECT_MAX = 2 };

struct config_expect {
	const char *metric; /* a path into the report, e.g. "traffic.web.achieved.cps" */
	unsigned kinds;     /* EXPECT_MIN | EXPECT_MAX */
	double min, max;
};

enum capture_direction { CAPTURE_BOTH, CAPTURE_RX, CAPTURE_TX };
enum capture_format { CAPTURE_PCAPNG, CAPTURE_PCAP };

struct config_packets { /* one file of captured packets */
	const char *file;
	unsigned port; /* index into config.port; CONFIG_UNLIMITED: all ports */
	enum capture_direction direction;
	const char *filter; /* as tcpdump's; NULL: everything */
	uint32_t snaplen;
	enum capture_format format;
	uint64_t limit; /* packets in all; 0: none */
	/* when the next file begins; 0: never */
	uint64_t file_size, file_packets, file_time;
	uint32_t files; /* that are kept; 0: all */
};

struct config_capture {
	const char *drops; /* file for samples of refused packets; NULL: none */
	uint32_t per_reason_per_second;
	uint32_t snaplen; /* of the samples */
	struct config_packets *packets;
	unsigned packet_files;
};

struct config_blackout {
	uint64_t from, length; /* ns since the load began */
};

enum lose_what { LOSE_ANY, LOSE_SYN, LOSE_SYN_ACK, LOSE_FIN, LOSE_RST, LOSE_DATA };

/* Packets picked by their place in line: number `first` of that sort, from 1 (0: none), and those
 * behind it, `count` in all (0: one). */
struct config_lose {
	enum lose_what what;
	uint32_t first, count;
};

/* One direction of the simulated network. */
struct config_direction {
	struct rate rate; /* bits per second; den 0 or "max": no limit */
	uint64_t delay, jitter, reorder_delay;
	uint32_t queue;                           /* packets before the line; 0: any number */
	double loss, reorder, duplicate, corrupt; /* probabilities */
	uint32_t loss_burst, loss_every;
	bool corrupt_payload; /* with the checksum made right again */
	uint16_t mtu;         /* 0: no limit */
	struct config_lose lose;
	struct config_blackout *blackout;
	unsigned blackouts;
};

struct config_network {
	struct config_direction both; /* what is said of both, and stands in each already */
	struct config_direction to_server, to_client;
};

struct config {
	const char *file; /* as given; "-" is standard input */
	uint64_t duration, ramp, drain, seed;
	enum config_hugepages hugepages;
	uint64_t memory_limit;                /* 0: none */
	uint32_t side_records, kept_segments; /* of each worker: 1Mi, 2048 */
	const char **eal;
	unsigned eal_args;
	uint64_t report_interval;
	const char *report_json;  /* NULL: none */
	struct config_port *port; /* those with a device, then the networks behind them */
	unsigned ports, devices;
	struct config_traffic *traffic;
	unsigned traffics;
	struct config_capture capture;
	struct config_network network; /* of `simulate` */
	struct config_expect *expect;
	unsigned expects;
	char *json; /* the configuration as it was read, settings applied, as compact JSON: for the
		       report */
	void *storage; /* of all the above; private */
};

/* Of a port's TCP and UDP sockets' entries: a connection's record has 6 bits for its entry. */
#define CONFIG_PORT_ENTRIES_MAX 64

/* What the machine does not give: list[index].key.inner, or without a list key.inner, and why. */
struct config_fault {
	const char *list;
	unsigned index;
	const char *key, *inner; /* either may be NULL */
	char why[512];
};
#define CONFIG_FAULTS_MAX 8

/* What check needs to know of the machine; a test gives a made-up one. */
struct config_machine {
	unsigned cores; /* 0-based core numbers below this exist */
	/* Why this is no filter expression, into `why`; false if it is one. NULL: not looked at. */
	bool (*filter_is_wrong)(const char *expression, char *why, size_t size);
	/* What a configuration that is good in itself asks too much of, at most `most`; returns how
	 * many. NULL: not looked at. */
	unsigned (*faults)(const struct config *, struct config_fault *, unsigned most);
	/* Packet `number`, from 1, of a capture file into `data`; its length, or 0 and why not,
	 * into `why`. NULL: there are none. */
	uint32_t (*packet_read)(const char *file, uint64_t number, uint8_t *data, uint32_t size,
				char *why, size_t why_size);
};

/* Read `file` ("-": stdin; NULL: nothing but the settings), apply the `set` arguments
 * ("PATH=VALUE"), check everything. All errors go to `errors`, one line each as INTERFACE has them
 * ("lab.json:5:17: ports[0].cores: expected
 * ..., got 9"). Returns 0, or -1 after at least one line. */
int config_load(struct config *, const char *file, const char *const *set, unsigned sets,
		const struct config_machine *, FILE *errors);
void config_free(struct config *);

/* Print the JSON Schema (draft 2020-12). */
void config_schema(FILE *out);

/* Print every key with its type, range, default and meaning, as text. */
void config_help(FILE *out);

/* "http-client" etc. */
const char *traffic_kind_name(enum traffic_kind);

/* The port whose device and queues port i uses: itself, unless it is a network of another. */
static inline unsigned config_port_host(const struct config *config, unsigned i)
{
	return config->port[i].is_network ? config->port[i].host : i;
}

/* A VLAN tag as it is sent: TCI. */
static inline uint16_t config_port_tag(const struct config_port *port, unsigned i)
{
	return (uint16_t)(port->vlan_priority << 13 | port->vlan[i]);
}

/* Are these tags the port's? */
static inline bool config_port_has_tags(const struct config_port *port, const uint16_t *vlan,
					unsigned vlans)
{
	port = config_wire(port);
	return port->vlans == vlans && (vlans < 1 || port->vlan[0] == vlan[0]) &&
	       (vlans < 2 || port->vlan[1] == vlan[1]);
}

/* The side that offers a load. */
static inline bool traffic_is_client(enum traffic_kind kind)
{
	return kind == HTTP_CLIENT || kind == TCP_CLIENT || kind == UDP_CLIENT ||
	       kind == UDP_BLAST || kind == REPLAY || kind == CONVERSATION ||
	       kind == CONVERSATION_CLIENT;
}

/* Plays scripts. */
static inline bool traffic_is_conversation(enum traffic_kind kind)
{
	return kind == CONVERSATION_CLIENT || kind == CONVERSATION_SERVER;
}

/* Sockets of UDP. */
static inline bool traffic_is_udp(enum traffic_kind kind)
{
	return kind == UDP_CLIENT || kind == UDP_SERVER;
}

static inline bool traffic_uses_port(const struct config_traffic *t, unsigned port)
{
	return t->port == port ||
	       (t->kind == REPLAY && t->replay.two_ports && t->replay.server_port == port);
}

/* What such a port receives is a replay's, and compared with what is sent elsewhere. */
static inline bool config_port_listens(const struct config *config, unsigned port)
{
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].kind == REPLAY && config->traffic[i].replay.two_ports &&
		    traffic_uses_port(&config->traffic[i], port))
			return true;
	return false;
}

/* A load that has an end of its own: the run ends with it, if all of its loads have one. */
static inline bool traffic_is_limited(const struct config_traffic *t)
{
	return t->kind == REPLAY || (t->kind == UDP_BLAST && (t->blast.packets || t->blast.bytes));
}

static inline const struct ip_pool *traffic_clients(const struct config_traffic *t, uint8_t family)
{
	return family == 6 ? &t->clients6 : &t->clients;
}

static inline const struct ip_pool *traffic_servers(const struct config_traffic *t, uint8_t family)
{
	return family == 6 ? &t->servers6 : &t->servers;
}

/* The addresses of this side, and those of the far end. */
static inline const struct ip_pool *traffic_own(const struct config_traffic *t, uint8_t family)
{
	return traffic_is_client(t->kind) ? traffic_clients(t, family) : traffic_servers(t, family);
}

static inline const struct ip_pool *traffic_far(const struct config_traffic *t, uint8_t family)
{
	return traffic_is_client(t->kind) ? traffic_servers(t, family) : traffic_clients(t, family);
}

/* Does it use this address family? */
static inline bool traffic_has(const struct config_traffic *t, uint8_t family)
{
	return traffic_own(t, family)->count;
}

/* Does anything on this port use IPv6? */
static inline bool config_port_has6(const struct config *config, unsigned port)
{
	const struct config_port *p = &config->port[port];

	for (unsigned i = 0; i < p->addresses; i++)
		if (p->address[i].family == 6)
			return true;
	for (unsigned i = 0; i < config->traffics; i++)
		if (config->traffic[i].port == port && traffic_has(&config->traffic[i], 6))
			return true;
	return false;
}

/* The kinds of message that it sends: requests of a client, routes of a server, the last for all
 * other paths. */
static inline unsigned traffic_sources(const struct config_traffic *t)
{
	if (t->kind == HTTP_CLIENT)
		return t->requests ? t->requests : 1;
	return t->routes + 1;
}

static inline const struct config_message *traffic_source(const struct config_traffic *t,
							  unsigned i)
{
	if (t->kind == HTTP_CLIENT)
		return t->requests ? &t->more[i] : &t->request;
	return i < t->routes ? &t->route[i] : &t->response;
}

/* How many messages of source i are prepared: one for each line of payloads, if there are any. */
static inline unsigned traffic_variants(const struct config_traffic *t, unsigned i)
{
	unsigned lines = line_count(t->payloads.data, t->payloads.count);

	if (t->kind != HTTP_CLIENT && t->kind != HTTP_SERVER)
		return 1;
	return lines ? lines : traffic_source(t, i)->variants;
}

/* The family of a blast's addresses. */
static inline uint8_t blast_family(const struct config_traffic *t)
{
	return t->clients.ranges || t->servers.ranges ? 4 : 6;
}

/* Played by the stateless engine, others by the stateful one. */
static inline bool traffic_is_stateless(enum traffic_kind kind)
{
	return kind == UDP_BLAST || kind == UDP_SINK || kind == REPLAY;
}

#endif
