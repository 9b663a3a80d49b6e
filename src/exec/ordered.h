/* Row order carried along as a column: a last Int64 column that says where a row (or a group's first row) stood. */
#ifndef NK_EXEC_ORDERED_H
#define NK_EXEC_ORDERED_H

#include "exec/spill.h"

/* first, first + 1, ... */
NK_MUST_CHECK nk_status nk__order_column(nk_memory *memory, int64_t first, int64_t n, nk_array **out,
                                         nk_error *err);
/* A batch with the same columns and the order of its rows behind them. */
NK_MUST_CHECK nk_status nk__with_order(nk_memory *memory, const nk_batch *batch, nk_batch **out,
                                       nk_error *err);
/* All pieces as one batch sorted by their last column, which is dropped. *out NULL when there are no pieces. */
NK_MUST_CHECK nk_status nk__in_order(nk_memory *memory, nk_pieces *pieces, nk_batch **out, nk_error *err);
/* The next batch_rows rows of a whole that several readers share; *out NULL at the end. cursor is atomic. */
NK_MUST_CHECK nk_status nk__next_slice(const nk_exec *exec, const nk_batch *whole, int64_t *cursor,
                                       nk_batch **out, nk_error *err);

#endif
