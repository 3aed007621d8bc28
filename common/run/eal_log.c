/* DPDK writes its log to a stdio stream. Ours keeps the first line of level error since the last
 * mark - the first, because later ones are consequences - and passes on what the user should see.
 *
 * While the EAL and the ports start nothing is passed on: DPDK complains there about things that do
 * not matter (no hugepages, no telemetry of an old kind), and what matters ends in our own error.
 */
#define _GNU_SOURCE
#include "eal_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_log.h>

static struct {
	pthread_mutex_t lock; /* DPDK's interrupt thread writes too */
	bool verbose, live;
	char cause[256];
} eal_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Keep a line without its end, and without the "EAL: " or "func(): " it starts with. */
static void cause_keep(const char *text, size_t length)
{
	size_t skip = 0;

	for (size_t i = 0; i + 1 < length && i < 64; i++)
		if (text[i] == ':' && text[i + 1] == ' ' && !memchr(text + skip, ' ', i - skip))
			skip = i + 2;
	text += skip;
	length -= skip;
	while (length && (text[length - 1] == '\n' || text[length - 1] == '.'))
		length--;
	if (length >= sizeof(eal_log.cause))
		length = sizeof(eal_log.cause) - 1;
	memcpy(eal_log.cause, text, length);
	eal_log.cause[length] = '\0';
}

/* memif's complaint that there is no second DPDK process comes first, always, and causes nothing.
 */
static bool is_irrelevant(const char *text, size_t length)
{
	return memmem(text, length, "mp action callback", 18) != NULL;
}

static ssize_t eal_log_write(void *cookie, const char *text, size_t length)
{
	/* A thread that is no lcore has no level of its own: it reads as the global one. */
	unsigned level = (unsigned)rte_log_cur_msg_loglevel();

	(void)cookie;
	pthread_mutex_lock(&eal_log.lock);
	if (level <= RTE_LOG_WARNING && !eal_log.cause[0] && !is_irrelevant(text, length))
		cause_keep(text, length);
	if (eal_log.verbose || (eal_log.live && level <= RTE_LOG_WARNING))
		fwrite(text, 1, length, stderr);
	pthread_mutex_unlock(&eal_log.lock);
	return (ssize_t)length;
}

void eal_log_keep(const char *text, size_t length)
{
	pthread_mutex_lock(&eal_log.lock);
	if (!eal_log.cause[0])
		cause_keep(text, length);
	pthread_mutex_unlock(&eal_log.lock);
}

void eal_log_start(bool verbose)
{
	cookie_io_functions_t functions = {.write = eal_log_write};
	FILE *stream = fopencookie(NULL, "w", functions);

	eal_log.verbose = verbose;
	if (stream)
		rte_openlog_stream(stream);
}

void eal_log_mark(void)
{
	pthread_mutex_lock(&eal_log.lock);
	eal_log.cause[0] = '\0';
	pthread_mutex_unlock(&eal_log.lock);
}

const char *eal_log_cause(void)
{
	static char phrase[sizeof(eal_log.cause) + 16];

	pthread_mutex_lock(&eal_log.lock);
	phrase[0] = '\0';
	if (eal_log.cause[0])
		snprintf(phrase, sizeof(phrase), " (DPDK: %s)", eal_log.cause);
	pthread_mutex_unlock(&eal_log.lock);
	return phrase;
}

void eal_log_live(bool live)
{
	eal_log.live = live;
}
