/* Queries around selects: WITH, VALUES, set operations, ORDER BY and LIMIT of what is no select; and statements. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sql/parse.h"
#include "sql/plan_internal.h"

nk_status nk__sql_limit(nk_sql_planner *p, const nk_sql_query *query, nk_plan **plan)
{
	int64_t offset = 0, limit = -1;
	const struct {
		const nk_sql_expr *node;
		int64_t *value;
	} parts[] = {{query->offset, &offset}, {query->limit, &limit}};
	for (int i = 0; i < 2; i++)
		if (parts[i].node &&
		    (!nk__sql_constant_integer(parts[i].node, parts[i].value) || *parts[i].value < 0))
			return nk__sql_error(p, NK_SQL_SYNTAX, parts[i].node->at,
			                     "LIMIT, OFFSET and FETCH take whole numbers");
	return query->offset || query->limit ? nk__sql_slice(p, plan, offset, limit) : NK_OK;
}

nk_status nk__sql_ctes(nk_sql_planner *p, const nk_sql_query *query)
{
	for (int i = 0; i < query->n_ctes; i++) {
		const nk_sql_cte *cte = &query->ctes[i];
		nk_sql_table *table;
		NK_TRY(NK_ARENA_NEW(p->arena, &table, 1, p->err));
		table->name = cte->name;
		NK_TRY(nk__sql_query_plan(p, cte->query, &table->plan));
		if (cte->n_columns) {
			const nk_schema *schema;
			NK_TRY(nk_plan_schema(table->plan, nk_arena_memory(p->arena), &schema, p->err));
			if (cte->n_columns > schema->n_fields)
				return nk__sql_error(p, NK_SQL_SYNTAX, cte->at, "%d column names for %d columns",
				                     cte->n_columns, schema->n_fields);
			const char **old_names;
			NK_TRY(NK_ARENA_NEW(p->arena, &old_names, cte->n_columns, p->err));
			for (int k = 0; k < cte->n_columns; k++)
				old_names[k] = schema->fields[k].name;
			NK_TRY(nk__sql_rename(p, &table->plan, old_names, cte->columns, cte->n_columns));
		}
		table->next = p->ctes;
		p->ctes = table;
	}
	return NK_OK;
}

/* ---- VALUES ---- */

static nk_status values_plan(nk_sql_planner *p, const nk_sql_body *body, nk_plan **out)
{
	nk_sql_scope scope = {0};
	nk_plan **rows, *one;
	nk_expr **exprs;
	NK_TRY(nk__sql_one_row(p, &one));
	NK_TRY(NK_ARENA_NEW(p->arena, &rows, body->n_rows, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &exprs, body->n_columns, p->err));
	for (int r = 0; r < body->n_rows; r++) {
		scope.plan = one;
		for (int c = 0; c < body->n_columns; c++) {
			NK_TEXT(name);
			nk_text_format(&name, "column_%d", c);
			NK_TRY(nk_text_finish(&name, p->err));
			NK_TRY(nk__sql_expr_of(p, &scope, body->values[(int64_t)r * body->n_columns + c], &exprs[c]));
			NK_TRY(nk__sql_alias(p, exprs[c], name.bytes, &exprs[c]));
		}
		rows[r] = scope.plan;
		NK_TRY(nk__sql_select(p, &rows[r], exprs, body->n_columns));
	}
	return nk__sql_concat(p, rows, body->n_rows, NK_CONCAT_VERTICAL_RELAXED, out);
}

/* ---- Set operations ---- */

static nk_status body_plan(nk_sql_planner *p, const nk_sql_body *body, const nk_sql_query *query,
                           nk_plan **out);

static nk_status schema_of(nk_sql_planner *p, nk_plan *plan, const nk_schema **out)
{
	return nk_plan_schema(plan, nk_arena_memory(p->arena), out, p->err);
}

static const char *set_name(nk_sql_set set)
{
	return set == NK_SQL_UNION ? "UNION" : set == NK_SQL_EXCEPT ? "EXCEPT" : "INTERSECT";
}

/* The right side under the names of the left. */
static nk_status align(nk_sql_planner *p, const nk_sql_body *body, nk_plan *left, nk_plan **right)
{
	const nk_schema *a, *b;
	NK_TRY(schema_of(p, left, &a));
	NK_TRY(schema_of(p, *right, &b));
	if (a->n_fields != b->n_fields)
		return nk__sql_error(
			p, NK_SQL_INTERFACE, body->at, "%s requires equal number of columns in each table (%d and %d)%s",
			set_name(body->set), a->n_fields, b->n_fields,
			body->set == NK_SQL_UNION ? " (use 'UNION BY NAME' to combine mismatched tables)" : "");
	bool same = true;
	nk_expr **exprs;
	NK_TRY(NK_ARENA_NEW(p->arena, &exprs, a->n_fields + 1, p->err));
	for (int i = 0; i < a->n_fields; i++) {
		same &= strcmp(a->fields[i].name, b->fields[i].name) == 0;
		NK_TRY(nk__sql_column_expr(p, b->fields[i].name, &exprs[i]));
		NK_TRY(nk__sql_alias(p, exprs[i], a->fields[i].name, &exprs[i]));
	}
	return same ? NK_OK : nk__sql_select(p, right, exprs, a->n_fields);
}

/* Rows of the left with (semi) or without (anti) an equal row of the right; nulls are equal. ALL: as often as they
 * come, by numbering equal rows on both sides. */
static nk_status match_rows(nk_sql_planner *p, const nk_sql_body *body, nk_plan *left, nk_plan *right,
                            nk_plan **out)
{
	const nk_schema *schema, *other;
	NK_TRY(schema_of(p, left, &schema));
	NK_TRY(schema_of(p, right, &other));
	nk_sql_join_on on = {.how = body->set == NK_SQL_EXCEPT ? NK_JOIN_ANTI : NK_JOIN_SEMI,
	                     .nulls_equal = true};
	int n = 0;
	NK_TRY(NK_ARENA_NEW(p->arena, &on.left, schema->n_fields + 2, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &on.right, schema->n_fields + 2, p->err));
	for (int i = 0; i < schema->n_fields; i++) {
		if (body->by_name && nk_schema_find(other, schema->fields[i].name) < 0)
			continue;
		NK_TRY(nk__sql_column_expr(p, schema->fields[i].name, &on.left[n]));
		on.right[n] = on.left[n];
		const nk_dtype *to = schema->fields[i].dtype;
		int at = nk_schema_find(other, schema->fields[i].name);
		if (at >= 0 && other->fields[at].dtype != to)
			NK_TRY(nk__sql_cast(p, on.right[n], to, false, &on.right[n]));
		n++;
	}
	if (body->all) {
		const char *name;
		NK_TRY(nk__sql_fresh(p, &name));
		nk_plan **sides[] = {&left, &right};
		for (int s = 0; s < 2; s++) {
			nk_expr **args, *number;
			NK_TRY(NK_ARENA_NEW(p->arena, &args, n + 1, p->err));
			nk_over over = {.n_keys = n, .mapping = NK_MAP_ROWS};
			NK_TRY(nk__sql_call1(p, "is_null", on.left[0], &number));
			NK_TRY(nk__sql_call1(p, "cum_count", number, &args[0]));
			for (int i = 0; i < n; i++)
				args[1 + i] = s ? on.right[i] : on.left[i];
			NK_TRY(nk__expr_over(args, &over, &number, p->err));
			NK_TRY(nk__sql_own_expr(p, number));
			NK_TRY(nk__sql_alias(p, number, name, &number));
			NK_TRY(nk__sql_with_columns(p, sides[s], &number, 1));
		}
		NK_TRY(nk__sql_column_expr(p, name, &on.left[n]));
		on.right[n] = on.left[n];
		n++;
	}
	on.n_keys = n;
	int n_fields = schema->n_fields;
	nk_expr **shown;
	NK_TRY(NK_ARENA_NEW(p->arena, &shown, n_fields + 1, p->err));
	for (int i = 0; i < n_fields; i++)
		NK_TRY(nk__sql_column_expr(p, schema->fields[i].name, &shown[i]));
	NK_TRY(nk__sql_join(p, left, right, &on, out));
	return body->all ? nk__sql_select(p, out, shown, n_fields) : nk__sql_unique(p, out, NULL, 0, false);
}

static nk_status set_plan(nk_sql_planner *p, const nk_sql_body *body, nk_plan **out)
{
	nk_plan *sides[2];
	if (body->all && body->by_name && body->set != NK_SQL_UNION)
		return nk__sql_error(p, NK_SQL_INTERFACE, body->at, "'%s ALL BY NAME' is not supported",
		                     set_name(body->set));
	NK_TRY(body_plan(p, body->left, NULL, &sides[0]));
	NK_TRY(body_plan(p, body->right, NULL, &sides[1]));
	if (!body->by_name)
		NK_TRY(align(p, body, sides[0], &sides[1]));
	if (body->set != NK_SQL_UNION)
		return match_rows(p, body, sides[0], sides[1], out);
	NK_TRY(nk__sql_concat(p, sides, 2,
	                      body->by_name ? NK_CONCAT_DIAGONAL_RELAXED : NK_CONCAT_VERTICAL_RELAXED, out));
	return body->all ? NK_OK : nk__sql_unique(p, out, NULL, 0, false);
}

/* ORDER BY over results: names, positions and expressions of columns. */
static nk_status order_plan(nk_sql_planner *p, const nk_sql_query *query, nk_plan **plan)
{
	nk_sql_scope scope;
	NK_TRY(nk__sql_scope_of(p, *plan, NULL, &scope));
	int n = query->order_all ? scope.n_columns : query->n_orders;
	nk_expr **keys;
	bool *descending, *nulls_last;
	NK_TRY(NK_ARENA_NEW(p->arena, &keys, n + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &descending, n + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &nulls_last, n + 1, p->err));
	for (int i = 0; i < n; i++) {
		const nk_sql_order *order = query->order_all ? &query->all : &query->orders[i];
		int64_t position = i + 1;
		descending[i] = order->descending;
		nulls_last[i] = order->nulls ? order->nulls < 0 : !order->descending;
		if (!query->order_all && !nk__sql_constant_integer(order->expr, &position)) {
			NK_TRY(nk__sql_expr_of(p, &scope, order->expr, &keys[i]));
			continue;
		}
		if (position < 1 || position > scope.n_columns)
			return nk__sql_error(p, NK_SQL_INTERFACE, order->expr->at,
			                     "ORDER BY ordinal value must refer to a valid column; found %lld",
			                     (long long)position);
		NK_TRY(nk__sql_column_expr(p, scope.columns[position - 1].id, &keys[i]));
	}
	bool extended = scope.plan != *plan;
	*plan = scope.plan;
	NK_TRY(nk__sql_sort(p, plan, keys, descending, nulls_last, n));
	NK_TRY(nk__sql_limit(p, query, plan));
	if (!extended)
		return NK_OK;
	nk_expr **shown;
	NK_TRY(NK_ARENA_NEW(p->arena, &shown, scope.n_columns + 1, p->err));
	for (int i = 0; i < scope.n_columns; i++)
		NK_TRY(nk__sql_column_expr(p, scope.columns[i].id, &shown[i]));
	return nk__sql_select(p, plan, shown, scope.n_columns);
}

/* query: whose ORDER BY and LIMIT a select takes along; NULL: none. */
static nk_status body_plan(nk_sql_planner *p, const nk_sql_body *body, const nk_sql_query *query,
                           nk_plan **out)
{
	switch (body->kind) {
	case NK_SQL_BODY_SELECT: return nk__sql_select_plan(p, body->select, query, out);
	case NK_SQL_BODY_VALUES: NK_TRY(values_plan(p, body, out)); break;
	case NK_SQL_BODY_SET: NK_TRY(set_plan(p, body, out)); break;
	case NK_SQL_BODY_QUERY: NK_TRY(nk__sql_query_plan(p, body->query, out)); break;
	}
	return query ? order_plan(p, query, out) : NK_OK;
}

nk_status nk__sql_query_plan(nk_sql_planner *p, const nk_sql_query *query, nk_plan **out)
{
	nk_sql_table *ctes = p->ctes;
	nk_status status = nk__sql_ctes(p, query);
	if (status == NK_OK)
		status = body_plan(p, query->body, query, out);
	p->ctes = ctes;
	return status;
}

/* ---- Statements ---- */

static nk_sql_action action_of(nk_sql_statement_kind kind)
{
	switch (kind) {
	case NK_SQL_EXPLAIN: return NK_SQL_DO_EXPLAIN;
	case NK_SQL_SHOW_TABLES: return NK_SQL_DO_SHOW_TABLES;
	case NK_SQL_DESCRIBE: return NK_SQL_DO_DESCRIBE;
	case NK_SQL_CREATE_TABLE: return NK_SQL_DO_CREATE_TABLE;
	case NK_SQL_DROP_TABLE: return NK_SQL_DO_DROP_TABLE;
	case NK_SQL_TRUNCATE: return NK_SQL_DO_TRUNCATE;
	case NK_SQL_DELETE:
	case NK_SQL_QUERY: break;
	}
	return NK_SQL_DO_QUERY;
}

nk_status nk_sql_plan(nk_arena *arena, const char *text, int64_t n_bytes, const nk_sql_resolver *resolver,
                      nk_sql_outcome *out, nk_error *err)
{
	nk_sql_statement *statement;
	NK_TRY(nk_sql_parse(arena, text, n_bytes, &statement, err));
	nk_sql_planner p = {.arena = arena, .text = text, .n_bytes = n_bytes, .resolver = resolver, .err = err};
	nk_plan *plan = NULL;
	if (statement->query)
		NK_TRY(nk__sql_query_plan(&p, statement->query, &plan));
	*out = (nk_sql_outcome){.action = action_of(statement->kind),
	                        .plan = plan ? nk_plan_ref(plan) : NULL,
	                        .n_names = statement->n_names,
	                        .names = statement->names,
	                        .if_exists = statement->if_exists,
	                        .if_not_exists = statement->if_not_exists,
	                        .or_replace = statement->or_replace,
	                        .analyze = statement->analyze};
	return NK_OK;
}

nk_status nk_sql_expression(nk_arena *arena, const char *text, int64_t n_bytes, nk_expr **out, nk_error *err)
{
	nk_sql_item item;
	NK_TRY(nk_sql_parse_item(arena, text, n_bytes, &item, err));
	nk_sql_planner p = {.arena = arena, .text = text, .n_bytes = n_bytes, .schemaless = true, .err = err};
	nk_sql_scope scope = {0};
	nk_expr *expr;
	if (item.expr->kind == NK_SQL_STAR && item.expr->n_names == 0 && !item.alias) {
		NK_TRY(nk__selector_classes(~0u, &expr, err));
		NK_TRY(nk__sql_own_expr(&p, expr));
	} else if (item.expr->kind == NK_SQL_STAR) {
		return nk_fail(err, NK_SQL_INTERFACE, "unable to parse '%.*s' as Expr",
		               (int)NK_MIN(n_bytes, (int64_t)200), text);
	} else {
		NK_TRY(nk__sql_expr_of(&p, &scope, item.expr, &expr));
	}
	if (item.alias)
		NK_TRY(nk__sql_alias(&p, expr, item.alias, &expr));
	*out = nk__expr_ref(expr);
	return NK_OK;
}
