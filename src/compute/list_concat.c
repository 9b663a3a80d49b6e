/* The items of all parts end to end, then one gather puts them in order. */
#include "compute/list_concat.h"

#include "compute/select.h"

nk_status nk_lists_concat(nk_memory *memory, const nk_lists *parts, int n_parts, nk_buffer **offsets,
                          nk_array **items, nk_error *err)
{
	int64_t n_rows = parts[0].n_rows, n_items = 0, n = 0, base = 0;
	NK_AUTO(nk_buffer) ends = NULL, *rows = NULL, *arrays = NULL;
	NK_AUTO(nk_array) all = NULL;
	for (int p = 0; p < n_parts; p++)
		n_items += parts[p].offsets[n_rows];
	NK_TRY(nk_buffer_new(memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &ends, err));
	NK_TRY(nk_buffer_new(memory, n_items * (int64_t)sizeof(int64_t), &rows, err));
	NK_TRY(nk_buffer_new(memory, n_parts * (int64_t)sizeof(nk_array *), &arrays, err));
	int64_t *to = (int64_t *)(void *)ends->bytes, *from = (int64_t *)(void *)rows->bytes;
	nk_array **each = (nk_array **)(void *)arrays->bytes;
	to[0] = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		base = 0;
		for (int p = 0; p < n_parts; p++) {
			const int64_t *at = parts[p].offsets;
			for (int64_t j = at[i]; j < at[i + 1]; j++)
				from[n++] = base + j;
			base += at[n_rows];
		}
		to[i + 1] = n;
	}
	for (int p = 0; p < n_parts; p++)
		each[p] = parts[p].items;
	NK_TRY(nk_array_concat(memory, each, n_parts, &all, err));
	NK_TRY(nk_array_take_wide(memory, all, from, n_items, items, err));
	*offsets = NK_STEAL(ends);
	return NK_OK;
}

nk_status nk_lists_of_values(nk_memory *memory, nk_array *values, nk_lists *out, nk_error *err)
{
	NK_LISTS(lists);
	int64_t n_rows = values->n_rows;
	NK_TRY(nk_array_flatten(memory, values, &lists.items, err));
	NK_TRY(nk_buffer_new(memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &lists.offsets_buffer, err));
	int64_t *offsets = (int64_t *)(void *)lists.offsets_buffer->bytes;
	for (int64_t i = 0; i <= n_rows; i++)
		offsets[i] = i;
	lists.offsets = offsets;
	lists.n_rows = n_rows;
	*out = lists;
	lists = (nk_lists){0};
	return NK_OK;
}
