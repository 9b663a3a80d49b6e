/* Lowering of the operators over whole tables: joins by nearness, windows over an index, functions of the host. */
#include "exec/lower.h"
#include "exec/whole.h"

static nk_status open_whole(nk_lowering *lowering, const nk_rel *rel, nk_whole_function *make,
                            const void *config, nk_pipeline **out, nk_error *err)
{
	nk_stream *stream;
	NK_TRY(nk_whole_stream_new(lowering->exec, make, config, rel->n_columns, rel->counters, &stream, err));
	NK_TRY(nk_pipeline_open(&lowering->pipelines, stream, out, err));
	(*out)->ordered = true;
	return NK_OK;
}

static nk_status positions_of(nk_lowering *lowering, const nk_rel *input, const int *ids, int n, int **out,
                              nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, out, n + 1, err));
	for (int i = 0; i < n; i++)
		(*out)[i] = nk__lower_position(input, ids[i]);
	return NK_OK;
}

static nk_status dtypes_of(nk_lowering *lowering, const int *ids, int n, const nk_dtype ***out, nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, out, n + 1, err));
	for (int i = 0; i < n; i++)
		(*out)[i] = nk_binder_column(lowering->query->binder, ids[i])->dtype;
	return NK_OK;
}

nk_status nk__lower_asof(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *const *inputs,
                         nk_pipeline **out, nk_error *err)
{
	const nk_rel *left = rel->inputs[0], *right = rel->inputs[1];
	int n = rel->asof.n_by, *lefts, *rights, *outputs;
	nk_asof_config *config;
	const nk_dtype **by_dtypes;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &config, 1, err));
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &outputs, rel->n_columns + 1, err));
	NK_TRY(positions_of(lowering, left, rel->asof.left, n + 1, &lefts, err));
	NK_TRY(positions_of(lowering, right, rel->asof.right, n + 1, &rights, err));
	NK_TRY(dtypes_of(lowering, rel->asof.left + 1, n, &by_dtypes, err));
	for (int i = 0; i < rel->n_columns; i++) {
		outputs[i] = nk__lower_position(left, rel->columns[i]);
		if (outputs[i] < 0)
			outputs[i] = -1 - nk__lower_position(right, rel->columns[i]);
	}
	*config = (nk_asof_config){.on_left = lefts[0],
	                           .on_right = rights[0],
	                           .n_by = n,
	                           .by_left = lefts + 1,
	                           .by_right = rights + 1,
	                           .by_dtypes = by_dtypes,
	                           .strategy = rel->asof.strategy,
	                           .exact_matches = rel->asof.exact_matches,
	                           .check_sorted = rel->asof.check_sorted,
	                           .has_tolerance = rel->asof.has_tolerance,
	                           .tolerance = rel->asof.tolerance,
	                           .tolerance_float = rel->asof.tolerance_float,
	                           .n_outputs = rel->n_columns,
	                           .outputs = outputs};
	NK_TRY(nk__lower_collect(lowering, left, inputs[0], &config->left, err));
	NK_TRY(nk__lower_collect(lowering, right, inputs[1], &config->right, err));
	return open_whole(lowering, rel, nk__asof_make, config, out, err);
}

nk_status nk__lower_windows(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline,
                            nk_pipeline **out, nk_error *err)
{
	nk_query *query = lowering->query;
	const nk_rel *input = rel->inputs[0];
	int n_results = rel->windows.n_aggregates, n_keys = rel->windows.n_keys, n = 0, *ids, *keys, *positions;
	for (int i = 0; i < n_results; i++)
		n += rel->windows.aggregates[i]->n_columns;
	NK_TRY(NK_ARENA_NEW(query->arena, &ids, n + 1, err));
	n = 0;
	for (int i = 0; i < n_results; i++) {
		const nk_bound *expr = rel->windows.aggregates[i];
		for (int c = 0; c < expr->n_columns; c++) {
			bool known = false;
			for (int j = 0; j < n; j++)
				known |= ids[j] == expr->columns[c];
			if (!known)
				ids[n++] = expr->columns[c];
		}
	}
	nk_windows_config *config;
	const nk_dtype **key_dtypes, **result_dtypes;
	NK_TRY(NK_ARENA_NEW(query->arena, &config, 1, err));
	NK_TRY(positions_of(lowering, input, rel->windows.keys, n_keys, &keys, err));
	NK_TRY(positions_of(lowering, input, ids, n, &positions, err));
	NK_TRY(dtypes_of(lowering, rel->windows.keys, n_keys, &key_dtypes, err));
	NK_TRY(dtypes_of(lowering, rel->columns + rel->n_columns - n_results, n_results, &result_dtypes, err));
	nk_rel inside = {.columns = ids, .n_columns = n};
	nk_program *groups;
	NK_TRY(nk__lower_program(lowering, rel->windows.aggregates, n_results, &inside, &groups, err));
	*config = (nk_windows_config){.how = rel->windows.how,
	                              .index = nk__lower_position(input, rel->windows.index),
	                              .n_keys = n_keys,
	                              .keys = keys,
	                              .key_dtypes = key_dtypes,
	                              .index_dtype = nk_binder_column(query->binder, rel->windows.index)->dtype,
	                              .every = rel->windows.every,
	                              .period = rel->windows.period,
	                              .offset = rel->windows.offset,
	                              .per_second = rel->windows.per_second,
	                              .groups = groups,
	                              .n_inputs = n,
	                              .positions = positions,
	                              .n_results = n_results,
	                              .result_dtypes = result_dtypes};
	NK_TRY(nk__lower_collect(lowering, input, pipeline, &config->input, err));
	return open_whole(lowering, rel, nk__windows_make, config, out, err);
}

static void schema_release(void *schema) { nk_schema_unref(schema); }

nk_status nk__lower_foreign(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline,
                            nk_pipeline **out, nk_error *err)
{
	nk_query *query = lowering->query;
	const nk_rel *input = rel->inputs[0];
	nk_foreign_config *config;
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(query->arena, &config, 1, err));
	int n = rel->foreign.n_inputs, *positions;
	NK_TRY(NK_ARENA_NEW(query->arena, &fields, n + 1, err));
	for (int i = 0; i < n; i++)
		fields[i] =
			(nk_field){rel->foreign.names[i], nk_binder_column(query->binder, rel->foreign.inputs[i])->dtype};
	NK_TRY(positions_of(lowering, input, rel->foreign.inputs, n, &positions, err));
	config->positions = positions;
	NK_TRY(nk_schema_new(fields, n, &config->input_schema, err));
	NK_TRY(nk__lower_release(lowering, schema_release, config->input_schema, err));
	config->function = rel->foreign.function;
	NK_TRY(nk__lower_collect(lowering, input, pipeline, &config->input, err));
	return open_whole(lowering, rel, nk__foreign_make, config, out, err);
}
