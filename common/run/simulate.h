/* A run on a simulated network, under a virtual clock: no device, no thread, no root. */
#ifndef RUN_SIMULATE_H
#define RUN_SIMULATE_H

#include "crew.h"
#include "result.h"

struct simulate_options {
	const char *report; /* file, "-" for standard output, NULL for none */
	const char *pcap;   /* file for what crossed the wires, NULL for none */
	enum screen_format format;
	bool quiet;
	const struct crew_engine *engine;
};

/* Run a configuration, its ports joined by wires as `network` says. The same file and seed give the
 * same report and the same capture, byte by byte. Returns 0 with *verdict set to what the process
 * should exit with, or -1. */
int simulate(const struct config *, const struct simulate_options *, enum exit_code *verdict,
	     struct err *);

#endif
