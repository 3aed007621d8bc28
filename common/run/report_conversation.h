/* Conversations in the plan, the report and the summary. */
#ifndef RUN_REPORT_CONVERSATION_H
#define RUN_REPORT_CONVERSATION_H

#include "report.h"

/* Tell what the recording holds, as the object "recording". */
void report_walk_recording(struct sink *, const struct conversation_result *);

/* The same in the plan of `check`: one or two lines. */
void plan_conversation_put(FILE *out, const struct conversation_result *);

/* Of a run: the bytes compared, and the above. */
void report_walk_conversation(struct sink *, const struct result *, unsigned traffic);
void screen_conversation(FILE *out, const struct result *, unsigned traffic);

#endif
