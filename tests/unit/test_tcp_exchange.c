/* Whole exchanges between our client and our server on a clean wire: what is sent, and how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/world.h"

#define FIN 0x01
#define SYN 0x02
#define PSH 0x08
#define ACK 0x10

/* Run a world of the given settings to its end, all connections of which must succeed. */
static void run_clean(struct world *w, const char *const *set)
{
	const struct traffic_level *client, *server;

	world_open(w, NULL, set);
	world_record(w, 4000);
	world_run(w);
	client = world_client(w);
	server = world_server(w);
	if (!client->connection.offered ||
	    client->connection.offered != client->connection.succeeded ||
	    client->request.offered != client->request.succeeded ||
	    server->connection.offered != server->connection.succeeded ||
	    server->connection.offered != client->connection.offered ||
	    server->request.offered != client->request.offered) {
		world_describe(w);
		fail_msg("a clean exchange did not succeed");
	}
}

static const struct segment *packet(const struct world *w, unsigned i, unsigned from, uint8_t flags)
{
	if (i >= w->packets || w->packet[i].from != from || w->packet[i].segment.flags != flags) {
		world_describe(w);
		fail_msg("packet %u is not as it should be: flags %02x from %u expected", i, flags,
			 from);
	}
	return &w->packet[i].segment;
}

static void test_six_packets(void **state)
{
	struct world w;
	const struct segment *p[6];
	uint32_t request, response;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "server.response.body.size=10"));
	assert_int_equal(w.packets, 6);
	p[0] = packet(&w, 0, 0, SYN);
	p[1] = packet(&w, 1, 1, SYN | ACK);
	p[2] = packet(&w, 2, 0, ACK | PSH);
	p[3] = packet(&w, 3, 1, ACK | PSH | FIN);
	p[4] = packet(&w, 4, 0, ACK | FIN);
	p[5] = packet(&w, 5, 1, ACK);
	request = p[2]->payload_len;
	response = p[3]->payload_len;
	assert_int_equal(p[0]->ack, 0);
	assert_int_equal(p[1]->ack, p[0]->seq + 1);
	assert_int_equal(p[2]->seq, p[0]->seq + 1);
	assert_int_equal(p[2]->ack, p[1]->seq + 1);
	assert_int_equal(p[3]->seq, p[1]->seq + 1);
	assert_int_equal(p[3]->ack, p[2]->seq + request);
	assert_int_equal(p[4]->seq, p[2]->seq + request);
	assert_int_equal(p[4]->ack, p[3]->seq + response + 1);
	assert_int_equal(p[5]->seq, p[3]->seq + response + 1);
	assert_int_equal(p[5]->ack, p[4]->seq + 1);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(p[i]->payload_len, i == 2 ? request : i == 3 ? response : 0);
	assert_int_equal(w.packet[0].at, 0);
	assert_int_equal(w.packet[5].at, US(50));
	world_close(&w);
}

static void test_segments_of_the_handshake(void **state)
{
	struct world w;
	const struct segment *syn, *syn_ack, *request;
	int scale;

	(void)state;
	run_clean(&w, SET("client.load.cps=1"));
	syn = packet(&w, 0, 0, SYN);
	syn_ack = packet(&w, 1, 1, SYN | ACK);
	request = packet(&w, 2, 0, ACK | PSH);
	assert_int_equal(segment_option(syn, 2), 1460);
	assert_int_equal(segment_option(syn_ack, 2), 1460);
	/* The window of a SYN is never scaled (RFC 7323 section 2.2). */
	assert_int_equal(syn->window, 65535);
	assert_int_equal(syn_ack->window, 65535);
	scale = segment_option(syn, 3);
	assert_int_equal(segment_option(syn_ack, 3), scale);
	assert_in_range((uint32_t)request->window << (scale < 0 ? 0 : scale), 65500, 65536);
	assert_int_equal(request->options_len, 0);
	world_close(&w);
}

static void test_request_and_response_text(void **state)
{
	struct world w;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "client.request.path=/a/b?c",
			  "client.request.host=h.example", "server.response.body.size=3"));
	assert_int_equal(strncmp(w.packet[2].text, "GET /a/b?c HTTP/1.1\r\n", 21), 0);
	assert_non_null(strstr(w.packet[2].text, "\r\nHost: h.example\r\n"));
	assert_non_null(strstr(w.packet[2].text, "\r\nConnection: close\r\n"));
	assert_int_equal(strncmp(w.packet[3].text, "HTTP/1.1 200 ", 13), 0);
	assert_non_null(strstr(w.packet[3].text, "\r\nContent-Length: 3\r\n"));
	assert_int_equal(w.packet[3].segment.payload_len,
			 strstr(w.packet[3].text, "\r\n\r\n") + 4 + 3 - w.packet[3].text);
	world_close(&w);
}

static void test_handshake_ack_is_a_seventh_packet(void **state)
{
	struct world w;
	const struct segment *ack, *request;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "client.tcp.handshake_ack=true"));
	assert_int_equal(w.packets, 7);
	ack = packet(&w, 2, 0, ACK);
	request = packet(&w, 3, 0, ACK | PSH);
	assert_int_equal(ack->payload_len, 0);
	assert_int_equal(ack->seq, request->seq);
	assert_int_equal(ack->ack, request->ack);
	world_close(&w);
}

static void test_separate_fin(void **state)
{
	struct world w;
	const struct segment *response, *fin;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "server.tcp.separate_fin=true"));
	assert_in_range(w.packets, 7, 8);
	response = packet(&w, 3, 1, ACK | PSH);
	fin = packet(&w, 4, 1, ACK | FIN);
	assert_int_equal(fin->payload_len, 0);
	assert_int_equal(fin->seq, response->seq + response->payload_len);
	world_close(&w);
}

static void test_keep_alive(void **state)
{
	struct world w;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "client.requests_per_connection=5"));
	assert_int_equal(w.packets, 14); /* 2 + 5 x 2 + 2 */
	for (unsigned i = 0; i < 5; i++) {
		bool last = i == 4;

		packet(&w, 2 + 2 * i, 0, ACK | PSH);
		packet(&w, 3 + 2 * i, 1, ACK | PSH | (last ? FIN : 0));
		assert_non_null(strstr(w.packet[2 + 2 * i].text,
				       last ? "Connection: close" : "Connection: keep-alive"));
	}
	assert_int_equal(world_client(&w)->request.succeeded, 5);
	assert_int_equal(world_client(&w)->connection.succeeded, 1);
	assert_int_equal(w.lab[0].counters.value[COUNTER_HTTP_GET], 5);
	assert_int_equal(w.lab[1].counters.value[COUNTER_HTTP_GET], 5);
	assert_int_equal(w.lab[0].counters.value[COUNTER_HTTP_2XX], 5);
	world_close(&w);
}

static void test_think_time_spaces_requests(void **state)
{
	struct world w;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "client.requests_per_connection=4",
			  "client.think_time=100ms"));
	assert_int_equal(world_client(&w)->request.succeeded, 4);
	for (unsigned i = 0; i < 3; i++) { /* request, response, its ACK */
		const struct world_packet *ack = &w.packet[4 + 3 * i];

		packet(&w, 4 + 3 * i, 0, ACK);
		packet(&w, 5 + 3 * i, 0, ACK | PSH);
		assert_in_range(ack[1].at - ack[0].at, MS(100), MS(101));
	}
	world_close(&w);
}

/* A peer whose window is smaller than a request: the connection is idle between requests all the
 * same. */
static void test_think_time_with_a_small_window(void **state)
{
	struct world w;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "client.requests_per_connection=4",
			  "client.think_time=10ms", "client.request.method=POST",
			  "client.request.body.size=5000", "server.tcp.window=2000"));
	assert_int_equal(world_client(&w)->request.succeeded, 4);
	world_close(&w);
	run_clean(&w, SET("client.load.cps=1", "client.requests_per_connection=max",
			  "client.think_time=200ms", "client.request.method=POST",
			  "client.request.body.size=5000", "server.tcp.window=2000"));
	assert_in_range(world_client(&w)->request.succeeded, 4, 5);
	assert_int_equal(w.lab[0].counters.value[COUNTER_RST_TX], 0);
	world_close(&w);
}

/* Payload bytes that one side sent, and its largest segment. */
static uint64_t sent(const struct world *w, unsigned from, uint32_t *largest)
{
	uint64_t sum = 0;

	*largest = 0;
	for (unsigned i = 0; i < w->packets; i++) {
		uint32_t n = w->packet[i].segment.payload_len;

		if (w->packet[i].from != from)
			continue;
		sum += n;
		*largest = n > *largest ? n : *largest;
	}
	return sum;
}

static void run_size(const char *key, unsigned size, unsigned from)
{
	static uint64_t head;
	char set[64];
	struct world w;
	uint32_t largest;
	uint64_t bytes;

	snprintf(set, sizeof(set), "%s=%u", key, size);
	run_clean(&w, SET("client.load.cps=1", "client.request.method=POST", set));
	bytes = sent(&w, from, &largest);
	if (size == 0)
		head = bytes;
	/* the digits of Content-Length make up the difference */
	assert_in_range(bytes, head + size, head + size + 9);
	assert_true(largest <= 1460);
	assert_int_equal(w.lab[0].counters.value[COUNTER_HTTP_POST], 1);
	assert_int_equal(w.lab[1].counters.value[COUNTER_HTTP_POST], 1);
	assert_int_equal(w.lab[0].counters.value[COUNTER_PUSH_RT], 0);
	assert_int_equal(w.lab[1].counters.value[COUNTER_PUSH_RT], 0);
	world_close(&w);
}

static const unsigned sizes[] = {0, 1, 63, 64, 65, 1200, 2920, 5000, 65535, 65536, 100000, 1000000};

static void test_response_sizes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		run_size("server.response.body.size", sizes[i], 1);
	for (unsigned size = 1340; size <= 1480;
	     size++) /* head and body fill a segment somewhere */
		run_size("server.response.body.size", size, 1);
}

static void test_request_sizes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		run_size("client.request.body.size", sizes[i], 0);
	for (unsigned size = 1340; size <= 1480; size++)
		run_size("client.request.body.size", size, 0);
}

static void test_ten_megabytes(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, NULL, SET("client.load.cps=1", "server.response.body.size=10000000"));
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 1);
	assert_int_equal(world_client(&w)->request.succeeded, 1);
	assert_in_range(w.lab[0].counters.value[COUNTER_BITS_RX], 80000000, 84200000);
	assert_int_equal(w.lab[1].counters.value[COUNTER_PUSH_RT], 0);
	world_close(&w);
}

static void test_keep_alive_of_large_messages(void **state)
{
	struct world w;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "client.requests_per_connection=7",
			  "client.request.method=POST", "client.request.body.size=4000",
			  "server.response.body.size=9000"));
	assert_int_equal(world_client(&w)->request.succeeded, 7);
	world_close(&w);
}

static void test_head_has_no_body(void **state)
{
	struct world w;
	uint32_t largest;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "client.request.method=HEAD",
			  "client.requests_per_connection=3", "server.response.body.size=5000"));
	assert_true(sent(&w, 1, &largest) < 1000);
	assert_non_null(strstr(w.packet[3].text, "Content-Length: 5000\r\n"));
	assert_int_equal(world_client(&w)->request.succeeded, 3);
	world_close(&w);
}

static void test_statuses_without_body(void **state)
{
	static const char *const status[] = {"204", "304"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char response[64], expected[64];
		struct world w;

		snprintf(response, sizeof(response), "server.response.status=%s", status[i]);
		snprintf(expected, sizeof(expected), "client.response.status=%s", status[i]);
		run_clean(&w, SET("client.load.cps=1", "client.requests_per_connection=2", response,
				  expected, "server.response.body.size=0"));
		world_close(&w);
	}
}

static void test_small_mtu(void **state)
{
	struct world w;
	uint32_t largest;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "ports.1.mtu=576", "client.request.method=POST",
			  "client.request.body.size=3000", "server.response.body.size=3000"));
	assert_int_equal(segment_option(packet(&w, 0, 0, SYN), 2), 1460);
	assert_int_equal(segment_option(packet(&w, 1, 1, SYN | ACK), 2), 536);
	sent(&w, 0, &largest);
	assert_int_equal(largest, 536);
	sent(&w, 1, &largest);
	assert_int_equal(largest, 536);
	world_close(&w);
}

static void test_jumbo_mtu(void **state)
{
	struct world w;
	uint32_t largest;

	(void)state;
	run_clean(&w, SET("client.load.cps=1", "ports.0.mtu=9000", "ports.1.mtu=9000",
			  "server.response.body.size=30000"));
	sent(&w, 1, &largest);
	assert_int_equal(largest, 8960);
	world_close(&w);
}

static void test_raw_payloads(void **state)
{
	static const unsigned size[] = {1, 2, 64, 1459, 1460, 1461, 2920, 2921, 100000};

	(void)state;
	for (unsigned i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		char set[4][64];
		struct world w;
		uint32_t largest;

		snprintf(set[0], 64, "client.request.size=%u", size[i]);
		snprintf(set[1], 64, "server.request.size=%u", size[i]);
		snprintf(set[2], 64, "client.response.size=%u", size[i] + 1);
		snprintf(set[3], 64, "server.response.size=%u", size[i] + 1);
		run_clean(&w, SET("client.kind=tcp-client", "server.kind=tcp-server",
				  "client.load.cps=1", "client.requests_per_connection=3", set[0],
				  set[1], set[2], set[3]));
		assert_int_equal(world_client(&w)->request.succeeded, 3);
		if (size[i] <= 100000 / 3) {
			assert_int_equal(sent(&w, 0, &largest), 3 * size[i]);
			assert_int_equal(sent(&w, 1, &largest), 3 * (size[i] + 1));
		}
		world_close(&w);
	}
}

/* A tuple's sequence numbers grow from one connection to the next, so that a new SYN is beyond what
 * is left of the old connection (RFC 6528, RFC 9293 section 3.4.1). */
static void test_tuples_are_reused_with_growing_numbers(void **state)
{
	struct world w;
	uint16_t last_port = 0;

	(void)state;
	run_clean(&w, SET("client.load.cps=100", "client.client_ports=2000-2009"));
	assert_int_equal(world_client(&w)->connection.succeeded, 100);
	for (unsigned i = 60; i < 120; i += 6) {
		const struct segment *now = packet(&w, i, 0, SYN);
		const struct segment *before = packet(&w, i - 60, 0, SYN);

		assert_int_equal(now->src_port, before->src_port);
		assert_true((int32_t)(now->seq - before->seq) > 1000);
		assert_int_not_equal(now->src_port, last_port);
		last_port = now->src_port;
	}
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_six_packets),
		cmocka_unit_test(test_segments_of_the_handshake),
		cmocka_unit_test(test_request_and_response_text),
		cmocka_unit_test(test_handshake_ack_is_a_seventh_packet),
		cmocka_unit_test(test_separate_fin),
		cmocka_unit_test(test_keep_alive),
		cmocka_unit_test(test_think_time_spaces_requests),
		cmocka_unit_test(test_think_time_with_a_small_window),
		cmocka_unit_test(test_response_sizes),
		cmocka_unit_test(test_request_sizes),
		cmocka_unit_test(test_ten_megabytes),
		cmocka_unit_test(test_keep_alive_of_large_messages),
		cmocka_unit_test(test_head_has_no_body),
		cmocka_unit_test(test_statuses_without_body),
		cmocka_unit_test(test_small_mtu),
		cmocka_unit_test(test_jumbo_mtu),
		cmocka_unit_test(test_raw_payloads),
		cmocka_unit_test(test_tuples_are_reused_with_growing_numbers),
	};

	return cmocka_run_group_tests_name("tcp exchange", tests, NULL, NULL);
}
