/* Most lists come without gaps, and then nothing is copied: the items are a slice and the offsets a pointer. Lists
 * with gaps (slices of others, null rows that still have items) are gathered once, here. */
#include "compute/nested.h"

#include "compute/select.h"

void nk_lists_release(nk_lists *lists)
{
	nk_array_unref(lists->items);
	nk_array_unref(lists->flat);
	nk_buffer_unref(lists->offsets_buffer);
	*lists = (nk_lists){0};
}

/* Whether null rows have items. */
static bool has_hidden_items(const nk_array *array)
{
	const int64_t *offsets = array->values;
	if (!array->validity)
		return false;
	for (int64_t i = 0; i < array->n_rows; i++)
		if (offsets[i + 1] != offsets[i] && !nk_bitmap_get(array->validity, i))
			return true;
	return false;
}

static nk_status without_hidden_items(nk_memory *memory, const nk_array *array, nk_lists *lists,
                                      nk_error *err)
{
	const int64_t *from = array->values;
	int64_t n = array->n_rows, n_items = 0;
	NK_TRY(nk_buffer_new(memory, (n + 1) * (int64_t)sizeof(int64_t), &lists->offsets_buffer, err));
	int64_t *to = (int64_t *)(void *)lists->offsets_buffer->bytes;
	for (int64_t i = 0; i < n; i++) {
		to[i] = n_items;
		n_items += nk_bitmap_get(array->validity, i) ? from[i + 1] - from[i] : 0;
	}
	to[n] = n_items;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(memory, n_items * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *at = (int64_t *)(void *)rows->bytes;
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = to[i]; j < to[i + 1]; j++)
			at[j] = from[i] + (j - to[i]);
	lists->offsets = to;
	return nk_array_take_wide(memory, array->children[0], at, n_items, &lists->items, err);
}

nk_status nk_lists_of(nk_memory *memory, nk_array *array, nk_lists *out, nk_error *err)
{
	NK_LISTS(lists);
	lists.array = array;
	lists.n_rows = array->n_rows;
	NK_TRY(nk_array_flatten(memory, array, &lists.flat, err));
	const nk_array *flat = lists.flat;
	const int64_t *offsets = flat->values;
	int64_t n = flat->n_rows;
	if (has_hidden_items(flat)) {
		NK_TRY(without_hidden_items(memory, flat, &lists, err));
	} else {
		NK_TRY(nk_array_slice(memory, flat->children[0], offsets[0], offsets[n] - offsets[0], &lists.items,
		                      err));
		if (offsets[0] == 0) {
			lists.offsets = offsets;
		} else {
			NK_TRY(nk_buffer_new(memory, (n + 1) * (int64_t)sizeof(int64_t), &lists.offsets_buffer, err));
			int64_t *to = (int64_t *)(void *)lists.offsets_buffer->bytes;
			for (int64_t i = 0; i <= n; i++)
				to[i] = offsets[i] - offsets[0];
			lists.offsets = to;
		}
	}
	if (lists.items->encoding != NK_FLAT) {
		nk_array *items;
		NK_TRY(nk_array_flatten(memory, lists.items, &items, err));
		nk_array_unref(lists.items);
		lists.items = items;
	}
	*out = lists;
	lists = (nk_lists){0};
	return NK_OK;
}

nk_status nk_lists_rows(nk_memory *memory, const int64_t *offsets, int64_t n_rows, nk_buffer **out,
                        nk_error *err)
{
	NK_TRY(nk_buffer_new(memory, offsets[n_rows] * (int64_t)sizeof(uint32_t), out, err));
	uint32_t *rows = (uint32_t *)(void *)(*out)->bytes;
	for (int64_t i = 0; i < n_rows; i++)
		for (int64_t j = offsets[i]; j < offsets[i + 1]; j++)
			rows[j] = (uint32_t)i;
	return NK_OK;
}

/* A copy of the validity bits of a flat array; NULL when all rows are valid. */
static nk_status validity_copy(nk_memory *memory, const nk_array *array, nk_buffer **out, nk_error *err)
{
	*out = NULL;
	if (!array->validity)
		return NK_OK;
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(array->n_rows), out, err));
	memcpy((*out)->bytes, array->validity, (size_t)nk_bitmap_bytes(array->n_rows));
	return NK_OK;
}

nk_status nk_lists_wrap(nk_memory *memory, const nk_dtype *dtype, const nk_lists *like, nk_buffer *offsets,
                        nk_array *items, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) owned_offsets = offsets;
	NK_AUTO(nk_array) owned_items = items;
	nk_buffer *validity = NULL;
	if (items->encoding != NK_FLAT) {
		nk_array *flat;
		NK_TRY(nk_array_flatten(memory, items, &flat, err));
		nk_array_unref(owned_items);
		owned_items = flat;
	}
	NK_TRY(validity_copy(memory, like->flat, &validity, err));
	return nk_array_new_list(dtype, like->n_rows, NK_STEAL(owned_offsets), NK_STEAL(owned_items), validity,
	                         validity ? -1 : 0, out, err);
}

nk_status nk_lists_with_items(nk_memory *memory, const nk_dtype *dtype, const nk_lists *like, nk_array *items,
                              nk_array **out, nk_error *err)
{
	nk_buffer *offsets = NULL;
	int64_t n_bytes = (like->n_rows + 1) * (int64_t)sizeof(int64_t);
	nk_status status = nk_buffer_new(memory, n_bytes, &offsets, err);
	if (status != NK_OK) {
		nk_array_unref(items);
		return status;
	}
	memcpy(offsets->bytes, like->offsets, (size_t)n_bytes);
	return nk_lists_wrap(memory, dtype, like, offsets, items, out, err);
}

nk_status nk_lists_null_where(nk_memory *memory, const nk_lists *like, nk_array *array, nk_array **out,
                              nk_error *err)
{
	NK_AUTO(nk_array) owned = array;
	if (!like->flat->validity || array->physical == NK_PHYSICAL_NONE) {
		*out = NK_STEAL(owned);
		return NK_OK;
	}
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_array_flatten(memory, array, &flat, err));
	nk_buffer *validity;
	NK_TRY(validity_copy(memory, like->flat, &validity, err));
	if (flat->validity)
		for (int64_t i = 0; i < nk_bitmap_bytes(like->n_rows); i++)
			validity->bytes[i] &= flat->validity[i];
	return nk_array_with_validity(flat, validity, -1, out, err);
}
