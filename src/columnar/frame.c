/* Columns and frames: lists of shared chunks. Nothing here copies values, except to flatten what comes encoded and
 * to join chunks when one array is asked for. */
#include "columnar/frame.h"

#include <stdlib.h>

/* ---- Columns ---- */

static nk_status column_new(const nk_dtype *dtype, int n_chunks, nk_column **out, nk_error *err)
{
	nk_column *column = calloc(1, sizeof *column + (size_t)n_chunks * sizeof(nk_array *));
	if (!column)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column of %d chunks", n_chunks);
	column->n_references = 1;
	column->dtype = dtype;
	*out = column;
	return NK_OK;
}

nk_status nk_column_new(nk_memory *memory, nk_array *const *chunks, int n_chunks, nk_column **out,
                        nk_error *err)
{
	NK_AUTO(nk_column) column = NULL;
	NK_ASSERT(n_chunks >= 1);
	NK_TRY(column_new(chunks[0]->dtype, n_chunks, &column, err));
	for (int i = 0; i < n_chunks; i++) {
		NK_ASSERT(chunks[i]->dtype == column->dtype);
		if (chunks[i]->n_rows == 0 && (i + 1 < n_chunks || column->n_chunks > 0))
			continue;
		NK_TRY(nk_array_flatten(memory, chunks[i], &column->chunks[column->n_chunks], err));
		column->n_rows += column->chunks[column->n_chunks++]->n_rows;
	}
	*out = NK_STEAL(column);
	return NK_OK;
}

nk_status nk_column_from_array(nk_memory *memory, nk_array *array, nk_column **out, nk_error *err)
{
	return nk_column_new(memory, &array, 1, out, err);
}

nk_column *nk_column_ref(nk_column *column)
{
	if (column)
		__atomic_fetch_add(&column->n_references, 1, __ATOMIC_RELAXED);
	return column;
}

void nk_column_unref(nk_column *column)
{
	if (!column || __atomic_fetch_sub(&column->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	for (int i = 0; i < column->n_chunks; i++)
		nk_array_unref(column->chunks[i]);
	free(column->summary);
	free(column);
}

nk_status nk_column_slice(nk_memory *memory, nk_column *column, int64_t offset, int64_t n_rows,
                          nk_column **out, nk_error *err)
{
	NK_ASSERT(offset >= 0 && n_rows >= 0 && offset + n_rows <= column->n_rows);
	if (n_rows == column->n_rows) {
		*out = nk_column_ref(column);
		return NK_OK;
	}
	NK_AUTO(nk_column) slice = NULL;
	NK_TRY(column_new(column->dtype, column->n_chunks, &slice, err));
	int64_t begin = 0;
	for (int i = 0; i < column->n_chunks; begin += column->chunks[i++]->n_rows) {
		nk_array *chunk = column->chunks[i];
		int64_t from = NK_MAX(offset - begin, (int64_t)0),
				to = NK_MIN(offset + n_rows - begin, chunk->n_rows);
		if (to <= from)
			continue;
		NK_TRY(nk_array_slice(memory, chunk, from, to - from, &slice->chunks[slice->n_chunks], err));
		slice->n_chunks++;
	}
	if (slice->n_chunks == 0) {
		NK_TRY(nk_array_slice(memory, column->chunks[0], 0, 0, &slice->chunks[0], err));
		slice->n_chunks = 1;
	}
	slice->n_rows = n_rows;
	slice->sorted = column->sorted;
	*out = NK_STEAL(slice);
	return NK_OK;
}

nk_status nk_column_array(nk_memory *memory, nk_column *column, nk_array **out, nk_error *err)
{
	return nk_array_concat(memory, column->chunks, column->n_chunks, out, err);
}

nk_status nk_column_append(nk_memory *memory, nk_column *const *columns, int n_columns, nk_column **out,
                           nk_error *err)
{
	int n_chunks = 0;
	for (int i = 0; i < n_columns; i++)
		n_chunks += columns[i]->n_chunks;
	nk_array **chunks = malloc((size_t)n_chunks * sizeof *chunks);
	if (!chunks)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column of %d chunks", n_chunks);
	int at = 0;
	for (int i = 0; i < n_columns; i++)
		for (int c = 0; c < columns[i]->n_chunks; c++)
			chunks[at++] = columns[i]->chunks[c];
	nk_status status = nk_column_new(memory, chunks, n_chunks, out, err);
	free(chunks);
	return status;
}

int64_t nk_column_count_nulls(const nk_column *column)
{
	int64_t n_nulls = 0;
	for (int i = 0; i < column->n_chunks; i++)
		n_nulls += nk_array_count_nulls(column->chunks[i]);
	return n_nulls;
}

const nk_array *nk_column_locate(const nk_column *column, int64_t row, int64_t *row_in_chunk)
{
	NK_ASSERT(row >= 0 && row < column->n_rows);
	int i = 0;
	while (row >= column->chunks[i]->n_rows)
		row -= column->chunks[i++]->n_rows;
	*row_in_chunk = row;
	return column->chunks[i];
}

/* ---- Frames ---- */

nk_status nk_frame_new(nk_schema *schema, nk_column *const *columns, int64_t height, nk_frame **out,
                       nk_error *err)
{
	if (height < 0)
		height = schema->n_fields ? columns[0]->n_rows : 0;
	for (int i = 0; i < schema->n_fields; i++) {
		NK_ASSERT(columns[i]->dtype == schema->fields[i].dtype);
		if (columns[i]->n_rows != height)
			return nk_fail(
				err, NK_SHAPE,
				"could not create a new DataFrame: height of column '%s' (%lld) does not match height of "
				"the frame (%lld)",
				schema->fields[i].name, (long long)columns[i]->n_rows, (long long)height);
	}
	nk_frame *frame = calloc(1, sizeof *frame + (size_t)schema->n_fields * sizeof(nk_column *));
	if (!frame)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a frame of %d columns", schema->n_fields);
	frame->n_references = 1;
	frame->height = height;
	frame->schema = nk_schema_ref(schema);
	for (int i = 0; i < schema->n_fields; i++)
		frame->columns[i] = nk_column_ref(columns[i]);
	*out = frame;
	return NK_OK;
}

nk_frame *nk_frame_ref(nk_frame *frame)
{
	if (frame)
		__atomic_fetch_add(&frame->n_references, 1, __ATOMIC_RELAXED);
	return frame;
}

void nk_frame_unref(nk_frame *frame)
{
	if (!frame || __atomic_fetch_sub(&frame->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	for (int i = 0; i < frame->schema->n_fields; i++)
		nk_column_unref(frame->columns[i]);
	nk_schema_unref(frame->schema);
	free(frame);
}

nk_status nk_frame_slice(nk_memory *memory, nk_frame *frame, int64_t offset, int64_t n_rows, nk_frame **out,
                         nk_error *err)
{
	int n_columns = frame->schema->n_fields;
	nk_column **columns = calloc((size_t)NK_MAX(n_columns, 1), sizeof *columns);
	if (!columns)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a frame of %d columns", n_columns);
	nk_status status = NK_OK;
	for (int i = 0; i < n_columns && status == NK_OK; i++)
		status = nk_column_slice(memory, frame->columns[i], offset, n_rows, &columns[i], err);
	if (status == NK_OK)
		status = nk_frame_new(frame->schema, columns, n_rows, out, err);
	for (int i = 0; i < n_columns; i++)
		nk_column_unref(columns[i]);
	free(columns);
	return status;
}
