/* The table of rules and why they come in this order.
 *
 * Rules work on a private copy of the bound plan, so that they may overwrite nodes: sharing survives by itself,
 * and a plan of ten thousand nodes costs one walk per rule instead of a rebuild of every ancestor. */
#include "opt/rule_internal.h"

typedef struct nk_rule {
	uint32_t flag; /* 0: always */
	nk_status (*run)(nk_opt *opt, nk_error *err);
} nk_rule;

static const nk_rule RULES[] = {
	/* Constant filters and chains of projections hide what the others look for. */
	{NK_OPT_SIMPLIFY, nk__opt_simplify},
	{NK_OPT_SIMPLIFY, nk__opt_distinct_aggregate},
	/* While both still look as they were written. */
	{NK_OPT_COMMON_SUBPLANS, nk__opt_common_subplans},
	/* Predicates do not enter shared nodes, so what is cheaper computed twice is first made two nodes. */
	{0, nk__opt_sharing},
	/* Before joins are ordered: predicates turn cross joins into joins and decide the sizes. */
	{NK_OPT_PREDICATE_PUSHDOWN, nk__opt_predicate_pushdown},
	{NK_OPT_JOIN_ORDER, nk__opt_join_order},
	/* Predicates that joins held back may now lie on one side. */
	{NK_OPT_PREDICATE_PUSHDOWN, nk__opt_predicate_pushdown},
	/* A slice in a scan keeps predicates out, so it comes after them. */
	{NK_OPT_SLICE_PUSHDOWN, nk__opt_slice_pushdown},
	/* Once nothing moves any more, columns that nobody reads are known. */
	{NK_OPT_PROJECTION_PUSHDOWN, nk__opt_projection_pushdown},
	{NK_OPT_SIMPLIFY, nk__opt_simplify},
	/* Estimates of the final plan, for build sides, lowering and explain. */
	{0, nk__opt_cardinality},
	{NK_OPT_JOIN_ORDER, nk__opt_build_side},
};

nk_status nk_optimize(nk_query *query, uint32_t flags, nk_error *err)
{
	nk_opt opt = {.query = query, .binder = query->binder, .arena = query->arena, .flags = flags};
	NK_TRY(nk__opt_copy_plan(&opt, err));
	for (int i = 0; i < NK_COUNT(RULES); i++)
		if (!RULES[i].flag || flags & RULES[i].flag)
			NK_TRY(RULES[i].run(&opt, err));
	NK_TRY(nk__opt_order(&opt, err));
	query->n_nodes = opt.n_nodes;
	return NK_OK;
}
