/* What the drills of our client share: the test plays the server. */
#ifndef UNIT_CLIENT_DRILL_H
#define UNIT_CLIENT_DRILL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/drill.h"

#define HEAD_5     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
#define RESPONSE_5 HEAD_5 "hello"

static struct drill d;
static uint32_t request; /* where the request ends: what acknowledges it */

/* One connection in all of this virtual minute. */
static inline void open_client(const char *const *set)
{
	const char *all[16] = {"client.load.cps=0.01", "duration=60s"};
	unsigned n = 2;

	for (; set && *set; set++)
		all[n++] = *set;
	drill_open(&d, DRILL_CLIENT, all);
}

/* Up to the request, which is acknowledged when the response is. */
static inline void connect_to(const char *const *set)
{
	open_client(set);
	EXPECT(&d, "S 0:0 win 65535");
	SEND(&d, "S. 0 ack 1 win 65535 <mss 1460>");
	EXPECT(&d, "P. 1 ack 1");
	request = 1 + d.got.payload_len;
	EXPECT_NOTHING(&d);
}

static inline uint64_t failed(enum failed kind)
{
	return drill_level(&d)->connection.failed[kind];
}

static inline void expect_ended(enum failed kind)
{
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(failed(kind), 1);
	assert_int_equal(drill_level(&d)->connection.offered, 1);
	drill_close(&d);
}

static inline void expect_success(void)
{
	assert_int_equal(drill_level(&d)->open, 0);
	assert_int_equal(drill_level(&d)->connection.succeeded, 1);
	assert_int_equal(drill_level(&d)->request.succeeded, 1);
	drill_close(&d);
}

/* The client has had its response, the last part of which came with FIN: it closes. */
static inline void finish(uint32_t server_end)
{
	EXPECT(&d, "F. %u:%u ack %u", request, request, server_end);
	SEND(&d, ". %u ack %u", server_end, request + 1);
	EXPECT_NOTHING(&d);
}

#endif
