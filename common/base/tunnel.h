/* Packets put into a tunnel and taken out of it, for one worker: between engines, which know
 * nothing of it, and the port.
 *
 * To send, tunnel_seal() lays the outer headers before a finished frame; without Ethernet inside,
 * in place of its Ethernet header. Received, tunnel_open() checks and takes them off, and leaves a
 * frame as if it had come without a tunnel.
 *
 * Which of several tunnels? A client's packets go by the place of its inner address among all
 * clients of the port, from 0: client n uses the n-th local address, remote address and number,
 * each cyclically; a server with the same pools of clients finds the same. A server answers to
 * where its client was last heard from (tunnel_learn()), with the number that stands at the same
 * place among those sent as the received one among those received. */
#ifndef BASE_TUNNEL_H
#define BASE_TUNNEL_H

#include "arena.h"
#include "engine.h"
#include "nexthop.h"
#include "tunnel_rule.h"

#define TUNNEL_FRONT_MAX 128u /* right-aligned template of what stands before the inner packet */

struct tunnel_path {
	u128 local, remote; /* as nexthop.h has addresses */
	uint32_t number;
};

/* A client that was heard, and how. */
struct tunnel_heard {
	u128 peer; /* its inner address; 0: free */
	struct tunnel_path path;
};

/* A pool of clients, and how many there are before it. */
struct tunnel_clients {
	const struct ip_pool *pool;
	u128 before;
};

struct tunnel {
	const struct tunnel_rule *rule;
	struct view_rule outside; /* what is let in */
	struct nexthop *hop;      /* of the underlay */
	uint8_t mac[6];           /* of frames given to engines, where none is carried */
	uint8_t family;
	uint8_t l3;       /* of the outer header; also bytes of Ethernet and tags */
	uint16_t headers; /* bytes from there to what is carried */
	uint8_t skip;     /* bytes of a frame that are not carried */
	uint16_t udp_port;
	bool single; /* all packets go one way, which is in `front` */
	bool learns;
	/* What nearly all packets look like that come out of a single tunnel of UDP over IPv4: the
	 * 32 bytes up to the protocol and what follows it, and those from the outer destination on.
	 */
	bool has_shape;
	struct view_shape shape[2];
	uint64_t ip_sum; /* of the IPv4 header in `front` */
	uint8_t front[TUNNEL_FRONT_MAX];
	struct tunnel_path one;        /* if single */
	struct tunnel_clients *client; /* own ones first */
	unsigned clients, own_clients;
	struct tunnel_heard *heard; /* open addressing, at most half full */
	uint32_t mask, used;
};

struct tunnel_setup {
	const struct tunnel_rule *rule; /* outlives the tunnel */
	const struct view_rule *inside; /* of the frames inside: checksums as there */
	uint8_t mac[6];                 /* of the port */
	uint8_t vlans;                  /* tags outside, with their priority bits */
	uint16_t vlan[2];
	struct nexthop *hop; /* of the underlay, outlives the tunnel */
	/* Pools of inner clients: those of client entries, then those that servers expect. */
	const struct ip_pool *const *client;
	unsigned clients, own_clients;
	bool serves; /* it has server entries: clients are to be remembered */
};

/* Bytes that tunnel_init() takes. */
size_t tunnel_bytes(const struct tunnel_setup *);
/* 0, or -1 when the arena is exhausted. */
int tunnel_init(struct tunnel *, const struct tunnel_setup *, struct arena *);

/* The n-th number of a pool, cyclically. */
uint32_t number_pool_at(const struct number_pool *, uint64_t n);

/* Seal the finished packets at pkt[]; those for which there is no next hop yet, or that cannot be
 * carried, are given back to tx. Returns how many are left, in order. */
uint32_t tunnel_seal(struct tunnel *, struct tx *, struct rte_mbuf **pkt, uint32_t count);

/* A packet of the underlay's own: ARP, Neighbour Discovery, ICMP. */
#define TUNNEL_OUTSIDE (-1)

/* Take a received packet out of its tunnel: 0, a drop reason, or TUNNEL_OUTSIDE with *view filled
 * in. */
int tunnel_open(const struct tunnel *, struct rte_mbuf *, struct view *);

/* Remember where the clients of opened and parsed packets were heard, if the tunnel learns; what
 * there is no room for gets a reason. Returns how many that were. flows: only TCP and UDP were
 * opened by tunnel_open(). */
unsigned tunnel_learn(struct tunnel *, struct rx_burst *, bool flows);

/* What tunnel_open() leaves before a frame for tunnel_learn(), if the tunnel learns. */
struct tunnel_mark {
	struct tunnel_path path;
	uint8_t mac[6];
};

/* A packet that tunnel_open() refused as DROP_TUNNEL_TYPE was GTP-U's echo request: it is turned
 * round into its answer, to be sent as it is. */
bool tunnel_echo(const struct tunnel *, struct rte_mbuf *);

/* tunnel_open.c: is this address of the underlay, as it lies in a header, an own end? */
bool tunnel_ends_here(const struct tunnel *, const uint8_t *address);

/* tunnel.c, for tunnel_seal.c: how a packet between these inner addresses goes. */
struct tunnel_path tunnel_path(const struct tunnel *, u128 own, u128 peer);

#endif
