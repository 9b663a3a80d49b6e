/* A region of joins as a graph: leaves (plans that are not taken apart), classes of expressions that must be equal
 * across leaves, and conditions on several leaves. The order in which joins were written is gone from it.
 *
 * Semi and anti joins are leaves too: `filters` tells that the leaf only filters the others and yields nothing. */
#ifndef NK_OPT_JOIN_GRAPH_H
#define NK_OPT_JOIN_GRAPH_H

#include "opt/cardinality.h"

enum { NK_MAX_LEAVES = 62 };

typedef uint64_t nk_leaves; /* a set of leaves */

typedef struct nk_class {
	nk_leaves leaves;
	nk_bound **members; /* by leaf; NULL where it has none */
	double n_distinct;  /* of the largest domain */
} nk_class;

typedef struct nk_leaf {
	nk_rel *rel;
	double n_rows;
	bool filters;
	/* filters: how it is joined to what holds its left keys */
	nk_join_kind how; /* NK_JOIN_SEMI, NK_JOIN_ANTI */
	int n_keys;
	nk_bound **left_keys, **right_keys;
	const nk_class **key_classes; /* of each left key: any member of it will do; NULL: none */
	nk_bound *residual;
	nk_leaves fixed; /* leaves that must be there: residual, and keys of no class */
	double share;    /* of rows that pass */
} nk_leaf;

typedef struct nk_condition {
	nk_bound *expr;
	nk_leaves leaves;
	double share;
} nk_condition;

typedef struct nk_join_graph {
	int n_leaves, n_classes, n_conditions;
	nk_leaf *leaves;
	nk_class *classes;
	nk_condition *conditions;
	/* What dissolved projections made: column -> expression over leaves, computed above the joins. */
	int n_renamed;
	int *renamed;
	nk_bound **renames;
} nk_join_graph;

/* Whether the join may be part of a region, and then whether its inputs continue it. */
bool nk__joins_freely(const nk_rel *rel);
/* Whether rel, an input of a node of a region with no other reader, belongs to the region itself. */
bool nk__continues_region(const nk_rel *rel);
/* Takes the region below `root` apart. *out NULL when that is not possible (it then stays as written). interior: by
 * node number, what nk__continues_region and the readers say. */
NK_MUST_CHECK nk_status nk__join_graph_new(nk_opt *opt, nk_rel *root, const bool *interior,
                                           nk_join_graph **out, nk_error *err);

#endif
