/* Why a received packet was refused: one table.
 *
 * A row is: identifier, name in reports and captures, the counter it also adds to (the name dperf's
 * users know: badRx, otherRx or tcpDrop; NONE for none), help. To add a drop reason, add a row. */
#ifndef BASE_DROP_H
#define BASE_DROP_H

#include <stdint.h>

#define DROP_TABLE(X)                                                                              \
	X(ETH_SHORT, "eth.short", BAD_RX, "frame shorter than its headers")                        \
	X(ETH_NOT_MINE, "eth.not_mine", OTHER_RX, "destination MAC address is not this port's")    \
	X(ETH_VLAN, "eth.vlan", OTHER_RX, "VLAN tags differ from this port's")                     \
	X(ETH_TYPE, "eth.type", OTHER_RX, "EtherType that Onager does not speak")                  \
	X(ARP_BAD, "arp.bad", BAD_RX, "malformed ARP packet")                                      \
	X(ARP_NOT_MINE, "arp.not_mine", NONE, "ARP that neither asks for nor answers this port")   \
	X(IP_BAD, "ip.bad", BAD_RX, "IP version, header length or total length wrong")             \
	X(IP_CUT, "ip.cut", BAD_RX, "longer than its frame: ethtool -K IF tso off gso off gro off") \
	X(IP_CSUM, "ip.bad_csum", BAD_RX, "IPv4 header checksum wrong")                            \
	X(IP_FRAGMENT, "ip.fragment", BAD_RX, "IP fragment: Onager does not reassemble")           \
	X(IP_NOT_MINE, "ip.not_mine", OTHER_RX, "IP destination is no address of this port")       \
	X(IP_PROTO, "ip.proto", OTHER_RX, "IP protocol that no traffic of this port uses")         \
	X(ICMP_BAD, "icmp.bad", BAD_RX, "malformed ICMP message or bad checksum")                  \
	X(ICMP_IGNORED, "icmp.ignored", NONE, "ICMP message that needs no answer")                 \
	X(ICMP_NOT_MINE, "icmp.not_mine", NONE, "neighbour solicitation for an address of others") \
	X(TCP_BAD, "tcp.bad", BAD_RX, "TCP header or options malformed")                           \
	X(TCP_CSUM, "tcp.bad_csum", BAD_RX, "TCP checksum wrong")                                  \
	X(TCP_NO_CONN, "tcp.no_conn", TCP_DROP, "no connection, and not one this port accepts")    \
	X(TCP_NO_PORT, "tcp.no_port", TCP_DROP, "SYN to an address or port that nobody listens on") \
	X(TCP_CLIENT, "tcp.client", TCP_DROP, "SYN of a client that the server's `clients` excludes") \
	X(TCP_TABLE_FULL, "tcp.table_full", TCP_DROP, "SYN refused: the connection table is full") \
	X(TCP_PAWS, "tcp.paws", TCP_DROP, "time stamp older than the last one: an old duplicate")  \
	X(TCP_NO_STAMP, "tcp.no_stamp", TCP_DROP, "no time stamp, though both ends agreed on them") \
	X(TCP_BAD_SEQ, "tcp.bad_seq", TCP_DROP, "outside the receive window")                      \
	X(TCP_OLD_DATA, "tcp.old_data", TCP_DROP, "data already received: the peer repeated it")   \
	X(TCP_OLD_ACK, "tcp.old_ack", TCP_DROP, "acknowledges less than was acknowledged before")  \
	X(TCP_BAD_ACK, "tcp.bad_ack", TCP_DROP, "acknowledges what was never sent")                \
	X(TCP_BAD_RST, "tcp.bad_rst", TCP_DROP, "RST not at the next sequence number")             \
	X(TCP_BAD_SYN, "tcp.bad_syn", TCP_DROP, "SYN on a live connection: challenge ACK sent")    \
	X(TCP_NO_ACK, "tcp.no_ack", TCP_DROP, "segment without ACK on a synchronized connection")  \
	X(TCP_OUT_OF_ORDER, "tcp.out_of_order", TCP_DROP, "in the window but not next, not kept")  \
	X(TCP_NO_SIDE, "tcp.no_side", TCP_DROP, "no memory to take it in now: the peer will repeat it") \
	X(TCP_STATE, "tcp.state", TCP_DROP, "segment that this state of the connection ignores")   \
	X(UDP_BAD, "udp.bad", BAD_RX, "UDP header malformed")                                      \
	X(UDP_CSUM, "udp.bad_csum", BAD_RX, "UDP checksum wrong")                                  \
	X(UDP_NO_PORT, "udp.no_port", OTHER_RX, "UDP to a port that nobody listens on")            \
	X(UDP_CLIENT, "udp.client", OTHER_RX, "UDP of a client that the server's `clients` excludes") \
	X(UDP_LATE, "udp.late", OTHER_RX, "answer to no request that waits: too late, doubled, or without its number") \
	X(UDP_UNANSWERED, "udp.unanswered", OTHER_RX, "request that could not be answered: no packet to write into, or IP options") \
	X(TUNNEL_NONE, "tunnel.none", OTHER_RX, "outside of the port's tunnel: to no end of it, or of another kind") \
	X(TUNNEL_SHORT, "tunnel.short", BAD_RX, "ends before its tunnel header does")              \
	X(TUNNEL_BAD, "tunnel.bad", BAD_RX, "tunnel header malformed")                             \
	X(TUNNEL_CSUM, "tunnel.bad_csum", BAD_RX, "GRE checksum wrong")                            \
	X(TUNNEL_NUMBER, "tunnel.number", OTHER_RX, "VNI, key, TEID or label that is not this port's") \
	X(TUNNEL_TYPE, "tunnel.type", OTHER_RX, "carries something else than packets of users")    \
	X(TUNNEL_FULL, "tunnel.full", OTHER_RX, "from one client more than are remembered")        \
	X(HANDOFF_FULL, "worker.handoff_full", NONE, "the ring to the owning worker was full")

enum drop {
	DROP_NONE, /* accepted */
#define DROP_ENUM(id, name, counter, help) DROP_##id,
	DROP_TABLE(DROP_ENUM)
#undef DROP_ENUM
	DROP_COUNT
};

struct drop_info {
	const char *name;
	const char *help;
	int counter; /* enum counter it also adds to, or -1 */
};
extern const struct drop_info drop_info[DROP_COUNT];

#endif
