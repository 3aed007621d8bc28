/* ARP (RFC 826) and ICMP echo (RFC 792) for one worker, and the table that Neighbour Discovery
 * (neighbor6.c) fills as well.
 *
 * Own addresses are ranges and never expanded. The worker's next-hop table is at the same time the
 * list of what to ask for: the gateway is an entry of it, so are destinations on the link, whether
 * known before the load or noted by an engine on its way (`wanted`). Rounds through the table ask
 * for each entry that is due: unresolved ones every 100 ms, later every second; resolved ones again
 * after some seconds, the more entries the later, so that asking stays below some 13 a second.
 * Hearing from an entry by any ARP packet counts as its answer (RFC 826 merges before it looks at
 * the operation), so a gratuitous announcement of a gateway that failed over is followed at once.
 *
 * Rejected: learning addresses nobody asked for (a scan would fill the table), and ageing entries
 * out (a peer that stopped answering ARP still gets its packets: the load shows the failure). */
#include "neighbor_private.h"

#define ASK_NS       100000000u
#define ASK_LATER_NS 1000000000u
#define ASK_EARLY    30u /* this many times at the short interval */
#define REFRESH_NS   5000000000u
#define SLOTS_A_POLL 1024u
#define ASKS_A_POLL  64u
#define FRAME_MIN    60u
#define ICMP_ECHO    8
#define ICMP_REPLY   0
#define ICMP_TTL     64
#define ARP_REQUEST  1
#define ARP_REPLY    2

struct arp_packet { /* RFC 826 for IPv4 over Ethernet */
	uint16_t hardware_be, protocol_be;
	uint8_t hardware_length, protocol_length;
	uint16_t operation_be;
	uint8_t sender_mac[6];
	uint32_t sender_be;
	uint8_t target_mac[6];
	uint32_t target_be;
} __attribute__((packed));

struct ip4_header {
	uint8_t version_ihl, tos;
	uint16_t length_be, id_be, fragment_be;
	uint8_t ttl, protocol;
	uint16_t checksum;
	uint32_t src_be, dst_be;
} __attribute__((packed));

bool neighbor_owns(const struct neighbor *n, u128 ip)
{
	uint8_t family = nexthop_is_ip4(ip) ? 4 : 6;

	for (unsigned i = 0; i < n->addresses; i++)
		if (n->address[i].address == ip)
			return true;
	for (unsigned i = 0; i < n->pools; i++)
		if (n->pool[i]->family == family &&
		    ip_pool_contains(n->pool[i], family == 4 ? (uint32_t)ip : ip))
			return true;
	return false;
}

int neighbor_add(struct neighbor *n, u128 address, uint64_t first_ask)
{
	struct nexthop_entry *entry;

	if (nexthop_find(n->nexthop, address))
		return 0;
	entry = nexthop_add(n->nexthop, address);
	if (!entry)
		return -1;
	entry->asked_at = first_ask;
	n->pending++;
	return 0;
}

void neighbor_resolve(struct neighbor *n, struct nexthop_entry *entry, const uint8_t *mac,
		      uint64_t now)
{
	if (!entry->resolved && n->pending)
		n->pending--;
	memcpy(entry->mac, mac, 6);
	entry->resolved = 1;
	entry->asked = 0;
	entry->asked_at = now;
	if (entry->ip == n->gateway) {
		memcpy(n->nexthop->gateway, mac, 6);
		n->nexthop->has_gateway = true;
	}
	if (entry->ip == n->gateway6) {
		memcpy(n->nexthop->gateway6, mac, 6);
		n->nexthop->has_gateway6 = true;
	}
}

static bool arp_learn(struct neighbor *n, const struct rte_mbuf *m, const struct view *view,
		      uint64_t now)
{
	static const uint8_t zero[6];
	struct nexthop_entry *entry;
	struct arp_packet arp;

	memcpy(&arp, frame_at(m, view->l3), sizeof arp);
	if (!arp.sender_be || arp.sender_mac[0] & 1 || !memcmp(arp.sender_mac, zero, 6))
		return false;
	entry = nexthop_find(n->nexthop, nexthop_ip4(arp.sender_be));
	if (!entry)
		return false;
	neighbor_resolve(n, entry, arp.sender_mac, now);
	return true;
}

bool neighbor_is_news(const struct rte_mbuf *m, const struct view *view)
{
	return view->kind == VIEW_ARP || (view->kind == VIEW_ICMP && neighbor6_is_news(m, view));
}

bool neighbor_learn(struct neighbor *n, const struct rte_mbuf *m, const struct view *view,
		    uint64_t now)
{
	return view->kind == VIEW_ARP ? arp_learn(n, m, view, now)
				      : neighbor6_learn(n, m, view, now);
}

static uint8_t *put_be16(uint8_t *at, uint16_t value)
{
	*at++ = (uint8_t)(value >> 8);
	*at++ = (uint8_t)value;
	return at;
}

/* The tags from `at` on; returns what follows. */
static uint8_t *tags_put(const struct neighbor *n, uint8_t *at)
{
	for (unsigned i = 0; i < n->vlans; i++) {
		/* IEEE 802.1Q: the outer of two tags is a service tag. */
		at = put_be16(at, i + 1 < n->vlans ? 0x88a8 : 0x8100);
		at = put_be16(at, n->vlan[i]);
	}
	return at;
}

void frame_return(const struct neighbor *n, struct rte_mbuf *m)
{
	uint8_t *frame = frame_at(m, 0);

	memcpy(frame, frame + 6, 6);
	memcpy(frame + 6, n->mac, 6);
	tags_put(n, frame + 12);
	m->ol_flags = 0;
}

static void arp_input(struct neighbor *n, struct rx_burst *rx, unsigned i, struct tx *tx,
		      uint64_t now)
{
	struct rte_mbuf *m = rx->pkt[i];
	struct arp_packet *arp = (struct arp_packet *)frame_at(m, rx->view[i].l3);
	bool learned = arp_learn(n, m, &rx->view[i], now);
	uint32_t target_be = arp->target_be;

	if (arp->operation_be != __builtin_bswap16(ARP_REQUEST) ||
	    !neighbor_owns(n, nexthop_ip4(target_be))) {
		if (!learned)
			rx->reason[i] = DROP_ARP_NOT_MINE;
		return;
	}
	arp->operation_be = __builtin_bswap16(ARP_REPLY);
	memcpy(arp->target_mac, arp->sender_mac, 6);
	arp->target_be = arp->sender_be;
	memcpy(arp->sender_mac, n->mac, 6);
	arp->sender_be = target_be;
	frame_return(n, m);
	tx_push(tx, rx_take(rx, i));
	n->counters->value[COUNTER_ARP_TX]++;
}

static void icmp_input(struct neighbor *n, struct rx_burst *rx, unsigned i, struct tx *tx)
{
	struct rte_mbuf *m = rx->pkt[i];
	struct ip4_header *ip = (struct ip4_header *)frame_at(m, rx->view[i].l3);
	struct icmp_header *icmp = (struct icmp_header *)frame_at(m, rx->view[i].l4);
	uint32_t src_be = ip->src_be;
	uint16_t before;

	if (!neighbor_owns(n, nexthop_ip4(ip->dst_be))) {
		rx->reason[i] = DROP_IP_NOT_MINE;
		return;
	}
	if (icmp->type != ICMP_ECHO) {
		rx->reason[i] = DROP_ICMP_IGNORED;
		return;
	}
	before = word_at(icmp);
	icmp->type = ICMP_REPLY;
	icmp->checksum = checksum_change(icmp->checksum, before, word_at(icmp));
	if (!icmp->checksum) /* a message of zeros sums to +0, which only this makes whole */
		icmp->checksum = 0xffff;
	before = word_at(&ip->ttl);
	ip->ttl = ICMP_TTL;
	ip->checksum = checksum_change(ip->checksum, before, word_at(&ip->ttl));
	ip->src_be = ip->dst_be;
	ip->dst_be = src_be;
	frame_return(n, m);
	tx_push(tx, rx_take(rx, i));
	n->counters->value[COUNTER_ICMP_TX]++;
}

void neighbor_input(struct neighbor *n, struct rx_burst *rx, unsigned i, struct tx *tx,
		    uint64_t now)
{
	if (rx->view[i].kind == VIEW_ARP)
		arp_input(n, rx, i, tx, now);
	else if (rx->view[i].family == 6)
		neighbor6_input(n, rx, i, tx, now);
	else
		icmp_input(n, rx, i, tx);
}

/* In the target's subnet, else the first (RFC 1122 section 3.3.4.3). */
u128 neighbor_source(const struct neighbor *n, u128 target)
{
	u128 first = 0;

	for (unsigned i = 0; i < n->addresses; i++) {
		if (nexthop_is_ip4(n->address[i].address) != nexthop_is_ip4(target))
			continue;
		if (!((n->address[i].address ^ target) & n->address[i].mask))
			return n->address[i].address;
		if (!first)
			first = n->address[i].address;
	}
	return first;
}

uint8_t *frame_begin(const struct neighbor *n, struct rte_mbuf *m, const uint8_t *to, uint16_t type)
{
	uint8_t *at = frame_at(m, 0);

	memset(at, 0, FRAME_MIN);
	memcpy(at, to, 6);
	memcpy(at + 6, n->mac, 6);
	at = tags_put(n, at + 12);
	m->ol_flags = 0;
	return put_be16(at, type);
}

/* A request in the name of `own`; for that itself it is an announcement (RFC 5227 section 3). */
static void request_write(const struct neighbor *n, struct rte_mbuf *m, u128 own, u128 target)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct arp_packet arp = {
		.hardware_be = __builtin_bswap16(1),
		.protocol_be = __builtin_bswap16(0x0800),
		.hardware_length = 6,
		.protocol_length = 4,
		.operation_be = __builtin_bswap16(ARP_REQUEST),
		.sender_be = __builtin_bswap32((uint32_t)own),
		.target_be = __builtin_bswap32((uint32_t)target),
	};
	uint8_t *at = frame_begin(n, m, broadcast, 0x0806);

	memcpy(arp.sender_mac, n->mac, 6);
	memcpy(at, &arp, sizeof arp);
	m->data_len = FRAME_MIN;
	m->pkt_len = FRAME_MIN;
}

/* When an entry is to be asked for again. */
static uint64_t ask_due_at(const struct neighbor *n, const struct nexthop_entry *entry)
{
	if (!entry->asked && !entry->resolved)
		return entry->asked_at;
	if (!entry->resolved || entry->asked)
		return entry->asked_at + (entry->asked < ASK_EARLY ? ASK_NS : ASK_LATER_NS);
	return entry->asked_at + REFRESH_NS * (1 + n->nexthop->used / 64);
}

/* With a gateway nothing else is asked for: what an engine noted before it was resolved waits for
 * it. */
static bool is_due(const struct neighbor *n, const struct nexthop_entry *entry, uint64_t now)
{
	if (!entry->ip || now < ask_due_at(n, entry))
		return false;
	if (n->nexthop->routes)
		return true;
	if (nexthop_is_ip4(entry->ip))
		return !n->gateway || entry->ip == n->gateway;
	return !n->solicit && (!n->gateway6 || entry->ip == n->gateway6);
}

/* Returns false when there is no packet to ask with. */
static bool ask(struct neighbor *n, struct nexthop_entry *entry, struct tx *tx, uint64_t now)
{
	struct rte_mbuf *m = tx_room(tx) ? tx_new(tx) : NULL;

	if (!m)
		return false;
	if (nexthop_is_ip4(entry->ip))
		request_write(n, m, neighbor_source(n, entry->ip), entry->ip);
	else
		neighbor6_ask(n, m, entry->ip);
	n->counters->value[nexthop_is_ip4(entry->ip) ? COUNTER_ARP_TX : COUNTER_ICMP_TX]++;
	tx_push(tx, m);
	entry->asked_at = now;
	if (entry->asked < UINT8_MAX)
		entry->asked++;
	return true;
}

/* All of them at once, or at the next poll. */
static void announce(struct neighbor *n, struct tx *tx)
{
	struct rte_mbuf *m;

	if (tx_room(tx) < n->addresses)
		return;
	n->announce = false;
	for (unsigned i = 0; i < n->addresses && (m = tx_new(tx)); i++) {
		u128 own = n->address[i].address;

		if (nexthop_is_ip4(own))
			request_write(n, m, own, own);
		else
			neighbor6_announce(n, m, own);
		n->counters->value[nexthop_is_ip4(own) ? COUNTER_ARP_TX : COUNTER_ICMP_TX]++;
		tx_push(tx, m);
	}
}

void neighbor_poll(struct neighbor *n, struct tx *tx, uint64_t now)
{
	struct nexthop *hop = n->nexthop;
	unsigned asks = 0;

	if (n->announce)
		announce(n, tx);
	if (n->solicit)
		neighbor6_solicit(n, tx, now);
	if (hop->wanted && !n->cursor) {
		hop->wanted = false;
		n->round_at = now;
	}
	if (!n->cursor && now < n->round_at)
		return;
	for (unsigned i = 0; i < SLOTS_A_POLL && asks < ASKS_A_POLL; i++) {
		struct nexthop_entry *entry = &hop->table[n->cursor];

		if (is_due(n, entry, now)) {
			if (!ask(n, entry, tx, now))
				return;
			asks++;
		}
		n->cursor = (n->cursor + 1) & hop->mask;
		if (!n->cursor) {
			n->round_at = now + ASK_NS;
			return;
		}
	}
}
