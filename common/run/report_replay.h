/* Replays in the report and in the summary. */
#ifndef RUN_REPORT_REPLAY_H
#define RUN_REPORT_REPLAY_H

#include "report.h"

/* The packets of a replay's recording so far: sent, not sent, left out. */
uint64_t replay_wanted(const struct result *, unsigned traffic);

/* Tell what a replay has in place of connections and requests. */
void report_walk_replay(struct sink *, const struct result *, unsigned traffic);

void screen_replay(FILE *out, const struct result *, unsigned traffic);

#endif
