/* Who speaks to whom, in the plan. */
#ifndef RUN_PLAN_ADDRESS_H
#define RUN_PLAN_ADDRESS_H

#include <stdio.h>

#include "../config/config.h"

/* A line for each family: "  from 16.0.0.1-16.0.0.200 ports 1024-65535 to 48.0.0.1 port 80". */
void plan_addresses(FILE *out, const struct config_traffic *);

#endif
