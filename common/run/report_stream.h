/* Streams in the result: what the workers' sinks saw, put together; and in the report. */
#ifndef RUN_REPORT_STREAM_H
#define RUN_REPORT_STREAM_H

#include "report.h"

/* What a result keeps of its stateless entries, empty; one per config->traffic[]. NULL: no memory.
 */
struct stream_stats *streams_open(const struct result *);

/* Add what one worker counted, per config->traffic[] (NULL: not of its port). */
void streams_add(struct result *, struct stream_stats *const *);

/* All have been added: what was sent and not seen is lost. */
void streams_end(struct result *);

/* Have all clients of the run a number of packets or bytes to send, so that it may end before its
 * time? And have those that this worker has sent them? May be asked while it works. */
bool streams_limited(const struct config *);
bool streams_sent(const struct config *, struct stream_stats *const *);

/* What a stream is called: as the blast that sends it, or by its number. */
const char *stream_name(const struct result *, const struct stream_result *);

/* Tell what a blast or sink has in place of connections and requests; and all streams. */
void report_walk_stateless(struct sink *, const struct result *, unsigned traffic);
void report_walk_streams(struct sink *, const struct result *);

#endif
