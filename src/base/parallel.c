/* One task per worker, which take items off a shared counter: balanced, and in order for one worker. */
#include "base/parallel.h"

#include "base/watch.h"

typedef struct each {
	int64_t n_items;
	int64_t next; /* atomic */
	nk_each_function *function;
	void *data;
} each;

static nk_status run(void *argument, int worker, nk_error *err)
{
	each *work = argument;
	for (;;) {
		int64_t item = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
		if (item >= work->n_items)
			return NK_OK;
		NK_TRY(nk_watch_check(err));
		NK_TRY(work->function(work->data, item, worker, err));
	}
}

nk_status nk_pool_each(nk_pool *pool, int64_t n_items, nk_each_function *function, void *data, nk_error *err)
{
	each work = {n_items, 0, function, data};
	int64_t n_tasks = pool ? NK_MIN((int64_t)nk_pool_n_threads(pool), n_items) : 1;
	nk_task_group *group = n_tasks > 1 ? nk_task_group_new(pool) : NULL;
	if (!group)
		return run(&work, 0, err);
	nk_status status = NK_OK;
	for (int64_t t = 0; t < n_tasks && status == NK_OK; t++)
		status = nk_task_spawn(group, run, &work, t, err);
	nk_status waited = nk_task_group_wait(group, status == NK_OK ? err : NULL);
	nk_task_group_free(group);
	return status == NK_OK ? waited : status;
}

static nk_status each_of_pool(const nk_parallel *parallel, int64_t n_items, nk_each_function *function,
                              void *data, nk_error *err)
{
	return nk_pool_each((nk_pool *)parallel->context, n_items, function, data, err);
}

nk_parallel nk_pool_parallel(nk_pool *pool)
{
	return (nk_parallel){
		.n_workers = pool ? nk_pool_n_threads(pool) : 1, .each = each_of_pool, .context = pool};
}
