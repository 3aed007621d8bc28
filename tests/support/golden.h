/* Golden files: text that must be exactly so. With GOLDEN_UPDATE set in the environment they are
 * written anew, to be looked at and committed. */
#ifndef SUPPORT_GOLDEN_H
#define SUPPORT_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline FILE *golden_open(const char *name, const char *mode)
{
	const char *tests = getenv("TEST_SOURCE_DIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/golden/%s", tests ? tests : "tests", name);
	return fopen(path, mode);
}

static inline void golden_write(const char *name, const char *text)
{
	FILE *file = golden_open(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static inline void golden_read(const char *name, char *text, size_t size)
{
	FILE *file = golden_open(name, "r");

	assert_non_null(file);
	size = fread(text, 1, size - 1, file);
	text[size] = '\0';
	fclose(file);
}

/* text equals the file tests/golden/NAME; if not, the first line that differs is shown. */
static inline void golden_check(const char *name, const char *text)
{
	static char want[1 << 16];
	unsigned line = 1;
	size_t start = 0;

	if (getenv("GOLDEN_UPDATE"))
		golden_write(name, text);
	golden_read(name, want, sizeof(want));
	if (!strcmp(want, text))
		return;
	for (size_t i = 0; want[i] == text[i]; i++) {
		if (want[i] != '\n')
			continue;
		start = i + 1;
		line++;
	}
	fail_msg("%s:%u: expected\n%.*s\ngot\n%.*s", name, line, (int)strcspn(want + start, "\n"),
		 want + start, (int)strcspn(text + start, "\n"), text + start);
}

#endif
