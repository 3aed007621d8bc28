/* Names of the rows of tape.h. */
#include "tape.h"

const char *const skipped_name[SKIPPED_COUNT] = {
#define X(id, name, help) [SKIPPED_##id] = name,
	SKIPPED_TABLE(X)
#undef X
};
