/* What a peer seldom does, or never should: odd options, odd blocks, segments that fit half, and
 * more kinds of anything than there is room for. */
#include "server_drill.h"

#include "../support/world.h"

#define NOW ((unsigned)(d.now / MS(1)))

/* Options of a wrong length are passed over, whatever kind they are; those in an unusual order
 * count. */
static void test_options_of_another_length(void **state)
{
	static const char *const odd[] = {"<hex 02050102030303ff,mss 1000>",
					  "<hex 0304ffff,mss 1000>",
					  "<hex 0403ff,mss 1000,nop>",
					  "<hex 0804ffff,mss 1000>",
					  "<mss 1000,nop,wscale 2,nop,nop,nop,nop>",
					  "<mss 1000,hex 01020304>",
					  "<mss 1000,nop,wscale 2,sackOK,nop,nop>"};

	(void)state;
	open_server(SET("server.response.body.size=2000", "server.tcp.timestamps=true"));
	for (unsigned i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		drill_flow(&d, i);
		SEND(&d, "S 0 %s", odd[i]);
		EXPECT(&d, "S. 0:0 ack 1");
		SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
		EXPECT(&d, ". 1:1001");
		d.out_at = d.outs;
	}
	drill_close(&d);
}

/* Peers of more different MSS than are kept apart: nobody gets a longer segment than he takes. */
static void test_peers_of_any_mss(void **state)
{
	(void)state;
	open_server(SET("server.response.body.size=2000"));
	for (unsigned i = 0; i < 40; i++) {
		unsigned mss = i == 30 ? 100 : 1400 - 20 * i;
		struct drill_flow *flow = &d.flow[i % DRILL_FLOWS];

		drill_flow(&d, i % DRILL_FLOWS);
		flow->far_port = (uint16_t)(20000 + i);
		flow->known = false;
		SEND(&d, "S 0 <mss %u>", mss);
		EXPECT(&d, "S. 0:0 ack 1");
		SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
		drill_stream(&d, 1);
		assert_in_range(d.got.payload_len, 0, mss);
		d.stream_len = 0;
	}
	drill_close(&d);
}

/* --- the scoreboard --- */

static void bulk(void)
{
	open_server(SET("server.response.body.size=60000"));
	SEND(&d, "S 0 win 65535 <mss 1000,sackOK>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	for (unsigned i = 0; i < 10; i++)
		EXPECT(&d, ". %u:%u", 1 + i * 1000, 1001 + i * 1000);
	SEND(&d, ". %zu ack 10001", sizeof(GET_KEEP));
	for (unsigned i = 10; i < 22; i++)
		EXPECT(&d, ". %u:%u", 1 + i * 1000, 1001 + i * 1000);
	EXPECT_NOTHING(&d);
}

/* Segments from 10001 on; `from` and `to` are counted in them. */
static void sack(unsigned ack, int from, int to)
{
	SEND(&d, ". %zu ack %u <nop,nop,sack %d:%d>", sizeof(GET_KEEP), ack, 10001 + from * 1000,
	     10001 + to * 1000);
}

/* Blocks that are empty, turned round, behind what is acknowledged or beyond what was sent say
 * nothing (RFC 2883 section 4: the first but one may be duplicates). */
static void test_blocks_that_say_nothing(void **state)
{
	(void)state;
	bulk();
	sack(10001, 3, 3);
	sack(10001, 5, 3);
	sack(10001, -3, -1);
	sack(10001, -1, 2);
	sack(10001, 11, 14);
	assert_int_equal(drill_counter(&d, COUNTER_PUSH_RT), 1); /* the third duplicate */
	drill_close(&d);
}

/* With more gaps than are remembered everything comes in the end, and nothing too often. */
static void test_more_gaps_than_are_remembered(void **state)
{
	uint32_t rt;

	(void)state;
	bulk();
	for (int i = 11; i > 0; i -= 2)
		sack(10001, i, i + 1);
	sack(10001, 2, 3);     /* two become one */
	sack(10001, 0, 1 - 1); /* nothing */
	rt = (uint32_t)drill_counter(&d, COUNTER_PUSH_RT);
	assert_in_range(rt, 1, 12);
	drill_wait(&d, MS(1));
	SEND(&d, ". %zu ack 12501", sizeof(GET_KEEP)); /* into the middle of a block */
	drill_skip_acks(&d);
	SEND(&d, ". %zu ack 22001", sizeof(GET_KEEP));
	d.out_at = d.outs;
	drill_wait(&d, SEC(3));
	assert_true(d.outs > d.out_at);
	drill_close(&d);
}

/* --- segments that fit half --- */

static void test_reset_that_overlaps(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1");
	SEND(&d, "R. 1:100 ack 1"); /* begins before the window */
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_BAD_RST, 1);
	assert_int_equal(drill_level(&d)->open, 1);
	drill_close(&d);
}

static void test_half_of_a_handshake(void **state)
{
	(void)state;
	open_server(NULL);
	SEND(&d, "S 0 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND(&d, "S 4294967000 <mss 1460>"); /* another SYN, behind the first */
	EXPECT(&d, ". 1:1 ack 1");
	SEND(&d, ". 4294967000 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	EXPECT_DROPS(&d, TCP_OLD_DATA, 2);
	SEND(&d, "S. 0 ack 9");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1 win 10");
	EXPECT(&d, ". 1:11 ack %zu", sizeof(GET_KEEP));
	drill_close(&d);
}

/* Data that comes with an acknowledgment of long ago is taken all the same. */
static void test_new_data_with_an_old_ack(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1");
	end = 1 + d.got.payload_len;
	SEND(&d, ". %zu ack %u", sizeof(GET_KEEP), end);
	SEND_TEXT(&d, GET_KEEP, "P. %zu ack 1", sizeof(GET_KEEP));
	EXPECT(&d, "P. %u ack %zu", end, 2 * sizeof(GET_KEEP) - 1);
	drill_close(&d);
}

/* A FIN that is not in turn says nothing yet; behind another FIN it never does. */
static void test_fins_out_of_turn(void **state)
{
	(void)state;
	open_server(NULL);
	handshake();
	SEND(&d, "F. 100 ack 1");
	EXPECT(&d, ". 1:1 ack 1");
	EXPECT_DROPS(&d, TCP_OUT_OF_ORDER, 1);
	SEND(&d, "F. 1 ack 1");
	EXPECT(&d, "F. 1:1 ack 2");
	SEND(&d, "F. 2 ack 1");
	EXPECT(&d, ". 2:2 ack 3");
	SEND(&d, ". 3 ack 2");
	assert_int_equal(drill_level(&d)->open, 0);
	drill_close(&d);
}

/* Half closed: we have said that nothing more comes, and the peer goes on. */
static void test_data_in_fin_wait_2(void **state)
{
	uint32_t end;

	(void)state;
	open_server(NULL);
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	end = expect_last_response(1, sizeof(GET_CLOSE)) + 1;
	SEND(&d, ". %zu ack %u", sizeof(GET_CLOSE), end);
	SEND_TEXT(&d, GET_KEEP, "P. %zu ack %u", sizeof(GET_CLOSE), end);
	EXPECT(&d, ". %u:%u ack %zu", end, end, sizeof(GET_CLOSE) + sizeof(GET_KEEP) - 1);
	SEND(&d, "F. %zu ack %u", sizeof(GET_CLOSE) + sizeof(GET_KEEP) - 1, end);
	EXPECT(&d, ". %u:%u ack %zu", end, end, sizeof(GET_CLOSE) + sizeof(GET_KEEP));
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	drill_close(&d);
}

/* --- more than there is room for --- */

/* Requests of two kinds in turn, to a closed window: after some no more are taken, and the peer
 * repeats them. */
static void test_pipeline_of_too_many_kinds(void **state)
{
	static const char kind[2][40] = {GET_KEEP, "GET /no HTTP/1.1\r\nHost: t\r\n\r\n"};
	uint32_t at = 1;
	unsigned i;

	(void)state;
	open_server(SET("server.routes=[{\"path\": \"/no\", \"status\": 404}]"));
	handshake();
	for (i = 0; i < 40; i++) {
		SEND_TEXT(&d, kind[i % 2], "P. %u ack 1 win 0", at);
		if (d.lab.counters.drop[DROP_TCP_NO_SIDE])
			break;
		at += (uint32_t)strlen(kind[i % 2]);
	}
	assert_in_range(i, 8, 20);
	assert_int_equal(drill_level(&d)->request.offered, i);
	drill_skip_acks(&d);
	SEND(&d, ". %u ack 1", at); /* the window opens */
	drill_stream(&d, 1);
	assert_int_equal(count(d.stream, "HTTP/1.1 "), i);
	for (unsigned j = 0; j < 3; j++, at += (uint32_t)strlen(kind[i++ % 2]))
		SEND_TEXT(&d, kind[i % 2], "P. %u ack %u", at, 1 + d.stream_len);
	drill_close(&d);
}

/* Of two requests in one segment the second waits for a side record. */
static void test_second_request_waits(void **state)
{
	(void)state;
	open_server(SET("memory.side_records=8"));
	for (unsigned i = 0; i < 8; i++) {
		drill_flow(&d, i);
		handshake();
		SEND_TEXT(&d, "GET / HTTP", ". 1 ack 1");
		EXPECT(&d, ". 1:1 ack 11");
	}
	drill_flow(&d, 8);
	handshake();
	SEND_TEXT(&d, GET_KEEP GET_KEEP, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %zu", sizeof(GET_KEEP));
	d.out_at = d.outs;
	drill_flow(&d, 0);
	SEND(&d, "R 11");
	drill_wait(&d, MS(1));
	drill_flow(&d, 8);
	EXPECT(&d, "P. %u ack %zu", 1 + d.got.payload_len, 2 * sizeof(GET_KEEP) - 1);
	drill_close(&d);
}

static uint32_t no_packets(struct tx *tx)
{
	(void)tx;
	return 0;
}

/* Without packets to write into: one response leaves in the packet of the requests, the other as
 * soon as there is one. */
static void test_no_packet(void **state)
{
	struct tx *tx;
	uint32_t (*refill)(struct tx *);

	(void)state;
	open_server(NULL);
	handshake();
	tx = &d.lab.sim.tx.tx;
	refill = tx->refill;
	tx->refill = no_packets;
	while (tx->blanks)
		tx->release(tx, tx->blank[--tx->blanks]);
	SEND_TEXT(&d, GET_KEEP GET_KEEP, "P. 1 ack 1");
	drill_wait(&d, MS(1));
	tx->refill = refill;
	drill_stream(&d, 1);
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 2);
	drill_close(&d);
}

/* --- extensions --- */

static void test_stamp_of_another_length(void **state)
{
	(void)state;
	open_server(SET("server.tcp.timestamps=true"));
	SEND(&d, "S 0 <mss 1460,TS 100:0>");
	EXPECT(&d, "S. 0:0 ack 1");
	SEND(&d, ". 1 ack 1 <hex 0808000000000000>");
	EXPECT_NOTHING(&d);
	EXPECT_DROPS(&d, TCP_NO_STAMP, 1);
	SEND(&d, ". 1 ack 1 <TS 101:0,nop,nop>"); /* an echo of nothing is no round trip */
	EXPECT_NOTHING(&d);
	drill_close(&d);
}

static void test_congestion_marks_when_nothing_is_under_way(void **state)
{
	(void)state;
	open_server(SET("server.tcp.ecn=true", "server.response.body.size=30000"));
	SEND(&d, "SEW 0 <mss 1000,sackOK>");
	EXPECT(&d, "S.E 0:0 ack 1");
	SEND(&d, ". 1 ack 1");
	SEND(&d, ".E 1 ack 1"); /* nothing is under way */
	SEND_TEXT(&d, GET_KEEP, "P. 1 ack 1");
	for (unsigned i = 0; i < 10; i++)
		EXPECT(&d, ". %u:%u", 1 + i * 1000, 1001 + i * 1000);
	for (unsigned i = 0; i < 3; i++)
		SEND(&d, ". %zu ack 1 <nop,nop,sack 5001:%u>", sizeof(GET_KEEP), 6001 + i * 1000);
	EXPECT(&d, ". 1:1001");
	SEND(&d, ".E %zu ack 2001", sizeof(GET_KEEP)); /* in recovery it has slowed down already */
	drill_close(&d);
}

/* The engine is polled before its load begins. */
static void test_polled_before_the_start(void **state)
{
	static struct world w;

	(void)state;
	world_open(&w, NULL, SET("client.load.cps=10"));
	for (unsigned i = 0; i < 2; i++)
		assert_true(sim_poll(&w.lab[i].sim, LAB_EPOCH - MS(1)) > LAB_EPOCH);
	world_run(&w);
	assert_int_equal(world_client(&w)->connection.succeeded, 10);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_of_another_length),
		cmocka_unit_test(test_peers_of_any_mss),
		cmocka_unit_test(test_blocks_that_say_nothing),
		cmocka_unit_test(test_more_gaps_than_are_remembered),
		cmocka_unit_test(test_reset_that_overlaps),
		cmocka_unit_test(test_half_of_a_handshake),
		cmocka_unit_test(test_new_data_with_an_old_ack),
		cmocka_unit_test(test_fins_out_of_turn),
		cmocka_unit_test(test_data_in_fin_wait_2),
		cmocka_unit_test(test_pipeline_of_too_many_kinds),
		cmocka_unit_test(test_second_request_waits),
		cmocka_unit_test(test_no_packet),
		cmocka_unit_test(test_stamp_of_another_length),
		cmocka_unit_test(test_congestion_marks_when_nothing_is_under_way),
		cmocka_unit_test(test_polled_before_the_start),
	};

	return cmocka_run_group_tests_name("tcp rare", tests, NULL, NULL);
}
