/* SIGINT, SIGTERM and SIGHUP (unless ignored, as nohup does): the first asks the run to end, a
 * second ends the process at once. */
#ifndef RUN_SIGNAL_H
#define RUN_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/err.h"

/* Take the signals over (and ignore SIGPIPE: a broken pipe is a write error). */
int signal_open(struct err *);

/* Give them back. */
void signal_close(void);

/* Has one come? */
bool signal_came(void);

/* Sleep for ns, or until a signal comes; returns signal_came(). */
bool signal_sleep(uint64_t ns);

#endif
