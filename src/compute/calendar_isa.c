/* Compiled once per instruction level. Columns of dates by the Euclidean affine functions of Neri and Schneider
 * ("Euclidean affine functions and their application to calendar algorithms", 2022): every division is a multiply
 * and a shift of 32-bit numbers, so the loops vectorise. */
#include "compute/calendar.h"

#include "base/status.h"

/* Days are counted from a 1st of March so early that no number is negative. */
enum { ERAS = 656, DAYS_PER_ERA = 146097, SHIFT = 719468 + ERAS * DAYS_PER_ERA, YEARS = ERAS * 400 };

/* A year that begins in March. */
typedef struct shifted_year {
	uint32_t year, day_of_year;
} shifted_year;

#define INLINE static inline __attribute__((always_inline))

INLINE int32_t clamped(int32_t days)
{
	return days < NK_DAYS_MIN ? NK_DAYS_MIN : days > NK_DAYS_MAX ? NK_DAYS_MAX : days;
}

INLINE shifted_year shifted_of(int32_t days)
{
	uint32_t n = 4 * (uint32_t)(clamped(days) + SHIFT) + 3;
	uint32_t century = n / DAYS_PER_ERA, day_of_century = n % DAYS_PER_ERA / 4;
	uint64_t product = (uint64_t)2939745 * (4 * day_of_century + 3);
	uint32_t year_of_century = (uint32_t)(product >> 32);
	uint32_t day_of_year = (uint32_t)product / 2939745 / 4;
	return (shifted_year){100 * century + year_of_century, day_of_year};
}

INLINE bool is_after_new_year(shifted_year year) { return year.day_of_year >= 306; }

INLINE int32_t year_of(int32_t days)
{
	shifted_year year = shifted_of(days);
	return (int32_t)year.year - YEARS + is_after_new_year(year);
}

INLINE uint32_t month_and_day(shifted_year year) { return 2141 * year.day_of_year + 197913; }

INLINE int32_t month_of(int32_t days)
{
	shifted_year year = shifted_of(days);
	int32_t month = (int32_t)(month_and_day(year) >> 16);
	return is_after_new_year(year) ? month - 12 : month;
}

INLINE int32_t day_of(int32_t days)
{
	return (int32_t)((month_and_day(shifted_of(days)) & 0xffff) / 2141) + 1;
}

/* Of a year that is not negative: shifted ones are not, and leap alike. */
INLINE bool is_leap(int32_t year) { return (year & ((uint32_t)year % 100 == 0 ? 15 : 3)) == 0; }

INLINE int32_t ordinal_of(int32_t days)
{
	shifted_year year = shifted_of(days);
	int32_t day = (int32_t)year.day_of_year;
	return is_after_new_year(year) ? day - 305 : day + 60 + is_leap((int32_t)year.year);
}

/* Monday is 0. Any day: the first of all, -2^31, is a Tuesday. */
INLINE int32_t weekday_of(int32_t days)
{
	uint32_t since_tuesday = ((uint32_t)days + 0x80000000u) % 7;
	return since_tuesday == 6 ? 0 : (int32_t)since_tuesday + 1;
}

INLINE int32_t thursday_of(int32_t days) { return clamped(days) + 3 - weekday_of(clamped(days)); }

INLINE int32_t floor_div(int32_t a, int32_t b) { return (a - (a < 0 ? b - 1 : 0)) / b; }

INLINE int32_t month_length(int32_t days)
{
	shifted_year year = shifted_of(days);
	int32_t month = (int32_t)(month_and_day(year) >> 16);
	month = month > 12 ? month - 12 : month;
	/* February's year is the next one. */
	return month == 2 ? 28 + is_leap((int32_t)year.year + 1) : 30 + ((month + (month >> 3)) & 1);
}

static void year(int32_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = year_of(days[i]);
}

static void iso_year(int32_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = year_of(thursday_of(days[i]));
}

/* The first century has the years 1 to 100. */
static void century(int32_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = floor_div(year_of(days[i]) + 99, 100);
}

static void millennium(int32_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = floor_div(year_of(days[i]) + 999, 1000);
}

static void quarter(int8_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)(((uint32_t)month_of(days[i]) + 2) / 3);
}

static void month(int8_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)month_of(days[i]);
}

static void week(int8_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)((uint32_t)(ordinal_of(thursday_of(days[i])) - 1) / 7 + 1);
}

static void weekday(int8_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)(weekday_of(days[i]) + 1);
}

static void day(int8_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)day_of(days[i]);
}

static void is_leap_year(int8_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		shifted_year year = shifted_of(days[i]);
		out[i] = (int8_t)is_leap((int32_t)year.year + is_after_new_year(year));
	}
}

static void days_in_month(int8_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)month_length(days[i]);
}

static void ordinal_day(int16_t *restrict out, const int32_t *restrict days, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int16_t)ordinal_of(days[i]);
}

/* Months since 1970 began, and back to the first day of one. */
INLINE int32_t months_of(int32_t days)
{
	shifted_year year = shifted_of(days);
	int32_t month = (int32_t)(month_and_day(year) >> 16) - 1, whole = (int32_t)year.year - YEARS - 1970;
	return whole * 12 + month;
}

INLINE int32_t first_day_of(int32_t months)
{
	/* Years from a March on: January and February belong to the one before. */
	uint32_t from_march = (uint32_t)(months + (YEARS + 1970) * 12 - 2), year = from_march / 12,
			 month = from_march % 12;
	int32_t days = (int32_t)(year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5);
	return days - SHIFT;
}

/* Rounded down to a multiple of `step` months from 1970 on. Doubles divide any int32 exactly enough. */
static void floor_months(int32_t *restrict out, const int32_t *restrict days, int32_t step, int64_t n)
{
	double per_step = 1.0 / step;
	for (int64_t i = 0; i < n; i++) {
		int32_t months = months_of(days[i]);
		int32_t steps = (int32_t)((months + 0.5) * per_step);
		steps -= (months + 0.5) * per_step < 0;
		out[i] = first_day_of(steps * step);
	}
}

static void add_months(int32_t *restrict out, const int32_t *restrict days, int32_t added, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t first = first_day_of(months_of(days[i]) + added), day = day_of(days[i]),
				length = month_length(first);
		out[i] = first + (day < length ? day : length) - 1;
	}
}

static bool any_outside(const int32_t *days, int64_t n)
{
	uint32_t outside = 0;
	for (int64_t i = 0; i < n; i++)
		outside |= clamped(days[i]) != days[i];
	return outside;
}

INLINE void days_of(int32_t *restrict out, const int64_t *restrict ticks, int64_t ticks_per_day, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		/* ~(~t / d) rounds down for negative t. */
		int64_t sign = ticks[i] >> 63, days = ((ticks[i] ^ sign) / ticks_per_day) ^ sign;
		out[i] = days < INT32_MIN ? INT32_MIN : days > INT32_MAX ? INT32_MAX : (int32_t)days;
	}
}

/* Constant divisors. */
static void days_of_ticks(int32_t *out, const int64_t *ticks, int64_t ticks_per_day, int64_t n)
{
	if (ticks_per_day == 86400000)
		days_of(out, ticks, 86400000, n);
	else if (ticks_per_day == 86400000000)
		days_of(out, ticks, 86400000000, n);
	else
		days_of(out, ticks, 86400000000000, n);
}

/* Which unit of a period ticks are in: [0, period / unit). */
INLINE int64_t place_of(int64_t ticks, int64_t period, int64_t unit)
{
	int64_t rest = ticks % period;
	return (rest + (rest < 0 ? period : 0)) / unit;
}

INLINE void places(int8_t *restrict out, const int64_t *restrict ticks, int64_t period, int64_t unit,
                   int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)place_of(ticks[i], period, unit);
}

/* Seconds to a period and to a unit of it; constant divisors again. */
INLINE void clock_part(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t period, int64_t unit,
                       int64_t n)
{
	if (per_second == 1000)
		places(out, ticks, period * 1000, unit * 1000, n);
	else if (per_second == 1000000)
		places(out, ticks, period * 1000000, unit * 1000000, n);
	else
		places(out, ticks, period * 1000000000, unit * 1000000000, n);
}

static void hour(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t n)
{
	clock_part(out, ticks, per_second, 86400, 3600, n);
}

static void minute(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t n)
{
	clock_part(out, ticks, per_second, 3600, 60, n);
}

static void second(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t n)
{
	clock_part(out, ticks, per_second, 60, 1, n);
}

/* The epoch was a Thursday. */
static void weekday_of_ticks(int8_t *restrict out, const int64_t *restrict ticks, int64_t per_second,
                             int64_t n)
{
	clock_part(out, ticks, per_second, 7 * 86400, 86400, n);
	for (int64_t i = 0; i < n; i++)
		out[i] = (int8_t)(out[i] < 4 ? out[i] + 4 : out[i] - 3);
}

INLINE void fractions(int32_t *restrict out, const int64_t *restrict ticks, int64_t per_second, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (int32_t)(place_of(ticks[i], per_second, 1) * (1000000000 / per_second));
}

static void nanosecond(int32_t *out, const int64_t *ticks, int64_t per_second, int64_t n)
{
	if (per_second == 1000)
		fractions(out, ticks, 1000, n);
	else if (per_second == 1000000)
		fractions(out, ticks, 1000000, n);
	else
		fractions(out, ticks, 1000000000, n);
}

const nk_calendar_loops NK_ISA_NAME(nk__calendar_loops) = {
	.year = year,
	.iso_year = iso_year,
	.century = century,
	.millennium = millennium,
	.quarter = quarter,
	.month = month,
	.week = week,
	.weekday = weekday,
	.day = day,
	.is_leap_year = is_leap_year,
	.days_in_month = days_in_month,
	.ordinal_day = ordinal_day,
	.floor_months = floor_months,
	.add_months = add_months,
	.any_outside = any_outside,
	.days_of_ticks = days_of_ticks,
	.weekday_of_ticks = weekday_of_ticks,
	.hour = hour,
	.minute = minute,
	.second = second,
	.nanosecond = nanosecond,
};
