/* The lines of a text, one after the other: without their ends (LF, or CR and LF), and without
 * those that are empty. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdint.h>
#include <string.h>

/* The next line from *at on, which moves behind it; NULL: there is no more. */
static inline const char *line_next(const uint8_t *text, uint32_t count, uint32_t *at,
				    uint32_t *length)
{
	while (*at < count) {
		const uint8_t *begin = text + *at, *stop = memchr(begin, '\n', count - *at);
		const uint8_t *last = stop ? stop : text + count;

		*at = (uint32_t)(last - text) + (stop != NULL);
		if (last > begin && last[-1] == '\r')
			last--;
		*length = (uint32_t)(last - begin);
		if (*length)
			return (const char *)begin;
	}
	return NULL;
}

static inline unsigned line_count(const uint8_t *text, uint32_t count)
{
	uint32_t at = 0, length;
	unsigned lines = 0;

	while (line_next(text, count, &at, &length))
		lines++;
	return lines;
}

#endif
