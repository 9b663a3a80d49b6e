/* A lock of the process that any thread may hold when another forks: the child must find it open, and what it guards
 * whole. `NK_FORK_SAFE(lock)` once, behind the lock's definition. */
#ifndef NK_BASE_FORK_H
#define NK_BASE_FORK_H

#include <pthread.h>

#define NK_FORK_SAFE(lock)                                                        \
	static void lock##_before_fork(void) { pthread_mutex_lock(&lock); }           \
	static void lock##_after_fork(void) { pthread_mutex_unlock(&lock); }          \
	__attribute__((constructor)) static void lock##_fork_safe(void)               \
	{                                                                             \
		pthread_atfork(lock##_before_fork, lock##_after_fork, lock##_after_fork); \
	}                                                                             \
	_Static_assert(sizeof(lock) == sizeof(pthread_mutex_t), "NK_FORK_SAFE takes a mutex")

#endif
