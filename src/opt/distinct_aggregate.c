/* Counting distinct values per group needs the groups gathered, unless each value of a group is made to come once:
 * grouping by the keys and the value first, and counting what is left per key, keeps to streaming aggregation. */
#include "opt/rule_internal.h"

/* The one expression whose distinct values all aggregates count; NULL when there is none. */
static nk_bound *counted(const nk_rel *rel)
{
	nk_bound *first = NULL;
	for (int i = 0; i < rel->aggregate.n_aggregates; i++) {
		const nk_bound *call = rel->aggregate.aggregates[i];
		if (!nk_bound_is_call(call, "n_unique") || call->n_args != 1 || !call->args[0]->elementwise ||
		    call->args[0]->impure || (first && call->args[0] != first))
			return NULL;
		first = call->args[0];
	}
	return first;
}

static nk_status split(nk_opt *opt, nk_rel *rel, nk_bound *value, nk_error *err)
{
	int n_keys = rel->aggregate.n_keys, n_aggregates = rel->aggregate.n_aggregates, *ids;
	nk_bound *count, **inner_keys, **outer_keys, **counts;
	NK_TRY(nk_bound_call_named(opt->binder, "len", NULL, 0, &count, err));
	if (count->dtype != rel->aggregate.aggregates[0]->dtype || !count->aggregate)
		return NK_OK;
	NK_TRY(NK_ARENA_NEW(opt->arena, &ids, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &inner_keys, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &outer_keys, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &counts, n_aggregates, err));
	for (int i = 0; i <= n_keys; i++) {
		inner_keys[i] = i < n_keys ? rel->aggregate.keys[i] : value;
		const char *name =
			i < n_keys ? nk_binder_column(opt->binder, rel->columns[i])->name : "distinct value";
		NK_TRY(nk_binder_add_column(opt->binder, name, inner_keys[i]->dtype, &ids[i], err));
		if (i < n_keys)
			NK_TRY(nk_bound_column(opt->binder, ids[i], &outer_keys[i], err));
	}
	for (int i = 0; i < n_aggregates; i++)
		counts[i] = count;
	nk_rel *inner;
	NK_TRY(nk_rel_new(opt->query, NK_REL_AGGREGATE, rel->inputs, 1, ids, n_keys + 1, &inner, err));
	inner->aggregate.n_keys = n_keys + 1;
	inner->aggregate.keys = inner_keys;
	rel->inputs[0] = inner;
	rel->aggregate.keys = outer_keys;
	rel->aggregate.aggregates = counts;
	rel->aggregate.is_grouped = false;
	return NK_OK;
}

nk_status nk__opt_distinct_aggregate(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	for (int i = 0; i < opt->n_nodes; i++) {
		nk_rel *rel = opt->nodes[i];
		if (rel->kind != NK_REL_AGGREGATE || !rel->aggregate.is_grouped || rel->aggregate.maintain_order)
			continue;
		nk_bound *value = counted(rel);
		if (value)
			NK_TRY(split(opt, rel, value, err));
	}
	return NK_OK;
}
