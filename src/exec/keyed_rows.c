/* The first batches of a worker are kept as they are: few rows are made into one part without splitting anything.
 * From then on rows are split by the hash of their key, and each part is finished by whoever reads it. */
#include "exec/keyed_rows.h"

#include "exec/each.h"
#include "exec/ordered.h"

enum {
	PARTITION_BITS = 6,
	HELD_ROWS = 1 << 16, /* a worker keeps so many rows unsplit */
	MAKING_FACTOR = 2,   /* rows that are kept and what is made of them take so much again */
};

static inline nk__keyed_rows *of_sink(nk_receiver *sink) { return (nk__keyed_rows *)sink; }
static inline nk__keyed_rows *of_stream(nk_stream *stream)
{
	return (nk__keyed_rows *)((char *)stream - offsetof(nk__keyed_rows, stream));
}

static nk_status key_dtypes(const nk__keyed_rows *keyed, nk_buffer **out, nk_error *err)
{
	NK_TRY(nk_buffer_new(keyed->exec->memory, keyed->n_keys * 2 * (int64_t)sizeof(void *), out, err));
	for (int k = 0; k < keyed->n_keys; k++)
		((const nk_dtype **)(*out)->bytes)[k] = keyed->dtypes[keyed->keys[k]];
	return NK_OK;
}

/* The key columns of a batch, behind the dtypes in the buffer. */
static nk_array **key_arrays(const nk__keyed_rows *keyed, const nk_buffer *buffer, const nk_batch *rows)
{
	nk_array **keys = (nk_array **)buffer->bytes + keyed->n_keys;
	for (int k = 0; k < keyed->n_keys; k++)
		keys[k] = rows->columns[keyed->keys[k]];
	return keys;
}

nk_status nk__keyed_rows_group(const nk__keyed_rows *keyed, const nk_batch *rows, nk_group_table **out,
                               uint32_t *groups, nk_error *err)
{
	NK_AUTO(nk_buffer) lists = NULL;
	NK_AUTO(nk_group_table) table = NULL;
	NK_TRY(key_dtypes(keyed, &lists, err));
	NK_TRY(nk_group_table_new(keyed->exec->memory, (const nk_dtype **)lists->bytes, keyed->n_keys, 0, &table,
	                          err));
	NK_TRY(nk_group_table_insert(table, key_arrays(keyed, lists, rows), rows->n_rows, groups, err));
	*out = NK_STEAL(table);
	return NK_OK;
}

/* ---- Input ---- */

static nk_status store_open(nk__keyed_rows *keyed, nk_error *err)
{
	nk_status status = NK_OK;
	pthread_mutex_lock(keyed->lock);
	if (!keyed->store) {
		nk_partitions *store = NULL;
		status = nk_partitions_new(keyed->exec, PARTITION_BITS, keyed->counters, &store, err);
		__atomic_store_n(&keyed->store, store, __ATOMIC_RELEASE); /* read without the lock */
	}
	pthread_mutex_unlock(keyed->lock);
	return status;
}

static nk_status split(nk__keyed_rows *keyed, int number, nk_batch *given, nk_error *err)
{
	NK_AUTO(nk_batch) batch = given;
	nk__keyed_worker *worker = &keyed->workers[number];
	nk_memory *memory = keyed->exec->memory;
	NK_AUTO(nk_buffer) lists = NULL;
	NK_AUTO(nk_batch) wider = NULL;
	NK_TRY(key_dtypes(keyed, &lists, err));
	if (!worker->hasher)
		NK_TRY(nk_group_table_new(memory, (const nk_dtype **)lists->bytes, keyed->n_keys, 0, &worker->hasher,
		                          err));
	NK_TRY(store_open(keyed, err));
	NK_TRY(NK_GROW(memory, &worker->hashes, &worker->hashes_capacity, batch->n_rows, err));
	NK_TRY(nk_group_table_hash(worker->hasher, key_arrays(keyed, lists, batch), batch->n_rows, worker->hashes,
	                           err));
	NK_TRY(nk__with_order(memory, batch, &wider, err));
	return nk_partitions_split(keyed->store, number, NK_STEAL(wider), worker->hashes, err);
}

static nk_status split_held(nk__keyed_rows *keyed, int number, nk_error *err)
{
	nk_pieces *held = &keyed->workers[number].held;
	nk_status status = NK_OK;
	for (int64_t i = 0; i < held->n_batches && status == NK_OK; i++)
		status = split(keyed, number, NK_STEAL(held->batches[i]), err);
	nk_pieces_release(held);
	return status;
}

nk_status nk__keyed_rows_add(nk__keyed_rows *keyed, int number, nk_batch *given, nk_error *err)
{
	NK_AUTO(nk_batch) batch = given;
	nk__keyed_worker *worker = &keyed->workers[number];
	if (batch->n_rows == 0)
		return NK_OK;
	if (__atomic_load_n(&keyed->store, __ATOMIC_ACQUIRE)) {
		NK_TRY(split_held(keyed, number, err));
		return split(keyed, number, NK_STEAL(batch), err);
	}
	for (int c = 0; c < batch->n_columns; c++)
		worker->n_held_bytes += nk_array_bytes(batch->columns[c]);
	NK_TRY(nk_pieces_add(&worker->held, NK_STEAL(batch), err));
	if (keyed->keeps_rows) {
		if (!nk_exec_should_spill(keyed->exec, worker->n_held_bytes * MAKING_FACTOR * keyed->exec->n_workers))
			return NK_OK;
	} else if (worker->held.n_rows <= HELD_ROWS && !nk_exec_should_spill(keyed->exec, worker->n_held_bytes)) {
		return NK_OK;
	}
	return split_held(keyed, number, err);
}

nk_status nk__keyed_rows_flush(nk_receiver *sink, int number, nk_error *err)
{
	(void)sink, (void)number, (void)err;
	return NK_OK;
}

static nk_status each_split(void *data, int64_t item, int worker, nk_error *err)
{
	(void)worker;
	return split_held(data, (int)item, err);
}

/* ---- Output ---- */

static nk_status part_make(nk__keyed_rows *keyed, nk_pieces *pieces, nk_batch **out, nk_error *err)
{
	NK_AUTO(nk_batch) rows = NULL;
	*out = NULL;
	if (pieces->n_batches == 0)
		return NK_OK;
	nk_status status =
		nk_pieces_concat(pieces, keyed->exec->memory, NULL, NULL, keyed->n_columns + 1, &rows, err);
	nk_pieces_release(pieces);
	NK_TRY(status);
	return keyed->make(keyed, rows, keyed->maintain_order, out, err);
}

static nk_status partition_make(nk__keyed_rows *keyed, int partition, nk_batch **out, nk_error *err)
{
	nk_pieces pieces = {.memory = keyed->exec->memory};
	NK_TRY(nk_partitions_read(keyed->store, partition, &pieces, err));
	return part_make(keyed, &pieces, out, err);
}

/* A partition's result on its way into order. */
static nk_status each_sort(void *data, int64_t partition, int worker, nk_error *err)
{
	nk__keyed_rows *keyed = data;
	NK_AUTO(nk_batch) made = NULL;
	NK_TRY(partition_make(keyed, (int)partition, &made, err));
	if (!made || made->n_rows == 0)
		return NK_OK;
	nk_receiver *sink = nk_sort_sink(keyed->sort);
	int64_t step = keyed->exec->batch_rows;
	for (int64_t first = 0; first < made->n_rows; first += step) {
		nk_batch *piece;
		NK_TRY(nk_batch_slice(keyed->exec->memory, made, first, NK_MIN(step, made->n_rows - first), &piece,
		                      err));
		NK_TRY(sink->ops->push(sink, worker, piece, err));
	}
	return NK_OK;
}

static nk_status order_partitions(nk__keyed_rows *keyed, nk_error *err)
{
	static const nk_sort_key ascending = {0};
	int n = keyed->n_results;
	NK_TRY(nk_alloc(keyed->exec->memory, (n + 1) * (int64_t)sizeof *keyed->positions,
	                (void **)&keyed->positions, err));
	for (int i = 0; i <= n; i++)
		keyed->positions[i] = i;
	nk_sort_config config = {.n_columns = n + 1,
	                         .n_keys = 1,
	                         .keys = keyed->positions + n,
	                         .specs = &ascending,
	                         .n_outputs = n,
	                         .outputs = keyed->positions};
	NK_TRY(nk_sort_new(keyed->exec, &config, keyed->counters, &keyed->sort, err));
	NK_TRY(nk_exec_each(keyed->exec, nk_partitions_count(keyed->store), each_sort, keyed, err));
	nk_receiver *sink = nk_sort_sink(keyed->sort);
	for (int w = 0; w < keyed->exec->n_workers; w++)
		NK_TRY(sink->ops->flush(sink, w, err));
	NK_TRY(sink->ops->finish(sink, err));
	keyed->stream.n_rows_hint = nk_sort_stream(keyed->sort)->n_rows_hint;
	return NK_OK;
}

/* Everything is one part: its rows are in order, and with them what is made of them, up to a sort. */
static nk_status finish_single(nk__keyed_rows *keyed, nk_error *err)
{
	nk_memory *memory = keyed->exec->memory;
	for (int w = 0; w < keyed->exec->n_workers; w++) {
		nk_pieces *held = &keyed->workers[w].held;
		for (int64_t i = 0; i < held->n_batches; i++)
			NK_TRY(nk_pieces_add(&keyed->single, NK_STEAL(held->batches[i]), err));
		nk_pieces_release(held);
	}
	NK_TRY(nk_pieces_sort(&keyed->single, err));
	if (keyed->single.n_batches == 0)
		return NK_OK;
	NK_AUTO(nk_batch) rows = NULL, *wider = NULL, *made = NULL;
	nk_parallel parallel = nk_exec_parallel(keyed->exec);
	NK_TRY(nk_pieces_concat(&keyed->single, memory, &parallel, NULL, keyed->n_columns, &rows, err));
	rows->morsel = rows->number = 0;
	if (keyed->keeps_rows)
		return keyed->make(keyed, rows, false, &keyed->ordered, err);
	NK_TRY(nk__with_order(memory, rows, &wider, err));
	NK_TRY(keyed->make(keyed, wider, keyed->maintain_order, &made, err));
	if (!keyed->maintain_order) {
		keyed->ordered = NK_STEAL(made);
		return NK_OK;
	}
	NK_TRY(nk_pieces_add(&keyed->single, NK_STEAL(made), err));
	return nk__in_order(memory, &keyed->single, &keyed->ordered, err);
}

nk_status nk__keyed_rows_finish(nk_receiver *sink, nk_error *err)
{
	nk__keyed_rows *keyed = of_sink(sink);
	if (keyed->store) {
		NK_TRY(nk_exec_each(keyed->exec, keyed->exec->n_workers, each_split, keyed, err));
		keyed->stream.n_rows_hint = nk_partitions_n_rows(keyed->store);
		if (keyed->maintain_order)
			NK_TRY(order_partitions(keyed, err));
	} else {
		NK_TRY(finish_single(keyed, err));
	}
	if (!keyed->store)
		keyed->stream.n_rows_hint = keyed->ordered ? keyed->ordered->n_rows : 0;
	return NK_OK;
}

static nk_status next_of_partitions(nk__keyed_rows *keyed, int number, nk_batch **out, nk_error *err)
{
	nk__keyed_worker *worker = &keyed->workers[number];
	int64_t batch_rows = keyed->exec->batch_rows;
	for (;;) {
		if (worker->part && worker->n_emitted < worker->part->n_rows) {
			int64_t n = NK_MIN(batch_rows, worker->part->n_rows - worker->n_emitted);
			NK_TRY(nk_batch_slice(keyed->exec->memory, worker->part, worker->n_emitted, n, out, err));
			(*out)->morsel = worker->partition;
			(*out)->number = worker->n_emitted / batch_rows;
			worker->n_emitted += n;
			return NK_OK;
		}
		nk_batch_free(NK_STEAL(worker->part));
		worker->n_emitted = 0;
		worker->partition = __atomic_fetch_add(&keyed->next, 1, __ATOMIC_RELAXED);
		if (worker->partition >= nk_partitions_count(keyed->store) || nk_exec_stopped(keyed->exec))
			return NK_OK;
		NK_TRY(partition_make(keyed, (int)worker->partition, &worker->part, err));
	}
}

static nk_status next(nk_stream *stream, int number, nk_batch **out, nk_error *err)
{
	nk__keyed_rows *keyed = of_stream(stream);
	*out = NULL;
	if (!keyed->store)
		return nk__next_slice(keyed->exec, keyed->ordered, &keyed->next, out, err);
	if (!keyed->sort)
		return next_of_partitions(keyed, number, out, err);
	nk_stream *sorted = nk_sort_stream(keyed->sort);
	return sorted->ops->next(sorted, number, out, err);
}

/* ---- Life ---- */

static void stream_free(nk_stream *stream) { (void)stream; }
static const nk_stream_ops stream_ops = {.next = next, .free = stream_free};
void nk__keyed_rows_sink_free(nk_receiver *sink) { (void)sink; }

static int64_t workers_bytes(const nk_exec *exec)
{
	return exec->n_workers * (int64_t)sizeof(nk__keyed_worker);
}

nk_status nk__keyed_rows_init(nk__keyed_rows *keyed, const nk_exec *exec, nk_counters *counters,
                              const nk_dtype *const *dtypes, int n_columns, const int *keys, int n_keys,
                              bool maintain_order, nk__make_part *make, void *owner, nk_error *err)
{
	*keyed = (nk__keyed_rows){.exec = exec,
	                          .counters = counters,
	                          .dtypes = dtypes,
	                          .n_columns = n_columns,
	                          .keys = keys,
	                          .n_keys = n_keys,
	                          .maintain_order = maintain_order,
	                          .make = make,
	                          .owner = owner};
	keyed->stream =
		(nk_stream){.ops = &stream_ops, .n_rows_hint = -1, .ordered = maintain_order, .counters = counters};
	keyed->single.memory = exec->memory;
	NK_TRY(nk_alloc(exec->memory, sizeof *keyed->lock, (void **)&keyed->lock, err));
	pthread_mutex_init(keyed->lock, NULL);
	NK_TRY(nk_alloc(exec->memory, workers_bytes(exec), (void **)&keyed->workers, err));
	memset(keyed->workers, 0, (size_t)workers_bytes(exec));
	for (int w = 0; w < exec->n_workers; w++)
		keyed->workers[w].held.memory = exec->memory;
	return NK_OK;
}

void nk__keyed_rows_release(nk__keyed_rows *keyed)
{
	if (!keyed->exec)
		return;
	nk_memory *memory = keyed->exec->memory;
	for (int w = 0; w < keyed->exec->n_workers && keyed->workers; w++) {
		nk__keyed_worker *worker = &keyed->workers[w];
		nk_pieces_release(&worker->held);
		nk_group_table_free(worker->hasher);
		nk_free(memory, worker->hashes, worker->hashes_capacity * 8);
		nk_batch_free(worker->part);
	}
	nk_free(memory, keyed->workers, workers_bytes(keyed->exec));
	nk_pieces_release(&keyed->single);
	nk_batch_free(keyed->ordered);
	nk_sort_free(keyed->sort);
	nk_free(memory, keyed->positions, (keyed->n_results + 1) * (int64_t)sizeof *keyed->positions);
	nk_partitions_free(keyed->store);
	if (keyed->lock)
		pthread_mutex_destroy(keyed->lock);
	nk_free(memory, keyed->lock, sizeof *keyed->lock);
	keyed->exec = NULL;
}
