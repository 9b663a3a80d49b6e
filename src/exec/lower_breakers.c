/* Lowering of the operators that hold rows: aggregation, sort, distinct rows. */
#include <string.h>

#include "exec/aggregate.h"
#include "exec/grouped.h"
#include "exec/lower.h"
#include "exec/sort.h"
#include "exec/top_k.h"
#include "exec/unique.h"

static void aggregation_release(void *object) { nk_aggregation_free(object); }
static void grouped_release(void *object) { nk_grouped_free(object); }
static void sort_release(void *object) { nk_sort_free(object); }
static void top_k_release(void *object) { nk_top_k_free(object); }
static void unique_release(void *object) { nk_unique_free(object); }

/* Expressions of a program without repeats. */
typedef struct outputs {
	nk_bound **exprs;
	int n;
} outputs;

static int output_of(outputs *o, nk_bound *expr, int from)
{
	for (int i = from; i < o->n; i++)
		if (o->exprs[i] == expr)
			return i;
	o->exprs[o->n] = expr;
	return o->n++;
}

static nk_status lower_streaming(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input,
                                 nk_pipeline **out, nk_error *err)
{
	nk_arena *arena = lowering->query->arena;
	int n_keys = rel->aggregate.n_keys, n_calls = rel->aggregate.n_aggregates, n_args = 0;
	for (int i = 0; i < n_calls; i++)
		n_args += rel->aggregate.aggregates[i]->n_args;
	outputs o = {0};
	const nk_dtype **key_dtypes;
	const int **arguments;
	bool order_sensitive = false;
	NK_TRY(NK_ARENA_NEW(arena, &o.exprs, n_keys + n_args + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &key_dtypes, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &arguments, n_calls + 1, err));
	for (int i = 0; i < n_keys; i++) {
		key_dtypes[i] = rel->aggregate.keys[i]->dtype;
		o.exprs[o.n++] = rel->aggregate.keys[i];
	}
	for (int i = 0; i < n_calls; i++) {
		const nk_bound *call = rel->aggregate.aggregates[i];
		order_sensitive |= call->func->order_sensitive;
		int *places;
		NK_TRY(NK_ARENA_NEW(arena, &places, call->n_args + 1, err));
		for (int a = 0; a < call->n_args; a++)
			places[a] = output_of(&o, call->args[a], 0);
		arguments[i] = places;
	}
	nk_program *program;
	NK_TRY(nk__lower_program(lowering, o.exprs, o.n, rel->inputs[0], &program, err));
	nk_aggregate_config config = {.program = program,
	                              .n_outputs = o.n,
	                              .n_keys = n_keys,
	                              .key_dtypes = key_dtypes,
	                              .n_calls = n_calls,
	                              .calls = rel->aggregate.aggregates,
	                              .arguments = arguments,
	                              .maintain_order = rel->aggregate.maintain_order,
	                              .order_sensitive = order_sensitive};
	nk_aggregation *aggregation;
	NK_TRY(nk_aggregation_new(lowering->exec, &config, rel->counters, &aggregation, err));
	NK_TRY(nk__lower_release(lowering, aggregation_release, aggregation, err));
	NK_TRY(nk_pipeline_close(&lowering->pipelines, input, nk_aggregation_sink(aggregation), false, err));
	return nk_pipeline_open(&lowering->pipelines, nk_aggregation_stream(aggregation), out, err);
}

static nk_status lower_grouped(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input,
                               nk_pipeline **out, nk_error *err)
{
	nk_query *query = lowering->query;
	int n_keys = rel->aggregate.n_keys, n_results = rel->aggregate.n_aggregates, n_columns = 0;
	for (int i = 0; i < n_results; i++)
		n_columns += rel->aggregate.aggregates[i]->n_columns;
	outputs o = {0};
	NK_TRY(NK_ARENA_NEW(query->arena, &o.exprs, n_keys + n_columns + 1, err));
	for (int i = 0; i < n_keys; i++)
		o.exprs[o.n++] = rel->aggregate.keys[i];
	for (int i = 0; i < n_results; i++)
		for (int c = 0; c < rel->aggregate.aggregates[i]->n_columns; c++) {
			nk_bound *column;
			NK_TRY(nk_bound_column(query->binder, rel->aggregate.aggregates[i]->columns[c], &column, err));
			output_of(&o, column, n_keys);
		}
	const nk_dtype **dtypes, **result_dtypes;
	int *slots;
	NK_TRY(NK_ARENA_NEW(query->arena, &dtypes, o.n + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &result_dtypes, n_results + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &slots, o.n + 1, err));
	for (int i = 0; i < o.n; i++) {
		dtypes[i] = o.exprs[i]->dtype;
		if (i >= n_keys)
			slots[i - n_keys] = o.exprs[i]->column;
	}
	for (int i = 0; i < n_results; i++)
		result_dtypes[i] = nk_binder_column(query->binder, rel->columns[n_keys + i])->dtype;
	nk_program *program, *groups;
	NK_TRY(nk__lower_program(lowering, o.exprs, o.n, rel->inputs[0], &program, err));
	nk_rel inside = {.columns = slots, .n_columns = o.n - n_keys};
	NK_TRY(nk__lower_program(lowering, rel->aggregate.aggregates, n_results, &inside, &groups, err));
	nk_grouped_config config = {.program = program,
	                            .n_outputs = o.n,
	                            .n_keys = n_keys,
	                            .dtypes = dtypes,
	                            .groups = groups,
	                            .n_results = n_results,
	                            .result_dtypes = result_dtypes,
	                            .maintain_order = rel->aggregate.maintain_order};
	nk_grouped *grouped;
	NK_TRY(nk_grouped_new(lowering->exec, &config, rel->counters, &grouped, err));
	NK_TRY(nk__lower_release(lowering, grouped_release, grouped, err));
	NK_TRY(nk_pipeline_close(&lowering->pipelines, input, nk_grouped_sink(grouped), false, err));
	return nk_pipeline_open(&lowering->pipelines, nk_grouped_stream(grouped), out, err);
}

nk_status nk__lower_aggregate(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input, nk_pipeline **out,
                              nk_error *err)
{
	NK_TRY(rel->aggregate.is_grouped ? lower_grouped(lowering, rel, input, out, err)
	                                 : lower_streaming(lowering, rel, input, out, err));
	(*out)->ordered = rel->aggregate.maintain_order;
	return NK_OK;
}

nk_status nk__lower_sort(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input, nk_pipeline **out,
                         nk_error *err)
{
	nk_arena *arena = lowering->query->arena;
	int n_keys = rel->sort.n_keys, n_columns, *keys, *chosen;
	const nk_dtype **dtypes;
	nk_sort_key *specs;
	NK_TRY(NK_ARENA_NEW(arena, &keys, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &specs, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &chosen, rel->n_columns + 1, err));
	NK_TRY(nk__lower_extend(lowering, input, rel->inputs[0], rel->sort.keys, n_keys, keys, &n_columns,
	                        &dtypes, err));
	for (int i = 0; i < n_keys; i++)
		specs[i] =
			(nk_sort_key){.descending = rel->sort.descending[i], .nulls_last = rel->sort.nulls_last[i]};
	for (int i = 0; i < rel->n_columns; i++)
		chosen[i] = nk__lower_position(rel->inputs[0], rel->columns[i]);
	nk_sort_config config = {.n_columns = n_columns,
	                         .dtypes = dtypes,
	                         .n_keys = n_keys,
	                         .keys = keys,
	                         .specs = specs,
	                         .n_outputs = rel->n_columns,
	                         .outputs = chosen};
	nk_stream *stream;
	nk_receiver *sink;
	if (rel->sort.limit >= 0) {
		nk_top_k *top;
		NK_TRY(nk_top_k_new(lowering->exec, &config, 0, rel->sort.limit, rel->counters, &top, err));
		NK_TRY(nk__lower_release(lowering, top_k_release, top, err));
		sink = nk_top_k_sink(top);
		stream = nk_top_k_stream(top);
	} else {
		nk_sort *sort;
		NK_TRY(nk_sort_new(lowering->exec, &config, rel->counters, &sort, err));
		NK_TRY(nk__lower_release(lowering, sort_release, sort, err));
		sink = nk_sort_sink(sort);
		stream = nk_sort_stream(sort);
	}
	NK_TRY(nk_pipeline_close(&lowering->pipelines, input, sink, false, err));
	NK_TRY(nk_pipeline_open(&lowering->pipelines, stream, out, err));
	(*out)->ordered = true;
	return NK_OK;
}

nk_status nk__lower_unique(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input, nk_pipeline **out,
                           nk_error *err)
{
	nk_arena *arena = lowering->query->arena;
	const nk_rel *from = rel->inputs[0];
	int *keys;
	const nk_dtype **dtypes;
	NK_TRY(NK_ARENA_NEW(arena, &keys, rel->unique.n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &dtypes, from->n_columns + 1, err));
	for (int i = 0; i < rel->unique.n_keys; i++)
		keys[i] = nk__lower_position(from, rel->unique.keys[i]);
	for (int i = 0; i < from->n_columns; i++)
		dtypes[i] = nk_binder_column(lowering->query->binder, from->columns[i])->dtype;
	nk_unique_config config = {.n_columns = from->n_columns,
	                           .dtypes = dtypes,
	                           .n_keys = rel->unique.n_keys,
	                           .keys = keys,
	                           .keep = rel->unique.keep,
	                           .maintain_order = rel->unique.maintain_order};
	nk_unique *unique;
	NK_TRY(nk_unique_new(lowering->exec, &config, rel->counters, &unique, err));
	NK_TRY(nk__lower_release(lowering, unique_release, unique, err));
	NK_TRY(nk_pipeline_close(&lowering->pipelines, input, nk_unique_sink(unique), false, err));
	NK_TRY(nk_pipeline_open(&lowering->pipelines, nk_unique_stream(unique), out, err));
	(*out)->ordered = rel->unique.maintain_order;
	bool same = rel->n_columns == from->n_columns &&
	            memcmp(rel->columns, from->columns, (size_t)rel->n_columns * sizeof(int)) == 0;
	if (same)
		return NK_OK;

	/* Only some of the columns go on. */
	nk_bound **kept;
	NK_TRY(NK_ARENA_NEW(arena, &kept, rel->n_columns + 1, err));
	for (int i = 0; i < rel->n_columns; i++)
		NK_TRY(nk_bound_column(lowering->query->binder, rel->columns[i], &kept[i], err));
	return nk__lower_choose(lowering, *out, from, kept, rel->n_columns, rel->counters, err);
}
