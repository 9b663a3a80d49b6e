/* Each worker gathers rows until there are several times as many as wanted, sorts, and keeps the first; from then on
 * rows that come after its last one are dropped before anything else is done to them. Simpler than a heap of rows
 * and as quick: pruning is rare and sorts only keys. The order of rows is a last key, for stability. */
#include "exec/top_k.h"

#include "compute/select.h"
#include "exec/ordered.h"
#include "exec/sort_internal.h"

enum { PRUNE_ROWS = 1 << 14 };

typedef struct worker_state {
	nk_pieces held; /* with orders */
	nk_batch *best; /* sorted, n_wanted rows: what to beat; also in held */
	char padding[64];
} worker_state;

struct nk_top_k {
	nk_receiver sink;
	nk_stream stream;
	const nk_exec *exec;
	nk_sort_config config; /* outputs of the caller */
	nk_sort_config inner;  /* with the order as last column and key */
	int *inner_keys;
	nk_sort_key *inner_specs;
	int64_t offset, n_wanted;
	nk_batch *result;
	int64_t next; /* atomic */
	worker_state workers[];
};

static inline nk_top_k *of_sink(nk_receiver *sink) { return (nk_top_k *)sink; }
static inline nk_top_k *of_stream(nk_stream *stream)
{
	return (nk_top_k *)((char *)stream - offsetof(nk_top_k, stream));
}

/* Sort what is held and keep the first n_wanted rows, in one batch. */
static nk_status prune(nk_top_k *top, nk_pieces *held, nk_batch **best, nk_error *err)
{
	nk_memory *memory = top->exec->memory;
	NK_AUTO(nk_batch) rows = NULL, *kept = NULL;
	NK_AUTO(nk_buffer) positions = NULL;
	NK_TRY(nk_pieces_concat(held, memory, NULL, NULL, top->inner.n_columns, &rows, err));
	NK_TRY(nk__sort_positions(memory, NULL, rows, &top->inner, &positions, err));
	NK_TRY(nk__sort_take(memory, rows, &top->inner, (const uint32_t *)positions->bytes,
	                     NK_MIN(rows->n_rows, top->n_wanted), &kept, err));
	/* Text of rows that were dropped goes with them. */
	nk_batch_compact(memory, kept);
	*best = NK_STEAL(kept);
	return NK_OK;
}

/* Drop rows that come after the last of the best. */
static nk_status drop_late(nk_top_k *top, const nk_batch *best, nk_batch **batch, nk_error *err)
{
	nk_memory *memory = top->exec->memory;
	int n_keys = top->config.n_keys;
	NK_AUTO(nk_buffer) lists = NULL, *rows_buffer = NULL;
	NK_TRY(nk_buffer_new(memory, n_keys * 2 * (int64_t)sizeof(nk_array *), &lists, err));
	NK_TRY(nk_buffer_new(memory, (*batch)->n_rows * 4, &rows_buffer, err));
	nk_array **mine = (nk_array **)lists->bytes, **theirs = mine + n_keys;
	uint32_t *rows = (uint32_t *)rows_buffer->bytes;
	for (int k = 0; k < n_keys; k++) {
		mine[k] = (*batch)->columns[top->config.keys[k]];
		theirs[k] = best->columns[top->config.keys[k]];
	}
	int64_t n = 0, last = best->n_rows - 1;
	for (int64_t i = 0; i < (*batch)->n_rows; i++) {
		rows[n] = (uint32_t)i;
		n += nk_sort_compare(mine, i, theirs, last, top->config.specs, n_keys) <= 0;
	}
	if (n == (*batch)->n_rows)
		return NK_OK;
	nk_batch *fewer;
	NK_TRY(nk_batch_take(memory, *batch, rows, n, &fewer, err));
	nk_batch_free(*batch);
	*batch = fewer;
	return NK_OK;
}

static nk_status push(nk_receiver *sink, int number, nk_batch *given, nk_error *err)
{
	nk_top_k *top = of_sink(sink);
	worker_state *worker = &top->workers[number];
	NK_AUTO(nk_batch) batch = given;
	NK_AUTO(nk_batch) wider = NULL;
	if (batch->n_rows == 0 || top->n_wanted == 0)
		return NK_OK;
	NK_TRY(nk__with_order(top->exec->memory, batch, &wider, err));
	if (worker->best && worker->best->n_rows == top->n_wanted)
		NK_TRY(drop_late(top, worker->best, &wider, err));
	if (wider->n_rows == 0)
		return NK_OK;
	NK_TRY(nk_pieces_add(&worker->held, NK_STEAL(wider), err));
	if (worker->held.n_rows < NK_MAX(2 * top->n_wanted, (int64_t)PRUNE_ROWS))
		return NK_OK;
	nk_batch_free(NK_STEAL(worker->best));
	NK_TRY(prune(top, &worker->held, &worker->best, err));
	nk_batch *shared;
	NK_TRY(nk_batch_slice(top->exec->memory, worker->best, 0, worker->best->n_rows, &shared, err));
	return nk_pieces_add(&worker->held, shared, err);
}

static nk_status flush(nk_receiver *sink, int number, nk_error *err)
{
	(void)sink, (void)number, (void)err;
	return NK_OK;
}

static nk_status finish(nk_receiver *sink, nk_error *err)
{
	nk_top_k *top = of_sink(sink);
	nk_memory *memory = top->exec->memory;
	nk_pieces all = {.memory = memory};
	nk_status status = NK_OK;
	for (int w = 0; w < top->exec->n_workers; w++) {
		nk_pieces *held = &top->workers[w].held;
		for (int64_t i = 0; i < held->n_batches && status == NK_OK; i++)
			status = nk_pieces_add(&all, NK_STEAL(held->batches[i]), err);
		nk_pieces_release(held);
	}
	NK_AUTO(nk_batch) best = NULL;
	if (status == NK_OK && all.n_rows > 0)
		status = prune(top, &all, &best, err);
	nk_pieces_release(&all);
	NK_TRY(status);
	int64_t n = best ? best->n_rows - top->offset : 0;
	top->stream.n_rows_hint = NK_MAX(n, (int64_t)0);
	if (n <= 0)
		return NK_OK;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(memory, n * 4, &rows, err));
	for (int64_t i = 0; i < n; i++)
		((uint32_t *)rows->bytes)[i] = (uint32_t)(top->offset + i);
	return nk__sort_take(memory, best, &top->config, (const uint32_t *)rows->bytes, n, &top->result, err);
}

static nk_status next(nk_stream *stream, int number, nk_batch **out, nk_error *err)
{
	nk_top_k *top = of_stream(stream);
	(void)number;
	NK_TRY(nk__next_slice(top->exec, top->result, &top->next, out, err));
	return NK_OK;
}

static void sink_free(nk_receiver *sink) { (void)sink; }
static void stream_free(nk_stream *stream) { (void)stream; }
static const nk_receiver_ops sink_ops = {.push = push, .flush = flush, .finish = finish, .free = sink_free};
static const nk_stream_ops stream_ops = {.next = next, .free = stream_free};

static int64_t struct_bytes(const nk_exec *exec)
{
	return (int64_t)sizeof(nk_top_k) + exec->n_workers * (int64_t)sizeof(worker_state);
}

nk_status nk_top_k_new(const nk_exec *exec, const nk_sort_config *config, int64_t offset, int64_t limit,
                       nk_counters *counters, nk_top_k **out, nk_error *err)
{
	void *block;
	int n_keys = config->n_keys;
	NK_TRY(nk_alloc(exec->memory, struct_bytes(exec), &block, err));
	memset(block, 0, (size_t)struct_bytes(exec));
	nk_top_k *top = block;
	top->sink = (nk_receiver){.ops = &sink_ops, .counters = counters};
	top->stream =
		(nk_stream){.ops = &stream_ops, .n_rows_hint = limit, .ordered = true, .counters = counters};
	top->exec = exec;
	top->config = *config;
	top->offset = offset;
	top->n_wanted = limit > 0 ? offset + limit : 0;
	for (int w = 0; w < exec->n_workers; w++)
		top->workers[w].held.memory = exec->memory;
	nk_status status =
		nk_alloc(exec->memory, (n_keys + 1) * (int64_t)sizeof(int), (void **)&top->inner_keys, err);
	if (status == NK_OK)
		status = nk_alloc(exec->memory, (n_keys + 1) * (int64_t)sizeof(nk_sort_key),
		                  (void **)&top->inner_specs, err);
	if (status != NK_OK) {
		nk_top_k_free(top);
		return status;
	}
	memcpy(top->inner_keys, config->keys, sizeof(int) * (size_t)n_keys);
	memcpy(top->inner_specs, config->specs, sizeof(nk_sort_key) * (size_t)n_keys);
	top->inner_keys[n_keys] = config->n_columns;
	top->inner_specs[n_keys] = (nk_sort_key){0};
	top->inner = (nk_sort_config){.n_columns = config->n_columns + 1,
	                              .n_keys = n_keys + 1,
	                              .keys = top->inner_keys,
	                              .specs = top->inner_specs,
	                              .n_outputs = -1};
	*out = top;
	return NK_OK;
}

void nk_top_k_free(nk_top_k *top)
{
	if (!top)
		return;
	const nk_exec *exec = top->exec;
	for (int w = 0; w < exec->n_workers; w++) {
		nk_pieces_release(&top->workers[w].held);
		nk_batch_free(top->workers[w].best);
	}
	nk_batch_free(top->result);
	nk_free(exec->memory, top->inner_keys, (top->config.n_keys + 1) * (int64_t)sizeof(int));
	nk_free(exec->memory, top->inner_specs, (top->config.n_keys + 1) * (int64_t)sizeof(nk_sort_key));
	nk_free(exec->memory, top, struct_bytes(exec));
}

nk_receiver *nk_top_k_sink(nk_top_k *top) { return &top->sink; }
nk_stream *nk_top_k_stream(nk_top_k *top) { return &top->stream; }
