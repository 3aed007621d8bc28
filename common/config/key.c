/* The keys. Rows of an object stand in the order in which help shows them and values are read: the
 * ports before the traffic that names them, the kind before what depends on it. */
#include "key.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

#define FIELD(type, member) \
	.offset = offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)
#define COUNTED(type, member, counter)                                \
	FIELD(type, member), .count = offsetof(struct type, counter), \
			     .count_size = sizeof(((struct type *)0)->counter)
#define US  1000ull
#define MS  (1000 * US)
#define S   (1000 * MS)
#define DAY (86400 * S)
#define GI  (1ull << 30)

#define FILE_MOST (64ull << 20)

#define ROOT     .object = OBJECT_ROOT, .kinds = KIND_ALL
#define PORT     .object = OBJECT_PORT, .kinds = KIND_ALL
#define BOND     .object = OBJECT_BOND, .kinds = KIND_ALL
#define BEHIND   .object = OBJECT_PORT_NETWORK, .kinds = KIND_ALL
#define TUNNELS  .object = OBJECT_TUNNEL, .kinds = KIND_ALL
#define TRAFFIC  .object = OBJECT_TRAFFIC
#define LOAD     .object = OBJECT_LOAD, .kinds = KIND_CLIENT
#define TALK     .object = OBJECT_TRAFFIC, .kinds = KIND_TALK
#define REQUEST  .object = OBJECT_REQUEST
#define RESPONSE .object = OBJECT_RESPONSE
#define CLOSE    .object = OBJECT_CLOSE, .kinds = KIND_CLIENT & ~KIND_UDP_CLIENT
#define ONE_REQUEST .object = OBJECT_ONE_REQUEST
#define WORDS    .object = OBJECT_WORDS, .kinds = KIND_HTTP_CLIENT
#define ROUTE    .object = OBJECT_ROUTE
#define BLAST    .object = OBJECT_TRAFFIC, .kinds = KIND_UDP_BLAST
#define REPLAYS  .object = OBJECT_TRAFFIC, .kinds = KIND_REPLAY
#define RATES    .object = OBJECT_LOAD, .kinds = KIND_UDP_BLAST
#define TCP      .object = OBJECT_TCP, .kinds = KIND_HTTP | KIND_TCP | KIND_TALK
#define MODIFY   .object = OBJECT_MODIFY, .kinds = KIND_UDP_BLAST
#define REWRITE  .object = OBJECT_REWRITE, .kinds = KIND_REPLAY
#define SPLIT    .object = OBJECT_SPLIT, .kinds = KIND_REPLAY
#define CONVERT  .object = OBJECT_CONVERT, .kinds = KIND_REPLAY
#define CAPTURE  .object = OBJECT_CAPTURE, .kinds = KIND_ALL
#define PACKETS  .object = OBJECT_PACKETS, .kinds = KIND_ALL
#define EXPECT   .object = OBJECT_EXPECT, .kinds = KIND_ALL
#define NETWORK  .object = OBJECT_NETWORK, .kinds = KIND_ALL
#define ONE_WAY  .object = OBJECT_DIRECTION, .kinds = KIND_ALL
#define LOSE     .object = OBJECT_LOSE, .kinds = KIND_ALL
#define DARK     .object = OBJECT_BLACKOUT, .kinds = KIND_ALL

/* One direction of the simulated network: in an object of its own, or beside the two for both. No
 * key has a default, so that a direction keeps what was said for both. */
#define DIRECTION_KEYS(KEY, filled, in)                                                            \
	{KEY, .name = "rate", .type = TYPE_BIT_RATE, FIELD(filled, in rate),                       \
	 .help = "Bits of frames per second that the line carries; absent: any number."},          \
	{KEY, .name = "delay", .type = TYPE_TIME, FIELD(filled, in delay), .max = DAY,             \
	 .help = "How long a packet takes, once the line has sent it."},                           \
	{KEY, .name = "jitter", .type = TYPE_TIME, FIELD(filled, in jitter), .max = DAY,           \
	 .help = "Up to this much longer, at random; the order of packets is kept."},              \
	{KEY, .name = "queue", .type = TYPE_COUNT, FIELD(filled, in queue), .min = 1,              \
	 .max = 10000000, .help = "Packets that may wait for the line, with `rate`; further ones " \
				  "are lost. Absent: any number."},                                \
	{KEY, .name = "loss", .type = TYPE_PROBABILITY, FIELD(filled, in loss),                    \
	 .help = "How likely a packet is lost."},                                                  \
	{KEY, .name = "loss_burst", .type = TYPE_COUNT, FIELD(filled, in loss_burst), .min = 1,    \
	 .max = 1000000, .help = "Such a loss takes this many packets in a row."},                 \
	{KEY, .name = "loss_every", .type = TYPE_COUNT, FIELD(filled, in loss_every), .min = 1,    \
	 .max = UINT32_MAX, .help = "Every n-th packet is lost."},                                 \
	{KEY, .name = "lose", .type = TYPE_OBJECT, .inner = OBJECT_LOSE, FIELD(filled, in lose),   \
	 .help = "Packets lost by their place in line."},                                          \
	{KEY, .name = "reorder", .type = TYPE_PROBABILITY, FIELD(filled, in reorder),              \
	 .help = "How likely a packet is held back, so that others overtake it."},                 \
	{KEY, .name = "reorder_delay", .type = TYPE_TIME, FIELD(filled, in reorder_delay),         \
	 .max = DAY, .help = "How long at most it is held back; absent: 1ms."},                    \
	{KEY, .name = "duplicate", .type = TYPE_PROBABILITY, FIELD(filled, in duplicate),          \
	 .help = "How likely a packet arrives twice."},                                            \
	{KEY, .name = "corrupt", .type = TYPE_PROBABILITY, FIELD(filled, in corrupt),              \
	 .help = "How likely one bit behind the Ethernet header is flipped."},                     \
	{KEY, .name = "corrupt_payload", .type = TYPE_BOOL, FIELD(filled, in corrupt_payload),     \
	 .help = "Flip only TCP payload and make the checksum right again: the application alone " \
		 "can notice."},                                                                   \
	{KEY, .name = "mtu", .type = TYPE_COUNT, FIELD(filled, in mtu), .min = 68, .max = 65535,   \
	 .help = "Longer IP packets vanish, and nobody is told."},                                 \
	{KEY, .name = "blackouts", .type = TYPE_LIST, .inner = OBJECT_BLACKOUT,                    \
	 COUNTED(filled, in blackout, in blackouts), .help = "Times in which everything is lost."}

#define CONTENT_CHOICES   "html|json|xml|text|random|file|bare"
#define SENSITIVE_CHOICES "id-card|phone|plate|bank-card|business-registration|email|all"

/* A response of an HTTP server: the one of all paths, or of a route. */
#define RESPONSE_KEYS(OBJECT)                                                                      \
	{OBJECT, .name = "status", .kinds = KIND_HTTP_SERVER, .type = TYPE_MIX,                    \
	 FIELD(config_message, statuses), .standard = "200", .min = 200, .max = 599,               \
	 .help = "HTTP status; several with weights: {\"200\": 98, \"404\": 2}."},                 \
	{OBJECT, .name = "headers", .kinds = KIND_HTTP_SERVER, .type = TYPE_HEADERS,               \
	 COUNTED(config_message, header, headers),                                                 \
	 .help = "Further headers, {\"Name\": \"value\"}."},                                       \
	{OBJECT, .name = "content", .kinds = KIND_HTTP_SERVER, .type = TYPE_MIX,                   \
	 FIELD(config_message, contents), .choices = CONTENT_CHOICES, .standard = "html",          \
	 .help = "What the body is: a document, bytes without meaning, a file, or bare: a "         \
		 "pattern without a Content-Type."},               \
	{OBJECT, .name = "file", .kinds = KIND_HTTP_SERVER, .type = TYPE_FILE,                     \
	 FIELD(config_message, file), .max = FILE_MOST,                                            \
	 .help = "The file of content \"file\"; its length is the body's unless a size is given."},  \
	{OBJECT, .name = "sensitive", .kinds = KIND_HTTP_SERVER, .type = TYPE_SET,                 \
	 FIELD(config_message, sensitive), .choices = SENSITIVE_CHOICES,                           \
	 .help = "Made-up personal data with right check digits among the values of a document, "  \
		 "as far as its size has room: \"all\" or a list."},                               \
	{OBJECT, .name = "per_response", .kinds = KIND_HTTP_SERVER, .type = TYPE_COUNT,            \
	 FIELD(config_message, per_response), .standard = "1", .min = 1, .max = 1000,              \
	 .help = "So many items of each kind of sensitive data."},                                 \
	{OBJECT, .name = "variants", .kinds = KIND_HTTP_SERVER, .type = TYPE_COUNT,                \
	 FIELD(config_message, variants), .min = 1, .max = CONFIG_VARIANTS_MAX,                    \
	 .help = "So many different responses are prepared and sent in turn; absent: 64 if "       \
		 "anything is to vary, else 1."},                                                  \
	{OBJECT, .name = "chunked", .kinds = KIND_HTTP_SERVER, .type = TYPE_BOOL,                  \
	 FIELD(config_message, chunked), .standard = "false",                                      \
	 .help = "Send the body in chunks, without Content-Length."},                              \
	{OBJECT, .name = "gzip", .kinds = KIND_HTTP_SERVER, .type = TYPE_BOOL,                     \
	 FIELD(config_message, gzip), .standard = "false",                                         \
	 .help = "Send the body gzip-encoded, to every client; its size is that before."},         \
	{OBJECT, .name = "delay", .kinds = KIND_HTTP_SERVER, .type = TYPE_SPAN,                    \
	 FIELD(config_message, delay), .standard = "0s", .max = 120 * S,                           \
	 .help = "How long a request waits for its response: a time, or \"10ms-50ms\"."}

/* A request of an HTTP client: the only one, or one of several. */
#define REQUEST_KEYS(OBJECT) \
	{OBJECT, .name = "method", .kinds = KIND_HTTP_CLIENT, .type = TYPE_WORD, \
	 FIELD(config_message, method), .choices = "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS", .standard = "GET", \
	 .help = "HTTP method."}, \
	{OBJECT, .name = "path", .kinds = KIND_HTTP_CLIENT, .type = TYPE_PATH, \
	 FIELD(config_message, path), .standard = "/", .help = "Path and query of the URL, a template (docs/TEMPLATES.md)."}, \
	{OBJECT, .name = "host", .kinds = KIND_HTTP_CLIENT, .type = TYPE_HOST, \
	 FIELD(config_message, host), .standard = "onager", .help = "Value of the Host header."}, \
	{OBJECT, .name = "headers", .kinds = KIND_HTTP_CLIENT, .type = TYPE_HEADERS, \
	 COUNTED(config_message, header, headers), \
	 .help = "Further headers, {\"Name\": \"value\"}."}, \
	{OBJECT, .name = "status", .kinds = KIND_HTTP_CLIENT, .type = TYPE_COUNT, \
	 FIELD(config_message, status), .min = 200, .max = 599, \
	 .help = "Status that its response must have; absent: as `response` says."}, \
	{OBJECT, .name = "variants", .kinds = KIND_HTTP_CLIENT, .type = TYPE_COUNT, \
	 FIELD(config_message, variants), .min = 1, .max = CONFIG_VARIANTS_MAX, \
	 .help = "So many requests are prepared of it and sent in turn; absent: 256 if anything is " \
		 "to vary, else 1."}

/* What a port says of its network, and each further network behind it. */
#define NETWORK_KEYS(OBJECT) \
	{OBJECT, .name = "address", .type = TYPE_OWN_ADDRESSES, \
	 COUNTED(config_port, address, addresses), \
	 .help = "The own address with its prefix, \"10.0.0.1/24\" or \"2001:db8::1/64\", or a " \
		 "list; absent: the first address of its traffic."}, \
	{OBJECT, .name = "gateway", .type = TYPE_GATEWAY, FIELD(config_port, gateway), \
	 .help = "Router that all traffic is sent to, inside an own subnet, or a list of one of each " \
		 "address family; \"auto\": the IPv6 router that advertises itself. Absent: every " \
		 "address is on-link."}, \
	{OBJECT, .name = "routes", .type = TYPE_ROUTES, COUNTED(config_port, route, routes), \
	 .help = "Next hops by destination, {\"10.0.0.0/8\": \"10.1.0.2\"}; the longest prefix " \
		 "counts, \"link\" is no next hop. What lies in an own subnet is on-link then, " \
		 "and `gateway` is for all the rest."}, \
	{OBJECT, .name = "gateway_mac", .type = TYPE_MAC, \
	 COUNTED(config_port, gateway_mac, has_gateway_mac), \
	 .help = "MAC address that all traffic is sent to; absent: resolved by ARP and Neighbour " \
		 "Discovery."}, \
	{OBJECT, .name = "mac", .type = TYPE_MAC, COUNTED(config_port, mac, has_mac), \
	 .help = "The own MAC address; absent: the device's."}, \
	{OBJECT, .name = "vlan", .type = TYPE_VLANS, COUNTED(config_port, vlan, vlans), .min = 1, \
	 .max = 4094, .help = "VLAN id, or a list of two, outermost first; empty: untagged."}, \
	{OBJECT, .name = "vlan_priority", .type = TYPE_COUNT, FIELD(config_port, vlan_priority), \
	 .max = 7, .help = "Priority bits (PCP) of the tags that are sent; received ones are free."}

/* clang-format off: one key, one row */
const struct key key_table[] = {
	{ROOT, .name = "$schema", .type = TYPE_IGNORED,
	 .help = "Where an editor finds the schema of this file; not used otherwise."},
	{ROOT, .name = "duration", .type = TYPE_TIME, FIELD(config, duration),
	 .min = MS, .max = 3650 * DAY,
	 .help = "Length of the steady phase, in which results are measured. Required, unless "
		 "all that is offered ends by itself (replays, blasts with `packets` or `bytes`): "
		 "then the run ends with that, at the latest after this."},
	{ROOT, .name = "ramp", .type = TYPE_TIME, FIELD(config, ramp), .standard = "0s",
	 .max = 30 * DAY,
	 .help = "Before the steady phase: the load rises linearly from nothing to its target."},
	{ROOT, .name = "drain", .type = TYPE_TIME, FIELD(config, drain), .standard = "2s",
	 .max = 3600 * S,
	 .help = "After the steady phase: how long, at most, open connections may take to end."},
	{ROOT, .name = "seed", .type = TYPE_COUNT, FIELD(config, seed), .standard = "1",
	 .max = UINT64_MAX, .help = "Of all random choices: the same seed makes the same choices."},
	{ROOT, .name = "memory", .type = TYPE_OBJECT, .inner = OBJECT_MEMORY,
	 .help = "Memory for connection tables."},
	{ROOT, .name = "eal", .type = TYPE_TEXTS, COUNTED(config, eal, eal_args),
	 .help = "Arguments passed through to DPDK, e.g. \"--log-level=lib.eal:info\"."},
	{ROOT, .name = "report", .type = TYPE_OBJECT, .inner = OBJECT_REPORT,
	 .help = "What is shown and written."},
	{ROOT, .name = "ports", .type = TYPE_LIST, .inner = OBJECT_PORT,
	 COUNTED(config, port, ports), .required = true, .help = "The network ports to use."},
	{ROOT, .name = "traffic", .type = TYPE_LIST, .inner = OBJECT_TRAFFIC,
	 COUNTED(config, traffic, traffics), .required = true,
	 .help = "Clients and servers; any number of them, on any port."},
	{ROOT, .name = "capture", .type = TYPE_OBJECT, .inner = OBJECT_CAPTURE,
	 FIELD(config, capture), .help = "Packets written to files for Wireshark and its like."},
	{ROOT, .name = "network", .type = TYPE_OBJECT, .inner = OBJECT_NETWORK,
	 FIELD(config, network),
	 .help = "The network between client and server in `onager simulate`."},
	{ROOT, .name = "expect", .type = TYPE_LIST, .inner = OBJECT_EXPECT,
	 COUNTED(config, expect, expects),
	 .help = "Criteria: the verdict is \"fail\" when one is not met."},

	{.object = OBJECT_MEMORY,
	 .kinds = KIND_ALL,
	 .name = "hugepages",
	 .type = TYPE_CHOICE,
	 FIELD(config, hugepages),
	 .choices = "auto|true|false",
	 .standard = "auto",
	 .help = "Whether tables lie in hugepages: if there are enough (\"auto\"), always, or "
		 "never."},
	{.object = OBJECT_MEMORY,
	 .kinds = KIND_ALL,
	 .name = "limit",
	 .type = TYPE_COUNT,
	 FIELD(config, memory_limit),
	 .min = 1,
	 .max = UINT64_MAX,
	 .help = "The most bytes the run may take, e.g. \"2Gi\"; absent: no limit."},
	{.object = OBJECT_MEMORY,
	 .kinds = KIND_ALL,
	 .name = "side_records",
	 .type = TYPE_COUNT,
	 FIELD(config, side_records),
	 .standard = "1Mi",
	 .min = 8,
	 .max = 1ull << 28,
	 .help = "So many connections of a worker at once may have a message of several segments "
		 "under way, be in loss recovery, or use time stamps or ECN: about 400 bytes each, "
		 "taken as needed. When seven of eight are in use no connection is opened, and "
		 "what needs one when all are waits (sideWait)."},
	{.object = OBJECT_MEMORY,
	 .kinds = KIND_ALL,
	 .name = "kept_segments",
	 .type = TYPE_COUNT,
	 FIELD(config, kept_segments),
	 .standard = "2048",
	 .max = 1ull << 20,
	 .help = "So many packets of a worker at once may wait for an earlier one that was lost or "
		 "is late; what is not kept, the peer repeats."},

	{.object = OBJECT_REPORT,
	 .kinds = KIND_ALL,
	 .name = "interval",
	 .type = TYPE_TIME,
	 FIELD(config, report_interval),
	 .standard = "1s",
	 .min = 10 * MS,
	 .max = 3600 * S,
	 .help = "Time between two lines of counters."},
	{.object = OBJECT_REPORT,
	 .kinds = KIND_ALL,
	 .name = "json",
	 .type = TYPE_TEXT,
	 FIELD(config, report_json),
	 .help = "File for the report in JSON; \"-\" is standard output."},

	{PORT, .name = "name", .type = TYPE_NAME, FIELD(config_port, name),
	 .help = "Name by which traffic and results refer to the port; absent: port0, port1, ..."},
	{PORT, .name = "device", .type = TYPE_DEVICE, FIELD(config_port, device), .required = true,
	 .help = "PCI address \"0000:07:00.0\"; DPDK virtual device "
		 "\"net_memif0,role=server,...\"; kernel "
		 "interface \"if:eth1\" (AF_PACKET) or \"xdp:eth1\" (AF_XDP); in-process cable "
		 "\"loop:NAME\", "
		 "whose ends are the two ports that name it; \"bond:NAME\", several of them as one."},
	{PORT, .name = "bond", .type = TYPE_OBJECT, .inner = OBJECT_BOND, FIELD(config_port, bond),
	 .help = "Several devices as one, of a port whose device is \"bond:NAME\"."},
	{PORT, .name = "cores", .type = TYPE_CORES, COUNTED(config_port, core, cores),
	 .required = true,
	 .help = "Processor cores, [0, 1] or \"0-3,8\" or \"max\" for all: one worker with one "
		 "queue pair on each."},
	NETWORK_KEYS(PORT),
	{PORT, .name = "neighbor", .type = TYPE_CHOICE, FIELD(config_port, neighbor_ignore),
	 .choices = "answer|ignore", .standard = "answer",
	 .help = "Whether ARP and Neighbour Discovery are answered for the addresses of the traffic; "
		 "\"ignore\": for the port's own alone, as behind a load balancer that hands packets "
		 "on by MAC address (direct routing)."},
	{PORT, .name = "announce", .type = TYPE_BOOL, FIELD(config_port, announce),
	 .standard = "false",
	 .help = "At the start tell everyone of the port's own addresses, by gratuitous ARP and "
		 "unsolicited neighbour advertisements."},
	{PORT, .name = "resolve_timeout", .type = TYPE_TIME, FIELD(config_port, resolve_timeout),
	 .standard = "3s", .min = MS, .max = 3600 * S,
	 .help = "How long ARP or Neighbour Discovery may take before the run is given up."},
	{PORT, .name = "mtu", .type = TYPE_COUNT, FIELD(config_port, mtu), .standard = "1500",
	 .min = 576, .max = 9710, .help = "Largest IP packet in bytes."},
	{PORT, .name = "tos", .type = TYPE_COUNT, FIELD(config_port, tos), .standard = "0",
	 .max = 255, .help = "TOS byte (DSCP and ECN) of the packets sent."},
	{PORT, .name = "verify_checksums", .type = TYPE_BOOL, FIELD(config_port, verify_checksums),
	 .standard = "true", .help = "Check the checksums of received packets."},
	{PORT, .name = "checksum_offload", .type = TYPE_BOOL, FIELD(config_port, checksum_offload),
	 .standard = "false",
	 .help = "Let the device compute the checksums of sent packets, if it can."},
	{PORT, .name = "rx_descriptors", .type = TYPE_COUNT, FIELD(config_port, rx_descriptors),
	 .standard = "1024", .min = 64, .max = 32768, .help = "Size of each receive ring."},
	{PORT, .name = "tx_descriptors", .type = TYPE_COUNT, FIELD(config_port, tx_descriptors),
	 .standard = "1024", .min = 64, .max = 32768, .help = "Size of each transmit ring."},
	{PORT, .name = "tunnel", .type = TYPE_OBJECT, .inner = OBJECT_TUNNEL, FIELD(config_port, tunnel),
	 .help = "All of the port's traffic goes through a tunnel; the port's other keys then say how "
		 "the underlay is."},
	{TUNNELS, .name = "kind", .type = TYPE_CHOICE, FIELD(config_tunnel, rule.kind), .required = true,
	 .choices = "none|vxlan|gre|gretap|gtpu|ipip|mpls",
	 .help = "What it is: VXLAN; GRE with IP packets, or with Ethernet frames; GTP-U; IP in IP, of "
		 "either family in either; MPLS labels."},
	{TUNNELS, .name = "local", .type = TYPE_ADDRESSES, FIELD(config_tunnel, rule.local),
	 .help = "Own ends (VTEPs): addresses of the underlay that the port answers for; client n, "
		 "counted over all clients of the port, uses the n-th, cyclically. Absent: the port's "
		 "own address."},
	{TUNNELS, .name = "remote", .type = TYPE_ADDRESSES, FIELD(config_tunnel, rule.remote),
	 .help = "Far ends, used alike; a server answers to where its client was last heard from. "
		 "Absent, of a server: there alone. Of MPLS: the next hop; absent: the port's "
		 "gateway."},
	{TUNNELS, .name = "vni", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.number),
	 .max = (1 << 24) - 1, .help = "VXLAN network identifiers, used by clients alike."},
	{TUNNELS, .name = "key", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.number),
	 .max = UINT32_MAX, .help = "GRE keys, used alike; absent: there is no key in the header."},
	{TUNNELS, .name = "local_key", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.own_number),
	 .max = UINT32_MAX, .help = "GRE keys of packets received; absent: the same."},
	{TUNNELS, .name = "teid", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.number),
	 .min = 1, .max = UINT32_MAX,
	 .help = "GTP-U tunnel endpoint identifiers of packets sent: the far end's."},
	{TUNNELS, .name = "local_teid", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.own_number),
	 .min = 1, .max = UINT32_MAX,
	 .help = "Own identifiers, of packets received, in the order of those that are sent; absent: "
		 "the same."},
	{TUNNELS, .name = "qfi", .type = TYPE_COUNT, FIELD(config_tunnel, rule.qfi), .max = 63,
	 .help = "GTP-U: QoS flow in a PDU session container, uplink from a port with clients, else "
		 "downlink; absent: there is no such extension header."},
	{TUNNELS, .name = "label", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.number),
	 .min = 16, .max = (1 << 20) - 1, .help = "MPLS labels at the bottom of the stack of packets sent."},
	{TUNNELS, .name = "local_label", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.own_number),
	 .min = 16, .max = (1 << 20) - 1,
	 .help = "Labels at the bottom of packets received; absent: the same."},
	{TUNNELS, .name = "label_stack", .type = TYPE_NUMBERS, FIELD(config_tunnel, rule.stack),
	 .min = 16, .max = (1 << 20) - 1,
	 .help = "Up to 4 labels above, outermost first; received ones may be any."},
	{TUNNELS, .name = "udp_port", .type = TYPE_COUNT, FIELD(config_tunnel, rule.udp_port),
	 .min = 1, .max = 65535, .help = "Destination port; absent: 4789 of VXLAN, 2152 of GTP-U."},
	{TUNNELS, .name = "udp_checksum", .type = TYPE_BOOL, FIELD(config_tunnel, rule.udp_checksum),
	 .help = "Send UDP checksums outside; absent: over IPv6 alone. A wrong one is refused in any "
		 "case."},
	{TUNNELS, .name = "ttl", .type = TYPE_COUNT, FIELD(config_tunnel, rule.ttl), .standard = "64",
	 .min = 1, .max = 255, .help = "TTL, or hop limit, outside."},
	{TUNNELS, .name = "tos", .type = TYPE_COUNT, FIELD(config_tunnel, rule.tos), .max = 255,
	 .help = "TOS byte outside; absent: the port's."},
	{TUNNELS, .name = "address", .type = TYPE_OWN_ADDRESSES,
	 COUNTED(config_tunnel, address, addresses),
	 .help = "The own address inside, as the port's; absent: the first address of its traffic."},
	{TUNNELS, .name = "gateway", .type = TYPE_ADDRESSES, FIELD(config_tunnel, gateway),
	 .help = "Router inside that all traffic is sent to; absent: every address is on the same "
		 "link."},
	{TUNNELS, .name = "gateway_mac", .type = TYPE_MAC,
	 COUNTED(config_tunnel, gateway_mac, has_gateway_mac),
	 .help = "MAC address inside that all traffic is sent to; absent: resolved inside, by ARP and "
		 "Neighbour Discovery."},
	{TUNNELS, .name = "mac", .type = TYPE_MAC, COUNTED(config_tunnel, mac, has_mac),
	 .help = "Own MAC address inside; absent: the port's."},

	{PORT, .name = "networks", .type = TYPE_LIST, .inner = OBJECT_PORT_NETWORK,
	 COUNTED(config_port, network, networks),
	 .help = "Further networks on the same device, each with tags, addresses and gateway of its "
		 "own, for traffic that names it."},

	{BOND, .name = "members", .type = TYPE_TEXTS, COUNTED(config_bond, member, members),
	 .help = "The devices, written as that of a port; no loops."},
	{BOND, .name = "mode", .type = TYPE_CHOICE, FIELD(config_bond, mode),
	 .choices = "round-robin|active-backup|balance|broadcast|lacp|tlb|alb",
	 .standard = "active-backup",
	 .help = "Which member sends a packet: all in turn, one while the others stand by, one by "
		 "the packet's hash, all of them, by hash as agreed on with the far end (LACP), by "
		 "load, or by load in both directions."},
	{BOND, .name = "policy", .type = TYPE_CHOICE, FIELD(config_bond, policy),
	 .choices = "l2|l23|l34", .standard = "l34",
	 .help = "Of what the hash is: MAC addresses, IP addresses, or ports, too."},
	{BOND, .name = "primary", .type = TYPE_TEXT, FIELD(config_bond, primary),
	 .help = "The member to prefer, with \"active-backup\"; absent: the first."},

	{BEHIND, .name = "name", .type = TYPE_NAME, FIELD(config_port, name), .required = true,
	 .help = "Name by which traffic refers to it; results call it PORT/NAME."},
	NETWORK_KEYS(BEHIND),
	{BEHIND, .name = "tunnel", .type = TYPE_OBJECT, .inner = OBJECT_TUNNEL,
	 FIELD(config_port, tunnel), .help = "As of a port, of this network alone."},
	{BEHIND, .name = "neighbor", .type = TYPE_CHOICE, FIELD(config_port, neighbor_ignore),
	 .choices = "answer|ignore", .help = "As of a port; absent: as the port has it."},
	{BEHIND, .name = "announce", .type = TYPE_BOOL, FIELD(config_port, announce),
	 .help = "As of a port; absent: as the port has it."},
	{BEHIND, .name = "mtu", .type = TYPE_COUNT, FIELD(config_port, mtu), .min = 576, .max = 9710,
	 .help = "Largest IP packet in bytes, at most the port's; absent: the port's."},
	{BEHIND, .name = "tos", .type = TYPE_COUNT, FIELD(config_port, tos), .max = 255,
	 .help = "TOS byte of the packets sent; absent: the port's."},

	{TRAFFIC, .name = "kind", .kinds = KIND_ALL, .type = TYPE_CHOICE,
	 FIELD(config_traffic, kind), .required = true,
	 .choices = "http-client|http-server|tcp-client|tcp-server|udp-client|udp-server|udp-blast|"
		    "udp-sink|replay|conversation|conversation-client|conversation-server",
	 .help = "What it does: HTTP/1.1, raw payloads over TCP, requests over UDP sockets, UDP "
		 "packets sent or accounted for, recordings sent again packet by packet, or recorded "
		 "conversations held again over TCP, of which an entry is both sides or one."},
	{TRAFFIC, .name = "name", .kinds = KIND_ALL, .type = TYPE_NAME, FIELD(config_traffic, name),
	 .help = "Name in results; absent: traffic0, traffic1, ..."},
	{TRAFFIC, .name = "port", .kinds = KIND_ALL, .type = TYPE_PORT, FIELD(config_traffic, port),
	 .help = "Name of the port it uses; absent: the only one."},
	{TRAFFIC, .name = "network", .kinds = KIND_ALL, .type = TYPE_NAME,
	 FIELD(config_traffic, network),
	 .help = "Name of the port's network that it uses; absent: the port's own."},
	{TRAFFIC, .name = "vlan", .kinds = KIND_ALL, .type = TYPE_VLANS,
	 COUNTED(config_traffic, vlan, vlans), .min = 1, .max = 4094,
	 .help = "VLAN id, or a list of two, instead of the port's: short for a network that has "
		 "these tags and all else from the port."},
	{TRAFFIC, .name = "clients", .kinds = KIND_CLIENT | KIND_TALKER, .type = TYPE_ADDRESSES,
	 FIELD(config_traffic, clients), .required = true,
	 .help = "Client addresses: \"10.0.0.1\", \"10.0.0.1-10.0.0.200\", \"10.1.0.0/16\" (every "
		 "address of it), the same of IPv6, or a list of those. With both families "
		 "connections alternate between them."},
	{TRAFFIC, .name = "clients", .kinds = KIND_SERVER | KIND_CONVERSATION_SERVER, .type = TYPE_ADDRESSES,
	 FIELD(config_traffic, clients),
	 .help = "The clients served, written as for a client; absent: anyone."},
	{TRAFFIC, .name = "client_ports", .kinds = KIND_CLIENT | KIND_UDP_BLAST | KIND_TALKER, .type = TYPE_PORTS,
	 FIELD(config_traffic, client_ports), .standard = "1024-65535",
	 .help = "Source ports: 1024, \"1024-65535\" or a list of those."},
	{BLAST, .name = "clients", .type = TYPE_ADDRESSES, FIELD(config_traffic, clients),
	 .help = "Source addresses, written as for a client. Required without a template."},
	{TRAFFIC, .name = "servers", .kinds = KIND_UDP_BLAST, .type = TYPE_ADDRESSES,
	 FIELD(config_traffic, servers),
	 .help = "Destination addresses. Required without a template."},
	{TRAFFIC, .name = "servers", .kinds = KIND_UDP_SINK, .type = TYPE_ADDRESSES,
	 FIELD(config_traffic, servers),
	 .help = "Addresses whose packets it counts; absent: all that reach the port."},
	{TRAFFIC, .name = "server_ports", .kinds = KIND_UDP_SINK, .type = TYPE_PORTS,
	 FIELD(config_traffic, server_ports),
	 .help = "UDP ports whose packets it counts; absent: all."},
	{TRAFFIC, .name = "servers", .kinds = KIND_STATEFUL | KIND_TALK, .type = TYPE_ADDRESSES,
	 FIELD(config_traffic, servers), .required = true,
	 .help = "Server addresses: connected to by a client, answered for by a server."},
	{TRAFFIC, .name = "server_ports", .kinds = KIND_STATEFUL | KIND_UDP_BLAST | KIND_TALK, .type = TYPE_PORTS,
	 FIELD(config_traffic, server_ports), .standard = "80",
	 .help = "Server ports: 80, \"80-83\", [80, 443]."},
	{TRAFFIC, .name = "load", .kinds = KIND_CLIENT | KIND_UDP_BLAST | KIND_TALKER, .type = TYPE_OBJECT, .inner = OBJECT_LOAD,
	 FIELD(config_traffic, load), .required = true,
	 .help = "What the client offers; all keys given are held together."},
	{TRAFFIC, .name = "requests_per_connection", .kinds = KIND_CLIENT, .type = TYPE_REQUESTS,
	 FIELD(config_traffic, requests_per_connection), .min = 1, .max = UINT16_MAX - 1,
	 .help = "After so many requests a connection, or UDP socket, is closed; \"max\" or 0: it "
		 "stays. Absent: "
		 "1, or \"max\" "
		 "when a think_time or both concurrency and cps are given."},
	{TRAFFIC, .name = "requests_per_connection", .kinds = KIND_HTTP_SERVER | KIND_TCP_SERVER, .type = TYPE_REQUESTS,
	 FIELD(config_traffic, requests_per_connection), .min = 1, .max = UINT16_MAX - 1,
	 .standard = "max",
	 .help = "A server closes a connection, with the last response, after so many requests; "
		 "\"max\" or 0: when the client does."},
	{TRAFFIC, .name = "think_time", .kinds = KIND_CLIENT, .type = TYPE_TIME,
	 FIELD(config_traffic, think_time), .standard = "0s", .max = DAY,
	 .help = "Pause between a response and the next request of its connection."},
	{TRAFFIC, .name = "timeout", .kinds = (KIND_STATEFUL & ~KIND_UDP_SERVER) | KIND_TALK, .type = TYPE_TIME,
	 FIELD(config_traffic, timeout), .standard = "5s", .min = MS, .max = 120 * S,
	 .help = "How long connecting, and each response, may take before it has failed. A request "
		 "over UDP is lost then."},
	{TRAFFIC, .name = "idle_timeout", .kinds = KIND_HTTP_SERVER | KIND_TCP_SERVER, .type = TYPE_TIME,
	 FIELD(config_traffic, idle_timeout), .standard = "0s", .max = DAY,
	 .help = "A server closes connections idle for so long; 0: never."},
	{TRAFFIC, .name = "catch_up", .kinds = KIND_CLIENT | KIND_UDP_BLAST | KIND_TALKER, .type = TYPE_TIME,
	 FIELD(config_traffic, catch_up), .standard = "100ms", .max = 10 * S,
	 .help = "After a stall so much of the schedule is made up for; the rest counts as not "
		 "offered."},
	{TRAFFIC, .name = "max_connections", .kinds = (KIND_STATEFUL & ~KIND_UDP_SERVER) | KIND_TALK, .type = TYPE_COUNT,
	 FIELD(config_traffic, max_connections), .min = 1, .max = UINT32_MAX,
	 .help = "Room for so many connections at once; absent: as the load needs."},
	{TRAFFIC, .name = "request", .kinds = KIND_HTTP_CLIENT | KIND_TCP | KIND_UDP_CLIENT, .type = TYPE_OBJECT,
	 .inner = OBJECT_REQUEST, FIELD(config_traffic, request), .help = "What a client sends."},
	{TRAFFIC, .name = "response", .kinds = KIND_HTTP_SERVER | KIND_TCP | KIND_UDP, .type = TYPE_OBJECT,
	 .inner = OBJECT_RESPONSE, FIELD(config_traffic, response), .help = "What a server sends."},
	{TRAFFIC, .name = "requests", .kinds = KIND_HTTP_CLIENT, .type = TYPE_LIST,
	 .inner = OBJECT_ONE_REQUEST, COUNTED(config_traffic, more, requests),
	 .help = "Several requests, mixed by weight, instead of `request`."},
	{TRAFFIC, .name = "lists", .kinds = KIND_HTTP_CLIENT, .type = TYPE_LIST,
	 .inner = OBJECT_WORDS, COUNTED(config_traffic, list, lists),
	 .help = "Words for {list:NAME} in requests."},
	{TRAFFIC, .name = "payloads", .kinds = KIND_HTTP_CLIENT, .type = TYPE_FILE,
	 FIELD(config_traffic, payloads), .max = FILE_MOST,
	 .help = "File with a payload in each line, for {payload} in requests, or as the query of "
		 "their paths (its name relative to the configuration file's place); each line is "
		 "sent in turn, and told whether it was answered, "
		 "blocked or not answered."},
	{TRAFFIC, .name = "blocked", .kinds = KIND_HTTP_CLIENT, .type = TYPE_MIX,
	 FIELD(config_traffic, blocked), .standard = "403", .min = 200, .max = 599,
	 .help = "Statuses that mean: blocked; so do a reset and a close without response."},
	{TRAFFIC, .name = "close", .kinds = KIND_CLIENT & ~KIND_UDP_CLIENT, .type = TYPE_OBJECT,
	 .inner = OBJECT_CLOSE, FIELD(config_traffic, close),
	 .help = "How a client ends a connection after its last response, by weights; absent: in "
		 "order."},
	{TRAFFIC, .name = "routes", .kinds = KIND_HTTP_SERVER, .type = TYPE_LIST,
	 .inner = OBJECT_ROUTE, COUNTED(config_traffic, route, routes),
	 .help = "Responses of certain paths, instead of `response`."},
	{TRAFFIC, .name = "response", .kinds = KIND_HTTP_CLIENT, .type = TYPE_OBJECT,
	 .inner = OBJECT_EXPECTED, FIELD(config_traffic, response),
	 .help = "What the response must be; another one is a failure."},
	{TRAFFIC, .name = "pipeline", .kinds = KIND_CLIENT, .type = TYPE_COUNT,
	 FIELD(config_traffic, pipeline), .standard = "1", .min = 1, .max = 128,
	 .help = "Requests that a connection or socket has under way at once; of HTTP and TCP "
		 "responses are taken in their order. With a think_time they leave together."},
	{TRAFFIC, .name = "tag", .kinds = KIND_UDP_CLIENT, .type = TYPE_BOOL,
	 FIELD(config_traffic, numbered), .standard = "true",
	 .help = "Begin each request with a number of 4 bytes, with which its answer must begin, "
		 "as an echo does; false: answers are taken in order."},
	{TRAFFIC, .name = "tcp", .kinds = KIND_HTTP | KIND_TCP | KIND_TALK, .type = TYPE_OBJECT, .inner = OBJECT_TCP,
	 FIELD(config_traffic, tcp), .help = "How TCP behaves."},

	{BLAST, .name = "protocol", .type = TYPE_CHOICE, FIELD(config_traffic, blast.protocol),
	 .choices = "udp|tcp|icmp|ip", .standard = "udp",
	 .help = "What the packets carry: UDP; TCP segments, a flood of SYNs by default; ICMP echo "
		 "requests, with client_ports as identifiers and server_ports as sequence numbers; or "
		 "the payload at once, as ip_protocol says. Only UDP is tagged."},
	{BLAST, .name = "tcp_flags", .type = TYPE_SET, FIELD(config_traffic, blast.tcp_flags),
	 .choices = "fin|syn|rst|psh|ack|urg|ece|cwr|all", .standard = "\"syn\"",
	 .help = "Flags of TCP segments, one or a list."},
	{BLAST, .name = "ip_protocol", .type = TYPE_COUNT, FIELD(config_traffic, blast.ip_protocol),
	 .standard = "253", .max = 255,
	 .help = "Protocol number of packets of protocol \"ip\"; 253 is for experiments (RFC 3692)."},
	{BLAST, .name = "vlan_priority", .type = TYPE_COUNT,
	 FIELD(config_traffic, blast.vlan_priority), .max = 7,
	 .help = "Priority (PCP) in the VLAN tags; absent: the port's."},
	{BLAST, .name = "size", .type = TYPE_SIZES,
	 COUNTED(config_traffic, blast.size, blast.sizes), .min = 60, .max = 9216,
	 .help = "Bytes of each frame, without FCS; absent: 60, the smallest."},
	{BLAST, .name = "sizes", .type = TYPE_SIZES,
	 COUNTED(config_traffic, blast.size, blast.sizes), .min = 60, .max = 9216,
	 .help = "Several sizes, sent in this order again and again: [64, 512, 1514]; a range, "
		 "\"64-1514\", is all sizes in it."},
	{BLAST, .name = "imix", .type = TYPE_IMIX, COUNTED(config_traffic, blast.size, blast.sizes),
	 .help = "The simple Internet mix: of 12 frames 7 of 60, or as many bytes as headers and tag "
		 "need, 4 of 590 and 1 of 1514."},
	{BLAST, .name = "template", .type = TYPE_BYTES, FIELD(config_traffic, blast.template),
	 .help = "The whole frame without FCS, instead of one from clients to servers, as bytes or "
		 "as a packet of a capture file, \"pcap:FILE#3\"; its IPv4, UDP, TCP and ICMP "
		 "checksums are made right."},
	{BLAST, .name = "payload", .type = TYPE_PAYLOAD, FIELD(config_traffic, blast.payload),
	 .standard = "zeros",
	 .help = "What follows the tag: bytes that are zero or random (by the seed), or those "
		 "given, repeated."},
	{BLAST, .name = "tag", .type = TYPE_BOOL, FIELD(config_traffic, blast.tag),
	 .standard = "true",
	 .help = "Begin the payload of UDP with 18 bytes by which a sink tells what was lost and when."},
	{BLAST, .name = "stream", .type = TYPE_COUNT, FIELD(config_traffic, blast.stream),
	 .max = 255,
	 .help = "Its number in the tags; absent: its place in `traffic`, from 0. Two ends that "
		 "both send and count need different numbers, or seeds."},
	{BLAST, .name = "walk", .type = TYPE_CHOICE, FIELD(config_traffic, blast.walk),
	 .choices = "client_ports|clients|server_ports|servers", .standard = "client_ports",
	 .help = "Which pool steps with every packet; the next in this order steps when it is "
		 "through."},
	{BLAST, .name = "modify", .type = TYPE_LIST, .inner = OBJECT_MODIFY,
	 COUNTED(config_traffic, blast.modify, blast.modifies),
	 .help = "Further fields that change from packet to packet."},
	{TRAFFIC, .name = "tos", .kinds = KIND_STATEFUL | KIND_TALK, .type = TYPE_COUNT,
	 FIELD(config_traffic, tos), .max = 255,
	 .help = "TOS byte, or traffic class of IPv6, of the packets sent; absent: the port's."},
	{TRAFFIC, .name = "ttl", .kinds = KIND_STATEFUL | KIND_TALK, .type = TYPE_COUNT,
	 FIELD(config_traffic, ttl), .standard = "64", .min = 1, .max = 255,
	 .help = "Time to live, or hop limit of IPv6, of the packets sent."},
	{BLAST, .name = "ttl", .type = TYPE_COUNT, FIELD(config_traffic, blast.ttl),
	 .standard = "64", .min = 1, .max = 255,
	 .help = "Time to live, or hop limit of IPv6, of the packets."},
	{BLAST, .name = "tos", .type = TYPE_COUNT, FIELD(config_traffic, blast.tos), .max = 255,
	 .help = "TOS byte (DSCP and ECN), or traffic class of IPv6, of the packets; absent: the "
		 "port's."},
	{BLAST, .name = "packets", .type = TYPE_COUNT, FIELD(config_traffic, blast.packets),
	 .min = 1, .max = UINT64_MAX - 1, .help = "Stop after so many packets. When all clients of a run have stopped so, it ends."},
	{BLAST, .name = "bytes", .type = TYPE_COUNT, FIELD(config_traffic, blast.bytes), .min = 60,
	 .max = UINT64_MAX - 1, .help = "Stop before the packet that would exceed so many bytes."},
	{BLAST, .name = "duration", .type = TYPE_TIME, FIELD(config_traffic, blast.duration),
	 .min = US, .max = 3650 * DAY, .help = "Stop after so much of the steady phase."},

	{REPLAYS, .name = "files", .type = TYPE_TEXTS,
	 COUNTED(config_traffic, replay.file, replay.files), .required = true,
	 .help = "Recordings, pcap or pcapng, plain, gzip or zstd, played one after the other; "
		 "\"-\" is standard input."},
	{REPLAYS, .name = "speed", .type = TYPE_RATE, FIELD(config_traffic, replay.speed),
	 .standard = "1", .help = "The recording's times are divided by it: 2 plays twice as fast."},
	{REPLAYS, .name = "pps", .type = TYPE_RATE, FIELD(config_traffic, replay.pps),
	 .help = "Packets per second, any fraction, instead of the recording's times."},
	{REPLAYS, .name = "bps", .type = TYPE_BIT_RATE, FIELD(config_traffic, replay.bps),
	 .help = "Bits per second of frames with FCS, instead of the recording's times."},
	{REPLAYS, .name = "bps_l1", .type = TYPE_BIT_RATE, FIELD(config_traffic, replay.bps_l1),
	 .help = "Bits per second as the link carries them: FCS, preamble and gap included."},
	{REPLAYS, .name = "topspeed", .type = TYPE_BOOL, FIELD(config_traffic, replay.topspeed),
	 .standard = "false", .help = "As fast as the port takes the packets."},
	{REPLAYS, .name = "loop", .type = TYPE_REQUESTS, FIELD(config_traffic, replay.loop),
	 .standard = "1", .min = 1, .max = UINT64_MAX - 1,
	 .help = "How often all files are played; \"max\" or 0: until another limit is reached."},
	{REPLAYS, .name = "loop_gap", .type = TYPE_TIME, FIELD(config_traffic, replay.loop_gap),
	 .max = 3650 * DAY,
	 .help = "From the last packet of a loop or a file to the first of the next; absent: the "
		 "mean gap of the file before, or with a rate what that gives."},
	{REPLAYS, .name = "max_gap", .type = TYPE_TIME, FIELD(config_traffic, replay.max_gap),
	 .min = US, .max = 3650 * DAY,
	 .help = "Longer gaps between two packets of a file, as they are played, become this."},
	{REPLAYS, .name = "packets", .type = TYPE_COUNT, FIELD(config_traffic, replay.packets),
	 .min = 1, .max = UINT64_MAX - 1, .help = "Stop after so many packets."},
	{REPLAYS, .name = "duration", .type = TYPE_TIME, FIELD(config_traffic, replay.duration),
	 .min = US, .max = 3650 * DAY, .help = "Stop after so long."},
	{REPLAYS, .name = "filter", .type = TYPE_FILTER, FIELD(config_traffic, replay.filter),
	 .help = "Only packets that match, as in \"tcp port 80 and host 10.0.0.1\"."},
	{REPLAYS, .name = "oversize", .type = TYPE_CHOICE, FIELD(config_traffic, replay.oversize),
	 .choices = "refuse|skip|truncate", .standard = "refuse",
	 .help = "What becomes of packets larger than the port's MTU: the run is refused, or they "
		 "are left out, or cut."},
	{REPLAYS, .name = "truncated", .type = TYPE_CHOICE,
	 FIELD(config_traffic, replay.truncated), .choices = "as_is|skip|pad|refuse",
	 .standard = "as_is",
	 .help = "What becomes of packets that were not captured whole: they are sent as they are, "
		 "left out, or made whole with zeros, or the run is refused."},
	{REPLAYS, .name = "allow_incomplete", .type = TYPE_BOOL,
	 FIELD(config_traffic, replay.allow_incomplete), .standard = "false",
	 .help = "Packets that cannot be read or are no Ethernet do not spoil the verdict."},
	{REPLAYS, .name = "convert", .type = TYPE_OBJECT, .inner = OBJECT_CONVERT,
	 FIELD(config_traffic, replay.convert),
	 .help = "Make Ethernet frames of packets with another link-layer header, or none, that "
		 "carry IP."},
	{REPLAYS, .name = "rewrite", .type = TYPE_OBJECT, .inner = OBJECT_REWRITE,
	 FIELD(config_traffic, replay.rewrite),
	 .help = "What is changed in the packets. Checksums follow: what was wrong stays wrong."},
	{REPLAYS, .name = "server_port", .type = TYPE_PORT,
	 FIELD(config_traffic, replay.server_port),
	 .help = "Name of a second port, which sends the servers' packets. What either port "
		 "receives is compared, by content, with what the other sent."},
	{REPLAYS, .name = "receive_port", .type = TYPE_PORT,
	 FIELD(config_traffic, replay.server_port),
	 .help = "Name of a second port, which sends nothing: what it receives is compared with "
		 "what is sent."},
	{REPLAYS, .name = "split", .type = TYPE_OBJECT, .inner = OBJECT_SPLIT,
	 FIELD(config_traffic, replay.split),
	 .help = "With server_port: which packets are the servers'."},
	{REPLAYS, .name = "strict_order", .type = TYPE_BOOL,
	 FIELD(config_traffic, replay.strict_order), .standard = "false",
	 .help = "No packet leaves before the one before it in the recording has, on whichever "
		 "port."},
	{REPLAYS, .name = "memory", .type = TYPE_COUNT, FIELD(config_traffic, replay.memory),
	 .standard = "256Mi", .min = 1048576, .max = UINT64_MAX,
	 .help = "A recording that takes more bytes is read while it is played."},

	{TALK, .name = "files", .type = TYPE_TEXTS,
	 COUNTED(config_traffic, conversation.file, conversation.files), .required = true,
	 .help = "Recordings, pcap or pcapng, plain, gzip or zstd, whose TCP connections are played; "
		 "one named twice counts twice. Who is to be the other's far end names the same."},
	{TALK, .name = "filter", .type = TYPE_FILTER, FIELD(config_traffic, conversation.filter),
	 .help = "Only packets that match, as in \"tcp port 80 and host 10.0.0.1\"."},
	{TALK, .name = "flow", .type = TYPE_COUNT, FIELD(config_traffic, conversation.flow),
	 .max = UINT32_MAX,
	 .help = "Only this connection of a file, by its number as Wireshark's tcp.stream has it: 0 "
		 "is the first."},
	{TALK, .name = "weigh", .type = TYPE_CHOICE, FIELD(config_traffic, conversation.weigh),
	 .choices = "conversations|files", .standard = "conversations",
	 .help = "What has an equal share of the load: every conversation, or every file."},
	{TALK, .name = "think_time_factor", .type = TYPE_NUMBER,
	 FIELD(config_traffic, conversation.think_factor), .standard = "1",
	 .help = "The recorded think times are multiplied by it; 0: nobody thinks."},
	{TALK, .name = "max_think_time", .type = TYPE_TIME,
	 FIELD(config_traffic, conversation.max_think), .max = DAY,
	 .help = "Longer think times become this; absent: none does."},
	{TALK, .name = "allow_incomplete", .type = TYPE_BOOL,
	 FIELD(config_traffic, conversation.allow_incomplete), .standard = "false",
	 .help = "Connections of which the recording lacks something, and which are left out, do not "
		 "spoil the verdict."},
	{TALK, .name = "memory", .type = TYPE_COUNT, FIELD(config_traffic, conversation.memory),
	 .standard = "1Gi", .min = 65536, .max = UINT64_MAX,
	 .help = "Recordings whose conversations take more bytes are refused."},
	{.object = OBJECT_TRAFFIC, .kinds = KIND_CONVERSATION, .name = "server_port",
	 .type = TYPE_PORT, FIELD(config_traffic, server_port), .required = true,
	 .help = "Name of the port of the servers' side, which is an entry of its own in results: "
		 "this one's name and \"-server\"."},

	{REWRITE, .name = "dst_mac", .type = TYPE_MAC, COUNTED(rewrite, dst_mac, has_dst_mac),
	 .help = "Destination MAC address of every packet."},
	{REWRITE, .name = "src_mac", .type = TYPE_MAC, COUNTED(rewrite, src_mac, has_src_mac),
	 .help = "Source MAC address of every packet."},
	{REWRITE, .name = "server_dst_mac", .type = TYPE_MAC,
	 COUNTED(rewrite, server_dst_mac, has_server_dst_mac),
	 .help = "Destination MAC address of what server_port sends; absent: dst_mac."},
	{REWRITE, .name = "server_src_mac", .type = TYPE_MAC,
	 COUNTED(rewrite, server_src_mac, has_server_src_mac),
	 .help = "Source MAC address of what server_port sends; absent: src_mac."},
	{REWRITE, .name = "vlan_pop", .type = TYPE_COUNT, FIELD(rewrite, vlan_pop),
	 .standard = "0", .max = 8, .help = "So many VLAN tags are taken off, from outside, of "
					    "packets that have them."},
	{REWRITE, .name = "vlan_set", .type = TYPE_COUNT, FIELD(rewrite, vlan_set), .min = 1,
	 .max = 4094, .help = "Id that the outermost tag left gets; untagged packets stay so."},
	{REWRITE, .name = "vlan_push", .type = TYPE_VLANS,
	 COUNTED(rewrite, vlan_push, vlan_pushes), .min = 1, .max = 4094,
	 .help = "Id of a tag that is put on, or of two, the outermost first."},
	{REWRITE, .name = "map", .type = TYPE_ADDRESS_MAP, COUNTED(rewrite, map, maps),
	 .help = "IPv4 and IPv6 addresses, {\"10.0.0.0/8\": \"20.0.0.0/8\"}, wherever they "
		 "stand: source, destination, ARP, packets that ICMP quotes. The first that "
		 "matches counts."},
	{REWRITE, .name = "ports", .type = TYPE_PORT_MAP, COUNTED(rewrite, port, ports),
	 .help = "TCP and UDP ports, {\"80\": 8080}, both source and destination."},
	{REWRITE, .name = "repair_checksums", .type = TYPE_BOOL, FIELD(rewrite, repair),
	 .standard = "false", .help = "Compute the checksums of whole packets anew."},
	{REWRITE, .name = "loop_step", .type = TYPE_COUNT, FIELD(rewrite, loop_step),
	 .standard = "0", .max = UINT64_MAX,
	 .help = "In each loop every IP address is so much higher than in the last, those of both "
		 "directions together: other flows. More than the recording's addresses are "
		 "apart, it meets none again."},

	{SPLIT, .name = "by", .type = TYPE_CHOICE, FIELD(replay_split, by),
	 .choices = "first_sender|syn|address|mac|port", .standard = "first_sender",
	 .help = "The client of a conversation is who is heard first, or with \"syn\" who is not "
		 "the sender of a first SYN,ACK; or the server is known by address, MAC or port."},
	{SPLIT, .name = "servers", .type = TYPE_ADDRESSES, FIELD(replay_split, servers),
	 .help = "Their addresses, with \"address\"."},
	{SPLIT, .name = "mac", .type = TYPE_MAC, COUNTED(replay_split, mac, has_mac),
	 .help = "Their MAC address, with \"mac\"."},
	{SPLIT, .name = "ports", .type = TYPE_PORTS, FIELD(replay_split, ports),
	 .help = "Their TCP and UDP ports, with \"port\"; what has no ports goes by who is heard "
		 "first."},

	{CONVERT, .name = "dst", .type = TYPE_MAC, COUNTED(replay_convert, dst, given), .required = true,
	 .help = "Destination MAC address of such frames."},
	{CONVERT, .name = "src", .type = TYPE_MAC, COUNTED(replay_convert, src, given), .required = true,
	 .help = "Source MAC address, unless the packet's own header names one."},

	{.object = OBJECT_LOAD, .kinds = KIND_CLIENT | KIND_TALKER, .name = "cps", .type = TYPE_RATE, FIELD(config_load, cps),
	 .help = "Connections opened per second, any fraction, or \"max\"."},
	{.object = OBJECT_LOAD, .kinds = KIND_CLIENT | KIND_TALKER, .name = "concurrency", .type = TYPE_LEVEL, FIELD(config_load, concurrency), .min = 1,
	 .max = UINT32_MAX, .help = "Connections kept open, or \"max\"."},
	{LOAD, .name = "rps", .type = TYPE_RATE, FIELD(config_load, rps),
	 .help = "Requests per second, any fraction, or \"max\"."},
	{LOAD, .name = "bps", .type = TYPE_BIT_RATE, FIELD(config_load, bps),
	 .help = "Bits per second of the busier direction, Ethernet header on: \"10Gbps\", or "
		 "\"max\"."},

	{RATES, .name = "pps", .type = TYPE_RATE, FIELD(config_load, pps),
	 .help = "Packets per second, any fraction, or \"max\". The lowest of all rates given is "
		 "held."},
	{RATES, .name = "bps", .type = TYPE_BIT_RATE, FIELD(config_load, bps),
	 .help = "Bits of frames per second, without FCS."},
	{RATES, .name = "bps_l1", .type = TYPE_BIT_RATE, FIELD(config_load, bps_l1),
	 .help = "Bits per second as the link carries them: FCS, preamble and gap included."},
	{RATES, .name = "percent", .type = TYPE_RATE, FIELD(config_load, percent),
	 .help = "Percent of what the link can carry."},
	{RATES, .name = "burst", .type = TYPE_COUNT, FIELD(config_load, burst), .standard = "1",
	 .min = 1, .max = 65536, .help = "So many packets leave together; the rate is held."},
	{RATES, .name = "poisson", .type = TYPE_BOOL, FIELD(config_load, poisson),
	 .standard = "false", .help = "Random gaps, exponentially distributed about the mean."},

	REQUEST_KEYS(REQUEST),
	{REQUEST, .name = "size", .kinds = KIND_TCP, .type = TYPE_COUNT,
	 FIELD(config_message, body_size), .standard = "1", .min = 1, .max = GI,
	 .help = "Bytes the client sends."},
	{REQUEST, .name = "size", .kinds = KIND_UDP_CLIENT, .type = TYPE_COUNT,
	 FIELD(config_message, body_size), .standard = "18", .min = 1, .max = 9682,
	 .help = "Bytes of payload of a request."},
	{REQUEST, .name = "body", .kinds = KIND_HTTP_CLIENT | KIND_TCP, .type = TYPE_OBJECT,
	 .inner = OBJECT_BODY, .help = "The payload."},

	RESPONSE_KEYS(RESPONSE),
	{RESPONSE, .name = "size", .kinds = KIND_TCP, .type = TYPE_COUNT,
	 FIELD(config_message, body_size), .standard = "1", .min = 1, .max = GI,
	 .help = "Bytes the server sends."},
	{RESPONSE, .name = "size", .kinds = KIND_UDP, .type = TYPE_COUNT,
	 FIELD(config_message, body_size), .min = 1, .max = 9682,
	 .help = "Bytes of payload of an answer, which begins with the first 4 of its request. "
		 "Absent: a server sends back what it received, a client takes any."},
	{RESPONSE, .name = "body", .kinds = KIND_HTTP_SERVER | KIND_TCP, .type = TYPE_OBJECT,
	 .inner = OBJECT_BODY, .help = "The payload."},

	{ONE_REQUEST, .name = "name", .kinds = KIND_HTTP_CLIENT, .type = TYPE_NAME, FIELD(config_message, name),
	 .help = "Name in results; absent: request0, request1, ..."},
	{ONE_REQUEST, .name = "weight", .kinds = KIND_HTTP_CLIENT, .type = TYPE_COUNT, FIELD(config_message, weight),
	 .standard = "1", .min = 1, .max = 1000000,
	 .help = "Its share of all requests, beside the weights of the others."},
	REQUEST_KEYS(ONE_REQUEST),
	{ONE_REQUEST, .name = "body", .kinds = KIND_HTTP_CLIENT, .type = TYPE_OBJECT, .inner = OBJECT_BODY,
	 .help = "The payload."},

	{WORDS, .name = "name", .type = TYPE_NAME, FIELD(config_list, name), .required = true,
	 .help = "NAME of {list:NAME}."},
	{WORDS, .name = "words", .type = TYPE_TEXTS, COUNTED(config_list, word, words),
	 .required = true, .help = "What it may stand for."},

	{CLOSE, .name = "keep", .type = TYPE_COUNT, FIELD(config_close, weight[0]),
	 .standard = "0", .max = 1000000,
	 .help = "Weight of leaving it open, with nothing sent on it any more."},
	{CLOSE, .name = "fin", .type = TYPE_COUNT, FIELD(config_close, weight[1]),
	 .standard = "0", .max = 1000000, .help = "Weight of closing it in order."},
	{CLOSE, .name = "rst", .type = TYPE_COUNT, FIELD(config_close, weight[2]),
	 .standard = "0", .max = 1000000, .help = "Weight of resetting it."},
	{CLOSE, .name = "first", .type = TYPE_CHOICE, FIELD(config_close, first),
	 .choices = "server|client", .standard = "server",
	 .help = "Whose FIN is the first: the server's, asked for by \"Connection: close\" of the "
		 "last request, or the client's."},
	{CLOSE, .name = "timeout", .type = TYPE_TIME, FIELD(config_close, timeout),
	 .standard = "10s", .min = MS, .max = DAY,
	 .help = "Connections left open are reset after so long."},

	{ROUTE, .name = "path", .kinds = KIND_HTTP_SERVER, .type = TYPE_PATTERN,
	 FIELD(config_message, path), .required = true,
	 .help = "Requests of this path; * stands for any text. Up to a ? of the request, unless "
		 "it has one itself. The first route that fits answers."},
	RESPONSE_KEYS(ROUTE),
	{ROUTE, .name = "body", .kinds = KIND_HTTP_SERVER, .type = TYPE_OBJECT,
	 .inner = OBJECT_BODY, .help = "The payload."},

	{.object = OBJECT_EXPECTED, .kinds = KIND_HTTP_CLIENT, .name = "status", .type = TYPE_COUNT,
	 FIELD(config_message, status), .min = 200, .max = 599,
	 .help = "Status that it must have; absent: any 2xx."},
	{.object = OBJECT_EXPECTED, .kinds = KIND_HTTP_CLIENT, .name = "body", .type = TYPE_OBJECT,
	 .inner = OBJECT_EXPECTED_BODY, .help = "The payload."},
	{.object = OBJECT_EXPECTED_BODY, .kinds = KIND_HTTP_CLIENT, .name = "size",
	 .type = TYPE_COUNT, FIELD(config_message, body_size), .max = GI,
	 .help = "Length that the body must have; absent: any."},

	{.object = OBJECT_BODY,
	 .name = "size",
	 .kinds = KIND_HTTP_CLIENT,
	 .type = TYPE_COUNT,
	 FIELD(config_message, body_size),
	 .standard = "0",
	 .max = GI,
	 .help = "Bytes of a POST request's body."},
	{.object = OBJECT_BODY, .kinds = KIND_HTTP_CLIENT, .name = "text", .type = TYPE_TEXT,
	 FIELD(config_message, text), .help = "The body, a template (docs/TEMPLATES.md), instead of a size."},
	{.object = OBJECT_BODY, .kinds = KIND_HTTP_CLIENT, .name = "content", .type = TYPE_MIX,
	 FIELD(config_message, contents), .choices = CONTENT_CHOICES, .standard = "bare",
	 .help = "What the body is."},
	{.object = OBJECT_BODY, .kinds = KIND_HTTP_CLIENT, .name = "file", .type = TYPE_FILE,
	 FIELD(config_message, file), .max = FILE_MOST,
	 .help = "The file of content \"file\", at its length."},
	{.object = OBJECT_BODY, .kinds = KIND_HTTP_CLIENT, .name = "sensitive", .type = TYPE_SET,
	 FIELD(config_message, sensitive), .choices = SENSITIVE_CHOICES,
	 .help = "Made-up personal data among the values of a document."},
	{.object = OBJECT_BODY, .kinds = KIND_HTTP_CLIENT, .name = "per_request", .type = TYPE_COUNT,
	 FIELD(config_message, per_response), .standard = "1", .min = 1, .max = 1000,
	 .help = "So many items of each kind of sensitive data."},
	{.object = OBJECT_BODY,
	 .name = "size",
	 .kinds = KIND_HTTP_SERVER,
	 .type = TYPE_MIX,
	 FIELD(config_message, sizes),
	 .standard = "1",
	 .max = GI,
	 .help = "Bytes of the response's body; several: \"100-5000\", [100, 2000] or with "
		 "weights {\"100\": 3, \"1k-2k\": 1}."},
	{.object = OBJECT_BODY,
	 .name = "size",
	 .kinds = KIND_TCP,
	 .type = TYPE_COUNT,
	 FIELD(config_message, body_size),
	 .min = 1,
	 .max = GI,
	 .help = "The same as size beside it."},

	{TCP, .name = "mss", .type = TYPE_COUNT, FIELD(config_tcp, mss), .min = 64, .max = 9670,
	 .help = "Largest segment offered and sent; absent: the MTU less headers."},
	{TCP, .name = "window", .type = TYPE_COUNT, FIELD(config_tcp, window), .standard = "64Ki",
	 .min = 1024, .max = GI, .help = "Receive window offered, in bytes."},
	{TCP, .name = "scale", .type = TYPE_CHOICE, FIELD(config_tcp, scale),
	 .choices = "auto|false|0|1|2|3|4|5|6|7|8|9|10|11|12|13|14", .standard = "auto",
	 .help = "Window scale offered (RFC 7323): the smallest that the window needs, none where "
		 "it needs none (\"auto\"); never; or this one."},
	{TCP, .name = "timestamps", .type = TYPE_CHOICE, FIELD(config_tcp, timestamps),
	 .choices = "false|true|peer", .standard = "false",
	 .help = "Time stamps and PAWS (RFC 7323): never; offered by a client and taken up by a "
		 "server; or taken up only (\"peer\"). Each connection with them holds a side "
		 "record until its end; without a free one it does without."},
	{TCP, .name = "ecn", .type = TYPE_BOOL, FIELD(config_tcp, ecn), .standard = "false",
	 .help = "Explicit congestion notification (RFC 3168): a client asks for it, a server "
		 "agrees. Each connection with it holds a side record until its end."},
	{TCP, .name = "delayed_ack", .type = TYPE_TIME, FIELD(config_tcp, delayed_ack),
	 .standard = "0s", .max = 500 * MS,
	 .help = "How long an acknowledgment may wait for data to go with, or for more to "
		 "acknowledge (RFC 9293 section 3.8.6.3); 0: for what was received together."},
	{TCP, .name = "ack_every", .type = TYPE_COUNT, FIELD(config_tcp, ack_every),
	 .standard = "2", .min = 1, .max = 255,
	 .help = "An acknowledgment leaves at once with every so many data segments; more than 2: "
		 "stretch acknowledgments."},
	{TCP, .name = "initial_rto", .type = TYPE_TIME, FIELD(config_tcp, initial_rto),
	 .standard = "1s", .min = MS, .max = 60 * S,
	 .help = "Retransmission time-out until a round trip was measured (RFC 6298)."},
	{TCP, .name = "min_rto", .type = TYPE_TIME, FIELD(config_tcp, min_rto),
	 .standard = "200ms", .min = MS, .max = 60 * S,
	 .help = "Shortest retransmission time-out once round trips are measured."},
	{TCP, .name = "congestion", .type = TYPE_CHOICE, FIELD(config_tcp, congestion),
	 .choices = "newreno|cubic", .standard = "newreno",
	 .help = "Congestion control of bulk senders (RFC 5681 with RFC 6582, or RFC 9438)."},
	{TCP, .name = "sack", .type = TYPE_BOOL, FIELD(config_tcp, sack), .standard = "true",
	 .help = "Permit, send and use selective acknowledgments (RFC 2018, RFC 6675)."},
	{TCP, .name = "retries", .type = TYPE_COUNT, FIELD(config_tcp, retries), .standard = "5",
	 .max = 15, .help = "Retransmissions in a row before the connection is given up."},
	{TCP, .name = "handshake_ack", .type = TYPE_BOOL, FIELD(config_tcp, handshake_ack),
	 .standard = "false", .help = "Send the handshake's ACK on its own, not with the request."},
	{TCP, .name = "separate_fin", .type = TYPE_BOOL, FIELD(config_tcp, separate_fin),
	 .standard = "false", .help = "Send FIN on its own, not with the last data."},

	{MODIFY, .name = "field", .type = TYPE_CHOICE, FIELD(config_modify, field),
	 .choices = "offset|eth.dst|eth.src|vlan.id|vlan.pcp|ip.tos|ip.id|ip.ttl|ip.src|ip.dst|"
		    "src_port|dst_port|ip.flow|tcp.seq|tcp.ack|tcp.flags|tcp.window|icmp.id|icmp.seq",
	 .standard = "offset",
	 .help = "What changes; \"offset\": the bytes at offset. Of IPv6 ip.tos is the traffic class, "
		 "ip.ttl the hop limit, ip.src and ip.dst the last 64 bits, and ip.flow the flow label."},
	{MODIFY, .name = "offset", .type = TYPE_COUNT, FIELD(config_modify, offset), .max = 9215,
	 .help = "Where in the frame, from its first byte."},
	{MODIFY, .name = "bytes", .type = TYPE_COUNT, FIELD(config_modify, bytes), .standard = "1",
	 .min = 1, .max = 8, .help = "How many bytes at offset, the first the most significant."},
	{MODIFY, .name = "op", .type = TYPE_CHOICE, FIELD(config_modify, op),
	 .choices = "increment|decrement|random|list", .standard = "increment",
	 .help = "How it changes. Random values are those of a range of count steps from start, "
		 "or without count any."},
	{MODIFY, .name = "start", .type = TYPE_FIELD_VALUE,
	 COUNTED(config_modify, start, has_start), .max = UINT64_MAX,
	 .help = "First value; absent: what the packet has."},
	{MODIFY, .name = "step", .type = TYPE_COUNT, FIELD(config_modify, step), .standard = "1",
	 .max = UINT64_MAX, .help = "Distance of two values."},
	{MODIFY, .name = "count", .type = TYPE_COUNT, FIELD(config_modify, count),
	 .max = UINT64_MAX, .help = "So many values, then from the first again; absent: as many as "
				    "there is room for."},
	{MODIFY, .name = "mask", .type = TYPE_COUNT, FIELD(config_modify, mask), .min = 1,
	 .max = UINT64_MAX,
	 .help = "The bits of the field that change; the value begins at the lowest of them. "
		 "Absent: all."},
	{MODIFY, .name = "values", .type = TYPE_FIELD_VALUES, COUNTED(config_modify, value, values),
	 .help = "The values of a list, in order."},
	{MODIFY, .name = "per_flow", .type = TYPE_BOOL, FIELD(config_modify, per_flow),
	 .standard = "false", .help = "Change from flow to flow: a flow keeps its value."},

	{CAPTURE, .name = "drops", .type = TYPE_TEXT, FIELD(config_capture, drops),
	 .help = "File (pcapng) for samples of the packets that were refused, each with the reason "
		 "and the state of its connection as its comment; \"-\" is standard output."},
	{CAPTURE, .name = "per_reason_per_second", .type = TYPE_COUNT,
	 FIELD(config_capture, per_reason_per_second), .standard = "10", .min = 1, .max = 1000000,
	 .help = "So many samples of each reason are taken in a second, by each worker."},
	{CAPTURE, .name = "snaplen", .type = TYPE_COUNT, FIELD(config_capture, snaplen),
	 .standard = "256", .min = 14, .max = 65535, .help = "Bytes kept of a sample."},
	{CAPTURE, .name = "packets", .type = TYPE_LIST, .inner = OBJECT_PACKETS,
	 COUNTED(config_capture, packets, packet_files),
	 .help = "Files with all packets that pass."},

	{PACKETS, .name = "file", .type = TYPE_TEXT, FIELD(config_packets, file), .required = true,
	 .help = "Where the packets are written; \"-\" is standard output."},
	{PACKETS, .name = "port", .type = TYPE_PORT, FIELD(config_packets, port),
	 .help = "Name of the port that is listened to; absent: all."},
	{PACKETS, .name = "direction", .type = TYPE_CHOICE, FIELD(config_packets, direction),
	 .choices = "both|rx|tx", .standard = "both",
	 .help = "Packets received, sent, or both."},
	{PACKETS, .name = "filter", .type = TYPE_FILTER, FIELD(config_packets, filter),
	 .help = "Only packets that match, as in \"tcp port 80 and host 10.0.0.1\"."},
	{PACKETS, .name = "snaplen", .type = TYPE_COUNT, FIELD(config_packets, snaplen),
	 .standard = "65535", .min = 14, .max = 65535, .help = "Bytes kept of a packet."},
	{PACKETS, .name = "format", .type = TYPE_CHOICE, FIELD(config_packets, format),
	 .choices = "pcapng|pcap", .standard = "pcapng",
	 .help = "Format of the file; classic pcap knows one port and no direction."},
	{PACKETS, .name = "limit", .type = TYPE_COUNT, FIELD(config_packets, limit), .min = 1,
	 .max = UINT64_MAX, .help = "So many packets are written in all; absent: no limit."},
	{PACKETS, .name = "file_size", .type = TYPE_COUNT, FIELD(config_packets, file_size),
	 .min = 4096, .max = UINT64_MAX,
	 .help = "The next file, NAME-00002 and so on, begins before one exceeds so many bytes."},
	{PACKETS, .name = "file_packets", .type = TYPE_COUNT, FIELD(config_packets, file_packets),
	 .min = 1, .max = UINT64_MAX, .help = "... after so many packets."},
	{PACKETS, .name = "file_time", .type = TYPE_TIME, FIELD(config_packets, file_time),
	 .min = MS, .max = 3650 * DAY, .help = "... after so long."},
	{PACKETS, .name = "files", .type = TYPE_COUNT, FIELD(config_packets, files), .min = 1,
	 .max = 99999, .help = "The last so many files are kept; absent: all."},

	DIRECTION_KEYS(NETWORK, config_network, both.),
	{NETWORK, .name = "to_server", .type = TYPE_OBJECT, .inner = OBJECT_DIRECTION,
	 FIELD(config_network, to_server),
	 .help = "What differs from client to server."},
	{NETWORK, .name = "to_client", .type = TYPE_OBJECT, .inner = OBJECT_DIRECTION,
	 FIELD(config_network, to_client),
	 .help = "What differs from server to client."},

	DIRECTION_KEYS(ONE_WAY, config_direction, ),

	{LOSE, .name = "what", .type = TYPE_CHOICE, FIELD(config_lose, what),
	 .choices = "any|syn|syn-ack|fin|rst|data",
	 .help = "Which packets are counted: all, or TCP segments of this sort (data: with PSH)."},
	{LOSE, .name = "first", .type = TYPE_COUNT, FIELD(config_lose, first), .min = 1,
	 .max = UINT32_MAX, .help = "The first of them that is lost, from 1; absent: none is."},
	{LOSE, .name = "count", .type = TYPE_COUNT, FIELD(config_lose, count), .min = 1,
	 .max = UINT32_MAX, .help = "So many are lost in a row; absent: one."},

	{DARK, .name = "from", .type = TYPE_TIME, FIELD(config_blackout, from), .standard = "0s",
	 .max = 3650 * DAY, .help = "Since the load began."},
	{DARK, .name = "for", .type = TYPE_TIME, FIELD(config_blackout, length),
	 .required = true, .min = US, .max = 3650 * DAY, .help = "How long."},

	{EXPECT, .name = "metric", .type = TYPE_METRIC, FIELD(config_expect, metric),
	 .required = true,
	 .help = "A number of the JSON report by its path, \"traffic.web.achieved.cps\" or "
		 "\"total.httpErr\": see docs/REPORT.md."},
	{EXPECT, .name = "min", .type = TYPE_NUMBER, FIELD(config_expect, min),
	 .help = "It must be at least this."},
	{EXPECT, .name = "max", .type = TYPE_NUMBER, FIELD(config_expect, max),
	 .help = "It must be at most this."},
};
/* clang-format on */

const size_t key_count = sizeof(key_table) / sizeof(*key_table);

const struct key_object_info key_object[OBJECTS] = {
	[OBJECT_ROOT] = {"configuration", sizeof(struct config), "A run of Onager."},
	[OBJECT_MEMORY] = {"memory", sizeof(struct config), NULL},
	[OBJECT_REPORT] = {"report", sizeof(struct config), NULL},
	[OBJECT_PORT] = {"port", sizeof(struct config_port), NULL},
	[OBJECT_BOND] = {"bond", sizeof(struct config_bond), NULL},
	[OBJECT_PORT_NETWORK] = {"network", sizeof(struct config_port), NULL},
	[OBJECT_TUNNEL] = {"tunnel", sizeof(struct config_tunnel), NULL},
	[OBJECT_TRAFFIC] = {"traffic", sizeof(struct config_traffic), NULL},
	[OBJECT_LOAD] = {"load", sizeof(struct config_load), NULL},
	[OBJECT_REQUEST] = {"request", sizeof(struct config_message), NULL},
	[OBJECT_RESPONSE] = {"response", sizeof(struct config_message), NULL},
	[OBJECT_ONE_REQUEST] = {"request", sizeof(struct config_message), NULL},
	[OBJECT_WORDS] = {"list", sizeof(struct config_list), NULL},
	[OBJECT_CLOSE] = {"close", sizeof(struct config_close), NULL},
	[OBJECT_ROUTE] = {"route", sizeof(struct config_message), NULL},
	[OBJECT_BODY] = {"body", sizeof(struct config_message), NULL},
	[OBJECT_EXPECTED] = {"response", sizeof(struct config_message), NULL},
	[OBJECT_EXPECTED_BODY] = {"body", sizeof(struct config_message), NULL},
	[OBJECT_TCP] = {"tcp", sizeof(struct config_tcp), NULL},
	[OBJECT_MODIFY] = {"modify", sizeof(struct config_modify), NULL},
	[OBJECT_REWRITE] = {"rewrite", sizeof(struct rewrite), NULL},
	[OBJECT_SPLIT] = {"split", sizeof(struct replay_split), NULL},
	[OBJECT_CONVERT] = {"convert", sizeof(struct replay_convert), NULL},
	[OBJECT_NETWORK] = {"network", sizeof(struct config_network), NULL},
	[OBJECT_DIRECTION] = {"direction", sizeof(struct config_direction), NULL},
	[OBJECT_LOSE] = {"lose", sizeof(struct config_lose), NULL},
	[OBJECT_BLACKOUT] = {"blackout", sizeof(struct config_blackout), NULL},
	[OBJECT_CAPTURE] = {"capture", sizeof(struct config_capture), NULL},
	[OBJECT_PACKETS] = {"packets", sizeof(struct config_packets), NULL},
	[OBJECT_EXPECT] = {"expect", sizeof(struct config_expect), NULL},
};

const struct key *key_find(enum key_object object, const char *name, unsigned kinds)
{
	for (size_t i = 0; i < key_count; i++) {
		const struct key *key = &key_table[i];

		if (key->object == object && key->kinds & kinds && strcmp(key->name, name) == 0)
			return key;
	}
	return NULL;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, replacements, swaps of neighbours. */
unsigned word_distance(const char *a, const char *b, unsigned most)
{
	enum { LONGEST = 48 };
	unsigned row[3][LONGEST + 1];
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_length > LONGEST || b_length > LONGEST)
		return most;
	for (unsigned i = 0; i <= a_length; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];

		now[0] = i;
		for (unsigned j = 1; j <= b_length; j++) {
			if (!i) {
				now[j] = j;
				continue;
			}
			now[j] = least(least(before[j], now[j - 1]) + 1,
				       before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], earlier[j - 2] + 1);
		}
	}
	return least(row[a_length % 3][b_length], most);
}

const char *key_hint(enum key_object object, const char *name, unsigned kinds)
{
	unsigned nearest = (unsigned)(strlen(name) + 5) / 3;
	const char *hint = NULL;

	for (size_t i = 0; i < key_count; i++) {
		const struct key *key = &key_table[i];
		unsigned distance;

		if (key->object != object || !(key->kinds & kinds))
			continue;
		distance = word_distance(name, key->name, nearest);
		if (distance < nearest) {
			nearest = distance;
			hint = key->name;
		}
	}
	return hint;
}

bool choice_at(const char *choices, unsigned i, const char **word, size_t *length)
{
	for (; i; i--) {
		choices = strchr(choices, '|');
		if (!choices)
			return false;
		choices++;
	}
	*word = choices;
	*length = strcspn(choices, "|");
	return true;
}
