/* A function of the registry on series at once, without a plan: the binder runs on the arguments' dtypes, casts
 * are calls of the same kind, and the kernel on whole columns. What Series methods and operators are made of, so
 * it allocates next to nothing on its own. */
#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "api/series.h"
#include "eval/program.h"

enum { MAX_ARGS = 16, MAX_OPTIONS = 24 };

/* Bind and evaluate on arrays; arrays come owned in args and are released by the caller. */
static nk_status call_arrays(const nk_context *context, nk_arena *arena, const nk_func *func, nk_array **args,
                             int n_args, const nk_option *options, int64_t n_rows, nk_array **out,
                             nk_error *err);

static nk_status cast_array(const nk_context *context, nk_arena *arena, nk_array **array,
                            const nk_dtype *dtype, bool strict, nk_error *err)
{
	const nk_func *cast = nk_func_find("cast");
	nk_option options[MAX_OPTIONS];
	for (int i = 0; i < nk_func_n_options(cast); i++)
		options[i] = cast->options[i].fallback;
	options[nk_func_option(cast, "dtype")].dtype = dtype;
	options[nk_func_option(cast, "strict")].boolean = strict;
	nk_array *made;
	NK_TRY(call_arrays(context, arena, cast, array, 1, options, (*array)->n_rows, &made, err));
	nk_array_unref(*array);
	*array = made;
	return NK_OK;
}

static nk_status call_arrays(const nk_context *context, nk_arena *arena, const nk_func *func, nk_array **args,
                             int n_args, const nk_option *options, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	nk_argument arguments[MAX_ARGS];
	nk_scalar literals[MAX_ARGS];
	for (int i = 0; i < n_args; i++) {
		arguments[i] = (nk_argument){.dtype = args[i]->dtype, .is_scalar = args[i]->encoding == NK_CONSTANT};
		if (args[i]->encoding == NK_CONSTANT) { /* known values let binders prepare: patterns, sets, bounds */
			literals[i] = nk_scalar_read(args[i], 0);
			arguments[i].literal = &literals[i];
		}
	}
	nk_bind bind = {.func = func,
	                .args = arguments,
	                .n_args = n_args,
	                .options = options,
	                .arena = arena,
	                .fallible = func->fallible};
	NK_TRY(func->bind(&bind, err));
	int last = -1;
	for (int i = 0; i < NK_MAX_CASTS; i++)
		if (bind.casts[i])
			last = i;
	for (int i = 0; i < n_args; i++) {
		const nk_dtype *to = i < NK_MAX_CASTS ? bind.casts[i] : NULL;
		if (!to && func->max_args < 0 && last >= 0 && i > last)
			to = bind.casts[last];
		if (to && to != args[i]->dtype)
			NK_TRY(cast_array(context, arena, &args[i], to, !bind.cast_is_lossy, err));
	}
	nk_bound call = {.kind = NK_BOUND_CALL,
	                 .dtype = bind.dtype,
	                 .func = func,
	                 .options = options,
	                 .data = bind.data,
	                 .kernel = bind.kernel,
	                 .aggregate = bind.aggregate,
	                 .segmented = bind.segmented,
	                 .n_args = n_args};
	nk_parallel parallel = nk_pool_parallel(context->pool);
	if (func->height == NK_ELEMENTWISE)
		return nk_eval_call(&call, context->memory, args, n_rows, out, err);
	return nk_eval_column_call(&call, context->memory, &parallel, args, n_rows, out, err);
}

static nk_status fill_options(const nk_func *func, const nk_named_option *given, int n_given,
                              nk_option *values, nk_error *err)
{
	const char *names[MAX_OPTIONS];
	nk_option converted[MAX_OPTIONS];
	int n = nk_func_n_options(func);
	if (n > MAX_OPTIONS || n_given > MAX_OPTIONS)
		return nk_fail(err, NK_TYPE, "`%s` has %d options, %d given", func->name, n, n_given);
	NK_TRY(nk__options_from_public(given, n_given, names, converted, err));
	for (int i = 0; i < n; i++)
		values[i] = func->options[i].fallback;
	for (int j = 0; j < n_given; j++) {
		int at = nk_func_option(func, names[j]);
		if (at < 0)
			return nk_fail(err, NK_TYPE, "`%s` has no option `%s`", func->name, names[j]);
		if (converted[j].kind == NK_OPTION_INT && values[at].kind == NK_OPTION_FLOAT)
			converted[j] = (nk_option){.kind = NK_OPTION_FLOAT, .floating = (double)converted[j].integer};
		if (converted[j].kind != values[at].kind)
			return nk_fail(err, NK_TYPE, "option `%s` of `%s` has the wrong type", names[j], func->name);
		values[at] = converted[j];
	}
	return NK_OK;
}

static nk_status call_series(const nk_context *context, const char *function, nk_series *const *args,
                             int n_args, const nk_named_option *options, int n_options, nk_array **out,
                             nk_error *err)
{
	const nk_func *func = nk_func_find(function);
	if (!func)
		return nk_fail(err, NK_NOT_IMPLEMENTED, "the function `%s` is not implemented yet", function);
	if (n_args < 1 || n_args > MAX_ARGS || n_args < func->min_args ||
	    (func->max_args >= 0 && n_args > func->max_args))
		return nk_fail(err, NK_TYPE, "`%s` takes the arguments (%s), %d given", func->name, func->args,
		               n_args);
	nk_option values[MAX_OPTIONS];
	NK_TRY(fill_options(func, options, n_options, values, err));

	int64_t n_rows = 1;
	bool all_one = true;
	for (int i = 0; i < n_args; i++)
		if (args[i]->column->n_rows != 1 && all_one) {
			n_rows = args[i]->column->n_rows;
			all_one = false;
		}
	if (func->unaligned)
		n_rows = args[0]->column->n_rows;
	for (int i = 0; i < n_args && !func->unaligned; i++)
		if (args[i]->column->n_rows != 1 && args[i]->column->n_rows != n_rows)
			return nk_fail(err, NK_INVALID_OPERATION, "cannot do `%s` on two Series of lengths %lld and %lld",
			               func->name, (long long)n_rows, (long long)args[i]->column->n_rows);

	NK_AUTO(nk_arena) arena = nk_arena_new(context->memory);
	nk_array *arrays[MAX_ARGS] = {0};
	nk_status status = arena ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a call");
	for (int i = 0; status == NK_OK && i < n_args; i++) {
		nk_column *column = args[i]->column;
		if (column->n_rows == 1 && (n_rows != 1 || i > 0) && !func->unaligned) {
			status = nk_array_new_constant(context->memory, column->chunks[0], n_rows, &arrays[i], err);
			continue;
		}
		if (column->n_chunks == 1)
			arrays[i] = nk_array_ref(column->chunks[0]);
		else
			status = nk_column_array(context->memory, column, &arrays[i], err);
	}
	if (status == NK_OK)
		status = call_arrays(context, arena, func, arrays, n_args, values, n_rows, out, err);
	for (int i = 0; i < n_args; i++)
		nk_array_unref(arrays[i]);
	return status;
}

static nk_status name_result(const nk_context *context, nk_array *result, const char *name, nk_series **out,
                             nk_error *err)
{
	nk_column *column;
	NK_TRY(nk_column_from_array(context->memory, result, &column, err));
	return nk__series_new(name, column, out, err);
}

nk_status nk_series_call(const char *function, nk_series *const *args, int n_args,
                         const nk_named_option *options, int n_options, nk_series **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(call_series(context, function, args, n_args, options, n_options, &result, err));
	return name_result(context, result, args[0]->name, out, err);
}

nk_status nk_series_value(const char *function, nk_series *const *args, int n_args,
                          const nk_named_option *options, int n_options, nk_value *out, nk_series **owner,
                          nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(call_series(context, function, args, n_args, options, n_options, &result, err));
	if (result->n_rows != 1)
		return nk_fail(err, NK_SHAPE, "`%s` gave %lld values where one was wanted", function,
		               (long long)result->n_rows);
	nk_value value;
	NK_TRY(nk__value_of_array(result, 0, &value, err));
	nk_series *kept = NULL;
	if (value.kind == NK_VALUE_STRING || value.kind == NK_VALUE_BINARY)
		NK_TRY(name_result(context, result, args[0]->name, &kept, err));
	*out = value;
	*owner = kept;
	return NK_OK;
}
