/* The plan: what a configuration will do and need, before any hardware is touched. */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include <stdbool.h>
#include <stdio.h>

#include "../base/err.h"
#include "../config/config.h"

/* Print the plan of a configuration: addresses, tuples, memory, cores, frames, rates. The last line
 * of the text is "ok". Fails with what plan_check() finds, after everything is printed, and on a
 * write error. */
int plan_print(const struct config *, bool json, FILE *out, struct err *);

/* Refuse (EXIT_USAGE) what cannot work: more memory than `memory.limit` allows. */
int plan_check(const struct config *, struct err *);

#endif
