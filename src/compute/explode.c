/* Lists without nulls or empty ones that leave a row, the usual case, explode to their items as they lie: no copy. */
#include "compute/explode.h"

#include "compute/nested.h"
#include "compute/select.h"

static int64_t count_of(int64_t n_items, bool valid, nk_explode_mode mode)
{
	return !valid ? mode.keep_nulls : n_items == 0 ? mode.empty_as_null : n_items;
}

nk_status nk_explode_array(nk_memory *memory, nk_array *array, nk_explode_mode mode, nk_array **out,
                           nk_error *err)
{
	NK_LISTS(lists);
	NK_TRY(nk_lists_of(memory, array, &lists, err));
	int64_t n_rows = 0;
	for (int64_t i = 0; i < lists.n_rows; i++)
		n_rows += count_of(lists.offsets[i + 1] - lists.offsets[i], nk_lists_valid(&lists, i), mode);
	if (n_rows == lists.offsets[lists.n_rows]) {
		*out = nk_array_ref(lists.items);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *from = (int64_t *)(void *)rows->bytes, n = 0;
	for (int64_t i = 0; i < lists.n_rows; i++) {
		int64_t n_items = lists.offsets[i + 1] - lists.offsets[i];
		if (n_items == 0 && count_of(0, nk_lists_valid(&lists, i), mode))
			from[n++] = -1;
		for (int64_t j = 0; j < n_items; j++)
			from[n++] = lists.offsets[i] + j;
	}
	return nk_array_take_optional(memory, lists.items, from, n_rows, out, err);
}

nk_status nk_explode_counts(nk_memory *memory, nk_array *array, nk_explode_mode mode, nk_buffer **out,
                            nk_error *err)
{
	NK_LISTS(lists);
	NK_TRY(nk_lists_of(memory, array, &lists, err));
	NK_TRY(nk_buffer_new(memory, lists.n_rows * (int64_t)sizeof(int64_t), out, err));
	int64_t *counts = (int64_t *)(void *)(*out)->bytes;
	for (int64_t i = 0; i < lists.n_rows; i++)
		counts[i] = count_of(lists.offsets[i + 1] - lists.offsets[i], nk_lists_valid(&lists, i), mode);
	return NK_OK;
}

nk_status nk_explode_rows(nk_memory *memory, const int64_t *counts, int64_t n_rows, nk_buffer **out,
                          int64_t *n_out, nk_error *err)
{
	int64_t n = 0, at = 0;
	for (int64_t i = 0; i < n_rows; i++)
		n += counts[i];
	NK_TRY(nk_buffer_new(memory, n * (int64_t)sizeof(uint32_t), out, err));
	uint32_t *rows = (uint32_t *)(void *)(*out)->bytes;
	for (int64_t i = 0; i < n_rows; i++)
		for (int64_t j = 0; j < counts[i]; j++)
			rows[at++] = (uint32_t)i;
	*n_out = n;
	return NK_OK;
}
