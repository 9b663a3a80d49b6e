/* One arena per run holds everything that lowering and running make; it is released before the query returns. */
#include "exec/execute.h"

#include <stdlib.h>
#include <string.h>

#include "exec/collect.h"
#include "exec/lower.h"

enum { DEFAULT_BATCH_ROWS = 8192 };

typedef struct execution {
	nk_arena *arena;
	nk_exec exec;
	nk_lowering lowering;
	nk_pipeline *last;
	const nk_dtype **dtypes;
	const nk_run *run;
	double fraction;               /* that was reported: it never falls */
	int64_t n_written, n_to_write; /* rows of a sink */
} execution;

static void report(void *data)
{
	execution *self = data;
	nk_pipelines_progress now;
	nk_pipelines_progress_read(&self->lowering.pipelines, &now);
	if (self->n_to_write > 0) { /* writing is half of it */
		now.fraction = .5 + (double)self->n_written / (double)self->n_to_write / 2;
		now.step = ++now.n_steps;
	} else if (self->n_to_write < 0) {
		now.fraction = now.fraction < 0 ? now.fraction : now.fraction / 2;
		now.n_steps++;
	}
	self->fraction = NK_MAX(self->fraction, now.fraction);
	now.fraction = now.fraction < 0 ? now.fraction : self->fraction;
	self->run->progress(self->run->data, &now);
}

static void execution_release(execution *run)
{
	if (run->run && run->run->watch)
		run->run->watch->tick = NULL;
	nk_arena_free(run->arena);
	nk_task_group_free(run->exec.tasks);
}

static nk_status prepare(execution *self, nk_query *query, const nk_run *run, nk_error *err)
{
	*self = (execution){.arena = nk_arena_new(run->memory), .run = run};
	if (!self->arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to run a query");
	int64_t batch_rows = run->batch_rows > 0 ? run->batch_rows : DEFAULT_BATCH_ROWS;
	self->exec = (nk_exec){.memory = run->memory,
	                       .pool = run->pool,
	                       .tasks = nk_task_group_new(run->pool),
	                       .n_workers = nk_pool_n_threads(run->pool),
	                       .batch_rows = batch_rows,
	                       .morsel_rows = batch_rows * 4,
	                       .force_spill = run->force_spill,
	                       .spill_folder = run->spill_folder};
	if (!self->exec.tasks)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to run a query");
	self->lowering = (nk_lowering){.query = query,
	                               .exec = &self->exec,
	                               .pipelines = {.arena = self->arena,
	                                             .exec = &self->exec,
	                                             .counters = &query->pipelines,
	                                             .counters_arena = query->arena}};
	NK_TRY(nk_lower(&self->lowering, &self->last, err));
	if (run->progress) {
		run->watch->data = self;
		run->watch->next_tick = nk_now_coarse_ns() + NK_TICK_NS;
		run->watch->tick = report;
	}
	NK_TRY(NK_ARENA_NEW(self->arena, &self->dtypes, query->n_columns + 1, err));
	for (int i = 0; i < query->n_columns; i++)
		self->dtypes[i] = nk_binder_column(query->binder, query->root->columns[i])->dtype;
	return NK_OK;
}

static nk_status result_schema(execution *self, const nk_query *query, nk_schema **out, nk_error *err)
{
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(self->arena, &fields, query->n_columns + 1, err));
	for (int i = 0; i < query->n_columns; i++)
		fields[i] = (nk_field){query->names[i], self->dtypes[i]};
	return nk_schema_new(fields, query->n_columns, out, err);
}

static void collection_release(void *object) { nk_collection_free(object); }

static nk_status run_to_frame(execution *self, nk_query *query, nk_frame **out, nk_error *err)
{
	nk_collection *collection;
	NK_TRY(nk_collection_new(&self->exec, self->dtypes, query->n_columns, -1, &collection, err));
	NK_TRY(nk_arena_defer(self->arena, collection_release, collection, err));
	NK_TRY(
		nk_pipeline_close(&self->lowering.pipelines, self->last, nk_collection_sink(collection), false, err));
	NK_TRY(nk_pipelines_run(&self->lowering.pipelines, err));

	nk_array **arrays;
	nk_column **columns;
	NK_TRY(NK_ARENA_NEW(self->arena, &arrays, query->n_columns + 1, err));
	NK_TRY(NK_ARENA_NEW(self->arena, &columns, query->n_columns + 1, err));
	NK_AUTO(nk_schema) schema = NULL;
	NK_TRY(result_schema(self, query, &schema, err));
	int64_t n_rows = nk_collection_n_rows(collection);
	nk_status status = nk_collection_take(collection, arrays, err);
	for (int i = 0; status == NK_OK && i < query->n_columns; i++)
		status = nk_column_from_array(self->exec.memory, arrays[i], &columns[i], err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, n_rows, out, err);
	for (int i = 0; i < query->n_columns; i++) {
		nk_array_unref(arrays[i]);
		nk_column_unref(columns[i]);
	}
	return status;
}

nk_status nk_execute(nk_query *query, const nk_run *run, nk_frame **out, nk_error *err)
{
	execution self;
	nk_status status = prepare(&self, query, run, err);
	if (status == NK_OK)
		status = run_to_frame(&self, query, out, err);
	execution_release(&self);
	return status;
}

/* Batches reach the sink in row order: collected first, then written. */
static nk_status run_to_sink(execution *self, nk_query *query, nk_sink *sink, nk_error *err)
{
	self->n_to_write = -1;
	nk_collection *collection;
	NK_TRY(nk_collection_new(&self->exec, self->dtypes, query->n_columns, -1, &collection, err));
	NK_TRY(nk_arena_defer(self->arena, collection_release, collection, err));
	NK_TRY(
		nk_pipeline_close(&self->lowering.pipelines, self->last, nk_collection_sink(collection), false, err));
	NK_TRY(nk_pipelines_run(&self->lowering.pipelines, err));
	NK_AUTO(nk_schema) schema = NULL;
	NK_TRY(result_schema(self, query, &schema, err));
	NK_TRY(sink->ops->open(sink, schema, self->exec.memory, err));
	nk_stream *stream;
	NK_TRY(nk_collection_stream(collection, 0, -1, false, 0, &stream, err));
	self->n_to_write = NK_MAX(nk_collection_n_rows(collection), (int64_t)1);
	nk_status status = stream->ops->start(stream, err);
	while (status == NK_OK) {
		nk_batch *batch = NULL;
		status = stream->ops->next(stream, 0, &batch, err);
		if (status != NK_OK || !batch)
			break;
		status = sink->ops->write(sink, batch, err);
		self->n_written += batch->n_rows;
		nk_batch_free(batch);
		if (status == NK_OK)
			status = nk_watch_check(err);
	}
	stream->ops->free(stream);
	NK_TRY(status);
	return sink->ops->finish(sink, err);
}

nk_status nk_execute_into(nk_query *query, const nk_run *run, nk_sink *sink, nk_error *err)
{
	execution self;
	nk_status status = prepare(&self, query, run, err);
	if (status == NK_OK)
		status = run_to_sink(&self, query, sink, err);
	execution_release(&self);
	return status;
}
