/* What the files of casting share; internal to src/func. */
#ifndef NK_FUNC_CAST_INTERNAL_H
#define NK_FUNC_CAST_INTERNAL_H

#include "func/cast.h"

/* A cast under way: a flat array in, fresh values out, and the rows that failed. */
typedef struct nk_casting {
	nk_memory *memory;
	const nk_array *array; /* flat */
	const nk_dtype *dtype;
	nk_cast_mode mode;
	nk_buffer
		*validity; /* of the result; made when the first valid row fails (before: the array's own serves) */
	int64_t n_failed;
} nk_casting;

/* Row i could not be cast: null unless it was null anyway. */
NK_MUST_CHECK nk_status nk__casting_fail(nk_casting *casting, int64_t row, nk_error *err);
/* The result with values (owned) and the validity due, or the strict cast's error. */
NK_MUST_CHECK nk_status nk__casting_finish(nk_casting *casting, nk_physical physical, nk_buffer *values,
                                           nk_heap *heap, nk_array **out, nk_error *err);
NK_MUST_CHECK nk_status nk__casting_error(const nk_casting *casting, nk_error *err);

NK_MUST_CHECK nk_status nk__cast_to_text(nk_casting *casting, nk_array **out, nk_error *err);
/* Between Categorical, Enum and String. */
NK_MUST_CHECK nk_status nk__cast_category(nk_casting *casting, nk_array **out, nk_error *err);
NK_MUST_CHECK nk_status nk__cast_from_text(nk_casting *casting, nk_array **out, nk_error *err);

/* The validity of a flat array as a buffer that starts with its bits (NULL: all valid); owned. */
NK_MUST_CHECK nk_status nk__validity_buffer(nk_memory *memory, const nk_array *array, nk_buffer **out,
                                            nk_error *err);

static inline bool nk__casting_valid(const nk_casting *casting, int64_t row)
{
	return !casting->array->validity || nk_bitmap_get(casting->array->validity, row);
}

#endif
