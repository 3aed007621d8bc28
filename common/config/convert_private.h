/* What the parts of the converter share: the meaning of a dperf file, and the remarks about it. */
#ifndef CONFIG_CONVERT_PRIVATE_H
#define CONFIG_CONVERT_PRIVATE_H

#include "config.h"

#define DPERF_PORTS   16u
#define DPERF_POOLS   32u
#define DPERF_MEMBERS 16u
#define DPERF_CORES   256u
#define DPERF_WORDS   64u /* of a line */

/* Places in our configuration, where remarks stand. */
enum slot {
	SLOT_HEAD,
	SLOT_DURATION,
	SLOT_RAMP,
	SLOT_EAL,
	SLOT_PORT,
	SLOT_CORES,
	SLOT_MTU,
	SLOT_VLAN,
	SLOT_TOS,
	SLOT_KIND,
	SLOT_CLIENTS,
	SLOT_CLIENT_PORTS,
	SLOT_SERVERS,
	SLOT_SERVER_PORTS,
	SLOT_LOAD,
	SLOT_KEEPALIVE,
	SLOT_MESSAGE,
	SLOT_TCP,
	SLOT_END
};

enum remark_kind { REMARK_COMMENT, REMARK_DROPPED, REMARK_WRONG };

struct remark {
	enum remark_kind kind;
	enum slot slot;
	unsigned index; /* of the port or traffic entry */
	unsigned line;
	char *text;
	bool is_written;
};

enum dperf_protocol { DPERF_TCP, DPERF_HTTP, DPERF_UDP };

struct dperf_port {
	const char *device;
	const char *member[DPERF_MEMBERS]; /* of a bond */
	unsigned members, mode, policy;    /* as DPDK numbers them */
	const char *gateway_mac;           /* NULL: none */
	u128 address, gateway;
};

/* The tunnel of the port of the same place. */
struct dperf_vxlan {
	uint64_t vni;
	const char *mac, *gateway_mac; /* inside: own, and of all destinations */
	struct config_address local, remote;
	uint64_t locals, remotes;
};

struct dperf_pool {
	struct ip_range range[256];
	unsigned ranges;
};

/* The destinations of a change_dip. */
struct dperf_steps {
	u128 first;
	uint32_t step, count;
};

/* Numbers are 0, and texts NULL, where the file is silent. */
struct dperf {
	bool is_server, flood, keepalive, payload_random, neigh_ignore;
	uint8_t family; /* of all addresses; 0: none yet */
	enum dperf_protocol protocol;
	struct dperf_port port[DPERF_PORTS];
	unsigned ports;
	struct dperf_vxlan vxlan[DPERF_PORTS];
	unsigned vxlans;
	struct dperf_pool client[DPERF_POOLS], server[DPERF_POOLS];
	unsigned clients, servers;
	struct dperf_steps steps[DPERF_POOLS];
	unsigned change_dips;
	uint16_t core[DPERF_CORES];
	unsigned cores;
	uint64_t duration_s, slow_start_s, retransmit_s;
	uint64_t cps, cc, launch_num;
	uint64_t interval_us, requests, pipeline; /* of keepalive */
	bool has_interval;
	uint64_t payload_size, packet_size;
	uint64_t listen, listens, client_port_first, client_port_last;
	uint64_t vlan, tos, mtu, mss;
	const char *http_host, *http_path;
	bool is_post;
	char eal[3][300];
	unsigned eal_args;
};

/* What follows from it for us. */
struct meaning {
	uint64_t ramp, steady; /* ns */
	bool is_raw;           /* payloads too short for HTTP, sent as they are */
	bool is_post;
	uint64_t payload; /* of a UDP socket's datagrams */
	uint64_t size;    /* of a body, a raw payload, or a frame of UDP */
	uint64_t pps;     /* of all ports; UINT64_MAX: as many as there can be */
};

struct convert {
	const char *file;
	struct dperf dperf;
	struct meaning meaning;
	struct remark *remark;
	unsigned remarks, wrong;
	unsigned line;     /* at hand */
	unsigned seen[64]; /* the line of each row of the table */
	FILE *out;         /* of convert_write() */
	unsigned depth;    /* of brackets */
	bool is_first;     /* entry behind a bracket */
};

struct keyword;

/* Takes the words behind a keyword; -1: they are not what it wants. */
typedef int keyword_taker(struct convert *, const struct keyword *, unsigned words, char **word);

/* One keyword, one row. */
struct keyword {
	const char *name;
	const char *arguments; /* in words, for messages */
	unsigned least, most;  /* how many */
	enum slot slot;
	bool is_repeated;
	bool is_clients;     /* a server has no use for it */
	keyword_taker *take; /* NULL: there is no equivalent */
	const char *why;     /* there is none, or only in part */
};
extern const struct keyword keyword_table[];
extern const size_t keyword_count;

void remark_add(struct convert *, enum remark_kind, enum slot, unsigned index, unsigned line,
		const char *format, ...) __attribute__((format(printf, 6, 7)));

/* What no keyword can check alone; fills in what dperf assumes. */
void convert_check(struct convert *);
void convert_write(struct convert *);

/* The line of a keyword, 0: it is not in the file. */
unsigned keyword_line(const struct convert *, const char *name);

#endif
