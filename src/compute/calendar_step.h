/* Steps in time written as text ("1mo", "2d12h", "-1w"): parse them, add them, truncate and round to them.
 *
 * Ticks are a count since 1970-01-01T00:00 of what a clock shows, per_second of them to a second. Weeks begin on
 * Monday, months and years are the calendar's; below that a step is a number of ticks counted from the epoch.
 * Pure; any thread. */
#ifndef NK_COMPUTE_CALENDAR_STEP_H
#define NK_COMPUTE_CALENDAR_STEP_H

#include "base/status.h"

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
	int64_t per_day;
	int64_t half; /* ticks to add first when rounding */
} nk_step_grid;

/* Fails with NK_COMPUTE for a negative step or one that mixes months, weeks and less. verb is for the message:
 * "truncate", "round". */
NK_MUST_CHECK nk_status nk_step_grid_init(nk_step_grid *grid, const nk_step *step, int64_t per_second, const char *verb,
                                          nk_error *err);
int64_t nk_step_truncate(const nk_step_grid *grid, int64_t ticks);
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
