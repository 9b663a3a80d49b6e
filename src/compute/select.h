/* Choosing rows: from masks to positions, gathers by position, filters of arrays and whole batches.
 *
 * Takes keep encodings: a constant stays constant, a dictionary keeps its dictionary and gathers codes; views
 * share the heap; lists and structs gather their children. Positions must lie inside the array, they are not
 * checked. Immutable inputs, fresh outputs: any thread. */
#ifndef NK_COMPUTE_SELECT_H
#define NK_COMPUTE_SELECT_H

#include "columnar/batch.h"

/* Positions of the rows where a Boolean mask (flat or constant) is true and valid. rows has room for n_rows + 16
 * positions (vector stores run past the end). */
void nk_select_rows(const nk_array *mask, int64_t n_rows, uint32_t *rows, int64_t *n_selected);
/* The same from bits that start at bit 0; validity may be NULL. */
void nk_select_bits(const uint8_t *bits, const uint8_t *validity, int64_t n_rows, uint32_t *rows,
                    int64_t *n_selected);
/* How many rows a mask (any encoding) keeps. */
int64_t nk_select_count(const nk_array *mask, int64_t n_rows);

/* Rows array[rows[0]], array[rows[1]], ... */
NK_MUST_CHECK nk_status nk_array_take(nk_memory *memory, const nk_array *array, const uint32_t *rows,
                                      int64_t n_rows, nk_array **out, nk_error *err);
/* The same with 64-bit positions, for whole columns. */
NK_MUST_CHECK nk_status nk_array_take_wide(nk_memory *memory, const nk_array *array, const int64_t *rows,
                                           int64_t n_rows, nk_array **out, nk_error *err);
/* A negative position gives null: outer joins. array may have no rows when all positions are negative. */
NK_MUST_CHECK nk_status nk_array_take_optional(nk_memory *memory, const nk_array *array, const int64_t *rows,
                                               int64_t n_rows, nk_array **out, nk_error *err);

/* Rows where the mask is true and valid. */
NK_MUST_CHECK nk_status nk_array_filter(nk_memory *memory, nk_array *array, const nk_array *mask,
                                        nk_array **out, nk_error *err);
/* All columns of a batch at once (mask of batch->n_rows rows, flat or constant); same sequence. */
NK_MUST_CHECK nk_status nk_batch_filter(nk_memory *memory, const nk_batch *batch, const nk_array *mask,
                                        nk_batch **out, nk_error *err);
/* Gathers of all columns of a batch; same sequence. */
NK_MUST_CHECK nk_status nk_batch_take(nk_memory *memory, const nk_batch *batch, const uint32_t *rows,
                                      int64_t n_rows, nk_batch **out, nk_error *err);

#endif
