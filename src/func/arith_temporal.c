/* Arithmetic with dates, datetimes, durations and times. Units meet at the coarser one by casts at binding, after
 * which most operations are plain 64-bit ones; what is left are Dates, which count days, and Durations next to
 * floats. */
#include "func/arith.h"

#include "func/supertype.h"

static bool is_bool_or_decimal(const nk_dtype *dtype)
{
	return dtype->id == NK_TYPE_BOOLEAN || dtype->id == NK_TYPE_DECIMAL;
}

static nk_status refuse(const nk_bind *bind, nk_arith_op op, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	bool scales = op == NK_MUL || op == NK_FLOORDIV || op == NK_MOD, adds = op == NK_ADD || op == NK_SUB;
	bool is_schema = adds && ((left->id == NK_TYPE_TIME && right->id == NK_TYPE_DURATION) ||
	                          (left->id == NK_TYPE_DURATION && right->id == NK_TYPE_TIME));
	is_schema |= scales && ((left->id == NK_TYPE_DURATION && is_bool_or_decimal(right)) ||
	                        (right->id == NK_TYPE_DURATION && is_bool_or_decimal(left)));
	return nk_fail(err, is_schema ? NK_SCHEMA_MISMATCH : NK_INVALID_OPERATION, "%s not allowed on %s and %s",
	               nk__arith_symbol(op), nk_dtype_short_name(bind->args[0].dtype),
	               nk_dtype_short_name(bind->args[1].dtype));
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Whole days move a Date: what is left of a Duration beyond them is dropped (towards minus infinity). */
static nk_status date_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	const nk_arith_plan *plan = call->data;
	int date = args[0]->dtype->id == NK_TYPE_DATE ? 0 : 1;
	const int32_t *days = args[date]->values;
	const int64_t *durations = args[1 - date]->values;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I32, n_rows, false, &result, err));
	int32_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t duration = durations[nk_array_index(args[1 - date], i)];
		duration = plan->op == NK_SUB ? (int64_t)(0 - (uint64_t)duration) : duration;
		to[i] = (int32_t)((uint32_t)days[nk_array_index(args[date], i)] +
		                  (uint32_t)floor_divide(duration, plan->units_per_day));
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* Duration by a float, computed in the float's own width and truncated; null where no duration comes of it. */
static nk_status scale_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const nk_arith_plan *plan = call->data;
	int duration = args[0]->dtype->id == NK_TYPE_DURATION ? 0 : 1;
	const int64_t *durations = args[duration]->values;
	const nk_array *factors = args[1 - duration];
	bool narrow = factors->physical == NK_PHYSICAL_F32;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, true, &result, err));
	result->n_nulls = -1;
	int64_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t at = nk_array_index(factors, i), ticks = durations[nk_array_index(args[duration], i)];
		double value;
		if (narrow) {
			float a = (float)ticks, b = ((const float *)factors->values)[at];
			value = (double)(plan->op == NK_MUL ? a * b : a / b);
		} else {
			double a = (double)ticks, b = ((const double *)factors->values)[at];
			value = plan->op == NK_MUL ? a * b : a / b;
		}
		bool fits = value >= -0x1p63 && value < 0x1p63;
		to[i] = fits ? (int64_t)value : 0;
		if (!fits)
			nk_bitmap_clear(nk_array_validity(result), i);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status ratio_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const int64_t *left = args[0]->values, *right = args[1]->values;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_F64, n_rows, false, &result, err));
	double *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = (double)left[nk_array_index(args[0], i)] / (double)right[nk_array_index(args[1], i)];
	*out = NK_STEAL(result);
	return NK_OK;
}

static bool is_point(const nk_dtype *dtype)
{
	return dtype->id == NK_TYPE_DATE || dtype->id == NK_TYPE_DATETIME;
}

static nk_status bind_date(nk_bind *bind, nk_arith_plan *plan, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	if (plan->op == NK_SUB && right->id == NK_TYPE_DATE)
		return refuse(bind, plan->op, err);
	const nk_dtype *duration = left->id == NK_TYPE_DURATION ? left : right;
	plan->units_per_day = 86400 * nk_unit_per_second(duration->unit);
	bind->dtype = nk_dtype_of(NK_TYPE_DATE);
	bind->kernel = date_kernel;
	return NK_OK;
}

static nk_status bind_difference(nk_bind *bind, nk_arith_plan *plan, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	const nk_dtype *meet = nk_supertype(left, right);
	if (!meet)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "failed to determine supertype of %s and %s",
		               nk_dtype_short_name(left), nk_dtype_short_name(right));
	if (meet->id == NK_TYPE_DATE)
		meet = nk_dtype_datetime(NK_UNIT_US, NULL);
	bind->casts[0] = bind->casts[1] = meet;
	bind->dtype = nk_dtype_duration(meet->unit);
	bind->kernel = nk__arith_kernel;
	(void)plan;
	return NK_OK;
}

/* Datetime with Duration, Duration with Duration. */
static nk_status bind_shift(nk_bind *bind, nk_arith_plan *plan, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	bool left_is_duration = left->id == NK_TYPE_DURATION, right_is_duration = right->id == NK_TYPE_DURATION;
	if ((plan->op == NK_SUB && !right_is_duration) || (!left_is_duration && !right_is_duration))
		return refuse(bind, plan->op, err);
	nk_time_unit unit = NK_MIN(left->unit, right->unit);
	bind->casts[0] = left_is_duration ? nk_dtype_duration(unit) : nk_dtype_datetime(unit, left->time_zone);
	bind->casts[1] = right_is_duration ? nk_dtype_duration(unit) : nk_dtype_datetime(unit, right->time_zone);
	bind->dtype = left_is_duration ? bind->casts[1] : bind->casts[0];
	bind->kernel = nk__arith_kernel;
	return NK_OK;
}

static nk_status bind_scale(nk_bind *bind, nk_arith_plan *plan, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	if (left->id == NK_TYPE_DURATION && right->id == NK_TYPE_DURATION) {
		if (plan->op != NK_DIV)
			return refuse(bind, plan->op, err);
		nk_time_unit unit = NK_MAX(left->unit, right->unit); /* a ratio loses nothing */
		bind->casts[0] = bind->casts[1] = nk_dtype_duration(unit);
		bind->dtype = nk_dtype_of(NK_TYPE_FLOAT64);
		bind->kernel = ratio_kernel;
		return NK_OK;
	}
	int number = left->id == NK_TYPE_DURATION ? 1 : 0;
	const nk_dtype *duration = number ? left : right, *factor = number ? right : left;
	bool is_integer = nk_type_is_integer(factor->id), is_float = nk_type_is_float(factor->id);
	if (duration->id != NK_TYPE_DURATION || !(is_integer || is_float) || (plan->op == NK_DIV && number == 0))
		return refuse(bind, plan->op, err);
	bind->casts[number] = is_integer ? nk_dtype_of(NK_TYPE_INT64) : factor;
	bind->cast_is_lossy = true;
	bind->dtype = duration;
	bind->kernel = is_integer ? nk__arith_kernel : scale_kernel;
	if (is_integer && plan->op == NK_DIV)
		plan->op = NK_FLOORDIV;
	return NK_OK;
}

nk_status nk__bind_temporal_arith(nk_bind *bind, nk_arith_op op, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	nk_arith_plan *plan;
	NK_TRY(nk__arith_plan(bind, op, &plan, err));
	if (op == NK_MUL || op == NK_DIV)
		return bind_scale(bind, plan, err);
	if (op != NK_ADD && op != NK_SUB)
		return refuse(bind, op, err);
	if (op == NK_SUB && is_point(left) && is_point(right))
		return bind_difference(bind, plan, err);
	if (op == NK_SUB && left->id == NK_TYPE_TIME && right->id == NK_TYPE_TIME) {
		bind->dtype = nk_dtype_duration(NK_UNIT_NS);
		bind->kernel = nk__arith_kernel;
		return NK_OK;
	}
	bool moves = (is_point(left) || left->id == NK_TYPE_DURATION) &&
	             (is_point(right) || right->id == NK_TYPE_DURATION);
	if (!moves)
		return refuse(bind, op, err);
	if (left->id == NK_TYPE_DATE || right->id == NK_TYPE_DATE) {
		bool has_duration = left->id == NK_TYPE_DURATION || right->id == NK_TYPE_DURATION;
		return has_duration ? bind_date(bind, plan, err) : refuse(bind, op, err);
	}
	return bind_shift(bind, plan, err);
}
