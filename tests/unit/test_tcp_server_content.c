/* Our server, segment by segment: which response, and the same one again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_drill.h"

#define JSON_64                                                          \
	"server.response.content=json", "server.response.sensitive=all", \
		"server.response.body.size=300"

static void test_responses_differ_and_are_repeated_as_they_were(void **state)
{
	uint32_t at = 1, next = 1;
	char last[2048] = "", now[2048];

	(void)state;
	open_server(SET(JSON_64));
	handshake();
	for (unsigned i = 0; i < 130; i++) { /* twice round the ring */
		SEND_TEXT(&d, GET_KEEP, "P. %u ack %u", next, at);
		next += sizeof(GET_KEEP) - 1;
		EXPECT(&d, "P. %u ack %u", at, next);
		assert_true(strlen(d.payload) < sizeof(now));
		strcpy(now, d.payload);
		assert_string_not_equal(now, last);
		if (i % 10 == 3) { /* lost: the same bytes again */
			drill_wait(&d, MS(1100));
			EXPECT(&d, "P. %u ack %u", at, next);
			assert_string_equal(d.payload, now);
		}
		if (i % 10 == 5) { /* cut in half: the rest of it */
			SEND(&d, ". %u ack %u", next, at + 100);
			drill_wait(&d, MS(1100));
			EXPECT(&d, "P. %u ack %u", at + 100, next);
			assert_string_equal(d.payload, now + 100);
		}
		at += (uint32_t)strlen(now);
		memcpy(last, now, sizeof(last));
	}
	SEND(&d, "F. %u ack %u", next, at);
	EXPECT(&d, "F. %u ack %u", at, next + 1);
	drill_close(&d);
}

/* More pipelined requests than responses that a side record can line up, all of different content.
 */
static void test_pipelined_responses_of_different_content(void **state)
{
	char requests[17 * sizeof(GET_KEEP)] = "";
	unsigned sizes = 0;

	(void)state;
	open_server(SET("server.response.content=json", "server.response.body.size=\"100-3000\""));
	handshake();
	for (unsigned i = 0; i < 15; i++)
		strcat(requests, GET_KEEP);
	strcat(requests, GET_CLOSE);
	SEND_TEXT(&d, requests, "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 16);
	for (char *head = d.stream; head && *head; sizes++) {
		char *body = strstr(head, "\r\n\r\n") + 4;
		unsigned long length = strtoul(strstr(head, "Content-Length: ") + 16, NULL, 10);

		assert_int_equal(body[0], '{');
		assert_int_equal(body[length - 1], '}');
		head = body + length;
	}
	assert_int_equal(sizes, 16);
	drill_close(&d);
}

#define ROUTES                                                                           \
	"server.routes=[{\"path\": \"/a/*\", \"status\": 201}, "                         \
	"{\"path\": \"/a?x=*\", \"status\": 202}, {\"path\": \"/a\", \"status\": 203}, " \
	"{\"path\": \"*.png\", \"content\": \"random\", \"body\": {\"size\": 5000}}]"

static void test_routes(void **state)
{
	static const struct {
		const char *target;
		unsigned status;
	} wanted[] = {
		{"/", 200},
		{"/a", 203},
		{"/a?y", 203},
		{"/a?x=1", 202},
		{"/a/", 201},
		{"/a/b/c?x=1", 201},
		{"/b", 200},
		{"http://host.example/a/1", 201},
		{"http://host.example", 200},
		{"/ab", 200},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		char request[256], first[256], status[32];

		snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n",
			 wanted[i].target);
		snprintf(status, sizeof(status), "HTTP/1.1 %u ", wanted[i].status);
		for (unsigned at = 1; at <= strlen(request); at++) {
			open_server(SET(ROUTES));
			handshake();
			snprintf(first, sizeof(first), "%.*s", (int)at, request);
			SEND_TEXT(&d, first, "P. 1 ack 1");
			drill_skip_acks(&d);
			if (request[at])
				SEND_TEXT(&d, request + at, "P. %u ack 1", 1 + at);
			drill_stream(&d, 1);
			if (strncmp(d.stream, status, strlen(status)) != 0)
				fail_msg("%s cut at %u: expected %s, got %.13s", wanted[i].target,
					 at, status, d.stream);
			drill_close(&d);
		}
	}
}

static void test_weights_of_status(void **state)
{
	static const char get[] = GET_KEEP;
	uint32_t at = 1, next = 1;
	unsigned missing = 0;

	(void)state;
	open_server(SET("server.response.status={\"200\": 3, \"404\": 1}"));
	handshake();
	for (unsigned i = 0; i < 640; i++) {
		SEND_TEXT(&d, get, "P. %u ack %u", next, at);
		next += sizeof(get) - 1;
		EXPECT(&d, "P. %u ack %u", at, next);
		missing += !strncmp(d.payload, "HTTP/1.1 404 ", 13);
		at += d.got.payload_len;
	}
	assert_int_equal(missing, 160);
	assert_int_equal(drill_counter(&d, COUNTER_HTTP_4XX), 160);
	SEND(&d, "F. %u ack %u", next, at);
	EXPECT(&d, "F. %u ack %u", at, next + 1);
	drill_close(&d);
}

/* HTTP/1.0 knows no chunks. */
static void test_chunks_but_not_for_http_1_0(void **state)
{
	(void)state;
	open_server(SET("server.response.chunked=true", "server.response.body.size=100"));
	handshake();
	SEND_TEXT(&d, GET_CLOSE, "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_non_null(strstr(d.stream, "Transfer-Encoding: chunked\r\n"));
	assert_null(strstr(d.stream, "Content-Length"));
	assert_string_equal(d.stream + d.stream_len - 5, "0\r\n\r\n");
	drill_close(&d);
	open_server(SET("server.response.chunked=true", "server.response.body.size=100"));
	handshake();
	SEND_TEXT(&d, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "P. 1 ack 1");
	drill_stream(&d, 1);
	assert_non_null(strstr(d.stream, "Content-Length: 100\r\n"));
	assert_true(d.got.flags & 1);
	drill_close(&d);
}

/* The request is acknowledged at once; two that come meanwhile are answered with the first. */
static void test_delay(void **state)
{
	static const char get[] = GET_KEEP;
	uint32_t at = 1, next = sizeof(get);

	(void)state;
	open_server(SET("server.response.delay=50ms"));
	handshake();
	for (unsigned i = 0; i < 3; i++) {
		SEND_TEXT(&d, get, "P. %u ack %u", next - (uint32_t)sizeof(get) + 1, at);
		EXPECT(&d, ". %u:%u ack %u", at, at, next);
		EXPECT_IN(&d, MS(50), "P. %u ack %u", at, next);
		at += d.got.payload_len;
		next += sizeof(get) - 1;
	}
	SEND_TEXT(&d, GET_KEEP GET_KEEP GET_CLOSE, "P. %u ack %u", next - (uint32_t)sizeof(get) + 1,
		  at);
	drill_wait(&d, MS(60));
	drill_stream(&d, at);
	assert_int_equal(count(d.stream, "HTTP/1.1 200 "), 3);
	drill_close(&d);
}

/* Pipelined requests are answered at once, and not one by one as the client acknowledges. */
static void test_answers_do_not_wait_for_acks(void **state)
{
	uint32_t at = 1;

	(void)state;
	open_server(SET("server.response.body.size=100"));
	handshake();
	SEND_TEXT(&d, GET_KEEP GET_KEEP GET_KEEP GET_KEEP, "P. 1 ack 1");
	for (unsigned i = 0; i < 4; i++) {
		EXPECT(&d, "P. %u", at);
		at += d.got.payload_len;
	}
	EXPECT_NOTHING(&d);
	SEND(&d, "R %zu", 4 * sizeof(GET_KEEP) - 3);
	drill_close(&d);
}

/* Of pipelined requests each response waits for its own time, and for those before it. */
static void test_delays_of_a_pipeline(void **state)
{
	static const char fast[] = "GET / HTTP/1.1\r\nHost: t\r\n\r\n",
			  slow[] = "GET /slow HTTP/1.1\r\nHost: t\r\n\r\n",
			  slower[] = "GET /slower HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
	uint32_t at, end = sizeof(fast) + 2 * sizeof(slow) + sizeof(slower) - 4 + 1;
	char all[256];

	(void)state;
	open_server(SET("server.routes=[{\"path\": \"/slow\", \"delay\": \"100ms\"}, "
			"{\"path\": \"/slower\", \"delay\": \"300ms\"}]"));
	handshake();
	snprintf(all, sizeof(all), "%s%s%s%s", slow, fast, slow, slower);
	SEND_TEXT(&d, fast, "P. 1 ack 1");
	EXPECT(&d, "P. 1 ack %zu", sizeof(fast));
	at = 1 + d.got.payload_len;
	end += sizeof(fast) - 1;
	SEND_TEXT(&d, all, "P. %zu ack %u", sizeof(fast), at);
	EXPECT(&d, ". %u:%u ack %u", at, at, end);
	for (unsigned i = 0; i < 3; i++) { /* the second waits for the first */
		if (!i)
			EXPECT_IN(&d, MS(100), "P. %u ack %u", at, end);
		else
			EXPECT(&d, "P. %u ack %u", at, end);
		at += d.got.payload_len;
	}
	SEND(&d, ". %u ack %u", end, at);
	EXPECT_IN(&d, MS(200), "FP. %u ack %u", at, end);
	SEND(&d, "R %u", end);
	drill_close(&d);
}

/* Bodies of a byte or two, round rings of many lengths: one differs from the next, and the last
 * from the first. */
static void test_neighbours_differ(void **state)
{
	static const char *const content[] = {"json", "text", "html", "random"};
	static const unsigned variants[] = {2, 3, 10, 11, 19, 27, 28, 64, 257, 258};

	(void)state;
	for (unsigned i = 0; i < 4 * sizeof(variants) / sizeof(*variants); i++) {
		char type[64], ring[64], last = 0;
		uint32_t at = 1, next = 1;

		snprintf(type, sizeof(type), "server.response.content=%s", content[i % 4]);
		snprintf(ring, sizeof(ring), "server.response.variants=%u", variants[i / 4]);
		open_server(SET(type, ring, "server.response.body.size=1"));
		handshake();
		for (unsigned n = 0; n < 2 * variants[i / 4] + 1; n++) {
			SEND_TEXT(&d, GET_KEEP, "P. %u ack %u", next, at);
			next += sizeof(GET_KEEP) - 1;
			EXPECT(&d, "P. %u ack %u", at, next);
			at += d.got.payload_len;
			if (n && d.payload[d.got.payload_len - 1] == last)
				fail_msg("%s, %s: response %u is as the one before", type, ring, n);
			last = d.payload[d.got.payload_len - 1];
		}
		SEND(&d, "R %u", next);
		drill_close(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_responses_differ_and_are_repeated_as_they_were),
		cmocka_unit_test(test_answers_do_not_wait_for_acks),
		cmocka_unit_test(test_delays_of_a_pipeline),
		cmocka_unit_test(test_neighbours_differ),
		cmocka_unit_test(test_pipelined_responses_of_different_content),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_weights_of_status),
		cmocka_unit_test(test_chunks_but_not_for_http_1_0),
	};

	return cmocka_run_group_tests_name("tcp server content", tests, NULL, NULL);
}
