/* Steps in time written as text ("1mo", "2d12h", "-1w"): parse them, add them, truncate and round to them.
 *
 * Ticks are a count since 1970-01-01T00:00 of what a clock shows, per_second of them to a second. Weeks begin on
 * Monday, months and years are the calendar's; below that a step is a number of ticks counted from the epoch.
 * Pure; any thread. */
#ifndef NK_COMPUTE_CALENDAR_STEP_H
#define NK_COMPUTE_CALENDAR_STEP_H

#include "base/status.h"
#include "compute/calendar.h"

/* Division of non-negative int64 by a constant that is known at run time only: a multiply and a shift (round-up method
 * of Granlund and Montgomery). */
typedef struct nk_divider {
	int64_t divisor; /* positive */
	uint64_t factor;
	int shift;
} nk_divider;

nk_divider nk_divider_make(int64_t divisor);

/* Rounded down, for any value. */
static inline int64_t nk_divider_floor(const nk_divider *by, int64_t value)
{
	if (by->divisor == 1)
		return value;
	int64_t sign = value >> 63;
	uint64_t positive = (uint64_t)(value ^ sign);
	return (int64_t)((unsigned __int128)positive * by->factor >> 64 >> by->shift) ^ sign;
}

/* Rounded towards zero, for any value. */
static inline int64_t nk_divider_truncate(const nk_divider *by, int64_t value)
{
	int64_t down = nk_divider_floor(by, value);
	return down + (value < 0 && (int64_t)((uint64_t)down * (uint64_t)by->divisor) != value);
}

/* All parts are at least 0; is_negative is the sign of the whole. */
typedef struct nk_step {
	int64_t months, weeks, days, nanoseconds;
	bool is_negative;
} nk_step;

/* Units: y, q, mo, w, d, h, m, s, ms, us, ns. Fails with NK_INVALID_OPERATION. */
NK_MUST_CHECK nk_status nk_step_parse(const char *text, int64_t n, nk_step *out, nk_error *err);

/* A step prepared to truncate: months, or ticks counted from an origin; both 0 leave ticks as they are. */
typedef struct nk_step_grid {
	int64_t months;
	int64_t ticks, origin;
	nk_divider by_ticks;
	int64_t per_day;
	int64_t half; /* ticks to add first when rounding */
} nk_step_grid;

/* Fails with NK_COMPUTE for a negative step or one that mixes months, weeks and less. verb is for the message:
 * "truncate", "round". */
NK_MUST_CHECK nk_status nk_step_grid_init(nk_step_grid *grid, const nk_step *step, int64_t per_second,
                                          const char *verb, nk_error *err);
int64_t nk__step_truncate_months(const nk_step_grid *grid, int64_t ticks);
static inline int64_t nk_step_truncate(const nk_step_grid *grid, int64_t ticks)
{
	if (grid->ticks) {
		uint64_t since = (uint64_t)ticks - (uint64_t)grid->origin;
		return (int64_t)((uint64_t)nk_divider_floor(&grid->by_ticks, (int64_t)since) * (uint64_t)grid->ticks +
		                 (uint64_t)grid->origin);
	}
	return grid->months ? nk__step_truncate_months(grid, ticks) : ticks;
}
static inline int64_t nk_step_round(const nk_step_grid *grid, int64_t ticks)
{
	return nk_step_truncate(grid, (int64_t)((uint64_t)ticks + (uint64_t)grid->half));
}

/* Months, weeks and days added by the calendar; a day that the month does not have becomes its last one. */
int64_t nk_step_add_days(const nk_step *step, int64_t ticks, int64_t per_second);
/* What is left to add after that: the part below a day. */
int64_t nk_step_ticks(const nk_step *step, int64_t per_second);
static inline bool nk_step_has_days(const nk_step *step) { return step->months || step->weeks || step->days; }

/* The first and the last day of the month, at the same time of day. */
int64_t nk_month_start(int64_t ticks, int64_t per_day);
int64_t nk_month_end(int64_t ticks, int64_t per_day);

#endif
