/* A drill: one engine under test, the test plays the far end segment by segment, in virtual time.
 *
 *     drill_open(&d, DRILL_SERVER, SET("server.response.body.size=100"));
 *     SEND(&d, "S 0:0 win 65535 <mss 1460>");
 *     EXPECT(&d, "S. 0:0 ack 1 win 65535 <mss 1460>");
 *     ...
 *     drill_close(&d);
 *
 * Sequence numbers are relative: ours begin at 0 with our SYN, the engine's at 0 with its. What an
 * expectation does not mention (ack, win, options, end) is not looked at; every frame must pass
 * view_parse() with checksums verified. At the close, all is reset and the books must balance. */
#ifndef SUPPORT_DRILL_H
#define SUPPORT_DRILL_H

#include "lab.h"
#include "segment.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

enum drill_side { DRILL_CLIENT, DRILL_SERVER }; /* which engine is under test */

#define DRILL_FLOWS    16
#define DRILL_OUT_MAX  4096
#define DRILL_TEXT_MAX (64u << 10)

struct drill_flow {               /* one connection, seen from the test */
	uint32_t far_ip, near_ip; /* near is the engine's */
	uint16_t far_port, near_port;
	uint32_t far_isn, near_isn;
	uint32_t far_nxt; /* relative: what our next segment begins with */
	bool known;       /* near_isn has been seen, and for a client its addresses */
};

struct drill {
	struct config config;
	struct packet_box box;
	struct lab_end lab;
	enum drill_side side;
	unsigned offloaded;        /* segments out whose checksums were left to the port */
	bool stuck;                /* the port takes nothing the engine sends */
	bool split;                /* what we send has its payload in a second segment */
	struct view_rule far_rule; /* what our end accepts */
	uint64_t now, zero;        /* zero: when the load began */
	uint64_t last;             /* when the last segment was sent or expected successfully */
	struct drill_flow flow[DRILL_FLOWS];
	unsigned current; /* the flow that SEND and EXPECT speak of */
	struct {
		struct rte_mbuf *m;
		uint64_t at;
	} out[DRILL_OUT_MAX];
	unsigned outs, out_at;
	struct segment got;           /* the last one EXPECTed */
	char payload[DRILL_TEXT_MAX]; /* its payload, ended by a zero */
	char stream[DRILL_TEXT_MAX];  /* of drill_stream(), ended by a zero */
	uint32_t stream_len;
};

void drill_open(struct drill *, enum drill_side, const char *const *set);
void drill_close(struct drill *);

/* Let the engine be for a while; what it sends meanwhile can be EXPECTed afterwards. */
void drill_wait(struct drill *, uint64_t ns);

/* Speak of flow n from now on. A server's flow has our address 10.0.0.1 and port 20000 + n. */
void drill_flow(struct drill *, unsigned n);

/* Take what the engine has sent on this flow as a stream from relative sequence number `at` on, and
 * acknowledge it as it comes, until it sends no more. Appends to d->stream, which begins empty;
 * returns the next number expected, its FIN counted. */
uint32_t drill_stream(struct drill *, uint32_t at);

/* Pass over pure ACKs that come next. Returns how many. */
unsigned drill_skip_acks(struct drill *);

/* Tell the engine to drain. */
void drill_drain(struct drill *, uint64_t deadline_in);

/* Our next SYN begins at another initial sequence number. */
void drill_renumber(struct drill *, uint32_t isn);

void drill_send(struct drill *, const char *payload, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void drill_send_segment(struct drill *, const struct segment *); /* absolute numbers */
/* A router says that the segment of ours at `seq`, relative, was longer than `mtu`. */
void drill_too_big(struct drill *, uint32_t seq, uint32_t mtu);
/* The same with another value in byte `at` of the ICMP message, its checksum right again. */
void drill_too_big_but(struct drill *, uint32_t seq, uint32_t mtu, unsigned at, uint8_t value);
void drill_expect(struct drill *, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void drill_expect_in(struct drill *, uint64_t ns, const char *file, int line, const char *format,
		     ...) __attribute__((format(printf, 5, 6)));
void drill_expect_nothing(struct drill *, const char *file, int line);
void drill_expect_drop(struct drill *, enum drop, uint64_t count, const char *file, int line);

/* Inject a segment; its payload, if END says so, is a pattern. */
#define SEND(d, ...) drill_send(d, NULL, __VA_ARGS__)
/* Inject a segment with this text as payload. */
#define SEND_TEXT(d, text, ...) drill_send(d, text, __VA_ARGS__)
/* The next segment that the engine has sent is this one. */
#define EXPECT(d, ...) drill_expect(d, __FILE__, __LINE__, __VA_ARGS__)
/* ... and it comes `ns` after the last SEND or EXPECT, within 1 % and 1 ms. */
#define EXPECT_IN(d, ns, ...) drill_expect_in(d, ns, __FILE__, __LINE__, __VA_ARGS__)
#define EXPECT_NOTHING(d)     drill_expect_nothing(d, __FILE__, __LINE__)
/* The engine has refused exactly `count` segments for this reason. */
#define EXPECT_DROPS(d, reason, count) \
	drill_expect_drop(d, DROP_##reason, count, __FILE__, __LINE__)

/* The tallies of the engine under test. */
static inline const struct traffic_level *drill_level(const struct drill *d)
{
	return &d->lab.stats.level;
}

static inline uint64_t drill_counter(const struct drill *d, enum counter counter)
{
	return d->lab.counters.value[counter];
}

#endif
