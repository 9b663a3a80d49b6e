/* Functions of the host at the public boundary: their series and frames to arrays and back. */
#include <stdlib.h>

#include "api/context.h"
#include "api/series.h"
#include "plan/plan.h"

typedef struct host_function {
	nk_foreign foreign;
	void *data;
	nk_status (*call)(void *data, nk_series *const *args, int n_args, nk_series **out, nk_error *err);
	nk_status (*call_table)(void *data, nk_frame *input, nk_frame **out, nk_error *err);
	void (*free)(void *data);
} host_function;

static void host_free(nk_foreign *foreign)
{
	host_function *self = (host_function *)foreign;
	self->free(self->data);
	nk_schema_unref(foreign->schema);
	free(self);
}

static nk_status host_call(nk_foreign *foreign, nk_memory *memory, nk_array *const *args, int n_args,
                           nk_array **out, nk_error *err)
{
	host_function *self = (host_function *)foreign;
	nk_series **series = calloc((size_t)n_args + 1, sizeof *series);
	nk_status status =
		series ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a function's arguments");
	for (int i = 0; status == NK_OK && i < n_args; i++) {
		nk_column *column;
		status = nk_column_from_array(memory, args[i], &column, err);
		if (status == NK_OK)
			status = nk__series_new("", column, &series[i], err);
	}
	nk_series *result = NULL;
	if (status == NK_OK)
		status = self->call(self->data, series, n_args, &result, err);
	for (int i = 0; series && i < n_args; i++)
		nk_series_unref(series[i]);
	free(series);
	if (status == NK_OK)
		status = nk_column_array(memory, result->column, out, err);
	nk_series_unref(result);
	return status;
}

static nk_status host_call_table(nk_foreign *foreign, nk_frame *input, nk_frame **out, nk_error *err)
{
	host_function *self = (host_function *)foreign;
	return self->call_table(self->data, input, out, err);
}

static nk_status host_new(const host_function *from, host_function **out, nk_error *err)
{
	host_function *made = malloc(sizeof *made);
	if (!made) {
		from->free(from->data);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a function");
	}
	*made = *from;
	made->foreign.n_references = 1;
	made->foreign.free = host_free;
	*out = made;
	return NK_OK;
}

nk_status nk_expr_map(const nk_column_function *function, nk_expr *const *args, int n_args, nk_expr **out,
                      nk_error *err)
{
	host_function from = {.data = function->data, .call = function->call, .free = function->free}, *made;
	from.foreign.call = host_call;
	NK_TRY(host_new(&from, &made, err));
	nk_status status = NK_OK;
	if (function->dtype) {
		const char *canonical;
		status = nk_dtype_check(function->dtype, &canonical, err);
		if (status == NK_OK)
			status = nk_dtype_parse(canonical, &made->foreign.dtype, err);
	}
	const char *const names[2][3] = {{"map_batches", "map_batches.rows", "map_batches.scalar"},
	                                 {"map_batches.all", "map_batches.all_rows", "map_batches.all_scalar"}};
	int kind = function->returns_scalar ? 2 : function->is_elementwise;
	const nk_func *func = nk_func_find(names[function->takes_all][kind]);
	const char *name = "function";
	nk_option option = {.kind = NK_OPTION_FOREIGN, .foreign = &made->foreign};
	if (status == NK_OK)
		status = nk__expr_call(func, args, n_args, &name, &option, 1, out, err);
	nk_foreign_unref(&made->foreign);
	return status;
}

nk_status nk_plan_map(nk_plan *plan, const nk_table_function *function, nk_plan **out, nk_error *err)
{
	host_function from = {.data = function->data, .call_table = function->call, .free = function->free},
				  *made;
	from.foreign.call_table = host_call_table;
	NK_TRY(host_new(&from, &made, err));
	if (function->schema)
		made->foreign.schema = nk_schema_ref(function->schema->schema);
	nk_plan *mapped;
	nk_status status = nk_plan_new(NK_PLAN_FOREIGN, &plan, 1, NULL, 0, NULL, 0, &mapped, err);
	if (status == NK_OK) {
		mapped->foreign = nk_foreign_ref(&made->foreign);
		*out = mapped;
	}
	nk_foreign_unref(&made->foreign);
	return status;
}
