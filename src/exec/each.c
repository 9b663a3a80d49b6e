#include "exec/each.h"

/* Operators have a state for each of n_workers. */
static nk_pool *pool_of(const nk_exec *exec)
{
	return exec->pool && nk_pool_n_threads(exec->pool) <= exec->n_workers ? exec->pool : NULL;
}

nk_status nk_exec_each(const nk_exec *exec, int64_t n_items, nk_each_function *function, void *data,
                       nk_error *err)
{
	return nk_pool_each(pool_of(exec), n_items, function, data, err);
}

nk_parallel nk_exec_parallel(const nk_exec *exec) { return nk_pool_parallel(pool_of(exec)); }
