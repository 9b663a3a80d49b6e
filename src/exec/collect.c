/* Batches are appended to per-worker lists and put in order once, at the end: by (morsel, number), and within
 * those by arrival, since one worker handles a morsel from start to end. */
#include "exec/collect.h"

#include "exec/each.h"

#include <stdlib.h>
#include <string.h>

typedef struct worker_list {
	nk_batch **batches;
	int64_t n, capacity;
	char padding[64 - sizeof(nk_batch **) - 2 * sizeof(int64_t)];
} worker_list;

struct nk_collection {
	nk_receiver sink;
	const nk_exec *exec;
	const nk_dtype *const *dtypes;
	int n_columns;
	int64_t limit, n_rows_seen; /* atomic */
	nk_batch **batches;         /* in order, after finish */
	int64_t n_batches, n_rows;
	int64_t *starts; /* first row of each batch, and the end */
	worker_list workers[];
};

static nk_status sink_push(nk_receiver *receiver, int worker, nk_batch *batch, nk_error *err)
{
	nk_collection *self = (nk_collection *)receiver;
	worker_list *list = &self->workers[worker];
	if (batch->n_rows == 0) {
		nk_batch_free(batch);
		return NK_OK;
	}
	nk_status status = NK_GROW(self->exec->memory, &list->batches, &list->capacity, list->n + 1, err);
	if (status != NK_OK) {
		nk_batch_free(batch);
		return status;
	}
	list->batches[list->n++] = batch;
	nk_count(&self->n_rows_seen, batch->n_rows);
	return NK_OK;
}

static bool sink_is_satisfied(nk_receiver *receiver)
{
	nk_collection *self = (nk_collection *)receiver;
	return self->limit >= 0 && __atomic_load_n(&self->n_rows_seen, __ATOMIC_RELAXED) >= self->limit;
}

typedef struct placed {
	nk_batch *batch;
	int64_t arrival;
} placed;

static int by_sequence(const void *a, const void *b)
{
	const placed *left = a, *right = b;
	if (left->batch->morsel != right->batch->morsel)
		return left->batch->morsel < right->batch->morsel ? -1 : 1;
	if (left->batch->number != right->batch->number)
		return left->batch->number < right->batch->number ? -1 : 1;
	return (left->arrival > right->arrival) - (left->arrival < right->arrival);
}

static nk_status sink_finish(nk_receiver *receiver, nk_error *err)
{
	nk_collection *self = (nk_collection *)receiver;
	int64_t n = 0;
	for (int w = 0; w < self->exec->n_workers; w++)
		n += self->workers[w].n;
	placed *order = malloc((size_t)(n + 1) * sizeof *order);
	self->batches = malloc((size_t)(n + 1) * sizeof *self->batches);
	self->starts = malloc((size_t)(n + 1) * sizeof *self->starts);
	if (!order || !self->batches || !self->starts) {
		free(order);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %lld batches", (long long)n);
	}
	int64_t at = 0;
	for (int w = 0; w < self->exec->n_workers; w++) {
		worker_list *list = &self->workers[w];
		for (int64_t i = 0; i < list->n; i++, at++)
			order[at] = (placed){list->batches[i], at};
		nk_free(self->exec->memory, list->batches, list->capacity * (int64_t)sizeof *list->batches);
		list->batches = NULL;
		list->n = list->capacity = 0;
	}
	qsort(order, (size_t)n, sizeof *order, by_sequence);
	for (int64_t i = 0; i < n; i++) {
		self->batches[i] = order[i].batch;
		self->starts[i] = self->n_rows;
		self->n_rows += order[i].batch->n_rows;
	}
	self->starts[n] = self->n_rows;
	self->n_batches = n;
	free(order);
	return NK_OK;
}

static void sink_free(nk_receiver *receiver) { (void)receiver; }

static const nk_receiver_ops sink_ops = {
	.push = sink_push, .finish = sink_finish, .free = sink_free, .is_satisfied = sink_is_satisfied};

nk_status nk_collection_new(const nk_exec *exec, const nk_dtype *const *dtypes, int n_columns, int64_t limit,
                            nk_collection **out, nk_error *err)
{
	nk_collection *self = calloc(1, sizeof *self + (size_t)exec->n_workers * sizeof self->workers[0]);
	if (!self)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a collection");
	self->sink.ops = &sink_ops;
	self->exec = exec;
	self->dtypes = dtypes;
	self->n_columns = n_columns;
	self->limit = limit;
	*out = self;
	return NK_OK;
}

void nk_collection_free(nk_collection *self)
{
	if (!self)
		return;
	for (int w = 0; w < self->exec->n_workers; w++) {
		worker_list *list = &self->workers[w];
		for (int64_t i = 0; i < list->n; i++)
			nk_batch_free(list->batches[i]);
		nk_free(self->exec->memory, list->batches, list->capacity * (int64_t)sizeof *list->batches);
	}
	for (int64_t i = 0; i < self->n_batches; i++)
		nk_batch_free(self->batches[i]);
	free(self->batches);
	free(self->starts);
	free(self);
}

nk_receiver *nk_collection_sink(nk_collection *self) { return &self->sink; }
int64_t nk_collection_n_rows(const nk_collection *self) { return self->n_rows; }

/* The batch that holds a row. */
static int64_t batch_of(const nk_collection *self, int64_t row)
{
	int64_t low = 0, high = self->n_batches - 1;
	while (low < high) {
		int64_t middle = (low + high + 1) / 2;
		if (self->starts[middle] <= row)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

nk_status nk_collection_array(nk_collection *self, int column, int64_t offset, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	nk_memory *memory = self->exec->memory;
	if (n_rows == 0) {
		NK_AUTO(nk_array) nothing = NULL;
		NK_TRY(nk_array_new_null(memory, self->dtypes[column], 0, &nothing, err));
		return nk_array_flatten(memory, nothing, out, err);
	}
	int64_t first = batch_of(self, offset), last = batch_of(self, offset + n_rows - 1), n = last - first + 1;
	nk_array **parts = calloc((size_t)n, sizeof *parts);
	if (!parts)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %lld batches", (long long)n);
	nk_status status = NK_OK;
	for (int64_t i = 0; status == NK_OK && i < n; i++) {
		const nk_batch *batch = self->batches[first + i];
		int64_t start = self->starts[first + i];
		int64_t from = NK_MAX(offset - start, (int64_t)0),
				to = NK_MIN(offset + n_rows - start, batch->n_rows);
		if (from == 0 && to == batch->n_rows)
			parts[i] = nk_array_ref(batch->columns[column]);
		else
			status = nk_array_slice(memory, batch->columns[column], from, to - from, &parts[i], err);
	}
	if (status == NK_OK)
		status = n == 1 ? nk_array_flatten(memory, parts[0], out, err)
		                : nk_array_concat(memory, parts, (int)n, out, err);
	for (int64_t i = 0; i < n; i++)
		nk_array_unref(parts[i]);
	free(parts);
	if (status == NK_OK)
		nk_array_compact(memory, out); /* what few rows refer to must not outlive the query */
	return status;
}

typedef struct taking {
	nk_collection *collection;
	nk_array **arrays;
} taking;

static nk_status take_column(void *data, int64_t column, int worker, nk_error *err)
{
	(void)worker;
	taking *work = data;
	nk_collection *self = work->collection;
	NK_TRY(nk_collection_array(self, (int)column, 0, self->n_rows, &work->arrays[column], err));
	for (int64_t b = 0; b < self->n_batches; b++) {
		nk_array_unref(self->batches[b]->columns[column]);
		self->batches[b]->columns[column] = NULL;
	}
	return NK_OK;
}

enum { ROWS_WORTH_THE_POOL = 32768 };

nk_status nk_collection_take(nk_collection *self, nk_array **arrays, nk_error *err)
{
	taking work = {self, arrays};
	memset(arrays, 0, (size_t)self->n_columns * sizeof *arrays);
	if (self->n_rows >= ROWS_WORTH_THE_POOL)
		return nk_exec_each(self->exec, self->n_columns, take_column, &work, err);
	for (int i = 0; i < self->n_columns; i++)
		NK_TRY(take_column(&work, i, 0, err));
	return NK_OK;
}

typedef struct collection_stream {
	nk_stream stream;
	nk_collection *collection;
	int64_t offset, limit; /* as asked for */
	int64_t begin, end;    /* rows, once the collection is complete */
	bool row_index;
	int64_t row_index_offset;
	int64_t next; /* atomic: batch */
} collection_stream;

static nk_status row_numbers(nk_memory *memory, int64_t first, int64_t n_rows, nk_array **out, nk_error *err)
{
	NK_TRY(nk_array_alloc(memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n_rows, false, out, err));
	uint32_t *numbers = nk_array_values(*out);
	for (int64_t i = 0; i < n_rows; i++)
		numbers[i] = (uint32_t)(first + i);
	return NK_OK;
}

static nk_status collection_start(nk_stream *stream, nk_error *err)
{
	(void)err;
	collection_stream *self = (collection_stream *)stream;
	int64_t n = self->collection->n_rows;
	int64_t begin = self->offset < 0 ? self->offset + n : self->offset;
	int64_t end = self->limit < 0 || begin > INT64_MAX - self->limit ? n : begin + self->limit;
	self->begin = NK_MAX(begin, (int64_t)0);
	self->end = NK_MIN(end, n);
	if (self->begin < self->end)
		self->next = batch_of(self->collection, self->begin);
	stream->n_rows_hint = NK_MAX(self->end - self->begin, (int64_t)0);
	return NK_OK;
}

static nk_status collection_next(nk_stream *stream, int worker, nk_batch **out, nk_error *err)
{
	(void)worker;
	collection_stream *self = (collection_stream *)stream;
	const nk_collection *from = self->collection;
	nk_memory *memory = from->exec->memory;
	*out = NULL;
	if (self->begin >= self->end)
		return NK_OK;
	int64_t at = __atomic_fetch_add(&self->next, 1, __ATOMIC_RELAXED);
	if (at >= from->n_batches || from->starts[at] >= self->end)
		return NK_OK;
	const nk_batch *batch = from->batches[at];
	int64_t start = from->starts[at];
	int64_t first = NK_MAX(self->begin - start, (int64_t)0), last = NK_MIN(self->end - start, batch->n_rows);
	NK_AUTO(nk_batch) made = NULL;
	NK_TRY(nk_batch_new(from->n_columns + self->row_index, last - first, &made, err));
	made->morsel = at;
	for (int i = 0; i < from->n_columns; i++)
		NK_TRY(nk_array_slice(memory, batch->columns[i], first, last - first,
		                      &made->columns[i + self->row_index], err));
	if (self->row_index)
		NK_TRY(row_numbers(memory, start + first - self->begin + self->row_index_offset, last - first,
		                   &made->columns[0], err));
	*out = NK_STEAL(made);
	return NK_OK;
}

static void collection_stream_free(nk_stream *stream) { free(stream); }

static const nk_stream_ops collection_stream_ops = {
	.start = collection_start, .next = collection_next, .free = collection_stream_free};

nk_status nk_collection_stream(nk_collection *collection, int64_t offset, int64_t limit, bool row_index,
                               int64_t row_index_offset, nk_stream **out, nk_error *err)
{
	collection_stream *self = calloc(1, sizeof *self);
	if (!self)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a stream");
	*self = (collection_stream){.stream = {.ops = &collection_stream_ops, .n_rows_hint = -1, .ordered = true},
	                            .collection = collection,
	                            .offset = offset,
	                            .limit = limit,
	                            .row_index = row_index,
	                            .row_index_offset = row_index_offset};
	*out = &self->stream;
	return NK_OK;
}
