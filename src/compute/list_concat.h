/* Lists of several columns one after another, row by row. */
#ifndef NK_COMPUTE_LIST_CONCAT_H
#define NK_COMPUTE_LIST_CONCAT_H

#include "compute/nested.h"

/* Row r of the result has the items of row r of each part, in order. All parts have the same number of rows and items of
 * one dtype. *offsets and *items are owned. */
NK_MUST_CHECK nk_status nk_lists_concat(nk_memory *memory, const nk_lists *parts, int n_parts,
                                        nk_buffer **offsets, nk_array **items, nk_error *err);
/* Columns of values as lists of one. */
NK_MUST_CHECK nk_status nk_lists_of_values(nk_memory *memory, nk_array *values, nk_lists *out, nk_error *err);

#endif
