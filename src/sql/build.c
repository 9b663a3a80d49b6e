/* Makers of expressions and plans that belong to the planner's arena. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/builder.h"
#include "sql/lexer.h"
#include "sql/plan_internal.h"

nk_status nk__sql_error(nk_sql_planner *p, nk_status status, int64_t at, const char *format, ...)
{
	char message[400];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	return nk__sql_fail(p->err, status, p->text, p->n_bytes, at, "%s", message);
}

nk_status nk__sql_fresh(nk_sql_planner *p, const char **out)
{
	char name[40];
	int n = snprintf(name, sizeof name, "__sql_%lld", (long long)p->n_names++);
	return nk_arena_string(p->arena, name, n, out, p->err);
}

static void expr_release(void *expr) { nk__expr_unref(expr); }
static void plan_release(void *plan) { nk_plan_unref(plan); }

nk_status nk__sql_own_expr(nk_sql_planner *p, nk_expr *expr)
{
	return nk_arena_defer(p->arena, expr_release, expr, p->err);
}

nk_status nk__sql_own_plan(nk_sql_planner *p, nk_plan *plan)
{
	return nk_arena_defer(p->arena, plan_release, plan, p->err);
}

nk_status nk__sql_column_expr(nk_sql_planner *p, const char *id, nk_expr **out)
{
	NK_TRY(nk__expr_column(id, out, p->err));
	return nk__sql_own_expr(p, *out);
}

nk_status nk__sql_alias(nk_sql_planner *p, nk_expr *expr, const char *name, nk_expr **out)
{
	nk_expr *made;
	NK_TRY(nk__expr_alias(expr, name, &made, p->err));
	*out = made;
	return nk__sql_own_expr(p, made);
}

nk_status nk__sql_scalar(nk_sql_planner *p, const nk_scalar *value, bool is_untyped, nk_expr **out)
{
	NK_TRY(nk__expr_literal(value, is_untyped, out, p->err));
	return nk__sql_own_expr(p, *out);
}

nk_status nk__sql_integer(nk_sql_planner *p, int64_t value, nk_expr **out)
{
	bool small = value >= INT32_MIN && value <= INT32_MAX;
	nk_scalar scalar = {.dtype = nk_dtype_of(small ? NK_TYPE_INT32 : NK_TYPE_INT64), .integer = value};
	return nk__sql_scalar(p, &scalar, true, out);
}

nk_status nk__sql_boolean(nk_sql_planner *p, bool value, nk_expr **out)
{
	nk_scalar scalar = {.dtype = nk_dtype_of(NK_TYPE_BOOLEAN), .boolean = value};
	return nk__sql_scalar(p, &scalar, false, out);
}

nk_status nk__sql_null(nk_sql_planner *p, nk_expr **out)
{
	nk_scalar scalar = {.dtype = nk_dtype_of(NK_TYPE_NULL), .is_null = true};
	return nk__sql_scalar(p, &scalar, true, out);
}

nk_status nk__sql_string(nk_sql_planner *p, const char *text, int64_t n_bytes, nk_expr **out)
{
	nk_scalar scalar = {.dtype = nk_dtype_of(NK_TYPE_STRING), .bytes = text, .n_bytes = n_bytes};
	return nk__sql_scalar(p, &scalar, false, out);
}

nk_status nk__sql_call(nk_sql_planner *p, const char *function, nk_expr *const *args, int n_args,
                       const nk_sql_option *options, int n_options, nk_expr **out)
{
	const nk_func *func = nk_func_find(function);
	if (!func)
		return nk_fail(p->err, NK_SQL_INTERFACE, "the function `%s` does not exist", function);
	const char *names[8];
	nk_option values[8];
	NK_ASSERT(n_options <= NK_COUNT(names));
	for (int i = 0; i < n_options; i++) {
		names[i] = options[i].name;
		values[i] = options[i].value;
	}
	nk_expr *made;
	NK_TRY(nk__expr_call(func, args, n_args, names, values, n_options, &made, p->err));
	*out = made;
	return nk__sql_own_expr(p, made);
}

nk_status nk__sql_call1(nk_sql_planner *p, const char *function, nk_expr *x, nk_expr **out)
{
	return nk__sql_call(p, function, &x, 1, NULL, 0, out);
}

nk_status nk__sql_call2(nk_sql_planner *p, const char *function, nk_expr *x, nk_expr *y, nk_expr **out)
{
	nk_expr *args[] = {x, y};
	return nk__sql_call(p, function, args, 2, NULL, 0, out);
}

nk_status nk__sql_when(nk_sql_planner *p, nk_expr *condition, nk_expr *then, nk_expr *otherwise,
                       nk_expr **out)
{
	nk_expr *args[] = {condition, then, otherwise};
	return nk__sql_call(p, "when", args, 3, NULL, 0, out);
}

nk_status nk__sql_cast(nk_sql_planner *p, nk_expr *x, const nk_dtype *dtype, bool strict, nk_expr **out)
{
	nk_sql_option options[] = {{"dtype", {.kind = NK_OPTION_DTYPE, .dtype = dtype}},
	                           {"strict", {.kind = NK_OPTION_BOOL, .boolean = strict}}};
	return nk__sql_call(p, "cast", &x, 1, options, 2, out);
}

/* ---- Plans ---- */

static nk_status made(nk_sql_planner *p, nk_status status, nk_plan *plan, nk_plan **out)
{
	NK_TRY(status);
	*out = plan;
	return nk__sql_own_plan(p, plan);
}

nk_status nk__sql_filter(nk_sql_planner *p, nk_plan **plan, nk_expr *const *predicates, int n)
{
	nk_plan *to = NULL;
	if (n == 0)
		return NK_OK;
	nk_status status = nk_plan_new(NK_PLAN_FILTER, plan, 1, predicates, n, NULL, 0, &to, p->err);
	return made(p, status, to, plan);
}

nk_status nk__sql_select(nk_sql_planner *p, nk_plan **plan, nk_expr *const *exprs, int n)
{
	nk_plan *to = NULL;
	nk_status status = nk_plan_new(NK_PLAN_SELECT, plan, 1, exprs, n, NULL, 0, &to, p->err);
	return made(p, status, to, plan);
}

nk_status nk__sql_with_columns(nk_sql_planner *p, nk_plan **plan, nk_expr *const *exprs, int n)
{
	nk_plan *to = NULL;
	nk_status status = nk_plan_new(NK_PLAN_WITH_COLUMNS, plan, 1, exprs, n, NULL, 0, &to, p->err);
	return made(p, status, to, plan);
}

nk_status nk__sql_group_by(nk_sql_planner *p, nk_plan **plan, nk_expr *const *keys, int n_keys,
                           nk_expr *const *aggregates, int n)
{
	nk_plan *to = NULL;
	nk_status status = nk_plan_new(NK_PLAN_GROUP_BY, plan, 1, aggregates, n, keys, n_keys, &to, p->err);
	return made(p, status, to, plan);
}

static nk_status copy_flags(nk_sql_planner *p, const bool *flags, int n, bool **out)
{
	*out = calloc((size_t)n + 1, sizeof **out);
	if (!*out)
		return nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a plan");
	memcpy(*out, flags, (size_t)n * sizeof **out);
	return NK_OK;
}

nk_status nk__sql_sort(nk_sql_planner *p, nk_plan **plan, nk_expr *const *keys, const bool *descending,
                       const bool *nulls_last, int n)
{
	nk_plan *to;
	if (n == 0)
		return NK_OK;
	NK_TRY(nk_plan_new(NK_PLAN_SORT, plan, 1, NULL, 0, keys, n, &to, p->err));
	NK_TRY(nk__sql_own_plan(p, to));
	NK_TRY(copy_flags(p, descending, n, &to->descending));
	NK_TRY(copy_flags(p, nulls_last, n, &to->nulls_last));
	*plan = to;
	return NK_OK;
}

nk_status nk__sql_slice(nk_sql_planner *p, nk_plan **plan, int64_t offset, int64_t length)
{
	nk_plan *to;
	NK_TRY(nk_plan_new(NK_PLAN_SLICE, plan, 1, NULL, 0, NULL, 0, &to, p->err));
	to->offset = offset;
	to->limit = length;
	return made(p, NK_OK, to, plan);
}

nk_status nk__sql_unique(nk_sql_planner *p, nk_plan **plan, const char *const *keys, int n_keys, bool first)
{
	nk_expr **subset;
	NK_TRY(NK_ARENA_NEW(p->arena, &subset, n_keys + 1, p->err));
	for (int i = 0; i < n_keys; i++)
		NK_TRY(nk__sql_column_expr(p, keys[i], &subset[i]));
	nk_plan *to;
	NK_TRY(nk_plan_new(NK_PLAN_UNIQUE, plan, 1, NULL, 0, subset, n_keys, &to, p->err));
	to->keep = first ? NK_KEEP_FIRST : NK_KEEP_ANY;
	to->maintain_order = first;
	return made(p, NK_OK, to, plan);
}

nk_status nk__sql_rename(nk_sql_planner *p, nk_plan **plan, const char *const *from, const char *const *to,
                         int n)
{
	if (n == 0)
		return NK_OK;
	nk_plan *renamed;
	NK_TRY(nk_plan_new(NK_PLAN_RENAME, plan, 1, NULL, 0, NULL, 0, &renamed, p->err));
	NK_TRY(nk__sql_own_plan(p, renamed));
	renamed->strict = true;
	if (!(renamed->names = calloc((size_t)n * 2, sizeof *renamed->names)))
		return nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a plan");
	for (int i = 0; i < 2 * n; i++, renamed->n_names++)
		if (!(renamed->names[i] = strdup(i % 2 ? to[i / 2] : from[i / 2])))
			return nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a plan");
	*plan = renamed;
	return NK_OK;
}

nk_status nk__sql_concat(nk_sql_planner *p, nk_plan *const *plans, int n, nk_concat_how how, nk_plan **out)
{
	nk_plan *to;
	NK_TRY(nk_plan_new(NK_PLAN_CONCAT, plans, n, NULL, 0, NULL, 0, &to, p->err));
	to->concat = how;
	return made(p, NK_OK, to, out);
}

nk_status nk__sql_join(nk_sql_planner *p, nk_plan *left, nk_plan *right, const nk_sql_join_on *on,
                       nk_plan **out)
{
	/* A plan's right keys may be followed by the residual. */
	int n = on->n_keys;
	nk_expr **left_keys, **right_keys, *residual = on->residual;
	NK_TRY(NK_ARENA_NEW(p->arena, &left_keys, n + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &right_keys, n + 2, p->err));
	for (int i = 0; i < n; i++) {
		left_keys[i] = on->left[i];
		right_keys[i] = on->right[i];
	}
	nk_join_kind how = on->how;
	nk_plan *plans[] = {left, right}, *to;
	if (n == 0 && how == NK_JOIN_INNER) {
		how = NK_JOIN_CROSS;
	} else if (n == 0 && how != NK_JOIN_CROSS) { /* every row meets every row */
		NK_TRY(nk__sql_integer(p, 0, &left_keys[0]));
		right_keys[0] = left_keys[0];
		n = 1;
	}
	int n_right = n;
	bool filter = residual && (how == NK_JOIN_CROSS || how == NK_JOIN_INNER);
	if (residual && !filter)
		right_keys[n_right++] = residual;
	NK_TRY(nk_plan_new(NK_PLAN_JOIN, plans, 2, right_keys, n_right, left_keys, n, &to, p->err));
	NK_TRY(made(p, NK_OK, to, out));
	to->join = how;
	to->coalesce = NK_COALESCE_NO;
	to->nulls_equal = on->nulls_equal;
	to->validate = on->one_right ? NK_VALIDATE_MANY_TO_ONE : NK_VALIDATE_MANY_TO_MANY;
	return filter ? nk__sql_filter(p, out, &residual, 1) : NK_OK;
}

nk_status nk__sql_one_row(nk_sql_planner *p, nk_plan **out)
{
	nk_memory *memory = nk_arena_memory(p->arena);
	nk_field field = {"__sql_row", nk_dtype_of(NK_TYPE_BOOLEAN)};
	nk_scalar value = {.dtype = field.dtype, .boolean = true};
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_column) column = NULL;
	NK_AUTO(nk_schema) schema = NULL;
	NK_AUTO(nk_frame) frame = NULL;
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_array_from_scalar(memory, &value, 1, &array, p->err));
	NK_TRY(nk_column_from_array(memory, array, &column, p->err));
	NK_TRY(nk_schema_new(&field, 1, &schema, p->err));
	NK_TRY(nk_frame_new(schema, &column, 1, &frame, p->err));
	NK_TRY(nk_frame_source_new(frame, &source, p->err));
	nk_plan *to = NULL;
	nk_status status = nk_plan_scan(source, &to, p->err);
	return made(p, status, to, out);
}
