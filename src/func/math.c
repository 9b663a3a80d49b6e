/* Elementwise mathematics: roots, exponentials, logarithms, trigonometry, rounding. Numbers are computed as doubles
 * and come back as Float64, or as Float32 when they came so; integers and Decimals are rounded in their own dtype. */
#include <math.h>

#include "compute/decimal.h"
#include "func/cast.h"
#include "func/func.h"

static nk_status refuse(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", bind->func->name,
	               nk_dtype_short_name(bind->args[0].dtype));
}

/* ---- Functions of one float ---- */

typedef struct float_plan {
	double (*function)(double);
	double divisor; /* of the result: the logarithm of the base; 1: none */
} float_plan;

static nk_status float_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const float_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	nk_physical physical = call->dtype->physical;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_rows, false, &result, err));
	if (physical == NK_PHYSICAL_F32) {
		const float *from = args[0]->values;
		float *to = nk_array_values(result);
		for (int64_t i = 0; i < n_rows; i++)
			to[i] = (float)(plan->function((double)from[i]) / plan->divisor);
	} else {
		const double *from = args[0]->values;
		double *to = nk_array_values(result);
		for (int64_t i = 0; i < n_rows; i++)
			to[i] = plan->function(from[i]) / plan->divisor;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* Integers and floats; Booleans and Decimals as well; or whatever casts to a float, text included. */
typedef enum accepted { PLAIN, NUMBERS, ANYTHING } accepted;

static nk_status bind_float(nk_bind *bind, double (*function)(double), accepted accepts, double divisor,
                            nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	bool plain = nk_type_is_integer(dtype->id) || nk_type_is_float(dtype->id);
	bool number = plain || dtype->id == NK_TYPE_BOOLEAN || dtype->id == NK_TYPE_DECIMAL;
	bool any = nk_cast_exists(dtype, nk_dtype_of(NK_TYPE_FLOAT64));
	if (accepts == PLAIN ? !plain : accepts == NUMBERS ? !number : !any)
		return refuse(bind, err);
	bind->cast_is_lossy = true;
	float_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (float_plan){function, divisor};
	bind->dtype = bind->casts[0] = dtype->id == NK_TYPE_FLOAT32 ? dtype : nk_dtype_of(NK_TYPE_FLOAT64);
	bind->data = plan;
	bind->kernel = float_kernel;
	return NK_OK;
}

static double cotangent(double x) { return 1 / tan(x); }
static double to_degrees(double x) { return x * (180 / M_PI); }
static double to_radians(double x) { return x * (M_PI / 180); }

static nk_status bind_sqrt(nk_bind *bind, nk_error *err) { return bind_float(bind, sqrt, ANYTHING, 1, err); }
static nk_status bind_cbrt(nk_bind *bind, nk_error *err) { return bind_float(bind, cbrt, ANYTHING, 1, err); }
static nk_status bind_exp(nk_bind *bind, nk_error *err) { return bind_float(bind, exp, NUMBERS, 1, err); }
static nk_status bind_log10(nk_bind *bind, nk_error *err) { return bind_float(bind, log10, NUMBERS, 1, err); }
static nk_status bind_log1p(nk_bind *bind, nk_error *err) { return bind_float(bind, log1p, NUMBERS, 1, err); }
static nk_status bind_sin(nk_bind *bind, nk_error *err) { return bind_float(bind, sin, PLAIN, 1, err); }
static nk_status bind_cos(nk_bind *bind, nk_error *err) { return bind_float(bind, cos, PLAIN, 1, err); }
static nk_status bind_tan(nk_bind *bind, nk_error *err) { return bind_float(bind, tan, PLAIN, 1, err); }
static nk_status bind_cot(nk_bind *bind, nk_error *err) { return bind_float(bind, cotangent, PLAIN, 1, err); }
static nk_status bind_arcsin(nk_bind *bind, nk_error *err) { return bind_float(bind, asin, PLAIN, 1, err); }
static nk_status bind_arccos(nk_bind *bind, nk_error *err) { return bind_float(bind, acos, PLAIN, 1, err); }
static nk_status bind_arctan(nk_bind *bind, nk_error *err) { return bind_float(bind, atan, PLAIN, 1, err); }
static nk_status bind_sinh(nk_bind *bind, nk_error *err) { return bind_float(bind, sinh, PLAIN, 1, err); }
static nk_status bind_cosh(nk_bind *bind, nk_error *err) { return bind_float(bind, cosh, PLAIN, 1, err); }
static nk_status bind_tanh(nk_bind *bind, nk_error *err) { return bind_float(bind, tanh, PLAIN, 1, err); }
static nk_status bind_arcsinh(nk_bind *bind, nk_error *err) { return bind_float(bind, asinh, PLAIN, 1, err); }
static nk_status bind_arccosh(nk_bind *bind, nk_error *err) { return bind_float(bind, acosh, PLAIN, 1, err); }
static nk_status bind_arctanh(nk_bind *bind, nk_error *err) { return bind_float(bind, atanh, PLAIN, 1, err); }
static nk_status bind_degrees(nk_bind *bind, nk_error *err)
{
	return bind_float(bind, to_degrees, PLAIN, 1, err);
}
static nk_status bind_radians(nk_bind *bind, nk_error *err)
{
	return bind_float(bind, to_radians, PLAIN, 1, err);
}

static nk_status log_of_base_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                    nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	nk_physical physical = call->dtype->physical;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t at = nk_array_index(args[0], i), base = nk_array_index(args[1], i);
		if (physical == NK_PHYSICAL_F32)
			((float *)nk_array_values(result))[i] =
				(float)(log((double)((const float *)args[0]->values)[at]) /
			            log((double)((const float *)args[1]->values)[base]));
		else
			((double *)nk_array_values(result))[i] =
				log(((const double *)args[0]->values)[at]) / log(((const double *)args[1]->values)[base]);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* Bases 2, 10 and e have functions of their own, which are exact at powers. */
static nk_status bind_log(nk_bind *bind, nk_error *err)
{
	double base = bind->options[0].floating;
	if (bind->n_args == 2) {
		NK_TRY(bind_float(bind, log, NUMBERS, 1, err));
		if (!nk_type_is_numeric(bind->args[1].dtype->id) && bind->args[1].dtype->id != NK_TYPE_NULL)
			return refuse(bind, err);
		if (bind->args[1].dtype->id == NK_TYPE_FLOAT32 && nk_type_is_integer(bind->args[0].dtype->id))
			bind->dtype = bind->casts[0] = bind->args[1].dtype;
		bind->casts[1] = bind->dtype;
		bind->kernel = log_of_base_kernel;
		return NK_OK;
	}
	if (base == 2)
		return bind_float(bind, log2, NUMBERS, 1, err);
	if (base == 10)
		return bind_float(bind, log10, NUMBERS, 1, err);
	return bind_float(bind, log, NUMBERS, base == M_E ? 1 : log(base), err);
}

/* ---- Rounding ---- */

typedef struct round_plan {
	nk_rounding rounding;
	int decimals;
	double unit; /* 10^decimals */
} round_plan;

/* Ties are judged on the product with the power of ten, rounded as it is to a double. */
static double round_scaled(double value, double scaled, const round_plan *plan)
{
	double whole = trunc(scaled), rest = fabs(scaled - whole);
	if (!(fabs(scaled) < 0x1p52))
		return value;
	switch (plan->rounding) {
	case NK_ROUND_FLOOR: return floor(value);
	case NK_ROUND_CEIL: return ceil(value);
	case NK_ROUND_TO_ZERO: break;
	default: {
		bool up = rest == 0.5 ? plan->rounding == NK_ROUND_HALF_AWAY || fmod(whole, 2) != 0 : rest > 0.5;
		whole += up ? copysign(1, scaled) : 0;
	}
	}
	return whole == 0 ? copysign(0, value) : whole / plan->unit;
}

static nk_status round_floats_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                     nk_array **out, nk_error *err)
{
	const round_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i++)
		if (call->dtype->physical == NK_PHYSICAL_F32) {
			float value = ((const float *)args[0]->values)[i];
			((float *)nk_array_values(result))[i] =
				(float)round_scaled((double)value, (double)(value * (float)plan->unit), plan);
		} else {
			double value = ((const double *)args[0]->values)[i];
			((double *)nk_array_values(result))[i] = round_scaled(value, value * plan->unit, plan);
		}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status round_decimals_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                       nk_array **out, nk_error *err)
{
	const round_plan *plan = call->data;
	NK_AUTO(nk_array) wide = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_widen_decimal(call->memory, args[0], &wide, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I128, n_rows, false, &result, err));
	__int128 unit = nk_power_of_ten(call->dtype->scale - plan->decimals);
	__int128 *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = nk_decimal_divide(((const __int128 *)wide->values)[i], unit, plan->rounding) * unit;
	return nk_decimal_narrow(call->memory, call->dtype, NK_STEAL(result), out, err);
}

static nk_status same_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)call, (void)n_rows, (void)err;
	*out = nk_array_ref(args[0]);
	return NK_OK;
}

static nk_status bind_rounding(nk_bind *bind, nk_rounding rounding, int64_t decimals, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (!nk_type_is_numeric(dtype->id))
		return refuse(bind, err);
	round_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (round_plan){rounding, (int)(decimals > 400 ? 400 : decimals), pow(10, (double)decimals)};
	bind->data = plan;
	bind->dtype = dtype;
	if (nk_type_is_float(dtype->id)) {
		bind->kernel = round_floats_kernel;
	} else if (dtype->id == NK_TYPE_DECIMAL) {
		bind->dtype = nk_dtype_decimal(NK_MIN(dtype->precision + 1, 38), dtype->scale);
		bind->kernel = plan->decimals < dtype->scale ? round_decimals_kernel : same_kernel;
		bind->casts[0] = bind->dtype;
	} else {
		bind->kernel = same_kernel;
	}
	return NK_OK;
}

static nk_status bind_floor(nk_bind *bind, nk_error *err)
{
	return bind_rounding(bind, NK_ROUND_FLOOR, 0, err);
}
static nk_status bind_ceil(nk_bind *bind, nk_error *err)
{
	return bind_rounding(bind, NK_ROUND_CEIL, 0, err);
}

static nk_status bind_round(nk_bind *bind, nk_error *err)
{
	static const struct {
		const char *name;
		nk_rounding rounding;
	} modes[] = {
		{"half_to_even", NK_ROUND_HALF_EVEN},
		{"half_away_from_zero", NK_ROUND_HALF_AWAY},
		{"to_zero", NK_ROUND_TO_ZERO},
	};
	int64_t decimals = bind->options[0].integer;
	const char *mode = bind->options[1].string;
	if (decimals < 0)
		return nk_fail(err, NK_OVERFLOW, "`decimals` must not be negative, got %lld", (long long)decimals);
	for (int i = 0; i < NK_COUNT(modes); i++)
		if (strcmp(mode, modes[i].name) == 0)
			return bind_rounding(bind, modes[i].rounding, decimals, err);
	return nk_fail(err, NK_VALUE,
	               "`mode` must be one of {'half_to_even', 'half_away_from_zero', 'to_zero'}, got %s", mode);
}

static const nk_option_spec log_options[] = {
	{"base", {.kind = NK_OPTION_FLOAT, .floating = M_E}},
	{0},
};

static const nk_option_spec round_options[] = {
	{"decimals", {.kind = NK_OPTION_INT}},
	{"mode", {.kind = NK_OPTION_STRING, .string = "half_to_even"}},
	{0},
};

const nk_func nk__funcs_math[] = {
	{
		.name = "sqrt",
		.args = "x",
		.doc = "Square root; NaN of negative numbers.",
		.example = "sqrt([4.0, null]) == [2.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_sqrt,
	},
	{
		.name = "cbrt",
		.args = "x",
		.doc = "Cube root.",
		.example = "cbrt([8.0, null]) == [2.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_cbrt,
	},
	{
		.name = "exp",
		.args = "x",
		.doc = "e to the power of x.",
		.example = "exp([0.0, null]) == [1.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_exp,
	},
	{
		.name = "log",
		.args = "x, base",
		.doc = "Logarithm to a base, an option or an argument, e by default; in the float dtype of x.",
		.example = "log([1.0, null]) == [0.0, null]",
		.options = log_options,
		.min_args = 1,
		.max_args = 2,
		.bind = bind_log,
	},
	{
		.name = "log10",
		.args = "x",
		.doc = "Logarithm to the base 10.",
		.example = "log10([100.0, null]) == [2.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_log10,
	},
	{
		.name = "log1p",
		.args = "x",
		.doc = "Logarithm of 1 + x, exact near zero.",
		.example = "log1p([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_log1p,
	},
	{
		.name = "sin",
		.args = "x",
		.doc = "Sine.",
		.example = "sin([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_sin,
	},
	{
		.name = "cos",
		.args = "x",
		.doc = "Cosine.",
		.example = "cos([0.0, null]) == [1.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_cos,
	},
	{
		.name = "tan",
		.args = "x",
		.doc = "Tangent.",
		.example = "tan([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_tan,
	},
	{
		.name = "cot",
		.args = "x",
		.doc = "Cotangent.",
		.example = "cot([null]) == [null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_cot,
	},
	{
		.name = "arcsin",
		.args = "x",
		.doc = "Inverse sine.",
		.example = "arcsin([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_arcsin,
	},
	{
		.name = "arccos",
		.args = "x",
		.doc = "Inverse cosine.",
		.example = "arccos([1.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_arccos,
	},
	{
		.name = "arctan",
		.args = "x",
		.doc = "Inverse tangent.",
		.example = "arctan([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_arctan,
	},
	{
		.name = "sinh",
		.args = "x",
		.doc = "Hyperbolic sine.",
		.example = "sinh([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_sinh,
	},
	{
		.name = "cosh",
		.args = "x",
		.doc = "Hyperbolic cosine.",
		.example = "cosh([0.0, null]) == [1.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_cosh,
	},
	{
		.name = "tanh",
		.args = "x",
		.doc = "Hyperbolic tangent.",
		.example = "tanh([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_tanh,
	},
	{
		.name = "arcsinh",
		.args = "x",
		.doc = "Inverse hyperbolic sine.",
		.example = "arcsinh([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_arcsinh,
	},
	{
		.name = "arccosh",
		.args = "x",
		.doc = "Inverse hyperbolic cosine.",
		.example = "arccosh([1.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_arccosh,
	},
	{
		.name = "arctanh",
		.args = "x",
		.doc = "Inverse hyperbolic tangent.",
		.example = "arctanh([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_arctanh,
	},
	{
		.name = "degrees",
		.args = "x",
		.doc = "Radians to degrees.",
		.example = "degrees([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_degrees,
	},
	{
		.name = "radians",
		.args = "x",
		.doc = "Degrees to radians.",
		.example = "radians([0.0, null]) == [0.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_radians,
	},
	{
		.name = "floor",
		.args = "x",
		.doc = "The next whole number at or below x, in the same dtype.",
		.example = "floor([1.5, null]) == [1.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bends = true,
		.bind = bind_floor,
	},
	{
		.name = "ceil",
		.args = "x",
		.doc = "The next whole number at or above x, in the same dtype.",
		.example = "ceil([1.5, null]) == [2.0, null]",
		.min_args = 1,
		.max_args = 1,
		.bends = true,
		.bind = bind_ceil,
	},
	{
		.name = "round",
		.args = "x",
		.doc = "x rounded to a number of decimals; ties go to the even digit unless mode says otherwise.",
		.example = "round([2.5, null]) == [2.0, null]",
		.options = round_options,
		.min_args = 1,
		.max_args = 1,
		.bends = true,
		.bind = bind_round,
	},
	{0},
};
