/* Running sums, products, extremes and counts, from the first row of a group on or from the last. Null rows
 * stay null and count for nothing; integers wrap; Float32 sums in 64 bits. */
#include "compute/compare.h"
#include "compute/decimal.h"
#include "compute/select.h"
#include "func/ordered.h"
#include "func/words.h"

typedef enum cumulative { CUM_SUM, CUM_PROD, CUM_MIN, CUM_MAX, CUM_COUNT } cumulative;
static const cumulative kinds[] = {CUM_SUM, CUM_PROD, CUM_MIN, CUM_MAX, CUM_COUNT};

#define T int8_t
#define U uint8_t
#define SUFFIX i8
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T int16_t
#define U uint16_t
#define SUFFIX i16
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T int32_t
#define U uint32_t
#define SUFFIX i32
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T int64_t
#define U uint64_t
#define SUFFIX i64
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T __int128
#define U unsigned __int128
#define SUFFIX i128
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T uint8_t
#define U uint8_t
#define SUFFIX u8
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T uint16_t
#define U uint16_t
#define SUFFIX u16
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T uint32_t
#define U uint32_t
#define SUFFIX u32
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T uint64_t
#define U uint64_t
#define SUFFIX u64
#define IS_FLOAT 0
#include "func/cumulative_tmpl.h"
#define T float
#define U float
#define ACC double
#define SUFFIX f32
#define IS_FLOAT 1
#include "func/cumulative_tmpl.h"
#define T double
#define U double
#define ACC double
#define SUFFIX f64
#define IS_FLOAT 1
#include "func/cumulative_tmpl.h"

typedef void fold_loop(void *out, const void *values, const uint8_t *validity, int64_t n_groups,
                       const int64_t *offsets, cumulative kind, bool reversed);

static fold_loop *const folds[NK_PHYSICAL_N] = {
	[NK_PHYSICAL_I8] = fold_i8,   [NK_PHYSICAL_I16] = fold_i16,   [NK_PHYSICAL_I32] = fold_i32,
	[NK_PHYSICAL_I64] = fold_i64, [NK_PHYSICAL_I128] = fold_i128, [NK_PHYSICAL_U8] = fold_u8,
	[NK_PHYSICAL_U16] = fold_u16, [NK_PHYSICAL_U32] = fold_u32,   [NK_PHYSICAL_U64] = fold_u64,
	[NK_PHYSICAL_F32] = fold_f32, [NK_PHYSICAL_F64] = fold_f64,
};

static int64_t row_at(int64_t i, int64_t from, int64_t to, bool reversed)
{
	return reversed ? to - 1 - (i - from) : i;
}

/* Text and Booleans: positions of the best value so far, and one gather. */
static nk_status extreme_rows(const nk_call *call, nk_array *array, int64_t n_groups, const int64_t *offsets,
                              bool greatest, nk_array **out, nk_error *err)
{
	bool reversed = call->options[0].boolean;
	int64_t n_rows = offsets[n_groups];
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t best = -1;
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			int64_t row = row_at(i, offsets[g], offsets[g + 1], reversed);
			to[row] = -1;
			if (!nk_array_is_valid(array, row))
				continue;
			if (best < 0 || nk_rows_compare(array, row, array, best) * (greatest ? 1 : -1) > 0)
				best = row;
			to[row] = best;
		}
	}
	return nk_array_take_optional(call->memory, array, to, n_rows, out, err);
}

static nk_status count(const nk_call *call, const nk_array *array, int64_t n_groups, const int64_t *offsets,
                       nk_array **out, nk_error *err)
{
	bool reversed = call->options[0].boolean;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, offsets[n_groups], false, out, err));
	uint32_t *to = nk_array_values(*out);
	for (int64_t g = 0; g < n_groups; g++) {
		uint32_t so_far = 0;
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			int64_t row = row_at(i, offsets[g], offsets[g + 1], reversed);
			to[row] = so_far += nk_array_is_valid(array, row);
		}
	}
	return NK_OK;
}

/* Sums that must stay within 38 digits. */
static nk_status sum_decimals(const nk_call *call, nk_array *array, int64_t n_groups, const int64_t *offsets,
                              nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) wide = NULL;
	NK_AUTO(nk_array) result = NULL;
	bool reversed = call->options[0].boolean;
	NK_TRY(nk_array_widen_decimal(call->memory, array, &wide, err));
	NK_TRY(nk__alloc_like(call->memory, call->dtype, NK_PHYSICAL_I128, wide, &result, err));
	__int128 *to = nk_array_values(result), limit = nk_power_of_ten(38);
	const __int128 *from = wide->values;
	for (int64_t g = 0; g < n_groups; g++) {
		__int128 so_far = 0;
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			int64_t row = row_at(i, offsets[g], offsets[g + 1], reversed);
			if (nk_array_is_valid(wide, row))
				so_far += from[row];
			if (so_far >= limit || so_far <= -limit)
				return nk_fail(err, NK_COMPUTE, "overflow in decimal addition in %s", call->func->name);
			to[row] = so_far;
		}
	}
	return nk_decimal_narrow(call->memory, call->dtype, NK_STEAL(result), out, err);
}

static nk_status run(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                     nk_array **out, nk_error *err)
{
	cumulative kind = *(const cumulative *)call->data;
	NK_AUTO(nk_array) array = NULL;
	if (kind == CUM_COUNT)
		return count(call, args[0], n_groups, offsets, out, err);
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	if (kind == CUM_SUM && call->dtype->id == NK_TYPE_DECIMAL)
		return sum_decimals(call, array, n_groups, offsets, out, err);
	fold_loop *fold = folds[array->physical];
	if (!fold)
		return extreme_rows(call, array, n_groups, offsets, kind == CUM_MAX, out, err);
	NK_TRY(nk__alloc_like(call->memory, call->dtype, array->physical, array, out, err));
	fold(nk_array_values(*out), array->values, nk__may_have_nulls(array) ? array->validity : NULL, n_groups,
	     offsets, kind, call->options[0].boolean);
	return NK_OK;
}

static nk_status bind_cumulative(nk_bind *bind, cumulative kind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *to = dtype;
	bool small = dtype->id == NK_TYPE_INT8 || dtype->id == NK_TYPE_INT16 || dtype->id == NK_TYPE_UINT8 ||
	             dtype->id == NK_TYPE_UINT16;
	bool wide = dtype->id == NK_TYPE_INT128 || dtype->id == NK_TYPE_UINT64 || nk_type_is_float(dtype->id);
	bool numeric = nk_type_is_numeric(dtype->id) || dtype->id == NK_TYPE_BOOLEAN;
	bind->data = &kinds[kind];
	bind->segmented = run;
	switch (kind) {
	case CUM_COUNT: bind->dtype = nk_dtype_of(NK_TYPE_UINT32); return NK_OK;
	case CUM_MIN:
	case CUM_MAX:
		if (nk_type_is_nested(dtype->id) || dtype->id == NK_TYPE_NULL)
			return nk__refuse_dtype(bind, err);
		if (nk_type_is_category(dtype->id))
			return nk_fail(err, NK_COMPUTE, "`%s` is not supported for dtype `%s`", bind->func->name,
			               nk_dtype_short_name(dtype));
		bind->dtype = dtype;
		return NK_OK;
	case CUM_SUM:
		if (!numeric && dtype->id != NK_TYPE_DURATION)
			return nk__refuse_dtype(bind, err);
		to = small                          ? nk_dtype_of(NK_TYPE_INT64)
		     : dtype->id == NK_TYPE_BOOLEAN ? nk_dtype_of(NK_TYPE_UINT32)
		     : dtype->id == NK_TYPE_DECIMAL ? nk_dtype_decimal(38, dtype->scale)
		                                    : dtype;
		break;
	case CUM_PROD:
		if (!numeric || dtype->id == NK_TYPE_DECIMAL)
			return nk__refuse_dtype(bind, err);
		to = wide ? dtype : nk_dtype_of(NK_TYPE_INT64);
		break;
	}
	bind->dtype = bind->casts[0] = to;
	return NK_OK;
}

static nk_status bind_cum_sum(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_SUM, err); }
static nk_status bind_cum_prod(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_PROD, err); }
static nk_status bind_cum_min(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_MIN, err); }
static nk_status bind_cum_max(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_MAX, err); }
static nk_status bind_cum_count(nk_bind *bind, nk_error *err)
{
	return bind_cumulative(bind, CUM_COUNT, err);
}

static const nk_option_spec reverse_options[] = {
	{"reverse", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_cumulative[] = {
	{
		.name = "cum_sum",
		.args = "x",
		.doc = "Sum of the values so far; a null stays null and counts for nothing. 8 and 16-bit integers "
			   "sum as Int64, "
			   "Booleans as UInt32.",
		.example = "cum_sum([1, null, 2]) == [1, null, 3]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_sum,
	},
	{
		.name = "cum_prod",
		.args = "x",
		.doc = "Product of the values so far; a null stays null and counts for nothing. Integers multiply as "
			   "Int64.",
		.example = "cum_prod([2, null, 3]) == [2, null, 6]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_prod,
	},
	{
		.name = "cum_min",
		.args = "x",
		.doc = "Least value so far; a null stays null, NaN counts only while nothing else was met.",
		.example = "cum_min([2, null, 1]) == [2, null, 1]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bends = true,
		.bind = bind_cum_min,
	},
	{
		.name = "cum_max",
		.args = "x",
		.doc = "Greatest value so far; a null stays null, NaN counts only while nothing else was met.",
		.example = "cum_max([2, null, 1]) == [2, null, 2]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bends = true,
		.bind = bind_cum_max,
	},
	{
		.name = "cum_count",
		.args = "x",
		.doc = "How many values there were so far, nulls left out.",
		.example = "cum_count([2, null, 1]) == [1, 1, 2]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_count,
	},
	{0},
};
