/* Months count from January 1970 and weeks from the first Monday after it, which is what "every 5 months" or
 * "every 3 weeks" is aligned to. Sums wrap instead of overflowing: times near the ends of int64 are not checked. */
#include "compute/calendar_step.h"

#include <string.h>

#include "compute/calendar.h"

static const struct {
	const char *name;
	int64_t months, weeks, days, nanoseconds;
} units[] = {
	{"ns", 0, 0, 0, 1},         {"us", 0, 0, 0, 1000},       {"ms", 0, 0, 0, 1000000},
	{"s", 0, 0, 0, 1000000000}, {"m", 0, 0, 0, 60000000000}, {"h", 0, 0, 0, 3600000000000},
	{"d", 0, 0, 1, 0},          {"w", 0, 1, 0, 0},           {"mo", 1, 0, 0, 0},
	{"q", 3, 0, 0, 0},          {"y", 12, 0, 0, 0},
};

static bool add_scaled(int64_t *to, int64_t number, int64_t scale)
{
	int64_t product;
	return !__builtin_mul_overflow(number, scale, &product) && !__builtin_add_overflow(*to, product, to);
}

nk_status nk_step_parse(const char *text, int64_t n, nk_step *out, nk_error *err)
{
	const char *at = text, *end = text + n;
	*out = (nk_step){0};
	if (at < end && (*at == '-' || *at == '+'))
		out->is_negative = *at++ == '-';
	while (at < end) {
		const char *from = at;
		int64_t number = 0;
		bool fits = true;
		for (; at < end && *at >= '0' && *at <= '9'; at++)
			fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
			       !__builtin_add_overflow(number, *at - '0', &number);
		if (at == from && (*at == '-' || *at == '+'))
			return nk_fail(err, NK_INVALID_OPERATION,
			               "duration string can only have a single '%c' sign, at its front", *at);
		if (at == from)
			return nk_fail(err, NK_INVALID_OPERATION,
			               "expected leading integer in the duration string, found '%c'", *at);
		const char *unit = at;
		while (at < end && !(*at >= '0' && *at <= '9') && *at != '-' && *at != '+')
			at++;
		if (at == unit)
			return nk_fail(err, NK_INVALID_OPERATION,
			               "expected a valid unit to follow integer in the duration string '%.*s'",
			               (int)NK_MIN(n, (int64_t)100), text);
		int k = 0;
		while (k < NK_COUNT(units) && !(strlen(units[k].name) == (size_t)(at - unit) &&
		                                memcmp(units[k].name, unit, (size_t)(at - unit)) == 0))
			k++;
		if (k == NK_COUNT(units))
			return nk_fail(
				err, NK_INVALID_OPERATION,
				"unit: '%.*s' not supported; available units are: 'y', 'mo', 'q', 'w', 'd', 'h', 'm', 's', "
				"'ms', 'us', 'ns'",
				(int)NK_MIN(at - unit, (ptrdiff_t)100), unit);
		if (!fits || !add_scaled(&out->months, number, units[k].months) ||
		    !add_scaled(&out->weeks, number, units[k].weeks) ||
		    !add_scaled(&out->days, number, units[k].days) ||
		    !add_scaled(&out->nanoseconds, number, units[k].nanoseconds))
			return nk_fail(err, NK_INVALID_OPERATION, "the duration string '%.*s' is too large",
			               (int)NK_MIN(n, (int64_t)100), text);
	}
	return NK_OK;
}

static int64_t wrapping_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrapping_multiply(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* 2^(63 + log) / divisor rounded up fits 64 bits, and its error times a 63-bit number stays below 2^(63 + log). */
nk_divider nk_divider_make(int64_t divisor)
{
	int log = 0;
	while (((uint64_t)1 << log) < (uint64_t)divisor)
		log++;
	if (log == 0)
		return (nk_divider){.divisor = 1};
	unsigned __int128 power = (unsigned __int128)1 << (63 + log);
	return (nk_divider){divisor, (uint64_t)(power / (uint64_t)divisor) + 1, log - 1};
}

nk_status nk_step_grid_init(nk_step_grid *grid, const nk_step *step, int64_t per_second, const char *verb,
                            nk_error *err)
{
	bool has_less = step->days || step->nanoseconds;
	*grid = (nk_step_grid){.per_day = per_second * NK_SECONDS_PER_DAY};
	if (step->is_negative && (nk_step_has_days(step) || step->nanoseconds))
		return nk_fail(err, NK_COMPUTE, "cannot %s a Datetime to a negative duration", verb);
	if ((step->months && (step->weeks || has_less)) || (step->weeks && has_less))
		return nk_fail(err, NK_COMPUTE,
		               "cannot mix month, week, day, and sub-daily units for this operation");
	grid->months = step->months;
	grid->ticks = step->nanoseconds / (1000000000 / per_second);
	if (!add_scaled(&grid->ticks, step->days, grid->per_day) ||
	    !add_scaled(&grid->ticks, step->weeks, 7 * grid->per_day))
		return nk_fail(err, NK_COMPUTE, "cannot %s to a duration that long", verb);
	if (grid->ticks)
		grid->by_ticks = nk_divider_make(grid->ticks);
	grid->origin = step->weeks ? 4 * grid->per_day : 0;
	/* Half a month is taken as fourteen days. */
	grid->half = step->months ? wrapping_multiply(step->months, 14 * grid->per_day) : grid->ticks / 2;
	return NK_OK;
}

int64_t nk__step_truncate_months(const nk_step_grid *grid, int64_t ticks)
{
	nk_civil civil = nk_civil_of_days(nk_floor_div(ticks, grid->per_day));
	int64_t month = (civil.year - 1970) * 12 + civil.month - 1;
	month -= nk_floor_mod(month, grid->months);
	int64_t year = 1970 + nk_floor_div(month, 12);
	return wrapping_multiply(nk_days_of_civil(year, (int)nk_floor_mod(month, 12) + 1, 1), grid->per_day);
}

int64_t nk_step_add_days(const nk_step *step, int64_t ticks, int64_t per_second)
{
	int64_t per_day = per_second * NK_SECONDS_PER_DAY, sign = step->is_negative ? -1 : 1;
	if (step->months) {
		int64_t days = nk_floor_div(ticks, per_day), time = nk_floor_mod(ticks, per_day);
		nk_civil civil = nk_civil_of_days(days);
		/* More months than int64 days can hold wrap around all the same. */
		int64_t month =
			wrapping_add(civil.year * 12 + civil.month - 1, sign * (step->months % ((int64_t)1 << 40)));
		int64_t year = nk_floor_div(month, 12);
		int month_of_year = (int)nk_floor_mod(month, 12) + 1;
		int day = NK_MIN(civil.day, nk_days_in_month(year, month_of_year));
		ticks = wrapping_add(wrapping_multiply(nk_days_of_civil(year, month_of_year, day), per_day), time);
	}
	int64_t days = wrapping_add(wrapping_multiply(step->weeks, 7), step->days);
	return wrapping_add(ticks, wrapping_multiply(wrapping_multiply(days, sign), per_day));
}

int64_t nk_step_ticks(const nk_step *step, int64_t per_second)
{
	int64_t ticks = step->nanoseconds / (1000000000 / per_second);
	return step->is_negative ? -ticks : ticks;
}

int64_t nk_month_start(int64_t ticks, int64_t per_day)
{
	return wrapping_add(ticks, -(nk_civil_of_days(nk_floor_div(ticks, per_day)).day - 1) * per_day);
}

int64_t nk_month_end(int64_t ticks, int64_t per_day)
{
	nk_civil civil = nk_civil_of_days(nk_floor_div(ticks, per_day));
	return wrapping_add(ticks, (nk_days_in_month(civil.year, civil.month) - civil.day) * per_day);
}
