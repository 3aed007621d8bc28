/* Error sentences. Text longer than the buffer is cut at its end: the prefix, which says where,
 * stays. */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, enum exit_code exit, const char *format, ...)
{
	va_list args;

	err->exit = exit;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length >= 0 && (size_t)length < sizeof(text))
		snprintf(text + length, sizeof(text) - (size_t)length, "%s", err->text);
	snprintf(err->text, sizeof(err->text), "%s", text);
	return -1;
}
