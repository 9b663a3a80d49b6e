/* What the string functions share. Internal to src/func/string*.c. */
#ifndef NK_FUNC_STRING_H
#define NK_FUNC_STRING_H

#include "compute/text.h"
#include "func/func.h"

/* Fails unless argument 0 is a String, with the error that Polars raises when it resolves the function while
 * planning (NK_INVALID_OPERATION) or while running it (NK_SCHEMA_MISMATCH). */
NK_MUST_CHECK nk_status nk__need_string(const nk_bind *bind, nk_status code, nk_error *err);
/* The same, and sets the result's dtype and the kernel. */
NK_MUST_CHECK nk_status nk__bind_string_kernel(nk_bind *bind, nk_type_id result, nk_kernel *kernel,
                                               nk_error *err);

/* Row i of a flat or constant array of views. */
static inline const nk_view *nk__view_at(const nk_array *array, int64_t row)
{
	return (const nk_view *)array->values + nk_array_index(array, row);
}

/* Bytes [begin, end) of a view, as a view into the same heap. */
static inline nk_view nk__view_slice(const nk_view *view, const nk_heap *heap, int64_t begin, int64_t end)
{
	const char *bytes = nk_view_bytes(view, heap);
	bool is_long = view->n_bytes > NK_VIEW_INLINE;
	return nk_view_make(bytes + begin, (uint32_t)(end - begin), is_long ? view->buffer : 0,
	                    is_long ? view->offset + (uint32_t)begin : 0);
}

/* A flat String array of views (a buffer with n_rows of them) into the heap of another array. Takes over views and
 * validity, also on failure. */
static inline nk_status nk__views_into(const nk_call *call, const nk_array *source, nk_buffer *views,
                                       nk_buffer *validity, int64_t n_rows, nk_array **out, nk_error *err)
{
	return nk_array_new_flat(call->dtype, NK_PHYSICAL_VIEW, n_rows, views, validity, -1,
	                         nk_heap_ref(source->heap), out, err);
}

/* Where all of the first n_arrays arguments are valid; *out stays NULL when they all are. */
NK_MUST_CHECK nk_status nk__validity_of_first(const nk_call *call, nk_array *const *args, int n_arrays,
                                              int64_t n_rows, nk_buffer **out, nk_error *err);

/* Binders of the other files. */
nk_bind_function nk__bind_contains, nk__bind_starts_with, nk__bind_ends_with, nk__bind_find,
	nk__bind_count_matches, nk__bind_extract, nk__bind_replace, nk__bind_replace_all;
nk_bind_function nk__bind_to_lowercase, nk__bind_to_uppercase, nk__bind_reverse_text, nk__bind_zfill,
	nk__bind_pad_start, nk__bind_pad_end, nk__bind_concat_str;

#endif
