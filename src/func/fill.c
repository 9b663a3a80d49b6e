/* Nulls filled from their neighbours within a group: forward_fill, backward_fill, interpolate. The first two
 * find for every row the row whose value it takes, and gather; interpolation computes between the two values
 * around a gap. */
#include "compute/decimal.h"
#include "compute/select.h"
#include "func/ordered.h"
#include "func/words.h"

/* ---- forward_fill, backward_fill ---- */

static nk_status fill(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                      nk_array **out, nk_error *err)
{
	bool backward = *(const bool *)call->data;
	int64_t limit = call->options[0].integer;
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	if (!nk__may_have_nulls(array) || array->physical == NK_PHYSICAL_NONE) {
		*out = NK_STEAL(array);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, array->n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t from = offsets[g], end = offsets[g + 1], last = -1, n_filled = 0;
		for (int64_t i = from; i < end; i++) {
			int64_t row = backward ? end - 1 - (i - from) : i;
			if (nk_bitmap_get(array->validity, row)) {
				last = row;
				n_filled = 0;
				to[row] = row;
			} else {
				to[row] = limit < 0 || n_filled < limit ? last : -1;
				n_filled++;
			}
		}
	}
	return nk_array_take_optional(call->memory, array, to, array->n_rows, out, err);
}

static nk_status bind_fill(nk_bind *bind, bool backward)
{
	static const bool directions[] = {false, true};
	bind->dtype = bind->args[0].dtype;
	bind->data = &directions[backward];
	bind->segmented = fill;
	return NK_OK;
}

static nk_status bind_forward_fill(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_fill(bind, false);
}

static nk_status bind_backward_fill(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_fill(bind, true);
}

/* ---- interpolate ---- */

/* Values of a gap between rows low and high. Integers step by a whole number, cut towards zero. */
static void bridge(nk_physical physical, void *values, int64_t low, int64_t high, bool nearest)
{
	int64_t steps = high - low;
	if (nearest) {
		int64_t width = nk_physical_size(physical), middle = (steps + 1) / 2;
		char *bytes = values;
		for (int64_t i = 1; i < steps; i++)
			memcpy(bytes + (low + i) * width, bytes + (i < middle ? low : high) * width, (size_t)width);
		return;
	}
	switch (physical) {
	case NK_PHYSICAL_F32: {
		float *v = values, slope = (v[high] - v[low]) / (float)steps;
		for (int64_t i = 1; i < steps; i++)
			v[low + i] = v[low] + (float)i * slope;
		break;
	}
	case NK_PHYSICAL_F64: {
		double *v = values, slope = (v[high] - v[low]) / (double)steps;
		for (int64_t i = 1; i < steps; i++)
			v[low + i] = v[low] + (double)i * slope;
		break;
	}
	case NK_PHYSICAL_I32: {
		int32_t *v = values;
		int64_t slope = ((int64_t)v[high] - v[low]) / steps;
		for (int64_t i = 1; i < steps; i++)
			v[low + i] = (int32_t)(v[low] + i * slope);
		break;
	}
	case NK_PHYSICAL_I64: {
		int64_t *v = values;
		int64_t slope = (int64_t)((uint64_t)v[high] - (uint64_t)v[low]) / steps;
		for (int64_t i = 1; i < steps; i++)
			v[low + i] = (int64_t)((uint64_t)v[low] + (uint64_t)i * (uint64_t)slope);
		break;
	}
	case NK_PHYSICAL_I128: {
		__int128 *v = values, slope = (v[high] - v[low]) / steps;
		for (int64_t i = 1; i < steps; i++)
			v[low + i] = v[low] + i * slope;
		break;
	}
	default: break;
	}
}

static nk_status interpolate(const nk_call *call, nk_array *const *args, int64_t n_groups,
                             const int64_t *offsets, nk_array **out, nk_error *err)
{
	bool nearest = *(const bool *)call->data;
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	nk_physical physical = array->physical;
	if (!nk__may_have_nulls(array) || nk_type_is_category(array->dtype->id) || physical == NK_PHYSICAL_NONE ||
	    physical == NK_PHYSICAL_BOOL || physical == NK_PHYSICAL_VIEW || physical == NK_PHYSICAL_LIST ||
	    physical == NK_PHYSICAL_STRUCT) {
		*out = NK_STEAL(array);
		return NK_OK;
	}
	NK_TRY(nk__alloc_like(call->memory, call->dtype, physical, array, &result, err));
	memcpy(nk_array_values(result), array->values, (size_t)(array->n_rows * nk_physical_size(physical)));
	result->n_nulls = -1;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t low = -1;
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			if (!nk_bitmap_get(array->validity, i))
				continue;
			if (low >= 0 && i - low > 1) {
				bridge(physical, nk_array_values(result), low, i, nearest);
				nk_bitmap_fill(nk_array_validity(result), low + 1, i - low - 1, true);
			}
			low = i;
		}
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_interpolate(nk_bind *bind, nk_error *err)
{
	static const bool ways[] = {false, true};
	const char *method = bind->options[0].string;
	bool nearest = strcmp(method, "nearest") == 0;
	if (!nearest && strcmp(method, "linear") != 0)
		return nk_fail(err, NK_VALUE, "interpolation `method` must be one of {'linear', 'nearest'}, got %s",
		               method);
	const nk_dtype *dtype = bind->args[0].dtype;
	bind->dtype = dtype;
	if (!nearest && nk_type_is_integer(dtype->id))
		bind->dtype = bind->casts[0] = nk_dtype_of(NK_TYPE_FLOAT64);
	bind->data = &ways[nearest];
	bind->segmented = interpolate;
	return NK_OK;
}

static const nk_option_spec limit_options[] = {
	{"limit", {.kind = NK_OPTION_INT, .integer = -1}},
	{0},
};

static const nk_option_spec method_options[] = {
	{"method", {.kind = NK_OPTION_STRING, .string = "linear"}},
	{0},
};

const nk_func nk__funcs_fill[] = {
	{
		.name = "forward_fill",
		.args = "x",
		.doc = "Nulls take the last value before them, at most limit of them in a row (negative: all).",
		.example = "forward_fill([null, 1, null, null], limit=1) == [null, 1, 1, null]",
		.options = limit_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bends = true,
		.bind = bind_forward_fill,
	},
	{
		.name = "backward_fill",
		.args = "x",
		.doc = "Nulls take the next value after them, at most limit of them in a row (negative: all).",
		.example = "backward_fill([null, null, 1, null], limit=1) == [null, 1, 1, null]",
		.options = limit_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bends = true,
		.bind = bind_backward_fill,
	},
	{
		.name = "interpolate",
		.args = "x",
		.doc = "Nulls between two values are filled on the line between them (integers become Float64; "
			   "temporal ones and "
			   "Decimals step by whole units) or, with method \"nearest\", from the nearer one. What is no "
			   "number stays.",
		.example = "interpolate([1.0, null, 3.0, null]) == [1.0, 2.0, 3.0, null]",
		.options = method_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_interpolate,
	},
	{0},
};
