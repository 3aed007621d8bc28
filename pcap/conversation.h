/* Conversations of recordings: TCP connections put together again, as scripts.
 *
 * A connection is the client's whose SYN is recorded. Segments may come in any order and more than
 * once: of each byte the first copy counts. What was heard before something was said, its segment's
 * acknowledgment tells. A think time is the time from then - or from the side's own last words - to
 * its next, less the round trip between that side and where the recording was made, as the
 * handshake shows it; less than 100 us is none. A pause within a turn - the recording shows nothing
 * of the connection for 1 ms longer than that round trip - is a think time too; waiting for
 * acknowledgments is none.
 *
 * A connection with missing bytes is refused by name, others are played. An end that the recording
 * does not show is the client's FIN, answered by the server's; an RST ends a conversation where it
 * stands, unless both have closed. */
#ifndef PCAP_CONVERSATION_H
#define PCAP_CONVERSATION_H

#include "../common/base/err.h"
#include "../common/base/script.h"
#include "reader.h"

struct conversations;

/* Read the files. NULL with err when there is nothing to play. */
struct conversations *conversations_open(const struct script_options *, struct err *);

const struct script_set *conversations_scripts(const struct conversations *);
const struct script_counts *conversations_counts(const struct conversations *);

/* The first conversation refused for a reason, by name: file, number, ends, why; or NULL. */
const char *conversations_refused(const struct conversations *, enum script_refused);

/* What was met first of each problem of the files, or NULL. */
const char *conversations_problem(const struct conversations *, enum reader_problem);

void conversations_close(struct conversations *);

#endif
