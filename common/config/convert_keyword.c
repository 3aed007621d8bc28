/* dperf's keywords, a row each, the old names too.
 *
 * The rows say in `why` what a user of dperf misses with us, or will find elsewhere. */
#include "convert_take.h"

#define AT(place)             .slot = SLOT_##place
#define WORDS(from, to, what) .least = (from), .most = (to), .arguments = (what)
#define NOTHING               WORDS(0, 0, "nothing behind it")
#define MANY                  DPERF_WORDS
#define CLIENT                .is_clients = true
#define REPEATED              .is_repeated = true
#define NUMBER                "a number, such as 5.1m, 2k or 100"
#define INTERVAL              "an interval, such as 10us, 1ms or 60s"
#define PORT_RANGE            "the first port and perhaps the last"

/* clang-format off */
const struct keyword keyword_table[] = {
	{"mode", WORDS(1, 1, "client or server"), AT(HEAD), .take = mode_take},
	{"protocol", WORDS(1, 1, "tcp, http or udp"), AT(KIND), .take = protocol_take},
	{"cpu", WORDS(1, MANY, "core numbers, such as 0 1 4-7"), AT(CORES), .take = cpu_take},
	{"socket_mem", WORDS(1, 1, "megabytes, such as 4096,0"), AT(EAL), .take = socket_mem_take},
	{"simd512", NOTHING, AT(EAL), .take = simd512_take},
	{"log_level", WORDS(1, 1, "error, warn, info or debug"), AT(EAL), .take = log_level_take},
	{"port", WORDS(3, 4, "a PCI address or bond, an own IP address, another one of a gateway, "
			     "and perhaps its MAC address"),
	 AT(PORT), REPEATED, .take = port_take},
	{"client", WORDS(2, MANY, "an IP address and a count, and perhaps further addresses, "
				  "none of them twice"),
	 AT(CLIENTS), REPEATED, .take = client_take},
	{"server", WORDS(2, 2, "an IP address and a count"), AT(SERVERS), REPEATED,
	 .take = server_take},
	{"change_dip", WORDS(3, 3, "an IP address, a step and a count, no address twice"), AT(SERVERS), CLIENT,
	 REPEATED, .take = change_dip_take},
	{"listen", WORDS(2, 2, "a port and a count"), AT(SERVER_PORTS), .take = listen_take},
	{"client_port_range", WORDS(1, 2, PORT_RANGE), AT(CLIENT_PORTS), CLIENT,
	 .take = client_ports_take},
	{"lport_range", WORDS(1, 2, PORT_RANGE), AT(CLIENT_PORTS), CLIENT,
	 .take = client_ports_take},
	{"client_hop", NOTHING, AT(CLIENT_PORTS), CLIENT,
	 .why = "addresses and ports are walked through in our own order"},
	{"duration", WORDS(1, 1, "a time, such as 100s, 3.5m, 2h or 1d"), AT(DURATION),
	 .take = duration_take},
	{"slow_start", WORDS(1, 1, "seconds"), AT(RAMP), CLIENT, .take = slow_start_take},
	{"wait", WORDS(1, 1, "seconds"), AT(RAMP), CLIENT,
	 .why = "the load begins when the links are up and the gateways have answered"},
	{"cps", WORDS(1, 1, NUMBER), AT(LOAD), CLIENT, .take = cps_take},
	{"cc", WORDS(1, 1, NUMBER), AT(LOAD), CLIENT, .take = cc_take},
	{"flood", NOTHING, AT(KIND), CLIENT, .take = flood_take},
	{"synflood", WORDS(0, 1, "nothing behind it"), AT(KIND), CLIENT, .take = flood_take},
	{"launch_num", WORDS(1, 1, "a number from 1"), AT(LOAD), CLIENT, .take = launch_num_take},
	{"tx_burst", WORDS(1, 1, "a number from 1 to 1024"), AT(LOAD), .take = tx_burst_take,
	 .why = "not needed: packets leave with every step of their worker, however many"},
	{"keepalive", WORDS(1, 2, INTERVAL ", and perhaps how many requests (at most 32767)"),
	 AT(KEEPALIVE), .take = keepalive_take},
	{"keepalive_request_interval", WORDS(1, 1, INTERVAL), AT(KEEPALIVE),
	 .take = old_interval_take},
	{"keepalive_request_num", WORDS(1, 1, "a number to 32767"), AT(KEEPALIVE),
	 .take = requests_take},
	{"pipeline", WORDS(1, 1, "a number from 0 to 100"), AT(LOAD), CLIENT,
	 .take = pipeline_take},
	{"payload_size", WORDS(1, MANY, "a number of bytes"), AT(MESSAGE),
	 .take = payload_size_take},
	{"packet_size", WORDS(1, 1, "a number of bytes, at most 9724"), AT(MESSAGE),
	 .take = packet_size_take},
	{"payload_random", NOTHING, AT(MESSAGE), .take = payload_random_take},
	{"payload_file", WORDS(1, 1, "a file"), AT(MESSAGE),
	 .why = "not yet: bodies have a size, no contents of their own"},
	{"send_window", WORDS(1, 1, "a number from 2 to 16"), AT(TCP),
	 .why = "congestion control and the peer's window say how much is under way"},
	{"http_host", WORDS(1, 1, "a host"), AT(MESSAGE), CLIENT, .take = http_host_take},
	{"http_path", WORDS(1, 1, "a path, such as /index.html"), AT(MESSAGE), CLIENT,
	 .take = http_path_take},
	{"http_method", WORDS(1, 1, "GET or POST"), AT(MESSAGE), CLIENT, .take = http_method_take},
	{"mss", WORDS(1, 1, "a number of bytes, from 64"), AT(TCP), .take = mss_take},
	{"retransmit_timeout", WORDS(1, 1, "seconds, from 2 to 300"), AT(TCP),
	 .take = retransmit_take},
	{"fast_close", NOTHING, AT(TCP), CLIENT, .why = "not yet: connections are closed by FIN"},
	{"disable_ack", NOTHING, AT(TCP), CLIENT,
	 .why = "not yet: data is acknowledged as RFC 9293 has it, with the next data if any"},
	{"tcp_rst", WORDS(1, 1, "0 or 1"), AT(TCP), .take = tcp_rst_take,
	 .why = "not yet: a SYN that nobody listens to is answered by RST"},
	{"vlan", WORDS(1, 1, "a number from 1 to 4094"), AT(VLAN), .take = vlan_take},
	{"tos", WORDS(1, 1, "a number to 255, such as 16 or 0x10"), AT(TOS), .take = tos_take},
	{"jumbo", WORDS(0, 1, "nothing, or an MTU from 9000 to 9710"), AT(MTU),
	 .take = jumbo_take},
	{"vxlan", WORDS(7, 7, "a VNI, two MAC addresses, and twice an IP address and a count"),
	 AT(PORT), REPEATED, .take = vxlan_take},
	{"kni", WORDS(0, 1, "nothing, or a name"), AT(PORT),
	 .why = "not yet: no packets are handed to the kernel"},
	{"rss", WORDS(0, 2, "nothing, or l3, l3l4 or auto, and mq_rx_none or mq_rx_rss"),
	 AT(CORES), .take = as_ours_take},
	{"flow_isolate", NOTHING, AT(PORT), .why = "not yet: the port takes all packets"},
	{"neigh_ignore", NOTHING, AT(PORT), .take = neigh_ignore_take},
	{"quiet", NOTHING, AT(HEAD), .why = "give it to the command: onager run --quiet"},
	{"daemon", NOTHING, AT(HEAD),
	 .why = "start the command as a service, with --report FILE for its results"},
	{"clear_screen", NOTHING, AT(HEAD), .why = "counters are printed one below the other"},
};
/* clang-format on */

const size_t keyword_count = sizeof(keyword_table) / sizeof(*keyword_table);
