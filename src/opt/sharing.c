/* A node with several readers is computed once and its rows are kept for all of them. That pays for joins and
 * aggregations, and for filters that leave little. A scan that is merely read by several readers is cheaper read
 * again: each reading decodes only its own columns, takes its own predicates and runtime filters, and nothing has to
 * be held. This rule copies such chains, so that every reader has its own. Copies yield the same ids, which is
 * harmless: no node has both as inputs unless one of them is under ids of its own. */
#include "opt/rule_internal.h"

#include "opt/cardinality.h"

/* Kept when at most this share of the rows is left, in at most so many bytes. */
static const double MAX_SHARE = 0.35;
static const double MAX_BYTES = 256e6;

static bool is_impure(const nk_rel *rel)
{
	if (rel->kind == NK_REL_FILTER)
		return rel->filter.predicate->impure;
	for (int i = 0; rel->kind == NK_REL_PROJECT && i < rel->n_columns; i++)
		if (rel->project.exprs[i]->impure)
			return true;
	return false;
}

/* A chain of filters and projections above a scan. */
static bool is_chain(const nk_rel *rel, bool *has_filter, double *n_rows_scanned)
{
	*has_filter = false;
	for (; rel->kind == NK_REL_FILTER || rel->kind == NK_REL_PROJECT; rel = rel->inputs[0]) {
		*has_filter |= rel->kind == NK_REL_FILTER;
		if (is_impure(rel))
			return false;
	}
	*n_rows_scanned = rel->n_rows;
	return rel->kind == NK_REL_SCAN;
}

static bool is_cheaper_twice(const nk_rel *rel)
{
	bool has_filter;
	double n_rows_scanned;
	if (!is_chain(rel, &has_filter, &n_rows_scanned))
		return false;
	return !has_filter || rel->n_rows > MAX_SHARE * n_rows_scanned ||
	       rel->n_rows * rel->n_columns * 16 > MAX_BYTES;
}

/* Copies from `rel` down to the scan, or to a node that stays shared. */
static nk_status copy_chain(nk_opt *opt, const nk_rel *rel, const bool *repeats, nk_rel **out, nk_error *err)
{
	nk_rel **edge = out;
	for (;;) {
		NK_TRY(nk_rel_copy(opt->query, rel, edge, err));
		if (!(*edge)->n_inputs)
			return NK_OK;
		rel = (*edge)->inputs[0];
		if (opt->n_readers[rel->number] > 1 && !repeats[rel->number])
			return NK_OK;
		edge = &(*edge)->inputs[0];
	}
}

nk_status nk__opt_sharing(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	bool any = false;
	for (int i = 0; i < opt->n_nodes; i++)
		any |= opt->n_readers[i] > 1;
	if (!any)
		return NK_OK;
	NK_TRY(nk__opt_cardinality(opt, err));
	bool *repeats, *taken;
	NK_TRY(NK_ARENA_NEW(opt->arena, &repeats, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &taken, opt->n_nodes, err));
	for (int i = 0; i < opt->n_nodes; i++)
		repeats[i] = opt->n_readers[i] > 1 && is_cheaper_twice(opt->nodes[i]);
	/* Readers first: the first to come keeps the original. */
	taken[opt->query->root->number] = true;
	for (int i = opt->n_nodes - 1; i >= 0; i--) {
		nk_rel *rel = opt->nodes[i];
		for (int j = 0; j < rel->n_inputs; j++) {
			int input = rel->inputs[j]->number;
			if (repeats[input] && taken[input])
				NK_TRY(copy_chain(opt, rel->inputs[j], repeats, &rel->inputs[j], err));
			else
				taken[input] = true;
		}
	}
	return NK_OK;
}
