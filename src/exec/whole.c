/* The columns leave as slices, so that what follows streams again. */
#include "exec/whole.h"

#include <stdlib.h>

typedef struct whole_stream {
	nk_stream stream;
	const nk_exec *exec;
	nk_whole_function *make;
	const void *config;
	int n_columns;
	int64_t n_rows;
	int64_t next; /* atomic: row */
	nk_array *columns[];
} whole_stream;

static nk_status whole_start(nk_stream *stream, nk_error *err)
{
	whole_stream *self = (whole_stream *)stream;
	NK_TRY(self->make(self->exec, self->config, self->columns, &self->n_rows, err));
	stream->n_rows_hint = self->n_rows;
	return NK_OK;
}

static nk_status whole_next(nk_stream *stream, int worker, nk_batch **out, nk_error *err)
{
	(void)worker;
	whole_stream *self = (whole_stream *)stream;
	int64_t step = self->exec->batch_rows;
	*out = NULL;
	int64_t at = __atomic_fetch_add(&self->next, step, __ATOMIC_RELAXED);
	if (at >= self->n_rows)
		return NK_OK;
	int64_t n = NK_MIN(step, self->n_rows - at);
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(self->n_columns, n, &batch, err));
	batch->morsel = at / step;
	for (int i = 0; i < self->n_columns; i++)
		NK_TRY(nk_array_slice(self->exec->memory, self->columns[i], at, n, &batch->columns[i], err));
	*out = NK_STEAL(batch);
	return NK_OK;
}

static void whole_free(nk_stream *stream)
{
	whole_stream *self = (whole_stream *)stream;
	for (int i = 0; i < self->n_columns; i++)
		nk_array_unref(self->columns[i]);
	free(self);
}

static const nk_stream_ops ops = {.start = whole_start, .next = whole_next, .free = whole_free};

nk_status nk_whole_stream_new(const nk_exec *exec, nk_whole_function *make, const void *config, int n_columns,
                              nk_counters *counters, nk_stream **out, nk_error *err)
{
	whole_stream *self = calloc(1, sizeof *self + (size_t)n_columns * sizeof self->columns[0]);
	if (!self)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a stream");
	self->stream = (nk_stream){.ops = &ops, .n_rows_hint = -1, .ordered = true, .counters = counters};
	self->exec = exec;
	self->make = make;
	self->config = config;
	self->n_columns = n_columns;
	*out = &self->stream;
	return NK_OK;
}

nk_status nk__foreign_make(const nk_exec *exec, const void *data, nk_array **columns, int64_t *n_rows,
                           nk_error *err)
{
	const nk_foreign_config *config = data;
	int n = config->input_schema->n_fields;
	nk_column **inputs = calloc((size_t)n + 1, sizeof *inputs);
	NK_AUTO(nk_frame) input = NULL, *output = NULL;
	nk_status status = inputs ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for columns");
	for (int i = 0; status == NK_OK && i < n; i++) {
		NK_AUTO(nk_array) array = NULL;
		int64_t n_input = nk_collection_n_rows(config->input);
		status = nk_collection_array(config->input, config->positions[i], 0, n_input, &array, err);
		if (status == NK_OK)
			status = nk_column_from_array(exec->memory, array, &inputs[i], err);
	}
	if (status == NK_OK)
		status = nk_frame_new(config->input_schema, inputs, nk_collection_n_rows(config->input), &input, err);
	for (int i = 0; inputs && i < n; i++)
		nk_column_unref(inputs[i]);
	free(inputs);
	NK_TRY(status);
	NK_TRY(config->function->call_table(config->function, input, &output, err));
	*n_rows = output->height;
	for (int i = 0; i < output->schema->n_fields; i++)
		NK_TRY(nk_column_array(exec->memory, output->columns[i], &columns[i], err));
	return NK_OK;
}
