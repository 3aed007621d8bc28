/* Neighbour Discovery (RFC 4861) and ICMPv6 echo (RFC 4443) for one worker.
 *
 * Only what an end needs: own addresses are advertised to who solicits them, neighbours solicited
 * as neighbor.c's rounds say, and where a router is to be found, it is solicited until one has
 * advertised itself. Nothing is believed that a router could have forwarded (hop limit 255).
 * Addresses are taken without asking whether they are in use (no DAD): they are the user's to give,
 * and a pool of 2^64 can't be asked for.
 *
 * Rejected: unicast probes of resolved neighbours (a refresh by multicast is answered all the
 * same), prefixes and MTU of advertisements (the configuration says what is ours). */
#include "neighbor_private.h"

#define HOP_LIMIT      255 /* of all Neighbour Discovery (section 11.2) */
#define ECHO_HOP_LIMIT 64
#define IP6_BYTES      40u
#define OPTION_BYTES   8u
#define PROTOCOL_ICMP6 58
#define SOLICIT_NS     1000000000u
#define OVERRIDE       0x20 /* flags of an advertisement */
#define SOLICITED      0x40

enum {
	ECHO_REQUEST = 128,
	ECHO_REPLY = 129,
	ROUTER_SOLICITATION = 133,
	ROUTER_ADVERTISEMENT = 134,
	NEIGHBOR_SOLICITATION = 135,
	NEIGHBOR_ADVERTISEMENT = 136,
};

enum { OPTION_SOURCE = 1, OPTION_TARGET = 2 };

struct ip6_header {
	uint8_t version, class_flow[3];
	uint16_t length_be;
	uint8_t next, hop_limit;
	uint8_t src[16], dst[16];
} __attribute__((packed));

/* ICMPv6 with a target, and the option that carries a MAC address. */
struct nd_message {
	struct icmp_header icmp;
	uint8_t flags[4];
	uint8_t target[16];
	uint8_t option, option_length, mac[6];
} __attribute__((packed));

#define ROUTERS ((u128)0xff02 << 112 | 2)
#define NODES   ((u128)0xff02 << 112 | 1)

static u128 ip_read(const uint8_t *at)
{
	u128 ip = 0;

	for (unsigned i = 0; i < 16; i++)
		ip = ip << 8 | at[i];
	return ip;
}

static void ip_write(uint8_t *at, u128 ip)
{
	for (int i = 15; i >= 0; i--, ip >>= 8)
		at[i] = (uint8_t)ip;
}

static bool is_multicast(u128 ip)
{
	return ip >> 120 == 0xff;
}

/* fe80::/10 */
static bool is_link_local(u128 ip)
{
	return ip >> 118 == 0x3fa;
}

/* The group that everyone with this address listens to (RFC 4291 section 2.7.1). */
static u128 solicited_node(u128 ip)
{
	return (u128)0xff02 << 112 | (u128)0x1ff000000 | (ip & 0xffffff);
}

static const struct ip6_header *ip_of(const struct rte_mbuf *m, const struct view *view)
{
	return (const struct ip6_header *)frame_at(m, view->l3);
}

/* Received ICMPv6: where it begins, and how long it is. */
static const uint8_t *message_of(const struct rte_mbuf *m, const struct view *view,
				 uint32_t *length)
{
	*length = view->payload - view->l4 + view->payload_len;
	return frame_at(m, view->l4);
}

/* The MAC address in an option of this type among those from `at` on, or NULL. *valid: none is
 * malformed (section 4.6: a length of zero). */
static const uint8_t *option_find(const uint8_t *at, const uint8_t *end, uint8_t type, bool *valid)
{
	const uint8_t *found = NULL;

	for (*valid = true; at < end; at += at[1] * OPTION_BYTES) {
		*valid = end - at >= 2 && at[1] && at[1] * OPTION_BYTES <= (size_t)(end - at);
		if (!*valid)
			return NULL;
		if (at[0] == type && !(at[2] & 1))
			found = at + 2;
	}
	return found;
}

/* Is it a message of Neighbour Discovery that came over this very link (sections 6.1, 7.1)? All of
 * it must lie in the first segment. */
static bool nd_is_valid(const struct rte_mbuf *m, const struct view *view, uint32_t least)
{
	const struct ip6_header *ip = ip_of(m, view);
	uint32_t length;
	const uint8_t *message = message_of(m, view, &length);

	return ip->hop_limit == HOP_LIMIT && !message[1] && length >= least &&
	       view->l4 + length <= m->data_len;
}

static bool learn(struct neighbor *n, u128 ip, const uint8_t *mac, uint64_t now)
{
	struct nexthop_entry *entry = mac && ip ? nexthop_find(n->nexthop, ip) : NULL;

	if (!entry)
		return false;
	neighbor_resolve(n, entry, mac, now);
	return true;
}

/* Section 6.1.2. The first router that offers itself is taken, until it says that it is none. */
static bool router_learn(struct neighbor *n, const struct rte_mbuf *m, const struct view *view)
{
	u128 from = ip_read(ip_of(m, view)->src);
	uint32_t length;
	const uint8_t *message = message_of(m, view, &length), *mac;
	struct nexthop *hop = n->nexthop;
	bool valid;

	if (!n->solicit || !nd_is_valid(m, view, 16) || !is_link_local(from) ||
	    (n->router && n->router != from))
		return false;
	mac = option_find(message + 16, message + length, OPTION_SOURCE, &valid);
	if (!valid)
		return false;
	hop->has_router = message[6] || message[7]; /* its lifetime */
	hop->has_gateway6 = hop->has_router && !hop->routes;
	n->router = hop->has_router ? from : 0;
	if (!hop->has_router)
		return true;
	memcpy(hop->gateway6, mac ? mac : frame_at(m, 6), 6);
	if (n->solicited != UINT32_MAX && n->pending)
		n->pending--;
	n->solicited = UINT32_MAX;
	return true;
}

bool neighbor6_is_news(const struct rte_mbuf *m, const struct view *view)
{
	uint8_t type = *frame_at(m, view->l4);

	return view->family == 6 && type >= ROUTER_ADVERTISEMENT && type <= NEIGHBOR_ADVERTISEMENT;
}

bool neighbor6_learn(struct neighbor *n, const struct rte_mbuf *m, const struct view *view,
		     uint64_t now)
{
	const struct ip6_header *ip = ip_of(m, view);
	uint32_t length;
	const uint8_t *message = message_of(m, view, &length), *end = message + length;
	const uint8_t *mac;
	bool valid;

	if (message[0] == ROUTER_ADVERTISEMENT)
		return router_learn(n, m, view);
	if (!nd_is_valid(m, view, 24) || is_multicast(ip_read(message + 8)))
		return false;
	if (message[0] == NEIGHBOR_SOLICITATION) {
		mac = option_find(message + 24, end, OPTION_SOURCE, &valid);
		return valid && learn(n, ip_read(ip->src), mac, now);
	}
	if (is_multicast(ip_read(ip->dst)) && message[4] & SOLICITED)
		return false;
	mac = option_find(message + 24, end, OPTION_TARGET, &valid);
	return valid && learn(n, ip_read(message + 8), mac, now);
}

/* Headers and message, from the IPv6 header at `at` on; returns where the frame ends. */
static uint8_t *message_write(const struct neighbor *n, uint8_t *at, u128 src, u128 dst,
			      struct nd_message *message, uint16_t length)
{
	struct ip6_header ip = {.version = 0x60,
				.length_be = __builtin_bswap16(length),
				.next = PROTOCOL_ICMP6,
				.hop_limit = HOP_LIMIT};

	ip_write(ip.src, src);
	ip_write(ip.dst, dst);
	memcpy(message->mac, n->mac, 6);
	message->icmp.checksum = (uint16_t)~checksum_fold(
		checksum_pseudo6(ip.src, PROTOCOL_ICMP6, length) + checksum_sum(message, length));
	memcpy(at, &ip, sizeof ip);
	memcpy(at + sizeof ip, message, length);
	return at + sizeof ip + length;
}

static void frame_end(struct rte_mbuf *m, const uint8_t *end)
{
	m->data_len = (uint16_t)(end - frame_at(m, 0));
	m->pkt_len = m->data_len;
}

/* A solicitation (section 7.2.4) becomes its advertisement; one from the unspecified address, which
 * tests whether the target is free, is told so for all to hear. */
static void advertise(struct neighbor *n, struct rte_mbuf *m, const struct view *view,
		      const uint8_t *solicitation)
{
	struct nd_message answer = {
		.icmp.type = NEIGHBOR_ADVERTISEMENT, .option = OPTION_TARGET, .option_length = 1};
	u128 from = ip_read(ip_of(m, view)->src), target = ip_read(solicitation + 8);

	answer.flags[0] = from ? OVERRIDE | SOLICITED : OVERRIDE;
	ip_write(answer.target, target);
	frame_return(n, m);
	if (!from)
		memcpy(frame_at(m, 0), "\x33\x33\0\0\0\x01", 6);
	frame_end(m, message_write(n, frame_at(m, view->l3), target, from ? from : NODES, &answer,
				   sizeof answer));
}

static void solicitation_input(struct neighbor *n, struct rx_burst *rx, unsigned i, struct tx *tx,
			       bool learned)
{
	struct rte_mbuf *m = rx->pkt[i];
	const struct view *view = &rx->view[i];
	uint32_t length;
	const uint8_t *message = message_of(m, view, &length);

	if (!nd_is_valid(m, view, 24)) {
		rx->reason[i] = DROP_ICMP_BAD;
	} else if (!neighbor_owns(n, ip_read(message + 8))) {
		rx->reason[i] = learned ? DROP_NONE : DROP_ICMP_NOT_MINE;
	} else {
		advertise(n, m, view, message);
		tx_push(tx, rx_take(rx, i));
		n->counters->value[COUNTER_ICMP_TX]++;
	}
}

/* Extension headers are no part of the answer. */
static void extensions_cut(struct rte_mbuf *m, const struct view *view)
{
	uint16_t extra = (uint16_t)(view->l4 - view->l3 - IP6_BYTES);
	struct ip6_header *ip;

	if (!extra)
		return;
	memmove(frame_at(m, extra), frame_at(m, 0), view->l3 + IP6_BYTES);
	m->data_off = (uint16_t)(m->data_off + extra);
	m->data_len = (uint16_t)(m->data_len - extra);
	m->pkt_len -= extra;
	ip = (struct ip6_header *)frame_at(m, view->l3);
	ip->next = PROTOCOL_ICMP6;
	ip->length_be = __builtin_bswap16((uint16_t)(__builtin_bswap16(ip->length_be) - extra));
}

static void echo_input(struct neighbor *n, struct rx_burst *rx, unsigned i, struct tx *tx)
{
	struct rte_mbuf *m = rx->pkt[i];
	const struct view *view = &rx->view[i];
	struct icmp_header *icmp = (struct icmp_header *)frame_at(m, view->l4);
	uint16_t before = word_at(icmp);
	struct ip6_header *ip;
	uint8_t src[16];

	if (!neighbor_owns(n, ip_read(ip_of(m, view)->dst))) {
		rx->reason[i] = DROP_IP_NOT_MINE;
		return;
	}
	icmp->type = ECHO_REPLY;
	icmp->checksum = checksum_change(icmp->checksum, before, word_at(icmp));
	extensions_cut(m, view);
	ip = (struct ip6_header *)frame_at(m, view->l3);
	ip->hop_limit = ECHO_HOP_LIMIT;
	memcpy(src, ip->src, sizeof src);
	memcpy(ip->src, ip->dst, sizeof src);
	memcpy(ip->dst, src, sizeof src);
	frame_return(n, m);
	tx_push(tx, rx_take(rx, i));
	n->counters->value[COUNTER_ICMP_TX]++;
}

void neighbor6_input(struct neighbor *n, struct rx_burst *rx, unsigned i, struct tx *tx,
		     uint64_t now)
{
	uint8_t type = *frame_at(rx->pkt[i], rx->view[i].l4);
	bool learned = neighbor6_is_news(rx->pkt[i], &rx->view[i]) &&
		       neighbor6_learn(n, rx->pkt[i], &rx->view[i], now);

	if (type == NEIGHBOR_SOLICITATION)
		solicitation_input(n, rx, i, tx, learned);
	else if (type == ECHO_REQUEST)
		echo_input(n, rx, i, tx);
	else if (!learned)
		rx->reason[i] = DROP_ICMP_IGNORED;
}

/* The Ethernet address of an IPv6 group (RFC 2464 section 7). */
static void group_mac(uint8_t mac[6], u128 group)
{
	mac[0] = mac[1] = 0x33;
	for (unsigned i = 0; i < 4; i++)
		mac[2 + i] = (uint8_t)(group >> (24 - 8 * i));
}

static void group_send(const struct neighbor *n, struct rte_mbuf *m, u128 src, u128 group,
		       struct nd_message *message, uint16_t length)
{
	uint8_t mac[6];

	group_mac(mac, group);
	frame_end(m, message_write(n, frame_begin(n, m, mac, 0x86dd), src, group, message, length));
}

void neighbor6_ask(const struct neighbor *n, struct rte_mbuf *m, u128 target)
{
	struct nd_message message = {
		.icmp.type = NEIGHBOR_SOLICITATION, .option = OPTION_SOURCE, .option_length = 1};

	ip_write(message.target, target);
	group_send(n, m, neighbor_source(n, target), solicited_node(target), &message,
		   sizeof message);
}

/* Section 7.2.6. */
void neighbor6_announce(const struct neighbor *n, struct rte_mbuf *m, u128 own)
{
	struct nd_message message = {.icmp.type = NEIGHBOR_ADVERTISEMENT,
				     .flags = {OVERRIDE},
				     .option = OPTION_TARGET,
				     .option_length = 1};

	ip_write(message.target, own);
	group_send(n, m, own, NODES, &message, sizeof message);
}

void neighbor_solicit(struct neighbor *n, uint64_t first_ask)
{
	n->solicit = true;
	n->solicited_at = first_ask;
	n->pending++;
}

/* Section 6.3.7, but for as long as it takes. A router solicitation has no target: its option
 * stands in that place. */
void neighbor6_solicit(struct neighbor *n, struct tx *tx, uint64_t now)
{
	struct nd_message message = {.icmp.type = ROUTER_SOLICITATION};
	struct rte_mbuf *m;

	if (n->router || now < n->solicited_at || !tx_room(tx) || !(m = tx_new(tx)))
		return;
	message.target[0] = OPTION_SOURCE;
	message.target[1] = 1;
	memcpy(message.target + 2, n->mac, 6);
	group_send(n, m, neighbor_source(n, ROUTERS), ROUTERS, &message, 16);
	tx_push(tx, m);
	n->counters->value[COUNTER_ICMP_TX]++;
	n->solicited_at = now + SOLICIT_NS;
	if (n->solicited < UINT32_MAX - 1)
		n->solicited++;
}
