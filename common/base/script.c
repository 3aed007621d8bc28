/* Names and help of the rows of script.h. */
#include "script.h"

const char *const script_refused_name[SCRIPT_REFUSALS] = {
#define X(id, name, help) name,
	SCRIPT_REFUSED_TABLE(X)
#undef X
};

const char *const script_refused_help[SCRIPT_REFUSALS] = {
#define X(id, name, help) help,
	SCRIPT_REFUSED_TABLE(X)
#undef X
};
