/* Connections put together again: segments in, scripts out. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../pcap/conversation.h"
#include "support.h"

#define MS 1000000ull

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
enum { C, S };

/* A recording being made: of one connection at a time, whose sequence numbers begin at 0. */
static uint8_t file[1 << 20];
static size_t length;
static uint16_t client_port;
static uint32_t isn[2];
static unsigned cut; /* bytes of payload that are not captured */
static struct conversations *talk;
static struct err err;
static struct script_options options;

static void put(uint64_t value, unsigned bytes, bool big)
{
	for (unsigned i = 0; i < bytes; i++)
		file[length++] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

static void begin(void)
{
	length = 0;
	client_port = 1000;
	isn[C] = 0xffffff00; /* numbers wrap */
	isn[S] = 5;
	cut = 0;
	options = (struct script_options){.think_factor = 1, .memory = 1 << 24};
	put(0xa1b2c3d4, 4, false);
	put(2 | 4 << 16, 4, false);
	put(0, 8, false);
	put(65535, 4, false);
	put(1, 4, false);
}

static void segment(double ms, unsigned from, unsigned flags, uint32_t seq, uint32_t ack,
		    const char *text)
{
	uint32_t bytes = (uint32_t)strlen(text), ip = 40 + bytes;
	uint64_t us = (uint64_t)(ms * 1000);

	put(us / 1000000, 4, false);
	put(us % 1000000, 4, false);
	put(14 + ip - cut, 4, false);
	put(14 + ip, 4, false);
	put(0x020000000001, 6, true);
	put(0x020000000002, 6, true);
	put(0x0800, 2, true);
	put(0x4500, 2, true);
	put(ip, 2, true);
	put(0, 4, true);
	put(64 << 8 | 6, 2, true);
	put(0, 2, true);
	put(from == C ? 0x0a000001 : 0x0a000002, 4, true);
	put(from == C ? 0x0a000002 : 0x0a000001, 4, true);
	put(from == C ? client_port : 80, 2, true);
	put(from == C ? 80 : client_port, 2, true);
	put(isn[from] + seq, 4, true);
	put(flags & ACK ? isn[!from] + ack : 0, 4, true);
	put(5 << 12 | flags, 2, true);
	put(65535, 2, true);
	put(0, 4, true);
	memcpy(file + length, text, bytes - cut);
	length += bytes - cut;
}

/* Recorded at the client: the server is 10 ms away. */
static void handshake(double ms)
{
	segment(ms, C, SYN, 0, 0, "");
	segment(ms + 10, S, SYN | ACK, 0, 1, "");
	segment(ms + 10, C, ACK, 1, 1, "");
}

static const struct script *made(unsigned scripts)
{
	static struct memory memory;
	static const char *path;

	memory = memory_file(file, length);
	path = memory.path;
	options.file = &path;
	options.files = 1;
	conversations_close(talk);
	talk = conversations_open(&options, &err);
	close(memory.fd);
	if (!scripts) {
		assert_null(talk);
		return NULL;
	}
	if (!talk)
		fail_msg("%s", err.text);
	assert_int_equal(conversations_scripts(talk)->scripts, scripts);
	return conversations_scripts(talk)->script;
}

static void error_says(const char *text)
{
	if (!strstr(err.text, text))
		fail_msg("\"%s\" does not say \"%s\"", err.text, text);
}

static void says(const struct script_side *side, const char *text)
{
	assert_int_equal(side->length, strlen(text));
	assert_memory_equal(side->bytes, text, strlen(text));
}

static void turn_is(const struct script_side *side, unsigned n, enum script_what what,
		    uint32_t until, uint32_t need, double wait_ms)
{
	const struct script_turn *turn = &side->turn[n];

	assert_true(n < side->turns);
	assert_int_equal(turn->what, what);
	assert_int_equal(turn->until, until);
	assert_int_equal(turn->need, need);
	assert_int_equal(turn->wait, (uint64_t)(wait_ms * 1e6));
}

static void refused(enum script_refused why)
{
	assert_int_equal(conversations_counts(talk)->refused[why], 1);
	assert_non_null(conversations_refused(talk, why));
}

static void test_request_and_response(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(30, C, PSH | ACK, 1, 1, "GET");   /* 20 ms after the handshake */
	segment(90, S, PSH | ACK, 1, 4, "HELLO"); /* 60 ms, 10 of them on the way */
	segment(90, C, ACK, 4, 6, "");
	segment(190, C, FIN | ACK, 4, 6, "");
	segment(200, S, FIN | ACK, 6, 5, "");
	segment(200, C, ACK, 5, 7, "");
	s = made(1);
	says(&s->side[C], "GET");
	says(&s->side[S], "HELLO");
	assert_int_equal(s->side[C].turns, 2);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 3, 0, 20);
	turn_is(&s->side[C], 1, SCRIPT_FIN, 3, 5, 100);
	assert_int_equal(s->side[S].turns, 2);
	turn_is(&s->side[S], 0, SCRIPT_DATA, 5, 3, 50);
	turn_is(&s->side[S], 1, SCRIPT_FIN, 5, 4, 0);
	assert_int_equal(conversations_counts(talk)->unended, 0);
	assert_int_equal(conversations_scripts(talk)->longest_wait, 100 * MS);
}

static void test_factor_and_limit(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(30, C, ACK, 1, 1, "GET");
	segment(90, S, ACK, 1, 4, "HELLO");
	options.think_factor = 2;
	options.max_think = 70 * MS;
	s = made(1);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 3, 0, 40);
	turn_is(&s->side[S], 0, SCRIPT_DATA, 5, 3, 70);
	options.think_factor = 0;
	s = made(1);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 3, 0, 0);
}

static void test_server_speaks_first(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(60, S, ACK, 1, 1, "220");
	segment(60, C, ACK, 1, 4, "HELO");
	segment(75, S, ACK, 4, 5, "250");
	s = made(1);
	turn_is(&s->side[S], 0, SCRIPT_DATA, 3, 0, 40);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 4, 3, 0);
	turn_is(&s->side[S], 1, SCRIPT_DATA, 6, 4, 5);
	/* nobody closed: the client does */
	turn_is(&s->side[C], 1, SCRIPT_FIN, 4, 6, 0);
	turn_is(&s->side[S], 2, SCRIPT_FIN, 6, 5, 0);
	assert_int_equal(conversations_counts(talk)->unended, 1);
}

/* Any order, several times, overlapping, and with a zero window's probe. */
static void test_any_order(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(11, C, ACK, 1, 1, "GET");
	segment(25, S, ACK, 7, 4, "ghi");
	segment(25, S, ACK, 1, 4, "abc");
	segment(25, S, ACK, 1, 4, "abcd");
	segment(26, S, ACK, 10, 4, "j");
	segment(26, S, ACK, 3, 4, "cdefgh");
	segment(26, S, ACK, 9, 4, "XX"); /* a repetition that differs is no news */
	segment(27, S, ACK, 0, 4, "0");  /* a keep-alive */
	s = made(1);
	says(&s->side[S], "abcdefghij");
	assert_int_equal(s->side[S].turns, 2);
	turn_is(&s->side[S], 0, SCRIPT_DATA, 10, 3, 4);
}

/* A pause of the sender is a think time, waiting for the far end's acknowledgment is none. */
static void test_pauses(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 1, "one");
	segment(20, S, ACK, 1, 4, "");
	segment(20, C, ACK, 4, 1, "two");
	segment(30, S, ACK, 1, 7, "");
	segment(500, C, ACK, 7, 1, "three");
	s = made(1);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 6, 0, 0);
	turn_is(&s->side[C], 1, SCRIPT_DATA, 11, 0, 480);
}

/* Both at once: each turn waits for what its sender had heard, no more. */
static void test_both_speak_at_once(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 1, "aaa");
	segment(10, S, ACK, 1, 1, "bbb");
	segment(10, C, ACK, 4, 1, "ccc");
	segment(20, S, ACK, 4, 7, "ddd");
	s = made(1);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 6, 0, 0);
	turn_is(&s->side[S], 0, SCRIPT_DATA, 3, 0, 0);
	turn_is(&s->side[S], 1, SCRIPT_DATA, 6, 6, 0);
}

static void test_half_close(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(10, C, FIN | ACK, 1, 1, "ask");
	segment(20, S, ACK, 1, 5, "");
	segment(40, S, FIN | ACK, 1, 5, "told");
	s = made(1);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 3, 0, 0);
	turn_is(&s->side[C], 1, SCRIPT_FIN, 3, 0, 0);
	turn_is(&s->side[S], 0, SCRIPT_DATA, 4, 4, 20);
	turn_is(&s->side[S], 1, SCRIPT_FIN, 4, 4, 0);
}

static void test_reset(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 1, "ask");
	segment(20, S, ACK, 1, 4, "told");
	segment(20, C, RST | ACK, 4, 5, "");
	segment(21, S, ACK, 5, 4, "never heard");
	s = made(1);
	says(&s->side[S], "told");
	assert_true(s->side[C].resets);
	turn_is(&s->side[C], 1, SCRIPT_RST, 3, 4, 0);
	assert_int_equal(s->side[S].turns, 1);
}

/* Once both have closed, an RST says nothing. */
static void test_reset_behind_the_end(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(10, C, FIN | ACK, 1, 1, "ask");
	segment(20, S, FIN | ACK, 1, 5, "told");
	segment(20, C, RST, 5, 0, "");
	s = made(1);
	assert_false(s->side[C].resets);
}

static void test_gaps(void **state)
{
	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 1, "ask");
	segment(20, S, ACK, 1, 4, "abc");
	segment(20, S, ACK, 14, 4, "def");
	client_port++; /* beside one that is whole */
	handshake(30);
	made(1);
	refused(SCRIPT_REFUSED_GAP);
	assert_non_null(
		strstr(conversations_refused(talk, SCRIPT_REFUSED_GAP),
		       ": conversation 0, 10.0.0.1 port 1000 to 10.0.0.2 port 80: bytes are "
		       "missing from the recording: 10 bytes of the server are missing "
		       "behind its first 3"));
	assert_int_equal(conversations_counts(talk)->conversations, 2);
}

/* What was acknowledged was said, though the recording does not show it. */
static void test_lost_end(void **state)
{
	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 1, "ask");
	segment(20, S, ACK, 1, 4, "abc");
	segment(20, C, ACK, 4, 100, "");
	made(0);
	error_says("96 bytes of the server are missing behind its first 3");
}

/* Unless it was a FIN. */
static void test_lost_fin(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 1, "ask");
	segment(20, S, ACK, 1, 4, "abc");
	segment(20, C, FIN | ACK, 4, 5, "");
	s = made(1);
	turn_is(&s->side[C], 1, SCRIPT_FIN, 3, 3, 0);
	turn_is(&s->side[S], 1, SCRIPT_FIN, 3, 4, 0);
}

static void test_cut_packets(void **state)
{
	(void)state;
	begin();
	handshake(0);
	cut = 2;
	segment(10, C, ACK, 1, 1, "asking");
	cut = 0;
	segment(20, S, ACK, 1, 7, "abc");
	made(0);
	error_says("not captured whole");
}

static void test_no_beginning(void **state)
{
	(void)state;
	begin();
	segment(10, C, ACK, 1, 1, "ask");
	segment(20, S, ACK, 1, 4, "abc");
	client_port++;
	segment(30, C, SYN, 0, 0, "");
	segment(31, S, RST | ACK, 0, 1, "");
	client_port++;
	handshake(40);
	made(1);
	refused(SCRIPT_REFUSED_BEGIN);
	refused(SCRIPT_REFUSED_UNANSWERED);
}

/* Each acknowledges what the other says only later: nobody could begin. */
static void test_impossible_order(void **state)
{
	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 4, "ask");
	segment(20, S, ACK, 1, 4, "abc");
	made(0);
	error_says("acknowledge what was sent only later");
}

/* The same ends again: another conversation, as Wireshark counts. */
static void test_ports_used_again(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(1, C, SYN, 0, 0, ""); /* a repetition is none */
	segment(10, C, FIN | ACK, 1, 1, "first");
	segment(20, S, FIN | ACK, 1, 7, "");
	isn[C] += 1000;
	isn[S] += 5000;
	handshake(30);
	segment(40, C, ACK, 1, 1, "second");
	s = made(2);
	says(&s[0].side[C], "first");
	says(&s[1].side[C], "second");
	options.flow = 2;
	s = made(1);
	says(&s[0].side[C], "second");
	options.flow = 3;
	made(0);
	error_says("no TCP connection of that number");
}

static void test_time_that_goes_backwards(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(100);
	segment(50, C, ACK, 1, 1, "ask");
	segment(10, S, ACK, 1, 4, "abc");
	s = made(1);
	turn_is(&s->side[C], 0, SCRIPT_DATA, 3, 0, 0);
	turn_is(&s->side[S], 0, SCRIPT_DATA, 3, 3, 0);
}

static void test_filter(void **state)
{
	(void)state;
	begin();
	handshake(0);
	client_port++;
	handshake(10);
	options.filter = "port 1001";
	made(1);
	assert_int_equal(conversations_counts(talk)->other, 3);
	options.filter = "udp";
	made(0);
	error_says("passes the filter");
}

/* Sequence numbers of nowhere neither allocate nor crash. */
static void test_nonsense(void **state)
{
	const struct script *s;

	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 0x40000000, 1, "far ahead");
	segment(10, C, FIN | ACK, 0x40000000, 1, "");
	segment(10, C, ACK, 0x80000000, 1, "on the other side");
	segment(10, C, ACK | RST | SYN, 0x80000000, 1, "all of it");
	segment(10, C, ACK, 1, 1, "ask");
	s = made(1);
	says(&s->side[C], "");
	assert_true(s->side[C].resets);
}

static void test_memory(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 400; i++, client_port++)
		handshake(i);
	options.memory = 65536;
	made(0);
	error_says("more than `memory` of 65536 bytes");
}

static void test_order_of_clients(void **state)
{
	static const char *const text[] = {"b", "", "ab", "b", "a"};
	static const uint32_t order[] = {1, 4, 2, 0, 3};
	const struct script_set *set;

	(void)state;
	begin();
	for (unsigned i = 0; i < 5; i++, client_port++) {
		handshake(i * 20);
		segment(i * 20 + 15, C, ACK, 1, 1, text[i]);
	}
	made(5);
	set = conversations_scripts(talk);
	assert_memory_equal(set->order, order, sizeof(order));
}

static void test_not_a_recording(void **state)
{
	(void)state;
	begin();
	length = 3;
	made(0);
	error_says("the file ends inside it");
	begin();
	made(0);
	error_says("the file holds no packets");
}

/* What a cut file holds is played; that it is cut is known. */
static void test_cut_file(void **state)
{
	(void)state;
	begin();
	handshake(0);
	segment(10, C, ACK, 1, 1, "ask");
	length -= 4;
	made(1);
	assert_non_null(conversations_problem(talk, READER_CUT));
}

static int forget(void **state)
{
	(void)state;
	conversations_close(talk);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_and_response),
		cmocka_unit_test(test_factor_and_limit),
		cmocka_unit_test(test_server_speaks_first),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_both_speak_at_once),
		cmocka_unit_test(test_half_close),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_reset_behind_the_end),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_lost_end),
		cmocka_unit_test(test_lost_fin),
		cmocka_unit_test(test_cut_packets),
		cmocka_unit_test(test_no_beginning),
		cmocka_unit_test(test_impossible_order),
		cmocka_unit_test(test_ports_used_again),
		cmocka_unit_test(test_time_that_goes_backwards),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_order_of_clients),
		cmocka_unit_test(test_not_a_recording),
		cmocka_unit_test(test_cut_file),
	};

	return cmocka_run_group_tests_name("pcap conversation", tests, NULL, forget);
}
