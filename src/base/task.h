/* Task groups on one pool of threads. A group is a set of tasks with a shared fate: the first failure (lowest
 * sequence wins) ends it, and so does the watch of the thread that made it (base/watch.h). The thread that waits for a group runs its tasks too, and only its
 * own group's, so a task may itself wait for a group of its own. Groups take turns on the pool's threads.
 *
 * A forked child gets a fresh pool on first use. */
#ifndef NK_BASE_TASK_H
#define NK_BASE_TASK_H

#include "base/status.h"

enum { NK_WORKERS_MAX = 64 };

typedef struct nk_pool nk_pool;
typedef struct nk_task_group nk_task_group;

/* A pool for n_threads workers in all, the waiting thread counted: n_threads - 1 are started, on first use. */
nk_pool *nk_pool_new(int n_threads);
void nk_pool_free(nk_pool *pool);
int nk_pool_n_threads(const nk_pool *pool);

/* A task gets its argument and the number of the worker that runs it, 0 <= worker < n_workers of the group. No
 * two tasks of one group run with the same worker number at a time: per-worker state needs no lock. */
typedef nk_status nk_task_function(void *argument, int worker, nk_error *err);

/* Returns NULL when out of memory. */
nk_task_group *nk_task_group_new(nk_pool *pool);
void nk_task_group_free(nk_task_group *group);
int nk_task_group_n_workers(const nk_task_group *group);
/* Queue a task; of several failures that with the lowest sequence is reported. Tasks may queue tasks. */
NK_MUST_CHECK nk_status nk_task_spawn(nk_task_group *group, nk_task_function *function, void *argument,
                                      int64_t sequence, nk_error *err);
/* Run and wait until no task is left. Reports the failure, and may be called again after more spawns. */
NK_MUST_CHECK nk_status nk_task_group_wait(nk_task_group *group, nk_error *err);
/* Tasks look at this between batches: true after a failure, or when the watch says so. */
bool nk_task_group_stopped(nk_task_group *group);

#endif
