/* One lock and one list of groups with work: tasks here are morsel loops that run for milliseconds, so a
 * queue per worker and stealing would buy nothing. A worker number is taken for the duration of one task, the
 * lowest free one first, so that per-worker states stay few when there is little to do. */
#include "base/task.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/watch.h"

typedef struct task {
	struct task *next;
	nk_task_function *function;
	void *argument;
	int64_t sequence;
} task;

struct nk_task_group {
	nk_pool *pool;
	nk_watch *watch;     /* of the thread that made it, which outlives it */
	nk_task_group *next; /* in the pool's ring of groups with queued tasks */
	bool listed;
	task *first, *last;
	int n_running;
	uint64_t workers_free; /* bit w: worker number w is free */
	int stopped;           /* atomic */
	nk_status status;
	int64_t failed_sequence;
	nk_error error;
};

struct nk_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	nk_task_group *groups, *groups_last;
	int n_threads, n_started;
	pid_t pid;
	bool closing;
	pthread_t threads[NK_WORKERS_MAX];
};

static void locks_init(nk_pool *pool)
{
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

nk_pool *nk_pool_new(int n_threads)
{
	nk_pool *pool = calloc(1, sizeof *pool);
	if (!pool)
		return NULL;
	locks_init(pool);
	pool->n_threads = n_threads < 1 ? 1 : n_threads > NK_WORKERS_MAX ? NK_WORKERS_MAX : n_threads;
	pool->pid = getpid();
	return pool;
}

int nk_pool_n_threads(const nk_pool *pool) { return pool->n_threads; }

/* In a forked child the pool's threads are gone and its lock and conditions are as the parent's threads left
 * them (locked, waited for): make them anew, once, whichever thread comes first. */
static void pool_after_fork(nk_pool *pool)
{
	enum { BEING_MADE = -1 };
	pid_t mine = getpid(), known = __atomic_load_n(&pool->pid, __ATOMIC_ACQUIRE);
	while (known != mine) {
		if (known != BEING_MADE && __atomic_compare_exchange_n(&pool->pid, &known, BEING_MADE, false,
		                                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			locks_init(pool);
			pool->n_started = 0;
			pool->groups = NULL;
			__atomic_store_n(&pool->pid, mine, __ATOMIC_RELEASE);
		}
		known = __atomic_load_n(&pool->pid, __ATOMIC_ACQUIRE);
	}
}

void nk_pool_free(nk_pool *pool)
{
	if (!pool)
		return;
	pool_after_fork(pool);
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (int i = 0; i < pool->n_started; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->done);
	free(pool);
}

/* The group's next task, with a worker number; NULL when it has none to start now. Called with the lock held. */
static task *task_take(nk_task_group *group, int *worker)
{
	if (!group->first || !group->workers_free)
		return NULL;
	task *taken = group->first;
	group->first = taken->next;
	if (!group->first)
		group->last = NULL;
	*worker = __builtin_ctzll(group->workers_free);
	group->workers_free &= group->workers_free - 1;
	group->n_running++;
	return taken;
}

static void group_fail(nk_task_group *group, nk_status status, const nk_error *error, int64_t sequence)
{
	bool is_cause = status != NK_CANCELLED; /* what was stopped by a failure does not hide it */
	bool replaces = group->status == NK_CANCELLED ? is_cause : is_cause && sequence < group->failed_sequence;
	if (group->status == NK_OK || replaces) {
		group->status = status;
		group->failed_sequence = sequence;
		group->error = *error;
	}
	__atomic_store_n(&group->stopped, 1, __ATOMIC_RELAXED);
}

/* Runs outside the lock but for its ends. */
static void task_run(nk_task_group *group, task *taken, int worker)
{
	nk_error error = {0};
	nk_status status = NK_OK;
	if (!nk_task_group_stopped(group))
		status = taken->function(taken->argument, worker, &error);
	pthread_mutex_lock(&group->pool->lock);
	if (status != NK_OK)
		group_fail(group, status, &error, taken->sequence);
	group->workers_free |= 1ull << worker;
	group->n_running--;
	if ((!group->first && group->n_running == 0) || group->first)
		pthread_cond_broadcast(&group->pool->done);
	pthread_mutex_unlock(&group->pool->lock);
	free(taken);
}

static void *pool_thread(void *argument)
{
	nk_pool *pool = argument;
	pthread_mutex_lock(&pool->lock);
	while (!pool->closing) {
		nk_task_group *group = NULL;
		task *taken = NULL;
		int worker = 0;
		/* One turn round the ring: groups that have nothing to start leave it. */
		for (nk_task_group **at = &pool->groups, *g; (g = *at) != NULL;) {
			taken = task_take(g, &worker);
			if (!g->first || taken) {
				*at = g->next;
				g->listed = false;
				g->next = NULL;
				if (g->first) { /* to the end: groups take turns */
					nk_task_group **end = &pool->groups;
					while (*end)
						end = &(*end)->next;
					*end = g;
					g->listed = true;
				}
				if (taken) {
					group = g;
					break;
				}
			} else {
				at = &g->next;
			}
		}
		if (!taken) {
			pthread_cond_wait(&pool->work, &pool->lock);
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		nk__watch = &(nk_watch){.outer = group->watch}; /* whose tick is for its own thread */
		task_run(group, taken, worker);
		nk__watch = NULL;
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* With the lock held. A thread that cannot be started is no error: the waiter runs every task. */
static void pool_start(nk_pool *pool)
{
	while (pool->n_started < pool->n_threads - 1) {
		if (pthread_create(&pool->threads[pool->n_started], NULL, pool_thread, pool) != 0)
			break;
		pool->n_started++;
	}
}

nk_task_group *nk_task_group_new(nk_pool *pool)
{
	pool_after_fork(pool);
	nk_task_group *group = calloc(1, sizeof *group);
	if (!group)
		return NULL;
	group->pool = pool;
	group->watch = nk__watch;
	group->workers_free = pool->n_threads == 64 ? ~0ull : (1ull << pool->n_threads) - 1;
	return group;
}

int nk_task_group_n_workers(const nk_task_group *group) { return group->pool->n_threads; }

void nk_task_group_free(nk_task_group *group)
{
	if (!group)
		return;
	pthread_mutex_lock(&group->pool->lock);
	for (nk_task_group **at = &group->pool->groups; *at; at = &(*at)->next)
		if (*at == group) {
			*at = group->next;
			break;
		}
	pthread_mutex_unlock(&group->pool->lock);
	for (task *queued = group->first, *next; queued; queued = next) {
		next = queued->next;
		free(queued);
	}
	free(group);
}

nk_status nk_task_spawn(nk_task_group *group, nk_task_function *function, void *argument, int64_t sequence,
                        nk_error *err)
{
	task *queued = malloc(sizeof *queued);
	if (!queued)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a task");
	*queued = (task){.function = function, .argument = argument, .sequence = sequence};
	nk_pool *pool = group->pool;
	pthread_mutex_lock(&pool->lock);
	if (pool->n_started < pool->n_threads - 1)
		pool_start(pool);
	if (group->last)
		group->last->next = queued;
	else
		group->first = queued;
	group->last = queued;
	if (!group->listed) {
		nk_task_group **end = &pool->groups;
		while (*end)
			end = &(*end)->next;
		*end = group;
		group->next = NULL;
		group->listed = true;
	}
	pthread_cond_signal(&pool->work);
	pthread_cond_broadcast(&pool->done);
	pthread_mutex_unlock(&pool->lock);
	return NK_OK;
}

/* With the lock held. A thread with a tick wakes up for it. */
static void wait_for_others(nk_pool *pool)
{
	if (!nk__watch || !nk__watch->tick) {
		pthread_cond_wait(&pool->done, &pool->lock);
		return;
	}
	int64_t until = nk_now_ns() + NK_TICK_NS;
	struct timespec when = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
	pthread_cond_timedwait(&pool->done, &pool->lock, &when);
	pthread_mutex_unlock(&pool->lock);
	nk_watch_tick();
	pthread_mutex_lock(&pool->lock);
}

nk_status nk_task_group_wait(nk_task_group *group, nk_error *err)
{
	nk_pool *pool = group->pool;
	pthread_mutex_lock(&pool->lock);
	while (group->first || group->n_running) {
		int worker;
		task *taken = task_take(group, &worker);
		if (!taken) {
			wait_for_others(pool);
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		task_run(group, taken, worker);
		pthread_mutex_lock(&pool->lock);
	}
	nk_status status = group->status;
	if (status == NK_OK)
		status = nk_watch_check(&group->error);
	if (status != NK_OK && err)
		*err = group->error;
	pthread_mutex_unlock(&pool->lock);
	return status;
}

bool nk_task_group_stopped(nk_task_group *group)
{
	return __atomic_load_n(&group->stopped, __ATOMIC_RELAXED) || nk_watch_stopped();
}
