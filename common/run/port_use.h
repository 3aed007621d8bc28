/* Internal to device_memif and port_use. */
#ifndef RUN_PORT_USE_H
#define RUN_PORT_USE_H

/* From now on memory is unmapped only while no lcore is inside a burst. */
void port_use_guard(void);

#endif
