/* Workers over in-process cables, with engines of a few lines: what reaches an engine, what is
 * counted where, when orders are followed, and that no packet is lost or counted twice. No root, no
 * hugepages.
 *
 * All workers run in turn on this thread, for some milliseconds of real time and some hundred steps
 * at least; nothing that is judged depends on how many more that makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "../../common/base/checksum.h"
#include "../../common/run/memory.h"
#include "../../common/run/worker.h"

#define MS         1000000ull
#define CLIENT     0 /* index of port and traffic entry */
#define SERVER     1
#define QUEUES_MAX 2
#define QUEUE      512
#define STEPS_MIN  400 /* of run_for() */

/* An engine that sends what it is told to, and returns, keeps or refuses what it receives. */
struct fake {
	struct engine engine; /* first */
	struct worker *worker;
	uint64_t to_send, sent;
	struct rte_mbuf *(*make)(struct fake *, struct tx *); /* a packet to send */
	bool returns;                                         /* packets to where they came from */
	enum drop refuses;
	uint64_t received;
	uint64_t started_at, started_calls, drain_calls, deadline;
	bool busy; /* not idle */
};

static uint16_t cores[QUEUES_MAX];
static struct config_address address[2] = {{4, 24, 0x0a000001}, {4, 24, 0x0a000002}};
static struct config_port config_port[2];
static struct config_traffic traffic[2];
static struct ip_range client_range = {0x10000001, 200}, server_range = {0x30000001, 2};
static struct config config = {.port = config_port, .ports = 2, .traffic = traffic, .traffics = 2};
static struct port *ports;
static struct orders orders;
static struct clock run_clock;
static struct memory_arena arena[2][QUEUES_MAX];
static struct worker *worker[2][QUEUES_MAX];
static struct fake fake[2][QUEUES_MAX];
static struct err err;

static void fake_start(struct engine *engine, uint64_t now)
{
	struct fake *f = (struct fake *)engine;

	f->started_at = now;
	f->started_calls++;
}

static void fake_input(struct engine *engine, struct rx_burst *rx, struct tx *tx, uint64_t now)
{
	struct fake *f = (struct fake *)engine;

	(void)now;
	assert_int_equal(f->started_calls, 1);
	for (unsigned i = 0; i < rx->count; i++) {
		uint8_t *frame, mac[6];

		/* Always a dense burst of valid TCP. */
		assert_non_null(rx->pkt[i]);
		assert_int_equal(rx->reason[i], DROP_NONE);
		assert_int_equal(rx->view[i].kind, VIEW_TCP);
		f->received++;
		rx->reason[i] = f->refuses;
		if (!f->returns)
			continue;
		frame = rte_pktmbuf_mtod(rx->pkt[i], uint8_t *);
		memcpy(mac, frame, 6);
		memcpy(frame, frame + 6, 6);
		memcpy(frame + 6, mac, 6);
		tx_push(tx, rx_take(rx, i));
	}
}

static uint64_t fake_poll(struct engine *engine, struct tx *tx, uint64_t now)
{
	struct fake *f = (struct fake *)engine;

	for (unsigned i = 0; i < 32 && f->sent < f->to_send && tx_room(tx); i++) {
		struct rte_mbuf *m = f->make(f, tx);

		if (!m)
			break;
		tx_push(tx, m);
		f->sent++;
	}
	return now;
}

static void fake_drain(struct engine *engine, uint64_t now, uint64_t deadline)
{
	struct fake *f = (struct fake *)engine;

	(void)now;
	f->drain_calls++;
	f->deadline = deadline;
}

static bool fake_idle(const struct engine *engine)
{
	return !((const struct fake *)engine)->busy;
}

static void fake_usage(const struct engine *engine, uint64_t *bytes, uint64_t *connections)
{
	*connections = ((const struct fake *)engine)->received;
	*bytes = 32 * *connections;
}

static const struct engine_ops fake_ops = {
	.start = fake_start,
	.input = fake_input,
	.poll = fake_poll,
	.drain = fake_drain,
	.idle = fake_idle,
	.usage = fake_usage,
};

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put_sum(uint8_t *at, uint64_t sum)
{
	uint16_t field = (uint16_t)~checksum_fold(sum);

	memcpy(at, &field, sizeof field);
}

/* An IPv4 packet to the far end's port, from the n-th client port. */
static struct rte_mbuf *ip_make(struct fake *f, struct tx *tx, uint8_t protocol)
{
	struct rte_mbuf *m = tx_new(tx);
	uint8_t *at;
	uint32_t src_be, dst_be;

	if (!m)
		return NULL;
	assert_int_equal(m->pkt_len, 0); /* a blank is blank */
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->data_off, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(m->ol_flags, 0);
	assert_null(m->next);
	at = rte_pktmbuf_mtod(m, uint8_t *);
	memset(at, 0, 60);
	memcpy(at, ports[!f->worker->port_index].mac, 6);
	memcpy(at + 6, ports[f->worker->port_index].mac, 6);
	put16(at + 12, 0x0800);
	at[14] = 0x45;
	put16(at + 16, 40);
	at[22] = 64;
	at[23] = protocol;
	memcpy(at + 26, "\x10\0\0\1\x30\0\0\1", 8);
	put_sum(at + 24, checksum_sum(at + 14, 20));
	put16(at + 34, 1024 + (unsigned)f->sent % 60000);
	put16(at + 36, 80);
	at[46] = 0x50;
	put16(at + 38, 20); /* UDP: the length; TCP: some sequence number */
	memcpy(&src_be, at + 26, 4);
	memcpy(&dst_be, at + 30, 4);
	if (protocol == 6)
		put_sum(at + 50,
			checksum_pseudo4(src_be, dst_be, 6, 20) + checksum_sum(at + 34, 20));
	m->data_len = 60;
	m->pkt_len = 60;
	return m;
}

static struct rte_mbuf *tcp_make(struct fake *f, struct tx *tx)
{
	return ip_make(f, tx, 6);
}

/* A TCP packet whose payload lies somewhere else. */
static struct rte_mbuf *chain_make(struct fake *f, struct tx *tx)
{
	static const char payload[1000] = "by reference";
	struct rte_mbuf *piece = tx_piece(tx, payload, sizeof payload), *m = ip_make(f, tx, 6);
	uint8_t *at = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t src_be, dst_be;

	assert_true(tx->piece_min <= sizeof payload);
	assert_non_null(piece);
	assert_null(piece->next);
	assert_int_equal(piece->nb_segs, 1);
	put16(at + 16, 40 + sizeof payload);
	put16(at + 24, 0);
	put_sum(at + 24, checksum_sum(at + 14, 20));
	put16(at + 50, 0);
	memcpy(&src_be, at + 26, 4);
	memcpy(&dst_be, at + 30, 4);
	put_sum(at + 50, checksum_pseudo4(src_be, dst_be, 6, 20 + sizeof payload) +
				 checksum_sum(at + 34, 20) + checksum_sum(payload, sizeof payload));
	m->data_len = 54;
	m->pkt_len = 54 + sizeof payload;
	m->nb_segs = 2;
	m->next = piece;
	return m;
}

/* One of each: TCP, ARP request, ICMP echo, UDP, bad checksum, another station's. */
static struct rte_mbuf *any_make(struct fake *f, struct tx *tx)
{
	static const uint8_t arp[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 1};
	struct rte_mbuf *m = ip_make(f, tx, f->sent % 6 == 3 ? 17 : f->sent % 6 == 2 ? 1 : 6);
	uint8_t *at = m ? rte_pktmbuf_mtod(m, uint8_t *) : NULL;

	if (!m)
		return NULL;
	switch (f->sent % 6) {
	case 1:
		memset(at + 12, 0, 48);
		memset(at, 0xff, 6);
		memcpy(at + 12, arp, sizeof arp);
		memcpy(at + 22, at + 6, 6);
		memcpy(at + 28, "\x0a\0\0\1", 4);
		memcpy(at + 38, "\x30\0\0\2", 4);
		break;
	case 2:
		memset(at + 34, 0, 20);
		at[34] = 8;
		put_sum(at + 36, checksum_sum(at + 34, 20));
		break;
	case 4:
		at[50] ^= 1;
		break;
	case 5:
		at[5] ^= 0x55;
		break;
	}
	return m;
}

static struct engine *fake_open(struct fake *f, struct worker *w)
{
	*f = (struct fake){.engine.ops = &fake_ops, .worker = w, .make = tcp_make};
	f->returns = w->port_index == SERVER;
	return &f->engine;
}

/* A cable with so many queues at either end, workers and engines on it; the load begins at once. */
static void crew_make(unsigned client_queues, unsigned server_queues)
{
	for (unsigned p = 0; p < 2; p++) {
		config_port[p].cores = p == CLIENT ? client_queues : server_queues;
		config_port[p].has_gateway_mac = config_port[p].has_gateway = true;
	}
	if (ports_open(&config, &ports, &err))
		fail_msg("%s", err.text);
	memset(orders.at, 0xff, sizeof orders.at);
	clock_begin(&run_clock);
	clock_calibrate(&run_clock);
	for (unsigned p = 0; p < 2; p++) {
		for (unsigned q = 0; q < config_port[p].cores; q++) {
			assert_int_equal(memory_arena_open(&arena[p][q], worker_bytes(&config, p),
							   -1, HUGEPAGES_OFF, &err),
					 0);
			worker[p][q] = worker_open(&config, &ports[p], p, q, &orders,
						   &arena[p][q].arena, 0);
			assert_non_null(worker[p][q]);
			worker[p][q]->engine = fake_open(&fake[p][q], worker[p][q]);
		}
	}
	order_give(&orders, ORDER_START, 0);
}

/* Run some workers, at least so long and at least so many steps, however often this thread is kept
 * from its core. Null pointers are left out. */
static void run_for(struct worker **workers, unsigned count, uint64_t ns)
{
	struct worker *some[2 * QUEUES_MAX];
	struct worker_group group = {&run_clock, &orders, some, 0, 0};

	for (unsigned i = 0; i < count; i++)
		if (workers[i])
			some[group.workers++] = workers[i];
	for (unsigned i = 0; i < STEPS_MIN; i++) {
		order_give(&orders, ORDER_STOP, clock_now(&run_clock) + ns / STEPS_MIN);
		worker_loop(&group);
	}
	order_give(&orders, ORDER_STOP, UINT64_MAX);
}

static void run_all(uint64_t ns)
{
	run_for(worker[0], 2 * QUEUES_MAX, ns);
}

/* Run until the port's engines have received so much, or too long. */
static void run_until(unsigned port, uint64_t received)
{
	for (unsigned i = 0; i < 2000; i++) {
		if (fake[port][0].received + fake[port][1].received >= received)
			return;
		run_all(MS);
	}
	fail_msg("not received");
}

static uint64_t counted(unsigned port, enum counter counter)
{
	uint64_t sum = 0;

	for (unsigned q = 0; q < config_port[port].cores; q++)
		sum += worker[port][q]->counters.value[counter];
	return sum;
}

static uint64_t dropped(unsigned port, enum drop drop)
{
	uint64_t sum = 0;

	for (unsigned q = 0; q < config_port[port].cores; q++)
		sum += worker[port][q]->counters.drop[drop];
	return sum;
}

/* Free what workers and the cable hold. */
static void packets_free(void)
{
	for (unsigned p = 0; p < 2; p++)
		for (unsigned q = 0; q < config_port[p].cores; q++)
			worker_close(worker[p][q]);
	for (unsigned p = 0; p < 2; p++)
		for (unsigned q = 0; q < config_port[p].cores; q++) {
			struct rte_mbuf *m;

			while (rte_eth_rx_burst(ports[p].id, (uint16_t)q, &m, 1))
				rte_pktmbuf_free(m);
		}
}

static void crew_close_all(void)
{
	ports_close(ports, 2);
	ports = NULL;
	for (unsigned p = 0; p < 2; p++)
		for (unsigned q = 0; q < config_port[p].cores; q++)
			memory_arena_close(&arena[p][q]);
	memset(worker, 0, sizeof worker);
	memset(fake, 0, sizeof fake);
}

/* End the run and check the laws: received = accepted + dropped, and every packet is back. */
static void crew_end(void)
{
	packets_free();
	for (unsigned p = 0; p < 2; p++) {
		uint64_t sum = 0;

		for (unsigned i = 0; i < DROP_COUNT; i++)
			sum += dropped(p, i);
		assert_int_equal(counted(p, COUNTER_PKT_RX), sum);
		for (unsigned q = 0; q < config_port[p].cores; q++)
			assert_int_equal(rte_mempool_in_use_count(ports[p].pool[q]) +
						 rte_mempool_in_use_count(ports[p].pieces[q]),
					 0);
	}
	crew_close_all();
}

/* After a test that failed, so that those behind it do not. */
static int tear_down(void **state)
{
	(void)state;
	if (!ports)
		return 0;
	packets_free();
	crew_close_all();
	return 0;
}

static void exchanges_are_counted(void **state)
{
	(void)state;
	crew_make(1, 1);
	fake[CLIENT][0].to_send = 10000;
	run_until(CLIENT, 10000);
	for (unsigned p = 0; p < 2; p++) {
		assert_int_equal(counted(p, COUNTER_PKT_RX), 10000);
		assert_int_equal(counted(p, COUNTER_PKT_TX), 10000);
		assert_int_equal(counted(p, COUNTER_TCP_RX), 10000);
		assert_int_equal(counted(p, COUNTER_BITS_RX), 10000 * 480);
		assert_int_equal(counted(p, COUNTER_BITS_TX), 10000 * 480);
		assert_int_equal(dropped(p, DROP_NONE), 10000);
		assert_true(worker[p][0]->status.busy_cycles > 0);
		assert_true(worker[p][0]->status.busy_cycles <= worker[p][0]->status.cycles);
	}
	crew_end();
}

/* There and back, and refused. */
static void payload_goes_by_reference(void **state)
{
	(void)state;
	crew_make(1, 1);
	fake[CLIENT][0].to_send = 20000;
	fake[CLIENT][0].make = chain_make;
	run_until(CLIENT, 20000);
	for (unsigned p = 0; p < 2; p++) {
		assert_int_equal(counted(p, COUNTER_BITS_RX), 20000ull * 1054 * 8);
		assert_int_equal(counted(p, COUNTER_BITS_TX), 20000ull * 1054 * 8);
		assert_int_equal(dropped(p, DROP_NONE), 20000);
	}
	fake[SERVER][0].returns = false;
	fake[SERVER][0].refuses = DROP_TCP_BAD_SEQ;
	fake[CLIENT][0].to_send += 20000;
	run_until(SERVER, 40000);
	assert_int_equal(dropped(SERVER, DROP_TCP_BAD_SEQ), 20000);
	crew_end();
}

static void refusals_are_counted(void **state)
{
	(void)state;
	crew_make(1, 1);
	fake[CLIENT][0].to_send = 1000;
	fake[SERVER][0].returns = false;
	fake[SERVER][0].refuses = DROP_TCP_BAD_SEQ;
	run_until(SERVER, 1000);
	assert_int_equal(dropped(SERVER, DROP_TCP_BAD_SEQ), 1000);
	assert_int_equal(counted(SERVER, COUNTER_TCP_DROP), 1000);
	assert_int_equal(dropped(SERVER, DROP_NONE), 0);
	crew_end();
}

static void kinds_are_sorted(void **state)
{
	(void)state;
	crew_make(1, 1);
	fake[CLIENT][0].to_send = 6000;
	fake[CLIENT][0].make = any_make;
	run_until(SERVER, 1000);
	run_all(5 * MS);
	assert_int_equal(counted(SERVER, COUNTER_PKT_RX), 6000);
	assert_int_equal(counted(SERVER, COUNTER_TCP_RX), 1000);
	assert_int_equal(counted(SERVER, COUNTER_ARP_RX), 1000);
	assert_int_equal(counted(SERVER, COUNTER_ARP_TX), 1000);
	assert_int_equal(counted(SERVER, COUNTER_ICMP_RX), 1000);
	assert_int_equal(counted(SERVER, COUNTER_ICMP_TX), 1000);
	assert_int_equal(counted(SERVER, COUNTER_UDP_RX), 1000);
	assert_int_equal(counted(SERVER, COUNTER_BAD_RX), 1000);
	assert_int_equal(counted(SERVER, COUNTER_OTHER_RX), 2000); /* UDP, another station's */
	assert_int_equal(dropped(SERVER, DROP_NONE), 3000);
	assert_int_equal(dropped(SERVER, DROP_UDP_NO_PORT), 1000);
	assert_int_equal(dropped(SERVER, DROP_TCP_CSUM), 1000);
	assert_int_equal(dropped(SERVER, DROP_ETH_NOT_MINE), 1000);
	/* The answers: TCP to the engine, ARP that told nothing, an echo reply. */
	assert_int_equal(counted(CLIENT, COUNTER_PKT_RX), 3000);
	assert_int_equal(dropped(CLIENT, DROP_ARP_NOT_MINE), 1000);
	assert_int_equal(dropped(CLIENT, DROP_ICMP_IGNORED), 1000);
	crew_end();
}

static void servers_start_at_once_and_clients_with_the_load(void **state)
{
	uint64_t start;

	(void)state;
	crew_make(1, 1);
	order_give(&orders, ORDER_START, UINT64_MAX);
	fake[SERVER][0].to_send = 100;
	run_for(worker[SERVER], 1, 3 * MS);
	assert_int_equal(fake[SERVER][0].started_calls, 1);
	assert_int_equal(worker[SERVER][0]->status.stage, STAGE_WAITING);
	run_for(worker[CLIENT], 1, 3 * MS);
	assert_int_equal(fake[CLIENT][0].started_calls, 0);
	assert_int_equal(dropped(CLIENT, DROP_TCP_NO_CONN), 100);
	/* What arrives when the order has been given shows that others were quicker. */
	start = clock_now(&run_clock) + 3600000 * MS;
	order_give(&orders, ORDER_START, start);
	fake[SERVER][0].to_send = 200;
	run_until(CLIENT, 100);
	assert_int_equal(fake[CLIENT][0].started_at, start);
	crew_end();
}

/* Run until a worker has come so far, or too long. */
static void run_until_stage(const struct worker *w, enum worker_stage stage)
{
	for (unsigned i = 0; i < 2000; i++) {
		if (w->status.stage == stage)
			return;
		run_all(MS);
	}
	fail_msg("stage not reached");
}

static void orders_are_followed(void **state)
{
	uint64_t start, end;

	(void)state;
	crew_make(1, 1);
	fake[CLIENT][0].to_send = UINT64_MAX;
	fake[CLIENT][0].busy = true;
	start = clock_now(&run_clock) + 200 * MS;
	order_give(&orders, ORDER_STEADY, start + 10 * MS);
	order_give(&orders, ORDER_START, start);
	run_until_stage(worker[SERVER][0], STAGE_STEADY);
	assert_int_equal(fake[CLIENT][0].started_at, start);
	assert_true(fake[SERVER][0].started_at < start); /* there already */
	end = clock_now(&run_clock) + 10 * MS;
	order_give(&orders, ORDER_DEADLINE, end + 77 * MS);
	order_give(&orders, ORDER_END, end);
	run_until_stage(worker[SERVER][0], STAGE_ENDED);
	assert_int_equal(fake[CLIENT][0].started_calls, 1);
	assert_int_equal(fake[CLIENT][0].drain_calls, 1);
	assert_int_equal(fake[CLIENT][0].deadline, end + 77 * MS);
	assert_int_equal(fake[SERVER][0].drain_calls, 0);
	assert_false(worker[CLIENT][0]->status.idle);
	fake[CLIENT][0].busy = false;
	fake[CLIENT][0].to_send = 0;
	run_all(5 * MS);
	assert_true(worker[CLIENT][0]->status.idle);
	assert_false(worker[SERVER][0]->status.idle);
	order_give(&orders, ORDER_SERVER_DRAIN, clock_now(&run_clock));
	run_all(5 * MS);
	assert_int_equal(fake[SERVER][0].drain_calls, 1);
	assert_true(worker[SERVER][0]->status.idle);
	/* A deadline that comes nearer reaches the engine, one that goes away does not. */
	order_give(&orders, ORDER_DEADLINE, end + 99 * MS);
	run_all(3 * MS);
	assert_int_equal(fake[CLIENT][0].drain_calls, 1);
	order_give(&orders, ORDER_DEADLINE, end + 60 * MS);
	run_all(3 * MS);
	assert_int_equal(fake[CLIENT][0].drain_calls, 2);
	assert_int_equal(fake[CLIENT][0].deadline, end + 60 * MS);
	crew_end();
}

static void marks_are_the_ends_of_the_steady_phase(void **state)
{
	const struct worker *w;

	(void)state;
	crew_make(1, 1);
	w = worker[CLIENT][0];
	fake[CLIENT][0].to_send = 500;
	run_until(CLIENT, 500);
	order_give(&orders, ORDER_STEADY, clock_now(&run_clock) + MS);
	run_until_stage(w, STAGE_STEADY);
	fake[CLIENT][0].to_send = 700;
	run_until(CLIENT, 700);
	order_give(&orders, ORDER_END, clock_now(&run_clock) + MS);
	run_until_stage(w, STAGE_ENDED);
	fake[CLIENT][0].to_send = 900;
	run_until(CLIENT, 900);
	assert_int_equal(w->begin.counters.value[COUNTER_PKT_TX], 500);
	assert_int_equal(w->end.counters.value[COUNTER_PKT_TX], 700);
	assert_int_equal(w->counters.value[COUNTER_PKT_TX], 900);
	assert_true(w->end.cycles > w->begin.cycles);
	crew_end();
}

static void what_the_port_refuses_waits_and_what_overflows_is_counted(void **state)
{
	struct worker *w;

	(void)state;
	crew_make(1, 1);
	w = worker[CLIENT][0];
	w->txq.tx.capacity = QUEUE;     /* so that it is full before the pool is empty */
	fake[CLIENT][0].to_send = 6500; /* more than the cable and the queue hold */
	run_for(&w, 1, 20 * MS);
	assert_int_equal(w->txq.tx.count, QUEUE);
	assert_int_equal(counted(CLIENT, COUNTER_DROP_TX), 0);
	/* A launcher stops; who pushes all the same is refused. */
	tx_push(&w->txq.tx, tcp_make(&fake[CLIENT][0], &w->txq.tx));
	run_for(&w, 1, MS);
	assert_int_equal(counted(CLIENT, COUNTER_DROP_TX), 1);
	assert_int_equal(counted(CLIENT, COUNTER_PKT_TX) + QUEUE, fake[CLIENT][0].sent);
	/* The rest goes out in order as the far end makes room. */
	run_until(CLIENT, 6500);
	assert_int_equal(counted(CLIENT, COUNTER_PKT_TX), 6500);
	crew_end();
}

/* A server whose answers nobody takes leaves requests in the port rather than drop answers. */
static void a_server_does_not_receive_what_it_cannot_answer(void **state)
{
	struct fake *server = &fake[SERVER][0];

	(void)state;
	crew_make(1, 1);
	fake[CLIENT][0].to_send = 4000;
	run_for(worker[CLIENT], 1, 20 * MS);
	worker[SERVER][0]->txq.tx.capacity = 2 * RX_BURST_MAX;
	server->returns = true;
	server->to_send = UINT64_MAX;
	run_for(worker[SERVER], 1, 20 * MS);
	assert_true(server->received < 4000);
	assert_int_equal(counted(SERVER, COUNTER_DROP_TX), 0);
	server->to_send = server->sent;
	run_until(CLIENT, server->sent + 4000);
	assert_int_equal(server->received, 4000);
	assert_int_equal(counted(SERVER, COUNTER_DROP_TX), 0);
	crew_end();
}

static void what_cannot_be_sent_at_the_end_is_counted(void **state)
{
	uint64_t queued;

	(void)state;
	crew_make(1, 1);
	fake[CLIENT][0].to_send = UINT64_MAX;
	run_for(worker[CLIENT], 1, 20 * MS);
	queued = worker[CLIENT][0]->txq.tx.count;
	assert_true(queued > 0);
	assert_int_equal(counted(CLIENT, COUNTER_PKT_TX) + queued, fake[CLIENT][0].sent);
	worker_close(worker[CLIENT][0]);
	assert_int_equal(counted(CLIENT, COUNTER_DROP_TX), queued);
	crew_end();
}

static void flows_go_to_their_owner(void **state)
{
	uint64_t owned[QUEUES_MAX] = {0};

	(void)state;
	crew_make(1, 2); /* all arrives at queue 0 */
	fake[CLIENT][0].to_send = 5000;
	run_until(CLIENT, 5000);
	for (unsigned i = 0; i < 5000; i++)
		owned[steer_owner4(&ports[SERVER].steer, RTE_BE32(0x10000001), RTE_BE32(0x30000001),
				   rte_cpu_to_be_16((uint16_t)(1024 + i)), RTE_BE16(80))]++;
	assert_true(owned[0] > 1000 && owned[1] > 1000);
	assert_int_equal(fake[SERVER][0].received, owned[0]);
	assert_int_equal(fake[SERVER][1].received, owned[1]);
	assert_int_equal(counted(SERVER, COUNTER_PKT_RX), 5000);
	assert_int_equal(counted(SERVER, COUNTER_TCP_RX), 5000);
	assert_int_equal(dropped(SERVER, DROP_NONE), 5000);
	crew_end();
}

static void a_full_handoff_ring_is_counted(void **state)
{
	(void)state;
	crew_make(1, 2);
	fake[CLIENT][0].to_send = 12000;
	fake[SERVER][0].returns = false;
	for (unsigned i = 0; i < 100 && !dropped(SERVER, DROP_HANDOFF_FULL); i++) {
		struct worker *two[] = {worker[CLIENT][0], worker[SERVER][0]};

		run_for(two, 2, MS);
	}
	assert_true(dropped(SERVER, DROP_HANDOFF_FULL) > 0);
	crew_end(); /* where what the ring still holds is counted too */
}

static void arp_reaches_every_worker(void **state)
{
	u128 far = nexthop_ip4(RTE_BE32(0x0a000001));
	struct rte_mbuf *m;

	(void)state;
	crew_make(1, 2);
	for (unsigned q = 0; q < 2; q++)
		neighbor_add(&worker[SERVER][q]->neighbor, far, UINT64_MAX);
	fake[CLIENT][0].sent = 1; /* any_make: ARP, from 10.0.0.1 */
	m = any_make(&fake[CLIENT][0], &worker[CLIENT][0]->txq.tx);
	tx_push(&worker[CLIENT][0]->txq.tx, m);
	run_all(5 * MS);
	for (unsigned q = 0; q < 2; q++)
		assert_int_equal(worker[SERVER][q]->neighbor.pending, 0);
	assert_int_equal(counted(SERVER, COUNTER_ARP_RX), 1);
	assert_int_equal(counted(SERVER, COUNTER_ARP_TX), 1); /* answered once */
	crew_end();
}

static void config_make(void)
{
	static const char *const device[] = {"loop:test", "loop:test"};

	for (unsigned p = 0; p < 2; p++) {
		config_port[p] = (struct config_port){
			.name = p == CLIENT ? "c" : "s",
			.device = device[p],
			.core = cores,
			.cores = QUEUES_MAX,
			.address = &address[p],
			.addresses = 1,
			.mtu = 1500,
			.rx_descriptors = 1024,
			.tx_descriptors = 1024,
			.verify_checksums = true,
		};
		traffic[p] = (struct config_traffic){
			.name = config_port[p].name,
			.port = p,
			.kind = p == CLIENT ? TCP_CLIENT : TCP_SERVER,
			.clients = {&client_range, 1, 4, 200},
			.servers = {&server_range, 1, 4, 2},
		};
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(exchanges_are_counted, tear_down),
		cmocka_unit_test_teardown(payload_goes_by_reference, tear_down),
		cmocka_unit_test_teardown(refusals_are_counted, tear_down),
		cmocka_unit_test_teardown(kinds_are_sorted, tear_down),
		cmocka_unit_test_teardown(servers_start_at_once_and_clients_with_the_load,
					  tear_down),
		cmocka_unit_test_teardown(orders_are_followed, tear_down),
		cmocka_unit_test_teardown(marks_are_the_ends_of_the_steady_phase, tear_down),
		cmocka_unit_test_teardown(what_the_port_refuses_waits_and_what_overflows_is_counted,
					  tear_down),
		cmocka_unit_test_teardown(a_server_does_not_receive_what_it_cannot_answer,
					  tear_down),
		cmocka_unit_test_teardown(what_cannot_be_sent_at_the_end_is_counted, tear_down),
		cmocka_unit_test_teardown(flows_go_to_their_owner, tear_down),
		cmocka_unit_test_teardown(a_full_handoff_ring_is_counted, tear_down),
		cmocka_unit_test_teardown(arp_reaches_every_worker, tear_down),
	};
	int failed;

	config_make();
	if (eal_start(&config, "test_worker", &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	eal_stop();
	return failed;
}
