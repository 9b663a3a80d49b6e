/* Making and copying relational nodes; a query's life. */
#include "plan/rel.h"

#include <stdlib.h>
#include <string.h>

nk_status nk_rel_new(nk_query *query, nk_rel_kind kind, nk_rel *const *inputs, int n_inputs,
                     const int *columns, int n_columns, nk_rel **out, nk_error *err)
{
	nk_rel *rel;
	NK_TRY(NK_ARENA_NEW(query->arena, &rel, 1, err));
	rel->kind = kind;
	rel->number = query->n_nodes++;
	rel->n_rows = -1;
	rel->n_inputs = n_inputs;
	NK_TRY(NK_ARENA_NEW(query->arena, &rel->inputs, n_inputs + 1, err));
	for (int i = 0; i < n_inputs; i++)
		rel->inputs[i] = inputs[i];
	int *ids;
	NK_TRY(NK_ARENA_NEW(query->arena, &ids, n_columns + 1, err));
	if (n_columns && columns)
		memcpy(ids, columns, (size_t)n_columns * sizeof *ids);
	rel->columns = ids;
	rel->n_columns = n_columns;
	NK_TRY(NK_ARENA_NEW(query->arena, &rel->counters, 1, err));
	if (kind == NK_REL_SCAN) {
		rel->scan.limit = -1;
		NK_TRY(NK_ARENA_NEW(query->arena, &rel->scan.scan_counters, 1, err));
	} else if (kind == NK_REL_SORT) {
		rel->sort.limit = -1;
	}
	*out = rel;
	return NK_OK;
}

nk_status nk_rel_copy(nk_query *query, const nk_rel *rel, nk_rel **out, nk_error *err)
{
	nk_rel *copy;
	NK_TRY(
		nk_rel_new(query, rel->kind, rel->inputs, rel->n_inputs, rel->columns, rel->n_columns, &copy, err));
	nk_rel fresh = *copy;
	*copy = *rel;
	copy->number = fresh.number;
	copy->inputs = fresh.inputs;
	copy->columns = fresh.columns;
	copy->counters = fresh.counters;
	if (rel->kind == NK_REL_SCAN)
		copy->scan.scan_counters = fresh.scan.scan_counters;
	*out = copy;
	return NK_OK;
}

void nk_query_free(nk_query *query)
{
	if (query)
		nk_arena_free(query->arena); /* the query itself lives in it */
}
