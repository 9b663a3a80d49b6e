/* A run is a list of sorted batches on disk, each a region of its own, so that merging holds one batch a run. Rows
 * carry their order as a last key, which makes the merge stable however rows were spread over runs. The merge is
 * a binary heap of cursors; what it picks is gathered batch by batch. */
#include <pthread.h>

#include "compute/select.h"
#include "exec/ordered.h"
#include "exec/sort_internal.h"

typedef struct run {
	nk_spill_place *places;
	int64_t n_places, capacity, next_place;
	/* the cursor */
	nk_batch *batch;
	int64_t row;
	nk_array **keys; /* of batch: the sort's keys and the order */
	int64_t number;  /* of batch among the batches that the next output takes from; -1: none yet */
} run;

struct nk__sort_runs {
	const nk_exec *exec;
	const nk_sort_config *config;
	nk_spill_file *file;
	pthread_mutex_t lock;
	run **runs;
	int64_t n_runs, capacity, n_rows;
	nk_sort_key *specs; /* n_keys + 1 */
	run **heap;
	int64_t n_heap;
};

nk_status nk__sort_runs_new(const nk_exec *exec, const nk_sort_config *config, nk_counters *counters,
                            nk__sort_runs **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, sizeof(nk__sort_runs), &block, err));
	nk__sort_runs *runs = block;
	*runs = (nk__sort_runs){.exec = exec, .config = config};
	pthread_mutex_init(&runs->lock, NULL);
	nk_status status = nk_spill_file_new(exec, counters, &runs->file, err);
	if (status == NK_OK)
		status = nk_alloc(exec->memory, (config->n_keys + 1) * (int64_t)sizeof *runs->specs,
		                  (void **)&runs->specs, err);
	if (status != NK_OK) {
		nk__sort_runs_free(runs);
		return status;
	}
	memcpy(runs->specs, config->specs, sizeof *runs->specs * (size_t)config->n_keys);
	runs->specs[config->n_keys] = (nk_sort_key){0};
	*out = runs;
	return NK_OK;
}

static int64_t keys_bytes(const nk__sort_runs *runs)
{
	return (runs->config->n_keys + 1) * (int64_t)sizeof(nk_array *);
}

static void run_free(nk__sort_runs *runs, run *done)
{
	nk_memory *memory = runs->exec->memory;
	nk_free(memory, done->places, done->capacity * (int64_t)sizeof *done->places);
	nk_free(memory, done->keys, keys_bytes(runs));
	nk_batch_free(done->batch);
	nk_free(memory, done, sizeof *done);
}

void nk__sort_runs_free(nk__sort_runs *runs)
{
	if (!runs)
		return;
	nk_memory *memory = runs->exec->memory;
	for (int64_t r = 0; r < runs->n_runs; r++)
		run_free(runs, runs->runs[r]);
	nk_free(memory, runs->runs, runs->capacity * (int64_t)sizeof *runs->runs);
	nk_free(memory, runs->heap, runs->n_runs * (int64_t)sizeof *runs->heap);
	nk_free(memory, runs->specs, (runs->config->n_keys + 1) * (int64_t)sizeof *runs->specs);
	nk_spill_file_free(runs->file);
	pthread_mutex_destroy(&runs->lock);
	nk_free(memory, runs, sizeof *runs);
}

int64_t nk__sort_runs_n_rows(const nk__sort_runs *runs) { return runs->n_rows; }

/* ---- Writing ---- */

static nk_status run_write(nk__sort_runs *runs, run *made, const nk_batch *rows, const uint32_t *positions,
                           nk_error *err)
{
	nk_memory *memory = runs->exec->memory;
	int64_t batch_rows = runs->exec->batch_rows;
	for (int64_t first = 0; first < rows->n_rows; first += batch_rows) {
		NK_AUTO(nk_batch) batch = NULL;
		NK_TRY(nk_batch_take(memory, rows, positions + first, NK_MIN(batch_rows, rows->n_rows - first),
		                     &batch, err));
		NK_TRY(NK_GROW(memory, &made->places, &made->capacity, made->n_places + 1, err));
		NK_TRY(nk_spill_file_write(runs->file, &batch, 1, &made->places[made->n_places], err));
		made->n_places++;
	}
	return NK_OK;
}

static nk_status run_new(nk__sort_runs *runs, run **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(runs->exec->memory, sizeof(run), &block, err));
	memset(block, 0, sizeof(run));
	pthread_mutex_lock(&runs->lock);
	nk_status status = NK_GROW(runs->exec->memory, &runs->runs, &runs->capacity, runs->n_runs + 1, err);
	if (status == NK_OK)
		runs->runs[runs->n_runs++] = block;
	pthread_mutex_unlock(&runs->lock);
	if (status != NK_OK)
		nk_free(runs->exec->memory, block, sizeof(run));
	*out = block;
	return status;
}

nk_status nk__sort_runs_add(nk__sort_runs *runs, nk_pieces *pieces, nk_error *err)
{
	nk_memory *memory = runs->exec->memory;
	NK_AUTO(nk_batch) rows = NULL;
	NK_AUTO(nk_buffer) positions = NULL;
	for (int64_t i = 0; i < pieces->n_batches; i++) {
		nk_batch *wider;
		NK_TRY(nk__with_order(memory, pieces->batches[i], &wider, err));
		nk_batch_free(pieces->batches[i]);
		pieces->batches[i] = wider;
	}
	NK_TRY(nk_pieces_sort(pieces, err));
	NK_TRY(nk_pieces_concat(pieces, memory, NULL, NULL, runs->config->n_columns + 1, &rows, err));
	NK_TRY(nk__sort_positions(memory, NULL, rows, runs->config, &positions, err));
	run *made;
	NK_TRY(run_new(runs, &made, err));
	nk_count(&runs->n_rows, rows->n_rows);
	return run_write(runs, made, rows, (const uint32_t *)positions->bytes, err);
}

/* ---- Merging ---- */

static nk_status take_batch(void *data, nk_batch *batch, nk_error *err)
{
	(void)err;
	((run *)data)->batch = batch;
	return NK_OK;
}

/* Load the run's next batch; run->batch is NULL at its end. */
static nk_status run_advance(nk__sort_runs *runs, run *from, nk_error *err)
{
	const nk_sort_config *config = runs->config;
	from->row = 0;
	from->number = -1;
	from->batch = NULL;
	if (from->next_place == from->n_places)
		return NK_OK;
	NK_TRY(nk_spill_file_read(runs->file, &from->places[from->next_place++], take_batch, from, err));
	for (int k = 0; k < config->n_keys; k++)
		from->keys[k] = from->batch->columns[config->keys[k]];
	from->keys[config->n_keys] = from->batch->columns[config->n_columns];
	return NK_OK;
}

static bool comes_before(const nk__sort_runs *runs, const run *a, const run *b)
{
	return nk_sort_compare(a->keys, a->row, b->keys, b->row, runs->specs, runs->config->n_keys + 1) < 0;
}

static void heap_sift(nk__sort_runs *runs, int64_t at)
{
	run **heap = runs->heap, *moved = heap[at];
	for (int64_t child; (child = 2 * at + 1) < runs->n_heap; at = child) {
		if (child + 1 < runs->n_heap && comes_before(runs, heap[child + 1], heap[child]))
			child++;
		if (!comes_before(runs, heap[child], moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

nk_status nk__sort_runs_open(nk__sort_runs *runs, nk_error *err)
{
	nk_memory *memory = runs->exec->memory;
	NK_TRY(nk_alloc(memory, runs->n_runs * (int64_t)sizeof *runs->heap, (void **)&runs->heap, err));
	for (int64_t r = 0; r < runs->n_runs; r++) {
		NK_TRY(nk_alloc(memory, keys_bytes(runs), (void **)&runs->runs[r]->keys, err));
		NK_TRY(run_advance(runs, runs->runs[r], err));
		if (runs->runs[r]->batch)
			runs->heap[runs->n_heap++] = runs->runs[r];
	}
	for (int64_t i = runs->n_heap / 2; i-- > 0;)
		heap_sift(runs, i);
	return NK_OK;
}

/* The batches that an output takes from, and where in their concatenation each of them begins. */
typedef struct picks {
	nk_pieces from;
	int64_t *begins;
	int64_t begins_capacity;
} picks;

/* Rows of the run's batch are about to be picked: keep the batch. */
static nk_status pick_from(nk__sort_runs *runs, picks *picked, run *top, nk_error *err)
{
	NK_TRY(NK_GROW(runs->exec->memory, &picked->begins, &picked->begins_capacity, picked->from.n_batches + 1,
	               err));
	nk_batch *shared;
	NK_TRY(nk_batch_slice(runs->exec->memory, top->batch, 0, top->batch->n_rows, &shared, err));
	top->number = picked->from.n_batches;
	picked->begins[top->number] = picked->from.n_rows;
	return nk_pieces_add(&picked->from, shared, err);
}

static nk_status merge_some(nk__sort_runs *runs, picks *picked, uint32_t *rows, int64_t *n, nk_error *err)
{
	for (int64_t i = 0; i < runs->n_heap; i++)
		runs->heap[i]->number = -1;
	while (*n < runs->exec->batch_rows && runs->n_heap) {
		run *top = runs->heap[0];
		if (top->number < 0)
			NK_TRY(pick_from(runs, picked, top, err));
		rows[(*n)++] = (uint32_t)(picked->begins[top->number] + top->row);
		if (++top->row == top->batch->n_rows) {
			nk_batch_free(NK_STEAL(top->batch));
			NK_TRY(run_advance(runs, top, err));
			if (!top->batch)
				runs->heap[0] = runs->heap[--runs->n_heap];
		}
		if (runs->n_heap)
			heap_sift(runs, 0);
	}
	return NK_OK;
}

nk_status nk__sort_runs_next(nk__sort_runs *runs, nk_batch **out, nk_error *err)
{
	nk_memory *memory = runs->exec->memory;
	*out = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_AUTO(nk_batch) joined = NULL;
	NK_TRY(nk_buffer_new(memory, runs->exec->batch_rows * 4, &rows, err));
	picks picked = {.from = {.memory = memory}};
	int64_t n = 0;
	nk_status status = merge_some(runs, &picked, (uint32_t *)rows->bytes, &n, err);
	if (status == NK_OK && n > 0)
		status =
			nk_pieces_concat(&picked.from, memory, NULL, NULL, runs->config->n_columns + 1, &joined, err);
	nk_free(memory, picked.begins, picked.begins_capacity * 8);
	nk_pieces_release(&picked.from);
	if (status != NK_OK || n == 0)
		return status;
	return nk__sort_take(memory, joined, runs->config, (const uint32_t *)rows->bytes, n, out, err);
}
