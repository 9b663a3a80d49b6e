/* Aggregates that need a group's values together: n_unique, median, quantile, arg_min, arg_max, implode. Each is
 * written for segments; a column is one segment. */
#include "compute/compare.h"
#include "compute/group_table.h"
#include "compute/quantile.h"
#include "func/aggregate.h"

/* A column kernel from the segmented one that the call's data begins with. */
typedef struct whole_plan {
	nk_segmented_kernel *segmented;
	double quantile;
	nk_interpolation interpolation;
	bool greatest;
} whole_plan;

static nk_status column_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	const whole_plan *plan = call->data;
	return plan->segmented(call, args, 1, (int64_t[]){0, n_rows}, out, err);
}

static nk_status bind_whole(nk_bind *bind, nk_segmented_kernel *segmented, const nk_dtype *dtype,
                            whole_plan **plan, nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(bind->arena, plan, 1, err));
	(*plan)->segmented = segmented;
	bind->data = *plan;
	bind->dtype = dtype;
	bind->kernel = column_kernel;
	bind->segmented = segmented;
	return NK_OK;
}

/* ---- n_unique ---- */

/* Distinct pairs of segment and value, counted by segment: one table for all segments. */
static nk_status n_unique_segments(const nk_call *call, nk_array *const *args, int64_t n_groups,
                                   const int64_t *offsets, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_groups, false, &result, err));
	uint32_t *counts = nk_array_values(result);
	memset(counts, 0, (size_t)n_groups * sizeof *counts);
	if (args[0]->physical == NK_PHYSICAL_NONE) {
		for (int64_t g = 0; g < n_groups; g++)
			counts[g] = offsets[g + 1] > offsets[g];
		*out = NK_STEAL(result);
		return NK_OK;
	}
	enum { BLOCK = 4096 };
	const nk_dtype *dtypes[] = {args[0]->dtype, nk_dtype_of(NK_TYPE_UINT32)};
	int n_keys = n_groups > 1 ? 2 : 1;
	NK_AUTO(nk_group_table) table = NULL;
	NK_TRY(nk_group_table_new(call->memory, dtypes, n_keys, 0, &table, err));
	int64_t g = 0, n_known = 0;
	for (int64_t i = offsets[0]; i < offsets[n_groups]; i += BLOCK) {
		int64_t n = NK_MIN(offsets[n_groups] - i, (int64_t)BLOCK);
		uint32_t slots[BLOCK];
		NK_AUTO(nk_array) segments = NULL;
		NK_AUTO(nk_array) values = NULL;
		NK_TRY(nk_array_slice(call->memory, args[0], i, n, &values, err));
		NK_TRY(nk_array_alloc(call->memory, dtypes[1], NK_PHYSICAL_U32, n, false, &segments, err));
		uint32_t *numbers = nk_array_values(segments);
		for (int64_t j = 0; j < n; j++) {
			while (i + j >= offsets[g + 1])
				g++;
			numbers[j] = (uint32_t)g;
		}
		NK_TRY(nk_group_table_insert(table, (nk_array *[]){values, segments}, n, slots, err));
		for (int64_t j = 0; j < n; j++)
			if (slots[j] == n_known) {
				counts[numbers[j]]++;
				n_known++;
			}
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_n_unique(nk_bind *bind, nk_error *err)
{
	whole_plan *plan;
	return bind_whole(bind, n_unique_segments, nk_dtype_of(NK_TYPE_UINT32), &plan, err);
}

/* ---- median, quantile ---- */

static nk_status quantile_segments(const nk_call *call, nk_array *const *args, int64_t n_groups,
                                   const int64_t *offsets, nk_array **out, nk_error *err)
{
	const whole_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_buffer) room = NULL;
	if (call->dtype->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_groups, out, err);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_groups, true, &result, err));
	result->n_nulls = -1;
	int64_t longest = 0;
	for (int64_t g = 0; g < n_groups; g++)
		longest = NK_MAX(longest, offsets[g + 1] - offsets[g]);
	NK_TRY(nk_buffer_new(call->memory, longest * (int64_t)sizeof(int64_t), &room, err));
	int64_t *keys = (int64_t *)room->bytes;
	bool is_float = args[0]->physical == NK_PHYSICAL_F64;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t n = 0;
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			if (!nk_array_is_valid(args[0], i))
				continue;
			int64_t at = nk_array_index(args[0], i);
			keys[n++] = is_float ? nk_key_of_double(((const double *)args[0]->values)[at])
			                     : ((const int64_t *)args[0]->values)[at];
		}
		if (n == 0)
			nk_bitmap_clear(nk_array_validity(result), g);
		double value =
			n && is_float ? nk_quantile_of_doubles(keys, n, plan->quantile, plan->interpolation) : 0;
		if (result->physical == NK_PHYSICAL_F32)
			((float *)nk_array_values(result))[g] = (float)value;
		else if (is_float)
			((double *)nk_array_values(result))[g] = value;
		else
			((int64_t *)nk_array_values(result))[g] =
				n ? nk_quantile_of_integers(keys, n, plan->quantile, plan->interpolation) : 0;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_order_statistic(nk_bind *bind, double quantile, nk_interpolation interpolation,
                                      nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *float64 = nk_dtype_of(NK_TYPE_FLOAT64);
	whole_plan *plan;
	if (nk_type_is_temporal(dtype->id)) {
		if (dtype->id == NK_TYPE_DATE)
			dtype = bind->casts[0] = nk_dtype_datetime(NK_UNIT_US, NULL);
	} else if (dtype->id != NK_TYPE_NULL) {
		if (!nk_type_is_numeric(dtype->id) && dtype->id != NK_TYPE_BOOLEAN)
			return nk__refuse_aggregate(bind, err);
		bind->casts[0] = float64;
		dtype = dtype->id == NK_TYPE_FLOAT32 ? dtype : float64;
	}
	NK_TRY(bind_whole(bind, quantile_segments, dtype, &plan, err));
	plan->quantile = quantile;
	plan->interpolation = interpolation;
	return NK_OK;
}

static nk_status bind_median(nk_bind *bind, nk_error *err)
{
	return bind_order_statistic(bind, 0.5, NK_LINEAR, err);
}

static nk_status bind_quantile(nk_bind *bind, nk_error *err)
{
	double quantile = bind->options[0].floating;
	nk_interpolation interpolation;
	nk_type_id id = bind->args[0].dtype->id;
	if (id == NK_TYPE_NULL || id == NK_TYPE_BOOLEAN)
		return nk__refuse_aggregate(bind, err);
	if (!(quantile >= 0 && quantile <= 1))
		return nk_fail(err, NK_COMPUTE, "quantile should be between 0.0 and 1.0, got %g", quantile);
	if (!nk_interpolation_parse(bind->options[1].string, &interpolation))
		return nk_fail(err, NK_VALUE,
		               "`interpolation` must be one of {'nearest', 'higher', 'lower', 'midpoint', 'linear', "
		               "'equiprobable'}, got %s",
		               bind->options[1].string);
	return bind_order_statistic(bind, quantile, interpolation, err);
}

/* ---- arg_min, arg_max ---- */

static bool is_nan(const nk_array *array, int64_t row)
{
	int64_t i = nk_array_index(array, row);
	if (array->physical == NK_PHYSICAL_F32)
		return ((const float *)array->values)[i] != ((const float *)array->values)[i];
	return array->physical == NK_PHYSICAL_F64 &&
	       ((const double *)array->values)[i] != ((const double *)array->values)[i];
}

/* The first row with the best value; NaN only where nothing else is there. */
static nk_status arg_segments(const nk_call *call, nk_array *const *args, int64_t n_groups,
                              const int64_t *offsets, nk_array **out, nk_error *err)
{
	bool greatest = ((const whole_plan *)call->data)->greatest;
	const nk_array *array = args[0];
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_groups, true, &result, err));
	result->n_nulls = -1;
	uint32_t *to = nk_array_values(result);
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t best = -1;
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			if (!nk_array_is_valid(array, i) || (best >= 0 && is_nan(array, i)))
				continue;
			int order = best < 0 || is_nan(array, best)
			                ? 1
			                : nk_rows_compare(array, i, array, best) * (greatest ? 1 : -1);
			best = order > 0 ? i : best;
		}
		to[g] = best < 0 ? 0 : (uint32_t)(best - offsets[g]);
		if (best < 0)
			nk_bitmap_clear(nk_array_validity(result), g);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_arg(nk_bind *bind, bool greatest, nk_error *err)
{
	whole_plan *plan;
	if (nk_type_is_nested(bind->args[0].dtype->id))
		return nk__refuse_aggregate(bind, err);
	NK_TRY(bind_whole(bind, arg_segments, nk_dtype_of(NK_TYPE_UINT32), &plan, err));
	plan->greatest = greatest;
	return NK_OK;
}

static nk_status bind_arg_min(nk_bind *bind, nk_error *err) { return bind_arg(bind, false, err); }
static nk_status bind_arg_max(nk_bind *bind, nk_error *err) { return bind_arg(bind, true, err); }

/* ---- implode ---- */

static nk_status implode_segments(const nk_call *call, nk_array *const *args, int64_t n_groups,
                                  const int64_t *offsets, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) shifted = NULL;
	NK_AUTO(nk_array) sliced = NULL;
	nk_array *items = NULL;
	NK_TRY(nk_buffer_new(call->memory, (n_groups + 1) * (int64_t)sizeof(int64_t), &shifted, err));
	int64_t *to = (int64_t *)shifted->bytes;
	for (int64_t g = 0; g <= n_groups; g++)
		to[g] = offsets[g] - offsets[0];
	NK_TRY(nk_array_slice(call->memory, args[0], offsets[0], to[n_groups], &sliced, err));
	NK_TRY(nk_array_flatten(call->memory, sliced, &items, err));
	return nk_array_new_list(call->dtype, n_groups, NK_STEAL(shifted), items, NULL, 0, out, err);
}

static nk_status bind_implode(nk_bind *bind, nk_error *err)
{
	whole_plan *plan;
	const nk_dtype *dtype = nk_dtype_list(bind->args[0].dtype);
	if (!dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	return bind_whole(bind, implode_segments, dtype, &plan, err);
}

static const nk_option_spec quantile_options[] = {
	{"quantile", {.kind = NK_OPTION_FLOAT, .floating = 0.5}},
	{"interpolation", {.kind = NK_OPTION_STRING, .string = "nearest"}},
	{0},
};

const nk_func nk__funcs_aggregate_whole[] = {
	{
		.name = "n_unique",
		.args = "x",
		.doc = "How many different values there are; null counts as one.",
		.example = "n_unique([1, null, 1]) == [2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_n_unique,
	},
	{
		.name = "median",
		.args = "x",
		.doc = "The value in the middle, or the mean of the two there, in floating point. Null of no values.",
		.example = "median([1, null, 2]) == [1.5]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_median,
	},
	{
		.name = "quantile",
		.args = "x",
		.doc = "The value below which the given part (0 to 1) of the values lies; interpolation says what to "
			   "do between two.",
		.example = "quantile([1, 2, 3], quantile=0.5) == [2.0]",
		.options = quantile_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_quantile,
	},
	{
		.name = "arg_min",
		.args = "x",
		.doc = "The index of the least value. Null of no values.",
		.example = "arg_min([3, null, 1]) == [2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_arg_min,
	},
	{
		.name = "arg_max",
		.args = "x",
		.doc = "The index of the greatest value. Null of no values.",
		.example = "arg_max([3, null, 1]) == [0]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_arg_max,
	},
	{
		.name = "implode",
		.args = "x",
		.doc = "All values as one list.",
		.example = "implode([1, 2]) == [[1, 2]]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_implode,
	},
	{0},
};
