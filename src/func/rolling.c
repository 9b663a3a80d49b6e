/* Statistics of windows of a fixed number of rows: rolling_sum, rolling_mean, ... The binder chooses the way
 * of computing; results are then given the dtype that Polars gives them (a mean of Dates is a Datetime). */
#include "func/rolling.h"

#include <stdlib.h>

#include "func/ordered.h"
#include "func/words.h"

typedef nk_rolling_plan plan;

/* Numbers that stand for a temporal mean, as the temporal dtype: whole units, cut towards zero. */
static nk_status to_temporal(const nk_call *call, const nk_dtype *input, const nk_array *numbers,
                             nk_array **out, nk_error *err)
{
	static const double us_per_day = 86400e6;
	NK_TRY(nk__alloc_like(call->memory, call->dtype, NK_PHYSICAL_I64, numbers, out, err));
	const double *from = numbers->values;
	int64_t *to = nk_array_values(*out);
	for (int64_t i = 0; i < numbers->n_rows; i++)
		to[i] = (int64_t)(input->id == NK_TYPE_DATE ? from[i] * us_per_day : from[i]);
	return NK_OK;
}

static nk_status narrow(const nk_call *call, const nk_array *numbers, nk_array **out, nk_error *err)
{
	NK_TRY(nk__alloc_like(call->memory, call->dtype, NK_PHYSICAL_F32, numbers, out, err));
	for (int64_t i = 0; i < numbers->n_rows; i++)
		((float *)nk_array_values(*out))[i] = (float)((const double *)numbers->values)[i];
	return NK_OK;
}

nk_status nk__rolling_run(const nk_call *call, const nk_rolling_plan *p, const nk_rolling *rolling,
                          const nk_array *array, int64_t n_groups, const int64_t *offsets, nk_array **out,
                          nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	if (array->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, array->n_rows, out, err);
	NK_TRY(nk_array_alloc(call->memory, p->computed, p->physical, array->n_rows, true, &result, err));
	NK_TRY(p->way(rolling, call->memory, array, n_groups, offsets, result, err));
	result->n_nulls = -1;
	if (p->computed == call->dtype) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	if (call->dtype->id == NK_TYPE_FLOAT32)
		return narrow(call, result, out, err);
	return to_temporal(call, rolling->input, result, out, err);
}

static nk_status roll(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                      nk_array **out, nk_error *err)
{
	const plan *p = call->data;
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	return nk__rolling_run(call, p, &p->rolling, array, n_groups, offsets, out, err);
}

/* Weights come as text, numbers separated by commas: one for each row of a window. */
static nk_status bind_weights(nk_bind *bind, plan *p, nk_error *err)
{
	int at = nk_func_option(bind->func, "weights");
	const char *text = at < 0 ? NULL : bind->options[at].string;
	if (!text)
		return NK_OK;
	if (p->rolling.kind == NK_ROLLING_QUANTILE)
		return nk_fail(err, NK_NOT_IMPLEMENTED, "`%s` takes no weights yet", bind->func->name);
	int64_t n = 0;
	double *weights;
	NK_TRY(NK_ARENA_NEW(bind->arena, &weights, (int64_t)strlen(text) + 1, err));
	while (*text) {
		char *end;
		weights[n++] = strtod(text, &end);
		if (end == text || (*end && *end != ','))
			return nk_fail(err, NK_VALUE, "weights of `%s` must be numbers separated by commas",
			               bind->func->name);
		text = *end ? end + 1 : end;
	}
	if (n != p->rolling.window_size)
		return nk_fail(err, NK_COMPUTE, "`%s` has %lld weights for a window of %lld rows", bind->func->name,
		               (long long)n, (long long)p->rolling.window_size);
	p->rolling.weights = weights;
	return NK_OK;
}

static nk_status bind_number(nk_bind *bind, plan *p, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	nk_type_id id = dtype->id;
	nk_rolling_kind kind = p->rolling.kind;
	bool is_number = nk_type_is_integer(id) || nk_type_is_float(id) || id == NK_TYPE_BOOLEAN;
	bool is_temporal =
		id == NK_TYPE_DATE || id == NK_TYPE_DATETIME || id == NK_TYPE_DURATION || id == NK_TYPE_TIME;
	const nk_dtype *float_dtype = nk_dtype_of(id == NK_TYPE_FLOAT32 ? id : NK_TYPE_FLOAT64);
	bool is_small = id == NK_TYPE_INT8 || id == NK_TYPE_INT16 || id == NK_TYPE_UINT8 || id == NK_TYPE_UINT16;
	switch (kind) {
	case NK_ROLLING_SUM:
		if (!is_number)
			return nk__refuse_dtype(bind, err);
		bind->dtype = is_small                ? nk_dtype_of(NK_TYPE_INT64)
		              : id == NK_TYPE_BOOLEAN ? nk_dtype_of(NK_TYPE_UINT32)
		                                      : dtype;
		p->way = nk__rolling_fold;
		break;
	case NK_ROLLING_MIN:
	case NK_ROLLING_MAX:
		if (!is_number && !is_temporal)
			return nk__refuse_dtype(bind, err);
		bind->dtype = dtype;
		p->way = nk__rolling_fold;
		break;
	case NK_ROLLING_SKEW:
	case NK_ROLLING_KURTOSIS:
		if (!is_number || id == NK_TYPE_BOOLEAN)
			return nk__refuse_dtype(bind, err);
		bind->dtype = float_dtype;
		p->way = nk__rolling_moments;
		break;
	default:
		if (nk_type_is_nested(id) || id == NK_TYPE_BINARY ||
		    ((kind == NK_ROLLING_VAR || kind == NK_ROLLING_STD) && id == NK_TYPE_DURATION))
			return nk__refuse_dtype(bind, err);
		bind->dtype = float_dtype;
		p->way = kind == NK_ROLLING_MEAN       ? nk__rolling_fold
		         : kind == NK_ROLLING_QUANTILE ? nk__rolling_quantiles
		                                       : nk__rolling_moments;
		break;
	}
	NK_TRY(bind_weights(bind, p, err));
	if (p->rolling.weights) {
		bind->dtype = float_dtype;
		p->way = nk__rolling_weighted;
	}
	/* Quantiles and weights are computed in doubles, whatever comes. */
	p->computed = bind->dtype;
	if (p->way == nk__rolling_quantiles || p->way == nk__rolling_weighted)
		p->computed = nk_dtype_of(NK_TYPE_FLOAT64);
	bind->casts[0] = p->computed;
	bind->cast_is_lossy = true;
	p->physical = p->computed->physical;
	if (is_temporal && (kind == NK_ROLLING_MEAN || kind == NK_ROLLING_QUANTILE))
		bind->dtype = id == NK_TYPE_DATE ? nk_dtype_datetime(NK_UNIT_US, NULL) : dtype;
	return NK_OK;
}

static int64_t option_integer(const nk_bind *bind, const char *name)
{
	return bind->options[nk_func_option(bind->func, name)].integer;
}

nk_status nk__rolling_bind(nk_bind *bind, nk_rolling_kind kind, nk_rolling_plan **out, nk_error *err)
{
	plan *p;
	NK_TRY(NK_ARENA_NEW(bind->arena, &p, 1, err));
	nk_rolling *r = &p->rolling;
	r->kind = kind;
	r->input = bind->args[0].dtype;
	r->min_samples = option_integer(bind, "min_samples");
	if (kind == NK_ROLLING_VAR || kind == NK_ROLLING_STD)
		r->ddof = option_integer(bind, "ddof");
	if (kind == NK_ROLLING_SKEW || kind == NK_ROLLING_KURTOSIS)
		r->bias = bind->options[nk_func_option(bind->func, "bias")].boolean;
	if (kind == NK_ROLLING_KURTOSIS)
		r->fisher = bind->options[nk_func_option(bind->func, "fisher")].boolean;
	if (kind == NK_ROLLING_QUANTILE) { /* without options it is the median */
		int at = nk_func_option(bind->func, "interpolation");
		const char *name = at < 0 ? "linear" : bind->options[at].string;
		r->quantile = at < 0 ? 0.5 : bind->options[nk_func_option(bind->func, "quantile")].floating;
		if (!nk_interpolation_parse(name, &r->interpolation))
			return nk_fail(
				err, NK_VALUE,
				"`interpolation` must be one of {'lower', 'higher', 'nearest', 'linear', 'midpoint', "
				"'equiprobable'}, got %s",
				name);
	}
	int at = nk_func_option(bind->func, "center");
	if (at >= 0) { /* windows of rows */
		r->center = bind->options[at].boolean;
		r->window_size = option_integer(bind, "window_size");
		if (r->window_size < 0)
			return nk_fail(err, NK_OVERFLOW, "can't convert negative int to unsigned");
		if (r->min_samples < 0)
			r->min_samples = r->window_size;
		if (r->min_samples > r->window_size)
			return nk_fail(err, NK_INVALID_OPERATION,
			               "`min_periods` (%lld) should be <= `window_size` (%lld)",
			               (long long)r->min_samples, (long long)r->window_size);
	}
	*out = p;
	return bind_number(bind, p, err);
}

static nk_status bind_rolling(nk_bind *bind, nk_rolling_kind kind, nk_error *err)
{
	plan *p;
	NK_TRY(nk__rolling_bind(bind, kind, &p, err));
	bind->data = p;
	bind->segmented = roll;
	return NK_OK;
}

static nk_status bind_sum(nk_bind *bind, nk_error *err) { return bind_rolling(bind, NK_ROLLING_SUM, err); }
static nk_status bind_mean(nk_bind *bind, nk_error *err) { return bind_rolling(bind, NK_ROLLING_MEAN, err); }
static nk_status bind_min(nk_bind *bind, nk_error *err) { return bind_rolling(bind, NK_ROLLING_MIN, err); }
static nk_status bind_max(nk_bind *bind, nk_error *err) { return bind_rolling(bind, NK_ROLLING_MAX, err); }
static nk_status bind_var(nk_bind *bind, nk_error *err) { return bind_rolling(bind, NK_ROLLING_VAR, err); }
static nk_status bind_std(nk_bind *bind, nk_error *err) { return bind_rolling(bind, NK_ROLLING_STD, err); }
static nk_status bind_skew(nk_bind *bind, nk_error *err) { return bind_rolling(bind, NK_ROLLING_SKEW, err); }
static nk_status bind_kurtosis(nk_bind *bind, nk_error *err)
{
	return bind_rolling(bind, NK_ROLLING_KURTOSIS, err);
}

static nk_status bind_quantile(nk_bind *bind, nk_error *err)
{
	return bind_rolling(bind, NK_ROLLING_QUANTILE, err);
}

#define WINDOW_OPTIONS                                           \
	{"window_size", {.kind = NK_OPTION_INT, .integer = 2}},      \
		{"min_samples", {.kind = NK_OPTION_INT, .integer = -1}}, \
	{                                                            \
		"center", { .kind = NK_OPTION_BOOL }                     \
	}

#define WEIGHTS                                 \
	{                                           \
		"weights", { .kind = NK_OPTION_STRING } \
	}

static const nk_option_spec window_options[] = {WINDOW_OPTIONS, WEIGHTS, {0}};
static const nk_option_spec spread_options[] = {
	WINDOW_OPTIONS, WEIGHTS, {"ddof", {.kind = NK_OPTION_INT, .integer = 1}}, {0}};
static const nk_option_spec skew_options[] = {
	WINDOW_OPTIONS, {"bias", {.kind = NK_OPTION_BOOL, .boolean = true}}, {0}};
static const nk_option_spec kurtosis_options[] = {WINDOW_OPTIONS,
                                                  {"fisher", {.kind = NK_OPTION_BOOL, .boolean = true}},
                                                  {"bias", {.kind = NK_OPTION_BOOL, .boolean = true}},
                                                  {0}};
static const nk_option_spec quantile_options[] = {
	WINDOW_OPTIONS,
	WEIGHTS,
	{"quantile", {.kind = NK_OPTION_FLOAT, .floating = 0.5}},
	{"interpolation", {.kind = NK_OPTION_STRING, .string = "nearest"}},
	{0}};

const nk_func nk__funcs_rolling[] = {
	{
		.name = "rolling_sum",
		.args = "x",
		.doc = "Sum of the last window_size values (around the row with center); null where fewer than "
			   "min_samples are there. 8 and 16-bit integers sum as Int64, Booleans as UInt32; weights, "
			   "a list, make it Float64.",
		.example = "rolling_sum([1, 2, null, 4], min_samples=1) == [1, 3, 2, 4]",
		.options = window_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_sum,
	},
	{
		.name = "rolling_mean",
		.args = "x",
		.doc = "Mean of a moving window: Float64, Float32 of Float32, temporal of temporal (Datetime of "
			   "Date).",
		.example = "rolling_mean([1, 2, 5]) == [null, 1.5, 3.5]",
		.options = window_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_mean,
	},
	{
		.name = "rolling_min",
		.args = "x",
		.doc = "Least value of a moving window; NaN where it has one.",
		.example = "rolling_min([3, 1, 2]) == [null, 1, 1]",
		.options = window_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_min,
	},
	{
		.name = "rolling_max",
		.args = "x",
		.doc = "Greatest value of a moving window; NaN where it has one.",
		.example = "rolling_max([3, 1, 2]) == [null, 3, 2]",
		.options = window_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_max,
	},
	{
		.name = "rolling_var",
		.args = "x",
		.doc = "Variance of a moving window with divisor n - ddof; null where that is not positive.",
		.example = "rolling_var([1, 3, 3]) == [null, 2.0, 0.0]",
		.options = spread_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_var,
	},
	{
		.name = "rolling_std",
		.args = "x",
		.doc = "Standard deviation of a moving window with divisor n - ddof; null where that is not "
			   "positive.",
		.example = "rolling_std([1, 1, 3], ddof=0) == [null, 0.0, 1.0]",
		.options = spread_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_std,
	},
	{
		.name = "rolling_median",
		.args = "x",
		.doc = "Median of a moving window: Float64, Float32 of Float32, temporal of temporal.",
		.example = "rolling_median([1, 3, 8]) == [null, 2.0, 5.5]",
		.options = window_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_quantile,
	},
	{
		.name = "rolling_quantile",
		.args = "x",
		.doc = "A quantile of a moving window: nearest, lower, higher, midpoint, linear or equiprobable.",
		.example = "rolling_quantile([1, 3, 8], quantile=0.0) == [null, 1.0, 3.0]",
		.options = quantile_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_quantile,
	},
	{
		.name = "rolling_skew",
		.args = "x",
		.doc = "Skewness of a moving window, biased or not.",
		.example = "rolling_skew([1, 2, 3], window_size=3) == [null, null, 0.0]",
		.options = skew_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_skew,
	},
	{
		.name = "rolling_kurtosis",
		.args = "x",
		.doc = "Kurtosis of a moving window, less 3 (fisher) or not, biased or not.",
		.example = "rolling_kurtosis([1, 2, 3, 2], window_size=2, fisher=false) == [null, 1.0, 1.0, 1.0]",
		.options = kurtosis_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_kurtosis,
	},
	{0},
};
