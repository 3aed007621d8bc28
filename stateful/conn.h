/* The connection record: 32 bytes for a connection that is idle or exchanges messages of one
 * segment each, and the side record that it borrows while it needs more.
 *
 * Without a side record a connection has at most one segment outstanding (`flight` bytes of
 * sequence space, the tail of the message it sends), so snd_una is snd_nxt - flight and a
 * retransmission regenerates the message from its offset. `time` is the last transmission that
 * awaits an answer: the retransmission deadline and the latency both come from it. Time of the
 * first transmission is time - rto * (2^retries - 1), so retries need no second time stamp.
 *
 * A slot outlives its connections: `rtx` and `app` say whether the timer wheel holds an entry for
 * the slot and stay set when the slot is freed or reused, so an entry is never searched for. */
#ifndef STATEFUL_CONN_H
#define STATEFUL_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/base/require.h"
#include "http.h"
#include "tuple.h"

enum tcp_state { /* RFC 9293 section 3.3.2; there is no TIME-WAIT record, see input.c */
		 CLOSED,
		 SYN_SENT,
		 SYN_RECEIVED,
		 ESTABLISHED,
		 FIN_WAIT_1,
		 FIN_WAIT_2,
		 CLOSE_WAIT,
		 CLOSING,
		 LAST_ACK,
		 UDP_OPEN, /* a UDP socket, see udp_client.c */
};

#define CONN_ENTRIES_MAX CONFIG_PORT_ENTRIES_MAX /* traffic entries of a port: 6 bits */
#define CONN_MSS_MAX     16                      /* distinct peer MSS values kept apart: 4 bits */
#define CONN_NO_SCALE    15                      /* window scaling not agreed on */
#define CONN_RETRIES_MAX 15
#define CONN_LEFT        6  /* note of a client: left open, and not counted as active */
#define CONN_CHURNED     7  /* note of a client: to be closed after the response awaited */
#define CONN_TIME_SHIFT  5  /* `time` counts 32 ns, wraps after 137 s */
#define CONN_IDLE_SHIFT  17 /* ... and 131 us while idle: 6 days */

struct conn {
	struct tuple tuple;
	uint32_t snd_nxt, rcv_nxt;
	uint32_t time;
	/* No field crosses a byte: a load that covers more bytes than the store before it waits for
	 * the cache, which cost 5 % of all time. */
	uint32_t state : 4;
	uint32_t retries : 4;
	uint32_t entry : 6; /* index into the engine's traffic entries */
	uint32_t sack : 1;  /* both ends permit selective acknowledgments (RFC 2018) */
	uint32_t fin : 1;   /* our FIN is in flight or acknowledged */
	uint32_t mss : 4;   /* index into the engine's table of peer MSS values */
	uint32_t scale : 4; /* the peer's window scale, or CONN_NO_SCALE */
	uint32_t note : 3;  /* client: the first failure, told at the connection's end, see
			     * conn_note();  server: enum variant of the response being sent */
	uint32_t has_side : 1;
	uint32_t rtx : 1;     /* the wheel holds a retransmission entry for this slot */
	uint32_t app : 1;     /* the wheel holds an idle or think-time entry for this slot */
	uint32_t wait : 1;    /* client: a response is awaited */
	uint32_t closing : 1; /* client: the request sent was the last; in SYN-SENT: the SYN was
			       * repeated at once. Server: FIN follows the response */
	union {
		struct {
			uint16_t flight; /* sequence space sent and not acknowledged */
			/* Upper bits: client, requests still to send; server, to answer before it
			 * closes; all set: unlimited. Lower bits, entry->messages.content_bits of
			 * them: the content of the message sent last. */
			uint16_t requests;
		};
		uint32_t side;      /* index of the side record when has_side */
		uint32_t next_free; /* of a closed slot */
	};
};
_Static_assert(sizeof(struct conn) == 32, "two connections per cache line");

#define SACK_RANGES 6
struct sack_range {
	uint32_t begin, end;
};

#define BEGIN_MAX 256
#define QUEUE_MAX 16
#define DUE_SHIFT 16 /* 66 us; wraps after 78 hours */
struct queued {      /* a message, repeated up to where the next begins */
	uint32_t at;
	uint32_t message; /* index into the entry's */
	uint32_t due;     /* of a delayed response, when it may leave: ns >> DUE_SHIFT; 0: now */
};

/* What a connection needs only for messages of several segments: congestion control, RTT, the
 * parser between segments. The fields it displaces from the record live here meanwhile. `ready`,
 * `next_ready` and `timed` belong to the slot and outlive its borrowers. */
struct side {
	uint32_t conn; /* its record; next free side record when free */
	uint32_t next_ready;
	uint16_t requests;
	uint8_t live : 1;
	uint8_t ready : 1;      /* in the engine's list of connections with something to send */
	uint8_t timed : 1;      /* the wheel holds an entry for this slot */
	uint8_t recovering : 1; /* RFC 6582 fast recovery */
	uint8_t receiving : 1;  /* parser or expected holds a message begun */
	uint8_t fin_wanted : 1; /* FIN goes behind the last byte */
	uint8_t has_mac : 1;
	/* agreed on in the handshake: then the side record is the connection's until its end */
	uint8_t stamped : 1;  /* time stamps (RFC 7323), see stamp.c */
	uint8_t scripted : 1; /* it plays a script, see conversation.c */
	uint8_t ecn : 1;      /* explicit congestion notification (RFC 3168), see ecn.c */
	uint8_t ecn_echo : 1; /* a mark has come: tell the peer until it says that it has slowed
				 down */
	uint8_t ecn_cwr : 1;  /* we have: say so with the next new data */
	uint8_t mac[6];       /* of the last hop the peer's segments came from */
	uint8_t unacked;      /* in-order data segments received and not acknowledged */
	uint16_t dup_acks;
	uint32_t queued;    /* sender: messages in `queue` */
	uint32_t length;    /* of all together, without FIN; 0: nothing to send */
	uint32_t start_seq; /* sequence number of the first byte */
	uint32_t snd_una, snd_max, snd_wnd;
	uint32_t cwnd, ssthresh, recover;
	struct cubic {
		uint64_t epoch;        /* when the present growth began; 0: with the next ACK */
		float w_max, w_est, k; /* segments, segments, s */
	} cubic;
	uint32_t rtt_seq; /* acknowledging this gives an RTT sample */
	uint32_t srtt_us, rttvar_us, rto_us;
	uint64_t rtt_time;     /* when it was sent; 0: no sample is being taken */
	uint64_t deadline;     /* of the retransmission or zero-window timer; 0: off */
	uint64_t hold_until;   /* server: a response is not sent before; 0: none is held */
	uint32_t held_from;    /* ... what lies from this offset on */
	uint64_t ack_deadline; /* of a delayed acknowledgment; 0: none */
	uint32_t ecn_recover;  /* marks of what was sent before this are answered already */
	uint32_t stamp_recent; /* TS.Recent: the peer's time stamp to echo */
	uint64_t stamp_time;   /* when it came */
	uint32_t ack_sent;     /* Last.ACK.sent */
	/* SACK scoreboard (RFC 6675): what the peer has beyond snd_una, ascending, apart from each
	 * other */
	struct sack_range sacked[SACK_RANGES];
	uint32_t sack_count;
	uint32_t high_rxt; /* retransmitted up to here in this recovery */
	/* receiver */
	struct rte_mbuf *kept; /* segments that came before their turn, see reassembly.c */
	uint32_t kept_count;
	uint32_t kept_latest; /* sequence number of the last one kept */
	uint32_t started;     /* client: when the request was first sent, as conn.time */
	uint64_t expected;    /* raw payload still to come */
	struct http_parser parser;
	/* of a conversation */
	uint32_t script, turn; /* its number; turns done */
	uint32_t heard;        /* of the far end: bytes, and 1 for its FIN */
	uint64_t turn_at;      /* when the next turn is due; 0: not known */
	uint32_t begun;        /* bytes of `begin` */
	/* of what follows only queue[0] is cleared for a new borrower */
	struct queued queue[QUEUE_MAX]; /* messages to send, one behind the other */
	char begin[BEGIN_MAX];          /* server with routes: how the request begins */
};

#endif
