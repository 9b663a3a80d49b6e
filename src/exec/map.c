/* Results are whole columns; they leave as slices, so that what follows streams again. */
#include "exec/map.h"

#include "exec/each.h"

#include <stdlib.h>

typedef struct column_stream {
	nk_stream stream;
	const nk_exec *exec;
	nk_array **columns;
	int n_columns;
	int64_t n_rows;
	int64_t next; /* atomic: row */
	nk_collection *input;
	int n_input_columns;
	nk_map_config config;
	nk_collection *const *inputs;
	const int *n_columns_of;
	int n_inputs;
} column_stream;

static nk_status next(nk_stream *stream, int worker, nk_batch **out, nk_error *err)
{
	(void)worker;
	column_stream *self = (column_stream *)stream;
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

static void stream_free(nk_stream *stream)
{
	column_stream *self = (column_stream *)stream;
	for (int i = 0; self->columns && i < self->n_columns; i++)
		nk_array_unref(self->columns[i]);
	free(self->columns);
	free(self);
}

/* Lengths of results brought together: scalars broadcast always, columns of length one unless strict. */
static nk_status broadcast(column_stream *self, int64_t n_frame, nk_error *err)
{
	const nk_map_config *config = &self->config;
	int64_t height = config->is_with_columns ? n_frame : -1;
	for (int i = 0; i < config->n_outputs && height < 0; i++)
		if (config->exprs[i]->shape != NK_SHAPE_SCALAR && self->columns[i]->n_rows != 1)
			height = self->columns[i]->n_rows;
	if (height < 0)
		height = config->n_outputs ? 1 : 0;
	for (int i = 0; i < config->n_outputs; i++) {
		nk_array *column = self->columns[i];
		bool is_scalar = config->exprs[i]->shape == NK_SHAPE_SCALAR;
		if (column->n_rows == height && !(is_scalar && column->encoding == NK_CONSTANT))
			continue;
		if (column->n_rows != 1 || (!is_scalar && config->strict && height != 1))
			return nk_fail(err, NK_SHAPE,
			               "column \"%s\" has length %lld, the others %lld; only scalars (aggregates, "
			               "literals) broadcast",
			               config->names[i], (long long)column->n_rows, (long long)height);
		nk_array *constant;
		NK_TRY(nk_array_new_constant(self->exec->memory, column, height, &constant, err));
		nk_array_unref(column);
		self->columns[i] = constant;
	}
	self->n_rows = height;
	self->stream.n_rows_hint = height;
	return NK_OK;
}

static nk_status map_start(nk_stream *stream, nk_error *err)
{
	column_stream *self = (column_stream *)stream;
	int64_t n_rows = nk_collection_n_rows(self->input);
	nk_parallel parallel = nk_exec_parallel(self->exec);
	nk_array **inputs = calloc((size_t)self->n_input_columns + 1, sizeof *inputs);
	if (!inputs)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for columns");
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < self->n_input_columns; i++)
		status = nk_collection_array(self->input, i, 0, n_rows, &inputs[i], err);
	if (status == NK_OK)
		status = nk_program_run_columns(self->config.program, self->exec->memory, &parallel, inputs, n_rows,
		                                self->columns, err);
	for (int i = 0; i < self->n_input_columns; i++)
		nk_array_unref(inputs[i]);
	free(inputs);
	NK_TRY(status);
	NK_TRY(broadcast(self, n_rows, err));
	nk_count(&self->stream.counters->n_rows_in, n_rows);
	return NK_OK;
}

static const nk_stream_ops map_ops = {.start = map_start, .next = next, .free = stream_free};

static nk_status stream_new(const nk_exec *exec, const nk_stream_ops *ops, int n_columns, column_stream **out,
                            nk_error *err)
{
	column_stream *self = calloc(1, sizeof *self);
	nk_array **columns = calloc((size_t)n_columns + 1, sizeof *columns);
	if (!self || !columns) {
		free(self);
		free(columns);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a stream");
	}
	self->stream = (nk_stream){.ops = ops, .n_rows_hint = -1, .ordered = true};
	self->exec = exec;
	self->columns = columns;
	self->n_columns = n_columns;
	*out = self;
	return NK_OK;
}

nk_status nk_map_stream_new(const nk_exec *exec, nk_collection *input, int n_input_columns,
                            const nk_map_config *config, nk_counters *counters, nk_stream **out,
                            nk_error *err)
{
	column_stream *self;
	NK_TRY(stream_new(exec, &map_ops, config->n_outputs, &self, err));
	self->input = input;
	self->n_input_columns = n_input_columns;
	self->config = *config;
	self->stream.counters = counters;
	*out = &self->stream;
	return NK_OK;
}

static nk_status zip_start(nk_stream *stream, nk_error *err)
{
	column_stream *self = (column_stream *)stream;
	int at = 0;
	for (int i = 0; i < self->n_inputs; i++) {
		int64_t n_rows = nk_collection_n_rows(self->inputs[i]);
		if (i > 0 && n_rows != self->n_rows)
			return nk_fail(
				err, NK_SHAPE,
				"cannot concat horizontally: heights %lld and %lld differ; \"horizontal_extend\" pads",
				(long long)self->n_rows, (long long)n_rows);
		self->n_rows = n_rows;
		for (int c = 0; c < self->n_columns_of[i]; c++)
			NK_TRY(nk_collection_array(self->inputs[i], c, 0, n_rows, &self->columns[at++], err));
	}
	stream->n_rows_hint = self->n_rows;
	return NK_OK;
}

static const nk_stream_ops zip_ops = {.start = zip_start, .next = next, .free = stream_free};

nk_status nk_zip_stream_new(const nk_exec *exec, nk_collection *const *inputs, const int *n_columns,
                            int n_inputs, nk_stream **out, nk_error *err)
{
	int n = 0;
	for (int i = 0; i < n_inputs; i++)
		n += n_columns[i];
	column_stream *self;
	NK_TRY(stream_new(exec, &zip_ops, n, &self, err));
	self->inputs = inputs;
	self->n_columns_of = n_columns;
	self->n_inputs = n_inputs;
	*out = &self->stream;
	return NK_OK;
}
