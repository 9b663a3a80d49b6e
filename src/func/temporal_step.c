/* Instants moved to calendar steps: truncate, round, offset_by, and the ends of months.
 *
 * A constant step without a time zone is prepared by the binder and cannot fail. In a zone, local times are moved and
 * then looked up again, which may fail; steps that are a column are parsed as they come. */
#include "func/temporal.h"

#include "compute/calendar.h"
#include "compute/calendar_step.h"

typedef enum mover_kind { TRUNCATE, ROUND, OFFSET, MONTH_START, MONTH_END } mover_kind;

/* A step made ready. */
typedef struct moving {
	mover_kind kind;
	nk_step step;
	nk_step_grid grid;
	int64_t per_second;
	const nk_zone *zone; /* NULL: ticks are local */
} moving;

typedef struct mover_plan {
	moving mover;
	bool has_step; /* step is ready; else the second argument has them */
	bool is_date;
	const char *time_zone;
} mover_plan;

static const char *verb_of(mover_kind kind) { return kind == ROUND ? "round" : "truncate"; }

/* is_exact: days and less may not be mixed. */
static nk_status mover_prepare(moving *mover, const char *text, int64_t n, bool is_exact, nk_error *err)
{
	NK_TRY(nk_step_parse(text, n, &mover->step, err));
	if (mover->kind == OFFSET)
		return NK_OK;
	NK_TRY(nk_step_grid_init(&mover->grid, &mover->step, mover->per_second, verb_of(mover->kind), err));
	if (is_exact && mover->step.days && mover->step.nanoseconds)
		return nk_fail(err, NK_COMPUTE,
		               "cannot mix month, week, day, and sub-daily units for this operation");
	if (is_exact && !nk_step_has_days(&mover->step) && !mover->step.nanoseconds)
		return nk_fail(err, NK_COMPUTE, "duration cannot be zero");
	return NK_OK;
}

/* Of local times. */
static int64_t move(const moving *mover, int64_t ticks)
{
	int64_t per_day = mover->per_second * NK_SECONDS_PER_DAY;
	switch (mover->kind) {
	case TRUNCATE: return nk_step_truncate(&mover->grid, ticks);
	case ROUND: return nk_step_round(&mover->grid, ticks);
	case MONTH_START: return nk_month_start(ticks, per_day);
	case MONTH_END: return nk_month_end(ticks, per_day);
	default: break;
	}
	if (nk_step_has_days(&mover->step))
		ticks = nk_step_add_days(&mover->step, ticks, mover->per_second);
	return (int64_t)((uint64_t)ticks + (uint64_t)nk_step_ticks(&mover->step, mover->per_second));
}

/* ---- In a time zone ---- */

static nk_status cannot_localise(const char *time_zone, int64_t seconds, nk_error *err)
{
	nk_civil civil = nk_civil_of_days(nk_floor_div(seconds, NK_SECONDS_PER_DAY));
	int of_day = (int)nk_floor_mod(seconds, NK_SECONDS_PER_DAY);
	return nk_fail(err, NK_COMPUTE,
	               "could not localize datetime '%04lld-%02d-%02d %02d:%02d:%02d' to time zone '%s'",
	               (long long)civil.year, civil.month, civil.day, of_day / 3600, of_day / 60 % 60,
	               of_day % 60, time_zone);
}

/* The instant of a local time that comes from another instant, in the span of which it mostly lies. */
static nk_status resolve_like(const moving *mover, const char *time_zone, int64_t local, int64_t original,
                              const nk_zone_span *span, int64_t *out, nk_error *err)
{
	int64_t per_second = mover->per_second, seconds = nk_floor_div(local, per_second),
			utc = seconds - span->offset;
	/* No other offset is in force within a day. */
	bool is_plain = utc - NK_SECONDS_PER_DAY >= span->from && utc + NK_SECONDS_PER_DAY < span->until;
	if (!is_plain && !nk_zone_resolve_like(mover->zone, seconds, original, &utc))
		return cannot_localise(time_zone, seconds, err);
	*out = utc * per_second + nk_floor_mod(local, per_second);
	return NK_OK;
}

static nk_status move_like(const moving *mover, const char *time_zone, int64_t ticks, nk_zone_span *last,
                           int64_t *out, nk_error *err)
{
	int64_t utc = nk_floor_div(ticks, mover->per_second);
	const nk_zone_span *span = nk_zone_near(mover->zone, utc, last);
	int64_t local = move(mover, ticks + span->offset * mover->per_second);
	return resolve_like(mover, time_zone, local, utc, span, out, err);
}

/* Months, weeks and days are added one after another, each time landing on an instant. */
static nk_status offset_in_zone(const moving *whole, const char *time_zone, int64_t ticks, nk_zone_span *last,
                                int64_t *out, nk_error *err)
{
	const nk_step *step = &whole->step;
	const nk_step parts[] = {
		{.months = step->months, .is_negative = step->is_negative},
		{.weeks = step->weeks, .is_negative = step->is_negative},
		{.days = step->days, .is_negative = step->is_negative},
	};
	for (int i = 0; i < NK_COUNT(parts); i++) {
		if (!nk_step_has_days(&parts[i]))
			continue;
		moving part = *whole;
		part.step = parts[i];
		NK_TRY(move_like(&part, time_zone, ticks, last, &ticks, err));
	}
	*out = (int64_t)((uint64_t)ticks + (uint64_t)nk_step_ticks(step, whole->per_second));
	return NK_OK;
}

static nk_status month_edge_in_zone(const moving *mover, const char *time_zone, int64_t ticks,
                                    nk_zone_span *last, int64_t *out, nk_error *err)
{
	int64_t utc = nk_floor_div(ticks, mover->per_second), found[2];
	const nk_zone_span *span = nk_zone_near(mover->zone, utc, last);
	int64_t local = move(mover, ticks + span->offset * mover->per_second);
	int64_t seconds = nk_floor_div(local, mover->per_second);
	if (nk_zone_resolve(mover->zone, seconds, found) != 1)
		return cannot_localise(time_zone, seconds, err);
	*out = found[0] * mover->per_second + (local - seconds * mover->per_second);
	return NK_OK;
}

static nk_status move_in_zone(const moving *mover, const char *time_zone, int64_t ticks, nk_zone_span *last,
                              int64_t *out, nk_error *err)
{
	if (mover->kind == OFFSET)
		return offset_in_zone(mover, time_zone, ticks, last, out, err);
	if (mover->kind == MONTH_START || mover->kind == MONTH_END)
		return month_edge_in_zone(mover, time_zone, ticks, last, out, err);
	if (mover->kind == ROUND)
		ticks = (int64_t)((uint64_t)ticks + (uint64_t)mover->grid.half);
	moving down = *mover;
	down.kind = TRUNCATE;
	return move_like(&down, time_zone, ticks, last, out, err);
}

nk_status nk__offset_ticks(const nk_step *step, const nk_zone *zone, const char *time_zone,
                           int64_t per_second, int64_t ticks, int64_t *out, nk_error *err)
{
	moving mover = {.kind = OFFSET, .step = *step, .per_second = per_second, .zone = zone};
	nk_zone_span last = {0};
	if (zone)
		return offset_in_zone(&mover, time_zone, ticks, &last, out, err);
	*out = move(&mover, ticks);
	return NK_OK;
}

/* ---- Kernels ---- */

/* Dates are moved as milliseconds (what is less than a day is dropped towards zero), or as microseconds when a step is
 * added (then downwards). */
static int64_t ticks_of_date(const moving *mover, int32_t days)
{
	return (int64_t)((uint64_t)days * (uint64_t)(mover->per_second * NK_SECONDS_PER_DAY));
}

static int32_t date_of_ticks(const moving *mover, int64_t ticks)
{
	int64_t per_day = mover->per_second * NK_SECONDS_PER_DAY;
	return (int32_t)(mover->kind == OFFSET ? nk_floor_div(ticks, per_day) : ticks / per_day);
}

enum { BLOCK = 1024, MONTHS_MAX = 100000 };

/* Months of days by the calendar's loops. Days near the ends of the calendar are left to single steps: false. */
static bool move_days_by_months(const moving *mover, int32_t *out, const int32_t *days, int64_t n)
{
	const nk_calendar_loops *loops = NK_ISA_TABLE(nk__calendar_loops);
	enum { MARGIN = 31 * MONTHS_MAX };
	bool is_far = false;
	for (int64_t i = 0; i < n; i++)
		is_far |= days[i] < NK_DAYS_MIN + MARGIN || days[i] > NK_DAYS_MAX - MARGIN;
	if (is_far)
		return false;
	if (mover->kind == OFFSET)
		loops->add_months(out, days,
		                  (int32_t)(mover->step.is_negative ? -mover->step.months : mover->step.months), n);
	else
		loops->floor_months(out, days, mover->kind == MONTH_START ? 1 : (int32_t)mover->grid.months, n);
	return true;
}

/* Whether months, and nothing else but what is the same for every row, move it. */
static bool moves_by_months(const moving *mover)
{
	switch (mover->kind) {
	case MONTH_START: return true;
	case TRUNCATE: return mover->grid.months > 0 && mover->grid.months <= MONTHS_MAX;
	case OFFSET: return mover->step.months > 0 && mover->step.months <= MONTHS_MAX;
	default: return false;
	}
}

/* What an offset adds besides months. */
static int64_t constant_part(const moving *mover)
{
	nk_step rest = mover->step;
	rest.months = 0;
	return nk_step_add_days(&rest, 0, mover->per_second) + nk_step_ticks(&rest, mover->per_second);
}

static void move_dates(const moving *mover, int32_t *to, const int32_t *from, int64_t n)
{
	int64_t per_day = mover->per_second * NK_SECONDS_PER_DAY,
			added = mover->kind == OFFSET ? constant_part(mover) : 0;
	if (moves_by_months(mover) && added % per_day == 0 && move_days_by_months(mover, to, from, n)) {
		for (int64_t i = 0; i < n && added; i++)
			to[i] += (int32_t)(added / per_day);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		to[i] = date_of_ticks(mover, move(mover, ticks_of_date(mover, from[i])));
}

static void move_ticks(const moving *mover, int64_t *to, const int64_t *from, int64_t n)
{
	int64_t per_day = mover->per_second * NK_SECONDS_PER_DAY;
	if (mover->kind == TRUNCATE && mover->grid.ticks) {
		const nk_step_grid grid = mover->grid;
		for (int64_t i = 0; i < n; i++)
			to[i] = nk_step_truncate(&grid, from[i]);
		return;
	}
	if (mover->kind == OFFSET && !mover->step.months) {
		uint64_t added = (uint64_t)constant_part(mover);
		for (int64_t i = 0; i < n; i++)
			to[i] = (int64_t)((uint64_t)from[i] + added);
		return;
	}
	int32_t days[BLOCK], moved[BLOCK];
	if (moves_by_months(mover)) {
		NK_ISA_TABLE(nk__calendar_loops)->days_of_ticks(days, from, per_day, n);
		if (move_days_by_months(mover, moved, days, n)) {
			bool keeps_time = mover->kind != TRUNCATE;
			uint64_t added = mover->kind == OFFSET ? (uint64_t)constant_part(mover) : 0;
			for (int64_t i = 0; i < n; i++) {
				int64_t base = keeps_time ? from[i] - days[i] * per_day : 0;
				to[i] = (int64_t)((uint64_t)(base + moved[i] * per_day) + added);
			}
			return;
		}
	}
	for (int64_t i = 0; i < n; i++)
		to[i] = move(mover, from[i]);
}

/* A constant step, no zone: no row can fail. */
static nk_status plain_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const mover_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &flat, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i += BLOCK) {
		int64_t n = NK_MIN(n_rows - i, (int64_t)BLOCK);
		if (plan->is_date)
			move_dates(&plan->mover, (int32_t *)nk_array_values(result) + i,
			           (const int32_t *)flat->values + i, n);
		else
			move_ticks(&plan->mover, (int64_t *)nk_array_values(result) + i,
			           (const int64_t *)flat->values + i, n);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static bool is_same_text(const nk_view *a, const nk_view *b, const nk_heap *heap)
{
	return a && nk_view_equal(a, heap, b, heap);
}

/* Rows that may fail: only valid ones are looked at. */
static nk_status careful_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const mover_plan *plan = call->data;
	moving mover = plan->mover;
	nk_zone_span last = {0};
	const nk_view *text = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &result, err));
	void *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t moved = 0, at = nk_array_index(args[0], i);
		bool is_valid = !call->validity || nk_bitmap_get(call->validity, i);
		if (is_valid && !plan->has_step) {
			const nk_view *view = (const nk_view *)args[1]->values + nk_array_index(args[1], i);
			if (!is_same_text(text, view, args[1]->heap))
				NK_TRY(mover_prepare(&mover, nk_view_bytes(view, args[1]->heap), view->n_bytes, true, err));
			text = view;
		}
		if (plan->is_date) {
			if (is_valid)
				moved = move(&mover, ticks_of_date(&mover, ((const int32_t *)args[0]->values)[at]));
			((int32_t *)to)[i] = date_of_ticks(&mover, moved);
			continue;
		}
		int64_t ticks = ((const int64_t *)args[0]->values)[at];
		if (is_valid && mover.zone)
			NK_TRY(move_in_zone(&mover, plan->time_zone, ticks, &last, &moved, err));
		else if (is_valid)
			moved = move(&mover, ticks);
		((int64_t *)to)[i] = moved;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status null_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)args;
	return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
}

/* ---- Binders ---- */

static nk_status bind_mover(nk_bind *bind, mover_kind kind, mover_plan **out, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	mover_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (mover_plan){.is_date = dtype->id == NK_TYPE_DATE};
	plan->mover.kind = kind;
	plan->mover.per_second = !plan->is_date   ? nk_unit_per_second(dtype->unit)
	                         : kind == OFFSET ? 1000000
	                                          : 1000;
	if (!plan->is_date && dtype->time_zone && strcmp(dtype->time_zone, "UTC") != 0) {
		plan->time_zone = dtype->time_zone;
		NK_TRY(nk__zone_of(dtype, &plan->mover.zone, err));
	}
	bind->data = *out = plan;
	bind->dtype = dtype;
	bind->kernel = plan->mover.zone ? careful_kernel : plain_kernel;
	bind->fallible = plan->mover.zone != NULL;
	return NK_OK;
}

static bool is_point(const nk_dtype *dtype)
{
	return dtype->id == NK_TYPE_DATE || dtype->id == NK_TYPE_DATETIME;
}

static nk_status bind_step(nk_bind *bind, mover_kind kind, nk_error *err)
{
	mover_plan *plan;
	const nk_argument *every = &bind->args[1];
	if (every->dtype->id != NK_TYPE_STRING)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `String`, got `%s` (in %s)",
		               nk_dtype_short_name(every->dtype), bind->func->name);
	NK_TRY(bind_mover(bind, kind, &plan, err));
	if (!every->literal) {
		bind->kernel = careful_kernel;
		bind->fallible = true;
		return NK_OK;
	}
	if (every->literal->is_null) {
		bind->kernel = null_kernel;
		return NK_OK;
	}
	plan->has_step = true;
	/* Days and hours may mix where they always count alike. */
	bool is_exact = plan->is_date || plan->mover.zone;
	return mover_prepare(&plan->mover, every->literal->bytes, every->literal->n_bytes, is_exact, err);
}

static nk_status bind_truncate(nk_bind *bind, nk_error *err)
{
	if (!is_point(bind->args[0].dtype))
		return nk__refuse_temporal(bind, " (expected: date/datetime)", err);
	return bind_step(bind, TRUNCATE, err);
}

static nk_status bind_round(nk_bind *bind, nk_error *err)
{
	if (!is_point(bind->args[0].dtype))
		return nk__refuse_temporal(bind, " (expected: date/datetime)", err);
	return bind_step(bind, ROUND, err);
}

static nk_status bind_offset_by(nk_bind *bind, nk_error *err)
{
	if (bind->args[1].dtype->id == NK_TYPE_STRING && !is_point(bind->args[0].dtype))
		return nk_fail(err, NK_INVALID_OPERATION, "expected Date or Datetime, got %s",
		               nk_dtype_short_name(bind->args[0].dtype));
	return bind_step(bind, OFFSET, err);
}

static nk_status bind_month(nk_bind *bind, mover_kind kind, nk_error *err)
{
	mover_plan *plan;
	if (!is_point(bind->args[0].dtype))
		return nk__refuse_temporal(bind, " (expected: date/datetime)", err);
	NK_TRY(bind_mover(bind, kind, &plan, err));
	plan->has_step = true;
	return NK_OK;
}

static nk_status bind_month_start(nk_bind *bind, nk_error *err) { return bind_month(bind, MONTH_START, err); }
static nk_status bind_month_end(nk_bind *bind, nk_error *err) { return bind_month(bind, MONTH_END, err); }

const nk_func nk__funcs_temporal_step[] = {
	{
		.name = "dt.month_end",
		.args = "x",
		.doc = "The last day of the month of a Date or Datetime, at the same time of day. In a time zone "
			   "fails with "
			   "ComputeError when clocks do not show that time once.",
		.example = "dt.month_end(Date [0, 31, null]) == Date [30, 58, null]",
		.min_args = 1,
		.max_args = 1,
		.fallible = true,
		.bind = bind_month_end,
	},
	{
		.name = "dt.month_start",
		.args = "x",
		.doc = "The first day of the month of a Date or Datetime, at the same time of day. In a time zone "
			   "fails with "
			   "ComputeError when clocks do not show that time once.",
		.example = "dt.month_start(Date [1, 58, null]) == Date [0, 31, null]",
		.min_args = 1,
		.max_args = 1,
		.fallible = true,
		.bind = bind_month_start,
	},
	{
		.name = "dt.offset_by",
		.args = "x, by",
		.doc = "A Date or Datetime moved by a step like '1mo', '-2d12h'; what the month lacks becomes its "
			   "last day. In a "
			   "time zone months, weeks and days are those of local time. Steps that are none fail with "
			   "InvalidOperationError.",
		.example = "dt.offset_by(Date [30, null], '1mo') == Date [58, null]",
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = bind_offset_by,
	},
	{
		.name = "dt.round",
		.args = "x, every",
		.doc = "A Date or Datetime rounded to a multiple of a step, as dt.truncate of the value half a step "
			   "later.",
		.example = "dt.round(Datetime(ms) [1499, 1500, null], '1s') == Datetime(ms) [1000, 2000, null]",
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = bind_round,
	},
	{
		.name = "dt.truncate",
		.args = "x, every",
		.doc = "A Date or Datetime rounded down to a multiple of a step like '1h', '2w', '3mo': weeks begin "
			   "on Monday, months "
			   "are counted from 1970. A negative step or one of mixed units fails with ComputeError.",
		.example = "dt.truncate(Datetime(ms) [1999, -1, null], '1s') == Datetime(ms) [1000, -1000, null]",
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = bind_truncate,
	},
	{0},
};
