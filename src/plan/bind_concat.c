/* Concatenation: rows under rows with one schema, or frames side by side. */
#include <string.h>

#include "func/supertype.h"
#include "plan/bind_internal.h"

static const nk_dtype *dtype_of(const nk_query *query, const nk_bound_plan *in, int i)
{
	return nk_binder_column(query->binder, in->ids[i])->dtype;
}

static int find(const nk_bound_plan *in, const char *name)
{
	for (int i = 0; i < in->n; i++)
		if (strcmp(in->names[i], name) == 0)
			return i;
	return -1;
}

/* The dtype of a column of the result from two inputs'. NULL when they do not meet. */
static const nk_dtype *meet(const nk_dtype *a, const nk_dtype *b, bool relaxed)
{
	if (a == b || b->id == NK_TYPE_NULL)
		return a;
	if (a->id == NK_TYPE_NULL)
		return b;
	return relaxed ? nk_supertype(a, b) : NULL;
}

static nk_status horizontal(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs,
                            nk_bound_plan *out, nk_error *err)
{
	int n = 0;
	for (int i = 0; i < plan->n_inputs; i++)
		n += inputs[i].n;
	NK_TRY(nk__scope_new(query, n, out, err));
	nk_rel **rels;
	NK_TRY(NK_ARENA_NEW(query->arena, &rels, plan->n_inputs + 1, err));
	n = 0;
	for (int i = 0; i < plan->n_inputs; i++) {
		/* Each input under ids of its own, its named columns only. */
		nk_bound_plan own;
		NK_TRY(nk__scope_new(query, inputs[i].n, &own, err));
		nk_bound **bound;
		NK_TRY(NK_ARENA_NEW(query->arena, &bound, inputs[i].n + 1, err));
		for (int c = 0; c < inputs[i].n; c++) {
			NK_TRY(nk_bound_column(query->binder, inputs[i].ids[c], &bound[c], err));
			NK_TRY(
				nk_binder_add_column(query->binder, inputs[i].names[c], bound[c]->dtype, &own.ids[c], err));
			out->names[n] = inputs[i].names[c];
			out->ids[n++] = own.ids[c];
		}
		NK_TRY(nk_rel_new(query, NK_REL_PROJECT, (nk_rel *const[]){inputs[i].rel}, 1, own.ids, own.n,
		                  &rels[i], err));
		rels[i]->project.exprs = bound;
	}
	NK_TRY(nk__check_duplicates(out->names, n, err));
	return nk_rel_new(query, NK_REL_ZIP, rels, plan->n_inputs, out->ids, n, &out->rel, err);
}

nk_status nk__bind_concat(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs,
                          nk_bound_plan *out, nk_error *err)
{
	if (plan->concat == NK_CONCAT_HORIZONTAL)
		return horizontal(query, plan, inputs, out, err);
	bool diagonal = plan->concat == NK_CONCAT_DIAGONAL || plan->concat == NK_CONCAT_DIAGONAL_RELAXED;
	bool relaxed = plan->concat == NK_CONCAT_VERTICAL_RELAXED || plan->concat == NK_CONCAT_DIAGONAL_RELAXED;

	/* Names and dtypes of the result. */
	int room = 0;
	for (int i = 0; i < plan->n_inputs; i++)
		room += inputs[i].n;
	nk_bound_plan result;
	NK_TRY(nk__scope_new(query, room, &result, err));
	const nk_dtype **dtypes;
	NK_TRY(NK_ARENA_NEW(query->arena, &dtypes, room + 1, err));
	result.n = inputs[0].n;
	for (int c = 0; c < result.n; c++) {
		result.names[c] = inputs[0].names[c];
		dtypes[c] = dtype_of(query, &inputs[0], c);
	}
	for (int i = 1; i < plan->n_inputs; i++) {
		const nk_bound_plan *in = &inputs[i];
		if (!diagonal && in->n != result.n)
			return nk_fail(err, NK_SHAPE,
			               "unable to append to a DataFrame of width %d with a DataFrame of width %d",
			               result.n, in->n);
		for (int c = 0; c < in->n; c++) {
			int at = diagonal ? find(&result, in->names[c]) : c;
			if (!diagonal && strcmp(result.names[c], in->names[c]) != 0)
				return nk_fail(err, NK_SHAPE, "unable to vstack, column names don't match: \"%s\" and \"%s\"",
				               result.names[c], in->names[c]);
			const nk_dtype *dtype = dtype_of(query, in, c);
			if (at < 0) {
				result.names[result.n] = in->names[c];
				dtypes[result.n++] = dtype;
				continue;
			}
			const nk_dtype *both = meet(dtypes[at], dtype, relaxed);
			if (!both)
				return nk_fail(err, NK_SCHEMA_MISMATCH,
				               "type %s is incompatible with expected type %s in column \"%s\"", dtype->text,
				               dtypes[at]->text, result.names[at]);
			dtypes[at] = both;
		}
	}
	for (int c = 0; c < result.n; c++)
		NK_TRY(nk_binder_add_column(query->binder, result.names[c], dtypes[c], &result.ids[c], err));

	/* Every input brought to that form. */
	nk_rel **rels;
	NK_TRY(NK_ARENA_NEW(query->arena, &rels, plan->n_inputs + 1, err));
	for (int i = 0; i < plan->n_inputs; i++) {
		nk_named *exprs;
		NK_TRY(NK_ARENA_NEW(query->arena, &exprs, result.n + 1, err));
		for (int c = 0; c < result.n; c++) {
			int at = diagonal ? find(&inputs[i], result.names[c]) : c;
			exprs[c].name = result.names[c];
			if (at < 0) {
				nk_scalar nothing = {.dtype = dtypes[c], .is_null = true};
				NK_TRY(nk_bound_literal(query->binder, &nothing, false, &exprs[c].expr, err));
				continue;
			}
			NK_TRY(nk_bound_column(query->binder, inputs[i].ids[at], &exprs[c].expr, err));
			NK_TRY(nk_bound_cast(query->binder, exprs[c].expr, dtypes[c], true, &exprs[c].expr, err));
		}
		nk_bound_plan brought;
		NK_TRY(nk__project(query, inputs[i].rel, exprs, result.n, &brought, err));
		rels[i] = brought.rel;
	}
	*out = result;
	return nk_rel_new(query, NK_REL_UNION, rels, plan->n_inputs, result.ids, result.n, &out->rel, err);
}
