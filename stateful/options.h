/* The options of a TCP header: one after the other, and what those of a SYN say. */
#ifndef STATEFUL_OPTIONS_H
#define STATEFUL_OPTIONS_H

#include "core.h"

#define TCP_OPTION_END            0
#define TCP_OPTION_NOP            1
#define TCP_OPTION_MSS            2
#define TCP_OPTION_SCALE          3
#define TCP_OPTION_SACK_PERMITTED 4
#define TCP_OPTION_SACK           5
#define TCP_OPTION_STAMP          8

/* The options of a segment's header, one after the other. */
struct option_walk {
	const uint8_t *at, *end;
	bool malformed;
};

static inline struct option_walk options_of(const uint8_t *tcp)
{
	return (struct option_walk){.at = tcp + sizeof(struct rte_tcp_hdr),
				    .end = tcp + (tcp[12] >> 4) * 4};
}

/* The next option, whole: kind, length, value; NULL at the end, or where they are malformed. */
static inline const uint8_t *option_next(struct option_walk *w)
{
	const uint8_t *option;

	while (w->at < w->end && *w->at == TCP_OPTION_NOP)
		w->at++;
	if (w->at == w->end || *w->at == TCP_OPTION_END)
		return NULL;
	option = w->at;
	w->malformed = w->end - option < 2 || option[1] < 2 || option[1] > w->end - option;
	if (w->malformed)
		return NULL;
	w->at += option[1];
	return option;
}

struct options {
	uint16_t mss;
	uint8_t scale;
	bool sack, has_stamp;
	uint32_t stamp;
};

/* The options of a SYN, by its TCP header; false when they are malformed. */
bool options_read(const uint8_t *tcp, unsigned family, struct options *);

/* What the peer's SYN said, into the record. An MSS below MSS_MIN is raised to that. */
void conn_take_options(struct stateful *, struct entry *, struct conn *, uint32_t seq,
		       const struct options *);

#endif
