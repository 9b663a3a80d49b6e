/* Aggregates. A FILTER becomes a null where an aggregate ignores nulls, so that it stays a streaming one; sums of
 * nothing are null, counts are Int64. */
#include <string.h>

#include "sql/call_internal.h"

typedef enum kind {
	PLAIN, /* the registry's function of the values, nulls ignored */
	COUNT,
	SUM,
	TOTAL,
	QUANTILE,
	PICK, /* order matters: nulls count */
	LIST,
	TEXT,
	TWO, /* of two columns */
} kind;

static const struct {
	const char *name, *function;
	kind kind;
	int min, max;
} aggregates[] = {
	{"any_value", "first", PICK, 1, 1},
	{"array_agg", "implode", LIST, 1, 1},
	{"avg", "mean", PLAIN, 1, 1},
	{"bool_and", "all", PLAIN, 1, 1},
	{"bool_or", "any", PLAIN, 1, 1},
	{"corr", "corr", TWO, 2, 2},
	{"count", "count", COUNT, 0, -1},
	{"covar", "cov", TWO, 2, 2},
	{"covar_samp", "cov", TWO, 2, 2},
	{"first", "first", PICK, 1, 1},
	{"first_value", "first", PICK, 1, 1},
	{"group_concat", "str.join", TEXT, 1, 2},
	{"last", "last", PICK, 1, 1},
	{"last_value", "last", PICK, 1, 1},
	{"listagg", "str.join", TEXT, 1, 2},
	{"max", "max", PLAIN, 1, 1},
	{"mean", "mean", PLAIN, 1, 1},
	{"median", "median", PLAIN, 1, 1},
	{"min", "min", PLAIN, 1, 1},
	{"quantile_cont", "linear", QUANTILE, 2, 2},
	{"quantile_disc", "equiprobable", QUANTILE, 2, 2},
	{"stddev", "std", PLAIN, 1, 1},
	{"stddev_samp", "std", PLAIN, 1, 1},
	{"stdev", "std", PLAIN, 1, 1},
	{"stdev_samp", "std", PLAIN, 1, 1},
	{"string_agg", "str.join", TEXT, 1, 2},
	{"sum", "sum", SUM, 1, 1},
	{"total", "sum", TOTAL, 1, 1},
	{"var", "var", PLAIN, 1, 1},
	{"var_samp", "var", PLAIN, 1, 1},
	{"variance", "var", PLAIN, 1, 1},
};

static int aggregate_at(const char *name)
{
	for (int i = 0; i < NK_COUNT(aggregates); i++)
		if (strcmp(aggregates[i].name, name) == 0)
			return i;
	return -1;
}

bool nk__sql_is_aggregate(const nk_sql_expr *node)
{
	if (node->kind != NK_SQL_CALL || node->over)
		return false;
	if (aggregate_at(node->text) >= 0)
		return true;
	const nk_func *func = nk__sql_registry_function(node->text);
	return func && func->height == NK_AGGREGATING;
}

/* x where the filter holds, else null. */
static nk_status masked(nk_sql_call *c, nk_expr *x, nk_expr **out)
{
	*out = x;
	if (!c->node->filter)
		return NK_OK;
	nk_expr *condition, *null;
	NK_TRY(nk__sql_expr_of(c->p, c->scope, c->node->filter, &condition));
	NK_TRY(nk__sql_null(c->p, &null));
	return nk__sql_when(c->p, condition, x, null, out);
}

/* The rows an order-sensitive aggregate sees. */
static nk_status arranged(nk_sql_call *c, nk_expr *x, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	const nk_sql_expr *node = c->node;
	*out = x;
	nk_expr *condition = NULL;
	if (node->filter) {
		NK_TRY(nk__sql_expr_of(p, c->scope, node->filter, &condition));
		NK_TRY(nk__sql_call2(p, "filter", *out, condition, out));
	}
	if (node->n_orders) {
		nk_expr **args;
		char *descending, *nulls_last;
		int n = node->n_orders;
		NK_TRY(NK_ARENA_NEW(p->arena, &args, n + 1, p->err));
		NK_TRY(NK_ARENA_NEW(p->arena, &descending, n + 1, p->err));
		NK_TRY(NK_ARENA_NEW(p->arena, &nulls_last, n + 1, p->err));
		args[0] = *out;
		for (int i = 0; i < n; i++) {
			const nk_sql_order *order = &node->orders[i];
			NK_TRY(nk__sql_expr_of(p, c->scope, order->expr, &args[1 + i]));
			if (condition)
				NK_TRY(nk__sql_call2(p, "filter", args[1 + i], condition, &args[1 + i]));
			descending[i] = order->descending ? '1' : '0';
			nulls_last[i] = (order->nulls ? order->nulls < 0 : !order->descending) ? '1' : '0';
		}
		nk_sql_option options[] = {{"descending", {.kind = NK_OPTION_STRING, .string = descending}},
		                           {"nulls_last", {.kind = NK_OPTION_STRING, .string = nulls_last}}};
		NK_TRY(nk__sql_call(p, "sort_by", args, n + 1, options, 2, out));
	}
	if (node->distinct) {
		nk_sql_option keep = {"maintain_order", {.kind = NK_OPTION_BOOL, .boolean = true}};
		NK_TRY(nk__sql_call(p, "unique", out, 1, &keep, 1, out));
	}
	if (node->limit) {
		nk_sql_option n = {"n", {.kind = NK_OPTION_INT}};
		if (!nk__sql_constant_integer(node->limit, &n.value.integer))
			return nk__sql_error(p, NK_SQL_SYNTAX, node->limit->at, "LIMIT takes a whole number");
		NK_TRY(nk__sql_call(p, "head", out, 1, &n, 1, out));
	}
	return NK_OK;
}

static nk_status count_of(nk_sql_call *c, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	const nk_dtype *dtype = nk_dtype_of(NK_TYPE_INT64);
	nk_expr *x;
	if (c->n == 0) {
		if (c->node->distinct)
			return nk__sql_error(p, NK_SQL_INTERFACE, c->node->at,
			                     "count(DISTINCT *) is not supported: name the columns");
		NK_TRY(nk__sql_boolean(p, true, &x));
		NK_TRY(masked(c, x, &x));
		NK_TRY(c->node->filter ? nk__sql_call1(p, "count", x, out)
		                       : nk__sql_call(p, "len", NULL, 0, NULL, 0, out));
		return nk__sql_cast(p, *out, dtype, true, out);
	}
	x = c->args[0];
	if (c->n > 1) { /* rows without a null, by the texts of their values */
		nk_sql_option separator = {"separator", {.kind = NK_OPTION_STRING, .string = "\x1f"}};
		NK_TRY(nk__sql_call(p, "concat_str", c->args, c->n, &separator, 1, &x));
	} else if (!c->node->distinct) {
		const nk_sql_expr *arg = c->node->args[0];
		bool constant =
			arg->kind == NK_SQL_INTEGER || arg->kind == NK_SQL_BOOLEAN || arg->kind == NK_SQL_STRING;
		if (constant && !c->node->filter) {
			NK_TRY(nk__sql_call(p, "len", NULL, 0, NULL, 0, out));
			return nk__sql_cast(p, *out, dtype, true, out);
		}
	}
	NK_TRY(masked(c, x, &x));
	NK_TRY(nk__sql_call1(p, c->node->distinct ? "n_unique" : "count", x, out));
	NK_TRY(nk__sql_cast(p, *out, dtype, true, out));
	if (!c->node->distinct)
		return NK_OK;
	/* A null is among what n_unique counts. */
	nk_expr *nulls, *zero;
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_call1(p, "null_count", x, &nulls));
	NK_TRY(nk__sql_call2(p, "gt", nulls, zero, &nulls));
	NK_TRY(nk__sql_cast(p, nulls, dtype, true, &nulls));
	return nk__sql_call2(p, "sub", *out, nulls, out);
}

static nk_status sum_of(nk_sql_call *c, bool null_of_nothing, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	nk_expr *x, *some, *zero, *null;
	NK_TRY(masked(c, c->args[0], &x));
	if (c->node->distinct)
		NK_TRY(nk__sql_call1(p, "unique", x, &x));
	NK_TRY(nk__sql_call1(p, "sum", x, out));
	if (!null_of_nothing)
		return nk__sql_cast(p, *out, nk_dtype_of(NK_TYPE_FLOAT64), true, out);
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_null(p, &null));
	NK_TRY(nk__sql_call1(p, "count", x, &some));
	NK_TRY(nk__sql_call2(p, "gt", some, zero, &some));
	return nk__sql_when(p, some, *out, null, out);
}

nk_status nk__sql_aggregate(nk_sql_call *c, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	const nk_sql_expr *node = c->node;
	int at = aggregate_at(node->text);
	if (at < 0) {
		for (int i = 0; i < c->n; i++)
			if (!node->arg_names || !node->arg_names[i])
				NK_TRY(arranged(c, c->args[i], &c->args[i]));
		return nk__sql_registry_call(c, nk__sql_registry_function(node->text), out);
	}
	const char *function = aggregates[at].function;
	if (c->n < aggregates[at].min || (aggregates[at].max >= 0 && c->n > aggregates[at].max) ||
	    (node->star && aggregates[at].kind != COUNT))
		return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
		                     "no function matches the given name and arguments: `%.60s` with %d of them",
		                     node->text, c->n);
	nk_expr *x;
	switch (aggregates[at].kind) {
	case COUNT: return count_of(c, out);
	case SUM: return sum_of(c, true, out);
	case TOTAL: return sum_of(c, false, out);
	case PLAIN:
		NK_TRY(masked(c, c->args[0], &x));
		if (node->distinct && strcmp(function, "min") != 0 && strcmp(function, "max") != 0)
			NK_TRY(nk__sql_call1(p, "unique", x, &x));
		return nk__sql_call1(p, function, x, out);
	case QUANTILE: {
		nk_sql_option options[] = {{"quantile", {.kind = NK_OPTION_FLOAT}},
		                           {"interpolation", {.kind = NK_OPTION_STRING, .string = function}}};
		NK_TRY(nk__sql_constant_number(c, 1, &options[0].value.floating));
		if (!(options[0].value.floating >= 0 && options[0].value.floating <= 1))
			return nk__sql_error(p, NK_SQL_SYNTAX, node->args[1]->at, "a quantile is between 0 and 1");
		NK_TRY(masked(c, c->args[0], &x));
		return nk__sql_call(p, "quantile", &x, 1, options, 2, out);
	}
	case PICK: {
		NK_TRY(arranged(c, c->args[0], &x));
		nk_sql_option ignore = {"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = node->ignore_nulls}};
		return nk__sql_call(p, function, &x, 1, &ignore, 1, out);
	}
	case LIST: NK_TRY(arranged(c, c->args[0], &x)); return nk__sql_call1(p, function, x, out);
	case TEXT: {
		nk_sql_option options[] = {{"delimiter", {.kind = NK_OPTION_STRING, .string = ","}},
		                           {"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = true}}};
		if (c->n > 1)
			NK_TRY(nk__sql_constant_text(c, 1, &options[0].value.string));
		NK_TRY(arranged(c, c->args[0], &x));
		return nk__sql_call(p, function, &x, 1, options, 2, out);
	}
	case TWO: {
		nk_expr *args[2];
		NK_TRY(arranged(c, c->args[0], &args[0]));
		NK_TRY(arranged(c, c->args[1], &args[1]));
		return nk__sql_call(p, function, args, 2, NULL, 0, out);
	}
	}
	return NK_OK;
}

nk_status nk__sql_aggregate_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	if (scope->in_aggregate)
		return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "an aggregate within an aggregate");
	nk_sql_call c = {.p = p, .scope = scope, .node = node, .n = node->n_args};
	NK_TRY(NK_ARENA_NEW(p->arena, &c.args, c.n + 1, p->err));
	scope->in_aggregate = true;
	nk_status status = NK_OK;
	for (int i = 0; i < c.n && status == NK_OK; i++)
		status = nk__sql_expr_of(p, scope, node->args[i], &c.args[i]);
	if (status == NK_OK)
		status = nk__sql_aggregate(&c, out);
	scope->in_aggregate = false;
	return status;
}
