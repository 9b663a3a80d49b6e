/* The build side is kept as it comes, joined into whole columns at the end and indexed by several tasks. When
 * memory is refused on the way, both sides go to partitions by key hash and are joined one partition at a time
 * in the rest; a join whose output order matters fails instead. */
#include "exec/join.h"

#include "compute/hash.h"
#include "compute/select.h"
#include "exec/each.h"
#include "exec/join_internal.h"

static inline nk_join *of_build(nk_receiver *build) { return (nk_join *)build; }
static inline nk_join *of_probe(nk_receiver *probe)
{
	return (nk_join *)((char *)probe - offsetof(nk_join, probe));
}

bool nk__join_wants_marks(const nk_join_config *config)
{
	return config->output == NK_JOIN_OUTPUT_BUILD_SEMI || config->output == NK_JOIN_OUTPUT_BUILD_ANTI ||
	       (config->output == NK_JOIN_OUTPUT_PAIRS && config->keep_build);
}

/* ---- The build side ---- */

typedef struct build_round {
	nk_join_table *table;
	int round;
} build_round;

static nk_status each_step(void *data, int64_t item, int worker, nk_error *err)
{
	(void)worker;
	build_round *work = data;
	return nk_join_table_build(work->table, work->round, (int)item, err);
}

static nk_status table_build(const nk_join *join, nk_join_table *table, bool in_parallel, nk_error *err)
{
	int n_steps = nk_join_table_n_steps(table);
	for (int round = 0; round < 2; round++) {
		build_round work = {table, round};
		if (in_parallel)
			NK_TRY(nk_exec_each(join->exec, n_steps, each_step, &work, err));
		for (int step = 0; step < n_steps && !in_parallel; step++)
			NK_TRY(nk_join_table_build(table, round, step, err));
	}
	return NK_OK;
}

nk_status nk__build_side_init(const nk_join *join, nk_batch *rows, nk__build_side *side, bool in_parallel,
                              nk_error *err)
{
	const nk_join_config *config = &join->config;
	nk_memory *memory = join->exec->memory;
	*side = (nk__build_side){.rows = rows};
	if (nk__join_wants_marks(config)) {
		NK_TRY(nk_alloc(memory, rows->n_rows, (void **)&side->marks, err));
		side->n_marks = rows->n_rows;
		memset(side->marks, 0, (size_t)rows->n_rows);
	}
	if (config->n_keys == 0)
		return rows->n_rows < UINT32_MAX - 1 ? NK_OK
		                                     : nk_fail(err, NK_COMPUTE, "a cross join with too many rows");
	NK_AUTO(nk_buffer) lists = NULL;
	NK_TRY(nk_buffer_new(memory, config->n_keys * 2 * (int64_t)sizeof(void *), &lists, err));
	nk_array **keys = (nk_array **)lists->bytes;
	const nk_dtype **probe_dtypes = (const nk_dtype **)(keys + config->n_keys);
	for (int k = 0; k < config->n_keys; k++) {
		nk_array **key = &rows->columns[config->build_keys[k]];
		if ((*key)->encoding == NK_DICTIONARY) {
			NK_AUTO(nk_array) coded = *key;
			*key = NULL;
			NK_TRY(nk_array_flatten(memory, coded, key, err));
		}
		keys[k] = *key;
		probe_dtypes[k] = config->probe_dtypes[config->probe_keys[k]];
	}
	NK_TRY(nk_join_table_new(memory, keys, probe_dtypes, config->n_keys, rows->n_rows, config->nulls_equal,
	                         &side->table, err));
	NK_TRY(table_build(join, side->table, in_parallel, err));
	if (config->build_must_be_unique && !nk_join_table_is_unique(side->table))
		return nk_fail(err, NK_COMPUTE, "join keys did not fulfill %s validation", config->validation);
	return NK_OK;
}

void nk__build_side_release(const nk_join *join, nk__build_side *side)
{
	nk_join_table_free(side->table);
	nk_batch_free(side->rows);
	nk_free(join->exec->memory, side->marks, side->n_marks);
	*side = (nk__build_side){0};
}

nk_status nk__join_hash(const nk_join *join, const nk_batch *batch, const int *keys, uint64_t *hashes,
                        nk_error *err)
{
	if (join->config.n_keys == 0)
		memset(hashes, 0, (size_t)batch->n_rows * 8);
	for (int k = 0; k < join->config.n_keys; k++)
		NK_TRY(nk_hash_array(join->exec->memory, batch->columns[keys[k]], batch->n_rows, hashes, k > 0, err));
	return NK_OK;
}

nk_status nk__join_store_open(nk_join *join, nk_partitions **store, nk_error *err)
{
	nk_status status = NK_OK;
	pthread_mutex_lock(&join->lock);
	if (!*store)
		status = nk_partitions_new(join->exec, NK__JOIN_PARTITION_BITS, join->counters, store, err);
	pthread_mutex_unlock(&join->lock);
	return status;
}

/* A batch (taken over) into the partitions of its side. */
static nk_status set_aside(nk_join *join, nk_partitions **store, int number, nk_batch *given, const int *keys,
                           nk_error *err)
{
	NK_AUTO(nk_batch) batch = given;
	NK_TRY(nk__join_store_open(join, store, err));
	NK_AUTO(nk_buffer) hashes = NULL;
	NK_TRY(nk_buffer_new(join->exec->memory, batch->n_rows * 8, &hashes, err));
	NK_TRY(nk__join_hash(join, batch, keys, (uint64_t *)hashes->bytes, err));
	return nk_partitions_split(*store, number, NK_STEAL(batch), (const uint64_t *)hashes->bytes, err);
}

static nk_status set_built_aside(nk_join *join, int number, nk_error *err)
{
	nk__join_worker *worker = &join->workers[number];
	nk_status status = NK_OK;
	for (int64_t i = 0; i < worker->built.n_batches && status == NK_OK; i++)
		status = set_aside(join, &join->build_store, number, NK_STEAL(worker->built.batches[i]),
		                   join->config.build_keys, err);
	nk_pieces_release(&worker->built);
	worker->n_built_bytes = 0;
	return status;
}

static nk_status build_push(nk_receiver *build, int number, nk_batch *given, nk_error *err)
{
	nk_join *join = of_build(build);
	NK_AUTO(nk_batch) batch = given;
	nk__join_worker *worker = &join->workers[number];
	worker->built.memory = join->exec->memory;
	if (batch->n_rows == 0)
		return NK_OK;
	if (__atomic_load_n(&join->has_spilled, __ATOMIC_RELAXED)) {
		NK_TRY(set_built_aside(join, number, err));
		return set_aside(join, &join->build_store, number, NK_STEAL(batch), join->config.build_keys, err);
	}
	for (int c = 0; c < batch->n_columns; c++)
		worker->n_built_bytes += nk_array_bytes(batch->columns[c]);
	NK_TRY(nk_pieces_add(&worker->built, NK_STEAL(batch), err));
	/* What is kept is needed twice while its columns are joined. */
	if (!join->config.maintain_order &&
	    nk_exec_should_spill(join->exec, worker->n_built_bytes * join->exec->n_workers)) {
		__atomic_store_n(&join->has_spilled, true, __ATOMIC_RELAXED);
		return set_built_aside(join, number, err);
	}
	return NK_OK;
}

static nk_status build_flush(nk_receiver *build, int number, nk_error *err)
{
	(void)build, (void)number, (void)err;
	return NK_OK;
}

static nk_status publish_filters(nk_join *join, nk_error *err)
{
	for (int k = 0; k < join->config.n_keys && join->config.filters; k++)
		if (join->config.filters[k])
			NK_TRY(nk_runtime_filter_publish(join->config.filters[k],
			                                 &join->side.rows->columns[join->config.build_keys[k]], 1, err));
	return NK_OK;
}

static nk_status build_finish(nk_receiver *build, nk_error *err)
{
	nk_join *join = of_build(build);
	nk_memory *memory = join->exec->memory;
	int n_workers = join->exec->n_workers;
	join->is_built = true;
	if (join->has_spilled) {
		for (int w = 0; w < n_workers; w++)
			if (join->workers[w].built.memory)
				NK_TRY(set_built_aside(join, w, err));
		join->n_build_rows = join->build_store ? nk_partitions_n_rows(join->build_store) : 0;
		return NK_OK;
	}
	nk_pieces all = {.memory = memory};
	nk_status status = NK_OK;
	for (int w = 0; w < n_workers; w++) {
		nk_pieces *built = &join->workers[w].built;
		for (int64_t i = 0; i < built->n_batches && status == NK_OK; i++)
			status = nk_pieces_add(&all, NK_STEAL(built->batches[i]), err);
		if (built->memory)
			nk_pieces_release(built);
	}
	if (status == NK_OK)
		status = nk_pieces_sort(&all, err);
	nk_batch *rows = NULL;
	nk_parallel parallel = nk_exec_parallel(join->exec);
	if (status == NK_OK)
		status = nk_pieces_concat(&all, memory, &parallel, join->config.build_dtypes,
		                          join->config.n_build_columns, &rows, err);
	nk_pieces_release(&all);
	NK_TRY(status);
	join->n_build_rows = rows->n_rows;
	NK_TRY(nk__build_side_init(join, rows, &join->side, true, err));
	return publish_filters(join, err);
}

/* ---- The probe side ---- */

/* Without a match for anything, or with the build side's rows alone at the end, no probe row matters. */
static bool probe_is_satisfied(nk_receiver *probe)
{
	const nk_join *join = of_probe(probe);
	const nk_join_config *config = &join->config;
	bool keeps_unmatched = config->output == NK_JOIN_OUTPUT_ANTI ||
	                       (config->output == NK_JOIN_OUTPUT_PAIRS && config->keep_probe);
	if (join->is_built && join->n_build_rows == 0 && !keeps_unmatched && !config->probe_must_be_unique)
		return true;
	return probe->next && probe->next->ops->is_satisfied && !nk_join_has_rest(join) &&
	       probe->next->ops->is_satisfied(probe->next);
}

/* validate=: no key may come twice on the probe side either. */
static nk_status check_unique(nk_join *join, const nk_batch *batch, nk_error *err)
{
	const nk_join_config *config = &join->config;
	nk_memory *memory = join->exec->memory;
	int64_t n = batch->n_rows, n_valid = 0;
	NK_AUTO(nk_buffer) lists = NULL, *rows = NULL, *is_null = NULL;
	NK_TRY(nk_buffer_new(memory, config->n_keys * 2 * (int64_t)sizeof(void *), &lists, err));
	NK_TRY(nk_buffer_new(memory, n * 4, &rows, err));
	NK_TRY(nk_buffer_new(memory, n, &is_null, err));
	nk_array **keys = (nk_array **)lists->bytes;
	const nk_dtype **dtypes = (const nk_dtype **)(keys + config->n_keys);
	for (int k = 0; k < config->n_keys; k++) {
		keys[k] = batch->columns[config->probe_keys[k]];
		dtypes[k] = keys[k]->dtype;
	}
	bool nulls = !config->nulls_equal && nk_key_nulls(keys, config->n_keys, 0, n, is_null->bytes);
	for (int64_t i = 0; i < n; i++)
		if (!nulls || !is_null->bytes[i])
			((uint32_t *)rows->bytes)[n_valid++] = (uint32_t)i;
	NK_AUTO(nk_batch) valid = NULL;
	NK_TRY(nk_batch_take(memory, batch, (const uint32_t *)rows->bytes, n_valid, &valid, err));
	for (int k = 0; k < config->n_keys; k++)
		keys[k] = valid->columns[config->probe_keys[k]];
	pthread_mutex_lock(&join->lock);
	nk_status status = NK_OK;
	if (!join->probe_seen)
		status = nk_group_table_new(memory, dtypes, config->n_keys, 0, &join->probe_seen, err);
	int64_t before = join->probe_seen ? nk_group_table_n_groups(join->probe_seen) : 0;
	if (status == NK_OK)
		status = nk_group_table_insert(join->probe_seen, keys, n_valid, (uint32_t *)rows->bytes, err);
	if (status == NK_OK && nk_group_table_n_groups(join->probe_seen) - before != n_valid)
		status = nk_fail(err, NK_COMPUTE, "join keys did not fulfill %s validation", config->validation);
	pthread_mutex_unlock(&join->lock);
	return status;
}

static nk_status emit_next(void *data, nk_batch *batch, nk_error *err)
{
	void **target = data;
	nk_join *join = target[0];
	return nk_push(join->probe.next, *(int *)target[1], batch, err);
}

static nk_status probe_push(nk_receiver *probe, int number, nk_batch *given, nk_error *err)
{
	nk_join *join = of_probe(probe);
	NK_AUTO(nk_batch) batch = given;
	if (batch->n_rows == 0)
		return NK_OK;
	if (join->config.probe_must_be_unique)
		NK_TRY(check_unique(join, batch, err));
	if (join->has_spilled)
		return set_aside(join, &join->probe_store, number, NK_STEAL(batch), join->config.probe_keys, err);
	return nk__join_match(join, &join->side, &join->workers[number].prober, batch, emit_next,
	                      (void *[]){join, &number}, err);
}

static nk_status probe_flush(nk_receiver *probe, int number, nk_error *err)
{
	return probe->next->ops->flush ? probe->next->ops->flush(probe->next, number, err) : NK_OK;
}

bool nk_join_has_rest(const nk_join *join)
{
	return join->has_spilled || nk__join_wants_marks(&join->config);
}
int64_t nk_join_n_build_rows(const nk_join *join) { return join->n_build_rows; }
nk_receiver *nk_join_build(nk_join *join) { return &join->build; }
nk_receiver *nk_join_probe(nk_join *join) { return &join->probe; }
nk_stream *nk_join_rest(nk_join *join) { return &join->rest; }

/* ---- Life ---- */

static void part_free(nk_receiver *part) { (void)part; }
static const nk_receiver_ops build_ops = {
	.push = build_push, .flush = build_flush, .finish = build_finish, .free = part_free};
static const nk_receiver_ops probe_ops = {
	.push = probe_push, .flush = probe_flush, .free = part_free, .is_satisfied = probe_is_satisfied};

static int64_t struct_bytes(const nk_exec *exec)
{
	return (int64_t)sizeof(nk_join) + exec->n_workers * (int64_t)sizeof(nk__join_worker);
}

nk_status nk_join_new(const nk_exec *exec, const nk_join_config *config, nk_counters *counters, nk_join **out,
                      nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, struct_bytes(exec), &block, err));
	memset(block, 0, (size_t)struct_bytes(exec));
	nk_join *join = block;
	join->build = (nk_receiver){.ops = &build_ops, .counters = counters};
	join->probe = (nk_receiver){.ops = &probe_ops, .counters = counters};
	join->rest = (nk_stream){.ops = &nk__join_rest_ops, .n_rows_hint = -1, .counters = counters};
	join->exec = exec;
	join->config = *config;
	join->counters = counters;
	pthread_mutex_init(&join->lock, NULL);
	for (int w = 0; w < exec->n_workers; w++) {
		join->workers[w].partition = -1;
		join->workers[w].prober.morsel = -1;
	}
	*out = join;
	return NK_OK;
}

void nk_join_free(nk_join *join)
{
	if (!join)
		return;
	const nk_exec *exec = join->exec;
	for (int w = 0; w < exec->n_workers; w++) {
		nk__join_worker *worker = &join->workers[w];
		nk_pieces *lists[] = {&worker->built, &worker->pieces, &worker->ready};
		for (int l = 0; l < NK_COUNT(lists); l++)
			if (lists[l]->memory)
				nk_pieces_release(lists[l]);
		nk__build_side_release(join, &worker->side);
		nk__prober_release(exec->memory, &worker->prober);
	}
	nk__build_side_release(join, &join->side);
	nk_group_table_free(join->probe_seen);
	nk_partitions_free(join->build_store);
	nk_partitions_free(join->probe_store);
	pthread_mutex_destroy(&join->lock);
	nk_free(exec->memory, join, struct_bytes(exec));
}
