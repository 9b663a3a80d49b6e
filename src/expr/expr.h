/* Expressions as users build them: immutable, reference-counted trees, names unresolved. Shared freely between
 * queries and threads. Binding (expr/bound.h) resolves them against a schema.
 *
 * Nothing here recurses on the depth of a tree, release included. */
#ifndef NK_EXPR_EXPR_H
#define NK_EXPR_EXPR_H

#include "columnar/frame.h"
#include "func/func.h"

typedef enum nk_expr_kind {
	NK_EXPR_COLUMN,   /* name */
	NK_EXPR_LITERAL,  /* value, one row */
	NK_EXPR_SERIES,   /* a column of data, named */
	NK_EXPR_CALL,     /* func(args; options) */
	NK_EXPR_ALIAS,    /* args[0] under `name` */
	NK_EXPR_RENAME,   /* args[0]; output name: rename says how, name is the affix */
	NK_EXPR_SELECTOR, /* columns chosen by name, dtype or position when bound */
	NK_EXPR_OVER,     /* args[0] within groups of equal keys: over says which arguments are what */
} nk_expr_kind;

typedef enum nk_rename {
	NK_RENAME_KEEP,
	NK_RENAME_PREFIX,
	NK_RENAME_SUFFIX,
	NK_RENAME_UPPER,
	NK_RENAME_LOWER
} nk_rename;

/* How the results of a window's groups become rows: each at its own row, each row the list of its group's, or one
 * group after another. One value a group is repeated in the first two. */
typedef enum nk_mapping { NK_MAP_ROWS, NK_MAP_JOIN, NK_MAP_EXPLODE } nk_mapping;

/* The arguments of a window: the expression, n_keys that partition, n_order that order the rows of a partition. */
typedef struct nk_over {
	int n_keys, n_order;
	bool descending, nulls_last;
	nk_mapping mapping;
} nk_over;

typedef enum nk_selector_kind {
	NK_SELECT_ALL,
	NK_SELECT_NAMES,     /* exactly these, in this order; each must exist unless not strict */
	NK_SELECT_DTYPES,    /* columns whose dtype is one of these */
	NK_SELECT_CLASS,     /* dtype classes, a mask of NK_CLASS_ */
	NK_SELECT_POSITIONS, /* negative ones count from the end */
	NK_SELECT_STARTS,    /* names[] are prefixes */
	NK_SELECT_ENDS,
	NK_SELECT_CONTAINS,
	NK_SELECT_MATCHES, /* names[] are regular expressions */
	NK_SELECT_UNION,   /* args[0], args[1]: selectors */
	NK_SELECT_INTERSECT,
	NK_SELECT_EXCEPT,
	NK_SELECT_XOR,
} nk_selector_kind;

enum {
	NK_CLASS_SIGNED = 1 << 0,
	NK_CLASS_UNSIGNED = 1 << 1,
	NK_CLASS_FLOAT = 1 << 2,
	NK_CLASS_DECIMAL = 1 << 3,
	NK_CLASS_BOOLEAN = 1 << 4,
	NK_CLASS_STRING = 1 << 5,
	NK_CLASS_BINARY = 1 << 6,
	NK_CLASS_DATE = 1 << 7,
	NK_CLASS_DATETIME = 1 << 8,
	NK_CLASS_DURATION = 1 << 9,
	NK_CLASS_TIME = 1 << 10,
	NK_CLASS_NESTED = 1 << 11,
	NK_CLASS_NULL = 1 << 12,
	NK_CLASS_LIST = 1 << 13,
	NK_CLASS_STRUCT = 1 << 14,
	NK_CLASS_CATEGORICAL = 1 << 15,
	NK_CLASS_ENUM = 1 << 16,
	NK_CLASS_ARRAY = 1 << 17,
};

typedef struct nk_expr nk_expr;
struct nk_expr {
	int64_t n_references; /* atomic */
	nk_expr_kind kind;
	char *name;        /* owned; may be NULL */
	nk_scalar literal; /* bytes owned; never nested */
	bool is_untyped;   /* literal: a bare number or None, which bends to its neighbours */
	nk_column *series;
	const nk_func *func;
	nk_option *options; /* one per option of the row; strings owned */
	nk_rename rename;
	nk_over over;
	nk_selector_kind selector;
	bool strict;
	int64_t *positions; /* NK_SELECT_POSITIONS; n_items of them */
	uint32_t classes;
	char **names; /* NK_SELECT_NAMES and the text selectors */
	const nk_dtype **dtypes;
	int n_items;
	int n_args;
	nk_expr *args[]; /* owned references */
};

NK_MUST_CHECK nk_status nk__expr_column(const char *name, nk_expr **out, nk_error *err);
/* Copies bytes. */
NK_MUST_CHECK nk_status nk__expr_literal(const nk_scalar *value, bool is_untyped, nk_expr **out,
                                         nk_error *err);
NK_MUST_CHECK nk_status nk__expr_series(const char *name, nk_column *column, nk_expr **out, nk_error *err);
/* options: n pairs of name and value; those not given take the row's defaults. Borrows args. */
NK_MUST_CHECK nk_status nk__expr_call(const nk_func *func, nk_expr *const *args, int n_args,
                                      const char *const *option_names, const nk_option *options,
                                      int n_options, nk_expr **out, nk_error *err);
NK_MUST_CHECK nk_status nk__expr_alias(nk_expr *expr, const char *name, nk_expr **out, nk_error *err);
NK_MUST_CHECK nk_status nk__expr_rename(nk_expr *expr, nk_rename how, const char *affix, nk_expr **out,
                                        nk_error *err);
/* args: the expression, then keys, then what orders, as many as over says. Borrows them. */
NK_MUST_CHECK nk_status nk__expr_over(nk_expr *const *args, const nk_over *over, nk_expr **out,
                                      nk_error *err);
NK_MUST_CHECK nk_status nk__selector_names(const char *const *names, int n, bool strict,
                                           nk_selector_kind kind, nk_expr **out,
                                           nk_error *err); /* NAMES, STARTS, ENDS, CONTAINS */
NK_MUST_CHECK nk_status nk__selector_dtypes(const nk_dtype *const *dtypes, int n, nk_expr **out,
                                            nk_error *err);
NK_MUST_CHECK nk_status nk__selector_classes(uint32_t classes, nk_expr **out,
                                             nk_error *err); /* ~0u: all columns */
NK_MUST_CHECK nk_status nk__selector_positions(const int64_t *positions, int n, nk_expr **out, nk_error *err);
NK_MUST_CHECK nk_status nk__selector_combine(nk_selector_kind kind, nk_expr *left, nk_expr *right,
                                             nk_expr **out, nk_error *err);

static inline nk_expr *nk__expr_ref(nk_expr *expr)
{
	__atomic_fetch_add(&expr->n_references, 1, __ATOMIC_RELAXED);
	return expr;
}
void nk__expr_unref(nk_expr *expr);
static inline void nk_expr__auto(nk_expr **expr) { nk__expr_unref(*expr); }

/* `inner` is an expression over the items of the lists (element) or the fields of the Structs (field) that `outer` gives;
 * *out is what it gives over columns. */
typedef enum nk_within { NK_WITHIN_EVAL, NK_WITHIN_AGG, NK_WITHIN_FILTER, NK_WITHIN_FIELDS } nk_within;
NK_MUST_CHECK nk_status nk__expr_within(nk_within how, nk_expr *outer, nk_expr *inner, nk_expr **out,
                                        nk_error *err);

/* The name a result gets: alias, leftmost column, or "literal". NULL when a selector decides (borrowed). */
const char *nk__expr_output_name(const nk_expr *expr);
/* Of a call that picks one field by its name: the name. NULL when the field is chosen in another way (borrowed). */
const char *nk__expr_field_name(const nk_expr *expr);
/* Columns of `schema` chosen by a selector, as ascending positions (NAMES: in the given order). */
NK_MUST_CHECK nk_status nk__selector_resolve(const nk_expr *selector, const nk_field *fields, int n_fields,
                                             int *out, int *n_out, nk_error *err);
/* As Polars shows it: `[(col("a")) + (dyn int: 1)]`. */
struct nk_text;
void nk__expr_format(const nk_expr *expr, struct nk_text *out);

#endif
