/* Subqueries become joins.
 *
 * A condition of a subquery that names columns of the query around it is taken out of the subquery: equalities between
 * an inner and an outer expression become keys, the rest the residual of the join. EXISTS and IN as whole conjuncts are
 * semi and anti joins; elsewhere they are left joins that tell whether there was a partner. A correlated aggregate is
 * grouped by its keys first and then left-joined, where counts of missing groups are 0. */
#include <stdlib.h>
#include <string.h>

#include "sql/plan_internal.h"

static nk_status refuse(nk_sql_planner *p, const nk_sql_expr *node, const char *what)
{
	return nk__sql_error(p, NK_SQL_INTERFACE, node->at, "%s", what);
}

/* The select that a query is, if it is nothing more. */
static const nk_sql_select *select_of(const nk_sql_query *query)
{
	while (query->body->kind == NK_SQL_BODY_QUERY && query->n_orders == 0 && !query->order_all &&
	       !query->limit && !query->offset && query->n_ctes == 0)
		query = query->body->query;
	return query->body->kind == NK_SQL_BODY_SELECT ? query->body->select : NULL;
}

/* A subquery whose rows are known: `scope` holds them, what correlates it is apart. */
typedef struct inner {
	const nk_sql_query *query;
	const nk_sql_select *select; /* NULL: not taken apart, scope is the whole result */
	nk_sql_scope scope;
	nk_sql_correlation correlation;
	bool is_correlated;
} inner;

static nk_status whole(nk_sql_planner *p, const nk_sql_query *query, inner *in)
{
	nk_plan *plan;
	NK_TRY(nk__sql_query_plan(p, query, &plan));
	in->select = NULL;
	NK_TRY(nk__sql_scope_of(p, plan, NULL, &in->scope));
	return nk__sql_scope_isolate(p, &in->scope);
}

/* The rest of a subquery whose rows are known and which is not correlated. */
static nk_status finish(nk_sql_planner *p, inner *in)
{
	if (!in->select)
		return NK_OK;
	nk_plan *plan;
	in->scope.outer_forbidden = true;
	NK_TRY(nk__sql_select_finish(p, in->select, in->query, &in->scope, &plan));
	in->select = NULL;
	NK_TRY(nk__sql_scope_of(p, plan, NULL, &in->scope));
	return nk__sql_scope_isolate(p, &in->scope);
}

static nk_status open(nk_sql_planner *p, nk_sql_scope *outer, const nk_sql_query *query, inner *in)
{
	*in = (inner){.query = query, .select = select_of(query)};
	if (!in->select)
		return whole(p, query, in);
	nk_sql_table *ctes = p->ctes;
	NK_TRY(nk__sql_ctes(p, query));
	bool met = outer->met_outer;
	in->scope.outer = outer;
	nk_status status = nk__sql_rows_of(p, in->select, &in->scope, &in->correlation);
	outer->met_outer = met;
	p->ctes = ctes;
	in->is_correlated = in->correlation.n_keys + in->correlation.n_residuals > 0;
	return status;
}

static nk_status conjoin(nk_sql_planner *p, nk_expr *const *parts, int n, nk_expr **out)
{
	for (int i = 0; i < n; i++) {
		if (!*out)
			*out = parts[i];
		else
			NK_TRY(nk__sql_call2(p, "and", *out, parts[i], out));
	}
	return NK_OK;
}

/* Whether rows of the subquery are rows of its FROM and WHERE. */
static bool is_plain(const inner *in)
{
	return in->select && !nk__sql_select_is_grouped(in->select, in->query) && !in->select->qualify &&
	       !in->query->limit && !in->query->offset && !in->select->n_distinct_on;
}

/* One expression per select item; stars only for EXISTS, which does not ask. */
static nk_status single_item(nk_sql_planner *p, const inner *in, int n_wanted, const nk_sql_expr *node)
{
	if (in->select->n_items != n_wanted)
		return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "SQL subquery returns more than one column");
	for (int i = 0; i < n_wanted; i++)
		if (in->select->items[i].expr->kind == NK_SQL_STAR && in->scope.n_columns != 1)
			return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "SQL subquery returns more than one column");
	return NK_OK;
}

static nk_status item_value(nk_sql_planner *p, inner *in, int i, nk_expr **out)
{
	const nk_sql_expr *expr = in->select->items[i].expr;
	if (expr->kind == NK_SQL_STAR)
		return nk__sql_column_expr(p, in->scope.columns[0].id, out);
	return nk__sql_expr_of(p, &in->scope, expr, out);
}

/* The correlated keys as named columns of the subquery, so that grouping and joining can speak of them. */
static nk_status name_keys(nk_sql_planner *p, inner *in, const char ***names)
{
	nk_sql_correlation *c = &in->correlation;
	NK_TRY(NK_ARENA_NEW(p->arena, names, c->n_keys + 1, p->err));
	for (int i = 0; i < c->n_keys; i++) {
		NK_TRY(nk__sql_fresh(p, &(*names)[i]));
		NK_TRY(nk__sql_alias(p, c->inner[i], (*names)[i], &c->inner[i]));
	}
	return NK_OK;
}

static nk_status columns_of(nk_sql_planner *p, const char *const *names, int n, nk_expr ***out)
{
	NK_TRY(NK_ARENA_NEW(p->arena, out, n + 1, p->err));
	for (int i = 0; i < n; i++)
		NK_TRY(nk__sql_column_expr(p, names[i], &(*out)[i]));
	return NK_OK;
}

/* Turns a correlated subquery that groups into rows of groups: correlated keys are keys of its groups. */
static nk_status group_correlated(nk_sql_planner *p, inner *in, const nk_sql_expr *node)
{
	nk_sql_correlation *c = &in->correlation;
	if (c->n_residuals)
		return refuse(p, node, "a grouped subquery can be correlated by equalities only");
	if (in->select->qualify || in->query->limit || in->query->offset || in->select->n_distinct_on)
		return refuse(p, node, "LIMIT, QUALIFY and DISTINCT ON are not supported in a correlated subquery");
	const char **names;
	NK_TRY(name_keys(p, in, &names));
	NK_TRY(nk__sql_group(p, in->select, in->query, &in->scope, c->inner, c->n_keys));
	NK_TRY(columns_of(p, names, c->n_keys, &c->inner));
	if (in->select->having)
		NK_TRY(nk__sql_where(p, &in->scope, in->select->having, NULL));
	return NK_OK;
}

/* What IN and EXISTS need of a subquery: its rows as scope, keys and residual, values of its items. */
static nk_status open_rows(nk_sql_planner *p, nk_sql_scope *outer, const nk_sql_query *query,
                           const nk_sql_expr *node, int n_values, inner *in, nk_expr ***values)
{
	NK_TRY(open(p, outer, query, in));
	NK_TRY(NK_ARENA_NEW(p->arena, values, n_values + 1, p->err));
	if (in->select && !is_plain(in)) {
		if (in->is_correlated)
			NK_TRY(group_correlated(p, in, node));
		else
			NK_TRY(finish(p, in));
	}
	if (n_values == 0)
		return NK_OK;
	if (!in->select) {
		if (in->scope.n_columns != n_values)
			return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "SQL subquery returns more than one column");
		for (int i = 0; i < n_values; i++)
			NK_TRY(nk__sql_column_expr(p, in->scope.columns[i].id, &(*values)[i]));
		return NK_OK;
	}
	NK_TRY(single_item(p, in, n_values, node));
	in->scope.outer_forbidden = true;
	in->scope.aliases = false;
	for (int i = 0; i < n_values; i++)
		NK_TRY(item_value(p, in, i, &(*values)[i]));
	return NK_OK;
}

static nk_status add_key(nk_sql_planner *p, nk_sql_join_on *on, nk_expr *left, nk_expr *right)
{
	(void)p;
	on->left[on->n_keys] = left;
	on->right[on->n_keys++] = right;
	return NK_OK;
}

static nk_status correlated_on(nk_sql_planner *p, const inner *in, nk_join_kind how, int n_more,
                               nk_sql_join_on *on)
{
	const nk_sql_correlation *c = &in->correlation;
	*on = (nk_sql_join_on){.how = how};
	NK_TRY(NK_ARENA_NEW(p->arena, &on->left, c->n_keys + n_more + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &on->right, c->n_keys + n_more + 1, p->err));
	for (int i = 0; i < c->n_keys; i++)
		NK_TRY(add_key(p, on, c->outer[i], c->inner[i]));
	return conjoin(p, c->residuals, c->n_residuals, &on->residual);
}

static nk_status needs_plan(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *node)
{
	return scope->plan && !scope->in_aggregate ? NK_OK : refuse(p, node, "a subquery cannot stand here");
}

/* ---- Conjuncts ---- */

static int n_operands(const nk_sql_expr *node)
{
	return node->args[0]->kind == NK_SQL_TUPLE ? node->args[0]->n_args : 1;
}

static nk_status operands(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr ***out)
{
	const nk_sql_expr *x = node->args[0];
	int n = n_operands(node);
	NK_TRY(NK_ARENA_NEW(p->arena, out, n, p->err));
	for (int i = 0; i < n; i++)
		NK_TRY(nk__sql_expr_of(p, scope, x->kind == NK_SQL_TUPLE ? x->args[i] : x, &(*out)[i]));
	return NK_OK;
}

/* How many rows a subquery has and whether a null is among its values, beside every row of the scope. */
static nk_status add_statistics(nk_sql_planner *p, nk_sql_scope *scope, nk_plan *rows, nk_expr *value,
                                nk_expr **n_rows, nk_expr **has_null)
{
	const char *names[2];
	nk_expr *exprs[2], *zero;
	NK_TRY(nk__sql_fresh(p, &names[0]));
	NK_TRY(nk__sql_fresh(p, &names[1]));
	NK_TRY(nk__sql_call(p, "len", NULL, 0, NULL, 0, &exprs[0]));
	NK_TRY(nk__sql_call1(p, "null_count", value, &exprs[1]));
	for (int i = 0; i < 2; i++)
		NK_TRY(nk__sql_alias(p, exprs[i], names[i], &exprs[i]));
	NK_TRY(nk__sql_select(p, &rows, exprs, 2));
	nk_sql_join_on cross = {.how = NK_JOIN_CROSS};
	NK_TRY(nk__sql_join(p, scope->plan, rows, &cross, &scope->plan));
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_column_expr(p, names[0], n_rows));
	NK_TRY(nk__sql_column_expr(p, names[1], has_null));
	return nk__sql_call2(p, "gt", *has_null, zero, has_null);
}

/* x NOT IN: no row whose value is equal or may be (a null on either side). */
static nk_status not_in(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node)
{
	inner in;
	nk_expr **values, **needles;
	int n = n_operands(node);
	NK_TRY(open_rows(p, scope, node->query, node, n, &in, &values));
	NK_TRY(operands(p, scope, node, &needles));
	nk_sql_join_on on;
	if (in.is_correlated || n > 1) {
		NK_TRY(correlated_on(p, &in, NK_JOIN_ANTI, 0, &on));
		for (int i = 0; i < n; i++) {
			nk_expr *equal, *left, *right;
			NK_TRY(nk__sql_call2(p, "eq", needles[i], values[i], &equal));
			NK_TRY(nk__sql_call1(p, "is_null", needles[i], &left));
			NK_TRY(nk__sql_call1(p, "is_null", values[i], &right));
			NK_TRY(nk__sql_call2(p, "or", equal, left, &equal));
			NK_TRY(nk__sql_call2(p, "or", equal, right, &equal));
			NK_TRY(conjoin(p, &equal, 1, &on.residual));
		}
		return nk__sql_join(p, scope->plan, in.scope.plan, &on, &scope->plan);
	}
	NK_TRY(correlated_on(p, &in, NK_JOIN_ANTI, 1, &on));
	NK_TRY(add_key(p, &on, needles[0], values[0]));
	NK_TRY(nk__sql_join(p, scope->plan, in.scope.plan, &on, &scope->plan));
	nk_expr *n_rows, *has_null, *zero, *empty, *certain;
	NK_TRY(add_statistics(p, scope, in.scope.plan, values[0], &n_rows, &has_null));
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_call2(p, "eq", n_rows, zero, &empty));
	NK_TRY(nk__sql_call1(p, "not", has_null, &has_null));
	NK_TRY(nk__sql_call1(p, "is_not_null", needles[0], &certain));
	NK_TRY(nk__sql_call2(p, "and", certain, has_null, &certain));
	NK_TRY(nk__sql_call2(p, "or", empty, certain, &certain));
	return nk__sql_filter(p, &scope->plan, &certain, 1);
}

nk_status nk__sql_subquery_filter(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, bool *done)
{
	bool negated = false;
	while (node->kind == NK_SQL_UNARY && strcmp(node->text, "not") == 0) {
		negated = !negated;
		node = node->args[0];
	}
	*done = node->kind == NK_SQL_EXISTS || node->kind == NK_SQL_IN_QUERY;
	if (!*done)
		return NK_OK;
	NK_TRY(needs_plan(p, scope, node));
	inner in;
	nk_expr **values, **needles;
	nk_sql_join_on on;
	if (node->kind == NK_SQL_EXISTS) {
		/* An aggregate without groups is a row whatever there is. */
		const nk_sql_select *select = select_of(node->query);
		bool always = select && nk__sql_select_is_grouped(select, node->query) && !select->has_group &&
		              !select->having && !node->query->limit && !node->query->offset;
		if (always) {
			nk_expr *no;
			NK_TRY(nk__sql_boolean(p, !negated, &no));
			return nk__sql_filter(p, &scope->plan, &no, 1);
		}
		NK_TRY(open_rows(p, scope, node->query, node, 0, &in, &values));
		NK_TRY(correlated_on(p, &in, negated ? NK_JOIN_ANTI : NK_JOIN_SEMI, 0, &on));
		if (!in.is_correlated) /* one row tells */
			NK_TRY(nk__sql_slice(p, &in.scope.plan, 0, 1));
		return nk__sql_join(p, scope->plan, in.scope.plan, &on, &scope->plan);
	}
	if (negated != node->negated)
		return not_in(p, scope, node);
	NK_TRY(open_rows(p, scope, node->query, node, n_operands(node), &in, &values));
	NK_TRY(operands(p, scope, node, &needles));
	NK_TRY(correlated_on(p, &in, NK_JOIN_SEMI, n_operands(node), &on));
	for (int i = 0; i < n_operands(node); i++)
		NK_TRY(add_key(p, &on, needles[i], values[i]));
	return nk__sql_join(p, scope->plan, in.scope.plan, &on, &scope->plan);
}

/* ---- Values ---- */

/* Every row by its position: what a condition decides row by row is joined back by number. */
static nk_status number_rows(nk_sql_planner *p, nk_plan *plan, nk_plan **out, const char **number)
{
	NK_TRY(nk__sql_fresh(p, number));
	NK_TRY(nk_plan_new(NK_PLAN_ROW_INDEX, &plan, 1, NULL, 0, NULL, 0, out, p->err));
	NK_TRY(nk__sql_own_plan(p, *out));
	(*out)->names = calloc(1, sizeof *(*out)->names);
	if (!(*out)->names || !((*out)->names[0] = strdup(*number)))
		return nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a plan");
	(*out)->n_names = 1;
	return NK_OK;
}

/* A mark for any condition: the numbers of the rows that have a partner, once each. */
static nk_status mark_by_number(nk_sql_planner *p, nk_sql_scope *scope, inner *in, nk_expr *needle,
                                nk_expr *value, nk_expr **out)
{
	const char *number, *found, *name;
	nk_plan *indexed, *rows;
	nk_sql_join_on on;
	NK_TRY(number_rows(p, scope->plan, &indexed, &number));
	NK_TRY(correlated_on(p, in, NK_JOIN_INNER, 1, &on));
	if (needle)
		NK_TRY(add_key(p, &on, needle, value));
	NK_TRY(nk__sql_join(p, indexed, in->scope.plan, &on, &rows));
	nk_expr *key, *left, *right, *yes;
	NK_TRY(nk__sql_fresh(p, &found));
	NK_TRY(nk__sql_fresh(p, &name));
	NK_TRY(nk__sql_column_expr(p, number, &left));
	NK_TRY(nk__sql_alias(p, left, found, &key));
	NK_TRY(nk__sql_select(p, &rows, &key, 1));
	NK_TRY(nk__sql_unique(p, &rows, NULL, 0, false));
	NK_TRY(nk__sql_boolean(p, true, &yes));
	NK_TRY(nk__sql_alias(p, yes, name, &yes));
	NK_TRY(nk__sql_with_columns(p, &rows, &yes, 1));
	NK_TRY(nk__sql_column_expr(p, found, &right));
	nk_sql_join_on back = {.how = NK_JOIN_LEFT, .n_keys = 1, .left = &left, .right = &right};
	NK_TRY(nk__sql_join(p, indexed, rows, &back, &scope->plan));
	NK_TRY(nk__sql_column_expr(p, name, out));
	return nk__sql_call1(p, "is_not_null", *out, out);
}

/* Left-joins distinct rows of (keys, values) with a mark: true where there was a partner. */
static nk_status mark(nk_sql_planner *p, nk_sql_scope *scope, inner *in, nk_expr *needle, nk_expr *value,
                      nk_expr **out)
{
	nk_sql_correlation *c = &in->correlation;
	const char **names, *name;
	nk_expr **exprs;
	int n = c->n_keys + (needle != NULL);
	if (c->n_residuals)
		return mark_by_number(p, scope, in, needle, value, out);
	NK_TRY(NK_ARENA_NEW(p->arena, &names, n + 2, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &exprs, n + 2, p->err));
	nk_sql_join_on on = {.how = NK_JOIN_LEFT};
	NK_TRY(NK_ARENA_NEW(p->arena, &on.left, n + 1, p->err));
	for (int i = 0; i < n; i++) {
		NK_TRY(nk__sql_fresh(p, &names[i]));
		NK_TRY(nk__sql_alias(p, i < c->n_keys ? c->inner[i] : value, names[i], &exprs[i]));
		on.left[i] = i < c->n_keys ? c->outer[i] : needle;
	}
	on.n_keys = n;
	nk_plan *rows = in->scope.plan;
	if (n) {
		NK_TRY(nk__sql_select(p, &rows, exprs, n));
		NK_TRY(nk__sql_unique(p, &rows, NULL, 0, false));
	} else {
		NK_TRY(nk__sql_slice(p, &rows, 0, 1));
	}
	NK_TRY(columns_of(p, names, n, &on.right));
	nk_expr *yes;
	NK_TRY(nk__sql_fresh(p, &name));
	NK_TRY(nk__sql_boolean(p, true, &yes));
	NK_TRY(nk__sql_alias(p, yes, name, &yes));
	NK_TRY(nk__sql_with_columns(p, &rows, &yes, 1));
	NK_TRY(nk__sql_join(p, scope->plan, rows, &on, &scope->plan));
	NK_TRY(nk__sql_column_expr(p, name, out));
	return nk__sql_call1(p, "is_not_null", *out, out);
}

static nk_status in_value(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	inner in;
	nk_expr **values, **needles, *found, *n_rows, *has_null, *zero, *empty, *unknown, *yes, *no, *null;
	if (n_operands(node) != 1)
		return refuse(p, node, "rows in a subquery are supported as a condition of WHERE only");
	NK_TRY(open_rows(p, scope, node->query, node, 1, &in, &values));
	NK_TRY(operands(p, scope, node, &needles));
	if (node->args[0]->kind == NK_SQL_NULL) {
		const nk_dtype *dtype;
		NK_TRY(nk__sql_bound_dtype(p, &in.scope, values[0], &dtype));
		if (dtype)
			NK_TRY(nk__sql_cast(p, needles[0], dtype, false, &needles[0]));
	}
	NK_TRY(mark(p, scope, &in, needles[0], values[0], &found));
	NK_TRY(nk__sql_boolean(p, true, &yes));
	NK_TRY(nk__sql_boolean(p, false, &no));
	NK_TRY(nk__sql_null(p, &null));
	NK_TRY(nk__sql_call1(p, "is_null", needles[0], &unknown));
	if (!in.is_correlated) {
		NK_TRY(add_statistics(p, scope, in.scope.plan, values[0], &n_rows, &has_null));
		NK_TRY(nk__sql_integer(p, 0, &zero));
		NK_TRY(nk__sql_call2(p, "eq", n_rows, zero, &empty));
		NK_TRY(nk__sql_call2(p, "or", unknown, has_null, &unknown));
		NK_TRY(nk__sql_when(p, unknown, null, no, &unknown));
		NK_TRY(nk__sql_when(p, empty, no, unknown, &unknown));
	} else {
		NK_TRY(nk__sql_when(p, unknown, null, no, &unknown));
	}
	NK_TRY(nk__sql_when(p, found, yes, unknown, out));
	return node->negated ? nk__sql_call1(p, "not", *out, out) : NK_OK;
}

/* x > ALL (subquery): against its least and greatest values. */
static nk_status quantified(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	bool equal = strcmp(node->text, "eq") == 0, unequal = strcmp(node->text, "ne") == 0;
	if ((equal && !node->is_all) || (unequal && node->is_all)) {
		nk_sql_expr as_in = *node;
		as_in.kind = NK_SQL_IN_QUERY;
		as_in.negated = unequal;
		return in_value(p, scope, &as_in, out);
	}
	if (equal || unequal)
		return refuse(p, node, "= ALL and <> ANY are not supported");
	inner in;
	nk_expr **values, *x, *bound, *holds, *n_rows, *has_null, *zero, *empty, *null, *all;
	NK_TRY(open_rows(p, scope, node->query, node, 1, &in, &values));
	if (in.is_correlated)
		return refuse(p, node, "ALL and ANY of a correlated subquery are not supported");
	NK_TRY(nk__sql_expr_of(p, scope, node->args[0], &x));
	bool greater = node->text[0] == 'g';
	const char *name;
	nk_plan *rows = in.scope.plan;
	NK_TRY(nk__sql_fresh(p, &name));
	NK_TRY(nk__sql_call1(p, greater == node->is_all ? "max" : "min", values[0], &bound));
	NK_TRY(nk__sql_alias(p, bound, name, &bound));
	NK_TRY(nk__sql_select(p, &rows, &bound, 1));
	nk_sql_join_on cross = {.how = NK_JOIN_CROSS};
	NK_TRY(nk__sql_join(p, scope->plan, rows, &cross, &scope->plan));
	NK_TRY(nk__sql_column_expr(p, name, &bound));
	NK_TRY(nk__sql_call2(p, node->text, x, bound, &holds));
	NK_TRY(add_statistics(p, scope, in.scope.plan, values[0], &n_rows, &has_null));
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_null(p, &null));
	NK_TRY(nk__sql_cast(p, null, nk_dtype_of(NK_TYPE_BOOLEAN), true, &null));
	NK_TRY(nk__sql_call2(p, "eq", n_rows, zero, &empty));
	/* A null among the values leaves open what the others do not decide. */
	NK_TRY(nk__sql_boolean(p, node->is_all, &all));
	NK_TRY(nk__sql_when(p, has_null, null, all, &null));
	NK_TRY(nk__sql_call2(p, node->is_all ? "and" : "or", holds, null, &holds));
	return nk__sql_when(p, empty, all, holds, out);
}

static nk_status exists_value(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	inner in;
	nk_expr **values;
	NK_TRY(open_rows(p, scope, node->query, node, 0, &in, &values));
	NK_TRY(mark(p, scope, &in, NULL, NULL, out));
	return node->negated ? nk__sql_call1(p, "not", *out, out) : NK_OK;
}

/* A subquery without correlation: one row beside every row. */
static nk_status single_value(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, inner *in,
                              nk_expr **out)
{
	NK_TRY(finish(p, in));
	if (in->scope.n_columns != 1)
		return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "SQL subquery returns more than one column");
	const nk_sql_select *select = select_of(node->query);
	bool one = select && nk__sql_select_is_grouped(select, node->query) && !select->has_group &&
	           !select->having && !node->query->limit;
	nk_sql_join_on cross = {.how = NK_JOIN_CROSS};
	nk_expr *value;
	NK_TRY(nk__sql_column_expr(p, in->scope.columns[0].id, &value));
	if (!one) {
		/* None gives null, several fail: the one value is the left join's only partner. */
		nk_expr *key;
		cross = (nk_sql_join_on){.how = NK_JOIN_LEFT, .n_keys = 1, .one_right = true};
		NK_TRY(nk__sql_integer(p, 0, &key));
		cross.left = cross.right = &key;
		NK_TRY(nk__sql_join(p, scope->plan, in->scope.plan, &cross, &scope->plan));
	} else {
		NK_TRY(nk__sql_join(p, scope->plan, in->scope.plan, &cross, &scope->plan));
	}
	*out = value;
	return NK_OK;
}

static nk_status correlated_value(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, inner *in,
                                  nk_expr **out)
{
	nk_sql_correlation *c = &in->correlation;
	NK_TRY(single_item(p, in, 1, node));
	nk_sql_join_on on;
	bool grouped = nk__sql_select_is_grouped(in->select, in->query);
	if (grouped) {
		const nk_sql_select *select = in->select;
		NK_TRY(group_correlated(p, in, node));
		NK_TRY(correlated_on(p, in, NK_JOIN_LEFT, 0, &on));
		on.one_right = select->has_group;
		NK_TRY(nk__sql_join(p, scope->plan, in->scope.plan, &on, &scope->plan));
		in->scope.coalesce_counts = !select->has_group;
		in->scope.aliases = false;
		return item_value(p, in, 0, out);
	}
	if (c->n_residuals)
		return refuse(p, node,
		              "a subquery for one value can be correlated by equalities only, unless it aggregates");
	/* Only the first of each group with ORDER BY and LIMIT 1; otherwise there may be one. */
	const nk_sql_query *query = in->query;
	int64_t limit = 0;
	bool first = query->limit && nk__sql_constant_integer(query->limit, &limit) && limit == 1;
	if ((query->limit && !first) || query->offset || in->select->qualify || in->select->n_distinct_on)
		return refuse(p, node, "of LIMIT in a correlated subquery only LIMIT 1 is supported");
	const char **names, *id;
	nk_expr *value;
	NK_TRY(name_keys(p, in, &names));
	NK_TRY(nk__sql_fresh(p, &id));
	in->scope.outer_forbidden = true;
	NK_TRY(item_value(p, in, 0, &value));
	NK_TRY(nk__sql_alias(p, value, id, &value));
	nk_expr **keys, **exprs;
	bool *descending, *nulls_last;
	NK_TRY(NK_ARENA_NEW(p->arena, &keys, query->n_orders + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &descending, query->n_orders + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &nulls_last, query->n_orders + 1, p->err));
	for (int i = 0; first && i < query->n_orders; i++) {
		const nk_sql_order *order = &query->orders[i];
		NK_TRY(nk__sql_expr_of(p, &in->scope, order->expr, &keys[i]));
		descending[i] = order->descending;
		nulls_last[i] = order->nulls ? order->nulls < 0 : !order->descending;
	}
	nk_plan *rows = in->scope.plan;
	if (first)
		NK_TRY(nk__sql_sort(p, &rows, keys, descending, nulls_last, query->n_orders));
	NK_TRY(NK_ARENA_NEW(p->arena, &exprs, c->n_keys + 1, p->err));
	for (int i = 0; i < c->n_keys; i++)
		exprs[i] = c->inner[i];
	exprs[c->n_keys] = value;
	NK_TRY(nk__sql_select(p, &rows, exprs, c->n_keys + 1));
	if (first)
		NK_TRY(nk__sql_unique(p, &rows, names, c->n_keys, true));
	NK_TRY(columns_of(p, names, c->n_keys, &c->inner));
	NK_TRY(correlated_on(p, in, NK_JOIN_LEFT, 0, &on));
	on.one_right = !first;
	NK_TRY(nk__sql_join(p, scope->plan, rows, &on, &scope->plan));
	return nk__sql_column_expr(p, id, out);
}

/* An aggregate correlated by any condition: the distinct outer values meet the inner rows first. */
static nk_status residual_value(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, inner *in,
                                nk_expr **out)
{
	nk_sql_correlation *c = &in->correlation;
	const char *number;
	nk_plan *indexed;
	NK_TRY(number_rows(p, scope->plan, &indexed, &number));
	nk_sql_join_on on;
	NK_TRY(correlated_on(p, in, NK_JOIN_INNER, 0, &on));
	NK_TRY(nk__sql_join(p, indexed, in->scope.plan, &on, &in->scope.plan));
	nk_expr *key;
	const char *inner_number;
	NK_TRY(nk__sql_fresh(p, &inner_number));
	NK_TRY(nk__sql_column_expr(p, number, &key));
	NK_TRY(nk__sql_alias(p, key, inner_number, &key));
	NK_TRY(nk__sql_group(p, in->select, in->query, &in->scope, &key, 1));
	nk_expr *left, *right;
	NK_TRY(nk__sql_column_expr(p, number, &left));
	NK_TRY(nk__sql_column_expr(p, inner_number, &right));
	nk_sql_join_on back = {.how = NK_JOIN_LEFT, .n_keys = 1, .left = &left, .right = &right};
	NK_TRY(nk__sql_join(p, indexed, in->scope.plan, &back, &scope->plan));
	in->scope.coalesce_counts = true;
	in->scope.aliases = false;
	(void)c;
	NK_TRY(single_item(p, in, 1, node));
	return item_value(p, in, 0, out);
}

static nk_status scalar_value(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	inner in;
	NK_TRY(open(p, scope, node->query, &in));
	if (!in.select || !in.is_correlated)
		return single_value(p, scope, node, &in, out);
	bool aggregates =
		nk__sql_select_is_grouped(in.select, in.query) && !in.select->has_group && !in.select->having;
	if (in.correlation.n_residuals && aggregates)
		return residual_value(p, scope, node, &in, out);
	return correlated_value(p, scope, node, &in, out);
}

nk_status nk__sql_subquery(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	NK_TRY(needs_plan(p, scope, node));
	switch (node->kind) {
	case NK_SQL_EXISTS: return exists_value(p, scope, node, out);
	case NK_SQL_IN_QUERY: return in_value(p, scope, node, out);
	case NK_SQL_QUANTIFIED: return quantified(p, scope, node, out);
	default: return scalar_value(p, scope, node, out);
	}
}

/* ---- WHERE ---- */

static bool has_subquery(const nk_sql_expr *node)
{
	if (node->query)
		return true;
	const nk_sql_expr *child;
	for (int i = 0; (child = nk__sql_child(node, i)); i++)
		if (has_subquery(child))
			return true;
	return false;
}

static nk_status correlate(nk_sql_planner *p, nk_sql_correlation *c, nk_expr *inner_key, nk_expr *outer_key,
                           nk_expr *residual)
{
	int needed = NK_MAX(c->n_keys, c->n_residuals) + 1;
	if (needed > c->capacity) {
		int larger = needed * 2 + 8;
		nk_expr **lists[3], **old[3] = {c->inner, c->outer, c->residuals};
		for (int i = 0; i < 3; i++) {
			NK_TRY(NK_ARENA_NEW(p->arena, &lists[i], larger, p->err));
			if (old[i])
				memcpy(lists[i], old[i], (size_t)c->capacity * sizeof *lists[i]);
		}
		c->inner = lists[0];
		c->outer = lists[1];
		c->residuals = lists[2];
		c->capacity = larger;
	}
	if (residual) {
		c->residuals[c->n_residuals++] = residual;
	} else {
		c->inner[c->n_keys] = inner_key;
		c->outer[c->n_keys++] = outer_key;
	}
	return NK_OK;
}

typedef enum origin { NOWHERE = 0, INNER = 1, OUTER = 2 } origin;

static nk_status origin_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out,
                           int *of)
{
	nk__sql_met_reset(scope);
	NK_TRY(nk__sql_expr_of(p, scope, node, out));
	*of = (scope->last_met >= 0 ? INNER : NOWHERE) | (scope->met_outer ? OUTER : NOWHERE);
	return NK_OK;
}

static nk_status where_part(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                            nk_sql_correlation *correlation)
{
	bool done;
	NK_TRY(nk__sql_subquery_filter(p, scope, node, &done));
	if (done)
		return NK_OK;
	nk_expr *x, *y;
	int of_x, of_y;
	if (correlation && node->kind == NK_SQL_BINARY && strcmp(node->text, "eq") == 0 &&
	    node->args[0]->kind != NK_SQL_TUPLE && !has_subquery(node)) {
		NK_TRY(origin_of(p, scope, node->args[0], &x, &of_x));
		NK_TRY(origin_of(p, scope, node->args[1], &y, &of_y));
		if (of_x == INNER && of_y == OUTER)
			return correlate(p, correlation, x, y, NULL);
		if (of_x == OUTER && of_y == INNER)
			return correlate(p, correlation, y, x, NULL);
	}
	NK_TRY(origin_of(p, scope, node, &x, &of_x));
	if (of_x & OUTER) {
		if (!correlation)
			return refuse(p, node, "a column of the outer query is not supported here");
		return correlate(p, correlation, NULL, NULL, x);
	}
	return nk__sql_filter(p, &scope->plan, &x, 1);
}

nk_status nk__sql_where(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *condition,
                        nk_sql_correlation *correlation)
{
	nk_sql_expr *const *parts =
		condition->kind == NK_SQL_AND ? condition->args : (nk_sql_expr *const *)&condition;
	int n = condition->kind == NK_SQL_AND ? condition->n_args : 1;
	/* What is cheap goes first: conditions without subqueries. */
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < n; i++)
			if (has_subquery(parts[i]) == (pass == 1))
				NK_TRY(where_part(p, scope, parts[i], correlation));
	return NK_OK;
}
