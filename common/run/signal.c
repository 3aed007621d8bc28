/* Signals: a handler that counts, and an eventfd that wakes the control thread whichever thread the
 * kernel chose to run the handler on. Between the look and the sleep no signal can be missed, since
 * the eventfd stays readable. */
#define _GNU_SOURCE
#include "signal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int wake = -1;
static volatile sig_atomic_t came;
static struct sigaction old_int, old_term, old_hup, old_pipe;

static void signal_handle(int number)
{
	int saved = errno;
	uint64_t one = 1;

	(void)number;
	if (__atomic_exchange_n(&came, 1, __ATOMIC_RELAXED))
		_exit(EXIT_INVALID);
	if (write(wake, &one, sizeof one) < 0)
		_exit(EXIT_INVALID);
	errno = saved;
}

int signal_open(struct err *err)
{
	struct sigaction handle = {.sa_handler = signal_handle, .sa_flags = SA_RESTART};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake < 0)
		return err_set(err, EXIT_ENVIRONMENT, "eventfd: %s", strerror(errno));
	came = 0;
	sigaction(SIGINT, &handle, &old_int);
	sigaction(SIGTERM, &handle, &old_term);
	sigaction(SIGPIPE, &ignore, &old_pipe);
	sigaction(SIGHUP, NULL, &old_hup);
	if (old_hup.sa_handler != SIG_IGN) /* under nohup it is */
		sigaction(SIGHUP, &handle, NULL);
	return 0;
}

void signal_close(void)
{
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGTERM, &old_term, NULL);
	sigaction(SIGPIPE, &old_pipe, NULL);
	sigaction(SIGHUP, &old_hup, NULL);
	close(wake);
	wake = -1;
}

bool signal_came(void)
{
	return __atomic_load_n(&came, __ATOMIC_RELAXED);
}

bool signal_sleep(uint64_t ns)
{
	struct pollfd woken = {.fd = wake, .events = POLLIN};
	struct timespec timeout = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	if (signal_came())
		clock_nanosleep(CLOCK_MONOTONIC, 0, &timeout, NULL);
	else
		ppoll(&woken, 1, &timeout, NULL);
	return signal_came();
}
