/* A run, from configuration to verdict. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "crew.h"
#include "result.h"

struct run_options {
	const char *program; /* name of the executable, for the EAL */
	const char *report;  /* file, "-" for standard output, NULL for none */
	enum screen_format format;
	bool quiet;
	const struct crew_engine *engine;
};

/* Run a configuration. Returns 0 with *verdict set to what the process should exit with, or -1 when
 * there is no verdict: the configuration cannot be run here, or its results could not be written.
 * Everything that was opened is closed. */
int run(const struct config *, const struct run_options *, enum exit_code *verdict, struct err *);

#endif
