/* What the drills of our server share: the test plays the client. */
#ifndef UNIT_SERVER_DRILL_H
#define UNIT_SERVER_DRILL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/drill.h"

#define GET_KEEP  "GET / HTTP/1.1\r\nHost: t\r\n\r\n"
#define GET_CLOSE "GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"

static struct drill d;

static inline void open_server(const char *const *set)
{
	drill_open(&d, DRILL_SERVER, set);
}

static inline void handshake(void)
{
	SEND(&d, "S 0 win 65535 <mss 1460>");
	EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
	SEND(&d, ". 1 ack 1");
	EXPECT_NOTHING(&d);
}

static inline unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, word)); at++)
		n++;
	return n;
}

/* The response that fits one segment, with FIN; returns where it ends, FIN not counted. */
static inline uint32_t expect_last_response(uint32_t at, uint32_t ack)
{
	EXPECT(&d, "FP. %u ack %u", at, ack);
	assert_int_equal(strncmp(d.payload, "HTTP/1.1 200 ", 13), 0);
	return at + d.got.payload_len;
}

#endif
