/* Names: what a name in the text stands for, and what a result is called. Column names are case-sensitive, names of
 * tables are not. */
#include <string.h>
#include <strings.h>

#include "sql/plan_internal.h"

nk_status nk__sql_scope_of(nk_sql_planner *p, nk_plan *plan, const char *name, nk_sql_scope *out)
{
	const nk_schema *schema;
	NK_TRY(nk_plan_schema(plan, nk_arena_memory(p->arena), &schema, p->err));
	*out = (nk_sql_scope){.plan = plan, .n_columns = schema->n_fields, .n_sources = 1};
	NK_TRY(NK_ARENA_NEW(p->arena, &out->columns, schema->n_fields + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &out->sources, 1, p->err));
	out->sources[0] = name;
	for (int i = 0; i < schema->n_fields; i++) {
		nk_sql_column *column = &out->columns[i];
		column->dtype = schema->fields[i].dtype;
		NK_TRY(nk_arena_string(p->arena, schema->fields[i].name, (int64_t)strlen(schema->fields[i].name),
		                       &column->name, p->err));
		column->id = column->name;
	}
	return NK_OK;
}

nk_status nk__sql_scope_isolate(nk_sql_planner *p, nk_sql_scope *scope)
{
	const char **from, **to;
	NK_TRY(NK_ARENA_NEW(p->arena, &from, scope->n_columns + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &to, scope->n_columns + 1, p->err));
	for (int i = 0; i < scope->n_columns; i++) {
		from[i] = scope->columns[i].id;
		NK_TRY(nk__sql_fresh(p, &to[i]));
		scope->columns[i].id = to[i];
	}
	return nk__sql_rename(p, &scope->plan, from, to, scope->n_columns);
}

static bool has_id(const nk_sql_scope *scope, const char *id)
{
	for (int i = 0; i < scope->n_columns; i++)
		if (strcmp(scope->columns[i].id, id) == 0)
			return true;
	return false;
}

/* name:table, and a number where that is taken too. */
static nk_status other_id(nk_sql_planner *p, const nk_sql_scope *left, const nk_sql_scope *right,
                          const nk_sql_column *column, const char **out)
{
	const char *source = right->sources[column->source];
	NK_TEXT(text);
	for (int n = 1;; n++) {
		text.n_bytes = 0;
		nk_text_format(&text, "%s:%s", column->name, source ? source : "right");
		if (n > 1)
			nk_text_format(&text, ":%d", n);
		NK_TRY(nk_text_finish(&text, p->err));
		if (!has_id(left, text.bytes) && !has_id(right, text.bytes))
			return nk_arena_string(p->arena, text.bytes, text.n_bytes, out, p->err);
	}
}

nk_status nk__sql_scope_join(nk_sql_planner *p, const nk_sql_scope *left, nk_sql_scope *right,
                             nk_sql_scope *out)
{
	for (int i = 0; i < right->n_sources; i++)
		for (int j = 0; j < left->n_sources; j++)
			if (right->sources[i] && left->sources[j] && strcasecmp(right->sources[i], left->sources[j]) == 0)
				return nk_fail(p->err, NK_SQL_INTERFACE,
				               "the table name '%s' stands twice in FROM: give one of them an alias",
				               right->sources[i]);
	*out = (nk_sql_scope){.n_columns = left->n_columns + right->n_columns,
	                      .n_sources = left->n_sources + right->n_sources};
	NK_TRY(NK_ARENA_NEW(p->arena, &out->columns, out->n_columns + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &out->sources, out->n_sources + 1, p->err));
	memcpy(out->sources, left->sources, (size_t)left->n_sources * sizeof *out->sources);
	memcpy(out->sources + left->n_sources, right->sources, (size_t)right->n_sources * sizeof *out->sources);
	const char **from, **to;
	int n_renamed = 0;
	NK_TRY(NK_ARENA_NEW(p->arena, &from, right->n_columns + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &to, right->n_columns + 1, p->err));
	for (int i = 0; i < right->n_columns; i++)
		if (has_id(left, right->columns[i].id)) {
			from[n_renamed] = right->columns[i].id;
			NK_TRY(other_id(p, left, right, &right->columns[i], &to[n_renamed]));
			right->columns[i].id = to[n_renamed++];
		}
	NK_TRY(nk__sql_rename(p, &right->plan, from, to, n_renamed));
	if (left->n_columns)
		memcpy(out->columns, left->columns, (size_t)left->n_columns * sizeof *out->columns);
	for (int i = 0; i < right->n_columns; i++) {
		out->columns[left->n_columns + i] = right->columns[i];
		out->columns[left->n_columns + i].source += left->n_sources;
	}
	nk__sql_met_reset(out);
	return NK_OK;
}

static int source_of(const nk_sql_scope *scope, const char *name)
{
	for (int i = 0; i < scope->n_sources; i++)
		if (scope->sources[i] && strcasecmp(scope->sources[i], name) == 0)
			return i;
	return -1;
}

static nk_status ambiguous(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *name, int first,
                           int second)
{
	const char *a = scope->sources[scope->columns[first].source],
			   *b = scope->sources[scope->columns[second].source];
	const char *column = name->names[0];
	if (!a || !b)
		return nk__sql_error(p, NK_SQL_INTERFACE, name->at, "ambiguous reference to column \"%s\"", column);
	return nk__sql_error(p, NK_SQL_INTERFACE, name->at,
	                     "ambiguous reference to column \"%s\" (use one of: %s.%s, %s.%s)", column, a, column,
	                     b, column);
}

nk_status nk__sql_scope_find(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *name, int *out,
                             int *n_used)
{
	*out = -1;
	*n_used = 1;
	if (name->n_names > 1) {
		int source = source_of(scope, name->names[0]);
		for (int i = 0; source >= 0 && i < scope->n_columns; i++)
			if (scope->columns[i].source == source && strcmp(scope->columns[i].name, name->names[1]) == 0) {
				*out = i;
				*n_used = 2;
				return NK_OK;
			}
		if (source >= 0)
			return NK_OK;
	}
	for (int i = 0; i < scope->n_columns; i++) {
		const nk_sql_column *column = &scope->columns[i];
		if (column->hidden || column->doubled || strcmp(column->name, name->names[0]) != 0)
			continue;
		if (*out >= 0)
			return ambiguous(p, scope, name, *out, i);
		*out = i;
	}
	/* As a join shows it: "a:u". */
	for (int i = 0; i < scope->n_columns && *out < 0; i++)
		if (!scope->columns[i].hidden && strcmp(scope->columns[i].id, name->names[0]) == 0)
			*out = i;
	return NK_OK;
}

nk_status nk__sql_scope_missing(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *name)
{
	if (name->n_names > 1) {
		if (source_of(scope, name->names[0]) >= 0)
			return nk__sql_error(p, NK_SQL_INTERFACE, name->at, "no column named '%s' found in table '%s'",
			                     name->names[1], name->names[0]);
		return nk__sql_error(p, NK_SQL_INTERFACE, name->at, "no table or struct column named '%s' found",
		                     name->names[0]);
	}
	NK_TEXT(valid);
	for (int i = 0; i < scope->n_columns && valid.n_bytes < 200; i++)
		if (!scope->columns[i].hidden)
			nk_text_format(&valid, "%s\"%s\"", valid.n_bytes ? ", " : "", scope->columns[i].name);
	NK_TRY(nk_text_finish(&valid, p->err));
	return nk__sql_error(p, NK_COLUMN_NOT_FOUND, name->at,
	                     "unable to find column \"%.80s\"; valid columns: [%s]", name->names[0], valid.bytes);
}

/* ---- Trees ---- */

const nk_sql_expr *nk__sql_child(const nk_sql_expr *node, int i)
{
	if (i < node->n_args)
		return node->args[i];
	i -= node->n_args;
	if (node->filter && i-- == 0)
		return node->filter;
	if (i < node->n_orders)
		return node->orders[i].expr;
	i -= node->n_orders;
	if (!node->over)
		return NULL;
	if (i < node->over->n_partitions)
		return node->over->partitions[i];
	i -= node->over->n_partitions;
	return i < node->over->n_orders ? node->over->orders[i].expr : NULL;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_windows(const nk_sql_window *a, const nk_sql_window *b)
{
	if (!a || !b)
		return a == b;
	bool same = same_text(a->name, b->name) && a->n_partitions == b->n_partitions &&
	            a->n_orders == b->n_orders && a->has_frame == b->has_frame && a->is_rows == b->is_rows &&
	            a->from_unbounded == b->from_unbounded && a->to_unbounded == b->to_unbounded &&
	            a->from == b->from && a->to == b->to;
	for (int i = 0; same && i < a->n_orders; i++)
		same = a->orders[i].descending == b->orders[i].descending && a->orders[i].nulls == b->orders[i].nulls;
	return same;
}

static bool same_names(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *a,
                       const nk_sql_expr *b)
{
	bool equal = a->n_names == b->n_names;
	for (int i = 0; equal && i < a->n_names; i++)
		equal = strcmp(a->names[i], b->names[i]) == 0;
	if (equal)
		return true;
	nk_error *err = p->err;
	p->err = NULL;
	int at_a, at_b, used_a, used_b;
	bool found = nk__sql_scope_find(p, scope, a, &at_a, &used_a) == NK_OK &&
	             nk__sql_scope_find(p, scope, b, &at_b, &used_b) == NK_OK;
	p->err = err;
	if (!found || at_a < 0 || at_a != at_b || a->n_names - used_a != b->n_names - used_b)
		return false;
	for (int i = used_a; i < a->n_names; i++)
		if (strcmp(a->names[i], b->names[i - used_a + used_b]) != 0)
			return false;
	return true;
}

bool nk__sql_same(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *a, const nk_sql_expr *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->negated != b->negated || a->is_try != b->is_try ||
	    a->has_operand != b->has_operand || a->has_else != b->has_else || a->is_all != b->is_all ||
	    a->n_args != b->n_args || a->dtype != b->dtype || a->query || b->query ||
	    a->distinct != b->distinct || a->star != b->star || a->n_orders != b->n_orders ||
	    !a->filter != !b->filter || a->limit || b->limit || a->ignore_nulls != b->ignore_nulls ||
	    a->arg_names || b->arg_names || !same_windows(a->over, b->over))
		return false;
	if (a->kind == NK_SQL_NAME)
		return same_names(p, scope, a, b);
	if (a->kind == NK_SQL_STAR)
		return false;
	if (!same_text(a->text, b->text) || a->n_bytes != b->n_bytes)
		return false;
	for (int i = 0; i < a->n_orders; i++)
		if (a->orders[i].descending != b->orders[i].descending || a->orders[i].nulls != b->orders[i].nulls)
			return false;
	for (int i = 0;; i++) {
		const nk_sql_expr *x = nk__sql_child(a, i), *y = nk__sql_child(b, i);
		if (!x || !y)
			return x == y;
		if (!nk__sql_same(p, scope, x, y))
			return false;
	}
}

bool nk__sql_has_aggregate(const nk_sql_expr *node)
{
	if (nk__sql_is_aggregate(node))
		return true;
	const nk_sql_expr *child;
	for (int i = 0; (child = nk__sql_child(node, i)); i++)
		if (nk__sql_has_aggregate(child))
			return true;
	return false;
}

bool nk__sql_has_window(const nk_sql_expr *node)
{
	if (node->over)
		return true;
	const nk_sql_expr *child;
	for (int i = 0; (child = nk__sql_child(node, i)); i++)
		if (nk__sql_has_window(child))
			return true;
	return false;
}

bool nk__sql_has_name(const nk_sql_expr *node)
{
	if (node->kind == NK_SQL_NAME || node->kind == NK_SQL_STAR || node->over || node->query ||
	    (node->kind == NK_SQL_CALL && node->star))
		return true;
	const nk_sql_expr *child;
	for (int i = 0; (child = nk__sql_child(node, i)); i++)
		if (nk__sql_has_name(child))
			return true;
	return false;
}

const char *nk__sql_name_of(const nk_sql_expr *node)
{
	for (;;) {
		switch (node->kind) {
		case NK_SQL_NAME: return node->names[node->n_names - 1];
		case NK_SQL_CASE: node = node->args[node->has_operand ? 2 : 1]; continue;
		case NK_SQL_CALL:
			if (node->star || (node->n_args == 0 && strcmp(node->text, "count") == 0))
				return "len";
			if (node->n_args == 0)
				return "literal";
			if (strcmp(node->text, "if") == 0 && node->n_args > 1)
				node = node->args[1];
			else if (strcmp(node->text, "concat_ws") == 0 && node->n_args > 1)
				node = node->args[1];
			else if (strcmp(node->text, "date_part") == 0 && node->n_args > 1)
				node = node->args[1];
			else
				node = node->args[0];
			continue;
		case NK_SQL_UNARY:
		case NK_SQL_BINARY:
		case NK_SQL_AND:
		case NK_SQL_OR:
		case NK_SQL_BETWEEN:
		case NK_SQL_IN:
		case NK_SQL_IN_QUERY:
		case NK_SQL_QUANTIFIED:
		case NK_SQL_LIKE:
		case NK_SQL_IS:
		case NK_SQL_CAST:
		case NK_SQL_SUBSCRIPT:
			if (node->kind == NK_SQL_UNARY && strcmp(node->text, "neg") == 0)
				return "literal"; /* 0 - x */
			node = node->args[0];
			continue;
		default: return "literal";
		}
	}
}
