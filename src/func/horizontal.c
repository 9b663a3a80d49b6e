/* Rows across columns: min_horizontal, max_horizontal, sum_horizontal, mean_horizontal; and clip, which limits by
 * the same comparisons and blends. Extremes skip nulls and NaN unless nothing else is there. */
#include "compute/arith.h"
#include "compute/blend.h"
#include "compute/compare.h"
#include "compute/decimal.h"
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

typedef struct horizontal_plan {
	int n_args;
	bool greatest, ignores_nulls;
} horizontal_plan;

/* All arguments meet in one dtype. */
static nk_status unify(nk_bind *bind, const nk_dtype **out, nk_error *err)
{
	nk_argument meet = bind->args[0];
	for (int i = 1; i < bind->n_args; i++) {
		const nk_dtype *next = nk_supertype_of_arguments(&meet, &bind->args[i], &bind->cast_is_lossy);
		if (!next)
			return nk_supertype_fail(meet.dtype, bind->args[i].dtype, err);
		meet = nk_argument_meet(&meet, &bind->args[i], next);
	}
	*out = meet.dtype;
	return NK_OK;
}

static nk_status plan_of(nk_bind *bind, const nk_dtype *dtype, horizontal_plan **plan, nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(bind->arena, plan, 1, err));
	(*plan)->n_args = bind->n_args;
	for (int i = 0; i < bind->n_args && i < NK_MAX_CASTS; i++)
		bind->casts[i] = dtype;
	bind->dtype = dtype;
	bind->data = *plan;
	return NK_OK;
}

static nk_status refuse(const nk_bind *bind, const nk_dtype *dtype, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", bind->func->name,
	               nk_dtype_short_name(dtype));
}

/* Bits of valid values that are not NaN. */
static void proper_bits(const nk_array *array, int64_t n_rows, uint8_t *bits)
{
	bool is_float = nk_type_is_float(array->dtype->id);
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = nk__valid_word(array, i, n_rows);
		for (int64_t j = i; is_float && j < n_rows && j < i + 64; j++) {
			int64_t at = nk_array_index(array, j);
			bool nan = array->physical == NK_PHYSICAL_F32
			               ? ((const float *)array->values)[at] != ((const float *)array->values)[at]
			               : ((const double *)array->values)[at] != ((const double *)array->values)[at];
			word &= ~((uint64_t)nan << (j - i));
		}
		nk__put_word(bits, i, n_rows, word);
	}
}

/* bits: where left op right; Decimals of either width. */
static nk_status compare_any(nk_memory *memory, nk_compare_op op, nk_array *left, nk_array *right,
                             int64_t n_rows, uint8_t *bits, nk_error *err)
{
	if (left->dtype->id == NK_TYPE_CATEGORICAL) {
		memset(bits, 0, (size_t)nk_bitmap_bytes(n_rows));
		for (int64_t i = 0; i < n_rows; i++)
			if (nk_array_is_valid(left, i) && nk_array_is_valid(right, i)) {
				int order = nk_rows_compare(left, i, right, i);
				nk_bitmap_put(bits, i, op == NK_GT ? order > 0 : order < 0);
			}
		return NK_OK;
	}
	if (left->physical == right->physical) {
		nk_compare(op, left, right, n_rows, bits);
		return NK_OK;
	}
	NK_AUTO(nk_array) a = NULL;
	NK_AUTO(nk_array) b = NULL;
	NK_TRY(nk_decimal_align(memory, left, right, &a, &b, err));
	nk_compare(op, a, b, n_rows, bits);
	return NK_OK;
}

static nk_status extreme_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const horizontal_plan *plan = call->data;
	if (call->dtype->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_AUTO(nk_array) best = nk_array_ref(args[0]);
	NK_AUTO(nk_buffer) room = NULL;
	int64_t n_bytes = nk_bitmap_bytes(n_rows);
	NK_TRY(nk_buffer_new(call->memory, 3 * n_bytes, &room, err));
	uint8_t *better = room->bytes, *proper = better + n_bytes, *proper_best = proper + n_bytes;
	for (int k = 1; k < plan->n_args; k++) {
		NK_TRY(compare_any(call->memory, plan->greatest ? NK_GT : NK_LT, args[k], best, n_rows, better, err));
		proper_bits(args[k], n_rows, proper);
		proper_bits(best, n_rows, proper_best);
		for (int64_t i = 0; i < n_rows; i += 64) {
			uint64_t yes = nk_bitmap_word(better, i, n_rows), next = nk_bitmap_word(proper, i, n_rows);
			uint64_t known = nk_bitmap_word(proper_best, i, n_rows);
			/* A NaN still beats a null. */
			uint64_t beats_null = nk__valid_word(args[k], i, n_rows) & ~nk__valid_word(best, i, n_rows);
			nk__put_word(better, i, n_rows, (next & known & yes) | (next & ~known) | beats_null);
		}
		nk_array *blended = NULL;
		NK_TRY(nk_blend(call->memory, call->dtype, better, args[k], best, n_rows, &blended, err));
		nk_array_unref(best);
		best = blended;
	}
	*out = NK_STEAL(best);
	return NK_OK;
}

static nk_status bind_extreme(nk_bind *bind, bool greatest, nk_error *err)
{
	const nk_dtype *dtype;
	horizontal_plan *plan;
	for (int i = 0; i < bind->n_args; i++)
		if (bind->args[i].dtype != bind->args[0].dtype && bind->args[i].dtype->id != NK_TYPE_NULL &&
		    bind->args[0].dtype->id != NK_TYPE_NULL &&
		    (nk_type_is_category(bind->args[0].dtype->id) || nk_type_is_category(bind->args[i].dtype->id)))
			return nk_fail(err, NK_INVALID_OPERATION,
			               "got invalid or ambiguous dtypes: '[%s, %s]' in expression '%s'",
			               nk_dtype_short_name(bind->args[0].dtype), nk_dtype_short_name(bind->args[i].dtype),
			               bind->func->name);
	NK_TRY(unify(bind, &dtype, err));
	if (nk_type_is_nested(dtype->id))
		return refuse(bind, dtype, err);
	NK_TRY(plan_of(bind, dtype, &plan, err));
	plan->greatest = greatest;
	bind->kernel = extreme_kernel;
	return NK_OK;
}

static nk_status bind_min(nk_bind *bind, nk_error *err) { return bind_extreme(bind, false, err); }
static nk_status bind_max(nk_bind *bind, nk_error *err) { return bind_extreme(bind, true, err); }

/* ---- Sums ---- */

/* The argument with zeros under null (flat), or as it is. */
static nk_status zero_nulls(const nk_call *call, nk_array *array, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	if (!nk__may_have_nulls(array))
		return nk_array_flatten(call->memory, array, out, err);
	NK_AUTO(nk_array) zero = NULL;
	NK_AUTO(nk_buffer) bits = NULL;
	nk_scalar scalar = {.dtype = array->dtype};
	NK_TRY(nk_array_from_scalar(call->memory, &scalar, n_rows, &zero, err));
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &bits, err));
	for (int64_t i = 0; i < n_rows; i += 64)
		nk__put_word(bits->bytes, i, n_rows, nk__valid_word(array, i, n_rows));
	return nk_blend(call->memory, array->dtype, bits->bytes, array, zero, n_rows, out, err);
}

static nk_status add(const nk_call *call, nk_array *left, nk_array *right, int64_t n_rows, nk_array **out,
                     nk_error *err)
{
	if (call->dtype->id == NK_TYPE_DECIMAL)
		return nk_decimal_arith(call->memory, NK_ADD, left, right, NULL, n_rows, call->dtype, out, err);
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &result, err));
	NK_ISA_TABLE(nk__arith)->binary[call->dtype->physical][NK_ADD](nk_array_values(result), left->values,
	                                                               right->values, n_rows, NK_VECTOR_VECTOR);
	*out = NK_STEAL(result);
	return NK_OK;
}

/* Sum over the arguments, and how many were valid in each row when counts is not NULL. */
static nk_status sum_rows(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                          double *counts, nk_error *err)
{
	const horizontal_plan *plan = call->data;
	NK_AUTO(nk_array) sum = NULL;
	for (int k = 0; k < plan->n_args; k++) {
		NK_AUTO(nk_array) next = NULL;
		NK_TRY(zero_nulls(call, args[k], n_rows, &next, err));
		for (int64_t i = 0; counts && i < n_rows; i++)
			counts[i] += nk_array_is_valid(args[k], i);
		nk_array *added = NULL;
		if (sum)
			NK_TRY(add(call, sum, next, n_rows, &added, err));
		else
			added = NK_STEAL(next);
		nk_array_unref(sum);
		sum = added;
	}
	*out = NK_STEAL(sum);
	return NK_OK;
}

/* The result with the rows invalid where any argument is null. */
static nk_status with_all_validities(const nk_call *call, nk_array *const *args, int n_args, int64_t n_rows,
                                     nk_array *sum, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &validity, err));
	nk_bitmap_fill(validity->bytes, 0, n_rows, true);
	for (int k = 0; k < n_args; k++)
		for (int64_t i = 0; i < n_rows; i += 64)
			nk__put_word(validity->bytes, i, n_rows,
			             nk_bitmap_word(validity->bytes, i, n_rows) & nk__valid_word(args[k], i, n_rows));
	return nk_array_with_validity(sum, NK_STEAL(validity), -1, out, err);
}

static nk_status sum_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	const horizontal_plan *plan = call->data;
	NK_AUTO(nk_array) sum = NULL;
	if (call->dtype->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_TRY(sum_rows(call, args, n_rows, &sum, NULL, err));
	if (!plan->ignores_nulls)
		return with_all_validities(call, args, plan->n_args, n_rows, sum, out, err);
	*out = NK_STEAL(sum);
	return NK_OK;
}

static nk_status mean_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	const horizontal_plan *plan = call->data;
	NK_AUTO(nk_array) sum = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_buffer) room = NULL;
	NK_TRY(nk_buffer_new_zeroed(call->memory, n_rows * (int64_t)sizeof(double), &room, err));
	double *counts = (double *)room->bytes;
	NK_TRY(sum_rows(call, args, n_rows, &sum, counts, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, true, &result, err));
	result->n_nulls = -1;
	for (int64_t i = 0; i < n_rows; i++) {
		bool valid = plan->ignores_nulls ? counts[i] > 0 : counts[i] == plan->n_args;
		nk_bitmap_put(nk_array_validity(result), i, valid);
		if (call->dtype->physical == NK_PHYSICAL_F32)
			((float *)nk_array_values(result))[i] =
				valid ? ((const float *)sum->values)[i] / (float)counts[i] : 0;
		else
			((double *)nk_array_values(result))[i] = valid ? ((const double *)sum->values)[i] / counts[i] : 0;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_sum(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype;
	horizontal_plan *plan;
	if (bind->n_args == 0)
		return nk_fail(err, NK_INVALID_OPERATION, "`sum_horizontal` needs at least one column");
	NK_TRY(unify(bind, &dtype, err));
	if (dtype->id == NK_TYPE_BOOLEAN)
		dtype = nk_dtype_of(NK_TYPE_UINT32);
	if (!nk_type_is_numeric(dtype->id) && dtype->id != NK_TYPE_DURATION && dtype->id != NK_TYPE_NULL)
		return refuse(bind, dtype, err);
	if (dtype->id == NK_TYPE_DECIMAL)
		dtype = nk_dtype_decimal(38, dtype->scale);
	NK_TRY(plan_of(bind, dtype, &plan, err));
	plan->ignores_nulls = bind->options[0].boolean;
	bind->fallible = dtype->id == NK_TYPE_DECIMAL;
	bind->kernel = sum_kernel;
	return NK_OK;
}

static nk_status bind_mean(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype;
	horizontal_plan *plan;
	if (bind->n_args == 0)
		return nk_fail(err, NK_INVALID_OPERATION, "`mean_horizontal` needs at least one column");
	NK_TRY(unify(bind, &dtype, err));
	if (!nk_type_is_numeric(dtype->id) && dtype->id != NK_TYPE_BOOLEAN && dtype->id != NK_TYPE_NULL)
		return refuse(bind, dtype, err);
	NK_TRY(plan_of(bind, dtype->id == NK_TYPE_FLOAT32 ? dtype : nk_dtype_of(NK_TYPE_FLOAT64), &plan, err));
	plan->ignores_nulls = bind->options[0].boolean;
	bind->kernel = mean_kernel;
	return NK_OK;
}

/* ---- clip ---- */

static nk_status limit(const nk_call *call, nk_array *values, nk_array *bound, nk_compare_op beyond,
                       int64_t n_rows, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) room = NULL;
	int64_t n_bytes = nk_bitmap_bytes(n_rows);
	NK_TRY(nk_buffer_new(call->memory, 2 * n_bytes, &room, err));
	uint8_t *bits = room->bytes, *proper = bits + n_bytes;
	NK_TRY(compare_any(call->memory, beyond, values, bound, n_rows, bits, err));
	for (int side = 0; side < 2; side++) { /* NaN stays and does not bind */
		proper_bits(side ? bound : values, n_rows, proper);
		for (int64_t i = 0; i < n_rows; i += 64)
			nk__put_word(bits, i, n_rows,
			             nk_bitmap_word(bits, i, n_rows) & nk_bitmap_word(proper, i, n_rows));
	}
	return nk_blend(call->memory, call->dtype, bits, bound, values, n_rows, out, err);
}

static nk_status clip_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_array) raised = NULL;
	NK_TRY(limit(call, args[0], args[1], NK_LT, n_rows, &raised, err));
	return limit(call, raised, args[2], NK_GT, n_rows, out, err);
}

static nk_status bind_clip(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (!nk_type_is_numeric(dtype->id) && !nk_type_is_temporal(dtype->id))
		return refuse(bind, dtype, err);
	bind->dtype = dtype;
	bind->casts[1] = bind->casts[2] = dtype;
	bind->cast_is_lossy = true;
	bind->kernel = clip_kernel;
	return NK_OK;
}

static const nk_option_spec ignore_nulls_options[] = {
	{"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

const nk_func nk__funcs_horizontal[] = {
	{
		.name = "min_horizontal",
		.args = "x, *more",
		.doc = "The least value of the row; nulls and NaN count only where nothing else is there.",
		.example = "min_horizontal([1, null], [2, 3]) == [1, 3]",
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.bind = bind_min,
	},
	{
		.name = "max_horizontal",
		.args = "x, *more",
		.doc = "The greatest value of the row; nulls and NaN count only where nothing else is there.",
		.example = "max_horizontal([1, null], [2, 3]) == [2, 3]",
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.bind = bind_max,
	},
	{
		.name = "sum_horizontal",
		.args = "*x",
		.doc = "Sum of the row's values in their supertype; a null counts as zero, or makes the sum null.",
		.example = "sum_horizontal([1, null], [2, 3]) == [3, 3]",
		.options = ignore_nulls_options,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.bind = bind_sum,
	},
	{
		.name = "mean_horizontal",
		.args = "*x",
		.doc = "Mean of the row's values in floating point; null where there are none.",
		.example = "mean_horizontal([1, null], [2, 3]) == [1.5, 3.0]",
		.options = ignore_nulls_options,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.bind = bind_mean,
	},
	{
		.name = "clip",
		.args = "x, lower_bound, upper_bound",
		.doc = "x limited to the range between the bounds, in the dtype of x. A null or NaN bound does not "
			   "bind; "
			   "NaN stays NaN.",
		.example = "clip([1, 7, null], 2, 5) == [2, 5, null]",
		.min_args = 3,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.bends = true,
		.bind = bind_clip,
	},
	{0},
};
