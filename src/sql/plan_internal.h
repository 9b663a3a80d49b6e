/* What the files of the planner share: scopes in which names are resolved, and makers of expressions and plans.
 *
 * Expressions and plans made while planning belong to the arena, so that no path has to release anything; what is
 * handed out gets a reference of its own. Columns of a scope have names that are unique in its plan (`id`), whatever
 * they are called in the text. Reading an expression may extend the scope's plan: a subquery in it is joined. */
#ifndef NK_SQL_PLAN_INTERNAL_H
#define NK_SQL_PLAN_INTERNAL_H

#include "sql/ast.h"
#include "sql/sql.h"

typedef struct nk_sql_table {
	const char *name;
	nk_plan *plan;
	struct nk_sql_table *next; /* outer ones */
} nk_sql_table;

typedef struct nk_sql_planner {
	nk_arena *arena;
	const char *text;
	int64_t n_bytes;
	const nk_sql_resolver *resolver;
	nk_sql_table *ctes;
	int64_t n_names; /* made up so far */
	int depth;       /* of queries within queries */
	bool schemaless; /* a lone expression: every name is a column */
	nk_error *err;
} nk_sql_planner;

typedef struct nk_sql_column {
	const char *name, *id;
	const nk_dtype *dtype;
	int source;
	bool hidden;  /* merged into another by NATURAL: only a qualified name finds it */
	bool doubled; /* the right one of USING: an unqualified name means the other */
} nk_sql_column;

/* What was computed by grouping: expressions of the text and the columns that hold them now. */
typedef struct nk_sql_computed {
	const nk_sql_expr *expr;
	const char *id;
	bool is_count; /* 0 where a join found no group */
} nk_sql_computed;

typedef struct nk_sql_scope nk_sql_scope;
struct nk_sql_scope {
	nk_plan *plan; /* NULL: a place where subqueries cannot stand */
	int n_columns, n_sources;
	nk_sql_column *columns;
	const char **sources; /* their names; NULL: none */
	nk_sql_scope *outer;  /* of the query around a subquery */
	const nk_sql_select *select;
	/* After grouping: only these columns exist. */
	bool is_grouped;
	int n_computed, computed_capacity;
	nk_sql_computed *computed;
	bool coalesce_counts; /* groups may be missing */
	bool aliases;         /* names of the select list count where no column is found */
	bool in_aggregate;
	/* Names met since the last reset: the range of positions, and whether outer ones were among them. */
	int first_met, last_met;
	bool met_outer;
	bool outer_forbidden;
};

static inline void nk__sql_met_reset(nk_sql_scope *scope)
{
	scope->first_met = scope->n_columns;
	scope->last_met = -1;
	scope->met_outer = false;
}

/* ---- build.c ---- */

/* Fails at a place of the text. */
nk_status nk__sql_error(nk_sql_planner *p, nk_status status, int64_t at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A name that nothing in the text has. */
NK_MUST_CHECK nk_status nk__sql_fresh(nk_sql_planner *p, const char **out);
NK_MUST_CHECK nk_status nk__sql_own_expr(nk_sql_planner *p, nk_expr *expr);
NK_MUST_CHECK nk_status nk__sql_own_plan(nk_sql_planner *p, nk_plan *plan);

NK_MUST_CHECK nk_status nk__sql_column_expr(nk_sql_planner *p, const char *id, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_alias(nk_sql_planner *p, nk_expr *expr, const char *name, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_scalar(nk_sql_planner *p, const nk_scalar *value, bool is_untyped,
                                       nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_integer(nk_sql_planner *p, int64_t value, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_boolean(nk_sql_planner *p, bool value, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_null(nk_sql_planner *p, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_string(nk_sql_planner *p, const char *text, int64_t n_bytes, nk_expr **out);
typedef struct nk_sql_option {
	const char *name;
	nk_option value;
} nk_sql_option;
NK_MUST_CHECK nk_status nk__sql_call(nk_sql_planner *p, const char *function, nk_expr *const *args,
                                     int n_args, const nk_sql_option *options, int n_options, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_call1(nk_sql_planner *p, const char *function, nk_expr *x, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_call2(nk_sql_planner *p, const char *function, nk_expr *x, nk_expr *y,
                                      nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_when(nk_sql_planner *p, nk_expr *condition, nk_expr *then, nk_expr *otherwise,
                                     nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_cast(nk_sql_planner *p, nk_expr *x, const nk_dtype *dtype, bool strict,
                                     nk_expr **out);

NK_MUST_CHECK nk_status nk__sql_filter(nk_sql_planner *p, nk_plan **plan, nk_expr *const *predicates, int n);
NK_MUST_CHECK nk_status nk__sql_select(nk_sql_planner *p, nk_plan **plan, nk_expr *const *exprs, int n);
NK_MUST_CHECK nk_status nk__sql_with_columns(nk_sql_planner *p, nk_plan **plan, nk_expr *const *exprs, int n);
NK_MUST_CHECK nk_status nk__sql_group_by(nk_sql_planner *p, nk_plan **plan, nk_expr *const *keys, int n_keys,
                                         nk_expr *const *aggregates, int n);
NK_MUST_CHECK nk_status nk__sql_sort(nk_sql_planner *p, nk_plan **plan, nk_expr *const *keys,
                                     const bool *descending, const bool *nulls_last, int n);
NK_MUST_CHECK nk_status nk__sql_slice(nk_sql_planner *p, nk_plan **plan, int64_t offset, int64_t length);
/* All columns when there are no keys. */
NK_MUST_CHECK nk_status nk__sql_unique(nk_sql_planner *p, nk_plan **plan, const char *const *keys, int n_keys,
                                       bool first);
NK_MUST_CHECK nk_status nk__sql_rename(nk_sql_planner *p, nk_plan **plan, const char *const *from,
                                       const char *const *to, int n);
NK_MUST_CHECK nk_status nk__sql_concat(nk_sql_planner *p, nk_plan *const *plans, int n, nk_concat_how how,
                                       nk_plan **out);
typedef struct nk_sql_join_on {
	nk_join_kind how;
	int n_keys;
	nk_expr **left, **right;
	nk_expr *residual; /* NULL: none. Over both sides */
	bool nulls_equal;
	bool one_right; /* at most one row of the right may match: fails otherwise */
} nk_sql_join_on;
NK_MUST_CHECK nk_status nk__sql_join(nk_sql_planner *p, nk_plan *left, nk_plan *right,
                                     const nk_sql_join_on *on, nk_plan **out);
/* One row, one column that nobody sees. */
NK_MUST_CHECK nk_status nk__sql_one_row(nk_sql_planner *p, nk_plan **out);

/* ---- scope.c ---- */

NK_MUST_CHECK nk_status nk__sql_scope_of(nk_sql_planner *p, nk_plan *plan, const char *name,
                                         nk_sql_scope *out);
/* Gives the columns names that no other plan has. */
NK_MUST_CHECK nk_status nk__sql_scope_isolate(nk_sql_planner *p, nk_sql_scope *scope);
/* Columns of `right` behind those of `left`; those of the same id are renamed. right->plan may change. */
NK_MUST_CHECK nk_status nk__sql_scope_join(nk_sql_planner *p, const nk_sql_scope *left, nk_sql_scope *right,
                                           nk_sql_scope *out);
/* The column that a name stands for here; -1: none. Fails when there are several. */
NK_MUST_CHECK nk_status nk__sql_scope_find(nk_sql_planner *p, const nk_sql_scope *scope,
                                           const nk_sql_expr *name, int *out, int *n_used);
nk_status nk__sql_scope_missing(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *name);
/* Whether two expressions of the text mean the same in a scope. */
bool nk__sql_same(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *a, const nk_sql_expr *b);
/* Children of a node: its arguments, filter, orders, window. NULL ends. */
const nk_sql_expr *nk__sql_child(const nk_sql_expr *node, int i);
bool nk__sql_is_aggregate(const nk_sql_expr *node);
bool nk__sql_has_aggregate(const nk_sql_expr *node);
bool nk__sql_has_window(const nk_sql_expr *node);
bool nk__sql_has_name(const nk_sql_expr *node);
/* What a result is called when it has no alias. */
const char *nk__sql_name_of(const nk_sql_expr *node);

/* ---- expr.c, literal.c, call.c, window.c ---- */

NK_MUST_CHECK nk_status nk__sql_expr_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                        nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_literal(nk_sql_planner *p, const nk_sql_expr *node, bool negative,
                                        nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_typed(nk_sql_planner *p, const nk_sql_expr *node, const nk_dtype *dtype,
                                      nk_expr **out);
/* The same, failing with another status and words before the message. */
NK_MUST_CHECK nk_status nk__sql_typed_as(nk_sql_planner *p, const nk_sql_expr *node, const nk_dtype *dtype,
                                         nk_status status, const char *what, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_subscript(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                          nk_expr **out);
/* INTERVAL as a Duration; as text for offset_by when it has months: *months, then *out is a String. */
NK_MUST_CHECK nk_status nk__sql_interval(nk_sql_planner *p, const nk_sql_expr *node, nk_expr **out,
                                         bool *months);
bool nk__sql_constant_integer(const nk_sql_expr *node, int64_t *out);
NK_MUST_CHECK nk_status nk__sql_list(nk_sql_planner *p, const nk_sql_scope *scope, nk_sql_expr *const *items,
                                     int n, const nk_dtype *like, nk_expr **out, bool *done);
/* The dtype where it can be seen without binding; NULL: unknown. */
const nk_dtype *nk__sql_dtype_of(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *node);
/* The dtype that binding gives an expression over the scope's plan; NULL where there is no plan. */
NK_MUST_CHECK nk_status nk__sql_bound_dtype(nk_sql_planner *p, const nk_sql_scope *scope, nk_expr *expr,
                                            const nk_dtype **out);
NK_MUST_CHECK nk_status nk__sql_call_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                        nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_window_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                          nk_expr **out);
/* LIKE as a regular expression, or a plainer test where the pattern is a constant. */
NK_MUST_CHECK nk_status nk__sql_like(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                     nk_expr **out);
/* A pattern of LIKE as a regular expression; in the arena. */
NK_MUST_CHECK nk_status nk__sql_like_regex(nk_sql_planner *p, const char *pattern, int64_t n_bytes,
                                           char escape, bool any_case, const char **out);
bool nk__sql_like_matches(const char *text, const char *pattern);

/* ---- from.c, select.c, query.c, subquery.c ---- */

NK_MUST_CHECK nk_status nk__sql_from(nk_sql_planner *p, const nk_sql_from *from, nk_sql_scope *out);
NK_MUST_CHECK nk_status nk__sql_query_plan(nk_sql_planner *p, const nk_sql_query *query, nk_plan **out);
/* Body, order and limit of a query whose CTEs are known already. */
NK_MUST_CHECK nk_status nk__sql_select_plan(nk_sql_planner *p, const nk_sql_select *select,
                                            const nk_sql_query *query, nk_plan **out);
/* All of a select behind FROM and WHERE, which are in scope. */
NK_MUST_CHECK nk_status nk__sql_select_finish(nk_sql_planner *p, const nk_sql_select *select,
                                              const nk_sql_query *query, nk_sql_scope *scope, nk_plan **out);
NK_MUST_CHECK nk_status nk__sql_ctes(nk_sql_planner *p, const nk_sql_query *query);
NK_MUST_CHECK nk_status nk__sql_limit(nk_sql_planner *p, const nk_sql_query *query, nk_plan **plan);

/* FROM and WHERE of a select. Conjuncts that name columns of scope->outer are returned, others applied. */
typedef struct nk_sql_correlation {
	int n_keys, n_residuals, capacity, residual_capacity;
	nk_expr **inner, **outer; /* inner equals outer */
	nk_expr **residuals;
} nk_sql_correlation;
NK_MUST_CHECK nk_status nk__sql_rows_of(nk_sql_planner *p, const nk_sql_select *select, nk_sql_scope *scope,
                                        nk_sql_correlation *correlation);
/* GROUP BY and the aggregates of the select list, HAVING, ORDER BY; extra keys are columns of the plan that are kept.
 * What follows may name keys and aggregates only. */
NK_MUST_CHECK nk_status nk__sql_group(nk_sql_planner *p, const nk_sql_select *select,
                                      const nk_sql_query *query, nk_sql_scope *scope, nk_expr **extra,
                                      int n_extra);
bool nk__sql_select_is_grouped(const nk_sql_select *select, const nk_sql_query *query);
/* Applies a condition: conjuncts with subqueries become joins of the scope's plan. */
NK_MUST_CHECK nk_status nk__sql_where(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *condition,
                                      nk_sql_correlation *correlation);

/* One value, EXISTS, IN and quantified comparisons as expressions: the scope's plan is extended. */
NK_MUST_CHECK nk_status nk__sql_subquery(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                         nk_expr **out);
/* The same of a whole conjunct: semi and anti joins. *done false: not of this kind. */
NK_MUST_CHECK nk_status nk__sql_subquery_filter(nk_sql_planner *p, nk_sql_scope *scope,
                                                const nk_sql_expr *node, bool *done);

#endif
