/* Plan nodes own what they hold; release threads dying nodes through their counts, as expressions do. A schema is
 * found by binding the plan once and kept with the node. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "plan/rel.h"

static nk_status ref_exprs(nk_expr *const *exprs, int n, nk_expr ***out, nk_error *err)
{
	nk_expr **copy = calloc((size_t)n + 1, sizeof *copy);
	if (!copy)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	for (int i = 0; i < n; i++)
		copy[i] = nk__expr_ref(exprs[i]);
	*out = copy;
	return NK_OK;
}

nk_status nk_plan_new(nk_plan_kind kind, nk_plan *const *inputs, int n_inputs, nk_expr *const *exprs,
                      int n_exprs, nk_expr *const *keys, int n_keys, nk_plan **out, nk_error *err)
{
	NK_AUTO(nk_plan) plan = calloc(1, sizeof *plan);
	if (!plan)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	plan->n_references = 1;
	plan->kind = kind;
	plan->limit = -1;
	pthread_mutex_init(&plan->lock, NULL);
	plan->inputs = calloc((size_t)n_inputs + 1, sizeof *plan->inputs);
	if (!plan->inputs)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	for (int i = 0; i < n_inputs; i++)
		plan->inputs[plan->n_inputs++] = nk_plan_ref(inputs[i]);
	NK_TRY(ref_exprs(exprs, n_exprs, &plan->exprs, err));
	plan->n_exprs = n_exprs;
	NK_TRY(ref_exprs(keys, n_keys, &plan->keys, err));
	plan->n_keys = n_keys;
	*out = NK_STEAL(plan);
	return NK_OK;
}

nk_status nk_plan_scan(nk_source *source, nk_plan **out, nk_error *err)
{
	NK_TRY(nk_plan_new(NK_PLAN_SCAN, NULL, 0, NULL, 0, NULL, 0, out, err));
	(*out)->source = nk_source_ref(source);
	return NK_OK;
}

nk_plan *nk_plan_ref(nk_plan *plan)
{
	__atomic_fetch_add(&plan->n_references, 1, __ATOMIC_RELAXED);
	return plan;
}

static void plan_clear(nk_plan *plan)
{
	for (int i = 0; i < plan->n_exprs; i++)
		nk__expr_unref(plan->exprs[i]);
	for (int i = 0; i < plan->n_keys; i++)
		nk__expr_unref(plan->keys[i]);
	for (int i = 0; plan->names && i < plan->n_names; i++)
		free(plan->names[i]);
	free(plan->exprs);
	free(plan->keys);
	free(plan->names);
	free(plan->inputs);
	free(plan->descending);
	free(plan->nulls_last);
	free(plan->suffix);
	nk_foreign_unref(plan->foreign);
	nk_source_unref(plan->source);
	nk_schema_unref(plan->schema);
	pthread_mutex_destroy(&plan->lock);
}

void nk_plan_unref(nk_plan *plan)
{
	if (!plan || __atomic_fetch_sub(&plan->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	nk_plan *dying = plan;
	dying->n_references = 0;
	while (dying) {
		nk_plan *rest = (nk_plan *)(intptr_t)dying->n_references;
		for (int i = 0; i < dying->n_inputs; i++) {
			nk_plan *input = dying->inputs[i];
			if (__atomic_fetch_sub(&input->n_references, 1, __ATOMIC_ACQ_REL) == 1) {
				input->n_references = (int64_t)(intptr_t)rest;
				rest = input;
			}
		}
		plan_clear(dying);
		free(dying);
		dying = rest;
	}
}

nk_status nk_plan_schema(nk_plan *plan, nk_memory *memory, const nk_schema **out, nk_error *err)
{
	pthread_mutex_lock(&plan->lock);
	nk_status status = NK_OK;
	if (!plan->schema) {
		NK_AUTO(nk_query) query = NULL;
		status = nk_query_bind(plan, memory, &query, err);
		nk_field *fields = status == NK_OK ? malloc(((size_t)query->n_columns + 1) * sizeof *fields) : NULL;
		if (status == NK_OK && !fields)
			status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a schema");
		for (int i = 0; status == NK_OK && i < query->n_columns; i++)
			fields[i] =
				(nk_field){query->names[i], nk_binder_column(query->binder, query->root->columns[i])->dtype};
		if (status == NK_OK)
			status = nk_schema_new(fields, query->n_columns, &plan->schema, err);
		free(fields);
	}
	*out = plan->schema;
	pthread_mutex_unlock(&plan->lock);
	return status;
}
