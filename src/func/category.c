/* cat.*: functions of Categoricals and Enums. Those of text are the functions of str on the texts; the others show codes
 * as the integers that they are, and check integers that become codes. */
#include <string.h>

#include "columnar/categories.h"
#include "func/cast.h"
#include "func/func.h"

static nk_status refuse(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_SCHEMA_MISMATCH,
	               "`%s`: invalid dtype: expected an Enum or Categorical type, received '%s'",
	               bind->func->name, bind->args[0].dtype->text);
}

/* As the function of the same name of str, which gets the texts. */
static nk_status bind_text(nk_bind *bind, nk_error *err)
{
	enum { MAX_ARGS = 3 };
	char name[32] = "str.";
	nk_argument args[MAX_ARGS];
	if (!nk_type_is_category(bind->args[0].dtype->id))
		return refuse(bind, err);
	NK_ASSERT(bind->n_args <= MAX_ARGS);
	memcpy(args, bind->args, (size_t)bind->n_args * sizeof *args);
	args[0].dtype = nk_dtype_of(NK_TYPE_STRING);
	args[0].literal = NULL;
	strncat(name, bind->func->name + strlen("cat."), sizeof name - strlen(name) - 1);
	nk_bind text = *bind;
	text.args = args;
	NK_TRY(nk_func_find(name)->bind(&text, err));
	text.args = bind->args;
	*bind = text;
	bind->casts[0] = args[0].dtype;
	return NK_OK;
}

static nk_status physical_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	(void)n_rows;
	return nk_array_retype(args[0], call->dtype, out, err);
}

static nk_status bind_physical(nk_bind *bind, nk_error *err)
{
	if (!nk_type_is_category(bind->args[0].dtype->id))
		return refuse(bind, err);
	bind->dtype = nk_dtype_of_codes(bind->args[0].dtype);
	bind->kernel = physical_kernel;
	return NK_OK;
}

enum { DTYPE, STRICT };

static nk_status to_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                           nk_error *err)
{
	NK_AUTO(nk_array) integers = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_AUTO(nk_array) codes = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	bool strict = call->options[STRICT].boolean;
	int64_t n_categories = nk_categories_count(call->dtype->categories);
	NK_TRY(nk_cast(call->memory, args[0], nk_dtype_of(NK_TYPE_INT64), (nk_cast_mode){0}, &integers, err));
	NK_TRY(nk_array_flatten(call->memory, integers, &flat, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &codes, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows), &validity, err));
	int width = nk_physical_size(call->dtype->physical);
	const int64_t *from = flat->values;
	memset(nk_array_values(codes), 0, (size_t)(n_rows * width));
	for (int64_t i = 0; i < n_rows; i++) {
		if (!nk_array_is_valid(args[0], i))
			continue;
		bool is_category = nk_array_is_valid(flat, i) && from[i] >= 0 && from[i] < n_categories;
		if (!is_category && strict)
			return nk_fail(err, NK_COMPUTE,
			               "found invalid category value when converting from physical to %s",
			               nk_dtype_short_name(call->dtype));
		if (is_category) {
			memcpy((char *)nk_array_values(codes) + i * width, &from[i], (size_t)width);
			nk_bitmap_set(validity->bytes, i);
		}
	}
	return nk_array_with_validity(codes, NK_STEAL(validity), -1, out, err);
}

static nk_status bind_to(nk_bind *bind, nk_error *err)
{
	const nk_dtype *to = bind->options[DTYPE].dtype, *from = bind->args[0].dtype;
	if (!to || !nk_type_is_category(to->id))
		return nk_fail(err, NK_SCHEMA_MISMATCH,
		               "invalid dtype: expected an Enum or Categorical type, received '%s'",
		               to ? to->text : "nothing");
	if (!nk_type_is_integer(from->id) && from->id != NK_TYPE_NULL)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "`cat.to` takes integers, got %s", from->text);
	bind->dtype = to;
	bind->kernel = to_kernel;
	bind->fallible = bind->options[STRICT].boolean;
	return NK_OK;
}

static const nk_option_spec to_options[] = {
	[DTYPE] = {"dtype", {.kind = NK_OPTION_DTYPE}},
	[STRICT] = {"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

const nk_func nk__funcs_category[] = {
	{
		.name = "cat.ends_with",
		.args = "x, suffix",
		.doc = "Whether the category ends with suffix.",
		.example = "cat.ends_with(Categorical['ab', null], 'b') == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_text,
	},
	{
		.name = "cat.len_bytes",
		.args = "x",
		.doc = "Length of the category in bytes of UTF-8, UInt32.",
		.example = "cat.len_bytes(Categorical['h\xc3\xa9']) == [3]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_text,
	},
	{
		.name = "cat.len_chars",
		.args = "x",
		.doc = "Length of the category in code points, UInt32.",
		.example = "cat.len_chars(Categorical['h\xc3\xa9']) == [2]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_text,
	},
	{
		.name = "cat.physical",
		.args = "x",
		.doc = "The codes of categories, as UInt8, UInt16 or UInt32.",
		.example = "cat.physical(Enum[\"b\", \"a\"]['a', null]) == [1, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_physical,
	},
	{
		.name = "cat.slice",
		.args = "x, offset, length",
		.doc = "length characters of the category from offset on (negative: from the end), String.",
		.example = "cat.slice(Categorical['abcd'], 1, 2) == ['bc']",
		.min_args = 2,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_text,
	},
	{
		.name = "cat.starts_with",
		.args = "x, prefix",
		.doc = "Whether the category starts with prefix.",
		.example = "cat.starts_with(Categorical['ab', null], 'b') == [false, null]",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_text,
	},
	{
		.name = "cat.to",
		.args = "x",
		.doc = "Integers as codes of a Categorical or Enum. One that no category has fails with "
			   "ComputeError, or is "
			   "null when not strict.",
		.example = "cat.to([1, null], dtype=Enum[\"b\", \"a\"]) == Enum[\"b\", \"a\"]['a', null]",
		.options = to_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_to,
	},
	{0},
};
