/* A walk with an explicit stack, inputs first; a join's build side is lowered and closed before its probe side, so
 * that its runtime filters are there when the probe side's scans start. A node with several users is collected
 * once and read by each; scans are cheaper to run again than to hold. */
#include "exec/lower.h"

#include <stdlib.h>
#include <string.h>

#include "exec/collect.h"
#include "exec/explode.h"
#include "exec/keyed_map.h"
#include "exec/map.h"
#include "exec/scan.h"
#include "exec/steps.h"

enum { SMALL_LIMIT = 1 << 16 };

int nk__lower_position(const nk_rel *rel, int id)
{
	for (int i = 0; i < rel->n_columns; i++)
		if (rel->columns[i] == id)
			return i;
	return -1;
}

nk_status nk__lower_release(nk_lowering *lowering, void (*release)(void *), void *object, nk_error *err)
{
	return nk_arena_defer(lowering->pipelines.arena, release, object, err);
}

static void program_release(void *program) { nk_program_free(program); }
static void collection_release(void *collection) { nk_collection_free(collection); }

nk_status nk__lower_program(nk_lowering *lowering, nk_bound *const *exprs, int n, const nk_rel *input,
                            nk_program **out, nk_error *err)
{
	NK_TRY(nk_program_new(lowering->exec->memory, exprs, n, input->columns, input->n_columns, out, err));
	return nk__lower_release(lowering, program_release, *out, err);
}

nk_status nk__lower_choose(nk_lowering *lowering, nk_pipeline *pipeline, const nk_rel *input,
                           nk_bound *const *exprs, int n, nk_counters *counters, nk_error *err)
{
	nk_program *program;
	NK_TRY(nk_program_new(lowering->exec->memory, exprs, n, input->columns, input->n_columns, &program, err));
	nk_receiver *step;
	NK_TRY(nk_project_step_new(lowering->exec, program, n, counters, &step, err));
	return nk_pipeline_attach(&lowering->pipelines, pipeline, step, true, err);
}

nk_status nk__lower_extend(nk_lowering *lowering, nk_pipeline *pipeline, const nk_rel *input,
                           nk_bound *const *exprs, int n, int *positions, int *n_columns,
                           const nk_dtype ***dtypes, nk_error *err)
{
	nk_query *query = lowering->query;
	nk_bound **all;
	NK_TRY(NK_ARENA_NEW(query->arena, &all, input->n_columns + n + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, dtypes, input->n_columns + n + 1, err));
	int count = input->n_columns;
	for (int i = 0; i < count; i++)
		NK_TRY(nk_bound_column(query->binder, input->columns[i], &all[i], err));
	for (int i = 0; i < n; i++) {
		positions[i] = exprs[i]->kind == NK_BOUND_COLUMN ? nk__lower_position(input, exprs[i]->column) : -1;
		for (int j = 0; j < i && positions[i] < 0; j++)
			if (exprs[j] == exprs[i])
				positions[i] = positions[j];
		if (positions[i] < 0) {
			positions[i] = count;
			all[count++] = exprs[i];
		}
	}
	*n_columns = count;
	for (int i = 0; i < count; i++)
		(*dtypes)[i] = all[i]->dtype;
	if (count == input->n_columns)
		return NK_OK;
	nk_counters *counters;
	NK_TRY(NK_ARENA_NEW(query->arena, &counters, 1, err));
	return nk__lower_choose(lowering, pipeline, input, all, count, counters, err);
}

static nk_status column_dtypes(nk_lowering *lowering, const nk_rel *rel, const nk_dtype ***out, nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, out, rel->n_columns + 1, err));
	for (int i = 0; i < rel->n_columns; i++)
		(*out)[i] = nk_binder_column(lowering->query->binder, rel->columns[i])->dtype;
	return NK_OK;
}

/* Close a pipeline with a collection of a node's columns. */
static nk_status collect(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline, int64_t limit,
                         nk_collection **out, nk_error *err)
{
	const nk_dtype **dtypes;
	NK_TRY(column_dtypes(lowering, rel, &dtypes, err));
	NK_TRY(nk_collection_new(lowering->exec, dtypes, rel->n_columns, limit, out, err));
	NK_TRY(nk__lower_release(lowering, collection_release, *out, err));
	return nk_pipeline_close(&lowering->pipelines, pipeline, nk_collection_sink(*out), false, err);
}

nk_status nk__lower_collect(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline,
                            struct nk_collection **out, nk_error *err)
{
	return collect(lowering, rel, pipeline, -1, out, err);
}

static nk_status open_collection(nk_lowering *lowering, nk_collection *collection, int64_t offset,
                                 int64_t limit, bool row_index, int64_t row_index_offset, nk_pipeline **out,
                                 nk_error *err)
{
	nk_stream *stream;
	NK_TRY(nk_collection_stream(collection, offset, limit, row_index, row_index_offset, &stream, err));
	return nk_pipeline_open(&lowering->pipelines, stream, out, err);
}

static nk_status lower_filter(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline, nk_error *err)
{
	const nk_rel *input = rel->inputs[0];
	int *positions;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &positions, rel->n_columns + 1, err));
	for (int i = 0; i < rel->n_columns; i++)
		positions[i] = nk__lower_position(input, rel->columns[i]);
	nk_program *program;
	nk_bound *predicate = rel->filter.predicate;
	NK_TRY(nk_program_new(lowering->exec->memory, &predicate, 1, input->columns, input->n_columns, &program,
	                      err));
	nk_receiver *step;
	NK_TRY(nk_filter_step_new(lowering->exec, program, positions, rel->n_columns, rel->counters, &step, err));
	return nk_pipeline_attach(&lowering->pipelines, pipeline, step, true, err);
}

static nk_status lower_project(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline, nk_error *err)
{
	const nk_rel *input = rel->inputs[0];
	bool same = rel->n_columns == input->n_columns;
	for (int i = 0; same && i < rel->n_columns; i++)
		same = rel->project.exprs[i]->kind == NK_BOUND_COLUMN &&
		       rel->project.exprs[i]->column == input->columns[i];
	if (same)
		return NK_OK;
	return nk__lower_choose(lowering, pipeline, input, rel->project.exprs, rel->n_columns, rel->counters,
	                        err);
}

static nk_status lower_explode(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline, nk_error *err)
{
	const nk_rel *input = rel->inputs[0];
	nk_arena *arena = lowering->query->arena;
	int *positions, *lists, n_lists = rel->explode.n_lists;
	bool *is_list;
	NK_TRY(NK_ARENA_NEW(arena, &positions, rel->n_columns + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &is_list, rel->n_columns + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &lists, n_lists + 1, err));
	for (int i = 0; i < n_lists; i++)
		lists[i] = nk__lower_position(input, rel->explode.lists[i]);
	for (int i = 0; i < rel->n_columns; i++) {
		int id = rel->columns[i];
		for (int j = 0; j < n_lists; j++)
			if (rel->explode.made[j] == id) {
				is_list[i] = true;
				positions[i] = lists[j];
			}
		if (!is_list[i])
			positions[i] = nk__lower_position(input, id);
	}
	nk_explode_config config = {.n_outputs = rel->n_columns,
	                            .positions = positions,
	                            .is_list = is_list,
	                            .n_lists = n_lists,
	                            .lists = lists,
	                            .mode = {rel->explode.empty_as_null, rel->explode.keep_nulls}};
	nk_receiver *step;
	NK_TRY(nk_explode_step_new(lowering->exec, &config, rel->counters, &step, err));
	return nk_pipeline_attach(&lowering->pipelines, pipeline, step, true, err);
}

static void keyed_map_release(void *object) { nk_keyed_map_free(object); }

/* Windows that share their keys. */
static nk_status lower_keyed_map(nk_lowering *lowering, const nk_rel *rel, const nk_program *program,
                                 nk_bound *const *keys, int n_keys, nk_pipeline *pipeline, nk_pipeline **out,
                                 nk_error *err)
{
	int *positions;
	nk_keyed_map_config config = {.program = program, .n_outputs = rel->n_columns, .n_keys = n_keys};
	const nk_dtype **dtypes;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &positions, n_keys, err));
	NK_TRY(nk__lower_extend(lowering, pipeline, rel->inputs[0], keys, n_keys, positions, &config.n_columns,
	                        &dtypes, err));
	config.keys = positions;
	config.dtypes = dtypes;
	nk_keyed_map *map;
	NK_TRY(nk_keyed_map_new(lowering->exec, &config, rel->counters, &map, err));
	NK_TRY(nk__lower_release(lowering, keyed_map_release, map, err));
	NK_TRY(nk_pipeline_close(&lowering->pipelines, pipeline, nk_keyed_map_sink(map), false, err));
	return nk_pipeline_open(&lowering->pipelines, nk_keyed_map_stream(map), out, err);
}

static nk_status lower_map(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline, nk_pipeline **out,
                           nk_error *err)
{
	const nk_rel *input = rel->inputs[0];
	nk_program *program;
	NK_TRY(nk__lower_program(lowering, rel->map.exprs, rel->n_columns, input, &program, err));
	int n_keys;
	nk_bound *const *keys = nk_program_keys(program, &n_keys);
	if (n_keys)
		return lower_keyed_map(lowering, rel, program, keys, n_keys, pipeline, out, err);
	nk_collection *collection;
	NK_TRY(collect(lowering, input, pipeline, -1, &collection, err));
	const char **names;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &names, rel->n_columns + 1, err));
	for (int i = 0; i < rel->n_columns; i++)
		names[i] = nk_binder_column(lowering->query->binder, rel->columns[i])->name;
	nk_map_config config = {.program = program,
	                        .exprs = rel->map.exprs,
	                        .names = names,
	                        .n_outputs = rel->n_columns,
	                        .is_with_columns = rel->map.is_with_columns,
	                        .strict = rel->map.strict};
	nk_stream *stream;
	NK_TRY(nk_map_stream_new(lowering->exec, collection, input->n_columns, &config, rel->counters, &stream,
	                         err));
	return nk_pipeline_open(&lowering->pipelines, stream, out, err);
}

static nk_status lower_slice(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline,
                             nk_pipeline **out, nk_error *err)
{
	int64_t offset = rel->slice.offset, limit = rel->slice.limit, enough = -1;
	if (offset >= 0 && limit >= 0 && offset <= INT64_MAX - limit)
		enough = offset + limit;
	if (enough >= 0 && pipeline->ordered) {
		if (enough <= SMALL_LIMIT)
			pipeline->one_worker = true; /* rows come in order and stop when there are enough */
		else
			enough = -1;
	}
	nk_collection *collection;
	NK_TRY(collect(lowering, rel->inputs[0], pipeline, enough, &collection, err));
	return open_collection(lowering, collection, offset, limit, false, 0, out, err);
}

static nk_status lower_zip(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *const *inputs,
                           nk_pipeline **out, nk_error *err)
{
	nk_collection **collections;
	int *widths;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &collections, rel->n_inputs + 1, err));
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &widths, rel->n_inputs + 1, err));
	for (int i = 0; i < rel->n_inputs; i++) {
		NK_TRY(collect(lowering, rel->inputs[i], inputs[i], -1, &collections[i], err));
		widths[i] = rel->inputs[i]->n_columns;
	}
	nk_stream *stream;
	NK_TRY(nk_zip_stream_new(lowering->exec, collections, widths, rel->n_inputs, &stream, err));
	return nk_pipeline_open(&lowering->pipelines, stream, out, err);
}

static nk_status lower_node(nk_lowering *lowering, const nk_rel *rel, nk_pipeline **inputs, nk_pipeline **out,
                            nk_error *err)
{
	*out = rel->n_inputs ? inputs[0] : NULL;
	switch (rel->kind) {
	case NK_REL_SCAN: {
		nk_stream *stream;
		NK_TRY(nk_scan_stream_new(lowering->query, lowering->exec, rel, &stream, err));
		return nk_pipeline_open(&lowering->pipelines, stream, out, err);
	}
	case NK_REL_FILTER: return lower_filter(lowering, rel, inputs[0], err);
	case NK_REL_PROJECT: return lower_project(lowering, rel, inputs[0], err);
	case NK_REL_MAP: return lower_map(lowering, rel, inputs[0], out, err);
	case NK_REL_AGGREGATE: return nk__lower_aggregate(lowering, rel, inputs[0], out, err);
	case NK_REL_JOIN:
		return nk__lower_join_probe(lowering, rel, inputs[1 - nk__join_build_side(rel)], out, err);
	case NK_REL_SORT: return nk__lower_sort(lowering, rel, inputs[0], out, err);
	case NK_REL_SLICE: return lower_slice(lowering, rel, inputs[0], out, err);
	case NK_REL_UNIQUE: return nk__lower_unique(lowering, rel, inputs[0], out, err);
	case NK_REL_UNION:
		for (int i = 1; i < rel->n_inputs; i++)
			NK_TRY(nk_pipeline_merge(&lowering->pipelines, inputs[0], inputs[i], err));
		return NK_OK;
	case NK_REL_ZIP: return lower_zip(lowering, rel, inputs, out, err);
	case NK_REL_EXPLODE: return lower_explode(lowering, rel, inputs[0], err);
	case NK_REL_ROW_INDEX: {
		nk_collection *collection;
		NK_TRY(collect(lowering, rel->inputs[0], inputs[0], -1, &collection, err));
		return open_collection(lowering, collection, 0, -1, true, rel->row_index.offset, out, err);
	}
	case NK_REL_JOIN_ASOF: return nk__lower_asof(lowering, rel, inputs, out, err);
	case NK_REL_WINDOWS: return nk__lower_windows(lowering, rel, inputs[0], out, err);
	case NK_REL_FOREIGN: return nk__lower_foreign(lowering, rel, inputs[0], out, err);
	case NK_REL_N: break;
	}
	return nk_fail(err, NK_INVALID_OPERATION, "an unknown relational node");
}

static bool is_shared(const nk_lowering *lowering, const nk_rel *rel)
{
	return lowering->n_users[rel->number] > 1 && rel->kind != NK_REL_SCAN;
}

/* The open pipeline that yields a lowered node's columns, for one more user. */
static nk_status take_open(nk_lowering *lowering, const nk_rel *rel, nk_pipeline **out, nk_error *err)
{
	if (is_shared(lowering, rel))
		return open_collection(lowering, lowering->shared[rel->number], 0, -1, false, 0, out, err);
	*out = lowering->open[rel->number];
	lowering->open[rel->number] = NULL;
	return NK_OK;
}

static nk_status no_memory(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for lowering"); }

typedef struct visit {
	nk_rel *rel;
	int next;
} visit;

static nk_status push_visit(visit **stack, int *n, int *capacity, nk_rel *rel, nk_error *err)
{
	if (*n == *capacity) {
		int larger = *capacity * 2 + 64;
		visit *grown = realloc(*stack, (size_t)larger * sizeof *grown);
		if (!grown)
			return no_memory(err);
		*stack = grown;
		*capacity = larger;
	}
	(*stack)[(*n)++] = (visit){rel, 0};
	return NK_OK;
}

static nk_status count_users(nk_lowering *lowering, nk_error *err)
{
	visit *stack = NULL;
	int n = 0, capacity = 0;
	nk_status status = push_visit(&stack, &n, &capacity, lowering->query->root, err);
	lowering->n_users[lowering->query->root->number] = 1;
	while (status == NK_OK && n) {
		nk_rel *rel = stack[--n].rel;
		for (int i = 0; status == NK_OK && i < rel->n_inputs; i++)
			if (lowering->n_users[rel->inputs[i]->number]++ == 0)
				status = push_visit(&stack, &n, &capacity, rel->inputs[i], err);
	}
	free(stack);
	return status;
}

static nk_rel *input_in_order(const nk_rel *rel, int i)
{
	if (rel->kind != NK_REL_JOIN)
		return rel->inputs[i];
	int build = nk__join_build_side(rel);
	return rel->inputs[i == 0 ? build : 1 - build];
}

static nk_status finish_node(nk_lowering *lowering, const nk_rel *rel, nk_error *err)
{
	nk_pipeline **inputs;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &inputs, rel->n_inputs + 1, err));
	for (int i = 0; i < rel->n_inputs; i++)
		if (rel->kind != NK_REL_JOIN || i != nk__join_build_side(rel)) /* the build side has been closed */
			NK_TRY(take_open(lowering, rel->inputs[i], &inputs[i], err));
	nk_pipeline *made;
	NK_TRY(lower_node(lowering, rel, inputs, &made, err));
	if (!is_shared(lowering, rel)) {
		lowering->open[rel->number] = made;
		return NK_OK;
	}
	return collect(lowering, rel, made, -1, &lowering->shared[rel->number], err);
}

nk_status nk_lower(nk_lowering *lowering, nk_pipeline **last, nk_error *err)
{
	nk_query *query = lowering->query;
	NK_TRY(NK_ARENA_NEW(query->arena, &lowering->n_users, query->n_nodes + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &lowering->shared, query->n_nodes + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &lowering->open, query->n_nodes + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &lowering->pending, query->n_nodes + 1, err));
	NK_TRY(count_users(lowering, err));
	visit *stack = NULL;
	int n = 0, capacity = 0;
	nk_status status = push_visit(&stack, &n, &capacity, query->root, err);
	while (status == NK_OK && n) {
		visit *top = &stack[n - 1];
		nk_rel *rel = top->rel;
		if (rel->kind == NK_REL_JOIN && top->next == 1) {
			nk_pipeline *build;
			status = take_open(lowering, input_in_order(rel, 0), &build, err);
			if (status == NK_OK)
				status = nk__lower_join_build(lowering, rel, build, err);
			if (status != NK_OK)
				break;
		}
		if (top->next < rel->n_inputs) {
			nk_rel *input = input_in_order(rel, top->next++);
			if (!lowering->shared[input->number])
				status = push_visit(&stack, &n, &capacity, input, err);
			continue;
		}
		status = finish_node(lowering, rel, err);
		n--;
	}
	free(stack);
	NK_TRY(status);
	return take_open(lowering, query->root, last, err);
}
