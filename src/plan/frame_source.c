/* Rows of a frame in memory. Morsels are runs of rows; a batch ends where any wanted column's chunk ends, so that
 * its arrays are slices without a copy. */
#include <stdlib.h>
#include <string.h>

#include "compute/select.h"
#include "plan/column_sample.h"
#include "plan/source.h"

typedef struct frame_source {
	nk_source source;
	nk_frame *frame;
} frame_source;

typedef struct frame_scan {
	nk_scan scan;
	const nk_scan_request *request;
	nk_frame *frame;
	int64_t begin, end; /* rows wanted */
	int64_t morsel_rows;
	int64_t next_morsel; /* atomic */
	struct worker {
		int64_t morsel, number, at, end;
		char padding[64 - 4 * sizeof(int64_t)];
	} workers[];
} frame_scan;

static void source_free(nk_source *source)
{
	frame_source *self = (frame_source *)source;
	nk_frame_unref(self->frame);
	free(self);
}

static nk_status source_schema(nk_source *source, const nk_schema **out, nk_error *err)
{
	(void)err;
	*out = ((frame_source *)source)->frame->schema;
	return NK_OK;
}

static nk_status source_n_rows(nk_source *source, int64_t *out, nk_error *err)
{
	(void)err;
	*out = ((frame_source *)source)->frame->height;
	return NK_OK;
}

static nk_status source_statistics(nk_source *source, int column, nk_column_statistics *out, nk_error *err)
{
	(void)err;
	nk_column *data = ((frame_source *)source)->frame->columns[column];
	*out = (nk_column_statistics){.n_nulls = nk_column_count_nulls(data), .n_distinct = -1};
	const nk_column_summary *summary = nk_column_sample(data);
	if (summary) {
		out->has_bounds = summary->has_bounds;
		out->min = summary->min;
		out->max = summary->max;
		out->n_distinct = summary->n_distinct;
	}
	return NK_OK;
}

static void source_describe(nk_source *source, nk_text *out)
{
	const nk_frame *frame = ((frame_source *)source)->frame;
	nk_text_format(out, "DataFrame (%lld rows)", (long long)frame->height);
}

static void scan_free(nk_scan *scan)
{
	frame_scan *self = (frame_scan *)scan;
	nk_frame_unref(self->frame);
	free(self);
}

static nk_status column_slice(const frame_scan *self, int column, int64_t row, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	int64_t in_chunk;
	const nk_array *chunk = nk_column_locate(self->frame->columns[column], row, &in_chunk);
	return nk_array_slice(self->request->memory, (nk_array *)chunk, in_chunk, n_rows, out, err);
}

static int64_t rows_left_in_chunk(const frame_scan *self, int column, int64_t row, int64_t n_rows)
{
	int64_t in_chunk;
	const nk_array *chunk = nk_column_locate(self->frame->columns[column], row, &in_chunk);
	return NK_MIN(n_rows, chunk->n_rows - in_chunk);
}

static nk_status row_numbers(const frame_scan *self, int64_t first, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_TRY(nk_array_alloc(self->request->memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n_rows, false,
	                      out, err));
	uint32_t *numbers = nk_array_values(*out);
	for (int64_t i = 0; i < n_rows; i++)
		numbers[i] = (uint32_t)(first + i);
	return NK_OK;
}

static nk_status conjunct_mask(const frame_scan *self, const nk_scan_conjunct *conjunct, int64_t row,
                               int64_t n_rows, nk_array **mask, nk_error *err)
{
	nk_array **inputs = calloc((size_t)conjunct->n_columns + 1, sizeof *inputs);
	if (!inputs)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a predicate");
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < conjunct->n_columns; i++)
		status = column_slice(self, conjunct->columns[i], row, n_rows, &inputs[i], err);
	if (status == NK_OK)
		status = nk_program_run(conjunct->program, self->request->memory, inputs, n_rows, mask, err);
	for (int i = 0; i < conjunct->n_columns; i++)
		nk_array_unref(inputs[i]);
	free(inputs);
	return status;
}

/* Conjuncts are computed over all rows of the slice, since in memory reading a column costs nothing more; their
 * masks meet as bits and the batch is filtered once. */
static nk_status keep_matching(const frame_scan *self, int64_t row, int64_t n_rows, nk_batch **batch,
                               nk_error *err)
{
	const nk_scan_request *request = self->request;
	NK_AUTO(nk_array) kept = NULL;
	NK_TRY(nk_array_alloc(request->memory, nk_dtype_of(NK_TYPE_BOOLEAN), NK_PHYSICAL_BOOL, n_rows, false,
	                      &kept, err));
	uint8_t *bits = nk_array_values(kept);
	int64_t n_bytes = nk_bitmap_bytes(n_rows);
	memset(bits, 0xff, (size_t)n_bytes);
	for (int c = 0; c < request->n_conjuncts; c++) {
		NK_AUTO(nk_array) mask = NULL;
		NK_TRY(conjunct_mask(self, &request->conjuncts[c], row, n_rows, &mask, err));
		NK_AUTO(nk_array) flat = NULL;
		NK_TRY(nk_array_flatten(request->memory, mask, &flat, err));
		const uint8_t *values = flat->values;
		for (int64_t b = 0; values && b < n_bytes; b++)
			bits[b] &= flat->validity ? values[b] & flat->validity[b] : values[b];
		if (!values)
			memset(bits, 0, (size_t)n_bytes);
	}
	nk_batch *filtered;
	NK_TRY(nk_batch_filter(request->memory, *batch, kept, &filtered, err));
	nk_batch_free(*batch);
	*batch = filtered;
	return NK_OK;
}

static nk_status apply_runtime_filters(const frame_scan *self, int64_t n_rows, nk_batch **batch,
                                       nk_error *err)
{
	const nk_scan_request *request = self->request;
	uint32_t *rows = NULL;
	nk_status status = NK_OK;
	for (int f = 0; status == NK_OK && f < request->n_filters; f++) {
		const nk_scan_filter *filter = &request->filters[f];
		int at = 0;
		while (at < request->n_columns && request->columns[at] != filter->column)
			at++;
		if (at == request->n_columns || !nk_runtime_filter_is_ready(filter->filter))
			continue; /* only columns that are delivered: keys of the join above are */
		int64_t n_now = (*batch)->n_rows, n_selected = 0;
		if (!rows && (status = nk_alloc(request->memory, (n_rows + 16) * 4, (void **)&rows, err)) != NK_OK)
			break;
		status = nk_runtime_filter_test(filter->filter, request->memory, (*batch)->columns[at], n_now, rows,
		                                &n_selected, err);
		if (status != NK_OK || n_selected == n_now)
			continue;
		nk_batch *kept;
		status = nk_batch_take(request->memory, *batch, rows, n_selected, &kept, err);
		if (status == NK_OK) {
			nk_batch_free(*batch);
			*batch = kept;
		}
	}
	if (rows)
		nk_free(request->memory, rows, (n_rows + 16) * 4);
	return status;
}

static nk_status scan_next(nk_scan *scan, int worker_number, nk_batch **out, nk_error *err)
{
	frame_scan *self = (frame_scan *)scan;
	const nk_scan_request *request = self->request;
	struct worker *worker = &self->workers[worker_number];
	for (;;) {
		if (worker->at >= worker->end) {
			int64_t morsel = __atomic_fetch_add(&self->next_morsel, 1, __ATOMIC_RELAXED);
			worker->at = self->begin + morsel * self->morsel_rows;
			worker->end = NK_MIN(worker->at + self->morsel_rows, self->end);
			worker->morsel = morsel;
			worker->number = 0;
			if (worker->at >= self->end) {
				worker->at = worker->end = 0;
				*out = NULL;
				return NK_OK;
			}
		}
		int64_t row = worker->at, n_rows = NK_MIN(request->batch_rows, worker->end - row);
		for (int i = 0; i < request->n_columns; i++)
			n_rows = rows_left_in_chunk(self, request->columns[i], row, n_rows);
		for (int c = 0; c < request->n_conjuncts; c++)
			for (int i = 0; i < request->conjuncts[c].n_columns; i++)
				n_rows = rows_left_in_chunk(self, request->conjuncts[c].columns[i], row, n_rows);
		NK_AUTO(nk_batch) batch = NULL;
		NK_TRY(nk_batch_new(request->n_columns + request->row_index, n_rows, &batch, err));
		batch->morsel = worker->morsel;
		batch->number = worker->number++;
		for (int i = 0; i < request->n_columns; i++)
			NK_TRY(column_slice(self, request->columns[i], row, n_rows, &batch->columns[i], err));
		if (request->row_index)
			NK_TRY(row_numbers(self, row + request->row_index_offset, n_rows,
			                   &batch->columns[request->n_columns], err));
		if (request->n_conjuncts)
			NK_TRY(keep_matching(self, row, n_rows, &batch, err));
		if (request->n_filters && batch->n_rows)
			NK_TRY(apply_runtime_filters(self, n_rows, &batch, err));
		worker->at += n_rows;
		nk_count(&request->counters->n_rows_scanned, n_rows);
		nk_count(&request->counters->n_rows_out, batch->n_rows);
		if (batch->n_rows == 0)
			continue;
		*out = NK_STEAL(batch);
		return NK_OK;
	}
}

static const nk_scan_ops scan_ops = {.next = scan_next, .free = scan_free};

static nk_status source_open(nk_source *source, const nk_scan_request *request, nk_scan **out, nk_error *err)
{
	frame_source *self = (frame_source *)source;
	frame_scan *scan = calloc(1, sizeof *scan + (size_t)request->n_workers * sizeof scan->workers[0]);
	if (!scan)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a scan");
	scan->scan.ops = &scan_ops;
	scan->request = request;
	scan->frame = nk_frame_ref(self->frame);
	scan->begin = NK_MIN(request->offset, self->frame->height);
	scan->end =
		request->limit < 0 ? self->frame->height : NK_MIN(self->frame->height, scan->begin + request->limit);
	scan->morsel_rows = request->batch_rows * 8;
	*out = &scan->scan;
	return NK_OK;
}

static const nk_source_ops source_ops = {
	.kind = "frame",
	.free = source_free,
	.schema = source_schema,
	.n_rows = source_n_rows,
	.statistics = source_statistics,
	.open = source_open,
	.describe = source_describe,
};

nk_status nk_frame_source_new(nk_frame *frame, nk_source **out, nk_error *err)
{
	frame_source *source = calloc(1, sizeof *source);
	if (!source)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a source");
	source->source = (nk_source){.ops = &source_ops, .n_references = 1};
	source->frame = nk_frame_ref(frame);
	*out = &source->source;
	return NK_OK;
}

nk_frame *nk_frame_source_frame(const nk_source *source)
{
	return source->ops == &source_ops ? ((const frame_source *)source)->frame : NULL;
}
