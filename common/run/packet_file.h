/* A packet of a capture file as the frame that a blast sends. */
#ifndef RUN_PACKET_FILE_H
#define RUN_PACKET_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Packet `number`, from 1, of a file into data, without a frame check sequence; returns how many
 * bytes it has, or 0 and into `why` why it is not to be had (for struct config_machine). */
uint32_t packet_file_read(const char *file, uint64_t number, uint8_t *data, uint32_t size,
			  char *why, size_t why_size);

#endif
