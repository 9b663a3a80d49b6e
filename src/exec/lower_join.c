/* Lowering of joins: which side is built, which kind of output that makes, keys as columns of both sides, and
 * runtime filters to the scans below the probe side. */
#include <string.h>

#include "exec/join.h"
#include "exec/lower.h"

typedef struct pending_join {
	nk_join *join;
	nk_runtime_filter **filters; /* one per key, NULL: none */
	int *probe_keys;             /* filled when the probe side is known */
	nk_join_column *outputs, *residual_inputs;
	nk_join_config *config;
} pending_join;

static void join_release(void *object) { nk_join_free(object); }
static void filter_release(void *object) { nk_runtime_filter_unref(object); }
static bool has_rest(void *object) { return nk_join_has_rest(object); }

int nk__join_build_side(const nk_rel *rel)
{
	/* The order that is kept is the probe side's. */
	switch (rel->join.order_kept) {
	case NK_ORDER_LEFT:
	case NK_ORDER_LEFT_RIGHT: return 1;
	case NK_ORDER_RIGHT:
	case NK_ORDER_RIGHT_LEFT: return rel->join.how == NK_JOIN_SEMI || rel->join.how == NK_JOIN_ANTI ? 1 : 0;
	case NK_ORDER_NONE: break;
	}
	return rel->join.build_left ? 0 : 1;
}

/* The input that a column comes from unchanged, where a row of the node does without the rows that lack it: filters,
 * sorts, projections that pass it on (*id is then its name below), joins, and aggregations it is a key of (a group
 * goes as a whole). NULL for what counts or compares rows. */
static nk_rel *input_with(const nk_rel *rel, int *id)
{
	int at = nk__lower_position(rel, *id);
	if (at < 0)
		return NULL;
	const nk_bound *made = NULL;
	switch (rel->kind) {
	case NK_REL_FILTER: return rel->inputs[0];
	case NK_REL_SORT: return rel->sort.limit < 0 ? rel->inputs[0] : NULL;
	case NK_REL_JOIN:
		for (int i = 0; i < rel->n_inputs; i++)
			if (nk__lower_position(rel->inputs[i], *id) >= 0)
				return rel->join.validate == NK_VALIDATE_MANY_TO_MANY ? rel->inputs[i] : NULL;
		return NULL;
	case NK_REL_UNIQUE:
		for (int i = 0; i < rel->unique.n_keys; i++)
			if (rel->unique.keys[i] == *id)
				return rel->inputs[0];
		return NULL;
	case NK_REL_PROJECT: made = rel->project.exprs[at]; break;
	case NK_REL_AGGREGATE: made = at < rel->aggregate.n_keys ? rel->aggregate.keys[at] : NULL; break;
	default: return NULL;
	}
	if (!made || made->kind != NK_BOUND_COLUMN)
		return NULL;
	*id = made->column;
	return rel->inputs[0];
}

/* Scans whose rows can be dropped when a key of theirs has no partner on the build side. What has other users is left
 * alone. */
static nk_status offer_filter(nk_lowering *lowering, nk_rel *below, int id, nk_runtime_filter *filter,
                              bool *taken, nk_error *err)
{
	*taken = false;
	nk_rel *rel = below;
	while (rel && rel->kind != NK_REL_SCAN && lowering->n_users[rel->number] == 1)
		rel = input_with(rel, &id);
	if (!rel || rel->kind != NK_REL_SCAN || lowering->n_users[rel->number] != 1)
		return NK_OK;
	int at = nk__lower_position(rel, id);
	if (at < 0 || rel->scan.source_columns[at] < 0 || rel->scan.offset != 0 || rel->scan.limit >= 0)
		return NK_OK;
	nk_scan_filter *grown;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &grown, rel->scan.n_runtime_filters + 1, err));
	if (rel->scan.n_runtime_filters)
		memcpy(grown, rel->scan.runtime_filters, (size_t)rel->scan.n_runtime_filters * sizeof *grown);
	grown[rel->scan.n_runtime_filters++] =
		(nk_scan_filter){.filter = filter, .column = rel->scan.source_columns[at]};
	rel->scan.runtime_filters = grown;
	*taken = true;
	return NK_OK;
}

static nk_join_output output_kind(const nk_rel *rel, bool build_left)
{
	switch (rel->join.how) {
	case NK_JOIN_SEMI: return build_left ? NK_JOIN_OUTPUT_BUILD_SEMI : NK_JOIN_OUTPUT_SEMI;
	case NK_JOIN_ANTI: return build_left ? NK_JOIN_OUTPUT_BUILD_ANTI : NK_JOIN_OUTPUT_ANTI;
	default: return NK_JOIN_OUTPUT_PAIRS;
	}
}

nk_status nk__lower_join_build(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *build, nk_error *err)
{
	nk_query *query = lowering->query;
	nk_arena *arena = query->arena;
	int side = nk__join_build_side(rel), n_keys = rel->join.n_keys;
	bool build_left = side == 0;
	const nk_rel *build_rel = rel->inputs[side], *probe_rel = rel->inputs[1 - side];
	nk_bound **build_exprs = build_left ? rel->join.left_keys : rel->join.right_keys;
	nk_bound **probe_exprs = build_left ? rel->join.right_keys : rel->join.left_keys;
	nk_join_config *config;
	pending_join *pending;
	int *build_keys;
	NK_TRY(NK_ARENA_NEW(arena, &config, 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &pending, 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &build_keys, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &pending->probe_keys, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &pending->filters, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &pending->outputs, rel->n_columns + 1, err));
	const nk_dtype **build_dtypes, **probe_dtypes;
	NK_TRY(nk__lower_extend(lowering, build, build_rel, build_exprs, n_keys, build_keys,
	                        &config->n_build_columns, &build_dtypes, err));

	/* The probe side will be extended in the same way once it has been lowered: its layout is known now. */
	NK_TRY(NK_ARENA_NEW(arena, &probe_dtypes, probe_rel->n_columns + n_keys + 1, err));
	int n_probe = probe_rel->n_columns;
	for (int i = 0; i < n_probe; i++)
		probe_dtypes[i] = nk_binder_column(query->binder, probe_rel->columns[i])->dtype;
	for (int i = 0; i < n_keys; i++) {
		nk_bound *key = probe_exprs[i];
		int at = key->kind == NK_BOUND_COLUMN ? nk__lower_position(probe_rel, key->column) : -1;
		for (int j = 0; j < i && at < 0; j++)
			if (probe_exprs[j] == key)
				at = pending->probe_keys[j];
		if (at < 0) {
			at = n_probe++;
			probe_dtypes[at] = key->dtype;
		}
		pending->probe_keys[i] = at;
	}

	bool preserved_left = rel->join.how == NK_JOIN_LEFT || rel->join.how == NK_JOIN_FULL;
	bool preserved_right = rel->join.how == NK_JOIN_RIGHT || rel->join.how == NK_JOIN_FULL;
	config->output = output_kind(rel, build_left);
	config->keep_build = build_left ? preserved_left : preserved_right;
	config->keep_probe = build_left ? preserved_right : preserved_left;
	config->nulls_equal = rel->join.nulls_equal;
	config->maintain_order = rel->join.order_kept != NK_ORDER_NONE;
	bool unique_left =
		rel->join.validate == NK_VALIDATE_ONE_TO_MANY || rel->join.validate == NK_VALIDATE_ONE_TO_ONE;
	bool unique_right =
		rel->join.validate == NK_VALIDATE_MANY_TO_ONE || rel->join.validate == NK_VALIDATE_ONE_TO_ONE;
	config->build_must_be_unique = build_left ? unique_left : unique_right;
	config->probe_must_be_unique = build_left ? unique_right : unique_left;
	config->validation = unique_left && unique_right ? "1:1" : unique_left ? "1:m" : "m:1";
	config->build_dtypes = build_dtypes;
	config->n_probe_columns = n_probe;
	config->probe_dtypes = probe_dtypes;
	config->n_keys = n_keys;
	config->build_keys = build_keys;
	config->probe_keys = pending->probe_keys;
	config->n_outputs = rel->n_columns;
	config->outputs = pending->outputs;
	for (int i = 0; i < rel->n_columns; i++) {
		int at = nk__lower_position(build_rel, rel->columns[i]);
		bool from_build = at >= 0;
		if (!from_build)
			at = nk__lower_position(probe_rel, rel->columns[i]);
		pending->outputs[i] = (nk_join_column){.from_build = from_build, .column = at};
	}
	if (rel->join.residual) {
		nk_bound *residual = rel->join.residual;
		NK_TRY(NK_ARENA_NEW(arena, &pending->residual_inputs, residual->n_columns + 1, err));
		for (int i = 0; i < residual->n_columns; i++) {
			int at = nk__lower_position(build_rel, residual->columns[i]);
			bool from_build = at >= 0;
			if (!from_build)
				at = nk__lower_position(probe_rel, residual->columns[i]);
			pending->residual_inputs[i] = (nk_join_column){.from_build = from_build, .column = at};
		}
		nk_rel inputs = {.columns = residual->columns, .n_columns = residual->n_columns};
		nk_program *program;
		NK_TRY(nk__lower_program(lowering, &residual, 1, &inputs, &program, err));
		config->residual = program;
		config->n_residual_inputs = residual->n_columns;
		config->residual_inputs = pending->residual_inputs;
	}

	/* Probe rows without a partner are dropped by inner and semi joins (and those that keep only the build side). */
	bool drops = !config->keep_probe && config->output != NK_JOIN_OUTPUT_ANTI && !rel->join.nulls_equal;
	for (int i = 0; i < n_keys && drops && !config->probe_must_be_unique; i++) {
		if (probe_exprs[i]->kind != NK_BOUND_COLUMN || probe_exprs[i]->dtype != build_exprs[i]->dtype)
			continue;
		nk_runtime_filter *filter;
		NK_TRY(nk_runtime_filter_new(lowering->exec->memory, &filter, err));
		NK_TRY(nk__lower_release(lowering, filter_release, filter, err));
		bool taken;
		NK_TRY(offer_filter(lowering, rel->inputs[1 - side], probe_exprs[i]->column, filter, &taken, err));
		pending->filters[i] = taken ? filter : NULL;
	}
	config->filters = pending->filters;
	pending->config = config;
	NK_TRY(nk_join_new(lowering->exec, config, rel->counters, &pending->join, err));
	NK_TRY(nk__lower_release(lowering, join_release, pending->join, err));
	lowering->pending[rel->number] = pending;
	return nk_pipeline_close(&lowering->pipelines, build, nk_join_build(pending->join), false, err);
}

nk_status nk__lower_join_probe(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *probe,
                               nk_pipeline **out, nk_error *err)
{
	pending_join *pending = lowering->pending[rel->number];
	int side = nk__join_build_side(rel), n_columns, *positions;
	const nk_dtype **dtypes;
	nk_bound **probe_exprs = side == 0 ? rel->join.right_keys : rel->join.left_keys;
	NK_TRY(NK_ARENA_NEW(lowering->query->arena, &positions, rel->join.n_keys + 1, err));
	NK_TRY(nk__lower_extend(lowering, probe, rel->inputs[1 - side], probe_exprs, rel->join.n_keys, positions,
	                        &n_columns, &dtypes, err));
	NK_TRY(nk_pipeline_attach(&lowering->pipelines, probe, nk_join_probe(pending->join), false, err));
	bool keeps_order = pending->config->maintain_order;
	bool ordered = probe->ordered && keeps_order;
	NK_TRY(nk_pipeline_add_rest(&lowering->pipelines, probe, nk_join_rest(pending->join),
	                            nk_join_probe(pending->join), has_rest, pending->join, err));
	probe->ordered = ordered;
	*out = probe;
	return NK_OK;
}
