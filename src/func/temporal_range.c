/* Dates, datetimes and times from a start to an end, a step apart: one column (date_range) or a list a row
 * (date_ranges).
 *
 * A step that always counts the same number of ticks gives its values by multiplication. With months, or days in a time
 * zone, value i is the start moved by i steps, so that month ends do not drift. */
#include "func/temporal.h"

#include "compute/calendar.h"
#include "compute/calendar_step.h"
#include "func/cast.h"
#include "func/supertype.h"

typedef struct range_plan {
	nk_step step;
	int64_t ticks; /* of a constant step; 0: it is not constant */
	int64_t per_second;
	nk_localiser localiser;  /* zone NULL: none */
	bool has_start, has_end; /* whether the bounds themselves are in it */
	bool localises;          /* bounds are local times */
	bool is_date;
} range_plan;

static nk_status value_at(const range_plan *plan, int64_t start, int64_t i, int64_t *out, nk_error *err)
{
	if (plan->ticks) {
		bool overflows =
			__builtin_mul_overflow(plan->ticks, i, out) || __builtin_add_overflow(*out, start, out);
		*out = overflows ? INT64_MAX : *out;
		return NK_OK;
	}
	nk_step step = plan->step;
	step.months *= i;
	step.weeks *= i;
	step.days *= i;
	step.nanoseconds *= i;
	return nk__offset_ticks(&step, plan->localiser.zone, plan->localiser.time_zone, plan->per_second, start,
	                        out, err);
}

static bool is_before_end(const range_plan *plan, int64_t value, int64_t end)
{
	return plan->has_end ? value <= end : value < end;
}

static nk_status count_values(const range_plan *plan, int64_t start, int64_t end, int64_t *out, nk_error *err)
{
	int64_t first = plan->has_start ? 0 : 1, value;
	*out = 0;
	if (start > end)
		return NK_OK;
	if (plan->ticks) {
		uint64_t width = (uint64_t)end - (uint64_t)start, steps = width / (uint64_t)plan->ticks;
		bool is_met = width % (uint64_t)plan->ticks == 0;
		int64_t n = (int64_t)NK_MIN(steps, (uint64_t)INT64_MAX / 16) + 1 - (is_met && !plan->has_end) - first;
		*out = n > 0 ? n : 0;
		return NK_OK;
	}
	for (int64_t i = first;; i++) {
		NK_TRY(value_at(plan, start, i, &value, err));
		if (!is_before_end(plan, value, end))
			return NK_OK;
		++*out;
	}
}

static nk_status put_values(const range_plan *plan, int64_t start, int64_t n, void *to, int64_t at,
                            nk_error *err)
{
	int64_t first = plan->has_start ? 0 : 1, value;
	for (int64_t i = 0; i < n; i++) {
		NK_TRY(value_at(plan, start, first + i, &value, err));
		if (plan->is_date)
			((int32_t *)to)[at + i] = (int32_t)nk_floor_div(value, plan->per_second * NK_SECONDS_PER_DAY);
		else
			((int64_t *)to)[at + i] = value;
	}
	return NK_OK;
}

/* A bound as an instant in ticks. */
static nk_status bound_at(range_plan *plan, const nk_array *array, int64_t i, int64_t *out, nk_error *err)
{
	int64_t at = nk_array_index(array, i);
	bool is_null;
	if (plan->is_date) {
		*out = ((const int32_t *)array->values)[at] * plan->per_second * NK_SECONDS_PER_DAY;
		return NK_OK;
	}
	*out = ((const int64_t *)array->values)[at];
	if (!plan->localises)
		return NK_OK;
	return nk__localise(&plan->localiser, *out, NK_AMBIGUOUS_RAISE, false, out, &is_null, err);
}

/* ---- One column ---- */

static nk_status check_one(const nk_call *call, const nk_array *array, const char *name, nk_error *err)
{
	if (array->n_rows != 1)
		return nk_fail(err, NK_SHAPE, "non-scalar %s passed to `%s`", name, call->func->name);
	if (!nk_array_is_valid(array, 0))
		return nk_fail(err, NK_COMPUTE, "%s is an out-of-range time.", name);
	return NK_OK;
}

static nk_status range_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	range_plan plan = *(const range_plan *)call->data;
	int64_t start, end;
	NK_TRY(check_one(call, args[0], "start", err));
	NK_TRY(check_one(call, args[1], "end", err));
	NK_TRY(bound_at(&plan, args[0], 0, &start, err));
	NK_TRY(bound_at(&plan, args[1], 0, &end, err));
	NK_TRY(count_values(&plan, start, end, &n_rows, err));
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &result, err));
	NK_TRY(put_values(&plan, start, n_rows, nk_array_values(result), 0, err));
	*out = NK_STEAL(result);
	return NK_OK;
}

/* ---- A list a row ---- */

static nk_status ranges_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	range_plan plan = *(const range_plan *)call->data;
	const nk_dtype *item = call->dtype->fields[0].dtype;
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows), &validity, err));
	int64_t *ends = (int64_t *)offsets->bytes, start, end;
	ends[0] = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t n = 0;
		if (nk_array_is_valid(args[0], i) && nk_array_is_valid(args[1], i)) {
			nk_bitmap_set(validity->bytes, i);
			NK_TRY(bound_at(&plan, args[0], i, &start, err));
			NK_TRY(bound_at(&plan, args[1], i, &end, err));
			NK_TRY(count_values(&plan, start, end, &n, err));
		}
		if (__builtin_add_overflow(ends[i], n, &ends[i + 1]))
			return nk_fail(err, NK_OUT_OF_MEMORY, "ranges of that many values");
	}
	NK_TRY(nk_array_alloc(call->memory, item, item->physical, ends[n_rows], false, &items, err));
	for (int64_t i = 0; i < n_rows; i++) {
		if (ends[i] == ends[i + 1])
			continue;
		NK_TRY(bound_at(&plan, args[0], i, &start, err));
		NK_TRY(put_values(&plan, start, ends[i + 1] - ends[i], nk_array_values(items), ends[i], err));
	}
	return nk_array_new_list(call->dtype, n_rows, NK_STEAL(offsets), NK_STEAL(items), NK_STEAL(validity), -1,
	                         out, err);
}

/* ---- Binders ---- */

enum { INTERVAL, CLOSED, TIME_UNIT, TIME_ZONE };

static nk_status parse_closed(const char *text, range_plan *plan, nk_error *err)
{
	bool is_both = strcmp(text, "both") == 0, is_left = strcmp(text, "left") == 0,
		 is_right = strcmp(text, "right") == 0;
	if (!is_both && !is_left && !is_right && strcmp(text, "none") != 0)
		return nk_fail(err, NK_VALUE, "`closed` must be one of {'left', 'right', 'both', 'none'}, got %s",
		               text);
	plan->has_start = is_both || is_left;
	plan->has_end = is_both || is_right;
	return NK_OK;
}

/* What all of them share; item is the dtype of values, bounds that of the arguments. */
static nk_status bind_values(nk_bind *bind, const nk_dtype *item, const nk_dtype *bounds, bool is_list,
                             range_plan **out, nk_error *err)
{
	range_plan *plan;
	const char *interval = bind->options[INTERVAL].string;
	if (!item || !bounds)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (range_plan){.is_date = item->id == NK_TYPE_DATE};
	plan->per_second = plan->is_date ? 1000 : nk__ticks_per_second(item);
	NK_TRY(parse_closed(bind->options[CLOSED].string, plan, err));
	NK_TRY(nk_step_parse(interval, (int64_t)strlen(interval), &plan->step, err));
	const nk_step *step = &plan->step;
	if (step->is_negative || (!nk_step_has_days(step) && !step->nanoseconds))
		return nk_fail(err, NK_COMPUTE, "`interval` must be positive");
	int64_t per_day = plan->per_second * NK_SECONDS_PER_DAY;
	bool has_zone = item->id == NK_TYPE_DATETIME && item->time_zone && strcmp(item->time_zone, "UTC") != 0;
	if (!step->months && !(has_zone && (step->weeks || step->days))) {
		plan->ticks = nk_step_ticks(step, plan->per_second) + (step->weeks * 7 + step->days) * per_day;
		if (plan->ticks == 0)
			return nk_fail(err, NK_INVALID_OPERATION,
			               "interval %s is too small for the time unit and was rounded down to zero",
			               interval);
	}
	if (has_zone) {
		NK_TRY(nk__zone_of(item, &plan->localiser.zone, err));
		plan->localiser.per_second = plan->per_second;
		plan->localiser.time_zone = item->time_zone;
	}
	for (int i = 0; i < 2; i++) {
		bind->casts[i] = bounds;
		if (!nk_cast_exists(bind->args[i].dtype, bounds))
			return nk_fail(err, NK_INVALID_OPERATION, "casting from %s to %s not supported (in %s)",
			               bind->args[i].dtype->text, bounds->text, bind->func->name);
	}
	bind->data = *out = plan;
	bind->dtype = is_list ? nk_dtype_list(item) : item;
	bind->kernel = is_list ? ranges_kernel : range_kernel;
	return bind->dtype ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

static nk_status check_points(const nk_bind *bind, nk_error *err)
{
	for (int i = 0; i < 2; i++)
		if (bind->args[i].dtype->id != NK_TYPE_DATE && bind->args[i].dtype->id != NK_TYPE_DATETIME)
			return nk_fail(err, NK_COMPUTE, "'%s' must be Date or Datetime, got %s", i == 0 ? "start" : "end",
			               bind->args[i].dtype->text);
	return NK_OK;
}

static nk_status bind_dates(nk_bind *bind, bool is_list, nk_error *err)
{
	range_plan *plan;
	const nk_dtype *date = nk_dtype_of(NK_TYPE_DATE);
	NK_TRY(check_points(bind, err));
	NK_TRY(bind_values(bind, date, date, is_list, &plan, err));
	if (plan->step.nanoseconds)
		return nk_fail(err, NK_COMPUTE,
		               "`interval` input for `date_range` must consist of full days, got: %s",
		               bind->options[INTERVAL].string);
	return NK_OK;
}

static nk_status bind_datetimes(nk_bind *bind, bool is_list, nk_error *err)
{
	const char *unit_name = bind->options[TIME_UNIT].string, *time_zone = bind->options[TIME_ZONE].string;
	const nk_zone *zone;
	range_plan *plan;
	NK_TRY(check_points(bind, err));
	const nk_dtype *meet = nk_supertype(bind->args[0].dtype, bind->args[1].dtype);
	if (!meet)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "failed to determine supertype of %s and %s",
		               nk_dtype_short_name(bind->args[0].dtype), nk_dtype_short_name(bind->args[1].dtype));
	nk_time_unit unit = meet->id == NK_TYPE_DATE ? NK_UNIT_US : meet->unit;
	if (unit_name)
		NK_TRY(nk__time_unit_of(bind, unit_name, &unit, err));
	if (time_zone)
		NK_TRY(nk_zone_find(time_zone, &zone, err));
	const char *given = meet->id == NK_TYPE_DATETIME ? meet->time_zone : NULL;
	const nk_dtype *item = nk_dtype_datetime(unit, time_zone ? time_zone : given);
	NK_TRY(bind_values(bind, item, nk_dtype_datetime(unit, given), is_list, &plan, err));
	plan->localises = plan->localiser.zone && !given;
	return NK_OK;
}

static nk_status bind_times(nk_bind *bind, bool is_list, nk_error *err)
{
	range_plan *plan;
	const nk_dtype *time = nk_dtype_of(NK_TYPE_TIME);
	NK_TRY(bind_values(bind, time, time, is_list, &plan, err));
	if (!plan->ticks)
		return nk_fail(err, NK_COMPUTE, "`interval` input for `time_range` must be shorter than a month");
	return NK_OK;
}

static nk_status bind_date_range(nk_bind *bind, nk_error *err) { return bind_dates(bind, false, err); }
static nk_status bind_date_ranges(nk_bind *bind, nk_error *err) { return bind_dates(bind, true, err); }
static nk_status bind_datetime_range(nk_bind *bind, nk_error *err)
{
	return bind_datetimes(bind, false, err);
}
static nk_status bind_datetime_ranges(nk_bind *bind, nk_error *err)
{
	return bind_datetimes(bind, true, err);
}
static nk_status bind_time_range(nk_bind *bind, nk_error *err) { return bind_times(bind, false, err); }
static nk_status bind_time_ranges(nk_bind *bind, nk_error *err) { return bind_times(bind, true, err); }

static const nk_option_spec range_options[] = {
	[INTERVAL] = {"interval", {.kind = NK_OPTION_STRING, .string = "1d"}},
	[CLOSED] = {"closed", {.kind = NK_OPTION_STRING, .string = "both"}},
	{0},
};

static const nk_option_spec datetime_range_options[] = {
	[INTERVAL] = {"interval", {.kind = NK_OPTION_STRING, .string = "1d"}},
	[CLOSED] = {"closed", {.kind = NK_OPTION_STRING, .string = "both"}},
	[TIME_UNIT] = {"time_unit", {.kind = NK_OPTION_STRING}},
	[TIME_ZONE] = {"time_zone", {.kind = NK_OPTION_STRING}},
	{0},
};

const nk_func nk__funcs_temporal_range[] = {
	{
		.name = "date_range",
		.args = "start, end",
		.doc =
			"Dates from start to end, a step of whole days apart; both bounds are one value each, and in it "
			"as `closed` says ('both', 'left', 'right', 'none'). A step that is not positive, or less than a "
			"day, fails with ComputeError.",
		.example = "date_range(Date [0], Date [3], interval='2d') == Date [0, 2]",
		.options = range_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.unaligned = true,
		.bind = bind_date_range,
	},
	{
		.name = "date_ranges",
		.args = "start, end",
		.doc = "A list of dates a row; see date_range.",
		.example = "date_ranges(Date [0, null], Date [3, 4], interval='2d') == [[0, 2], null]",
		.options = range_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_date_ranges,
	},
	{
		.name = "datetime_range",
		.args = "start, end",
		.doc = "Datetimes from start to end, a step apart; see date_range. Bounds without a zone are local "
			   "times of the time zone.",
		.example = "datetime_range(Date [0], Date [1], interval='12h', time_unit='ms') == Datetime(ms) [0, "
				   "43200000, 86400000]",
		.options = datetime_range_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.unaligned = true,
		.bind = bind_datetime_range,
	},
	{
		.name = "datetime_ranges",
		.args = "start, end",
		.doc = "A list of datetimes a row; see datetime_range.",
		.example = "datetime_ranges(Date [0], Date [1], interval='12h', time_unit='ms') == "
				   "List(Datetime(ms)) [[0, 43200000, 86400000]]",
		.options = datetime_range_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_datetime_ranges,
	},
	{
		.name = "time_range",
		.args = "start, end",
		.doc = "Times from start to end, a step apart; see date_range.",
		.example = "time_range(Time [0], Time [2], interval='1ns', closed='left') == Time [0, 1]",
		.options = range_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.unaligned = true,
		.bind = bind_time_range,
	},
	{
		.name = "time_ranges",
		.args = "start, end",
		.doc = "A list of times a row; see time_range.",
		.example = "time_ranges(Time [0, null], Time [1, 2], interval='1ns') == [[0, 1], null]",
		.options = range_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_time_ranges,
	},
	{0},
};
