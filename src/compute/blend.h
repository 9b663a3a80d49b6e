/* Rows from one of two arrays by a bit: when/then/otherwise, fill_null, coalesce. */
#ifndef NK_COMPUTE_BLEND_H
#define NK_COMPUTE_BLEND_H

#include "columnar/array.h"

/* Row i of `yes` where bit i is set, else of `no`: values and validity. Both are of `dtype` (Decimals of either
 * width), flat or constant, of n_rows rows; the result is flat. */
NK_MUST_CHECK nk_status nk_blend(nk_memory *memory, const nk_dtype *dtype, const uint8_t *bits, nk_array *yes,
                                 nk_array *no, int64_t n_rows, nk_array **out, nk_error *err);

#endif
