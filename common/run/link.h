/* The state of a port's link, while the run lasts. */
#ifndef RUN_LINK_H
#define RUN_LINK_H

#include "port.h"

/* Is it up now? Never waits. */
bool link_is_up(const struct port *);

/* Of a bond: which members are, a bit each in the order of the configuration. */
uint32_t link_members_up(const struct port *);

#endif
