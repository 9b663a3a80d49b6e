/* Sorting rows by key columns: Polars' order. NaN is the largest float and equal to itself, -0.0 equals 0.0, text
 * compares by bytes, false before true. Nulls go first or last whatever the direction. */
#ifndef NK_COMPUTE_SORT_H
#define NK_COMPUTE_SORT_H

#include "base/parallel.h"
#include "columnar/array.h"

typedef struct nk_sort_key {
	bool descending;
	bool nulls_last;
} nk_sort_key;

/* Fill rows with the positions 0..n_rows-1 in sorted order. Ties keep their order (always stable). Keys are in any
 * encoding, of n_rows rows each; n_rows < 2^32. parallel may be NULL. Lists and Structs compare item by item, field by field. */
NK_MUST_CHECK nk_status nk_sort_rows(nk_memory *memory, const nk_parallel *parallel, nk_array *const *keys,
                                     const nk_sort_key *specs, int n_keys, int64_t n_rows, uint32_t *rows,
                                     nk_error *err);
/* The values of one array in sorted order (any encoding; flat). Of equal values, and of NaNs, each may stand for the others. */
NK_MUST_CHECK nk_status nk_sort_array(nk_memory *memory, const nk_parallel *parallel, nk_array *array,
                                      nk_sort_key spec, nk_array **out, nk_error *err);
/* Sort only the positions given in rows (n_rows of them, of arrays of any length), in place. */
NK_MUST_CHECK nk_status nk_sort_some_rows(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs,
                                          int n_keys, uint32_t *rows, int64_t n_rows, nk_error *err);
/* Which of two rows comes first: negative, 0, positive. */
int nk_sort_compare(nk_array *const *keys_a, int64_t row_a, nk_array *const *keys_b, int64_t row_b,
                    const nk_sort_key *specs, int n_keys);
/* Whether neighbouring rows are in order already. */
bool nk_sort_is_sorted(nk_array *const *keys, const nk_sort_key *specs, int n_keys, int64_t n_rows);

#endif
