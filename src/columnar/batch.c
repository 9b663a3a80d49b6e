/* One malloc block for the header and the column pointers: a batch is made and dropped for every few thousand
 * rows of every operator. */
#include "columnar/batch.h"

#include <stdlib.h>

nk_status nk_batch_new(int n_columns, int64_t n_rows, nk_batch **out, nk_error *err)
{
	nk_batch *batch = calloc(1, sizeof *batch + (size_t)n_columns * sizeof(nk_array *));
	if (!batch)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a batch of %d columns", n_columns);
	batch->n_rows = n_rows;
	batch->n_columns = n_columns;
	batch->columns = (nk_array **)(batch + 1);
	*out = batch;
	return NK_OK;
}

void nk_batch_free(nk_batch *batch)
{
	if (!batch)
		return;
	for (int i = 0; i < batch->n_columns; i++)
		nk_array_unref(batch->columns[i]);
	free(batch);
}

nk_status nk_batch_slice(nk_memory *memory, const nk_batch *batch, int64_t offset, int64_t n_rows,
                         nk_batch **out, nk_error *err)
{
	NK_AUTO(nk_batch) slice = NULL;
	NK_TRY(nk_batch_new(batch->n_columns, n_rows, &slice, err));
	slice->morsel = batch->morsel;
	slice->number = batch->number;
	for (int i = 0; i < batch->n_columns; i++)
		NK_TRY(nk_array_slice(memory, batch->columns[i], offset, n_rows, &slice->columns[i], err));
	*out = NK_STEAL(slice);
	return NK_OK;
}

void nk_batch_compact(nk_memory *memory, nk_batch *batch)
{
	for (int i = 0; i < batch->n_columns; i++)
		nk_array_compact(memory, &batch->columns[i]);
}
