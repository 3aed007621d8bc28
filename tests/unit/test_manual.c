/* docs/REPORT.md explains every counter and every reason, in the words of their tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "../../common/base/counter.h"
#include "../../common/base/stats.h"

static char manual[1 << 17];

static int manual_read(void **state)
{
	const char *tests = getenv("TEST_SOURCE_DIR");
	char path[4096];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/../docs/REPORT.md", tests ? tests : ".");
	file = fopen(path, "r");
	if (!file)
		return -1;
	manual[fread(manual, 1, sizeof(manual) - 1, file)] = '\0';
	return fclose(file);
}

static void assert_row(const char *name, const char *help)
{
	char row[512];

	snprintf(row, sizeof(row), "\n| `%s` | %s |\n", name, help);
	if (!strstr(manual, row))
		fail_msg("docs/REPORT.md lacks this row: %s", row);
}

static void counters_are_explained(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		assert_row(counter_info[i].name, counter_info[i].help);
}

static void reasons_are_explained(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NOT_OFFERED_COUNT; i++)
		assert_row(not_offered_name[i], not_offered_help[i]);
	for (unsigned i = 0; i < FAILED_COUNT; i++)
		assert_row(failed_name[i], failed_help[i]);
	for (unsigned i = DROP_NONE + 1; i < DROP_COUNT; i++)
		assert_row(drop_info[i].name, drop_info[i].help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_explained),
		cmocka_unit_test(reasons_are_explained),
	};

	return cmocka_run_group_tests(tests, manual_read, NULL);
}
