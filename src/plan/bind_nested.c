/* explode: lists become columns of their items, which get ids of their own; the other columns are passed on. */
#include <string.h>

#include "plan/bind_internal.h"

nk_status nk__bind_explode(nk_query *query, const nk_plan *plan, const nk_bound_plan *in, nk_bound_plan *out,
                           nk_error *err)
{
	nk_named *chosen;
	int n_chosen;
	NK_TRY(nk__bind_in(query, in, plan->keys, plan->n_keys, &chosen, &n_chosen, err));
	if (n_chosen == 0)
		return nk_fail(err, NK_INVALID_OPERATION, "no columns provided in explode");
	int *lists, *made, n = 0;
	NK_TRY(NK_ARENA_NEW(query->arena, &lists, n_chosen, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &made, n_chosen, err));
	NK_TRY(nk__scope_new(query, in->n, out, err));
	for (int i = 0; i < n_chosen; i++) {
		const nk_bound *list = chosen[i].expr;
		if (list->kind != NK_BOUND_COLUMN)
			return nk_fail(err, NK_INVALID_OPERATION, "`explode` takes names of columns, not expressions");
		if (list->dtype->physical != NK_PHYSICAL_LIST)
			return nk_fail(err, NK_INVALID_OPERATION, "`explode` operation not supported for dtype `%s`",
			               nk_dtype_short_name(list->dtype));
		bool known = false;
		for (int j = 0; j < n; j++)
			known |= lists[j] == list->column;
		if (known)
			continue;
		lists[n] = list->column;
		NK_TRY(
			nk_binder_add_column(query->binder, chosen[i].name, list->dtype->fields[0].dtype, &made[n], err));
		n++;
	}
	for (int i = 0; i < in->n; i++) {
		out->names[i] = in->names[i];
		out->ids[i] = in->ids[i];
		for (int j = 0; j < n; j++)
			if (lists[j] == in->ids[i])
				out->ids[i] = made[j];
	}
	nk_rel *input = in->rel;
	NK_TRY(nk_rel_new(query, NK_REL_EXPLODE, &input, 1, out->ids, in->n, &out->rel, err));
	out->rel->explode.n_lists = n;
	out->rel->explode.lists = lists;
	out->rel->explode.made = made;
	out->rel->explode.empty_as_null = plan->empty_as_null;
	out->rel->explode.keep_nulls = plan->keep_nulls;
	return NK_OK;
}
