/* Rows are kept as they come and joined at the end; only keys take part in sorting, the other columns are gathered
 * once, by the workers that read the result. When memory is refused a worker sorts what it has and writes it as a
 * run; runs are merged while reading (sort_runs.c). */
#include "exec/sort.h"

#include <pthread.h>

#include "compute/select.h"
#include "exec/each.h"
#include "exec/ordered.h"
#include "exec/sort_internal.h"

enum {
	SPILL_BYTES = 8 << 20, /* shorter runs are not worth a seek, unless memory for longer ones is lacking */
	SORTING_FACTOR = 3,    /* joining columns, the keys' codes and positions take so much again */
};

typedef struct worker_state {
	nk_pieces held;
	int64_t n_bytes;
	char padding[64];
} worker_state;

struct nk_sort {
	nk_receiver sink;
	nk_stream stream;
	const nk_exec *exec;
	nk_sort_config config;
	nk_counters *counters;
	pthread_mutex_t lock; /* guards runs */
	nk__sort_runs *runs;  /* NULL: all in memory */
	nk_batch *rows;       /* everything */
	nk_buffer *positions; /* of rows, sorted; NULL: rows are sorted themselves */
	int64_t next;         /* atomic */
	worker_state workers[];
};

static inline nk_sort *of_sink(nk_receiver *sink) { return (nk_sort *)sink; }
static inline nk_sort *of_stream(nk_stream *stream)
{
	return (nk_sort *)((char *)stream - offsetof(nk_sort, stream));
}

nk_status nk__sort_positions(nk_memory *memory, const nk_parallel *parallel, const nk_batch *rows,
                             const nk_sort_config *config, nk_buffer **out, nk_error *err)
{
	NK_AUTO(nk_buffer) keys = NULL, *positions = NULL;
	NK_TRY(nk_buffer_new(memory, config->n_keys * (int64_t)sizeof(nk_array *), &keys, err));
	NK_TRY(nk_buffer_new(memory, rows->n_rows * 4, &positions, err));
	nk_array **list = (nk_array **)keys->bytes;
	for (int k = 0; k < config->n_keys; k++)
		list[k] = rows->columns[config->keys[k]];
	NK_TRY(nk_sort_rows(memory, parallel, list, config->specs, config->n_keys, rows->n_rows,
	                    (uint32_t *)positions->bytes, err));
	*out = NK_STEAL(positions);
	return NK_OK;
}

nk_status nk__sort_take(nk_memory *memory, const nk_batch *rows, const nk_sort_config *config,
                        const uint32_t *positions, int64_t n, nk_batch **out, nk_error *err)
{
	int n_outputs = config->n_outputs < 0 ? config->n_columns : config->n_outputs;
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(n_outputs, n, &batch, err));
	for (int o = 0; o < n_outputs; o++)
		NK_TRY(nk_array_take(memory, rows->columns[config->n_outputs < 0 ? o : config->outputs[o]], positions,
		                     n, &batch->columns[o], err));
	*out = NK_STEAL(batch);
	return NK_OK;
}

/* ---- Input ---- */

/* What a worker holds becomes a run on disk. */
static nk_status write_run(nk_sort *sort, worker_state *worker, nk_error *err)
{
	if (worker->held.n_batches == 0)
		return NK_OK;
	nk_status status = NK_OK;
	pthread_mutex_lock(&sort->lock);
	if (!sort->runs)
		status = nk__sort_runs_new(sort->exec, &sort->config, sort->counters, &sort->runs, err);
	pthread_mutex_unlock(&sort->lock);
	NK_TRY(status);
	worker->n_bytes = 0;
	return nk__sort_runs_add(sort->runs, &worker->held, err);
}

static nk_status push(nk_receiver *sink, int number, nk_batch *given, nk_error *err)
{
	nk_sort *sort = of_sink(sink);
	worker_state *worker = &sort->workers[number];
	NK_AUTO(nk_batch) batch = given;
	if (batch->n_rows == 0)
		return NK_OK;
	for (int c = 0; c < batch->n_columns; c++)
		worker->n_bytes += nk_array_bytes(batch->columns[c]);
	NK_TRY(nk_pieces_add(&worker->held, NK_STEAL(batch), err));
	/* All workers may do so at a time. */
	const nk_exec *exec = sort->exec;
	int64_t shortest = NK_MIN((int64_t)SPILL_BYTES, nk_memory_limit(exec->memory) / (16 * exec->n_workers));
	bool is_long = worker->n_bytes > shortest || exec->force_spill;
	if (is_long && nk_exec_should_spill(exec, worker->n_bytes * SORTING_FACTOR * exec->n_workers))
		return write_run(sort, worker, err);
	return NK_OK;
}

static nk_status flush(nk_receiver *sink, int number, nk_error *err)
{
	(void)sink, (void)number, (void)err;
	return NK_OK;
}

static nk_status finish(nk_receiver *sink, nk_error *err)
{
	nk_sort *sort = of_sink(sink);
	nk_memory *memory = sort->exec->memory;
	if (sort->runs) {
		for (int w = 0; w < sort->exec->n_workers; w++)
			NK_TRY(write_run(sort, &sort->workers[w], err));
		sort->stream.n_rows_hint = nk__sort_runs_n_rows(sort->runs);
		return nk__sort_runs_open(sort->runs, err);
	}
	nk_parallel parallel = nk_exec_parallel(sort->exec);
	nk_pieces all = {.memory = memory};
	nk_status status = NK_OK;
	for (int w = 0; w < sort->exec->n_workers; w++) {
		nk_pieces *held = &sort->workers[w].held;
		for (int64_t i = 0; i < held->n_batches && status == NK_OK; i++)
			status = nk_pieces_add(&all, NK_STEAL(held->batches[i]), err);
		nk_pieces_release(held);
	}
	if (status == NK_OK)
		status = nk_pieces_sort(&all, err);
	if (status == NK_OK && all.n_batches)
		status = nk_pieces_concat(&all, memory, &parallel, sort->config.dtypes, sort->config.n_columns,
		                          &sort->rows, err);
	nk_pieces_release(&all);
	NK_TRY(status);
	sort->stream.n_rows_hint = sort->rows ? sort->rows->n_rows : 0;
	if (!sort->rows)
		return NK_OK;
	if (sort->config.n_columns > 1)
		return nk__sort_positions(memory, &parallel, sort->rows, &sort->config, &sort->positions, err);
	nk_array *sorted;
	NK_TRY(nk_sort_array(memory, &parallel, sort->rows->columns[0], sort->config.specs[0], &sorted, err));
	nk_array_unref(sort->rows->columns[0]);
	sort->rows->columns[0] = sorted;
	return NK_OK;
}

/* ---- Output ---- */

static nk_status next(nk_stream *stream, int number, nk_batch **out, nk_error *err)
{
	nk_sort *sort = of_stream(stream);
	int64_t batch_rows = sort->exec->batch_rows;
	(void)number;
	*out = NULL;
	if (sort->runs) {
		pthread_mutex_lock(&sort->lock);
		nk_status status = nk__sort_runs_next(sort->runs, out, err);
		if (*out)
			(*out)->morsel = sort->next++;
		pthread_mutex_unlock(&sort->lock);
		NK_TRY(status);
	} else if (sort->rows) {
		if (!sort->positions)
			return nk__next_slice(sort->exec, sort->rows, &sort->next, out, err);
		int64_t first = __atomic_fetch_add(&sort->next, batch_rows, __ATOMIC_RELAXED);
		if (first >= sort->rows->n_rows || nk_exec_stopped(sort->exec))
			return NK_OK;
		NK_TRY(nk__sort_take(sort->exec->memory, sort->rows, &sort->config,
		                     (const uint32_t *)sort->positions->bytes + first,
		                     NK_MIN(batch_rows, sort->rows->n_rows - first), out, err));
		(*out)->morsel = first / batch_rows;
	}
	return NK_OK;
}

/* ---- Life ---- */

static void sink_free(nk_receiver *sink) { (void)sink; }
static void stream_free(nk_stream *stream) { (void)stream; }
static const nk_receiver_ops sink_ops = {.push = push, .flush = flush, .finish = finish, .free = sink_free};
static const nk_stream_ops stream_ops = {.next = next, .free = stream_free};

static int64_t struct_bytes(const nk_exec *exec)
{
	return (int64_t)sizeof(nk_sort) + exec->n_workers * (int64_t)sizeof(worker_state);
}

nk_status nk_sort_new(const nk_exec *exec, const nk_sort_config *config, nk_counters *counters, nk_sort **out,
                      nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, struct_bytes(exec), &block, err));
	memset(block, 0, (size_t)struct_bytes(exec));
	nk_sort *sort = block;
	sort->sink = (nk_receiver){.ops = &sink_ops, .counters = counters};
	sort->stream = (nk_stream){.ops = &stream_ops, .n_rows_hint = -1, .ordered = true, .counters = counters};
	sort->exec = exec;
	sort->config = *config;
	sort->counters = counters;
	pthread_mutex_init(&sort->lock, NULL);
	for (int w = 0; w < exec->n_workers; w++)
		sort->workers[w].held.memory = exec->memory;
	*out = sort;
	return NK_OK;
}

void nk_sort_free(nk_sort *sort)
{
	if (!sort)
		return;
	const nk_exec *exec = sort->exec;
	for (int w = 0; w < exec->n_workers; w++)
		nk_pieces_release(&sort->workers[w].held);
	nk__sort_runs_free(sort->runs);
	nk_batch_free(sort->rows);
	nk_buffer_unref(sort->positions);
	pthread_mutex_destroy(&sort->lock);
	nk_free(exec->memory, sort, struct_bytes(exec));
}

nk_receiver *nk_sort_sink(nk_sort *sort) { return &sort->sink; }
nk_stream *nk_sort_stream(nk_sort *sort) { return &sort->stream; }
