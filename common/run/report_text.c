/* Numbers as text, the same in report, verdict and screen. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#define NUMBER_SMALL 1e-3

const char *report_number(char *text, double real)
{
	bool small = real < NUMBER_SMALL && real > -NUMBER_SMALL; /* six places would hide it */
	char *end = text + snprintf(text, REPORT_NUMBER_MAX, small ? "%.6g" : "%.6f", real);

	if (small || !strchr(text, '.'))
		return strcmp(text, "-0") ? text : "0";
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		*--end = '\0';
	return text;
}

const char *report_thousands(char *text, uint64_t value)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *at = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return text;
}

const char *report_counts(char *text, const uint64_t *count, const char *const *name, unsigned n,
			  bool thousands)
{
	char number[REPORT_THOUSANDS_MAX];
	char *at = text;

	*text = '\0';
	for (unsigned i = 0; i < n; i++) {
		if (!count[i])
			continue;
		if (thousands)
			report_thousands(number, count[i]);
		else
			snprintf(number, sizeof(number), "%" PRIu64, count[i]);
		at += sprintf(at, "%s%s %s", at == text ? "" : ", ", number, name[i]);
	}
	return text;
}
