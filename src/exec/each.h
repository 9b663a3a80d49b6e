/* Work that an operator splits among workers in between pipelines: building a join table, finishing partitions. */
#ifndef NK_EXEC_EACH_H
#define NK_EXEC_EACH_H

#include "base/parallel.h"
#include "exec/operator.h"

/* Call function(data, item, worker) for every item of [0, n_items), several at a time; items are taken in order.
 * Returns when all are done. worker < exec->n_workers. */
NK_MUST_CHECK nk_status nk_exec_each(const nk_exec *exec, int64_t n_items, nk_each_function *function,
                                     void *data, nk_error *err);
/* The same for kernels: to be handed to them, valid as long as exec. */
nk_parallel nk_exec_parallel(const nk_exec *exec);

#endif
