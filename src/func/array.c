/* Arrays: lists of one width. Functions of lists take them as lists (func/list.c and its neighbours); here is what turns
 * the one into the other. */
#include "func/each.h"
#include "func/func.h"

static nk_status given_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	(void)n_rows, (void)err;
	*out = nk_array_ref(args[*(const int *)call->data]);
	return NK_OK;
}

/* The cast that arguments need is all there is to do. */
static nk_status bind_given(nk_bind *bind, int argument, const nk_dtype *dtype, nk_error *err)
{
	static const int arguments[] = {0, 1};
	if (!dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->dtype = bind->casts[argument] = dtype;
	bind->data = &arguments[argument];
	bind->kernel = given_kernel;
	return NK_OK;
}

static nk_status bind_check(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (dtype->id != NK_TYPE_ARRAY)
		return nk_fail(err, NK_INVALID_OPERATION, "expected Array datatype for array operation, got: %s",
		               dtype->text);
	return bind_given(bind, 0, dtype, err);
}

static nk_status bind_to_list(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	return bind_given(bind, 0, nk_dtype_list(bind->args[0].dtype->fields[0].dtype), err);
}

static nk_status bind_to_array(nk_bind *bind, nk_error *err)
{
	int64_t width = bind->options[0].integer;
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	if (width < 0 || width > INT32_MAX)
		return nk_fail(err, NK_VALUE, "the width of an Array must lie between 0 and 2147483647, got %lld",
		               (long long)width);
	bind->fallible = true;
	return bind_given(bind, 0, nk_dtype_array(bind->args[0].dtype->fields[0].dtype, width), err);
}

static nk_status bind_like(nk_bind *bind, nk_error *err)
{
	for (int i = 0; i < 2; i++)
		if (bind->args[i].dtype->physical != NK_PHYSICAL_LIST)
			return nk__refuse_list(bind, i, err);
	const nk_dtype *item = bind->args[1].dtype->fields[0].dtype, *like = bind->args[0].dtype;
	return bind_given(
		bind, 1, like->id == NK_TYPE_ARRAY ? nk_dtype_array(item, like->width) : nk_dtype_list(item), err);
}

static const nk_option_spec width_options[] = {
	{"width", {.kind = NK_OPTION_INT}},
	{0},
};

const nk_func nk__funcs_array[] = {
	{
		.name = "arr.check",
		.args = "x",
		.doc = "Arrays as they are. Fails with InvalidOperationError for another dtype.",
		.example = "arr.check(Array(Int64, 2)[[1, 2], null]) == Array(Int64, 2)[[1, 2], null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_check,
	},
	{
		.name = "arr.to_list",
		.args = "x",
		.doc = "Arrays as lists.",
		.example = "arr.to_list(Array(Int64, 2)[[1, 2], null]) == [[1, 2], null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_to_list,
	},
	{
		.name = "arr.like",
		.args = "x, lists",
		.doc = "Lists as Arrays of the width of another column, when it has Arrays.",
		.example = "arr.like(Array(Int64, 2)[[1, 2], null], [[3, 4], null]) == Array(Int64, 2)[[3, 4], null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_like,
	},
	{
		.name = "list.to_array",
		.args = "x",
		.doc = "Lists as Arrays of a width. Fails with ComputeError when a list is of another length.",
		.example = "list.to_array([[1, 2], null], width=2) == Array(Int64, 2)[[1, 2], null]",
		.options = width_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_to_array,
	},
	{0},
};
