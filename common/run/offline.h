/* Offline replay: the packets of a recording go into the engines of a configuration, under a
 * virtual clock, and the answers into a file. */
#ifndef RUN_OFFLINE_H
#define RUN_OFFLINE_H

#include "crew.h"

struct offline_options {
	const char *in, *out; /* "-": standard input and output */
	const struct crew_engine *engine;
};

/* Feed the recording to the first port of a configuration. The same recording, configuration and
 * seed give the same file, byte by byte. What happened is told on standard output, or on standard
 * error if the file goes to the other. Returns 0 or -1. */
int offline(const struct config *, const struct offline_options *, struct err *);

#endif
