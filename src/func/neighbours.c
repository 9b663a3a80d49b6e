/* Values against the rows beside them: peak_max, peak_min, is_sorted. One pass each, in Polars' order of values. */
#include "compute/compare.h"
#include "func/func.h"
#include "func/words.h"

static nk_status refuse(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", bind->func->name,
	               nk_dtype_short_name(bind->args[0].dtype));
}

/* ---- Peaks ---- */

/* Whether a row is beyond both neighbours, in the direction of sign. The rows beyond the ends count as zero, as Polars has
 * it. A null beside a value makes the answer null unless the other side decides it. */
static nk_status peak_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	int sign = *(const int *)call->data;
	bool has_nulls = nk__may_have_nulls(args[0]);
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_array) zero = NULL;
	nk_scalar nothing = {.dtype = args[0]->dtype};
	NK_TRY(nk_array_from_scalar(call->memory, &nothing, 1, &zero, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, has_nulls, &result, err));
	for (int64_t i = 0; i < n_rows; i++) {
		bool known = nk_array_is_valid(args[0], i), beyond = true;
		for (int64_t j = i - 1; j <= i + 1 && nk_array_is_valid(args[0], i) && beyond; j += 2) {
			bool is_outside = j < 0 || j >= n_rows;
			if (is_outside || nk_array_is_valid(args[0], j))
				beyond =
					nk_rows_compare(args[0], i, is_outside ? zero : args[0], is_outside ? 0 : j) * sign > 0;
			else
				known = false;
		}
		if (!known && beyond)
			nk_bitmap_clear(nk_array_validity(result), i);
		else if (beyond)
			nk_bitmap_set(nk_array_values(result), i);
	}
	result->n_nulls = has_nulls ? -1 : 0;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_peak(nk_bind *bind, const int *sign, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (!nk_type_is_numeric(dtype->id) && dtype->id != NK_TYPE_BOOLEAN && dtype->id != NK_TYPE_DATE &&
	    dtype->id != NK_TYPE_DATETIME && dtype->id != NK_TYPE_DURATION && dtype->id != NK_TYPE_TIME)
		return refuse(bind, err);
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->data = sign;
	bind->kernel = peak_kernel;
	return NK_OK;
}

static nk_status bind_peak_max(nk_bind *bind, nk_error *err)
{
	static const int sign = 1;
	return bind_peak(bind, &sign, err);
}

static nk_status bind_peak_min(nk_bind *bind, nk_error *err)
{
	static const int sign = -1;
	return bind_peak(bind, &sign, err);
}

/* ---- is_sorted ---- */

static nk_status is_sorted_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	bool descending = call->options[0].boolean, nulls_last = call->options[1].boolean, sorted = true;
	for (int64_t i = 1; i < n_rows && sorted; i++) {
		bool before = nk_array_is_valid(args[0], i - 1), here = nk_array_is_valid(args[0], i);
		if (before && here)
			sorted = nk_rows_compare(args[0], i - 1, args[0], i) * (descending ? -1 : 1) <= 0;
		else
			sorted = before == here || here == !nulls_last;
	}
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, 1, false, out, err));
	if (sorted)
		nk_bitmap_set(nk_array_values(*out), 0);
	return NK_OK;
}

static nk_status bind_is_sorted(nk_bind *bind, nk_error *err)
{
	if (nk_type_is_nested(bind->args[0].dtype->id))
		return refuse(bind, err);
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->kernel = is_sorted_kernel;
	return NK_OK;
}

static const nk_option_spec sorted_options[] = {
	{"descending", {.kind = NK_OPTION_BOOL}},
	{"nulls_last", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_neighbours[] = {
	{
		.name = "peak_max",
		.args = "x",
		.doc = "Whether a value is larger than both neighbours; null beside a null.",
		.example = "peak_max([1, 3, 2]) == [false, true, false]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_peak_max,
	},
	{
		.name = "peak_min",
		.args = "x",
		.doc = "Whether a value is smaller than both neighbours; null beside a null.",
		.example = "peak_min([3, 1, 2]) == [false, true, false]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_peak_min,
	},
	{
		.name = "is_sorted",
		.args = "x",
		.doc = "Whether values are in order, nulls first unless nulls_last.",
		.example = "is_sorted([null, 1, 2]) == [true]",
		.options = sorted_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_is_sorted,
	},
	{0},
};
