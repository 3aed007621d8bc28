/* Waiting until no worker is inside a burst.
 *
 * DPDK's memif driver handles the end of a connection in its interrupt thread: it marks the device
 * as not connected, then unmaps the shared memory and frees its tables, without regard to a thread
 * that is reading from them. On a busy machine that thread is often preempted just there, and the
 * process dies of its peer's leaving. As the mark comes first, it is enough to delay the unmapping
 * until every worker has finished the burst it was in. The driver calls munmap(), and an
 * executable's own munmap() is the one that its libraries call: so ours waits, then unmaps.
 *
 * Rejected: a lock around each burst (cycles for all, and the driver would not take it); holding
 * back the interrupt thread (nothing tells when it may go on). */
#define _GNU_SOURCE
#include "port.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "port_use.h"

#define WAIT_STEP_NS 20000
#define WAIT_STEPS \
	50000 /* a second: a worker that is stopped in a debugger must not hang the rest */

struct port_use port_use[RTE_MAX_LCORE];
static bool guarded;

static uint64_t passes_of(unsigned lcore)
{
	return __atomic_load_n(&port_use[lcore].passes, __ATOMIC_ACQUIRE);
}

/* Until this lcore has begun a step that is not the one it is in now, or uses no port any more. */
static void lcore_wait(unsigned lcore)
{
	uint64_t before = passes_of(lcore);

	for (unsigned i = 0; before && passes_of(lcore) == before && i < WAIT_STEPS; i++)
		nanosleep(&(struct timespec){.tv_nsec = WAIT_STEP_NS}, NULL);
}

void port_use_guard(void)
{
	guarded = true;
}

bool port_use_guarded(void)
{
	return guarded;
}

int munmap(void *address, size_t length)
{
	if (guarded) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		for (unsigned lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
			if (lcore != rte_lcore_id())
				lcore_wait(lcore);
	}
	return (int)syscall(SYS_munmap, address, length);
}
