/* UDP sockets: datagrams in and out, and the server.
 *
 * A server keeps nothing of its clients: it turns each request round in its own buffer. Sent back
 * as it came, a datagram keeps its checksum, for what is exchanged in it - addresses, ports - is
 * summed all the same; a device that sends tagged packets thus gets them back, tag in. An answer of
 * a given size is the entry's template with the request's first four bytes, by which a client knows
 * it. Clients' sockets are in udp_client.c.
 *
 * Rejected: records of a server's peers (they would say nothing that a packet does not), and
 * leaving UDP checksums to the port (what they cover is constant but for a few words). */
#include "core.h"

#include <string.h>

#define IP_BYTES    sizeof(struct rte_ipv4_hdr)
#define UDP_BYTES   sizeof(struct rte_udp_hdr)
#define NUMBER_SIZE 4u

/* The part of the header that is an entry's own, and the sums that go with it. */
static void header_finish(const struct stateful *s, struct entry *e)
{
	uint16_t headers = (uint16_t)(s->l2_len + IP_BYTES + UDP_BYTES);
	uint16_t length = htons((uint16_t)(UDP_BYTES + e->payload));
	struct rte_ipv4_hdr *ip = (void *)(e->header + s->l2_len);
	struct rte_udp_hdr *udp = (void *)(ip + 1);
	const char *payload = entry_message(e, 0, VARIANT_KEEP)->whole;
	unsigned number = e->numbered ? NUMBER_SIZE : 0;

	ip->total_length = htons((uint16_t)(IP_BYTES + UDP_BYTES + e->payload));
	udp->dgram_len = length;
	memcpy(udp + 1, payload, RTE_MIN(e->payload, (uint32_t)(TEMPLATE_MAX - headers)));
	e->ip_sum += ip->total_length;
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

const uint8_t *udp_hop(struct stateful *s, const struct rte_mbuf *in, uint32_t peer_be)
{
	if (s->nexthop->has_gateway)
		return s->nexthop->gateway;
	if (in)
		return rte_pktmbuf_mtod(in, const struct rte_ether_hdr *)->src_addr.addr_bytes;
	return nexthop_mac(s->nexthop, peer_be);
}

/* A sum of zero is sent as all ones: zero says that there is none (RFC 768). */
static uint16_t udp_check(uint64_t sum)
{
	uint16_t check = (uint16_t)~checksum_fold(sum);

	return check ? check : 0xffff;
}

/* mac may lie in the packet's own header. */
void udp_send(struct stateful *s, struct entry *e, struct rte_mbuf *m, const uint8_t *mac,
	      const struct tuple *t, uint32_t number_be)
{
	uint8_t *at = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ipv4_hdr *ip = (void *)(at + s->l2_len);
	struct rte_udp_hdr *udp = (void *)(ip + 1);
	uint32_t headers = (uint32_t)(s->l2_len + IP_BYTES + UDP_BYTES);
	uint32_t length = headers + e->payload;
	uint32_t ports = (uint32_t)t->peer_port_be << 16 | t->local_port_be;
	uint64_t addresses = (uint64_t)t->local_be + t->peer_be, sum = e->payload_sum;
	struct rte_ether_addr to;

	memcpy(&to, mac, sizeof(to));
	memcpy(at, e->header, TEMPLATE_MAX);
	memcpy(at, &to, sizeof(to));
	if (length > TEMPLATE_MAX)
		memcpy(at + TEMPLATE_MAX,
		       entry_message(e, 0, VARIANT_KEEP)->whole + (TEMPLATE_MAX - headers),
		       length - TEMPLATE_MAX);
	ip->src_addr = t->local_be;
	ip->dst_addr = t->peer_be;
	memcpy(&udp->src_port, &ports, sizeof(ports));
	if (e->numbered) {
		memcpy(udp + 1, &number_be, sizeof(number_be));
		sum += number_be;
	}
	ip->hdr_checksum = (uint16_t)~checksum_fold(e->ip_sum + addresses);
	udp->dgram_cksum = udp_check(sum + addresses + ports);
	m->ol_flags = 0;
	m->data_len = (uint16_t)length;
	m->pkt_len = length;
	e->stats->level.bits_tx += (uint64_t)length * 8;
	s->counters->value[COUNTER_UDP_TX]++;
	tx_push(s->tx, m);
}

/* Turn a datagram round where it lies. A checksum that only covers the pseudo-header (struct
 * view_rule) is made whole. */
static void echo(struct stateful *s, struct entry *e, struct rte_mbuf *m, const struct view *view)
{
	struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, view->l3);
	struct rte_udp_hdr *udp = (void *)(ip + 1);
	const uint8_t *mac = udp_hop(s, m, ip->src_addr);
	uint32_t address = ip->src_addr;
	uint16_t port = udp->src_port;
	struct rte_ether_addr to;

	memcpy(&to, mac, sizeof(to));
	memcpy(ether, &to, sizeof(to));
	memcpy(&ether->src_addr, e->header + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	ip->src_addr = ip->dst_addr;
	ip->dst_addr = address;
	udp->src_port = udp->dst_port;
	udp->dst_port = port;
	if (unlikely(ip->time_to_live != e->config->ttl || ip->type_of_service != e->config->tos)) {
		ip->time_to_live = e->config->ttl;
		ip->type_of_service = e->config->tos;
		ip->hdr_checksum = 0;
		ip->hdr_checksum = (uint16_t)~checksum_fold(checksum_sum(ip, IP_BYTES));
	}
	if (unlikely(s->partial && udp->dgram_cksum)) {
		udp->dgram_cksum = 0;
		udp->dgram_cksum = udp_check(checksum_sum(udp, ntohs(udp->dgram_len)) +
					     checksum_pseudo4(ip->src_addr, ip->dst_addr,
							      IPPROTO_UDP, ntohs(udp->dgram_len)));
	}
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
		   const struct tuple *tuple)
{
	const struct view *view = &rx->view[i];
	struct rte_mbuf *in = rx->pkt[i], *m = NULL;
	uint32_t number = 0;

	if (view->l4 - view->l3 == IP_BYTES)
		m = answer_take(s, e, rx, i);
	if (unlikely(!m)) {
		rx->reason[i] = DROP_UDP_UNANSWERED;
		return;
	}
	if (e->payload) {
		memcpy(&number, rte_pktmbuf_mtod_offset(in, char *, view->payload),
		       RTE_MIN(view->payload_len, (uint16_t)sizeof(number)));
		udp_send(s, e, m, udp_hop(s, in, tuple->peer_be), tuple, number);
	} else {
		echo(s, e, m, view);
	}
	e->stats->level.request.succeeded++;
	s->counters->value[COUNTER_UDP_RSP]++;
}

static void request_input(struct stateful *s, struct rx_burst *rx, unsigned i,
			  const struct tuple *tuple)
{
	uint64_t bits = (uint64_t)rx->pkt[i]->pkt_len * 8;
	struct entry *e = entry_of(s, tuple, NULL, false, true);

	if (!e) {
		rx->reason[i] = DROP_UDP_NO_PORT;
		return;
	}
	if (!entry_serves(e, tuple, NULL)) {
		rx->reason[i] = DROP_UDP_CLIENT;
		return;
	}
	answer(s, e, rx, i, tuple);
	if (rx->reason[i])
		return;
	e->stats->level.request.offered++;
	e->stats->level.bits_rx += bits;
	s->counters->value[COUNTER_UDP_REQ]++;
}

/* The socket of a tuple, or NULL. */
static struct conn *socket_find(const struct stateful *s, uint32_t guess, uint32_t hash,
				const struct tuple *tuple)
{
	struct conn *c = &s->table.conn[guess];

	if (guess == TABLE_NONE || c->state != UDP_OPEN || !tuple_equal(&c->tuple, tuple)) {
		guess = table_find(&s->table, hash, tuple);
		c = &s->table.conn[guess];
	}
	return guess == TABLE_NONE || c->state != UDP_OPEN ? NULL : c;
}

/* Answers to clients: as segments are, in stages (input.c). What is no socket's may be a server's.
 */
static void input_clients(struct stateful *s, struct rx_burst *rx)
{
	struct tuple tuple[RX_BURST_MAX];
	uint32_t hash[RX_BURST_MAX], bucket[RX_BURST_MAX], guess[RX_BURST_MAX];

	for (unsigned i = 0; i < rx->count; i++) {
		tuple[i] = tuple_received(rx, i);
		hash[i] = table_hash(&tuple[i]);
		bucket[i] = table_prefetch_index(&s->table, hash[i]);
	}
	for (unsigned i = 0; i < rx->count; i++)
		guess[i] = table_guess(&s->table, hash[i], bucket[i]);
	for (unsigned i = 0; i < rx->count; i++) {
		struct conn *c;

		if (rx->reason[i])
			continue;
		c = socket_find(s, guess[i], hash[i], &tuple[i]);
		if (c)
			udp_answer(s, c, rx, i);
		else
			request_input(s, rx, i, &tuple[i]);
	}
}

/* A burst of UDP. Packets that were refused - of a wrong checksum, for a sink to count - are passed
 * over. */
void udp_input(struct stateful *s, struct rx_burst *rx)
{
	for (unsigned i = 0; s->ip6 && i < rx->count; i++)
		if (!rx->reason[i] && rx->view[i].family == 6)
			rx->reason[i] = DROP_UDP_NO_PORT;
	if (s->udp_client) {
		input_clients(s, rx);
		return;
	}
	for (unsigned i = 0; i < rx->count; i++) {
		struct tuple tuple = tuple_received(rx, i);

		if (!rx->reason[i])
			request_input(s, rx, i, &tuple);
	}
}
