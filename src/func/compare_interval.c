/* A Decimal beside a float compares as a float. The conversion v / 10^scale is monotone, so that the rows which hold
 * are those whose unscaled value lies in an interval: its ends are searched for once, by bisection over the very
 * conversion that a cast would do, and batches are compared as integers. */
#include "func/compare_interval.h"

#include <math.h>

/* low <= v < high; ends at -+10^38 are no bounds at all. */
typedef struct interval {
	__int128 low, high;
	bool negated;
} interval;

static __int128 limit(void) { return nk_power_of_ten(38); }

/* The least v that as a float is at least `value`, or above it when `strictly`; the limit when there is none. */
static __int128 least(double value, double unit, bool strictly)
{
	__int128 low = -limit(), high = limit();
	while (low < high) {
		__int128 middle = low + (__int128)(((unsigned __int128)high - (unsigned __int128)low) / 2);
		double number = (double)middle / unit;
		if (strictly ? number > value : number >= value)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static interval interval_of(nk_compare_op op, double value, int scale)
{
	double unit = pow(10, scale);
	interval all = {-limit(), limit(), op == NK_NE};
	if (op == NK_EQ || op == NK_NE || op == NK_GE)
		all.low = least(value, unit, false);
	else if (op == NK_GT)
		all.low = least(value, unit, true);
	if (op == NK_EQ || op == NK_NE || op == NK_LE)
		all.high = least(value, unit, true);
	else if (op == NK_LT)
		all.high = least(value, unit, false);
	return all;
}

/* ANDs v op bound into bits, which hold all rows before the first one. */
static nk_status narrow_by(const nk_call *call, nk_compare_op op, __int128 bound, const nk_array *values,
                           int64_t n_rows, uint8_t *bits, bool *is_first, nk_error *err)
{
	NK_AUTO(nk_array) one = NULL;
	NK_AUTO(nk_array) constant = NULL;
	NK_AUTO(nk_buffer) room = NULL;
	NK_TRY(nk_array_alloc(call->memory, values->dtype, values->physical, 1, false, &one, err));
	if (values->physical == NK_PHYSICAL_I64)
		*(int64_t *)nk_array_values(one) = (int64_t)bound;
	else
		*(__int128 *)nk_array_values(one) = bound;
	NK_TRY(nk_array_new_constant(call->memory, one, n_rows, &constant, err));
	if (*is_first) {
		nk_compare(op, values, constant, n_rows, bits);
		*is_first = false;
		return NK_OK;
	}
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &room, err));
	nk_compare(op, values, constant, n_rows, room->bytes);
	for (int64_t i = 0; i < nk_bitmap_bytes(n_rows); i++)
		bits[i] &= room->bytes[i];
	return NK_OK;
}

/* data: the interval and which argument is the column. */
typedef struct interval_plan {
	interval rows;
	int column;
} interval_plan;

static nk_status interval_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	const interval_plan *plan = call->data;
	const nk_array *values = args[plan->column];
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	uint8_t *bits = nk_array_values(result);
	bool is_narrow = values->physical == NK_PHYSICAL_I64, is_first = true;
	__int128 least_value = is_narrow ? INT64_MIN : -limit(),
			 bound = is_narrow ? (__int128)INT64_MAX + 1 : limit();
	__int128 low = plan->rows.low, high = plan->rows.high;
	if (low >= high || low >= bound || high <= least_value) {
		nk_bitmap_fill(bits, 0, n_rows, plan->rows.negated);
		*out = NK_STEAL(result);
		return NK_OK;
	}
	if (low > least_value)
		NK_TRY(narrow_by(call, NK_GE, low, values, n_rows, bits, &is_first, err));
	if (high < bound)
		NK_TRY(narrow_by(call, NK_LT, high, values, n_rows, bits, &is_first, err));
	if (is_first)
		nk_bitmap_fill(bits, 0, n_rows, true);
	for (int64_t i = 0; plan->rows.negated && i < n_rows; i++)
		nk_bitmap_put(bits, i, !nk_bitmap_get(bits, i));
	*out = NK_STEAL(result);
	return NK_OK;
}

static bool is_float_literal(const nk_argument *arg)
{
	return nk_type_is_float(arg->dtype->id) && arg->literal && !arg->literal->is_null;
}

static nk_status finish(nk_bind *bind, int column, interval rows, nk_error *err)
{
	interval_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (interval_plan){rows, column};
	bind->data = plan;
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->kernel = interval_kernel;
	return NK_OK;
}

bool nk__bind_interval(nk_bind *bind, nk_compare_op op, nk_status *status, nk_error *err)
{
	static const nk_compare_op mirrored[NK_COMPARE_N] = {NK_EQ, NK_NE, NK_GT, NK_GE, NK_LT, NK_LE};
	int column = bind->args[0].dtype->id == NK_TYPE_DECIMAL ? 0 : 1;
	const nk_argument *literal = &bind->args[1 - column];
	if (bind->args[column].dtype->id != NK_TYPE_DECIMAL || bind->args[column].literal ||
	    !is_float_literal(literal))
		return false;
	interval rows = interval_of(column == 0 ? op : mirrored[op], literal->literal->floating,
	                            bind->args[column].dtype->scale);
	*status = finish(bind, column, rows, err);
	return true;
}

bool nk__bind_interval_between(nk_bind *bind, nk_compare_op op_low, nk_compare_op op_high, nk_status *status,
                               nk_error *err)
{
	const nk_argument *args = bind->args;
	if (args[0].dtype->id != NK_TYPE_DECIMAL || args[0].literal || !is_float_literal(&args[1]) ||
	    !is_float_literal(&args[2]))
		return false;
	interval from = interval_of(op_low, args[1].literal->floating, args[0].dtype->scale);
	interval to = interval_of(op_high, args[2].literal->floating, args[0].dtype->scale);
	*status = finish(bind, 0, (interval){from.low, to.high, false}, err);
	return true;
}
