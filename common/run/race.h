/* For ThreadSanitizer, which sees atomic operations only in what it compiled: DPDK's rings, pools
 * and thread launches synchronise in DPDK's libraries. So who gives something away through DPDK
 * says race_give() before, and who gets it race_get() after. All of it goes by one object: what a
 * thread did before any gift is taken as known to whoever receives any, so a race is missed where
 * two workers share something and happen to exchange packets; that the control thread only reads
 * what it may is checked in full, since it takes part at the start and at the end alone. Nothing
 * remains of this in other builds. */
#ifndef RUN_RACE_H
#define RUN_RACE_H

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *);
void __tsan_release(void *);
extern char race_object;

static inline void race_give(void)
{
	__tsan_release(&race_object);
}

static inline void race_get(void)
{
	__tsan_acquire(&race_object);
}
#else
static inline void race_give(void)
{
}

static inline void race_get(void)
{
}
#endif

#endif
