/* What a blast or sink will do, for the plan. */
#ifndef RUN_PLAN_STREAM_H
#define RUN_PLAN_STREAM_H

#include <stdio.h>

#include "report.h"

void plan_stream_put(FILE *, const struct config *, const struct config_traffic *);
void plan_stream_walk(struct sink *, const struct config *, const struct config_traffic *);

#endif
