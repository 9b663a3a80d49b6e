/* Window functions as expressions over partitions. With ORDER BY an aggregate runs: it sees the rows up to the current
 * one and, unless the frame says ROWS, those that are equal to it in order. */
#include <stdlib.h>
#include <string.h>

#include "sql/call_internal.h"

typedef struct window {
	nk_sql_call call;
	nk_sql_planner *p;
	const nk_sql_expr *node;
	nk_expr **keys; /* partitions, then what orders */
	int n_keys, n_order;
	bool descending, nulls_last;
	bool has_frame, is_rows, from_unbounded, to_unbounded;
	int64_t from, to;
} window;

static nk_status over(const window *w, nk_expr *x, bool ordered, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	nk_expr **args;
	int n_keys = w->n_keys, n_order = ordered ? w->n_order : 0;
	NK_TRY(NK_ARENA_NEW(p->arena, &args, n_keys + n_order + 2, p->err));
	args[0] = x;
	memcpy(args + 1, w->keys, (size_t)(n_keys + n_order) * sizeof *args);
	if (n_keys == 0) { /* one partition */
		memmove(args + 2, args + 1, (size_t)n_order * sizeof *args);
		NK_TRY(nk__sql_integer(p, 0, &args[1]));
		n_keys = 1;
	}
	nk_over how = {.n_keys = n_keys,
	               .n_order = n_order,
	               .descending = w->descending,
	               .nulls_last = w->nulls_last,
	               .mapping = NK_MAP_ROWS};
	NK_TRY(nk__expr_over(args, &how, out, p->err));
	return nk__sql_own_expr(p, *out);
}

/* As a column of its own: a window within a window would only see the other's partition. */
static nk_status materialise(const window *w, nk_expr **x)
{
	nk_sql_planner *p = w->p;
	nk_sql_scope *scope = w->call.scope;
	const char *name;
	if (!scope->plan || p->schemaless)
		return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at, "this window is not supported here");
	NK_TRY(nk__sql_fresh(p, &name));
	NK_TRY(nk__sql_alias(p, *x, name, x));
	NK_TRY(nk__sql_with_columns(p, &scope->plan, x, 1));
	return nk__sql_column_expr(p, name, x);
}

/* One value for rows that are equal in partition and order: that of the last of them. */
static nk_status of_last_peer(const window *w, nk_expr *running, nk_expr *number, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	NK_TRY(materialise(w, &running));
	NK_TRY(materialise(w, &number));
	nk_expr *args[] = {running, number};
	NK_TRY(nk__sql_call(p, "sort_by", args, 2, NULL, 0, out));
	NK_TRY(nk__sql_call1(p, "last", *out, out));
	window peers = *w;
	peers.n_keys = w->n_keys + w->n_order;
	peers.n_order = 0;
	return over(&peers, *out, false, out);
}

/* 1, 2, ... in the order of the window. */
static nk_status row_number(const window *w, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	nk_expr *one;
	NK_TRY(nk__sql_boolean(p, true, &one));
	if (w->n_keys + w->n_order > 0) {
		NK_TRY(nk__sql_call1(p, "is_null", w->keys[0], &one));
	} else {
		nk_expr *row;
		nk_sql_column *column = w->call.scope->n_columns ? &w->call.scope->columns[0] : NULL;
		if (column && !w->call.scope->is_grouped) {
			NK_TRY(nk__sql_column_expr(p, column->id, &row));
			NK_TRY(nk__sql_call1(p, "is_null", row, &one));
		} else if (w->call.scope->n_computed) {
			NK_TRY(nk__sql_column_expr(p, w->call.scope->computed[0].id, &row));
			NK_TRY(nk__sql_call1(p, "is_null", row, &one));
		}
	}
	NK_TRY(nk__sql_call1(p, "cum_count", one, &one));
	NK_TRY(over(w, one, true, out));
	return nk__sql_cast(p, *out, nk_dtype_of(NK_TYPE_INT64), true, out);
}

static nk_status partition_length(const window *w, nk_expr **out)
{
	nk_expr *len;
	NK_TRY(nk__sql_call(w->p, "len", NULL, 0, NULL, 0, &len));
	NK_TRY(over(w, len, false, out));
	return nk__sql_cast(w->p, *out, nk_dtype_of(NK_TYPE_INT64), true, out);
}

/* rank: the number of a row's first peer; dense_rank: how many first peers there are up to it. */
static nk_status rank(const window *w, bool dense, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	nk_expr *number, *first;
	if (w->n_order == 0)
		return nk__sql_integer(p, 1, out);
	NK_TRY(row_number(w, &number));
	NK_TRY(materialise(w, &number));
	window peers = *w;
	peers.n_keys = w->n_keys + w->n_order;
	peers.n_order = 0;
	NK_TRY(nk__sql_call1(p, "min", number, &first));
	NK_TRY(over(&peers, first, false, out));
	if (!dense)
		return NK_OK;
	NK_TRY(nk__sql_call2(p, "eq", number, *out, &first));
	NK_TRY(nk__sql_cast(p, first, nk_dtype_of(NK_TYPE_INT64), true, &first));
	NK_TRY(materialise(w, &first));
	NK_TRY(nk__sql_call1(p, "cum_sum", first, &first));
	return over(w, first, true, out);
}

static nk_status as_float(nk_sql_planner *p, nk_expr **x)
{
	return nk__sql_cast(p, *x, nk_dtype_of(NK_TYPE_FLOAT64), true, x);
}

/* (rank - 1) / (rows - 1), 0 in a partition of one row. */
static nk_status percent_rank(const window *w, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	nk_expr *one, *zero, *length, *single;
	NK_TRY(nk__sql_integer(p, 1, &one));
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(as_float(p, &zero));
	NK_TRY(rank(w, false, out));
	NK_TRY(nk__sql_call2(p, "sub", *out, one, out));
	NK_TRY(partition_length(w, &length));
	NK_TRY(nk__sql_call2(p, "eq", length, one, &single));
	NK_TRY(nk__sql_call2(p, "sub", length, one, &length));
	NK_TRY(nk__sql_call2(p, "truediv", *out, length, out));
	return nk__sql_when(p, single, zero, *out, out);
}

/* The share of rows up to the last peer. */
static nk_status cume_dist(const window *w, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	nk_expr *number, *length;
	NK_TRY(row_number(w, &number));
	NK_TRY(materialise(w, &number));
	window peers = *w;
	peers.n_keys = w->n_keys + w->n_order;
	peers.n_order = 0;
	NK_TRY(nk__sql_call1(p, "max", number, &number));
	NK_TRY(over(&peers, number, false, &number));
	NK_TRY(partition_length(w, &length));
	return nk__sql_call2(p, "truediv", number, length, out);
}

/* n buckets, the first ones a row longer. */
static nk_status ntile(const window *w, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	int64_t n;
	if (w->node->n_args != 1 || !nk__sql_constant_integer(w->node->args[0], &n) || n < 1)
		return nk__sql_error(p, NK_SQL_SYNTAX, w->node->at, "NTILE takes a constant number of buckets");
	nk_expr *number, *length, *buckets, *one, *small, *larger, *rest, *border, *in_first, *first, *later;
	NK_TRY(nk__sql_integer(p, n, &buckets));
	NK_TRY(nk__sql_integer(p, 1, &one));
	NK_TRY(row_number(w, &number));
	NK_TRY(nk__sql_call2(p, "sub", number, one, &number));
	NK_TRY(partition_length(w, &length));
	NK_TRY(nk__sql_call2(p, "floordiv", length, buckets, &small));
	NK_TRY(nk__sql_call2(p, "mod", length, buckets, &rest));
	NK_TRY(nk__sql_call2(p, "add", small, one, &larger));
	NK_TRY(nk__sql_call2(p, "mul", larger, rest, &border));
	NK_TRY(nk__sql_call2(p, "lt", number, border, &in_first));
	NK_TRY(nk__sql_call2(p, "floordiv", number, larger, &first));
	NK_TRY(nk__sql_call2(p, "sub", number, border, &later));
	NK_TRY(nk__sql_call2(p, "floordiv", later, small, &later));
	NK_TRY(nk__sql_call2(p, "add", later, rest, &later));
	NK_TRY(nk__sql_when(p, in_first, first, later, out));
	return nk__sql_call2(p, "add", *out, one, out);
}

/* lag and lead: the value n rows before or behind, or a default where there is no such row. */
static nk_status shifted(const window *w, bool lead, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	int64_t n = 1;
	if (w->node->n_args < 1 || w->node->n_args > 3)
		return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at, "%s takes a value, an offset and a default",
		                     lead ? "LEAD" : "LAG");
	if (w->node->n_args > 1 && (!nk__sql_constant_integer(w->node->args[1], &n) || n < 0 || n > INT32_MAX))
		return nk__sql_error(p, NK_SQL_SYNTAX, w->node->args[1]->at, "the offset is a constant whole number");
	nk_expr *args[2] = {w->call.args[0]};
	NK_TRY(nk__sql_integer(p, lead ? -n : n, &args[1]));
	nk_sql_option option = {"n", {.kind = NK_OPTION_INT, .integer = lead ? -n : n}};
	const nk_func *shift = nk_func_find("shift");
	bool as_option = shift && shift->max_args == 1;
	NK_TRY(nk__sql_call(p, "shift", args, as_option ? 1 : 2, &option, as_option, out));
	NK_TRY(over(w, *out, true, out));
	if (w->node->n_args < 3)
		return NK_OK;
	nk_expr *number, *border, *outside;
	NK_TRY(row_number(w, &number));
	NK_TRY(nk__sql_integer(p, n, &border));
	if (lead) {
		nk_expr *length;
		NK_TRY(partition_length(w, &length));
		NK_TRY(nk__sql_call2(p, "sub", length, border, &border));
	}
	NK_TRY(nk__sql_call2(p, lead ? "gt" : "le", number, border, &outside));
	return nk__sql_when(p, outside, w->call.args[2], *out, out);
}

/* Running aggregates: functions over the rows from the partition's first. */
static nk_status cumulative(const window *w, const char *function, nk_expr *x, nk_expr *number, nk_expr **out)
{
	NK_TRY(nk__sql_call1(w->p, function, x, out));
	NK_TRY(over(w, *out, true, out));
	return w->has_frame && w->is_rows ? NK_OK : of_last_peer(w, *out, number, out);
}

/* cum_min and the like leave nulls where the row is null: the running value goes on below them. */
static nk_status extreme(const window *w, const char *function, nk_expr *x, nk_expr *number, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	NK_TRY(nk__sql_call1(p, function, x, out));
	NK_TRY(nk__sql_call1(p, "forward_fill", *out, out));
	NK_TRY(over(w, *out, true, out));
	return w->has_frame && w->is_rows ? NK_OK : of_last_peer(w, *out, number, out);
}

static nk_status masked(const window *w, nk_expr *x, nk_expr **out)
{
	*out = x;
	if (!w->node->filter)
		return NK_OK;
	nk_expr *condition, *null;
	NK_TRY(nk__sql_expr_of(w->p, w->call.scope, w->node->filter, &condition));
	NK_TRY(nk__sql_null(w->p, &null));
	return nk__sql_when(w->p, condition, x, null, out);
}

static nk_status running(const window *w, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	const char *name = w->node->text;
	nk_expr *number, *x, *count, *sum, *zero, *null, *some;
	NK_TRY(row_number(w, &number));
	bool is_count = strcmp(name, "count") == 0;
	if (w->node->n_args > 1 || (w->node->n_args == 0 && !is_count) || w->node->distinct)
		return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at,
		                     "`%.60s` is not supported with ORDER BY in OVER", name);
	if (w->node->n_args == 0) {
		NK_TRY(materialise(w, &number));
		NK_TRY(nk__sql_call1(p, "is_null", number, &x));
	} else {
		x = w->call.args[0];
	}
	NK_TRY(masked(w, x, &x));
	if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
		return extreme(w, name[1] == 'i' ? "cum_min" : "cum_max", x, number, out);
	NK_TRY(cumulative(w, "cum_count", x, number, &count));
	NK_TRY(nk__sql_cast(p, count, nk_dtype_of(NK_TYPE_INT64), true, &count));
	*out = count;
	if (is_count)
		return NK_OK;
	bool average = strcmp(name, "avg") == 0 || strcmp(name, "mean") == 0;
	if (!average && strcmp(name, "sum") != 0)
		return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at,
		                     "`%.60s` is not supported with ORDER BY in OVER", name);
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_null(p, &null));
	NK_TRY(nk__sql_call2(p, "coalesce", x, zero, &x));
	NK_TRY(cumulative(w, "cum_sum", x, number, &sum));
	if (average)
		NK_TRY(nk__sql_call2(p, "truediv", sum, count, &sum));
	NK_TRY(nk__sql_call2(p, "gt", count, zero, &some));
	return nk__sql_when(p, some, sum, null, out);
}

/* ROWS BETWEEN n PRECEDING AND CURRENT ROW and the like, of sum, count and avg: the difference of running values. */
static nk_status framed(const window *w, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	const char *name = w->node->text;
	bool is_count = strcmp(name, "count") == 0, average = strcmp(name, "avg") == 0,
		 extreme_of = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
	if (!w->is_rows || (!is_count && !average && !extreme_of && strcmp(name, "sum") != 0) ||
	    w->node->n_args > 1)
		return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at, "this frame is not supported for `%.60s`",
		                     name);
	int64_t from = w->from, to = w->to;
	if (w->from_unbounded || w->to_unbounded || to < from || to - from > 1000)
		return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at,
		                     "this frame is not supported: between rows at most 1000 apart");
	nk_expr *x, *number, *zero, *null, *sum = NULL, *count = NULL;
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_null(p, &null));
	if (w->node->n_args == 0) {
		NK_TRY(row_number(w, &number));
		NK_TRY(materialise(w, &number));
		NK_TRY(nk__sql_call1(p, "is_null", number, &x));
	} else {
		x = w->call.args[0];
	}
	NK_TRY(masked(w, x, &x));
	const nk_func *shift = nk_func_find("shift");
	bool as_option = shift && shift->max_args == 1;
	nk_expr **parts, *one;
	int n = (int)(to - from) + 1;
	NK_TRY(NK_ARENA_NEW(p->arena, &parts, n, p->err));
	for (int i = 0; i < n; i++) {
		nk_expr *args[2] = {x};
		int64_t by = -(from + i);
		NK_TRY(nk__sql_integer(p, by, &args[1]));
		nk_sql_option option = {"n", {.kind = NK_OPTION_INT, .integer = by}};
		NK_TRY(nk__sql_call(p, "shift", args, as_option ? 1 : 2, &option, as_option, &parts[i]));
		NK_TRY(over(w, parts[i], true, &parts[i]));
	}
	if (extreme_of)
		return nk__sql_call(p, name[1] == 'i' ? "min_horizontal" : "max_horizontal", parts, n, NULL, 0, out);
	for (int i = 0; i < n; i++) {
		NK_TRY(nk__sql_call1(p, "is_not_null", parts[i], &one));
		NK_TRY(nk__sql_cast(p, one, nk_dtype_of(NK_TYPE_INT64), true, &one));
		if (count)
			NK_TRY(nk__sql_call2(p, "add", count, one, &count));
		else
			count = one;
		NK_TRY(nk__sql_call2(p, "coalesce", parts[i], zero, &parts[i]));
		if (is_count)
			continue;
		if (sum)
			NK_TRY(nk__sql_call2(p, "add", sum, parts[i], &sum));
		else
			sum = parts[i];
	}
	*out = count;
	if (is_count)
		return NK_OK;
	if (average)
		NK_TRY(nk__sql_call2(p, "truediv", sum, count, &sum));
	NK_TRY(nk__sql_call2(p, "gt", count, zero, &one));
	return nk__sql_when(p, one, sum, null, out);
}

/* ---- All ---- */

/* A window by name, and what is written beside the name. */
static nk_status resolve(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_window *written,
                         nk_sql_window *out)
{
	*out = *written;
	for (int depth = 0; out->name; depth++) {
		const nk_sql_window *named = NULL;
		for (int i = 0; scope->select && i < scope->select->n_windows; i++)
			if (strcmp(scope->select->window_names[i], out->name) == 0)
				named = scope->select->windows[i];
		if (!named || depth > 64)
			return nk__sql_error(p, NK_SQL_INTERFACE, written->at, "named window '%s' was not found",
			                     out->name);
		out->name = named->name;
		if (!out->n_partitions) {
			out->n_partitions = named->n_partitions;
			out->partitions = named->partitions;
		}
		if (!out->n_orders) {
			out->n_orders = named->n_orders;
			out->orders = named->orders;
		}
		if (!out->has_frame && named->has_frame) {
			out->has_frame = true;
			out->is_rows = named->is_rows;
			out->from_unbounded = named->from_unbounded;
			out->to_unbounded = named->to_unbounded;
			out->from = named->from;
			out->to = named->to;
		}
	}
	return NK_OK;
}

static nk_status plan_window(window *w, nk_expr **out)
{
	nk_sql_planner *p = w->p;
	const char *name = w->node->text;
	static const struct {
		const char *name;
		int kind;
	} ranks[] = {{"row_number", 0},   {"rank", 1},      {"dense_rank", 2},
	             {"percent_rank", 3}, {"cume_dist", 4}, {"ntile", 5}};
	for (int i = 0; i < NK_COUNT(ranks); i++) {
		if (strcmp(name, ranks[i].name) != 0)
			continue;
		if (ranks[i].kind < 5 && w->node->n_args)
			return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at, "`%s` takes no arguments", name);
		switch (ranks[i].kind) {
		case 0: return row_number(w, out);
		case 1:
		case 2: return rank(w, ranks[i].kind == 2, out);
		case 3: return percent_rank(w, out);
		case 4: return cume_dist(w, out);
		default: return ntile(w, out);
		}
	}
	if (strcmp(name, "lag") == 0 || strcmp(name, "lead") == 0)
		return shifted(w, name[1] == 'e', out);
	bool whole = !w->n_order || (w->has_frame && w->from_unbounded && w->to_unbounded);
	bool from_start = !w->has_frame || (w->from_unbounded && !w->to_unbounded && w->to == 0);
	bool first = strcmp(name, "first_value") == 0 || strcmp(name, "first") == 0,
		 last = strcmp(name, "last_value") == 0 || strcmp(name, "last") == 0;
	if ((first || last) && w->node->n_args == 1) {
		if (last && !whole && from_start) {
			*out = w->call.args[0];
			nk_expr *number;
			if (w->has_frame && w->is_rows)
				return NK_OK;
			NK_TRY(row_number(w, &number));
			return of_last_peer(w, *out, number, out);
		}
		NK_TRY(nk__sql_call1(p, first ? "first" : "last", w->call.args[0], out));
		return over(w, *out, true, out);
	}
	nk_sql_expr plain = *w->node;
	plain.over = NULL;
	if (!nk__sql_is_aggregate(&plain)) {
		const nk_func *func = nk__sql_registry_function(name);
		if (!func)
			return nk__sql_error(p, NK_SQL_INTERFACE, w->node->at, "unsupported function '%.60s'", name);
		NK_TRY(nk__sql_call_of(p, w->call.scope, &plain, out));
		return over(w, *out, true, out);
	}
	if (whole) {
		w->call.node = &plain;
		NK_TRY(nk__sql_aggregate(&w->call, out));
		return over(w, *out, false, out);
	}
	return from_start ? running(w, out) : framed(w, out);
}

nk_status nk__sql_window_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	nk_sql_window spec;
	NK_TRY(resolve(p, scope, node->over, &spec));
	window w = {.call = {.p = p, .scope = scope, .node = node, .n = node->n_args},
	            .p = p,
	            .node = node,
	            .n_keys = spec.n_partitions,
	            .n_order = spec.n_orders,
	            .has_frame = spec.has_frame,
	            .is_rows = spec.is_rows,
	            .from_unbounded = spec.from_unbounded,
	            .to_unbounded = spec.to_unbounded,
	            .from = spec.from,
	            .to = spec.to};
	NK_TRY(NK_ARENA_NEW(p->arena, &w.keys, w.n_keys + w.n_order + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &w.call.args, node->n_args + 1, p->err));
	for (int i = 0; i < w.n_keys; i++)
		NK_TRY(nk__sql_expr_of(p, scope, spec.partitions[i], &w.keys[i]));
	for (int i = 0; i < w.n_order; i++) {
		const nk_sql_order *order = &spec.orders[i];
		bool nulls_last = order->nulls ? order->nulls < 0 : !order->descending;
		NK_TRY(nk__sql_expr_of(p, scope, order->expr, &w.keys[w.n_keys + i]));
		if (i && (order->descending != w.descending || nulls_last != w.nulls_last))
			return nk__sql_error(
				p, NK_SQL_SYNTAX, order->expr->at,
				"OVER does not support mixed asc/desc directions or positions of nulls in ORDER BY");
		w.descending = order->descending;
		w.nulls_last = nulls_last;
	}
	for (int i = 0; i < node->n_args; i++)
		NK_TRY(nk__sql_expr_of(p, scope, node->args[i], &w.call.args[i]));
	return plan_window(&w, out);
}
