/* What a client's load means on the wire, on a clean path. */
#ifndef RUN_PLAN_LOAD_H
#define RUN_PLAN_LOAD_H

#include "../config/config.h"

struct frames {
	uint64_t connection; /* frames of one without its requests */
	uint64_t request;    /* frames of a request and its response */
	uint64_t connection_bytes, request_bytes;
	bool assumed; /* the response is not known */
};

struct load_plan {
	u128 tuples;
	struct frames frames;
	double pps, bps; /* both ways, at the target; 0: depends on the far end */
	double reuse_s;  /* after which a tuple is used again; 0: not known */
};

/* Count for a client entry of the configuration. */
void plan_load(struct load_plan *, const struct config *, const struct config_traffic *client);

/* The server entry that a client entry talks to; NULL if the file has none. */
const struct config_traffic *plan_load_server(const struct config *,
					      const struct config_traffic *client);

#endif
