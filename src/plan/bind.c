/* From a user's plan to relational nodes over column ids. Plan nodes are bound once each, inputs first, in an
 * explicit post-order, so a node used twice becomes one relational node with two users. What an expression needs
 * (a stream of batches, one pass of aggregation, whole columns) is decided here, from its shape. */
#include <stdlib.h>
#include <string.h>

#include "base/pointers.h"
#include "func/supertype.h"
#include "plan/bind_internal.h"

static nk_status no_memory(nk_error *err)
{
	return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for binding a plan");
}

/* ---- scopes ---- */

nk_status nk__scope_new(nk_query *query, int n, nk_bound_plan *out, nk_error *err)
{
	out->n = n;
	NK_TRY(NK_ARENA_NEW(query->arena, &out->names, n + 1, err));
	return NK_ARENA_NEW(query->arena, &out->ids, n + 1, err);
}

nk_status nk__check_duplicates(const char *const *names, int n, nk_error *err)
{
	nk_field *fields = malloc(((size_t)n + 1) * sizeof *fields);
	if (!fields)
		return no_memory(err);
	for (int i = 0; i < n; i++)
		fields[i] = (nk_field){names[i], nk_dtype_of(NK_TYPE_NULL)};
	nk_schema *schema;
	nk_status status = nk_schema_new(fields, n, &schema, err);
	free(fields);
	if (status == NK_OK)
		nk_schema_unref(schema);
	return status;
}

static nk_scope scope_of(const nk_bound_plan *in)
{
	return (nk_scope){.n = in->n, .names = in->names, .ids = in->ids};
}

nk_status nk__bind_in(nk_query *query, const nk_bound_plan *in, nk_expr *const *exprs, int n, nk_named **out,
                      int *n_out, nk_error *err)
{
	nk_scope scope = scope_of(in);
	return nk_bind_exprs(query->binder, &scope, exprs, n, false, out, n_out, err);
}

/* ---- projections ---- */

nk_status nk__project(nk_query *query, nk_rel *input, const nk_named *exprs, int n, nk_bound_plan *out,
                      nk_error *err)
{
	NK_TRY(nk__scope_new(query, n, out, err));
	nk_bound **bound;
	NK_TRY(NK_ARENA_NEW(query->arena, &bound, n + 1, err));
	for (int i = 0; i < n; i++) {
		bound[i] = exprs[i].expr;
		out->names[i] = exprs[i].name;
		out->ids[i] = -1;
		if (bound[i]->kind == NK_BOUND_COLUMN) { /* passed on under its id, the first time */
			out->ids[i] = bound[i]->column;
			for (int j = 0; j < i; j++)
				if (out->ids[j] == out->ids[i])
					out->ids[i] = -1;
		}
		if (out->ids[i] < 0)
			NK_TRY(nk_binder_add_column(query->binder, exprs[i].name, bound[i]->dtype, &out->ids[i], err));
	}
	NK_TRY(nk_rel_new(query, NK_REL_PROJECT, &input, 1, out->ids, n, &out->rel, err));
	out->rel->project.exprs = bound;
	return NK_OK;
}

/* Aggregations pulled out of expressions: what is left is elementwise over their results. */
typedef struct extraction {
	nk_bound **from, **to; /* aggregate calls and the columns that stand for them */
	int n, capacity;
} extraction;

/* One pass over the rows computes it. An aggregate of nothing but literals sees one value, not one a row. */
static bool is_simple_aggregate(const nk_bound *node)
{
	if (node->kind != NK_BOUND_CALL || node->func->height != NK_AGGREGATING || !node->aggregate)
		return false;
	bool any_rows = node->n_args == 0;
	for (int i = 0; i < node->n_args; i++) {
		if (!node->args[i]->elementwise)
			return false;
		any_rows |= node->args[i]->shape == NK_SHAPE_ROWS;
	}
	return any_rows;
}

static nk_status extract_aggregates(nk_query *query, extraction *x, nk_bound *root, nk_error *err)
{
	/* Depth-first with an explicit stack, every node once; stops at aggregates. */
	int n = 0, capacity = 32;
	nk_bound **stack = malloc((size_t)capacity * sizeof *stack);
	uint8_t *seen = calloc((size_t)root->number / 8 + 1, 1);
	nk_status status = stack && seen ? NK_OK : no_memory(err);
	if (status == NK_OK)
		stack[n++] = root;
	while (status == NK_OK && n) {
		nk_bound *node = stack[--n];
		if (!node->has_aggregate || nk_bitmap_get(seen, node->number))
			continue;
		nk_bitmap_set(seen, node->number);
		if (is_simple_aggregate(node)) {
			bool known = false;
			for (int i = 0; i < x->n; i++)
				known |= x->from[i] == node;
			if (known)
				continue;
			if (x->n == x->capacity) {
				int larger = x->capacity * 2 + 16;
				nk_bound **from, **to;
				if ((status = NK_ARENA_NEW(query->arena, &from, larger, err)) != NK_OK ||
				    (status = NK_ARENA_NEW(query->arena, &to, larger, err)) != NK_OK)
					break;
				if (x->n) {
					memcpy(from, x->from, (size_t)x->n * sizeof *from);
					memcpy(to, x->to, (size_t)x->n * sizeof *to);
				}
				x->from = from;
				x->to = to;
				x->capacity = larger;
			}
			int id;
			NK_TEXT(name);
			nk_bound_format(query->binder, node, &name);
			if ((status = nk_text_finish(&name, err)) != NK_OK)
				break;
			status = nk_binder_add_column(query->binder, name.bytes, node->dtype, &id, err);
			x->from[x->n] = node;
			if (status == NK_OK)
				status = nk_bound_column(query->binder, id, &x->to[x->n], err);
			x->n += status == NK_OK;
			continue;
		}
		if (n + node->n_args > capacity) {
			capacity = capacity * 2 + node->n_args;
			nk_bound **grown = realloc(stack, (size_t)capacity * sizeof *grown);
			if (!grown) {
				status = no_memory(err);
				break;
			}
			stack = grown;
		}
		for (int i = node->n_args; i-- > 0;)
			stack[n++] = node->args[i];
	}
	free(seen);
	free(stack);
	return status;
}

/* Whether an expression, its simple aggregates replaced, needs nothing but their results (and keys). */
static bool needs_only(const nk_bound *expr, const extraction *x, const int *keys, int n_keys)
{
	if (!expr->elementwise)
		return false;
	for (int i = 0; i < expr->n_columns; i++) {
		bool known = false;
		for (int j = 0; j < x->n; j++)
			known |= x->to[j]->column == expr->columns[i];
		for (int j = 0; j < n_keys; j++)
			known |= keys[j] == expr->columns[i];
		if (!known)
			return false;
	}
	return true;
}

/* select of nothing but aggregates: one pass without keys. *done is false when that is not what they are. */
static nk_status select_aggregates(nk_query *query, nk_rel *input, const nk_named *exprs, int n,
                                   nk_bound_plan *out, bool *done, nk_error *err)
{
	*done = false;
	bool any = false;
	for (int i = 0; i < n; i++) {
		if (exprs[i].expr->shape != NK_SHAPE_SCALAR || exprs[i].expr->impure)
			return NK_OK;
		any |= exprs[i].expr->has_aggregate;
	}
	if (!any)
		return NK_OK;
	extraction x = {0};
	for (int i = 0; i < n; i++)
		NK_TRY(extract_aggregates(query, &x, exprs[i].expr, err));
	nk_named *posts;
	NK_TRY(NK_ARENA_NEW(query->arena, &posts, n + 1, err));
	for (int i = 0; i < n; i++) {
		posts[i].name = exprs[i].name;
		/* What takes a scalar may refuse the column that would stand for it. */
		if (nk_bound_replace(query->binder, exprs[i].expr, x.from, x.to, x.n, &posts[i].expr, NULL) !=
		        NK_OK ||
		    !needs_only(posts[i].expr, &x, NULL, 0))
			return NK_OK;
	}
	int *ids;
	NK_TRY(NK_ARENA_NEW(query->arena, &ids, x.n + 1, err));
	for (int i = 0; i < x.n; i++)
		ids[i] = x.to[i]->column;
	nk_rel *rel;
	NK_TRY(nk_rel_new(query, NK_REL_AGGREGATE, &input, 1, ids, x.n, &rel, err));
	rel->aggregate.n_aggregates = x.n;
	rel->aggregate.aggregates = x.from;
	*done = true;
	return nk__project(query, rel, posts, n, out, err);
}

/* Any expressions over whole columns. */
nk_status nk__map(nk_query *query, nk_rel *input, const nk_named *exprs, int n, bool is_with_columns,
                  bool strict, nk_bound_plan *out, nk_error *err)
{
	NK_TRY(nk__project(query, input, exprs, n, out, err));
	nk_bound **bound = out->rel->project.exprs;
	out->rel->kind = NK_REL_MAP;
	out->rel->map.exprs = bound;
	out->rel->map.is_with_columns = is_with_columns;
	out->rel->map.strict = strict;
	return NK_OK;
}

static nk_status check_names(const nk_named *exprs, int n, nk_error *err)
{
	const char **names = malloc(((size_t)n + 1) * sizeof *names);
	if (!names)
		return no_memory(err);
	for (int i = 0; i < n; i++)
		names[i] = exprs[i].name;
	nk_status status = nk__check_duplicates(names, n, err);
	free(names);
	return status;
}

static nk_status bind_select(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                             nk_bound_plan *out, nk_error *err)
{
	nk_named *exprs;
	int n;
	NK_TRY(nk__bind_in(query, in, plan->exprs, plan->n_exprs, &exprs, &n, err));
	NK_TRY(check_names(exprs, n, err));
	bool streams = false, elementwise = true;
	for (int i = 0; i < n; i++) {
		elementwise &= exprs[i].expr->elementwise;
		streams |= exprs[i].expr->shape == NK_SHAPE_ROWS;
	}
	if (elementwise && streams)
		return nk__project(query, in->rel, exprs, n, out, err);
	bool done = false;
	NK_TRY(select_aggregates(query, in->rel, exprs, n, out, &done, err));
	if (done)
		return NK_OK;
	return nk__map(query, in->rel, exprs, n, false, plan->is_eager, out, err);
}

/* The input's columns with some replaced or added; all of them named. */
static nk_status merge_columns(nk_query *query, const nk_bound_plan *in, const nk_named *exprs, int n,
                               nk_named **out, int *n_out, nk_error *err)
{
	nk_named *merged;
	NK_TRY(NK_ARENA_NEW(query->arena, &merged, in->n + n + 1, err));
	int count = in->n;
	for (int i = 0; i < in->n; i++) {
		merged[i].name = in->names[i];
		NK_TRY(nk_bound_column(query->binder, in->ids[i], &merged[i].expr, err));
	}
	for (int e = 0; e < n; e++) {
		int at = 0;
		while (at < in->n && strcmp(in->names[at], exprs[e].name) != 0)
			at++;
		if (at == in->n)
			at = count++;
		merged[at] = exprs[e];
	}
	*out = merged;
	*n_out = count;
	return NK_OK;
}

static nk_status bind_with_columns(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                                   nk_bound_plan *out, nk_error *err)
{
	nk_named *exprs, *merged;
	int n, n_merged;
	NK_TRY(nk__bind_in(query, in, plan->exprs, plan->n_exprs, &exprs, &n, err));
	nk_status status = check_names(exprs, n, err);
	if (status == NK_DUPLICATE && err)
		status = err->code = NK_COMPUTE; /* as Polars has it for with_columns alone */
	NK_TRY(status);
	NK_TRY(merge_columns(query, in, exprs, n, &merged, &n_merged, err));
	bool elementwise = true;
	for (int i = 0; i < n; i++)
		elementwise &= exprs[i].expr->elementwise;
	if (elementwise)
		return nk__project(query, in->rel, merged, n_merged, out, err);
	return nk__map(query, in->rel, merged, n_merged, true, plan->is_eager, out, err);
}

/* Expressions that a node needs per row (keys, predicates) but that are not elementwise are computed as columns
 * first. On return *rel yields the input's columns and these; exprs hold elementwise stand-ins. */
nk_status nk__make_elementwise(nk_query *query, const nk_bound_plan *in, nk_named *exprs, int n, nk_rel **rel,
                               nk_error *err)
{
	bool all = true;
	for (int i = 0; i < n; i++)
		all &= exprs[i].expr->elementwise;
	*rel = in->rel;
	if (all)
		return NK_OK;
	nk_named *columns;
	NK_TRY(NK_ARENA_NEW(query->arena, &columns, in->n + n + 1, err));
	for (int i = 0; i < in->n; i++) {
		columns[i].name = in->names[i];
		NK_TRY(nk_bound_column(query->binder, in->ids[i], &columns[i].expr, err));
	}
	int count = in->n;
	for (int i = 0; i < n; i++)
		if (!exprs[i].expr->elementwise)
			columns[count++] = exprs[i];
	nk_bound_plan wider;
	NK_TRY(nk__map(query, in->rel, columns, count, true, false, &wider, err));
	count = in->n;
	for (int i = 0; i < n; i++)
		if (!exprs[i].expr->elementwise)
			NK_TRY(nk_bound_column(query->binder, wider.ids[count++], &exprs[i].expr, err));
	*rel = wider.rel;
	return NK_OK;
}

static nk_status bind_filter(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                             nk_bound_plan *out, nk_error *err)
{
	nk_named *exprs;
	int n;
	NK_TRY(nk__bind_in(query, in, plan->exprs, plan->n_exprs, &exprs, &n, err));
	nk_bound **conjuncts;
	NK_TRY(NK_ARENA_NEW(query->arena, &conjuncts, n + 1, err));
	for (int i = 0; i < n; i++)
		if (exprs[i].expr->dtype->id != NK_TYPE_BOOLEAN && exprs[i].expr->dtype->id != NK_TYPE_NULL)
			return nk_fail(err, NK_INVALID_OPERATION, "filter predicate must be of type `Boolean`, got `%s`",
			               nk_dtype_short_name(exprs[i].expr->dtype));
	nk_rel *input;
	NK_TRY(nk__make_elementwise(query, in, exprs, n, &input, err));
	for (int i = 0; i < n; i++) {
		conjuncts[i] = exprs[i].expr;
		if (conjuncts[i]->dtype->id == NK_TYPE_NULL)
			NK_TRY(nk_bound_cast(query->binder, conjuncts[i], nk_dtype_of(NK_TYPE_BOOLEAN), true,
			                     &conjuncts[i], err));
	}
	*out = *in;
	NK_TRY(nk_rel_new(query, NK_REL_FILTER, &input, 1, in->ids, in->n, &out->rel, err));
	return nk_bound_conjoin(query->binder, conjuncts, n, &out->rel->filter.predicate, err);
}

static nk_status bind_group_by(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                               nk_bound_plan *out, nk_error *err)
{
	nk_named *keys, *aggs;
	int n_keys, n_aggs;
	NK_TRY(nk__bind_in(query, in, plan->keys, plan->n_keys, &keys, &n_keys, err));
	if (n_keys == 0)
		return nk_fail(err, NK_COMPUTE, "at least one key is required in a group_by operation");
	nk_rel *input;
	NK_TRY(nk__make_elementwise(query, in, keys, n_keys, &input, err));

	/* Selectors inside agg() see everything but the keys: hidden names stand first. */
	nk_bound_plan inside;
	NK_TRY(nk__scope_new(query, in->n, &inside, err));
	int n_hidden = 0, at = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < in->n; i++) {
			bool is_key = false;
			for (int k = 0; k < n_keys; k++)
				is_key |= strcmp(in->names[i], keys[k].name) == 0;
			if (is_key == (pass == 0)) {
				inside.names[at] = in->names[i];
				inside.ids[at++] = in->ids[i];
				n_hidden += pass == 0;
			}
		}
	nk_scope scope = scope_of(&inside);
	scope.n_hidden = n_hidden;
	NK_TRY(nk_bind_exprs(query->binder, &scope, plan->exprs, plan->n_exprs, true, &aggs, &n_aggs, err));

	const char **names;
	int *ids, *key_ids;
	nk_bound **key_exprs;
	NK_TRY(NK_ARENA_NEW(query->arena, &names, n_keys + n_aggs + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &key_ids, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &key_exprs, n_keys + 1, err));
	for (int i = 0; i < n_keys; i++)
		names[i] = keys[i].name;
	for (int i = 0; i < n_aggs; i++)
		names[n_keys + i] = aggs[i].name;
	NK_TRY(nk__check_duplicates(names, n_keys + n_aggs, err));
	for (int i = 0; i < n_keys; i++) {
		key_exprs[i] = keys[i].expr;
		NK_TRY(nk_binder_add_column(query->binder, keys[i].name, keys[i].expr->dtype, &key_ids[i], err));
	}

	extraction x = {0};
	for (int i = 0; i < n_aggs; i++)
		NK_TRY(extract_aggregates(query, &x, aggs[i].expr, err));
	nk_named *posts;
	NK_TRY(NK_ARENA_NEW(query->arena, &posts, n_keys + n_aggs + 1, err));
	bool streams = true;
	for (int i = 0; i < n_aggs && streams; i++) {
		posts[n_keys + i].name = aggs[i].name;
		streams = nk_bound_replace(query->binder, aggs[i].expr, x.from, x.to, x.n, &posts[n_keys + i].expr,
		                           NULL) == NK_OK &&
		          needs_only(posts[n_keys + i].expr, &x, NULL, 0);
	}
	int n_results = streams ? x.n : n_aggs;
	NK_TRY(NK_ARENA_NEW(query->arena, &ids, n_keys + n_results + 1, err));
	memcpy(ids, key_ids, (size_t)n_keys * sizeof *ids);
	nk_rel *rel;
	nk_bound **results;
	NK_TRY(NK_ARENA_NEW(query->arena, &results, n_results + 1, err));
	for (int i = 0; i < n_results; i++) {
		if (streams) {
			results[i] = x.from[i];
			ids[n_keys + i] = x.to[i]->column;
			continue;
		}
		results[i] = aggs[i].expr;
		const nk_dtype *dtype =
			results[i]->shape == NK_SHAPE_SCALAR ? results[i]->dtype : nk_dtype_list(results[i]->dtype);
		if (!dtype)
			return no_memory(err);
		NK_TRY(nk_binder_add_column(query->binder, aggs[i].name, dtype, &ids[n_keys + i], err));
	}
	NK_TRY(nk_rel_new(query, NK_REL_AGGREGATE, &input, 1, ids, n_keys + n_results, &rel, err));
	rel->aggregate.n_keys = n_keys;
	rel->aggregate.keys = key_exprs;
	rel->aggregate.n_aggregates = n_results;
	rel->aggregate.aggregates = results;
	rel->aggregate.is_grouped = !streams;
	rel->aggregate.maintain_order = plan->maintain_order;
	if (!streams) {
		out->rel = rel;
		out->n = n_keys + n_aggs;
		out->names = names;
		out->ids = ids;
		return NK_OK;
	}
	for (int i = 0; i < n_keys; i++) {
		posts[i].name = names[i];
		NK_TRY(nk_bound_column(query->binder, key_ids[i], &posts[i].expr, err));
	}
	return nk__project(query, rel, posts, n_keys + n_aggs, out, err);
}

static nk_status bind_sort(nk_query *query, const nk_plan *plan, const nk_bound_plan *in, nk_bound_plan *out,
                           nk_error *err)
{
	/* One user expression may be several keys: its flags go with each. */
	nk_named *keys = NULL;
	bool *descending = NULL, *nulls_last = NULL;
	int n_keys = 0, capacity = 0;
	for (int i = 0; i < plan->n_keys; i++) {
		nk_named *some;
		int n;
		NK_TRY(nk__bind_in(query, in, &plan->keys[i], 1, &some, &n, err));
		if (n_keys + n > capacity) {
			int larger = (n_keys + n) * 2 + 8;
			nk_named *grown;
			bool *grown_descending, *grown_nulls;
			NK_TRY(NK_ARENA_NEW(query->arena, &grown, larger, err));
			NK_TRY(NK_ARENA_NEW(query->arena, &grown_descending, larger, err));
			NK_TRY(NK_ARENA_NEW(query->arena, &grown_nulls, larger, err));
			if (n_keys) {
				memcpy(grown, keys, (size_t)n_keys * sizeof *grown);
				memcpy(grown_descending, descending, (size_t)n_keys);
				memcpy(grown_nulls, nulls_last, (size_t)n_keys);
			}
			keys = grown;
			descending = grown_descending;
			nulls_last = grown_nulls;
			capacity = larger;
		}
		for (int j = 0; j < n; j++) {
			keys[n_keys] = some[j];
			descending[n_keys] = plan->descending && plan->descending[i];
			nulls_last[n_keys++] = plan->nulls_last && plan->nulls_last[i];
		}
	}
	*out = *in;
	if (n_keys == 0)
		return NK_OK;
	nk_rel *input;
	NK_TRY(nk__make_elementwise(query, in, keys, n_keys, &input, err));
	NK_TRY(nk_rel_new(query, NK_REL_SORT, &input, 1, in->ids, in->n, &out->rel, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &out->rel->sort.keys, n_keys, err));
	for (int i = 0; i < n_keys; i++)
		out->rel->sort.keys[i] = keys[i].expr;
	out->rel->sort.n_keys = n_keys;
	out->rel->sort.descending = descending;
	out->rel->sort.nulls_last = nulls_last;
	out->rel->sort.maintain_order = plan->maintain_order;
	return NK_OK;
}

static nk_status bind_unique(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                             nk_bound_plan *out, nk_error *err)
{
	int n_keys = in->n;
	const int *keys = in->ids;
	if (plan->n_keys) {
		nk_named *named;
		NK_TRY(nk__bind_in(query, in, plan->keys, plan->n_keys, &named, &n_keys, err));
		int *ids;
		NK_TRY(NK_ARENA_NEW(query->arena, &ids, n_keys + 1, err));
		for (int i = 0; i < n_keys; i++) {
			if (named[i].expr->kind != NK_BOUND_COLUMN)
				return nk_fail(err, NK_INVALID_OPERATION,
				               "the subset of unique takes columns; compute \"%s\" with with_columns first",
				               named[i].name);
			ids[i] = named[i].expr->column;
		}
		keys = ids;
	}
	*out = *in;
	if (n_keys == 0) /* no columns, or none chosen: all rows are alike only where there are no columns */
		return NK_OK;
	NK_TRY(nk_rel_new(query, NK_REL_UNIQUE, &in->rel, 1, in->ids, in->n, &out->rel, err));
	out->rel->unique.n_keys = n_keys;
	out->rel->unique.keys = keys;
	out->rel->unique.keep = plan->keep;
	out->rel->unique.maintain_order = plan->maintain_order;
	return NK_OK;
}

static nk_status bind_scan(nk_query *query, const nk_plan *plan, nk_bound_plan *out, nk_error *err)
{
	const nk_schema *schema;
	NK_TRY(plan->source->ops->schema(plan->source, &schema, err));
	NK_TRY(nk__scope_new(query, schema->n_fields, out, err));
	int *positions;
	NK_TRY(NK_ARENA_NEW(query->arena, &positions, schema->n_fields + 1, err));
	for (int i = 0; i < schema->n_fields; i++) {
		NK_TRY(nk_arena_string(query->arena, schema->fields[i].name, (int64_t)strlen(schema->fields[i].name),
		                       &out->names[i], err));
		NK_TRY(
			nk_binder_add_column(query->binder, out->names[i], schema->fields[i].dtype, &out->ids[i], err));
		positions[i] = i;
	}
	NK_TRY(nk_rel_new(query, NK_REL_SCAN, NULL, 0, out->ids, out->n, &out->rel, err));
	out->rel->scan.source = plan->source;
	out->rel->scan.source_columns = positions;
	out->rel->scan.n_filter_columns = out->n;
	out->rel->scan.filter_ids = out->ids;
	out->rel->scan.filter_source_columns = positions;
	return NK_OK;
}

static nk_status bind_row_index(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                                nk_bound_plan *out, nk_error *err)
{
	NK_TRY(nk__scope_new(query, in->n + 1, out, err));
	NK_TRY(
		nk_arena_string(query->arena, plan->names[0], (int64_t)strlen(plan->names[0]), &out->names[0], err));
	NK_TRY(
		nk_binder_add_column(query->binder, out->names[0], nk_dtype_of(NK_TYPE_UINT32), &out->ids[0], err));
	memcpy(out->names + 1, in->names, (size_t)in->n * sizeof *in->names);
	memcpy(out->ids + 1, in->ids, (size_t)in->n * sizeof *in->ids);
	NK_TRY(nk__check_duplicates(out->names, out->n, err));
	NK_TRY(nk_rel_new(query, NK_REL_ROW_INDEX, &in->rel, 1, out->ids, out->n, &out->rel, err));
	out->rel->row_index.offset = plan->offset;
	return NK_OK;
}

static nk_status bind_rename(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                             nk_bound_plan *out, nk_error *err)
{
	NK_TRY(nk__scope_new(query, in->n, out, err));
	out->rel = in->rel;
	memcpy(out->names, in->names, (size_t)in->n * sizeof *in->names);
	memcpy(out->ids, in->ids, (size_t)in->n * sizeof *in->ids);
	for (int i = 0; i + 1 < plan->n_names; i += 2) {
		int at = 0;
		while (at < in->n && strcmp(in->names[at], plan->names[i]) != 0)
			at++;
		if (at < in->n) {
			NK_TRY(nk_arena_string(query->arena, plan->names[i + 1], (int64_t)strlen(plan->names[i + 1]),
			                       &out->names[at], err));
			continue;
		}
		if (!plan->strict)
			continue;
		nk_expr *missing;
		NK_TRY(nk__expr_column(plan->names[i], &missing, err));
		nk_named *named;
		int n;
		nk_status status = nk__bind_in(query, in, &missing, 1, &named, &n, err);
		nk__expr_unref(missing);
		return status;
	}
	return nk__check_duplicates(out->names, out->n, err);
}

static nk_status bind_drop(nk_query *query, const nk_plan *plan, const nk_bound_plan *in, nk_bound_plan *out,
                           nk_error *err)
{
	nk_named *dropped;
	int n_dropped;
	NK_TRY(nk__bind_in(query, in, plan->keys, plan->n_keys, &dropped, &n_dropped, err));
	nk_bound_plan kept;
	NK_TRY(nk__scope_new(query, in->n, &kept, err));
	kept.n = 0;
	for (int i = 0; i < in->n; i++) {
		bool drop = false;
		for (int d = 0; d < n_dropped; d++)
			drop |= dropped[d].expr->kind == NK_BOUND_COLUMN && dropped[d].expr->column == in->ids[i];
		if (!drop) {
			kept.names[kept.n] = in->names[i];
			kept.ids[kept.n++] = in->ids[i];
		}
	}
	*out = kept;
	out->rel = in->rel;
	return NK_OK;
}

static nk_status bind_node(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs,
                           nk_bound_plan *out, nk_error *err)
{
	switch (plan->kind) {
	case NK_PLAN_SCAN: return bind_scan(query, plan, out, err);
	case NK_PLAN_FILTER: return bind_filter(query, plan, inputs, out, err);
	case NK_PLAN_SELECT: return bind_select(query, plan, inputs, out, err);
	case NK_PLAN_WITH_COLUMNS: return bind_with_columns(query, plan, inputs, out, err);
	case NK_PLAN_GROUP_BY: return bind_group_by(query, plan, inputs, out, err);
	case NK_PLAN_JOIN: return nk__bind_join(query, plan, inputs, out, err);
	case NK_PLAN_SORT: return bind_sort(query, plan, inputs, out, err);
	case NK_PLAN_SLICE:
		*out = *inputs;
		NK_TRY(nk_rel_new(query, NK_REL_SLICE, &inputs->rel, 1, inputs->ids, inputs->n, &out->rel, err));
		out->rel->slice.offset = plan->offset;
		out->rel->slice.limit = plan->limit;
		return NK_OK;
	case NK_PLAN_UNIQUE: return bind_unique(query, plan, inputs, out, err);
	case NK_PLAN_CONCAT: return nk__bind_concat(query, plan, inputs, out, err);
	case NK_PLAN_ROW_INDEX: return bind_row_index(query, plan, inputs, out, err);
	case NK_PLAN_RENAME: return bind_rename(query, plan, inputs, out, err);
	case NK_PLAN_DROP: return bind_drop(query, plan, inputs, out, err);
	case NK_PLAN_EXPLODE: return nk__bind_explode(query, plan, inputs, out, err);
	case NK_PLAN_JOIN_ASOF: return nk__bind_asof(query, plan, inputs, out, err);
	case NK_PLAN_WINDOWS: return nk__bind_windows(query, plan, inputs, out, err);
	case NK_PLAN_FOREIGN: return nk__bind_foreign(query, plan, inputs, out, err);
	}
	return nk_fail(err, NK_INVALID_OPERATION, "an unknown plan node");
}

static int inputs_of(const void *node, const void *const **below)
{
	const nk_plan *plan = node;
	*below = (const void *const *)plan->inputs;
	return plan->n_inputs;
}

static void plan_release(void *plan) { nk_plan_unref(plan); }

nk_status nk_query_bind(nk_plan *plan, nk_memory *memory, nk_query **out, nk_error *err)
{
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return no_memory(err);
	nk_query *query;
	NK_TRY(NK_ARENA_NEW(arena, &query, 1, err));
	query->arena = arena;
	NK_TRY(nk_arena_defer(arena, plan_release, nk_plan_ref(plan), err));
	NK_TRY(nk_binder_new(arena, &query->binder, err));

	NK_POINTERS(nodes);
	NK_TRY(nk_pointers_walk(&nodes, plan, inputs_of, err));
	nk_bound_plan *bound, *inputs;
	int most_inputs = 1;
	for (int64_t i = 0; i < nodes.n; i++)
		most_inputs = NK_MAX(most_inputs, ((const nk_plan *)nodes.items[i])->n_inputs);
	NK_TRY(NK_ARENA_NEW(arena, &bound, nodes.n + 1, err));
	NK_TRY(NK_ARENA_NEW(arena, &inputs, most_inputs, err));
	for (int64_t i = 0; i < nodes.n; i++) {
		const nk_plan *node = nodes.items[i];
		for (int j = 0; j < node->n_inputs; j++)
			inputs[j] = bound[nk_pointers_find(&nodes, node->inputs[j])];
		NK_TRY(bind_node(query, node, inputs, &bound[i], err));
	}
	nk_bound_plan *root = &bound[nodes.n - 1];

	/* The root yields exactly the named columns in their order. */
	bool as_named = root->rel->n_columns == root->n;
	for (int i = 0; as_named && i < root->n; i++)
		as_named = root->rel->columns[i] == root->ids[i];
	nk_bound_plan arranged = *root;
	if (!as_named) {
		nk_named *exprs;
		NK_TRY(NK_ARENA_NEW(arena, &exprs, root->n + 1, err));
		for (int i = 0; i < root->n; i++) {
			exprs[i].name = root->names[i];
			NK_TRY(nk_bound_column(query->binder, root->ids[i], &exprs[i].expr, err));
		}
		NK_TRY(nk__project(query, root->rel, exprs, root->n, &arranged, err));
	}
	query->root = arranged.rel;
	query->n_columns = arranged.n;
	query->names = arranged.names;
	(void)NK_STEAL(arena);
	*out = query;
	return NK_OK;
}
