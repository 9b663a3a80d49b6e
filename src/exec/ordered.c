/* Order is a plain key column: sorting by it is a radix sort of integers, and it spills like any other. */
#include "exec/ordered.h"

#include "compute/select.h"
#include "compute/sort.h"

nk_status nk__order_column(nk_memory *memory, int64_t first, int64_t n, nk_array **out, nk_error *err)
{
	NK_TRY(nk_array_alloc(memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, n, false, out, err));
	int64_t *values = nk_array_values(*out);
	for (int64_t i = 0; i < n; i++)
		values[i] = first + i;
	return NK_OK;
}

nk_status nk__with_order(nk_memory *memory, const nk_batch *batch, nk_batch **out, nk_error *err)
{
	NK_AUTO(nk_batch) wider = NULL;
	NK_TRY(nk_batch_new(batch->n_columns + 1, batch->n_rows, &wider, err));
	wider->morsel = batch->morsel;
	wider->number = batch->number;
	for (int c = 0; c < batch->n_columns; c++)
		wider->columns[c] = nk_array_ref(batch->columns[c]);
	NK_TRY(nk__order_column(memory, nk_batch_order(batch), batch->n_rows, &wider->columns[batch->n_columns],
	                        err));
	*out = NK_STEAL(wider);
	return NK_OK;
}

nk_status nk__in_order(nk_memory *memory, nk_pieces *pieces, nk_batch **out, nk_error *err)
{
	*out = NULL;
	if (pieces->n_batches == 0)
		return NK_OK;
	NK_AUTO(nk_batch) whole = NULL;
	int n_columns = pieces->batches[0]->n_columns;
	NK_TRY(nk_pieces_concat(pieces, memory, NULL, NULL, n_columns, &whole, err));
	NK_AUTO(nk_array) orders = NK_STEAL(whole->columns[n_columns - 1]);
	whole->n_columns--;
	nk_sort_key ascending = {0};
	if (nk_sort_is_sorted(&orders, &ascending, 1, whole->n_rows)) {
		*out = NK_STEAL(whole);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(memory, whole->n_rows * 4, &rows, err));
	NK_TRY(nk_sort_rows(memory, NULL, &orders, &ascending, 1, whole->n_rows, (uint32_t *)rows->bytes, err));
	return nk_batch_take(memory, whole, (const uint32_t *)rows->bytes, whole->n_rows, out, err);
}

nk_status nk__next_slice(const nk_exec *exec, const nk_batch *whole, int64_t *cursor, nk_batch **out,
                         nk_error *err)
{
	*out = NULL;
	int64_t first = __atomic_fetch_add(cursor, exec->batch_rows, __ATOMIC_RELAXED);
	if (!whole || first >= whole->n_rows || nk_exec_stopped(exec))
		return NK_OK;
	NK_TRY(nk_batch_slice(exec->memory, whole, first, NK_MIN(exec->batch_rows, whole->n_rows - first), out,
	                      err));
	(*out)->morsel = first / exec->batch_rows;
	(*out)->number = 0;
	return NK_OK;
}
