/* The plan: what a configuration will do and need, before any hardware is touched. */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include <stdbool.h>
#include <stdio.h>

#include "../config/config.h"
#include "conversation_set.h"

/* Print the plan of a configuration: addresses, tuples, memory, cores, frames, rates. The last line
 * of the text is "ok": what is wrong with it was said when it was loaded (plan_faults()).
 * conversation: per config->traffic[], NULL without any. */
void plan_print(const struct config *, const struct conversation_result *conversation, bool json,
		FILE *out);

#endif
