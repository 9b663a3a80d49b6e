/* What functions that see rows in order share. They are segmented kernels: a column is one segment, groups
 * are many. Internal to src/func. */
#ifndef NK_FUNC_ORDERED_H
#define NK_FUNC_ORDERED_H

#include "columnar/array.h"
#include "func/func.h"

/* A flat array of like's rows with its validity (a copy of the bits) and fresh values. */
static inline nk_status nk__alloc_like(nk_memory *memory, const nk_dtype *dtype, nk_physical physical,
                                       const nk_array *like, nk_array **out, nk_error *err)
{
	NK_TRY(nk_array_alloc(memory, dtype, physical, like->n_rows, like->validity != NULL, out, err));
	if (like->validity)
		memcpy(nk_array_validity(*out), like->validity, (size_t)nk_bitmap_bytes(like->n_rows));
	(*out)->n_nulls = like->validity ? like->n_nulls : 0;
	return NK_OK;
}

static inline nk_status nk__refuse_dtype(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", bind->func->name,
	               nk_dtype_short_name(bind->args[0].dtype));
}

#endif
