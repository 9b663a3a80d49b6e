/* How work on whole columns is shared out among threads by code that knows no pools. */
#ifndef NK_BASE_PARALLEL_H
#define NK_BASE_PARALLEL_H

#include "base/task.h"

typedef nk_status nk_each_function(void *data, int64_t item, int worker, nk_error *err);

typedef struct nk_parallel nk_parallel;
struct nk_parallel {
	int n_workers;
	nk_status (*each)(const nk_parallel *parallel, int64_t n_items, nk_each_function *function, void *data,
	                  nk_error *err);
	const void *context;
};

/* Call function(data, item, worker) for every item of [0, n_items), several at a time, begun in order; returns when all
 * are done. worker < nk_parallel_n_workers. parallel NULL: one after another. */
static inline nk_status nk_parallel_each(const nk_parallel *parallel, int64_t n_items,
                                         nk_each_function *function, void *data, nk_error *err)
{
	if (parallel && n_items > 1)
		return parallel->each(parallel, n_items, function, data, err);
	for (int64_t item = 0; item < n_items; item++)
		NK_TRY(function(data, item, 0, err));
	return NK_OK;
}

/* The same on the threads of a pool (NULL: one after another). The watch of the calling thread is looked at before each
 * item (base/watch.h). */
NK_MUST_CHECK nk_status nk_pool_each(nk_pool *pool, int64_t n_items, nk_each_function *function, void *data,
                                     nk_error *err);
/* By the threads of a pool, which outlives it; NULL: none but the calling one. */
nk_parallel nk_pool_parallel(nk_pool *pool);

static inline int nk_parallel_n_workers(const nk_parallel *parallel)
{
	return parallel ? parallel->n_workers : 1;
}

#endif
