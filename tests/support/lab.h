/* What every engine test needs: an arena, a configuration from JSON text, an engine of it. */
#ifndef SUPPORT_LAB_H
#define SUPPORT_LAB_H

#include "../../common/base/packet_box.h"
#include "../../common/base/sim.h"
#include "../../stateful/stateful.h"

#define US(n)  ((n)*UINT64_C(1000))
#define MS(n)  ((n)*UINT64_C(1000000))
#define SEC(n) ((n)*UINT64_C(1000000000))

/* Virtual time does not begin at 0: an engine must not mind. */
#define LAB_EPOCH SEC(1000)

#define LAB_CLIENT_PORT 0 /* index into config.port, config.traffic and of world and drill ends */
#define LAB_SERVER_PORT 1

/* The configuration of all engine tests: one client (10.0.0.1, ports 1024-65535) and one server
 * (10.255.255.254:80) on the two ends of a loop, with `set` applied, a NULL-terminated list of
 * "PATH=VALUE" as `--set` takes them; "client." and "server." stand for their traffic entries. A
 * load that is not set is one connection a second. The test fails with config_load()'s messages if
 * it is refused. */
void lab_config(struct config *, const char *const *set);

/* With LAB_FAMILY=6 in the environment a test is one of IPv6: in its configuration 10.0.0.1 is
 * 2001:db8::10.0.0.1, prefixes are 96 longer, and MTUs 20 larger, so that segments are as long as
 * they would be. The same tests thus hold for both families. */
bool lab_ip6(void);

/* The MSS of who does not say (RFC 9293 section 3.7.1). */
static inline unsigned lab_mss(void)
{
	return lab_ip6() ? 1220 : 536;
}

/* Engines that are made now leave checksums to the port. */
extern bool lab_offload;

/* An engine on one port, with all it needs around it, ready for sim_input(). */
struct lab_end {
	struct sim_end sim; /* engine, rule, counters, tx; no wire yet */
	struct counters counters;
	struct traffic_stats stats;
	struct traffic_stats *all[2];
	struct nexthop nexthop;
	struct steer steer;
	struct lab_arena *arena;
};

/* Engines opened from now on take no short way. */
extern bool lab_long_way;
/* What conversations of the next engines play; NULL: they have none. */
extern const struct script_set *lab_scripts;

void lab_open(struct lab_end *, const struct config *, unsigned port, struct packet_box *,
	      uint32_t tx_capacity);
void lab_close(struct lab_end *);

/* The books that must balance when nothing is open: NULL, or the law that is broken. */
const char *lab_broken_law(const struct lab_end *);

/* The MAC address of the engine on a port. */
extern const uint8_t lab_mac[2][6];

#endif
