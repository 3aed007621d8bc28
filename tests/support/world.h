/* A world: the client and the server engine of one configuration, joined by two simulated wires,
 * under a virtual clock.
 *
 *     world_open(&w, &(struct world_rule){...}, SET("client.load.cps=10", "duration=2s"));
 *     world_run(&w);
 *     assert_int_equal(w.lab[0].stats.level.connection.succeeded, 20);
 *     world_close(&w);
 *
 * world_close() checks the laws: every packet is back, nothing is open, every book balances. When
 * something is wrong, the settings, the seed and the last packets are printed. */
#ifndef SUPPORT_WORLD_H
#define SUPPORT_WORLD_H

#include "lab.h"
#include "segment.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

struct world_rule {
	struct wire_rule to_server, to_client;
	uint64_t seed; /* of the wires */
};

struct world_packet {           /* a segment that was put on a wire */
	uint64_t at;            /* since the load began */
	unsigned from;          /* LAB_CLIENT_PORT or LAB_SERVER_PORT */
	struct segment segment; /* payload: the first bytes of it, in `text` */
	char text[512];
};

struct world {
	struct config config;
	struct packet_box box;
	struct lab_end lab[2]; /* LAB_CLIENT_PORT, LAB_SERVER_PORT */
	struct sim sim;
	struct world_rule rule;
	const char *const *set;
	uint64_t zero;
	struct world_packet *packet; /* the first packets, up to packets_max */
	unsigned packets, packets_max;
};

/* A rule of NULL is two wires of 10 us. */
void world_open(struct world *, const struct world_rule *, const char *const *set);

/* Keep the first `count` packets in packet[]. */
void world_record(struct world *, unsigned count);

/* Ramp, steady phase, drain of the client, drain of the server. */
void world_run(struct world *);

/* The same piecewise: begin; let it run on; bring it to its end. */
void world_start(struct world *);
void world_pass(struct world *, uint64_t ns);
void world_drain(struct world *);

/* Check the laws and take the world down. */
void world_close(struct world *);

/* Print what is needed to repeat this world. */
void world_describe(const struct world *);

static inline const struct traffic_level *world_client(const struct world *w)
{
	return &w->lab[LAB_CLIENT_PORT].stats.level;
}

static inline const struct traffic_level *world_server(const struct world *w)
{
	return &w->lab[LAB_SERVER_PORT].stats.level;
}

#endif
