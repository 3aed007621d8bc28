/* Sums of traffic statistics, and the names of what can go wrong. */
#include "stats.h"

const char *const close_name[CLOSE_WAYS] = {
#define X(id, name, help) name,
	CLOSE_TABLE(X)
#undef X
};

const char *const not_offered_name[NOT_OFFERED_COUNT] = {
#define X(id, name, help) name,
	NOT_OFFERED_TABLE(X)
#undef X
};

const char *const not_offered_help[NOT_OFFERED_COUNT] = {
#define X(id, name, help) help,
	NOT_OFFERED_TABLE(X)
#undef X
};

const char *const failed_name[FAILED_COUNT] = {
#define X(id, name, help) name,
	FAILED_TABLE(X)
#undef X
};

const char *const failed_help[FAILED_COUNT] = {
#define X(id, name, help) help,
	FAILED_TABLE(X)
#undef X
};

/* A level is nothing but words, so that a new one is added to the sum by being declared. */
_Static_assert(sizeof(struct traffic_level) % sizeof(uint64_t) == 0, "words only");

void traffic_level_add(struct traffic_level *to, const struct traffic_level *from)
{
	uint64_t *sum = (uint64_t *)to;
	const uint64_t *word = (const uint64_t *)from;

	for (unsigned i = 0; i < sizeof(*to) / sizeof(*word); i++)
		sum[i] += __atomic_load_n(&word[i], __ATOMIC_RELAXED);
}

void stats_merge(struct traffic_stats *to, const struct traffic_stats *from)
{
	traffic_level_add(&to->level, &from->level);
	hist_merge(&to->connect, &from->connect);
	hist_merge(&to->first_byte, &from->first_byte);
	hist_merge(&to->response, &from->response);
	if (from->split)
		split_merge(&to->split, from->split);
}

uint64_t tally_not_offered(const struct tally *tally)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < NOT_OFFERED_COUNT; i++)
		sum += tally->not_offered[i];
	return sum;
}

uint64_t tally_failed(const struct tally *tally)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FAILED_COUNT; i++)
		sum += tally->failed[i];
	return sum;
}
