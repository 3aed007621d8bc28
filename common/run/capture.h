/* What a run captures: samples of refused packets, and packets as they pass, into files. */
#ifndef RUN_CAPTURE_H
#define RUN_CAPTURE_H

#include "../config/config.h"
#include "clock.h"
#include "result.h"
#include "worker.h"

struct capture;

/* Open every file of the configuration; *capture is NULL when there are none. Nothing but the
 * configuration is needed: what cannot be written is found out before hardware is touched. */
int capture_open(struct capture **capture, const struct config *, struct err *);

/* True if a file is standard output: the screen makes way. */
bool capture_is_stdout(const struct config *);

/* Let workers, which are not running yet, capture; start the threads that write. */
int capture_start(struct capture *, struct worker *const *, unsigned workers, const struct clock *,
		  struct err *);

/* After the workers have been closed: store what is left, close the files, fill in the result,
 * which keeps parts of the capture until capture_close(). The reader of a pipe is given some
 * seconds, less after an interruption. */
void capture_finish(struct capture *, struct result *);

void capture_close(struct capture *);

/* Why this is no filter expression; false if it is one (for struct config_machine). */
bool capture_filter_is_wrong(const char *expression, char *why, size_t size);

#endif
