/* UDP sockets: datagrams in and out, and the server.
 *
 * A server keeps nothing of its clients: it turns each request round in its own buffer. Sent back
 * as it came, a datagram keeps its checksum, for what is exchanged in it - addresses, ports - is
 * summed all the same; a device that sends tagged packets thus gets them back, tag in. An answer of
 * a given size is the entry's template with the request's first four bytes, by which a client knows
 * it. Clients' sockets are in udp_client.c.
 *
 * Of IPv4 the template has the beginning of the payload too, so that a short datagram is written as
 * one block; that of IPv6 ends with the addresses. Which of the two a datagram is, is decided once
 * for an entry when it is sent, and for a burst when it is received.
 *
 * Rejected: records of a server's peers (they would say nothing that a packet does not), and
 * leaving UDP checksums to the port (what they cover is constant but for a few words). */
#include "core.h"

#include <string.h>

#define IP_BYTES    sizeof(struct rte_ipv4_hdr)
#define IP6_BYTES   sizeof(struct rte_ipv6_hdr)
#define UDP_BYTES   sizeof(struct rte_udp_hdr)
#define NUMBER_SIZE 4u

#define always_inline static inline __attribute__((always_inline))

/* The part of the header that is an entry's own, and the sums that go with it. */
static void header_finish(const struct stateful *s, struct entry *e)
{
	uint16_t headers = (uint16_t)(s->l2_len + IP_BYTES + UDP_BYTES);
	uint16_t length = htons((uint16_t)(UDP_BYTES + e->payload));
	const char *payload = entry_message(e, 0, VARIANT_KEEP)->whole;
	unsigned number = e->numbered ? NUMBER_SIZE : 0;

	if (e->family == 6) {
		((struct rte_ipv6_hdr *)(e->header + s->l2_len))->payload_len = length;
	} else {
		struct rte_ipv4_hdr *ip = (void *)(e->header + s->l2_len);
		struct rte_udp_hdr *udp = (void *)(ip + 1);

		ip->total_length = htons((uint16_t)(IP_BYTES + UDP_BYTES + e->payload));
		udp->dgram_len = length;
		memcpy(udp + 1, payload, RTE_MIN(e->payload, (uint32_t)(TEMPLATE_MAX - headers)));
		e->ip_sum += ip->total_length;
	}
	e->payload_sum = checksum_fold(checksum_sum(payload + number, e->payload - number) +
				       htons(IPPROTO_UDP) + length + length);
}

int udp_init(struct stateful *s, struct entry *e, struct arena *arena)
{
	s->udp_client |= e->client;
	s->udp_server |= !e->client;
	e->payload = entry_message(e, 0, VARIANT_KEEP)->length;
	e->numbered = e->client ? e->config->numbered : e->payload >= NUMBER_SIZE;
	if (e->payload)
		header_finish(s, e);
	if (e->ring)
		e->sent = arena_take(arena, (size_t)s->table.capacity * e->ring * sizeof(*e->sent));
	return e->ring && !e->sent ? -1 : 0;
}

const uint8_t *udp_hop(struct stateful *s, const struct rte_mbuf *in, uint32_t peer_be,
		       const struct ip6_pair *ip6)
{
	if (ip6 ? s->nexthop->has_gateway6 : s->nexthop->has_gateway)
		return ip6 ? s->nexthop->gateway6 : s->nexthop->gateway;
	if (in)
		return rte_pktmbuf_mtod(in, const struct rte_ether_hdr *)->src_addr.addr_bytes;
	return ip6 ? nexthop_mac6(s->nexthop, ip6_swap(ip6->peer))
		   : nexthop_mac(s->nexthop, peer_be);
}

/* A sum of zero is sent as all ones: zero says that there is none (RFC 768). */
static uint16_t udp_check(uint64_t sum)
{
	uint16_t check = (uint16_t)~checksum_fold(sum);

	return check ? check : 0xffff;
}

/* The datagram's IPv4 header, UDP header and payload, but for checksum and number; returns where
 * UDP begins, and adds what the addresses sum to. */
static struct rte_udp_hdr *datagram4(const struct stateful *s, const struct entry *e, uint8_t *at,
				     const struct tuple *t, uint64_t *sum)
{
	struct rte_ipv4_hdr *ip = (void *)(at + s->l2_len);
	uint32_t headers = (uint32_t)(s->l2_len + IP_BYTES + UDP_BYTES);
	uint64_t addresses = (uint64_t)t->local_be + t->peer_be;

	if (headers + e->payload > TEMPLATE_MAX)
		memcpy(at + TEMPLATE_MAX,
		       entry_message(e, 0, VARIANT_KEEP)->whole + (TEMPLATE_MAX - headers),
		       headers + e->payload - TEMPLATE_MAX);
	ip->src_addr = t->local_be;
	ip->dst_addr = t->peer_be;
	ip->hdr_checksum = (uint16_t)~checksum_fold(e->ip_sum + addresses);
	*sum += addresses;
	return (struct rte_udp_hdr *)(ip + 1);
}

/* The same of IPv6. */
static struct rte_udp_hdr *datagram6(const struct stateful *s, const struct entry *e, uint8_t *at,
				     const struct ip6_pair *ip6, uint64_t *sum)
{
	struct rte_ipv6_hdr *ip = (void *)(at + s->l2_len);
	struct rte_udp_hdr *udp = (void *)(ip + 1);

	memcpy(ip->src_addr, &ip6->local, sizeof(ip6->local));
	memcpy(ip->dst_addr, &ip6->peer, sizeof(ip6->peer));
	udp->dgram_len = ip->payload_len;
	memcpy(udp + 1, entry_message(e, 0, VARIANT_KEEP)->whole, e->payload);
	*sum += checksum_pseudo6(ip->src_addr, 0, 0);
	return udp;
}

/* mac may lie in the packet's own header. */
always_inline void datagram_send(struct stateful *s, struct entry *e, struct rte_mbuf *m,
				 const uint8_t *mac, const struct tuple *t,
				 const struct ip6_pair *ip6, uint32_t number_be)
{
	uint8_t *at = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t length = udp_headers(s, ip6 ? 6 : 4) + e->payload;
	uint32_t ports = (uint32_t)t->peer_port_be << 16 | t->local_port_be;
	uint64_t sum = (uint64_t)e->payload_sum + ports;
	struct rte_udp_hdr *udp;
	struct rte_ether_addr to;

	memcpy(&to, mac, sizeof(to));
	memcpy(at, e->header, TEMPLATE_MAX);
	memcpy(at, &to, sizeof(to));
	udp = ip6 ? datagram6(s, e, at, ip6, &sum) : datagram4(s, e, at, t, &sum);
	memcpy(&udp->src_port, &ports, sizeof(ports));
	if (e->numbered) {
		memcpy(udp + 1, &number_be, sizeof(number_be));
		sum += number_be;
	}
	udp->dgram_cksum = udp_check(sum);
	m->ol_flags = 0;
	m->data_len = (uint16_t)length;
	m->pkt_len = length;
	e->stats->level.bits_tx += (uint64_t)length * 8;
	s->counters->value[COUNTER_UDP_TX]++;
	tx_push(s->tx, m);
}

void udp_send(struct stateful *s, struct entry *e, struct rte_mbuf *m, const uint8_t *mac,
	      const struct tuple *t, const struct ip6_pair *ip6, uint32_t number_be)
{
	if (unlikely(ip6 != NULL))
		datagram_send(s, e, m, mac, t, ip6, number_be);
	else
		datagram_send(s, e, m, mac, t, NULL, number_be);
}

/* The entry's own hop limit and traffic class on a datagram that goes back; IPv4's header is summed
 * anew if it had others. */
static void echo_marks(const struct entry *e, uint8_t *at, bool ip6)
{
	struct rte_ipv4_hdr *ip = (void *)at;
	struct rte_ipv6_hdr *ip6_header = (void *)at;

	if (ip6) {
		ip6_header->hop_limits = e->config->ttl;
		ip6_header->vtc_flow = htonl(6u << 28 | (uint32_t)e->config->tos << 20);
	} else if (unlikely(ip->time_to_live != e->config->ttl ||
			    ip->type_of_service != e->config->tos)) {
		ip->time_to_live = e->config->ttl;
		ip->type_of_service = e->config->tos;
		ip->hdr_checksum = 0;
		ip->hdr_checksum = (uint16_t)~checksum_fold(checksum_sum(ip, IP_BYTES));
	}
}

/* A checksum that only covers the pseudo-header (struct view_rule) is made whole. */
static void echo_sum(uint8_t *at, struct rte_udp_hdr *udp, bool ip6)
{
	const struct rte_ipv4_hdr *ip = (const void *)at;
	uint16_t length = ntohs(udp->dgram_len);
	uint64_t pseudo = ip6 ? checksum_pseudo6(at + 8, IPPROTO_UDP, length)
			      : checksum_pseudo4(ip->src_addr, ip->dst_addr, IPPROTO_UDP, length);

	udp->dgram_cksum = 0;
	udp->dgram_cksum = udp_check(checksum_sum(udp, length) + pseudo);
}

/* Turn a datagram round where it lies. */
static void echo(struct stateful *s, struct entry *e, struct rte_mbuf *m, const struct view *view,
		 const struct tuple *t, const struct ip6_pair *ip6)
{
	struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, view->l3);
	struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(m, struct rte_udp_hdr *, view->l4);
	struct rte_ether_addr to;

	memcpy(&to, udp_hop(s, m, t->peer_be, ip6), sizeof(to));
	memcpy(ether, &to, sizeof(to));
	memcpy(&ether->src_addr, e->header + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	if (unlikely(ip6 != NULL)) {
		struct ip6_pair back = {.peer = ip6->local, .local = ip6->peer};

		memcpy(ip + 8, &back, sizeof(back));
	} else {
		memcpy(ip + 12, &t->local_be, sizeof(t->local_be));
		memcpy(ip + 16, &t->peer_be, sizeof(t->peer_be));
	}
	udp->src_port = t->local_port_be;
	udp->dst_port = t->peer_port_be;
	echo_marks(e, ip, ip6);
	if (unlikely(s->partial && udp->dgram_cksum))
		echo_sum(ip, udp, ip6);
	m->ol_flags = 0;
	e->stats->level.bits_tx += (uint64_t)m->pkt_len * 8;
	s->counters->value[COUNTER_UDP_TX]++;
	tx_push(s->tx, m);
}

/* The packet that an answer to packet i of a burst is written into, or NULL. */
static struct rte_mbuf *answer_take(struct stateful *s, const struct entry *e, struct rx_burst *rx,
				    unsigned i)
{
	if (mbuf_reusable(rx->pkt[i], rx->view[i].payload + e->payload))
		return rx_take(rx, i);
	return e->payload ? tx_new(s->tx) : NULL;
}

static void answer(struct stateful *s, struct entry *e, struct rx_burst *rx, unsigned i,
		   const struct tuple *tuple, const struct ip6_pair *ip6)
{
	const struct view *view = &rx->view[i];
	struct rte_mbuf *in = rx->pkt[i], *m = NULL;
	uint32_t number = 0;

	if (view->l4 - view->l3 == (ip6 ? (int)IP6_BYTES : (int)IP_BYTES))
		m = answer_take(s, e, rx, i);
	if (unlikely(!m)) {
		rx->reason[i] = DROP_UDP_UNANSWERED;
		return;
	}
	if (e->payload) {
		memcpy(&number, rte_pktmbuf_mtod_offset(in, char *, view->payload),
		       RTE_MIN(view->payload_len, (uint16_t)sizeof(number)));
		udp_send(s, e, m, udp_hop(s, in, tuple->peer_be, ip6), tuple, ip6, number);
	} else {
		echo(s, e, m, view, tuple, ip6);
	}
	e->stats->level.request.succeeded++;
	s->counters->value[COUNTER_UDP_RSP]++;
}

static void request_input(struct stateful *s, struct rx_burst *rx, unsigned i,
			  const struct tuple *tuple, const struct ip6_pair *ip6)
{
	uint64_t bits = (uint64_t)rx->pkt[i]->pkt_len * 8;
	struct entry *e = entry_of(s, tuple, ip6, false, true);

	if (!e) {
		rx->reason[i] = DROP_UDP_NO_PORT;
		return;
	}
	if (!entry_serves(e, tuple, ip6)) {
		rx->reason[i] = DROP_UDP_CLIENT;
		return;
	}
	answer(s, e, rx, i, tuple, ip6);
	if (rx->reason[i])
		return;
	e->stats->level.request.offered++;
	e->stats->level.bits_rx += bits;
	s->counters->value[COUNTER_UDP_REQ]++;
}

/* The socket of a tuple, or NULL. */
static struct conn *socket_find(const struct stateful *s, uint32_t guess, uint32_t hash,
				const struct tuple *tuple, const struct ip6_pair *ip6)
{
	struct conn *c = &s->table.conn[guess];

	if (guess == TABLE_NONE || c->state != UDP_OPEN || !tuple_equal(&c->tuple, tuple) ||
	    (ip6 && s->table.peer6[guess] != ip6->peer)) {
		guess = ip6 ? table_find6(&s->table, hash, tuple, ip6->peer)
			    : table_find(&s->table, hash, tuple);
		c = &s->table.conn[guess];
	}
	return guess == TABLE_NONE || c->state != UDP_OPEN ? NULL : c;
}

/* Answers to clients: as segments are, in stages (input.c). What is no socket's may be a server's.
 * pair: room for the addresses of each packet; NULL: all of the burst is IPv4. */
always_inline void input_clients(struct stateful *s, struct rx_burst *rx, struct ip6_pair *pair)
{
	struct tuple tuple[RX_BURST_MAX];
	uint32_t hash[RX_BURST_MAX], bucket[RX_BURST_MAX], guess[RX_BURST_MAX];

	for (unsigned i = 0; i < rx->count; i++) {
		tuple[i] = pair && rx->view[i].family == 6 ? tuple_received6(s, rx, i, &pair[i])
							   : tuple_received(rx, i);
		hash[i] = table_hash(&tuple[i]);
		bucket[i] = table_prefetch_index(&s->table, hash[i]);
	}
	for (unsigned i = 0; i < rx->count; i++)
		guess[i] = table_guess(&s->table, hash[i], bucket[i]);
	for (unsigned i = 0; i < rx->count; i++) {
		const struct ip6_pair *ip6 = pair && rx->view[i].family == 6 ? &pair[i] : NULL;
		struct conn *c;

		if (rx->reason[i])
			continue;
		c = socket_find(s, guess[i], hash[i], &tuple[i], ip6);
		if (c)
			udp_answer(s, c, rx, i);
		else
			request_input(s, rx, i, &tuple[i], ip6);
	}
}

/* The same where there are only servers. */
always_inline void input_servers(struct stateful *s, struct rx_burst *rx, bool with6)
{
	for (unsigned i = 0; i < rx->count; i++) {
		bool is6 = with6 && rx->view[i].family == 6;
		struct ip6_pair ip6;
		struct tuple tuple = is6 ? tuple_received6(s, rx, i, &ip6) : tuple_received(rx, i);

		if (!rx->reason[i])
			request_input(s, rx, i, &tuple, is6 ? &ip6 : NULL);
	}
}

static __attribute__((noinline)) void input_with6(struct stateful *s, struct rx_burst *rx)
{
	struct ip6_pair ip6[RX_BURST_MAX];

	if (s->udp_client)
		input_clients(s, rx, ip6);
	else
		input_servers(s, rx, true);
}

/* A burst of UDP. Packets that were refused - of a wrong checksum, for a sink to count - are passed
 * over. */
void udp_input(struct stateful *s, struct rx_burst *rx)
{
	unsigned other = 0;

	for (unsigned i = 0; s->ip6 && i < rx->count; i++)
		other |= rx->view[i].family ^ 4u;
	if (unlikely(other))
		input_with6(s, rx);
	else if (s->udp_client)
		input_clients(s, rx, NULL);
	else
		input_servers(s, rx, false);
}
