/* Each worker aggregates into a table small enough for its L2. A table that is full is emptied into partitions as
 * (key, states); when it had not reduced its input by much, rows go to the partitions as they are for a while.
 * Partitions are then finished one by one, by whoever reads the stream, so that the merge is parallel and each
 * partition's table is small again. Few groups never leave the first table.
 *
 * Without keys every morsel has states of its own, folded in morsel order at the end: floating-point results do
 * not depend on how many workers there were. */
#include "exec/aggregate.h"

#include <pthread.h>
#include <stdlib.h>

#include "exec/aggregate_internal.h"
#include "exec/each.h"
#include "exec/ordered.h"

enum {
	PARTITION_BITS = 6,
	LOCAL_BYTES = 4 << 20, /* of a worker's table */
	LOCAL_GROUPS_MIN = 1 << 12,
	LOCAL_GROUPS_MAX = 1 << 17,
	MERGE_GROUPS = 1 << 15, /* so many groups in all are merged by one worker */
	FLUSH_ROWS = 1 << 14,
	PASS_TABLES = 16, /* after a useless table, rows for so many are passed on before the next try */
};

/* States of one morsel: ungrouped aggregation. */
typedef struct morsel_states {
	int64_t morsel;
	nk_batch *batch; /* one row: nk__states_to_batch */
} morsel_states;

typedef struct worker_state {
	nk__states local;
	bool has_local;
	int64_t n_rows_local; /* rows folded into the current local table */
	int64_t n_rows_pass;  /* rows still to pass on unaggregated */
	int64_t morsel;       /* ungrouped: whose states `local` holds; -1: none */
	morsel_states *morsels;
	int64_t n_morsels, morsels_capacity;
	nk_array **outputs;
	uint64_t *hashes;
	int64_t hashes_capacity;
	/* reading */
	nk__states part;
	bool has_part;
	int64_t partition, n_emitted;
	char padding[64];
} worker_state;

struct nk_aggregation {
	nk_receiver sink;
	nk_stream stream;
	const nk_exec *exec;
	nk_aggregate_config config;
	nk_call *calls;
	nk_counters *counters;
	int64_t max_local;
	pthread_mutex_t lock; /* guards the making of stores, and reading of `single` */
	nk_partitions *rows, *groups;
	nk__states *single; /* all groups are in this worker's table */
	int64_t next;       /* atomic: the next partition, or group of `single` */
	nk_batch *ordered;  /* maintain_order: everything, sorted */
	worker_state workers[];
};

static inline nk_aggregation *of_sink(nk_receiver *sink) { return (nk_aggregation *)sink; }
static inline nk_aggregation *of_stream(nk_stream *stream)
{
	return (nk_aggregation *)((char *)stream - offsetof(nk_aggregation, stream));
}

/* ---- Input ---- */

static nk_status worker_start(nk_aggregation *aggregation, worker_state *worker, nk_error *err)
{
	if (worker->has_local)
		return NK_OK;
	const nk_aggregate_config *config = &aggregation->config;
	worker->has_local = true;
	worker->morsel = -1;
	NK_TRY(nk_alloc(aggregation->exec->memory, config->n_outputs * (int64_t)sizeof *worker->outputs,
	                (void **)&worker->outputs, err));
	memset(worker->outputs, 0, sizeof *worker->outputs * (size_t)config->n_outputs);
	return nk__states_init(&worker->local, aggregation->exec, config, aggregation->calls, 0, err);
}

static nk_status store_open(nk_aggregation *aggregation, nk_partitions **store, nk_error *err)
{
	nk_status status = NK_OK;
	pthread_mutex_lock(&aggregation->lock);
	if (!*store)
		status = nk_partitions_new(aggregation->exec, PARTITION_BITS, aggregation->counters, store, err);
	pthread_mutex_unlock(&aggregation->lock);
	return status;
}

static nk_status hashes_reserve(nk_aggregation *aggregation, worker_state *worker, int64_t n, nk_error *err)
{
	return NK_GROW(aggregation->exec->memory, &worker->hashes, &worker->hashes_capacity, n, err);
}

/* Empty the local table into the partitions. */
static nk_status flush_groups(nk_aggregation *aggregation, worker_state *worker, int number, nk_error *err)
{
	NK_TRY(store_open(aggregation, &aggregation->groups, err));
	int64_t n_groups = nk__states_n_groups(&worker->local);
	NK_TRY(hashes_reserve(aggregation, worker, FLUSH_ROWS, err));
	for (int64_t first = 0; first < n_groups; first += FLUSH_ROWS) {
		int64_t n = NK_MIN((int64_t)FLUSH_ROWS, n_groups - first);
		nk_batch *batch;
		NK_TRY(nk__states_to_batch(&worker->local, first, n, &batch, err));
		nk_group_table_group_hashes(worker->local.table, first, n, worker->hashes);
		NK_TRY(nk_partitions_split(aggregation->groups, number, batch, worker->hashes, err));
	}
	nk__states_clear(&worker->local);
	worker->n_rows_local = 0;
	return NK_OK;
}

/* Rows to the partitions as they are: the outputs, and with maintain_order the order of each row. */
static nk_status pass_rows(nk_aggregation *aggregation, worker_state *worker, int number,
                           const nk_batch *from, nk_error *err)
{
	const nk_aggregate_config *config = &aggregation->config;
	int64_t n = from->n_rows;
	NK_TRY(store_open(aggregation, &aggregation->rows, err));
	NK_TRY(hashes_reserve(aggregation, worker, n, err));
	NK_TRY(nk_group_table_hash(worker->local.table, worker->outputs, n, worker->hashes, err));
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(config->n_outputs + config->maintain_order, n, &batch, err));
	batch->morsel = from->morsel;
	batch->number = from->number;
	for (int o = 0; o < config->n_outputs; o++)
		batch->columns[o] = nk_array_ref(worker->outputs[o]);
	if (config->maintain_order) {
		nk_array **orders = &batch->columns[config->n_outputs];
		NK_TRY(nk_array_alloc(aggregation->exec->memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, n,
		                      false, orders, err));
		int64_t *values = nk_array_values(*orders), order = nk_batch_order(from);
		for (int64_t i = 0; i < n; i++)
			values[i] = order + i;
	}
	return nk_partitions_split(aggregation->rows, number, NK_STEAL(batch), worker->hashes, err);
}

/* After a table is full: whether it was worth it decides how the next rows go. */
static nk_status relieve(nk_aggregation *aggregation, worker_state *worker, int number, nk_error *err)
{
	int64_t n_groups = nk__states_n_groups(&worker->local), n_rows = worker->n_rows_local;
	NK_TRY(flush_groups(aggregation, worker, number, err));
	if (n_rows < n_groups * 5 / 2)
		worker->n_rows_pass = PASS_TABLES * aggregation->max_local;
	return NK_OK;
}

static nk_status fold_grouped(nk_aggregation *aggregation, worker_state *worker, int number,
                              const nk_batch *batch, nk_error *err)
{
	if (worker->n_rows_pass > 0) {
		worker->n_rows_pass -= batch->n_rows;
		return pass_rows(aggregation, worker, number, batch, err);
	}
	nk_status status = nk__states_reserve(&worker->local, batch->n_rows, err);
	if (status == NK_OUT_OF_MEMORY && nk__states_n_groups(&worker->local) > 0) {
		NK_TRY(flush_groups(aggregation, worker, number, err));
		status = nk__states_reserve(&worker->local, batch->n_rows, err);
	}
	NK_TRY(status);
	NK_TRY(
		nk__states_update(&worker->local, worker->outputs, batch->n_rows, nk_batch_order(batch), NULL, err));
	worker->n_rows_local += batch->n_rows;
	if (aggregation->exec->force_spill || nk__states_n_groups(&worker->local) > aggregation->max_local)
		return relieve(aggregation, worker, number, err);
	return NK_OK;
}

static nk_status morsel_end(nk_aggregation *aggregation, worker_state *worker, nk_error *err)
{
	if (worker->morsel < 0)
		return NK_OK;
	NK_TRY(NK_GROW(aggregation->exec->memory, &worker->morsels, &worker->morsels_capacity,
	               worker->n_morsels + 1, err));
	morsel_states *ended = &worker->morsels[worker->n_morsels];
	ended->morsel = worker->morsel;
	NK_TRY(nk__states_to_batch(&worker->local, 0, 1, &ended->batch, err));
	worker->n_morsels++;
	nk__states_clear(&worker->local);
	worker->morsel = -1;
	return NK_OK;
}

static nk_status fold(nk_aggregation *aggregation, worker_state *worker, int number, const nk_batch *batch,
                      nk_error *err)
{
	if (aggregation->config.n_keys)
		return fold_grouped(aggregation, worker, number, batch, err);
	if (worker->morsel != batch->morsel)
		NK_TRY(morsel_end(aggregation, worker, err));
	worker->morsel = batch->morsel;
	return nk__states_update(&worker->local, worker->outputs, batch->n_rows, nk_batch_order(batch), NULL,
	                         err);
}

static nk_status push(nk_receiver *sink, int number, nk_batch *given, nk_error *err)
{
	nk_aggregation *aggregation = of_sink(sink);
	const nk_aggregate_config *config = &aggregation->config;
	worker_state *worker = &aggregation->workers[number];
	NK_AUTO(nk_batch) batch = given;
	NK_TRY(worker_start(aggregation, worker, err));
	if (batch->n_rows == 0)
		return NK_OK;
	if (config->program)
		NK_TRY(nk_program_run(config->program, aggregation->exec->memory, batch->columns, batch->n_rows,
		                      worker->outputs, err));
	else
		for (int o = 0; o < config->n_outputs; o++)
			worker->outputs[o] = nk_array_ref(batch->columns[o]);
	nk_status status = fold(aggregation, worker, number, batch, err);
	for (int o = 0; o < config->n_outputs; o++) {
		nk_array_unref(worker->outputs[o]);
		worker->outputs[o] = NULL;
	}
	return status;
}

static nk_status flush(nk_receiver *sink, int number, nk_error *err)
{
	nk_aggregation *aggregation = of_sink(sink);
	worker_state *worker = &aggregation->workers[number];
	return worker->has_local && !aggregation->config.n_keys ? morsel_end(aggregation, worker, err) : NK_OK;
}

/* ---- Between ---- */

static int by_morsel(const void *a, const void *b)
{
	int64_t x = ((const morsel_states *)a)->morsel, y = ((const morsel_states *)b)->morsel;
	return (x > y) - (x < y);
}

static nk_status finish_ungrouped(nk_aggregation *aggregation, nk_error *err)
{
	nk_memory *memory = aggregation->exec->memory;
	int64_t n = 0;
	for (int w = 0; w < aggregation->exec->n_workers; w++)
		n += aggregation->workers[w].n_morsels;
	NK_AUTO(nk_buffer) list = NULL;
	NK_TRY(nk_buffer_new(memory, (n + 1) * (int64_t)sizeof(morsel_states), &list, err));
	morsel_states *all = (morsel_states *)list->bytes;
	n = 0;
	for (int w = 0; w < aggregation->exec->n_workers; w++)
		for (int64_t m = 0; m < aggregation->workers[w].n_morsels; m++)
			all[n++] = aggregation->workers[w].morsels[m];
	qsort(all, (size_t)n, sizeof *all, by_morsel);
	aggregation->single = &aggregation->workers[0].local;
	for (int64_t m = 0; m < n; m++)
		NK_TRY(nk__states_merge(aggregation->single, all[m].batch, err));
	return NK_OK;
}

static nk_status each_flush(void *data, int64_t item, int worker, nk_error *err)
{
	nk_aggregation *aggregation = data;
	(void)worker;
	worker_state *full = &aggregation->workers[item];
	if (!full->has_local || nk__states_n_groups(&full->local) == 0)
		return NK_OK;
	return flush_groups(aggregation, full, (int)item, err);
}

/* Bring all local tables into one when they are few and small, else into the partitions. */
static nk_status finish_grouped(nk_aggregation *aggregation, nk_error *err)
{
	int n_workers = aggregation->exec->n_workers, n_tables = 0;
	int64_t n_groups = 0;
	worker_state *largest = NULL;
	for (int w = 0; w < n_workers; w++) {
		worker_state *worker = &aggregation->workers[w];
		int64_t n = worker->has_local ? nk__states_n_groups(&worker->local) : 0;
		n_groups += n;
		n_tables += n > 0;
		if (n > 0 && (!largest || n > nk__states_n_groups(&largest->local)))
			largest = worker;
	}
	bool is_partitioned = aggregation->rows || aggregation->groups;
	if (!is_partitioned && !n_tables) {
		NK_TRY(worker_start(aggregation, &aggregation->workers[0], err));
		aggregation->single = &aggregation->workers[0].local;
		return NK_OK;
	}
	if (is_partitioned || (n_tables > 1 && n_groups > MERGE_GROUPS))
		return nk_exec_each(aggregation->exec, n_workers, each_flush, aggregation, err);
	for (int w = 0; w < n_workers && n_tables > 1; w++) {
		worker_state *worker = &aggregation->workers[w];
		if (worker == largest || !worker->has_local || nk__states_n_groups(&worker->local) == 0)
			continue;
		NK_AUTO(nk_batch) batch = NULL;
		NK_TRY(nk__states_to_batch(&worker->local, 0, nk__states_n_groups(&worker->local), &batch, err));
		NK_TRY(nk__states_merge(&largest->local, batch, err));
	}
	aggregation->single = &largest->local;
	return NK_OK;
}

/* ---- Output ---- */

static nk_status partition_load(nk_aggregation *aggregation, nk__states *part, int partition, nk_error *err)
{
	const nk_aggregate_config *config = &aggregation->config;
	nk_memory *memory = aggregation->exec->memory;
	int64_t hint = aggregation->groups ? nk_partitions_n_rows_of(aggregation->groups, partition) : 0;
	NK_TRY(nk__states_init(part, aggregation->exec, config, aggregation->calls,
	                       NK_MIN(hint, (int64_t)LOCAL_GROUPS_MAX), err));
	nk_pieces pieces = {.memory = memory};
	nk_status status = NK_OK;
	if (aggregation->groups)
		status = nk_partitions_read(aggregation->groups, partition, &pieces, err);
	for (int64_t i = 0; i < pieces.n_batches && status == NK_OK; i++) {
		status = nk__states_merge(part, pieces.batches[i], err);
		nk_batch_free(NK_STEAL(pieces.batches[i]));
	}
	nk_pieces_release(&pieces);
	NK_TRY(status);
	if (aggregation->rows)
		status = nk_partitions_read(aggregation->rows, partition, &pieces, err);
	for (int64_t i = 0; i < pieces.n_batches && status == NK_OK; i++) {
		nk_batch *piece = pieces.batches[i];
		const int64_t *orders = config->maintain_order ? piece->columns[config->n_outputs]->values : NULL;
		status = nk__states_update(part, piece->columns, piece->n_rows, nk_batch_order(piece), orders, err);
		nk_batch_free(NK_STEAL(pieces.batches[i]));
	}
	nk_pieces_release(&pieces);
	return status;
}

/* The next batch of groups from the partitions: each worker finishes a whole partition before the next. */
static nk_status next_of_partitions(nk_aggregation *aggregation, int number, nk_batch **out, nk_error *err)
{
	worker_state *worker = &aggregation->workers[number];
	*out = NULL;
	for (;;) {
		if (worker->has_part) {
			int64_t left = nk__states_n_groups(&worker->part) - worker->n_emitted;
			if (left > 0) {
				int64_t n = NK_MIN(left, aggregation->exec->batch_rows);
				NK_TRY(nk__states_finish(&worker->part, worker->n_emitted, n, out, err));
				(*out)->morsel = worker->partition;
				(*out)->number = worker->n_emitted / aggregation->exec->batch_rows;
				worker->n_emitted += n;
				return NK_OK;
			}
			nk__states_release(&worker->part);
			worker->has_part = false;
		}
		worker->partition = __atomic_fetch_add(&aggregation->next, 1, __ATOMIC_RELAXED);
		if (worker->partition >= 1 << PARTITION_BITS || nk_exec_stopped(aggregation->exec))
			return NK_OK;
		worker->has_part = true;
		worker->n_emitted = 0;
		NK_TRY(partition_load(aggregation, &worker->part, (int)worker->partition, err));
	}
}

static nk_status next_of_single(nk_aggregation *aggregation, nk_batch **out, nk_error *err)
{
	*out = NULL;
	nk_status status = NK_OK;
	pthread_mutex_lock(&aggregation->lock);
	int64_t first = aggregation->next, n_groups = nk__states_n_groups(aggregation->single);
	if (first < n_groups) {
		int64_t n = NK_MIN(n_groups - first, aggregation->exec->batch_rows);
		status = nk__states_finish(aggregation->single, first, n, out, err);
		if (status == NK_OK) {
			(*out)->morsel = first / aggregation->exec->batch_rows;
			aggregation->next = first + n;
		}
	}
	pthread_mutex_unlock(&aggregation->lock);
	return status;
}

/* Results of all partitions, by reading worker. */
typedef struct collection {
	nk_aggregation *aggregation;
	nk_pieces all;
	nk_pieces *by_worker;
} collection;

static nk_status each_collect(void *data, int64_t item, int number, nk_error *err)
{
	collection *to = data;
	(void)number;
	for (;;) {
		nk_batch *batch;
		NK_TRY(next_of_partitions(to->aggregation, (int)item, &batch, err));
		if (!batch)
			return NK_OK;
		NK_TRY(nk_pieces_add(&to->by_worker[item], batch, err));
	}
}

/* maintain_order: everything in one batch, sorted by the order of first rows. */
static nk_status finish_ordered(nk_aggregation *aggregation, nk_error *err)
{
	nk_memory *memory = aggregation->exec->memory;
	int n_workers = aggregation->exec->n_workers;
	collection to = {.aggregation = aggregation, .all = {.memory = memory}};
	nk_status status = NK_OK;
	if (aggregation->single) {
		nk_batch *batch;
		NK_TRY(
			nk__states_finish(aggregation->single, 0, nk__states_n_groups(aggregation->single), &batch, err));
		status = nk_pieces_add(&to.all, batch, err);
	} else {
		NK_AUTO(nk_buffer) block = NULL;
		NK_TRY(nk_buffer_new_zeroed(memory, n_workers * (int64_t)sizeof(nk_pieces), &block, err));
		to.by_worker = (nk_pieces *)block->bytes;
		for (int w = 0; w < n_workers; w++)
			to.by_worker[w].memory = memory;
		status = nk_exec_each(aggregation->exec, n_workers, each_collect, &to, err);
		for (int w = 0; w < n_workers; w++) {
			for (int64_t i = 0; i < to.by_worker[w].n_batches && status == NK_OK; i++)
				status = nk_pieces_add(&to.all, NK_STEAL(to.by_worker[w].batches[i]), err);
			nk_pieces_release(&to.by_worker[w]);
		}
	}
	if (status == NK_OK)
		status = nk__in_order(memory, &to.all, &aggregation->ordered, err);
	nk_pieces_release(&to.all);
	return status;
}

static nk_status finish(nk_receiver *sink, nk_error *err)
{
	nk_aggregation *aggregation = of_sink(sink);
	if (aggregation->config.n_keys == 0) {
		NK_TRY(worker_start(aggregation, &aggregation->workers[0], err));
		NK_TRY(finish_ungrouped(aggregation, err));
	} else {
		NK_TRY(finish_grouped(aggregation, err));
	}
	if (aggregation->config.maintain_order) {
		NK_TRY(finish_ordered(aggregation, err));
		aggregation->next = 0;
		aggregation->stream.n_rows_hint = aggregation->ordered ? aggregation->ordered->n_rows : 0;
	} else if (aggregation->single) {
		aggregation->stream.n_rows_hint = nk__states_n_groups(aggregation->single);
	} else {
		aggregation->stream.n_rows_hint =
			(aggregation->groups ? nk_partitions_n_rows(aggregation->groups) : 0) +
			(aggregation->rows ? nk_partitions_n_rows(aggregation->rows) : 0);
	}
	return NK_OK;
}

static nk_status next(nk_stream *stream, int number, nk_batch **out, nk_error *err)
{
	nk_aggregation *aggregation = of_stream(stream);
	NK_TRY(aggregation->config.maintain_order
	           ? nk__next_slice(aggregation->exec, aggregation->ordered, &aggregation->next, out, err)
	       : aggregation->single ? next_of_single(aggregation, out, err)
	                             : next_of_partitions(aggregation, number, out, err));
	return NK_OK;
}

/* ---- Life ---- */

static void sink_free(nk_receiver *sink) { (void)sink; }
static void stream_free(nk_stream *stream) { (void)stream; }
static const nk_receiver_ops sink_ops = {.push = push, .flush = flush, .finish = finish, .free = sink_free};
static const nk_stream_ops stream_ops = {.next = next, .free = stream_free};

static int64_t struct_bytes(const nk_exec *exec)
{
	return (int64_t)sizeof(nk_aggregation) + exec->n_workers * (int64_t)sizeof(worker_state);
}

static int64_t local_groups(const nk_aggregate_config *config)
{
	int64_t n_bytes = 24;
	for (int k = 0; k < config->n_keys; k++)
		n_bytes += NK_MAX(nk_physical_size(config->key_dtypes[k]->physical), 8);
	for (int c = 0; c < config->n_calls; c++)
		n_bytes += config->calls[c]->aggregate->state_size;
	int64_t n_groups = NK_MAX(LOCAL_BYTES / n_bytes, (int64_t)LOCAL_GROUPS_MIN);
	return NK_MIN(n_groups, (int64_t)LOCAL_GROUPS_MAX);
}

nk_status nk_aggregation_new(const nk_exec *exec, const nk_aggregate_config *config, nk_counters *counters,
                             nk_aggregation **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, struct_bytes(exec), &block, err));
	memset(block, 0, (size_t)struct_bytes(exec));
	nk_aggregation *aggregation = block;
	aggregation->sink = (nk_receiver){.ops = &sink_ops, .counters = counters};
	aggregation->stream = (nk_stream){
		.ops = &stream_ops, .n_rows_hint = -1, .ordered = config->maintain_order, .counters = counters};
	aggregation->exec = exec;
	aggregation->config = *config;
	aggregation->config.maintain_order &= config->n_keys > 0;
	aggregation->counters = counters;
	aggregation->max_local = local_groups(config);
	pthread_mutex_init(&aggregation->lock, NULL);
	nk_status status =
		nk_alloc(exec->memory, config->n_calls * (int64_t)sizeof(nk_call), (void **)&aggregation->calls, err);
	if (status != NK_OK) {
		nk_aggregation_free(aggregation);
		return status;
	}
	for (int c = 0; c < config->n_calls; c++) {
		const nk_bound *bound = config->calls[c];
		aggregation->calls[c] = (nk_call){.func = bound->func,
		                                  .dtype = bound->dtype,
		                                  .options = bound->options,
		                                  .data = bound->data,
		                                  .memory = exec->memory};
	}
	*out = aggregation;
	return NK_OK;
}

void nk_aggregation_free(nk_aggregation *aggregation)
{
	if (!aggregation)
		return;
	const nk_exec *exec = aggregation->exec;
	nk_memory *memory = exec->memory;
	for (int w = 0; w < exec->n_workers; w++) {
		worker_state *worker = &aggregation->workers[w];
		nk__states_release(&worker->local);
		nk__states_release(&worker->part);
		for (int64_t m = 0; m < worker->n_morsels; m++)
			nk_batch_free(worker->morsels[m].batch);
		nk_free(memory, worker->morsels, worker->morsels_capacity * (int64_t)sizeof *worker->morsels);
		nk_free(memory, worker->outputs, aggregation->config.n_outputs * (int64_t)sizeof *worker->outputs);
		nk_free(memory, worker->hashes, worker->hashes_capacity * 8);
	}
	nk_partitions_free(aggregation->rows);
	nk_partitions_free(aggregation->groups);
	nk_batch_free(aggregation->ordered);
	nk_free(memory, aggregation->calls, aggregation->config.n_calls * (int64_t)sizeof *aggregation->calls);
	pthread_mutex_destroy(&aggregation->lock);
	nk_free(memory, aggregation, struct_bytes(exec));
}

nk_receiver *nk_aggregation_sink(nk_aggregation *aggregation) { return &aggregation->sink; }
nk_stream *nk_aggregation_stream(nk_aggregation *aggregation) { return &aggregation->stream; }
