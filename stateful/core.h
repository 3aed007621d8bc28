/* The stateful engine's inside: what its files share. Outside, only stateful.h is seen. */
#ifndef STATEFUL_CORE_H
#define STATEFUL_CORE_H

#include <arpa/inet.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "../common/base/checksum.h"
#include "../common/base/script.h"
#include "message.h"
#include "pipeline.h"
#include "stateful.h"
#include "table.h"
#include "timer.h"
#include "tuple.h"

#define TCP_SYN RTE_TCP_SYN_FLAG
#define TCP_ACK RTE_TCP_ACK_FLAG
#define TCP_FIN RTE_TCP_FIN_FLAG
#define TCP_RST RTE_TCP_RST_FLAG
#define TCP_PSH RTE_TCP_PSH_FLAG
#define TCP_ECE RTE_TCP_ECE_FLAG
#define TCP_CWR RTE_TCP_CWR_FLAG

#define STAMP_BYTES 12u /* of the time stamp option with two NOPs before it */
#define MSS_MIN     64u /* less would make a packet of nearly every byte */

#define TEMPLATE_MAX 64 /* two VLAN tags fit */

enum timer_kind { TIMER_RTX, TIMER_APP, TIMER_SIDE };
#define TIMER_KIND_BITS 2

/* Ways by weights, dealt evenly: of n draws in a row each has its share, to within one. */
struct deal {
	bool is_set;
	int64_t weight[CLOSE_WAYS], due[CLOSE_WAYS];
};

/* One traffic entry of this worker. */
struct entry {
	/* headers of every segment: Ethernet, IPv4, TCP, with the constant fields filled in; or
	 * Ethernet and IPv6 */
	_Alignas(64) uint8_t header[TEMPLATE_MAX];
	uint32_t ip_sum;       /* of the constant fields of the IPv4 header */
	uint16_t window;       /* as it stands in a segment once scaling is agreed on */
	uint16_t window_plain; /* ... and when it is not, and in SYN segments */
	uint8_t scale;         /* our window scale */
	bool client, http, udp;
	bool quick; /* quick.c may see to its exchanges */
	bool flows; /* ... and to what goes on of a body */
	bool sack;  /* permit selective acknowledgments */
	bool scale_offered;
	bool extended;  /* time stamps or ECN are asked for (client), or agreed to (server) */
	uint8_t number; /* of this entry in the engine */
	/* A traffic entry with both families is two entries here, side by side. They share its
	 * load as two workers would: connections alternate, exactly. */
	uint8_t family;
	uint8_t part, parts;
	/* the first range of our addresses and of our ports: nearly always the only one */
	uint32_t local_first, local_count;
	uint16_t port_first, port_last;
	uint32_t local6_number; /* IPv6: of our first address, among all of the engine */
	struct message_set messages;
	struct http_memo memo; /* of what this entry receives */
	uint32_t simple_max;   /* longest message an ordinary exchange sends */
	bool needs_side; /* every exchange takes a side record, and there may be too few of them */
	const struct config_traffic *config;
	struct traffic_stats *stats;
	uint64_t rto, timeout, think, idle_timeout, ack_delay;
	uint8_t idle_shift; /* unit of conn.time while idle: fine for short think times */
	uint16_t mss;       /* largest payload we take: offered to the peer */
	uint16_t requests;  /* of a new connection: struct conn.requests */
	/* client */
	struct tuple_walk tuples;
	struct pace cps, rps;
	bool churn; /* cps and concurrency together: a launch closes the oldest idle connection */
	/* Ways to end a connection: whether the last request asks the server to close, and what
	 * is done with a connection whose last request did not. */
	struct deal asks, close;
	/* of conversations; NULL: another kind */
	const struct script_set *scripts;
	uint32_t script_mask; /* the bits of a client's initial sequence number that name its script
			       */
	struct split *split;
	uint32_t pick;            /* 1 + the content of the next request; 0: to be chosen */
	bool paced;               /* requests wait for rps or bps */
	uint64_t concurrency;     /* this worker's share; UINT64_MAX: no limit */
	uint64_t active;          /* open and not being closed */
	uint64_t connecting;      /* of these, in the handshake */
	uint64_t waiting;         /* requests awaiting their response */
	uint64_t bits_lost;       /* of a bps load: given up in catching up */
	uint64_t turns;           /* requests of a bps load */
	enum not_offered blocked; /* why the last launch was not possible */
	uint32_t churn_at;        /* record the search for the oldest goes on at */
	uint32_t *idle;           /* paced: ring of idle connections */
	uint32_t idle_mask, idle_head, idle_tail;
	/* UDP: payload of a request or answer, of which the first bytes lie in `header`; 0: what
	 * was received is sent back. Sums are of all but addresses, ports and number. */
	uint32_t payload, payload_sum;
	bool numbered; /* payload begins with a number */
	/* with a pipeline: for every record a ring of as many times (a power of two), when each
	 * request was sent; 0: answered */
	uint32_t *sent;
	uint32_t ring;
	/* TCP, with a pipeline: for every record a struct pipeline; NULL: there is none */
	uint8_t *pipeline;
	uint32_t pipeline_bytes;
	uint16_t depth;
};

/* Segments that wait for a side record, see parked.c. */
enum parked_kind { PARKED_DATA, PARKED_SYN, PARKED_KINDS };
struct parked_line {
	struct parked *segment; /* a ring */
	uint32_t head, count;
};

/* Sums that are known, each at a place of its own: output.c. */
#define SUMMED_BITS 12
struct summed {
	const char *bytes;
	uint32_t length, sum;
};

struct stateful {
	struct engine engine; /* first */
	struct table table;
	struct timer timer;
	struct summed *summed;
	struct counters *counters;
	struct nexthop *nexthop;
	const struct steer *steer;
	const struct config_port *port;
	struct tx *tx; /* of the call being served */
	uint64_t now;
	uint32_t time; /* now as conn.time */
	uint8_t l2_len;
	bool ip6; /* the port speaks IPv6 */
	/* the first range of own IPv6 addresses, numbers 0 and on, as far as they have the same
	 * upper half */
	uint64_t local6_upper, local6_lower;
	uint32_t local6_count;
	bool offload;               /* checksums are left to the port */
	bool clocked;               /* the wheel has been given its first time */
	bool started, launched_all; /* the load has begun; nothing more will be launched */
	bool draining, aborting;
	bool partial;                /* received checksums may be partial */
	bool udp_client, udp_server; /* there are such entries */
	struct entry *tcp, *tcp6;    /* the first entry of TCP over IPv4, over IPv6, or NULL */
	uint16_t worker, workers;
	uint16_t mss_count;
	uint8_t mss_latest;
	uint16_t mss_value[CONN_MSS_MAX]; /* of the peers, ascending order not kept; [0] = 536 */
	/* the shortest time-out of an RTO or a delayed ACK: no entry of the wheel lies further off
	 */
	uint64_t rto_min;
	uint32_t kept_max;
	uint32_t kept; /* packets held for reassembly, of all connections */
	struct parked_line parked[PARKED_KINDS];
	bool unparking;            /* what waited is being looked at */
	uint64_t challenge_period; /* of the last bare ACK that was answered by an ACK */
	uint32_t challenges;       /* such answers in that period */
	struct rng rng;            /* of what is left to chance while running */
	uint64_t secret;           /* of initial sequence numbers */
	uint64_t ramp, duration;
	uint64_t start, end; /* of the load: nothing is launched from `end` on */
	uint64_t deadline;   /* of the drain */
	uint32_t sweep;      /* drain: record it has come to */
	uint32_t ready;      /* head of the list of side records with something to send */
	unsigned entries;
	struct entry *entry;
};

/* An ACK for a segment is wanted, which `delayed_ack` may delay; or it must leave, alone or with
 * data. */
enum ack_when { ACK_NONE, ACK_SOON, ACK_NOW };

/* A received segment on its way through the engine. */
struct segment {
	struct rx_burst *rx;
	unsigned index;
	struct tuple tuple;
	const struct ip6_pair *ip6; /* NULL: IPv4 */
	uint32_t seq, ack;
	uint32_t wnd; /* as it stands in the header; scaled once the connection is known */
	uint32_t len; /* of the payload from seq on */
	/* what holds that payload, and where in it: the received packet, or one kept by
	 * reassembly.c */
	const struct rte_mbuf *data;
	uint32_t offset;
	uint8_t flags;
	uint8_t ack_now; /* enum ack_when */
	/* of a connection with time stamps */
	uint32_t stamp, echo; /* TSval, TSecr */
};

static inline struct entry *conn_entry(const struct stateful *s, const struct conn *c)
{
	return &s->entry[c->entry];
}

/* ip6.c: own IPv6 addresses are numbered through all entries in their order; an address that
 * several entries have bears the first of its numbers. */
#define IP6_FOREIGN UINT32_MAX /* it is none of them */
uint32_t ip6_number_search(const struct stateful *, u128 local);
u128 ip6_address_search(const struct stateful *, uint32_t number);

/* The upper half of an address as it lies in a header, and the number of its lower half. */
static inline uint64_t ip6_upper(u128 ip)
{
	return (uint64_t)ip;
}

static inline uint64_t ip6_lower(u128 ip)
{
	return __builtin_bswap64((uint64_t)(ip >> 64));
}

static inline uint32_t ip6_number(const struct stateful *s, u128 local)
{
	uint64_t place = ip6_lower(local) - s->local6_lower;

	return likely(ip6_upper(local) == s->local6_upper && place < s->local6_count)
		       ? (uint32_t)place
		       : ip6_number_search(s, local);
}

static inline u128 ip6_address(const struct stateful *s, uint32_t number)
{
	if (unlikely(number >= s->local6_count))
		return ip6_address_search(s, number);
	return (u128)__builtin_bswap64(s->local6_lower + number) << 64 | s->local6_upper;
}

static inline const struct message *entry_message(const struct entry *e, uint32_t content,
						  enum variant variant)
{
	return &e->messages.message[content * VARIANT_COUNT + variant];
}

/* Is a client's response to this request as it is to be? */
static inline bool response_status_is_right(const struct entry *e, const struct content *request,
					    uint16_t status)
{
	uint16_t expected = request->status ? request->status : e->config->response.status;

	return expected ? status == expected : status / 100 == 2;
}

static inline bool response_length_is_right(const struct entry *e, uint8_t method, uint64_t bytes)
{
	uint64_t expected = e->config->response.body_size;

	return expected == CONFIG_ANY_SIZE || method == HTTP_HEAD || bytes == expected;
}

/* Of conn.requests: how many are left, and the content that is being sent or awaited. */
static inline uint16_t requests_left(const struct entry *e, uint16_t requests)
{
	return (uint16_t)(requests >> e->messages.content_bits);
}

static inline uint16_t requests_unlimited(const struct entry *e)
{
	return (uint16_t)(UINT16_MAX >> e->messages.content_bits);
}

static inline uint16_t requests_content(const struct entry *e, uint16_t requests)
{
	return (uint16_t)(requests & ((1u << e->messages.content_bits) - 1));
}

/* The same with another content. */
static inline uint16_t requests_with(const struct entry *e, uint16_t requests, uint32_t content)
{
	return (uint16_t)((requests >> e->messages.content_bits << e->messages.content_bits) |
			  content);
}

/* NULL: one request at a time. */
static inline struct pipeline *conn_pipeline(const struct stateful *s, const struct conn *c)
{
	const struct entry *e = conn_entry(s, c);

	if (likely(!e->pipeline))
		return NULL;
	return (void *)(e->pipeline + (size_t)table_number(&s->table, c) * e->pipeline_bytes);
}

static inline struct rte_mbuf *segment_mbuf(const struct segment *seg)
{
	return seg->rx->pkt[seg->index];
}

/* The tuple of packet i of a burst. */
static inline struct tuple tuple_received(const struct rx_burst *rx, unsigned i)
{
	const uint8_t *data = rte_pktmbuf_mtod(rx->pkt[i], const uint8_t *);
	struct tuple t;

	memcpy(&t.peer_be, data + rx->view[i].l3 + 12, sizeof(uint64_t));
	memcpy(&t.peer_port_be, data + rx->view[i].l4, sizeof(uint32_t));
	return t;
}

/* The same of an IPv6 packet, with its addresses. */
static inline struct tuple tuple_received6(const struct stateful *s, const struct rx_burst *rx,
					   unsigned i, struct ip6_pair *pair)
{
	const uint8_t *data = rte_pktmbuf_mtod(rx->pkt[i], const uint8_t *);
	struct tuple t;

	memcpy(pair, data + rx->view[i].l3 + 8, sizeof(*pair));
	t.peer_be = ip6_digest(pair->peer);
	t.local_be = ip6_number(s, pair->local);
	memcpy(&t.peer_port_be, data + rx->view[i].l4, sizeof(uint32_t));
	return t;
}

/* The contiguous piece of the payload that starts `at` bytes behind seq: its address and length. */
static inline uint32_t segment_piece(const struct segment *seg, uint32_t at, const char **data)
{
	const struct rte_mbuf *m = seg->data;
	uint32_t offset = seg->offset + at;

	for (; offset >= m->data_len; m = m->next)
		offset -= m->data_len;
	*data = rte_pktmbuf_mtod_offset(m, const char *, offset);
	return RTE_MIN(m->data_len - offset, seg->len - at);
}

static inline const uint8_t *segment_tcp(const struct segment *seg)
{
	return rte_pktmbuf_mtod_offset(segment_mbuf(seg), const uint8_t *,
				       seg->rx->view[seg->index].l4);
}

static inline void segment_refuse(struct segment *seg, enum drop reason)
{
	seg->rx->reason[seg->index] = reason;
}

/* May anything but a reply be sent? Half of the transmit queue is kept for replies: what the far
 * end has sent already must be answered even while the port refuses packets. */
static inline bool tx_open(const struct stateful *s)
{
	return s->tx->count < s->tx->capacity / 2;
}

/* refcnt and nb_segs of a mbuf, as they lie behind data_off */
#define SHARED_MASK  0x0000ffffffff0000u
#define SHARED_ALONE 0x0000000100010000u

/* A received packet can be written over when it is ours alone, in one piece, and has room. */
static inline __attribute__((always_inline)) bool mbuf_reusable(const struct rte_mbuf *m,
								uint32_t length)
{
	uint64_t shared;

	memcpy(&shared, &m->rearm_data, sizeof(shared));
	return (shared & SHARED_MASK) == SHARED_ALONE && RTE_MBUF_DIRECT(m) &&
	       (uint32_t)(m->buf_len - m->data_off) >= RTE_MAX(length, (uint32_t)TEMPLATE_MAX);
}

/* a is before b in sequence space */
static inline bool seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* A window of the peer's, as it stands in a segment that is no SYN, in bytes. */
static inline uint32_t conn_window(const struct conn *c, uint32_t window)
{
	return c->scale == CONN_NO_SCALE ? window : window << c->scale;
}

static inline uint16_t conn_mss(const struct stateful *s, const struct conn *c)
{
	return s->mss_value[c->mss];
}

/* Sequence space sent and not acknowledged. */
static inline uint32_t conn_flight(const struct stateful *s, const struct conn *c)
{
	return c->has_side ? table_side(&s->table, c)->snd_max - table_side(&s->table, c)->snd_una
			   : c->flight;
}

/* Nothing is under way in either direction; or a UDP socket has room for one more request. A side
 * record may still be held: the peer's window is small. */
static inline bool conn_is_idle(const struct stateful *s, const struct conn *c)
{
	const struct side *side = c->has_side ? table_side(&s->table, c) : NULL;

	if (c->state != ESTABLISHED || c->wait || conn_flight(s, c))
		return c->state == UDP_OPEN && c->flight < conn_entry(s, c)->config->pipeline;
	return !side || (!side->receiving && c->snd_nxt == side->start_seq + side->length);
}

static inline bool conn_is_synchronized(const struct conn *c)
{
	return c->state >= ESTABLISHED && c->state <= LAST_ACK;
}

/* ns from the first transmission of what is awaited until now (RTO doubled with each retry; a
 * sender leaves `time` at the first). */
static inline uint64_t conn_elapsed(const struct stateful *s, const struct conn *c)
{
	uint64_t since = (uint64_t)(uint32_t)(s->time - c->time) << CONN_TIME_SHIFT;

	if (c->has_side)
		return since;
	return since + conn_entry(s, c)->rto * ((1ull << c->retries) - 1);
}

/* output.c: segments out. All return false, with nothing changed, when there is no packet to write
 * into or no next hop yet. seg: the received segment whose packet may be turned round, or NULL. */
/* SYN or SYN,ACK, by the state. */
bool output_syn(struct stateful *, struct conn *, struct segment *seg, uint32_t seq);
/* No payload. */
bool output_bare(struct stateful *, struct conn *, struct segment *seg, uint8_t flags,
		 uint32_t seq);
bool output_ack(struct stateful *, struct conn *, struct segment *seg);
/* A message that fits one segment, at snd_nxt. */
bool output_whole(struct stateful *, struct conn *, struct segment *seg, uint8_t flags,
		  const struct message *);
/* Part of a message. */
bool output_segment(struct stateful *, struct conn *, struct segment *seg, uint8_t flags,
		    uint32_t seq, const struct message *, uint32_t offset, uint32_t len);
/* RST for a segment that belongs to no connection, or the ACK that a TIME-WAIT socket would give to
 * a FIN. */
void output_stateless(struct stateful *, struct entry *, const struct segment *seg);

/* conn.c: a connection's life, common to both sides. */
struct conn *conn_open(struct stateful *, struct entry *, uint32_t hash, const struct tuple *,
		       const struct ip6_pair *);
void conn_established(struct stateful *, struct conn *);
/* It is over: tallied as failed by `c->note` (client) or `failed` (-1: succeeded), and its record
 * is free. */
void conn_end(struct stateful *, struct conn *, int failed);
/* A request of a client failed and its connection lives on: unless it was left open, the first such
 * failure is that of the connection. */
void conn_note(struct conn *, enum failed);
/* How a connection ends that nobody waits for any longer: -1, succeeded, when nothing is awaited;
 * else by the far end's silence, or cut off while it still had time. */
int conn_unfinished(const struct stateful *, const struct conn *);
/* It does not count as open any more: it is being closed, or left open for good. */
void conn_retire(struct stateful *, struct conn *);
/* Where conn.requests is kept now. */
uint16_t *conn_requests(struct stateful *, struct conn *);
/* Nothing came back in time. */
void conn_give_up(struct stateful *, struct conn *);
/* Send RST and end it. */
void conn_abort(struct stateful *, struct conn *, int failed);
/* Send FIN, on its own or in the packet of seg. State moves on by RFC 9293 section 3.10.4. */
void conn_close(struct stateful *, struct conn *, struct segment *seg);
/* Our FIN has left for the first time. */
void conn_fin_sent(struct stateful *, struct conn *);
void conn_arm_rtx(struct stateful *, struct conn *);
void conn_arm_app(struct stateful *, struct conn *, uint64_t delay);
/* Send a message, and FIN behind it when c->closing: at once when it fits one segment, else by
 * sender.c. False: not possible now, nothing changed. */
bool conn_send(struct stateful *, struct conn *, struct segment *seg, uint32_t content,
	       enum variant);
/* The same `delay` later. */
bool conn_send_later(struct stateful *, struct conn *, struct segment *seg, uint32_t content,
		     enum variant, uint64_t delay);
/* One request less is left, if they are counted. */
void conn_requests_down(struct stateful *, struct conn *);
uint8_t conn_mss_index(struct stateful *, uint16_t mss);
uint32_t conn_isn(const struct stateful *, const struct tuple *);

/* Count a message of this status. */
void conn_count_status(struct stateful *, uint16_t status);
/* An in-order data segment of a message that goes on was taken: acknowledge every second one at
 * once, the last at the end of the burst. The connection has a side record. */
void conn_delay_ack(struct stateful *, struct conn *, struct segment *seg);
/* The connection's answer to a segment it cannot use, refused for `reason`: an ACK that says where
 * it stands (input_synchronized.c). */
void conn_challenge(struct stateful *, struct conn *, struct segment *seg, enum drop reason);

/* sender.c: messages of several segments, and all that needs a side record (RFC 5681, 6298, 6582).
 * sender_borrow() describes what is outstanding in the new side record; false when the pool is
 * empty. */
bool sender_borrow(struct stateful *, struct conn *, const struct segment *seg);
bool sender_send(struct stateful *, struct conn *, struct segment *seg, const struct message *,
		 uint64_t delay);
void sender_acked(struct stateful *, struct conn *, struct segment *seg, uint32_t acked);
/* FIN behind whatever is still to be sent. */
void sender_close(struct stateful *, struct conn *, struct segment *seg);
void sender_timer(struct stateful *, uint32_t side);
/* Send what is under way again, in segments of the present size. */
void sender_again(struct stateful *, struct conn *);
/* Our SYN has been acknowledged. */
void sender_opened(struct stateful *, struct conn *, struct segment *seg);
/* Acknowledge what was received after a delay, unless something leaves before. */
void sender_delay_ack(struct stateful *, struct conn *);
/* Have sender_poll() look at the connection: something is to be sent or acknowledged. */
void sender_ready(struct stateful *, struct conn *);
void sender_poll(struct stateful *);
/* More may be sent than before. seg: as conn_send() has it. */
void sender_go(struct stateful *, struct conn *, struct segment *seg);
/* Give the side record back if nothing needs it any more. */
void sender_release(struct stateful *, struct conn *);

/* extension.c: what a connection holds a side record for all its life for. */
static inline bool side_is_held(const struct side *side)
{
	return side->stamped | side->ecn | side->scripted;
}
/* A SYN is about to leave: borrow a side record if there are enough, and note what is to be asked
 * for (seg NULL) or what of the SYN in seg is agreed to. */
void extension_begin(struct stateful *, struct conn *, const struct segment *seg, bool has_stamp,
		     uint32_t stamp);
/* The SYN,ACK in seg has come: only what it agrees to remains. */
void extension_agreed(struct stateful *, struct conn *, const struct segment *seg, bool has_stamp,
		      uint32_t stamp);
/* Before the first check of a segment: false when it is refused (PAWS). */
bool extension_check(struct stateful *, struct conn *, struct segment *seg);
/* It is in the window: take over its time stamp and marks. */
void extension_take(struct stateful *, struct conn *, const struct segment *seg);
/* The time stamp option with two NOPs before it, if there is one; returns how many words. */
uint32_t stamp_write(const struct stateful *, const struct side *, uint32_t *option);
/* The round trip that an echo tells of, ns. */
uint64_t stamp_elapsed(const struct stateful *, uint32_t echo);
/* Flags of a segment that takes part in ECN; *mark: the ECN field of its IP header. */
uint8_t ecn_flags(struct side *, uint8_t flags, uint32_t seq, uint32_t len, uint8_t *mark);

/* congestion.c: the congestion window. */
void congestion_start(struct side *, uint32_t mss);
/* `acked` new bytes were acknowledged, not in recovery: cwnd grows. */
void congestion_acked(const struct stateful *, const struct entry *, struct side *, uint32_t mss,
		      uint32_t acked);
/* A loss: ssthresh falls, by what is in flight. */
void congestion_lost(const struct entry *, struct side *, uint32_t mss);

/* sack.c: the scoreboard of a sender.
 * Take the SACK blocks of a segment's options over into it. */
void sack_read(struct side *, const struct segment *seg);
/* Forget what lies behind snd_una. */
void sack_forget(struct side *);
uint32_t sack_bytes(const struct side *);
/* What is not acknowledged below this is lost: more than two segments above have arrived. snd_una:
 * nothing is. */
uint32_t sack_lost_below(const struct side *, uint32_t mss);
/* The first range from `from` on that has not arrived though something above has. */
bool sack_hole(const struct side *, uint32_t from, struct sack_range *hole);
/* Bytes in the network, by estimate (RFC 6675 section 4, SetPipe). */
uint32_t sack_pipe(const struct side *, uint32_t snd_nxt, uint32_t mss);

/* reassembly.c: what came before its turn. Keep a segment, if there is room for it. */
bool reassembly_keep(struct stateful *, struct conn *, struct segment *seg);
/* The next kept segment is in turn now: *kept describes what is new of it, and the packet is the
 * caller's, to be released. NULL: none is. */
struct rte_mbuf *reassembly_next(struct stateful *, struct conn *, const struct segment *seg,
				 struct segment *kept);
void reassembly_free(struct stateful *, struct side *);
/* The blocks to report, the one with the latest segment first; returns how many, at most `most`. */
unsigned reassembly_blocks(const struct side *, struct sack_range *block, unsigned most);

/* parked.c: segments that wait until there are side records. */
size_t parked_reserve(void);
int parked_init(struct stateful *, struct arena *);
/* Is the pool empty, or do others wait for what is free? */
static inline bool sides_are_short(const struct stateful *s)
{
	return s->table.side_live == s->table.side_capacity ||
	       (s->parked[PARKED_DATA].count && !s->unparking);
}
/* Must a SYN for this server wait? */
bool parked_awaits(const struct stateful *, const struct entry *);
/* Take a segment out of its burst until there are side records; false: it cannot wait here. */
bool parked_add(struct stateful *, enum parked_kind, struct segment *);
void parked_poll(struct stateful *);
/* Nobody will look at them any more. */
void parked_settle(struct stateful *);
/* Could parked_poll() go on? */
bool parked_is_due(const struct stateful *);

/* client.c and server.c: what to do with bytes. They move c->rcv_nxt over what they take of the
 * payload; true when that was all of it (or the connection is gone: c->state == CLOSED), false to
 * have the peer repeat the rest. */
bool client_data(struct stateful *, struct conn *, struct segment *seg);
bool server_data(struct stateful *, struct conn *, struct segment *seg);
void client_fin(struct stateful *, struct conn *, struct segment *seg);
void server_fin(struct stateful *, struct conn *, struct segment *seg);
/* The handshake is complete: the first request, or idle. */
void client_ready(struct stateful *, struct conn *, struct segment *seg);
bool client_request(struct stateful *, struct conn *, struct segment *seg);
/* A connection left open has been idle for its time. */
void client_left_over(struct stateful *, struct conn *);
/* No packet or side record for the next request can be had now: try again after a while. */
void client_retry(struct stateful *, struct conn *);
/* The connection ended, and with it all requests under way have failed. */
void client_lost(struct stateful *, struct conn *, enum failed);
/* The request that is awaited carries a payload, and its connection ended: a device has blocked it.
 * False: it carries none. */
bool client_blocked(struct stateful *, struct conn *);
/* Think time is over: the next request, or the end. */
void client_think_over(struct stateful *, struct conn *);

/* The content of the next request by weight: that whose share is owed most. */
uint32_t client_pick(struct entry *);

/* conversation.c: connections that play a script, of an entry with `scripts`.
 * Make the entry's part of it, with the arena bytes that conversation_reserve() says. -1: no
 * memory. */
int conversation_make(struct entry *, const struct script_set *, struct arena *);
size_t conversation_reserve(const struct config_traffic *);
/* A client's connection is opened: choose its script, which its initial sequence number names. */
void conversation_number(struct entry *, struct conn *);
/* It has its side record, before its SYN or the SYN in seg is answered. */
void conversation_begin(struct stateful *, struct conn *, const struct segment *seg);
/* Something has happened to a synchronized connection: do what is due. */
void conversation_go(struct stateful *, struct conn *, struct segment *seg);
/* Payload in order, as client_data(); the far end's FIN: false when it came too early, and the
 * connection is gone. */
bool conversation_data(struct stateful *, struct conn *, struct segment *seg);
bool conversation_fin(struct stateful *, struct conn *);
/* How a connection ends that was reset, or heard nothing for too long: -1 or enum failed. */
int conversation_reset(const struct stateful *, const struct conn *);
int conversation_silent(const struct stateful *, const struct conn *);
/* What it sends: valid until the next call. */
const struct message *conversation_message(struct entry *, const struct side *);

/* pipeline.c. Bytes that a record of such an entry takes for its pipeline; 0: it has none. */
uint32_t pipeline_size(const struct config_traffic *);
int pipeline_init(struct stateful *, struct entry *, struct arena *);
/* The record is a new connection's. */
void pipeline_open(struct stateful *, struct conn *);
/* May one more request be sent on it? */
bool pipeline_has_room(const struct stateful *, const struct conn *);
/* As many requests as the pipeline is deep are to be sent. */
void pipeline_begin(struct stateful *, struct conn *, struct segment *seg);
/* Send what is owed. */
void pipeline_fill(struct stateful *, struct conn *, struct segment *seg);
/* A response has come, and the connection goes on. */
void pipeline_next(struct stateful *, struct conn *, struct segment *seg);

/* entry.c. Is a traffic entry this engine's, on this port? */
bool entry_is_mine(const struct config_traffic *, unsigned port);
/* May its connections hold a side record for life, for time stamps or ECN? */
bool entry_is_extended(const struct config_traffic *);
/* How many connections of an entry may be open at once, all workers together. */
uint64_t entry_connections(const struct config_traffic *);
/* Arena bytes of one family of an entry, with so many connections of the worker. */
uint64_t entry_bytes(const struct config *, const struct config_traffic *, uint8_t family,
		     uint64_t connections);
/* Make all entries of the engine's port. -1: no memory. */
int entries_init(struct stateful *, const struct stateful_setup *, struct arena *);

/* launch.c: the load of the client entries. */
void launch_start(struct stateful *);
void launch_poll(struct stateful *);
uint64_t launch_next(const struct stateful *);
void launch_idle(struct stateful *, struct conn *);

/* input_synchronized.c: a segment of a connection past SYN-SENT. */
void input_synchronized(struct stateful *, struct entry *, struct conn *, struct segment *seg);

/* quick.c. May its exchanges take the short way? */
bool quick_suits(const struct stateful *, const struct entry *);
/* The same of bodies longer than a segment. */
bool quick_flows(const struct entry *);
/* Packet `index` is for a connection without a side record: true when it was just what was awaited,
 * and all that follows from it has been done. */
bool quick_segment(struct stateful *, struct entry *, struct conn *, struct rx_burst *,
		   unsigned index);
/* The same where a side record holds the parser of a body. */
bool quick_body(struct stateful *, struct entry *, struct conn *, struct rx_burst *,
		unsigned index);

/* pmtu.c: as struct engine_ops has it. */
bool stateful_unreachable(struct engine *, const struct rte_mbuf *, const struct view *,
			  struct tx *, uint64_t now);
/* A segment of this connection that began at seq was too long: from now on segments carry `mss`
 * bytes at most, options included. False when that is not believed or changes nothing. */
bool conn_path_mtu(struct stateful *, struct conn *, uint32_t seq, uint32_t mss);

/* stateful.c: a call of the engine begins. */
void clock_set(struct stateful *, struct tx *, uint64_t now);

/* describe.c: as struct engine_ops has it. */
void stateful_describe(const struct engine *, const struct rte_mbuf *, const struct view *,
		       char *text, size_t size);

/* udp.c: datagrams in and out. */
int udp_init(struct stateful *, struct entry *, struct arena *);
void udp_input(struct stateful *, struct rx_burst *);
/* The next hop of a datagram: the gateway, else where `in` came from (or NULL), else by address. */
const uint8_t *udp_hop(struct stateful *, const struct rte_mbuf *in, uint32_t peer_be,
		       const struct ip6_pair *);
/* Bytes before the payload. */
static inline uint32_t udp_headers(const struct stateful *s, uint8_t family)
{
	return s->l2_len + (family == 6 ? 48u : 28u);
}
/* Write an entry's datagram into a packet, and queue it. ip6: the addresses, if it is IPv6. */
void udp_send(struct stateful *, struct entry *, struct rte_mbuf *, const uint8_t *mac,
	      const struct tuple *, const struct ip6_pair *ip6, uint32_t number_be);

/* udp_client.c: sockets. */
/* A record was made for a new socket: begin. */
void udp_open(struct stateful *, struct entry *, struct conn *);
bool udp_request(struct stateful *, struct conn *);
/* Packet i is for this socket. */
void udp_answer(struct stateful *, struct conn *, struct rx_burst *, unsigned i);
/* An entry of the wheel has come: `app`, of think time. */
void udp_reminded(struct stateful *, struct conn *, bool app);
/* Close it: now, what is under way is lost; or when it is answered. */
void udp_close(struct stateful *, struct conn *, bool now);

/* input.c, expiry.c */
void input_burst(struct stateful *, struct rx_burst *);
/* The entry of TCP or UDP that owns a tuple's local address and port, or NULL; ip6: the addresses,
 * if it is IPv6. */
struct entry *entry_of(struct stateful *, const struct tuple *, const struct ip6_pair *ip6,
		       bool client, bool udp);
/* Does the entry serve this peer? Yes, if it has no `clients`. */
bool entry_serves(const struct entry *, const struct tuple *, const struct ip6_pair *ip6);
void expiry_poll(struct stateful *);
/* Have the wheel remind of a retransmission or time-out, not later than in `delay`. */
void expiry_remind(struct stateful *, struct conn *, uint64_t delay);
/* Close or reset what is open, some of it at a time; true when everything has been looked at. */
bool drain_poll(struct stateful *);
/* End all that is open, without a packet. */
void drain_settle(struct stateful *);

#endif
