/* What DPDK says: kept while devices are opened, so that an error can name the cause; silent unless
 * it is a warning. */
#ifndef RUN_EAL_LOG_H
#define RUN_EAL_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Take DPDK's log over, before rte_eal_init(). verbose: everything goes to stderr as well, because
 * the user asked for it (--log-level). */
void eal_log_start(bool verbose);

/* Forget what was kept; what follows belongs to the next attempt. */
void eal_log_mark(void);

/* The first error since the mark, as a phrase to end a sentence with, " (DPDK: ...)", or "". Valid
 * until the next call. */
const char *eal_log_cause(void);

/* Keep a line of another library as the cause, if it is the first. */
void eal_log_keep(const char *text, size_t length);

/* live: the start is over, warnings and errors go to stderr from now on. */
void eal_log_live(bool live);

#endif
