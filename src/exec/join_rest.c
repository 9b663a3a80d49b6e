/* What remains when all probe rows have passed: build rows by their marks, or for a join that went to disk, the
 * join itself, a partition at a time: each worker loads the build rows of a partition, probes with its pieces one
 * after another, and then hands out that partition's unmatched rows. */
#include "exec/join_internal.h"

static inline nk_join *of_rest(nk_stream *rest)
{
	return (nk_join *)((char *)rest - offsetof(nk_join, rest));
}

static nk_status keep_ready(void *data, nk_batch *batch, nk_error *err)
{
	return nk_pieces_add(&((nk__join_worker *)data)->ready, batch, err);
}

static nk_batch *take_ready(nk__join_worker *worker)
{
	if (worker->next_ready < worker->ready.n_batches) {
		nk_batch **at = &worker->ready.batches[worker->next_ready++];
		return NK_STEAL(*at);
	}
	worker->ready.n_batches = worker->ready.n_rows = worker->next_ready = 0;
	return NULL;
}

static nk_status next_marked(nk_join *join, nk_batch **out, nk_error *err)
{
	int64_t batch_rows = join->exec->batch_rows;
	pthread_mutex_lock(&join->lock);
	if (!join->marks_are_complete)
		nk__join_complete_marks(join, &join->side);
	join->marks_are_complete = true;
	pthread_mutex_unlock(&join->lock);
	*out = NULL;
	while (!*out) {
		int64_t first = __atomic_fetch_add(&join->next, batch_rows, __ATOMIC_RELAXED);
		if (first >= join->n_build_rows || nk_exec_stopped(join->exec))
			return NK_OK;
		NK_TRY(nk__join_unmatched(join, &join->side, first, NK_MIN(batch_rows, join->n_build_rows - first),
		                          out, err));
		if (*out)
			(*out)->morsel = first / batch_rows;
	}
	return NK_OK;
}

static nk_status read_store(nk_partitions *store, int partition, nk_pieces *out, nk_error *err)
{
	return store ? nk_partitions_read(store, partition, out, err) : NK_OK;
}

static nk_status partition_start(nk_join *join, nk__join_worker *worker, nk_error *err)
{
	nk_memory *memory = join->exec->memory;
	nk_pieces built = {.memory = memory};
	nk_batch *rows = NULL;
	NK_TRY(read_store(join->build_store, (int)worker->partition, &built, err));
	nk_status status = nk_pieces_concat(&built, memory, NULL, join->config.build_dtypes,
	                                    join->config.n_build_columns, &rows, err);
	nk_pieces_release(&built);
	NK_TRY(status);
	NK_TRY(nk__build_side_init(join, rows, &worker->side, false, err));
	NK_TRY(read_store(join->probe_store, (int)worker->partition, &worker->pieces, err));
	worker->next_piece = 0;
	worker->next_row = -1;
	worker->prober.morsel = -1;
	return NK_OK;
}

/* One step of work on the partition; false: nothing is left of it. */
static nk_status partition_step(nk_join *join, nk__join_worker *worker, bool *more, nk_error *err)
{
	*more = true;
	if (worker->next_piece < worker->pieces.n_batches) {
		nk_batch **at = &worker->pieces.batches[worker->next_piece++];
		NK_AUTO(nk_batch) piece = NK_STEAL(*at);
		piece->morsel = worker->partition;
		return nk__join_match(join, &worker->side, &worker->prober, piece, keep_ready, worker, err);
	}
	if (worker->next_row < 0) {
		worker->next_row = 0;
		if (worker->side.marks)
			nk__join_complete_marks(join, &worker->side);
	}
	int64_t left = worker->side.marks ? worker->side.n_marks - worker->next_row : 0;
	if (left <= 0) {
		*more = false;
		return NK_OK;
	}
	int64_t n = NK_MIN(left, join->exec->batch_rows);
	nk_batch *batch;
	NK_TRY(nk__join_unmatched(join, &worker->side, worker->next_row, n, &batch, err));
	worker->next_row += n;
	if (!batch)
		return NK_OK;
	batch->morsel = worker->partition;
	batch->number = worker->prober.next_number++;
	return keep_ready(worker, batch, err);
}

static nk_status next_of_partitions(nk_join *join, int number, nk_batch **out, nk_error *err)
{
	nk__join_worker *worker = &join->workers[number];
	worker->ready.memory = worker->pieces.memory = join->exec->memory;
	for (;;) {
		*out = take_ready(worker);
		if (*out || nk_exec_stopped(join->exec))
			return NK_OK;
		bool more = false;
		if (worker->partition >= 0)
			NK_TRY(partition_step(join, worker, &more, err));
		if (more)
			continue;
		nk__build_side_release(join, &worker->side);
		nk_pieces_release(&worker->pieces);
		worker->partition = __atomic_fetch_add(&join->next, 1, __ATOMIC_RELAXED);
		if (worker->partition >= 1 << NK__JOIN_PARTITION_BITS) {
			worker->partition = -1;
			return NK_OK;
		}
		NK_TRY(partition_start(join, worker, err));
	}
}

static nk_status next(nk_stream *rest, int number, nk_batch **out, nk_error *err)
{
	nk_join *join = of_rest(rest);
	*out = NULL;
	if (join->has_spilled)
		NK_TRY(next_of_partitions(join, number, out, err));
	else if (nk__join_wants_marks(&join->config))
		NK_TRY(next_marked(join, out, err));
	return NK_OK;
}

static void rest_free(nk_stream *rest) { (void)rest; }

const nk_stream_ops nk__join_rest_ops = {.next = next, .free = rest_free};
