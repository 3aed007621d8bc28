/* The functions that take the arguments of keywords. */
#ifndef CONFIG_CONVERT_TAKE_H
#define CONFIG_CONVERT_TAKE_H

#include "convert_private.h"

#define ARGUMENTS struct convert *c, const struct keyword *k, unsigned words, char **word
#define UNUSED    (void)c, (void)k, (void)words, (void)word

/* A whole number of these bounds; -1: it is none. */
int whole_take(const char *word, uint64_t least, uint64_t most, uint64_t *number);

keyword_taker tx_burst_take, mode_take, protocol_take, cpu_take, socket_mem_take, simd512_take,
	log_level_take, port_take, client_take, server_take, change_dip_take, listen_take,
	client_ports_take, duration_take, cps_take, cc_take, requests_take, keepalive_take,
	old_interval_take, flood_take, pipeline_take, payload_size_take, packet_size_take,
	payload_random_take, slow_start_take, launch_num_take, vlan_take, tos_take,
	neigh_ignore_take, jumbo_take, mss_take, as_ours_take, tcp_rst_take, http_host_take,
	http_path_take, http_method_take, retransmit_take, vxlan_take;

#endif
