/* A batch: row-aligned arrays that are computed together (2k to 16k rows, so that they stay in L2), with the
 * sequence that says where its rows belong in the query's order: (morsel, number within the morsel).
 * Single-owner; arrays inside are shared. */
#ifndef NK_COLUMNAR_BATCH_H
#define NK_COLUMNAR_BATCH_H

#include "columnar/array.h"

typedef struct nk_batch {
	int64_t n_rows;
	int64_t morsel, number;
	int n_columns;
	nk_array **columns; /* owned references */
} nk_batch;

/* A batch with room for n_columns arrays, all NULL until set. */
NK_MUST_CHECK nk_status nk_batch_new(int n_columns, int64_t n_rows, nk_batch **out, nk_error *err);
void nk_batch_free(nk_batch *batch);
/* Rows [offset, offset + n_rows) as a new batch of the same sequence. */
NK_MUST_CHECK nk_status nk_batch_slice(nk_memory *memory, const nk_batch *batch, int64_t offset,
                                       int64_t n_rows, nk_batch **out, nk_error *err);
/* nk_array_compact on all columns. */
void nk_batch_compact(nk_memory *memory, nk_batch *batch);
NK_MUST_CHECK nk_status nk_batch_validate(const nk_batch *batch, nk_error *err);
static inline void nk_batch__auto(nk_batch **batch) { nk_batch_free(*batch); }

#endif
