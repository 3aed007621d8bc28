/* Scripts of conversations as text, for tests that play them.
 *
 *     talk_begin();
 *     talk_add("c:GET s@100:OK sF cF");
 *     lab_scripts = talk_set();
 *
 * A turn is SIDE[&][@MS]WHAT: SIDE "c" or "s"; "&": it waits for no more of the far end's than the
 * turn before; "@MS": after a think time; WHAT is ":TEXT", "#BYTES", "F" (FIN) or "R" (RST). Else a
 * turn waits for all that the far end has said before it. */
#ifndef SUPPORT_TALK_H
#define SUPPORT_TALK_H

#include "../../common/base/script.h"

void talk_begin(void);
void talk_add(const char *text);
/* Of what was added since talk_begin(); valid until the next. */
const struct script_set *talk_set(void);
/* Free all of it. */
void talk_end(void);

#endif
