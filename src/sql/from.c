/* FROM: tables, files, subqueries and joins. Equalities between the two sides of ON are keys; what else ON says is
 * the join's residual, or a filter of the side that it speaks of where that makes no difference. Comma lists stay
 * cross joins: the optimiser finds their keys in WHERE. */
#include <string.h>
#include <strings.h>

#include "sql/plan_internal.h"

/* AS t(a, b): the first columns get these names. */
static nk_status name_columns(nk_sql_planner *p, const nk_sql_from *from, nk_sql_scope *scope)
{
	if (from->n_columns > scope->n_columns)
		return nk__sql_error(p, NK_SQL_SYNTAX, from->at, "%d column aliases for a table of %d columns",
		                     from->n_columns, scope->n_columns);
	const char **old_names;
	NK_TRY(NK_ARENA_NEW(p->arena, &old_names, from->n_columns + 1, p->err));
	for (int i = 0; i < from->n_columns; i++)
		old_names[i] = scope->columns[i].id;
	NK_TRY(nk__sql_rename(p, &scope->plan, old_names, from->columns, from->n_columns));
	for (int i = 0; i < from->n_columns; i++)
		scope->columns[i].name = scope->columns[i].id = from->columns[i];
	return NK_OK;
}

/* Resolvers hand out references: they become the arena's. */
static nk_status taken(nk_sql_planner *p, nk_status status, nk_plan *plan, nk_plan **out)
{
	NK_TRY(status);
	*out = plan;
	return plan ? nk__sql_own_plan(p, plan) : NK_OK;
}

static nk_status table_plan(nk_sql_planner *p, const nk_sql_from *from, nk_plan **out)
{
	for (const nk_sql_table *cte = p->ctes; cte; cte = cte->next)
		if (strcasecmp(cte->name, from->name) == 0) {
			*out = cte->plan;
			return NK_OK;
		}
	nk_plan *plan = NULL;
	nk_status status = p->resolver->table(p->resolver->data, from->name, &plan, p->err);
	NK_TRY(taken(p, status, plan, out));
	return *out ? NK_OK
	            : nk__sql_error(p, NK_SQL_INTERFACE, from->at, "relation '%s' was not found", from->name);
}

static nk_status file_plan(nk_sql_planner *p, const nk_sql_from *from, nk_plan **out)
{
	nk_plan *plan = NULL;
	nk_status status = p->resolver->file(p->resolver->data, from->name, &plan, p->err);
	NK_TRY(taken(p, status, plan, out));
	return *out ? NK_OK
	            : nk__sql_error(p, NK_SQL_INTERFACE, from->at, "no reader for the file '%.200s'", from->name);
}

static nk_status function_plan(nk_sql_planner *p, const nk_sql_from *from, nk_plan **out)
{
	const char **args;
	nk_plan *plan = NULL;
	if (strcasecmp(from->name, "unnest") == 0) {
		nk_sql_scope scope = {0};
		nk_expr **lists;
		NK_TRY(NK_ARENA_NEW(p->arena, &lists, from->n_args + 1, p->err));
		NK_TRY(nk__sql_one_row(p, &plan));
		scope.plan = plan;
		for (int i = 0; i < from->n_args; i++) {
			const char *name;
			NK_TEXT(text);
			nk_text_format(&text, "column_%d", i);
			NK_TRY(nk_text_finish(&text, p->err));
			NK_TRY(nk_arena_string(p->arena, text.bytes, text.n_bytes, &name, p->err));
			NK_TRY(nk__sql_expr_of(p, &scope, from->args[i], &lists[i]));
			NK_TRY(nk__sql_call1(p, "explode", lists[i], &lists[i]));
			NK_TRY(nk__sql_alias(p, lists[i], name, &lists[i]));
		}
		*out = plan;
		return nk__sql_select(p, out, lists, from->n_args);
	}
	NK_TRY(NK_ARENA_NEW(p->arena, &args, from->n_args + 1, p->err));
	for (int i = 0; i < from->n_args; i++) {
		if (from->args[i]->kind != NK_SQL_STRING)
			return nk__sql_error(p, NK_SQL_SYNTAX, from->args[i]->at, "table functions take constant texts");
		args[i] = from->args[i]->text;
	}
	nk_status status =
		p->resolver->function(p->resolver->data, from->name, args, from->n_args, &plan, p->err);
	NK_TRY(taken(p, status, plan, out));
	return *out ? NK_OK
	            : nk__sql_error(p, NK_SQL_INTERFACE, from->at, "'%s' is not a supported table function",
	                            from->name);
}

static nk_status item(nk_sql_planner *p, const nk_sql_from *from, nk_sql_scope *out)
{
	nk_plan *plan = NULL;
	const char *name = from->alias;
	switch (from->kind) {
	case NK_SQL_FROM_TABLE:
		NK_TRY(table_plan(p, from, &plan));
		name = name ? name : from->name;
		break;
	case NK_SQL_FROM_FILE: NK_TRY(file_plan(p, from, &plan)); break;
	case NK_SQL_FROM_QUERY: NK_TRY(nk__sql_query_plan(p, from->query, &plan)); break;
	default: NK_TRY(function_plan(p, from, &plan)); break;
	}
	NK_TRY(nk__sql_scope_of(p, plan, name, out));
	return name_columns(p, from, out);
}

/* ---- Joins ---- */

typedef struct joining {
	nk_sql_scope left, right, both;
	nk_sql_join_on on;
	int n_residuals, n_left_filters, n_right_filters;
	nk_expr **residuals, **left_filters, **right_filters;
} joining;

/* Which sides an expression speaks of. */
typedef enum side { NEITHER = 0, LEFT = 1, RIGHT = 2, BOTH = 3 } side;

static nk_status side_expr(nk_sql_planner *p, joining *j, const nk_sql_expr *node, nk_expr **out, side *of)
{
	nk__sql_met_reset(&j->both);
	NK_TRY(nk__sql_expr_of(p, &j->both, node, out));
	int n_left = j->left.n_columns;
	*of = (j->both.first_met < n_left && j->both.last_met >= 0 ? LEFT : NEITHER) |
	      (j->both.last_met >= n_left ? RIGHT : NEITHER);
	return NK_OK;
}

static nk_status conjunct(nk_sql_planner *p, joining *j, const nk_sql_expr *node)
{
	nk_expr *x, *y;
	side of_x, of_y;
	if (node->kind == NK_SQL_BINARY && strcmp(node->text, "eq") == 0 && node->args[0]->kind != NK_SQL_TUPLE) {
		NK_TRY(side_expr(p, j, node->args[0], &x, &of_x));
		NK_TRY(side_expr(p, j, node->args[1], &y, &of_y));
		if ((of_x == LEFT && of_y == RIGHT) || (of_x == RIGHT && of_y == LEFT)) {
			j->on.left[j->on.n_keys] = of_x == LEFT ? x : y;
			j->on.right[j->on.n_keys++] = of_x == LEFT ? y : x;
			return NK_OK;
		}
	}
	NK_TRY(side_expr(p, j, node, &x, &of_x));
	nk_join_kind how = j->on.how;
	bool filters_left = how == NK_JOIN_INNER || how == NK_JOIN_RIGHT || how == NK_JOIN_SEMI;
	bool filters_right =
		how == NK_JOIN_INNER || how == NK_JOIN_LEFT || how == NK_JOIN_SEMI || how == NK_JOIN_ANTI;
	if (of_x == LEFT && filters_left)
		j->left_filters[j->n_left_filters++] = x;
	else if (of_x == RIGHT && filters_right)
		j->right_filters[j->n_right_filters++] = x;
	else
		j->residuals[j->n_residuals++] = x;
	return NK_OK;
}

static int column_named(const nk_sql_scope *scope, const char *name)
{
	for (int i = 0; i < scope->n_columns; i++)
		if (!scope->columns[i].hidden && !scope->columns[i].doubled &&
		    strcmp(scope->columns[i].name, name) == 0)
			return i;
	return -1;
}

static nk_status key_pair(nk_sql_planner *p, joining *j, int left, int right)
{
	NK_TRY(nk__sql_column_expr(p, j->left.columns[left].id, &j->on.left[j->on.n_keys]));
	return nk__sql_column_expr(p, j->both.columns[j->left.n_columns + right].id,
	                           &j->on.right[j->on.n_keys++]);
}

/* USING (a): both columns stay, an unqualified name means the left one. */
static nk_status using(nk_sql_planner *p, const nk_sql_from *from, joining *j)
{
	for (int i = 0; i < from->n_using; i++) {
		int left = column_named(&j->left, from->using[i]), right = column_named(&j->right, from->using[i]);
		if (left < 0 || right < 0)
			return nk__sql_error(p, NK_COLUMN_NOT_FOUND, from->at,
			                     "the column \"%s\" of USING is not on both sides", from->using[i]);
		NK_TRY(key_pair(p, j, left, right));
		j->both.columns[j->left.n_columns + right].doubled = true;
	}
	return NK_OK;
}

/* Common names are keys, and show once: the value of the side that has one. */
static nk_status natural(nk_sql_planner *p, joining *j, nk_expr **merged, int *n_merged)
{
	for (int i = 0; i < j->left.n_columns; i++) {
		if (j->left.columns[i].hidden || j->left.columns[i].doubled)
			continue;
		int right = column_named(&j->right, j->left.columns[i].name);
		if (right < 0)
			continue;
		NK_TRY(key_pair(p, j, i, right));
		j->both.columns[j->left.n_columns + right].hidden = true;
		if (j->on.how != NK_JOIN_RIGHT && j->on.how != NK_JOIN_FULL)
			continue;
		nk_expr *args[] = {j->on.left[j->on.n_keys - 1], j->on.right[j->on.n_keys - 1]};
		NK_TRY(nk__sql_call(p, "coalesce", args, 2, NULL, 0, &merged[*n_merged]));
		NK_TRY(nk__sql_alias(p, merged[*n_merged], j->left.columns[i].id, &merged[*n_merged]));
		++*n_merged;
	}
	return j->on.n_keys ? NK_OK
	                    : nk_fail(p->err, NK_SQL_INTERFACE, "no common columns found for NATURAL JOIN");
}

static nk_status join(nk_sql_planner *p, const nk_sql_from *from, nk_sql_scope *out)
{
	static const nk_join_kind kinds[] = {
		[NK_SQL_INNER] = NK_JOIN_INNER, [NK_SQL_LEFT] = NK_JOIN_LEFT, [NK_SQL_RIGHT] = NK_JOIN_RIGHT,
		[NK_SQL_FULL] = NK_JOIN_FULL,   [NK_SQL_SEMI] = NK_JOIN_SEMI, [NK_SQL_ANTI] = NK_JOIN_ANTI,
		[NK_SQL_CROSS] = NK_JOIN_CROSS};
	joining j = {.on.how = kinds[from->join]};
	NK_TRY(nk__sql_from(p, from->flipped ? from->right : from->left, &j.left));
	NK_TRY(nk__sql_from(p, from->flipped ? from->left : from->right, &j.right));
	NK_TRY(nk__sql_scope_join(p, &j.left, &j.right, &j.both));

	const nk_sql_expr *on = from->on;
	nk_sql_expr *const *conjuncts = on && on->kind == NK_SQL_AND ? on->args : (nk_sql_expr *const *)&on;
	int n = !on                      ? 0
	        : on->kind == NK_SQL_AND ? on->n_args
	                                 : 1,
		n_merged = 0, room = NK_MAX(n, from->n_using) + j.left.n_columns + 1;
	nk_expr **merged;
	NK_TRY(NK_ARENA_NEW(p->arena, &j.on.left, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &j.on.right, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &j.residuals, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &j.left_filters, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &j.right_filters, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &merged, room, p->err));
	for (int i = 0; i < n; i++)
		NK_TRY(conjunct(p, &j, conjuncts[i]));
	NK_TRY(using(p, from, &j));
	if (from->natural)
		NK_TRY(natural(p, &j, merged, &n_merged));

	NK_TRY(nk__sql_filter(p, &j.left.plan, j.left_filters, j.n_left_filters));
	NK_TRY(nk__sql_filter(p, &j.right.plan, j.right_filters, j.n_right_filters));
	for (int i = 0; i < j.n_residuals; i++) {
		if (j.on.residual)
			NK_TRY(nk__sql_call2(p, "and", j.on.residual, j.residuals[i], &j.on.residual));
		else
			j.on.residual = j.residuals[i];
	}
	*out = j.both;
	NK_TRY(nk__sql_join(p, j.left.plan, j.right.plan, &j.on, &out->plan));
	if (n_merged)
		NK_TRY(nk__sql_with_columns(p, &out->plan, merged, n_merged));
	if (j.on.how == NK_JOIN_SEMI || j.on.how == NK_JOIN_ANTI) {
		nk_plan *joined = out->plan;
		*out = j.left;
		out->plan = joined;
	}
	return NK_OK;
}

nk_status nk__sql_from(nk_sql_planner *p, const nk_sql_from *from, nk_sql_scope *out)
{
	return from->kind == NK_SQL_FROM_JOIN ? join(p, from, out) : item(p, from, out);
}
