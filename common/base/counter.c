/* The counter and drop-reason tables as data. */
#include "counter.h"

const struct counter_info counter_info[COUNTER_COUNT] = {
#define COUNTER_ROW(id, name, group, help) [COUNTER_##id] = {#name, help, group},
	COUNTER_TABLE(COUNTER_ROW)
#undef COUNTER_ROW
};

#define COUNTER_NONE (-1)
const struct drop_info drop_info[DROP_COUNT] = {
	[DROP_NONE] = {"accepted", "accepted", COUNTER_NONE},
#define DROP_ROW(id, name, counter, help) [DROP_##id] = {name, help, COUNTER_##counter},
	DROP_TABLE(DROP_ROW)
#undef DROP_ROW
};

void counters_read(struct counters *to, const struct counters *from)
{
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		to->value[i] = __atomic_load_n(&from->value[i], __ATOMIC_RELAXED);
	for (unsigned i = 0; i < DROP_COUNT; i++)
		to->drop[i] = __atomic_load_n(&from->drop[i], __ATOMIC_RELAXED);
}

void counters_add(struct counters *to, const struct counters *from)
{
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		to->value[i] += from->value[i];
	for (unsigned i = 0; i < DROP_COUNT; i++)
		to->drop[i] += from->drop[i];
}
