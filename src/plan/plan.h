/* Plans as users build them: immutable, reference-counted nodes with unresolved expressions. They are shared
 * freely, cache their schema, and are bound into a query (plan/rel.h) each time they run.
 *
 * Nothing recurses on the depth of a plan, release included. */
#ifndef NK_PLAN_PLAN_H
#define NK_PLAN_PLAN_H

#include <pthread.h>

#include "expr/expr.h"
#include "plan/source.h"

typedef enum nk_plan_kind {
	NK_PLAN_SCAN,         /* source */
	NK_PLAN_FILTER,       /* exprs: all must hold */
	NK_PLAN_SELECT,       /* exprs */
	NK_PLAN_WITH_COLUMNS, /* exprs */
	NK_PLAN_GROUP_BY,     /* keys, exprs: aggregations */
	NK_PLAN_JOIN,   /* inputs: left, right; keys: left_on, exprs: right_on, then conditions on both sides */
	NK_PLAN_SORT,   /* keys, descending, nulls_last */
	NK_PLAN_SLICE,  /* offset (negative from the end), limit (-1: all) */
	NK_PLAN_UNIQUE, /* keys: subset (none: all columns), keep */
	NK_PLAN_CONCAT, /* inputs one after another */
	NK_PLAN_ROW_INDEX, /* names[0], offset */
	NK_PLAN_RENAME,    /* names: from, to, from, to ... */
	NK_PLAN_DROP,      /* keys: selectors */
	NK_PLAN_EXPLODE,   /* keys: selectors of lists; empty_as_null, keep_nulls */
	NK_PLAN_JOIN_ASOF, /* inputs: left, right; keys, exprs: `on`, then `by` of each side; names: tolerance, if any */
	NK_PLAN_WINDOWS, /* keys: the index, then group_by; exprs: aggregations; names: every, period, offset */
	NK_PLAN_FOREIGN, /* foreign: a function of the whole table */
} nk_plan_kind;

typedef enum nk_join_kind {
	NK_JOIN_INNER,
	NK_JOIN_LEFT,
	NK_JOIN_RIGHT,
	NK_JOIN_FULL,
	NK_JOIN_SEMI,
	NK_JOIN_ANTI,
	NK_JOIN_CROSS,
} nk_join_kind;

typedef enum nk_coalesce { NK_COALESCE_DEFAULT, NK_COALESCE_YES, NK_COALESCE_NO } nk_coalesce;
typedef enum nk_order_kept {
	NK_ORDER_NONE,
	NK_ORDER_LEFT,
	NK_ORDER_RIGHT,
	NK_ORDER_LEFT_RIGHT,
	NK_ORDER_RIGHT_LEFT
} nk_order_kept;
typedef enum nk_validate {
	NK_VALIDATE_MANY_TO_MANY,
	NK_VALIDATE_ONE_TO_MANY,
	NK_VALIDATE_MANY_TO_ONE,
	NK_VALIDATE_ONE_TO_ONE
} nk_validate;
typedef enum nk_keep { NK_KEEP_ANY, NK_KEEP_FIRST, NK_KEEP_LAST, NK_KEEP_NONE } nk_keep;
typedef enum nk_concat_how {
	NK_CONCAT_VERTICAL,
	NK_CONCAT_VERTICAL_RELAXED,
	NK_CONCAT_DIAGONAL,
	NK_CONCAT_DIAGONAL_RELAXED,
	NK_CONCAT_HORIZONTAL
} nk_concat_how;

typedef enum nk_asof_strategy { NK_ASOF_BACKWARD, NK_ASOF_FORWARD, NK_ASOF_NEAREST } nk_asof_strategy;

/* Windows over an index: one for each row (rolling), or on a grid of starts that are `every` apart. */
typedef enum nk_window_start {
	NK_START_WINDOW, /* the grid goes through the first index, rounded down */
	NK_START_DATAPOINT,
	NK_START_MONDAY, /* and the other days of the week after it */
	NK_START_SUNDAY = NK_START_MONDAY + 6,
} nk_window_start;
typedef enum nk_window_label { NK_LABEL_LEFT, NK_LABEL_RIGHT, NK_LABEL_DATAPOINT } nk_window_label;
typedef struct nk_windows {
	bool is_rolling;
	bool closed_left, closed_right;
	bool with_bounds; /* columns of the windows' bounds come out too */
	nk_window_label label;
	nk_window_start start;
} nk_windows;

typedef struct nk_plan nk_plan;
struct nk_plan {
	int64_t n_references; /* atomic */
	nk_plan_kind kind;
	int n_inputs;
	nk_plan **inputs; /* owned references */
	int n_exprs;
	nk_expr **exprs; /* owned references */
	int n_keys;
	nk_expr **keys; /* owned references */
	int n_names;
	char **names;
	nk_source *source;
	bool *descending, *nulls_last; /* n_keys each */
	bool maintain_order;
	bool is_eager; /* select, with_columns: columns of length one do not broadcast */
	bool strict;   /* rename, drop: every name must exist */
	int64_t offset, limit;
	nk_join_kind join;
	nk_coalesce coalesce;
	nk_order_kept order_kept;
	nk_validate validate;
	bool nulls_equal;
	bool empty_as_null, keep_nulls; /* explode */
	char *suffix;
	nk_keep keep;
	nk_concat_how concat;
	nk_asof_strategy asof;
	bool exact_matches, check_sorted; /* join_asof */
	nk_windows windows;
	nk_foreign *foreign;
	pthread_mutex_t lock; /* guards schema */
	nk_schema *schema;    /* once asked for */
};

/* Makers borrow (reference) what they get; fields not named here are set on *out by the caller before sharing. */
NK_MUST_CHECK nk_status nk_plan_new(nk_plan_kind kind, nk_plan *const *inputs, int n_inputs,
                                    nk_expr *const *exprs, int n_exprs, nk_expr *const *keys, int n_keys,
                                    nk_plan **out, nk_error *err);
NK_MUST_CHECK nk_status nk_plan_scan(nk_source *source, nk_plan **out, nk_error *err);
nk_plan *nk_plan_ref(nk_plan *plan);
void nk_plan_unref(nk_plan *plan);
static inline void nk_plan__auto(nk_plan **plan) { nk_plan_unref(*plan); }

/* Names and dtypes of the result, without reading data pages. The schema is borrowed from the plan. */
NK_MUST_CHECK nk_status nk_plan_schema(nk_plan *plan, nk_memory *memory, const nk_schema **out,
                                       nk_error *err);

#endif
