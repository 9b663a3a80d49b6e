/* Business days: days of the week that count, without holidays. add_business_days, is_business_day, business_day_count.
 *
 * Every day has a rank, the number of business days up to it: days of the week by arithmetic, minus the holidays found by
 * bisection. Adding days means finding the day of a rank. */
#include "func/temporal.h"

#include <stdlib.h>

#include "compute/calendar.h"

typedef enum roll_kind { ROLL_RAISE, ROLL_FORWARD, ROLL_BACKWARD } roll_kind;

enum { MONDAY = -3 }; /* the last one before 1970 */

/* Days of the week that count, and holidays among them in order. */
typedef struct work_week {
	bool counts[7];
	int n_counting;
	int before[8]; /* counting days of the week before day i */
	int32_t *holidays;
	int64_t n_holidays;
} work_week;

typedef struct business_plan {
	work_week week;
	roll_kind roll;
	bool has_holidays; /* the last argument */
	nk_localiser localiser;
	int64_t per_second;
	bool is_date;
} business_plan;

static int64_t rank_of_weekday(const work_week *week, int64_t day)
{
	int64_t weeks = nk_floor_div(day - MONDAY, 7);
	return weeks * week->n_counting + week->before[day - MONDAY - weeks * 7 + 1];
}

/* The day with that rank when there are no holidays. */
static int64_t weekday_of_rank(const work_week *week, int64_t rank)
{
	int64_t weeks = nk_floor_div(rank - 1, week->n_counting), left = rank - 1 - weeks * week->n_counting;
	int i = 0;
	while (!(week->counts[i] && week->before[i] == left))
		i++;
	return MONDAY + weeks * 7 + i;
}

/* How many holidays there are up to a day. */
static int64_t holidays_until(const work_week *week, int64_t day)
{
	int64_t low = 0, high = week->n_holidays;
	while (low < high) {
		int64_t middle = (low + high) / 2;
		if (week->holidays[middle] <= day)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t rank_of(const work_week *week, int64_t day)
{
	return rank_of_weekday(week, day) - holidays_until(week, day);
}

static bool is_business(const work_week *week, int64_t day)
{
	int64_t n = holidays_until(week, day);
	return week->counts[nk_weekday(day) - 1] && !(n > 0 && week->holidays[n - 1] == day);
}

/* From a business day. Each round takes the holidays passed so far into account, until there are no more. */
static int64_t add_days(const work_week *week, int64_t day, int64_t n)
{
	int64_t rank = rank_of(week, day) + n, passed = holidays_until(week, day), before;
	do {
		before = passed;
		day = weekday_of_rank(week, rank + passed);
		passed = holidays_until(week, day);
	} while (passed != before);
	while (!is_business(week, day))
		day--;
	return day;
}

static nk_status roll_day(const work_week *week, roll_kind roll, int64_t *day, nk_error *err)
{
	if (is_business(week, *day))
		return NK_OK;
	if (roll == ROLL_RAISE) {
		nk_civil civil = nk_civil_of_days(*day);
		return nk_fail(err, NK_COMPUTE,
		               "date %04lld-%02d-%02d is not a business date; use `roll` to roll forwards (or "
		               "backwards) to the next (or "
		               "previous) valid date.",
		               (long long)civil.year, civil.month, civil.day);
	}
	while (!is_business(week, *day))
		*day += roll == ROLL_FORWARD ? 1 : -1;
	return NK_OK;
}

/* ---- Holidays ---- */

static int by_day(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

/* Those of row i of a list, into room for all of its items. */
static nk_status take_holidays(work_week *week, const nk_array *lists, int64_t i, int32_t *room,
                               nk_error *err)
{
	const int64_t *offsets = (const int64_t *)lists->values + nk_array_index(lists, i);
	const nk_array *items = lists->children[0];
	int64_t n = 0;
	for (int64_t k = offsets[0]; k < offsets[1]; k++) {
		int32_t day = ((const int32_t *)items->values)[k];
		if (!nk_array_is_valid(items, k))
			return nk_fail(err, NK_COMPUTE, "nulls found in holiday list values");
		if (week->counts[nk_weekday(day) - 1])
			room[n++] = day;
	}
	qsort(room, (size_t)n, sizeof *room, by_day);
	week->holidays = room;
	week->n_holidays = 0;
	for (int64_t k = 0; k < n; k++)
		if (k == 0 || room[k] != room[k - 1])
			room[week->n_holidays++] = room[k];
	return NK_OK;
}

/* The week of each row; its holidays are sorted again only where the list may differ. */
typedef struct week_rows {
	work_week week;
	const nk_array *lists; /* NULL: no holidays */
	nk_buffer *room;
} week_rows;

static void weeks_release(week_rows *weeks) { nk_buffer_unref(weeks->room); }

static nk_status weeks_init(week_rows *weeks, const nk_call *call, const nk_array *lists, nk_error *err)
{
	const business_plan *plan = call->data;
	weeks->week = plan->week;
	weeks->lists = plan->has_holidays ? lists : NULL;
	if (!weeks->lists)
		return NK_OK;
	return nk_buffer_new(call->memory, (lists->children[0]->n_rows + 1) * (int64_t)sizeof(int32_t),
	                     &weeks->room, err);
}

static nk_status weeks_at(week_rows *weeks, int64_t i, nk_error *err)
{
	if (!weeks->lists || (weeks->lists->encoding == NK_CONSTANT && weeks->week.holidays))
		return NK_OK;
	return take_holidays(&weeks->week, weeks->lists, i, (int32_t *)weeks->room->bytes, err);
}

#define WEEKS(name) __attribute__((cleanup(weeks_release))) week_rows name = {0}

/* ---- Kernels ---- */

static bool is_valid(const nk_call *call, int64_t i)
{
	return !call->validity || nk_bitmap_get(call->validity, i);
}

/* The local day of an argument, and what is left of it. */
static int64_t day_at(const business_plan *plan, const nk_array *array, int64_t i, int64_t *rest)
{
	int64_t at = nk_array_index(array, i), per_day = plan->per_second * NK_SECONDS_PER_DAY, local;
	*rest = 0;
	if (plan->is_date)
		return ((const int32_t *)array->values)[at];
	const int64_t *ticks = (const int64_t *)array->values + at;
	local = *nk__local_ticks(plan->localiser.zone, plan->per_second, ticks, 1, &local);
	*rest = nk_floor_mod(local, per_day);
	return nk_floor_div(local, per_day);
}

static nk_status add_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	business_plan plan = *(const business_plan *)call->data;
	const int32_t *numbers = args[1]->values;
	WEEKS(weeks);
	NK_TRY(weeks_init(&weeks, call, plan.has_holidays ? args[2] : NULL, err));
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &result, err));
	memset(nk_array_values(result), 0, (size_t)(n_rows * nk_physical_size(call->dtype->physical)));
	for (int64_t i = 0; i < n_rows; i++) {
		if (!is_valid(call, i))
			continue;
		int64_t rest, day = day_at(&plan, args[0], i, &rest);
		NK_TRY(weeks_at(&weeks, i, err));
		NK_TRY(roll_day(&weeks.week, plan.roll, &day, err));
		day = add_days(&weeks.week, day, numbers[nk_array_index(args[1], i)]);
		if (plan.is_date) {
			((int32_t *)nk_array_values(result))[i] = (int32_t)day;
			continue;
		}
		int64_t *to = (int64_t *)nk_array_values(result) + i;
		bool is_null;
		*to = (int64_t)((uint64_t)day * (uint64_t)(plan.per_second * NK_SECONDS_PER_DAY) + (uint64_t)rest);
		if (plan.localiser.zone)
			NK_TRY(nk__localise(&plan.localiser, *to, NK_AMBIGUOUS_RAISE, false, to, &is_null, err));
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status is_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                           nk_error *err)
{
	const business_plan *plan = call->data;
	WEEKS(weeks);
	NK_TRY(weeks_init(&weeks, call, plan->has_holidays ? args[1] : NULL, err));
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i++) {
		if (!is_valid(call, i))
			continue;
		int64_t rest, day = day_at(plan, args[0], i, &rest);
		NK_TRY(weeks_at(&weeks, i, err));
		if (is_business(&weeks.week, day))
			nk_bitmap_set(nk_array_values(result), i);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* From start to before end; backwards it is the days after end up to start, negative. */
static nk_status count_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const business_plan *plan = call->data;
	WEEKS(weeks);
	NK_TRY(weeks_init(&weeks, call, plan->has_holidays ? args[2] : NULL, err));
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I32, n_rows, false, &result, err));
	int32_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		to[i] = 0;
		if (!is_valid(call, i))
			continue;
		int64_t rest, start = day_at(plan, args[0], i, &rest), end = day_at(plan, args[1], i, &rest);
		NK_TRY(weeks_at(&weeks, i, err));
		int64_t before = start <= end ? 1 : 0;
		to[i] = (int32_t)(rank_of(&weeks.week, end - before) - rank_of(&weeks.week, start - before));
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* ---- Binders ---- */

enum { WEEK_MASK, ROLL };

/* n_args: without holidays. */
static nk_status bind_business(nk_bind *bind, int n_args, business_plan **out, nk_error *err)
{
	const char *mask = bind->options[WEEK_MASK].string;
	business_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (business_plan){.has_holidays = bind->n_args > n_args};
	if (strlen(mask) != 7)
		return nk_fail(err, NK_VALUE, "expected a sequence of length 7 (got %lld)", (long long)strlen(mask));
	for (int i = 0; i < 7; i++) {
		plan->week.counts[i] = mask[i] == '1';
		plan->week.n_counting += plan->week.counts[i];
		plan->week.before[i + 1] = plan->week.n_counting;
	}
	if (plan->week.n_counting == 0)
		return nk_fail(err, NK_COMPUTE, "`week_mask` must have at least one business day");
	const nk_dtype *dates = nk_dtype_list(nk_dtype_of(NK_TYPE_DATE));
	const nk_dtype *holidays = plan->has_holidays ? bind->args[n_args].dtype : dates;
	if (holidays != dates && !(holidays->id == NK_TYPE_LIST && holidays->fields[0].dtype->id == NK_TYPE_NULL))
		return nk_fail(err, NK_COMPUTE, "dtype of holidays list must be List(Date), got %s instead",
		               holidays->text);
	if (plan->has_holidays)
		bind->casts[n_args] = dates;
	bind->data = *out = plan;
	return NK_OK;
}

static nk_status bind_point(const nk_bind *bind, business_plan *plan, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (dtype->id != NK_TYPE_DATE && dtype->id != NK_TYPE_DATETIME)
		return nk_fail(err, NK_INVALID_OPERATION, "expected date or datetime, got %s",
		               nk_dtype_short_name(dtype));
	plan->is_date = dtype->id == NK_TYPE_DATE;
	plan->per_second = plan->is_date ? 1 : nk_unit_per_second(dtype->unit);
	plan->localiser.per_second = plan->per_second;
	plan->localiser.time_zone = dtype->time_zone;
	return plan->is_date ? NK_OK : nk__zone_of(dtype, &plan->localiser.zone, err);
}

static nk_status bind_add(nk_bind *bind, nk_error *err)
{
	static const char *const rolls[] = {"raise", "forward", "backward"};
	const char *roll_name = bind->options[ROLL].string;
	nk_type_id number = bind->args[1].dtype->id;
	business_plan *plan;
	NK_TRY(bind_business(bind, 2, &plan, err));
	NK_TRY(bind_point(bind, plan, err));
	int chosen = 0;
	while (chosen < NK_COUNT(rolls) && strcmp(rolls[chosen], roll_name) != 0)
		chosen++;
	if (chosen == NK_COUNT(rolls))
		return nk_fail(err, NK_VALUE, "`roll` must be one of {'raise', 'forward', 'backward'}, got %s",
		               roll_name);
	plan->roll = (roll_kind)chosen;
	if (number != NK_TYPE_INT64 && number != NK_TYPE_INT32 && number != NK_TYPE_UINT64 &&
	    number != NK_TYPE_UINT32)
		return nk_fail(err, NK_INVALID_OPERATION, "expected Int64, Int32, UInt64, or UInt32, got %s",
		               nk_dtype_short_name(bind->args[1].dtype));
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT32);
	bind->cast_is_lossy = true;
	bind->dtype = bind->args[0].dtype;
	bind->kernel = add_kernel;
	return NK_OK;
}

static nk_status bind_is(nk_bind *bind, nk_error *err)
{
	business_plan *plan;
	NK_TRY(bind_business(bind, 1, &plan, err));
	NK_TRY(bind_point(bind, plan, err));
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->kernel = is_kernel;
	bind->fallible = plan->has_holidays;
	return NK_OK;
}

static nk_status bind_count(nk_bind *bind, nk_error *err)
{
	business_plan *plan;
	NK_TRY(bind_business(bind, 2, &plan, err));
	for (int i = 0; i < 2; i++)
		if (bind->args[i].dtype->id != NK_TYPE_DATE)
			return nk_fail(err, NK_SCHEMA_MISMATCH,
			               "invalid series dtype: expected `Date`, got `%s` (in business_day_count)",
			               nk_dtype_short_name(bind->args[i].dtype));
	plan->is_date = true;
	bind->dtype = nk_dtype_of(NK_TYPE_INT32);
	bind->kernel = count_kernel;
	bind->fallible = plan->has_holidays;
	return NK_OK;
}

static const nk_option_spec week_options[] = {
	[WEEK_MASK] = {"week_mask", {.kind = NK_OPTION_STRING, .string = "1111100"}},
	{0},
};

static const nk_option_spec add_options[] = {
	[WEEK_MASK] = {"week_mask", {.kind = NK_OPTION_STRING, .string = "1111100"}},
	[ROLL] = {"roll", {.kind = NK_OPTION_STRING, .string = "raise"}},
	{0},
};

const nk_func nk__funcs_temporal_business[] = {
	{
		.name = "business_day_count",
		.args = "start, end, holidays",
		.doc = "How many business days there are from start to before end, as Int32: days of week_mask "
			   "(Monday first, '1' "
			   "counts) that are no holidays, a list of dates.",
		.example = "business_day_count(Date [0, null], Date [7, 1]) == Int32 [5, null]",
		.options = week_options,
		.min_args = 2,
		.max_args = 3,
		.fallible = true,
		.bind = bind_count,
	},
	{
		.name = "dt.add_business_days",
		.args = "x, n, holidays",
		.doc = "A Date or Datetime so many business days on; see business_day_count. Other days to start "
			   "from fail with "
			   "ComputeError, or are rolled to the next ('forward') or the previous one ('backward').",
		.example = "dt.add_business_days(Date [0, null], [2, 1]) == Date [4, null]",
		.options = add_options,
		.min_args = 2,
		.max_args = 3,
		.fallible = true,
		.bind = bind_add,
	},
	{
		.name = "dt.is_business_day",
		.args = "x, holidays",
		.doc = "Whether a Date or Datetime is a business day; see business_day_count.",
		.example = "dt.is_business_day(Date [0, 2, null]) == [true, false, null]",
		.options = week_options,
		.min_args = 1,
		.max_args = 2,
		.fallible = true,
		.bind = bind_is,
	},
	{0},
};
