/* Durations and instants as numbers of a unit: total_days and its like, timestamp, cast_time_unit. */
#include "func/temporal.h"

#include "compute/calendar.h"
#include "compute/calendar_step.h"
#include "func/cast.h"

/* ---- Totals ---- */

typedef struct total_plan {
	int64_t factor; /* of what is finer than ticks; 1 otherwise */
	nk_divider by;  /* of what is coarser */
	double per_unit;
} total_plan;

static nk_status total_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const total_plan *plan = call->data;
	const int64_t *from = args[0]->values;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, false, &result, err));
	int64_t *to = nk_array_values(result), factor = plan->factor;
	const nk_divider by = plan->by;
	if (factor > 1) {
		for (int64_t i = 0; i < n_rows; i++)
			to[i] = (int64_t)((uint64_t)from[i] * (uint64_t)factor);
	} else {
		for (int64_t i = 0; i < n_rows; i++)
			to[i] = nk_divider_truncate(&by, from[i]);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status fraction_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	const total_plan *plan = call->data;
	const int64_t *from = args[0]->values;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_F64, n_rows, false, &result, err));
	double *to = nk_array_values(result), per_unit = plan->per_unit;
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = (double)from[i] / per_unit;
	*out = NK_STEAL(result);
	return NK_OK;
}

/* nanoseconds: of the unit that is counted. */
static nk_status bind_total(nk_bind *bind, int64_t nanoseconds, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (dtype->id != NK_TYPE_DURATION)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `Duration`, got `%s` (in %s)",
		               nk_dtype_short_name(dtype), bind->func->name);
	total_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	int64_t tick = NK_NANOSECONDS_PER_SECOND / nk_unit_per_second(dtype->unit);
	bool is_finer = nanoseconds < tick;
	plan->factor = is_finer ? tick / nanoseconds : 1;
	plan->by = nk_divider_make(is_finer ? 1 : nanoseconds / tick);
	plan->per_unit = (double)nanoseconds / (double)tick;
	bool fractional = bind->options[0].boolean;
	bind->data = plan;
	bind->dtype = nk_dtype_of(fractional ? NK_TYPE_FLOAT64 : NK_TYPE_INT64);
	bind->kernel = fractional ? fraction_kernel : total_kernel;
	return NK_OK;
}

static nk_status bind_days(nk_bind *bind, nk_error *err) { return bind_total(bind, 86400000000000, err); }
static nk_status bind_hours(nk_bind *bind, nk_error *err) { return bind_total(bind, 3600000000000, err); }
static nk_status bind_minutes(nk_bind *bind, nk_error *err) { return bind_total(bind, 60000000000, err); }
static nk_status bind_seconds(nk_bind *bind, nk_error *err) { return bind_total(bind, 1000000000, err); }
static nk_status bind_milliseconds(nk_bind *bind, nk_error *err) { return bind_total(bind, 1000000, err); }
static nk_status bind_microseconds(nk_bind *bind, nk_error *err) { return bind_total(bind, 1000, err); }
static nk_status bind_nanoseconds(nk_bind *bind, nk_error *err) { return bind_total(bind, 1, err); }

/* ---- Units ---- */

nk_status nk__time_unit_of(const nk_bind *bind, const char *text, nk_time_unit *out, nk_error *err)
{
	static const char *const names[] = {"ms", "us", "ns"};
	for (int i = 0; i < NK_COUNT(names) && text; i++)
		if (strcmp(text, names[i]) == 0) {
			*out = (nk_time_unit)i;
			return NK_OK;
		}
	return nk_fail(err, NK_VALUE, "`time_unit` must be one of {'ns', 'us', 'ms'}, got %s (in %s)",
	               text ? text : "none", bind->func->name);
}

static nk_status cast_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)n_rows;
	return nk_cast(call->memory, args[0], call->dtype, (nk_cast_mode){.strict = true}, out, err);
}

static nk_status bind_cast_time_unit(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	nk_time_unit unit;
	NK_TRY(nk__time_unit_of(bind, bind->options[0].string, &unit, err));
	if (dtype->id != NK_TYPE_DATETIME && dtype->id != NK_TYPE_DURATION)
		return nk_fail(err, NK_COMPUTE, "expected duration or datetime, got %s", nk_dtype_short_name(dtype));
	bind->dtype =
		dtype->id == NK_TYPE_DATETIME ? nk_dtype_datetime(unit, dtype->time_zone) : nk_dtype_duration(unit);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->kernel = cast_kernel;
	bind->fallible = !nk_cast_is_total(dtype, bind->dtype);
	return NK_OK;
}

static nk_status retype_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	return nk_array_retype(args[0], call->dtype, out, err);
}

/* Instants beyond the unit's range become null. */
static nk_status bind_timestamp(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	nk_time_unit unit;
	NK_TRY(nk__time_unit_of(bind, bind->options[0].string, &unit, err));
	if (dtype->id != NK_TYPE_DATE && dtype->id != NK_TYPE_DATETIME && !nk_type_is_integer(dtype->id) &&
	    dtype->id != NK_TYPE_NULL)
		return nk__refuse_temporal(bind, "", err);
	bind->casts[0] = nk_dtype_datetime(unit, dtype->time_zone);
	if (!bind->casts[0])
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->cast_is_lossy = true;
	bind->dtype = nk_dtype_of(NK_TYPE_INT64);
	bind->kernel = retype_kernel;
	return NK_OK;
}

static const nk_option_spec fractional_options[] = {
	{"fractional", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec unit_options[] = {
	{"time_unit", {.kind = NK_OPTION_STRING, .string = "us"}},
	{0},
};

const nk_func nk__funcs_temporal_unit[] = {
	{
		.name = "dt.cast_time_unit",
		.args = "x",
		.doc = "A Datetime or Duration in another unit, 'ms', 'us' or 'ns': a Datetime is rounded down, a "
			   "Duration towards "
			   "zero. Values beyond the unit's range fail with InvalidOperationError.",
		.example = "dt.cast_time_unit(Datetime(us) [-1, null], time_unit='ms') == Datetime(ms) [-1, null]",
		.options = unit_options,
		.min_args = 1,
		.max_args = 1,
		.fallible = true,
		.bind = bind_cast_time_unit,
	},
	{
		.name = "dt.timestamp",
		.args = "x",
		.doc = "How many units ('ms', 'us' or 'ns') a Date or Datetime lies after 1970, as Int64; null "
			   "beyond its range.",
		.example = "dt.timestamp(Date [1, null], time_unit='ms') == [86400000, null]",
		.options = unit_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_timestamp,
	},
	{
		.name = "dt.total_days",
		.args = "x",
		.doc = "A Duration in whole days, rounded towards zero, as Int64; with `fractional` as Float64.",
		.example = "dt.total_days(Duration(ms) [90000000, null], fractional=false) == [1, null]",
		.options = fractional_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_days,
	},
	{
		.name = "dt.total_hours",
		.args = "x",
		.doc = "A Duration in whole hours, rounded towards zero, as Int64; with `fractional` as Float64.",
		.example = "dt.total_hours(Duration(ms) [5400000, null], fractional=true) == [1.5, null]",
		.options = fractional_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_hours,
	},
	{
		.name = "dt.total_microseconds",
		.args = "x",
		.doc =
			"A Duration in whole microseconds, rounded towards zero, as Int64; with `fractional` as Float64.",
		.example = "dt.total_microseconds(Duration(ms) [1, null]) == [1000, null]",
		.options = fractional_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_microseconds,
	},
	{
		.name = "dt.total_milliseconds",
		.args = "x",
		.doc =
			"A Duration in whole milliseconds, rounded towards zero, as Int64; with `fractional` as Float64.",
		.example = "dt.total_milliseconds(Duration(ms) [1, null]) == [1, null]",
		.options = fractional_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_milliseconds,
	},
	{
		.name = "dt.total_minutes",
		.args = "x",
		.doc = "A Duration in whole minutes, rounded towards zero, as Int64; with `fractional` as Float64.",
		.example = "dt.total_minutes(Duration(ms) [-90000, null]) == [-1, null]",
		.options = fractional_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_minutes,
	},
	{
		.name = "dt.total_nanoseconds",
		.args = "x",
		.doc =
			"A Duration in whole nanoseconds, rounded towards zero, as Int64; with `fractional` as Float64.",
		.example = "dt.total_nanoseconds(Duration(ms) [1, null]) == [1000000, null]",
		.options = fractional_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_nanoseconds,
	},
	{
		.name = "dt.total_seconds",
		.args = "x",
		.doc = "A Duration in whole seconds, rounded towards zero, as Int64; with `fractional` as Float64.",
		.example = "dt.total_seconds(Duration(ms) [-1500, null]) == [-1, null]",
		.options = fractional_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_seconds,
	},
	{0},
};
