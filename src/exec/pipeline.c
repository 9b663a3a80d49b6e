/* The driver. Pipelines run one after another: each is parallel inside, and what it depends on has run before. A
 * head with few rows runs on the calling thread alone, so that a query on ten rows never wakes the pool. */
#include "exec/pipeline.h"

#include <string.h>

_Thread_local nk_busy nk__busy;

static void stream_release(void *object)
{
	nk_stream *stream = object;
	stream->ops->free(stream);
}

static void receiver_release(void *object)
{
	nk_receiver *receiver = object;
	receiver->ops->free(receiver);
}

static nk_status add_head(nk_pipelines *all, nk_pipeline *pipeline, nk_stream *stream, nk_head **out,
                          nk_error *err)
{
	NK_TRY(nk_arena_defer(all->arena, stream_release, stream, err));
	nk_head *head;
	NK_TRY(NK_ARENA_NEW(all->arena, &head, 1, err));
	head->stream = stream;
	if (pipeline->last_head)
		pipeline->last_head->next = head;
	else
		pipeline->heads = head;
	pipeline->last_head = head;
	*out = head;
	return NK_OK;
}

nk_status nk_pipeline_open(nk_pipelines *all, nk_stream *stream, nk_pipeline **out, nk_error *err)
{
	nk_pipeline *pipeline;
	nk_status status = NK_ARENA_NEW(all->arena, &pipeline, 1, err);
	if (status != NK_OK) {
		stream->ops->free(stream);
		return status;
	}
	pipeline->ordered = stream->ordered;
	nk_head *head;
	NK_TRY(add_head(all, pipeline, stream, &head, err));
	*out = pipeline;
	return NK_OK;
}

static nk_status add_receiver(nk_pipelines *all, nk_pipeline *pipeline, nk_receiver *receiver, nk_error *err)
{
	if (pipeline->n_receivers == pipeline->capacity) {
		int capacity = pipeline->capacity * 2 + 8;
		nk_receiver **grown;
		NK_TRY(NK_ARENA_NEW(all->arena, &grown, capacity, err));
		if (pipeline->n_receivers)
			memcpy(grown, pipeline->receivers, (size_t)pipeline->n_receivers * sizeof *grown);
		pipeline->receivers = grown;
		pipeline->capacity = capacity;
	}
	pipeline->receivers[pipeline->n_receivers++] = receiver;
	return NK_OK;
}

nk_status nk_pipeline_attach(nk_pipelines *all, nk_pipeline *pipeline, nk_receiver *receiver, bool owned,
                             nk_error *err)
{
	if (owned)
		NK_TRY(nk_arena_defer(all->arena, receiver_release, receiver, err));
	NK_TRY(add_receiver(all, pipeline, receiver, err));
	for (int i = 0; i < pipeline->n_loose; i++)
		pipeline->loose[i]->next = receiver;
	for (nk_head *head = pipeline->heads; head; head = head->next)
		if (!head->first)
			head->first = receiver;
	NK_TRY(NK_ARENA_NEW(all->arena, &pipeline->loose, 1, err));
	pipeline->loose[0] = receiver;
	pipeline->n_loose = 1;
	return NK_OK;
}

/* The rest's own first receiver is what comes next after `after`: left open here and linked by the next attach,
 * since `after` is the loose end. */
nk_status nk_pipeline_add_rest(nk_pipelines *all, nk_pipeline *pipeline, nk_stream *stream,
                               nk_receiver *after, bool (*is_needed)(void *), void *data, nk_error *err)
{
	NK_ASSERT(pipeline->n_loose == 1 && pipeline->loose[0] == after);
	(void)after;
	nk_head *head;
	NK_TRY(add_head(all, pipeline, stream, &head, err));
	head->is_needed = is_needed;
	head->data = data;
	pipeline->ordered = false;
	return NK_OK;
}

nk_status nk_pipeline_merge(nk_pipelines *all, nk_pipeline *pipeline, nk_pipeline *other, nk_error *err)
{
	for (int i = 0; i < other->n_receivers; i++)
		NK_TRY(add_receiver(all, pipeline, other->receivers[i], err));
	nk_receiver **loose;
	NK_TRY(NK_ARENA_NEW(all->arena, &loose, pipeline->n_loose + other->n_loose + 1, err));
	int n = 0;
	for (int i = 0; i < pipeline->n_loose; i++)
		loose[n++] = pipeline->loose[i];
	for (int i = 0; i < other->n_loose; i++)
		loose[n++] = other->loose[i];
	pipeline->loose = loose;
	pipeline->n_loose = n;
	pipeline->last_head->next = other->heads;
	pipeline->last_head = other->last_head;
	pipeline->ordered &= other->ordered;
	pipeline->one_worker |= other->one_worker;
	return NK_OK;
}

nk_status nk_pipeline_close(nk_pipelines *all, nk_pipeline *pipeline, nk_receiver *sink, bool owned,
                            nk_error *err)
{
	NK_TRY(nk_pipeline_attach(all, pipeline, sink, owned, err));
	if (all->last)
		all->last->next = pipeline;
	else
		all->first = pipeline;
	all->last = pipeline;
	return NK_OK;
}

typedef struct head_run {
	const nk_exec *exec;
	const nk_pipeline *pipeline;
	const nk_head *head;
	int64_t morsel_base; /* heads follow one another in order */
	int64_t morsel_end;  /* behind the last that any worker met; atomic */
	int64_t *ns_busy;    /* by worker */
} head_run;

static bool is_satisfied(const nk_pipeline *pipeline)
{
	for (int i = 0; i < pipeline->n_receivers; i++) {
		nk_receiver *receiver = pipeline->receivers[i];
		if (receiver->ops->is_satisfied && receiver->ops->is_satisfied(receiver))
			return true;
	}
	return false;
}

static void note_morsel(head_run *run, int64_t morsel)
{
	int64_t end = __atomic_load_n(&run->morsel_end, __ATOMIC_RELAXED);
	while (morsel >= end && !__atomic_compare_exchange_n(&run->morsel_end, &end, morsel + 1, true,
	                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static nk_status pass_batches(head_run *run, int worker, nk_error *err)
{
	nk_stream *stream = run->head->stream;
	while (!nk_exec_stopped(run->exec)) {
		if (is_satisfied(run->pipeline))
			return NK_OK;
		nk_batch *batch;
		NK_TRY(stream->ops->next(stream, worker, &batch, err));
		if (!batch)
			return NK_OK;
		batch->morsel += run->morsel_base;
		note_morsel(run, batch->morsel);
		NK_TRY(nk_push(run->head->first, worker, batch, err));
	}
	return NK_OK;
}

static nk_status run_worker(void *argument, int worker, nk_error *err)
{
	head_run *run = argument;
	nk_busy outer = nk_busy_enter(run->head->stream->counters);
	int64_t began = nk__busy.since;
	nk_status status = pass_batches(run, worker, err);
	nk_busy_leave(outer);
	run->ns_busy[worker] += nk__busy.since - began;
	return status;
}

static nk_status start_stream(nk_stream *stream, nk_error *err)
{
	if (!stream->ops->start)
		return NK_OK;
	nk_busy outer = nk_busy_enter(stream->counters);
	nk_status status = stream->ops->start(stream, err);
	nk_busy_leave(outer);
	return status;
}

/* *n_morsels counts the morsels of the heads that have run. */
static nk_status run_head(const nk_exec *exec, const nk_pipeline *pipeline, const nk_head *head,
                          int64_t *n_morsels, int64_t *ns_busy, nk_error *err)
{
	head_run run = {exec, pipeline, head, *n_morsels, *n_morsels, ns_busy};
	NK_TRY(start_stream(head->stream, err));
	int64_t hint = head->stream->n_rows_hint;
	bool alone = exec->n_workers == 1 || pipeline->one_worker || (hint >= 0 && hint <= exec->morsel_rows);
	if (alone) {
		NK_TRY(run_worker(&run, 0, err));
	} else {
		nk_status spawned = NK_OK;
		for (int i = 0; spawned == NK_OK && i < exec->n_workers; i++)
			spawned = nk_task_spawn(exec->tasks, run_worker, &run, i, err);
		/* Those that were spawned refer to `run`. */
		nk_status waited = nk_task_group_wait(exec->tasks, spawned == NK_OK ? err : NULL);
		NK_TRY(spawned);
		NK_TRY(waited);
	}
	*n_morsels = run.morsel_end;
	return nk_watch_check(err);
}

/* Workers' ends, then the end of all. */
static nk_status end_receiver(const nk_exec *exec, nk_receiver *receiver, bool is_sink, nk_error *err)
{
	nk_busy outer = nk_busy_enter(receiver->counters);
	nk_status status = NK_OK;
	for (int worker = 0; status == NK_OK && receiver->ops->flush && worker < exec->n_workers; worker++)
		status = receiver->ops->flush(receiver, worker, err);
	if (status == NK_OK)
		status = nk_watch_check(err);
	if (status == NK_OK && is_sink && receiver->ops->finish)
		status = receiver->ops->finish(receiver, err);
	nk_busy_leave(outer);
	return status;
}

static nk_status note_pipeline(nk_pipelines *all, int64_t began, int64_t ended, const int64_t *ns_busy,
                               nk_error *err)
{
	if (!all->counters_arena)
		return NK_OK;
	nk_pipeline_counters *made;
	NK_TRY(NK_ARENA_NEW(all->counters_arena, &made, 1, err));
	int64_t now = nk_now_ns();
	*made = (nk_pipeline_counters){.ns_wall = now - began, .ns_end = now - ended};
	for (int w = 0; w < all->exec->n_workers; w++) {
		made->n_workers += ns_busy[w] > 0;
		made->ns_busy += ns_busy[w];
		made->ns_busiest = NK_MAX(made->ns_busiest, ns_busy[w]);
	}
	*all->counters = made;
	all->counters = &made->next;
	return NK_OK;
}

nk_status nk_pipelines_run(nk_pipelines *all, nk_error *err)
{
	const nk_exec *exec = all->exec;
	for (nk_pipeline *pipeline = all->first; pipeline; pipeline = pipeline->next) {
		int64_t n_morsels = 0, ns_busy[NK_WORKERS_MAX] = {0}, began = nk_now_ns();
		all->running = pipeline;
		for (nk_head *head = pipeline->heads; head; head = head->next) {
			all->running_head = head;
			if (!head->is_needed || head->is_needed(head->data))
				NK_TRY(run_head(exec, pipeline, head, &n_morsels, ns_busy, err));
		}
		all->running_head = NULL;
		int64_t ended = nk_now_ns();
		for (int r = 0; r < pipeline->n_receivers; r++)
			NK_TRY(end_receiver(exec, pipeline->receivers[r], r == pipeline->n_receivers - 1, err));
		NK_TRY(note_pipeline(all, began, ended, ns_busy, err));
	}
	all->running = NULL;
	return NK_OK;
}

/* ---- Progress ---- */

/* Rows stand for work. What a breaker will yield is not known before it has been filled; what an unknown scan reads is
 * learnt from its bytes. */
static const double UNKNOWN_SCAN_ROWS = 1e6, UNKNOWN_SHARE = .25, FINISHING_SHARE = .2;

static double head_rows(const nk_head *head, double largest_scan)
{
	if (head->stream->n_rows_hint >= 0)
		return (double)head->stream->n_rows_hint + 1;
	return head->stream->scan ? UNKNOWN_SCAN_ROWS : largest_scan * UNKNOWN_SHARE;
}

/* Negative: unknown. */
static double head_fraction(const nk_head *head)
{
	const nk_stream *stream = head->stream;
	int64_t n_done = 0, n_total = stream->n_rows_hint;
	if (!stream->scan) {
		n_done = stream->counters ? stream->counters->n_rows_out : 0;
	} else if (n_total >= 0) {
		n_done = stream->scan->n_rows_scanned + stream->scan->n_rows_pruned;
	} else {
		n_done = stream->scan->n_bytes_read;
		n_total = NK_MAX(stream->scan->n_bytes_file, stream->scan->n_bytes_decompressed);
	}
	if (n_total <= 0)
		return n_total == 0 && !stream->scan ? 1 : -1;
	return n_done >= n_total ? 1 : (double)n_done / (double)n_total;
}

static double pipeline_rows(const nk_pipeline *pipeline, double largest_scan)
{
	double n_rows = 0;
	for (const nk_head *head = pipeline->heads; head; head = head->next)
		n_rows += head_rows(head, largest_scan);
	return n_rows;
}

void nk_pipelines_progress_read(const nk_pipelines *all, nk_pipelines_progress *out)
{
	*out = (nk_pipelines_progress){0};
	double largest_scan = 1, total = 0, done = 0;
	for (const nk_pipeline *pipeline = all->first; pipeline; pipeline = pipeline->next)
		for (const nk_head *head = pipeline->heads; head; head = head->next)
			if (head->stream->scan) {
				largest_scan = NK_MAX(largest_scan, head_rows(head, 0));
				out->n_rows += head->stream->scan->n_rows_scanned;
			}
	bool is_past = true, is_unknown = false;
	for (const nk_pipeline *pipeline = all->first; pipeline; pipeline = pipeline->next) {
		double n_rows = pipeline_rows(pipeline, largest_scan), n_past = n_rows;
		total += n_rows;
		out->n_steps++;
		if (is_past && pipeline == all->running) {
			n_past = 0;
			for (const nk_head *head = pipeline->heads; head && head != all->running_head; head = head->next)
				n_past += head_rows(head, largest_scan);
			double fraction = all->running_head ? head_fraction(all->running_head) : 0;
			is_unknown = fraction < 0;
			if (all->running_head)
				n_past += fraction * head_rows(all->running_head, largest_scan);
			n_past *= 1 - FINISHING_SHARE;
			out->step = out->n_steps;
		}
		if (is_past)
			done += n_past;
		is_past &= pipeline != all->running;
	}
	if (is_past) /* all have run */
		out->step = out->n_steps;
	out->fraction = is_unknown ? -1 : total > 0 ? NK_MIN(done / total, 1.0) : 1;
}
