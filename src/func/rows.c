/* Rows chosen by other columns: filter, sort_by, gather, arg_true. Positions first, then one gather. */
#include <string.h>

#include "compute/select.h"
#include "compute/sort.h"
#include "func/func.h"

static nk_status new_positions(const nk_call *call, int64_t n_rows, nk_array **out, nk_error *err)
{
	if (n_rows >= UINT32_MAX - 16)
		return nk_fail(err, NK_COMPUTE, "`%s` takes at most 4294967278 rows", call->func->name);
	return nk_array_alloc(call->memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n_rows + 16, false, out,
	                      err);
}

/* ---- filter, arg_true ---- */

static nk_status true_rows(const nk_call *call, const nk_array *mask, int64_t n_rows, nk_array **out,
                           nk_error *err)
{
	NK_AUTO(nk_array) rows = NULL;
	NK_TRY(new_positions(call, n_rows, &rows, err));
	int64_t n = 0;
	if (mask->physical != NK_PHYSICAL_NONE)
		nk_select_rows(mask, n_rows, nk_array_values(rows), &n);
	return nk_array_slice(call->memory, rows, 0, n, out, err);
}

static nk_status filter_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	NK_AUTO(nk_array) rows = NULL;
	NK_TRY(true_rows(call, args[1], n_rows, &rows, err));
	return nk_array_take(call->memory, args[0], rows->values, rows->n_rows, out, err);
}

static nk_status bind_filter(nk_bind *bind, nk_error *err)
{
	nk_type_id id = bind->args[1].dtype->id;
	if (id != NK_TYPE_BOOLEAN && id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "filter predicate must be of type `Boolean`, got `%s`",
		               nk_dtype_short_name(bind->args[1].dtype));
	bind->dtype = bind->args[0].dtype;
	bind->kernel = filter_kernel;
	return NK_OK;
}

static nk_status arg_true_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	return true_rows(call, args[0], n_rows, out, err);
}

static nk_status bind_arg_true(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->id != NK_TYPE_BOOLEAN)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "`arg_true` operation not supported for dtype `%s` (expected: bool)",
		               nk_dtype_short_name(bind->args[0].dtype));
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = arg_true_kernel;
	return NK_OK;
}

/* ---- sort_by ---- */

enum { MAX_KEYS = 64 };

/* Flags of key i: "1" or "0" at its place; a shorter text repeats its last flag. */
static bool flag_of(const char *flags, int i)
{
	size_t n = flags ? strlen(flags) : 0;
	return n && flags[(size_t)i < n ? (size_t)i : n - 1] == '1';
}

static nk_status sort_by_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const int *n_args = call->data;
	nk_sort_key keys[MAX_KEYS];
	for (int i = 0; i + 1 < *n_args; i++)
		keys[i] = (nk_sort_key){flag_of(call->options[0].string, i), flag_of(call->options[1].string, i)};
	NK_AUTO(nk_array) rows = NULL;
	NK_TRY(new_positions(call, n_rows, &rows, err));
	NK_TRY(nk_sort_rows(call->memory, call->parallel, args + 1, keys, *n_args - 1, n_rows,
	                    nk_array_values(rows), err));
	return nk_array_take(call->memory, args[0], rows->values, n_rows, out, err);
}

static nk_status bind_sort_by(nk_bind *bind, nk_error *err)
{
	if (bind->n_args - 1 > MAX_KEYS)
		return nk_fail(err, NK_INVALID_OPERATION, "`sort_by` takes at most %d keys", MAX_KEYS);
	int *n_args;
	NK_TRY(NK_ARENA_NEW(bind->arena, &n_args, 1, err));
	*n_args = bind->n_args;
	bind->data = n_args;
	bind->dtype = bind->args[0].dtype;
	bind->kernel = sort_by_kernel;
	return NK_OK;
}

static const nk_option_spec sort_by_options[] = {
	{"descending", {.kind = NK_OPTION_STRING}},
	{"nulls_last", {.kind = NK_OPTION_STRING}},
	{0},
};

/* ---- gather ---- */

static nk_status gather_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	bool null_on_oob = call->options[0].boolean;
	NK_AUTO(nk_array) values = NULL;
	NK_AUTO(nk_array) wanted = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &values, err));
	NK_TRY(nk_array_flatten(call->memory, args[1], &wanted, err));
	int64_t n = values->n_rows, n_wanted = wanted->n_rows;
	NK_TRY(nk_buffer_new(call->memory, n_wanted * 8, &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	const int64_t *from = wanted->values;
	for (int64_t i = 0; i < n_wanted; i++) {
		int64_t at = from[i] < 0 ? from[i] + n : from[i];
		if (!nk_array_is_valid(wanted, i)) {
			at = -1;
		} else if (at < 0 || at >= n) {
			if (!null_on_oob)
				return nk_fail(err, NK_OUT_OF_BOUNDS,
				               "gather indices are out of bounds: %lld in a column of %lld rows",
				               (long long)from[i], (long long)n);
			at = -1;
		}
		to[i] = at;
	}
	return nk_array_take_optional(call->memory, values, to, n_wanted, out, err);
}

static nk_status bind_gather(nk_bind *bind, nk_error *err)
{
	if (!nk_type_is_integer(bind->args[1].dtype->id) && bind->args[1].dtype->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "indices of `gather` must be integers, got `%s`",
		               nk_dtype_short_name(bind->args[1].dtype));
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	bind->dtype = bind->args[0].dtype;
	bind->kernel = gather_kernel;
	return NK_OK;
}

static const nk_option_spec gather_options[] = {
	{"null_on_oob", {.kind = NK_OPTION_BOOL}},
	{0},
};

/* ---- item ---- */

static nk_status item_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	if (n_rows == 0 && call->options[0].boolean)
		return nk_array_new_null(call->memory, call->dtype, 1, out, err);
	if (n_rows != 1)
		return nk_fail(err, NK_COMPUTE, "aggregation 'item' expected a single value, got %lld values",
		               (long long)n_rows);
	*out = nk_array_ref(args[0]);
	return NK_OK;
}

static nk_status bind_item(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->dtype = bind->args[0].dtype;
	bind->kernel = item_kernel;
	return NK_OK;
}

static const nk_option_spec item_options[] = {
	{"allow_empty", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_rows[] = {
	{
		.name = "item",
		.args = "x",
		.doc = "The only value; with allow_empty null when there is none. Fails with ComputeError for "
			   "another number.",
		.example = "item([7]) == [7]",
		.options = item_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_item,
	},
	{
		.name = "filter",
		.args = "x, predicate",
		.doc = "The rows where the Boolean predicate is true. Fails with InvalidOperationError for another "
			   "dtype.",
		.example = "filter([1, 2, 3], [true, null, true]) == [1, 3]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_filter,
	},
	{
		.name = "arg_true",
		.args = "x",
		.doc = "Positions where a Boolean is true, UInt32.",
		.example = "arg_true([true, null, true]) == [0, 2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_arg_true,
	},
	{
		.name = "sort_by",
		.args = "x, *by",
		.doc = "The values in the order of other columns; ties keep their order. descending and nulls_last "
			   "are texts of "
			   "\"0\" and \"1\", one per key.",
		.example = "sort_by([1, 2, 3], [3, 1, 2]) == [2, 3, 1]",
		.options = sort_by_options,
		.min_args = 2,
		.max_args = -1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_sort_by,
	},
	{
		.name = "gather",
		.args = "x, indices",
		.doc = "The values at given positions; negative ones count from the end, null gives null. Out of "
			   "bounds fails "
			   "with OutOfBoundsError, or gives null with null_on_oob.",
		.example = "gather([5, 6, 7], [2, -3, null]) == [7, 5, null]",
		.options = gather_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.unaligned = true,
		.bind = bind_gather,
	},
	{0},
};
