/* Nodes over whole tables: join_asof, windows over an index (rolling, group_by_dynamic), functions of the host. */
#include <stdlib.h>
#include <string.h>

#include "plan/bind_internal.h"

static int64_t ticks_per_second(const nk_dtype *dtype)
{
	switch (dtype->id) {
	case NK_TYPE_DATE: return 1000000;
	case NK_TYPE_TIME: return 1000000000;
	case NK_TYPE_DATETIME:
	case NK_TYPE_DURATION:
		return dtype->unit == NK_UNIT_MS ? 1000 : dtype->unit == NK_UNIT_US ? 1000000 : 1000000000;
	default: return 0;
	}
}

/* ---- join_asof ---- */

/* A number, or a duration as text. */
static nk_status read_tolerance(const char *text, const nk_dtype *dtype, nk_rel *rel, nk_error *err)
{
	int64_t per_second = dtype->id == NK_TYPE_DATE ? 0 : ticks_per_second(dtype);
	bool is_temporal = per_second > 0 || dtype->id == NK_TYPE_DATE;
	char *end;
	rel->asof.has_tolerance = true;
	rel->asof.tolerance_float = strtod(text, &end);
	if (*text && *end == 0) {
		rel->asof.tolerance = rel->asof.tolerance_float >= 9.2e18    ? INT64_MAX
		                      : rel->asof.tolerance_float <= -9.2e18 ? INT64_MIN
		                      : strpbrk(text, ".eEn")                ? (int64_t)rel->asof.tolerance_float
		                                                             : strtoll(text, NULL, 10);
		return NK_OK;
	}
	if (!is_temporal)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "can only use timedelta string language with Date/Datetime/Duration/Time dtypes");
	nk_step step;
	NK_TRY(nk_step_parse(text, (int64_t)strlen(text), &step, err));
	__int128 days = (__int128)step.months * 28 + (__int128)step.weeks * 7 + step.days;
	__int128 ns = days * 86400 * 1000000000 + step.nanoseconds;
	__int128 ticks = per_second ? ns * per_second / 1000000000 : ns / 1000000000 / 86400;
	ticks = ticks > INT64_MAX ? INT64_MAX : ticks;
	rel->asof.tolerance = (int64_t)(step.is_negative ? -ticks : ticks);
	return NK_OK;
}

static bool has_id(const int *ids, int n, int id)
{
	for (int i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Keys as columns of their side: those that are computed are put behind its columns. */
static nk_status key_columns(nk_query *query, const nk_bound_plan *side, const nk_named *keys, int n,
                             nk_rel **rel, int **out, nk_error *err)
{
	nk_named *columns;
	bool all = true;
	NK_TRY(NK_ARENA_NEW(query->arena, out, n + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &columns, side->n + n + 1, err));
	for (int i = 0; i < n; i++) {
		all &= keys[i].expr->kind == NK_BOUND_COLUMN;
		(*out)[i] = keys[i].expr->kind == NK_BOUND_COLUMN ? keys[i].expr->column : -1;
	}
	*rel = side->rel;
	if (all)
		return NK_OK;
	int count = side->n;
	for (int i = 0; i < count; i++) {
		columns[i].name = side->names[i];
		NK_TRY(nk_bound_column(query->binder, side->ids[i], &columns[i].expr, err));
	}
	bool elementwise = true;
	for (int i = 0; i < n; i++)
		if ((*out)[i] < 0) {
			elementwise &= keys[i].expr->elementwise;
			columns[count++] = keys[i];
		}
	nk_bound_plan wider;
	NK_TRY(elementwise ? nk__project(query, side->rel, columns, count, &wider, err)
	                   : nk__map(query, side->rel, columns, count, true, false, &wider, err));
	count = side->n;
	for (int i = 0; i < n; i++)
		if ((*out)[i] < 0)
			(*out)[i] = wider.ids[count++];
	*rel = wider.rel;
	return NK_OK;
}

nk_status nk__bind_asof(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs, nk_bound_plan *out,
                        nk_error *err)
{
	nk_bound_plan left = inputs[0], right = inputs[1];
	NK_TRY(nk__fresh_ids(query, &left, &right, err));
	nk_named *left_keys, *right_keys;
	int n, n_right;
	NK_TRY(nk__bind_in(query, &left, plan->keys, plan->n_keys, &left_keys, &n, err));
	NK_TRY(nk__bind_in(query, &right, plan->exprs, plan->n_exprs, &right_keys, &n_right, err));
	if (n != n_right || n < 1)
		return nk_fail(err, NK_INVALID_OPERATION, "both sides of a join need as many keys (%d and %d)", n,
		               n_right);
	/* Keys by which rows are grouped, and an `on` of one column on both sides, come out once. */
	int n_dropped = 0, *dropped, *left_ids, *right_ids;
	NK_TRY(NK_ARENA_NEW(query->arena, &dropped, n + 1, err));
	for (int i = 0; i < n; i++) {
		if (right_keys[i].expr->kind == NK_BOUND_COLUMN && left_keys[i].expr->kind == NK_BOUND_COLUMN &&
		    (i > 0 || plan->coalesce != NK_COALESCE_NO))
			dropped[n_dropped++] = right_keys[i].expr->column;
		NK_TRY(nk__unify_keys(query, &left_keys[i], &right_keys[i], err));
	}
	nk_rel *sides[2];
	NK_TRY(key_columns(query, &left, left_keys, n, &sides[0], &left_ids, err));
	NK_TRY(key_columns(query, &right, right_keys, n, &sides[1], &right_ids, err));
	NK_TRY(nk__scope_new(query, left.n + right.n, out, err));
	out->n = left.n;
	for (int i = 0; i < left.n; i++) {
		out->names[i] = left.names[i];
		out->ids[i] = left.ids[i];
	}
	for (int i = 0; i < right.n; i++) {
		if (has_id(dropped, n_dropped, right.ids[i]))
			continue;
		out->ids[out->n] = right.ids[i];
		NK_TRY(
			nk__suffixed(query, out->names, left.n, right.names[i], plan->suffix, &out->names[out->n], err));
		out->n++;
	}
	NK_TRY(nk__check_duplicates(out->names, out->n, err));
	NK_TRY(nk_rel_new(query, NK_REL_JOIN_ASOF, sides, 2, out->ids, out->n, &out->rel, err));
	nk_rel *rel = out->rel;
	rel->asof.n_by = n - 1;
	rel->asof.left = left_ids;
	rel->asof.right = right_ids;
	rel->asof.strategy = plan->asof;
	rel->asof.exact_matches = plan->exact_matches;
	rel->asof.check_sorted = plan->check_sorted;
	return plan->n_names ? read_tolerance(plan->names[0], left_keys[0].expr->dtype, rel, err) : NK_OK;
}

/* ---- Windows ---- */

static nk_status read_step(const char *text, const char *what, const nk_dtype *dtype, nk_step *out,
                           nk_error *err)
{
	bool is_temporal = ticks_per_second(dtype) > 0, is_count = false;
	const char *at = text + (*text == '-');
	while (*at >= '0' && *at <= '9')
		at++;
	is_count = at > text && at[0] == 'i' && at[1] == 0;
	if (is_count && is_temporal)
		return nk_fail(
			err, NK_INVALID_OPERATION,
			"`%s` duration may not be a parsed integer (i.e. use '2d', not '2i') when working with a "
			"temporal column",
			what);
	if (is_count) {
		*out =
			(nk_step){.is_negative = *text == '-', .nanoseconds = strtoll(text + (*text == '-'), NULL, 10)};
		return NK_OK;
	}
	NK_TRY(nk_step_parse(text, (int64_t)strlen(text), out, err));
	if (!is_temporal && (nk_step_has_days(out) || out->nanoseconds))
		return nk_fail(err, NK_INVALID_OPERATION,
		               "`%s` duration must be a parsed integer (i.e. use '2i', not '2d') when working with a "
		               "numeric column",
		               what);
	return NK_OK;
}

static bool is_zero(const nk_step *step)
{
	return !step->months && !step->weeks && !step->days && !step->nanoseconds;
}

static nk_status read_steps(const nk_plan *plan, const nk_dtype *dtype, nk_rel *rel, nk_error *err)
{
	bool rolling = plan->windows.is_rolling;
	NK_TRY(read_step(plan->names[0], "every", dtype, &rel->windows.every, err));
	NK_TRY(read_step(plan->names[1], "period", dtype, &rel->windows.period, err));
	NK_TRY(read_step(plan->names[2], "offset", dtype, &rel->windows.offset, err));
	const nk_step *every = &rel->windows.every, *period = &rel->windows.period;
	if (!rolling && (every->is_negative || is_zero(every)))
		return nk_fail(err, NK_COMPUTE, "'every' argument must be positive");
	if (period->is_negative || is_zero(period))
		return nk_fail(err, NK_COMPUTE,
		               rolling ? "rolling window period should be strictly positive"
		                       : "'period' argument must be positive");
	return NK_OK;
}

static nk_status check_index(const nk_dtype *dtype, nk_error *err)
{
	switch (dtype->id) {
	case NK_TYPE_INT32:
	case NK_TYPE_INT64:
	case NK_TYPE_UINT32:
	case NK_TYPE_UINT64:
	case NK_TYPE_DATE:
	case NK_TYPE_DATETIME: return NK_OK;
	default:
		return nk_fail(
			err, NK_COMPUTE,
			"expected any of the following dtypes: { Date, Datetime, Int32, Int64, UInt32, UInt64 }, "
			"got %s",
			nk_dtype_short_name(dtype));
	}
}

/* What aggregations see: everything but the keys is found by selectors, keys by name alone. */
static nk_status bind_inside(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                             const nk_named *keys, int n_keys, nk_named **out, int *n_out, nk_error *err)
{
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
	nk_scope scope = {.n = inside.n, .names = inside.names, .ids = inside.ids, .n_hidden = n_hidden};
	return nk_bind_exprs(query->binder, &scope, plan->exprs, plan->n_exprs, true, out, n_out, err);
}

nk_status nk__bind_windows(nk_query *query, const nk_plan *plan, const nk_bound_plan *in, nk_bound_plan *out,
                           nk_error *err)
{
	nk_named *keys, *aggs;
	int n_keys, n_aggs;
	NK_TRY(nk__bind_in(query, in, plan->keys, plan->n_keys, &keys, &n_keys, err));
	if (n_keys < 1 || plan->n_names != 3)
		return nk_fail(err, NK_COMPUTE, "windows need an index and three steps");
	const nk_dtype *dtype = keys[0].expr->dtype;
	nk_rel *input, *rel;
	int *key_ids;
	NK_TRY(key_columns(query, in, keys, n_keys, &input, &key_ids, err));
	NK_TRY(bind_inside(query, plan, in, keys, n_keys, &aggs, &n_aggs, err));
	bool with_bounds = plan->windows.with_bounds;
	int n = n_keys + (with_bounds ? 2 : 0) + n_aggs, at = 0;
	NK_TRY(nk__scope_new(query, n, out, err));
	for (int i = 1; i < n_keys; i++, at++) {
		out->names[at] = keys[i].name;
		NK_TRY(nk_binder_add_column(query->binder, keys[i].name, keys[i].expr->dtype, &out->ids[at], err));
	}
	for (int i = 0; i < 2 && with_bounds; i++, at++) {
		const nk_dtype *bound = dtype->id == NK_TYPE_DATE ? nk_dtype_datetime(NK_UNIT_US, NULL) : dtype;
		out->names[at] = i ? "_upper_boundary" : "_lower_boundary";
		NK_TRY(nk_binder_add_column(query->binder, out->names[at], bound, &out->ids[at], err));
	}
	out->names[at] = keys[0].name;
	NK_TRY(nk_binder_add_column(query->binder, keys[0].name, dtype, &out->ids[at++], err));
	nk_bound **results;
	NK_TRY(NK_ARENA_NEW(query->arena, &results, n_aggs + 1, err));
	for (int i = 0; i < n_aggs; i++, at++) {
		results[i] = aggs[i].expr;
		const nk_dtype *made =
			results[i]->shape == NK_SHAPE_SCALAR ? results[i]->dtype : nk_dtype_list(results[i]->dtype);
		if (!made)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
		out->names[at] = aggs[i].name;
		NK_TRY(nk_binder_add_column(query->binder, aggs[i].name, made, &out->ids[at], err));
	}
	NK_TRY(nk__check_duplicates(out->names, n, err));
	NK_TRY(check_index(dtype, err));
	NK_TRY(nk_rel_new(query, NK_REL_WINDOWS, &input, 1, out->ids, n, &rel, err));
	out->rel = rel;
	rel->windows.how = plan->windows;
	rel->windows.index = key_ids[0];
	rel->windows.n_keys = n_keys - 1;
	rel->windows.keys = key_ids + 1;
	rel->windows.n_aggregates = n_aggs;
	rel->windows.aggregates = results;
	rel->windows.per_second = ticks_per_second(dtype) > 0 ? ticks_per_second(dtype) : 1000000000;
	return read_steps(plan, dtype, rel, err);
}

/* ---- Functions of the host ---- */

nk_status nk__bind_foreign(nk_query *query, const nk_plan *plan, const nk_bound_plan *in, nk_bound_plan *out,
                           nk_error *err)
{
	const nk_schema *schema = plan->foreign->schema;
	int n = schema ? schema->n_fields : in->n;
	NK_TRY(nk__scope_new(query, n, out, err));
	for (int i = 0; i < n; i++) {
		const nk_dtype *dtype =
			schema ? schema->fields[i].dtype : nk_binder_column(query->binder, in->ids[i])->dtype;
		out->names[i] = schema ? schema->fields[i].name : in->names[i];
		NK_TRY(nk_binder_add_column(query->binder, out->names[i], dtype, &out->ids[i], err));
	}
	nk_rel *input = in->rel;
	NK_TRY(nk_rel_new(query, NK_REL_FOREIGN, &input, 1, out->ids, n, &out->rel, err));
	out->rel->foreign.function = plan->foreign;
	out->rel->foreign.n_inputs = in->n;
	out->rel->foreign.inputs = in->ids;
	out->rel->foreign.names = (const char *const *)in->names;
	return NK_OK;
}
