/* Lists taken apart and put together: what kernels of lists need whatever they compute. A list column is offsets and
 * items; kernels want items without gaps, so that row r's items are exactly [offsets[r], offsets[r + 1]). */
#ifndef NK_COMPUTE_NESTED_H
#define NK_COMPUTE_NESTED_H

#include "columnar/array.h"

/* A list column taken apart. Null rows have no items. The pointers borrow from the two owned references. */
typedef struct nk_lists {
	int64_t n_rows;
	const int64_t *offsets;    /* n_rows + 1, the first 0 */
	nk_array *items;           /* flat, offsets[n_rows] rows; owned */
	nk_buffer *offsets_buffer; /* owned */
	const nk_array *array;     /* the column, borrowed: for validity */
	nk_array *flat;            /* owned */
} nk_lists;

/* Of a List column in any encoding. Release the result. */
NK_MUST_CHECK nk_status nk_lists_of(nk_memory *memory, nk_array *array, nk_lists *out, nk_error *err);
void nk_lists_release(nk_lists *lists);
#define NK_LISTS(name) __attribute__((cleanup(nk_lists_release))) nk_lists name = {0}

/* The row of each item, offsets[n_rows] of them, in a fresh buffer of uint32. */
NK_MUST_CHECK nk_status nk_lists_rows(nk_memory *memory, const int64_t *offsets, int64_t n_rows,
                                      nk_buffer **out, nk_error *err);
/* Whether a row is a list (not null). */
static inline bool nk_lists_valid(const nk_lists *lists, int64_t row)
{
	return nk_array_is_valid(lists->flat, row);
}

/* A list column with the validity of another: null where it is null. Takes offsets (a buffer of n_rows + 1 int64 from
 * 0) and items over. */
NK_MUST_CHECK nk_status nk_lists_wrap(nk_memory *memory, const nk_dtype *dtype, const nk_lists *like,
                                      nk_buffer *offsets, nk_array *items, nk_array **out, nk_error *err);
/* The same offsets and other items. */
NK_MUST_CHECK nk_status nk_lists_with_items(nk_memory *memory, const nk_dtype *dtype, const nk_lists *like,
                                            nk_array *items, nk_array **out, nk_error *err);
/* `array` (taken over) made null also where a row of `like` is null. */
NK_MUST_CHECK nk_status nk_lists_null_where(nk_memory *memory, const nk_lists *like, nk_array *array,
                                            nk_array **out, nk_error *err);

#endif
