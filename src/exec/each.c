/* One task per worker, which take items off a shared counter: balanced, and in order for one worker. */
#include "exec/each.h"

typedef struct each {
	const nk_exec *exec;
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
		if (item >= work->n_items || nk_exec_stopped(work->exec))
			return NK_OK;
		NK_TRY(work->function(work->data, item, worker, err));
	}
}

nk_status nk_exec_each(const nk_exec *exec, int64_t n_items, nk_each_function *function, void *data,
                       nk_error *err)
{
	each work = {.exec = exec, .n_items = n_items, .function = function, .data = data};
	int64_t n_tasks = NK_MIN((int64_t)exec->n_workers, n_items);
	nk_task_group *group = NULL;
	if (n_tasks > 1 && exec->pool)
		group = nk_task_group_new(exec->pool);
	if (!group || nk_task_group_n_workers(group) > exec->n_workers) {
		nk_task_group_free(group);
		return run(&work, 0, err);
	}
	nk_status status = NK_OK;
	for (int64_t t = 0; t < n_tasks && status == NK_OK; t++)
		status = nk_task_spawn(group, run, &work, t, err);
	nk_status waited = nk_task_group_wait(group, status == NK_OK ? err : NULL);
	nk_task_group_free(group);
	return status == NK_OK ? waited : status;
}
