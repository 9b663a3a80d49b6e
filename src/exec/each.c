#include "exec/each.h"

nk_status nk_exec_each(const nk_exec *exec, int64_t n_items, nk_each_function *function, void *data,
                       nk_error *err)
{
	return nk_pool_each(exec->pool, n_items, function, data, err);
}

nk_parallel nk_exec_parallel(const nk_exec *exec) { return nk_pool_parallel(exec->pool); }
