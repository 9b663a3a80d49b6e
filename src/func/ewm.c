/* Exponentially weighted mean, variance and standard deviation, from row to row within a group. A null gives
 * null; unless nulls are ignored it still makes what came before weigh less. */
#include <math.h>

#include "func/ordered.h"
#include "func/words.h"

typedef enum ewm_kind { EWM_MEAN, EWM_VAR, EWM_STD } ewm_kind;

typedef struct ewm_settings {
	ewm_kind kind;
	double alpha;
	bool adjust, ignore_nulls, bias;
	int64_t min_samples;
} ewm_settings;

static inline float root_f32(float value) { return sqrtf(value); }
static inline double root_f64(double value) { return sqrt(value); }

#define T float
#define SUFFIX f32
#include "func/ewm_tmpl.h"
#define T double
#define SUFFIX f64
#include "func/ewm_tmpl.h"

static nk_status ewm(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                     nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, array->physical, array->n_rows, true, &result, err));
	const uint8_t *validity = nk__may_have_nulls(array) ? array->validity : NULL;
	for (int64_t g = 0; g < n_groups; g++)
		if (array->physical == NK_PHYSICAL_F32)
			moments_f32(nk_array_values(result), nk_array_validity(result), array->values, validity,
			            offsets[g], offsets[g + 1], call->data);
		else
			moments_f64(nk_array_values(result), nk_array_validity(result), array->values, validity,
			            offsets[g], offsets[g + 1], call->data);
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_ewm(nk_bind *bind, ewm_kind kind, nk_error *err)
{
	nk_type_id id = bind->args[0].dtype->id;
	if (nk_type_is_nested(id) || id == NK_TYPE_BINARY || (kind != EWM_MEAN && id == NK_TYPE_DURATION))
		return nk__refuse_dtype(bind, err);
	ewm_settings *s;
	NK_TRY(NK_ARENA_NEW(bind->arena, &s, 1, err));
	*s = (ewm_settings){.kind = kind,
	                    .alpha = bind->options[0].floating,
	                    .adjust = bind->options[1].boolean,
	                    .min_samples = bind->options[2].integer,
	                    .ignore_nulls = bind->options[3].boolean,
	                    .bias = kind != EWM_MEAN && bind->options[4].boolean};
	if (!(s->alpha > 0 && s->alpha <= 1))
		return nk_fail(err, NK_VALUE, "require 0 < `alpha` <= 1 (found %g)", s->alpha);
	if (s->min_samples < 0)
		return nk_fail(err, NK_OVERFLOW, "`min_samples` must not be negative");
	bind->dtype = bind->casts[0] = nk_dtype_of(id == NK_TYPE_FLOAT32 ? id : NK_TYPE_FLOAT64);
	bind->cast_is_lossy = true;
	bind->data = s;
	bind->segmented = ewm;
	return NK_OK;
}

static nk_status bind_ewm_mean(nk_bind *bind, nk_error *err) { return bind_ewm(bind, EWM_MEAN, err); }
static nk_status bind_ewm_var(nk_bind *bind, nk_error *err) { return bind_ewm(bind, EWM_VAR, err); }
static nk_status bind_ewm_std(nk_bind *bind, nk_error *err) { return bind_ewm(bind, EWM_STD, err); }

static const nk_option_spec mean_options[] = {
	{"alpha", {.kind = NK_OPTION_FLOAT, .floating = 0.5}},
	{"adjust", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{"min_samples", {.kind = NK_OPTION_INT, .integer = 1}},
	{"ignore_nulls", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec spread_options[] = {
	{"alpha", {.kind = NK_OPTION_FLOAT, .floating = 0.5}},
	{"adjust", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{"min_samples", {.kind = NK_OPTION_INT, .integer = 1}},
	{"ignore_nulls", {.kind = NK_OPTION_BOOL}},
	{"bias", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_ewm[] = {
	{
		.name = "ewm_mean",
		.args = "x",
		.doc = "Mean with weights that fall by 1 - alpha from row to row: Float64, or Float32 of Float32.",
		.example = "ewm_mean([1.0, 2.0, null]) == [1.0, 1.6666666666666665, null]",
		.options = mean_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_ewm_mean,
	},
	{
		.name = "ewm_std",
		.args = "x",
		.doc = "Standard deviation with weights that fall by 1 - alpha from row to row; null where the "
			   "weights allow none.",
		.example = "ewm_std([1.0, 3.0], bias=true) == [0.0, 0.9428090415820634]",
		.options = spread_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_ewm_std,
	},
	{
		.name = "ewm_var",
		.args = "x",
		.doc = "Variance with weights that fall by 1 - alpha from row to row; null where the weights allow "
			   "none.",
		.example = "ewm_var([1.0, 3.0]) == [null, 2.0]",
		.options = spread_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_ewm_var,
	},
	{0},
};
