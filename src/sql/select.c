/* SELECT, in the order in which its clauses take effect: FROM, WHERE, GROUP BY with the aggregates of all later
 * clauses, HAVING, windows and QUALIFY, the select list, DISTINCT, ORDER BY, LIMIT.
 *
 * Sort keys that are no results ride along as columns of their own and are dropped at the end. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "compute/text_pattern.h"
#include "sql/plan_internal.h"

/* ---- The select list ---- */

typedef struct output {
	const nk_sql_expr *expr; /* NULL: a column of the scope */
	int column;
	const char *name;
	bool is_alias;
	bool is_qualified; /* from t.* */
} output;

typedef struct outputs {
	output *items;
	int n, capacity;
} outputs;

static nk_status add_output(nk_sql_planner *p, outputs *o, output made)
{
	if (o->n == o->capacity) {
		int larger = o->capacity * 2 + 16;
		output *grown;
		NK_TRY(NK_ARENA_NEW(p->arena, &grown, larger, p->err));
		if (o->n)
			memcpy(grown, o->items, (size_t)o->n * sizeof *grown);
		o->items = grown;
		o->capacity = larger;
	}
	o->items[o->n++] = made;
	return NK_OK;
}

static int index_of(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/* Names in modifiers must be columns of the star. */
static nk_status check_modifiers(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *star)
{
	const nk_sql_modifiers *m = star->modifiers;
	const struct {
		const char *const *names;
		int n;
	} lists[] = {
		{m->excluded, m->n_excluded}, {m->replaced_names, m->n_replaced}, {m->renamed, m->n_renamed}};
	for (int l = 0; l < NK_COUNT(lists); l++)
		for (int i = 0; i < lists[l].n; i++) {
			bool known = false;
			for (int c = 0; c < scope->n_columns && !known; c++)
				known =
					!scope->columns[c].hidden && (strcmp(scope->columns[c].name, lists[l].names[i]) == 0 ||
				                                  strcmp(scope->columns[c].id, lists[l].names[i]) == 0);
			if (!known && l > 0)
				return nk__sql_error(p, NK_COLUMN_NOT_FOUND, star->at,
				                     "unable to find column \"%s\" of the star", lists[l].names[i]);
		}
	return NK_OK;
}

static nk_status expand_star(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *star, outputs *o)
{
	const nk_sql_modifiers *m = star->modifiers;
	static const nk_sql_modifiers none;
	int source = -1;
	if (star->n_names) {
		for (int i = 0; i < scope->n_sources; i++)
			if (scope->sources[i] && strcasecmp(scope->sources[i], star->names[star->n_names - 1]) == 0)
				source = i;
		if (source < 0)
			return nk__sql_error(p, NK_SQL_INTERFACE, star->at, "no table or struct column named '%s' found",
			                     star->names[star->n_names - 1]);
	}
	if (m)
		NK_TRY(check_modifiers(p, scope, star));
	else
		m = &none;
	for (int i = 0; i < scope->n_columns; i++) {
		const nk_sql_column *column = &scope->columns[i];
		if (source >= 0 ? column->source != source : column->hidden)
			continue;
		const char *name = source >= 0 ? column->name : column->id;
		if (index_of(m->excluded, m->n_excluded, name) >= 0 ||
		    (m->ilike && !nk__sql_like_matches(name, m->ilike)))
			continue;
		output made = {.column = i, .name = name, .is_qualified = source >= 0 && scope->n_sources > 1};
		int at = index_of(m->replaced_names, m->n_replaced, name);
		if (at >= 0)
			made.expr = m->replaced[at];
		at = index_of(m->renamed, m->n_renamed, name);
		if (at >= 0)
			made.name = m->renamed_to[at];
		NK_TRY(add_output(p, o, made));
	}
	return NK_OK;
}

/* COLUMNS('regex'): the columns whose names match. */
static nk_status expand_columns(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *call, outputs *o)
{
	if (call->n_args != 1 || call->args[0]->kind != NK_SQL_STRING)
		return nk__sql_error(p, NK_SQL_SYNTAX, call->at, "COLUMNS takes a regular expression");
	NK_AUTO(nk_pattern) pattern = NULL;
	NK_TRY(nk_pattern_new(nk_arena_memory(p->arena), call->args[0]->text, call->args[0]->n_bytes, false,
	                      false, &pattern, p->err));
	NK_MATCHER(matcher);
	NK_TRY(nk_matcher_init(&matcher, pattern, p->err));
	for (int i = 0; i < scope->n_columns; i++) {
		const nk_sql_column *column = &scope->columns[i];
		bool found;
		NK_TRY(nk_matcher_find(&matcher, column->name, (int64_t)strlen(column->name), 0, &found, p->err));
		if (found && !column->hidden)
			NK_TRY(add_output(p, o, (output){.column = i, .name = column->id}));
	}
	return NK_OK;
}

static nk_status list_outputs(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_select *select, outputs *o)
{
	for (int i = 0; i < select->n_items; i++) {
		const nk_sql_item *item = &select->items[i];
		const nk_sql_expr *expr = item->expr;
		if (expr->kind == NK_SQL_STAR) {
			if (scope->is_grouped)
				return nk__sql_error(p, NK_SQL_SYNTAX, expr->at,
				                     "* cannot stand beside GROUP BY or aggregates");
			NK_TRY(expand_star(p, scope, expr, o));
		} else if (expr->kind == NK_SQL_CALL && strcmp(expr->text, "columns") == 0 && !item->alias &&
		           !scope->is_grouped) {
			NK_TRY(expand_columns(p, scope, expr, o));
		} else {
			NK_TRY(add_output(p, o,
			                  (output){.expr = expr,
			                           .column = -1,
			                           .name = item->alias ? item->alias : nk__sql_name_of(expr),
			                           .is_alias = item->alias}));
		}
	}
	return NK_OK;
}

/* The column that an output is, and nothing more; -1: none. */
static int column_of(nk_sql_planner *p, const nk_sql_scope *scope, const output *o)
{
	int at = -1, n_used;
	if (!o->expr)
		return o->column;
	if (o->expr->kind != NK_SQL_NAME || o->is_alias)
		return -1;
	nk_error *err = p->err;
	p->err = NULL;
	bool found = nk__sql_scope_find(p, scope, o->expr, &at, &n_used) == NK_OK && n_used == o->expr->n_names;
	p->err = err;
	return found ? at : -1;
}

static bool same_output(nk_sql_planner *p, const nk_sql_scope *scope, const output *a, const output *b)
{
	if (a->expr && b->expr)
		return nk__sql_same(p, scope, a->expr, b->expr);
	int column = column_of(p, scope, a);
	return column >= 0 && column == column_of(p, scope, b);
}

/* Results of one name are a, a:1, a:2, beside columns of stars that keep the names they have in joins; what was written
 * twice stays and is refused. An alias is never changed. */
static nk_status name_outputs(nk_sql_planner *p, const nk_sql_scope *scope, outputs *o)
{
	const char **bases;
	NK_TRY(NK_ARENA_NEW(p->arena, &bases, o->n + 1, p->err));
	for (int i = 0; i < o->n; i++)
		bases[i] = o->items[i].name;
	for (int i = 0; i < o->n; i++) {
		output *item = &o->items[i];
		int n_taken = 0;
		bool repeated = false;
		for (int j = 0; j < o->n && !repeated; j++) {
			const output *other = &o->items[j];
			bool counts = j < i || other->is_alias || item->is_qualified;
			if (i == j || !counts || strcmp(bases[j], bases[i]) != 0)
				continue;
			n_taken++;
			repeated = !item->is_alias && same_output(p, scope, item, other);
			if (repeated && (item->is_qualified || other->is_qualified))
				return nk_fail(p->err, NK_SQL_INTERFACE, "column '%s' is duplicated in the SELECT", bases[i]);
			if (item->is_alias && other->is_alias)
				return nk__sql_error(p, NK_COMPUTE, item->expr->at, "the name '%s' is duplicated", bases[i]);
		}
		if (n_taken == 0 || repeated || item->is_alias)
			continue;
		if (item->is_qualified && strcmp(scope->columns[item->column].id, bases[i]) != 0) {
			item->name = scope->columns[item->column].id;
			continue;
		}
		if (item->is_qualified)
			continue;
		NK_TEXT(text);
		nk_text_format(&text, "%s:%d", bases[i], n_taken);
		NK_TRY(nk_text_finish(&text, p->err));
		NK_TRY(nk_arena_string(p->arena, text.bytes, text.n_bytes, &item->name, p->err));
	}
	return NK_OK;
}

/* ---- FROM and WHERE ---- */

nk_status nk__sql_rows_of(nk_sql_planner *p, const nk_sql_select *select, nk_sql_scope *scope,
                          nk_sql_correlation *correlation)
{
	nk_sql_scope *outer = scope->outer;
	if (select->from) {
		NK_TRY(nk__sql_from(p, select->from, scope));
	} else {
		nk_plan *plan;
		NK_TRY(nk__sql_one_row(p, &plan));
		NK_TRY(nk__sql_scope_of(p, plan, NULL, scope));
		scope->columns[0].hidden = true;
		scope->columns[0].name = "";
	}
	scope->outer = outer;
	scope->select = select;
	if (outer)
		NK_TRY(nk__sql_scope_isolate(p, scope));
	return select->where ? nk__sql_where(p, scope, select->where, correlation) : NK_OK;
}

/* ---- Grouping ---- */

bool nk__sql_select_is_grouped(const nk_sql_select *select, const nk_sql_query *query)
{
	if (select->has_group || select->having)
		return true;
	for (int i = 0; i < select->n_items; i++)
		if (nk__sql_has_aggregate(select->items[i].expr))
			return true;
	for (int i = 0; query && i < query->n_orders; i++)
		if (nk__sql_has_aggregate(query->orders[i].expr))
			return true;
	return select->qualify && nk__sql_has_aggregate(select->qualify);
}

static nk_status add_computed(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *expr, const char *id,
                              bool is_count)
{
	if (scope->n_computed == scope->computed_capacity) {
		int larger = scope->computed_capacity * 2 + 16;
		nk_sql_computed *grown;
		NK_TRY(NK_ARENA_NEW(p->arena, &grown, larger, p->err));
		if (scope->n_computed)
			memcpy(grown, scope->computed, (size_t)scope->n_computed * sizeof *grown);
		scope->computed = grown;
		scope->computed_capacity = larger;
	}
	scope->computed[scope->n_computed++] = (nk_sql_computed){expr, id, is_count};
	return NK_OK;
}

/* What GROUP BY names: a position, an alias that is no column, or an expression. */
static nk_status group_expr(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_select *select,
                            const nk_sql_expr *node, const nk_sql_expr **out)
{
	int64_t position;
	*out = node;
	if (nk__sql_constant_integer(node, &position)) {
		if (position < 1 || position > select->n_items)
			return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
			                     "GROUP BY ordinal value must refer to a valid column; found %lld",
			                     (long long)position);
		*out = select->items[position - 1].expr;
		return NK_OK;
	}
	if (node->kind > NK_SQL_STAR && node->kind <= NK_SQL_NULL)
		return nk__sql_error(p, NK_SQL_SYNTAX, node->at,
		                     "GROUP BY requires a valid expression or positive ordinal");
	if (node->kind != NK_SQL_NAME || node->n_names != 1)
		return NK_OK;
	int at, n_used;
	NK_TRY(nk__sql_scope_find(p, scope, node, &at, &n_used));
	for (int i = 0; i < select->n_items && at < 0; i++)
		if (select->items[i].alias && strcmp(select->items[i].alias, node->names[0]) == 0)
			*out = select->items[i].expr;
	return NK_OK;
}

typedef struct grouping {
	const nk_sql_expr **keys;
	int n_keys;
	nk_expr **aggregates;
	int n, capacity;
} grouping;

/* Aggregates below a node, each once: computed over rows. */
static nk_status collect_aggregates(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                    grouping *g)
{
	if (!nk__sql_is_aggregate(node)) {
		const nk_sql_expr *child;
		for (int i = 0; (child = nk__sql_child(node, i)); i++)
			NK_TRY(collect_aggregates(p, scope, child, g));
		return NK_OK;
	}
	for (int i = 0; i < scope->n_computed; i++)
		if (scope->computed[i].expr && nk__sql_same(p, scope, scope->computed[i].expr, node))
			return NK_OK;
	if (g->n == g->capacity) {
		int larger = g->capacity * 2 + 16;
		nk_expr **grown;
		NK_TRY(NK_ARENA_NEW(p->arena, &grown, larger, p->err));
		if (g->n)
			memcpy(grown, g->aggregates, (size_t)g->n * sizeof *grown);
		g->aggregates = grown;
		g->capacity = larger;
	}
	const char *id;
	NK_TRY(nk__sql_fresh(p, &id));
	bool forbidden = scope->outer_forbidden;
	scope->outer_forbidden = true;
	nk_status status = nk__sql_expr_of(p, scope, node, &g->aggregates[g->n]);
	scope->outer_forbidden = forbidden;
	NK_TRY(status);
	NK_TRY(nk__sql_alias(p, g->aggregates[g->n], id, &g->aggregates[g->n]));
	g->n++;
	return add_computed(p, scope, node, id, strcmp(node->text, "count") == 0);
}

/* count(DISTINCT x) alone: the values per group once, then a count of them. */
static const nk_sql_expr *only_distinct_count(nk_sql_planner *p, const nk_sql_scope *scope, int n_keys)
{
	const nk_sql_expr *found = NULL;
	for (int i = n_keys; i < scope->n_computed; i++) {
		const nk_sql_expr *node = scope->computed[i].expr;
		if (!node || strcmp(node->text, "count") != 0 || !node->distinct || node->n_args != 1 ||
		    node->filter || (found && !nk__sql_same(p, scope, found, node->args[0])))
			return NULL;
		found = node->args[0];
	}
	return found;
}

static nk_status group_once(nk_sql_planner *p, nk_plan **plan, nk_expr **keys, int n_keys, grouping *g)
{
	if (n_keys)
		return nk__sql_group_by(p, plan, keys, n_keys, g->aggregates, g->n);
	return nk__sql_select(p, plan, g->aggregates, g->n);
}

/* grouping(x): whether a set leaves x out. */
static nk_status collect_groupings(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node)
{
	if (node->kind == NK_SQL_CALL && strcmp(node->text, "grouping") == 0) {
		for (int i = 0; i < scope->n_computed; i++)
			if (nk__sql_same(p, scope, scope->computed[i].expr, node))
				return NK_OK;
		const char *id;
		if (node->n_args != 1)
			return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "grouping takes one grouping expression");
		NK_TRY(nk__sql_fresh(p, &id));
		return add_computed(p, scope, node, id, false);
	}
	const nk_sql_expr *child;
	for (int i = 0; (child = nk__sql_child(node, i)); i++)
		NK_TRY(collect_groupings(p, scope, child));
	return NK_OK;
}

static nk_status add_groupings(nk_sql_planner *p, nk_sql_scope *scope, int n_keys, uint64_t set,
                               nk_plan **plan)
{
	nk_expr **exprs;
	int n = 0;
	NK_TRY(NK_ARENA_NEW(p->arena, &exprs, scope->n_computed + 1, p->err));
	for (int i = 0; i < scope->n_computed; i++) {
		const nk_sql_expr *node = scope->computed[i].expr;
		if (node->kind != NK_SQL_CALL || strcmp(node->text, "grouping") != 0)
			continue;
		int at = 0;
		while (at < n_keys && !nk__sql_same(p, scope, scope->computed[at].expr, node->args[0]))
			at++;
		if (at == n_keys)
			return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "grouping takes one grouping expression");
		NK_TRY(nk__sql_integer(p, !(set >> at & 1), &exprs[n]));
		NK_TRY(nk__sql_cast(p, exprs[n], nk_dtype_of(NK_TYPE_INT64), true, &exprs[n]));
		NK_TRY(nk__sql_alias(p, exprs[n], scope->computed[i].id, &exprs[n]));
		n++;
	}
	return n ? nk__sql_with_columns(p, plan, exprs, n) : NK_OK;
}

static nk_status group_sets(nk_sql_planner *p, const nk_sql_select *select, nk_sql_scope *scope,
                            nk_expr **keys, int n_keys, grouping *g)
{
	nk_plan **parts;
	NK_TRY(NK_ARENA_NEW(p->arena, &parts, select->n_sets, p->err));
	for (int s = 0; s < select->n_sets; s++) {
		nk_expr **some;
		int n = 0;
		NK_TRY(NK_ARENA_NEW(p->arena, &some, n_keys + 1, p->err));
		for (int i = 0; i < n_keys; i++)
			if (select->sets[s] >> i & 1)
				some[n++] = keys[i];
		parts[s] = scope->plan;
		if (g->n == 0 && n == 0) { /* one group without aggregates: one row without columns would be no row */
			nk_expr *row;
			NK_TRY(nk__sql_call(p, "len", NULL, 0, NULL, 0, &row));
			NK_TRY(nk__sql_alias(p, row, "__sql_len", &row));
			NK_TRY(nk__sql_select(p, &parts[s], &row, 1));
		} else {
			NK_TRY(group_once(p, &parts[s], some, n, g));
		}
		NK_TRY(add_groupings(p, scope, n_keys, select->sets[s], &parts[s]));
	}
	return select->n_sets == 1 ? (scope->plan = parts[0], NK_OK)
	                           : nk__sql_concat(p, parts, select->n_sets, NK_CONCAT_DIAGONAL, &scope->plan);
}

nk_status nk__sql_group(nk_sql_planner *p, const nk_sql_select *select, const nk_sql_query *query,
                        nk_sql_scope *scope, nk_expr **extra, int n_extra)
{
	grouping g = {0};
	nk_expr **keys;
	int n_groups = select->group_all ? select->n_items : select->n_groups;
	NK_TRY(NK_ARENA_NEW(p->arena, &keys, n_groups + n_extra + 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &g.keys, n_groups + 1, p->err));
	const char **ids;
	NK_TRY(NK_ARENA_NEW(p->arena, &ids, n_groups + 1, p->err));
	for (int i = 0; i < n_groups; i++) {
		const nk_sql_expr *node = select->group_all ? select->items[i].expr : select->groups[i];
		if (select->group_all && (nk__sql_has_aggregate(node) || node->over))
			continue;
		if (!select->group_all)
			NK_TRY(group_expr(p, scope, select, node, &node));
		if (node->kind == NK_SQL_STAR)
			return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "* cannot be grouped by");
		if (nk__sql_has_aggregate(node))
			return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "aggregates cannot be grouped by");
		NK_TRY(nk__sql_fresh(p, &ids[g.n_keys]));
		NK_TRY(nk__sql_expr_of(p, scope, node, &keys[g.n_keys]));
		NK_TRY(nk__sql_alias(p, keys[g.n_keys], ids[g.n_keys], &keys[g.n_keys]));
		g.keys[g.n_keys++] = node;
	}
	int n_keys = g.n_keys;
	/* Known as computed only now: keys are read over rows. */
	for (int i = 0; i < n_keys; i++)
		NK_TRY(add_computed(p, scope, g.keys[i], ids[i], false));
	for (int i = 0; i < n_extra; i++)
		keys[n_keys + i] = extra[i];

	for (int i = 0; i < select->n_items; i++)
		NK_TRY(collect_aggregates(p, scope, select->items[i].expr, &g));
	if (select->having)
		NK_TRY(collect_aggregates(p, scope, select->having, &g));
	if (select->qualify)
		NK_TRY(collect_aggregates(p, scope, select->qualify, &g));
	for (int i = 0; query && i < query->n_orders; i++)
		NK_TRY(collect_aggregates(p, scope, query->orders[i].expr, &g));

	const nk_sql_expr *counted = select->n_sets == 0 ? only_distinct_count(p, scope, n_keys) : NULL;
	if (counted && n_keys + n_extra > 0) {
		nk_expr **wide, **narrow, *value;
		int n = n_keys + n_extra;
		const char *id;
		NK_TRY(nk__sql_fresh(p, &id));
		NK_TRY(NK_ARENA_NEW(p->arena, &wide, n + 1, p->err));
		NK_TRY(NK_ARENA_NEW(p->arena, &narrow, n + 1, p->err));
		for (int i = 0; i < n; i++) {
			wide[i] = keys[i];
			NK_TRY(nk__sql_column_expr(p, nk__expr_output_name(keys[i]), &narrow[i]));
		}
		bool aggregates = scope->in_aggregate;
		scope->in_aggregate = true;
		nk_status status = nk__sql_expr_of(p, scope, counted, &value);
		scope->in_aggregate = aggregates;
		NK_TRY(status);
		NK_TRY(nk__sql_alias(p, value, id, &wide[n]));
		NK_TRY(nk__sql_group_by(p, &scope->plan, wide, n + 1, NULL, 0));
		NK_TRY(nk__sql_column_expr(p, id, &value));
		NK_TRY(nk__sql_call1(p, "count", value, &value));
		NK_TRY(nk__sql_cast(p, value, nk_dtype_of(NK_TYPE_INT64), true, &value));
		for (int i = 0; i < g.n; i++)
			NK_TRY(nk__sql_alias(p, value, scope->computed[n_keys + i].id, &g.aggregates[i]));
		NK_TRY(nk__sql_group_by(p, &scope->plan, narrow, n, g.aggregates, g.n));
	} else if (select->n_sets) {
		for (int i = 0; i < select->n_items; i++)
			NK_TRY(collect_groupings(p, scope, select->items[i].expr));
		if (select->having)
			NK_TRY(collect_groupings(p, scope, select->having));
		for (int i = 0; query && i < query->n_orders; i++)
			NK_TRY(collect_groupings(p, scope, query->orders[i].expr));
		if (n_extra)
			return nk__sql_error(p, NK_SQL_INTERFACE, select->at,
			                     "grouping sets in a correlated subquery are not supported");
		NK_TRY(group_sets(p, select, scope, keys, n_keys, &g));
	} else {
		if (g.n == 0 && n_keys + n_extra == 0) { /* HAVING or GROUP BY () without an aggregate: one group */
			const char *id;
			NK_TRY(nk__sql_fresh(p, &id));
			NK_TRY(NK_ARENA_NEW(p->arena, &g.aggregates, 1, p->err));
			NK_TRY(nk__sql_call(p, "len", NULL, 0, NULL, 0, &g.aggregates[0]));
			NK_TRY(nk__sql_alias(p, g.aggregates[0], id, &g.aggregates[g.n++]));
		}
		NK_TRY(group_once(p, &scope->plan, keys, n_keys + n_extra, &g));
	}
	scope->is_grouped = true;
	scope->aliases = true;
	return NK_OK;
}

/* ---- ORDER BY ---- */

typedef struct sorting {
	nk_expr **keys;
	bool *descending, *nulls_last;
	int n;
	nk_expr **hidden; /* computed for sorting alone */
	const char **hidden_names;
	int n_hidden;
} sorting;

static nk_status add_key(nk_sql_planner *p, sorting *s, const nk_sql_order *order, const char *id)
{
	s->descending[s->n] = order->descending;
	s->nulls_last[s->n] = order->nulls ? order->nulls < 0 : !order->descending;
	return nk__sql_column_expr(p, id, &s->keys[s->n++]);
}

static nk_status sort_keys(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_query *query,
                           const outputs *o, sorting *s)
{
	int room = query->n_orders + o->n + 1;
	NK_TRY(NK_ARENA_NEW(p->arena, &s->keys, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &s->descending, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &s->nulls_last, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &s->hidden, room, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &s->hidden_names, room, p->err));
	int named_all = -1;
	for (int i = 0; query->order_all && i < o->n; i++)
		if (strcasecmp(o->items[i].name, "all") == 0)
			named_all = i;
	if (named_all >= 0)
		NK_TRY(add_key(p, s, &query->all, o->items[named_all].name));
	for (int i = 0; query->order_all && named_all < 0 && i < o->n; i++)
		NK_TRY(add_key(p, s, &query->all, o->items[i].name));
	scope->aliases = true;
	for (int i = 0; i < query->n_orders; i++) {
		const nk_sql_order *order = &query->orders[i];
		const nk_sql_expr *node = order->expr;
		const char *id = NULL;
		int64_t position;
		if (nk__sql_constant_integer(node, &position)) {
			if (position < 1 || position > o->n)
				return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
				                     "ORDER BY ordinal value must refer to a valid column; found %lld",
				                     (long long)position);
			id = o->items[position - 1].name;
		}
		for (int k = 0; k < o->n && !id && node->kind == NK_SQL_NAME && node->n_names == 1; k++)
			if (strcmp(o->items[k].name, node->names[0]) == 0)
				id = o->items[k].name;
		for (int k = 0; k < o->n && !id; k++)
			if (o->items[k].expr && nk__sql_same(p, scope, o->items[k].expr, node))
				id = o->items[k].name;
		if (!id) {
			NK_TRY(nk__sql_fresh(p, &id));
			NK_TRY(nk__sql_expr_of(p, scope, node, &s->hidden[s->n_hidden]));
			NK_TRY(nk__sql_alias(p, s->hidden[s->n_hidden], id, &s->hidden[s->n_hidden]));
			s->hidden_names[s->n_hidden++] = id;
		}
		NK_TRY(add_key(p, s, order, id));
	}
	return NK_OK;
}

/* ---- All ---- */

/* Results without a column among them would lose the height: they are added to the rows first. */
static nk_status project(nk_sql_planner *p, nk_plan **plan, nk_expr **exprs, int n, bool has_columns)
{
	if (has_columns || n == 0)
		return nk__sql_select(p, plan, exprs, n);
	nk_expr **wide, **narrow;
	NK_TRY(NK_ARENA_NEW(p->arena, &wide, n, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &narrow, n, p->err));
	for (int i = 0; i < n; i++) {
		const char *id;
		NK_TRY(nk__sql_fresh(p, &id));
		NK_TRY(nk__sql_alias(p, exprs[i], id, &wide[i]));
		NK_TRY(nk__sql_column_expr(p, id, &narrow[i]));
		NK_TRY(nk__sql_alias(p, narrow[i], nk__expr_output_name(exprs[i]), &narrow[i]));
	}
	NK_TRY(nk__sql_with_columns(p, plan, wide, n));
	return nk__sql_select(p, plan, narrow, n);
}

static nk_status qualify(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_select *select)
{
	nk_expr *condition;
	bool has_window = nk__sql_has_window(select->qualify);
	for (int i = 0; i < select->n_items && !has_window; i++)
		has_window = nk__sql_has_window(select->items[i].expr);
	if (!has_window)
		return nk__sql_error(p, NK_SQL_SYNTAX, select->qualify->at,
		                     "QUALIFY clause must reference window functions");
	scope->aliases = true;
	NK_TRY(nk__sql_expr_of(p, scope, select->qualify, &condition));
	return nk__sql_filter(p, &scope->plan, &condition, 1);
}

static nk_status distinct_on(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_select *select, sorting *s,
                             const outputs *o, const char **names)
{
	for (int i = 0; i < select->n_distinct_on; i++) {
		const nk_sql_expr *node = select->distinct_on[i];
		names[i] = NULL;
		for (int k = 0; k < o->n && !names[i]; k++)
			if (o->items[k].expr && nk__sql_same(p, scope, o->items[k].expr, node))
				names[i] = o->items[k].name;
		if (names[i])
			continue;
		NK_TRY(nk__sql_fresh(p, &names[i]));
		NK_TRY(nk__sql_expr_of(p, scope, node, &s->hidden[s->n_hidden]));
		NK_TRY(nk__sql_alias(p, s->hidden[s->n_hidden], names[i], &s->hidden[s->n_hidden]));
		s->n_hidden++;
	}
	return NK_OK;
}

nk_status nk__sql_select_finish(nk_sql_planner *p, const nk_sql_select *select, const nk_sql_query *query,
                                nk_sql_scope *scope, nk_plan **out)
{
	if (nk__sql_select_is_grouped(select, query))
		NK_TRY(nk__sql_group(p, select, query, scope, NULL, 0));
	if (select->having)
		NK_TRY(nk__sql_where(p, scope, select->having, NULL));
	if (select->qualify)
		NK_TRY(qualify(p, scope, select));

	outputs o = {0};
	NK_TRY(list_outputs(p, scope, select, &o));
	NK_TRY(name_outputs(p, scope, &o));
	nk_expr **exprs;
	sorting s = {0};
	const char **on;
	NK_TRY(NK_ARENA_NEW(p->arena, &exprs, o.n + query->n_orders + select->n_distinct_on + o.n + 2, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &on, select->n_distinct_on + 1, p->err));
	bool has_columns = false;
	scope->aliases = false;
	for (int i = 0; i < o.n; i++) {
		output *item = &o.items[i];
		scope->aliases = scope->is_grouped;
		if (item->expr)
			NK_TRY(nk__sql_expr_of(p, scope, item->expr, &exprs[i]));
		else
			NK_TRY(nk__sql_column_expr(p, scope->columns[item->column].id, &exprs[i]));
		has_columns |= !item->expr || nk__sql_has_name(item->expr);
		NK_TRY(nk__sql_alias(p, exprs[i], item->name, &exprs[i]));
	}
	if (select->n_distinct_on) {
		int room = query->n_orders + select->n_distinct_on + o.n + 1;
		NK_TRY(sort_keys(p, scope, query, &o, &s));
		nk_expr **hidden;
		NK_TRY(NK_ARENA_NEW(p->arena, &hidden, room, p->err));
		memcpy(hidden, s.hidden, (size_t)s.n_hidden * sizeof *hidden);
		s.hidden = hidden;
		NK_TRY(distinct_on(p, scope, select, &s, &o, on));
	} else {
		NK_TRY(sort_keys(p, scope, query, &o, &s));
	}
	for (int i = 0; i < s.n_hidden; i++)
		exprs[o.n + i] = s.hidden[i];
	*out = scope->plan;
	NK_TRY(project(p, out, exprs, o.n + s.n_hidden, has_columns || s.n_hidden > 0));

	bool distinct = select->distinct && !select->n_distinct_on;
	if (distinct && s.n_hidden == 0)
		NK_TRY(nk__sql_unique(p, out, NULL, 0, false));
	NK_TRY(nk__sql_sort(p, out, s.keys, s.descending, s.nulls_last, s.n));
	if (distinct && s.n_hidden) {
		const char **names;
		NK_TRY(NK_ARENA_NEW(p->arena, &names, o.n + 1, p->err));
		for (int i = 0; i < o.n; i++)
			names[i] = o.items[i].name;
		NK_TRY(nk__sql_unique(p, out, names, o.n, true));
	}
	if (select->n_distinct_on)
		NK_TRY(nk__sql_unique(p, out, on, select->n_distinct_on, true));
	NK_TRY(nk__sql_limit(p, query, out));
	if (s.n_hidden == 0)
		return NK_OK;
	for (int i = 0; i < o.n; i++)
		NK_TRY(nk__sql_column_expr(p, o.items[i].name, &exprs[i]));
	return nk__sql_select(p, out, exprs, o.n);
}

nk_status nk__sql_select_plan(nk_sql_planner *p, const nk_sql_select *select, const nk_sql_query *query,
                              nk_plan **out)
{
	nk_sql_scope scope = {0};
	static const nk_sql_query plain;
	NK_TRY(nk__sql_rows_of(p, select, &scope, NULL));
	return nk__sql_select_finish(p, select, query ? query : &plain, &scope, out);
}
