/* What rules share: the private copy of the plan that they change in place, walks over it, sets of column ids,
 * and questions about predicates.
 *
 * nk_optimize copies every node of the bound plan before the first rule runs, so all nodes that a rule meets are
 * the optimiser's own: a rule overwrites a node, and every reader of it sees the change. Arrays that nodes point
 * to are never written to, only replaced: the bound plan shares them.
 *
 * Nothing here recurses on the depth of a plan. */
#ifndef NK_OPT_RULE_INTERNAL_H
#define NK_OPT_RULE_INTERNAL_H

#include "opt/optimize.h"

typedef struct nk_column_estimate nk_column_estimate;

/* A set of column ids: a bitmap. */
typedef struct nk_ids {
	uint64_t *words;
	int n_words;
} nk_ids;

typedef struct nk_opt {
	nk_query *query;
	nk_binder *binder;
	nk_arena *arena;
	uint32_t flags;
	/* Set by nk__opt_order: inputs before their readers, the root last; nodes[i]->number == i. */
	nk_rel **nodes;
	int n_nodes;
	int *n_readers;                /* by number: edges into the node, and one for the root */
	nk_column_estimate *estimates; /* by column id; see cardinality.h */
	int n_estimates, n_makers;
	nk_ids wanted; /* columns whose estimates matter */
} nk_opt;

/* ---- Walks ---- */

/* Lists the nodes anew; call it first in a rule, and again after changing edges. */
NK_MUST_CHECK nk_status nk__opt_order(nk_opt *opt, nk_error *err);
/* Edges of `rel` to listed nodes i now lead to forward[i] where that is set. For rules that visit inputs first. */
void nk__opt_forward_inputs(nk_rel *rel, nk_rel *const *forward);
/* Replaces every node by a copy of it (done once, before the rules). Filters, sorts, slices and uniques of the copy
 * yield exactly their input's columns. */
NK_MUST_CHECK nk_status nk__opt_copy_plan(nk_opt *opt, nk_error *err);
/* A new node with the content of `rel`; `rel` may then be overwritten to stand above it. */
NK_MUST_CHECK nk_status nk__opt_push_down(nk_opt *opt, nk_rel *rel, nk_rel **below, nk_error *err);
/* A node above `input` that yields the same columns. */
NK_MUST_CHECK nk_status nk__opt_filter(nk_opt *opt, nk_rel *input, nk_bound *const *conjuncts, int n,
                                       nk_rel **out, nk_error *err);
/* A projection that passes on `columns` of `input`; `input` itself when it yields just these. */
NK_MUST_CHECK nk_status nk__opt_restrict(nk_opt *opt, nk_rel *input, const int *columns, int n_columns,
                                         nk_rel **out, nk_error *err);
/* Overwrites `rel` by a filter above its old content. */
NK_MUST_CHECK nk_status nk__opt_become_filter(nk_opt *opt, nk_rel *rel, nk_bound *const *conjuncts, int n,
                                              nk_error *err);

/* ---- Sets of column ids ---- */

/* An empty set with room for every id known now. */
NK_MUST_CHECK nk_status nk__ids_new(nk_opt *opt, nk_ids *out, nk_error *err);
NK_MUST_CHECK nk_status nk__ids_of(nk_opt *opt, const int *ids, int n, nk_ids *out, nk_error *err);
static inline void nk__ids_add(nk_ids *set, int id) { set->words[id >> 6] |= 1ull << (id & 63); }
static inline bool nk__ids_has(const nk_ids *set, int id)
{
	return id >> 6 < set->n_words && set->words[id >> 6] >> (id & 63) & 1;
}
void nk__ids_add_expr(nk_ids *set, const nk_bound *expr);
void nk__ids_add_all(nk_ids *set, const int *ids, int n);

/* ---- Lists of expressions ---- */

typedef struct nk_bounds {
	nk_bound **items;
	int n, capacity;
} nk_bounds;

NK_MUST_CHECK nk_status nk__bounds_add(nk_opt *opt, nk_bounds *list, nk_bound *expr, nk_error *err);
/* The same unless it is in the list already. */
NK_MUST_CHECK nk_status nk__bounds_add_once(nk_opt *opt, nk_bounds *list, nk_bound *expr, nk_error *err);

/* ---- Predicates ---- */

/* Operations whose meaning rules rely on; NK_OP_OTHER is everything else. */
typedef enum nk_op {
	NK_OP_OTHER,
	NK_OP_AND,
	NK_OP_OR,
	NK_OP_NOT,
	NK_OP_EQ,
	NK_OP_NE,
	NK_OP_LT,
	NK_OP_LE,
	NK_OP_GT,
	NK_OP_GE,
	NK_OP_IS_IN,
	NK_OP_IS_BETWEEN,
	NK_OP_IS_NULL,
	NK_OP_IS_NOT_NULL,
	NK_OP_STARTS_WITH,
	NK_OP_ENDS_WITH,
	NK_OP_CONTAINS,
	NK_OP_CAST,
} nk_op;

nk_op nk__op_of(const nk_bound *expr);
/* The comparison with its sides swapped. */
nk_op nk__op_mirrored(nk_op op);

typedef struct nk_column_use {
	int n;         /* occurrences of columns */
	bool in_first; /* all are in the first set; true when there are none */
	bool in_second;
} nk_column_use;

/* Where the columns of an expression lie; sets may be NULL. */
nk_column_use nk__column_use(const nk_bound *expr, const nk_ids *first, const nk_ids *second);
/* A literal true; a literal false or null (neither passes a row). */
bool nk__bound_is_true(const nk_bound *expr);
bool nk__bound_is_never(const nk_bound *expr);
/* Parts that must all hold: splits conjunctions, and takes factors common to all sides out of disjunctions. */
NK_MUST_CHECK nk_status nk__split_predicate(nk_opt *opt, nk_bound *predicate, nk_bounds *out, nk_error *err);
/* What a disjunction implies about the columns of `set` alone; *out NULL when nothing. */
NK_MUST_CHECK nk_status nk__implied_by(nk_opt *opt, nk_bound *disjunction, const nk_ids *set, nk_bound **out,
                                       nk_error *err);
/* Whether the predicate cannot be true on a row where all columns of `set` are null. */
bool nk__rejects_nulls(const nk_bound *predicate, const nk_ids *set);
/* Substitutes columns[i] by exprs[i]; only those that occur are passed to the binder. */
NK_MUST_CHECK nk_status nk__replace_columns(nk_opt *opt, nk_bound *expr, const int *columns,
                                            nk_bound *const *exprs, int n, nk_bound **out, nk_error *err);
/* Whether equal values of this dtype are the same value in every respect (no signed zero, no NaN). */
static inline bool nk__dtype_is_exact(const nk_dtype *dtype)
{
	return !nk_type_is_float(dtype->id) && !nk_type_is_nested(dtype->id) && dtype->id != NK_TYPE_NULL;
}

/* ---- Rules, in the order of the table in optimize.c ---- */

NK_MUST_CHECK nk_status nk__opt_simplify(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_distinct_aggregate(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_common_subplans(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_sharing(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_predicate_pushdown(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_join_order(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_slice_pushdown(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_projection_pushdown(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_cardinality(nk_opt *opt, nk_error *err);
NK_MUST_CHECK nk_status nk__opt_build_side(nk_opt *opt, nk_error *err);

#endif
