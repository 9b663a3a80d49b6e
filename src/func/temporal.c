/* Parts of dates and times: year, hour, ... The parts of a Datetime with a time zone are what clocks there show.
 *
 * Whole columns go through the loops of compute/calendar.h, block by block where instants must first become local
 * times or whole days. Dates that no calendar year of Polars reaches have null parts, but for their weekday. */
#include "func/temporal.h"

#include "compute/calendar.h"

/* Rows whose local times and days wait on the stack. */
enum { BLOCK = 1024 };

/* Where a part comes from and how wide it is. */
typedef enum part_kind { DAYS_8, DAYS_16, DAYS_32, DAYS_BIT, CLOCK_8, CLOCK_32 } part_kind;

typedef union part_loop {
	void (*days_8)(int8_t *, const int32_t *, int64_t);
	void (*days_16)(int16_t *, const int32_t *, int64_t);
	void (*days_32)(int32_t *, const int32_t *, int64_t);
	void (*clock_8)(int8_t *, const int64_t *, int64_t, int64_t);
	void (*clock_32)(int32_t *, const int64_t *, int64_t, int64_t);
} part_loop;

typedef struct part_plan {
	part_kind kind;
	part_loop loop;
	const nk_zone *zone; /* NULL: ticks are local */
	int64_t per_second;
	int64_t first, last; /* ticks beyond have no parts */
	int32_t divisor;     /* of nanoseconds */
	bool is_weekday;
} part_plan;

nk_status nk__refuse_temporal(const nk_bind *bind, const char *expected, nk_error *err)
{
	const char *name = strchr(bind->func->name, '.');
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`%s",
	               name ? name + 1 : bind->func->name, nk_dtype_short_name(bind->args[0].dtype), expected);
}

nk_status nk__zone_of(const nk_dtype *dtype, const nk_zone **out, nk_error *err)
{
	*out = NULL;
	return dtype->time_zone ? nk_zone_find(dtype->time_zone, out, err) : NK_OK;
}

const int64_t *nk__local_ticks(const nk_zone *zone, int64_t per_second, const int64_t *ticks, int64_t n,
                               int64_t *block)
{
	if (!zone)
		return ticks;
	nk_zone_to_local(zone, block, ticks, per_second, n);
	return block;
}

/* ---- Parts ---- */

static void put_bits(uint8_t *bits, const int8_t *values, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		bits[i >> 3] |= (uint8_t)(values[i] << (i & 7));
}

/* Rows [at, at + n) of the result; at is a multiple of 8. */
static void parts_of_days(const part_plan *plan, void *out, int64_t at, const int32_t *days, int64_t n)
{
	switch (plan->kind) {
	case DAYS_8: plan->loop.days_8((int8_t *)out + at, days, n); break;
	case DAYS_16: plan->loop.days_16((int16_t *)out + at, days, n); break;
	case DAYS_BIT:
		for (int64_t i = 0; i < n; i += BLOCK) {
			int8_t block[BLOCK];
			int64_t n_block = NK_MIN(n - i, (int64_t)BLOCK);
			plan->loop.days_8(block, days + i, n_block);
			put_bits((uint8_t *)out + ((at + i) >> 3), block, n_block);
		}
		break;
	default: plan->loop.days_32((int32_t *)out + at, days, n); break;
	}
}

/* Makes row i null, in a validity that is made for the first of them. */
static nk_status clear_row(const nk_call *call, nk_buffer **validity, int64_t i, int64_t n_rows,
                           nk_error *err)
{
	if (!*validity) {
		NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), validity, err));
		nk_bitmap_fill((*validity)->bytes, 0, n_rows, true);
	}
	nk_bitmap_clear((*validity)->bytes, i);
	return NK_OK;
}

/* Rows [at, at + n) beyond the calendar become null. */
static nk_status clear_far_days(const nk_call *call, const int32_t *days, int64_t n, nk_buffer **validity,
                                nk_error *err)
{
	if (!NK_ISA_TABLE(nk__calendar_loops)->any_outside(days, n))
		return NK_OK;
	for (int64_t i = 0; i < n; i++)
		if (days[i] < NK_DAYS_MIN || days[i] > NK_DAYS_MAX)
			NK_TRY(clear_row(call, validity, i, n, err));
	return NK_OK;
}

static nk_status clear_far_ticks(const nk_call *call, const int64_t *local, int64_t at, int64_t n,
                                 int64_t n_rows, nk_buffer **validity, nk_error *err)
{
	const part_plan *plan = call->data;
	bool any = false;
	for (int64_t i = 0; i < n; i++)
		any |= local[i] < plan->first || local[i] > plan->last;
	for (int64_t i = 0; i < n && any; i++)
		if (local[i] < plan->first || local[i] > plan->last)
			NK_TRY(clear_row(call, validity, at + i, n_rows, err));
	return NK_OK;
}

static nk_status finish(const nk_call *call, int64_t n_rows, nk_buffer *values, nk_buffer *validity,
                        nk_array **out, nk_error *err)
{
	int64_t n_nulls = validity ? -1 : 0;
	return nk_array_new_flat(call->dtype, call->dtype->physical, n_rows, values, validity, n_nulls, NULL, out,
	                         err);
}

static nk_status values_for(const nk_call *call, int64_t n_rows, nk_buffer **out, nk_error *err)
{
	if (call->dtype->physical == NK_PHYSICAL_BOOL)
		return nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows), out, err);
	return nk_buffer_new(call->memory, n_rows * nk_physical_size(call->dtype->physical), out, err);
}

static nk_status date_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	const part_plan *plan = call->data;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(values_for(call, n_rows, &values, err));
	parts_of_days(plan, values->bytes, 0, args[0]->values, n_rows);
	if (!plan->is_weekday)
		NK_TRY(clear_far_days(call, args[0]->values, n_rows, &validity, err));
	return finish(call, n_rows, NK_STEAL(values), NK_STEAL(validity), out, err);
}

static nk_status instant_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const part_plan *plan = call->data;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(values_for(call, n_rows, &values, err));
	for (int64_t i = 0; i < n_rows; i += BLOCK) {
		int64_t block[BLOCK], n = NK_MIN(n_rows - i, (int64_t)BLOCK);
		const int64_t *ticks = (const int64_t *)args[0]->values + i;
		const int64_t *local = nk__local_ticks(plan->zone, plan->per_second, ticks, n, block);
		if (plan->kind == CLOCK_8) {
			plan->loop.clock_8((int8_t *)values->bytes + i, local, plan->per_second, n);
		} else if (plan->kind == CLOCK_32) {
			int32_t *to = (int32_t *)values->bytes + i;
			plan->loop.clock_32(to, local, plan->per_second, n);
			for (int64_t k = 0; k < n && plan->divisor > 1; k++)
				to[k] /= plan->divisor;
		} else {
			int32_t days[BLOCK];
			NK_ISA_TABLE(nk__calendar_loops)
				->days_of_ticks(days, local, plan->per_second * NK_SECONDS_PER_DAY, n);
			parts_of_days(plan, values->bytes, i, days, n);
		}
		NK_TRY(clear_far_ticks(call, local, i, n, n_rows, &validity, err));
	}
	return finish(call, n_rows, NK_STEAL(values), NK_STEAL(validity), out, err);
}

/* Parts of the time of day need one: `clock` is their loop, and they have no `days`. */
static nk_status bind_part(nk_bind *bind, nk_type_id result, part_kind kind, part_loop loop, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	bool is_clock = kind == CLOCK_8 || kind == CLOCK_32, is_date = dtype->id == NK_TYPE_DATE;
	if (dtype->id != NK_TYPE_DATETIME && dtype->id != (is_clock ? NK_TYPE_TIME : NK_TYPE_DATE))
		return nk__refuse_temporal(bind, "", err);
	part_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (part_plan){.kind = kind, .loop = loop, .first = INT64_MIN, .last = INT64_MAX, .divisor = 1};
	if (!is_date) {
		plan->per_second = nk__ticks_per_second(dtype);
		NK_TRY(nk__zone_of(dtype, &plan->zone, err));
		/* Nanoseconds stay within the calendar. */
		if (dtype->id == NK_TYPE_DATETIME && dtype->unit != NK_UNIT_NS) {
			plan->first = NK_DAYS_MIN * plan->per_second * NK_SECONDS_PER_DAY;
			plan->last = (NK_DAYS_MAX + (int64_t)1) * plan->per_second * NK_SECONDS_PER_DAY - 1;
		}
	}
	bind->data = plan;
	bind->dtype = nk_dtype_of(result);
	bind->kernel = is_date ? date_kernel : instant_kernel;
	return NK_OK;
}

static nk_status bind_days_32(nk_bind *bind, void (*loop)(int32_t *, const int32_t *, int64_t), nk_error *err)
{
	return bind_part(bind, NK_TYPE_INT32, DAYS_32, (part_loop){.days_32 = loop}, err);
}

static nk_status bind_days_8(nk_bind *bind, void (*loop)(int8_t *, const int32_t *, int64_t), nk_error *err)
{
	return bind_part(bind, NK_TYPE_INT8, DAYS_8, (part_loop){.days_8 = loop}, err);
}

static nk_status bind_clock_8(nk_bind *bind, void (*loop)(int8_t *, const int64_t *, int64_t, int64_t),
                              nk_error *err)
{
	return bind_part(bind, NK_TYPE_INT8, CLOCK_8, (part_loop){.clock_8 = loop}, err);
}

static const nk_calendar_loops *loops(void) { return NK_ISA_TABLE(nk__calendar_loops); }

static nk_status bind_millennium(nk_bind *bind, nk_error *err)
{
	return bind_days_32(bind, loops()->millennium, err);
}
static nk_status bind_century(nk_bind *bind, nk_error *err)
{
	return bind_days_32(bind, loops()->century, err);
}
static nk_status bind_year(nk_bind *bind, nk_error *err) { return bind_days_32(bind, loops()->year, err); }
static nk_status bind_iso_year(nk_bind *bind, nk_error *err)
{
	return bind_days_32(bind, loops()->iso_year, err);
}
static nk_status bind_quarter(nk_bind *bind, nk_error *err)
{
	return bind_days_8(bind, loops()->quarter, err);
}
static nk_status bind_month(nk_bind *bind, nk_error *err) { return bind_days_8(bind, loops()->month, err); }
static nk_status bind_week(nk_bind *bind, nk_error *err) { return bind_days_8(bind, loops()->week, err); }
static nk_status bind_day(nk_bind *bind, nk_error *err) { return bind_days_8(bind, loops()->day, err); }
static nk_status bind_days_in_month(nk_bind *bind, nk_error *err)
{
	return bind_days_8(bind, loops()->days_in_month, err);
}
static nk_status bind_hour(nk_bind *bind, nk_error *err) { return bind_clock_8(bind, loops()->hour, err); }
static nk_status bind_minute(nk_bind *bind, nk_error *err)
{
	return bind_clock_8(bind, loops()->minute, err);
}
static nk_status bind_second(nk_bind *bind, nk_error *err)
{
	return bind_clock_8(bind, loops()->second, err);
}

static nk_status bind_ordinal_day(nk_bind *bind, nk_error *err)
{
	return bind_part(bind, NK_TYPE_INT16, DAYS_16, (part_loop){.days_16 = loops()->ordinal_day}, err);
}

static nk_status bind_is_leap_year(nk_bind *bind, nk_error *err)
{
	return bind_part(bind, NK_TYPE_BOOLEAN, DAYS_BIT, (part_loop){.days_8 = loops()->is_leap_year}, err);
}

/* Instants need no date for it, and reach beyond. */
static nk_status bind_weekday(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->id == NK_TYPE_TIME)
		return nk__refuse_temporal(bind, "", err);
	if (bind->args[0].dtype->id == NK_TYPE_DATETIME)
		NK_TRY(bind_clock_8(bind, loops()->weekday_of_ticks, err));
	else
		NK_TRY(bind_days_8(bind, loops()->weekday, err));
	part_plan *plan = (part_plan *)bind->data;
	plan->is_weekday = true;
	plan->first = INT64_MIN;
	plan->last = INT64_MAX;
	return NK_OK;
}

static nk_status bind_fraction(nk_bind *bind, int32_t divisor, nk_error *err)
{
	NK_TRY(bind_part(bind, NK_TYPE_INT32, CLOCK_32, (part_loop){.clock_32 = loops()->nanosecond}, err));
	((part_plan *)bind->data)->divisor = divisor;
	return NK_OK;
}

static nk_status bind_millisecond(nk_bind *bind, nk_error *err) { return bind_fraction(bind, 1000000, err); }
static nk_status bind_microsecond(nk_bind *bind, nk_error *err) { return bind_fraction(bind, 1000, err); }
static nk_status bind_nanosecond(nk_bind *bind, nk_error *err) { return bind_fraction(bind, 1, err); }

/* ---- The date and the time ---- */

typedef struct split_plan {
	const nk_zone *zone;
	int64_t per_second;
} split_plan;

static nk_status same_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)call, (void)n_rows, (void)err;
	*out = nk_array_ref(args[0]);
	return NK_OK;
}

/* Null when an int32 does not hold the days. */
static nk_status take_date_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	const split_plan *plan = call->data;
	int64_t per_day = plan->per_second * NK_SECONDS_PER_DAY;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(values_for(call, n_rows, &values, err));
	int32_t *to = (int32_t *)values->bytes;
	for (int64_t i = 0; i < n_rows; i += BLOCK) {
		int64_t block[BLOCK], n = NK_MIN(n_rows - i, (int64_t)BLOCK);
		const int64_t *ticks = (const int64_t *)args[0]->values + i;
		const int64_t *local = nk__local_ticks(plan->zone, plan->per_second, ticks, n, block);
		loops()->days_of_ticks(to + i, local, per_day, n);
		for (int64_t k = 0; k < n; k++)
			if (NK_UNLIKELY(to[i + k] == INT32_MIN || to[i + k] == INT32_MAX) &&
			    nk_floor_div(local[k], per_day) != to[i + k])
				NK_TRY(clear_row(call, &validity, i + k, n_rows, err));
	}
	return finish(call, n_rows, NK_STEAL(values), NK_STEAL(validity), out, err);
}

static nk_status take_time_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	const split_plan *plan = call->data;
	int64_t per_day = plan->per_second * NK_SECONDS_PER_DAY,
			scale = NK_NANOSECONDS_PER_SECOND / plan->per_second;
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(values_for(call, n_rows, &values, err));
	int64_t *to = (int64_t *)values->bytes;
	for (int64_t i = 0; i < n_rows; i += BLOCK) {
		int64_t block[BLOCK], n = NK_MIN(n_rows - i, (int64_t)BLOCK);
		const int64_t *ticks = (const int64_t *)args[0]->values + i;
		const int64_t *local = nk__local_ticks(plan->zone, plan->per_second, ticks, n, block);
		for (int64_t k = 0; k < n; k++)
			to[i + k] = nk_floor_mod(local[k], per_day) * scale;
	}
	return finish(call, n_rows, NK_STEAL(values), NULL, out, err);
}

static nk_status bind_split(nk_bind *bind, nk_type_id result, nk_kernel *kernel, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	bind->dtype = nk_dtype_of(result);
	if (dtype->id == result) {
		bind->kernel = same_kernel;
		return NK_OK;
	}
	if (dtype->id != NK_TYPE_DATETIME)
		return nk_fail(err, NK_COMPUTE, "expected Datetime or %s, got %s", bind->dtype->text,
		               nk_dtype_short_name(dtype));
	split_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	plan->per_second = nk__ticks_per_second(dtype);
	NK_TRY(nk__zone_of(dtype, &plan->zone, err));
	bind->data = plan;
	bind->kernel = kernel;
	return NK_OK;
}

static nk_status bind_date(nk_bind *bind, nk_error *err)
{
	return bind_split(bind, NK_TYPE_DATE, take_date_kernel, err);
}
static nk_status bind_time(nk_bind *bind, nk_error *err)
{
	return bind_split(bind, NK_TYPE_TIME, take_time_kernel, err);
}

/* ---- Rows ---- */

const nk_func nk__funcs_temporal[] = {
	{
		.name = "dt.century",
		.args = "x",
		.doc = "Century of a Date or Datetime, as Int32: the first has the years 1 to 100.",
		.example = "dt.century(Date [0, null]) == Int32 [20, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_century,
	},
	{
		.name = "dt.date",
		.args = "x",
		.doc = "The date of a Datetime; a Date as it is. Fails with ComputeError for other dtypes.",
		.example = "dt.date(Datetime(ms) [-1, 86400000, null]) == Date [-1, 1, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_date,
	},
	{
		.name = "dt.day",
		.args = "x",
		.doc = "Day of the month of a Date or Datetime, as Int8.",
		.example = "dt.day(Date [0, 30, null]) == Int8 [1, 31, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_day,
	},
	{
		.name = "dt.days_in_month",
		.args = "x",
		.doc = "How many days the month of a Date or Datetime has, as Int8.",
		.example = "dt.days_in_month(Date [0, 31, null]) == Int8 [31, 28, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_days_in_month,
	},
	{
		.name = "dt.hour",
		.args = "x",
		.doc = "Hour of a Datetime or Time, as Int8.",
		.example = "dt.hour(Datetime(ms) [-1, 3600000, null]) == Int8 [23, 1, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_hour,
	},
	{
		.name = "dt.is_leap_year",
		.args = "x",
		.doc = "Whether the year of a Date or Datetime has 366 days.",
		.example = "dt.is_leap_year(Date [0, 731, null]) == [false, true, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_is_leap_year,
	},
	{
		.name = "dt.iso_year",
		.args = "x",
		.doc = "Year of the ISO week of a Date or Datetime, as Int32.",
		.example = "dt.iso_year(Date [0, -4, null]) == Int32 [1970, 1969, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_iso_year,
	},
	{
		.name = "dt.microsecond",
		.args = "x",
		.doc = "Microseconds since the second of a Datetime or Time began, as Int32.",
		.example = "dt.microsecond(Datetime(ms) [1001, null]) == Int32 [1000, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_microsecond,
	},
	{
		.name = "dt.millennium",
		.args = "x",
		.doc = "Millennium of a Date or Datetime, as Int32: the first has the years 1 to 1000.",
		.example = "dt.millennium(Date [0, null]) == Int32 [2, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_millennium,
	},
	{
		.name = "dt.millisecond",
		.args = "x",
		.doc = "Milliseconds since the second of a Datetime or Time began, as Int32.",
		.example = "dt.millisecond(Datetime(ms) [-1, null]) == Int32 [999, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_millisecond,
	},
	{
		.name = "dt.minute",
		.args = "x",
		.doc = "Minute of a Datetime or Time, as Int8.",
		.example = "dt.minute(Datetime(ms) [-1, 60000, null]) == Int8 [59, 1, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_minute,
	},
	{
		.name = "dt.month",
		.args = "x",
		.doc = "Month of a Date or Datetime, 1 to 12, as Int8.",
		.example = "dt.month(Date [0, 31, null]) == Int8 [1, 2, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_month,
	},
	{
		.name = "dt.nanosecond",
		.args = "x",
		.doc = "Nanoseconds since the second of a Datetime or Time began, as Int32.",
		.example = "dt.nanosecond(Datetime(ms) [1001, null]) == Int32 [1000000, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_nanosecond,
	},
	{
		.name = "dt.ordinal_day",
		.args = "x",
		.doc = "Day of the year of a Date or Datetime, 1 to 366, as Int16.",
		.example = "dt.ordinal_day(Date [0, 364, null]) == Int16 [1, 365, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_ordinal_day,
	},
	{
		.name = "dt.quarter",
		.args = "x",
		.doc = "Quarter of a Date or Datetime, 1 to 4, as Int8.",
		.example = "dt.quarter(Date [0, 100, null]) == Int8 [1, 2, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_quarter,
	},
	{
		.name = "dt.second",
		.args = "x",
		.doc = "Second of a Datetime or Time, as Int8.",
		.example = "dt.second(Datetime(ms) [-1, 1000, null]) == Int8 [59, 1, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_second,
	},
	{
		.name = "dt.time",
		.args = "x",
		.doc = "The time of day of a Datetime; a Time as it is. Fails with ComputeError for other dtypes.",
		.example = "dt.time(Datetime(ms) [1, null]) == Time [1000000, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_time,
	},
	{
		.name = "dt.week",
		.args = "x",
		.doc = "ISO week of a Date or Datetime, 1 to 53, as Int8.",
		.example = "dt.week(Date [0, 4, null]) == Int8 [1, 2, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_week,
	},
	{
		.name = "dt.weekday",
		.args = "x",
		.doc = "ISO weekday of a Date or Datetime, Monday is 1, as Int8.",
		.example = "dt.weekday(Date [0, 4, null]) == Int8 [4, 1, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_weekday,
	},
	{
		.name = "dt.year",
		.args = "x",
		.doc = "Year of a Date or Datetime, as Int32; null beyond the years -262143 to 262142.",
		.example = "dt.year(Date [0, -1, null]) == Int32 [1970, 1969, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_year,
	},
	{0},
};
