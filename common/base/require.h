/* require(): a condition that cannot fail unless the program is wrong. Always compiled in. */
#ifndef BASE_REQUIRE_H
#define BASE_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define require(condition)                                                                     \
	do {                                                                                   \
		if (__builtin_expect(!(condition), 0)) {                                       \
			fprintf(stderr, "onager: %s:%d: impossible: %s\n", __FILE__, __LINE__, \
				#condition);                                                   \
			abort();                                                               \
		}                                                                              \
	} while (0)

#endif
