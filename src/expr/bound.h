/* Bound expressions: what a query computes. Nodes live in the query's arena, are hash-consed (equal trees are
 * one pointer), refer to columns by integer id and are never changed: rules build new ones through the binder,
 * which applies dtype rules, inserts casts and folds constants.
 *
 * A column id is unique in a query: every column that a scan, projection, aggregation or join makes has its own,
 * and nodes that pass a column on keep its id. Names matter only where users see them. */
#ifndef NK_EXPR_BOUND_H
#define NK_EXPR_BOUND_H

#include "base/text.h"
#include "expr/expr.h"

typedef enum nk_bound_kind {
	NK_BOUND_COLUMN,
	NK_BOUND_LITERAL, /* one value: `value` */
	NK_BOUND_SERIES,  /* data given by the user: `series` */
	NK_BOUND_CALL,
	NK_BOUND_OVER, /* args[0] within groups of equal keys, see nk_over */
} nk_bound_kind;

typedef enum nk_shape {
	NK_SHAPE_SCALAR, /* one row, broadcast where rows are wanted */
	NK_SHAPE_ROWS,   /* aligned with the input's rows */
	NK_SHAPE_ANY,    /* some other number of rows */
} nk_shape;

typedef struct nk_bound nk_bound;
struct nk_bound {
	nk_bound_kind kind;
	nk_shape shape;
	const nk_dtype *dtype;
	bool elementwise;   /* the whole tree: only columns, literals and elementwise calls */
	bool has_aggregate; /* somewhere in the tree */
	bool fallible;      /* somewhere in the tree */
	bool impure;
	bool is_untyped;    /* a literal that bends, or what is computed of such */
	bool is_folded;     /* literal: the value of a call */
	__int128 low, high; /* untyped integers: the literals' bounds */
	int column;
	nk_scalar value;  /* literal; bytes live in the arena */
	nk_array *array;  /* literal: a constant array of one row; series: the data (whole) */
	const char *name; /* series: its name */
	const nk_func *func;
	const nk_option *options;
	const void *data;
	nk_kernel *kernel;
	const nk_aggregate *aggregate;
	nk_segmented_kernel *segmented;
	nk_over over;
	int depth; /* windows inside one another */
	int n_args;
	nk_bound *const *args;
	int n_columns; /* distinct ids of columns in the tree, ascending */
	const int *columns;
	uint32_t number; /* dense, in order of making: arguments come before calls */
	uint64_t hash;
};

typedef struct nk_column_info {
	const char *name; /* for messages and explain */
	const nk_dtype *dtype;
} nk_column_info;

/* Names visible to an expression. */
typedef struct nk_scope {
	int n;
	const char *const *names;
	const int *ids;
	int n_hidden; /* the first so many are found by name but not by selectors: keys inside agg() */
} nk_scope;

typedef struct nk_named {
	const char *name;
	nk_bound *expr;
} nk_named;

typedef struct nk_binder nk_binder;

NK_MUST_CHECK nk_status nk_binder_new(nk_arena *arena, nk_binder **out,
                                      nk_error *err); /* lives in the arena */
nk_arena *nk_binder_arena(nk_binder *binder);
NK_MUST_CHECK nk_status nk_binder_add_column(nk_binder *binder, const char *name, const nk_dtype *dtype,
                                             int *id, nk_error *err);
const nk_column_info *nk_binder_column(const nk_binder *binder, int id);
int nk_binder_n_columns(const nk_binder *binder);

NK_MUST_CHECK nk_status nk_bound_column(nk_binder *binder, int id, nk_bound **out, nk_error *err);
NK_MUST_CHECK nk_status nk_bound_literal(nk_binder *binder, const nk_scalar *value, bool is_untyped,
                                         nk_bound **out, nk_error *err);
/* Applies the function's rules to bound arguments; options has one value per option (NULL: defaults). */
NK_MUST_CHECK nk_status nk_bound_call(nk_binder *binder, const nk_func *func, nk_bound *const *args,
                                      int n_args, const nk_option *options, bool grouped, nk_bound **out,
                                      nk_error *err);
/* args: the expression, over->n_keys keys, over->n_order keys of order. */
NK_MUST_CHECK nk_status nk_bound_over(nk_binder *binder, nk_bound *const *args, const nk_over *over,
                                      nk_bound **out, nk_error *err);
/* The node again, a call or a window, on other arguments of the same dtypes. */
NK_MUST_CHECK nk_status nk_bound_rebuild(nk_binder *binder, const nk_bound *node, nk_bound *const *args,
                                         nk_bound **out, nk_error *err);
/* Shorthand: a call of an existing row by name with default options. */
NK_MUST_CHECK nk_status nk_bound_call_named(nk_binder *binder, const char *name, nk_bound *const *args,
                                            int n_args, nk_bound **out, nk_error *err);
NK_MUST_CHECK nk_status nk_bound_cast(nk_binder *binder, nk_bound *expr, const nk_dtype *dtype, bool strict,
                                      nk_bound **out, nk_error *err);

/* Resolve user expressions; selectors expand, so n_out may differ from n. Names are not checked for duplicates.
 * grouped: inside group_by().agg(). Fails with NK_COLUMN_NOT_FOUND and whatever binders raise. */
NK_MUST_CHECK nk_status nk_bind_exprs(nk_binder *binder, const nk_scope *scope, nk_expr *const *exprs, int n,
                                      bool grouped, nk_named **out, int *n_out, nk_error *err);

/* Rebuild with columns replaced: replacements[i] stands for ids[i]. */
NK_MUST_CHECK nk_status nk_bound_substitute(nk_binder *binder, nk_bound *expr, const int *ids,
                                            nk_bound *const *replacements, int n, nk_bound **out,
                                            nk_error *err);
/* Rebuild with whole sub-trees replaced: to[i] stands for from[i]. */
NK_MUST_CHECK nk_status nk_bound_replace(nk_binder *binder, nk_bound *expr, nk_bound *const *from,
                                         nk_bound *const *to, int n, nk_bound **out, nk_error *err);
/* Split `a & b & c` (Boolean and) into its parts, in order; *out lives in the arena. */
NK_MUST_CHECK nk_status nk_bound_conjuncts(nk_binder *binder, nk_bound *expr, nk_bound ***out, int *n_out,
                                           nk_error *err);
NK_MUST_CHECK nk_status nk_bound_conjoin(nk_binder *binder, nk_bound *const *conjuncts, int n, nk_bound **out,
                                         nk_error *err);

/* Data given by the user: `column` under a name. */
NK_MUST_CHECK nk_status nk_bound_series(nk_binder *binder, const char *name, nk_column *column,
                                        nk_bound **out, nk_error *err);
/* Call visit(id, data) once for every distinct column of the tree. */
void nk_bound_visit_columns(const nk_bound *expr, void (*visit)(int id, void *data), void *data);
static inline bool nk_bound_is_call(const nk_bound *expr, const char *name)
{
	return expr->kind == NK_BOUND_CALL && strcmp(expr->func->name, name) == 0;
}
/* Text for explain: names of columns, operators infix, Polars' style. */
void nk_bound_format(const nk_binder *binder, const nk_bound *expr, nk_text *out);

#endif
