/* No reason for refusing a packet is without a test: of each row of DROP_TABLE, either a packet of
 * this file is refused for it, or the test that is named here says so of packets of its own. Who
 * adds a row finds out here that its test is missing. */
#include "server_drill.h"

#include "../../common/base/checksum.h"

#include <stdio.h>
#include <stdlib.h>

static void handshake_with(const char *const *set)
{
	open_server(set);
	handshake();
}

static void tcp_bad(void)
{
	open_server(NULL);
	SEND(&d, "S 0 <hex 02010000>");
}

static void tcp_no_conn(void)
{
	open_server(NULL);
	SEND(&d, ". 5 ack 7");
}

static void tcp_no_port(void)
{
	open_server(NULL);
	d.flow[0].near_port = 81;
	SEND(&d, "S 0");
}

static void tcp_client(void)
{
	open_server(SET("server.clients=10.0.0.2-10.0.0.9"));
	SEND(&d, "S 0");
}

/* Whatever the key says, there is room for some more. */
static void tcp_table_full(void)
{
	struct segment syn = {.flags = 2, .dst_port = 80};

	open_server(SET("server.max_connections=1"));
	syn.src = d.flow[0].far_ip;
	syn.dst = d.flow[0].near_ip;
	while (!d.lab.counters.drop[DROP_TCP_TABLE_FULL] && syn.src_port < 3000) {
		syn.src_port++;
		drill_send_segment(&d, &syn);
	}
}

static void stamped(void)
{
	open_server(SET("server.tcp.timestamps=true"));
	SEND(&d, "S 0 <mss 1460,TS 100:0>");
	EXPECT(&d, "S. 0:0 ack 1");
}

static void tcp_paws(void)
{
	stamped();
	SEND(&d, ". 1:11 ack 1 <nop,nop,TS 99:0>");
}

static void tcp_no_stamp(void)
{
	stamped();
	SEND(&d, ". 1:11 ack 1");
}

static void tcp_bad_seq(void)
{
	handshake_with(NULL);
	SEND(&d, ". 70000:70010 ack 1");
}

static void tcp_old_data(void)
{
	handshake_with(NULL);
	SEND_TEXT(&d, GET_KEEP, ". 1 ack 1");
	SEND_TEXT(&d, GET_KEEP, ". 1 ack 1");
}

static void tcp_old_ack(void)
{
	handshake_with(NULL);
	SEND_TEXT(&d, GET_KEEP, ". 1 ack 1");
	EXPECT(&d, "P. 1");
	SEND(&d, ". %zu ack %u", sizeof(GET_KEEP), 1 + d.got.payload_len);
	SEND(&d, ". %zu ack 1", sizeof(GET_KEEP));
}

static void tcp_bad_ack(void)
{
	handshake_with(NULL);
	SEND(&d, ". 1 ack 2");
}

static void tcp_bad_rst(void)
{
	handshake_with(NULL);
	SEND(&d, "R 2");
}

static void tcp_bad_syn(void)
{
	handshake_with(NULL);
	SEND(&d, "S 100");
}

static void tcp_no_ack(void)
{
	handshake_with(NULL);
	SEND(&d, "- 1:11");
}

static void tcp_out_of_order(void)
{
	handshake_with(SET("memory.kept_segments=0"));
	SEND(&d, ". 11:21 ack 1");
}

static void tcp_no_side(void)
{
	open_server(SET("memory.side_records=8"));
	for (unsigned i = 0; i < 9; i++) {
		drill_flow(&d, i);
		handshake();
		SEND_TEXT(&d, "GET / HTTP/1.1\r\n", ". 1 ack 1");
		drill_skip_acks(&d);
	}
	SEND_TEXT(&d, "GET / HTTP/1.1\r\n", ". 1 ack 1"); /* the ninth, once more */
}

static void tcp_state(void)
{
	handshake_with(NULL);
	SEND(&d, "F. 1 ack 1");
	EXPECT(&d, "F. 1:1 ack 2");
	SEND(&d, ". 2:12 ack 1"); /* behind its own FIN */
}

/* An echo needs the packet that the request came in, and it has IP options. */
static void udp_unanswered(void)
{
	uint8_t datagram[] = {0x46, 0,    0, 36, 0,  0,   0,   0,   64,  17,  0,   0,
			      10,   0,    0, 1,  10, 255, 255, 254, 1,   1,   1,   1,
			      0x13, 0x88, 0, 80, 0,  12,  0,   0,   'p', 'i', 'n', 'g'};
	struct rx_burst rx = {.count = 1};
	uint16_t sum;

	drill_open(
		&d, DRILL_SERVER,
		SET("traffic.1={\"name\": \"server\", \"port\": \"s\", \"kind\": \"udp-server\", "
		    "\"servers\": \"10.255.255.254\", \"server_ports\": 80}"));
	sum = (uint16_t)~checksum_fold(checksum_sum(datagram, 24));
	memcpy(datagram + 10, &sum, sizeof(sum));
	rx.pkt[0] = packet_box_new(&d.box);
	memcpy((char *)rx.pkt[0]->buf_addr + rx.pkt[0]->data_off, lab_mac[1], 6);
	memcpy((char *)rx.pkt[0]->buf_addr + rx.pkt[0]->data_off + 6, lab_mac[0], 6);
	memcpy((char *)rx.pkt[0]->buf_addr + rx.pkt[0]->data_off + 12, "\x08", 2);
	memcpy((char *)rx.pkt[0]->buf_addr + rx.pkt[0]->data_off + 14, datagram, sizeof(datagram));
	rx.pkt[0]->data_len = 60;
	rx.pkt[0]->pkt_len = 60;
	sim_input(&d.lab.sim, &d.box, &rx, d.now);
}

static const struct {
	void (*reach)(void);
	const char *test; /* or the file that tests it */
} row[DROP_COUNT] = {
	[DROP_ETH_SHORT] = {.test = "unit/test_view_drop.c"},
	[DROP_ETH_NOT_MINE] = {.test = "unit/test_view_drop.c"},
	[DROP_ETH_VLAN] = {.test = "unit/test_view_drop.c"},
	[DROP_ETH_TYPE] = {.test = "unit/test_view_drop.c"},
	[DROP_ARP_BAD] = {.test = "unit/test_view_drop.c"},
	[DROP_ARP_NOT_MINE] = {.test = "unit/test_neighbor.c"},
	[DROP_IP_BAD] = {.test = "unit/test_view_drop.c"},
	[DROP_IP_CUT] = {.test = "unit/test_view_drop.c"},
	[DROP_IP_CSUM] = {.test = "unit/test_view_drop.c"},
	[DROP_IP_FRAGMENT] = {.test = "unit/test_view_drop.c"},
	[DROP_IP_NOT_MINE] = {.test = "unit/test_tcp_server_open.c"},
	[DROP_IP_PROTO] = {.test = "unit/test_view_drop.c"},
	[DROP_ICMP_BAD] = {.test = "unit/test_view_drop.c"},
	[DROP_ICMP_IGNORED] = {.test = "unit/test_neighbor.c"},
	[DROP_ICMP_NOT_MINE] = {.test = "unit/test_neighbor6.c"},
	[DROP_TCP_BAD] = {tcp_bad},
	[DROP_TCP_CSUM] = {.test = "unit/test_view_drop.c"},
	[DROP_TCP_NO_CONN] = {tcp_no_conn},
	[DROP_TCP_NO_PORT] = {tcp_no_port},
	[DROP_TCP_CLIENT] = {tcp_client},
	[DROP_TCP_TABLE_FULL] = {tcp_table_full},
	[DROP_TCP_PAWS] = {tcp_paws},
	[DROP_TCP_NO_STAMP] = {tcp_no_stamp},
	[DROP_TCP_BAD_SEQ] = {tcp_bad_seq},
	[DROP_TCP_OLD_DATA] = {tcp_old_data},
	[DROP_TCP_OLD_ACK] = {tcp_old_ack},
	[DROP_TCP_BAD_ACK] = {tcp_bad_ack},
	[DROP_TCP_BAD_RST] = {tcp_bad_rst},
	[DROP_TCP_BAD_SYN] = {tcp_bad_syn},
	[DROP_TCP_NO_ACK] = {tcp_no_ack},
	[DROP_TCP_OUT_OF_ORDER] = {tcp_out_of_order},
	[DROP_TCP_NO_SIDE] = {tcp_no_side},
	[DROP_TCP_STATE] = {tcp_state},
	[DROP_UDP_BAD] = {.test = "unit/test_view_drop.c"},
	[DROP_UDP_CSUM] = {.test = "unit/test_view_drop.c"},
	[DROP_UDP_NO_PORT] = {.test = "unit/test_udp_sockets.c"},
	[DROP_UDP_CLIENT] = {.test = "unit/test_udp_sockets.c"},
	[DROP_UDP_LATE] = {.test = "unit/test_udp_sockets.c"},
	[DROP_UDP_UNANSWERED] = {udp_unanswered},
	[DROP_TUNNEL_NONE] = {.test = "unit/test_tunnel.c"},
	[DROP_TUNNEL_SHORT] = {.test = "unit/test_tunnel.c"},
	[DROP_TUNNEL_BAD] = {.test = "unit/test_tunnel.c"},
	[DROP_TUNNEL_CSUM] = {.test = "unit/test_tunnel.c"},
	[DROP_TUNNEL_NUMBER] = {.test = "unit/test_tunnel.c"},
	[DROP_TUNNEL_TYPE] = {.test = "unit/test_tunnel.c"},
	[DROP_TUNNEL_FULL] = {.test = "unit/test_tunnel.c"},
	[DROP_HANDOFF_FULL] = {.test = "run/test_worker.c"},
};

static const char *const id[DROP_COUNT] = {
#define X(id, name, counter, help) [DROP_##id] = #id,
	DROP_TABLE(X)
#undef X
};

/* Its packet is refused for this reason, and counted where the row says. */
static void expect_reached(enum drop reason)
{
	row[reason].reach();
	if (!d.lab.counters.drop[reason])
		fail_msg("no packet was refused for %s", drop_info[reason].name);
	assert_true(drop_info[reason].counter < 0 ||
		    drill_counter(&d, (enum counter)drop_info[reason].counter));
	drill_close(&d);
}

/* The other test speaks of it. */
static void expect_tested(enum drop reason)
{
	const char *directory = getenv("TEST_SOURCE_DIR");
	static char text[256 << 10];
	char name[512], word[64];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", directory ? directory : "tests", row[reason].test);
	file = fopen(name, "r");
	if (!file)
		fail_msg("%s is not there", name);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	snprintf(word, sizeof(word), "DROP_%s", id[reason]);
	if (!strstr(text, word) &&
	    !(snprintf(word, sizeof(word), ", %s,", id[reason]), strstr(text, word)))
		fail_msg("%s does not test %s", name, word);
}

static void test_every_reason(void **state)
{
	(void)state;
	for (enum drop reason = DROP_NONE + 1; reason < DROP_COUNT; reason++) {
		if (row[reason].reach)
			expect_reached(reason);
		else if (row[reason].test)
			expect_tested(reason);
		else
			fail_msg("no test reaches %s", drop_info[reason].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason),
	};

	return cmocka_run_group_tests_name("drop", tests, NULL, NULL);
}
