/* Building plans at the public boundary. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "io/csv/csv.h"
#include "io/ipc/ipc.h"
#include "io/json/json.h"
#include "io/parquet/parquet.h"

static int choose(const char *text, const char *const *names, int n)
{
	for (int i = 0; text && i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return -1;
}

static nk_status no_memory(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan"); }

/* A scan, then its first rows (n_rows 0: all, n: n - 1), then their numbers. */
static nk_status scan_plan(nk_source *source, int64_t n_rows, const char *row_index_name,
                           int64_t row_index_offset, nk_plan **out, nk_error *err)
{
	NK_AUTO(nk_plan) plan = NULL;
	NK_TRY(nk_plan_scan(source, &plan, err));
	if (n_rows > 0) {
		NK_AUTO(nk_plan) sliced = NULL;
		NK_TRY(nk_plan_slice(plan, 0, n_rows - 1, &sliced, err));
		nk_plan_unref(plan);
		plan = NK_STEAL(sliced);
	}
	if (row_index_name) {
		NK_AUTO(nk_plan) indexed = NULL;
		NK_TRY(nk_plan_row_index(plan, row_index_name, row_index_offset, &indexed, err));
		nk_plan_unref(plan);
		plan = NK_STEAL(indexed);
	}
	*out = NK_STEAL(plan);
	return NK_OK;
}

nk_status nk_plan_scan_parquet(const char *const *paths, int n_paths, const nk_scan_parquet_options *options,
                               nk_plan **out, nk_error *err)
{
	const nk_context *context;
	nk_scan_parquet_options none = NK_OPTIONS(nk_scan_parquet_options);
	options = options ? options : &none;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_parquet_source_new(context->memory, paths, n_paths, options, &source, err));
	return scan_plan(source, options->n_rows, options->row_index_name, options->row_index_offset, out, err);
}

nk_status nk_plan_scan_csv(const char *const *paths, int n_paths, const nk_scan_csv_options *options,
                           nk_plan **out, nk_error *err)
{
	const nk_context *context;
	nk_scan_csv_options none = NK_OPTIONS(nk_scan_csv_options);
	options = options ? options : &none;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_csv_source_new(context->memory, paths, n_paths, options, &source, err));
	return scan_plan(source, options->n_rows, options->row_index_name, options->row_index_offset, out, err);
}

nk_status nk_plan_scan_ipc(const char *const *paths, int n_paths, const nk_scan_ipc_options *options,
                           nk_plan **out, nk_error *err)
{
	const nk_context *context;
	nk_scan_ipc_options none = NK_OPTIONS(nk_scan_ipc_options);
	options = options ? options : &none;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_ipc_source_new(context->memory, paths, n_paths, options, &source, err));
	return scan_plan(source, options->n_rows, options->row_index_name, options->row_index_offset, out, err);
}

nk_status nk_plan_scan_ndjson(const char *const *paths, int n_paths, const nk_scan_json_options *options,
                              nk_plan **out, nk_error *err)
{
	const nk_context *context;
	nk_scan_json_options none = NK_OPTIONS(nk_scan_json_options);
	options = options ? options : &none;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_json_source_new(context->memory, paths, n_paths, options, &source, err));
	return scan_plan(source, options->n_rows, options->row_index_name, options->row_index_offset, out, err);
}

nk_status nk_frame_read_json(const char *path, const nk_scan_json_options *options, nk_frame **out,
                             nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	return nk_json_read_document(context->memory, path, options, out, err);
}

nk_status nk_plan_from_frame(nk_frame *frame, nk_plan **out, nk_error *err)
{
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_frame_source_new(frame, &source, err));
	return nk_plan_scan(source, out, err);
}

nk_status nk_plan_filter(nk_plan *plan, nk_expr *const *predicates, int n, nk_plan **out, nk_error *err)
{
	return nk_plan_new(NK_PLAN_FILTER, &plan, 1, predicates, n, NULL, 0, out, err);
}

nk_status nk_plan_select(nk_plan *plan, nk_expr *const *exprs, int n, bool eager, nk_plan **out,
                         nk_error *err)
{
	NK_TRY(nk_plan_new(NK_PLAN_SELECT, &plan, 1, exprs, n, NULL, 0, out, err));
	(*out)->is_eager = eager;
	return NK_OK;
}

nk_status nk_plan_with_columns(nk_plan *plan, nk_expr *const *exprs, int n, bool eager, nk_plan **out,
                               nk_error *err)
{
	NK_TRY(nk_plan_new(NK_PLAN_WITH_COLUMNS, &plan, 1, exprs, n, NULL, 0, out, err));
	(*out)->is_eager = eager;
	return NK_OK;
}

nk_status nk_plan_group_by(nk_plan *plan, nk_expr *const *keys, int n_keys, nk_expr *const *aggregates,
                           int n_aggregates, bool maintain_order, nk_plan **out, nk_error *err)
{
	NK_TRY(nk_plan_new(NK_PLAN_GROUP_BY, &plan, 1, aggregates, n_aggregates, keys, n_keys, out, err));
	(*out)->maintain_order = maintain_order;
	return NK_OK;
}

nk_status nk_plan_join(nk_plan *left, nk_plan *right, nk_expr *const *left_on, nk_expr *const *right_on,
                       int n_on, const nk_join_options *options, nk_plan **out, nk_error *err)
{
	static const char *const kinds[] = {"inner", "left", "right", "full", "semi", "anti", "cross"};
	static const char *const orders[] = {"none", "left", "right", "left_right", "right_left"};
	static const char *const validations[] = {"m:m", "1:m", "m:1", "1:1"};
	nk_join_options none = NK_OPTIONS(nk_join_options);
	if (!options)
		options = &none;
	int how = options->how ? choose(options->how, kinds, NK_COUNT(kinds)) : NK_JOIN_INNER;
	int order =
		options->maintain_order ? choose(options->maintain_order, orders, NK_COUNT(orders)) : NK_ORDER_NONE;
	int validate = options->validate ? choose(options->validate, validations, NK_COUNT(validations))
	                                 : NK_VALIDATE_MANY_TO_MANY;
	if (how < 0)
		return nk_fail(err, NK_VALUE, "\"%s\" is no kind of join", options->how);
	if (order < 0)
		return nk_fail(err, NK_VALUE,
		               "maintain_order must be one of none, left, right, left_right, right_left, got \"%s\"",
		               options->maintain_order);
	if (validate < 0)
		return nk_fail(err, NK_VALUE, "validate must be one of m:m, 1:m, m:1, 1:1, got \"%s\"",
		               options->validate);
	if (how == NK_JOIN_CROSS ? n_on != 0 : n_on == 0)
		return nk_fail(err, NK_VALUE,
		               how == NK_JOIN_CROSS ? "a cross join takes no keys" : "a join needs keys");
	NK_AUTO(nk_plan) plan = NULL;
	nk_plan *inputs[2] = {left, right};
	NK_TRY(nk_plan_new(NK_PLAN_JOIN, inputs, 2, right_on, n_on, left_on, n_on, &plan, err));
	plan->join = (nk_join_kind)how;
	plan->order_kept = (nk_order_kept)order;
	plan->validate = (nk_validate)validate;
	plan->nulls_equal = options->nulls_equal;
	plan->coalesce = options->coalesce > 0   ? NK_COALESCE_YES
	                 : options->coalesce < 0 ? NK_COALESCE_NO
	                                         : NK_COALESCE_DEFAULT;
	if (options->suffix && !(plan->suffix = strdup(options->suffix)))
		return no_memory(err);
	*out = NK_STEAL(plan);
	return NK_OK;
}

static nk_status copy_flags(const bool *flags, int n, bool **out, nk_error *err)
{
	if (!(*out = calloc((size_t)n + 1, sizeof **out)))
		return no_memory(err);
	if (flags)
		memcpy(*out, flags, (size_t)n * sizeof **out);
	return NK_OK;
}

nk_status nk_plan_sort(nk_plan *plan, nk_expr *const *by, int n_by, const bool *descending,
                       const bool *nulls_last, bool maintain_order, nk_plan **out, nk_error *err)
{
	NK_AUTO(nk_plan) made = NULL;
	NK_TRY(nk_plan_new(NK_PLAN_SORT, &plan, 1, NULL, 0, by, n_by, &made, err));
	NK_TRY(copy_flags(descending, n_by, &made->descending, err));
	NK_TRY(copy_flags(nulls_last, n_by, &made->nulls_last, err));
	made->maintain_order = maintain_order;
	*out = NK_STEAL(made);
	return NK_OK;
}

nk_status nk_plan_slice(nk_plan *plan, int64_t offset, int64_t length, nk_plan **out, nk_error *err)
{
	NK_TRY(nk_plan_new(NK_PLAN_SLICE, &plan, 1, NULL, 0, NULL, 0, out, err));
	(*out)->offset = offset;
	(*out)->limit = length < 0 ? -1 : length;
	return NK_OK;
}

nk_status nk_plan_unique(nk_plan *plan, nk_expr *const *subset, int n_subset, const char *keep,
                         bool maintain_order, nk_plan **out, nk_error *err)
{
	static const char *const keeps[] = {"any", "first", "last", "none"};
	int at = keep ? choose(keep, keeps, NK_COUNT(keeps)) : NK_KEEP_ANY;
	if (at < 0)
		return nk_fail(err, NK_VALUE, "keep must be one of any, first, last, none, got \"%s\"", keep);
	NK_TRY(nk_plan_new(NK_PLAN_UNIQUE, &plan, 1, NULL, 0, subset, n_subset, out, err));
	(*out)->keep = (nk_keep)at;
	(*out)->maintain_order = maintain_order;
	return NK_OK;
}

nk_status nk_plan_concat(nk_plan *const *plans, int n_plans, const char *how, nk_plan **out, nk_error *err)
{
	static const char *const hows[] = {"vertical", "vertical_relaxed", "diagonal", "diagonal_relaxed",
	                                   "horizontal"};
	int at = choose(how, hows, NK_COUNT(hows));
	if (at < 0)
		return nk_fail(err, NK_VALUE, "\"%s\" is no way to concat", how);
	if (n_plans < 1)
		return nk_fail(err, NK_VALUE, "cannot concat empty list");
	NK_TRY(nk_plan_new(NK_PLAN_CONCAT, plans, n_plans, NULL, 0, NULL, 0, out, err));
	(*out)->concat = (nk_concat_how)at;
	return NK_OK;
}

static nk_status copy_names(const char *const *names, int n, nk_plan *plan, nk_error *err)
{
	if (!(plan->names = calloc((size_t)n + 1, sizeof *plan->names)))
		return no_memory(err);
	for (int i = 0; i < n; i++, plan->n_names++)
		if (!(plan->names[i] = strdup(names[i])))
			return no_memory(err);
	return NK_OK;
}

nk_status nk_plan_row_index(nk_plan *plan, const char *name, int64_t offset, nk_plan **out, nk_error *err)
{
	NK_AUTO(nk_plan) made = NULL;
	NK_TRY(nk_plan_new(NK_PLAN_ROW_INDEX, &plan, 1, NULL, 0, NULL, 0, &made, err));
	NK_TRY(copy_names(&name, 1, made, err));
	made->offset = offset;
	*out = NK_STEAL(made);
	return NK_OK;
}

nk_status nk_plan_rename(nk_plan *plan, const char *const *from, const char *const *to, int n, bool strict,
                         nk_plan **out, nk_error *err)
{
	NK_AUTO(nk_plan) made = NULL;
	NK_TRY(nk_plan_new(NK_PLAN_RENAME, &plan, 1, NULL, 0, NULL, 0, &made, err));
	const char **names = malloc(((size_t)n * 2 + 1) * sizeof *names);
	if (!names)
		return no_memory(err);
	for (int i = 0; i < n; i++) {
		names[2 * i] = from[i];
		names[2 * i + 1] = to[i];
	}
	nk_status status = copy_names(names, 2 * n, made, err);
	free(names);
	NK_TRY(status);
	made->strict = strict;
	*out = NK_STEAL(made);
	return NK_OK;
}

nk_status nk_plan_explode(nk_plan *plan, nk_expr *const *columns, int n, bool empty_as_null, bool keep_nulls,
                          nk_plan **out, nk_error *err)
{
	NK_TRY(nk_plan_new(NK_PLAN_EXPLODE, &plan, 1, NULL, 0, columns, n, out, err));
	(*out)->empty_as_null = empty_as_null;
	(*out)->keep_nulls = keep_nulls;
	return NK_OK;
}

nk_status nk_plan_drop(nk_plan *plan, nk_expr *const *columns, int n, bool strict, nk_plan **out,
                       nk_error *err)
{
	NK_TRY(nk_plan_new(NK_PLAN_DROP, &plan, 1, NULL, 0, columns, n, out, err));
	(*out)->strict = strict;
	return NK_OK;
}
