/* Internal to device_memif and port_use. */
#ifndef RUN_PORT_USE_H
#define RUN_PORT_USE_H

#include <stdbool.h>

/* From now on memory is unmapped only while no lcore is inside a burst. */
void port_use_guard(void);

/* port_use_guard() was called: a memif port is, or was, open. */
bool port_use_guarded(void);

#endif
