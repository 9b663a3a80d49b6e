/* Collecting: all rows of a pipeline kept in memory, in row order, as columns or as batches. For results, for
 * expressions over whole columns, and for results that several consumers read. */
#ifndef NK_EXEC_COLLECT_H
#define NK_EXEC_COLLECT_H

#include "columnar/frame.h"
#include "exec/operator.h"

typedef struct nk_collection nk_collection;

/* limit: rows that are enough, counted as they come; -1: all. */
NK_MUST_CHECK nk_status nk_collection_new(const nk_exec *exec, const nk_dtype *const *dtypes, int n_columns,
                                          int64_t limit, nk_collection **out, nk_error *err);
void nk_collection_free(nk_collection *collection);
nk_receiver *nk_collection_sink(nk_collection *collection); /* borrowed */

/* After finish: */
int64_t nk_collection_n_rows(const nk_collection *collection);
/* Rows [offset, offset + n_rows) of one column as one flat array; the range must lie inside. */
NK_MUST_CHECK nk_status nk_collection_array(nk_collection *collection, int column, int64_t offset,
                                            int64_t n_rows, nk_array **out, nk_error *err);
/* All rows of every column, each as one flat array, made by all workers. The rows leave the collection, a column as
 * soon as it is made; after a failure, arrays[] holds what was made. */
NK_MUST_CHECK nk_status nk_collection_take(nk_collection *collection, nk_array **arrays, nk_error *err);
/* A stream over rows [offset, offset + limit) (limit -1: to the end; offset negative: from the end, as in slices), clipped to
 * what is there. Any number of streams; the collection outlives them. row_index: a UInt32 row number, counted
 * from row_index_offset, is put before the columns. */
NK_MUST_CHECK nk_status nk_collection_stream(nk_collection *collection, int64_t offset, int64_t limit,
                                             bool row_index, int64_t row_index_offset, nk_stream **out,
                                             nk_error *err);

#endif
