/* The counters of a worker: one table, one writer each.
 *
 * A row is: identifier, JSON/report name (the names dperf's users know), screen group, help. The
 * screen, the report, the CSV header and the manual are made from these rows: to add a counter, add
 * a row. The worker that owns a `struct counters` adds with plain stores; the control thread reads
 * with counters_read(), relaxed, and never writes. */
#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

#include <stdint.h>

#include "drop.h"

/* Groups are lines of the screen, in this order. */
#define COUNTER_TABLE(X)                                                                          \
	X(PKT_RX, pktRx, 1, "packets received")                                                   \
	X(PKT_TX, pktTx, 1, "packets sent")                                                       \
	X(BITS_RX, bitsRx, 1, "bits received, Ethernet header on, FCS off")                       \
	X(BITS_TX, bitsTx, 1, "bits sent, Ethernet header on, FCS off")                           \
	X(DROP_TX, dropTx, 1, "packets given up because the port kept refusing them")             \
	X(TCP_RX, tcpRx, 2, "TCP segments received")                                              \
	X(TCP_TX, tcpTx, 2, "TCP segments sent")                                                  \
	X(UDP_RX, udpRx, 2, "UDP datagrams received")                                             \
	X(UDP_TX, udpTx, 2, "UDP datagrams sent")                                                 \
	X(ARP_RX, arpRx, 3, "ARP packets received")                                               \
	X(ARP_TX, arpTx, 3, "ARP packets sent")                                                   \
	X(ICMP_RX, icmpRx, 3, "ICMP packets received")                                            \
	X(ICMP_TX, icmpTx, 3, "ICMP packets sent")                                                \
	X(OTHER_RX, otherRx, 3, "received packets of no protocol Onager speaks")                  \
	X(BAD_RX, badRx, 3, "received packets malformed, with a bad checksum, or fragments")      \
	X(SYN_RX, synRx, 4, "SYN segments received")                                              \
	X(SYN_TX, synTx, 4, "SYN segments sent")                                                  \
	X(FIN_RX, finRx, 4, "FIN segments received")                                              \
	X(FIN_TX, finTx, 4, "FIN segments sent")                                                  \
	X(RST_RX, rstRx, 4, "RST segments received")                                              \
	X(RST_TX, rstTx, 4, "RST segments sent")                                                  \
	X(SYN_RT, synRt, 5, "SYN or SYN,ACK retransmitted")                                       \
	X(FIN_RT, finRt, 5, "FIN retransmitted")                                                  \
	X(ACK_RT, ackRt, 5, "ACK sent again because the peer repeated itself")                    \
	X(PUSH_RT, pushRt, 5, "data segments retransmitted")                                      \
	X(TCP_DROP, tcpDrop, 5, "TCP segments of no connection, or not acceptable in its state")  \
	X(SK_OPEN, skOpen, 6, "connections opened")                                               \
	X(SK_CLOSE, skClose, 6, "connections closed")                                             \
	X(SK_CON, skCon, 6, "connections open now")                                               \
	X(SK_ERR, skErr, 6, "connections that failed")                                            \
	X(SIDE_WAIT, sideWait, 6, "segments that waited for a side record: memory.side_records")  \
	X(HTTP_GET, httpGet, 7,                                                                   \
	  "HTTP GET and HEAD requests sent by a client, received by a server")                    \
	X(HTTP_POST, httpPost, 7, "HTTP POST requests sent by a client, received by a server")    \
	X(HTTP_1XX, http1XX, 7, "responses 1xx")                                                  \
	X(HTTP_2XX, http2XX, 7, "responses 2xx")                                                  \
	X(HTTP_3XX, http3XX, 7, "responses 3xx")                                                  \
	X(HTTP_4XX, http4XX, 7, "responses 4xx")                                                  \
	X(HTTP_5XX, http5XX, 7, "responses 5xx")                                                  \
	X(HTTP_ERR, httpErr, 7, "responses malformed, cut short, or of a wrong status or length") \
	X(UDP_REQ, udpReq, 8, "UDP requests")                                                     \
	X(UDP_RSP, udpRsp, 8, "UDP responses")                                                    \
	X(UDP_LOST, udpLost, 8, "UDP requests without a response")                                \
	X(IERRORS, ierrors, 9, "erroneous packets the port received")                             \
	X(OERRORS, oerrors, 9, "packets the port failed to send")                                 \
	X(IMISSED, imissed, 9, "packets the port dropped because its receive ring was full")      \
	X(RX_NOMBUF, rxNombuf, 9, "times the port had no buffer to receive into")

enum counter {
#define COUNTER_ENUM(id, name, group, help) COUNTER_##id,
	COUNTER_TABLE(COUNTER_ENUM)
#undef COUNTER_ENUM
		COUNTER_COUNT
};

/* skCon is a gauge: a level, not a rate. The ports' own counters (group 9) are filled in by the
 * control thread from the device, not by a worker. */
struct counters {
	_Alignas(64) uint64_t value[COUNTER_COUNT];
	uint64_t drop[DROP_COUNT]; /* received packets refused, by enum drop; [0] counts accepted */
};

struct counter_info {
	const char *name;
	const char *help;
	uint8_t group;
};
extern const struct counter_info counter_info[COUNTER_COUNT];

/* Copy another thread's counters, each word relaxed. */
void counters_read(struct counters *to, const struct counters *from);

/* to += from, every word. */
void counters_add(struct counters *to, const struct counters *from);

#endif
