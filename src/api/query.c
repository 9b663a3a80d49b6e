/* Where the layers meet: a plan is bound, optimised, executed. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "api/context.h"
#include "base/watch.h"
#include "exec/execute.h"
#include "io/csv/csv.h"
#include "io/ipc/ipc.h"
#include "io/json/json.h"
#include "io/parquet/parquet.h"
#include "opt/optimize.h"
#include "plan/rel.h"

struct nk_cancellation {
	int raised; /* atomic */
};

nk_status nk_cancellation_new(nk_cancellation **out, nk_error *err)
{
	nk_cancellation *made = calloc(1, sizeof *made);
	if (!made)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a cancellation");
	*out = made;
	return NK_OK;
}

void nk_cancellation_raise(nk_cancellation *cancellation)
{
	__atomic_store_n(&cancellation->raised, 1, __ATOMIC_RELAXED);
}
void nk_cancellation_free(nk_cancellation *cancellation) { free(cancellation); }

void nk_cancellation_watch(nk_cancellation *cancellation)
{
	static _Thread_local nk_watch watch;
	if (watch.flag)
		nk_watch_leave(&watch);
	watch.flag = cancellation ? &cancellation->raised : NULL;
	if (watch.flag)
		nk_watch_enter(&watch);
}

/* A bound, optimised query with a tracker of its own. The thread's watch is the query's until it is released. */
typedef struct prepared {
	const nk_context *context;
	nk_watch watch;
	char *spill_folder;
	int64_t ns_begun;
	bool (*progress)(const nk_progress *progress, void *data);
	void *progress_data;
	nk_memory *memory;
	nk_query *query;
	nk_run run;
} prepared;

static void prepared_release(prepared *p)
{
	nk_query_free(p->query);
	nk_memory_unref(p->memory);
	free(p->spill_folder);
	nk_watch_leave(&p->watch);
}

static void pass_progress(void *data, const nk_pipelines_progress *now)
{
	prepared *p = data;
	nk_progress progress = {.size = sizeof progress,
	                        .seconds = (double)(nk_now_ns() - p->ns_begun) * 1e-9,
	                        .fraction = now->fraction,
	                        .step = now->step,
	                        .n_steps = now->n_steps,
	                        .n_rows = now->n_rows,
	                        .n_bytes = nk_memory_used(p->memory)};
	if (!p->progress(&progress, p->progress_data))
		__atomic_store_n(&p->watch.ended, 1, __ATOMIC_RELAXED);
}

static void watch_init(nk_watch *watch, const nk_query_options *options, double limit)
{
	if (options->time_limit != 0)
		limit = options->time_limit;
	*watch = (nk_watch){.flag = options->cancellation ? &options->cancellation->raised : NULL};
	if (limit > 0 && limit < 1e9) {
		watch->seconds = limit;
		watch->deadline = nk_now_ns() + (int64_t)(limit * 1e9);
	}
}

static nk_status prepare(prepared *p, nk_plan *plan, const nk_query_options *given, bool optimized,
                         nk_error *err)
{
	nk_query_options own, *options = &own;
	nk__options_copy(&own, sizeof own, given);
	*p = (prepared){0};
	nk_settings settings = {0};
	nk_status known = nk__context_get(&p->context, err);
	if (known == NK_OK)
		known = nk__context_settings(&settings, &p->spill_folder, err);
	watch_init(&p->watch, options, settings.time_limit);
	p->ns_begun = nk_now_ns();
	p->progress = options->progress;
	p->progress_data = options->progress_data;
	nk_watch_enter(&p->watch);
	NK_TRY(known);
	int64_t limit = options->memory_limit ? options->memory_limit : settings.memory_limit;
	p->memory = nk_memory_new(p->context->memory, INT64_MAX);
	if (!p->memory)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a query");
	if (limit > 0)
		nk_memory_set_limit(p->memory, limit, "the query (memory_limit, NANUK_MEMORY_LIMIT)");
	NK_TRY(nk_query_bind(plan, p->memory, &p->query, err));
	if (optimized)
		NK_TRY(nk_optimize(p->query, NK_OPT_ALL & ~options->skip_optimizations, err));
	p->run = (nk_run){.pool = p->context->pool,
	                  .memory = p->memory,
	                  .batch_rows = p->context->batch_rows,
	                  .force_spill = p->context->force_spill,
	                  .spill_folder = p->spill_folder,
	                  .progress = options->progress ? pass_progress : NULL,
	                  .data = p,
	                  .watch = &p->watch};
	return NK_OK;
}

nk_status nk_plan_collect(nk_plan *plan, const nk_query_options *options, nk_frame **out, nk_error *err)
{
	prepared p;
	nk_status status = prepare(&p, plan, options, true, err);
	if (status == NK_OK)
		status = nk_execute(p.query, &p.run, out, err);
	prepared_release(&p);
	return status;
}

nk_status nk_plan_collect_schema(nk_plan *plan, nk_frame **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	const nk_schema *schema;
	NK_TRY(nk_plan_schema(plan, context->memory, &schema, err));
	nk_column **columns = calloc((size_t)schema->n_fields + 1, sizeof *columns);
	nk_status status = columns ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a schema");
	for (int i = 0; status == NK_OK && i < schema->n_fields; i++) {
		NK_AUTO(nk_array) nothing = NULL;
		status = nk_array_new_null(context->memory, schema->fields[i].dtype, 0, &nothing, err);
		if (status == NK_OK)
			status = nk_column_from_array(context->memory, nothing, &columns[i], err);
	}
	if (status == NK_OK)
		status = nk_frame_new((nk_schema *)schema, columns, 0, out, err);
	for (int i = 0; columns && i < schema->n_fields; i++)
		nk_column_unref(columns[i]);
	free(columns);
	return status;
}

nk_status nk_plan_explain(nk_plan *plan, const char *format, bool optimized, bool analyze,
                          const nk_query_options *options, char **out, nk_error *err)
{
	bool dot = format && strcmp(format, "dot") == 0;
	if (format && !dot && strcmp(format, "text") != 0)
		return nk_fail(err, NK_VALUE, "format must be \"text\" or \"dot\", got \"%s\"", format);
	prepared p;
	nk_status status = prepare(&p, plan, options, optimized, err);
	if (status == NK_OK && analyze) {
		nk_frame *frame;
		status = nk_execute(p.query, &p.run, &frame, err);
		if (status == NK_OK)
			nk_frame_unref(frame);
	}
	NK_TEXT(text);
	if (status == NK_OK) {
		if (dot)
			nk_query_explain_dot(p.query, &text);
		else
			nk_query_explain(p.query, analyze, &text);
		status = nk_text_finish(&text, err);
	}
	if (status == NK_OK)
		*out = NK_STEAL(text.bytes);
	prepared_release(&p);
	return status;
}

static double cpu_seconds(void) { return (double)nk__clock_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9; }

static int64_t bytes_from_storage(void)
{
	struct rusage used;
	return getrusage(RUSAGE_SELF, &used) == 0 ? (int64_t)used.ru_inblock * 512 : 0;
}

nk_status nk_plan_analyze(nk_plan *plan, const nk_query_options *options, char **json, char **text,
                          nk_error *err)
{
	prepared p;
	double cpu_before = cpu_seconds();
	int64_t storage_before = bytes_from_storage();
	nk_frame *frame = NULL;
	NK_TEXT(for_programs);
	NK_TEXT(for_people);
	nk_status status = prepare(&p, plan, options, true, err);
	if (status == NK_OK)
		status = nk_execute(p.query, &p.run, &frame, err);
	if (status == NK_OK) {
		nk_run_facts facts = {.seconds = (double)(nk_now_ns() - p.ns_begun) * 1e-9,
		                      .cpu_seconds = cpu_seconds() - cpu_before,
		                      .n_threads = nk_pool_n_threads(p.context->pool),
		                      .n_bytes_storage = bytes_from_storage() - storage_before,
		                      .n_bytes_peak = nk_memory_peak(p.memory),
		                      .n_bytes_limit = nk_memory_limit(p.memory)};
		nk_query_analyze(p.query, &facts, &for_programs, &for_people);
		status = nk_text_finish(&for_programs, err);
	}
	if (status == NK_OK)
		status = nk_text_finish(&for_people, err);
	if (status == NK_OK && json)
		*json = NK_STEAL(for_programs.bytes);
	if (status == NK_OK && text)
		*text = NK_STEAL(for_people.bytes);
	nk_frame_unref(frame);
	prepared_release(&p);
	return status;
}

static nk_status codec_of(const char *name, nk_codec *out, nk_error *err)
{
	static const struct {
		const char *name;
		nk_codec codec;
	} names[] = {{"uncompressed", NK_CODEC_NONE}, {"snappy", NK_CODEC_SNAPPY}, {"zstd", NK_CODEC_ZSTD},
	             {"gzip", NK_CODEC_GZIP},         {"brotli", NK_CODEC_BROTLI}, {"lz4", NK_CODEC_LZ4_RAW},
	             {"lz4_raw", NK_CODEC_LZ4_RAW}};
	for (int i = 0; i < NK_COUNT(names); i++)
		if (strcmp(names[i].name, name) == 0) {
			*out = names[i].codec;
			return NK_OK;
		}
	return nk_fail(err, NK_VALUE,
	               "compression must be one of uncompressed, snappy, gzip, brotli, zstd, lz4, got \"%s\"",
	               name);
}

static nk_status run_into(nk_plan *plan, nk_sink *sink, const nk_query_options *options, nk_error *err)
{
	prepared p;
	nk_status status = prepare(&p, plan, options, true, err);
	if (status == NK_OK)
		status = nk_execute_into(p.query, &p.run, sink, err);
	prepared_release(&p);
	return status;
}

nk_status nk_plan_sink_parquet(nk_plan *plan, const char *path, const nk_sink_parquet_options *options,
                               const nk_query_options *query, nk_error *err)
{
	nk_parquet_sink_options to = {.codec = NK_CODEC_ZSTD, .level = NK_LEVEL_USUAL};
	if (options) {
		to.no_statistics = options->no_statistics;
		to.level = options->has_level ? options->compression_level : NK_LEVEL_USUAL;
		to.group_rows = options->row_group_rows;
		if (options->compression)
			NK_TRY(codec_of(options->compression, &to.codec, err));
		NK_TRY(nk__codec_check_level(to.codec, to.level, err));
	}
	NK_AUTO(nk_sink) sink = NULL;
	NK_TRY(nk_parquet_sink_new(path, &to, &sink, err));
	return run_into(plan, sink, query, err);
}

nk_status nk_plan_sink_csv(nk_plan *plan, const char *path, const nk_sink_csv_options *options,
                           const nk_query_options *query, nk_error *err)
{
	NK_AUTO(nk_sink) sink = NULL;
	NK_TRY(nk_csv_sink_new(path, options, &sink, err));
	return run_into(plan, sink, query, err);
}

nk_status nk_plan_sink_ipc(nk_plan *plan, const char *path, const nk_sink_ipc_options *options,
                           const nk_query_options *query, nk_error *err)
{
	NK_AUTO(nk_sink) sink = NULL;
	NK_TRY(nk_ipc_sink_new(path, options, &sink, err));
	return run_into(plan, sink, query, err);
}

nk_status nk_plan_sink_json(nk_plan *plan, const char *path, const nk_sink_json_options *options,
                            const nk_query_options *query, nk_error *err)
{
	NK_AUTO(nk_sink) sink = NULL;
	NK_TRY(nk_json_sink_new(path, options, &sink, err));
	return run_into(plan, sink, query, err);
}
