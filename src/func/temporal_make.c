/* Instants and durations made of parts: datetime, duration, dt.replace, dt.combine. */
#include "func/temporal.h"

#include "compute/calendar.h"
#include "func/cast.h"
#include "func/words.h"

enum { N_PARTS = 7, YEARS_MIN = -262143, YEARS_MAX = 262142 };

/* year, month, day, hour, minute, second, nanosecond */
typedef struct datetime_parts {
	int64_t of[N_PARTS];
} datetime_parts;

typedef struct make_plan {
	nk_localiser localiser; /* zone NULL: none is wanted */
	const nk_zone *from;    /* of dt.replace's argument */
	int64_t per_second;
	int n_given;        /* parts that are arguments; the others are 0 */
	bool has_ambiguous; /* the last argument says it */
} make_plan;

static nk_status check_parts(const datetime_parts *parts, nk_error *err)
{
	const int64_t *p = parts->of;
	if (p[0] < YEARS_MIN || p[0] > YEARS_MAX || p[1] < 1 || p[1] > 12 || p[2] < 1 ||
	    p[2] > nk_days_in_month(p[0], (int)p[1]))
		return nk_fail(err, NK_COMPUTE, "Invalid date components (%lld, %lld, %lld) supplied",
		               (long long)p[0], (long long)p[1], (long long)p[2]);
	if (p[3] < 0 || p[3] > 23 || p[4] < 0 || p[4] > 59 || p[5] < 0 || p[5] > 59 || p[6] < 0 ||
	    p[6] >= 2000000000)
		return nk_fail(err, NK_COMPUTE, "Invalid time components (%lld, %lld, %lld, %lld) supplied",
		               (long long)p[3], (long long)p[4], (long long)p[5], (long long)p[6]);
	return NK_OK;
}

static nk_status ticks_of_parts(const datetime_parts *parts, int64_t per_second, int64_t *out, nk_error *err)
{
	const int64_t *p = parts->of;
	NK_TRY(check_parts(parts, err));
	int64_t seconds =
		nk_days_of_civil(p[0], (int)p[1], (int)p[2]) * NK_SECONDS_PER_DAY + p[3] * 3600 + p[4] * 60 + p[5];
	int64_t fraction = p[6] / (NK_NANOSECONDS_PER_SECOND / per_second);
	if (__builtin_mul_overflow(seconds, per_second, out) || __builtin_add_overflow(*out, fraction, out))
		return nk_fail(err, NK_COMPUTE, "the year %lld is beyond the range of the time unit",
		               (long long)p[0]);
	return NK_OK;
}

/* A part of row i, in the dtype that it was cast to. Microseconds become nanoseconds in 32 bits, wrapping. */
static int64_t part_at(const nk_array *array, int part, int64_t i)
{
	int64_t at = nk_array_index(array, i);
	if (array->physical == NK_PHYSICAL_I8)
		return ((const int8_t *)array->values)[at];
	int32_t value = ((const int32_t *)array->values)[at];
	return part == N_PARTS - 1 ? (int32_t)((uint32_t)value * 1000u) : value;
}

/* A local time as the result has it. */
static nk_status put_instant(make_plan *plan, const nk_array *ambiguous, int64_t i, int64_t local,
                             int64_t *out, bool *is_null, nk_error *err)
{
	nk_ambiguous how = NK_AMBIGUOUS_RAISE;
	*is_null = false;
	*out = local;
	if (!plan->localiser.zone)
		return NK_OK;
	if (ambiguous) {
		*is_null = !nk_array_is_valid(ambiguous, i);
		if (*is_null)
			return NK_OK;
		NK_TRY(nk__ambiguous_of((const nk_view *)ambiguous->values + nk_array_index(ambiguous, i),
		                        ambiguous->heap, &how, err));
	}
	return nk__localise(&plan->localiser, local, how, false, out, is_null, err);
}

static nk_status bind_parts(nk_bind *bind, int first, nk_error *err)
{
	static const nk_type_id types[N_PARTS] = {NK_TYPE_INT32, NK_TYPE_INT8, NK_TYPE_INT8, NK_TYPE_INT8,
	                                          NK_TYPE_INT8,  NK_TYPE_INT8, NK_TYPE_INT32};
	for (int i = 0; i < N_PARTS && first + i < bind->n_args; i++) {
		bind->casts[first + i] = nk_dtype_of(types[i]);
		if (!nk_cast_exists(bind->args[first + i].dtype, bind->casts[first + i]))
			return nk_fail(err, NK_INVALID_OPERATION, "casting from %s to %s not supported (in %s)",
			               bind->args[first + i].dtype->text, bind->casts[first + i]->text, bind->func->name);
	}
	if (bind->n_args > first + N_PARTS && bind->args[first + N_PARTS].dtype->id != NK_TYPE_STRING)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `String`, got `%s` (in %s)",
		               nk_dtype_short_name(bind->args[first + N_PARTS].dtype), bind->func->name);
	bind->cast_is_lossy = true;
	return NK_OK;
}

static nk_status plan_for(nk_bind *bind, const nk_dtype *result, make_plan **out, nk_error *err)
{
	make_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (make_plan){.per_second = result->id == NK_TYPE_DATE ? 1 : nk_unit_per_second(result->unit)};
	plan->localiser.per_second = plan->per_second;
	plan->localiser.time_zone = result->time_zone;
	if (result->id == NK_TYPE_DATETIME)
		NK_TRY(nk__zone_of(result, &plan->localiser.zone, err));
	bind->data = *out = plan;
	bind->dtype = result;
	return NK_OK;
}

/* ---- datetime ---- */

static nk_status datetime_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	make_plan plan = *(const make_plan *)call->data;
	const nk_array *ambiguous = plan.has_ambiguous ? args[N_PARTS] : NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, true, &result, err));
	result->n_nulls = -1;
	int64_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		datetime_parts parts = {0};
		bool is_null = false;
		to[i] = 0;
		for (int p = 0; p < plan.n_given; p++) {
			is_null |= !nk_array_is_valid(args[p], i);
			parts.of[p] = is_null ? 0 : part_at(args[p], p, i);
		}
		if (!is_null) {
			int64_t local;
			NK_TRY(ticks_of_parts(&parts, plan.per_second, &local, err));
			NK_TRY(put_instant(&plan, ambiguous, i, local, &to[i], &is_null, err));
		}
		if (is_null)
			nk_bitmap_clear(nk_array_validity(result), i);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

enum { TIME_UNIT, TIME_ZONE };

static nk_status bind_datetime(nk_bind *bind, nk_error *err)
{
	nk_time_unit unit;
	make_plan *plan;
	NK_TRY(nk__time_unit_of(bind, bind->options[TIME_UNIT].string, &unit, err));
	const char *time_zone = bind->options[TIME_ZONE].string;
	const nk_zone *zone;
	if (time_zone)
		NK_TRY(nk_zone_find(time_zone, &zone, err));
	const nk_dtype *dtype = nk_dtype_datetime(unit, time_zone);
	if (!dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	NK_TRY(bind_parts(bind, 0, err));
	NK_TRY(plan_for(bind, dtype, &plan, err));
	plan->n_given = NK_MIN(bind->n_args, (int)N_PARTS);
	plan->has_ambiguous = bind->n_args > N_PARTS;
	bind->kernel = datetime_kernel;
	return NK_OK;
}

/* ---- replace ---- */

static datetime_parts parts_of_local(int64_t local, int64_t per_second)
{
	int64_t seconds = nk_floor_div(local, per_second), days = nk_floor_div(seconds, NK_SECONDS_PER_DAY);
	int64_t of_day = seconds - days * NK_SECONDS_PER_DAY;
	nk_civil civil = nk_civil_of_days(days);
	return (datetime_parts){{civil.year, civil.month, civil.day, of_day / 3600, of_day / 60 % 60, of_day % 60,
	                         nk_floor_mod(local, per_second) * (NK_NANOSECONDS_PER_SECOND / per_second)}};
}

static nk_status replace_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	make_plan plan = *(const make_plan *)call->data;
	bool is_date = call->dtype->id == NK_TYPE_DATE;
	const nk_array *ambiguous = plan.has_ambiguous ? args[1 + N_PARTS] : NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, true, &result, err));
	result->n_nulls = -1;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t at = nk_array_index(args[0], i), ticks = 0;
		bool is_null = !nk_array_is_valid(args[0], i);
		if (!is_null) {
			int64_t local, before = is_date ? ((const int32_t *)args[0]->values)[at] * NK_SECONDS_PER_DAY
			                                : ((const int64_t *)args[0]->values)[at];
			local = *nk__local_ticks(plan.from, plan.per_second, &before, 1, &local);
			datetime_parts parts = parts_of_local(local, plan.per_second);
			for (int p = 0; p < NK_MIN(plan.n_given, is_date ? 3 : (int)N_PARTS); p++)
				if (nk_array_is_valid(args[1 + p], i))
					parts.of[p] = part_at(args[1 + p], p, i);
			NK_TRY(ticks_of_parts(&parts, plan.per_second, &local, err));
			NK_TRY(put_instant(&plan, ambiguous, i, local, &ticks, &is_null, err));
		}
		if (is_null)
			nk_bitmap_clear(nk_array_validity(result), i);
		if (is_date)
			((int32_t *)nk_array_values(result))[i] = (int32_t)(ticks / NK_SECONDS_PER_DAY);
		else
			((int64_t *)nk_array_values(result))[i] = ticks;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_replace(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	make_plan *plan;
	if (dtype->id != NK_TYPE_DATE && dtype->id != NK_TYPE_DATETIME)
		return nk__refuse_temporal(bind, " (expected: date/datetime)", err);
	NK_TRY(bind_parts(bind, 1, err));
	NK_TRY(plan_for(bind, dtype, &plan, err));
	plan->from = plan->localiser.zone;
	plan->n_given = NK_MIN(bind->n_args - 1, (int)N_PARTS);
	plan->has_ambiguous = bind->n_args > 1 + N_PARTS;
	bind->kernel = replace_kernel;
	return NK_OK;
}

/* ---- combine ---- */

static nk_status combine_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	make_plan plan = *(const make_plan *)call->data;
	int64_t per_day = plan.per_second * NK_SECONDS_PER_DAY;
	const int32_t *dates = args[0]->values;
	const int64_t *times = args[1]->values;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, false, &result, err));
	int64_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		bool is_null = false;
		uint64_t date = (uint64_t)dates[nk_array_index(args[0], i)] * (uint64_t)per_day;
		int64_t local = (int64_t)(date + (uint64_t)times[nk_array_index(args[1], i)]);
		to[i] = 0;
		if (!call->validity || nk_bitmap_get(call->validity, i))
			NK_TRY(put_instant(&plan, NULL, i, local, &to[i], &is_null, err));
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_combine(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	nk_time_unit unit;
	make_plan *plan;
	NK_TRY(nk__time_unit_of(bind, bind->options[TIME_UNIT].string, &unit, err));
	if (dtype->id != NK_TYPE_DATE && dtype->id != NK_TYPE_DATETIME)
		return nk_fail(err, NK_COMPUTE, "expected Date or Datetime, got %s", nk_dtype_short_name(dtype));
	const nk_dtype *result = nk_dtype_datetime(unit, dtype->time_zone), *duration = nk_dtype_duration(unit);
	if (!result || !duration)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	if (!nk_cast_exists(bind->args[1].dtype, duration))
		return nk_fail(err, NK_INVALID_OPERATION, "casting from %s to %s not supported (in dt.combine)",
		               bind->args[1].dtype->text, duration->text);
	NK_TRY(plan_for(bind, result, &plan, err));
	bind->casts[0] = nk_dtype_of(NK_TYPE_DATE);
	bind->casts[1] = duration;
	bind->kernel = combine_kernel;
	bind->fallible = plan->localiser.zone != NULL;
	return NK_OK;
}

/* ---- duration ---- */

/* weeks, days, hours, minutes, seconds, milliseconds, microseconds, nanoseconds */
enum { N_SPANS = 8 };

typedef struct duration_plan {
	int n_given;
	int64_t factors[N_SPANS], divisors[N_SPANS];
} duration_plan;

/* Finest first; from the first float on the sum is one. */
static nk_status duration_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	const duration_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, true, &result, err));
	result->n_nulls = -1;
	int64_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t whole = 0;
		double real = 0;
		bool is_real = false;
		for (int a = plan->n_given - 1; a >= 0; a--) {
			int64_t at = nk_array_index(args[a], i);
			if (args[a]->physical == NK_PHYSICAL_F64) {
				double value = ((const double *)args[a]->values)[at];
				value = plan->divisors[a] > 1 ? (double)(int64_t)(value / (double)plan->divisors[a])
				                              : value * (double)plan->factors[a];
				real = (is_real ? real : (double)whole) + value;
				is_real = true;
			} else {
				int64_t value = ((const int64_t *)args[a]->values)[at] / plan->divisors[a];
				value = (int64_t)((uint64_t)value * (uint64_t)plan->factors[a]);
				if (is_real)
					real += (double)value;
				else
					whole = (int64_t)((uint64_t)whole + (uint64_t)value);
			}
		}
		if (is_real && !(real >= -0x1p63 && real < 0x1p63)) {
			nk_bitmap_clear(nk_array_validity(result), i);
			real = 0;
		}
		to[i] = is_real ? (int64_t)real : whole;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_duration(nk_bind *bind, nk_error *err)
{
	static const int64_t nanoseconds[N_SPANS] = {
		604800000000000, 86400000000000, 3600000000000, 60000000000, 1000000000, 1000000, 1000, 1,
	};
	nk_time_unit unit;
	duration_plan *plan;
	NK_TRY(nk__time_unit_of(bind, bind->options[0].string, &unit, err));
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	plan->n_given = bind->n_args;
	int64_t tick = NK_NANOSECONDS_PER_SECOND / nk_unit_per_second(unit);
	for (int i = 0; i < bind->n_args; i++) {
		const nk_dtype *dtype = bind->args[i].dtype;
		bool is_integer =
			nk_type_is_integer(dtype->id) || dtype->id == NK_TYPE_BOOLEAN || dtype->id == NK_TYPE_NULL;
		if (!is_integer && !nk_type_is_float(dtype->id))
			return nk_fail(err, NK_INVALID_OPERATION,
			               "expected integer or float dtype, (got %s) in input %d of duration",
			               nk_dtype_short_name(dtype), i);
		bind->casts[i] = nk_dtype_of(is_integer ? NK_TYPE_INT64 : NK_TYPE_FLOAT64);
		plan->factors[i] = nanoseconds[i] >= tick ? nanoseconds[i] / tick : 1;
		plan->divisors[i] = nanoseconds[i] >= tick ? 1 : tick / nanoseconds[i];
	}
	bind->cast_is_lossy = true;
	bind->data = plan;
	bind->dtype = nk_dtype_duration(unit);
	bind->kernel = duration_kernel;
	return NK_OK;
}

static const nk_option_spec datetime_options[] = {
	[TIME_UNIT] = {"time_unit", {.kind = NK_OPTION_STRING, .string = "us"}},
	[TIME_ZONE] = {"time_zone", {.kind = NK_OPTION_STRING}},
	{0},
};

static const nk_option_spec unit_options[] = {
	{"time_unit", {.kind = NK_OPTION_STRING, .string = "us"}},
	{0},
};

const nk_func nk__funcs_temporal_make[] = {
	{
		.name = "datetime",
		.args = "year, month, day, hour, minute, second, microsecond, ambiguous",
		.doc = "A Datetime of its parts, in local time when there is a time zone. Parts that make none fail "
			   "with "
			   "ComputeError; those that do not fit their width, or are null, give null.",
		.example = "datetime([1970, null], 1, 2, 3) == Datetime(us) [97200000000, null]",
		.options = datetime_options,
		.min_args = 3,
		.max_args = 1 + N_PARTS,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_datetime,
	},
	{
		.name = "dt.combine",
		.args = "x, time",
		.doc = "The date of a Date or Datetime with a time of day (or a Duration), as Datetime; in the zone "
			   "of the first.",
		.example = "dt.combine(Date [1, null], Time [1000, 0]) == Datetime(us) [86400000001, null]",
		.options = unit_options,
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = bind_combine,
	},
	{
		.name = "dt.replace",
		.args = "x, year, month, day, hour, minute, second, microsecond, ambiguous",
		.doc = "A Date or Datetime with some parts replaced; null leaves a part as it is. Parts that make no "
			   "date fail with "
			   "ComputeError.",
		.example = "dt.replace(Date [0, null], 1970, 1, [2, 2]) == Date [1, null]",
		.min_args = 1,
		.max_args = 2 + N_PARTS,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_replace,
	},
	{
		.name = "duration",
		.args = "weeks, days, hours, minutes, seconds, milliseconds, microseconds, nanoseconds",
		.doc = "A Duration of its parts, integers or floats; what is finer than the unit is rounded towards "
			   "zero.",
		.example = "duration(0, [1, null], 0, 0, 1.5, time_unit='ms') == Duration(ms) [86401500, null]",
		.options = unit_options,
		.min_args = 1,
		.max_args = N_SPANS,
		.bind = bind_duration,
	},
	{0},
};
