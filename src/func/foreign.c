/* The rows behind map_batches: one for each promise that a callback may make about the height of its result. */
#include "func/foreign.h"

#include "func/func.h"

enum { PROBE_ROWS = 2 };

typedef struct plan {
	int n_args;
} plan;

static nk_status run(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                     nk_error *err)
{
	const plan *p = call->data;
	nk_foreign *foreign = call->options[0].foreign;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(foreign->call(foreign, call->memory, args, p->n_args, &result, err));
	if (result->dtype->id == NK_TYPE_NULL && call->dtype->id != NK_TYPE_NULL) { /* nothing told its dtype */
		nk_array *nulls;
		NK_TRY(nk_array_new_null(call->memory, call->dtype, result->n_rows, &nulls, err));
		nk_array_unref(result);
		result = nulls;
	}
	if (result->dtype != call->dtype)
		return nk_fail(err, NK_SCHEMA_MISMATCH,
		               "expected output type '%s', got '%s'; set `return_dtype` to the proper datatype",
		               call->dtype->text, result->dtype->text);
	nk_height height = call->func->height;
	if (height == NK_AGGREGATING && result->n_rows != 1)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "a function that returns a scalar gave %lld values; set `returns_scalar` to False",
		               (long long)result->n_rows);
	if (height == NK_ELEMENTWISE && result->n_rows != n_rows) {
		if (result->n_rows != 1)
			return nk_fail(err, NK_SHAPE, "a function that is elementwise gave %lld values for %lld",
			               (long long)result->n_rows, (long long)n_rows);
		return nk_array_new_constant(call->memory, result, n_rows, out, err);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* What the callback gives for two ordinary values says the dtype. */
static nk_status probe(const nk_bind *bind, nk_foreign *foreign, nk_error *err)
{
	nk_memory *memory = nk_arena_memory(bind->arena);
	nk_array **args;
	NK_TRY(NK_ARENA_NEW(bind->arena, &args, bind->n_args + 1, err));
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < bind->n_args; i++) {
		const nk_dtype *dtype = bind->args[i].dtype;
		nk_scalar one = {.dtype = dtype};
		if (dtype->id == NK_TYPE_CATEGORICAL || dtype->id == NK_TYPE_ENUM)
			one.is_null = true; /* there may be no category */
		else if (dtype->id == NK_TYPE_BOOLEAN)
			one.boolean = true;
		else if (nk_type_is_float(dtype->id))
			one.floating = 1;
		else if (nk_type_is_textual(dtype->id))
			one = (nk_scalar){.dtype = dtype, .bytes = "1", .n_bytes = 1};
		else if (dtype->physical <= NK_PHYSICAL_U64 && dtype->physical != NK_PHYSICAL_NONE)
			one.integer = 1;
		else
			one.is_null = true;
		status = one.is_null ? nk_array_new_null(memory, dtype, PROBE_ROWS, &args[i], err)
		                     : nk_array_from_scalar(memory, &one, PROBE_ROWS, &args[i], err);
	}
	NK_AUTO(nk_array) result = NULL;
	if (status == NK_OK)
		status = foreign->call(foreign, memory, args, bind->n_args, &result, err);
	for (int i = 0; i < bind->n_args; i++)
		nk_array_unref(args[i]);
	if (status == NK_OK)
		((nk_bind *)bind)->dtype = result->dtype;
	return status;
}

static nk_status bind_foreign(nk_bind *bind, nk_error *err)
{
	nk_foreign *foreign = bind->options[0].foreign;
	plan *p;
	if (!foreign || !foreign->call)
		return nk_fail(err, NK_INVALID_OPERATION, "`%s` needs a function", bind->func->name);
	NK_TRY(NK_ARENA_NEW(bind->arena, &p, 1, err));
	p->n_args = bind->n_args;
	bind->data = p;
	bind->kernel = run;
	bind->dtype = foreign->dtype;
	if (bind->dtype)
		return NK_OK;
	nk_error failed = {0};
	nk_status status = probe(bind, foreign, &failed);
	if (status == NK_OK || status == NK_OUT_OF_MEMORY || status == NK_CANCELLED) {
		if (status != NK_OK && err)
			*err = failed;
		return status;
	}
	return nk_fail(
		err, NK_INVALID_OPERATION,
		"UDF called without return type, but was not able to infer the output type.\n\nThis used to be "
		"allowed but lead to unpredictable results. To fix this problem, either provide a return "
		"datatype or execute the UDF in an eager context (e.g. in `map_batches.all`).");
}

static const nk_option_spec options[] = {
	{"function", {.kind = NK_OPTION_FOREIGN}},
	{0},
};

const nk_func nk__funcs_foreign[] = {
	{
		.name = "map_batches",
		.args = "x, *more",
		.doc = "A function of the host of whole columns, which gives a column of any length.",
		.example = "map_batches([1]) ! InvalidOperation",
		.options = options,
		.min_args = 1,
		.max_args = -1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.unaligned = true,
		.order_sensitive = true,
		.fallible = true,
		.impure = true,
		.bind = bind_foreign,
	},
	{
		.name = "map_batches.rows",
		.args = "x, *more",
		.doc = "The same for a function that computes row by row: it sees the columns piece by piece.",
		.example = "map_batches.rows([1]) ! InvalidOperation",
		.options = options,
		.min_args = 1,
		.max_args = -1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.impure = true,
		.bind = bind_foreign,
	},
	{
		.name = "map_batches.scalar",
		.args = "x, *more",
		.doc = "The same for a function that gives one value.",
		.example = "map_batches.scalar([1]) ! InvalidOperation",
		.options = options,
		.min_args = 1,
		.max_args = -1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.unaligned = true,
		.order_sensitive = true,
		.fallible = true,
		.impure = true,
		.bind = bind_foreign,
	},
	{
		.name = "map_batches.all",
		.args = "x, *more",
		.doc = "map_batches whose selectors stand for several arguments.",
		.example = "map_batches.all([1]) ! InvalidOperation",
		.options = options,
		.min_args = 1,
		.max_args = -1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.unaligned = true,
		.order_sensitive = true,
		.expands_selectors = true,
		.fallible = true,
		.impure = true,
		.bind = bind_foreign,
	},
	{
		.name = "map_batches.all_rows",
		.args = "x, *more",
		.doc = "map_batches.rows whose selectors stand for several arguments.",
		.example = "map_batches.all_rows([1]) ! InvalidOperation",
		.options = options,
		.min_args = 1,
		.max_args = -1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.fallible = true,
		.impure = true,
		.bind = bind_foreign,
	},
	{
		.name = "map_batches.all_scalar",
		.args = "x, *more",
		.doc = "map_batches.scalar whose selectors stand for several arguments.",
		.example = "map_batches.all_scalar([1]) ! InvalidOperation",
		.options = options,
		.min_args = 1,
		.max_args = -1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.unaligned = true,
		.order_sensitive = true,
		.expands_selectors = true,
		.fallible = true,
		.impure = true,
		.bind = bind_foreign,
	},
	{0},
};
