/* explode: the items of lists one after another, and a null for each row that has none and leaves one. Also the function
 * that makes values lists of one, for list.eval of what aggregates. */
#include "compute/explode.h"
#include "compute/nested.h"
#include "func/each.h"
#include "func/func.h"

enum { EMPTY_AS_NULL, KEEP_NULLS };

static nk_explode_mode mode_of(const nk_call *call)
{
	return (nk_explode_mode){call->options[EMPTY_AS_NULL].boolean, call->options[KEEP_NULLS].boolean};
}

static nk_status explode_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	(void)n_rows;
	if (args[0]->dtype->physical != NK_PHYSICAL_LIST) {
		*out = nk_array_ref(args[0]);
		return NK_OK;
	}
	return nk_explode_array(call->memory, args[0], mode_of(call), out, err);
}

static nk_status bind_explode(nk_bind *bind, nk_error *err)
{
	(void)err;
	const nk_dtype *dtype = bind->args[0].dtype;
	bind->dtype = dtype->physical == NK_PHYSICAL_LIST ? dtype->fields[0].dtype : dtype;
	bind->kernel = explode_kernel;
	return NK_OK;
}

static nk_status one_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) like = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_AUTO(nk_buffer) offsets = NULL, *validity = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &like, err));
	NK_TRY(nk_array_flatten(call->memory, args[1], &items, err));
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	for (int64_t i = 0; i <= n_rows; i++)
		((int64_t *)(void *)offsets->bytes)[i] = i;
	if (like->validity) {
		NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &validity, err));
		memcpy(validity->bytes, like->validity, (size_t)nk_bitmap_bytes(n_rows));
	}
	return nk_array_new_list(call->dtype, n_rows, NK_STEAL(offsets), NK_STEAL(items), NK_STEAL(validity), -1,
	                         out, err);
}

static nk_status bind_one(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	bind->dtype = nk_dtype_list(bind->args[1].dtype);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->kernel = one_kernel;
	return NK_OK;
}

/* ---- Within lists and Structs ---- */

static nk_status result_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)call, (void)n_rows, (void)err;
	*out = nk_array_ref(args[1]);
	return NK_OK;
}

static nk_status bind_result(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->dtype = bind->args[1].dtype;
	if (bind->args[1].is_untyped)
		bind->casts[1] = bind->dtype;
	bind->kernel = result_kernel;
	return NK_OK;
}

static nk_status bind_nowhere(nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION,
	               "`%s` stands for what a function of lists or Structs evaluates an expression over, "
	               "as in `list.eval`; there is none around it",
	               bind->func->name);
}

static const nk_option_spec explode_options[] = {
	[EMPTY_AS_NULL] = {"empty_as_null", {.kind = NK_OPTION_BOOL}},
	[KEEP_NULLS] = {"keep_nulls", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

const nk_func nk__funcs_explode[] = {
	{
		.name = "explode",
		.args = "x",
		.doc = "The items of all lists one after another. A null list gives null unless keep_nulls is false, "
			   "an empty one "
			   "nothing, or null with empty_as_null. Values of other dtypes stay as they are.",
		.example = "explode([[1, 2], [], null]) == [1, 2, null]",
		.options = explode_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_explode,
	},
	{
		.name = "list.of_one",
		.args = "lists, x",
		.doc = "Each value as a list of one, null where a list of another column is.",
		.example = "list.of_one([[1, 2], null], [3, 4]) == [[3], null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_one,
	},
	{
		.name = "list.result",
		.args = "lists, x",
		.doc = "What was computed of lists, under their name.",
		.example = "list.result([[1, 2], null], [3, 4]) == [3, 4]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_result,
	},
	{
		.name = "element",
		.args = "",
		.doc = "The items of the lists that an expression is evaluated over, in list.eval and its like.",
		.example = "element() ! InvalidOperation",
		.nulls = NK_NULLS_SEEN,
		.bind = bind_nowhere,
	},
	{
		.name = "field",
		.args = "name, *more",
		.doc =
			"Fields of the Structs that an expression is evaluated over, in struct.with_fields and its like.",
		.example = "field(\"a\") ! InvalidOperation",
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_nowhere,
	},
	{0},
};
